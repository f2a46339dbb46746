//! A prover that knows a round's point before it has to send its values of that round: one wrong AND passes, since one value
//! that is off by the right amount makes up for it.
//!
//! **The amount.** Say that AND `t` of block `l` is wrong, and that the prover goes by its wrong log. In the first round it
//! sends values of `G(X) - w_l(X)^2`, with Lagrange's coefficient `w_l` of 64 blocks: `G` is the sum of all
//! `w_k w_k' <u_k, v_k'>`, and what is public of the diagonal (`k = k'`) is as if all were right, where
//! `<u_l, v_l>` is larger by 1. So at the point `r` the claim is too small by `d = w_l(r)^2`.
//!
//! - It knows the first point: `d / W(r)` more for a value, with that value's coefficient `W` among all 127, makes up
//!   for `d`.
//! - It knows the second one, `s`: the value at 1 follows from the claim, and so is too small by `d`; the polynomial of 31
//!   values is too small by `d W_1(s)`. `d W_1(s) / W(s)` more for a value after the blocks' makes up for that.
//! - Of a hashed proof it can compute by itself what verifiers will compare. That is linear in each value, if points don't
//!   depend on it; two attempts show by how much the value has to be off.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tacit_net::{Event, Frame, FrameKind};
use tacit_replicated::attackers::point;
use tacit_replicated::planted::{Mistake, Moment, Noted};
use tacit_replicated::step;
use tacit_testkit::react::{Act, Attacker};
use tacit_testkit::{Draws, Run};

use super::field::{F, weights};
use super::log::{Log, flip};
use super::stage::{Seats, Stage, judge, lock, protocol};
use super::{FEW, FULL, SMALL};
use crate::table::{Outcome, Version};

/// Blocks of the first round, and of middle ones.
const BLOCKS: usize = 64;
const LATER: usize = 16;
/// Bytes of a seed, a digest or an anchor.
const HASH: usize = 32;
/// Bytes of an element.
const ELEMENT: usize = 8;
/// How long the attacker waits for a seed.
const PATIENCE: Duration = Duration::from_secs(3);

/// What the attacker knows too early.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Early {
    /// A seed of this round, 0 or 1, that comes before it has sent its values.
    Heard(usize),
    /// The second round's point, which is always the same.
    Constant,
}

impl Early {
    fn round(self) -> usize {
        match self {
            Self::Heard(round) => round,
            Self::Constant => 1,
        }
    }
}

fn stage(seats: Seats) -> Stage {
    Stage::levels(seats, SMALL, FEW, FULL)
}

/// Attacks by a point of this kind.
pub(crate) fn known(early: Early, mistakes: &'static [Mistake], version: Version, seed: u64) -> Outcome {
    let seats = Seats::of(seed);
    let stage = stage(seats);
    let wrong = stage.ands.start;
    let log: Arc<Mutex<Option<Log>>> = Arc::default();
    let looks = Arc::clone(&log);
    let look = move |moment: Moment, noted: &mut Noted<'_>| {
        if moment == Moment::Complete {
            flip(noted.e, &[wrong]);
            *lock(&looks) = Some(Log::of(noted));
        }
    };
    let mistakes = if version == Version::Planted { mistakes } else { &[] };
    let case = stage.case(protocol(&[], mistakes, seats.prover, look));
    let attacker = Foreknows { seats, stage, early, log, seeds: [[0; HASH]; 2], kept: None, done: false };
    let run = case.run_attacked(&case.world(), &Draws::fixed(seed), seats.prover, Box::new(attacker));
    judge(&case, &run, seats.prover)
}

struct Foreknows {
    seats: Seats,
    stage: Stage,
    early: Early,
    log: Arc<Mutex<Option<Log>>>,
    /// Those of the first two rounds that have come.
    seeds: [[u8; HASH]; 2],
    /// Values that aren't sent yet.
    kept: Option<Frame>,
    done: bool,
}

impl Foreknows {
    /// The step in which the values are sent that are changed.
    fn step(&self) -> u32 {
        2 * self.early.round() as u32
    }

    /// Sends the values, one of which is off by what makes up for the wrong AND.
    fn release(&mut self, act: &mut Act<'_>) {
        let (Some(mut frame), Some(log)) = (self.kept.take(), lock(&self.log).clone()) else { return };
        let point = |round: usize, blocks: usize| {
            let place = [log.me, log.number as usize, round, 0];
            F::of([point(&log.session, &self.seeds[round], place, blocks), 0])
        };
        let block = self.stage.ands.start / 64 / log.block_words;
        let gap = weights(BLOCKS, point(0, BLOCKS))[block];
        let gap = gap.mul(gap);
        let (by, at) = if self.early.round() == 0 {
            let all = weights(2 * BLOCKS - 1, point(0, BLOCKS));
            // After the anchor come the values from 65 on.
            (gap.mul(all[BLOCKS].inverse()), HASH)
        } else {
            let all = weights(2 * LATER - 1, point(1, LATER));
            // Values from 2 on; that at 17 isn't part of the sum.
            (gap.mul(all[0]).mul(all[LATER].inverse()), ELEMENT * (LATER - 1))
        };
        let value = &mut frame.payload[at..at + ELEMENT];
        F::read(value).add(by).write(value);
        act.send(self.seats.right, frame);
        self.done = true;
    }
}

impl Attacker for Foreknows {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        if frame.kind == FrameKind::Data && to == self.seats.left && (self.stage.is_last)(frame.at) {
            frame.payload[0] ^= 1;
        }
        let values = (frame.at.part, frame.at.batch) == (step::PROOF_BACK, self.step());
        if frame.kind == FrameKind::Data && to == self.seats.right && values {
            self.kept = Some(frame);
            if matches!(self.early, Early::Constant) {
                self.seeds[1] = [0; HASH];
                self.release(act);
            }
        } else {
            act.send(to, frame);
        }
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        if let Event::Frame(frame) = &event
            && (from, frame.at.part) == (self.seats.right, step::PROOF_FORTH)
            && let Some(seed) = frame.payload.last_chunk()
        {
            // A seed's step is the one after its values', or with the mistake theirs.
            let round = frame.at.batch as usize / 2;
            let word = frame.at.batch == 0 && frame.payload.len() == HASH;
            if let Some(place) = self.seeds.get_mut(round).filter(|_| !word) {
                *place = *seed;
                if matches!(self.early, Early::Heard(awaited) if awaited == round) {
                    self.release(act);
                }
            }
        }
        act.hear(from, event);
    }

    fn wakes(&self) -> Option<Duration> {
        (!self.done).then_some(PATIENCE)
    }

    fn woken(&mut self, act: &mut Act<'_>) {
        self.release(act);
        self.done = true;
    }
}

/// Changes a value of the second round of a hashed proof by what two attempts show.
pub(crate) fn hashed(mistakes: &'static [Mistake], version: Version, seed: u64) -> Outcome {
    let seats = Seats::of(seed);
    let mistakes = if version == Version::Planted { mistakes } else { &[] };
    let attempt = |by: F| {
        let stage = stage(seats);
        let wrong = stage.ands.start;
        let look = move |moment: Moment, noted: &mut Noted<'_>| {
            if moment == Moment::Complete {
                flip(noted.e, &[wrong]);
            }
        };
        let case = stage.case(protocol(&[("challenges", "fiat-shamir")], mistakes, seats.prover, look));
        let attacker = Changes { seats, is_last: stage.is_last, by };
        let run = case.run_attacked(&case.world(), &Draws::fixed(seed), seats.prover, Box::new(attacker));
        (case, run)
    };
    let [none, one] = [F::ZERO, F::ONE].map(|by| gap(&attempt(by).1, seats));
    let by = none.mul(none.sub(one).inverse());
    let (case, run) = attempt(by);
    judge(&case, &run, seats.prover)
}

/// `p(r) q(r) - G(r)` of a hashed proof, by what the verifiers show one another; the prover knows all that these come from.
fn gap(run: &Run, seats: Seats) -> F {
    let end = |from, to| {
        let mut sent = run.trace.link(from, to).filter(|sent| sent.at.is_aside() && sent.at.batch == 1);
        let payload = &sent.next().expect("verifiers say something in the end").payload;
        [HASH, HASH + 2 * ELEMENT].map(|at| F::read(&payload[at..at + 2 * ELEMENT]))
    };
    let [[ours, p], [theirs, q]] = [end(seats.left, seats.right), end(seats.right, seats.left)];
    p.mul(q).sub(ours).sub(theirs)
}

struct Changes {
    seats: Seats,
    is_last: fn(tacit_net::At) -> bool,
    by: F,
}

impl Attacker for Changes {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        if frame.kind == FrameKind::Data && to == self.seats.left && (self.is_last)(frame.at) {
            frame.payload[0] ^= 1;
        }
        if frame.kind == FrameKind::Data
            && to == self.seats.right
            && frame.at.part == step::PROOF_BACK
            && frame.at.batch == 0
        {
            // The left digest, the first round's values of F_p, then the second's.
            let at = HASH + ELEMENT * (BLOCKS - 1) + 2 * ELEMENT * (LATER - 1);
            let value = &mut frame.payload[at..at + 2 * ELEMENT];
            F::read(value).add(self.by).write(value);
        }
        act.send(to, frame);
    }
}
