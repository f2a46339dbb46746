//! Nothing is released before all that it waits for is where it must be, whoever withholds it.

#[path = "order/cases.rs"]
mod cases;
#[path = "order/table.rs"]
mod table;

use tacit_engine::Protocol;
use tacit_replicated::ReplicatedMalicious;
use tacit_testkit::conformance::order::held_to;
use tacit_testkit::with_parameters;

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
