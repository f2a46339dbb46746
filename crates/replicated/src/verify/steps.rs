//! The messages of proofs: one a step to either neighbour, for all proofs of all batches that are under way.
//!
//! A step begins when a batch of ANDs is complete, and after the last AND as often as it takes. Its messages are read
//! at the beginning of the next step, so nobody waits for them while there is something else to do. A batch of `R`
//! rounds takes part in `2 R + 1` steps; in its step
//!
//! | step | to the previous party | to the next party |
//! | --- | --- | --- |
//! | 0 | as left verifier: the anchor of the seeds; as prover: its values of round 1 | |
//! | 2 k - 1, for rounds k < R | | as right verifier: the seed of round k |
//! | 2 k - 2, for rounds k from 2 | as prover: its values of round k | |
//! | 2 R - 1 | as right verifier: its share of `G(r)`, and `q(r)` | as left verifier: its share of `G(r)`, and `p(r)` |
//! | 2 R | nothing: both verifiers check `p(r) q(r) = G(r)` | |
//!
//! The values are shared between the verifiers: the left one's shares are the stream that it has in common with the
//! prover, the right one gets the difference. So the right verifier has all of a round's message, and gives the prover
//! the seed only then.
//!
//! With two repetitions the first message is the same for both; each has points of its own from there on, and the later
//! messages hold both.

use super::log::{BEGUN, Batch, Log};
use super::proof::{Vectors, claim, condense, first_values};
use super::seeds::{Place, Seed, before, chain, point};
use super::sequence::{BATCH_WORDS, Sequence};
use crate::{next, prev};
use std::collections::VecDeque;
use tacit_engine::Error;
use tacit_engine::profile::{Section, section};
use tacit_kernel::Element;
use tacit_kernel::field::Fp61;
use tacit_kernel::relation::Side;
use tacit_session::{At, Draw, Phase, Session, step};

/// Bytes of an element in a message.
const ELEMENT_BYTES: usize = 8;

/// The masks of one proof's rounds are drawn from here on: a repetition's after the other's.
const REPETITION_BLOCKS: u64 = 1 << 12;

/// Blocks of a stream that a batch has for itself.
const BATCH_BLOCKS: u64 = 1 << 16;

/// What every party sends for the proofs of so many words of ANDs.
pub(crate) fn traffic(words: u64, repetitions: usize) -> Traffic {
    let mut total = Traffic::default();
    let (whole, rest) = (words / BATCH_WORDS as u64, (words % BATCH_WORDS as u64) as usize);
    for (count, words) in
        [(whole, BATCH_WORDS), (u64::from(rest > 0), rest)].into_iter().filter(|(n, _)| *n > 0)
    {
        let sequence = Sequence::of(words);
        let all = steps(&sequence);
        for age in 0..all {
            total.back += count * back_bytes(&sequence, age, repetitions) as u64;
            total.forth += count * forth_bytes(&sequence, age, repetitions) as u64;
        }
        // A whole batch before a last short one began a step before it.
        let earlier = u64::from(words == BATCH_WORDS && rest > 0);
        total.tail = total.tail.max(all as u64 - earlier);
    }
    total
}

/// What a party sends for proofs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// Bytes to the previous party.
    pub(crate) back: u64,
    /// Bytes to the next party.
    pub(crate) forth: u64,
    /// Rounds after the last AND.
    pub(crate) tail: u64,
}

/// Steps in which a batch sends anything.
fn steps(sequence: &Sequence) -> usize {
    2 * sequence.rounds()
}

/// The round whose values are sent at this age of a batch, if any are.
fn values_at(sequence: &Sequence, age: usize) -> Option<usize> {
    (age.is_multiple_of(2) && age < steps(sequence)).then_some(age / 2)
}

/// The round whose seed is released at this age, if one is.
fn seed_at(sequence: &Sequence, age: usize) -> Option<usize> {
    (!age.is_multiple_of(2) && age + 1 < steps(sequence)).then_some(age / 2)
}

/// Whether at this age the verifiers show one another what they have.
fn ends_at(sequence: &Sequence, age: usize) -> bool {
    age + 1 == steps(sequence)
}

fn back_bytes(sequence: &Sequence, age: usize, repetitions: usize) -> usize {
    let anchor = if age == 0 { size_of::<Seed>() } else { 0 };
    let values = values_at(sequence, age).map_or(0, |round| {
        // The first round is the same for all repetitions.
        sequence.values(round) * if round == 0 { 1 } else { repetitions }
    });
    anchor + ELEMENT_BYTES * values + end_bytes(sequence, age, repetitions)
}

fn forth_bytes(sequence: &Sequence, age: usize, repetitions: usize) -> usize {
    let seed = seed_at(sequence, age).map_or(0, |_| size_of::<Seed>());
    seed + end_bytes(sequence, age, repetitions)
}

fn end_bytes(sequence: &Sequence, age: usize, repetitions: usize) -> usize {
    if ends_at(sequence, age) { 2 * ELEMENT_BYTES * repetitions } else { 0 }
}

/// All proofs of a run, and the log of what is still to be proved.
pub(crate) struct Proofs {
    log: Log,
    repetitions: usize,
    under_way: VecDeque<UnderWay>,
    steps: u32,
    proved: u64,
}

/// A batch whose proofs are under way.
struct UnderWay {
    number: u32,
    words: usize,
    sequence: Sequence,
    prover: Prover,
    left: LeftVerifier,
    right: RightVerifier,
}

/// This party's part in its own proof.
struct Prover {
    /// The bits, until the first seed is here.
    batch: Option<Batch>,
    /// Of each repetition, then.
    vectors: Vec<Vectors>,
    /// The anchor, or the seed of the last round that has one.
    last_seed: Seed,
}

/// What this party shows as left verifier of the previous party's proof: of each repetition its share of `G(r)` and
/// `p(r)`.
struct LeftVerifier {
    anchor: Seed,
    ends: Vec<[Fp61; 2]>,
}

/// This party's part as right verifier of the next party's proof.
struct RightVerifier {
    seeds: Vec<Seed>,
    /// Of each repetition, the points of all rounds.
    points: Vec<Vec<Fp61>>,
    /// Of each repetition, its shares of all values so far.
    values: Vec<Vec<Fp61>>,
    /// Of each repetition, its share of `G(r)`, once all values are here, and `q(r)`.
    ends: Vec<[Fp61; 2]>,
}

impl Proofs {
    /// Nothing to be proved yet; each proof is repeated so many times.
    pub(crate) fn new(repetitions: usize) -> Self {
        Self { log: Log::new(BATCH_WORDS), repetitions, under_way: VecDeque::new(), steps: 0, proved: 0 }
    }

    /// Room to note so many words of ANDs that are begun ([`Log::begin`]).
    pub(crate) fn begin(&mut self, words: usize) -> [&mut [u64]; BEGUN] {
        self.log.begin(words)
    }

    /// Notes the message that finishes what was begun first.
    pub(crate) fn finish(&mut self, message: &[u8]) {
        self.log.finish(message);
    }

    /// Takes a step for every batch that is complete.
    ///
    /// # Errors
    /// If a proof fails; then the session is over.
    pub(crate) fn go_on(&mut self, session: &mut Session) -> Result<(), Error> {
        while let Some(batch) = self.log.full() {
            self.step(Some(batch), session)?;
        }
        Ok(())
    }

    /// Proves all that is left. Returns the words of ANDs that were proved in all.
    ///
    /// # Errors
    /// If a proof fails; then the session is over.
    pub(crate) fn complete(&mut self, session: &mut Session) -> Result<u64, Error> {
        if let Some(batch) = self.log.rest() {
            self.step(Some(batch), session)?;
        }
        while !self.under_way.is_empty() {
            self.step(None, session)?;
        }
        if self.proved != self.log.recorded() {
            return Err(session.reject("not all ANDs were proved").into());
        }
        Ok(self.proved)
    }

    fn step(&mut self, batch: Option<Batch>, session: &mut Session) -> Result<(), Error> {
        let phase = session.mesh().phase();
        session.mesh().set_phase(Phase::Verify);
        section(Section::Proving, || {
            self.receive(session)?;
            if let Some(batch) = batch {
                self.under_way.push_back(UnderWay::begin(batch, self.steps, self.repetitions, session));
            }
            self.send(session)
        })?;
        self.steps += 1;
        session.mesh().set_phase(phase);
        Ok(())
    }

    /// Reads what was sent in the last step.
    fn receive(&mut self, session: &mut Session) -> Result<(), Error> {
        let me = session.me();
        let (after, before) = (next(me), prev(me));
        let repetitions = self.repetitions;
        let Some(last) = self.steps.checked_sub(1) else { return Ok(()) };
        let lens = self.under_way.iter().fold([0, 0], |[back, forth], batch| {
            let age = (last - batch.number) as usize;
            [
                back + back_bytes(&batch.sequence, age, repetitions),
                forth + forth_bytes(&batch.sequence, age, repetitions),
            ]
        });
        let from_next = receive(session, after, step::PROOF_BACK, last, lens[0])?;
        let from_prev = receive(session, before, step::PROOF_FORTH, last, lens[1])?;
        let (mut from_next, mut from_prev) = (Reader(&from_next), Reader(&from_prev));
        for batch in &mut self.under_way {
            let age = (last - batch.number) as usize;
            if age == 0 {
                batch.prover.last_seed = from_next.seed();
            }
            if let Some(round) = values_at(&batch.sequence, age) {
                batch.right.take_values(&batch.sequence, round, &mut from_next, session)?;
            }
            if seed_at(&batch.sequence, age).is_some() {
                batch.prover.take_seed(from_prev.seed(), session)?;
            }
            if ends_at(&batch.sequence, age) {
                batch.check_ends(&mut from_next, &mut from_prev, session)?;
            }
        }
        while self
            .under_way
            .front()
            .is_some_and(|batch| ends_at(&batch.sequence, (last - batch.number) as usize))
        {
            self.proved += self.under_way.pop_front().map_or(0, |batch| batch.words as u64);
        }
        Ok(())
    }

    fn send(&mut self, session: &mut Session) -> Result<(), Error> {
        let (mut back, mut forth) = (Vec::new(), Vec::new());
        for batch in &mut self.under_way {
            let age = (self.steps - batch.number) as usize;
            if age == 0 {
                back.extend(batch.left.anchor);
            }
            if let Some(round) = values_at(&batch.sequence, age) {
                batch.values(round, session, self.repetitions, &mut back);
            }
            if let Some(round) = seed_at(&batch.sequence, age) {
                forth.extend(batch.right.seeds[round]);
            }
            if ends_at(&batch.sequence, age) {
                batch.right.end(&batch.sequence);
                write(&mut back, batch.right.ends.as_flattened());
                write(&mut forth, batch.left.ends.as_flattened());
            }
        }
        let me = session.me();
        for (to, part, message) in [(prev(me), step::PROOF_BACK, back), (next(me), step::PROOF_FORTH, forth)]
        {
            if !message.is_empty() {
                session.mesh().send_vec(to, at(part, self.steps), message)?;
            }
        }
        Ok(())
    }
}

impl UnderWay {
    fn begin(batch: Batch, number: u32, repetitions: usize, session: &mut Session) -> Self {
        let me = session.me();
        let sequence = batch.sequence.clone();
        let rounds = sequence.rounds();

        // The left verifier of the previous party's proof. What verifiers and prover share is a stream each.
        let seeds = chain(draw_seed(session, next(me), number), rounds);
        let points = all_points(session, &sequence, &seeds, prev(me), number, repetitions);
        let mut ends = Vec::with_capacity(repetitions);
        for (repetition, points) in points.iter().enumerate() {
            let eta = draw_mask(session, prev(me), step::PROOF_LEFT_MASK, number, repetition);
            ends.push([eta, condense(&sequence, batch.left_of_prev(), Side::Left, points, eta)]);
        }
        let mut shares = Shares::new(number);
        let first = shares.draw(session, prev(me), &sequence, 0, 0);
        let mut values = vec![first; repetitions];
        for round in 1..rounds {
            for (repetition, values) in values.iter_mut().enumerate() {
                values.extend(shares.draw(session, prev(me), &sequence, round, repetition));
            }
        }
        for ((end, values), points) in ends.iter_mut().zip(&values).zip(&points) {
            end[0] = claim(&sequence, Side::Left, values, points);
        }
        let left = LeftVerifier { anchor: before(&seeds[0]), ends };

        // The right verifier of the next party's.
        let seeds = chain(draw_seed(session, prev(me), number), rounds);
        let points = all_points(session, &sequence, &seeds, next(me), number, repetitions);
        let mut ends = Vec::with_capacity(repetitions);
        for (repetition, points) in points.iter().enumerate() {
            let tau = draw_mask(session, next(me), step::PROOF_RIGHT_MASK, number, repetition);
            ends.push([Fp61::ZERO, condense(&sequence, batch.right_of_next(), Side::Right, points, tau)]);
        }
        let right = RightVerifier { seeds, points, values: vec![Vec::new(); repetitions], ends };

        let prover = Prover { vectors: Vec::new(), last_seed: Seed::default(), batch: None };
        let words = batch.words;
        Self { number, words, sequence, prover: Prover { batch: Some(batch), ..prover }, left, right }
    }

    /// The prover's values of a round, less the left verifier's shares of them.
    fn values(&mut self, round: usize, session: &mut Session, repetitions: usize, out: &mut Vec<u8>) {
        let (me, sequence) = (session.me(), &self.sequence);
        let mut shares = Shares::new(self.number);
        let mut share = |session: &mut Session, mut values: Vec<Fp61>, repetition: usize| {
            let shares = shares.draw(session, next(me), sequence, round, repetition);
            for (value, share) in values.iter_mut().zip(shares) {
                *value = value.wrapping_sub(share);
            }
            write(out, &values);
        };
        if round == 0 {
            if let Some(batch) = &self.prover.batch {
                share(session, first_values(sequence, batch.own_left(), batch.own_right()), 0);
            }
            return;
        }
        let id = *session.id();
        let point = |repetition: usize| {
            let place = Place { prover: me, batch: self.number, round: round - 1, repetition };
            point(&id, &self.prover.last_seed, place, sequence.blocks(round - 1))
        };
        if let Some(batch) = self.prover.batch.take() {
            let fold = |repetition| {
                Vectors::fold_bits(sequence, batch.own_left(), batch.own_right(), point(repetition))
            };
            self.prover.vectors = (0..repetitions).map(fold).collect();
        } else {
            for (repetition, vectors) in self.prover.vectors.iter_mut().enumerate() {
                vectors.fold(point(repetition));
            }
        }
        for (repetition, vectors) in self.prover.vectors.iter_mut().enumerate() {
            let values = if sequence.is_last(round) {
                let eta = draw_mask(session, next(me), step::PROOF_LEFT_MASK, self.number, repetition);
                let tau = draw_mask(session, prev(me), step::PROOF_RIGHT_MASK, self.number, repetition);
                vectors.last_values([eta, tau])
            } else {
                vectors.values()
            };
            share(session, values, repetition);
        }
    }

    /// `p(r) q(r) = G(r)` for both neighbours' proofs.
    fn check_ends(
        &self,
        from_next: &mut Reader<'_>,
        from_prev: &mut Reader<'_>,
        session: &mut Session,
    ) -> Result<(), Error> {
        let me = session.me();
        check_ends(&self.left.ends, from_next, prev(me), session)?;
        check_ends(&self.right.ends, from_prev, next(me), session)
    }
}

/// `p(r) q(r) = G(r)` in all repetitions of one proof, of which the other verifier's parts are to be read.
fn check_ends(
    ends: &[[Fp61; 2]],
    theirs: &mut Reader<'_>,
    prover: usize,
    session: &mut Session,
) -> Result<(), Error> {
    for &[claim, own] in ends {
        let (other_claim, other) = (theirs.element(session)?, theirs.element(session)?);
        if own.wrapping_mul(other) != claim.wrapping_add(other_claim) {
            let what = format!("the proof that {} computed its ANDs right fails", session.name(prover));
            return Err(session.reject(&what).into());
        }
    }
    Ok(())
}

impl Prover {
    /// Takes the seed of a round, which must be the one that the left verifier has committed to.
    fn take_seed(&mut self, seed: Seed, session: &mut Session) -> Result<(), Error> {
        if before(&seed) != self.last_seed {
            return Err(session
                .reject("a seed of a proof's points is not the one that was committed to")
                .into());
        }
        self.last_seed = seed;
        Ok(())
    }
}

impl RightVerifier {
    /// Takes the prover's message of a round.
    fn take_values(
        &mut self,
        sequence: &Sequence,
        round: usize,
        reader: &mut Reader<'_>,
        session: &mut Session,
    ) -> Result<(), Error> {
        let mut take =
            || (0..sequence.values(round)).map(|_| reader.element(session)).collect::<Result<Vec<_>, _>>();
        if round == 0 {
            let first = take()?;
            self.values.iter_mut().for_each(|values| values.extend(&first));
        } else {
            for values in &mut self.values {
                values.extend(take()?);
            }
        }
        Ok(())
    }

    /// Computes the shares of `G(r)`, once all values are here.
    fn end(&mut self, sequence: &Sequence) {
        for ((end, values), points) in self.ends.iter_mut().zip(&self.values).zip(&self.points) {
            end[0] = claim(sequence, Side::Right, values, points);
        }
    }
}

/// The left verifier's shares of a batch's values: the stream of the key that it has in common with the prover.
struct Shares {
    number: u32,
}

impl Shares {
    fn new(number: u32) -> Self {
        Self { number }
    }

    /// Those of a round. The first round's are for all repetitions.
    fn draw(
        &mut self,
        session: &mut Session,
        peer: usize,
        sequence: &Sequence,
        round: usize,
        repetition: usize,
    ) -> Vec<Fp61> {
        let first = block(self.number, repetition) + sequence.values_before(round) as u64;
        let mut shares = vec![Fp61::ZERO; sequence.values(round)];
        session.stream(peer).fill_elements(draw(step::PROOF_SHARE), first, &mut shares);
        shares
    }
}

/// The points of all rounds, of each repetition.
fn all_points(
    session: &Session,
    sequence: &Sequence,
    seeds: &[Seed],
    prover: usize,
    batch: u32,
    repetitions: usize,
) -> Vec<Vec<Fp61>> {
    let of = |repetition| {
        let at = |(round, seed)| {
            point(session.id(), seed, Place { prover, batch, round, repetition }, sequence.blocks(round))
        };
        seeds.iter().enumerate().map(at).collect()
    };
    (0..repetitions).map(of).collect()
}

/// The seed of the last round, from the key that the verifiers share.
fn draw_seed(session: &mut Session, peer: usize, number: u32) -> Seed {
    let mut seed = Seed::default();
    session.stream(peer).fill(draw(step::PROOF_SEED), block(number, 0), &mut seed);
    seed
}

/// The random value at 0 of the last round, from the key that prover and verifier share.
fn draw_mask(session: &mut Session, peer: usize, part: u16, number: u32, repetition: usize) -> Fp61 {
    let mut mask = [Fp61::ZERO];
    session.stream(peer).fill_elements(draw(part), block(number, repetition), &mut mask);
    mask[0]
}

fn draw(part: u16) -> Draw {
    Draw { part, op: 0 }
}

fn block(number: u32, repetition: usize) -> u64 {
    u64::from(number) * BATCH_BLOCKS + repetition as u64 * REPETITION_BLOCKS
}

fn at(part: u16, step: u32) -> At {
    At { lane: 0, part, op: 0, batch: step }
}

/// The message of a step, which is none if there is nothing to say.
fn receive(session: &mut Session, from: usize, part: u16, step: u32, len: usize) -> Result<Vec<u8>, Error> {
    if len == 0 {
        return Ok(Vec::new());
    }
    Ok(session.mesh().recv(from, at(part, step), len)?)
}

fn write(out: &mut Vec<u8>, elements: &[Fp61]) {
    for element in elements {
        out.extend(&element.to_u128().to_le_bytes()[..ELEMENT_BYTES]);
    }
}

/// Reads a message whose length was checked when it came.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_first_chunk().expect("a message has the length of its step");
        self.0 = rest;
        *taken
    }

    fn seed(&mut self) -> Seed {
        self.take()
    }

    /// An element, which must be less than p.
    fn element(&mut self, session: &mut Session) -> Result<Fp61, Error> {
        let value = u64::from_le_bytes(self.take());
        if value >= Fp61::MODULUS {
            return Err(session.reject("a number in a proof is no element of its field").into());
        }
        Ok(Fp61::from_u128(value.into()))
    }
}
