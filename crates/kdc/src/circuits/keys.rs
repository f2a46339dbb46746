//! Keys as wires, and what is done with them.

use super::public::{Hashed, Places, Plain, Sealed, Whole};
use super::wires::{STYLE, add, masked, masked_bytes};
use crate::clear::{CHECKSUM, ENCRYPTION, INTEGRITY, constant, kdf_message, n_fold};
use crate::enctype::Enctype;
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

    pub(super) fn key(&self) -> &[Wire] {
        &self.key
    }

    /// A key of a usage (RFC 3961, section 5.1; RFC 8009, section 3).
    fn derive(&self, b: &mut Builder, usage: Derived, kind: u8) -> Vec<Wire> {
        let mut key = if self.enctype.encrypts_first() {
            let message = usage.string(b, |usage| kdf_message(&constant(usage, kind), self.enctype));
            sha::hmac(b, STYLE, self.enctype.hash(), &self.key, &message)
        } else {
            let mut block = usage.string(b, |usage| n_fold::<16>(&constant(usage, kind)).to_vec());
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
    fn hmac_states(&self, b: &mut Builder, usage: Derived, kind: u8) -> [Vec<Wire>; 2] {
        let key = self.derive(b, usage, kind);
        [0x36, 0x5c].map(|pad| hmac_state(b, self.enctype, &key, pad))
    }

    /// The checksum of a message that all know.
    pub(super) fn checksum(&self, b: &mut Builder, usage: u32, message: &Hashed<'_>) -> Vec<Wire> {
        let [inner, outer] = self.hmac_states(b, Derived::For(usage), CHECKSUM);
        hmac(b, self.enctype, [&inner, &outer], &[], message)
    }
}

/// What a key is derived for.
#[derive(Clone, Copy)]
pub(super) enum Derived {
    /// This usage.
    For(u32),
    /// One of two.
    Either {
        /// Which it is.
        which: Wire,
        /// The one if the bit is set.
        set: u32,
        /// And the other.
        unset: u32,
    },
}

impl Derived {
    /// What is made of the usage.
    fn string(self, b: &mut Builder, of: impl Fn(u32) -> Vec<u8>) -> Vec<Wire> {
        let (which, set, unset) = match self {
            Self::For(usage) => return string(b, &of(usage)),
            Self::Either { which, set, unset } => (which, of(set), of(unset)),
        };
        let differs: Vec<u8> = set.iter().zip(&unset).map(|(a, b)| a ^ b).collect();
        let differs = string(b, &differs);
        let change = masked(b, which, &differs);
        let mut all = string(b, &unset);
        add(b, &mut all, &change);
        all
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
    pub(super) fn derive(b: &mut Builder, base: &Base, usage: Derived) -> Self {
        let encryption = base.derive(b, usage, ENCRYPTION);
        let schedule = aes::key_schedule(b, STYLE, base.enctype.cipher(), &encryption);
        let [inner, outer] = base.hmac_states(b, usage, INTEGRITY);
        Self { enctype: base.enctype, schedule, inner, outer }
    }

    /// As a record has them.
    pub(super) fn wires(self) -> Vec<Wire> {
        [self.schedule, self.inner, self.outer].concat()
    }

    /// Ciphertext, whole blocks with zeros behind its end, and code.
    pub(super) fn seal(
        &self,
        b: &mut Builder,
        plain: &Plain<'_>,
        confounder: &[Wire],
        session: &[Wire],
    ) -> [Vec<Wire>; 2] {
        let mut message = plain.around.bytes.to_vec();
        add(b, &mut message, confounder);
        for (at, is_it) in plain.key.all() {
            let here = masked(b, is_it, session);
            add(b, &mut message[8 * at..], &here);
        }
        self.seal_whole(b, &message, &plain.around)
    }

    /// The same of a message of this form.
    pub(super) fn seal_whole(
        &self,
        b: &mut Builder,
        message: &[Wire],
        Whole { places, hashed, .. }: &Whole<'_>,
    ) -> [Vec<Wire>; 2] {
        let sealed = self.encrypt(b, message, places);
        let code = if self.enctype.encrypts_first() {
            let begins = vec![b.constant(false); BLOCK];
            self.hmac(b, &[&begins[..], &sealed].concat(), hashed)
        } else {
            self.hmac(b, message, hashed)
        };
        [sealed, code]
    }

    /// Whether a ciphertext has the right code.
    pub(super) fn verify(&self, b: &mut Builder, sealed: &Sealed<'_>, plain: &[Wire]) -> Wire {
        // The code of RFC 8009 takes the ciphertext, which all know.
        let secret = if self.enctype.encrypts_first() { &[] } else { plain };
        let own = self.hmac(b, secret, &sealed.hashed);
        arith::equal(b, &own, sealed.code)
    }

    fn hmac(&self, b: &mut Builder, secret: &[Wire], hashed: &Hashed<'_>) -> Vec<Wire> {
        hmac(b, self.enctype, [&self.inner, &self.outer], secret, hashed)
    }

    /// CBC with ciphertext stealing: the last two blocks change places, and the last one is cut. Behind the message's
    /// end are zeros.
    fn encrypt(&self, b: &mut Builder, message: &[Wire], places: &Places<'_>) -> Vec<Wire> {
        let mut chain = vec![b.constant(false); BLOCK];
        let mut blocks = Vec::new();
        for chunk in message.chunks(BLOCK) {
            let mixed = arith::xor(b, &chain, chunk);
            chain = aes::encrypt_expanded(b, STYLE, self.enctype.cipher(), &self.schedule, &mixed);
            blocks.push(chain.clone());
        }
        let mut sealed = Vec::new();
        for at in 0..blocks.len() {
            let mut block = masked(b, places.whole[at], &blocks[at]);
            if let Some(next) = blocks.get(at + 1) {
                let next = masked(b, places.first[at], next);
                add(b, &mut block, &next);
            }
            if at > 0 {
                let cut = masked_bytes(b, places.short, &blocks[at - 1]);
                let cut = masked(b, places.last[at], &cut);
                add(b, &mut block, &cut);
            }
            sealed.extend(block);
        }
        sealed
    }

    /// What was encrypted, with zeros behind its end: the blocks are independent, but for the last but one, whose
    /// stolen bits come out of the last.
    pub(super) fn decrypt(&self, b: &mut Builder, sealed: &Sealed<'_>) -> Vec<Wire> {
        let decrypt = |b: &mut Builder, block: &[Wire]| {
            aes::decrypt_expanded(b, STYLE, self.enctype.cipher(), &self.schedule, block)
        };
        let places = &sealed.places;
        // The last but one, put together from what came of it and from what the last one hides.
        let under = decrypt(b, sealed.full);
        let differs = arith::xor(b, &under, sealed.cut);
        let own = masked_bytes(b, places.short, &differs);
        let stolen = arith::xor(b, &under, &own);
        let first = decrypt(b, &stolen);
        let first = arith::xor(b, &first, sealed.before);
        let last = arith::xor(b, &under, &stolen);
        let mut plain = Vec::new();
        let mut chain = vec![b.constant(false); BLOCK];
        for at in 0..sealed.class.blocks() {
            let mut block = masked(b, places.first[at], &first);
            let end = masked(b, places.last[at], &last);
            add(b, &mut block, &end);
            if let Some(whole) = sealed.whole.chunks(BLOCK).nth(at) {
                let own = decrypt(b, whole);
                let own = arith::xor(b, &own, &chain);
                let own = masked(b, places.whole[at], &own);
                add(b, &mut block, &own);
                chain = whole.to_vec();
            }
            plain.extend(block);
        }
        plain
    }
}

/// HMAC, from the states after the two blocks of the key, cut to a code's length.
fn hmac(
    b: &mut Builder,
    enctype: Enctype,
    states: [&[Wire]; 2],
    secret: &[Wire],
    hashed: &Hashed<'_>,
) -> Vec<Wire> {
    let inner = absorb(b, enctype, states[0], secret, hashed);
    let mut outer = inner.clone();
    outer.extend(string(b, &[0x80]));
    let block = 8 * enctype.hash().block_bytes();
    outer.resize(block - 64, b.constant(false));
    outer.extend(string(b, &((block + inner.len()) as u64).to_be_bytes()));
    let mut code = sha::compress(b, STYLE, enctype.hash(), states[1], &outer);
    code.truncate(8 * enctype.mac_bytes());
    code
}

/// The digest of a message whose first block is in the chaining value already: the value after the last block.
fn absorb(
    b: &mut Builder,
    enctype: Enctype,
    chaining: &[Wire],
    secret: &[Wire],
    hashed: &Hashed<'_>,
) -> Vec<Wire> {
    let hash = enctype.hash();
    let block = 8 * hash.block_bytes();
    let mut message = hashed.bytes.to_vec();
    // Behind its end a secret message is zero; so it is where a plan's longest one ends before the last block does.
    add(b, &mut message, secret);
    let mut state = chaining.to_vec();
    let mut digest = vec![b.constant(false); chaining.len()];
    for (chunk, &is_last) in message.chunks_exact(block).zip(hashed.last) {
        state = sha::compress(b, STYLE, hash, &state, chunk);
        let end = masked(b, is_last, &state);
        add(b, &mut digest, &end);
    }
    digest
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
