//! An epoch's folder: where in which file each instance's material lies.
//!
//! `index` says how many instances there are, and where each begins:
//!
//! ```text
//! | "tacitidx" | version | binding  | epoch    | count | checksum |     | offset | length |
//! |   8 bytes  |   u32   | 32 bytes | 32 bytes |  u64  | 32 bytes |     |  u64   |  u64   |  for each instance
//! ```
//!
//! Material lies in *segments*, files called `material-` and the number of their first instance. A segment is full
//! when it has some 64 MiB; one that is used is overwritten and removed, so an epoch that is half used takes half the
//! room. In a segment stand, for each instance, a checksum and the bytes. The checksum binds epoch, number and place,
//! and is overwritten with the bytes: anybody could find a short secret from it by trying all.

use std::fs::File;
use std::path::{Path, PathBuf};

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::files;
use crate::format::{self, Malformed};
use crate::{Epoch, Error, Material};

/// The name of the file in an epoch's folder.
pub(crate) const INDEX: &str = "index";
/// Bytes of its head.
pub(crate) const HEADER: usize = 116;
/// Bytes for each instance.
pub(crate) const ENTRY: usize = 16;
/// A segment of so many bytes gets no further instance.
pub(crate) const SEGMENT: u64 = if cfg!(test) { 200 } else { 64 << 20 };

const MAGIC: [u8; 8] = *b"tacitidx";
const SEGMENT_PREFIX: &str = "material-";
/// Bytes of the checksum before each material.
const CHECKSUM: u64 = 32;

/// What an index's head says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) binding: [u8; 32],
    pub(crate) epoch: Epoch,
    pub(crate) count: u64,
}

impl Header {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = format::head(MAGIC).to_vec();
        bytes.extend_from_slice(&self.binding);
        bytes.extend_from_slice(&self.epoch.0);
        bytes.extend_from_slice(&self.count.to_le_bytes());
        bytes.extend_from_slice(&self.checksum());
        bytes
    }

    /// Reads the head of an index of `len` bytes.
    fn parse(bytes: &[u8], len: u64) -> Result<Self, Malformed> {
        let rest = format::body(bytes, MAGIC)?;
        let (binding, rest) = rest.split_first_chunk().ok_or(Malformed::Length)?;
        let (epoch, rest) = rest.split_first_chunk().ok_or(Malformed::Length)?;
        let (count, rest) = rest.split_first_chunk().ok_or(Malformed::Length)?;
        let (checksum, _) = rest.split_first_chunk::<32>().ok_or(Malformed::Length)?;
        let header = Self { binding: *binding, epoch: Epoch(*epoch), count: u64::from_le_bytes(*count) };
        if *checksum != header.checksum() {
            return Err(Malformed::Checksum);
        }
        if header.count == 0 {
            return Err(Malformed::Meaning("it has no instances"));
        }
        let entries = header.count.checked_mul(ENTRY as u64);
        if entries.and_then(|entries| entries.checked_add(HEADER as u64)) != Some(len) {
            return Err(Malformed::Length);
        }
        Ok(header)
    }

    fn checksum(&self) -> [u8; 32] {
        let parts: [&[u8]; 3] = [&self.binding, &self.epoch.0, &self.count.to_le_bytes()];
        format::digest(b"tacit store index 1", &parts)
    }
}

/// Where an instance's checksum begins in its segment, and how many bytes of material follow it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

impl Entry {
    pub(crate) fn bytes(self) -> [u8; ENTRY] {
        (u128::from(self.offset) | u128::from(self.len) << 64).to_le_bytes()
    }

    fn parse(bytes: [u8; ENTRY]) -> Self {
        let both = u128::from_le_bytes(bytes);
        Self { offset: both as u64, len: (both >> 64) as u64 }
    }

    /// Where the next instance of the segment begins.
    pub(crate) fn end(self) -> u64 {
        self.offset.saturating_add(CHECKSUM).saturating_add(self.len)
    }

    /// The checksum of the material that lies here.
    pub(crate) fn checksum(self, epoch: Epoch, index: u64, material: &[u8]) -> [u8; 32] {
        let parts: [&[u8]; 4] = [&epoch.0, &index.to_le_bytes(), &self.bytes(), material];
        format::digest(b"tacit material 1", &parts)
    }
}

/// The name of the segment that begins with instance `first`.
pub(crate) fn segment(first: u64) -> String {
    format!("{SEGMENT_PREFIX}{first:016x}")
}

fn parse_segment(name: &str) -> Option<u64> {
    let first = u64::from_str_radix(name.strip_prefix(SEGMENT_PREFIX)?, 16).ok()?;
    (segment(first) == name).then_some(first)
}

/// An epoch's folder that is whole: all that it had was written.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    epoch: Epoch,
    count: u64,
    /// The first instances of the segments that are there, ascending.
    segments: Vec<u64>,
}

impl Folder {
    pub(crate) fn open(path: PathBuf, binding: &[u8; 32], epoch: Epoch) -> Result<Self, Error> {
        files::private_folder(&path)?;
        let index = path.join(INDEX);
        let (file, len) = files::open(&index)?;
        let mut bytes = vec![0; HEADER.min(len as usize)];
        files::read_at(&file, &index, &mut bytes, 0)?;
        let damaged = |cause| Error::Damaged { path: index.clone(), cause };
        let header = Header::parse(&bytes, len).map_err(damaged)?;
        if header.binding != *binding || header.epoch != epoch {
            return Err(damaged(Malformed::Meaning("it belongs to another store or epoch")));
        }
        let segments = files::names(&path)?.iter().filter_map(|name| parse_segment(name)).collect();
        Ok(Self { path, epoch, count: header.count, segments })
    }

    /// How many instances it was made with.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of all its files.
    pub(crate) fn bytes(&self) -> Result<u64, Error> {
        let lengths = files::names(&self.path)?.into_iter().map(|name| files::length(&self.path.join(name)));
        lengths.sum()
    }

    /// An instance's material. The caller has noted durably that it is used.
    pub(crate) fn read(&self, index: u64) -> Result<Material, Error> {
        let entry = self.entry(index)?;
        let covering = self.segments.iter().rfind(|first| **first <= index);
        let path = self.path.join(segment(covering.copied().unwrap_or(index)));
        let (file, len) = files::open(&path)?;
        let damaged = |cause| Error::Damaged { path: path.clone(), cause };
        if entry.end() > len {
            return Err(damaged(Malformed::Length));
        }
        let mut checksum = Zeroizing::new([0; CHECKSUM as usize]);
        files::read_at(&file, &path, &mut checksum[..], entry.offset)?;
        let mut material = Zeroizing::new(vec![0; entry.len as usize]);
        files::read_at(&file, &path, &mut material, entry.offset + CHECKSUM)?;
        let fits = entry.checksum(self.epoch, index, &material).ct_eq(&*checksum);
        if bool::from(fits) { Ok(Material::new(material)) } else { Err(damaged(Malformed::Checksum)) }
    }

    /// Overwrites the material of the instances from `from` up to `to`, and removes segments of which nothing is
    /// left. In a segment of which something is left, zeros go to disk in the system's own time: until then
    /// [`crate::Store::open`] would write them again.
    pub(crate) fn burn(&mut self, from: u64, to: u64) -> Result<(), Error> {
        let mut kept = Vec::new();
        let ends = self.segments.iter().skip(1).copied().chain([self.count]);
        for (first, end) in self.segments.iter().copied().zip(ends) {
            if from.max(first) >= to.min(end) {
                kept.push(first);
                continue;
            }
            let path = self.path.join(segment(first));
            if end <= to {
                files::erase(&path)?;
                continue;
            }
            kept.push(first);
            let (file, len) = files::open(&path)?;
            let start = if from > first { self.entry(from)?.offset } else { 0 };
            files::wipe(&file, &path, start, self.entry(to)?.offset.min(len))?;
        }
        self.segments = kept;
        Ok(())
    }

    fn entry(&self, index: u64) -> Result<Entry, Error> {
        let path = self.path.join(INDEX);
        let (file, _) = files::open(&path)?;
        let mut bytes = [0; ENTRY];
        files::read_at(&file, &path, &mut bytes, offset_of(index))?;
        Ok(Entry::parse(bytes))
    }
}

/// Where an instance's entry stands in the index.
fn offset_of(index: u64) -> u64 {
    index.saturating_mul(ENTRY as u64).saturating_add(HEADER as u64)
}

/// Writes an index's head into a file that has entries already.
pub(crate) fn write_header(file: &File, path: &Path, header: &Header) -> Result<(), Error> {
    files::write_at(file, path, &header.bytes(), 0)
}

/// The head of an index; a pure function for tests and fuzzing.
#[doc(hidden)]
pub fn write_index_header(binding: [u8; 32], epoch: Epoch, count: u64) -> Vec<u8> {
    Header { binding, epoch, count }.bytes()
}

/// Reads an index's head and writes it again, if `bytes` are all of the index; a pure function for tests and fuzzing.
#[doc(hidden)]
pub fn read_index_header(bytes: &[u8]) -> Result<Vec<u8>, Malformed> {
    Header::parse(bytes, bytes.len() as u64).map(|header| header.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_come_back_and_any_other_bytes_are_refused() {
        let header = Header { binding: [1; 32], epoch: Epoch([2; 32]), count: 3 };
        let bytes = header.bytes();
        let len = (HEADER + 3 * ENTRY) as u64;
        assert_eq!(bytes.len(), HEADER);
        assert_eq!(Header::parse(&bytes, len), Ok(header));
        for short in 0..bytes.len() {
            assert!(Header::parse(&bytes[..short], len).is_err());
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x80;
            assert!(Header::parse(&changed, len).is_err(), "{at}");
        }
        assert_eq!(Header::parse(&bytes, len - 1), Err(Malformed::Length));
        for count in [0, 1 << 60, u64::MAX] {
            let bytes = write_index_header([1; 32], Epoch([2; 32]), count);
            assert!(Header::parse(&bytes, len).is_err());
        }
    }

    #[test]
    fn only_a_segments_own_name_is_one() {
        assert_eq!(parse_segment(&segment(0x1234)), Some(0x1234));
        for name in
            ["material-", "material-1", "material-+000000000000001", "material-000000000000000G", "index"]
        {
            assert_eq!(parse_segment(name), None, "{name}");
        }
    }
}
