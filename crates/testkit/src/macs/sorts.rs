//! What the messages of a protocol with MACs are for, for attackers that change them.

use tacit_additive::{MAC_COMMIT, MAC_OPEN};
use tacit_session::step;

use super::order::{hides_bits, is_online};
use crate::conformance::attacks::{Role, Sort};
use crate::conformance::order::Sent;

/// Of so many parties; none of another number.
pub fn of(parties: usize) -> &'static [Sort] {
    static OF_TWO: [Sort; 11] = sorts::<2>();
    static OF_THREE: [Sort; 11] = sorts::<3>();
    static OF_FIVE: [Sort; 11] = sorts::<5>();
    static OF_SIXTEEN: [Sort; 11] = sorts::<16>();
    match parties {
        2 => &OF_TWO,
        3 => &OF_THREE,
        5 => &OF_FIVE,
        16 => &OF_SIXTEEN,
        _ => &[],
    }
}

/// Clients have higher numbers than parties.
const fn sorts<const SIZE: usize>() -> [Sort; 11] {
    [
        Sort {
            what: "a client's mask",
            role: Role::Other,
            is: |sent| is(sent, step::INPUT) && sent.to >= SIZE,
        },
        Sort {
            what: "what a client tells of its input",
            role: Role::ClientInput,
            is: |sent| is(sent, step::INPUT) && sent.from >= SIZE,
        },
        // The owner's own code goes on with what it would have told.
        Sort {
            what: "what a party tells of its input",
            role: Role::Other,
            is: |sent| is(sent, step::INPUT) && sent.from < SIZE,
        },
        Sort { what: "an opening of what hides bits", role: Role::Other, is: hides_bits },
        Sort { what: "an opening", role: Role::Online, is: is_online },
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
