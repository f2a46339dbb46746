//! Keys as wires, and what is done with them.

use super::STYLE;
use crate::clear::{CHECKSUM, ENCRYPTION, INTEGRITY, constant, kdf_message, n_fold};
use crate::enctype::{CONFOUNDER, Enctype};
use tacit::circuit::arith;
use tacit::circuit::crypto::{aes, sha};
use tacit::circuit::{Builder, Wire};

/// Bits of a block of AES.
const BLOCK: usize = 128;

/// A base key, and its round keys where keys are derived by AES.
pub(super) struct Base {
    enctype: Enctype,
    key: Vec<Wire>,
    schedule: Vec<Wire>,
}

impl Base {
    pub(super) fn new(b: &mut Builder, enctype: Enctype, key: &[Wire]) -> Self {
        let schedule = if enctype.encrypts_first() {
            Vec::new()
        } else {
            aes::key_schedule(b, STYLE, enctype.cipher(), key)
        };
        Self { enctype, key: key.to_vec(), schedule }
    }

    /// A key of a usage (RFC 3961, section 5.1; RFC 8009, section 3).
    fn derive(&self, b: &mut Builder, usage: u32, kind: u8) -> Vec<Wire> {
        let constant = constant(usage, kind);
        let mut key = if self.enctype.encrypts_first() {
            let message = string(b, &kdf_message(&constant, self.enctype));
            sha::hmac(b, STYLE, self.enctype.hash(), &self.key, &message)
        } else {
            let mut block = string(b, &n_fold::<16>(&constant));
            let mut key = Vec::new();
            while key.len() < self.key.len() {
                block = aes::encrypt_expanded(b, STYLE, self.enctype.cipher(), &self.schedule, &block);
                key.extend(&block);
            }
            key
        };
        key.truncate(self.key.len());
        key
    }

    /// The states of HMAC after the two blocks of such a key.
    fn hmac_states(&self, b: &mut Builder, usage: u32, kind: u8) -> [Vec<Wire>; 2] {
        let key = self.derive(b, usage, kind);
        [0x36, 0x5c].map(|pad| hmac_state(b, self.enctype, &key, pad))
    }

    /// The checksum of a message.
    pub(super) fn checksum(&self, b: &mut Builder, usage: u32, message: &[Wire]) -> Vec<Wire> {
        let [inner, outer] = self.hmac_states(b, usage, CHECKSUM);
        let mut code = hmac(b, self.enctype, [&inner, &outer], message);
        code.truncate(8 * self.enctype.mac_bytes());
        code
    }
}

/// What one usage of a key takes.
pub(super) struct Keys {
    enctype: Enctype,
    /// Round keys of Ke.
    schedule: Vec<Wire>,
    /// SHA's chaining value after the inner block of Ki.
    inner: Vec<Wire>,
    /// The same after the outer block.
    outer: Vec<Wire>,
}

impl Keys {
    /// Those of a record.
    pub(super) fn of(enctype: Enctype, wires: &[Wire]) -> Self {
        let (schedule, states) = wires.split_at(8 * enctype.cipher().schedule_bytes());
        let (inner, outer) = states.split_at(8 * enctype.hash().digest_bytes());
        Self { enctype, schedule: schedule.to_vec(), inner: inner.to_vec(), outer: outer.to_vec() }
    }

    /// Those of a usage of a base key.
    pub(super) fn derive(b: &mut Builder, base: &Base, usage: u32) -> Self {
        let encryption = base.derive(b, usage, ENCRYPTION);
        let schedule = aes::key_schedule(b, STYLE, base.enctype.cipher(), &encryption);
        let [inner, outer] = base.hmac_states(b, usage, INTEGRITY);
        Self { enctype: base.enctype, schedule, inner, outer }
    }

    /// As a record has them.
    pub(super) fn wires(self) -> Vec<Wire> {
        [self.schedule, self.inner, self.outer].concat()
    }

    /// Ciphertext and code of a message that begins with its confounder.
    pub(super) fn seal(&self, b: &mut Builder, plain: &[Wire]) -> Vec<Wire> {
        let mut sealed = self.encrypt(b, plain);
        let code = self.code(b, plain, &sealed);
        sealed.extend(code);
        sealed
    }

    /// Whether a ciphertext has the right code. `sealed` ends with it.
    pub(super) fn verify(&self, b: &mut Builder, sealed: &[Wire]) -> Wire {
        let (sealed, code) = sealed.split_at(sealed.len() - 8 * self.enctype.mac_bytes());
        // The code of RFC 8009 doesn't take the plaintext.
        let plain = if self.enctype.encrypts_first() { Vec::new() } else { self.decrypt(b, sealed) };
        let own = self.code(b, &plain, sealed);
        arith::equal(b, &own, code)
    }

    fn code(&self, b: &mut Builder, plain: &[Wire], sealed: &[Wire]) -> Vec<Wire> {
        let mut code = if self.enctype.encrypts_first() {
            let mut message = vec![b.constant(false); 8 * CONFOUNDER];
            message.extend(sealed);
            self.hmac(b, &message)
        } else {
            self.hmac(b, plain)
        };
        code.truncate(8 * self.enctype.mac_bytes());
        code
    }

    fn hmac(&self, b: &mut Builder, message: &[Wire]) -> Vec<Wire> {
        hmac(b, self.enctype, [&self.inner, &self.outer], message)
    }

    /// CBC with ciphertext stealing: the last two blocks change places, and the last one is cut.
    fn encrypt(&self, b: &mut Builder, plain: &[Wire]) -> Vec<Wire> {
        let mut chain = vec![b.constant(false); BLOCK];
        let mut blocks = Vec::new();
        for chunk in plain.chunks(BLOCK) {
            let mixed = arith::xor(b, &chain[..chunk.len()], chunk);
            chain.splice(..chunk.len(), mixed);
            chain = aes::encrypt_expanded(b, STYLE, self.enctype.cipher(), &self.schedule, &chain);
            blocks.push(chain.clone());
        }
        let count = blocks.len();
        if count > 1 {
            blocks.swap(count - 2, count - 1);
        }
        let mut sealed = blocks.concat();
        sealed.truncate(plain.len());
        sealed
    }

    /// What was encrypted: the blocks are independent, but for the last one, whose stolen bits come first.
    pub(super) fn decrypt(&self, b: &mut Builder, sealed: &[Wire]) -> Vec<Wire> {
        let decrypt = |b: &mut Builder, block: &[Wire]| {
            aes::decrypt_expanded(b, STYLE, self.enctype.cipher(), &self.schedule, block)
        };
        let count = sealed.len().div_ceil(BLOCK);
        let mut blocks: Vec<(Vec<Wire>, Vec<Wire>)> = Vec::new();
        let whole = if count > 1 { count - 2 } else { count };
        for block in sealed.chunks_exact(BLOCK).take(whole) {
            blocks.push((block.to_vec(), decrypt(b, block)));
        }
        if count > 1 {
            let last = &sealed[(count - 2) * BLOCK..(count - 1) * BLOCK];
            let short = &sealed[(count - 1) * BLOCK..];
            let under = decrypt(b, last);
            let mut stolen = under.clone();
            stolen[..short.len()].copy_from_slice(short);
            let first = decrypt(b, &stolen);
            blocks.push((stolen, first));
            blocks.push((last.to_vec(), under));
        }
        let mut chain = vec![b.constant(false); BLOCK];
        let mut plain = Vec::new();
        for (sealed, block) in blocks {
            plain.extend(arith::xor(b, &block, &chain));
            chain = sealed;
        }
        plain.truncate(sealed.len());
        plain
    }
}

/// HMAC, from the states after the two blocks of the key.
fn hmac(b: &mut Builder, enctype: Enctype, states: [&[Wire]; 2], message: &[Wire]) -> Vec<Wire> {
    let inner = absorb(b, enctype, states[0], message);
    absorb(b, enctype, states[1], &inner)
}

/// The digest of a message whose first block is in the chaining value already (FIPS 180-4, section 5.1).
fn absorb(b: &mut Builder, enctype: Enctype, chaining: &[Wire], message: &[Wire]) -> Vec<Wire> {
    let hash = enctype.hash();
    let block = 8 * hash.block_bytes();
    // Both hash functions have words of 32 bits, and end with the length in two of them.
    let length = ((block + message.len()) as u64).to_be_bytes();
    let mut padded = message.to_vec();
    padded.extend(string(b, &[0x80]));
    let filled = (padded.len() + 64).next_multiple_of(block) - 64;
    padded.resize(filled, b.constant(false));
    padded.extend(string(b, &length));
    padded
        .chunks_exact(block)
        .fold(chaining.to_vec(), |chaining, block| sha::compress(b, STYLE, hash, &chaining, block))
}

/// The bits of bytes that everybody knows.
fn string(b: &mut Builder, bytes: &[u8]) -> Vec<Wire> {
    bytes.iter().flat_map(|&byte| arith::constant(b, byte.into(), 8)).collect()
}

/// The chaining value after the key plus a byte repeated.
fn hmac_state(b: &mut Builder, enctype: Enctype, key: &[Wire], pad: u8) -> Vec<Wire> {
    let hash = enctype.hash();
    let mut block = key.to_vec();
    block.resize(8 * hash.block_bytes(), b.constant(false));
    let pad = string(b, &vec![pad; hash.block_bytes()]);
    let block = arith::xor(b, &block, &pad);
    let initial: &[u32] = match hash {
        sha::Hash::Sha1 => &SHA1_INITIAL,
        _ => &SHA256_INITIAL,
    };
    let initial: Vec<u8> = initial.iter().flat_map(|word| word.to_be_bytes()).collect();
    let initial = string(b, &initial);
    sha::compress(b, STYLE, hash, &initial, &block)
}

/// FIPS 180-4, section 5.3.1.
const SHA1_INITIAL: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
/// FIPS 180-4, section 5.3.3.
const SHA256_INITIAL: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
