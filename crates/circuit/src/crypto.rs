//! Ciphers and hash functions as circuits.
//!
//! One convention everywhere: byte `i` of a standard's byte string is on wires 8 i to 8 i + 7, its least significant
//! bit first. A bit-vector is the little-endian bit string of the bytes, whatever a standard calls bit 0. Keys,
//! blocks, messages, digests and the chaining values of hash functions are such byte strings, in the order in which
//! the standard writes them down.
//!
//! A string of another length than a function takes is a mistake of the program that builds the circuit, and a panic.

pub mod aes;
pub mod keccak;
pub mod sha;

use crate::Wire;

/// The bytes of a string.
fn bytes(string: &[Wire]) -> impl DoubleEndedIterator<Item = &[Wire]> {
    string.chunks_exact(8)
}
