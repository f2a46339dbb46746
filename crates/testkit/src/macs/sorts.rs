//! What the messages of `model-macs` are for, for attackers that change them. What clients tell of their inputs isn't among
//! them: told alike to all, it makes another input, which may be out of its range.

use tacit_session::step;
use tacit_testkit::conformance::attacks::{Role, Sort};
use tacit_testkit::conformance::order::Sent;
use tacit_testkit::tenants::{MAC_COMMIT, MAC_OPEN};

/// Of so many parties; none of another number.
pub(crate) fn of(parties: usize) -> &'static [Sort] {
    static OF_TWO: [Sort; 9] = sorts::<2>();
    static OF_THREE: [Sort; 9] = sorts::<3>();
    static OF_FIVE: [Sort; 9] = sorts::<5>();
    match parties {
        2 => &OF_TWO,
        3 => &OF_THREE,
        5 => &OF_FIVE,
        _ => &[],
    }
}

/// Clients have higher numbers than parties.
const fn sorts<const PARTIES: usize>() -> [Sort; 9] {
    [
        Sort {
            what: "a client's mask",
            role: Role::Other,
            is: |sent| is(sent, step::INPUT) && sent.to >= PARTIES,
        },
        // The owner's own code goes on with what it would have told.
        Sort {
            what: "what a party tells of its input",
            role: Role::Other,
            is: |sent| is(sent, step::INPUT) && sent.from < PARTIES,
        },
        Sort { what: "an opening", role: Role::Online, is: |sent| sent.at.part >= step::OPERATION },
        Sort { what: "an output", role: Role::Opening, is: |sent| is(sent, step::OUTPUT) },
        Sort { what: "a hash", role: Role::Other, is: |sent| is(sent, step::ECHO) },
        Sort { what: "a coin's commitment", role: Role::Other, is: |sent| is(sent, step::COIN_COMMIT) },
        Sort { what: "a coin's opening", role: Role::Other, is: |sent| is(sent, step::COIN_OPEN) },
        Sort { what: "a commitment of a MAC check", role: Role::Other, is: |sent| is(sent, MAC_COMMIT) },
        Sort { what: "the opening of a MAC check", role: Role::Other, is: |sent| is(sent, MAC_OPEN) },
    ]
}

fn is(sent: Sent, part: u16) -> bool {
    sent.at.part == part
}
