//! Inputs that are chosen, or compared, too late.

use std::sync::{Arc, Mutex};

use tacit_net::{Event, Frame, FrameKind};
use tacit_program::plan::{Builder, OpKind as Operation, Plan, Rows, To};
use tacit_replicated::attackers::coefficients;
use tacit_replicated::planted::{Mistake, Moment, Noted, session};
use tacit_replicated::step;
use tacit_testkit::react::{Act, Attacker};
use tacit_testkit::{Case, Draws, Fate, Interceptor, Rng};

use super::log::flip;
use super::stage::{Seats, first_line, judge, lock, protocol};
use crate::search::cancelling;
use crate::table::{Outcome, Version};

/// ANDs of the attacker's inputs; half of them can be wrong.
const ANDS: usize = 256;

/// `x & y` of columns, of these owners, for the last one's role.
fn and(owners: [&str; 2], cols: usize, to: &str) -> Plan {
    let mut build = Builder::new();
    let [x, y, dst] = std::array::from_fn(|_| build.bits(1, cols));
    for (owner, reg) in owners.into_iter().zip([x, y]) {
        let owner = build.role(owner);
        build.input(owner, reg);
    }
    let [a, b, rows] = [x, y, dst].map(|reg| Rows::one(reg, 0));
    build.interact(Operation::And { a, b, dst: rows });
    let to = build.role(to);
    build.output(dst, To::One(to));
    build.finish()
}

/// The prover keeps its input from the right verifier until it has the coefficients, for which the left one needs only the
/// prover's ANDs. It sent these as if its input were `x`. With `d` other bits in the component `x_(i-1)`, of which the right
/// verifier alone has word, the relation of an AND is off by `d c`, where `c = y_i` is the prover's own share: with the
/// coefficients `theta` the claim is off by the sum of all `theta d c`.
///
/// So the prover flips its input at places where `c` is 1 and whose coefficients add up to 0. There the result is `x'y ^ 1`, for
/// whatever the input `x'` now is: the left verifier's `y` is 0, and 1 is an output of no input.
///
/// In the log of the prover's own part `x_(i-1)` has to change with the input, and what its next proof, as the left
/// verifier of the party before, has of it; what it sent stays.
pub(crate) fn chosen_by_coefficients(mistakes: &'static [Mistake], version: Version, seed: u64) -> Outcome {
    let seats = Seats::of(seed);
    let mistakes = if version == Version::Planted { mistakes } else { &[] };
    let chosen: Arc<Mutex<Vec<usize>>> = Arc::default();
    let looks = Arc::clone(&chosen);
    let look = move |moment: Moment, noted: &mut Noted<'_>| {
        if moment == Moment::Complete {
            let chosen = lock(&looks);
            flip(noted.x[1], &chosen);
            for &and in chosen.iter().filter(|&&and| noted.y[1][and / 64] >> (and % 64) & 1 == 1) {
                noted.e_prev[and / 64] ^= 1 << (and % 64);
            }
        }
    };
    let [prover, left] = [seats.prover, seats.left].map(|party| format!("P{party}"));
    let mut rng = Rng::new(seed);
    let inputs = [(0..ANDS).map(|_| rng.word() & 1).collect(), vec![0; ANDS]];
    let plan = and([&prover, &left], ANDS, &left);
    let protocol = protocol(&[("proofs", "boyle-2019")], mistakes, seats.prover, look);
    let case = Case::new(protocol, 3, plan, &inputs);
    let attacker = Undecided { seats, chosen, kept: Vec::new(), own_y: Vec::new(), rng };
    let run = case.run_attacked(&case.world(), &Draws::fixed(seed), seats.prover, Box::new(attacker));
    judge(&case, &run, seats.prover)
}

struct Undecided {
    seats: Seats,
    chosen: Arc<Mutex<Vec<usize>>>,
    /// The input.
    kept: Vec<Frame>,
    /// `y_i`, as it came.
    own_y: Vec<u8>,
    rng: Rng,
}

impl Undecided {
    fn decide(&mut self, anchor: [u8; 32], act: &mut Act<'_>) {
        // Eight blocks of words.
        let padded = (ANDS / 64).next_multiple_of(8) * 64;
        let all = coefficients(&session(), &anchor, self.seats.prover, 0, padded);
        let free: Vec<usize> = (0..ANDS).filter(|and| self.own_y[and / 8] >> (and % 8) & 1 == 1).collect();
        let theirs: Vec<[u64; 1]> = free.iter().map(|&and| [all[and]]).collect();
        let mut chosen = lock(&self.chosen);
        *chosen = cancelling(&theirs, &mut self.rng).into_iter().map(|at| free[at]).collect();
        assert!(!chosen.is_empty(), "the attacker found nothing to flip, and so shows nothing");
        for mut frame in self.kept.drain(..) {
            if frame.at.part == step::INPUT {
                for and in &*chosen {
                    frame.payload[and / 8] ^= 1 << (and % 8);
                }
            }
            act.send(self.seats.right, frame);
        }
    }
}

impl Attacker for Undecided {
    fn sends(&mut self, to: usize, frame: Frame, act: &mut Act<'_>) {
        let input = frame.kind == FrameKind::Data && frame.at.part == step::INPUT;
        if to == self.seats.right && input {
            self.kept.push(frame);
        } else {
            act.send(to, frame);
        }
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        if let Event::Frame(frame) = &event
            && from == self.seats.left
        {
            match (frame.at.part, frame.payload.first_chunk()) {
                (step::INPUT, _) => self.own_y.clone_from(&frame.payload),
                (step::PROOF_BACK, Some(&anchor)) if !self.kept.is_empty() => self.decide(anchor, act),
                _ => {}
            }
        }
        act.hear(from, event);
    }
}

/// Alice gives `P_0` and `P_2` components `x_2` of her own that differ. If that is compared before anything is computed, it is
/// she who deviated, and the run ends. If it comes to proofs, that of `P_2` fails, with `P_0` its left verifier: to
/// the servers one of them has deviated, and a failed check is final.
pub(crate) fn compared_late(mistakes: &'static [Mistake], version: Version, seed: u64) -> Outcome {
    let mistakes = if version == Version::Planted { mistakes } else { &[] };
    let protocol = protocol(&[], mistakes, 0, |_, _| {});
    let case = Case::new(protocol, 3, and(["alice", "P1"], 8, "P2"), &[vec![1; 8], vec![1; 8]]);
    let interceptor: Interceptor = Box::new(|message| {
        let mut frame = message.frame.clone();
        if (message.from, message.to, frame.at.part) == (3, 0, step::INPUT) {
            frame.payload[0] ^= 1;
        }
        Fate::Replace(vec![frame])
    });
    let run = case.run_in(&case.world().intercept(interceptor), &Draws::fixed(seed));
    let mut why = String::new();
    for ending in run.endings.iter().take(case.parties()).flatten() {
        match &ending.result {
            Ok(_) => return Outcome::Broken("a server has an output".to_owned()),
            Err(error) if error.is_failed_check() => {
                return Outcome::Broken(format!("a server says: {}", first_line(error)));
            }
            Err(error) => why = first_line(error),
        }
    }
    Outcome::Held(why)
}
