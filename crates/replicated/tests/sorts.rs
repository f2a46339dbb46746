//! A party deviates in a sort of `replicated-malicious`: nobody has a wrong output, and nothing is opened of a
//! shuffle that is wrong.

use tacit_engine::Protocol;
use tacit_program::plan::OpKind;
use tacit_program::{Builder, Dtype, Range, Recipient, lower};
use tacit_replicated::ReplicatedMalicious;
use tacit_testkit::{Case, Delivery, Draws, Fate, Message, Rng, Run, with_parameters};

/// Parties; clients have higher numbers.
const PARTIES: usize = 3;

/// So many rows of keys of two owners, with bits beside them: for all, and for a client.
fn case(parameters: &[(&str, &str)], rows: usize) -> Case {
    let protocol: &dyn Protocol = with_parameters(&ReplicatedMalicious::SOUNDNESS_50, parameters);
    let mut build = Builder::new();
    let keys = ["P0", "alice"]
        .map(|owner| build.input(owner, "keys", Dtype::Int, &[1, rows], Range::new(0, 9)).unwrap());
    let keys = build.add(keys[0], keys[1]).unwrap();
    let beside = build.input("P2", "beside", Dtype::Bool, &[1, rows], None).unwrap();
    let sorted = build.sort(keys, &[beside]).unwrap();
    build.reveal(sorted[0], Recipient::All).unwrap();
    build.reveal(sorted[1], Recipient::Role("carol".to_owned())).unwrap();
    let plan = lower(&build.finish().unwrap(), protocol.capabilities()).unwrap().plan;
    let has = |kind: fn(&OpKind) -> bool| plan.ops.iter().any(|op| kind(&op.kind));
    assert!(has(|kind| matches!(kind, OpKind::Shuffle { .. })), "rows are shuffled");
    assert!(has(|kind| matches!(kind, OpKind::Open { .. })), "outcomes are opened");
    let inputs = [7, 5, 2].map(|step| (0..rows as u64).map(|at| at * step % 10 % step.max(2)).collect());
    Case::new(protocol, 3, plan, &inputs)
}

/// Whether a message is one of a shuffle, and whether it is one of an opening.
fn is_of(case: &Case, delivery: &Delivery, kind: fn(&OpKind) -> bool) -> bool {
    delivery.stage(&case.plan).is_some_and(|(op, _)| kind(&case.plan.op(op).kind))
}

fn is_shuffle(kind: &OpKind) -> bool {
    matches!(kind, OpKind::Shuffle { .. })
}

fn is_opening(kind: &OpKind) -> bool {
    matches!(kind, OpKind::Open { .. })
}

/// A run in which a bit of the `nth` message of a link is another one.
fn altered(case: &Case, (from, to, nth): (usize, usize, usize), bit: usize) -> Run {
    let interceptor = Box::new(move |message: &Message<'_>| {
        if (message.from, message.to, message.nth) != (from, to, nth) {
            return Fate::Deliver;
        }
        let mut frame = message.frame.clone();
        if let Some(byte) = frame.payload.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
        Fate::Replace(vec![frame])
    });
    case.run_in(&case.world().intercept(interceptor), &Draws::fixed(1))
}

/// The messages of an honest run that parties sent, each with its place on its link.
fn messages(case: &Case) -> Vec<((usize, usize, usize), Delivery)> {
    let run = case.run(&Draws::fixed(1));
    run.outcomes();
    let mut counts = [[0; 8]; 8];
    let count = |delivery: &Delivery| {
        let nth = &mut counts[delivery.from][delivery.to];
        *nth += 1;
        ((delivery.from, delivery.to, *nth - 1), delivery.clone())
    };
    let all: Vec<_> = run.trace.deliveries().iter().map(count).collect();
    all.into_iter().filter(|((from, ..), delivery)| *from < PARTIES && !delivery.payload.is_empty()).collect()
}

/// Whoever has an output has the right one.
fn are_right(case: &Case, run: &Run, corrupt: usize, what: &str) -> bool {
    let honest = case.run(&Draws::fixed(1));
    let expected: Vec<_> = honest.outcomes().into_iter().map(|outcome| outcome.outputs.clone()).collect();
    let mut all = true;
    for (endpoint, ending) in run.endings.iter().enumerate().filter(|(endpoint, _)| *endpoint != corrupt) {
        match ending.as_ref().map(|ending| &ending.result) {
            Some(Ok(outcome)) => assert_eq!(outcome.outputs, expected[endpoint], "{what}"),
            _ => all = false,
        }
    }
    all
}

/// Each message of a sort, in batches large and small, with a bit that is another one.
#[test]
fn no_altered_message_makes_an_output_wrong() {
    let mut rng = Rng::new(11);
    for (parameters, rows, stride) in
        [(&[][..], 9, 1), (&[("batch", "64")], 70, 7), (&[("soundness", "100")], 9, 5)]
    {
        let case = case(parameters, rows);
        for (link, delivery) in messages(&case).into_iter().step_by(stride) {
            let bit = rng.below(8 * delivery.payload.len());
            let run = altered(&case, link, bit);
            are_right(&case, &run, link.0, &format!("{link:?}, bit {bit}"));
        }
    }
}

/// An element of a shuffle, in each turn and of each party that sends any: the run fails before anything is opened. So nothing is
/// learned of where a row stood.
#[test]
fn nothing_is_opened_after_a_wrong_shuffle() {
    for parameters in [&[][..], &[("batch", "64")], &[("soundness", "100")]] {
        let case = case(parameters, 9);
        let shuffled: Vec<_> =
            messages(&case).into_iter().filter(|(_, delivery)| is_of(&case, delivery, is_shuffle)).collect();
        assert_eq!(shuffled.len(), 6, "two messages in each of three turns");
        for (link, delivery) in shuffled {
            // Of each column: the places, the keys, and the bits, which stand in the last bytes.
            for bit in [0, 31, 32 * 9, 8 * (delivery.payload.len() - 2)] {
                let run = altered(&case, link, bit);
                assert!(!are_right(&case, &run, link.0, "it fails"), "{link:?}, bit {bit}");
                let opened = run.trace.deliveries().iter().filter(|sent| is_of(&case, sent, is_opening));
                assert_eq!(opened.count(), 0, "{link:?}, bit {bit}");
            }
        }
    }
}

/// A component that is opened, and the digest of it, come from two parties: who is told another one ends the run
/// before it computes with it.
#[test]
fn components_that_are_opened_are_compared() {
    let case = case(&[], 9);
    let opened: Vec<_> =
        messages(&case).into_iter().filter(|(_, delivery)| is_of(&case, delivery, is_opening)).collect();
    assert!(opened.len() >= 6 && opened.len() % 6 == 0, "a component and a digest of each party");
    for (link, delivery) in opened {
        let run = altered(&case, link, 0);
        let error = run.endings[link.1].as_ref().and_then(|ending| ending.result.as_ref().err());
        let error = error.expect("the receiver fails").to_string();
        assert!(error.contains("different components of what was opened"), "{link:?}: {error}");
        let (op, _) = delivery.stage(&case.plan).expect("it is an operation's");
        let later = run.trace.link(link.1, link.0).filter_map(|sent| sent.stage(&case.plan));
        assert!(later.into_iter().all(|(later, _)| later <= op), "{link:?}");
    }
}
