//! Numbers from all of their bits at once: results, costs and views for every ring and third, and programs that have
//! no other way.

use std::sync::Arc;

use tacit_circuit::Layered;
use tacit_circuit::arith::{self, Style};
use tacit_engine::Protocol;
use tacit_program::plan::{Builder, Form, OpKind, Operand, Plan, To, Width};
use tacit_program::{
    Capabilities, Dtype, Feature, NodeId, Pieces, Piecewise, Program, ProgramError, Range, Recipient,
};
use tacit_replicated::Replicated;
use tacit_replicated::planted::{Mistake, plant};
use tacit_testkit::conformance::views::Conduct;
use tacit_testkit::conformance::{Subject, cost, equality, views};
use tacit_testkit::{Altered, Case, Draws, Rng};

/// Bits become numbers in this way alone.
static COMPOSING: Altered = Altered::offering(
    &Replicated::COMPUTATIONAL,
    Capabilities::TWO_COMPONENTS.without(Feature::Inject).with(Feature::Compose),
);

fn subject(protocol: &'static dyn Protocol) -> Subject {
    Subject::new(protocol, 3)
}

/// Bits of a party's numbers, which become numbers.
fn plan(width: Width, count: usize) -> Plan {
    let mut build = Builder::new();
    let owner = build.role("P0");
    let bits = width.bits();
    let [given, mask, difference] = [(); 3].map(|()| build.bits(1, count * usize::from(bits)));
    build.input_as(owner, given, Form::Bits { width: bits, signed: false });
    build.interact(OpKind::PairMask { bits, dst: mask });
    let mut circuit = tacit_circuit::Builder::new();
    let [x, y] = [(); 2].map(|()| circuit.input(bits.into()));
    let left = arith::subtract(&mut circuit, Style::Small, &x, &y);
    let circuit = Arc::new(Layered::new(&circuit.finish(vec![left])));
    let inputs = vec![Operand::Each(given), Operand::Each(mask)];
    build.interact(OpKind::Circuit { circuit, inputs, dst: difference });
    let dst = build.ring(width, count);
    build.interact(OpKind::Compose { a: difference, mask, dst });
    build.output(dst, To::All);
    build.finish()
}

fn case(protocol: &'static dyn Protocol, width: Width, count: usize) -> (Case, Vec<u64>) {
    let mut rng = Rng::new(count as u64);
    let numbers: Vec<u64> = (0..count).map(|_| rng.word() >> (64 - width.bits())).collect();
    (Case::new(protocol, 3, plan(width, count), std::slice::from_ref(&numbers)), numbers)
}

/// Of one third and of three, of a part of a message and of several.
#[test]
fn numbers_are_those_of_their_bits_and_cost_what_is_declared() {
    for width in Width::ALL {
        for count in [1, 3, 511, 512, 513, 1025, 1537, 30_000] {
            let (case, numbers) = case(&Replicated::COMPUTATIONAL, width, count);
            for outcome in case.run(&Draws::fixed(2)).outcomes() {
                assert_eq!(outcome.outputs[0].as_ref().unwrap().to_words(), numbers, "{width:?}, {count}");
            }
            let clear = case.run_in_the_clear().unwrap();
            assert_eq!(clear.outputs[0].as_ref().unwrap().to_words(), numbers, "{width:?}, {count}");
            cost::check_case(case, &format!("{count} of {width:?}"));
        }
    }
}

/// Whoever is shown a difference, knows its mask, or is sent nothing; also if it sends wrong bits in the circuit before.
#[test]
fn what_each_party_sees_is_uniform() {
    let subject = subject(&Replicated::COMPUTATIONAL);
    for (width, count) in [(Width::W8, 1030), (Width::W64, 2)] {
        let (case, _) = case(&Replicated::COMPUTATIONAL, width, count);
        for corrupt in 0..3 {
            for conduct in [Conduct::Honest, Conduct::FixedFlips, Conduct::RandomFlips] {
                let seen = views::check(&subject, &case, &[corrupt], conduct);
                assert!(seen.is_ok(), "P{corrupt}, {width:?}, {conduct:?}: {}", seen.unwrap_err());
            }
        }
    }
}

#[test]
fn a_missing_mask_is_seen() {
    let bare = Altered::beginning_with(&Replicated::COMPUTATIONAL, |_| plant(&[Mistake::PairUnmasked]));
    let (case, _) = case(bare, Width::W8, 3);
    let seen = |corrupt: usize| views::check(&subject(bare), &case, &[corrupt], Conduct::Honest).is_ok();
    // P_2 is shown the differences of the first third.
    assert_eq!([0, 1, 2].map(seen), [true, true, false]);
}

type Function = fn(&mut tacit_program::Builder, [NodeId; 2]) -> Result<NodeId, ProgramError>;

const FUNCTIONS: [(&str, Function); 4] = [
    ("ratio", |build, [a, b]| build.ratio(a, b)),
    ("quotient", |build, [a, b]| {
        let [a, b] = [build.raw_as(a, 0)?, build.raw_as(b, 0)?];
        build.quotient(a, b)
    }),
    ("sqrt", |build, [a, _]| build.sqrt(a)),
    ("piecewise", |build, [a, _]| {
        let pieces = Pieces::Even { low: -64, high: 63, bits: 5 };
        let function = Piecewise::new(pieces, 5, 1, 2, Arc::new([-9, 40, 7, 3, 0, -5, 100, 31]));
        build.piecewise(a, function.expect("two terms for each piece").into(), 4)
    }),
];

fn program(function: Function, bits: u32, len: usize) -> Program {
    let mut build = tacit_program::Builder::new();
    let half = 1_i128 << (bits - 1);
    let mut input = |name, low| {
        build.input("P1", name, Dtype::Fixed { frac: 4 }, &[len], Range::new(low, half - 1)).unwrap()
    };
    let both = [input("a", -half), input("b", 1)];
    let result = function(&mut build, both).unwrap();
    build.reveal(result, Recipient::All).unwrap();
    build.finish().unwrap()
}

/// Signed results and others, of few bits and many.
#[test]
fn functions_are_exact() {
    let (subject, mut rng) = (subject(&COMPOSING), Rng::new(4));
    for (name, function) in FUNCTIONS {
        for (bits, len) in [(5, 1), (8, 513), (20, 65), (40, 1100)] {
            let what = format!("{name} of {len} numbers of {bits} bits");
            let program = program(function, bits, len);
            let plan = subject.lowered(&program).plan;
            assert!(plan.ops.iter().any(|op| matches!(op.kind, OpKind::Compose { .. })), "{what}");
            equality::check(&subject, &program, &mut rng, &what);
            cost::check(&subject, &program, &what);
        }
    }
}

/// As many as there have to be for it to be cheaper.
#[test]
fn many_results_are_composed_by_the_protocol_as_it_is() {
    let subject = subject(&Replicated::COMPUTATIONAL);
    let program = program(FUNCTIONS[0].1, 12, 20_000);
    let plan = subject.lowered(&program).plan;
    assert!(plan.ops.iter().any(|op| matches!(op.kind, OpKind::Compose { .. })));
    equality::check(&subject, &program, &mut Rng::new(5), "quotients");
    cost::check(&subject, &program, "quotients");
}

#[test]
fn messages_do_not_depend_on_numbers() {
    let skeleton = |numbers: Vec<u64>| {
        let case = Case::new(&Replicated::COMPUTATIONAL, 3, plan(Width::W16, 1600), &[numbers]);
        case.run(&Draws::fixed(3)).trace.skeleton()
    };
    assert_eq!(skeleton(vec![0; 1600]), skeleton((0..1600).collect()));
}
