//! Whatever happens to whatever message: no hang, no panic, and an error that says who is at fault.
//!
//! A deviation is noticed at once if it shows in an address or a length, and after [`Limits::silence`] if something is missing.
//! Whoever notices tells the others. So every honest endpoint ends with an error, or with the right outputs if it has all it
//! needs by then; before the outputs nobody has.
//!
//! Errors name the deviating endpoint; only where somebody falls silent, those who wait for it in turn fall silent too, and an
//! endpoint may lose patience with one of these first. What a flipped bit does is up to the protocol's [`Security`]: a
//! semi-honest one may compute something else and not see it.
//!
//! Under a fair protocol whoever fails when outputs are about to be opened may be left out: then all honest parties have
//! the right outputs, or nobody has, and who is at fault need not be said.
//!
//! [`Limits::silence`]: tacit_net::Limits::silence

use std::ops::Range;
use std::time::Duration;

use tacit_engine::{Clear, Outcome, Security};
use tacit_net::Frame;
use tacit_program::plan::{Domain, Width};
use tacit_program::{Builder, Dtype, Feature, Index, NodeId, Program, ProgramError, Recipient};
use tacit_session::{Agreement, At, ProgramStep, step};

use super::Subject;
use crate::{Case, Delivery, Deviation, Draws, Fate, Interceptor, Rng, Run};

/// By the world's clock: within this all have stopped after a connection ended, or after the time of silence.
const SOON: Duration = Duration::from_secs(1);

/// Limits of silence within which a run with fair outputs has ended, whatever happens.
pub const FAIR: u32 = 24;

/// Flips, truncates, extends, replays, swaps and silences every single message.
///
/// # Panics
/// If an endpoint doesn't end as it should.
pub fn every_message_altered(subject: &Subject) {
    let stage = Stage::new(subject);
    for message in &stage.messages {
        for bit in [0, 5, 8 * message.bytes / 2 + 1] {
            stage.check_flip(message, Deviation::Flip(bit));
        }
        if message.bytes > 0 {
            stage.check(message, Deviation::Truncate);
        }
        stage.check(message, Deviation::Extend);
        if message.nth > 0 {
            stage.check(message, Deviation::ReplayOlder);
        }
        if message.due.is_some() {
            // Nobody waits for more than the last one of an order.
            stage.check(message, Deviation::Replay);
        }
        match message.next {
            Some(next) if is_aside(next) == is_aside(message.part) => stage.check(message, Deviation::Swap),
            // Those aside have an order of their own.
            Some(_) => stage.check_unordered(message),
            None => {}
        }
        stage.check(message, Deviation::Silence);
    }
}

/// Delays every single message: by less than the time-out, which changes nothing, and by more.
///
/// # Panics
/// If an endpoint doesn't end as it should.
pub fn every_message_delayed(subject: &Subject) {
    let stage = Stage::new(subject);
    let silence = stage.case.limits.silence;
    for message in &stage.messages {
        let run = stage.run(Deviation::Delay(silence / 2).at(message.from, message.to, message.nth));
        assert_eq!(run.outcomes(), stage.expected.iter().collect::<Vec<_>>(), "{message:?} delayed");
        stage.check(message, Deviation::Delay(silence + silence / 5));
    }
}

/// Withholds every single message of a case, once for a while and once for good.
///
/// # Panics
/// If an endpoint doesn't end as it should.
pub(super) fn withheld(subject: &Subject, case: Case) {
    let stage = Stage::of(subject, case);
    for message in &stage.messages {
        stage.check(message, Deviation::Silence);
        stage.check(message, Deviation::Death);
    }
}

/// Lets every endpoint die, and fall silent, before each of its messages; and where several parties may be corrupt, lets as
/// many die there together.
///
/// # Panics
/// If an endpoint doesn't end as it should.
pub fn death_at_any_point(subject: &Subject) {
    let stage = Stage::new(subject);
    for message in &stage.messages {
        stage.check(message, Deviation::Death);
        stage.check(message, Deviation::Hang);
    }
    for (index, message) in stage.messages.iter().enumerate() {
        let of_sender = stage.together.iter().filter(|coalition| coalition.contains(&message.from));
        let of_sender: Vec<&Vec<usize>> = of_sender.collect();
        if !of_sender.is_empty() {
            stage.check_deaths(message, of_sender[index % of_sender.len()]);
        }
    }
}

/// Random things happen to random messages, several in a run: all runs end, and nobody panics.
///
/// # Panics
/// If one hangs, or somebody does.
pub fn random_deviations(subject: &Subject, seeds: Range<u64>) {
    let stage = Stage::new(subject);
    for seed in seeds.step_by(subject.one_in) {
        let interceptor: Interceptor = Box::new(move |message| {
            // Frames of different links come in no certain order: each has its own choices.
            let mut rng = Rng::new(seed << 32 ^ (message.from << 20 ^ message.to << 16 ^ message.nth) as u64);
            if rng.one_in(16) { anything(&mut rng, message.frame) } else { Fate::Deliver }
        });
        let run = stage.case.run_in(&stage.case.world().intercept(interceptor), &Draws::fixed(1));
        // Delays may add up: what is late once makes others wait, who are late themselves.
        let longest = if subject.is_fair() { FAIR } else { 10 } * stage.case.limits.silence;
        assert!(run.took < longest, "with seed {seed} a run took {:?} of its world's time", run.took);
    }
}

/// Something that a network or a sender may do to a frame.
fn anything(rng: &mut Rng, frame: &Frame) -> Fate {
    let mut changed = frame.clone();
    match rng.below(10) {
        0 => changed.payload = (0..rng.below(100)).map(|_| rng.word() as u8).collect(),
        1 => changed.payload.iter_mut().for_each(|byte| *byte = rng.word() as u8),
        2 => changed.payload.clear(),
        3 => changed.at.op ^= 1 << rng.below(8),
        4 => changed.at.part ^= 1 << rng.below(10),
        5 => return Fate::Replace(vec![changed.clone(), changed]),
        6 => return Fate::Replace(vec![]),
        7 => return Fate::Delay(Duration::from_secs(rng.below(15) as u64)),
        8 => return Fate::Cut,
        _ => return if rng.one_in(2) { Fate::Hang } else { Fate::Die },
    }
    Fate::Replace(vec![changed])
}

/// Without one endpoint all others end with an error, and that of every party names it.
///
/// # Panics
/// If one doesn't.
pub fn a_party_that_never_comes(subject: &Subject) {
    let stage = Stage::new(subject);
    for absent in 0..stage.case.endpoints() {
        let run = stage.case.run_in(&stage.case.world().without(absent), &Draws::fixed(1));
        assert!(run.took < stage.case.limits.silence + SOON, "{:?}", run.took);
        let name = stage.case.name(absent);
        let mut named = 0;
        for (endpoint, error) in errors(&run) {
            assert!(names(&error, name) || is_silence(&error), "{endpoint} without {name}: {error}");
            named += usize::from(names(&error, name));
        }
        assert!(
            named >= run.endings.iter().take(stage.case.parties()).flatten().count(),
            "{name} wasn't named"
        );
    }
}

/// What makes an agreement differ.
type Change = fn(&mut Agreement);

/// If one endpoint is about to run something else, all end with an error that says what differs.
///
/// # Panics
/// If one doesn't.
pub fn disagreements(subject: &Subject) {
    let stage = Stage::new(subject);
    let changes: [(&str, Change); 8] = [
        ("who the parties are", |agreement| agreement.parties.reverse()),
        ("who the clients are", |agreement| agreement.clients.iter_mut().for_each(|name| name.push('x'))),
        ("the protocol", |agreement| agreement.protocol.push('x')),
        ("the protocol's parameters", |agreement| agreement.parameters.push('x')),
        ("the inputs", |agreement| agreement.inputs.push("x".to_owned())),
        ("the outputs", |agreement| agreement.outputs.push("x".to_owned())),
        ("the program", |agreement| agreement.steps.push(ProgramStep::default())),
        ("the program", |agreement| agreement.program[31] ^= 1),
    ];
    for (what, change) in changes {
        for endpoint in 0..stage.case.endpoints() {
            let mut case = stage.case.clone();
            change(&mut case.agreements[endpoint]);
            let run = case.run(&Draws::fixed(1));
            for (other, error) in errors(&run) {
                let says = error.contains("disagrees on") && error.contains(what);
                assert!(
                    says,
                    "{}, with {what} changed at {}: {error}",
                    case.name(other),
                    case.name(endpoint)
                );
            }
        }
    }
}

/// Inputs that don't fit the plan are refused by whoever gives them, and all others learn of it.
///
/// # Panics
/// If they don't.
pub fn wrong_inputs_are_refused(subject: &Subject) {
    let stage = Stage::new(subject);
    for (index, input) in stage.case.plan.inputs.iter().enumerate() {
        let owner = stage.case.roles().endpoint(input.owner);
        let register = stage.case.plan.register(input.reg);
        let longer = Clear::from_words(register.domain, &vec![1; register.cols + 1]);
        let domain = if register.domain == Domain::Bits { Domain::Ring(Width::W8) } else { Domain::Bits };
        let other = Clear::from_words(domain, &vec![1; register.cols]);
        for wrong in [longer, other] {
            let mut case = stage.case.clone();
            case.inputs[index] = wrong;
            for (endpoint, error) in errors(&case.run(&Draws::fixed(1))) {
                let says = error.contains(&format!("input {index}"));
                let names = endpoint == owner || names(&error, case.name(owner));
                assert!(says && names, "{}: {error}", case.name(endpoint));
            }
        }
    }
}

/// Whether an error names somebody: `P1` isn't named by `P10`.
pub(super) fn names(error: &str, name: &str) -> bool {
    error.match_indices(name).any(|(at, _)| !error[at + name.len()..].starts_with(char::is_alphanumeric))
}

/// Whether an error is that somebody was silent for too long.
pub(super) fn is_silence(error: &str) -> bool {
    error.contains("(silent for")
}

/// The errors of all endpoints that came.
///
/// # Panics
/// If one of them has none.
fn errors(run: &Run) -> Vec<(usize, String)> {
    let error = |(endpoint, ending): (usize, &Option<crate::Ending>)| {
        let result = &ending.as_ref()?.result;
        let error = result.as_ref().expect_err("every endpoint that came ends with an error");
        Some((endpoint, error.to_string()))
    };
    run.endings.iter().enumerate().filter_map(error).collect()
}

/// A program with messages of all sorts, and how it goes when nothing goes wrong.
struct Stage {
    case: Case,
    expected: Vec<Outcome>,
    messages: Vec<Target>,
    /// Parties that may fail together.
    together: Vec<Vec<usize>>,
    security: Security,
}

/// A message to do something with.
#[derive(Debug)]
struct Target {
    from: usize,
    to: usize,
    nth: usize,
    part: u16,
    bytes: usize,
    /// The part of the one before it on its link, if there is one.
    last: Option<u16>,
    /// The part of the one that follows on its link, if one does.
    next: Option<u16>,
    /// The part of the one that follows in its order: of those aside, or of the others.
    due: Option<u16>,
    /// Whether it comes after an output's on its link: it belongs to a check of outputs that are under way.
    checks_outputs: bool,
}

/// Whether messages of a part belong to the opening of outputs, from the verdicts on.
fn is_opening(part: u16) -> bool {
    part == step::ACCEPT || (step::OUTPUT..step::OPERATION).contains(&part)
}

/// Whether messages of a part have an order of their own.
fn is_aside(part: u16) -> bool {
    At { part, ..At::default() }.is_aside()
}

/// Whether a party that sends so many frames and then dies has not sent all of a run that others need.
pub(super) fn dies_before_the_end(case: &Case, party: usize, frames: usize) -> bool {
    let run = case.run(&Draws::fixed(1));
    let sent = run.trace.deliveries().iter().filter(|delivery| delivery.from == party);
    let needed =
        sent.filter(|delivery| delivery.at.part < step::OUTPUT || delivery.at.part >= step::OPERATION);
    frames < needed.count() / 2
}

/// A run with inputs of a party and a client, every interactive operation, and outputs for all, for a party and
/// for clients.
pub(super) fn stage_case(subject: &Subject) -> Case {
    let (last, inputs) = (subject.last(), [vec![3, (-2_i64) as u64], vec![2, 5]]);
    let with_branch = subject.protocol.capabilities().offers(Feature::Branches);
    let program = program(&last, with_branch).expect("the program is sound");
    let lowered = subject.lowered(&program);
    subject.case(lowered.plan, &inputs)
}

impl Stage {
    fn new(subject: &Subject) -> Self {
        Self::of(subject, stage_case(subject))
    }

    fn of(subject: &Subject, case: Case) -> Self {
        let run = case.run(&Draws::fixed(1));
        let expected = run.outcomes().into_iter().cloned().collect();
        let mut messages = Vec::new();
        for (from, to) in run.trace.links() {
            let link: Vec<&Delivery> = run.trace.link(from, to).collect();
            for (nth, delivery) in link.iter().enumerate() {
                let parts: Vec<u16> = link.iter().map(|delivery| delivery.at.part).collect();
                let (part, bytes) = (delivery.at.part, delivery.payload.len());
                let last = nth.checked_sub(1).map(|last| parts[last]);
                let mut after = parts[nth + 1..].iter().copied();
                let due = after.clone().find(|&next| is_aside(next) == is_aside(part));
                let checks_outputs = parts[..nth].contains(&step::OUTPUT);
                let next = after.next();
                messages.push(Target { from, to, nth, part, bytes, last, next, due, checks_outputs });
            }
        }
        let messages = messages.into_iter().step_by(subject.one_in.div_ceil(4)).collect();
        let together = subject.coalitions().into_iter().filter(|coalition| coalition.len() > 1).collect();
        Self { case, expected, messages, together, security: subject.protocol.spec().security }
    }

    fn run(&self, interceptor: Interceptor) -> Run {
        let run = self.case.run_in(&self.case.world().intercept(interceptor), &Draws::fixed(1));
        let longest = if self.security == Security::Fair { FAIR } else { 2 } * self.case.limits.silence;
        assert!(run.took < longest, "the run took {:?} of its world's time", run.took);
        run
    }

    /// A deviation that must be noticed.
    fn check(&self, message: &Target, deviation: Deviation) {
        let run = self.run(deviation.at(message.from, message.to, message.nth));
        // To be swapped, a message is held back, and the next one may not come without it.
        let waits = match deviation {
            Deviation::Silence | Deviation::Hang | Deviation::Delay(_) | Deviation::Swap => true,
            // An older one of another order doesn't stand in this one's way.
            Deviation::ReplayOlder => {
                message.last.is_some_and(|last| is_aside(last) != is_aside(message.part))
            }
            _ => false,
        };
        // That a message came twice shows when the next one of its order is due.
        let noticed = if deviation == Deviation::Replay { message.due } else { None }.unwrap_or(message.part);
        if self.security == Security::Fair && is_opening(noticed) {
            return self.check_all_or_nobody(message, deviation, &run);
        }
        let name = self.case.name(message.from);
        let mut named = false;
        for (endpoint, ending) in run.endings.iter().flatten().enumerate() {
            let what = || format!("{deviation:?} of {message:?}, at {}", self.case.name(endpoint));
            match &ending.result {
                Ok(outcome) => {
                    assert_eq!(*outcome, self.expected[endpoint], "{}", what());
                    assert!(self.may_be_done(endpoint, message, noticed), "{}: noticed nothing", what());
                }
                Err(error) if endpoint != message.from => {
                    let error = error.to_string();
                    named |= names(&error, name);
                    assert!(names(&error, name) || waits && is_silence(&error), "{}: {error}", what());
                    let lost = waits || deviation == Deviation::Death;
                    assert!(!lost || error.contains(" phase"), "{}: {error}", what());
                }
                // Whoever deviates may say what it likes.
                Err(_) => {}
            }
        }
        assert!(named, "{deviation:?} of {message:?}: nobody names {name}");
        let within = if waits { self.case.limits.silence + SOON } else { SOON };
        assert!(run.took < within, "{deviation:?} of {message:?} took {:?}", run.took);
    }

    /// The sender of a message and others die before it is sent. The others all end soon, with an error that names one of
    /// them, or with their outputs if those were under way.
    fn check_deaths(&self, message: &Target, coalition: &[usize]) {
        let (from, to, nth) = (message.from, message.to, message.nth);
        let (dying, mut struck) = (coalition.to_vec(), false);
        let run = self.run(Box::new(move |message| {
            struck |= (message.from, message.to, message.nth) == (from, to, nth);
            if struck && dying.contains(&message.from) { Fate::Die } else { Fate::Deliver }
        }));
        assert!(run.took < self.case.limits.silence + SOON, "{coalition:?} at {message:?}: {:?}", run.took);
        for (endpoint, ending) in run.endings.iter().flatten().enumerate() {
            let what = || format!("{coalition:?} die at {message:?}, at {}", self.case.name(endpoint));
            match &ending.result {
                _ if coalition.contains(&endpoint) => {}
                Ok(outcome) => {
                    assert_eq!(*outcome, self.expected[endpoint], "{}", what());
                    assert!(self.may_be_done(endpoint, message, message.part), "{}: done", what());
                }
                Err(error) => {
                    let error = error.to_string();
                    let named = coalition.iter().any(|&dead| names(&error, self.case.name(dead)));
                    assert!(named, "{}: {error}", what());
                }
            }
        }
    }

    /// All honest parties have the right outputs, or nobody has.
    fn check_all_or_nobody(&self, message: &Target, deviation: Deviation, run: &Run) {
        let parties = run.endings.iter().flatten().enumerate().take(self.case.parties());
        let honest: Vec<_> = parties.filter(|(party, _)| *party != message.from).collect();
        let all = honest.iter().all(|(party, ending)| ending.result.as_ref() == Ok(&self.expected[*party]));
        let nobody = honest.iter().all(|(_, ending)| ending.result.is_err());
        assert!(all || nobody, "{deviation:?} of {message:?}: {:?}", run.endings);
    }

    /// Swaps a message and the next one, which is of another order: that changes nothing, unless the next one isn't
    /// sent before this one has come.
    fn check_unordered(&self, message: &Target) {
        let run = self.run(Deviation::Swap.at(message.from, message.to, message.nth));
        for (endpoint, ending) in run.endings.iter().flatten().enumerate() {
            let what = || format!("a swap of {message:?}, at {}", self.case.name(endpoint));
            match &ending.result {
                Ok(outcome) => assert_eq!(*outcome, self.expected[endpoint], "{}", what()),
                Err(_) => assert!(run.took >= self.case.limits.silence, "{}: {ending:?}", what()),
            }
        }
    }

    /// Whether an endpoint may have its outputs although somebody deviated at this message, which its receiver
    /// notices at this part: the message is for somebody else, and outputs are under way, or nobody waits for its
    /// receiver, a client that gives nothing; or it is a client itself that only gives.
    fn may_be_done(&self, endpoint: usize, message: &Target, noticed: u16) -> bool {
        let is_output = |part: u16| (step::OUTPUT..step::OPERATION).contains(&part);
        let late = is_output(noticed) || noticed == step::DRAWN;
        let late = late || is_output(message.part) || message.checks_outputs;
        let (parties, roles) = (self.case.parties(), self.case.roles());
        let idle = message.to >= parties && !roles.gives(&self.case.plan, message.to);
        let done = late || idle || self.case.only_gives(endpoint);
        endpoint == message.from || endpoint != message.to && done
    }

    /// A flipped bit: anything but a hang, a panic, or (unless the protocol says so) a wrong output.
    fn check_flip(&self, message: &Target, deviation: Deviation) {
        let run = self.run(deviation.at(message.from, message.to, message.nth));
        if self.security == Security::SemiHonest {
            return;
        }
        for (endpoint, ending) in run.endings.iter().flatten().enumerate() {
            if let Ok(outcome) = &ending.result
                && endpoint != message.from
            {
                let name = self.case.name(endpoint);
                assert_eq!(*outcome, self.expected[endpoint], "{deviation:?} of {message:?}, at {name}");
            }
        }
    }
}

/// Where arms share messages a product is in one, and a square in the other one; elsewhere they are operations like any others.
fn program(last: &str, with_branch: bool) -> Result<Program, ProgramError> {
    let mut build = Builder::new();
    let range = tacit_program::Range::new(-8, 7);
    let a = build.input("P0", "a", Dtype::Int, &[2], range)?;
    let b = build.input("alice", "b", Dtype::Int, &[2], range)?;
    let less = build.less(a, b)?;
    let product = if with_branch {
        let first = build.index(less, &[Index::At(0)])?;
        let (set, not) = (build.if_set(first, a)?, build.unless_set(first, a)?);
        let (product, square) = (build.mul(set, b)?, build.mul(not, not)?);
        build.select(first, product, square)?
    } else {
        build.mul(a, b)?
    };
    let chosen = build.select(less, product, a)?;
    let dot: NodeId = build.matmul(a, b)?;
    let halved = build.shift_right(dot, 1)?;
    build.reveal(chosen, Recipient::All)?;
    build.reveal(halved, Recipient::Role(last.into()))?;
    build.reveal(less, Recipient::Role("carol".into()))?;
    build.finish()
}
