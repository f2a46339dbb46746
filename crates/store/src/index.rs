//! An epoch's folder: where in which file each instance's material lies, shelf by shelf.
//!
//! `index-` and a shelf's number says how many instances the shelf has, and where each begins:
//!
//! ```text
//! | "tacitidx" | version | binding  | epoch    | shelf | count | checksum |     | offset | length |
//! |   8 bytes  |   u32   | 32 bytes | 32 bytes |  u64  |  u64  | 32 bytes |     |  u64   |  u64   |  for each instance
//! ```
//!
//! Material lies in *segments*, files called `material-`, the shelf and the number of their first instance. A segment is
//! full when it has some 64 MiB; one that is used is overwritten and removed, so an epoch that is half used takes half
//! the room. In a segment stand, for each instance, a checksum and the bytes. The checksum binds epoch, shelf, number and
//! place, and is overwritten with the bytes: anybody could find a short secret from it by trying all.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::error::first_error;
use crate::files;
use crate::format::{self, Malformed};
use crate::{Epoch, Error, Material};

/// Bytes of an index's head.
pub(crate) const HEADER: usize = 124;
/// Bytes for each instance.
pub(crate) const ENTRY: usize = 16;
/// A segment of so many bytes gets no further instance.
pub(crate) const SEGMENT: u64 = if cfg!(test) { 200 } else { 64 << 20 };

const MAGIC: [u8; 8] = *b"tacitidx";
const INDEX_PREFIX: &str = "index-";
const SEGMENT_PREFIX: &str = "material-";
/// Bytes of the checksum before each material.
const CHECKSUM: u64 = 32;

/// What an index's head says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) binding: [u8; 32],
    pub(crate) epoch: Epoch,
    pub(crate) shelf: u64,
    pub(crate) count: u64,
}

impl Header {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = format::head(MAGIC).to_vec();
        bytes.extend_from_slice(&self.binding);
        bytes.extend_from_slice(&self.epoch.0);
        bytes.extend_from_slice(&self.shelf.to_le_bytes());
        bytes.extend_from_slice(&self.count.to_le_bytes());
        bytes.extend_from_slice(&self.checksum());
        bytes
    }

    /// Reads the head of an index of `len` bytes.
    fn parse(bytes: &[u8], len: u64) -> Result<Self, Malformed> {
        let rest = format::body(bytes, MAGIC)?;
        let (binding, rest) = rest.split_first_chunk().ok_or(Malformed::Length)?;
        let (epoch, rest) = rest.split_first_chunk().ok_or(Malformed::Length)?;
        let (shelf, rest) = rest.split_first_chunk().ok_or(Malformed::Length)?;
        let (count, rest) = rest.split_first_chunk().ok_or(Malformed::Length)?;
        let (checksum, _) = rest.split_first_chunk::<32>().ok_or(Malformed::Length)?;
        let [shelf, count] = [*shelf, *count].map(u64::from_le_bytes);
        let header = Self { binding: *binding, epoch: Epoch(*epoch), shelf, count };
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
        let numbers = [self.shelf, self.count].map(u64::to_le_bytes);
        let parts: [&[u8]; 3] = [&self.binding, &self.epoch.0, numbers.as_flattened()];
        format::digest(b"tacit store index 2", &parts)
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
    pub(crate) fn checksum(self, epoch: Epoch, shelf: u64, index: u64, material: &[u8]) -> [u8; 32] {
        let parts: [&[u8]; 5] =
            [&epoch.0, &shelf.to_le_bytes(), &index.to_le_bytes(), &self.bytes(), material];
        format::digest(b"tacit material 2", &parts)
    }
}

/// The name of a shelf's index.
pub(crate) fn index(shelf: u64) -> String {
    format!("{INDEX_PREFIX}{shelf:016x}")
}

fn parse_index(name: &str) -> Option<u64> {
    let shelf = u64::from_str_radix(name.strip_prefix(INDEX_PREFIX)?, 16).ok()?;
    (index(shelf) == name).then_some(shelf)
}

/// The name of a shelf's segment that begins with instance `first`.
pub(crate) fn segment(shelf: u64, first: u64) -> String {
    format!("{SEGMENT_PREFIX}{shelf:016x}-{first:016x}")
}

/// The first instance of a segment, if it is one of this shelf.
fn parse_segment(shelf: u64, name: &str) -> Option<u64> {
    let (_, first) = name.strip_prefix(SEGMENT_PREFIX)?.split_once('-')?;
    let first = u64::from_str_radix(first, 16).ok()?;
    (segment(shelf, first) == name).then_some(first)
}

/// The shelves of an epoch, by number.
pub(crate) type Shelves = BTreeMap<u64, Shelf>;

/// A shelf that is whole: all that it had was written.
#[derive(Debug)]
pub(crate) struct Shelf {
    path: PathBuf,
    epoch: Epoch,
    number: u64,
    count: u64,
    /// The segments that are there, by their first instance; how many of a segment's aren't overwritten yet.
    segments: BTreeMap<u64, u64>,
    /// The index, once it was looked into.
    file: OnceLock<File>,
}

impl Shelf {
    /// All shelves of the epoch in a folder.
    pub(crate) fn all_in(path: &Path, binding: &[u8; 32], epoch: Epoch) -> Result<Shelves, Error> {
        files::private_folder(path)?;
        let names = files::names(path)?;
        let shelves = names.iter().filter_map(|name| parse_index(name));
        let open = |shelf| Ok((shelf, Self::open(path, binding, epoch, shelf, &names)?));
        let shelves = shelves.map(open).collect::<Result<Shelves, Error>>()?;
        if shelves.is_empty() {
            let cause = Malformed::Meaning("an epoch has an index at least");
            return Err(Error::Damaged { path: path.to_owned(), cause });
        }
        Ok(shelves)
    }

    fn open(
        path: &Path,
        binding: &[u8; 32],
        epoch: Epoch,
        shelf: u64,
        names: &[String],
    ) -> Result<Self, Error> {
        let index = path.join(index(shelf));
        let (file, len) = files::open(&index)?;
        let mut bytes = vec![0; HEADER.min(len as usize)];
        files::read_at(&file, &index, &mut bytes, 0)?;
        let damaged = |cause| Error::Damaged { path: index.clone(), cause };
        let header = Header::parse(&bytes, len).map_err(damaged)?;
        if (header.binding, header.epoch, header.shelf) != (*binding, epoch, shelf) {
            return Err(damaged(Malformed::Meaning("it belongs to another store, epoch or shelf")));
        }
        let mut firsts: Vec<u64> = names.iter().filter_map(|name| parse_segment(shelf, name)).collect();
        firsts.sort_unstable();
        let ends = firsts.iter().skip(1).copied().chain([header.count]);
        let segments =
            firsts.iter().copied().zip(ends).map(|(first, end)| (first, end.saturating_sub(first)));
        Ok(Self {
            path: path.to_owned(),
            epoch,
            number: shelf,
            count: header.count,
            segments: segments.collect(),
            file: OnceLock::new(),
        })
    }

    /// How many instances it was made with.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The material of these instances, in order. The caller has noted durably that they are used.
    pub(crate) fn read(&self, instances: Range<u64>) -> Result<Vec<Material>, Error> {
        let (epoch, count) = (self.epoch, self.count);
        if instances.end > count {
            let (first, instances) = (instances.start, instances.end.saturating_sub(instances.start));
            return Err(Error::Beyond { epoch, first, instances, count });
        }
        let mut read = Vec::new();
        let mut from = instances.start;
        while from < instances.end {
            let first = self.segments.range(..=from).next_back().map_or(from, |(first, _)| *first);
            let to = self.end_of(Some(first)).min(instances.end);
            self.read_within(first, from..to, &mut read)?;
            from = to;
        }
        Ok(read)
    }

    /// Appends the material of instances that lie one after another in the segment whose first instance is `first`.
    fn read_within(&self, first: u64, instances: Range<u64>, read: &mut Vec<Material>) -> Result<(), Error> {
        let entries = self.entries(instances.clone())?;
        let path = self.path.join(segment(self.number, first));
        let (file, len) = files::open(&path)?;
        let damaged = |cause| Error::Damaged { path: path.clone(), cause };
        let follow = entries.is_sorted_by(|one, next| one.end() == next.offset);
        let [Some(start), Some(end)] =
            [entries.first().map(|entry| entry.offset), entries.last().map(|entry| entry.end())]
        else {
            return Ok(());
        };
        if !follow || end > len {
            return Err(damaged(Malformed::Length));
        }
        let mut bytes = Zeroizing::new(vec![0; (end - start) as usize]);
        files::read_at(&file, &path, &mut bytes, start)?;
        let bytes = Arc::new(bytes);
        for (index, entry) in instances.zip(entries) {
            let [at, own, end] =
                [entry.offset, entry.offset + CHECKSUM, entry.end()].map(|place| (place - start) as usize);
            let fits =
                entry.checksum(self.epoch, self.number, index, &bytes[own..end]).ct_eq(&bytes[at..own]);
            if !bool::from(fits) {
                return Err(damaged(Malformed::Checksum));
            }
            read.push(Material::new(bytes.clone(), own..end));
        }
        Ok(())
    }

    /// Overwrites the material of the instances from `from` up to `to`, none of which was overwritten since the shelf was
    /// opened, and removes segments of which nothing is left. In a segment of which something is left, zeros go to disk
    /// in the system's own time: until then [`crate::Store::open`] would write them again.
    pub(crate) fn burn(&mut self, from: u64, to: u64) -> Result<(), Error> {
        let firsts: Vec<u64> = self.segments.range(..to).map(|(first, _)| *first).collect();
        let ends = firsts.iter().skip(1).copied().chain([self.end_of(firsts.last().copied())]);
        let segments: Vec<(u64, u64)> = firsts.iter().copied().zip(ends).collect();
        first_error(segments.into_iter().map(|segment| self.burn_within(segment, from..to)))
    }

    /// Overwrites what of the instances lies in a segment, from its first one on and up to the next segment's.
    fn burn_within(
        &mut self,
        (first, end): (u64, u64),
        Range { start: from, end: to }: Range<u64>,
    ) -> Result<(), Error> {
        let burnt = to.min(end).saturating_sub(from.max(first));
        let left = self.segments.get(&first).map_or(0, |left| left.saturating_sub(burnt));
        if burnt == 0 {
            return Ok(());
        }
        let path = self.path.join(segment(self.number, first));
        if left == 0 {
            files::erase(&path)?;
            self.segments.remove(&first);
            return Ok(());
        }
        let (file, len) = files::open(&path)?;
        let start = if from > first { self.entry(from)?.offset } else { 0 };
        // Instance `to` may have been of a segment that isn't there any more.
        let stop = if to < end { self.entry(to - 1)?.end() } else { len };
        files::wipe(&file, &path, start, stop.min(len))?;
        self.segments.insert(first, left);
        Ok(())
    }

    /// The first instance after a segment's.
    fn end_of(&self, segment: Option<u64>) -> u64 {
        let after = segment.and_then(|first| self.segments.range(first + 1..).next());
        after.map_or(self.count, |(first, _)| *first)
    }

    fn entry(&self, index: u64) -> Result<Entry, Error> {
        Ok(self.entries(index..index + 1)?[0])
    }

    fn entries(&self, instances: Range<u64>) -> Result<Vec<Entry>, Error> {
        let path = self.path.join(self::index(self.number));
        let file = if let Some(file) = self.file.get() {
            file
        } else {
            let (file, _) = files::open(&path)?;
            self.file.get_or_init(|| file)
        };
        let mut bytes = vec![0; (instances.end - instances.start) as usize * ENTRY];
        files::read_at(file, &path, &mut bytes, offset_of(instances.start))?;
        Ok(bytes.as_chunks().0.iter().map(|bytes| Entry::parse(*bytes)).collect())
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
pub fn write_index_header(binding: [u8; 32], epoch: Epoch, shelf: u64, count: u64) -> Vec<u8> {
    Header { binding, epoch, shelf, count }.bytes()
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
        let header = Header { binding: [1; 32], epoch: Epoch([2; 32]), shelf: 5, count: 3 };
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
            let bytes = write_index_header([1; 32], Epoch([2; 32]), 5, count);
            assert!(Header::parse(&bytes, len).is_err());
        }
    }

    #[test]
    fn only_a_segments_own_name_is_one() {
        let name = segment(7, 0x1234);
        assert_eq!((parse_segment(7, &name), parse_segment(6, &name)), (Some(0x1234), None));
        assert_eq!(
            (parse_index(&index(7)), parse_index("index-7"), parse_index(&name)),
            (Some(7), None, None)
        );
        for name in
            ["material-", "material-1", &name[1..], &name.to_uppercase(), &name.replace('4', "+"), "index"]
        {
            assert_eq!(parse_segment(7, name), None, "{name}");
        }
    }
}
