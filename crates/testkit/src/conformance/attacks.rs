//! A party or a client that does as it likes, where the protocol promises that this leads to an abort or to nothing.
//!
//! **The claim.** Whatever one endpoint sends, all honest ones that have outputs have those of the same inputs: their
//! own, and for the one that deviates any. And every change of a byte is noticed by some honest endpoint, but one of a
//! party's own input, which may be what the party gives.
//!
//! **How.** One endpoint is chosen, and one or some of its messages: bits are flipped, one or many, in one message or in
//! some of the same sort; the contents are drawn anew, or are those of another message, or of the same one in another
//! session; they are too short or too long; they are missing, come twice, or nothing comes any more. The circuit is
//! evaluated on instances that don't depend on one another, with three bits of input from each who gives any: so what
//! honest endpoints may have is found by trying all eight for every instance. Comparisons are of numbers in a ring of eight
//! bits, of which all 256 are tried.
//!
//! **Reacting.** In [`reacting`] it plays its part with what it has learned, and holds back, changes and keeps silent by that.
//!
//! **Together.** A party and a client deviate at once, each at some messages: what honest endpoints have, clients among them,
//! may depend on the inputs of both, and on nothing else.

pub mod reacting;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use tacit_circuit::{Builder, Wire};
use tacit_engine::{Clear, Outcome};
use tacit_net::Frame;
use tacit_program::plan::Domain;
use tacit_program::{Data, Dtype, Program, Recipient, Value, plan};
use tacit_session::{At, step};

use super::Subject;
use super::catalogue::Numbers;
use super::robust::FAIR;
use crate::links::{Lying, Medium, links};
use crate::{Case, Draws, Ending, Fate, Interceptor, Rng};

/// Bits that everybody gives who gives any, for each instance.
const GIVEN: usize = 3;

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// The seeds of a client's shares.
    ClientSeeds,
    /// A client's input.
    ClientInput,
    /// A party's input.
    PartyInput,
    /// What is compared of clients' inputs.
    GivenDigest,
    /// Operations.
    And,
    /// Operations, offline.
    Ahead,
    /// The check of what was made offline.
    AheadChecked,
    /// Masked operands, to a party that computes along.
    Masked,
    /// What is compared of masked operands, of what was computed on them and of garbled outputs.
    MaskedDigest,
    /// Proofs.
    Proof,
    /// That a party accepts.
    Acceptance,
    /// What makes outputs fair: all steps between the verdicts and the openings.
    Fair,
    /// An output's component.
    Output,
    /// What confirms an output.
    Confirmation,
}

/// What is done to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// A bit is flipped.
    Flip,
    /// So many neighbouring bits are flipped, or all if there are fewer.
    Flips(usize),
    /// A bit is flipped here, and one in each of the next messages of the same sort, an even number in all.
    FlipsInSeveral,
    /// The contents are others.
    Random,
    /// The contents are those of another message of the same sort and length.
    OfAnother,
    /// The contents are those of the same message in another session.
    OfAnotherSession,
    /// The last byte is missing.
    Truncate,
    /// There is a byte too many.
    Extend,
    /// It isn't sent.
    Missing,
    /// It is sent twice.
    Twice,
    /// Nothing is sent to its receiver from here on.
    Silence,
}

const CHANGES: [Change; 13] = [
    Change::Flip,
    Change::Flips(2),
    Change::Flips(32),
    Change::Flips(64),
    Change::Flips(usize::MAX),
    Change::FlipsInSeveral,
    Change::Random,
    Change::OfAnother,
    Change::OfAnotherSession,
    Change::Truncate,
    Change::Extend,
    Change::Missing,
    Change::Twice,
];

/// How runs with deviations ended, by what was done to what.
#[derive(Debug, Default)]
pub struct Tally(BTreeMap<(Sort, Change), [usize; 2]>);

impl Tally {
    fn count(&mut self, sort: Sort, change: Change, caught: bool) {
        self.0.entry((sort, change)).or_default()[usize::from(caught)] += 1;
    }

    /// The sorts of messages that were changed.
    pub fn sorts(&self) -> Vec<Sort> {
        let sorts: BTreeSet<Sort> = self.0.keys().map(|(sort, _)| *sort).collect();
        sorts.into_iter().collect()
    }

    /// How many kinds there were, of a change of a sort.
    pub fn kinds(&self) -> usize {
        self.0.len()
    }

    /// The table.
    pub fn table(&self) -> String {
        let mut table = format!("{:<14}{:<28}{:>8}{:>8}\n", "message", "change", "right", "caught");
        for ((sort, change), [right, caught]) in &self.0 {
            let (sort, change) = (format!("{sort:?}"), format!("{change:?}"));
            // Writing into a string can't fail.
            let _ = writeln!(table, "{sort:<14}{change:<28}{right:>8}{caught:>8}");
        }
        table
    }
}

/// Deviations with these seeds. The table is printed, and given.
///
/// # Panics
/// If an honest endpoint has a wrong output, a change goes unnoticed, or a run hangs.
pub fn random(subject: &Subject, seeds: Range<u64>) -> Tally {
    let stages = [(12, 8), (40, 72), (200, 64)].map(|(ands, instances)| Stage::new(subject, ands, instances));
    let mut tally = Tally::default();
    for seed in seeds {
        let mut rng = Rng::new(seed);
        // Large circuits take longer.
        let stage = &stages[rng.pick(&[0, 0, 0, 0, 1, 1, 2])];
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
    let stage = Stage::comparing(subject, 8);
    let mut tally = Tally::default();
    for seed in seeds {
        let (target, change) = stage.choose(&mut Rng::new(seed));
        let caught = stage.attack(target, change, seed);
        tally.count(stage.messages[target].sort, change, caught);
    }
    println!("{}", tally.table());
    tally
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
    let online = |message: &&(usize, &Message)| message.1.from == from && message.1.sort == Sort::And;
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
    let cases = [0, 1, 2, 3].map(|number| Case::new(subject.protocol, plan.clone(), &[vec![number]]));
    let run = cases[0].run(&Draws::fixed(1));
    let ahead = |part: u16| step::is_offline(part) && part < step::CHECK_PRODUCTS;
    for (from, to) in run.trace.links().into_iter().filter(|link| link.0 == from) {
        for (nth, message) in run.trace.link(from, to).enumerate().filter(|one| ahead(one.1.at.part)) {
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

/// Deviations of a party and a client together, with these seeds: each of the three with one who gives and learns, or with
/// one who learns. How many were noticed.
///
/// # Panics
/// If an honest endpoint has a wrong output, or a run hangs.
pub fn together(subject: &Subject, seeds: Range<u64>) -> usize {
    let stages = [(12, 8), (40, 72)].map(|(ands, instances)| Stage::new(subject, ands, instances));
    let pairs = stages.each_ref().map(|stage| {
        let (parties, endpoints) = (stage.case.parties(), stage.case.endpoints());
        let pairs = (0..parties).flat_map(|party| (parties..endpoints).map(move |client| [party, client]));
        pairs.map(|pair| (pair, allowed(&stage.case, &pair))).collect::<Vec<_>>()
    });
    let mut caught = 0;
    for seed in seeds {
        let mut rng = Rng::new(seed ^ 1 << 45);
        let place = usize::from(rng.one_in(4));
        let (stage, pairs) = (&stages[place], &pairs[place]);
        let (pair, allowed) = &pairs[rng.below(pairs.len())];
        let (interceptor, what) = stage.deviations(pair, &mut rng, seed);
        let what = format!("seed {seed}, {pair:?} together: {what}");
        let endings = stage.run(interceptor, &what);
        caught += usize::from(stage.judge(pair, allowed, &endings, &what));
    }
    caught
}

/// Flips the message of every AND of a small circuit, from every sender.
///
/// # Panics
/// If an honest endpoint has a wrong output, or nobody notices.
pub fn every_and(subject: &Subject) {
    let stage = Stage::new(subject, 30, 8);
    let of_ands = |at: &usize| matches!(stage.messages[*at].sort, Sort::And | Sort::Ahead | Sort::Masked);
    let ands = (0..stage.messages.len()).filter(of_ands);
    let mut bits = 0;
    for target in ands {
        for bit in 0..8 * stage.messages[target].payload.len() {
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
    assert!(bits >= 3 * 25 * 8, "only {bits} bits of ANDs");
}

/// Flips a bit of an AND's message, a random one of a large circuit for each of these seeds.
///
/// # Panics
/// If an honest endpoint has a wrong output, or nobody notices.
pub fn random_ands(subject: &Subject, seeds: Range<u64>) {
    let stage = Stage::new(subject, 200, 64);
    let ands: Vec<usize> =
        (0..stage.messages.len()).filter(|&at| stage.messages[at].sort == Sort::And).collect();
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
        assert!(caught || !stage.must_be_caught(target, change, seed), "{what}: nobody notices");
    }
}

/// A message of the run in which nothing goes wrong.
#[derive(Debug)]
struct Message {
    from: usize,
    to: usize,
    nth: usize,
    sort: Sort,
    payload: Vec<u8>,
    /// The same one's in another session.
    elsewhere: Vec<u8>,
}

/// A case, its messages, and what honest endpoints may have.
struct Stage {
    case: Case,
    messages: Vec<Message>,
    instances: usize,
    /// For each endpoint that may deviate, all outcomes that it may bring about: one for each value of its bits.
    allowed: Vec<Vec<Outcome>>,
    /// Whether outputs are fair: then a change of what is opened needn't be noticed, and all honest parties have them or
    /// nobody.
    fair: bool,
}

impl Stage {
    /// Instances are a multiple of eight: then no byte of inputs and outputs has bits that nobody reads.
    fn new(subject: &Subject, ands: usize, instances: usize) -> Self {
        let mut rng = Rng::new(ands as u64);
        let program = program(&mut rng, ands, instances);
        let inputs: Vec<Vec<u64>> = program
            .input_types()
            .iter()
            .map(|_| (0..GIVEN * instances).map(|_| rng.word() & 1).collect())
            .collect();
        Self::of(subject, &program, &inputs, instances)
    }

    /// The same, of numbers that are compared.
    fn comparing(subject: &Subject, instances: usize) -> Self {
        let mut rng = Rng::new(4);
        let numbers = |_| (0..instances).map(|_| (rng.word() & 7).wrapping_sub(4)).collect();
        let inputs: Vec<Vec<u64>> = (0..3).map(numbers).collect();
        Self::of(subject, &comparisons(instances), &inputs, instances)
    }

    fn of(subject: &Subject, program: &Program, inputs: &[Vec<u64>], instances: usize) -> Self {
        let case = Case::new(subject.protocol, subject.lowered(program).plan, inputs);
        let [run, other] = [1, 2].map(|seed| case.run(&Draws::fixed(seed)).trace);
        let mut messages = Vec::new();
        for (from, to) in run.links() {
            for (nth, (delivery, other)) in run.link(from, to).zip(other.link(from, to)).enumerate() {
                assert_eq!(delivery.at, other.at, "sessions differ in contents alone");
                if let Some(sort) = sort(delivery.at, from, case.parties()) {
                    let (payload, elsewhere) = (delivery.payload.clone(), other.payload.clone());
                    messages.push(Message { from, to, nth, sort, payload, elsewhere });
                }
            }
        }
        let allowed = (0..case.endpoints()).map(|corrupt| allowed(&case, &[corrupt])).collect();
        Self { case, messages, instances, allowed, fair: subject.is_fair() }
    }

    /// Flips a bit of every `step`-th byte of every message.
    fn every_byte(&self, step: usize) {
        for (target, message) in self.messages.iter().enumerate() {
            let may_pass = message.sort == Sort::PartyInput || self.makes_up_for(message.sort);
            for byte in (target % step..message.payload.len()).step_by(step) {
                assert!(self.flip(target, byte) || may_pass, "byte {byte} of {message:?}");
            }
        }
    }

    /// Flips a bit of a byte; whether an honest endpoint noticed.
    fn flip(&self, target: usize, byte: usize) -> bool {
        // A last byte may have bits that mean nothing, but its first one does.
        let last = byte + 1 == self.messages[target].payload.len();
        let bit = if last { 0 } else { (byte + target) % 8 };
        let interceptor = self.interceptor(target, Box::new(move |frame| frame.payload[byte] ^= 1 << bit));
        self.check(target, interceptor, &format!("byte {byte} changed"))
    }

    /// A sort, one of its messages, and what becomes of it.
    fn choose(&self, rng: &mut Rng) -> (usize, Change) {
        let sorts: BTreeSet<Sort> = self.messages.iter().map(|message| message.sort).collect();
        let sorts: Vec<Sort> = sorts.into_iter().collect();
        let sort = rng.pick(&sorts);
        let of_sort: Vec<usize> =
            (0..self.messages.len()).filter(|&at| self.messages[at].sort == sort).collect();
        let change = if rng.one_in(40) { Change::Silence } else { rng.pick(&CHANGES) };
        (rng.pick(&of_sort), change)
    }

    /// Runs with a deviation; whether an honest endpoint noticed.
    fn attack(&self, target: usize, change: Change, seed: u64) -> bool {
        let what = format!("seed {seed}, {change:?}");
        let caught = self.check(target, self.deviation(target, change, seed), &what);
        let must = self.must_be_caught(target, change, seed);
        assert!(caught || !must, "{what} of {:?}: nobody notices", self.messages[target]);
        caught
    }

    fn check(&self, target: usize, interceptor: Interceptor, what: &str) -> bool {
        let what = format!("{what} of {:?}", self.messages[target]);
        let endings = self.run(interceptor, &what);
        let corrupt = self.messages[target].from;
        self.judge(&[corrupt], &self.allowed[corrupt], &endings, &what)
    }

    fn run(&self, interceptor: Interceptor, what: &str) -> Vec<Option<Ending>> {
        let run = self.case.run_in(&self.case.world().intercept(interceptor), &Draws::fixed(1));
        let longest = if self.fair { FAIR } else { 3 } * self.case.limits.silence;
        assert!(run.took < longest, "{what}: the run took {:?} of its world's time", run.took);
        run.endings
    }

    /// Whether an honest endpoint has an error; all that have none have outputs that are allowed.
    fn judge(&self, corrupt: &[usize], allowed: &[Outcome], endings: &[Option<Ending>], what: &str) -> bool {
        let honest: Vec<(usize, &Ending)> = endings
            .iter()
            .flatten()
            .enumerate()
            .filter(|(endpoint, _)| !corrupt.contains(endpoint))
            .collect();
        let outcomes: Vec<&Outcome> =
            honest.iter().filter_map(|(_, ending)| ending.result.as_ref().ok()).collect();
        for instance in 0..self.instances {
            let fits =
                |allowed: &&Outcome| outcomes.iter().all(|outcome| self.agree(outcome, allowed, instance));
            assert!(
                allowed.iter().any(|allowed| fits(&allowed)),
                "{what}: honest endpoints have wrong outputs for instance {instance}"
            );
        }
        if self.fair {
            let parties = honest.iter().filter(|(endpoint, _)| *endpoint < self.case.parties());
            let mut have = parties.map(|(_, ending)| ending.result.is_ok());
            let first = have.next();
            assert!(
                have.all(|other| Some(other) == first),
                "{what}: not all honest parties have the outputs"
            );
        }
        outcomes.len() < honest.len()
    }

    /// Whether all outputs that an endpoint has are these, for an instance.
    fn agree(&self, outcome: &Outcome, allowed: &Outcome, instance: usize) -> bool {
        let outputs = outcome.outputs.iter().zip(&allowed.outputs).zip(&self.case.plan.outputs);
        outputs.filter_map(|((got, want), output)| Some((got.as_ref()?, want.as_ref()?, output))).all(
            |(got, want, output)| {
                let [got, want] = [got, want].map(|values| values.to_elements(output.form));
                let width = got.len() / self.instances;
                let range = instance * width..(instance + 1) * width;
                got[range.clone()] == want[range]
            },
        )
    }

    /// Whether the change shows in what the receiver takes. A message that comes twice may be one for which nobody waits.
    fn must_be_caught(&self, target: usize, change: Change, seed: u64) -> bool {
        let message = &self.messages[target];
        match change {
            Change::Twice => false,
            _ if self.makes_up_for(message.sort) => false,
            Change::Missing | Change::Silence | Change::Truncate | Change::Extend => true,
            _ if message.sort == Sort::PartyInput => false,
            // A client may tell all the same, and what it tells is its input.
            Change::FlipsInSeveral => !matches!(message.sort, Sort::ClientSeeds | Sort::ClientInput),
            _ => self.changed(target, change, seed).payload != message.payload,
        }
    }

    /// Whether others say what a message of this sort should have said, as where outputs are fair.
    fn makes_up_for(&self, sort: Sort) -> bool {
        self.fair && matches!(sort, Sort::Fair | Sort::Output)
    }

    /// The message with other contents.
    fn changed(&self, target: usize, change: Change, seed: u64) -> Frame {
        let message = &self.messages[target];
        let mut frame = Frame::data(At::default(), message.payload.clone());
        self.change(target, change, seed, &mut frame);
        frame
    }

    fn change(&self, target: usize, change: Change, seed: u64, frame: &mut Frame) {
        let message = &self.messages[target];
        let mut rng = Rng::new(seed ^ 1 << 40);
        let bits = 8 * frame.payload.len();
        match change {
            Change::Flip | Change::Flips(_) | Change::FlipsInSeveral => {
                let count = if let Change::Flips(count) = change { count.min(bits) } else { 1.min(bits) };
                let first = rng.below((bits - count).max(1));
                for bit in first..first + count {
                    frame.payload[bit / 8] ^= 1 << (bit % 8);
                }
            }
            Change::Random => frame.payload.iter_mut().for_each(|byte| *byte = rng.word() as u8),
            Change::OfAnother => {
                let alike = |other: &&Message| {
                    other.sort == message.sort
                        && other.payload.len() == message.payload.len()
                        && (other.from, other.to, other.nth) != (message.from, message.to, message.nth)
                };
                let others: Vec<&Message> = self.messages.iter().filter(alike).collect();
                if !others.is_empty() {
                    frame.payload.clone_from(&others[rng.below(others.len())].payload);
                }
            }
            Change::OfAnotherSession => frame.payload.clone_from(&message.elsewhere),
            Change::Truncate => {
                frame.payload.pop();
            }
            Change::Extend => frame.payload.push(0),
            Change::Missing | Change::Twice | Change::Silence => {}
        }
    }

    /// The sender's deviation at a message.
    fn deviation(&self, target: usize, change: Change, seed: u64) -> Interceptor {
        let message = &self.messages[target];
        let (from, to, nth) = (message.from, message.to, message.nth);
        let mut nths = vec![(to, nth)];
        if change == Change::FlipsInSeveral {
            let same = self.messages.iter().skip(target + 1);
            let same = same.filter(|other| (other.from, other.sort) == (from, message.sort));
            let count = [1, 3, 7][seed as usize % 3];
            nths.extend(same.take(count).map(|other| (other.to, other.nth)));
        }
        let mut frame = self.changed(target, change, seed);
        let mut rng = Rng::new(seed);
        Box::new(move |message| {
            if message.from != from || !nths.contains(&(message.to, message.nth)) {
                return Fate::Deliver;
            }
            match change {
                Change::Missing => Fate::Replace(vec![]),
                Change::Silence => Fate::Cut,
                Change::Twice => Fate::Replace(vec![message.frame.clone(), message.frame.clone()]),
                Change::FlipsInSeveral => {
                    let mut frame = message.frame.clone();
                    let bit = rng.below(8 * frame.payload.len());
                    frame.payload[bit / 8] ^= 1 << (bit % 8);
                    Fate::Replace(vec![frame])
                }
                _ => {
                    frame.at = message.frame.at;
                    Fate::Replace(vec![frame.clone()])
                }
            }
        })
    }

    /// Deviations of several endpoints, of each at up to three of its messages, if it sends any.
    fn deviations(&self, corrupt: &[usize], rng: &mut Rng, seed: u64) -> (Interceptor, String) {
        let mut deviations = Vec::new();
        let mut what = String::new();
        for &from in corrupt {
            let of_one: Vec<usize> =
                (0..self.messages.len()).filter(|&at| self.messages[at].from == from).collect();
            for at in 0..if of_one.is_empty() { 0 } else { 1 + rng.below(3) } {
                let (target, change) = (rng.pick(&of_one), rng.pick(&CHANGES));
                // Half of the time both change the same bits.
                let seed = if rng.one_in(2) { seed } else { seed + at as u64 + 1 };
                deviations.push(self.deviation(target, change, seed));
                let Message { to, nth, sort, .. } = &self.messages[target];
                // Writing into a string can't fail.
                let _ = write!(what, "{change:?} of {sort:?} {nth} from {from} to {to}, ");
            }
        }
        let interceptor: Interceptor = Box::new(move |message| {
            let fates = deviations.iter_mut().map(|decide| decide(message));
            // Each of them sees every message.
            fates.fold(Fate::Deliver, |fate, other| if matches!(fate, Fate::Deliver) { other } else { fate })
        });
        (interceptor, what)
    }

    /// Changes one message's frame as it is sent.
    fn interceptor(&self, target: usize, mut change: Box<dyn FnMut(&mut Frame) + Send>) -> Interceptor {
        let Message { from, to, nth, .. } = self.messages[target];
        Box::new(move |message| {
            if (message.from, message.to, message.nth) != (from, to, nth) {
                return Fate::Deliver;
            }
            let mut frame = message.frame.clone();
            change(&mut frame);
            Fate::Replace(vec![frame])
        })
    }
}

/// One of the two parties that tell the third the key that hides outputs from clients says another: from one alone it
/// could be chosen by what it does to an output of a bit.
///
/// # Panics
/// If it isn't noticed, or the client has an output.
pub fn output_key_changed(subject: &Subject) {
    let mut builder = plan::Builder::new();
    let [p, q, both] = std::array::from_fn(|_| builder.bits(1, 1));
    for (owner, reg) in [("P1", p), ("P2", q)] {
        let owner = builder.role(owner);
        builder.input(owner, reg);
    }
    let [a, b, dst] = [p, q, both].map(|reg| plan::Rows::one(reg, 0));
    builder.interact(plan::OpKind::And { a, b, dst });
    let client = builder.role("client");
    builder.output(both, plan::To::One(client));
    let case = Case::new(subject.protocol, builder.finish(), &[vec![1], vec![1]]);
    for liar in [0, 1] {
        for bit in 0..128 {
            let world = case.world().intercept(Box::new(move |message| {
                let mut frame = message.frame.clone();
                if (message.from, message.to, frame.at.part) != (liar, 2, step::OUTPUT_KEY) {
                    return Fate::Deliver;
                }
                frame.payload[bit / 8] ^= 1 << (bit % 8);
                Fate::Replace(vec![frame])
            }));
            let run = case.run_in(&world, &Draws::fixed(1));
            let results: Vec<_> = run.endings.iter().flatten().map(|ending| &ending.result).collect();
            assert!(results[2].as_ref().is_err_and(|error| error.to_string().contains("different keys")));
            assert!(results[3].is_err(), "the client has an output");
        }
    }
}

/// What a message is for; `None` for those of the handshake.
fn sort(at: At, from: usize, parties: usize) -> Option<Sort> {
    Some(match at.part {
        _ if at.is_aside() => Sort::Proof,
        step::SEED => Sort::ClientSeeds,
        step::INPUT if from >= parties => Sort::ClientInput,
        step::INPUT => Sort::PartyInput,
        step::SHARED_INPUT => Sort::GivenDigest,
        step::ACCEPT => Sort::Acceptance,
        step::OUTPUT => Sort::Output,
        step::OUTPUT_DIGEST => Sort::Confirmation,
        step::FAIR_VERDICT..=step::FAIR_OPENING => Sort::Fair,
        step::SHOWN_DIGEST | step::COMPUTED_DIGEST | step::TAGS => Sort::MaskedDigest,
        step::COIN_COMMIT
        | step::COIN_OPEN
        | step::CHECK_PRODUCTS..=step::CHECK_ACCEPT
        | step::GARBLED_DIGEST..=step::GARBLED_ACCEPT => Sort::AheadChecked,
        step::OFFLINE.. => Sort::Ahead,
        part if part >= step::OPERATION && part & step::MASKED != 0 => Sort::Masked,
        step::OPERATION.. => Sort::And,
        _ => return None,
    })
}

/// All outcomes of a plan over the values that some endpoints may give, the same for all instances: bits, or numbers.
fn allowed(case: &Case, corrupt: &[usize]) -> Vec<Outcome> {
    let is_theirs = |index: &usize| corrupt.contains(&case.roles().endpoint(case.plan.inputs[*index].owner));
    let register = |index: usize| case.plan.register(case.plan.inputs[index].reg);
    let theirs: Vec<usize> = (0..case.inputs.len()).filter(is_theirs).collect();
    let bits = |domain: Domain| if domain == Domain::Bits { GIVEN as u64 } else { domain.bits() };
    let mut outcomes = Vec::new();
    for mut value in 0..1_u64 << theirs.iter().map(|&index| bits(register(index).domain)).sum::<u64>() {
        let mut case = case.clone();
        for &index in &theirs {
            let register = register(index);
            let one = value & ((1 << bits(register.domain)) - 1);
            value >>= bits(register.domain);
            let of_column = |at: usize| match register.domain {
                Domain::Bits => one >> (at % GIVEN) & 1,
                _ => one,
            };
            let values: Vec<u64> = (0..register.cols).map(of_column).collect();
            let form = case.plan.inputs[index].form;
            case.inputs[index] = Clear::from_elements(register.domain, form, &values);
        }
        outcomes.push(case.run_in_the_clear().expect("nothing can go wrong in the clear"));
    }
    outcomes
}

/// A random circuit on bits of P0, alice and P2. All learn one output, P1 another, carol a third.
fn program(rng: &mut Rng, ands: usize, instances: usize) -> Program {
    let mut build = Builder::new();
    let mut wires: Vec<Wire> = (0..3).flat_map(|_| build.input(GIVEN as u32)).collect();
    for _ in 0..ands {
        // Few are constant, for each reads one of the last and something from before.
        let (a, b) = (wires[wires.len() - 1 - rng.below(4)], wires[rng.below(wires.len() - 1)]);
        let (both, other) = (build.and(a, b), wires[rng.below(wires.len())]);
        wires.push(build.xor(both, other));
    }
    let outputs = (0..3).map(|at| wires[wires.len() - 5 - at..].to_vec()).collect();
    let circuit = Arc::new(build.finish(outputs));
    let mut build = tacit_program::Builder::new();
    let operands: Vec<_> = ["P0", "alice", "P2"]
        .map(|owner| build.input(owner, &format!("x_{owner}"), Dtype::Bool, &[instances, GIVEN], None))
        .into_iter()
        .map(|operand| operand.expect("an input of bits"))
        .collect();
    let outputs = build.circuit(&circuit, &operands).expect("the operands fit");
    let to = [Recipient::All, Recipient::Role("P1".to_owned()), Recipient::Role("carol".to_owned())];
    for (output, to) in outputs.into_iter().zip(to) {
        build.reveal(output, to).expect("the node is there");
    }
    build.finish().expect("something is revealed")
}

/// Comparisons of numbers of P0, alice and P2. All learn one, P1 a maximum, carol another comparison.
fn comparisons(instances: usize) -> Program {
    let mut build = tacit_program::Builder::new();
    let range = Numbers::int(GIVEN as u32).range;
    let [x, y, z] = ["P0", "alice", "P2"].map(|owner| {
        build
            .input(owner, &format!("x_{owner}"), Dtype::Int, &[instances], range)
            .expect("an input of numbers")
    });
    let less = build.less(x, y).expect("numbers of one kind");
    let most = build.maximum(y, z).expect("numbers of one kind");
    let other = build.less(z, x).expect("numbers of one kind");
    let to = [Recipient::All, Recipient::Role("P1".to_owned()), Recipient::Role("carol".to_owned())];
    for (output, to) in [less, most, other].into_iter().zip(to) {
        build.reveal(output, to).expect("the node is there");
    }
    build.finish().expect("something is revealed")
}
