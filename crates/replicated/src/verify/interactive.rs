//! Proofs whose points come from seeds that the verifiers release round by round ([`super::seeds`]).
//!
//! A batch of `R` rounds takes part in `2 R + 1` steps over F_p:
//!
//! | step | to the previous party | to the next party |
//! | --- | --- | --- |
//! | 0 | as left verifier: the anchor of the seeds; as prover: its values of round 1 | as left verifier: the anchor |
//! | 2 k - 1, for rounds k < R | | as right verifier: the seed of round k |
//! | 2 k - 2, for rounds k from 2 | as prover: its values of round k | |
//! | 2 R - 1 | as right verifier: its share of `G(r)`, and `q(r)` | as left verifier: its share of `G(r)`, and `p(r)` |
//! | 2 R | nothing: both verifiers check `p(r) q(r) = G(r)` | |
//!
//! Over GF(2^64) there are two steps more after the first: the ANDs have random coefficients, which come from a seed of
//! their own, the first of the chain. The right verifier releases it in step 1, and round 1 begins in step 2. It is easy to
//! choose wrong ANDs whose coefficients add up to zero, so nobody may know these before both verifiers hold all of the
//! batch.
//!
//! The values are shared between the verifiers: the left one's shares are the stream that it has in common with the
//! prover, and the right one gets the difference. So the right verifier has all of a round's message, and gives the
//! prover the seed only then.
//!
//! **Release order.** A party begins a batch when its log of it is complete. So the anchor is the left verifier's word
//! that it holds all messages of the prover's; it goes to the right verifier too. The right verifier, whose log is
//! complete as well, releases the first seed only when it has that word. From then on neither the bits nor the values
//! of round 1 can change.
//!
//! In Li et al. 2023 both verifiers take part in every coin (protocol C.2.1, step 2(f)), after they hold all inputs of
//! the check (protocol B.0.1, step 3(a)).
//!
//! With two repetitions the first message is the same for both. Each has points of its own from there on, and the later
//! messages hold both.

use super::draws::{self, Place};
use super::field::{BaseField, Spare, WORD_BYTES, write};
use super::log::Batch;
use super::part::{Bytes, Memory, Out, Proof, Reader, check_ends, other_verifier};
use super::proof::{Vectors, claim, first_values, fold_to_point};
use super::schedule::FoldingSchedule;
use super::seeds::{
    ChallengeId, Seed, before, chain, coefficients, give_word, point, take_seed, take_word, word_bytes,
};
use crate::planted::{Mistake, planted};
use crate::step;
use std::ops::Range;
use tacit_engine::Error;
use tacit_kernel::gf64::Gf64;
use tacit_kernel::relation::Side;
use tacit_session::Session;
use tacit_threeparty::{next, prev};
use zeroize::Zeroizing;

/// Steps in which a batch sends anything.
pub(super) fn steps(schedule: &FoldingSchedule) -> usize {
    2 * (schedule.lead() + schedule.rounds())
}

/// What a batch sends at this age.
pub(super) fn bytes(schedule: &FoldingSchedule, age: usize, repetitions: usize) -> Bytes {
    let anchor = if age == 0 { size_of::<Seed>() } else { 0 };
    let values =
        values_at(schedule, age).map_or(0, |round| schedule.values(round) * copies(round, repetitions));
    let seed = seed_at(schedule, age).map_or(0, |_| size_of::<Seed>());
    let ends = if ends_at(schedule, age) { 2 * WORD_BYTES * repetitions } else { 0 };
    Bytes { back: anchor + WORD_BYTES * values + ends, forth: word_bytes(age) + seed + ends }
}

/// How often a round's values are sent: the first round's are for all repetitions.
const fn copies(round: usize, repetitions: usize) -> usize {
    if round == 0 { 1 } else { repetitions }
}

/// The round whose values are sent at this age, if any are.
pub(super) fn values_at(schedule: &FoldingSchedule, age: usize) -> Option<usize> {
    let place = (age.is_multiple_of(2) && age < steps(schedule)).then_some(age / 2);
    place.and_then(|place| place.checked_sub(schedule.lead()))
}

/// Which seed of the chain is released at this age, if one is: the step after the values were sent that wait for it.
pub(super) fn seed_at(schedule: &FoldingSchedule, age: usize) -> Option<usize> {
    let later = usize::from(!planted(Mistake::SeedsWithValues));
    (age % 2 == later && age + 2 - later < steps(schedule)).then_some(age / 2)
}

/// Whether at this age the verifiers show one another what they have.
pub(super) fn ends_at(schedule: &FoldingSchedule, age: usize) -> bool {
    age + 1 == steps(schedule)
}

/// This party's parts in the three proofs of a batch.
pub(super) struct Interactive<F: BaseField> {
    number: u32,
    schedule: FoldingSchedule,
    repetitions: usize,
    prover: Prover<F>,
    /// Of the previous party's proof.
    left: Verifier<F>,
    /// Of the next party's proof.
    right: Verifier<F>,
}

/// This party's part in its own proof.
struct Prover<F: BaseField> {
    /// The bits, until the first point is here.
    batch: Option<Batch>,
    /// What weighs the ANDs, where something does.
    coefficients: Vec<Gf64>,
    /// Of each repetition, from the first point on.
    vectors: Vec<Vectors<F>>,
    /// The anchor, or the last seed that was released.
    last_seed: Seed,
}

/// This party's part as a verifier.
struct Verifier<F> {
    seeds: Zeroizing<Vec<Seed>>,
    /// Its share of the first claim.
    first: F,
    repetitions: Vec<Repetition<F>>,
}

/// What a verifier has of one repetition.
struct Repetition<F> {
    /// Of all rounds.
    points: Vec<F>,
    /// Its shares of all values so far; of the left verifier, of all.
    values: Vec<F>,
    /// `p(r)` or `q(r)`.
    own: F,
}

impl<F: BaseField> Interactive<F> {
    pub(super) fn begin(
        batch: Batch,
        number: u32,
        repetitions: usize,
        session: &mut Session,
        spare: &mut Spare,
    ) -> Self {
        let schedule = batch.schedule.clone();
        let mut verifier = |side| Verifier::begin(side, &batch, number, repetitions, session, spare);
        let (left, right) = (verifier(Side::Left), verifier(Side::Right));
        let (coefficients, vectors, last_seed) = Default::default();
        let prover = Prover { batch: Some(batch), coefficients, vectors, last_seed };
        Self { number, schedule, repetitions, prover, left, right }
    }

    /// The prover's values of a round, less the left verifier's shares of them.
    fn send_values(&mut self, round: usize, session: &mut Session, out: &mut Vec<u8>, memory: &mut Memory) {
        if round > 0 {
            self.fold(round - 1, session, memory);
        }
        let (me, schedule, prover) = (session.me(), &self.schedule, &mut self.prover);
        for repetition in 0..copies(round, self.repetitions) {
            let place: Place = (self.number, repetition);
            let mut values = if let Some(batch) = &prover.batch {
                prover.coefficients = coefficients_of(schedule, session, &prover.last_seed, me, self.number);
                first_values(schedule, &prover.coefficients, batch.own_left(), batch.own_right())
            } else {
                let masks = || draws::masks(session, place);
                prover.vectors[repetition].values(schedule, round, masks)
            };
            let shares = draws::shares::<F>(session, next(me), schedule, place, round);
            for (value, share) in values.iter_mut().zip(shares) {
                *value = value.sub(share);
            }
            write(&values, out);
        }
    }

    /// Brings the prover's vectors to the point of a round.
    fn fold(&mut self, round: usize, session: &Session, memory: &mut Memory) {
        let (schedule, prover) = (&self.schedule, &mut self.prover);
        let point = |repetition| {
            let id = ChallengeId { prover: session.me(), batch: self.number, round, repetition };
            point::<F>(session.id(), &prover.last_seed, id, schedule.blocks(round))
        };
        let points: Vec<F> = (0..self.repetitions).map(point).collect();
        if let Some(batch) = prover.batch.take() {
            let (left, right) = (batch.own_left(), batch.own_right());
            let coefficients = std::mem::take(&mut prover.coefficients);
            let fold =
                |point| Vectors::fold_bits(schedule, &coefficients, left, right, point, &mut memory.spare);
            prover.vectors = points.into_iter().map(fold).collect();
            memory.batches.push(batch);
        } else {
            for (vectors, point) in prover.vectors.iter_mut().zip(points) {
                vectors.fold(schedule.blocks(round), point, &mut memory.spare);
            }
        }
    }

    /// Shows a corrupt prover's log to whoever looks, as long as its bits are there; over F_p.
    #[cfg(feature = "planted")]
    fn tapped(&mut self, session: &Session) {
        let Some(batch) = self.prover.batch.as_mut().filter(|_| self.schedule.lead() == 0) else { return };
        let point = |repetition| {
            let id = ChallengeId { prover: session.me(), batch: self.number, round: 0, repetition };
            point::<F>(session.id(), &self.prover.last_seed, id, self.schedule.blocks(0))
        };
        let points = (0..self.repetitions).map(|repetition| [point(repetition).word(), 0]);
        let moment = crate::planted::Moment::Challenged(points.collect());
        crate::planted::tapped(moment, batch.noted(session.me(), self.number));
    }
}

impl<F: BaseField> Proof for Interactive<F> {
    fn send(&mut self, age: usize, out: Out<'_>, session: &mut Session, memory: &mut Memory) {
        let Out { back, forth } = out;
        if age == 0 {
            let anchor = before(&self.left.seeds[0]);
            back.extend(anchor);
            give_word(&anchor, forth);
            // With this word the right verifier may release the first seed, and the prover can know how the check ends.
            session.challenge();
        }
        if let Some(round) = values_at(&self.schedule, age) {
            self.send_values(round, session, back, memory);
        }
        if let Some(seed) = seed_at(&self.schedule, age) {
            forth.extend(self.right.seeds[seed]);
        }
        if ends_at(&self.schedule, age) {
            write(self.right.ends(&self.schedule).as_flattened(), back);
            write(self.left.ends(&self.schedule).as_flattened(), forth);
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
        if age == 0 {
            self.prover.last_seed = from_next.take();
            take_word(&self.right.seeds[0], from_prev, next(session.me()), session)?;
        }
        if let Some(round) = values_at(&self.schedule, age) {
            self.right.take_values(round, self.schedule.values(round), from_next, session)?;
        }
        if seed_at(&self.schedule, age).is_some() {
            take_seed(&mut self.prover.last_seed, from_prev, session)?;
            #[cfg(feature = "planted")]
            self.tapped(session);
        }
        if ends_at(&self.schedule, age) {
            let me = session.me();
            check_ends(&self.left.ends(&self.schedule), from_next, prev(me), session)?;
            check_ends(&self.right.ends(&self.schedule), from_prev, next(me), session)?;
        }
        Ok(())
    }
}

impl<F: BaseField> Verifier<F> {
    fn begin(
        side: Side,
        batch: &Batch,
        number: u32,
        repetitions: usize,
        session: &mut Session,
        spare: &mut Spare,
    ) -> Self {
        let (schedule, me) = (&batch.schedule, session.me());
        let (prover, planes, mask) = match side {
            Side::Left => (prev(me), batch.left_of_prev().into(), step::PROOF_LEFT_MASK),
            Side::Right => (next(me), batch.right_of_next().into(), step::PROOF_RIGHT_MASK),
        };
        // Both verifiers draw the seeds from the key that they share.
        let last = draws::seed(session, other_verifier(me, prover), step::PROOF_SEED, number);
        let seeds = chain(&last, schedule.lead() + schedule.rounds());
        let coefficients = coefficients_of(schedule, session, &seeds[0], prover, number);
        let shares = |place, rounds: Range<usize>, session: &mut Session| -> Vec<F> {
            let rounds = if side == Side::Left { rounds } else { 0..0 };
            rounds.flat_map(|round| draws::shares(session, prover, schedule, place, round)).collect()
        };
        let first_shares = shares((number, 0), 0..1, session);
        let of = |repetition| {
            let place = (number, repetition);
            let point = |(round, seed)| {
                let id = ChallengeId { prover, batch: number, round, repetition };
                point(session.id(), seed, id, schedule.blocks(round))
            };
            let points: Vec<F> = seeds[schedule.lead()..].iter().enumerate().map(point).collect();
            let later_shares = shares(place, 1..schedule.rounds(), session);
            let mask = draws::mask(session, prover, mask, place);
            let own = fold_to_point(schedule, &coefficients, planes, &points, mask, spare);
            Repetition { points, values: [&first_shares[..], &later_shares].concat(), own }
        };
        let repetitions = (0..repetitions).map(of).collect();
        Self { first: F::first_claim(schedule, &coefficients, planes), seeds, repetitions }
    }

    /// The right verifier takes the prover's message of a round.
    fn take_values(
        &mut self,
        round: usize,
        count: usize,
        reader: &mut Reader<'_>,
        session: &mut Session,
    ) -> Result<(), Error> {
        let read: Vec<F> = reader.elements(count * copies(round, self.repetitions.len()), session)?;
        for (repetition, values) in self.repetitions.iter_mut().zip(read.chunks(count).cycle()) {
            repetition.values.extend(values);
        }
        Ok(())
    }

    /// Of each repetition, its share of `G(r)`, and `p(r)` or `q(r)`, once all values are here.
    fn ends(&self, schedule: &FoldingSchedule) -> Vec<[F; 2]> {
        let end = |of: &Repetition<F>| [claim(schedule, self.first, &of.values, &of.points), of.own];
        self.repetitions.iter().map(end).collect()
    }
}

/// What weighs a batch's ANDs, by the first seed; nothing, over F_p.
fn coefficients_of(
    schedule: &FoldingSchedule,
    session: &Session,
    seed: &Seed,
    prover: usize,
    number: u32,
) -> Vec<Gf64> {
    if schedule.lead() == 0 {
        return Vec::new();
    }
    let seed = if planted(Mistake::CoefficientsFromAnchor) { &before(seed) } else { seed };
    coefficients(session.id(), seed, prover, number, 64 * schedule.padded_words())
}
