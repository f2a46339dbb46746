//! A run, its messages, and what honest endpoints may have if one of them is another.

use std::collections::BTreeSet;
use std::fmt::Write;

use tacit_engine::{Clear, Outcome};
use tacit_net::{At, Frame};
use tacit_program::plan::{Domain, OpKind, Plan};
use tacit_program::{Capabilities, Program, lower};

use super::change::{CHANGES, Change};
use super::programs::{GIVEN, comparisons, layers, products, program, sorts};
use super::sort::{self, Role, Sort};
use crate::conformance::Subject;
use crate::conformance::order::Sent;
use crate::conformance::robust::FAIR;
use crate::{Case, Draws, Ending, Fate, Interceptor, Rng};

/// A message of the run in which nothing goes wrong.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) nth: usize,
    /// Its place in the protocol's table.
    pub(super) sort: usize,
    pub(super) payload: Vec<u8>,
    /// The same one's in another session.
    elsewhere: Vec<u8>,
}

/// A case, its messages, and what honest endpoints may have.
pub(super) struct Stage {
    pub(super) case: Case,
    pub(super) messages: Vec<Message>,
    pub(super) sorts: &'static [Sort],
    instances: usize,
    /// For each endpoint that may deviate, all outcomes that it may bring about: one for each value of its bits.
    pub(super) allowed: Vec<Vec<Outcome>>,
    /// Whether outputs are fair: then a change of what is opened needn't be noticed, and all honest parties have them or
    /// nobody.
    fair: bool,
}

impl Stage {
    /// Instances are a multiple of eight: then no byte of inputs and outputs has bits that nobody reads.
    pub(super) fn new(subject: &Subject, ands: usize, instances: usize) -> Self {
        let mut rng = Rng::new(ands as u64);
        let program = program(&mut rng, &subject.last(), ands, instances);
        let inputs: Vec<Vec<u64>> = program
            .input_types()
            .iter()
            .map(|_| (0..GIVEN * instances).map(|_| rng.word() & 1).collect())
            .collect();
        Self::of(subject, subject.lowered(&program).plan, &inputs, instances, Given::Bits)
    }

    /// Of circuits of so many ANDs on so many instances: the first, and those whose vectors the subject is tried on.
    pub(super) fn of_sizes(subject: &Subject, sizes: &[(usize, usize)]) -> Vec<Self> {
        let (first, others) = sizes.split_at(1);
        let others = others.iter().filter(|(_, instances)| *instances <= subject.longest);
        let sizes = first.iter().chain(others);
        sizes.map(|&(ands, instances)| Self::new(subject, ands, instances)).collect()
    }

    /// The same, of numbers that are compared.
    pub(super) fn comparing(subject: &Subject, instances: usize) -> Self {
        let program = comparisons(&subject.last(), instances);
        Self::of_numbers(subject, subject.lowered(&program).plan, instances)
    }

    /// The same, of numbers that are multiplied; not as bits, if there is another way.
    pub(super) fn multiplying(subject: &Subject, instances: usize) -> Self {
        Self::in_rings(subject, &products(&subject.last(), instances), instances)
    }

    /// The same, of numbers that are multiplied as elements and as matrices, truncated and rectified.
    pub(super) fn layers(subject: &Subject, instances: usize) -> Self {
        let stage = Self::in_rings(subject, &layers(&subject.last(), instances), instances);
        assert!(stage.has(|kind| matches!(kind, OpKind::MatMul { .. })), "a product of matrices");
        stage
    }

    /// The same, of numbers that are sorted.
    pub(super) fn sorting(subject: &Subject, instances: usize) -> Self {
        let stage = Self::in_rings(subject, &sorts(&subject.last(), instances), instances);
        assert!(stage.has(|kind| matches!(kind, OpKind::Shuffle { .. })), "rows are shuffled");
        assert!(stage.has(|kind| matches!(kind, OpKind::Open { .. })), "what orders them is opened");
        stage
    }

    fn in_rings(subject: &Subject, program: &Program, instances: usize) -> Self {
        let capabilities = Capabilities { or_bits: None, ..subject.protocol.capabilities() };
        let plan = lower(program, capabilities).expect("the protocol offers it").plan;
        Self::of_numbers(subject, plan, instances)
    }

    fn has(&self, kind: impl Fn(&OpKind) -> bool) -> bool {
        self.case.plan.ops.iter().any(|op| kind(&op.kind))
    }

    fn of_numbers(subject: &Subject, plan: Plan, instances: usize) -> Self {
        let mut rng = Rng::new(4);
        let numbers = |_| (0..instances).map(|_| (rng.word() & 7).wrapping_sub(4)).collect();
        let inputs: Vec<Vec<u64>> = (0..3).map(numbers).collect();
        Self::of(subject, plan, &inputs, instances, Given::Number)
    }

    fn of(subject: &Subject, plan: Plan, inputs: &[Vec<u64>], instances: usize, given: Given) -> Self {
        let case = subject.case(plan, inputs);
        let [run, other] = [1, 2].map(|seed| case.run(&Draws::fixed(seed)).trace);
        let mut messages = Vec::new();
        for (from, to) in run.links() {
            for (nth, (delivery, other)) in run.link(from, to).zip(other.link(from, to)).enumerate() {
                assert_eq!(delivery.at, other.at, "sessions differ in contents alone");
                if let Some(sort) = sort::of(subject.sorts, Sent { from, to, at: delivery.at }) {
                    let (payload, elsewhere) = (delivery.payload.clone(), other.payload.clone());
                    messages.push(Message { from, to, nth, sort, payload, elsewhere });
                }
            }
        }
        let allowed = (0..case.endpoints()).map(|corrupt| allowed(&case, given, &[corrupt])).collect();
        Self { case, messages, sorts: subject.sorts, instances, allowed, fair: subject.is_fair() }
    }

    /// Flips a bit of every `step`-th byte of every message.
    pub(super) fn every_byte(&self, step: usize) {
        for (target, message) in self.messages.iter().enumerate() {
            let may_pass = self.role(target) == Role::PartyInput || self.makes_up_for(target);
            for byte in (target % step..message.payload.len()).step_by(step) {
                assert!(self.flip(target, byte) || may_pass, "byte {byte} of {message:?}");
            }
        }
    }

    /// Flips a bit of a byte; whether an honest endpoint noticed.
    pub(super) fn flip(&self, target: usize, byte: usize) -> bool {
        // A last byte may have bits that mean nothing, but its first one does.
        let last = byte + 1 == self.messages[target].payload.len();
        let bit = if last { 0 } else { (byte + target) % 8 };
        let interceptor = self.interceptor(target, Box::new(move |frame| frame.payload[byte] ^= 1 << bit));
        self.check(target, interceptor, &format!("byte {byte} changed"))
    }

    /// A sort, one of its messages, and what becomes of it.
    pub(super) fn choose(&self, rng: &mut Rng) -> (usize, Change) {
        let sorts: BTreeSet<usize> = self.messages.iter().map(|message| message.sort).collect();
        let sorts: Vec<usize> = sorts.into_iter().collect();
        let sort = rng.pick(&sorts);
        let of_sort: Vec<usize> =
            (0..self.messages.len()).filter(|&at| self.messages[at].sort == sort).collect();
        let change = if rng.one_in(40) { Change::Silence } else { rng.pick(&CHANGES) };
        (rng.pick(&of_sort), change)
    }

    /// Runs with a deviation; whether an honest endpoint noticed.
    pub(super) fn attack(&self, target: usize, change: Change, seed: u64) -> bool {
        let what = format!("seed {seed}, {change:?}");
        let caught = self.check(target, self.deviation(target, change, seed), &what);
        let must = self.must_be_caught(target, change, seed);
        assert!(caught || !must, "{what} of {:?}: it gets through, nobody notices", self.messages[target]);
        caught
    }

    pub(super) fn check(&self, target: usize, interceptor: Interceptor, what: &str) -> bool {
        let what = format!("{what} of {:?}", self.messages[target]);
        let endings = self.run(interceptor, &what);
        let corrupt = self.messages[target].from;
        self.judge(&[corrupt], &self.allowed[corrupt], &endings, &what)
    }

    pub(super) fn run(&self, interceptor: Interceptor, what: &str) -> Vec<Option<Ending>> {
        let run = self.case.run_in(&self.case.world().intercept(interceptor), &Draws::fixed(1));
        let longest = if self.fair { FAIR } else { 3 } * self.case.limits.silence;
        assert!(run.took < longest, "{what}: the run took {:?} of its world's time", run.took);
        run.endings
    }

    /// Whether an honest endpoint has an error; all that have none have outputs that are allowed.
    pub(super) fn judge(
        &self,
        corrupt: &[usize],
        allowed: &[Outcome],
        endings: &[Option<Ending>],
        what: &str,
    ) -> bool {
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
                "{what}: it gets through, honest endpoints have wrong outputs for instance {instance}"
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
    pub(super) fn must_be_caught(&self, target: usize, change: Change, seed: u64) -> bool {
        let message = &self.messages[target];
        match change {
            Change::Twice => false,
            _ if self.makes_up_for(target) => false,
            Change::Missing | Change::Silence | Change::Truncate | Change::Extend => true,
            _ if self.role(target) == Role::PartyInput => false,
            // A client may tell all the same, and what it tells is its input.
            Change::FlipsInSeveral => self.role(target) != Role::ClientInput,
            _ => self.changed(target, change, seed).payload != message.payload,
        }
    }

    /// Whether others say what this message should have said, as where outputs are fair.
    fn makes_up_for(&self, target: usize) -> bool {
        self.fair && self.role(target) == Role::Opening
    }

    /// What a change of a message means.
    pub(super) fn role(&self, target: usize) -> Role {
        self.sorts[self.messages[target].sort].role
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
    pub(super) fn deviation(&self, target: usize, change: Change, seed: u64) -> Interceptor {
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

    /// Deviations of several endpoints, of each at up to three of its messages to others, if it sends any.
    pub(super) fn deviations(&self, corrupt: &[usize], rng: &mut Rng, seed: u64) -> (Interceptor, String) {
        let mut deviations = Vec::new();
        let mut what = String::new();
        for &from in corrupt {
            let of_one = |message: &Message| message.from == from && !corrupt.contains(&message.to);
            let of_one: Vec<usize> =
                (0..self.messages.len()).filter(|&at| of_one(&self.messages[at])).collect();
            for at in 0..if of_one.is_empty() { 0 } else { 1 + rng.below(3) } {
                let (target, change) = (rng.pick(&of_one), rng.pick(&CHANGES));
                // Half of the time both change the same bits.
                let seed = if rng.one_in(2) { seed } else { seed + at as u64 + 1 };
                deviations.push(self.deviation(target, change, seed));
                let Message { to, nth, sort, .. } = &self.messages[target];
                // Writing into a string can't fail.
                let _ = write!(what, "{change:?} of {} {nth} from {from} to {to}, ", self.sorts[*sort].what);
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
    pub(super) fn interceptor(
        &self,
        target: usize,
        mut change: Box<dyn FnMut(&mut Frame) + Send>,
    ) -> Interceptor {
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

/// What inputs are, for each instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// So many bits as [`GIVEN`].
    Bits,
    /// A number of so many bits; in a ring any number.
    Number,
}

/// All outcomes of a plan over the values that some endpoints may give, the same for all instances.
pub(super) fn allowed(case: &Case, given: Given, corrupt: &[usize]) -> Vec<Outcome> {
    let is_theirs = |index: &usize| corrupt.contains(&case.roles().endpoint(case.plan.inputs[*index].owner));
    let register = |index: usize| case.plan.register(case.plan.inputs[index].reg);
    let theirs: Vec<usize> = (0..case.inputs.len()).filter(is_theirs).collect();
    let bits = |domain: Domain| match domain {
        Domain::Ring(_) => domain.bits(),
        Domain::Bits | Domain::Modular(_) => GIVEN as u64,
    };
    let mut outcomes = Vec::new();
    for mut value in 0..1_u64 << theirs.iter().map(|&index| bits(register(index).domain)).sum::<u64>() {
        let mut case = case.clone();
        for &index in &theirs {
            let register = register(index);
            let one = value & ((1 << bits(register.domain)) - 1);
            value >>= bits(register.domain);
            let of_column = |at: usize| match (given, register.domain) {
                (Given::Bits, _) => one >> (at % GIVEN) & 1,
                (Given::Number, Domain::Modular(_)) => one.wrapping_sub(1 << (GIVEN - 1)),
                (Given::Number, _) => one,
            };
            let values: Vec<u64> = (0..register.cols).map(of_column).collect();
            let form = case.plan.inputs[index].form;
            case.inputs[index] = Clear::from_elements(register.domain, form, &values);
        }
        outcomes.push(case.run_in_the_clear().expect("nothing can go wrong in the clear"));
    }
    outcomes
}
