//! Online, `P_0` may be off between its own inputs and the outputs.

use std::time::Duration;

use tacit_astra::Astra;
use tacit_astra::step;
use tacit_engine::Protocol;
use tacit_program::{Builder, Dtype, Range, Recipient, lower};
use tacit_session::At;
use tacit_testkit::{Case, Draws, Fate, Run, with_parameters};

/// A comparison, products and a sum of the three parties' numbers, for all to learn.
fn case(protocol: &'static dyn Protocol) -> Case {
    let mut builder = Builder::new();
    let range = Range::new(-1000, 1000);
    let input =
        |builder: &mut Builder, owner: &str| builder.input(owner, owner, Dtype::Int, &[100], range).unwrap();
    let [a, b, c] = ["P0", "P1", "P2"].map(|owner| input(&mut builder, owner));
    let product = builder.mul(a, b).unwrap();
    let largest = builder.maximum(product, c).unwrap();
    builder.reveal(largest, Recipient::All).unwrap();
    let program = builder.finish().unwrap();
    let lowered = lower(&program, protocol.capabilities()).unwrap();
    let inputs = [3_u64, 5, 7].map(|factor| (0..100).map(|i| i * factor % 100).collect());
    Case::new(protocol, 3, lowered.plan, &inputs)
}

/// The protocol with its parties in each of some orders, and who is `P_0`.
fn seated() -> [(&'static dyn Protocol, usize); 3] {
    let with = |roles| with_parameters(&Astra::SEMI_HONEST, &[("roles", roles)]);
    [(with("012"), 0), (with("120"), 1), (with("210"), 2)]
}

/// Online messages of operations: from, to, address and when they arrived.
fn online(run: &Run) -> Vec<(usize, usize, At, Duration)> {
    let parts = step::OPERATION..step::OFFLINE;
    let of_operations = run.trace.deliveries().iter().filter(|message| parts.contains(&message.at.part));
    let mut messages: Vec<_> =
        of_operations.map(|message| (message.from, message.to, message.at, message.arrived)).collect();
    messages.sort_unstable_by_key(|(from, to, ..)| (*from, *to));
    messages
}

#[test]
fn p0_sends_and_receives_nothing_between_inputs_and_outputs() {
    for (protocol, p0) in seated() {
        let run = case(protocol).run(&Draws::fixed(1));
        run.outcomes();
        for (from, to, at, _) in online(&run) {
            assert!(from != p0 && to != p0, "{at} goes from P{from} to P{to}");
        }
        let allowed = [step::HELLO, step::CONFIRM, step::INPUT, step::DRAWN, step::OUTPUT];
        for message in run.trace.deliveries() {
            let part = message.at.part;
            let known = step::is_offline(part) || allowed.contains(&part);
            assert!((message.from != p0 && message.to != p0) || known, "P0's part in {}", message.at);
        }
    }
}

/// The others' operations don't wait for it: however late what it sends after its inputs comes, they are where they
/// would be. Only the outputs wait, before which all three compare what they have drawn.
#[test]
fn the_others_compute_while_p0_is_off() {
    for (protocol, p0) in seated() {
        let case = case(protocol);
        let there = case.run(&Draws::fixed(2));
        let off = Duration::from_secs(5);
        let world = case.world().intercept(Box::new(move |message| {
            let after_inputs = message.from == p0 && message.frame.at.part == step::DRAWN;
            if after_inputs { Fate::Delay(off) } else { Fate::Deliver }
        }));
        let gone = case.run_in(&world, &Draws::fixed(2));
        assert_eq!(gone.outcomes()[0].outputs, there.outcomes()[0].outputs);
        assert!(!online(&there).is_empty());
        assert_eq!(online(&there), online(&gone));
        assert!(there.took < off && gone.took >= off);
    }
}
