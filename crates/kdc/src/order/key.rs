//! The keys of orders: the admin signs what it orders (Ed25519, RFC 8032), and servers have what that is verified
//! with. It keeps out what no admin sent, at once and without a run; and it lets a server that missed an order take
//! it from the others. That an order is carried out at all its run proves.

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use zeroize::Zeroizing;

/// The admin's file.
const SECRET: &str = "orders.key";
/// That of servers.
const PUBLIC: &str = "orders.pub";
/// Bytes of a key.
const BYTES: usize = 32;
/// Digits of a signature.
const SIGNATURE: usize = 128;
/// What stands before an order where it is signed, with its realm, so that nothing else that the key may sign is one: no order of
/// another realm either, whose admin may have the same key.
const LABEL: &str = "tacit kdc order 1: ";

/// The admin's key.
pub struct OrderKey(Ed25519KeyPair);

impl OrderKey {
    /// A new one in a folder, for its owner alone; its public part.
    ///
    /// # Errors
    /// If there is one already, the system has no randomness, or the disk refuses.
    pub fn draw(folder: &Path) -> io::Result<AdminKey> {
        let mut seed = Zeroizing::new([0; BYTES]);
        getrandom::fill(&mut *seed).map_err(|error| io::Error::other(error.to_string()))?;
        let key = Self::of(&seed, "what was drawn")?;
        write(&folder.join(SECRET), &*seed)?;
        Ok(key.public())
    }

    /// Reads the one in a folder.
    ///
    /// # Errors
    /// If there is none.
    pub fn load(folder: &Path) -> io::Result<Self> {
        let path = folder.join(SECRET);
        Self::of(&*read(&path)?, &path.display().to_string())
    }

    fn of(seed: &[u8; BYTES], what: &str) -> io::Result<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed);
        pair.map(Self).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{what}: no key to sign with: {error}"))
        })
    }

    /// What servers verify its orders with.
    pub fn public(&self) -> AdminKey {
        let mut bytes = [0; BYTES];
        bytes.iter_mut().zip(self.0.public_key().as_ref()).for_each(|(byte, own)| *byte = *own);
        AdminKey(bytes)
    }

    /// An order of a realm as it is sent: behind its signature.
    pub fn sign(&self, realm: &str, order: &str) -> String {
        let signature = self.0.sign(signed(realm, order).as_bytes());
        let mut sent = String::with_capacity(SIGNATURE + order.len());
        push_digits(&mut sent, signature.as_ref());
        sent.push_str(order);
        sent
    }
}

/// What servers verify an admin's orders with.
pub struct AdminKey([u8; BYTES]);

impl AdminKey {
    /// Reads the one in a folder.
    ///
    /// # Errors
    /// If there is none.
    pub fn load(folder: &Path) -> io::Result<Self> {
        read(&folder.join(PUBLIC)).map(|bytes| Self(*bytes))
    }

    /// Writes it into a folder.
    ///
    /// # Errors
    /// If there is one already, or the disk refuses.
    pub fn save(&self, folder: &Path) -> io::Result<()> {
        write(&folder.join(PUBLIC), &self.0)
    }

    /// The order of a realm that was sent, if its signature is right.
    pub fn open<'o>(&self, realm: &str, sent: &'o str) -> Option<&'o str> {
        let (signature, order) = sent.split_at_checked(SIGNATURE)?;
        let signed = signed(realm, order);
        let key = UnparsedPublicKey::new(&ED25519, &self.0);
        let verified = key.verify(signed.as_bytes(), &bytes_of(signature)?);
        verified.is_ok().then_some(order)
    }
}

/// What is signed of an order: no realm has a line's end in its name.
fn signed(realm: &str, order: &str) -> String {
    format!("{LABEL}{realm}\n{order}")
}

/// What was ordered, whoever signed it: of what this server has verified before.
pub(super) fn unsigned(sent: &str) -> &str {
    sent.get(SIGNATURE..).unwrap_or_default()
}

fn push_digits(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing into a string can't fail.
        let _ = write!(text, "{byte:02x}");
    }
}

/// The bytes of digits, each pair of which is one; there is one form of each.
fn bytes_of(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let digit = |c: u8| (c as char).to_digit(16).filter(|_| !c.is_ascii_uppercase());
    let byte = |pair: &[u8; 2]| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(byte).collect::<Option<Vec<u8>>>().map(Zeroizing::new)
}

/// Reads a file of digits.
fn read(path: &Path) -> io::Result<Zeroizing<[u8; BYTES]>> {
    let wrong = |kind, reason: &str| io::Error::new(kind, format!("{}: {reason}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(error.kind(), &error.to_string()))?;
    let text = Zeroizing::new(text);
    let bytes = bytes_of(text.trim()).and_then(|bytes| bytes.as_slice().try_into().ok());
    let none = || wrong(io::ErrorKind::InvalidData, "no key of 64 hexadecimal digits");
    bytes.map(Zeroizing::new).ok_or_else(none)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut text = Zeroizing::new(String::with_capacity(2 * BYTES + 1));
    push_digits(&mut text, bytes);
    text.push('\n');
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_taken_as_the_admin_signed_them_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let public = OrderKey::draw(folder.path()).unwrap();
        assert!(OrderKey::draw(folder.path()).is_err(), "no key is written over");
        public.save(folder.path()).unwrap();
        let sent = OrderKey::load(folder.path()).unwrap().sign("R", "order");
        assert_eq!(AdminKey::load(folder.path()).unwrap().open("R", &sent), Some("order"));
        assert_eq!(public.open("S", &sent), None);
        assert_eq!(unsigned(&sent), "order");
        for at in 0..sent.len() {
            let mut changed = sent.clone().into_bytes();
            changed[at] ^= 1;
            assert_eq!(public.open("R", &String::from_utf8(changed).unwrap()), None);
            assert_eq!(public.open("R", &sent[..at]), None);
        }
        // Neither in digits of another form.
        assert_eq!(public.open("R", &format!("{}order", sent[..SIGNATURE].to_uppercase())), None);
        let other = tempfile::tempdir().unwrap();
        assert_eq!(OrderKey::draw(other.path()).unwrap().open("R", &sent), None);
        for text in ["", "00", &"g".repeat(64), &"0".repeat(65)] {
            fs::write(folder.path().join(SECRET), text).unwrap();
            fs::write(folder.path().join(PUBLIC), text).unwrap();
            assert!(OrderKey::load(folder.path()).is_err() && AdminKey::load(folder.path()).is_err());
        }
    }
}
