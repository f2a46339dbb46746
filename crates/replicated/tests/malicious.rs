//! The suite for the protocol that proves its ANDs.

use std::sync::Arc;

use tacit_engine::Protocol;
use tacit_engine::executor::{Unobserved, run_party};
use tacit_net::{Mesh, Transport};
use tacit_program::plan::{Builder, OpKind, Rows, To};
use tacit_replicated::ReplicatedMalicious;
use tacit_replicated::step;
use tacit_session::Session;
use tacit_testkit::conformance::Subject;
use tacit_testkit::{Case, Draws, Fate, with_parameters};

// Views of a few operations: those of others are of the same ANDs and products.
tacit_testkit::conformance!(subject(&ReplicatedMalicious::SOUNDNESS_50); views: input circuit and mul);

fn subject(protocol: &'static dyn Protocol) -> Subject {
    Subject {
        told: client_seed,
        baseline: concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/wire/replicated-malicious.txt").into(),
        ..Subject::new(protocol, 3)
    }
}

#[test]
fn views_of_public_inputs() {
    tacit_testkit::conformance::known::views(&subject(&ReplicatedMalicious::SOUNDNESS_50));
}

/// With other parameters some of it.
mod otherwise {
    use super::*;
    use tacit_testkit::conformance::{circuits, equality, lanes, robust, views, wire};

    fn check(protocol: &'static dyn Protocol, is_long: bool) {
        let subject = subject(protocol);
        let few = if is_long { 20 } else { 4 };
        equality::random_programs(&subject, 0..few);
        circuits::random(&subject, 0..few);
        wire::addresses_never_repeat(&subject);
        wire::lengths_do_not_depend_on_secrets(&subject);
        lanes::results_and_addresses(&subject);
        robust::every_message_altered(&subject);
        robust::random_deviations(&subject, 0..5 * few);
        let seen = if is_long { subject } else { views::some(&subject) };
        views::operation(&seen, "and");
    }

    #[test]
    fn many_batches() {
        for (kind, parameter) in [("soundness", "50"), ("soundness", "100"), ("challenges", "fiat-shamir")] {
            for words in ["64", "256"] {
                let parameters = [(kind, parameter), ("batch", words)];
                let subject = subject(with_parameters(&ReplicatedMalicious::SOUNDNESS_50, &parameters));
                circuits::without_rounds(&subject, 0..10);
                equality::random_programs(&subject, 0..10);
            }
        }
    }

    #[test]
    fn other_papers_proofs() {
        circuits::random(&subject(&ReplicatedMalicious::LI_2023), 0..20);
        circuits::random(&subject(&ReplicatedMalicious::BOYLE_2019), 0..20);
    }

    /// In batches of 4,096 ANDs, so that several are under way.
    #[test]
    fn bytes_are_those_of_the_baselines() {
        let usual: &dyn Protocol = &ReplicatedMalicious::SOUNDNESS_50;
        for (kind, parameter, batch) in [
            ("soundness", "50", true),
            ("soundness", "100", true),
            ("challenges", "fiat-shamir", true),
            ("proofs", "li-2023", false),
            ("proofs", "boyle-2019", false),
        ] {
            let parameters = [(kind, parameter), ("batch", "64")];
            let protocol = with_parameters(usual, &parameters[..=usize::from(batch)]);
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/wire");
            let baseline = format!("{folder}/replicated-malicious-{kind}-{parameter}.txt").into();
            wire::baseline(&Subject { baseline, ..subject(protocol) });
        }
    }

    #[test]
    fn soundness_100() {
        check(&ReplicatedMalicious::SOUNDNESS_100, false);
    }

    #[test]
    fn fiat_shamir() {
        check(&ReplicatedMalicious::FIAT_SHAMIR, false);
    }

    #[test]
    #[ignore = "takes a minute; `make test-long` runs it"]
    fn more_of_both() {
        check(&ReplicatedMalicious::SOUNDNESS_100, true);
        check(&ReplicatedMalicious::FIAT_SHAMIR, true);
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
        builder.interact(OpKind::And { a: from, b: from, dst: to });
        builder.output(dst, To::All);
        let plan = builder.finish();
        let mut case = Case::new(&ReplicatedMalicious::SOUNDNESS_50, 3, plan, &[vec![1, 0, 1]]);
        case.limits.inbox = inbox;
        case.run(&Draws::fixed(1))
    };
    run(64 << 20).outcomes();
    for ending in run((64 << 20) - 1).endings.iter().flatten() {
        let error = ending.result.as_ref().expect_err("the inbox is too small").to_string();
        assert!(error.contains("inbox_bytes"), "{error}");
    }
}

/// A prover that has a point can hang up instead of being found out: the right verifier, who released the seed, says so.
/// Before that, and after all acceptances, a lost link is nothing.
#[test]
fn a_run_that_ends_after_a_seed_is_an_attempt() {
    let attempts = |protocol, part: u16, batch: u32| -> [bool; 2] {
        let mut builder = Builder::new();
        let [a, dst] = [builder.bits(1, 3), builder.bits(1, 3)];
        let owner = builder.role("P1");
        builder.input(owner, a);
        let [from, to] = [a, dst].map(|reg| Rows::one(reg, 0));
        builder.interact(OpKind::And { a: from, b: from, dst: to });
        builder.output(dst, To::All);
        let case = Case::new(protocol, 3, builder.finish(), &[vec![1, 0, 1]]);
        let world = case.world().intercept(Box::new(move |message| {
            let at = message.frame.at;
            if message.from == 0 && (at.part, at.batch) == (part, batch) { Fate::Die } else { Fate::Deliver }
        }));
        let names: Vec<String> = (0..3).map(|party| case.name(party).to_owned()).collect();
        let play = |me: usize, transport: Box<dyn Transport>| {
            let mesh = Mesh::new(transport, me, names.clone(), case.limits.clone());
            let session = Session::establish(mesh, case.agreements[me].clone(), Draws::fixed(1).of(me));
            let seated = protocol.engine(session.unwrap(), Arc::clone(&case.plan), case.roles().clone());
            let (mut engine, inputs) = (seated.unwrap(), [(me == 1).then(|| case.inputs[0].clone())]);
            let result = run_party(engine.as_mut(), &case.plan, &inputs, &mut Unobserved);
            assert!(result.is_err(), "P0 has hung up");
            engine.session().is_some_and(|session| session.is_challenged())
        };
        std::thread::scope(|scope| {
            let transports = world.transports().into_iter().enumerate();
            let play = &play;
            let started: Vec<_> = transports
                .map(|(me, transport)| scope.spawn(move || play(me, transport.expect("all come"))))
                .collect();
            let ended: Vec<bool> =
                started.into_iter().map(|thread| thread.join().expect("nobody panics")).collect();
            [ended[1], ended[2]]
        })
    };
    for protocol in
        [ReplicatedMalicious::SOUNDNESS_50, ReplicatedMalicious::LI_2023, ReplicatedMalicious::BOYLE_2019]
    {
        let protocol: &'static dyn Protocol = Box::leak(Box::new(protocol));
        // Each has given its word for the batch, after which a seed may be released that it knows nothing of.
        assert_eq!(attempts(protocol, step::PROOF_BACK, 0), [true, true]);
        assert_eq!(attempts(protocol, step::PROOF_BACK, 2), [true, true]);
        assert_eq!(attempts(protocol, step::ACCEPT, 0), [true, true]);
        assert_eq!(attempts(protocol, step::OUTPUT, 0), [false, false]);
    }
}

/// A client draws two seeds: that of x_0, which P_0 and P_1 get, and that of x_1, which P_1 and P_2 get.
fn client_seed(corrupt: usize, _client: usize, call: usize) -> bool {
    match call {
        0 => corrupt == 0 || corrupt == 1,
        _ => corrupt == 1 || corrupt == 2,
    }
}
