//! Nothing is released before all that it waits for is where it must be, whoever withholds it.

#[path = "order/cases.rs"]
mod cases;
#[path = "order/guard.rs"]
mod guard;
#[path = "order/messages.rs"]
mod messages;
#[path = "order/openings.rs"]
mod openings;
#[path = "order/table.rs"]
mod table;

use tacit_engine::Protocol;
use tacit_program::plan::{Builder, OpKind, Plan, Reg, Rows, To, Width};
use tacit_replicated::{ReplicatedMalicious, step};
use tacit_testkit::conformance::order::held_to;
use tacit_testkit::{Draws, with_parameters};

fn with(parameters: &[(&str, &str)]) -> &'static dyn Protocol {
    with_parameters(&ReplicatedMalicious::SOUNDNESS_50, parameters)
}

const ALL: [(&str, &str); 5] = [
    ("soundness", "50"),
    ("soundness", "100"),
    ("challenges", "fiat-shamir"),
    ("proofs", "li-2023"),
    ("proofs", "boyle-2019"),
];

#[test]
fn of_one_batch() {
    for parameter in ALL {
        held_to(&cases::one_batch(with(&[parameter])), &table::ONE_BATCH, 1);
    }
}

#[test]
fn of_any_plan() {
    for parameter in ALL {
        held_to(&cases::one_batch(with(&[parameter])), &table::ANY, 1);
    }
}

#[test]
fn of_products() {
    for parameter in [("soundness", "50"), ("soundness", "100")] {
        let cases = cases::of_products(with(&[parameter]));
        held_to(&cases, &table::ONE_BATCH, 1);
        held_to(&cases, &table::ANY, 1);
    }
}

#[test]
fn of_several_batches() {
    for parameter in [("soundness", "50"), ("soundness", "100"), ("challenges", "fiat-shamir")] {
        // Two full batches and a short one.
        let protocol = with(&[parameter, ("batch", "64")]);
        let cases = [cases::levels(3000), cases::circuit(3000)].map(|plan| cases::case(protocol, plan));
        held_to(&cases, &table::ANY, 1);
    }
}

/// Products and ANDs of the same parties side by side, of several batches each.
fn mixed(cols: usize) -> Plan {
    let mut build = Builder::new();
    let numbers = ["P0", "P1"].map(|owner| {
        let (owner, reg) = (build.role(owner), build.ring(Width::W64, cols));
        build.input(owner, reg);
        reg
    });
    let bits = ["P2", "alice"].map(|owner| cases::given(&mut build, owner, cols));
    let (product, both) = (build.ring(Width::W64, cols), build.bits(1, cols));
    build.interact(OpKind::Mul { a: numbers[0], b: numbers[1], dst: product });
    let [a, b, dst] = [bits[0], bits[1], both].map(|reg| Rows::one(reg, 0));
    build.interact(OpKind::And { a, b, dst });
    let again = build.ring(Width::W64, cols);
    build.interact(OpKind::Mul { a: product, b: numbers[0], dst: again });
    build.output(both, To::All);
    cases::learned(&mut build, again)
}

/// Of products and of ANDs, whose proofs go in the same steps.
#[test]
fn of_several_batches_of_both() {
    for parameter in [("soundness", "50"), ("soundness", "100")] {
        let protocol = with(&[parameter, ("batch", "64")]);
        held_to(&[cases::case(protocol, mixed(3000))], &table::ANY, 1);
    }
}

/// Inputs as numbers and as bits, shuffled together, and a product of two columns.
fn shuffled(cols: usize) -> Plan {
    let mut build = Builder::new();
    let owners = [("P0", Width::W64), ("P1", Width::W8), ("P2", Width::W64)];
    let mut all: Vec<Reg> = owners
        .map(|(owner, width)| {
            let (owner, reg) = (build.role(owner), build.ring(width, cols));
            build.input(owner, reg);
            reg
        })
        .to_vec();
    all.push(cases::given(&mut build, "alice", cols));
    let dst: Vec<Reg> = all.iter().map(|&reg| build.row(build.shape(reg).domain, cols)).collect();
    build.interact(OpKind::Shuffle { cols: all, blocks: cols, turns: 3, dst: dst.clone() });
    let product = build.ring(Width::W64, cols);
    build.interact(OpKind::Mul { a: dst[0], b: dst[2], dst: product });
    build.output(dst[1], To::All);
    build.output(dst[3], To::All);
    cases::learned(&mut build, product)
}

/// Shuffles alone, whose proofs are those of products.
#[test]
fn of_shuffles() {
    for parameter in [("soundness", "50"), ("soundness", "100")] {
        let cases = [1, 20].map(|cols| cases::case(with(&[parameter]), shuffled(cols)));
        held_to(&cases, &table::ONE_BATCH, 1);
        held_to(&cases, &table::ANY, 1);
    }
    // Batches that end in the middle of a turn.
    let small = cases::case(with(&[("batch", "64")]), shuffled(1500));
    held_to(&[small], &table::ANY, 3);
}

/// Nothing is opened before all that it depends on is proved, and everybody has accepted it.
#[test]
fn of_openings() {
    let case = openings::opened(with(&[]), 9);
    let steps = |until: u32| {
        let run = case.run(&Draws::fixed(1));
        let deliveries = run.trace.deliveries();
        let end = deliveries.iter().position(|sent| {
            sent.at.part == step::OPERATION && sent.at.op == openings::OPENINGS[until as usize]
        });
        let proofs = deliveries[..end.expect("it is opened")].iter().filter(|sent| sent.at.is_aside());
        proofs.map(|sent| sent.at.batch + 1).max()
    };
    assert_eq!([steps(0), steps(1)], openings::STEPS.map(Some), "how many steps these proofs have");
    for parameter in [("soundness", "50"), ("soundness", "100")] {
        let table = [&openings::OPENED[..], &table::ANY[1..3]].concat();
        held_to(&[openings::opened(with(&[parameter]), 9)], &table, 1);
    }
}

/// Nothing is opened before all have found that all numbers were in their ranges, and that isn't before everybody has accepted.
#[test]
fn of_guards() {
    for parameter in ALL {
        let case = guard::guarded(with(&[parameter]), 9);
        let table = [&guard::GUARDED[..], &table::ANY[4..6]].concat();
        held_to(&[case], &table, 1);
    }
}
