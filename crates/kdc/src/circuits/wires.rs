//! What all circuits do with wires, and how many bytes keys and draws have.

use crate::enctype::{CONFOUNDER, Enctype};
use tacit::circuit::arith::Style;
use tacit::circuit::{Builder, Wire};

/// Few rounds: a request waits for each of them.
pub(super) const STYLE: Style = Style::Shallow;
/// Servers, each of which draws parts of what nobody knows.
const SERVERS: usize = 3;

/// Bytes that a record has for one usage.
pub fn keys_bytes(enctype: Enctype) -> usize {
    enctype.cipher().schedule_bytes() + 2 * enctype.hash().digest_bytes()
}

/// Bytes that each server draws for a reply: of the session key, and of two confounders.
pub fn drawn_bytes(enctype: Enctype) -> usize {
    enctype.key_bytes() + 2 * CONFOUNDER
}

/// What each server draws.
pub(super) fn drawn(b: &mut Builder, enctype: Enctype) -> [Vec<Wire>; SERVERS] {
    std::array::from_fn(|_| input(b, 8 * drawn_bytes(enctype)))
}

/// The session key and two confounders: sums of what all servers drew.
pub(super) fn sums(b: &mut Builder, enctype: Enctype, all: &[Vec<Wire>; SERVERS]) -> [Vec<Wire>; 3] {
    let sum: Vec<Wire> = (0..all[0].len())
        .map(|at| {
            let two = b.xor(all[0][at], all[1][at]);
            b.xor(two, all[2][at])
        })
        .collect();
    let (session, confounders) = sum.split_at(8 * enctype.key_bytes());
    let (first, second) = confounders.split_at(8 * CONFOUNDER);
    [session.to_vec(), first.to_vec(), second.to_vec()]
}

/// Bits where a condition holds, and else zeros.
pub(super) fn masked(b: &mut Builder, condition: Wire, bits: &[Wire]) -> Vec<Wire> {
    bits.iter().map(|&bit| b.and(condition, bit)).collect()
}

/// Bytes of which one bit each says whether they are there, and else zeros.
pub(super) fn masked_bytes(b: &mut Builder, conditions: &[Wire], bytes: &[Wire]) -> Vec<Wire> {
    conditions.iter().zip(bytes.chunks(8)).flat_map(|(&condition, byte)| masked(b, condition, byte)).collect()
}

/// Adds bits to others.
pub(super) fn add(b: &mut Builder, sum: &mut [Wire], bits: &[Wire]) {
    for (sum, &bit) in sum.iter_mut().zip(bits) {
        *sum = b.xor(*sum, bit);
    }
}

pub(super) fn input(b: &mut Builder, bits: usize) -> Vec<Wire> {
    b.input(u32::try_from(bits).expect("messages are short"))
}
