//! The suite that every protocol has to pass.

use tacit_replicated::Replicated;
use tacit_testkit::conformance::Subject;

tacit_testkit::conformance!(Subject {
    told: client_seed,
    baseline: concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/wire/replicated.txt").into(),
    ..Subject::new(&Replicated::COMPUTATIONAL, 3)
});

/// A client draws two seeds: that of x_0, which P_0 and P_1 get, and that of x_1, which P_1 and P_2 get.
fn client_seed(corrupt: usize, _client: usize, call: usize) -> bool {
    match call {
        0 => corrupt == 0 || corrupt == 1,
        _ => corrupt == 1 || corrupt == 2,
    }
}
