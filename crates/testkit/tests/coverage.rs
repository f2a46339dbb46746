//! How many of the suite's programs each protocol runs and refuses, so that none passes the suite by refusing.

use tacit_astra::Astra;
use tacit_engine::Protocol;
use tacit_gmw::GMW;
use tacit_program::Feature;
use tacit_replicated::{Replicated, ReplicatedMalicious};
use tacit_spdz::MASCOT;
use tacit_testkit::conformance::{Subject, counted, lacking};
use tacit_testkit::tenants::{BITS, FIELDS, MACS};

fn subject(protocol: &'static dyn Protocol, parties: usize) -> Subject {
    Subject::new(protocol, parties)
}

/// Of so few parties as the protocol is for at least, and of others.
fn check_all(protocol: &'static dyn Protocol, sizes: &[usize], runs_and_refuses: [usize; 2]) {
    assert!(sizes.contains(protocol.spec().parties.start()), "{}: {sizes:?}", protocol.spec().name);
    for &parties in sizes {
        check(protocol, parties, runs_and_refuses);
    }
}

fn check(protocol: &'static dyn Protocol, parties: usize, runs_and_refuses: [usize; 2]) {
    let counts = counted(&subject(protocol, parties));
    assert_eq!(counts, runs_and_refuses, "{}: runs and refuses", protocol.spec().name);
}

#[test]
fn of_protocols_with_rings() {
    check(&Replicated::COMPUTATIONAL, 3, [1364, 0]);
    // Without arithmetic modulo primes; what needs more than 64 bits has bits.
    check(&ReplicatedMalicious::SOUNDNESS_50, 3, [1328, 36]);
    // Without shuffles.
    check(&Replicated::INFORMATION_THEORETIC, 3, [1317, 47]);
    check(&Astra::SEMI_HONEST, 3, [1317, 47]);
    check(&Astra::SEMI_HONEST_GARBLED, 3, [1317, 47]);
    check(&Astra::MALICIOUS, 3, [1317, 47]);
    check(&Astra::MALICIOUS_GARBLED, 3, [1317, 47]);
    check(&Astra::FAIR, 3, [1317, 47]);
}

#[test]
fn of_a_protocol_with_bits_alone() {
    check(&ReplicatedMalicious::FIAT_SHAMIR, 3, [1283, 81]);
}

#[test]
fn of_the_model_tenants() {
    let sizes = [2, 3, 5, 12];
    check_all(&BITS, &sizes, [1283, 81]);
    check_all(&FIELDS, &sizes, [1030, 334]);
    check_all(&MACS, &sizes, [1030, 334]);
}

#[test]
fn of_gmw() {
    check_all(&GMW, &[2, 12], [1283, 81]);
}

/// As what has numbers in fields, but for those in the smaller one.
#[test]
fn of_mascot() {
    check_all(&MASCOT, &[2, 3], [1013, 351]);
}

/// Numbers in fields have comparisons, truncation and circuits. What is refused has numbers modulo powers of two, or makes a
/// bool an element of the smaller field, or is shuffled.
#[test]
fn what_numbers_in_fields_lack() {
    let lacking = Vec::from_iter(lacking(&subject(&FIELDS, 3)));
    let shuffles = Feature::Shuffle.description();
    let bools = "bools as integers modulo a power of two; it computes modulo one prime";
    let [powers, wide] = [Feature::Rings, Feature::WideRings].map(Feature::description);
    assert_eq!(lacking, [(powers, 250), (wide, 51), (bools, 5), (shuffles, 28)]);
}
