//! Opened values, and the check of their MACs (MASCOT, protocol 2; protocol 3, Open and Check).
//!
//! Opening sends shares; anybody may send wrong ones. So opened values are noted, and checked together before anything
//! that was made of them is handed out:
//!
//! 1. all compare a hash of all opened values: who was told others ends the session;
//! 2. a coin is tossed, and with weights `r_j` from it each computes `y = sum of r_j x_j`, `m^(i) = sum of r_j m_j^(i)` and
//!    `sigma^(i) = m^(i) - y Delta^(i)`;
//! 3. each commits to `sigma^(i)`, and all compare a hash of all commitments;
//! 4. all open: the sum of all `sigma^(i)` has to be 0.
//!
//! An opened value that is off by `e` makes the sum `-e r Delta`. To make up for it somebody needs `Delta`, all shares of
//! which but its own are unknown to it: with values that aren't right the check passes with a probability of at most `2/p`,
//! for the weights and for the key.
//!
//! # Security
//! One check at a time under one key: whoever has another check's opened `sigma` before it commits here can choose its own
//! by it ("Rushing at SPDZ", S&P 2025). All checks of a [`Preprocessing`](crate::Preprocessing) are made one after another.

use crate::coins::Coins;
use crate::key::MacKey;
use crate::planted::{Mistake, planted, tap};
use crate::secret::Secret;
use crate::shares::Shares;
use crate::step;
use tacit_kernel::Element;
use tacit_kernel::field::Fp128;
use tacit_session::{At, Commitment, Error, Session};

/// Values in a message.
const PIECE: usize = 1 << 14;

/// Bytes of a value.
const BYTES: usize = 16;

/// Values that were opened and aren't checked yet.
#[derive(Default)]
#[must_use = "opened values may be wrong until they are checked"]
pub(crate) struct Openings {
    values: Vec<Fp128>,
    macs: Vec<Secret>,
}

impl Openings {
    /// Opens values to all, and notes them. One round of 16 bytes for each value.
    ///
    /// # Errors
    /// If there isn't a MAC for each value, or a link fails. The session is over.
    pub(crate) fn open(
        &mut self,
        session: &mut Session,
        op: u32,
        mut shares: Shares,
    ) -> Result<Vec<Fp128>, Error> {
        if shares.values.len() != shares.macs.len() {
            return Err(session.reject("each value that is opened needs a MAC"));
        }
        tap("opened", &mut shares.values);
        let mut sums = shares.values.to_vec();
        let others: Vec<usize> = session.others().collect();
        for (batch, sums) in (0..).zip(sums.chunks_mut(PIECE)) {
            let at = At { lane: 0, part: step::SHARES, op, batch };
            for &peer in &others {
                session.mesh().send(peer, at, bytemuck::cast_slice(sums))?;
            }
            for &peer in &others {
                let message = session.mesh().recv(peer, at, BYTES * sums.len())?;
                for (sum, bytes) in sums.iter_mut().zip(message.as_chunks().0) {
                    // What a peer sends needn't be an element: it's reduced.
                    *sum = sum.wrapping_add(Fp128::from_u128(u128::from_le_bytes(*bytes)));
                }
                session.mesh().recycle(message);
            }
        }
        self.values.extend_from_slice(&sums);
        self.macs.push(shares.macs);
        Ok(sums)
    }

    /// Notes values that all have already, or that have to be what they are: with this party's shares of their MACs.
    ///
    /// # Panics
    /// If there isn't a MAC for each value.
    pub(crate) fn note(&mut self, values: &[Fp128], macs: Secret) {
        assert_eq!(values.len(), macs.len(), "a MAC for each value");
        self.values.extend_from_slice(values);
        self.macs.push(macs);
    }

    /// Checks all values that were noted. Six rounds of [`crate::cost::CHECK`] bytes to each other party.
    ///
    /// # Errors
    /// If a value's MAC isn't right, or somebody was told other values. The session is over.
    pub(crate) fn check(self, session: &mut Session, key: &MacKey, op: u32) -> Result<(), Error> {
        if !planted(Mistake::OpenedUncompared) {
            session.echo(bytemuck::cast_slice(&self.values))?;
        }
        let mut coins = Coins::toss(session)?;
        let mut rest = self.values.as_slice();
        let mut sigma = [Fp128::ZERO];
        for macs in &self.macs {
            let (values, after) = rest.split_at(macs.len());
            rest = after;
            let [y, m] = coins.weigh(values, macs);
            tap("weighed", &mut [y]);
            sigma[0] = sigma[0].wrapping_add(m.wrapping_sub(y.wrapping_mul(key.share())));
        }
        tap("sigma", &mut sigma);
        let sum = sum_of_committed(session, op, sigma[0])?;
        if sum != Fp128::ZERO && !planted(Mistake::MacsUnchecked) {
            return Err(session.reject("the MACs of opened values aren't theirs"));
        }
        Ok(())
    }
}

/// The sum of all parties' elements, to which all have committed before anybody opens. Three rounds.
fn sum_of_committed(session: &mut Session, op: u32, mine: Fp128) -> Result<Fp128, Error> {
    let (id, me) = (*session.id(), session.me());
    let label = format!("mac check {} {op}", session.first_operation());
    let mine_bytes = mine.to_u128().to_le_bytes();
    let (commitment, opening) = Commitment::new(&id, me, &label, &mine_bytes, session.entropy())?;
    let at = |part| At { lane: 0, part, op, batch: 0 };
    let opened = [&mine_bytes[..], &opening.0].concat();
    send_all(session, at(step::COMMITMENT), &commitment.0)?;
    let early = planted(Mistake::OpenedWithCommitment);
    if early {
        send_all(session, at(step::OPENING), &opened)?;
    }
    let mut commitments = vec![commitment.0.to_vec(); session.parties()];
    for party in session.others() {
        commitments[party] = session.mesh().recv(party, at(step::COMMITMENT), commitment.0.len())?;
    }
    if !early {
        // Everybody's are in everybody's hands.
        session.echo(&commitments.concat())?;
        send_all(session, at(step::OPENING), &opened)?;
    }
    let mut sum = mine;
    for party in session.others() {
        let message = session.mesh().recv(party, at(step::OPENING), BYTES + 32)?;
        let value = Commitment::opened(&commitments[party], &id, party, &label, &message);
        let Some(value) = value.and_then(|value| value.try_into().ok()) else {
            let party = session.name(party).to_owned();
            return Err(session.reject(&format!("{party} opened something that it hadn't committed to")));
        };
        sum = sum.wrapping_add(Fp128::from_u128(u128::from_le_bytes(value)));
    }
    Ok(sum)
}

fn send_all(session: &mut Session, at: At, message: &[u8]) -> Result<(), Error> {
    for party in session.others() {
        session.mesh().send(party, at, message)?;
    }
    Ok(())
}
