//! AES in CBC mode with ciphertext stealing, from an initial vector of zeros (RFC 3962, section 5; CBC-CS3).

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes256, Block};

/// Bytes of a block.
const BLOCK: usize = 16;

/// AES with a key of 16 or 32 bytes.
pub(super) enum Aes {
    Short(Aes128),
    Long(Aes256),
}

impl Aes {
    /// # Panics
    /// If the key has another length.
    pub(super) fn new(key: &[u8]) -> Self {
        match key.len() {
            16 => Self::Short(Aes128::new_from_slice(key).expect("16 bytes")),
            _ => Self::Long(Aes256::new_from_slice(key).expect("a key has 16 or 32 bytes")),
        }
    }

    pub(super) fn encrypt(&self, block: &mut [u8; BLOCK]) {
        let mut changed = Block::from(*block);
        match self {
            Self::Short(aes) => aes.encrypt_block(&mut changed),
            Self::Long(aes) => aes.encrypt_block(&mut changed),
        }
        *block = changed.into();
    }

    fn decrypt(&self, block: &mut [u8; BLOCK]) {
        let mut changed = Block::from(*block);
        match self {
            Self::Short(aes) => aes.decrypt_block(&mut changed),
            Self::Long(aes) => aes.decrypt_block(&mut changed),
        }
        *block = changed.into();
    }
}

/// A message of at least one block, encrypted: as many bytes.
pub(super) fn encrypt(aes: &Aes, plain: &[u8]) -> Vec<u8> {
    assert!(plain.len() >= BLOCK, "a confounder is a block");
    let mut chain = [0; BLOCK];
    let mut blocks = Vec::new();
    for chunk in plain.chunks(BLOCK) {
        chain.iter_mut().zip(chunk).for_each(|(chain, byte)| *chain ^= byte);
        aes.encrypt(&mut chain);
        blocks.push(chain);
    }
    let count = blocks.len();
    if count > 1 {
        blocks.swap(count - 2, count - 1);
    }
    let mut sealed = blocks.concat();
    sealed.truncate(plain.len());
    sealed
}

/// What was encrypted.
pub(super) fn decrypt(aes: &Aes, sealed: &[u8]) -> Vec<u8> {
    assert!(sealed.len() >= BLOCK, "a confounder is a block");
    let block = |bytes: &[u8]| -> [u8; BLOCK] { bytes.try_into().expect("a whole block") };
    let count = sealed.len().div_ceil(BLOCK);
    let mut blocks: Vec<[u8; BLOCK]> = sealed.chunks_exact(BLOCK).map(block).collect();
    if count > 1 {
        // The last block but one is whole, and stands where the last would; of the other only the beginning is there. The
        // rest of it is what the whole one decrypts to where the message has no more bytes.
        let short = &sealed[(count - 1) * BLOCK..];
        let last = blocks[count - 2];
        let mut under = last;
        aes.decrypt(&mut under);
        under[..short.len()].copy_from_slice(short);
        blocks.truncate(count - 2);
        blocks.extend([under, last]);
    }
    let mut chain = [0; BLOCK];
    // Room for all: a vector that grows leaves copies behind.
    let mut plain = Vec::with_capacity(sealed.len() + BLOCK);
    for sealed in blocks {
        let mut block = sealed;
        aes.decrypt(&mut block);
        block.iter_mut().zip(chain).for_each(|(byte, chain)| *byte ^= chain);
        chain = sealed;
        plain.extend_from_slice(&block);
    }
    plain.truncate(sealed.len());
    plain
}
