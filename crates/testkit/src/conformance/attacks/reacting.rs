//! An endpoint that plays its part and does at each message what it likes: by what has come, in any order, late, after it
//! should have ended.
//!
//! **How.** It has habits, drawn by the seed: how often it holds a message back, until so much more has come or for some
//! time; how often it sends another one in its place, made of what it has seen, its own or a peer's; how often it keeps
//! from its own code that others have given up, and doesn't tell that it gives up itself. What it holds back for one peer
//! others may have at once. When its code has ended it waits on, and sends what it still has, or doesn't.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use tacit_net::{Event, Frame, FrameKind};

use super::stage::Stage;
use super::{Sent, Sort, Subject, sort};
use crate::react::{Act, Attacker};
use crate::{Draws, Rng};

/// Runs with these seeds, in each of which one endpoint reacts: each in turn. How many were noticed.
///
/// # Panics
/// If an honest endpoint has a wrong output, outputs that are to be fair aren't, or a run hangs.
pub fn random(subject: &Subject, seeds: Range<u64>) -> usize {
    caught(&Stage::of_sizes(subject, &[(12, 8), (40, 72)]), seeds)
}

/// The same on a program that compares numbers.
///
/// # Panics
/// As [`random`].
pub fn random_comparisons(subject: &Subject, seeds: Range<u64>) -> usize {
    caught(&[Stage::comparing(subject, 8)], seeds)
}

/// The same on a program that multiplies numbers.
///
/// # Panics
/// As [`random`].
pub fn random_products(subject: &Subject, seeds: Range<u64>) -> usize {
    caught(&[Stage::multiplying(subject, 8), Stage::multiplying(subject, 72)], seeds)
}

/// The same on a program of what networks are made of: products of elements and of matrices, truncations, ReLUs, of inputs
/// that are held to their ranges.
///
/// # Panics
/// As [`random`].
pub fn random_layers(subject: &Subject, seeds: Range<u64>) -> usize {
    caught(&[Stage::layers(subject, 8)], seeds)
}

/// The same on a program that sorts numbers: by shuffles, and by openings of what orders them.
///
/// # Panics
/// As [`random`].
pub fn random_sorts(subject: &Subject, seeds: Range<u64>) -> usize {
    caught(&[Stage::sorting(subject, 8)], seeds)
}

fn caught(stages: &[Stage], seeds: Range<u64>) -> usize {
    let mut caught = 0;
    for seed in seeds {
        let stage = &stages[usize::from(seed % 4 == 3) % stages.len()];
        let corrupt = (seed % stage.case.endpoints() as u64) as usize;
        let attacker = Box::new(Whims::new(seed, corrupt, stage.sorts, stage.case.limits.silence));
        let run = stage.case.run_attacked(&stage.case.world(), &Draws::fixed(1), corrupt, attacker);
        let what = format!("seed {seed}, {} reacts", stage.case.name(corrupt));
        caught += usize::from(stage.judge(&[corrupt], &stage.allowed[corrupt], &run.endings, &what));
    }
    caught
}

/// What is held back for a peer.
struct Held {
    to: usize,
    frame: Frame,
    /// Until so much has come in all.
    events: usize,
    /// Or until then.
    at: Duration,
}

struct Whims {
    rng: Rng,
    me: usize,
    sorts: &'static [Sort],
    silence: Duration,
    /// One in so many messages is held back, and one in so many changed.
    holds: usize,
    changes: usize,
    /// Nothing is changed or held back before so many messages were sent.
    first: usize,
    sent: usize,
    heard: usize,
    held: VecDeque<Held>,
    /// What came and what was sent, the last of it: to make other messages of.
    seen: VecDeque<Vec<u8>>,
}

/// Messages that are remembered.
const SEEN: usize = 64;

impl Whims {
    fn new(seed: u64, me: usize, sorts: &'static [Sort], silence: Duration) -> Self {
        let mut rng = Rng::new(seed ^ 1 << 47);
        Self {
            me,
            sorts,
            silence,
            holds: rng.pick(&[3, 10, 40, usize::MAX]),
            changes: rng.pick(&[10, 40, 200, usize::MAX]),
            first: rng.below(24),
            sent: 0,
            heard: 0,
            held: VecDeque::new(),
            seen: VecDeque::new(),
            rng,
        }
    }

    fn see(&mut self, payload: &[u8]) {
        if self.seen.len() == SEEN {
            self.seen.pop_front();
        }
        self.seen.push_back(payload.to_vec());
    }

    fn hold(&mut self, to: usize, frame: Frame, now: Duration) {
        let events = self.heard + 1 + self.rng.below(12);
        let at = now + self.silence / 8 * self.rng.below(40) as u32;
        self.held.push_back(Held { to, frame, events, at });
    }

    /// Sends what has been held back long enough, each peer's messages in their order.
    fn release(&mut self, act: &mut Act<'_>, all: bool) {
        let (heard, now) = (self.heard, act.now());
        let mut blocked = Vec::new();
        let mut left = VecDeque::new();
        for held in self.held.drain(..) {
            let order = (held.to, held.frame.at.is_aside());
            if !blocked.contains(&order) && (all || held.events <= heard || held.at <= now) {
                act.send(held.to, held.frame);
            } else {
                blocked.push(order);
                left.push_back(held);
            }
        }
        self.held = left;
    }

    fn changed(&mut self, mut frame: Frame) -> Frame {
        let len = frame.payload.len();
        let alike: Vec<&Vec<u8>> = self.seen.iter().filter(|seen| seen.len() == len).collect();
        match self.rng.below(4) {
            0 if !alike.is_empty() => frame.payload.clone_from(alike[self.rng.below(alike.len())]),
            1 if !alike.is_empty() => {
                let other = alike[self.rng.below(alike.len())];
                frame.payload.iter_mut().zip(other).for_each(|(byte, other)| *byte ^= other);
            }
            2 => frame.payload.iter_mut().for_each(|byte| *byte = self.rng.word() as u8),
            _ if len > 0 => frame.payload[self.rng.below(len)] ^= 1 << self.rng.below(8),
            _ => {}
        }
        frame
    }
}

impl Attacker for Whims {
    fn sends(&mut self, to: usize, frame: Frame, act: &mut Act<'_>) {
        match frame.kind {
            FrameKind::Data => {}
            // It gives up without a word, or late.
            FrameKind::Abort if self.rng.one_in(2) => return,
            FrameKind::Abort if self.rng.one_in(2) => return self.hold(to, frame, act.now()),
            FrameKind::Abort | FrameKind::KeepAlive | FrameKind::Goodbye => return act.send(to, frame),
        }
        self.sent += 1;
        let sent = Sent { from: self.me, to, at: frame.at };
        if self.sent <= self.first || sort::of(self.sorts, sent).is_none() {
            return act.send(to, frame);
        }
        let frame = if self.rng.one_in(self.changes) { self.changed(frame) } else { frame };
        self.see(&frame.payload);
        let order = (to, frame.at.is_aside());
        let waits = self.held.iter().any(|held| (held.to, held.frame.at.is_aside()) == order);
        if waits || self.rng.one_in(self.holds) {
            self.hold(to, frame, act.now());
        } else {
            act.send(to, frame);
        }
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        self.heard += 1;
        if let Event::Frame(frame) = &event {
            self.see(&frame.payload);
        }
        let gives_up = matches!(&event, Event::Frame(frame) if frame.kind == FrameKind::Abort);
        if !(gives_up && self.rng.one_in(2)) {
            act.hear(from, event);
        }
        self.release(act, false);
    }

    fn wakes(&self) -> Option<Duration> {
        self.held.iter().map(|held| held.at).min()
    }

    fn woken(&mut self, act: &mut Act<'_>) {
        self.release(act, false);
        // What waits for an earlier message waits as long as that.
        let now = act.now();
        let (silence, later) = (self.silence, self.held.iter_mut().filter(|held| held.at <= now));
        later.for_each(|held| held.at = now + silence / 8);
    }

    fn ends(&mut self, act: &mut Act<'_>) {
        let until = act.now() + self.silence / 4 * self.rng.below(24) as u32;
        while act.now() < until {
            match act.poll(until.saturating_sub(act.now())) {
                Some(_) => self.heard += 1,
                None => break,
            }
            self.release(act, false);
        }
        if self.rng.one_in(2) {
            self.release(act, true);
        }
    }
}
