//! A server and the model's owner, or a server and the client, put together what they have: of the other's secret they
//! see what the prediction tells, and nothing else.

use tacit_engine::Protocol;
use tacit_replicated::{Replicated, ReplicatedMalicious};
use tacit_testkit::conformance::Subject;
use tacit_testkit::conformance::predictions::{CLIENT, OWNER, Tells, seen};

/// A client draws two seeds: that of x_0, which P_0 and P_1 get, and that of x_1, which P_1 and P_2 get.
fn subject(protocol: &'static dyn Protocol) -> Subject {
    let told = |corrupt, _client, call| corrupt == 1 || corrupt == 2 * call;
    Subject { told, ..Subject::new(protocol, 3) }
}

#[test]
fn of_a_score() {
    let subject = subject(&Replicated::COMPUTATIONAL);
    // P_0 and P_2 see a component of the other's inputs (4 elements, or 2 + 1), and each server one of two products.
    assert_eq!(seen(&subject, OWNER, Tells::Score), [8 * (4 + 2), 8 * 2, 8 * (4 + 2)]);
    // And the client, of the two others' shares of the output, all but the last.
    assert_eq!(seen(&subject, CLIENT, Tells::Score), [8 * (3 + 2 + 2), 8 * (2 + 2), 8 * (3 + 2 + 2)]);
}

#[test]
fn of_a_sign() {
    let subject = subject(&Replicated::COMPUTATIONAL);
    for other in [OWNER, CLIENT] {
        assert!(seen(&subject, other, Tells::Sign).iter().all(|&bits| bits > 8 * 2));
    }
}

#[test]
fn of_a_score_where_products_are_proved() {
    let subject = subject(&ReplicatedMalicious::SOUNDNESS_50);
    for other in [OWNER, CLIENT] {
        assert!(seen(&subject, other, Tells::Score).iter().all(|&bits| bits >= 8 * 2));
    }
}

#[test]
fn of_a_sign_where_ands_are_proved() {
    let subject = subject(&ReplicatedMalicious::SOUNDNESS_50);
    for other in [OWNER, CLIENT] {
        assert!(seen(&subject, other, Tells::Sign).iter().all(|&bits| bits > 8 * 2));
    }
}
