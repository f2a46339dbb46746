//! What the messages of `astra-malicious` and `astra-fair` are for, for attackers that change them.

use tacit_astra::step;
use tacit_testkit::conformance::attacks::{Role, Sort};
use tacit_testkit::conformance::order::Sent;

/// Parties; clients have higher numbers.
const PARTIES: usize = 3;

/// All of their messages but the handshake's.
pub(crate) static SORTS: [Sort; 14] = [
    Sort { what: "seeds of a client", role: Role::ClientInput, is: |sent| is(sent, step::SEED) },
    Sort {
        what: "a client's input",
        role: Role::ClientInput,
        is: |sent| is(sent, step::INPUT) && sent.from >= PARTIES,
    },
    Sort { what: "a party's input", role: Role::PartyInput, is: |sent| is(sent, step::INPUT) },
    Sort { what: "a digest of what was given", role: Role::Other, is: |sent| is(sent, step::SHARED_INPUT) },
    Sort { what: "an operation", role: Role::Online, is: |sent| is_online(sent) && !is_masked(sent) },
    Sort {
        what: "an operation offline",
        role: Role::Offline,
        is: |sent| is_offline(sent) && !is_check(sent),
    },
    Sort { what: "a check offline", role: Role::Other, is: is_check },
    Sort { what: "masked operands", role: Role::Masked, is: |sent| is_online(sent) && is_masked(sent) },
    Sort {
        what: "a digest of masked operands",
        role: Role::Other,
        is: |sent| matches!(sent.at.part, step::SHOWN_DIGEST | step::COMPUTED_DIGEST | step::TAGS),
    },
    Sort { what: "a key of outputs", role: Role::Other, is: |sent| sent.at.is_aside() },
    Sort { what: "an acceptance", role: Role::Other, is: |sent| is(sent, step::ACCEPT) },
    Sort {
        what: "what makes outputs fair",
        role: Role::Opening,
        is: |sent| matches!(sent.at.part, step::FAIR_VERDICT..=step::FAIR_OPENING),
    },
    Sort { what: "an output", role: Role::Opening, is: |sent| is(sent, step::OUTPUT) },
    Sort { what: "a digest of an output", role: Role::Other, is: |sent| is(sent, step::OUTPUT_DIGEST) },
];

/// The sorts but these.
pub(crate) fn all_but(left_out: &[&str]) -> Vec<&'static str> {
    SORTS.iter().map(|sort| sort.what).filter(|what| !left_out.contains(what)).collect()
}

fn is(sent: Sent, part: u16) -> bool {
    sent.at.part == part
}

fn is_online(sent: Sent) -> bool {
    (step::OPERATION..step::OFFLINE).contains(&sent.at.part)
}

fn is_masked(sent: Sent) -> bool {
    sent.at.part & step::MASKED != 0
}

fn is_offline(sent: Sent) -> bool {
    step::is_offline(sent.at.part)
}

fn is_check(sent: Sent) -> bool {
    matches!(
        sent.at.part,
        step::COIN_COMMIT
            | step::COIN_OPEN
            | step::CHECK_PRODUCTS..=step::CHECK_ACCEPT
            | step::GARBLED_DIGEST..=step::GARBLED_ACCEPT
    )
}
