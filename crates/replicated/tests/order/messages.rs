//! Which messages of `replicated-malicious` the tables of releases are about.

use tacit_replicated::step;
use tacit_testkit::conformance::order::Sent;

/// Parties; clients have higher numbers.
pub(crate) const PARTIES: usize = 3;

pub(crate) fn is_and(sent: Sent) -> bool {
    (step::OPERATION..step::PROOF_BACK).contains(&sent.at.part)
}

pub(crate) fn is_proof(sent: Sent) -> bool {
    matches!(sent.at.part, step::PROOF_BACK | step::PROOF_FORTH)
}

pub(crate) fn is_seed(sent: Sent) -> bool {
    sent.at.part == step::PROOF_FORTH && sent.at.batch > 0
}

pub(crate) fn is_acceptance(sent: Sent) -> bool {
    sent.at.part == step::ACCEPT
}

pub(crate) fn is_output(sent: Sent) -> bool {
    sent.from < PARTIES && matches!(sent.at.part, step::OUTPUT | step::OUTPUT_DIGEST)
}
