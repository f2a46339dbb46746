//! How far every shelf of every epoch is used: the format of a store's journal, and of its anchor.
//!
//! ```text
//! | "tacitled" | version | binding  | checksum |     | epoch    | shelf | next | checks | checksum |
//! |   8 bytes  |   u32   | 32 bytes | 20 bytes |     | 32 bytes |  u64  | u64  |  u64   | 8 bytes  |  and so on
//! ```
//!
//! Head and records are of 64 bytes, so no record lies in two sectors. A record is appended and synced before
//! anything it says is done; numbers of a shelf only ever grow, so of two ledgers that disagree the larger numbers
//! are right. What holds for an epoch as a whole is said of its shelf [`WHOLE`]: that there is such an epoch, its
//! checks, and whether it is destroyed. A crash can tear the last record, which then wasn't acted upon; anything else
//! that doesn't fit is damage.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::files;
use crate::format::{self, HEAD, Malformed};
use crate::{Epoch, Error};

const MAGIC: [u8; 8] = *b"tacitled";
const RECORD: usize = 64;
/// The longest ledger that is read.
const MAX_BYTES: u64 = if cfg!(test) { 1 << 13 } else { 1 << 28 };
/// A ledger with so many records more than shelves is written anew.
const SLACK: usize = if cfg!(test) { 8 } else { 1 << 16 };

/// Of how many shelves a ledger says something before no more epochs are made: with what is appended to it until it is written
/// anew, it can be read.
pub(crate) const MOST_SHELVES: usize = (MAX_BYTES / RECORD as u64) as usize - 2 * SLACK;

/// The shelf that stands for its epoch as a whole: the instances of a plan, or a supply's key, which is read and not
/// used up.
pub const WHOLE: u64 = 0;

/// How far a shelf is used. Both numbers only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// The first instance that isn't used; of [`WHOLE`], `u64::MAX` if none of the epoch ever may be.
    pub next: u64,
    /// Of [`WHOLE`], checks begun and passed: odd while one is under way. Of others 0.
    pub checks: u64,
}

impl Used {
    /// More than any epoch has.
    pub(crate) const DESTROYED: u64 = u64::MAX;

    /// What is used if either says so.
    pub(crate) fn or(self, other: Self) -> Self {
        Self { next: self.next.max(other.next), checks: self.checks.max(other.checks) }
    }

    /// Whether a check has begun and not passed.
    pub(crate) fn pending(self) -> bool {
        self.checks % 2 == 1
    }
}

/// How far the shelves of all epochs are used.
pub(crate) type Uses = BTreeMap<(Epoch, u64), Used>;

/// Whether none of an epoch may ever be used.
pub(crate) fn is_destroyed(uses: &Uses, epoch: Epoch) -> bool {
    uses.get(&(epoch, WHOLE)).is_some_and(|used| used.next == Used::DESTROYED)
}

/// Drops what is said of single shelves of epochs that are destroyed. What holds for an epoch as a whole comes first.
pub(crate) fn forget_destroyed(uses: &mut Uses) {
    let mut destroyed = None;
    uses.retain(|(epoch, shelf), used| {
        if *shelf == WHOLE && used.next == Used::DESTROYED {
            destroyed = Some(*epoch);
        }
        *shelf == WHOLE || destroyed != Some(*epoch)
    });
}

/// What a ledger's bytes say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) uses: Uses,
    /// Whole records.
    records: usize,
    /// Whether the last record is torn.
    pub(crate) torn: bool,
}

impl Contents {
    fn parse(bytes: &[u8]) -> Result<([u8; 32], Self), Malformed> {
        let rest = format::body(bytes, MAGIC)?;
        let (binding, rest) = rest.split_first_chunk::<32>().ok_or(Malformed::Length)?;
        let (checksum, rest) = rest.split_first_chunk::<20>().ok_or(Malformed::Length)?;
        if *checksum != head_checksum(binding) {
            return Err(Malformed::Checksum);
        }
        let (records, tail) = rest.as_chunks::<RECORD>();
        let mut contents = Self { uses: Uses::new(), records: 0, torn: !tail.is_empty() };
        for (number, record) in records.iter().enumerate() {
            match parse_record(binding, record) {
                Some((shelf, used)) => contents.note(shelf, used)?,
                None if number + 1 == records.len() && tail.is_empty() => contents.torn = true,
                None => return Err(Malformed::Checksum),
            }
        }
        Ok((*binding, contents))
    }

    fn note(&mut self, shelf: (Epoch, u64), used: Used) -> Result<(), Malformed> {
        let before = self.uses.entry(shelf).or_default();
        if before.or(used) != used {
            return Err(Malformed::Meaning("what was used before is unused in it"));
        }
        *before = used;
        self.records += 1;
        Ok(())
    }
}

/// An open ledger.
#[derive(Debug)]
pub(crate) struct Ledger {
    folder: PathBuf,
    name: String,
    binding: [u8; 32],
    path: PathBuf,
    file: File,
    records: usize,
}

impl Ledger {
    /// What a ledger's file says; `None` if it isn't there.
    pub(crate) fn read(path: &Path, binding: &[u8; 32]) -> Result<Option<Contents>, Error> {
        if !files::exists(path)? {
            return Ok(None);
        }
        let damaged = |cause| Error::Damaged { path: path.to_owned(), cause };
        let (of, contents) = Contents::parse(&files::read(path, MAX_BYTES)?).map_err(damaged)?;
        if of != *binding {
            return Err(damaged(Malformed::Meaning("it belongs to another store")));
        }
        Ok(Some(contents))
    }

    /// Opens `folder/name` so that it says `uses` in one record each; `found` is what it says now.
    pub(crate) fn open(
        folder: &Path,
        name: &str,
        binding: &[u8; 32],
        found: Option<&Contents>,
        uses: &Uses,
    ) -> Result<Self, Error> {
        let path = folder.join(name);
        let same =
            found.is_some_and(|found| !found.torn && found.records == uses.len() && found.uses == *uses);
        if !same {
            files::replace(
                folder,
                name,
                &write_ledger(binding, uses.iter().map(|(shelf, used)| (*shelf, *used))),
            )?;
        }
        let (file, _) = files::open(&path)?;
        let (folder, name) = (folder.to_owned(), name.to_owned());
        Ok(Self { folder, name, binding: *binding, path, file, records: uses.len() })
    }

    /// Says durably how far a shelf is used. After an error nobody knows what is on disk: append no more.
    pub(crate) fn append(&mut self, shelf: (Epoch, u64), used: Used) -> Result<(), Error> {
        let at = (1 + self.records) * RECORD;
        files::write_at(&self.file, &self.path, &record(&self.binding, shelf, used), at as u64)?;
        files::sync(&self.file, &self.path)?;
        self.records += 1;
        Ok(())
    }

    /// Shortens the file if it has grown long; `uses` is what it says.
    pub(crate) fn shorten(&mut self, uses: &Uses) -> Result<(), Error> {
        if self.records > uses.len() + SLACK {
            *self = Self::open(&self.folder, &self.name, &self.binding, None, uses)?;
        }
        Ok(())
    }
}

fn head_checksum(binding: &[u8; 32]) -> [u8; 20] {
    format::checksum(b"tacit ledger 1", &[binding])
}

fn record(binding: &[u8; 32], (epoch, shelf): (Epoch, u64), used: Used) -> [u8; RECORD] {
    let mut bytes = [0; RECORD];
    let [shelf, next, checks] = [shelf, used.next, used.checks].map(u64::to_le_bytes);
    let said: [&[u8]; 5] = [binding, &epoch.0, &shelf, &next, &checks];
    let checksum: [u8; 8] = format::checksum(b"tacit ledger record 2", &said);
    let parts = epoch.0.into_iter().chain(shelf).chain(next).chain(checks).chain(checksum);
    bytes.iter_mut().zip(parts).for_each(|(to, from)| *to = from);
    bytes
}

fn parse_record(binding: &[u8; 32], bytes: &[u8; RECORD]) -> Option<((Epoch, u64), Used)> {
    let (epoch, rest) = bytes.split_first_chunk()?;
    let (numbers, _) = rest.as_chunks::<8>();
    let [shelf, next, checks] = numbers.first_chunk::<3>()?.map(u64::from_le_bytes);
    let (shelf, used) = ((Epoch(*epoch), shelf), Used { next, checks });
    (record(binding, shelf, used) == *bytes).then_some((shelf, used))
}

/// A ledger's bytes; a pure function for tests and fuzzing.
#[doc(hidden)]
pub fn write_ledger(binding: &[u8; 32], uses: impl IntoIterator<Item = ((Epoch, u64), Used)>) -> Vec<u8> {
    let mut bytes = format::head(MAGIC).to_vec();
    bytes.extend_from_slice(binding);
    bytes.extend_from_slice(&head_checksum(binding));
    debug_assert_eq!(bytes.len(), HEAD + 32 + 20);
    for (shelf, used) in uses {
        bytes.extend_from_slice(&record(binding, shelf, used));
    }
    bytes
}

/// What a ledger's bytes say, written again with one record for each shelf, and whether the last record was torn; a
/// pure function for tests and fuzzing.
#[doc(hidden)]
pub fn read_ledger(bytes: &[u8]) -> Result<(Vec<u8>, bool), Malformed> {
    let (binding, contents) = Contents::parse(bytes)?;
    Ok((write_ledger(&binding, contents.uses), contents.torn))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(next: u64) -> Used {
        Used { next, checks: 0 }
    }

    fn ledger() -> Vec<u8> {
        let [a, b] = [(Epoch([1; 32]), WHOLE), (Epoch([1; 32]), 7)];
        write_ledger(&[9; 32], [(a, used(0)), (b, used(3)), (a, used(5)), (a, used(Used::DESTROYED))])
    }

    #[test]
    fn the_last_word_on_each_epoch_counts() {
        let (binding, contents) = Contents::parse(&ledger()).unwrap();
        assert_eq!(binding, [9; 32]);
        assert_eq!((contents.records, contents.torn), (4, false));
        let epoch = Epoch([1; 32]);
        let uses = [((epoch, WHOLE), used(Used::DESTROYED)), ((epoch, 7), used(3))];
        assert_eq!(contents.uses, Uses::from(uses));
    }

    #[test]
    fn a_ledger_cut_anywhere_is_torn_in_its_last_record_at_most() {
        let bytes = ledger();
        for len in 0..bytes.len() {
            match Contents::parse(&bytes[..len]) {
                Ok((_, contents)) => {
                    assert!(len >= RECORD);
                    assert_eq!((contents.records, contents.torn), (len / RECORD - 1, len % RECORD != 0));
                }
                Err(_) => assert!(len < RECORD, "{len}"),
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_noticed_wherever_it_is() {
        let bytes = ledger();
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            match Contents::parse(&flipped) {
                Ok((_, contents)) => assert!(contents.torn && at >= bytes.len() - RECORD, "{at}"),
                Err(_) => assert!(at < bytes.len() - RECORD, "{at}"),
            }
        }
    }

    #[test]
    fn what_is_used_stays_used() {
        let ledger = |shelves: [u64; 2]| {
            let [one, other] = shelves.map(|shelf| (Epoch([1; 32]), shelf));
            write_ledger(&[9; 32], [(one, used(5)), (other, used(4))])
        };
        assert!(matches!(Contents::parse(&ledger([3, 3])), Err(Malformed::Meaning(_))));
        assert!(Contents::parse(&ledger([3, 4])).is_ok());
    }
}
