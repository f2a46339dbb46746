//! What the messages of `replicated-malicious` are for, for attackers that change them.

use tacit_replicated::step;
use tacit_testkit::conformance::attacks::{Role, Sort};
use tacit_testkit::conformance::order::Sent;

/// Parties; clients have higher numbers.
const PARTIES: usize = 3;

/// All of its messages but the handshake's.
pub(crate) static SORTS: [Sort; 9] = [
    Sort { what: "seeds of a client", role: Role::ClientInput, is: |sent| is(sent, step::SEED) },
    Sort {
        what: "a client's input",
        role: Role::ClientInput,
        is: |sent| is(sent, step::INPUT) && sent.from >= PARTIES,
    },
    Sort { what: "a party's input", role: Role::PartyInput, is: |sent| is(sent, step::INPUT) },
    Sort {
        what: "a digest of what clients gave",
        role: Role::Other,
        is: |sent| is(sent, step::SHARED_INPUT),
    },
    Sort {
        what: "an AND",
        role: Role::Online,
        is: |sent| sent.at.part >= step::OPERATION && !sent.at.is_aside(),
    },
    Sort { what: "a proof", role: Role::Other, is: |sent| sent.at.is_aside() },
    Sort { what: "an acceptance", role: Role::Other, is: |sent| is(sent, step::ACCEPT) },
    Sort { what: "an output", role: Role::Opening, is: |sent| is(sent, step::OUTPUT) },
    Sort { what: "a digest of an output", role: Role::Other, is: |sent| is(sent, step::OUTPUT_DIGEST) },
];

fn is(sent: Sent, part: u16) -> bool {
    sent.at.part == part
}
