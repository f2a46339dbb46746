//! How an epoch gets into a store.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::index::{self, ENTRY, Entry, HEADER, Header, SEGMENT};
use crate::store::{Store, UNFINISHED};
use crate::{Epoch, Error, files};

/// Entries that are gathered before they are written: 64 KiB.
const GATHERED: usize = 1 << 12;

/// Takes in an epoch's material, instance after instance. Nothing of it can be used before [`Self::finish`]; of an
/// epoch that isn't finished the next [`Store::open`] overwrites what there is. The store is free meanwhile: others draw from it.
///
/// What is put in is what comes out: a protocol hands over material whose checks have passed, and nothing else.
#[derive(Debug)]
#[must_use = "an epoch that isn't finished is lost"]
pub struct Writer {
    /// The store's folder, and what it is for.
    store: PathBuf,
    binding: [u8; 32],
    epoch: Epoch,
    path: PathBuf,
    shelves: BTreeMap<u64, Shelf>,
    /// Whether all that was put in has been written.
    sound: bool,
    /// Whether all of the epoch is on disk.
    durable: bool,
}

/// A shelf that is being filled.
#[derive(Debug)]
struct Shelf {
    index: File,
    index_path: PathBuf,
    /// Entries that aren't written yet.
    entries: Vec<u8>,
    count: u64,
    /// The segment that grows, with its path and its length.
    segment: Option<(File, PathBuf, u64)>,
}

impl Writer {
    pub(crate) fn new(store: &Store, epoch: Epoch) -> Result<Self, Error> {
        let path = store.path().join(unfinished(epoch));
        if files::exists(&path)? {
            return Err(Error::Known { epoch });
        }
        files::folder(&path)?;
        let (store, binding) = (store.path().to_owned(), *store.binding());
        Ok(Self { store, binding, epoch, path, shelves: BTreeMap::new(), sound: true, durable: false })
    }

    /// Takes in the material of a shelf's next instance, which may be of any length. Instances of a plan, and a supply's
    /// key, go on shelf [`WHOLE`](crate::WHOLE).
    ///
    /// # Errors
    /// [`Error::File`], such as a full disk. The epoch can't be finished then ([`Error::Closed`]).
    pub fn put(&mut self, shelf: u64, material: &[u8]) -> Result<(), Error> {
        if !std::mem::replace(&mut self.sound, false) {
            return Err(Error::Closed);
        }
        if !self.shelves.contains_key(&shelf) {
            self.shelves.insert(shelf, Shelf::new(&self.path, shelf)?);
        }
        if let Some(found) = self.shelves.get_mut(&shelf) {
            found.put(&self.path, (self.epoch, shelf), material)?;
        }
        self.sound = true;
        Ok(())
    }

    /// Makes all that was put in durable, and nothing usable yet: what can fail for want of room has failed when others
    /// are told that this party has everything. Nothing can be put in afterwards.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Closed`], [`Error::File`]; the epoch is lost then.
    pub fn sync(&mut self) -> Result<(), Error> {
        if !std::mem::replace(&mut self.sound, false) {
            return Err(Error::Closed);
        }
        if self.shelves.is_empty() {
            return Err(Error::Empty);
        }
        for (&shelf, found) in &mut self.shelves {
            found.end_segment()?;
            found.write_entries()?;
            let header = Header { binding: self.binding, epoch: self.epoch, shelf, count: found.count };
            index::write_header(&found.index, &found.index_path, &header)?;
            files::sync(&found.index, &found.index_path)?;
        }
        files::sync_folder(&self.path)?;
        self.durable = true;
        Ok(())
    }

    /// Makes the epoch durable, if it isn't yet, and then usable in the store that it is for; returns how many instances its
    /// shelves have.
    ///
    /// # Errors
    /// As [`Self::sync`], and [`Error::Unknown`] for another store; the epoch is lost then, unless only the very last step
    /// failed, which the next [`Store::open`] shows.
    pub fn finish(mut self, store: &mut Store) -> Result<u64, Error> {
        if (store.path(), store.binding()) != (&*self.store, &self.binding) {
            return Err(Error::Unknown { epoch: self.epoch });
        }
        if !self.durable {
            self.sync()?;
        }
        store.admit(self.epoch, &self.path)?;
        Ok(self.shelves.values().map(|found| found.count).sum())
    }
}

impl Shelf {
    fn new(folder: &Path, shelf: u64) -> Result<Self, Error> {
        let index_path = folder.join(index::index(shelf));
        let index = files::create(&index_path)?;
        Ok(Self { index, index_path, entries: Vec::new(), count: 0, segment: None })
    }

    fn put(&mut self, folder: &Path, (epoch, shelf): (Epoch, u64), material: &[u8]) -> Result<(), Error> {
        if self.segment.as_ref().is_some_and(|(_, _, len)| *len >= SEGMENT) {
            self.end_segment()?;
        }
        let (file, path, at) = if let Some(segment) = self.segment.take() {
            segment
        } else {
            let path = folder.join(index::segment(shelf, self.count));
            (files::create(&path)?, path, 0)
        };
        let entry = Entry { offset: at, len: material.len() as u64 };
        let checksum = entry.checksum(epoch, shelf, self.count, material);
        files::write_at(&file, &path, &checksum, at)?;
        files::write_at(&file, &path, material, at + checksum.len() as u64)?;
        self.segment = Some((file, path, entry.end()));
        self.entries.extend_from_slice(&entry.bytes());
        self.count += 1;
        if self.entries.len() == GATHERED * ENTRY {
            self.write_entries()?;
        }
        Ok(())
    }

    fn end_segment(&mut self) -> Result<(), Error> {
        match self.segment.take() {
            Some((file, path, _)) => files::sync(&file, &path),
            None => Ok(()),
        }
    }

    fn write_entries(&mut self) -> Result<(), Error> {
        let written = self.count * ENTRY as u64 - self.entries.len() as u64;
        files::write_at(&self.index, &self.index_path, &self.entries, HEADER as u64 + written)?;
        self.entries.clear();
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Once finished, the folder has another name. What can't be erased now is when the store is opened next.
        if files::exists(&self.path).unwrap_or(false) {
            let _ = files::erase_folder(&self.store, &unfinished(self.epoch));
        }
    }
}

/// What an epoch's folder is called until it is whole.
fn unfinished(epoch: Epoch) -> String {
    format!("{epoch}.{UNFINISHED}")
}
