//! The messages of proofs: one a step to either neighbour, for all proofs of all batches that are under way.
//!
//! A step begins when a batch of ANDs is complete, and after the last AND as often as it takes. Its messages are read
//! at the beginning of the next step, so nobody waits for them while there is something else to do. What a batch sends
//! depends on its age in steps, and on where the points come from: [`super::interactive`] or [`super::fiat_shamir`].

use super::fiat_shamir::{self, FiatShamir};
use super::interactive::{self, Interactive};
use super::log::{BEGUN, Batch, Log};
use super::part::{Bytes, Memory, Out, Proof, Reader};
use super::schedule::{FoldingSchedule, ProofField, ProofParams};
#[cfg(feature = "planted")]
use crate::planted::Moment;
use crate::planted::{Mistake, planted};
use crate::step;
use std::collections::VecDeque;
use tacit_engine::Error;
use tacit_engine::profile::{Section, section};
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

    /// Begins the three proofs of a batch.
    fn begin(self, batch: Batch, number: u32, session: &mut Session, memory: &mut Memory) -> Box<dyn Proof> {
        let spare = &mut memory.spare;
        match (self, batch.schedule.field()) {
            (Self::FiatShamir, _) => Box::new(FiatShamir::begin(batch, number)),
            (Self::Interactive { repetitions }, ProofField::Prime) => {
                Box::new(Interactive::<Fp61>::begin(batch, number, repetitions, session, spare))
            }
            (Self::Interactive { repetitions }, ProofField::Binary) => {
                Box::new(Interactive::<Gf64>::begin(batch, number, repetitions, session, spare))
            }
        }
    }
}

/// What every party sends for the proofs of so many words of ANDs.
pub(crate) fn traffic(words: u64, cut: ProofParams, challenges: Challenges) -> Traffic {
    let mut total = Traffic::default();
    let full = cut.batch_words;
    let (whole, rest) = (words / full as u64, (words % full as u64) as usize);
    for (count, words) in [(whole, full), (u64::from(rest > 0), rest)].into_iter().filter(|(n, _)| *n > 0) {
        let schedule = FoldingSchedule::of(words, cut);
        let all = challenges.steps(&schedule);
        for bytes in (0..all).map(|age| challenges.bytes(&schedule, age)) {
            total.back += count * bytes.back as u64;
            total.forth += count * bytes.forth as u64;
        }
        // A whole batch before a last short one began a step before it.
        let earlier = u64::from(words == full && rest > 0);
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

/// All proofs of a run, and the log of what is still to be proved.
pub(crate) struct Proofs {
    log: Log,
    challenges: Challenges,
    under_way: VecDeque<UnderWay>,
    memory: Memory,
    steps: u32,
    proved: u64,
}

/// A batch whose proofs are under way.
struct UnderWay {
    /// The step in which they began.
    first: u32,
    /// Words of ANDs.
    words: usize,
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
    pub(crate) fn new(cut: ProofParams, challenges: Challenges) -> Self {
        let log = Log::new(cut);
        Self { log, challenges, under_way: VecDeque::new(), memory: Memory::default(), steps: 0, proved: 0 }
    }

    /// Counts from the beginning again, for another plan in the same session: its addresses are others.
    pub(crate) fn next_plan(&mut self) {
        debug_assert!(self.under_way.is_empty(), "a plan ends when all is proved");
        (self.steps, self.proved) = (0, 0);
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

    /// Proves all that is left. `words` of ANDs is how many there are by the plan: what was noted doesn't say that all
    /// were.
    ///
    /// # Errors
    /// If a proof fails, or not all ANDs were proved; then the session is over.
    pub(crate) fn complete(&mut self, words: u64, session: &mut Session) -> Result<(), Error> {
        if let Some(batch) = self.log.rest() {
            self.step(Some(batch), session)?;
        }
        while !self.under_way.is_empty() {
            self.step(None, session)?;
        }
        if self.proved != words && !planted(Mistake::NotCounted) {
            return Err(session.reject("not all ANDs were proved").into());
        }
        Ok(())
    }

    fn step(&mut self, batch: Option<Batch>, session: &mut Session) -> Result<(), Error> {
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
                let (first, words, schedule) = (self.steps, batch.words, batch.schedule.clone());
                let proof = self.challenges.begin(batch, first, session, &mut self.memory);
                self.under_way.push_back(UnderWay { first, words, schedule, proof });
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
        let (challenges, mut all) = (self.challenges, Bytes::default());
        for batch in &self.under_way {
            let bytes = challenges.bytes(&batch.schedule, batch.age(last));
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
            let done = batch.age(last) + 1 == challenges.steps(&batch.schedule);
            if done {
                self.proved += batch.words as u64;
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
