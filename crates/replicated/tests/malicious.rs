//! The suite for the protocol that proves its ANDs.

use tacit_engine::Protocol;
use tacit_program::plan::{Builder, Kind, Rows, To};
use tacit_replicated::ReplicatedMalicious;
use tacit_testkit::conformance::Subject;
use tacit_testkit::{Case, Draws};

// All numbers are bits here, and all operations are ANDs.
tacit_testkit::conformance!(subject(&ReplicatedMalicious::SOUNDNESS_50); views: input circuit and mul);

fn subject(protocol: &'static dyn Protocol) -> Subject {
    Subject {
        protocol,
        told: client_seed,
        fresh_masks: false,
        baseline: concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/wire/replicated-malicious.txt").into(),
    }
}

/// With other parameters some of it.
mod otherwise {
    use super::*;
    use tacit_testkit::conformance::{circuits, equality, lanes, robust, views, wire};

    fn check(protocol: &'static dyn Protocol) {
        let subject = subject(protocol);
        equality::random_programs(&subject, 0..20);
        circuits::random(&subject, 0..20);
        wire::addresses_never_repeat(&subject);
        wire::lengths_do_not_depend_on_secrets(&subject);
        lanes::results_and_addresses(&subject);
        robust::every_message_altered(&subject);
        robust::random_deviations(&subject, 0..100);
        views::operation(&subject, "and");
    }

    #[test]
    fn many_batches() {
        for (kind, parameter) in [("soundness", "50"), ("soundness", "100"), ("challenges", "fiat-shamir")] {
            for words in ["64", "256"] {
                let protocol = ReplicatedMalicious::SOUNDNESS_50.with(kind, parameter);
                let subject = subject(protocol.and_then(|protocol| protocol.with("batch", words)).unwrap());
                circuits::without_rounds(&subject, 0..20);
                equality::random_programs(&subject, 0..10);
            }
        }
    }

    #[test]
    fn other_papers_proofs() {
        circuits::random(&subject(&ReplicatedMalicious::LI_2023), 0..20);
        circuits::random(&subject(&ReplicatedMalicious::BOYLE_2019), 0..20);
    }

    #[test]
    fn soundness_100() {
        check(&ReplicatedMalicious::SOUNDNESS_100);
    }

    #[test]
    fn fiat_shamir() {
        check(&ReplicatedMalicious::FIAT_SHAMIR);
    }
}

/// In an inbox full of messages that nobody reads yet a proof's could be stuck.
#[test]
fn a_small_inbox_is_refused_where_it_could_fill() {
    let run = |inbox: usize| {
        let mut builder = Builder::new();
        let [a, dst] = [builder.bits(1, 3), builder.bits(1, 3)];
        let owner = builder.role("P0");
        builder.input(owner, a);
        let [from, to] = [a, dst].map(|reg| Rows::one(reg, 0));
        builder.interact(Kind::And { a: from, b: from, dst: to });
        builder.output(dst, To::All);
        let plan = builder.finish();
        let mut case = Case::new(&ReplicatedMalicious::SOUNDNESS_50, plan, &[vec![1, 0, 1]]);
        case.limits.inbox = inbox;
        case.run(&Draws::fixed(1))
    };
    run(64 << 20).outcomes();
    for ending in run((64 << 20) - 1).endings.iter().flatten() {
        let error = ending.result.as_ref().expect_err("the inbox is too small").to_string();
        assert!(error.contains("inbox_bytes"), "{error}");
    }
}

/// A client draws two seeds: that of x_0, which P_0 and P_1 get, and that of x_1, which P_1 and P_2 get.
fn client_seed(corrupt: usize, _client: usize, call: usize) -> bool {
    match call {
        0 => corrupt == 0 || corrupt == 1,
        _ => corrupt == 1 || corrupt == 2,
    }
}
