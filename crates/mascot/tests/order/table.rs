//! What a party releases, and what it has to hold of every other party by then.

use crate::common::{SETUP, SETUP_ECHOES, SETUP_TOSSES};
use tacit_mascot::step::{ACCEPT, COMMITMENT, MACS, OPENING, PRODUCTS, SHARES};
use tacit_ot::step::{
    ANSWER, VOLE_BASE, VOLE_BASE_ANSWER, VOLE_BASE_COIN, VOLE_COIN, VOLE_COMMITMENT, VOLE_OPENING, VOLE_SIDE,
    VOLE_TREES,
};
use tacit_session::step::{COIN_COMMIT, ECHO};

/// A message: its part, and the number of its step, toss or comparison.
pub(crate) type Kind = (u16, u32);

/// What leaves, and the messages of all others of which it needs the last one. Who commits to a coin releases it: without
/// its commitment nobody opens theirs.
pub(crate) type Row = (&'static str, Kind, &'static [Kind]);

/// Whether a message is made of transfers or of a vector OLE: each link has its own, whose releases wait for the other end
/// alone.
pub(crate) fn is_between_two(part: u16) -> bool {
    matches!(part, PRODUCTS | VOLE_BASE_COIN | VOLE_TREES | VOLE_COIN | VOLE_SIDE | VOLE_OPENING)
}

/// What is made, after the setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    Triples,
    /// Two batches, which are checked together.
    Batches,
    Inputs,
    /// So many that MACs are made by vector OLE.
    ManyInputs,
    Squares,
    Bits,
    /// Bits of GF(2^128).
    CheckedBits,
}

/// Of what is made, and for how many parties it is tried.
pub(crate) const TABLES: [(Made, &[Row], &[usize]); 8] = [
    (Made::Inputs, &KEY, &[2, 3]),
    (Made::Inputs, &INPUTS, &[2, 3]),
    (Made::ManyInputs, &MANY_INPUTS, &[2, 3]),
    (Made::Triples, &TRIPLES, &[2, 3]),
    (Made::Batches, &BATCHES, &[2, 3]),
    (Made::Squares, &SQUARES, &[2, 3]),
    (Made::Bits, &BITS, &[2, 3]),
    (Made::CheckedBits, &CHECKED_BITS, &[2, 3]),
];

/// The check of key shares, in the setup.
const KEY: [Row; 7] = [
    ("the coin of the key's value", (COIN_COMMIT, 0), &[(MACS, 2)]),
    ("the coin of its check", (COIN_COMMIT, 1), &[(SHARES, 3), (ECHO, 0)]),
    ("sigma of its check", (OPENING, 4), &[(COMMITMENT, 4), (ECHO, 1)]),
    ("a share of the sum", (SHARES, 6), &[(OPENING, 4)]),
    ("the coin of the sum's check", (COIN_COMMIT, 2), &[(SHARES, 6), (ECHO, 2)]),
    ("sigma of the sum's check", (OPENING, 7), &[(COMMITMENT, 7), (ECHO, 3)]),
    ("anything under the key", (MACS, SETUP), &[(OPENING, 7)]),
];

const INPUTS: [Row; 4] = [
    ("the coin of Authenticate", (COIN_COMMIT, SETUP_TOSSES), &[(MACS, SETUP)]),
    ("the coin of its check", (COIN_COMMIT, SETUP_TOSSES + 1), &[(SHARES, SETUP + 1), (ECHO, SETUP_ECHOES)]),
    ("sigma of its check", (OPENING, SETUP + 2), &[(COMMITMENT, SETUP + 2), (ECHO, SETUP_ECHOES + 1)]),
    ("that it accepts", (ACCEPT, SETUP + 3), &[(OPENING, SETUP + 2)]),
];

const MANY_INPUTS: [Row; 7] = [
    ("the coin of a base", (VOLE_BASE_COIN, SETUP), &[(VOLE_BASE, SETUP)]),
    ("trees", (VOLE_TREES, SETUP), &[(ANSWER, SETUP)]),
    ("the coin of trees", (VOLE_COIN, SETUP), &[(VOLE_TREES, SETUP), (VOLE_BASE_ANSWER, SETUP)]),
    ("the prover's side", (VOLE_SIDE, SETUP), &[(VOLE_COMMITMENT, SETUP)]),
    ("the verifier's side", (VOLE_OPENING, SETUP), &[(VOLE_SIDE, SETUP)]),
    ("corrected values", (MACS, SETUP), &[(VOLE_OPENING, SETUP)]),
    ("the coin of Authenticate", (COIN_COMMIT, SETUP_TOSSES), &[(MACS, SETUP)]),
];

/// Numbers of a batch's steps.
const CHECKED: u32 = SETUP + 6;
const ACCEPTED: u32 = SETUP + 7;

const TRIPLES: [Row; 9] = [
    ("differences", (PRODUCTS, SETUP + 1), &[(ANSWER, SETUP)]),
    ("r and r^", (COIN_COMMIT, SETUP_TOSSES), &[(PRODUCTS, SETUP + 1)]),
    ("the coin of Authenticate", (COIN_COMMIT, SETUP_TOSSES + 1), &[(MACS, SETUP + 2)]),
    ("the coin of its check", (COIN_COMMIT, SETUP_TOSSES + 2), &[(SHARES, SETUP + 3), (ECHO, SETUP_ECHOES)]),
    ("sigma of its check", (OPENING, SETUP + 4), &[(COMMITMENT, SETUP + 4), (ECHO, SETUP_ECHOES + 1)]),
    ("s", (COIN_COMMIT, SETUP_TOSSES + 3), &[(OPENING, SETUP + 4)]),
    (
        "the coin of the last check",
        (COIN_COMMIT, SETUP_TOSSES + 4),
        &[(SHARES, SETUP + 5), (ECHO, SETUP_ECHOES + 2)],
    ),
    ("sigma of the last check", (OPENING, CHECKED), &[(COMMITMENT, CHECKED), (ECHO, SETUP_ECHOES + 3)]),
    ("that it accepts", (ACCEPT, ACCEPTED), &[(OPENING, CHECKED)]),
];

const BATCHES: [Row; 3] = [
    ("differences of the second batch", (PRODUCTS, SETUP + 3), &[(ANSWER, SETUP + 2)]),
    (
        "r and r^ of both batches",
        (COIN_COMMIT, SETUP_TOSSES),
        &[(PRODUCTS, SETUP + 1), (PRODUCTS, SETUP + 3)],
    ),
    ("that it accepts both", (ACCEPT, ACCEPTED + 2), &[(OPENING, CHECKED + 2)]),
];

/// Numbers after a batch of triples.
const STEPS: u32 = SETUP + 8;
const TOSSES: u32 = SETUP_TOSSES + 5;
const ECHOES: u32 = SETUP_ECHOES + 4;

const SQUARES: [Row; 4] = [
    ("a - b", (SHARES, STEPS), &[(ACCEPT, ACCEPTED)]),
    ("the coin of the squares' check", (COIN_COMMIT, TOSSES), &[(SHARES, STEPS), (ECHO, ECHOES)]),
    ("sigma of the squares' check", (OPENING, STEPS + 1), &[(COMMITMENT, STEPS + 1), (ECHO, ECHOES + 1)]),
    ("that it accepts the squares", (ACCEPT, STEPS + 2), &[(OPENING, STEPS + 1)]),
];

const BITS: [Row; 4] = [
    ("a - b", (SHARES, STEPS), &[(ACCEPT, ACCEPTED)]),
    ("the coin of the bits' check", (COIN_COMMIT, TOSSES), &[(SHARES, STEPS + 1), (ECHO, ECHOES)]),
    ("sigma of the bits' check", (OPENING, STEPS + 2), &[(COMMITMENT, STEPS + 2), (ECHO, ECHOES + 1)]),
    ("that it accepts the bits", (ACCEPT, STEPS + 3), &[(OPENING, STEPS + 2)]),
];

const CHECKED_BITS: [Row; 7] = [
    ("the coin of Authenticate", (COIN_COMMIT, SETUP_TOSSES), &[(MACS, SETUP)]),
    ("the coin of its check", (COIN_COMMIT, SETUP_TOSSES + 1), &[(SHARES, SETUP + 1), (ECHO, SETUP_ECHOES)]),
    ("sigma of its check", (OPENING, SETUP + 2), &[(COMMITMENT, SETUP + 2), (ECHO, SETUP_ECHOES + 1)]),
    ("which bits are summed", (COIN_COMMIT, SETUP_TOSSES + 2), &[(OPENING, SETUP + 2)]),
    (
        "the coin of the sums' check",
        (COIN_COMMIT, SETUP_TOSSES + 3),
        &[(SHARES, SETUP + 3), (ECHO, SETUP_ECHOES + 2)],
    ),
    ("sigma of the sums' check", (OPENING, SETUP + 4), &[(COMMITMENT, SETUP + 4), (ECHO, SETUP_ECHOES + 3)]),
    ("that it accepts the bits", (ACCEPT, SETUP + 5), &[(OPENING, SETUP + 4)]),
];
