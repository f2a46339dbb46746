//! The messages of proofs: one a step to either neighbour, for all proofs of all batches that are under way.
//!
//! A step begins when a batch of ANDs is complete, and after the last AND as often as it takes. Its messages are read
//! at the beginning of the next step, so nobody waits for them while there is something else to do. What a batch sends
//! depends on its age in steps, and on where the points come from: [`super::interactive`] or [`super::fiat_shamir`],
//! and [`super::boyle`] to compare with.

use super::boyle::{self, Boyle};
use super::fiat_shamir::{self, FiatShamir};
use super::field::Spare;
use super::interactive::{self, Interactive};
use super::log::{BEGUN, Batch, Log};
use super::part::{Out, Proof, Reader};
use super::schedule::{FoldingSchedule, ProofParams};
#[cfg(feature = "planted")]
use crate::planted::Moment;
use crate::planted::{Mistake, planted};
use std::collections::VecDeque;
use tacit_engine::Error;
use tacit_engine::profile::{Section, section};
use tacit_session::{At, Phase, Session, step};
use tacit_threeparty::{next, prev};

/// Where the points come from at which proofs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Challenges {
    /// From the verifiers, round by round; each proof is repeated so many times from its second round on.
    Interactive { repetitions: usize },
    /// From hashes of the prover's messages.
    FiatShamir,
    /// From the verifiers; what is compared is over GF(2^64).
    Binary,
}

impl Challenges {
    /// Steps in which a batch sends anything.
    fn steps(self, sequence: &FoldingSchedule) -> usize {
        match self {
            Self::Interactive { .. } => interactive::steps(sequence),
            Self::FiatShamir => fiat_shamir::STEPS,
            Self::Binary => boyle::steps(sequence),
        }
    }

    /// Bytes to the previous party at this age of a batch.
    fn back_bytes(self, sequence: &FoldingSchedule, age: usize) -> usize {
        match self {
            Self::Interactive { repetitions } => interactive::back_bytes(sequence, age, repetitions),
            Self::FiatShamir => fiat_shamir::back_bytes(sequence, age),
            Self::Binary => boyle::back_bytes(sequence, age),
        }
    }

    /// Bytes to the next party at this age of a batch.
    fn forth_bytes(self, sequence: &FoldingSchedule, age: usize) -> usize {
        match self {
            Self::Interactive { repetitions } => interactive::forth_bytes(sequence, age, repetitions),
            Self::FiatShamir => fiat_shamir::forth_bytes(sequence, age),
            Self::Binary => boyle::forth_bytes(sequence, age),
        }
    }

    /// Begins the three proofs of a batch.
    fn begin(self, batch: Batch, number: u32, session: &mut Session, spare: &mut Spare) -> Box<dyn Proof> {
        match self {
            Self::Interactive { repetitions } => {
                Box::new(Interactive::begin(batch, number, repetitions, session, spare))
            }
            Self::FiatShamir => Box::new(FiatShamir::begin(batch, number)),
            Self::Binary => Box::new(Boyle::begin(batch, number, session)),
        }
    }
}

/// What every party sends for the proofs of so many words of ANDs.
pub(crate) fn traffic(words: u64, cut: ProofParams, challenges: Challenges) -> Traffic {
    let mut total = Traffic::default();
    let full = cut.batch_words;
    let (whole, rest) = (words / full as u64, (words % full as u64) as usize);
    for (count, words) in [(whole, full), (u64::from(rest > 0), rest)].into_iter().filter(|(n, _)| *n > 0) {
        let sequence = FoldingSchedule::of(words, cut);
        let all = challenges.steps(&sequence);
        for age in 0..all {
            total.back += count * challenges.back_bytes(&sequence, age) as u64;
            total.forth += count * challenges.forth_bytes(&sequence, age) as u64;
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
    spare: Spare,
    steps: u32,
    proved: u64,
}

/// A batch whose proofs are under way.
struct UnderWay {
    /// The step in which they began.
    first: u32,
    /// Words of ANDs.
    words: usize,
    sequence: FoldingSchedule,
    proof: Box<dyn Proof>,
}

impl Proofs {
    /// Nothing to be proved yet.
    pub(crate) fn new(cut: ProofParams, challenges: Challenges) -> Self {
        let log = Log::new(cut);
        Self { log, challenges, under_way: VecDeque::new(), spare: Spare::default(), steps: 0, proved: 0 }
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
                let (first, words, sequence) = (self.steps, batch.words, batch.sequence.clone());
                let proof = self.challenges.begin(batch, first, session, &mut self.spare);
                self.under_way.push_back(UnderWay { first, words, sequence, proof });
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
        let (mut back, mut forth) = (0, 0);
        for batch in &self.under_way {
            let age = (last - batch.first) as usize;
            back += self.challenges.back_bytes(&batch.sequence, age);
            forth += self.challenges.forth_bytes(&batch.sequence, age);
        }
        let from_next = receive(session, next(me), step::PROOF_BACK, last, back)?;
        let from_prev = receive(session, prev(me), step::PROOF_FORTH, last, forth)?;
        let (mut from_next, mut from_prev) = (Reader(&from_next), Reader(&from_prev));
        for batch in &mut self.under_way {
            let age = (last - batch.first) as usize;
            batch.proof.receive(age, &mut from_next, &mut from_prev, session, &mut self.spare)?;
        }
        let challenges = self.challenges;
        self.under_way.retain(|batch| {
            let done = (last - batch.first) as usize + 1 == challenges.steps(&batch.sequence);
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
            let age = (self.steps - batch.first) as usize;
            let out = Out { back: &mut back, forth: &mut forth };
            batch.proof.send(age, out, session, &mut self.spare);
            if let Some(bits) = batch.proof.spare() {
                self.log.reuse(bits);
            }
        }
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
