//! The suite for the protocol that proves its ANDs.

use tacit_replicated::ReplicatedMalicious;
use tacit_testkit::conformance::{self, Subject};

const KINDS: [&ReplicatedMalicious; 5] = [
    &ReplicatedMalicious::SOUNDNESS_50,
    &ReplicatedMalicious::SOUNDNESS_100,
    &ReplicatedMalicious::FIAT_SHAMIR,
    &ReplicatedMalicious::LI_2023,
    &ReplicatedMalicious::BOYLE_2019,
];

fn subject(protocol: &'static ReplicatedMalicious) -> Subject {
    Subject {
        protocol,
        told: client_seed,
        fresh_masks: false,
        baseline: concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/wire/replicated-malicious.txt").into(),
    }
}

/// A client draws two seeds: that of x_0, which P_0 and P_1 get, and that of x_1, which P_1 and P_2 get.
fn client_seed(corrupt: usize, _client: usize, call: usize) -> bool {
    match call {
        0 => corrupt == 0 || corrupt == 1,
        _ => corrupt == 1 || corrupt == 2,
    }
}

#[test]
fn circuits() {
    for kind in KINDS {
        conformance::circuits::random(&subject(kind), 0..20);
    }
}

#[test]
fn tiles() {
    conformance::circuits::tiles(&subject(&ReplicatedMalicious::SOUNDNESS_50));
}
