//! The key that servers and admins of a realm have for orders. It proves nothing of who ordered what: the order's run does. It keeps
//! out what no admin sent, at once and without a run, so that nobody else can make admins wait.

use ::hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use zeroize::Zeroizing;

/// Its file, in the folders of servers and admins.
const FILE: &str = "orders.key";
/// Bytes of it, and of a code.
const BYTES: usize = 32;

/// The key.
pub struct OrderKey(Zeroizing<[u8; BYTES]>);

impl OrderKey {
    /// A new one.
    ///
    /// # Errors
    /// If the system has no randomness.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let mut key = Zeroizing::new([0; BYTES]);
        getrandom::fill(&mut *key)?;
        Ok(Self(key))
    }

    /// Reads the one in a folder.
    ///
    /// # Errors
    /// If there is none.
    pub fn load(folder: &Path) -> io::Result<Self> {
        let path = folder.join(FILE);
        let wrong = |kind, reason: &str| io::Error::new(kind, format!("{}: {reason}", path.display()));
        let text = fs::read_to_string(&path).map_err(|error| wrong(error.kind(), &error.to_string()))?;
        let text = Zeroizing::new(text);
        let digits: Vec<u8> = text.trim().chars().filter_map(|c| Some(c.to_digit(16)? as u8)).collect();
        let digits = Zeroizing::new(digits);
        let mut key = Zeroizing::new([0; BYTES]);
        if digits.len() != 2 * BYTES || text.trim().len() != digits.len() {
            return Err(wrong(io::ErrorKind::InvalidData, "no key of 64 hexadecimal digits"));
        }
        for (byte, pair) in key.iter_mut().zip(digits.chunks(2)) {
            *byte = pair.iter().fold(0, |byte, digit| byte << 4 | digit);
        }
        Ok(Self(key))
    }

    /// Writes it into a folder, for its owner alone.
    ///
    /// # Errors
    /// If there is one already, or the disk refuses.
    pub fn save(&self, folder: &Path) -> io::Result<()> {
        let mut text = Zeroizing::new(String::with_capacity(2 * BYTES + 1));
        for byte in self.0.iter() {
            // Writing into a string can't fail.
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(FILE))?;
        file.write_all(text.as_bytes())
    }

    /// An order as it is sent: behind its code.
    pub fn close(&self, order: &[u8]) -> Vec<u8> {
        [&self.code(order).finalize().into_bytes()[..], order].concat()
    }

    /// The order that was sent, if its code is right.
    pub fn open<'o>(&self, sent: &'o [u8]) -> Option<&'o [u8]> {
        let (code, order) = sent.split_at_checked(BYTES)?;
        self.code(order).verify_slice(code).is_ok().then_some(order)
    }

    fn code(&self, order: &[u8]) -> Hmac<Sha256> {
        let mut code = Hmac::<Sha256>::new_from_slice(&*self.0).expect("HMAC takes keys of any length");
        code.update(order);
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_come_back_under_the_same_key_alone() {
        let folder = tempfile::tempdir().unwrap();
        let key = OrderKey::draw().unwrap();
        key.save(folder.path()).unwrap();
        assert!(key.save(folder.path()).is_err(), "no key is written over");
        let sent = key.close(b"order");
        assert_eq!(OrderKey::load(folder.path()).unwrap().open(&sent), Some(&b"order"[..]));
        for at in 0..sent.len() {
            let mut changed = sent.clone();
            changed[at] ^= 1;
            assert_eq!(key.open(&changed), None);
            assert_eq!(key.open(&sent[..at]), None);
        }
        assert_eq!(OrderKey::draw().unwrap().open(&sent), None);
        for text in ["", "00", &"g".repeat(64), &"0".repeat(65)] {
            fs::write(folder.path().join(FILE), text).unwrap();
            assert!(OrderKey::load(folder.path()).is_err());
        }
    }
}
