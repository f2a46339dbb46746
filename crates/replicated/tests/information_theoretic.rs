//! The suite with information-theoretic zero-sharing.

use tacit_replicated::Replicated;
use tacit_testkit::conformance::Subject;

tacit_testkit::conformance!(Subject {
    told: client_seed,
    fresh_masks: true,
    baseline: concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/wire/replicated-information-theoretic.txt")
        .into(),
    ..Subject::new(&Replicated::INFORMATION_THEORETIC, 3)
}; views: input circuit and mul matmul truncate);

/// A client draws two seeds: that of x_0, which P_0 and P_1 get, and that of x_1, which P_1 and P_2 get. What a party
/// draws is a mask, and comes to its neighbour as a message of the operation: it has to look uniform there.
fn client_seed(corrupt: usize, endpoint: usize, call: usize) -> bool {
    match (endpoint, call) {
        (0..3, _) => false,
        (_, 0) => corrupt == 0 || corrupt == 1,
        _ => corrupt == 1 || corrupt == 2,
    }
}
