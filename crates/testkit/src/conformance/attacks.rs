//! A party or a client that does as it likes, where the protocol promises that this leads to an abort or to nothing.
//!
//! **The claim.** Whatever one endpoint sends, all honest ones that have outputs have those of the same inputs: their
//! own, and for the one that deviates any. And every change of a byte is noticed by some honest endpoint, but one of a
//! party's own input, which may be what the party gives.
//!
//! **How.** One endpoint is chosen, and one or some of its messages: bits are flipped, one or many, in one message or in some of
//! the same sort; the contents are drawn anew, or are those of another message, or of the same one in another session; they are
//! too short or too long; they are missing, come twice, or nothing comes any more.
//!
//! The circuit is evaluated on instances that don't depend on one another, with three bits of input from each who gives any: so
//! what honest endpoints may have is found by trying all eight for every instance. Comparisons are of numbers in a ring of eight
//! bits, of which all 256 are tried.
//!
//! **Reacting.** In [`reacting`] it plays its part with what it has learned, and holds back, changes and keeps silent by that.
//!
//! **Together.** A party and a client deviate at once, each at some messages: what honest endpoints have, clients among them,
//! may depend on the inputs of both, and on nothing else.

mod change;
mod programs;
pub mod reacting;
mod sort;
mod stage;

use std::ops::Range;

use tacit_program::{Data, Dtype, Recipient, Value, plan};

use super::Subject;
use super::catalogue::Numbers;
use super::order::Sent;
use crate::links::{Lying, Medium, links};
use crate::{Delivery, Draws, Ending, Fate, Rng};

pub use change::{Change, Tally};
pub use sort::{Role, Sort};

use programs::GIVEN;
use stage::{Given, Message, Stage, allowed};

/// Deviations with these seeds. The table is printed, and given.
///
/// # Panics
/// If an honest endpoint has a wrong output, a change goes unnoticed, or a run hangs.
pub fn random(subject: &Subject, seeds: Range<u64>) -> Tally {
    let stages = Stage::of_sizes(subject, &[(12, 8), (40, 72), (200, 64)]);
    let mut tally = Tally::new(subject.sorts);
    for seed in seeds {
        let mut rng = Rng::new(seed);
        // Large circuits take longer.
        let stage = &stages[rng.pick(&[0, 0, 0, 0, 1, 1, 2]) % stages.len()];
        let (target, change) = stage.choose(&mut rng);
        let caught = stage.attack(target, change, seed);
        tally.count(stage.messages[target].sort, change, caught);
    }
    println!("{}", tally.table());
    tally
}

/// Deviations with these seeds, of a program that compares numbers. The table is printed, and given.
///
/// # Panics
/// As [`random`].
pub fn random_comparisons(subject: &Subject, seeds: Range<u64>) -> Tally {
    random_of(&Stage::comparing(subject, 8), subject, seeds)
}

/// The same, of a program that multiplies numbers.
///
/// # Panics
/// As [`random`].
pub fn random_products(subject: &Subject, seeds: Range<u64>) -> Tally {
    random_of(&Stage::multiplying(subject, 8), subject, seeds)
}

fn random_of(stage: &Stage, subject: &Subject, seeds: Range<u64>) -> Tally {
    let mut tally = Tally::new(subject.sorts);
    for seed in seeds {
        let (target, change) = stage.choose(&mut Rng::new(seed));
        let caught = stage.attack(target, change, seed);
        tally.count(stage.messages[target].sort, change, caught);
    }
    println!("{}", tally.table());
    tally
}

/// As [`every_byte`], of a program that multiplies numbers.
///
/// # Panics
/// As [`every_byte`].
pub fn every_byte_of_products(subject: &Subject, step: usize) {
    Stage::multiplying(subject, 8).every_byte(step);
}

/// As [`every_byte`], of a program that compares numbers.
///
/// # Panics
/// As [`every_byte`].
pub fn every_byte_of_comparisons(subject: &Subject, step: usize) {
    Stage::comparing(subject, 8).every_byte(step);
}

/// Flips a bit of every `step`-th byte that a party sends for operations online, in a program that compares numbers. How
/// many of these changes nobody notices.
///
/// # Panics
/// If an honest endpoint has a wrong output.
pub fn unnoticed_in_comparisons(subject: &Subject, from: usize, step: usize) -> usize {
    let stage = Stage::comparing(subject, 8);
    let mut unnoticed = 0;
    let online =
        |message: &&(usize, &Message)| message.1.from == from && stage.role(message.0) == Role::Online;
    for (target, message) in stage.messages.iter().enumerate().filter(|message| online(&message)) {
        for byte in (target % step..message.payload.len()).step_by(step) {
            unnoticed += usize::from(!stage.flip(target, byte));
        }
    }
    unnoticed
}

/// Flips a bit of what one party sends offline for the MSB extraction of a number, in every eighth byte: who then
/// stops, and when, doesn't depend on the number. The party may know what hides that.
///
/// # Panics
/// If it does.
pub fn selective_failure(subject: &Subject, from: usize) {
    let mut build = tacit_program::Builder::new();
    let range = Numbers::int(GIVEN as u32).range;
    let number = build.input("alice", "x", Dtype::Int, &[1], range).expect("a range");
    let zero =
        build.constant(&Value { shape: vec![], data: Data::Int(vec![0]) }, Dtype::Int).expect("a number");
    let sign = build.less(number, zero).expect("numbers of one kind");
    build.reveal(sign, Recipient::All).expect("the node is there");
    let program = build.finish().expect("something is revealed");
    let plan = subject.lowered(&program).plan;
    let cases = [0, 1, 2, 3].map(|number| subject.case(plan.clone(), &[vec![number]]));
    let run = cases[0].run(&Draws::fixed(1));
    let offline = |message: &Delivery| {
        let sent = Sent { from: message.from, to: message.to, at: message.at };
        sort::of(subject.sorts, sent).is_some_and(|sort| subject.sorts[sort].role == Role::Offline)
    };
    for (from, to) in run.trace.links().into_iter().filter(|link| link.0 == from) {
        for (nth, message) in run.trace.link(from, to).enumerate().filter(|one| offline(one.1)) {
            for byte in (0..message.payload.len()).step_by(8) {
                let ends = cases.each_ref().map(|case| {
                    let world = case.world().intercept(Box::new(move |message| {
                        let mut frame = message.frame.clone();
                        if (message.from, message.to, message.nth) != (from, to, nth) {
                            return Fate::Deliver;
                        }
                        frame.payload[byte] ^= 1;
                        Fate::Replace(vec![frame])
                    }));
                    let endings = case.run_in(&world, &Draws::fixed(1)).endings;
                    let error = |ending: Ending| ending.result.err().map(|error| error.to_string());
                    endings.into_iter().flatten().map(error).collect::<Vec<_>>()
                });
                let same = ends.iter().all(|end| *end == ends[0]);
                assert!(same, "byte {byte} of {}: who stops depends on the input: {ends:?}", message.at);
            }
        }
    }
}

/// Deviations of a party and a client together, with these seeds: each party with one who gives and learns, or with
/// one who learns. How many were noticed.
///
/// # Panics
/// If an honest endpoint has a wrong output, or a run hangs.
pub fn together(subject: &Subject, seeds: Range<u64>) -> usize {
    let stages = Stage::of_sizes(subject, &[(12, 8), (40, 72)]);
    let pairs = stages.iter().map(|stage| {
        let (parties, endpoints) = (stage.case.parties(), stage.case.endpoints());
        let pairs = (0..parties).flat_map(|party| (parties..endpoints).map(move |client| [party, client]));
        pairs.map(|pair| (pair, allowed(&stage.case, Given::Bits, &pair))).collect::<Vec<_>>()
    });
    let pairs: Vec<_> = pairs.collect();
    let mut caught = 0;
    for seed in seeds {
        let mut rng = Rng::new(seed ^ 1 << 45);
        let place = usize::from(rng.one_in(4)) % stages.len();
        let (stage, pairs) = (&stages[place], &pairs[place]);
        let (pair, allowed) = &pairs[rng.below(pairs.len())];
        let (interceptor, what) = stage.deviations(pair, &mut rng, seed);
        let what = format!("seed {seed}, {pair:?} together: {what}");
        let endings = stage.run(interceptor, &what);
        caught += usize::from(stage.judge(pair, allowed, &endings, &what));
    }
    caught
}

/// Deviations of as many parties together as the protocol withstands, with these seeds: each such set in turn. How many
/// were noticed.
///
/// # Panics
/// If an honest endpoint has a wrong output, or a run hangs.
pub fn coalitions(subject: &Subject, seeds: Range<u64>) -> usize {
    let stages = Stage::of_sizes(subject, &[(12, 8), (40, 72)]);
    let most = subject.protocol.spec().corruptions.among(subject.parties);
    let sets: Vec<Vec<usize>> = subject.coalitions().into_iter().filter(|set| set.len() == most).collect();
    let of_sets = |stage: &Stage| sets.iter().map(|set| allowed(&stage.case, Given::Bits, set)).collect();
    let allowed: Vec<Vec<_>> = stages.iter().map(of_sets).collect();
    let mut caught = 0;
    for seed in seeds {
        let mut rng = Rng::new(seed ^ 1 << 46);
        let (place, which) = (usize::from(rng.one_in(4)) % stages.len(), seed as usize % sets.len());
        let (stage, set) = (&stages[place], &sets[which]);
        let (interceptor, what) = stage.deviations(set, &mut rng, seed);
        let what = format!("seed {seed}, {set:?} together: {what}");
        let endings = stage.run(interceptor, &what);
        caught += usize::from(stage.judge(set, &allowed[place][which], &endings, &what));
    }
    caught
}

/// Flips the message of every AND of a small circuit, from every sender: of its eight instances every `step`-th, so that each
/// is meant with 1, and with 7 one or two of them.
///
/// # Panics
/// If an honest endpoint has a wrong output, or nobody notices.
pub fn every_and(subject: &Subject, step: usize) {
    let stage = Stage::new(subject, 30, 8);
    let of_ands = |at: &usize| matches!(stage.role(*at), Role::Online | Role::Offline | Role::Masked);
    let ands = (0..stage.messages.len()).filter(of_ands);
    let mut bits = 0;
    for target in ands {
        for bit in (target % step..8 * stage.messages[target].payload.len()).step_by(step) {
            let interceptor = stage.interceptor(
                target,
                Box::new(move |frame| {
                    frame.payload[bit / 8] ^= 1 << (bit % 8);
                }),
            );
            assert!(stage.check(target, interceptor, &format!("bit {bit} flipped")), "bit {bit} of {target}");
            bits += 1;
        }
    }
    assert!(bits >= 3 * 25 * 8 / step, "only {bits} bits of ANDs");
}

/// Flips a bit of an AND's message, a random one of a large circuit for each of these seeds.
///
/// # Panics
/// If an honest endpoint has a wrong output, or nobody notices.
pub fn random_ands(subject: &Subject, seeds: Range<u64>) {
    let stage = Stage::new(subject, 200, 64);
    let ands: Vec<usize> = (0..stage.messages.len()).filter(|&at| stage.role(at) == Role::Online).collect();
    for seed in seeds {
        stage.attack(Rng::new(seed).pick(&ands), Change::Flip, seed);
    }
}

/// Flips bytes of every message of a small run: every `step`-th, so that all are meant with 1.
///
/// # Panics
/// If an honest endpoint has a wrong output, or nobody notices.
pub fn every_byte(subject: &Subject, step: usize) {
    Stage::new(subject, 12, 8).every_byte(step);
}

/// A few dozen over real links.
///
/// # Panics
/// If an honest endpoint has a wrong output, or a change goes unnoticed.
pub fn over(subject: &Subject, medium: Medium, seeds: Range<u64>) {
    let stage = Stage::new(subject, 12, 8);
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let (target, change) = stage.choose(&mut rng);
        // Silence would take its time here.
        if matches!(change, Change::Missing | Change::Silence) {
            continue;
        }
        let from = stage.messages[target].from;
        let mut links = links(medium, &stage.case);
        let interceptor = stage.deviation(target, change, seed);
        let lying = links[from].take().map(|links| Lying::new(links, from, interceptor));
        links[from] = lying.map(|lying| Box::new(lying) as _);
        let endings = stage.case.run_over(links, &Draws::fixed(1));
        let what = format!("seed {seed} over {medium:?}: {change:?} of {:?}", stage.messages[target]);
        let caught = stage.judge(&[from], &stage.allowed[from], &endings, &what);
        assert!(
            caught || !stage.must_be_caught(target, change, seed),
            "{what}: it gets through, nobody notices"
        );
    }
}

/// One of the parties that tell the last one the key that hides outputs from clients, in messages of this step, says another:
/// from one alone it could be chosen by what it does to an output of a bit.
///
/// # Panics
/// If it isn't noticed, or the client has an output.
pub fn output_key_changed(subject: &Subject, part: u16) {
    let mut builder = plan::Builder::new();
    let [p, q, both] = std::array::from_fn(|_| builder.bits(1, 1));
    for (owner, reg) in [("P0", p), ("P1", q)] {
        let owner = builder.role(owner);
        builder.input(owner, reg);
    }
    let [a, b, dst] = [p, q, both].map(|reg| plan::Rows::one(reg, 0));
    builder.interact(plan::OpKind::And { a, b, dst });
    let client = builder.role("client");
    builder.output(both, plan::To::One(client));
    let case = subject.case(builder.finish(), &[vec![1], vec![1]]);
    let last = subject.parties - 1;
    for liar in 0..last {
        for bit in 0..128 {
            let world = case.world().intercept(Box::new(move |message| {
                let mut frame = message.frame.clone();
                if (message.from, message.to, frame.at.part) != (liar, last, part) {
                    return Fate::Deliver;
                }
                frame.payload[bit / 8] ^= 1 << (bit % 8);
                Fate::Replace(vec![frame])
            }));
            let run = case.run_in(&world, &Draws::fixed(1));
            let results: Vec<_> = run.endings.iter().flatten().map(|ending| &ending.result).collect();
            assert!(results[last].as_ref().is_err_and(|error| error.to_string().contains("different keys")));
            assert!(results[last + 1].is_err(), "the client has an output");
        }
    }
}
