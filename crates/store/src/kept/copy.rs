//! A folder as one file, for back-up: its files as they lie, sealed under the party's key.
//!
//! | part | holds |
//! | --- | --- |
//! | head | what the file is, and its version |
//! | files | of each the length of its name (a byte), its name, its length (8 bytes), and its bytes; the index is the first |
//! | digest | SHA-256 of all before: a copy that was cut short is none |

use std::fs::File;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{INDEX, KeptFolder, KeptStanding, MAX_BYTES, OWN_KEY, file_of, is_value, sealed};
use crate::format::{self, Malformed};
use crate::{Error, files};

const MAGIC: [u8; 8] = *b"tacitkpc";

/// A copy while it is written or read.
struct Copy<'a> {
    path: &'a Path,
    file: File,
    at: u64,
    digest: Sha256,
}

impl Copy<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        files::write_at(&self.file, self.path, bytes, self.at)?;
        self.at += bytes.len() as u64;
        self.digest.update(bytes);
        Ok(())
    }

    /// The next bytes, of which there are so many.
    fn read(&mut self, len: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; len as usize];
        files::read_at(&self.file, self.path, &mut bytes, self.at)?;
        self.at += len;
        self.digest.update(&bytes);
        Ok(bytes)
    }
}

impl KeptFolder {
    /// Writes all that there is into one file, as it is sealed: for back-up. Whoever has the key can put it back with
    /// [`KeptFolder::import`]. The copy of a folder whose key lies in it has the key, too.
    ///
    /// # Errors
    /// [`Error::Taken`] if there is such a file, or one with `.new` behind its name, which an export that was ended left;
    /// [`Error::File`].
    pub fn export(&self, path: &Path) -> Result<(), Error> {
        refuse_taken(path)?;
        let live = self.entries.iter().filter(|entry| entry.standing != KeptStanding::Dropped);
        let mut names = vec![INDEX.to_owned()];
        if files::exists(&self.path.join(OWN_KEY))? {
            names.push(OWN_KEY.to_owned());
        }
        names.extend(live.map(|entry| file_of(&entry.name, entry.version)));
        let new = with_new(path);
        refuse_taken(&new)?;
        let file = files::create(&new)?;
        let written = || {
            let mut copy = Copy { path: &new, file, at: 0, digest: Sha256::new() };
            copy.write(&format::head(MAGIC))?;
            for name in names.iter().filter(|name| *name != INDEX || !self.entries.is_empty()) {
                let bytes = files::read(&self.path.join(name), MAX_BYTES + sealed::OVERHEAD as u64)?;
                copy.write(&[name.len() as u8])?;
                copy.write(name.as_bytes())?;
                copy.write(&(bytes.len() as u64).to_le_bytes())?;
                copy.write(&bytes)?;
            }
            let digest = copy.digest.clone().finalize();
            copy.write(&digest)?;
            files::sync(&copy.file, &new)?;
            files::rename(files::parent(path), &new, path)
        };
        written().inspect_err(|_| {
            let _ = files::erase(&new);
        })
    }

    /// Puts a copy back, as a folder that isn't there yet or is empty: whole or not at all. All of it is opened first.
    ///
    /// # Errors
    /// [`Error::Taken`] if there is something, or something with `.new` behind its name; [`Error::Sealed`] if the copy isn't as it was written, or its key is another;
    /// [`Error::SealedUnder`], [`Error::File`].
    ///
    /// # Security
    /// A copy is old as soon as anything was kept after it. The folder can't tell: the other parties can, and refuse it by name.
    pub fn import(path: &Path, folder: &Path, key: Option<[u8; 32]>) -> Result<Self, Error> {
        if files::exists(folder)? && !files::names(folder)?.is_empty() {
            return Err(Error::Taken { path: folder.to_owned() });
        }
        let new = with_new(folder);
        refuse_taken(&new)?;
        files::folder(&new)?;
        let whole = || {
            read_into(path, &new)?;
            let opened = Self::open(&new, key)?;
            let live = opened.entries.iter().filter(|entry| entry.standing != KeptStanding::Dropped);
            live.map(|entry| opened.share(&entry.name, entry.version))
                .try_for_each(|share| share.map(|_| ()))?;
            drop(opened);
            files::rename(files::parent(folder), &new, folder)
        };
        whole().inspect_err(|_| {
            let _ = files::erase_folder(files::parent(folder), &file_name(&new));
        })?;
        Self::open(folder, key)
    }
}

/// Writes the files of a copy into a folder.
fn read_into(path: &Path, folder: &Path) -> Result<(), Error> {
    let malformed = |cause| Error::Sealed { path: path.to_owned(), cause };
    let (file, len) = files::open(path)?;
    let digest_at = len.checked_sub(32).ok_or(malformed(Malformed::Length))?;
    let mut copy = Copy { path, file, at: 0, digest: Sha256::new() };
    let left = |copy: &Copy<'_>, wanted: u64| match digest_at.checked_sub(copy.at) {
        Some(left) if left >= wanted => Ok(()),
        _ => Err(malformed(Malformed::Length)),
    };
    left(&copy, format::HEAD as u64)?;
    format::body(&copy.read(format::HEAD as u64)?, MAGIC).map_err(malformed)?;
    while copy.at < digest_at {
        let name_len = u64::from(copy.read(1)?[0]);
        left(&copy, name_len + 8)?;
        let name = String::from_utf8(copy.read(name_len)?).map_err(|_| malformed(Malformed::Foreign))?;
        if name != INDEX && name != OWN_KEY && !is_value(&name) {
            return Err(malformed(Malformed::Foreign));
        }
        let bytes_len = copy.read(8)?.try_into().map_or(u64::MAX, u64::from_le_bytes);
        left(&copy, bytes_len)?;
        files::replace(folder, &name, &copy.read(bytes_len)?)?;
    }
    let digest = copy.digest.clone().finalize();
    if copy.at != digest_at || copy.read(32)? != digest[..] {
        return Err(malformed(Malformed::Checksum));
    }
    Ok(())
}

/// Refuses to write where something is: nothing that others made is overwritten or erased.
fn refuse_taken(path: &Path) -> Result<(), Error> {
    if files::exists(path)? { Err(Error::Taken { path: path.to_owned() }) } else { Ok(()) }
}

/// What a file or folder is called before it is whole.
fn with_new(path: &Path) -> std::path::PathBuf {
    path.with_file_name(format!("{}.new", file_name(path)))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
