//! A server and the model's owner, or a server and the client, put together what they have: of the other's secret they
//! see what the prediction tells, and nothing else (section 5.1).

use std::sync::LazyLock;
use tacit_astra::Astra;
use tacit_testkit::conformance::predictions::{CLIENT, INPUTS, OWNER, Tells, case, seen};
use tacit_testkit::conformance::{Subject, views};

static SUBJECT: LazyLock<Subject> = LazyLock::new(|| Subject::new(&Astra::SEMI_HONEST, 3));
static VERIFIED: LazyLock<Subject> = LazyLock::new(|| Subject::new(&Astra::MALICIOUS, 3));

#[test]
fn a_server_and_the_owner_learn_nothing_of_the_queries() {
    // P_0 has nothing to do online. The evaluators see the masked inputs (4 + 2 + 1 elements), and each its share of two
    // products from the other; P_2 P_0's share of them, too.
    assert_eq!(seen(&SUBJECT, OWNER, Tells::Score), [0, 8 * (7 + 2), 8 * (7 + 2)]);
    assert!(seen(&SUBJECT, OWNER, Tells::Sign)[1] > 8 * (7 + 2));
}

#[test]
fn a_server_and_the_client_learn_the_prediction_and_nothing_else_of_the_model() {
    // With P_0 the client sees one share of the two results, which the other makes the output.
    assert_eq!(seen(&SUBJECT, CLIENT, Tells::Score), [8 * 2, 8 * (7 + 2), 8 * (7 + 2)]);
    assert_eq!(seen(&SUBJECT, CLIENT, Tells::Sign)[0], 2);
}

#[test]
fn nor_do_they_where_products_are_checked() {
    // P_0 sees the masked factors (4 + 2 elements). Of the output's components each server has two, and the third is what
    // the output makes it.
    for other in [OWNER, CLIENT] {
        assert_eq!(seen(&VERIFIED, other, Tells::Score), [8 * (4 + 2), 8 * (7 + 2), 8 * (7 + 2)]);
    }
}

#[test]
fn nor_of_a_sign_where_products_are_checked() {
    for other in [OWNER, CLIENT] {
        assert!(seen(&VERIFIED, other, Tells::Sign).iter().all(|&bits| bits > 8 * (7 + 2)));
    }
}

#[test]
fn what_two_servers_see_together_is_noticed() {
    for subject in [&*SUBJECT, &*VERIFIED] {
        for servers in [[0, 1], [0, 2]] {
            let case = case(subject, Tells::Score, INPUTS[0]);
            assert!(views::together(subject, &case, &servers).is_err());
        }
    }
}
