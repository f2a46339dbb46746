//! Key streams of AES-128 in counter mode (NIST SP 800-38A) for many messages: each block is an instance of one circuit of a block,
//! so that machine words are full of blocks.

use crate::programs::{rows, to_bits};
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use std::ops::Range;
use std::sync::Arc;
use tacit::circuit::arith::Style;
use tacit::circuit::crypto::aes::{Variant, encrypt_expanded};
use tacit::circuit::{Builder as Gates, Circuit};
use tacit::program::{Builder, Data, Dtype, Index, NodeId, ProgramError, Recipient, Value};

pub(super) const AES: Variant = Variant::Aes128;
pub(super) const BLOCK: usize = 16;
pub(super) const BITS: usize = 8 * BLOCK;
/// Bits of an expanded key: eleven blocks.
pub(super) const SCHEDULE: usize = 11 * BITS;
/// Bytes of a message's nonce; the rest of a counter is a block's number.
pub(super) const NONCE: usize = 12;

/// A nonce, a block's number and an expanded key to a block of the key stream.
pub(super) fn cipher() -> Circuit {
    let mut b = Gates::new();
    let [nonce, number, key] = [8 * NONCE, BITS - 8 * NONCE, SCHEDULE].map(|bits| b.input(bits as u32));
    let stream = encrypt_expanded(&mut b, Style::Small, AES, &key, &[nonce, number].concat());
    b.finish(vec![stream])
}

/// Nonces that all know: of each login those of so many messages.
pub(super) fn nonces(build: &mut Builder, logins: usize, messages: usize) -> Result<NodeId, ProgramError> {
    build.known("nonces", Dtype::Bool, &[logins, messages, 8 * NONCE], None)
}

/// The key streams of one message of each login, of blocks with these numbers: logins by blocks by bits.
pub(super) fn stream(
    build: &mut Builder,
    cipher: &Arc<Circuit>,
    (nonces, message): (NodeId, usize),
    numbers: Range<u32>,
    key: NodeId,
) -> Result<NodeId, ProgramError> {
    let all = Index::Slice { start: None, stop: None, step: 1 };
    let nonces = build.index(nonces, &[all, part(message, 1), all])?;
    let numbers: Vec<Vec<u8>> = numbers.map(|number| number.to_be_bytes().to_vec()).collect();
    let numbers = build.constant(&value(&numbers), Dtype::Bool)?;
    Ok(build.circuit(cipher, &[nonces, numbers, key])?[0])
}

/// So many places of an axis, from one on.
pub(super) fn part(start: usize, count: usize) -> Index {
    Index::Slice { start: Some(start as i64), stop: Some((start + count) as i64), step: 1 }
}

/// What servers draw for each login: its session key is the sum.
pub(super) fn drawn(build: &mut Builder, parties: &[String], logins: usize) -> Result<NodeId, ProgramError> {
    let mut sum = None;
    for party in parties {
        let own = build.input(party, "drawn", Dtype::Bool, &[logins, BITS], None)?;
        sum = Some(sum.map_or(Ok(own), |sum| build.xor(sum, own))?);
    }
    Ok(sum.expect("there are parties"))
}

/// Opens the key stream of a message, first blocks and then all others: first ones have a session key added.
pub(super) fn reveal_with_session(
    build: &mut Builder,
    stream: NodeId,
    blocks: usize,
    session: NodeId,
) -> Result<(), ProgramError> {
    let all = Index::Slice { start: None, stop: None, step: 1 };
    let first = build.index(stream, &[all, Index::At(0)])?;
    let first = build.xor(first, session)?;
    let others = build.index(stream, &[all, part(1, blocks - 1)])?;
    build.reveal(first, Recipient::All)?;
    build.reveal(others, Recipient::All)
}

/// A block of a message's counter.
pub(super) fn counter(nonce: [u8; NONCE], number: u32) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    block[..NONCE].copy_from_slice(&nonce);
    block[NONCE..].copy_from_slice(&number.to_be_bytes());
    block
}

/// Nonces of the messages of a batch's login: none comes twice under a key.
pub(super) fn nonce(batch: usize, (login, logins): (usize, usize), message: usize) -> [u8; NONCE] {
    let mut nonce = [message as u8; NONCE];
    nonce[4..].copy_from_slice(&((batch * logins + login) as u64).to_be_bytes());
    nonce
}

/// The sum of two strings of one length.
pub(super) fn sum(x: &[u8], y: &[u8]) -> Vec<u8> {
    x.iter().zip(y).map(|(x, y)| x ^ y).collect()
}

/// Bytes that look like others' in no other batch.
pub(super) fn pattern(seed: usize, batch: usize, count: usize) -> Vec<u8> {
    (0..count).map(|at| (at * 151 + at * at * 7 + seed * 41 + batch * 13) as u8).collect()
}

/// Rows of bits.
pub(super) fn value(all: &[Vec<u8>]) -> Value {
    let row = |bytes: &Vec<u8>| match to_bits(bytes).data {
        Data::Bool(bits) => bits,
        _ => Vec::new(),
    };
    rows(&all.iter().map(row).collect::<Vec<_>>())
}

/// What all know of messages' nonces, of each login one behind the other.
pub(super) fn nonces_value(all: &[Vec<u8>]) -> Value {
    let value = value(all);
    let messages = all.first().map_or(0, |own| own.len() / NONCE);
    Value { shape: vec![all.len(), messages, 8 * NONCE], ..value }
}

/// ANDs that are paid for: those with public bits aren't.
#[cfg(test)]
pub(super) fn ands(compiled: &tacit::Compiled) -> u64 {
    let plan = compiled.plan();
    plan.ops.iter().map(|op| op.kind.ands(plan)).sum()
}

/// A key in the clear.
pub(super) struct Clear {
    pub(super) bytes: [u8; BLOCK],
    cipher: aes::Aes128,
}

impl Clear {
    pub(super) fn new(bytes: [u8; BLOCK]) -> Self {
        Self { bytes, cipher: aes::Aes128::new(&bytes.into()) }
    }

    pub(super) fn block(&self, block: [u8; BLOCK]) -> [u8; BLOCK] {
        let mut block = block.into();
        self.cipher.encrypt_block(&mut block);
        block.into()
    }

    /// Whole blocks plus key stream, whose first block has this number.
    pub(super) fn add_stream(&self, nonce: [u8; NONCE], first: u32, text: &[u8]) -> Vec<u8> {
        let blocks = (first..).zip(text.chunks(BLOCK));
        blocks.flat_map(|(number, block)| sum(block, &self.block(counter(nonce, number)))).collect()
    }
}
