//! Vector OLE over F_p, p = 2^128 - 159, from learning parity with noise (Weng, Yang, Katz, Wang, "Wolverine", S&P 2021,
//! figures 5 to 8): products of random numbers with a fixed one, for 11 bytes each.
//!
//! Each party has a fixed number for each peer, that of its [`Multiplier`]. A *correlation* of a peer's `delta` is a random `u`
//! that this party has, with shares of the product: `t + q = u delta`, `t` here and `q` there. Both directions are made at once.
//!
//! **Base.** 3,231 correlations by [`copee`](crate::copee), with a check: the verifier, who has `delta`, draws weights; the
//! prover opens the weighed sums of all `u` and all `t`, which one correlation more hides.
//!
//! **A round** takes 3,231 correlations, of the base or of the round before, and makes 13,312: `u = A s + e` with a public
//! matrix `A` (`lpn`). 2,398 of those that it takes are `s`; 832 are the elements of `e` that aren't zero, at places
//! that only the prover knows (`spvole`); and one is given up in the check of those. Whatever is linear in `u`
//! holds for `t` and `q`, too. The next round has the first 3,231, and 10,081 are handed out.
//!
//! | message of a round | from | waits for |
//! | --- | --- | --- |
//! | trees | verifier | OTs that have passed |
//! | coin, `y` | prover | trees |
//! | commitment to its side of the check | verifier | coin, `y` |
//! | its side | prover | commitment |
//! | opening | verifier | the right side |
//!
//! Derivations, parameters and bounds are on the page `docs/vole.md`.
//!
//! # Security
//! Each pair of parties has a base of its own. With one `s` for two peers the difference of their outputs would be that of two
//! noises, which tells `s` to both together.

use crate::context::Context;
use crate::copee::{Field, Multiplicand, Multiplier, PRODUCT_BYTES};
use crate::extend::{Choices, Request};
use crate::lpn::{Code, POINTS, ROWS, SECRET};
use crate::pairs::Ot;
use crate::params::Params;
use crate::planted::{Mistake, planted};
use crate::sink::{Form, Received, Sent, Sink};
use crate::spvole::{
    OTS, Points, TREES_BYTES, Words, elements, elements_mut, expected, grow, inner, regrow, weights,
};
use crate::step;
use subtle::ConstantTimeEq;
use tacit_kernel::Element;
use tacit_kernel::field::Fp128;
use tacit_kernel::robust::RobustHash;
use tacit_net::At;
use tacit_session::{Commitment, Error, Session};
use zeroize::Zeroizing;

/// Correlations of the base that go into a message: 256 KiB.
const PIECE: usize = 128;

/// Bytes of a coin, and of an element.
const WORD: usize = 16;

/// Bytes of a commitment, and of what opens it.
const COMMITMENT: usize = 32;

/// What is kept between rounds: the correlations that the next one takes, with each peer.
///
/// It is passed on by value: after an error there is none left.
pub struct Vole(Vec<Pair>);

/// The same with one peer.
struct Pair {
    peer: usize,
    /// This party's number, which the peer's products are with.
    delta: Zeroizing<u128>,
    kept: Shares,
}

/// Correlations in both directions.
#[derive(Default)]
struct Shares {
    /// As prover: the values, and shares of their products.
    u: Words,
    t: Words,
    /// As verifier: shares of the peer's products.
    q: Words,
}

/// Correlations with a peer, as words; wiped when dropped, never printed.
pub struct Correlations {
    /// The peer.
    pub peer: usize,
    /// This party's values, random elements.
    pub values: Zeroizing<Vec<u128>>,
    /// Its shares of their products with the peer's number.
    pub shares: Zeroizing<Vec<u128>>,
    /// Its shares of the products of the peer's values with its own number.
    pub theirs: Zeroizing<Vec<u128>>,
}

impl std::fmt::Debug for Vole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vole").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Correlations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Correlations").field("peer", &self.peer).finish_non_exhaustive()
    }
}

impl Vole {
    /// Correlations that a round takes.
    pub const TAKEN: usize = SECRET + POINTS + 1;

    /// Correlations that a round hands out.
    pub const MADE: usize = ROWS - Self::TAKEN;

    /// Makes the base with the peers of these products, who do the same at the same point. `op` is a number that no other setup
    /// or extension of the plan has. [`base_bytes`](Self::base_bytes) to each peer; three rounds.
    ///
    /// # Errors
    /// If a peer's factors weren't the same for all bits, a link fails, or the products are in the binary field. The session is
    /// over.
    pub fn base(
        session: &mut Session,
        products: &mut [(usize, &mut Multiplicand, &mut Multiplier)],
        op: u32,
    ) -> Result<Self, Error> {
        let fields = products.iter().flat_map(|(_, own, theirs)| [own.field(), theirs.field()]);
        if fields.into_iter().any(|field| field != Field::Prime) {
            return Err(session.reject("vector OLE is over the prime field alone"));
        }
        let count = Self::TAKEN + 1;
        let mut pairs = Vec::with_capacity(products.len());
        for (peer, _, theirs) in &*products {
            let mut u = Words::new(vec![0; count]);
            let mut key = Zeroizing::new([0; 16]);
            session.entropy().fill(key.as_mut())?;
            Fp128::fill(&tacit_kernel::aes::Aes128Ctr::new(&key), 0, 0, elements_mut(&mut u));
            let [t, q] = [(); 2].map(|()| Words::new(vec![0; count]));
            pairs.push(Pair { peer: *peer, delta: theirs.delta(), kept: Shares { u, t, q } });
        }
        let mut early = None;
        let part = |piece: usize| count.min(PIECE * piece)..count.min(PIECE * (piece + 1));
        let at = |piece: usize| At { lane: 0, part: step::VOLE_BASE, op, batch: piece as u32 };
        for piece in 0..=count.div_ceil(PIECE) {
            let own = part(piece);
            for ((peer, multiplicand, _), pair) in products.iter_mut().zip(&mut pairs) {
                if !own.is_empty() {
                    let mut message = session.mesh().buffer(PRODUCT_BYTES * own.len());
                    let Shares { u, t, .. } = &mut pair.kept;
                    multiplicand.extend(&u[own.clone()], &mut t[own.clone()], &mut message);
                    session.mesh().send_vec(*peer, at(piece), message)?;
                }
            }
            if own.is_empty() && planted(Mistake::VoleBaseCoinEarly) {
                early = Some(base_coins(session, &pairs, op)?);
            }
            let Some(last) = piece.checked_sub(1) else { continue };
            for ((peer, _, multiplier), pair) in products.iter_mut().zip(&mut pairs) {
                let theirs = part(last);
                let message = session.mesh().recv(*peer, at(last), PRODUCT_BYTES * theirs.len())?;
                multiplier.extend(&message, &mut pair.kept.q[theirs]);
                session.mesh().recycle(message);
            }
        }
        let coins = match early {
            Some(coins) => coins,
            None => base_coins(session, &pairs, op)?,
        };
        check_base(session, &mut pairs, coins, op)?;
        Ok(Self(pairs))
    }

    /// Payload bytes of [`base`](Self::base) to each peer: products, a coin, and two sums.
    pub fn base_bytes() -> u64 {
        (PRODUCT_BYTES * (Self::TAKEN + 1) + 3 * WORD) as u64
    }

    /// Makes `count` correlations with each peer, or some more, with OTs of `ot`, which has the same peers in both directions.
    /// `op` is a number that no other setup or extension of the plan has. [`bytes`](Self::bytes) to each peer; eight rounds,
    /// and five more for each further [`MADE`](Self::MADE).
    ///
    /// # Errors
    /// If a check fails, or a link does, or the transfers are semi-honest. The session is over.
    pub fn extend(
        mut self,
        session: &mut Session,
        ot: &mut Ot,
        op: u32,
        count: usize,
    ) -> Result<(Self, Vec<Correlations>), Error> {
        if !ot.params().is_malicious() {
            return Err(session.reject("vector OLE needs oblivious transfers that are checked"));
        }
        let rounds = u32::try_from(count.div_ceil(Self::MADE)).map_err(|_| Error::Exhausted)?;
        let ots = rounds as usize * OTS;
        let mut taken = Transfers(self.0.iter().map(|pair| Transferred::with_room(pair.peer, ots)).collect());
        let request = Request { op, count: ots, choices: Choices::Random, form: Form::Random };
        ot.extend(session, &request, &mut taken)?;
        if taken.0.iter().any(|one| one.zeros.len() != ots || one.values.len() != ots) {
            return Err(session.reject("a vector OLE has peers that its oblivious transfers haven't"));
        }
        let room = || Words::new(Vec::with_capacity(rounds as usize * Self::MADE));
        let mut made: Vec<Correlations> = self
            .0
            .iter()
            .map(|pair| Correlations { peer: pair.peer, values: room(), shares: room(), theirs: room() })
            .collect();
        for number in 0..rounds {
            let round = Round { op, number, params: *ot.params() };
            let all = round.make(session, &self.0, &taken.0)?;
            for ((pair, rows), made) in self.0.iter_mut().zip(all).zip(&mut made) {
                let lists = [&mut made.values, &mut made.shares, &mut made.theirs];
                for (list, rows) in lists.into_iter().zip([&rows.u, &rows.t, &rows.q]) {
                    list.extend_from_slice(&rows[Self::TAKEN..]);
                }
                // What was handed out doesn't stay.
                let first = |rows: &Words| Words::new(rows[..Self::TAKEN].to_vec());
                pair.kept = Shares { u: first(&rows.u), t: first(&rows.t), q: first(&rows.q) };
            }
        }
        Ok((self, made))
    }

    /// Payload bytes of [`extend`](Self::extend) to each peer: OTs in both directions, and for each round trees, a coin, `y`, a
    /// commitment, a side of the check, and the opening.
    pub fn bytes(params: &Params, count: usize) -> u64 {
        let rounds = count.div_ceil(Self::MADE);
        let round = TREES_BYTES + 2 * WORD + COMMITMENT + WORD + WORD + COMMITMENT;
        params.extension_bytes(rounds * OTS, false).iter().sum::<u64>() + (rounds * round) as u64
    }
}

/// Draws the coin that the base with each peer is checked by, and tells it the peer.
///
/// # Security
/// A party that calls this has to hold all products of the peers' factors.
fn base_coins(session: &mut Session, pairs: &[Pair], op: u32) -> Result<Vec<[u8; WORD]>, Error> {
    let at = At { lane: 0, part: step::VOLE_BASE_COIN, op, batch: 0 };
    let mut coins = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let mut coin = [0; WORD];
        session.entropy().fill(&mut coin)?;
        session.challenge();
        session.mesh().send(pair.peer, at, &coin)?;
        coins.push(coin);
    }
    Ok(coins)
}

/// Checks by this party's coins that the peers' factors were the same for all bits of its number.
fn check_base(
    session: &mut Session,
    pairs: &mut [Pair],
    coins: Vec<[u8; WORD]>,
    op: u32,
) -> Result<(), Error> {
    let at = |part| At { lane: 0, part, op, batch: 0 };
    for pair in &*pairs {
        let coin = session.mesh().recv(pair.peer, at(step::VOLE_BASE_COIN), WORD)?;
        let weights = weights(&coin.first_chunk().copied().unwrap_or_default(), Vole::TAKEN + 1);
        let sums =
            [&pair.kept.u, &pair.kept.t].map(|list| inner(&weights, elements(list)).to_u128().to_le_bytes());
        session.mesh().send(pair.peer, at(step::VOLE_BASE_ANSWER), sums.as_flattened())?;
    }
    for (pair, coin) in pairs.iter_mut().zip(coins) {
        let answer = session.mesh().recv(pair.peer, at(step::VOLE_BASE_ANSWER), 2 * WORD)?;
        let [u, t] = [0, WORD].map(|at| element(&answer[at..]));
        let q = inner(&weights(&coin, Vole::TAKEN + 1), elements(&pair.kept.q));
        let product = u.wrapping_mul(Fp128::from_u128(*pair.delta));
        if !same(t.wrapping_add(q), product) && !planted(Mistake::BaseUnchecked) {
            return Err(reject(
                session,
                pair.peer,
                "factors of a vector OLE's base aren't the same for all bits",
            ));
        }
        // The last one is given up.
        let Shares { u, t, q } = &mut pair.kept;
        for list in [u, t, q] {
            list.truncate(Vole::TAKEN);
        }
    }
    Ok(())
}

/// A round of an extension.
struct Round {
    op: u32,
    number: u32,
    params: Params,
}

/// A round with one peer, before all checks have passed.
struct Open {
    /// As verifier: all leaves, its side of the check, and the commitment's opening.
    leaves: Words,
    expected: Fp128,
    opening: [u8; WORD + COMMITMENT],
    /// As prover: its shares of the noise's products, its side of the check, and the peer's commitment.
    points: Points,
    side: Fp128,
    committed: Vec<u8>,
}

impl Round {
    fn at(&self, part: u16) -> At {
        At { lane: 0, part, op: self.op, batch: self.number }
    }

    /// What a direction's hash and code are bound to.
    fn context(&self, session: &Session, verifier: usize, prover: usize) -> Context {
        Context::new(session, [verifier, prover], self.op, &self.params).within("vector OLE")
    }

    fn hash(&self, context: &Context) -> RobustHash {
        let hash = context.hash("noise", &[u64::from(self.number)], &[]);
        RobustHash::new(&hash[..16].first_chunk().copied().unwrap_or_default())
    }

    /// Makes a round with each peer: all rows.
    fn make(
        &self,
        session: &mut Session,
        pairs: &[Pair],
        taken: &[Transferred],
    ) -> Result<Vec<Shares>, Error> {
        let open = self.points(session, pairs, taken)?;
        let passed = self.check(session, pairs, open)?;
        let both = pairs.iter().zip(passed);
        Ok(both.map(|(pair, (leaves, points))| self.rows(session, pair, &leaves, points)).collect())
    }

    /// Trees both ways, and the provers' part of the check.
    fn points(
        &self,
        session: &mut Session,
        pairs: &[Pair],
        taken: &[Transferred],
    ) -> Result<Vec<Open>, Error> {
        let me = session.me();
        let ots = self.number as usize * OTS..(self.number as usize + 1) * OTS;
        let mut all_leaves = Vec::with_capacity(pairs.len());
        for (pair, taken) in pairs.iter().zip(taken) {
            let hash = self.hash(&self.context(session, me, pair.peer));
            let mut message = session.mesh().buffer(TREES_BYTES);
            let keys = [&taken.zeros[ots.clone()], &taken.ones[ots.clone()]];
            all_leaves.push(grow(&hash, keys, &pair.kept.q[SECRET..SECRET + POINTS], &mut message));
            session.mesh().send_vec(pair.peer, self.at(step::VOLE_TREES), message)?;
        }
        let mut open = Vec::with_capacity(pairs.len());
        for ((pair, taken), leaves) in pairs.iter().zip(taken).zip(all_leaves) {
            let mut coin = [0; WORD];
            session.entropy().fill(&mut coin)?;
            let hash = self.hash(&self.context(session, pair.peer, me));
            let Shares { u, t, .. } = &pair.kept;
            let noise = SECRET..SECRET + POINTS;
            // Transfers of a round are a multiple of 64.
            let (choices, keys) = (&taken.choices[ots.start / 64..], &taken.values[ots.clone()]);
            let answered = |trees: &[u8]| {
                let points = regrow(&hash, choices, keys, &t[noise.clone()], trees);
                let answer =
                    points.answer(&coin, &u[noise.clone()], [u[Vole::TAKEN - 1], t[Vole::TAKEN - 1]]);
                (points, answer)
            };
            let challenge = |session: &mut Session, y: Fp128| {
                session.challenge();
                let challenge = [coin, y.to_u128().to_le_bytes()];
                session.mesh().send(pair.peer, self.at(step::VOLE_COIN), challenge.as_flattened())
            };
            if planted(Mistake::VoleCoinEarly) {
                // Places follow from the transfers, and y from places.
                let (_, [y, _]) = answered(&vec![0; TREES_BYTES]);
                challenge(session, y)?;
            }
            let message = session.mesh().recv(pair.peer, self.at(step::VOLE_TREES), TREES_BYTES)?;
            let (points, [y, side]) = answered(&message);
            session.mesh().recycle(message);
            if !planted(Mistake::VoleCoinEarly) {
                challenge(session, y)?;
            }
            let (expected, opening, committed) = (Fp128::ZERO, [0; WORD + COMMITMENT], Vec::new());
            open.push(Open { leaves, expected, opening, points, side, committed });
        }
        Ok(open)
    }

    /// The check: commitments, sides, openings.
    fn check(
        &self,
        session: &mut Session,
        pairs: &[Pair],
        mut open: Vec<Open>,
    ) -> Result<Vec<(Words, Points)>, Error> {
        let (id, me) = (*session.id(), session.me());
        let label = format!("vector OLE {} {} {}", session.first_operation(), self.op, self.number);
        for (pair, open) in pairs.iter().zip(&mut open) {
            let message = session.mesh().recv(pair.peer, self.at(step::VOLE_COIN), 2 * WORD)?;
            let coin = message.first_chunk().copied().unwrap_or_default();
            let last = [*pair.delta, pair.kept.q[Vole::TAKEN - 1]];
            open.expected = expected(&coin, element(&message[WORD..]), &open.leaves, last);
            let value = open.expected.to_u128().to_le_bytes();
            let (commitment, opening) = Commitment::new(&id, me, &label, &value, session.entropy())?;
            open.opening[..WORD].copy_from_slice(&value);
            open.opening[WORD..].copy_from_slice(&opening.0);
            session.mesh().send(pair.peer, self.at(step::VOLE_COMMITMENT), &commitment.0)?;
        }
        for (pair, open) in pairs.iter().zip(&mut open) {
            open.committed = session.mesh().recv(pair.peer, self.at(step::VOLE_COMMITMENT), COMMITMENT)?;
            session.mesh().send(pair.peer, self.at(step::VOLE_SIDE), &open.side.to_u128().to_le_bytes())?;
        }
        for (pair, open) in pairs.iter().zip(&open) {
            let side = session.mesh().recv(pair.peer, self.at(step::VOLE_SIDE), WORD)?;
            if !same(element(&side), open.expected) && !planted(Mistake::SideUncompared) {
                return Err(reject(
                    session,
                    pair.peer,
                    "side of a vector OLE's check isn't the one that follows",
                ));
            }
            session.mesh().send(pair.peer, self.at(step::VOLE_OPENING), &open.opening)?;
        }
        for (pair, open) in pairs.iter().zip(&open) {
            let message = session.mesh().recv(pair.peer, self.at(step::VOLE_OPENING), WORD + COMMITMENT)?;
            let value = Commitment::opened(&open.committed, &id, pair.peer, &label, &message);
            let right = value.is_some_and(|value| same(element(value), open.side));
            if !right && !planted(Mistake::NoiseUnchecked) {
                return Err(reject(
                    session,
                    pair.peer,
                    "trees of a vector OLE aren't those of its commitment",
                ));
            }
        }
        Ok(open.into_iter().map(|open| (open.leaves, open.points)).collect())
    }

    /// All rows: the code's, and the noise.
    fn rows(&self, session: &Session, pair: &Pair, leaves: &[u128], points: Points) -> Shares {
        let me = session.me();
        let Shares { u, t, q } = &pair.kept;
        let mut rows =
            Shares { u: Words::new(vec![0; ROWS]), t: Words::default(), q: Words::new(vec![0; ROWS]) };
        for (row, leaf) in elements_mut(&mut rows.q).iter_mut().zip(elements(leaves)) {
            *row = leaf.wrapping_neg();
        }
        let code = Code::new(&self.context(session, me, pair.peer), self.number);
        code.add([&elements(q)[..SECRET]], [elements_mut(&mut rows.q)]);

        points.add_noise(&u[SECRET..SECRET + POINTS], &mut rows.u);
        rows.t = points.shares;
        let code = Code::new(&self.context(session, pair.peer, me), self.number);
        let secrets = [u, t].map(|list| &elements(list)[..SECRET]);
        code.add(secrets, [elements_mut(&mut rows.u), elements_mut(&mut rows.t)]);
        rows
    }
}

/// The OTs with one peer.
struct Transferred {
    peer: usize,
    zeros: Words,
    ones: Words,
    choices: Zeroizing<Vec<u64>>,
    values: Words,
}

impl Transferred {
    /// None, with room for so many: a list that grows would leave copies behind.
    fn with_room(peer: usize, count: usize) -> Self {
        let room = || Words::new(Vec::with_capacity(count));
        let choices = Zeroizing::new(Vec::with_capacity(count.div_ceil(64)));
        Self { peer, zeros: room(), ones: room(), choices, values: room() }
    }
}

/// The OTs with all peers.
struct Transfers(Vec<Transferred>);

impl Sink for Transfers {
    fn sent(&mut self, ots: Sent<'_>) {
        for one in self.0.iter_mut().filter(|one| one.peer == ots.peer) {
            one.zeros.extend_from_slice(ots.zeros);
            one.ones.extend_from_slice(ots.ones);
        }
    }

    fn received(&mut self, ots: Received<'_>) {
        for one in self.0.iter_mut().filter(|one| one.peer == ots.peer) {
            one.choices.extend_from_slice(&ots.choices[..ots.values.len().div_ceil(64)]);
            one.values.extend_from_slice(ots.values);
        }
    }
}

/// The element of a message's first bytes. What a peer sends needn't be one: it's reduced.
fn element(bytes: &[u8]) -> Fp128 {
    Fp128::from_u128(bytes.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes)))
}

/// Whether two elements are the same, in constant time.
fn same(one: Fp128, other: Fp128) -> bool {
    one.to_u128().ct_eq(&other.to_u128()).into()
}

fn reject(session: &mut Session, peer: usize, what: &str) -> Error {
    let peer = session.name(peer).to_owned();
    session.reject(&format!("{peer}'s {what}"))
}
