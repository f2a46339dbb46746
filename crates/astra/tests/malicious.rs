//! The suite for the protocol that checks its products.

use tacit_astra::AstraMalicious;
use tacit_testkit::conformance::Subject;

tacit_testkit::conformance!(Subject {
    protocol: &AstraMalicious::IN_ORDER,
    // Clients draw nothing.
    told: |_, _, _| false,
    fresh_masks: false,
    baseline: concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/wire/astra-malicious.txt").into(),
}; views: input input_bits circuit and mul matmul);
