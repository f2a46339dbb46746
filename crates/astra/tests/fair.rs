//! `astra-fair`: the suite, and that it is fair.

#[path = "fair/fairness.rs"]
mod fairness;
#[path = "order/sorts.rs"]
mod sorts;

use sorts::SORTS;
use std::time::Duration;
use tacit_astra::Astra;
use tacit_astra::step;
use tacit_engine::Protocol;
use tacit_net::{Frame, Limits};
use tacit_program::cost::Phase;
use tacit_program::{Builder, Dtype, Program, Range, Recipient};
use tacit_testkit::conformance::attacks;
use tacit_testkit::conformance::order::{Release, held_to};
use tacit_testkit::conformance::{self, Subject};
use tacit_testkit::links::Medium;
use tacit_testkit::{Case, Draws, Fate, Run, with_parameters};

const SUBJECT: fn() -> Subject = || Subject {
    baseline: concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/wire/astra-fair.txt").into(),
    sorts: &SORTS,
    ..Subject::new(&Astra::FAIR, 3)
};

tacit_testkit::conformance!(Subject { one_in: 2, ..SUBJECT() }; views: input input_bits circuit and mul matmul);

/// All that the suite tries: each time it's one in two.
#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn the_whole_suite() {
    conformance::whole(&SUBJECT());
}

/// Products of numbers, for each of the parties and one for one of them, or another; the second operand's owner is given.
fn program(len: usize, owner: &str, one: &str) -> Program {
    let mut build = Builder::new();
    let range = Range::new(-50, 50);
    let mut input = |owner: &str| build.input(owner, owner, Dtype::Int, &[len], range).unwrap();
    let [a, b, c] = ["P0", owner, "P2"].map(&mut input);
    let product = build.mul(a, b).unwrap();
    let less = build.less(product, c).unwrap();
    for party in ["P0", "P1", "P2"] {
        build.reveal(product, Recipient::Role(party.into())).unwrap();
    }
    build.reveal(less, Recipient::Role(one.into())).unwrap();
    build.reveal(a, Recipient::Role("P2".into())).unwrap();
    build.finish().unwrap()
}

fn lowered(protocol: &'static dyn Protocol, program: &Program) -> Case {
    let len = program.input_types()[0].shape[0] as u64;
    let inputs: Vec<Vec<u64>> = (1..4).map(|owner| (0..len).map(|at| owner * at % 50).collect()).collect();
    let plan = tacit_program::lower(program, protocol.capabilities()).unwrap().plan;
    Case::new(protocol, 3, plan, &inputs)
}

#[test]
fn outputs_are_right_whoever_sits_where() {
    for (roles, comparison) in [
        ("012", "prefix"),
        ("021", "garbled"),
        ("102", "prefix"),
        ("120", "prefix"),
        ("201", "garbled"),
        ("210", "prefix"),
    ] {
        let parameters = [("roles", roles), ("comparison", comparison)];
        let protocol = with_parameters(&Astra::FAIR, &parameters);
        for len in [1, 64, 65, 20_000] {
            let case = lowered(protocol, &program(len, "alice", "P1"));
            let expected = case.run_in_the_clear().unwrap();
            let run = case.run(&Draws::fixed(1));
            for (party, outcome) in run.outcomes()[..3].iter().enumerate() {
                for (got, want) in outcome.outputs.iter().zip(&expected.outputs) {
                    assert!(got.is_none() || got == want, "{roles}, {len}, P{party}");
                }
                let learned = [party == 0, party == 1, party == 2, party == 1, party == 2];
                assert!(outcome.outputs.iter().map(Option::is_some).eq(learned), "{roles}, {len}, P{party}");
            }
        }
    }
}

#[test]
fn costs_are_exact() {
    for len in [1, 7, 65, 513] {
        for (owner, one) in [("P1", "P0"), ("alice", "P1"), ("P1", "P2")] {
            for protocol in [&Astra::FAIR, &Astra::FAIR_GARBLED] {
                let subject = Subject { protocol, ..SUBJECT() };
                conformance::cost::check(
                    &subject,
                    &program(len, owner, one),
                    &format!("{len}, {one}, {protocol:?}"),
                );
            }
        }
    }
}

/// When messages of a part were sent first and arrived last, in milliseconds: frames take one, computing nothing.
fn sent_and_arrived(run: &Run, part: u16) -> Option<[u128; 2]> {
    let of_part = run.trace.deliveries().iter().filter(|message| message.at.part == part);
    let times = of_part.map(|message| [message.sent, message.arrived].map(|time| time.as_millis()));
    times.reduce(|[sent, arrived], [other, later]| [sent.min(other), arrived.max(later)])
}

#[test]
fn outputs_take_six_rounds_after_the_evaluators_words_and_one_ahead() {
    for roles in ["012", "201"] {
        let protocol = with_parameters(&Astra::FAIR, &[("roles", roles)]);
        let case = lowered(protocol, &program(3, "P1", "P0"));
        let run = case.run(&Draws::fixed(1));
        run.outcomes();
        let of = |part| sent_and_arrived(&run, part).expect("such messages are sent");
        // P_0 has said its own a round before, with the digests that the others wait for.
        let start = of(step::ACCEPT)[1];
        let steps = [
            step::FAIR_VERDICT,
            step::FAIR_READY,
            step::FAIR_COMMITMENT,
            step::FAIR_SIGNAL,
            step::FAIR_REPORT,
            step::FAIR_OPENING,
        ];
        for (part, round) in steps.into_iter().zip(start..) {
            // P_0 opens its masks along with its signal.
            let sent = if part == step::FAIR_OPENING { round - 2 } else { round };
            assert_eq!(of(part), [sent, round + 1], "roles {roles}, part {part:#x}");
        }
        assert_eq!(of(step::OUTPUT)[1], start + 6);

        // Beside those of the protocol without fair outputs, whose outputs take a round after the verdicts, too.
        let unfair = with_parameters(&Astra::MALICIOUS, &[("roles", roles)]);
        let rounds = |protocol: &dyn Protocol, phase| -> u64 {
            let rounds = protocol.checks(&case.plan, case.roles()).rounds.into_iter();
            rounds.filter(|(of, _)| *of == phase).map(|(_, rounds)| rounds).sum()
        };
        assert_eq!(rounds(protocol, Phase::Verify), rounds(unfair, Phase::Verify) + 5);
        assert_eq!(rounds(protocol, Phase::Offline), rounds(unfair, Phase::Offline) + 1);
        let took =
            |protocol| lowered(protocol, &program(3, "P1", "P0")).run(&Draws::fixed(1)).took.as_millis();
        assert_eq!(took(protocol), took(unfair) + 6);
    }
}

/// Comparisons that wait for one another, each of which takes an evaluator four seconds: 48 in all, in which `P_0` has
/// nothing to do.
#[test]
fn evaluators_take_their_time() {
    let mut build = Builder::new();
    let range = Range::new(-50, 50);
    let [a, b] = ["P0", "P1"].map(|owner| build.input(owner, owner, Dtype::Int, &[3], range).unwrap());
    let mut greatest = a;
    for _ in 0..12 {
        let less = build.less(greatest, b).unwrap();
        greatest = build.select(less, b, greatest).unwrap();
    }
    build.reveal(greatest, Recipient::Role("P0".into())).unwrap();
    let program = build.finish().unwrap();
    let plan = tacit_program::lower(&program, Astra::FAIR_GARBLED.capabilities()).unwrap().plan;
    let case = Case::new(&Astra::FAIR_GARBLED, 3, plan, &[vec![1, 2, 3], vec![3, 2, 1]]);
    for slow in [1, 2] {
        let world = case.world().charging(move |party, frame: &Frame| {
            let computes = (step::OPERATION..step::MASKED).contains(&frame.at.part);
            if party == slow && computes { Duration::from_secs(4) } else { Duration::ZERO }
        });
        let run = case.run_in(&world, &Draws::fixed(1));
        run.outcomes();
        assert!(run.took > 4 * case.limits.silence, "{:?}", run.took);
    }
}

/// What is opened to one party from one sender has to be in its inbox while the other one is waited for.
#[test]
fn outputs_that_do_not_fit_in_an_inbox_are_refused_before_inputs() {
    let case = |inbox: usize, frame: usize| {
        let mut build = Builder::new();
        let range = Range::new(-(1 << 40), 1 << 40);
        let a = build.input("alice", "a", Dtype::Int, &[30_000], range).unwrap();
        for party in ["P0", "P1", "P2"] {
            build.reveal(a, Recipient::Role(party.into())).unwrap();
        }
        let program = build.finish().unwrap();
        let plan = tacit_program::lower(&program, Astra::FAIR.capabilities()).unwrap().plan;
        let mut case = Case::new(&Astra::FAIR, 3, plan, &[vec![7; 30_000]]);
        case.limits = Limits { inbox, frame, ..Limits::default() };
        case
    };
    let refused = |case: &Case, says: &str| {
        let run = case.run(&Draws::fixed(1));
        for ending in run.endings.iter().flatten() {
            let error = ending.result.as_ref().expect_err("the outputs are too large").to_string();
            assert!(error.contains(says), "{error}");
        }
        let parts = run.trace.deliveries().iter().map(|delivery| delivery.at.part);
        assert!(parts.into_iter().all(|part| part < step::INPUT), "nothing but the handshake is sent");
    };
    // Elements of eight bytes in messages of 64 KiB, and what the steps have under way besides.
    let messages = [65_536, 65_536, 65_536, 43_392, 49, 17, 32];
    let needed = Limits::inbox_bytes(messages);
    refused(&case(needed - 1, messages[0]), "raise inbox_bytes under [limits] in every party's parties.toml");
    refused(&case(needed, messages[0] - 1), "frame_bytes");
    // With so much room both evaluators' openings are there, also if one says nothing until the time is over.
    let case = case(needed, messages[0]);
    case.run(&Draws::fixed(1)).outcomes();
    for corrupt in [1, 2] {
        let world = case.world().intercept(Box::new(move |message| {
            let opens = matches!(message.frame.at.part, step::FAIR_OPENING | step::OUTPUT);
            let withheld = (message.from, message.to) == (corrupt, 0) && opens;
            if withheld { Fate::Cut } else { Fate::Deliver }
        }));
        let run = case.run_in(&world, &Draws::fixed(1));
        let expected = case.run_in_the_clear().unwrap();
        let first = run.outcomes()[0];
        assert_eq!(first.outputs[0], expected.outputs[0]);
        assert!(run.took > 9 * case.limits.silence);
    }
}

/// What has to be where before what, where `P0` is the party of that number. What evaluators open waits for a time in which no
/// valid abort comes, not for messages: of that, the attack programs are the test.
const fn order<const FIRST: usize>() -> [Release; 4] {
    [
        Release {
            what: "the verdict, which starts P0's clock",
            after: "both evaluators' words, at P0",
            is: |sent| sent.at.part == step::FAIR_VERDICT,
            waits_for: |released, held| held.at.part == step::ACCEPT && held.to == released.from,
        },
        Release {
            what: "that an evaluator is ready",
            after: "the verdict and the other's word, at the evaluator",
            is: |sent| sent.at.part == step::FAIR_READY,
            waits_for: |released, held| {
                matches!(held.at.part, step::ACCEPT | step::FAIR_VERDICT) && held.to == released.from
            },
        },
        Release {
            what: "an evaluator's commitment",
            after: "that the other one is ready, at the evaluator",
            is: |sent| sent.at.part == step::FAIR_COMMITMENT,
            waits_for: |released, held| held.at.part == step::FAIR_READY && held.to == released.from,
        },
        Release {
            what: "P0's openings",
            after: "both commitments, at P0",
            is: |sent| sent.from == FIRST && matches!(sent.at.part, step::FAIR_OPENING | step::OUTPUT),
            waits_for: |released, held| held.at.part == step::FAIR_COMMITMENT && held.to == released.from,
        },
    ]
}

/// In every order of roles, where the first letter is the party that plays `P0`.
#[test]
fn nothing_is_released_early() {
    for (roles, order) in [
        ("012", order::<0>()),
        ("021", order::<0>()),
        ("102", order::<1>()),
        ("120", order::<1>()),
        ("201", order::<2>()),
        ("210", order::<2>()),
    ] {
        let cases = [&Astra::FAIR, &Astra::FAIR_GARBLED]
            .map(|protocol| lowered(with_parameters(protocol, &[("roles", roles)]), &program(3, "P1", "P0")));
        held_to(&cases, &order, 1);
    }
}

#[test]
fn one_that_deviates() {
    let tally = fairness::random(&SUBJECT(), 0..200);
    assert_eq!(tally.unfair, 0);
    assert!(tally.all > 25 && tally.nobody > 25, "{tally:?}");
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn many_that_deviate() {
    assert_eq!(fairness::random(&SUBJECT(), 200..2000).unfair, 0);
}

mod attackers {
    use super::*;

    #[test]
    fn the_messages_of_every_and() {
        attacks::every_and(&SUBJECT(), 7);
    }

    #[test]
    fn every_byte() {
        attacks::every_byte(&SUBJECT(), 13);
    }

    #[test]
    #[ignore = "takes a minute; `make test-long` runs it"]
    fn really_every_byte() {
        attacks::every_and(&SUBJECT(), 1);
        attacks::every_byte(&SUBJECT(), 1);
    }

    #[test]
    fn random() {
        // Outputs have no hashes, as each component travels twice.
        let sorts = sorts::all_but(&["a key of outputs", "a digest of an output"]);
        assert_eq!(attacks::random(&SUBJECT(), 0..300).sorts(), sorts);
    }

    #[test]
    #[ignore = "takes a minute; `make test-long` runs it"]
    fn many_random() {
        attacks::random(&SUBJECT(), 10_000..20_000);
    }

    #[test]
    fn a_party_and_a_client_together() {
        assert!(attacks::together(&SUBJECT(), 0..150) > 50);
    }

    #[test]
    fn over_tls() {
        attacks::over(&SUBJECT(), Medium::Tls, 0..36);
    }
}
