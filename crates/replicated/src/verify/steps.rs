//! The messages of proofs: one a step to either neighbour, for all proofs of all batches that are under way.
//!
//! A step begins when a batch of ANDs is complete, and after the last AND as often as it takes. Its messages are read
//! at the beginning of the next step, so nobody waits for them while there is something else to do. What a batch sends
//! depends on its age in steps, and on where the points come from: [`super::interactive`] or [`super::fiat_shamir`].

use super::counts::Counts;
use super::fiat_shamir::{self, FiatShamir};
use super::interactive::{self, Interactive};
use super::log::{BEGUN, Batch, Log};
use super::part::{Bytes, Memory, Out, Proof, Reader};
use super::ring::{self, Operation, RingProof, Words};
use super::schedule::{FoldingSchedule, ProofField, ProofParams};
#[cfg(feature = "planted")]
use crate::planted::Moment;
use crate::planted::{Mistake, planted};
use crate::step;
use std::collections::VecDeque;
use tacit_engine::Error;
use tacit_engine::profile::{Section, section};
use tacit_kernel::Element;
use tacit_kernel::field::Fp61;
use tacit_kernel::gf64::Gf64;
use tacit_session::{At, Phase, Session};
use tacit_threeparty::{next, prev};

/// Where the points come from at which proofs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Challenges {
    /// From the verifiers, round by round; each proof is repeated so many times from its second round on.
    Interactive { repetitions: usize },
    /// From hashes of the prover's messages, over F_p.
    FiatShamir,
}

impl Challenges {
    /// Steps in which a batch sends anything.
    fn steps(self, schedule: &FoldingSchedule) -> usize {
        match self {
            Self::Interactive { .. } => interactive::steps(schedule),
            Self::FiatShamir => fiat_shamir::STEPS,
        }
    }

    /// What a batch sends at this age.
    fn bytes(self, schedule: &FoldingSchedule, age: usize) -> Bytes {
        match self {
            Self::Interactive { repetitions } => interactive::bytes(schedule, age, repetitions),
            Self::FiatShamir => fiat_shamir::bytes(schedule, age),
        }
    }

    /// How often each proof is repeated.
    const fn repetitions(self) -> usize {
        match self {
            Self::Interactive { repetitions } => repetitions,
            Self::FiatShamir => 1,
        }
    }

    /// Begins the three proofs of a batch.
    fn begin(self, batch: Batch, number: u32, session: &mut Session, memory: &mut Memory) -> Box<dyn Proof> {
        let spare = &mut memory.spare;
        match (self, batch.schedule.field()) {
            (Self::FiatShamir, _) => Box::new(FiatShamir::begin(batch, number)),
            (Self::Interactive { repetitions }, ProofField::Prime) => {
                Box::new(Interactive::<Fp61>::begin(batch, number, repetitions, session, spare))
            }
            (Self::Interactive { repetitions }, ProofField::Binary | ProofField::Drawn) => {
                Box::new(Interactive::<Gf64>::begin(batch, number, repetitions, session, spare))
            }
        }
    }
}

/// What batches are of.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Ands(Challenges),
    /// Products; each proof is repeated so many times.
    Products(usize),
}

impl Kind {
    /// Steps in which a batch sends anything.
    fn steps(self, schedule: &FoldingSchedule) -> usize {
        match self {
            Self::Ands(challenges) => challenges.steps(schedule),
            Self::Products(_) => interactive::steps(schedule),
        }
    }

    /// What a batch sends at this age.
    fn bytes(self, schedule: &FoldingSchedule, age: usize) -> Bytes {
        match self {
            Self::Ands(challenges) => challenges.bytes(schedule, age),
            Self::Products(repetitions) => ring::bytes(schedule, age, repetitions),
        }
    }
}

/// What every party sends for the proofs of so many words of ANDs, and of products whose batches have so many elements.
///
/// Rounds are exact if there is one batch of products; if ANDs come after more of them, there may be fewer.
pub(crate) fn traffic(words: u64, products: &[usize], cut: ProofParams, challenges: Challenges) -> Traffic {
    let mut total = Traffic::default();
    for (later, &elements) in (0..).zip(products.iter().rev()) {
        let (schedule, kind) =
            (FoldingSchedule::of_products(elements), Kind::Products(challenges.repetitions()));
        total.add(&schedule, kind, 1);
        total.tail = total.tail.max((kind.steps(&schedule) as u64).saturating_sub(later));
    }
    let full = cut.batch_words;
    let (whole, rest) = (words / full as u64, (words % full as u64) as usize);
    for (count, words) in [(whole, full), (u64::from(rest > 0), rest)].into_iter().filter(|(n, _)| *n > 0) {
        let (schedule, kind) = (FoldingSchedule::of(words, cut), Kind::Ands(challenges));
        let all = kind.steps(&schedule);
        total.add(&schedule, kind, count);
        // A whole batch before a last short one began a step before it.
        let earlier = u64::from(words == full && (rest > 0 || !products.is_empty()));
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

impl Traffic {
    /// Adds what so many batches send.
    fn add(&mut self, schedule: &FoldingSchedule, kind: Kind, count: u64) {
        for bytes in (0..kind.steps(schedule)).map(|age| kind.bytes(schedule, age)) {
            self.back += count * bytes.back as u64;
            self.forth += count * bytes.forth as u64;
        }
    }
}

/// All proofs of a run, and the logs of what is still to be proved.
pub(crate) struct Proofs {
    log: Log,
    products: ring::Log,
    challenges: Challenges,
    under_way: VecDeque<UnderWay>,
    memory: Memory,
    steps: u32,
    proved: Counts,
}

/// A batch whose proofs are under way.
struct UnderWay {
    /// The step in which they began.
    first: u32,
    proves: Counts,
    kind: Kind,
    schedule: FoldingSchedule,
    proof: Box<dyn Proof>,
}

impl UnderWay {
    /// The steps from its first one to this one.
    fn age(&self, step: u32) -> usize {
        (step - self.first) as usize
    }
}

impl Proofs {
    /// Nothing to be proved yet.
    pub(crate) fn new(cut: ProofParams, challenges: Challenges, me: usize) -> Self {
        let (log, products) = (Log::new(cut), ring::Log::new(ring::Limits::of(cut.batch_words), me));
        let (under_way, memory, proved) = Default::default();
        Self { log, products, challenges, under_way, memory, steps: 0, proved }
    }

    /// Counts from the beginning again, for another plan in the same session: its addresses are others.
    pub(crate) fn next_plan(&mut self) {
        debug_assert!(self.under_way.is_empty(), "a plan ends when all is proved");
        (self.steps, self.proved) = (0, Counts::default());
    }

    /// Room to note so many words of ANDs that are begun ([`Log::begin`]).
    pub(crate) fn begin(&mut self, words: usize) -> [&mut [u64]; BEGUN] {
        self.log.begin(words)
    }

    /// Notes the message that finishes what was begun first.
    pub(crate) fn finish(&mut self, message: &[u8]) {
        self.log.finish(message);
    }

    /// Notes products that are finished.
    pub(crate) fn note<E: Element>(&mut self, operation: Operation, words: &Words<'_, E>) {
        self.products.note(operation, words);
    }

    /// Notes a column after a turn of a shuffle ([`ring::Log::note_shuffled`]).
    pub(crate) fn note_shuffled(
        &mut self,
        operation: Operation,
        words: &Words<'_>,
        shuffled: ring::Shuffled,
    ) {
        self.products.note_shuffled(operation, words, shuffled);
    }

    /// Takes a step for every batch that is complete.
    ///
    /// # Errors
    /// If a proof fails; then the session is over.
    pub(crate) fn go_on(&mut self, session: &mut Session) -> Result<(), Error> {
        while let Some(batch) = self.log.full() {
            self.step(Some(batch), None, session)?;
        }
        while let Some(products) = self.products.full() {
            self.step(None, Some(products), session)?;
        }
        Ok(())
    }

    /// Proves all that is left. `counts` is how much there is by the plan: what was noted doesn't say that all was.
    ///
    /// # Errors
    /// If a proof fails, or not all was proved; then the session is over.
    pub(crate) fn complete(&mut self, counts: Counts, session: &mut Session) -> Result<(), Error> {
        let (ands, products) = (self.log.rest(), self.products.rest());
        if ands.is_some() || products.is_some() {
            self.step(ands, products, session)?;
        }
        while !self.under_way.is_empty() {
            self.step(None, None, session)?;
        }
        if self.proved != counts && !planted(Mistake::NotCounted) {
            let what = if self.proved.words == counts.words { "products" } else { "ANDs" };
            return Err(session.reject(&format!("not all {what} were proved")).into());
        }
        Ok(())
    }

    fn step(
        &mut self,
        batch: Option<Batch>,
        products: Option<ring::Batch>,
        session: &mut Session,
    ) -> Result<(), Error> {
        let batch = batch.filter(|_| self.steps == 0 || !planted(Mistake::LaterBatchesDropped));
        let phase = session.mesh().phase();
        session.mesh().set_phase(Phase::Verify);
        section(Section::Proving, || {
            self.receive(session)?;
            #[cfg(feature = "planted")]
            let batch = batch.map(|mut batch| {
                crate::planted::tapped(Moment::Complete, batch.noted(session.me(), self.steps));
                batch
            });
            if let Some(batch) = batch {
                let (first, schedule) = (self.steps, batch.schedule.clone());
                let proves = Counts { words: batch.words as u64, ..Counts::default() };
                let proof = self.challenges.begin(batch, first, session, &mut self.memory);
                let kind = Kind::Ands(self.challenges);
                self.under_way.push_back(UnderWay { first, proves, kind, schedule, proof });
            }
            if let Some(products) = products {
                let (first, proves) = (self.steps, products.counts());
                let schedule = FoldingSchedule::of_products(products.length());
                let repetitions = self.challenges.repetitions();
                let proof = RingProof::begin(products, first, repetitions, schedule.clone(), session);
                let (kind, proof) = (Kind::Products(repetitions), Box::new(proof));
                self.under_way.push_back(UnderWay { first, proves, kind, schedule, proof });
            }
            self.send(session)
        })?;
        self.steps += 1;
        session.mesh().set_phase(phase);
        Ok(())
    }

    /// Reads what was sent in the last step.
    fn receive(&mut self, session: &mut Session) -> Result<(), Error> {
        let Some(last) = self.steps.checked_sub(1) else { return Ok(()) };
        let me = session.me();
        let mut all = Bytes::default();
        for batch in &self.under_way {
            let bytes = batch.kind.bytes(&batch.schedule, batch.age(last));
            all = Bytes { back: all.back + bytes.back, forth: all.forth + bytes.forth };
        }
        let from_next = receive(session, next(me), step::PROOF_BACK, last, all.back)?;
        let from_prev = receive(session, prev(me), step::PROOF_FORTH, last, all.forth)?;
        let (mut from_next, mut from_prev) = (Reader(&from_next), Reader(&from_prev));
        for batch in &mut self.under_way {
            let age = batch.age(last);
            batch.proof.receive(age, &mut from_next, &mut from_prev, session, &mut self.memory)?;
        }
        self.under_way.retain(|batch| {
            let done = batch.age(last) + 1 == batch.kind.steps(&batch.schedule);
            if done {
                self.proved = self.proved.and(batch.proves);
            }
            !done
        });
        Ok(())
    }

    fn send(&mut self, session: &mut Session) -> Result<(), Error> {
        let me = session.me();
        let (mut back, mut forth) = (Vec::new(), Vec::new());
        for batch in &mut self.under_way {
            let (age, out) = (batch.age(self.steps), Out { back: &mut back, forth: &mut forth });
            batch.proof.send(age, out, session, &mut self.memory);
        }
        self.memory.batches.drain(..).for_each(|bits| self.log.reuse(bits));
        self.memory.products.drain(..).for_each(|batch| self.products.reuse(batch));
        for (to, part, message) in [(prev(me), step::PROOF_BACK, back), (next(me), step::PROOF_FORTH, forth)]
        {
            if !message.is_empty() {
                session.mesh().send_vec(to, at(part, self.steps), message)?;
            }
        }
        Ok(())
    }
}

/// The address of a step's message.
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
