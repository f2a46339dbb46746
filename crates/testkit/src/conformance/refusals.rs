//! What a protocol doesn't offer it refuses before anything is sent: all endpoints have agreed in the handshake on what to
//! run, and none goes on.

use tacit_engine::Error;
use tacit_program::{Builder, Dtype, Recipient};
use tacit_session::step;

use super::Subject;
use crate::{Draws, Ending, Run};

/// An output for a client alone, and one for all, a client among them: right, or of a fair protocol refused.
///
/// # Panics
/// If that is not so.
pub fn outputs_for_clients(subject: &Subject) {
    for to in [Recipient::All, Recipient::Role("bob".into())] {
        let mut build = Builder::new();
        let owner = if to == Recipient::All { "alice" } else { "P1" };
        let given = build.input(owner, "x", Dtype::Bool, &[3], None).expect("a small input");
        let both = build.and(given, given).expect("bits have an AND");
        build.reveal(both, to.clone()).expect("the node is there");
        let program = build.finish().expect("something is revealed");
        let lowered = tacit_program::lower(&program, subject.protocol.capabilities());
        let plan = lowered.expect("every protocol has ANDs").plan;
        let case = subject.case(plan, &[vec![1, 0, 1]]);
        let run = case.run(&Draws::fixed(1));
        if subject.is_fair() {
            assert!(run.endings.iter().flatten().all(is_refusal), "not refused: {:?}", run.endings);
            check_refused(&[run]);
            continue;
        }
        let expected = case.run_in_the_clear().expect("nothing can go wrong in the clear");
        let client = run.outcomes()[case.endpoints() - 1];
        assert_eq!(client.outputs, expected.outputs, "an output to {to:?}");
    }
}

/// In all lanes all have refused, and sent nothing but the handshake.
pub(super) fn check_refused(lanes: &[Run]) {
    check_endings(lanes.iter().map(|run| run.endings.as_slice()));
    for delivery in lanes.iter().flat_map(|run| run.trace.deliveries()) {
        assert!([step::HELLO, step::CONFIRM].contains(&delivery.at.part), "{} was sent", delivery.at);
    }
}

/// In all lanes all have an error, and the first is a refusal: it ends an endpoint's other lanes, wherever they are.
pub(super) fn check_endings<'a>(lanes: impl Iterator<Item = &'a [Option<Ending>]>) {
    let endings: Vec<&Ending> = lanes.flat_map(|endings| endings.iter().flatten()).collect();
    assert!(endings.iter().all(|ending| ending.result.is_err()), "not refused: {endings:?}");
    assert!(endings.iter().any(|ending| is_refusal(ending)), "nobody refuses: {endings:?}");
}

fn is_refusal(ending: &Ending) -> bool {
    matches!(ending.result, Err(Error::Refused(_)))
}
