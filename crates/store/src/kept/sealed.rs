//! Sealed bytes: encrypted, and authenticated with what they are.
//!
//! | part | holds |
//! | --- | --- |
//! | head | what the file is, and its version |
//! | salt | 32 random bytes, fresh each time |
//! | body | the bytes under AES-128 in counter mode |
//! | tag | HMAC-SHA256 of the file's label, head, salt and body |
//!
//! Both keys are HKDF-SHA256 of the party's key, salted: so a counter never comes twice under one key.

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::format::{self, Malformed};

const MAGIC: [u8; 8] = *b"tacitkpt";
const SALT: usize = 32;
const TAG: usize = 32;
/// Bytes that a file has besides its body.
pub(super) const OVERHEAD: usize = format::HEAD + SALT + TAG;

/// The keys of one file.
struct Keys(Zeroizing<[u8; 16 + 32]>);

impl Keys {
    fn new(key: &[u8; 32], salt: &[u8]) -> Self {
        let mut keys = Zeroizing::new([0; 48]);
        let expanded = Hkdf::<Sha256>::new(Some(salt), key).expand(b"tacit kept 1", keys.as_mut_slice());
        assert!(expanded.is_ok(), "48 bytes are fewer than 8,160");
        Self(keys)
    }

    /// Encrypts, or decrypts.
    fn crypt(&self, bytes: &mut [u8]) {
        let mut key = [0; 16];
        key.copy_from_slice(&self.0[..16]);
        let cipher = Aes128::new(&key.into());
        key.zeroize();
        for (number, block) in (0_u128..).zip(bytes.chunks_mut(16)) {
            let mut stream = number.to_le_bytes().into();
            cipher.encrypt_block(&mut stream);
            block.iter_mut().zip(stream.iter()).for_each(|(byte, mask)| *byte ^= mask);
        }
    }

    fn tag(&self, label: &str, sealed: &[u8]) -> [u8; TAG] {
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&self.0[16..]).expect("any length will do");
        mac.update(&(label.len() as u64).to_le_bytes());
        mac.update(label.as_bytes());
        mac.update(sealed);
        mac.finalize().into_bytes().into()
    }
}

/// Seals bytes as a file of this label, with fresh salt.
pub(super) fn seal(key: &[u8; 32], label: &str, salt: &[u8; SALT], bytes: &[u8]) -> Vec<u8> {
    let mut sealed = format::head(MAGIC).to_vec();
    sealed.extend_from_slice(salt);
    sealed.extend_from_slice(bytes);
    let keys = Keys::new(key, salt);
    keys.crypt(&mut sealed[format::HEAD + SALT..]);
    let tag = keys.tag(label, &sealed);
    sealed.extend_from_slice(&tag);
    sealed
}

/// Opens what was sealed as a file of this label.
///
/// # Errors
/// [`Malformed`]: [`Malformed::Checksum`] if a byte was changed, or it was sealed under another key or label.
pub(super) fn open(key: &[u8; 32], label: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, Malformed> {
    format::body(sealed, MAGIC)?;
    let (sealed, tag) = sealed.split_last_chunk::<TAG>().ok_or(Malformed::Length)?;
    let body = sealed.get(format::HEAD + SALT..).ok_or(Malformed::Length)?;
    let keys = Keys::new(key, &sealed[format::HEAD..format::HEAD + SALT]);
    if !bool::from(keys.tag(label, sealed).ct_eq(tag)) {
        return Err(Malformed::Checksum);
    }
    let mut bytes = Zeroizing::new(body.to_vec());
    keys.crypt(&mut bytes);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_is_opened_as_what_it_is_and_nothing_else() {
        for len in [0, 1, 15, 16, 17, 1000] {
            let bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
            let sealed = seal(&[1; 32], "a", &[2; 32], &bytes);
            assert_eq!(sealed.len(), len + OVERHEAD);
            assert_eq!(*open(&[1; 32], "a", &sealed).unwrap(), bytes);
            assert!(open(&[1; 32], "b", &sealed).is_err() && open(&[2; 32], "a", &sealed).is_err());
            for at in (0..sealed.len()).step_by(7) {
                let mut changed = sealed.clone();
                changed[at] ^= 1;
                assert!(open(&[1; 32], "a", &changed).is_err(), "{at}");
                assert!(open(&[1; 32], "a", &sealed[..at]).is_err(), "{at}");
            }
            if len >= 16 {
                assert!(!sealed.windows(16).any(|window| window == &bytes[..16]));
                assert_ne!(sealed, seal(&[1; 32], "a", &[3; 32], &bytes));
            }
        }
    }
}
