//! The suite that every protocol has to pass.

use tacit_astra::Astra;
use tacit_astra::step;
use tacit_testkit::conformance::{self, Subject};

const SUBJECT: fn() -> Subject = || Subject {
    protocol: &Astra::SEMI_HONEST,
    parties: 3,
    // Clients draw nothing.
    told: |_, _, _| false,
    fresh_masks: false,
    baseline: concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/wire/astra.txt").into(),
    broadcasts: false,
    sorts: &[],
    one_in: 1,
    longest: usize::MAX,
};

tacit_testkit::conformance!(SUBJECT());

#[test]
fn views_ahead_of_time_and_online_together() {
    conformance::views::offline(&conformance::views::some(&SUBJECT()), step::CHECK_DIGEST);
}

#[test]
#[ignore = "takes a minute; `make test-long` runs it"]
fn all_views_ahead_of_time_and_online_together() {
    conformance::views::offline(&SUBJECT(), step::CHECK_DIGEST);
}
