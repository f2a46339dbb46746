//! What the messages of `model-macs` are for, for attackers that change them. What owners tell of their inputs isn't among
//! them: told alike to all, it makes another input, which may be out of its range.

use tacit_session::step;
use tacit_testkit::conformance::attacks::{Role, Sort};
use tacit_testkit::conformance::order::Sent;
use tacit_testkit::tenants::{MAC_COMMIT, MAC_OPEN};

pub(crate) static SORTS: [Sort; 7] = [
    Sort { what: "an opening", role: Role::Online, is: |sent| sent.at.part >= step::OPERATION },
    Sort { what: "an output", role: Role::Opening, is: |sent| is(sent, step::OUTPUT) },
    Sort { what: "a hash", role: Role::Other, is: |sent| is(sent, step::ECHO) },
    Sort { what: "a coin's commitment", role: Role::Other, is: |sent| is(sent, step::COIN_COMMIT) },
    Sort { what: "a coin's opening", role: Role::Other, is: |sent| is(sent, step::COIN_OPEN) },
    Sort { what: "a commitment of a MAC check", role: Role::Other, is: |sent| is(sent, MAC_COMMIT) },
    Sort { what: "the opening of a MAC check", role: Role::Other, is: |sent| is(sent, MAC_OPEN) },
];

fn is(sent: Sent, part: u16) -> bool {
    sent.at.part == part
}
