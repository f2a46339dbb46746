//! Where a party keeps its shares of values that stay: a folder with an index and a file for each version of each name, all
//! sealed under the party's key.
//!
//! The index says what there is and where it stands. It is replaced whole, so that at every instant the folder holds what it
//! held before a change or what it holds after it, whatever ends the process: a version's file is on disk before the index
//! names it, and is erased after the index says that it was dropped. What the index doesn't name is erased when the folder is
//! opened.
//!
//! A folder that was put back as it was before is whole, and looks it. That others have more is for the parties to see, who
//! compare what they have before each run.

mod copy;
mod sealed;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::epoch::hex;
use crate::format::Malformed;
use crate::{Error, files};

/// Bytes that an index, or a share, has at most.
const MAX_BYTES: u64 = 1 << 34;
const INDEX: &str = "index";
const LOCK: &str = "lock";
const OWN_KEY: &str = "key";

/// Where a kept value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeptStanding {
    /// It is whole here, and whether all other parties have theirs isn't known.
    Pending,
    /// All parties have it.
    Settled,
    /// It was dropped; nothing is left but that it was.
    Dropped,
}

/// What the index says of a version of a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptEntry {
    /// What it is called.
    pub name: String,
    /// Which value of that name.
    pub version: u64,
    /// Where it stands.
    pub standing: KeptStanding,
    /// What its users know of it; means nothing here.
    pub about: Vec<u8>,
    /// Bytes of the share.
    pub bytes: u64,
}

/// A value that is put away.
#[derive(Debug)]
pub struct KeptValue {
    /// What it is called.
    pub name: String,
    /// Which value of that name.
    pub version: u64,
    /// What its users know of it; means nothing here.
    pub about: Vec<u8>,
    /// The share.
    pub share: Zeroizing<Vec<u8>>,
}

/// A party's folder, open in this process alone.
#[derive(Debug)]
pub struct KeptFolder {
    path: PathBuf,
    key: Zeroizing<[u8; 32]>,
    entries: Vec<KeptEntry>,
    /// An earlier write failed: what is on disk is known once it is opened again.
    closed: bool,
    _lock: File,
}

impl KeptFolder {
    /// Opens a folder, and makes it if it isn't there. Its files are sealed under `key`; without one, under a key
    /// that lies in it: that is for trying out.
    ///
    /// # Errors
    /// [`Error::InUse`] while another process has it, [`Error::NotAStore`] for a folder with other things in it,
    /// [`Error::SealedUnder`] if the key lies elsewhere, [`Error::Sealed`] if a file isn't as it was written, or its key is
    /// another; [`Error::File`].
    pub fn open(path: &Path, key: Option<[u8; 32]>) -> Result<Self, Error> {
        files::folder(path)?;
        own_names(path)?;
        let lock = files::lock(&path.join(LOCK))?;
        let names = own_names(path)?;
        let has_own = files::exists(&path.join(OWN_KEY))?;
        if key.is_some() == has_own && (has_own || files::exists(&path.join(INDEX))?) {
            return Err(Error::SealedUnder { path: path.to_owned(), is_own: has_own });
        }
        let key = Zeroizing::new(match key {
            Some(key) => key,
            None => own_key(path)?,
        });
        let mut folder = Self { path: path.to_owned(), key, entries: Vec::new(), closed: false, _lock: lock };
        if files::exists(&path.join(INDEX))? {
            folder.entries = read_index(path, &folder.key)?;
        } else {
            no_index(path, &names)?;
            folder.change(Vec::new())?;
        }
        folder.erase_unnamed(&names)?;
        Ok(folder)
    }

    /// What there is in a folder, and what was dropped, as it was a moment ago: another process may have it open.
    /// Changes nothing, and makes none.
    ///
    /// # Errors
    /// As [`KeptFolder::open`], but for [`Error::InUse`].
    pub fn look(path: &Path, key: Option<[u8; 32]>) -> Result<Vec<KeptEntry>, Error> {
        files::private_folder(path)?;
        let names = own_names(path)?;
        let (has_own, has_index) = (files::exists(&path.join(OWN_KEY))?, files::exists(&path.join(INDEX))?);
        if !has_index {
            return no_index(path, &names).map(|()| Vec::new());
        }
        if key.is_some() == has_own {
            return Err(Error::SealedUnder { path: path.to_owned(), is_own: has_own });
        }
        let key = Zeroizing::new(match key {
            Some(key) => key,
            None => own_key(path)?,
        });
        read_index(path, &key)
    }

    /// All that there is, and what was dropped.
    pub fn entries(&self) -> &[KeptEntry] {
        &self.entries
    }

    /// Puts values away, pending, durably: all of them or none.
    ///
    /// # Errors
    /// [`Error::KeptTwice`] if there is or was such a version; [`Error::File`].
    pub fn put(&mut self, values: Vec<KeptValue>) -> Result<(), Error> {
        let mut added = Vec::with_capacity(values.len());
        for KeptValue { name, version, about, share } in values {
            if self.entry(&name, version).is_some() {
                return Err(Error::KeptTwice { name, version });
            }
            self.write(&file_of(&name, version), &share)?;
            let (standing, bytes) = (KeptStanding::Pending, share.len() as u64);
            added.push(KeptEntry { name, version, standing, about, bytes });
        }
        self.change([&self.entries[..], &added].concat())
    }

    /// Notes, durably and in one change, that all parties have versions of names, and that others are dropped, with what their
    /// users know of them from then on; the shares of these are erased then.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn settle(&mut self, settled: &[(&str, u64)], dropped: &[(&str, u64, Vec<u8>)]) -> Result<(), Error> {
        self.settle_and_forget(settled, dropped, &[])
    }

    /// As [`KeptFolder::settle`], and in the same change the index forgets versions that are dropped then.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn settle_and_forget(
        &mut self,
        settled: &[(&str, u64)],
        dropped: &[(&str, u64, Vec<u8>)],
        forgotten: &[(&str, u64)],
    ) -> Result<(), Error> {
        let (mut entries, mut gone) = (self.entries.clone(), Vec::new());
        for entry in &mut entries {
            let value = (entry.name.as_str(), entry.version);
            let drops = dropped.iter().find(|(name, version, _)| value == (*name, *version));
            match (drops, entry.standing) {
                (Some((.., about)), KeptStanding::Pending | KeptStanding::Settled) => {
                    gone.push(file_of(&entry.name, entry.version));
                    (entry.standing, entry.about, entry.bytes) = (KeptStanding::Dropped, about.clone(), 0);
                }
                (None, KeptStanding::Pending) if settled.contains(&value) => {
                    entry.standing = KeptStanding::Settled;
                }
                _ => {}
            }
        }
        entries.retain(|entry| {
            let is_dropped = entry.standing == KeptStanding::Dropped;
            !(is_dropped && forgotten.contains(&(entry.name.as_str(), entry.version)))
        });
        if entries == self.entries {
            return Ok(());
        }
        self.change(entries)?;
        self.attempt(|folder| gone.iter().try_for_each(|file| files::erase(&folder.path.join(file))))
    }

    /// Notes a version as dropped that there isn't and never will be, durably; in the same change the index forgets others of its
    /// name that were dropped.
    ///
    /// # Errors
    /// [`Error::KeptTwice`] if there is or was such a version; [`Error::File`].
    pub fn pass(&mut self, name: &str, version: u64, about: Vec<u8>, forgotten: &[u64]) -> Result<(), Error> {
        let name = name.to_owned();
        if self.entry(&name, version).is_some() {
            return Err(Error::KeptTwice { name, version });
        }
        let mut entries = self.entries.clone();
        entries.retain(|entry| {
            let is_dropped = entry.name == name && entry.standing == KeptStanding::Dropped;
            !(is_dropped && forgotten.contains(&entry.version))
        });
        entries.push(KeptEntry { name, version, standing: KeptStanding::Dropped, about, bytes: 0 });
        self.change(entries)
    }

    /// Drops a version, durably, and erases its share; `about` is what its users know of it from then on.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn drop_version(&mut self, name: &str, version: u64, about: Vec<u8>) -> Result<(), Error> {
        self.settle(&[], &[(name, version, about)])
    }

    /// The share of a version.
    ///
    /// # Errors
    /// [`Error::Sealed`] if it isn't as it was put away; [`Error::File`] if it isn't there.
    pub fn share(&self, name: &str, version: u64) -> Result<Zeroizing<Vec<u8>>, Error> {
        let file = file_of(name, version);
        let bytes = self.sealed(&file)?;
        match self.entry(name, version) {
            Some(entry) if entry.bytes == bytes.len() as u64 => Ok(bytes),
            _ => Err(changed(&self.path, &file, Malformed::Length)),
        }
    }

    fn entry(&self, name: &str, version: u64) -> Option<&KeptEntry> {
        self.entries.iter().find(|entry| (entry.name.as_str(), entry.version) == (name, version))
    }

    /// Replaces the index.
    fn change(&mut self, entries: Vec<KeptEntry>) -> Result<(), Error> {
        // Plain data: this can't fail.
        self.write(INDEX, &postcard::to_stdvec(&entries).unwrap_or_default())?;
        self.entries = entries;
        Ok(())
    }

    /// Puts a sealed file in place of one that is there.
    fn write(&mut self, file: &str, bytes: &[u8]) -> Result<(), Error> {
        self.attempt(|folder| {
            let sealed = sealed::seal(&folder.key, file, &random()?, bytes);
            files::replace(&folder.path, file, &sealed).map(|_| ())
        })
    }

    /// Does what leaves open what is on disk if it fails.
    fn attempt(&mut self, work: impl FnOnce(&Self) -> Result<(), Error>) -> Result<(), Error> {
        if self.closed {
            return Err(Error::Closed);
        }
        let done = work(self);
        self.closed = done.is_err();
        done
    }

    fn sealed(&self, file: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
        read_sealed(&self.path, &self.key, file)
    }

    /// Erases what was never named, or was dropped.
    fn erase_unnamed(&self, names: &[String]) -> Result<(), Error> {
        let live = |entry: &&KeptEntry| entry.standing != KeptStanding::Dropped;
        let live: BTreeSet<String> =
            self.entries.iter().filter(live).map(|entry| file_of(&entry.name, entry.version)).collect();
        let kept = |name: &String| [INDEX, LOCK, OWN_KEY].contains(&name.as_str()) || live.contains(name);
        names.iter().filter(|name| !kept(name)).try_for_each(|name| files::erase(&self.path.join(name)))
    }
}

/// The names in a folder, if all are such as it has.
fn own_names(path: &Path) -> Result<Vec<String>, Error> {
    let names = files::names(path)?;
    let is_ours = |name: &String| [INDEX, LOCK, OWN_KEY].contains(&stem(name)) || is_value(stem(name));
    if names.iter().all(is_ours) { Ok(names) } else { Err(Error::NotAStore { path: path.to_owned() }) }
}

/// Refuses shares without an index: a folder has that before it has anything else, so a copy isn't whole.
fn no_index(path: &Path, names: &[String]) -> Result<(), Error> {
    if names.iter().any(|name| is_value(stem(name))) {
        return Err(changed(path, INDEX, Malformed::Meaning("it is gone, and shares of values are there")));
    }
    Ok(())
}

/// What a sealed file holds.
fn read_sealed(path: &Path, key: &[u8; 32], file: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
    let bytes = files::read(&path.join(file), MAX_BYTES + sealed::OVERHEAD as u64)?;
    sealed::open(key, file, &bytes).map_err(|cause| changed(path, file, cause))
}

/// The index that there is.
fn read_index(path: &Path, key: &[u8; 32]) -> Result<Vec<KeptEntry>, Error> {
    let index = read_sealed(path, key, INDEX)?;
    match postcard::take_from_bytes(&index) {
        Ok((entries, [])) => Ok(entries),
        _ => Err(changed(path, INDEX, Malformed::Meaning("it is no index"))),
    }
}

fn changed(path: &Path, file: &str, cause: Malformed) -> Error {
    Error::Sealed { path: path.join(file), cause }
}

/// The file of a version: the name may be anything, and nothing of it is for others to see.
fn file_of(name: &str, version: u64) -> String {
    let mut file = String::new();
    let _ =
        hex(&Sha256::new_with_prefix(b"tacit kept name 1").chain_update(name).finalize()[..16], &mut file);
    format!("{file}-{version}")
}

/// A file's name without what it is called before it is whole.
fn stem(name: &str) -> &str {
    name.strip_suffix(".new").unwrap_or(name)
}

fn is_value(name: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    matches!(name.split_once('-'), Some((file, version)) if file.len() == 32 && digits(file) && digits(version))
}

/// A key that lies in the folder itself, made if there is none.
fn own_key(path: &Path) -> Result<[u8; 32], Error> {
    if !files::exists(&path.join(OWN_KEY))? {
        files::replace(path, OWN_KEY, &random()?)?;
    }
    let bytes = files::read(&path.join(OWN_KEY), 32)?;
    let length = Error::Sealed { path: path.join(OWN_KEY), cause: Malformed::Length };
    bytes.try_into().map_err(|_| length)
}

/// Fresh randomness of the system's.
fn random() -> Result<[u8; 32], Error> {
    let mut bytes = [0; 32];
    let failed = |error: getrandom::Error| Error::Entropy(error.to_string());
    getrandom::fill(&mut bytes).map(|()| bytes).map_err(failed)
}

#[cfg(test)]
mod tests;
