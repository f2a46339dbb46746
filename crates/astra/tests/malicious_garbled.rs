//! The suite for the protocol that checks its products, with comparisons that are garbled.

use tacit_astra::Astra;
use tacit_engine::{Participants, Protocol};
use tacit_program::cost::{Flow, Phase, Step};
use tacit_program::plan::{Builder, OpKind, To, Width};
use tacit_testkit::conformance::{self, Subject};

// Clients draw nothing.
const SUBJECT: fn() -> Subject = || Subject {
    baseline: concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/wire/astra-malicious-garbled.txt").into(),
    ..Subject::new(&Astra::MALICIOUS_GARBLED, 3)
};

tacit_testkit::conformance!(Subject { one_in: 2, ..SUBJECT() }; views: input and mul less maximum);

/// All that the suite tries: each time it's one in two.
#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn the_whole_suite() {
    conformance::whole(&SUBJECT());
}

/// Of a number of l bits: 2 l - 3 ANDs, 2 l commitments, l + 1 labels and as many commitments offline; l labels and a
/// bit online.
#[test]
fn a_comparison_takes_two_rounds_and_kilobytes() {
    for width in Width::ALL {
        for cols in [1, 65, 100_000] {
            let mut builder = Builder::new();
            let (a, dst) = (builder.ring(width, cols), builder.bits(1, cols));
            builder.interact(OpKind::Msb { a, dst });
            builder.output(dst, To::All);
            let plan = builder.finish();
            let protocol = &Astra::MALICIOUS_GARBLED;
            let rounds =
                plan.levels.iter().map(|level| tacit_engine::rounds(&plan, &level.stages, |_, _| true));
            assert_eq!(rounds.sum::<u64>(), 2, "{width:?}");
            let (op, n, l) = (&plan.ops[0], cols as u64, u64::from(width.bits()));
            let ahead = 2 * (2 * l - 3) + 2 * l + 2 * (l + 1);
            let participants = Participants::new(&plan, &["P0", "P1", "P2"].map(String::from), &[]).unwrap();
            let sent = |stage| protocol.price(&plan, &participants, Step::Stage { op, stage });
            let flow = |phase, from, to, bits| (phase, Flow { from, to, bits });
            let labels = flow(Phase::Online, 1, 2, n * 128 * l);
            assert!(sent(0).contains(&flow(Phase::Offline, 0, 2, n * (128 * ahead + 1))));
            assert!(sent(0).contains(&labels));
            assert!(sent(1).contains(&flow(Phase::Online, 2, 1, n)));
            let bits = sent(0).iter().chain(&sent(1)).map(|(_, flow)| flow.bits).sum::<u64>();
            assert_eq!(bits, n * (128 * ahead + 1) + n * 128 * l + n);
        }
    }
}
