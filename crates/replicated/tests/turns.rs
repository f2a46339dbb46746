//! Of many numbers that are converted each third has the three components in another order, so that all parties send as much.

use tacit_engine::Protocol;
use tacit_engine::bank::Bank;
use tacit_net::Phase;
use tacit_program::plan::{self, Components, Local, OpKind, Public, To, Width};
use tacit_program::{Builder, Capabilities, Dtype, NodeId, Program, ProgramError, Range, Recipient, lower};
use tacit_replicated::{Replicated, ReplicatedMalicious};
use tacit_testkit::conformance::views::{self, Conduct};
use tacit_testkit::conformance::{Subject, cost, equality};
use tacit_testkit::{Altered, Case, Draws, Rng, generate};

static VERIFIED: ReplicatedMalicious = ReplicatedMalicious::SOUNDNESS_50;
static FOLLOWED: Altered =
    Altered::offering(&Replicated::COMPUTATIONAL, Capabilities::THREE_COMPONENTS.with_silent_parts());

/// Of products, since numbers are bits where nothing is multiplied.
fn program(
    kind: Dtype,
    bits: u32,
    count: usize,
    make: fn(&mut Builder, NodeId) -> Result<NodeId, ProgramError>,
) -> Program {
    let mut build = Builder::new();
    let half = 1 << (bits - 1);
    let [x, y] =
        ["x", "y"].map(|name| build.input("P0", name, kind, &[count], Range::new(-half, half - 1)).unwrap());
    let product = build.mul(x, y).unwrap();
    let result = make(&mut build, product).unwrap();
    build.reveal(result, Recipient::Role("P1".into())).unwrap();
    build.finish().unwrap()
}

/// Conversions of numbers just few enough and just many enough for turns, and of many more.
fn programs() -> Vec<(String, Program)> {
    let fixed = Dtype::Fixed { frac: 16 };
    let mut all = Vec::new();
    for count in [767, 768, 3_000] {
        let truncated = program(fixed, 24, count, |build, x| build.rescale(x, 16));
        all.push((format!("{count} numbers truncated"), truncated));
    }
    for count in [614, 615, 3_000] {
        let rectified = program(fixed, 24, count, |build, x| {
            let positive = build.relu(x)?;
            build.rescale(positive, 16)
        });
        all.push((format!("{count} numbers rectified and truncated"), rectified));
        let assumed = program(fixed, 24, count, |build, x| {
            let positive = build.relu(x)?;
            let result = build.rescale(positive, 16)?;
            build.assume(result, Range::new(0, (1 << 26) - 1).unwrap())
        });
        all.push((format!("{count} numbers rectified and looked at"), assumed));
    }
    for count in [3_071, 3_072, 5_000] {
        let rectified = program(Dtype::Int, 24, count, Builder::relu);
        all.push((format!("{count} numbers rectified"), rectified));
    }
    all
}

fn subjects() -> [Subject; 2] {
    [&VERIFIED as &'static dyn Protocol, &FOLLOWED].map(|protocol| Subject::new(protocol, 3))
}

/// On inputs of which no product is outside of what is assumed.
fn case(subject: &Subject, program: &Program) -> Case {
    let plan = subject.lowered(program).plan;
    let mut inputs = generate::inputs(&program.input_types(), &mut Rng::new(5));
    inputs.iter_mut().flatten().for_each(|word| *word = (*word as i64 / 16) as u64);
    Case::new(subject.protocol, 3, plan, &inputs)
}

#[test]
fn results_and_bytes_are_as_declared() {
    let mut rng = Rng::new(1);
    for subject in &subjects() {
        for (what, program) in programs() {
            if !what.ends_with("looked at") {
                equality::check(subject, &program, &mut rng, &what);
            }
            let case = case(subject, &program);
            case.run_and_compare(&Draws::fixed(4));
            cost::check_case(case, &what);
        }
    }
}

/// Nobody sends more than a hundredth above what a party sends on average, in all and in each operation's round.
#[test]
fn all_parties_send_as_much() {
    for subject in &subjects() {
        for (what, program) in programs().into_iter().filter(|(what, _)| what.starts_with(['3', '5'])) {
            let plan = subject.lowered(&program).plan;
            let silent = plan.ops.iter().filter(|op| op.parts() != Components::ALL).count();
            if what.starts_with("3071") {
                assert_eq!(silent, 2, "{what}: a product by one, and one by two");
                continue;
            }
            assert!(silent >= 6, "{what}: {silent}");
            let endings = case(subject, &program).run(&Draws::fixed(4)).endings;
            let sent: Vec<u64> = endings
                .iter()
                .flatten()
                .map(|ending| (0..3).map(|to| ending.counters.with_peer(Phase::Online, to).sent_bytes).sum())
                .collect();
            let (most, all) = (*sent.iter().max().unwrap(), sent.iter().sum::<u64>());
            assert!(300 * most <= 101 * all, "{what}: {sent:?}");
        }
    }
}

/// A bit as a number, with the components in any order: nobody is shown anything.
#[test]
fn any_order_hides() {
    for first in 0..3 {
        let mut build = plan::Builder::new();
        let bits = build.bits(1, 2);
        let owner = build.role("alice");
        build.input(owner, bits);
        let ring = |build: &mut plan::Builder| build.ring(Width::W8, 2);
        let exclusive_or = |build: &mut plan::Builder, a, b| {
            let [sum, both, twice, dst] = [(); 4].map(|()| ring(build));
            build.local(Local::Add { a, b, dst: sum });
            build.interact(OpKind::Mul { a, b, dst: both });
            build.local(Local::MulPublic { a: both, c: Public::Splat(2), dst: twice });
            build.local(Local::Sub { a: sum, b: twice, dst });
            dst
        };
        let [a, b, c] = [0, 1, 2].map(|place| {
            let dst = build.ring(Width::W8, 2);
            build.local(Local::BitComponent { a: bits, component: (first + place) % 3, dst });
            dst
        });
        let both = exclusive_or(&mut build, a, b);
        let all = exclusive_or(&mut build, both, c);
        build.output(all, To::All);
        let plan = build.finish();
        let senders = plan.ops.iter().map(|op| op.parts().count());
        assert!(senders.eq([1, 2]), "one party multiplies the first two");
        for subject in &subjects() {
            let case = Case::new(subject.protocol, 3, plan.clone(), &[vec![1, 0]]);
            case.run_and_compare(&Draws::fixed(4));
            for corrupt in 0..3 {
                views::check(subject, &case, &[corrupt], Conduct::Honest)
                    .unwrap_or_else(|leak| panic!("{first} first, P{corrupt}: {leak}"));
            }
        }
    }
}

/// Memory is laid out for the whole plan: what conversions in thirds take goes into what whole layers leave.
#[test]
fn thirds_take_little_more_memory() {
    let mut build = Builder::new();
    let (kind, range) = (Dtype::Fixed { frac: 16 }, Range::new(-1 << 20, (1 << 20) - 1));
    let mut x = build.input("P0", "x", kind, &[2_000, 8], range).unwrap();
    for layer in 0..4 {
        let weights = build.input("P1", &format!("weights {layer}"), kind, &[8, 8], range).unwrap();
        let product = build.matmul(x, weights).unwrap();
        let positive = build.relu(product).unwrap();
        let result = build.rescale(positive, 16).unwrap();
        x = build.assume(result, Range::new(0, (1 << 20) - 1).unwrap()).unwrap();
    }
    build.reveal(x, Recipient::All).unwrap();
    let program = build.finish().unwrap();
    let memory = |capabilities| Bank::bytes_of(&lower(&program, capabilities).unwrap().plan);
    let turns = VERIFIED.capabilities();
    let (whole, thirds) = (memory(Capabilities { silent_parts: false, ..turns }), memory(turns));
    assert!(10 * thirds <= 11 * whole, "{thirds} bytes for {whole}");
}
