//! The suite for the protocol that checks its products, with comparisons that are garbled.

use tacit_astra::AstraMalicious;
use tacit_engine::Protocol;
use tacit_program::cost::Flow;
use tacit_program::plan::{Builder, OpKind, To, Width};
use tacit_testkit::conformance::Subject;

tacit_testkit::conformance!(Subject {
    protocol: &AstraMalicious::GARBLED,
    parties: 3,
    // Clients draw nothing.
    told: |_, _, _| false,
    fresh_masks: false,
    baseline: concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/wire/astra-malicious-garbled.txt").into(), broadcasts: false, sorts: &[], one_in: 1,
}; views: input and mul less maximum);

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
            let protocol = &AstraMalicious::GARBLED;
            let rounds =
                plan.levels.iter().map(|level| tacit_engine::rounds(&plan, &level.stages, |_, _| true));
            assert_eq!(rounds.sum::<u64>(), 2, "{width:?}");
            let (op, n, l) = (&plan.ops[0], cols as u64, u64::from(width.bits()));
            let flow = |from, to, bits| vec![Flow { from, to, bits }];
            let ahead = 2 * (2 * l - 3) + 2 * l + 2 * (l + 1);
            assert_eq!(protocol.offline(&plan, op, 0, 3), flow(0, 2, n * (128 * ahead + 1)));
            assert_eq!(protocol.operation(&plan, op, 0, 3), flow(1, 2, n * 128 * l));
            assert_eq!(protocol.operation(&plan, op, 1, 3), flow(2, 1, n));
        }
    }
}
