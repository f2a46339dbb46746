//! Kerberos' cryptography in the clear (RFC 3961, 3962, 8009): what an admin's client does to a password, and what the
//! circuits are tested against.
//!
//! # Security
//! [`Key`] wipes itself. The AES of RustCrypto is constant-time; nothing here branches on a key.

mod cts;
mod fold;
#[cfg(test)]
mod tests;

pub use fold::n_fold;

use crate::enctype::{CONFOUNDER, Enctype};
use ::hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::Sha256;
use subtle::ConstantTimeEq;
use tacit::circuit::crypto::sha::Hash;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// The last byte of the constant that Ke is derived by.
pub(crate) const ENCRYPTION: u8 = 0xaa;
/// The same of Ki.
pub(crate) const INTEGRITY: u8 = 0x55;
/// The same of Kc.
pub(crate) const CHECKSUM: u8 = 0x99;

/// A base key.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Key {
    #[zeroize(skip)]
    enctype: Enctype,
    bytes: Vec<u8>,
}

impl Key {
    /// The key of these bytes; `None` if it has another length.
    pub fn new(enctype: Enctype, bytes: &[u8]) -> Option<Self> {
        (bytes.len() == enctype.key_bytes()).then(|| Self { enctype, bytes: bytes.to_vec() })
    }

    /// The key of a password (RFC 3962, section 4; RFC 8009, section 4).
    pub fn of_password(enctype: Enctype, password: &[u8], salt: &[u8], iterations: u32) -> Self {
        let mut salted = Vec::new();
        if enctype.encrypts_first() {
            salted.extend_from_slice(enctype.to_string().as_bytes());
            salted.push(0);
        }
        salted.extend_from_slice(salt);
        let bytes = pbkdf2(enctype.hash(), password, &salted, iterations, enctype.key_bytes());
        let drawn = Self { enctype, bytes: bytes.to_vec() };
        let bytes = drawn.derive(b"kerberos");
        Self { enctype, bytes: bytes.to_vec() }
    }

    /// Its type.
    pub fn enctype(&self) -> Enctype {
        self.enctype
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// DK(key, constant) of RFC 3961, section 5.1; KDF-HMAC-SHA2(key, label) of RFC 8009, section 3.
    pub fn derive(&self, constant: &[u8]) -> Zeroizing<Vec<u8>> {
        if self.enctype.encrypts_first() {
            let message = kdf_message(constant, self.enctype);
            let mut derived = mac(self.enctype.hash(), &self.bytes, &message);
            derived.truncate(self.enctype.key_bytes());
            return derived;
        }
        let cipher = cts::Aes::new(&self.bytes);
        let mut derived = Zeroizing::new(Vec::new());
        let mut block = n_fold::<16>(constant);
        while derived.len() < self.bytes.len() {
            cipher.encrypt(&mut block);
            derived.extend_from_slice(&block);
        }
        block.zeroize();
        derived
    }

    /// A message under a confounder that never comes twice: ciphertext and code.
    pub fn seal(&self, usage: u32, confounder: [u8; CONFOUNDER], message: &[u8]) -> Vec<u8> {
        let plain = Zeroizing::new([&confounder[..], message].concat());
        let mut sealed = cts::encrypt(&cts::Aes::new(&self.derive(&constant(usage, ENCRYPTION))), &plain);
        let code = self.code(usage, &plain, &sealed);
        sealed.extend_from_slice(&code);
        sealed
    }

    /// What is in a ciphertext, without its confounder; `None` if it wasn't sealed under this key and for this usage.
    pub fn open(&self, usage: u32, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let end = sealed.len().checked_sub(self.enctype.mac_bytes()).filter(|end| *end >= CONFOUNDER)?;
        let (sealed, code) = sealed.split_at(end);
        let plain =
            Zeroizing::new(cts::decrypt(&cts::Aes::new(&self.derive(&constant(usage, ENCRYPTION))), sealed));
        let own = self.code(usage, &plain, sealed);
        bool::from(own.ct_eq(code)).then(|| Zeroizing::new(plain[CONFOUNDER..].to_vec()))
    }

    /// The checksum of a message.
    pub fn checksum(&self, usage: u32, message: &[u8]) -> Vec<u8> {
        let key = self.derive(&constant(usage, CHECKSUM));
        mac(self.enctype.hash(), &key, message)[..self.enctype.mac_bytes()].to_vec()
    }

    fn code(&self, usage: u32, plain: &[u8], sealed: &[u8]) -> Vec<u8> {
        let key = self.derive(&constant(usage, INTEGRITY));
        let message = if self.enctype.encrypts_first() {
            [&[0; CONFOUNDER][..], sealed].concat()
        } else {
            plain.to_vec()
        };
        let message = Zeroizing::new(message);
        mac(self.enctype.hash(), &key, &message)[..self.enctype.mac_bytes()].to_vec()
    }
}

/// The constant that keys of a usage are derived by (RFC 3961, section 5.3).
pub(crate) fn constant(usage: u32, kind: u8) -> [u8; 5] {
    let [a, b, c, d] = usage.to_be_bytes();
    [a, b, c, d, kind]
}

/// What KDF-HMAC-SHA2 authenticates for a key of the type's length.
pub(crate) fn kdf_message(label: &[u8], enctype: Enctype) -> Vec<u8> {
    let bits = 8 * enctype.key_bytes() as u32;
    [&1u32.to_be_bytes()[..], label, &[0], &bits.to_be_bytes()].concat()
}

/// HMAC (RFC 2104).
fn mac(hash: Hash, key: &[u8], message: &[u8]) -> Zeroizing<Vec<u8>> {
    const ANY: &str = "HMAC takes keys of any length";
    let code = if hash == Hash::Sha1 {
        let mac = Hmac::<Sha1>::new_from_slice(key).expect(ANY);
        mac.chain_update(message).finalize().into_bytes().to_vec()
    } else {
        let mac = Hmac::<Sha256>::new_from_slice(key).expect(ANY);
        mac.chain_update(message).finalize().into_bytes().to_vec()
    };
    Zeroizing::new(code)
}

/// PBKDF2 (RFC 8018, section 5.2).
fn pbkdf2(hash: Hash, password: &[u8], salt: &[u8], iterations: u32, bytes: usize) -> Zeroizing<Vec<u8>> {
    let mut key = Zeroizing::new(Vec::new());
    for index in 1u32.. {
        if key.len() >= bytes {
            break;
        }
        let mut last = mac(hash, password, &[salt, &index.to_be_bytes()].concat());
        let mut sum = last.clone();
        for _ in 1..iterations {
            last = mac(hash, password, &last);
            sum.iter_mut().zip(last.iter()).for_each(|(sum, last)| *sum ^= last);
        }
        key.extend_from_slice(&sum);
    }
    key.truncate(bytes);
    key
}
