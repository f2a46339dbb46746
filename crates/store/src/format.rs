//! What all files of a store have in common: they begin with what they are and in which version, and carry
//! checksums, so that rot and truncation are noticed.
//!
//! All integers are little-endian. Checksums are plain SHA-256: they are no defence against somebody who can write to
//! the store, who could as well read it.

use sha2::{Digest, Sha256};

/// The version of the files that this code reads and writes.
pub const VERSION: u32 = 3;

/// Bytes of a file's beginning: eight that say what it is, and its version.
pub(crate) const HEAD: usize = 12;

/// Bytes that aren't what a file of a store should hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// Another kind of file.
    #[error("it is no such file")]
    Foreign,
    /// A version that this code can't read.
    #[error("it is of version {found}, and this program reads version {VERSION}")]
    Version {
        /// The file's.
        found: u32,
    },
    /// It has another length than its contents say.
    #[error("it is cut short or too long")]
    Length,
    /// A checksum isn't that of the bytes.
    #[error("a checksum does not fit: bytes have changed")]
    Checksum,
    /// The bytes are as they were written, but say what can't be.
    #[error("{0}")]
    Meaning(&'static str),
}

/// A file's beginning.
pub(crate) fn head(magic: [u8; 8]) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&magic);
    head[8..].copy_from_slice(&VERSION.to_le_bytes());
    head
}

/// What follows a file's beginning.
pub(crate) fn body(bytes: &[u8], magic: [u8; 8]) -> Result<&[u8], Malformed> {
    let (found, rest) = bytes.split_first_chunk().ok_or(Malformed::Foreign)?;
    if *found != magic {
        return Err(Malformed::Foreign);
    }
    let (version, rest) = rest.split_first_chunk().ok_or(Malformed::Length)?;
    match u32::from_le_bytes(*version) {
        VERSION => Ok(rest),
        found => Err(Malformed::Version { found }),
    }
}

/// SHA-256 of some parts under a label; each part goes in with its length.
pub(crate) fn digest(label: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(label);
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The first bytes of a digest: enough where only rot is to be noticed.
pub(crate) fn checksum<const N: usize>(label: &[u8], parts: &[&[u8]]) -> [u8; N] {
    let mut out = [0; N];
    out.iter_mut().zip(digest(label, parts)).for_each(|(to, from)| *to = from);
    out
}
