//! What a party releases in a batch of triples, and what it has to hold of every other party by then.

use tacit_mascot::step;
use tacit_session::step::{COIN_COMMIT, ECHO};

/// A message: its part, and the number of its step, toss or comparison.
pub(crate) type Kind = (u16, u32);

/// Numbers of steps, after two of the setup.
const DIFFERENCES: u32 = 3;
const MACS: u32 = 4;
const SUMS: u32 = 5;
const MADE: u32 = 6;
const SHARES: u32 = 7;
const CHECKED: u32 = 8;
const ACCEPTED: u32 = 9;

/// What leaves, and the messages of all others of which it needs the last one. Who commits to a coin releases it: without
/// its commitment nobody opens theirs.
pub(crate) const TABLE: [(&str, Kind, &[Kind]); 8] = [
    ("r and r^", (COIN_COMMIT, 0), &[(step::PRODUCTS, DIFFERENCES)]),
    ("the coin of Authenticate", (COIN_COMMIT, 1), &[(step::MACS, MACS)]),
    ("the coin of its check", (COIN_COMMIT, 2), &[(step::SHARES, SUMS), (ECHO, 0)]),
    ("sigma of its check", (step::OPENING, MADE), &[(step::COMMITMENT, MADE), (ECHO, 1)]),
    ("s", (COIN_COMMIT, 3), &[(step::OPENING, MADE)]),
    ("the coin of the last check", (COIN_COMMIT, 4), &[(step::SHARES, SHARES), (ECHO, 2)]),
    ("sigma of the last check", (step::OPENING, CHECKED), &[(step::COMMITMENT, CHECKED), (ECHO, 3)]),
    ("that it accepts", (step::ACCEPT, ACCEPTED), &[(step::OPENING, CHECKED)]),
];
