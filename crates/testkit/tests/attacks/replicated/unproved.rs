//! Wrong ANDs where nobody looks: some path doesn't note them, or doesn't prove what is noted.

use tacit_net::{At, Frame, FrameKind};
use tacit_replicated::planted::Mistake;
use tacit_testkit::Draws;
use tacit_testkit::react::{Act, Attacker};

use super::stage::{Seats, Stage, against, judge, protocol};
use crate::table::{Outcome, Version};

/// An attack of this kind.
pub(crate) struct Unproved {
    /// The protocol's parameters.
    pub(crate) parameters: &'static [(&'static str, &'static str)],
    pub(crate) stage: fn(Seats) -> Stage,
    /// Whether wrong ANDs are in a message, if not in the last ones.
    pub(crate) wrong: Option<fn(At) -> bool>,
    /// What it takes.
    pub(crate) mistakes: &'static [Mistake],
    /// Of these, what alone isn't enough.
    pub(crate) not_enough: &'static [Mistake],
}

impl Unproved {
    pub(crate) fn run(&self, version: Version, seed: u64) -> Outcome {
        let run = |mistakes| self.run_with(mistakes, seed);
        against(version, self.mistakes, self.not_enough, run)
    }

    fn run_with(&self, mistakes: &'static [Mistake], seed: u64) -> Outcome {
        let seats = Seats::of(seed);
        let stage = (self.stage)(seats);
        let case = stage.case(protocol(self.parameters, mistakes, seats.prover, |_, _| {}));
        let attacker = Lies { left: seats.left, wrong: self.wrong.unwrap_or(stage.is_last) };
        let run = case.run_attacked(&case.world(), &Draws::fixed(seed), seats.prover, Box::new(attacker));
        judge(&case, &run, seats.prover)
    }
}

struct Lies {
    left: usize,
    wrong: fn(At) -> bool,
}

impl Attacker for Lies {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        if frame.kind == FrameKind::Data && to == self.left && (self.wrong)(frame.at) {
            frame.payload.iter_mut().take(16).for_each(|byte| *byte ^= 0xff);
        }
        act.send(to, frame);
    }
}
