//! Mistakes planted in shuffles and openings of `replicated-malicious`: each lets an attacker through whom the right
//! form notices, or lets something out too early.

#[path = "../../replicated/tests/order/messages.rs"]
mod messages;
#[path = "../../replicated/tests/order/openings.rs"]
mod openings;

use std::collections::BTreeSet;

use tacit_engine::Protocol;
use tacit_program::plan::{Builder, Domain, OpKind, Opening, To, Width};
use tacit_replicated::ReplicatedMalicious;
use tacit_replicated::planted::{Mistake, plant};
use tacit_testkit::conformance::order::withheld;
use tacit_testkit::{Altered, Case, Draws, Fate, Message, Run};

/// Columns of each case.
const COLS: usize = 9;

fn mistaken(mistakes: &'static [Mistake]) -> &'static dyn Protocol {
    Altered::beginning_with(&ReplicatedMalicious::SOUNDNESS_50, move |_| plant(mistakes))
}

/// The protocol in which only one party has mistakes: it deviates so.
fn deviating(corrupt: usize, its: &'static [Mistake], all: &'static [Mistake]) -> &'static dyn Protocol {
    let plant = move |endpoint| plant(if endpoint == corrupt { its } else { all });
    Altered::beginning_with(&ReplicatedMalicious::SOUNDNESS_50, plant)
}

/// A shuffle, and an opening of what comes of it.
fn opened_at_once(mistakes: &'static [Mistake]) -> Case {
    let mut build = Builder::new();
    let owner = build.role("P0");
    let [numbers, dst] = [(); 2].map(|()| build.ring(Width::W8, COLS));
    build.input(owner, numbers);
    build.interact(OpKind::Shuffle { cols: vec![numbers], blocks: COLS, turns: 3, dst: vec![dst] });
    let known = build.public(Domain::Ring(Width::W8), COLS);
    build.interact(OpKind::Open { a: dst, dst: known, how: Opening::Verified });
    build.output(dst, To::All);
    Case::new(mistaken(mistakes), 3, build.finish(), &[(0..COLS as u64).collect()])
}

/// A run in which a bit is flipped of all messages of such an operation on a link.
fn altered(case: &Case, (from, to): (usize, usize), op: u32) -> Run {
    let interceptor = Box::new(move |message: &Message<'_>| {
        let at = message.frame.at;
        if (message.from, message.to, at.op) != (from, to, op) || !is_operation(at.part) {
            return Fate::Deliver;
        }
        let mut frame = message.frame.clone();
        frame.payload[0] ^= 1;
        Fate::Replace(vec![frame])
    });
    case.run_in(&case.world().intercept(interceptor), &Draws::fixed(1))
}

fn is_operation(part: u16) -> bool {
    (tacit_replicated::step::OPERATION..tacit_replicated::step::PROOF_BACK).contains(&part)
}

/// What endpoints say that failed.
fn errors(run: &Run) -> Vec<String> {
    let errors = run.endings.iter().flatten().filter_map(|ending| ending.result.as_ref().err());
    errors.map(ToString::to_string).collect()
}

/// Whether anything was opened in the middle of a run.
fn is_opened(run: &Run, case: &Case) -> bool {
    let stages = run.trace.deliveries().iter().filter_map(|delivery| delivery.stage(&case.plan));
    stages.into_iter().any(|(op, _)| matches!(case.plan.op(op).kind, OpKind::Open { .. }))
}

fn fails(run: &Run) -> bool {
    errors(run).iter().any(|error| error.contains("its products right fails"))
}

/// Every message of a shuffle: it is proved, and that before anything is opened.
#[test]
fn shuffles_that_are_not_noted() {
    let unnoted = opened_at_once(&[Mistake::ShuffleUnnoted]).run(&Draws::fixed(1));
    assert_eq!(errors(&unnoted).len(), 3, "the count shows it to all");
    assert!(errors(&unnoted).iter().all(|error| error.contains("not all products were proved")));
    let case = opened_at_once(&[]);
    let lone = opened_at_once(&[Mistake::ShuffleUnnoted, Mistake::NotCounted, Mistake::OpeningUnconfirmed]);
    for link in [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)] {
        let run = altered(&case, link, 0);
        assert!(fails(&run) && !is_opened(&run, &case), "{link:?}: {:?}", errors(&run));
        let run = altered(&lone, link, 0);
        assert!(!fails(&run) && is_opened(&run, &lone), "{link:?}: nobody notices");
    }
}

fn case_of(mistakes: &'static [Mistake]) -> Case {
    openings::opened(mistaken(mistakes), COLS)
}

/// A party whose orders aren't one to one, in both turns in which it knows them: a row would be there twice, and
/// whoever sees that two rows are equal would have its place.
#[test]
fn an_order_that_is_not_one_to_one() {
    let case = case_of(&[]);
    for corrupt in 0..3 {
        let run =
            openings::opened(deviating(corrupt, &[Mistake::ShuffleTwice], &[]), COLS).run(&Draws::fixed(1));
        assert!(fails(&run) && !is_opened(&run, &case), "P{corrupt}");
        let its = &[Mistake::ShuffleTwice, Mistake::ShuffleUnnoted, Mistake::NotCounted];
        let all = &[Mistake::ShuffleUnnoted, Mistake::NotCounted];
        let run = openings::opened(deviating(corrupt, its, all), COLS).run(&Draws::fixed(1));
        assert!(is_opened(&run, &case), "P{corrupt}: nobody notices");
    }
}

/// Who opens another component than it has.
#[test]
fn components_of_openings_that_are_not_compared() {
    for op in openings::OPENINGS {
        for from in 0..3 {
            let link = (from, (from + 2) % 3);
            let says =
                |run: &Run| errors(run).iter().any(|error| error.contains("components of what was opened"));
            assert!(says(&altered(&case_of(&[]), link, op)), "{link:?}");
            assert!(!says(&altered(&case_of(&[Mistake::OpeningUnconfirmed]), link, op)), "{link:?}");
        }
    }
}

/// What is opened before it is proved, or before all accept, leaves early.
#[test]
fn openings_before_what_they_depend_on() {
    let early = |mistakes| {
        let tried = withheld(&case_of(mistakes), &openings::OPENED, 1, None);
        tried.early.into_iter().map(|early| early.what).collect::<BTreeSet<&str>>()
    };
    assert_eq!(early(&[]), BTreeSet::new());
    // Without proofs before it there is no acceptance to wait for; that an AND is wrong shows only after it was opened.
    for link in [(0, 1), (1, 2), (2, 0)] {
        for op in [1, 3] {
            let case = case_of(&[]);
            let run = altered(&case, link, op);
            let opened = |run: &Run| {
                let stages = run.trace.deliveries().iter().filter_map(|sent| sent.stage(&case.plan));
                stages.into_iter().any(|(at, _)| at == op + 1)
            };
            assert!(!errors(&run).is_empty() && !opened(&run), "{link:?}, operation {op}");
            let run = altered(&case_of(&[Mistake::OpenedUnproved]), link, op);
            assert!(!errors(&run).is_empty() && opened(&run), "{link:?}, operation {op}: it leaves early");
        }
    }
}

/// A verifier that has found a fault has others open all the same, if they don't wait until it accepts.
#[test]
fn openings_that_wait_for_no_acceptance() {
    let proofs = |mistakes: &'static [Mistake]| {
        // The last message of the first proof to each party is withheld: it can't accept.
        let case = openings::opened(mistaken(mistakes), COLS);
        (0..3).any(|deaf| {
            let interceptor = Box::new(move |message: &Message<'_>| {
                let at = message.frame.at;
                let last = at.is_aside() && at.batch == openings::STEPS[0] - 1;
                if message.to == deaf && last { Fate::Cut } else { Fate::Deliver }
            });
            let run = case.run_in(&case.world().intercept(interceptor), &Draws::fixed(1));
            is_opened(&run, &case)
        })
    };
    assert!(!proofs(&[]));
    assert!(proofs(&[Mistake::OpenedUnaccepted]));
}
