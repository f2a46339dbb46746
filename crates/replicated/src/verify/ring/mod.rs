//! Distributed zero-knowledge proofs that products in Z_2^d, for d up to 64, were computed correctly.
//!
//! The statement, the protocol and its proof are on the protocol's page. The words are those of proofs of ANDs: the *left*
//! verifier of `P_i` is `P_(i+1)`, the *right* one `P_(i-1)`, and seeds are a chain with an anchor.
//!
//! | module | has |
//! | --- | --- |
//! | `log` | what a party notes of every product until it is proved, and where batches end |
//! | `statement` | the statement as polynomials over the integers |
//! | `vector` | the statement as vectors over F_p |
//! | `shuffled` | the statement of a shuffle's turns |
//! | `coins` | bits, primes and points from seeds |
//! | `quotients` | quotients by 2^64 as they are shared |
//! | `fold` | folding over F_p |
//!
//! A batch of `R` rounds takes part in `2 R + 5` steps:
//!
//! | step | to the previous party | to the next party |
//! | --- | --- | --- |
//! | 0 | as left verifier: the anchor | as left verifier: the anchor |
//! | 1 | | as right verifier: the seed of the bits |
//! | 2 | as prover: shares of the quotients | |
//! | 3 | | as right verifier: the seed of the prime and of chi |
//! | 2 k + 2, for rounds k from 1 | as prover: its values of round k | |
//! | 2 k + 3, for rounds k < R | | as right verifier: the seed of round k |
//! | 2 R + 3 | as right verifier: its share of `G(r)`, and `q(r)` | as left verifier: its share of `G(r)`, and `p(r)` |
//!
//! With two repetitions each has bits, quotients, a prime, chi and points of its own.

mod coins;
mod fold;
pub(super) mod log;
mod quotients;
mod shuffled;
mod statement;
#[cfg(test)]
mod tests;
mod vector;

pub(crate) use log::{Batch, Cut, Limits, Log, MOST_ELEMENTS, Words, is_too_large, noted, proved_at_its_end};
pub(crate) use shuffled::Shuffled;
pub(crate) use statement::{Operation, Outputs};

use super::draws;
use super::field::WORD_BYTES;
use super::interactive::{ends_at, seed_at, values_at};
use super::part::{Bytes, Memory, Out, Proof, Reader, other_verifier, settle};
use super::schedule::FoldingSchedule;
use super::seeds::{Seed, before, chain, give_word, take_seed, take_word, word_bytes};
use crate::planted::{Mistake, planted};
use crate::step;
use coins::ProofId;
use fold::{Vectors, claim, factors, round_weights, values};
use quotients::Shares;
use statement::{Picked, Side, quotients};
use tacit_engine::Error;
use tacit_kernel::prime::Prime;
use tacit_session::Session;
use tacit_threeparty::{next, prev};
use vector::Weights;
use zeroize::Zeroizing;

/// The age at which the quotients are sent.
const QUOTIENTS: usize = 2;

/// What a batch sends at this age.
pub(super) fn bytes(schedule: &FoldingSchedule, age: usize, repetitions: usize) -> Bytes {
    let anchor = if age == 0 { size_of::<Seed>() } else { 0 };
    let quotients = if age == QUOTIENTS { Shares::BYTES } else { 0 };
    let values = values_at(schedule, age).map_or(0, |round| WORD_BYTES * schedule.values(round));
    let seed = seed_at(schedule, age).map_or(0, |_| size_of::<Seed>());
    let ends = if ends_at(schedule, age) { 2 * WORD_BYTES } else { 0 };
    Bytes {
        back: anchor + repetitions * (quotients + values + ends),
        forth: word_bytes(age) + seed + repetitions * ends,
    }
}

/// This party's parts in the three proofs of a batch.
pub(super) struct RingProof {
    number: u32,
    schedule: FoldingSchedule,
    prover: Prover,
    /// Of the previous party's proof.
    left: Verifier,
    /// Of the next party's proof.
    right: Verifier,
}

/// This party's part in its own proof.
struct Prover {
    /// The words, until the vectors are folded once.
    batch: Option<Batch>,
    /// Of each repetition.
    repetitions: Vec<Proving>,
    /// The anchor, or the last seed that was released.
    last_seed: Seed,
}

/// What a prover has of one repetition.
enum Proving {
    /// Before the second seed, once it has the first.
    Bits(Vec<Picked>),
    /// What makes both vectors of the words.
    Weights(Prime, [Weights; 2]),
    Folded(Prime, Vectors),
}

/// This party's part as a verifier.
struct Verifier {
    seeds: Zeroizing<Vec<Seed>>,
    repetitions: Vec<Verifying>,
}

/// What a verifier has of one repetition.
struct Verifying {
    prime: Prime,
    chi: u64,
    points: Vec<u64>,
    /// Its share of the inner product; without the quotients until it has these.
    first: u64,
    /// Its shares of all values so far; of the left verifier, of all.
    values: Vec<u64>,
    /// `p(r)` or `q(r)`.
    own: u64,
}

impl RingProof {
    pub(super) fn begin(
        batch: Batch,
        number: u32,
        repetitions: usize,
        schedule: FoldingSchedule,
        session: &mut Session,
    ) -> Self {
        let mut verifier = |side| Verifier::begin(side, (number, repetitions), &schedule, session);
        let (left, right) = (verifier(batch.of_prev()), verifier(batch.of_next()));
        let proving = (0..repetitions).map(|_| Proving::Bits(Vec::new())).collect();
        let prover = Prover { batch: Some(batch), repetitions: proving, last_seed: Seed::default() };
        Self { number, schedule, prover, left, right }
    }

    /// The prover's quotients less the left verifier's shares, with the bits of the seed that was released.
    fn send_quotients(&mut self, session: &mut Session, out: &mut Vec<u8>) {
        let (me, number) = (session.me(), self.number);
        let Some(batch) = &mut self.prover.batch else { return };
        let mut all = Vec::new();
        for (repetition, proving) in self.prover.repetitions.iter_mut().enumerate() {
            let id = ProofId { session: session.id(), prover: me, batch: number, repetition };
            let bits = id.bits(&self.prover.last_seed, batch.own(true).proved());
            all.push(quotients(batch.own(true), batch.own(false), &bits));
            *proving = Proving::Bits(bits);
        }
        #[cfg(feature = "planted")]
        crate::planted::products_tapped(batch.noted(number, self.prover.last_seed, &mut all));
        for (repetition, quotients) in all.iter().enumerate() {
            let shares = Shares::drawn(&draws::quotients(session, next(me), (number, repetition)));
            shares.rest(quotients).write(out);
        }
    }

    /// The prover's values of a round, less the left verifier's shares of them.
    fn send_values(&mut self, round: usize, session: &mut Session, memory: &mut Memory, out: &mut Vec<u8>) {
        let (me, number, seed) = (session.me(), self.number, self.prover.last_seed);
        let schedule = &self.schedule;
        for (repetition, proving) in self.prover.repetitions.iter_mut().enumerate() {
            let id = ProofId { session: session.id(), prover: me, batch: number, repetition };
            let place = (number, repetition);
            let blocks = schedule.blocks(round.saturating_sub(1));
            let (prime, values) = match (&mut *proving, &self.prover.batch) {
                (Proving::Bits(bits), Some(batch)) => {
                    let seed = if planted(Mistake::PrimeEarly) { before(&seed) } else { seed };
                    let (prime, chi) = id.field(&seed);
                    let weights = [true, false].map(|left| batch.own(left).prover_weights(bits, &prime, chi));
                    let [u, v] = batch.vectors(&weights);
                    let values = values(&prime, &u.inner_products(&v, blocks), blocks);
                    *proving = Proving::Weights(prime, weights);
                    (prime, values)
                }
                (Proving::Weights(prime, weights), Some(batch)) => {
                    let by = round_weights(prime, blocks, id.point(0, &seed, prime, blocks));
                    let [u, v] = batch.vectors(weights).map(|vector| vector.combined(&by));
                    let (prime, mut vectors) = (*prime, Vectors { u, v });
                    let masks = || draws::ring_masks(session, place, &prime);
                    let values = vectors.values(schedule, round, &prime, masks);
                    *proving = Proving::Folded(prime, vectors);
                    (prime, values)
                }
                (Proving::Folded(prime, vectors), _) => {
                    vectors.fold(blocks, prime, id.point(round - 1, &seed, prime, blocks));
                    let masks = || draws::ring_masks(session, place, prime);
                    (*prime, vectors.values(schedule, round, prime, masks))
                }
                (_, None) => return,
            };
            let shares = draws::ring_shares(session, next(me), schedule, place, round, &prime);
            for (value, share) in values.into_iter().zip(shares) {
                out.extend(prime.sub(value, share).to_le_bytes());
            }
        }
        if round > 0 {
            memory.products.extend(self.prover.batch.take());
        }
    }
}

impl Proof for RingProof {
    fn send(&mut self, age: usize, out: Out<'_>, session: &mut Session, memory: &mut Memory) {
        let Out { back, forth } = out;
        if age == 0 {
            let anchor = before(&self.left.seeds[0]);
            back.extend(anchor);
            give_word(&anchor, forth);
            // With this word the right verifier may release the first seed, and the prover can know how the check ends.
            session.challenge();
        }
        if age == QUOTIENTS {
            self.send_quotients(session, back);
        }
        if let Some(round) = values_at(&self.schedule, age) {
            self.send_values(round, session, memory, back);
        }
        if let Some(seed) = seed_at(&self.schedule, age) {
            forth.extend(self.right.seeds[seed]);
        }
        if ends_at(&self.schedule, age) {
            for (verifier, out) in [(&self.right, back), (&self.left, forth)] {
                for word in verifier.ends(&self.schedule).into_iter().flatten() {
                    out.extend(word.to_le_bytes());
                }
            }
        }
    }

    fn receive(
        &mut self,
        age: usize,
        from_next: &mut Reader<'_>,
        from_prev: &mut Reader<'_>,
        session: &mut Session,
        _: &mut Memory,
    ) -> Result<(), Error> {
        let me = session.me();
        if age == 0 {
            self.prover.last_seed = from_next.take();
            take_word(&self.right.seeds[0], from_prev, next(me), session)?;
        }
        if age == QUOTIENTS {
            for repetition in &mut self.right.repetitions {
                repetition.add_quotients(&Shares::received(&from_next.take::<{ Shares::BYTES }>()));
            }
        }
        if let Some(round) = values_at(&self.schedule, age) {
            for repetition in &mut self.right.repetitions {
                let values = elements(from_next, self.schedule.values(round), &repetition.prime, session)?;
                repetition.values.extend(values);
            }
        }
        if seed_at(&self.schedule, age).is_some() {
            take_seed(&mut self.prover.last_seed, from_prev, session)?;
        }
        if ends_at(&self.schedule, age) {
            self.left.check_ends(&self.schedule, from_next, prev(me), session)?;
            self.right.check_ends(&self.schedule, from_prev, next(me), session)?;
        }
        Ok(())
    }
}

/// Elements of a message, which must be less than the prime.
fn elements(
    reader: &mut Reader<'_>,
    count: usize,
    prime: &Prime,
    session: &mut Session,
) -> Result<Vec<u64>, Error> {
    let elements: Vec<u64> = (0..count).map(|_| u64::from_le_bytes(reader.take())).collect();
    if elements.iter().any(|&element| element >= prime.order()) {
        return Err(session.reject("a number in a proof is no element of its field").into());
    }
    Ok(elements)
}

impl Verifier {
    fn begin(
        side: Side<'_>,
        (number, repetitions): (u32, usize),
        schedule: &FoldingSchedule,
        session: &mut Session,
    ) -> Self {
        let (me, Side { prover, left, .. }) = (session.me(), side);
        let mask = if left { step::RING_LEFT_MASK } else { step::RING_RIGHT_MASK };
        // Both verifiers draw the seeds from the key that they share.
        let part = if planted(Mistake::OneSeedAddress) { step::PROOF_SEED } else { step::RING_SEED };
        let last = draws::seed(session, other_verifier(me, prover), part, number);
        let seeds = chain(&last, schedule.lead() + schedule.rounds());
        let identity = *session.id();
        let mut of = |repetition| {
            let place = (number, repetition);
            let id = ProofId { session: &identity, prover, batch: number, repetition };
            let bits = id.bits(&seeds[0], side.proved());
            let (prime, chi) = id.field(&seeds[usize::from(!planted(Mistake::PrimeEarly))]);
            let weights = side.weights(&bits, &prime, chi);
            let point = |(round, seed)| id.point(round, seed, &prime, schedule.blocks(round));
            let points: Vec<u64> = seeds[schedule.lead()..].iter().enumerate().map(point).collect();
            let mask = draws::ring_mask(session, prover, mask, place, &prime);
            let (blocks, places, of_mask) = factors(schedule, &prime, &points);
            let own = prime.add(side.vector(&weights).sum(&blocks, &places), prime.mul(of_mask, mask));
            let first = weights.share;
            let mut verifying = Verifying { prime, chi, points, first, values: Vec::new(), own };
            if left {
                verifying.add_quotients(&Shares::drawn(&draws::quotients(session, prover, place)));
                for round in 0..schedule.rounds() {
                    verifying
                        .values
                        .extend(draws::ring_shares(session, prover, schedule, place, round, &prime));
                }
            }
            verifying
        };
        let repetitions = (0..repetitions).map(&mut of).collect();
        Self { seeds, repetitions }
    }

    /// Of each repetition, its share of `G(r)`, and `p(r)` or `q(r)`, once all values are here.
    fn ends(&self, schedule: &FoldingSchedule) -> Vec<[u64; 2]> {
        let end = |of: &Verifying| [claim(schedule, of.first, &of.prime, &of.values, &of.points), of.own];
        self.repetitions.iter().map(end).collect()
    }

    /// `p(r) q(r) = G(r)` in all repetitions: this verifier's shares and factors, and the other one's, which are read.
    fn check_ends(
        &self,
        schedule: &FoldingSchedule,
        theirs: &mut Reader<'_>,
        prover: usize,
        session: &mut Session,
    ) -> Result<(), Error> {
        for (place, [claim, own]) in self.ends(schedule).into_iter().enumerate() {
            let prime = &self.repetitions[place].prime;
            let theirs = elements(theirs, 2, prime, session)?;
            let passes = prime.mul(own, theirs[1]) == prime.add(claim, theirs[0]);
            settle(passes, place, "products", prover, session)?;
        }
        Ok(())
    }
}

impl Verifying {
    /// Adds this verifier's shares of the quotients to its share of the inner product.
    fn add_quotients(&mut self, shares: &Shares) {
        self.first = self.prime.add(self.first, shares.value(&self.prime, self.chi));
    }
}

/// What picks each of so many products, a batch's only operation, in the statement of a proof: the polynomials over F_2 of its
/// row and of its column.
#[cfg(feature = "planted")]
pub(crate) fn picked(session: &[u8; 32], seed: &Seed, place: [usize; 3], count: usize) -> Vec<[u64; 2]> {
    let [prover, batch, repetition] = place;
    let id = ProofId { session, prover, batch: batch as u32, repetition };
    let has = [tacit_program::plan::Components::ALL; 2];
    let operation = Operation { outputs: Outputs::Each { count, inner: 1 }, shift: 0, has };
    let bits = &id.bits(seed, [operation])[0];
    let columns = bits.columns.len();
    (0..count).map(|output| [bits.rows[output / columns], bits.columns[output % columns]]).collect()
}

/// The prime and the element of its field that a seed gives to a proof: prover, batch and repetition say to which.
#[cfg(feature = "planted")]
pub(crate) fn field(
    session: &[u8; 32],
    seed: &Seed,
    [prover, batch, repetition]: [usize; 3],
) -> (Prime, u64) {
    ProofId { session, prover, batch: batch as u32, repetition }.field(seed)
}

/// The order of the field of a proof of products, of this seed: of the first repetition of a session's first batch.
#[cfg(feature = "planted")]
pub fn order_of_products(session: &[u8; 32], prover: usize, seed: &Seed) -> u64 {
    ProofId { session, prover, batch: 0, repetition: 0 }.field(seed).0.order()
}
