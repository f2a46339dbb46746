//! The suite that every protocol has to pass.

use tacit_astra::Astra;
use tacit_testkit::conformance::Subject;

tacit_testkit::conformance!(Subject {
    protocol: &Astra::IN_ORDER,
    // Clients draw nothing.
    told: |_, _, _| false,
    fresh_masks: false,
    baseline: concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/wire/astra.txt").into(),
});
