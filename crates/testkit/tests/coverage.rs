//! How many of the suite's programs each protocol runs and refuses, so that none passes the suite by refusing.

use tacit_astra::{Astra, AstraFair, AstraMalicious};
use tacit_engine::Protocol;
use tacit_replicated::{Replicated, ReplicatedMalicious};
use tacit_testkit::conformance::{Subject, counted};
use tacit_testkit::tenants::{BITS, FIELDS};

fn check(protocol: &'static dyn Protocol, parties: usize, runs_and_refuses: [usize; 2]) {
    let subject = Subject {
        protocol,
        parties,
        told: |_, _, _| false,
        fresh_masks: false,
        baseline: "none".into(),
        broadcasts: false,
        sorts: &[],
        one_in: 1,
    };
    assert_eq!(counted(&subject), runs_and_refuses, "{}: runs and refuses", protocol.spec().name);
}

#[test]
fn of_protocols_with_rings() {
    check(&Replicated::COMPUTATIONAL, 3, [1154, 0]);
    check(&Replicated::INFORMATION_THEORETIC, 3, [1154, 0]);
    check(&Astra::IN_ORDER, 3, [1154, 0]);
    check(&Astra::GARBLED, 3, [1154, 0]);
    check(&AstraMalicious::IN_ORDER, 3, [1154, 0]);
    check(&AstraMalicious::GARBLED, 3, [1154, 0]);
    check(&AstraFair::IN_ORDER, 3, [1154, 0]);
}

#[test]
fn of_a_protocol_with_bits_alone() {
    check(&ReplicatedMalicious::SOUNDNESS_50, 3, [1122, 32]);
}

#[test]
fn of_the_model_tenants() {
    for parties in [2, 3, 5, 12] {
        check(&BITS, parties, [1122, 32]);
        check(&FIELDS, parties, [26, 1128]);
    }
}
