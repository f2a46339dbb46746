//! Proofs whose points come from seeds that the verifiers release round by round ([`super::seeds`]).
//!
//! A batch of `R` rounds takes part in `2 R + 1` steps:
//!
//! | step | to the previous party | to the next party |
//! | --- | --- | --- |
//! | 0 | as left verifier: the anchor of the seeds; as prover: its values of round 1 | as left verifier: the anchor |
//! | 2 k - 1, for rounds k < R | | as right verifier: the seed of round k |
//! | 2 k - 2, for rounds k from 2 | as prover: its values of round k | |
//! | 2 R - 1 | as right verifier: its share of `G(r)`, and `q(r)` | as left verifier: its share of `G(r)`, and `p(r)` |
//! | 2 R | nothing: both verifiers check `p(r) q(r) = G(r)` | |
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

use super::draws;
use super::field::{Field, Spare, write};
use super::log::Batch;
use super::part::{Out, Proof, Reader, check_ends, other_verifier};
use super::proof::{Vectors, claim, first_values, fold_to_point};
use super::schedule::FoldingSchedule;
use super::seeds::{ChallengeId, Seed, before, chain, give_word, point, take_word, word_bytes};
use crate::planted::{Mistake, planted};
use tacit_engine::Error;
#[cfg(feature = "planted")]
use tacit_kernel::Element;
use tacit_kernel::field::Fp61;
use tacit_kernel::relation::Side;
use tacit_session::{Session, step};
use tacit_threeparty::{next, prev};
use zeroize::Zeroizing;

/// Steps in which a batch sends anything.
pub(super) fn steps(sequence: &FoldingSchedule) -> usize {
    2 * sequence.rounds()
}

/// Bytes to the previous party at this age of a batch.
pub(super) fn back_bytes(sequence: &FoldingSchedule, age: usize, repetitions: usize) -> usize {
    let anchor = if age == 0 { size_of::<Seed>() } else { 0 };
    let values = values_at(sequence, age).map_or(0, |round| {
        // The first round is the same for all repetitions.
        sequence.values(round) * if round == 0 { 1 } else { repetitions }
    });
    anchor + Fp61::SENT * values + end_bytes(sequence, age, repetitions)
}

/// Bytes to the next party at this age of a batch.
pub(super) fn forth_bytes(sequence: &FoldingSchedule, age: usize, repetitions: usize) -> usize {
    let seed = seed_at(sequence, age).map_or(0, |_| size_of::<Seed>());
    word_bytes(age) + seed + end_bytes(sequence, age, repetitions)
}

fn end_bytes(sequence: &FoldingSchedule, age: usize, repetitions: usize) -> usize {
    if ends_at(sequence, age) { 2 * Fp61::SENT * repetitions } else { 0 }
}

/// The round whose values are sent at this age, if any are.
fn values_at(sequence: &FoldingSchedule, age: usize) -> Option<usize> {
    (age.is_multiple_of(2) && age < steps(sequence)).then_some(age / 2)
}

/// The round whose seed is released at this age, if one is: the step after its values were sent.
fn seed_at(sequence: &FoldingSchedule, age: usize) -> Option<usize> {
    if planted(Mistake::SeedsWithValues) {
        return values_at(sequence, age).filter(|_| age + 2 < steps(sequence));
    }
    (!age.is_multiple_of(2) && age + 1 < steps(sequence)).then_some(age / 2)
}

/// Whether at this age the verifiers show one another what they have.
fn ends_at(sequence: &FoldingSchedule, age: usize) -> bool {
    age + 1 == steps(sequence)
}

/// This party's parts in the three proofs of a batch.
pub(super) struct Interactive {
    number: u32,
    sequence: FoldingSchedule,
    repetitions: usize,
    prover: Prover,
    left: LeftVerifier,
    right: RightVerifier,
}

/// This party's part in its own proof.
struct Prover {
    /// The bits, until the first seed is here.
    batch: Option<Batch>,
    /// The bits from then on.
    spare: Option<Batch>,
    /// Of each repetition, then.
    vectors: Vec<Vectors>,
    /// The anchor, or the seed of the last round that has one.
    last_seed: Seed,
}

/// What this party shows as left verifier of the previous party's proof.
struct LeftVerifier {
    anchor: Seed,
    /// Of each repetition, its share of `G(r)`, and `p(r)`.
    ends: Vec<[Fp61; 2]>,
}

/// This party's part as right verifier of the next party's proof.
struct RightVerifier {
    seeds: Zeroizing<Vec<Seed>>,
    /// Of each repetition, the points of all rounds.
    points: Vec<Vec<Fp61>>,
    /// Of each repetition, its shares of all values so far.
    values: Vec<Vec<Fp61>>,
    /// Of each repetition, `q(r)`.
    own: Vec<Fp61>,
    /// Of each repetition, its share of `G(r)`, and `q(r)`, once all values are here.
    ends: Vec<[Fp61; 2]>,
}

impl Interactive {
    pub(super) fn begin(
        batch: Batch,
        number: u32,
        repetitions: usize,
        session: &mut Session,
        spare: &mut Spare,
    ) -> Self {
        let sequence = batch.sequence.clone();
        let left = LeftVerifier::begin(&batch, number, repetitions, session, spare);
        let right = RightVerifier::begin(&batch, number, repetitions, session, spare);
        let prover =
            Prover { batch: Some(batch), spare: None, vectors: Vec::new(), last_seed: Seed::default() };
        Self { number, sequence, repetitions, prover, left, right }
    }

    /// The prover's values of a round, less the left verifier's shares of them.
    fn send_values(&mut self, round: usize, session: &mut Session, out: &mut Vec<u8>, spare: &mut Spare) {
        let (me, sequence) = (session.me(), &self.sequence);
        if round > 0 {
            self.prover.fold(sequence, round - 1, self.number, self.repetitions, session, spare);
        }
        // The first round's values are for all repetitions.
        for repetition in 0..if round == 0 { 1 } else { self.repetitions } {
            let place = (self.number, repetition);
            let mut values = match &self.prover.batch {
                Some(batch) => first_values(sequence, batch.own_left(), batch.own_right()),
                None if sequence.is_last(round) => {
                    let eta = draws::mask(session, next(me), step::PROOF_LEFT_MASK, place);
                    let tau = draws::mask(session, prev(me), step::PROOF_RIGHT_MASK, place);
                    self.prover.vectors[repetition].last_values([eta, tau])
                }
                None => self.prover.vectors[repetition].values(sequence.blocks(round)),
            };
            let shares = draws::shares::<Fp61>(session, next(me), sequence, place, round);
            for (value, share) in values.iter_mut().zip(shares) {
                *value = value.sub(share);
            }
            write(&values, out);
        }
    }
}

#[cfg(feature = "planted")]
impl Interactive {
    /// Shows a corrupt prover's log to whoever looks, as long as its bits are there.
    fn tapped(&mut self, session: &Session) {
        let Some(batch) = &mut self.prover.batch else { return };
        let point = |repetition| {
            let place = ChallengeId { prover: session.me(), batch: self.number, round: 0, repetition };
            point(session.id(), &self.prover.last_seed, place, self.sequence.blocks(0))
        };
        let points = (0..self.repetitions).map(|repetition| [point(repetition).to_u128() as u64, 0]);
        let moment = crate::planted::Moment::Challenged(points.collect());
        crate::planted::tapped(moment, batch.noted(session.me(), self.number));
    }
}

impl Proof for Interactive {
    fn send(&mut self, age: usize, out: Out<'_>, session: &mut Session, spare: &mut Spare) {
        let Out { back, forth } = out;
        if age == 0 {
            back.extend(self.left.anchor);
            give_word(&self.left.anchor, forth);
            // With this word the right verifier may release the first point, and the prover can know how the check ends.
            session.challenge();
        }
        if let Some(round) = values_at(&self.sequence, age) {
            self.send_values(round, session, back, spare);
        }
        if let Some(round) = seed_at(&self.sequence, age) {
            forth.extend(self.right.seeds[round]);
        }
        if ends_at(&self.sequence, age) {
            self.right.end(&self.sequence);
            write(self.right.ends.as_flattened(), back);
            write(self.left.ends.as_flattened(), forth);
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
        if let Some(round) = values_at(&self.sequence, age) {
            self.right.take_values(&self.sequence, round, from_next, session)?;
        }
        if seed_at(&self.sequence, age).is_some() {
            self.prover.take_seed(from_prev.take(), session)?;
            #[cfg(feature = "planted")]
            self.tapped(session);
        }
        if ends_at(&self.sequence, age) {
            let me = session.me();
            check_ends(&self.left.ends, from_next, prev(me), session)?;
            check_ends(&self.right.ends, from_prev, next(me), session)?;
        }
        Ok(())
    }

    fn spare(&mut self) -> Option<Batch> {
        self.prover.spare.take()
    }
}

impl Prover {
    /// Takes the seed of a round, which must be the one that the left verifier has committed to.
    fn take_seed(&mut self, seed: Seed, session: &mut Session) -> Result<(), Error> {
        if before(&seed) != self.last_seed && !planted(Mistake::SeedsUnchecked) {
            return Err(session
                .reject("a seed of a proof's points is not the one that was committed to")
                .into());
        }
        self.last_seed = seed;
        Ok(())
    }

    /// Brings the vectors to the point of a round.
    fn fold(
        &mut self,
        sequence: &FoldingSchedule,
        round: usize,
        number: u32,
        repetitions: usize,
        session: &Session,
        spare: &mut Spare,
    ) {
        let point = |repetition: usize| {
            let place = ChallengeId { prover: session.me(), batch: number, round, repetition };
            point(session.id(), &self.last_seed, place, sequence.blocks(round))
        };
        if let Some(batch) = self.batch.take() {
            let mut fold = |repetition| {
                let (left, right) = (batch.own_left(), batch.own_right());
                Vectors::fold_bits(sequence, left, right, point(repetition), spare)
            };
            self.vectors = (0..repetitions).map(&mut fold).collect();
            self.spare = Some(batch);
        } else {
            for (repetition, vectors) in self.vectors.iter_mut().enumerate() {
                vectors.fold(sequence.blocks(round), point(repetition), spare);
            }
        }
    }
}

impl LeftVerifier {
    fn begin(
        batch: &Batch,
        number: u32,
        repetitions: usize,
        session: &mut Session,
        spare: &mut Spare,
    ) -> Self {
        let (sequence, prover) = (&batch.sequence, prev(session.me()));
        let (seeds, points) = seeds_and_points(session, sequence, prover, number, repetitions);
        let first = draws::shares::<Fp61>(session, prover, sequence, (number, 0), 0);
        let mut ends = Vec::with_capacity(repetitions);
        for (repetition, points) in points.iter().enumerate() {
            let place = (number, repetition);
            let mut values = first.clone();
            for round in 1..sequence.rounds() {
                values.extend(draws::shares::<Fp61>(session, prover, sequence, place, round));
            }
            let eta = draws::mask(session, prover, step::PROOF_LEFT_MASK, place);
            ends.push([
                claim(sequence, Side::Left, &values, points),
                fold_to_point(sequence, batch.left_of_prev().into(), points, eta, spare),
            ]);
        }
        Self { anchor: before(&seeds[0]), ends }
    }
}

impl RightVerifier {
    fn begin(
        batch: &Batch,
        number: u32,
        repetitions: usize,
        session: &mut Session,
        spare: &mut Spare,
    ) -> Self {
        let (sequence, prover) = (&batch.sequence, next(session.me()));
        let (seeds, points) = seeds_and_points(session, sequence, prover, number, repetitions);
        let mut own = Vec::with_capacity(repetitions);
        for (repetition, points) in points.iter().enumerate() {
            let tau = draws::mask(session, prover, step::PROOF_RIGHT_MASK, (number, repetition));
            own.push(fold_to_point(sequence, batch.right_of_next().into(), points, tau, spare));
        }
        Self { seeds, points, values: vec![Vec::new(); repetitions], own, ends: Vec::new() }
    }

    /// Takes the prover's message of a round.
    fn take_values(
        &mut self,
        sequence: &FoldingSchedule,
        round: usize,
        reader: &mut Reader<'_>,
        session: &mut Session,
    ) -> Result<(), Error> {
        let count = sequence.values(round);
        if round == 0 {
            let first = reader.elements(count, session)?;
            self.values.iter_mut().for_each(|values| values.extend(&first));
        } else {
            for values in &mut self.values {
                values.extend(reader.elements::<Fp61>(count, session)?);
            }
        }
        Ok(())
    }

    /// Computes the shares of `G(r)`, once all values are here.
    fn end(&mut self, sequence: &FoldingSchedule) {
        let all = self.values.iter().zip(&self.points).zip(&self.own);
        self.ends =
            all.map(|((values, points), own)| [claim(sequence, Side::Right, values, points), *own]).collect();
    }
}

/// The seeds of all rounds, which both verifiers draw from the key that they share, and of each repetition the points.
fn seeds_and_points(
    session: &mut Session,
    sequence: &FoldingSchedule,
    prover: usize,
    batch: u32,
    repetitions: usize,
) -> (Zeroizing<Vec<Seed>>, Vec<Vec<Fp61>>) {
    let other = other_verifier(session.me(), prover);
    let seeds = chain(&draws::seed(session, other, step::PROOF_SEED, batch), sequence.rounds());
    let of = |repetition| {
        let at = |(round, seed)| {
            point(
                session.id(),
                seed,
                ChallengeId { prover, batch, round, repetition },
                sequence.blocks(round),
            )
        };
        seeds.iter().enumerate().map(at).collect()
    };
    let points = (0..repetitions).map(of).collect();
    (seeds, points)
}
