//! A prover keeps its last messages from the left verifier until it has learned what they are checked by, and then chooses
//! them: some bits are wrong, and add up to nothing where they are looked at.
//!
//! It sends the right verifier honest values of its polynomial, or whatever else makes it release a seed, and lets nobody
//! else wait for anything but the bits that it keeps. As the left verifier has no other copy of them, it takes what comes.
//!
//! | proofs | what it knows then | what it solves |
//! | --- | --- | --- |
//! | the usual, `li-2023` | the first point | a sum of [`Log::changes`] that is 0 modulo p, by a tree of 8 lists |
//! | `soundness=100` | the first point of both repetitions | the same in both at once, by 128 lists |
//! | `challenges=fiat-shamir` | the first point, of the extension | the same in both parts |
//! | `boyle-2019` | the coefficients | 64 linear equations over GF(2) |
//!
//! In the last one the left verifier's share of the claim is the sum of the coefficients of those ANDs whose `e` is 1: it
//! is as it was if the coefficients of all that are flipped add up to 0. `e` isn't in the polynomials.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tacit_net::{At, Event, Frame, FrameKind};
use tacit_replicated::attackers::{coefficients, point};
use tacit_replicated::planted::{Mistake, Moment};
use tacit_replicated::step;
use tacit_testkit::react::{Act, Attacker};
use tacit_testkit::{Draws, Rng};

use super::field::F;
use super::log::{Log, flip};
use super::stage::{Seats, Stage, against, judge, lock, protocol};
use crate::search::{cancelling, needed, zero_sum};
use crate::table::{Outcome, Version};

/// An attack of this kind.
pub(crate) struct Withheld {
    /// The protocol's parameters.
    pub(crate) parameters: &'static [(&'static str, &'static str)],
    pub(crate) stage: fn(Seats) -> Stage,
    pub(crate) knows: Knows,
    /// How many steps after the batch began the right verifier's message has the seed.
    pub(crate) after: u32,
    /// What it takes.
    pub(crate) mistakes: &'static [Mistake],
    /// Of these, what alone isn't enough.
    pub(crate) not_enough: &'static [Mistake],
}

/// What the attacker goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Knows {
    /// The first round's point, from a seed.
    Point,
    /// Those of both repetitions.
    Points,
    /// The coefficients, from a seed.
    Coefficients,
    /// The first round's point, from its own hash.
    OwnPoint,
}

/// ANDs that are kept back, to choose from: 128 for one equation modulo p, or for 64 over GF(2).
pub(crate) const FEW: usize = needed(1);
/// For two.
pub(crate) const MANY: usize = needed(2);

/// How long the attacker waits for what it hopes for. Then it bets.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

impl Withheld {
    pub(crate) fn run(&self, version: Version, seed: u64) -> Outcome {
        let run = |mistakes| self.run_with(mistakes, seed);
        against(version, self.mistakes, self.not_enough, run)
    }

    fn run_with(&self, mistakes: &'static [Mistake], seed: u64) -> Outcome {
        let seats = Seats::of(seed);
        let stage = (self.stage)(seats);
        let known: Arc<Mutex<Known>> = Arc::default();
        let (looks, number, knows, ands) = (Arc::clone(&known), stage.batch, self.knows, stage.ands.clone());
        let look = move |moment: Moment, noted: &mut tacit_replicated::planted::Noted<'_>| {
            if noted.number != number {
                return;
            }
            let mut known = lock(&looks);
            match moment {
                Moment::Complete => known.log = Some(Log::of(noted)),
                Moment::Challenged(points) => {
                    if let (Knows::OwnPoint, Some(log)) = (knows, &known.log) {
                        let changes = log.changes(ands.clone(), F::of(points[0]));
                        let changes: Vec<[u64; 2]> = changes.into_iter().map(F::parts).collect();
                        known.chosen = zero_sum(&changes, &mut Rng::new(seed)).map(|at| from(&ands, at));
                    }
                    flip(noted.e, known.chosen.as_deref().unwrap_or_default());
                }
            }
        };
        let case = stage.case(protocol(self.parameters, mistakes, seats.prover, look));
        let (ands, knows, kept, ready) =
            (stage.ands.clone(), self.knows, Arc::clone(&known), Arc::clone(&known));
        let choose = move |released: Option<[u8; 32]>, last: &mut Frame| {
            let mut known = lock(&kept);
            if let (Some(released), Some(log)) = (released, &known.log) {
                known.chosen = chosen(knows, log, released, &ands, &mut Rng::new(seed));
            }
            for and in known.chosen.iter().flatten() {
                let bit = and - ands.start;
                last.payload[bit / 8] ^= 1 << (bit % 8);
            }
        };
        let has_chosen = move || lock(&ready).chosen.is_some();
        let step = stage.batch + self.after;
        let attacker = Withholds::new(seats, stage.is_last, step, choose, has_chosen);
        let run = case.run_attacked(&case.world(), &Draws::fixed(seed), seats.prover, Box::new(attacker));
        let chosen = lock(&known).chosen.take().unwrap_or_default();
        assert!(!chosen.is_empty(), "the attacker found nothing to flip, and so shows nothing");
        judge(&case, &run, seats.prover)
    }
}

/// What the party's code shows, and what the attacker has it do.
#[derive(Default)]
struct Known {
    log: Option<Log>,
    /// ANDs whose bits are flipped, once they are chosen.
    chosen: Option<Vec<usize>>,
}

/// Places among some ANDs as numbers in the batch.
fn from(ands: &Range<usize>, places: Vec<usize>) -> Vec<usize> {
    places.into_iter().map(|place| ands.start + place).collect()
}

/// Which bits to flip, by a seed that the right verifier has released.
fn chosen(knows: Knows, log: &Log, seed: [u8; 32], ands: &Range<usize>, rng: &mut Rng) -> Option<Vec<usize>> {
    let changes = |repetition| {
        let point = point(&log.session, &seed, [log.me, log.number as usize, 0, repetition], log.blocks);
        log.changes(ands.clone(), F::of([point, 0])).into_iter().map(|change| change.parts()[0])
    };
    let places = match knows {
        Knows::Point => {
            let all: Vec<[u64; 1]> = changes(0).map(|change| [change]).collect();
            zero_sum(&all, rng)
        }
        Knows::Points => {
            let all: Vec<[u64; 2]> = changes(0).zip(changes(1)).map(|(a, b)| [a, b]).collect();
            zero_sum(&all, rng)
        }
        Knows::Coefficients => {
            let all = coefficients(&log.session, &seed, log.me, log.number, log.ands());
            let all: Vec<[u64; 1]> = all[ands.clone()].iter().map(|&one| [one]).collect();
            Some(cancelling(&all, rng))
        }
        Knows::OwnPoint => None,
    };
    places.map(|places| from(ands, places))
}

/// What the attacker does with the frame that has what matters, once it knows the seed, or must do without.
type Choose = Box<dyn FnMut(Option<[u8; 32]>, &mut Frame) + Send>;

/// Keeps messages from the left verifier until the right one has released a seed.
pub(crate) struct Withholds {
    seats: Seats,
    /// Whether a message has what matters.
    is_last: fn(At) -> bool,
    /// The step in which the seed comes.
    step: u32,
    choose: Choose,
    /// Whether all is chosen without a seed.
    has_chosen: Box<dyn Fn() -> bool + Send>,
    /// What the left verifier doesn't have yet.
    kept: Vec<Frame>,
    done: bool,
}

impl Withholds {
    pub(crate) fn new(
        seats: Seats,
        is_last: fn(At) -> bool,
        step: u32,
        choose: impl FnMut(Option<[u8; 32]>, &mut Frame) + Send + 'static,
        has_chosen: impl Fn() -> bool + Send + 'static,
    ) -> Self {
        let (choose, has_chosen) = (Box::new(choose), Box::new(has_chosen));
        Self { seats, is_last, step, choose, has_chosen, kept: Vec::new(), done: false }
    }

    /// Sends what was kept, with what is chosen; then this party's code goes on as if nothing had been.
    fn release(&mut self, seed: Option<[u8; 32]>, act: &mut Act<'_>) {
        if let Some(last) = self.kept.iter_mut().find(|frame| (self.is_last)(frame.at)) {
            (self.choose)(seed, last);
        }
        self.kept.drain(..).for_each(|frame| act.send(self.seats.left, frame));
        self.done = true;
    }
}

impl Attacker for Withholds {
    fn sends(&mut self, to: usize, frame: Frame, act: &mut Act<'_>) {
        if !self.done && (self.has_chosen)() {
            self.release(None, act);
        }
        let in_order = to == self.seats.left && frame.kind == FrameKind::Data && !frame.at.is_aside();
        if in_order && !self.done && (!self.kept.is_empty() || (self.is_last)(frame.at)) {
            self.kept.push(frame);
        } else {
            act.send(to, frame);
        }
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        if let Event::Frame(frame) = &event
            && (from, frame.at.part, frame.at.batch) == (self.seats.right, step::PROOF_FORTH, self.step)
            && !self.done
        {
            // Of what this message has for several batches the last one's is last.
            let seed = frame.payload.last_chunk().copied();
            self.release(seed, act);
        }
        act.hear(from, event);
    }

    fn wakes(&self) -> Option<Duration> {
        (!self.done).then_some(PATIENCE)
    }

    fn woken(&mut self, act: &mut Act<'_>) {
        self.release(Some([0; 32]), act);
    }
}
