//! Who gives whom what, and what all batches of a check share.

use crate::digests::{is_same, new_digest, value};
use crate::planted::{Mistake, planted};
use crate::seats::Seats;
use crate::step;
use tacit_engine::Error;
use tacit_kernel::digest::{Digest, KEY_BYTES};
use tacit_session::{At, Draw, PrssStream, Session};
use tacit_threeparty::PARTIES;
use zeroize::Zeroize;

/// A party's first component and its second.
pub(super) const FIRST: usize = 0;
pub(super) const SECOND: usize = 1;

/// Planes of a batch of triples `(d, e, f)`: the first components of `d` and `e`, their second ones, and both of `f`.
pub(super) const PLANES: usize = 6;

/// The first of `f`'s planes.
pub(super) const RESULT: usize = 4;

/// Whom a role sends which of its components of what is opened.
pub(super) const VALUES_TO: [&[(usize, usize)]; PARTIES] = [&[(1, FIRST), (2, SECOND)], &[(0, SECOND)], &[]];

/// From whom a role receives the component that it lacks.
pub(super) const VALUES_FROM: [usize; PARTIES] = [1, 0, 0];

/// Whom a role sends a digest of which of its components.
pub(super) const DIGESTS_TO: [&[(usize, usize)]; PARTIES] = [&[], &[(2, FIRST)], &[(1, SECOND), (0, FIRST)]];

/// From whom a role receives a digest of the component that it lacks.
pub(super) const DIGEST_FROM: [usize; PARTIES] = [2, 2, 1];

/// The component that a role's first one is: `x_2`, `x_1`, `x_0`. The second is the next role's first.
pub(super) const fn component(role: usize, which: usize) -> usize {
    2 - (role + which) % PARTIES
}

/// The role before one, which has its first component too.
pub(super) const fn before(role: usize) -> usize {
    (role + 2) % PARTIES
}

/// The role after one, which has its second component too.
pub(super) const fn after(role: usize) -> usize {
    (role + 1) % PARTIES
}

/// One check of all that is pending, by one party.
pub(super) struct Turn<'a> {
    pub(super) session: &'a mut Session,
    pub(super) seats: Seats,
    /// This party's role.
    pub(super) me: usize,
}

impl Turn<'_> {
    pub(super) fn send(&mut self, role: usize, at: At, message: Vec<u8>) -> Result<(), Error> {
        Ok(self.session.mesh().send_vec(self.seats.party(role), at, message)?)
    }

    pub(super) fn recv(&mut self, role: usize, at: At, bytes: usize) -> Result<Vec<u8>, Error> {
        Ok(self.session.mesh().recv(self.seats.party(role), at, bytes)?)
    }
}

/// The plane of a role's triples that isn't drawn: `f_0`, the second component of `P_1` and the first of `P_2`.
pub(super) const UNDRAWN: [Option<usize>; PARTIES] = [None, Some(RESULT + SECOND), Some(RESULT + FIRST)];

/// Where a batch's triples are drawn from.
pub(super) struct Drawn<'a, 'b> {
    pub(super) turn: &'a mut Turn<'b>,
    pub(super) batch: u32,
}

impl Drawn<'_, '_> {
    /// The stream of a component of both factors, and the place in it.
    pub(super) fn factors(&mut self, which: usize) -> (&mut PrssStream, Draw) {
        self.with(self.holder(which), step::CHECK_FACTORS)
    }

    /// The same of their product, if it is drawn.
    pub(super) fn result(&mut self, which: usize) -> Option<(&mut PrssStream, Draw)> {
        let drawn = UNDRAWN[self.turn.me] != Some(RESULT + which);
        drawn.then(|| self.with(self.holder(which), step::CHECK_RESULT))
    }

    /// Who else has this party's first component, or its second.
    const fn holder(&self, which: usize) -> usize {
        if which == FIRST { before(self.turn.me) } else { after(self.turn.me) }
    }

    /// A stream that another role has, too.
    pub(super) fn with(&mut self, role: usize, part: u16) -> (&mut PrssStream, Draw) {
        let party = self.turn.seats.party(role);
        (self.turn.session.stream(party), Draw { part, op: self.batch })
    }
}

/// The address of a message of a batch, or of the check that begins with it.
pub(super) const fn address(part: u16, batch: u32, piece: usize) -> At {
    At { lane: 0, part, op: batch, batch: piece as u32 }
}

/// Digests of all batches of a check. The keys of each are known to the two who compare it, and to nobody else.
pub(super) struct Digests {
    /// Of components that others are sent: the receiver, which component, the digest.
    pub(super) given: Vec<(usize, usize, Digest)>,
    /// Of the components that this party is sent.
    pub(super) received: Digest,
    /// Of what has to be zero: this party's first component as the next one computes it,
    pub(super) first: Digest,
    /// and the first component of the one before as this party computes it.
    pub(super) third: Digest,
}

impl Digests {
    /// Draws the keys of a check that begins with batch `batch`.
    pub(super) fn new(turn: &mut Turn, batch: u32) -> Self {
        let me = turn.me;
        let mut keys: Vec<[u8; 2 * KEY_BYTES]> = (0..PARTIES)
            .map(|role| {
                let mut key = [0; 2 * KEY_BYTES];
                if role != me {
                    let party = turn.seats.party(role);
                    turn.session.stream(party).fill(Draw { part: step::CHECK_KEY, op: batch }, 0, &mut key);
                }
                key
            })
            .collect();
        let under = |role: usize, which: usize| new_digest(&keys[role].as_chunks().0[which], step::CHECK_KEY);
        let digests = Self {
            given: DIGESTS_TO[me].iter().map(|&(to, which)| (to, which, under(to, 0))).collect(),
            received: under(DIGEST_FROM[me], 0),
            first: under(after(me), 1),
            third: under(before(me), 1),
        };
        keys.zeroize();
        digests
    }

    /// Sends the digests of what others are sent, when all of it is in.
    pub(super) fn give(&self, turn: &mut Turn, batch: u32) -> Result<(), Error> {
        let at = address(step::CHECK_DIGEST, batch, 0);
        self.given.iter().try_for_each(|(to, _, digest)| {
            let digest = value(turn.session, digest)?;
            turn.send(*to, at, digest.to_vec())
        })
    }

    /// Compares what was received with who else knows it: only afterwards is it known to be right.
    pub(super) fn compare_opened(&self, turn: &mut Turn, batch: u32) -> Result<(), Error> {
        let at = address(step::CHECK_DIGEST, batch, 0);
        let received = value(turn.session, &self.received)?;
        if is_same(turn.session, turn.seats.party(DIGEST_FROM[turn.me]), at, &received)? {
            return Ok(());
        }
        let differs = "a difference that was opened isn't what its other holder has";
        Err(turn.session.reject(differs).into())
    }

    /// Compares what is the same if all that has to be zero is.
    pub(super) fn compare_zero(&self, turn: &mut Turn, batch: u32) -> Result<(), Error> {
        let at = address(step::CHECK_ZERO, batch, 0);
        let others = [(after(turn.me), &self.first), (before(turn.me), &self.third)];
        for (role, digest) in others {
            let digest = value(turn.session, digest)?;
            turn.send(role, at, digest.to_vec())?;
        }
        for (role, digest) in others {
            let digest = value(turn.session, digest)?;
            let right = is_same(turn.session, turn.seats.party(role), at, &digest)?;
            let passes =
                planted(Mistake::WrongTriplesPass) || planted(Mistake::LaterBatchesPass) && batch > 0;
            if !right && !passes {
                return Err(turn.session.reject("a product of masks is wrong").into());
            }
        }
        Ok(())
    }
}
