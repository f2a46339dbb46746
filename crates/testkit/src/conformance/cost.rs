//! Payload bytes are those that the protocol declares: exactly, link by link. Rounds are the plan's depth: no chain
//! of messages that depend on one another is longer, and a single operation's longest is exactly that long.

use std::collections::BTreeMap;
use std::ops::Range;

use tacit_net::Phase;
use tacit_program::cost::{Flow, Step};
use tacit_program::plan::{Components, Level, OpKind, Plan, Stage};
use tacit_program::{Capabilities, Node, Numbers, Program, Recipient, lower};

use super::Subject;
use super::catalogue;
use crate::links::{Medium, links};
use crate::{Case, Draws, Ending, Rng, generate};

const LENGTHS: [usize; 9] = [1, 2, 7, 8, 9, 63, 64, 65, 513];

/// Operations that are several in a row.
const CHAINS: [&str; 16] = [
    "branch",
    "assume",
    "shuffle_bits",
    "sort",
    "sort_too",
    "minimum",
    "maximum",
    "max",
    "argmax",
    "argmin",
    "absolute",
    "relu",
    "scale",
    "divide",
    "weigh",
    "repeat",
];

/// Payload bytes by phase, sender and receiver.
type Bytes = BTreeMap<(Phase, usize, usize), u64>;

/// One operation of the catalogue, on all numbers that it is defined for and many lengths.
///
/// # Panics
/// At the first difference.
pub fn operation(subject: &Subject, name: &str) {
    let (mut rng, mut cut) = (Rng::new(3), subject.cut());
    let last = &subject.last();
    for numbers in catalogue::Numbers::all() {
        for len in [subject.length(&mut rng, &LENGTHS), subject.length(&mut rng, &LENGTHS), 3] {
            let owners = [rng.pick(&["P0", "P1", last, "alice"]), rng.pick(&["P1", "alice", "bob"])];
            let to = [Recipient::All, Recipient::Role(rng.pick(&["P0", "P1", last, "bob", "carol"]).into())];
            if let Some(program) = subject.sample(name, numbers, len, owners, &to)
                && cut.takes()
            {
                let what = format!("{name} of {len} {numbers:?}, {owners:?} {to:?}");
                let (rounds, depth) = check(subject, &program, &what);
                // A long product is several operations in a row, too, and so is what follows a look at inputs' ranges.
                let is_long =
                    |node: &Node| matches!(node.operation, tacit_program::Operation::WideProduct { .. });
                // Plans are made again only where nothing else says so: that takes longer than the run.
                let is_chain = || {
                    CHAINS.contains(&name)
                        || program.nodes().iter().any(is_long)
                        || holds_inputs(subject, &program)
                };
                assert!(rounds == depth || is_chain(), "{what}: {rounds} rounds, not {depth}");
            }
        }
    }
}

/// Whether a program's plan holds an input to its range: it is another one where the protocol need not, and not that by bits.
fn holds_inputs(subject: &Subject, program: &Program) -> bool {
    let capabilities = subject.protocol.capabilities();
    if !capabilities.holds_ranges {
        return false;
    }
    let plan = |capabilities| lower(program, capabilities).map(|lowered| lowered.plan).ok();
    let other = Capabilities { holds_ranges: false, ..capabilities };
    let own = plan(capabilities);
    own != plan(other) && own != plan(Capabilities { numbers: Numbers::BitsAlone, ..other })
}

/// Random programs with these seeds.
///
/// # Panics
/// At the first difference.
pub fn random_programs(subject: &Subject, seeds: Range<u64>) {
    let mut cut = subject.cut();
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let len = subject.length(&mut rng, &LENGTHS);
        let program = generate::program(&mut rng, subject.parties, 14, len);
        if subject.offers(&program) && cut.takes() {
            check(subject, &program, &format!("random program {seed}"));
        }
    }
}

/// A program's bytes, by operation and stage and by phase, and its rounds. Gives the longest chain of messages,
/// and the plan's depth.
///
/// # Panics
/// If they aren't those declared.
pub fn check(subject: &Subject, program: &Program, what: &str) -> (usize, usize) {
    check_case(case(subject, program), what)
}

/// The same of a case. Where arms of branches share messages, their bytes aren't told apart by operation.
///
/// # Panics
/// If they aren't those declared.
pub fn check_case(mut case: Case, what: &str) -> (usize, usize) {
    case.in_step = true;
    let run = case.run(&Draws::fixed(4));
    let speaks = |op: &_, stage| case.protocol.has_online_messages(op, stage);
    let rounds = |level: &Level| tacit_engine::rounds(&case.plan, &level.stages, speaks);
    let depth = case.plan.counted_levels().map(|(level, times)| (times * rounds(level)) as usize).sum();
    assert!(
        run.outcomes()[..case.parties()].iter().all(|outcome| outcome.rounds as usize == depth),
        "{what}"
    );
    let mut rounds = run.trace.rounds();
    // Two parties can't leave a barrier together: one may have heard the other's first message before it begins.
    if case.parties() == 2 && rounds == depth + 1 {
        rounds = depth;
    }
    assert!(
        (depth - slack(&case.plan)..=depth).contains(&rounds),
        "{what}: a chain of {rounds} messages in a plan of depth {depth}"
    );
    if case.plan.regions.is_empty() {
        assert_eq!(
            run.trace.bytes_by_stage(&case.plan),
            by_stage(&case),
            "{what}: bytes by operation, stage, from, to"
        );
    }
    let endings: Vec<&Ending> = run.endings.iter().flatten().collect();
    assert_eq!(sent(&endings), declared(&case), "{what}: bytes by phase, from, to");
    (rounds, depth)
}

/// A program's bytes by phase over real links.
///
/// # Panics
/// If they aren't those declared.
pub fn check_over(subject: &Subject, program: &Program, medium: Medium, what: &str) {
    let case = case(subject, program);
    let endings = case.run_over(links(medium, &case), &Draws::fixed(4));
    let endings: Vec<&Ending> = endings.iter().flatten().collect();
    assert!(endings.iter().all(|ending| ending.result.is_ok()), "{what}");
    assert_eq!(sent(&endings), declared(&case), "{what}: bytes by phase, from, to");
}

/// Rounds by which a plan's longest chain of messages may be shorter than its depth. All parties take the same
/// part in a product, unless some have no part in it; there, in a conversion and in a shuffle, who sends needn't be the one
/// whose share of the operand came last. So at every level with such operations a chain may be one shorter; a single
/// operation's is exact.
fn slack(plan: &Plan) -> usize {
    let converts = |stage: &Stage| {
        let op = plan.op(stage.op);
        let converted = matches!(
            op.kind,
            OpKind::Split { .. }
                | OpKind::Inject { .. }
                | OpKind::Shift { .. }
                | OpKind::Msb { .. }
                | OpKind::Compose { .. }
                | OpKind::Shuffle { .. }
        );
        converted || op.parts() != Components::ALL
    };
    let first = |stage: &&Stage| stage.stage == 0;
    let levels = plan.visits().skip(1);
    levels.filter(|visit| visit.level.stages.iter().filter(first).any(converts)).count()
}

fn case(subject: &Subject, program: &Program) -> Case {
    let inputs = generate::inputs(&program.input_types(), &mut Rng::new(5));
    let lowered = subject.lowered(program);
    subject.case(lowered.plan, &inputs)
}

/// What the links' counters say, without the handshake, which isn't declared.
fn sent(endings: &[&Ending]) -> Bytes {
    let mut sent = Bytes::new();
    for (from, ending) in endings.iter().enumerate() {
        for phase in Phase::ALL.into_iter().filter(|phase| *phase != Phase::Setup) {
            for to in 0..endings.len() {
                let traffic = ending.counters.with_peer(phase, to);
                if traffic.sent_bytes > 0 {
                    sent.insert((phase, from, to), traffic.sent_bytes);
                }
            }
        }
    }
    sent
}

/// What the protocol says.
fn declared(case: &Case) -> Bytes {
    let Case { protocol, plan, .. } = case;
    let mut bytes = Bytes::new();
    let mut add = |flows: Vec<(Phase, Flow)>| {
        for (phase, flow) in flows {
            *bytes.entry((phase, flow.from, flow.to)).or_default() += flow.bits.div_ceil(8);
        }
    };
    let giving = (case.parties()..case.endpoints()).filter(|&client| case.roles().gives(plan, client));
    giving.for_each(|client| add(case.price(Step::Seeds { client })));
    plan.inputs.iter().for_each(|input| add(case.price(Step::Input(input))));
    for stage in plan.visits().flat_map(|visit| visit.stages().collect::<Vec<_>>()) {
        let op = plan.op(stage.op);
        for layer in op.kind.layers(stage.stage) {
            add(case.price(Step::Stage { op, stage: layer }));
        }
    }
    let mut checks = protocol.checks(plan, case.roles());
    checks.extend(protocol.checks_together(plan, case.roles(), 1, 1));
    checks.extend(protocol.setup(plan, case.roles()));
    add(checks.flows);
    plan.outputs.iter().for_each(|output| add(case.price(Step::Output(output))));
    bytes.retain(|_, bytes| *bytes > 0);
    bytes
}

/// What the protocol says of every stage of every operation: (operation, stage, from, to).
fn by_stage(case: &Case) -> BTreeMap<(u32, u32, usize, usize), u64> {
    let mut bytes = BTreeMap::new();
    for stage in case.plan.visits().flat_map(|visit| visit.stages().collect::<Vec<_>>()) {
        let op = case.plan.op(stage.op);
        for layer in op.kind.layers(stage.stage) {
            let sent = case.price(Step::Stage { op, stage: layer });
            for (_, flow) in sent.into_iter().filter(|(phase, _)| *phase == Phase::Online) {
                *bytes.entry((stage.op, layer, flow.from, flow.to)).or_default() += flow.bits.div_ceil(8);
            }
        }
    }
    bytes
}
