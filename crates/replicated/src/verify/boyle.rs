//! Proofs over GF(2^64) ([`super::gf64_prover`]), with points from the verifiers' seeds ([`super::seeds`]).
//!
//! The coefficients come from a seed of their own, the first of the chain. It is easy to choose wrong ANDs whose
//! coefficients add up to zero, so nobody may know these before both verifiers hold all of the batch. As every seed,
//! the right verifier releases it when its own log is complete and it has the left one's word. A batch of `R` rounds
//! takes part in `2 R + 3` steps:
//!
//! | step | to the previous party | to the next party |
//! | --- | --- | --- |
//! | 0 | as left verifier: the anchor of the seeds | as left verifier: the anchor |
//! | 1 | | as right verifier: the seed of the coefficients |
//! | 2 k, for rounds k | as prover: its values of round k | |
//! | 2 k + 1, for rounds k < R | | as right verifier: the seed of round k |
//! | 2 R + 1 | as right verifier: its share of `G(r)`, and `q(r)` | as left verifier: its share of `G(r)`, and `p(r)` |
//! | 2 R + 2 | nothing: both verifiers check `p(r) q(r) = G(r)` | |

use super::gf64_prover;
use super::log::Batch;
use super::part::{Out, Proof, Reader, other_verifier};
use super::schedule::FoldingSchedule;
use super::seeds::{
    ChallengeId, Seed, before, chain, coefficients, give_word, point_of_binary, take_word, word_bytes,
};
use super::{draws, field::Spare};
use crate::planted::{Mistake, planted};
use tacit_engine::Error;
use tacit_kernel::gf64::Gf64;
use tacit_session::{Session, step};
use tacit_threeparty::{next, prev};
use zeroize::Zeroizing;

/// Bytes of an element in a message.
const SENT: usize = 8;

/// Steps in which a batch sends anything.
pub(super) fn steps(sequence: &FoldingSchedule) -> usize {
    2 * sequence.rounds() + 2
}

/// Bytes to the previous party at this age of a batch.
pub(super) fn back_bytes(sequence: &FoldingSchedule, age: usize) -> usize {
    let anchor = if age == 0 { size_of::<Seed>() } else { 0 };
    anchor + SENT * values_at(age).map_or(0, |round| sequence.values(round)) + end_bytes(sequence, age)
}

/// Bytes to the next party at this age of a batch.
pub(super) fn forth_bytes(sequence: &FoldingSchedule, age: usize) -> usize {
    let seed = seed_at(sequence, age).map_or(0, |_| size_of::<Seed>());
    word_bytes(age) + seed + end_bytes(sequence, age)
}

fn end_bytes(sequence: &FoldingSchedule, age: usize) -> usize {
    if ends_at(sequence, age) { 2 * SENT } else { 0 }
}

/// The round whose values are sent at this age, if any are.
fn values_at(age: usize) -> Option<usize> {
    (age > 0 && age.is_multiple_of(2)).then(|| age / 2 - 1)
}

/// Which seed of the chain is released at this age, if one is: the coefficients', then the rounds'.
fn seed_at(sequence: &FoldingSchedule, age: usize) -> Option<usize> {
    (!age.is_multiple_of(2) && !ends_at(sequence, age)).then_some(age / 2)
}

/// Whether at this age the verifiers show one another what they have.
fn ends_at(sequence: &FoldingSchedule, age: usize) -> bool {
    age + 1 == steps(sequence)
}

/// This party's parts in the three proofs of a batch.
pub(super) struct Boyle {
    number: u32,
    sequence: FoldingSchedule,
    prover: Prover,
    /// What this party shows as left verifier of the previous party's proof, and the anchor.
    left: ([Gf64; 2], Seed),
    right: RightVerifier,
}

/// This party's part in its own proof.
struct Prover {
    /// The bits, until the first seed is here.
    batch: Option<Batch>,
    /// The bits from then on.
    spare: Option<Batch>,
    coefficients: Vec<Gf64>,
    u: Vec<Gf64>,
    v: Vec<Gf64>,
    /// The anchor, or the seed of the last round that has one.
    last_seed: Seed,
}

/// This party's part as right verifier of the next party's proof.
struct RightVerifier {
    seeds: Zeroizing<Vec<Seed>>,
    points: Vec<Gf64>,
    /// Its share of the first claim.
    first: Gf64,
    /// Its shares of all values so far.
    values: Vec<Gf64>,
    /// `q(r)`.
    own: Gf64,
    /// Its share of `G(r)`, and `q(r)`, once all values are here.
    end: [Gf64; 2],
}

impl Boyle {
    pub(super) fn begin(batch: Batch, number: u32, session: &mut Session) -> Self {
        let sequence = batch.sequence.clone();
        let (me, ands) = (session.me(), 64 * sequence.padded_words());

        let prover = prev(me);
        let seeds = seeds(session, next(me), number, &sequence);
        let points = points(session, &sequence, &seeds, prover, number);
        let anchor = before(&seeds[0]);
        let theta = coefficients(session.id(), &source(&seeds[0]), prover, number, ands);
        let values = shares(session, prover, number, &sequence, 0..sequence.rounds());
        let eta = mask(session, prover, step::PROOF_LEFT_MASK, number);
        let planes = batch.left_of_prev().into();
        let first = gf64_prover::first_claim(&theta, planes);
        let claim = gf64_prover::claim(&sequence, first, &values, &points);
        let own = gf64_prover::fold_to_point(&sequence, &theta, planes, &points, eta);
        let left = ([claim, own], anchor);

        let right = RightVerifier::begin(&batch, number, session);
        let prover = Prover {
            batch: Some(batch),
            spare: None,
            coefficients: Vec::new(),
            u: Vec::new(),
            v: Vec::new(),
            last_seed: Seed::default(),
        };
        Self { number, sequence, prover, left, right }
    }

    /// The prover's values of a round, less the left verifier's shares of them.
    fn send_values(&mut self, round: usize, session: &mut Session, out: &mut Vec<u8>) {
        let (me, sequence, number) = (session.me(), &self.sequence, self.number);
        let prover = &mut self.prover;
        if round > 0 {
            prover.fold(sequence, round - 1, number, session);
        }
        let values = match &prover.batch {
            Some(batch) => {
                let ands = 64 * sequence.padded_words();
                prover.coefficients =
                    coefficients(session.id(), &source(&prover.last_seed), me, number, ands);
                gf64_prover::first_values(sequence, &prover.coefficients, batch.own_left(), batch.own_right())
            }
            None if sequence.is_last(round) => {
                let eta = mask(session, next(me), step::PROOF_LEFT_MASK, number);
                let tau = mask(session, prev(me), step::PROOF_RIGHT_MASK, number);
                gf64_prover::last_values(&prover.u, &prover.v, [eta, tau])
            }
            None => gf64_prover::middle_values(sequence.blocks(round), &mut prover.u, &mut prover.v),
        };
        let shares = shares(session, next(me), number, sequence, round..round + 1);
        let rest: Vec<Gf64> = values.iter().zip(shares).map(|(value, share)| value.plus(share)).collect();
        out.extend(bytemuck::cast_slice::<Gf64, u8>(&rest));
    }
}

impl Prover {
    /// Brings the vectors to the point of a round.
    fn fold(&mut self, sequence: &FoldingSchedule, round: usize, number: u32, session: &Session) {
        let place = ChallengeId { prover: session.me(), batch: number, round, repetition: 0 };
        let point = point_of_binary(session.id(), &self.last_seed, place, sequence.blocks(round));
        if let Some(batch) = self.batch.take() {
            let fold = |planes| gf64_prover::fold_bits(sequence, &self.coefficients, planes, point);
            (self.u, self.v) = (fold(batch.own_left().into()), fold(batch.own_right().into()));
            self.coefficients = Vec::new();
            self.spare = Some(batch);
        } else {
            gf64_prover::fold(sequence.blocks(round), &mut self.u, point);
            gf64_prover::fold(sequence.blocks(round), &mut self.v, point);
        }
    }
}

impl RightVerifier {
    fn begin(batch: &Batch, number: u32, session: &mut Session) -> Self {
        let (sequence, me) = (&batch.sequence, session.me());
        let prover = next(me);
        let seeds = seeds(session, prev(me), number, sequence);
        let points = points(session, sequence, &seeds, prover, number);
        let ands = 64 * sequence.padded_words();
        let theta = coefficients(session.id(), &source(&seeds[0]), prover, number, ands);
        let tau = mask(session, prover, step::PROOF_RIGHT_MASK, number);
        let planes = batch.right_of_next().into();
        let first = gf64_prover::first_claim(&theta, planes);
        let own = gf64_prover::fold_to_point(sequence, &theta, planes, &points, tau);
        Self { seeds, points, first, values: Vec::new(), own, end: [Gf64::ZERO; 2] }
    }
}

impl Proof for Boyle {
    fn send(&mut self, age: usize, out: Out<'_>, session: &mut Session, _: &mut Spare) {
        let Out { back, forth } = out;
        if age == 0 {
            back.extend(self.left.1);
            give_word(&self.left.1, forth);
            // With this word the right verifier may release the coefficients, and the prover can know how the check ends.
            session.challenge();
        }
        if let Some(round) = values_at(age) {
            self.send_values(round, session, back);
        }
        if let Some(round) = seed_at(&self.sequence, age) {
            forth.extend(self.right.seeds[round]);
        }
        if ends_at(&self.sequence, age) {
            let right = &mut self.right;
            let claim = gf64_prover::claim(&self.sequence, right.first, &right.values, &right.points);
            right.end = [claim, right.own];
            back.extend(bytemuck::cast_slice::<Gf64, u8>(&right.end));
            forth.extend(bytemuck::cast_slice::<Gf64, u8>(&self.left.0));
        }
    }

    fn receive(
        &mut self,
        age: usize,
        from_next: &mut Reader<'_>,
        from_prev: &mut Reader<'_>,
        session: &mut Session,
        _: &mut Spare,
    ) -> Result<(), Error> {
        if age == 0 {
            self.prover.last_seed = from_next.take();
            take_word(&self.right.seeds[0], from_prev, next(session.me()), session)?;
        }
        if let Some(round) = values_at(age) {
            let count = self.sequence.values(round);
            self.right.values.extend((0..count).map(|_| element(from_next)));
        }
        if seed_at(&self.sequence, age).is_some() {
            let seed = from_prev.take();
            if before(&seed) != self.prover.last_seed {
                let what = "a seed of a proof's points is not the one that was committed to";
                return Err(session.reject(what).into());
            }
            self.prover.last_seed = seed;
        }
        if ends_at(&self.sequence, age) {
            let me = session.me();
            check_end(self.left.0, from_next, prev(me), session)?;
            check_end(self.right.end, from_prev, next(me), session)?;
        }
        Ok(())
    }

    fn spare(&mut self) -> Option<Batch> {
        self.prover.spare.take()
    }
}

/// `p(r) q(r) = G(r)`: this verifier's share of `G(r)` and its own factor, and the other one's, which are to be read.
fn check_end(
    [claim, own]: [Gf64; 2],
    theirs: &mut Reader<'_>,
    prover: usize,
    session: &mut Session,
) -> Result<(), Error> {
    let (their_claim, their_own) = (element(theirs), element(theirs));
    if own.times(their_own) == claim.plus(their_claim) {
        return Ok(());
    }
    let (prover, other) = (session.name(prover), session.name(other_verifier(session.me(), prover)));
    let what = format!("the proof that {prover} computed its ANDs right fails, by {prover} or by {other}");
    Err(session.reject(&what).into())
}

/// Every word is an element.
fn element(reader: &mut Reader<'_>) -> Gf64 {
    Gf64(u64::from_le_bytes(reader.take()))
}

/// The seeds of the coefficients and of all rounds, which the verifiers draw from the key that they share.
fn seeds(
    session: &mut Session,
    other: usize,
    number: u32,
    sequence: &FoldingSchedule,
) -> Zeroizing<Vec<Seed>> {
    chain(&draws::seed(session, other, step::PROOF_SEED, number), 1 + sequence.rounds())
}

/// What the coefficients come from: the first seed.
fn source(first: &Seed) -> Seed {
    if planted(Mistake::CoefficientsFromAnchor) { before(first) } else { *first }
}

/// The points of all rounds.
fn points(
    session: &Session,
    sequence: &FoldingSchedule,
    seeds: &[Seed],
    prover: usize,
    batch: u32,
) -> Vec<Gf64> {
    let point = |(round, seed)| {
        let place = ChallengeId { prover, batch, round, repetition: 0 };
        point_of_binary(session.id(), seed, place, sequence.blocks(round))
    };
    seeds[1..].iter().enumerate().map(point).collect()
}

/// The left verifier's shares of the values of some rounds.
fn shares(
    session: &mut Session,
    peer: usize,
    number: u32,
    sequence: &FoldingSchedule,
    rounds: std::ops::Range<usize>,
) -> Vec<Gf64> {
    rounds.flat_map(|round| draws::binary_shares(session, peer, number, sequence, round)).collect()
}

/// The random value at 0 of the last round.
fn mask(session: &mut Session, peer: usize, part: u16, number: u32) -> Gf64 {
    draws::binary_mask(session, peer, part, number)
}
