//! Every operation on files goes through here: with the path in its error, with permissions for the owner alone, and
//! past one point at which tests let it fail.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::format::Malformed;
use crate::{Error, place};

/// Bytes that are overwritten in one write.
const CHUNK: u64 = 1 << 20;
/// What a file is called before it is whole.
const NEW: &str = "new";

fn attempt<T>(
    doing: &'static str,
    path: &Path,
    operation: impl FnOnce() -> io::Result<T>,
) -> Result<T, Error> {
    #[cfg(test)]
    fault::reach(doing, path)?;
    operation().map_err(|error| refused(doing, path, &error))
}

/// What it means that the system refuses something.
fn refused(doing: &'static str, path: &Path, error: &io::Error) -> Error {
    let (path, full) = (path.to_owned(), [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error));
    match error.raw_os_error() {
        Some(code) if full.contains(&code) => Error::TooManyOpen { doing, path },
        _ => Error::File { doing, path, detail: error.to_string() },
    }
}

/// Makes a folder, and those it lies in, if it isn't there; refuses one that others may see.
pub(crate) fn folder(path: &Path) -> Result<(), Error> {
    if !exists(path)? {
        attempt("make", path, || DirBuilder::new().recursive(true).mode(0o700).create(path))?;
        sync_folder(parent(path))?;
    }
    private_folder(path)
}

/// The folder that something lies in.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Refuses what isn't a folder of this user alone.
pub(crate) fn private_folder(path: &Path) -> Result<(), Error> {
    let metadata = attempt("look at", path, || fs::metadata(path))?;
    if !metadata.is_dir() {
        return Err(Error::NotAStore { path: path.to_owned() });
    }
    place::private(path, &metadata)
}

/// The names in a folder, sorted; those that aren't text are left out.
pub(crate) fn names(path: &Path) -> Result<Vec<String>, Error> {
    let mut names = attempt("list", path, || {
        let entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
        Ok(entries.into_iter().filter_map(|entry| entry.file_name().into_string().ok()).collect::<Vec<_>>())
    })?;
    names.sort();
    Ok(names)
}

pub(crate) fn exists(path: &Path) -> Result<bool, Error> {
    attempt("look for", path, || path.try_exists())
}

/// Takes a lock that ends with the file, or with the process.
pub(crate) fn lock(path: &Path) -> Result<File, Error> {
    let file = attempt("open", path, || {
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
    })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::InUse { path: path.to_owned() }),
        Err(TryLockError::Error(error)) => {
            Err(Error::File { doing: "lock", path: path.to_owned(), detail: error.to_string() })
        }
    }
}

/// Makes a file that isn't there yet.
pub(crate) fn create(path: &Path) -> Result<File, Error> {
    attempt("make", path, || {
        OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
    })
}

/// Opens a file that is there, and says how long it is; refuses one that others may see.
pub(crate) fn open(path: &Path) -> Result<(File, u64), Error> {
    let file = attempt("open", path, || OpenOptions::new().read(true).write(true).open(path))?;
    let metadata = attempt("look at", path, || file.metadata())?;
    place::private(path, &metadata)?;
    Ok((file, metadata.len()))
}

/// How long a file is.
pub(crate) fn length(path: &Path) -> Result<u64, Error> {
    Ok(attempt("look at", path, || fs::metadata(path))?.len())
}

/// All of a file, if it isn't longer than `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let (file, len) = open(path)?;
    if len > limit {
        return Err(Error::Damaged { path: path.to_owned(), cause: Malformed::Length });
    }
    let mut bytes = vec![0; len as usize];
    read_at(&file, path, &mut bytes, 0)?;
    Ok(bytes)
}

pub(crate) fn read_at(file: &File, path: &Path, bytes: &mut [u8], at: u64) -> Result<(), Error> {
    attempt("read", path, || file.read_exact_at(bytes, at))
}

pub(crate) fn write_at(file: &File, path: &Path, bytes: &[u8], at: u64) -> Result<(), Error> {
    attempt("write", path, || file.write_all_at(bytes, at))
}

/// Waits until a file's bytes and length are on disk.
pub(crate) fn sync(file: &File, path: &Path) -> Result<(), Error> {
    attempt("sync", path, || file.sync_data())
}

/// Waits until what a folder's files are called is on disk.
pub(crate) fn sync_folder(path: &Path) -> Result<(), Error> {
    attempt("sync", path, || File::open(path)?.sync_all())
}

/// Renames, durably, within a folder.
pub(crate) fn rename(folder: &Path, from: &Path, to: &Path) -> Result<(), Error> {
    attempt("rename", from, || fs::rename(from, to))?;
    sync_folder(folder)
}

/// Puts a file with these bytes in place of the one that is there, if any: durably, and at no instant is neither
/// there.
pub(crate) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
    let path = folder.join(name);
    let new = path.with_extension(NEW);
    if exists(&new)? {
        attempt("remove", &new, || fs::remove_file(&new))?;
    }
    let file = create(&new)?;
    write_at(&file, &new, bytes, 0)?;
    sync(&file, &new)?;
    rename(folder, &new, &path)?;
    Ok(path)
}

/// Overwrites the bytes from `from` up to `to` with zeros; never makes the file longer.
pub(crate) fn wipe(file: &File, path: &Path, from: u64, to: u64) -> Result<(), Error> {
    let zeros = vec![0; to.saturating_sub(from).min(CHUNK) as usize];
    let mut at = from;
    while at < to {
        let len = (to - at).min(zeros.len() as u64);
        write_at(file, path, &zeros[..len as usize], at)?;
        at += len;
    }
    Ok(())
}

/// Overwrites a file and removes it. The zeros are on disk before the name is gone: else they might never get there.
pub(crate) fn erase(path: &Path) -> Result<(), Error> {
    let file = attempt("open", path, || OpenOptions::new().write(true).open(path))?;
    let len = attempt("look at", path, || file.metadata())?.len();
    wipe(&file, path, 0, len)?;
    sync(&file, path)?;
    attempt("remove", path, || fs::remove_file(path))
}

/// Erases all files in `folder/name`, and removes it.
pub(crate) fn erase_folder(folder: &Path, name: &str) -> Result<(), Error> {
    let path = folder.join(name);
    for file in names(&path)? {
        erase(&path.join(file))?;
    }
    attempt("remove", &path, || fs::remove_dir(&path))?;
    sync_folder(folder)
}

/// Lets operations of the present thread fail, and writes down which there were.
#[cfg(test)]
pub(crate) mod fault {
    use std::cell::{Cell, RefCell};
    use std::path::Path;

    use crate::Error;

    thread_local! {
        static FAULT: Cell<Fault> = const { Cell::new(Fault::Nothing) };
        static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    /// What fails, of the operations numbered from 0.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Fault {
        Nothing,
        /// This one.
        Only(usize),
        /// This one and all after it, as if the process had died.
        From(usize),
    }

    /// Plants a fault; operations are numbered anew.
    pub(crate) fn plant(fault: Fault) {
        FAULT.set(fault);
        SEEN.take();
    }

    /// The operations since the last call of [`plant`]: what was done to which file.
    pub(crate) fn seen() -> Vec<String> {
        SEEN.with_borrow(Clone::clone)
    }

    pub(super) fn reach(doing: &'static str, path: &Path) -> Result<(), Error> {
        let number = SEEN.with_borrow(Vec::len);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        SEEN.with_borrow_mut(|seen| seen.push(format!("{doing} {name}")));
        let fails = match FAULT.get() {
            Fault::Nothing => false,
            Fault::Only(failing) => number == failing,
            Fault::From(first) => number >= first,
        };
        if fails {
            return Err(Error::File { doing, path: path.to_owned(), detail: "planted".to_owned() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_open_files_are_no_trouble_of_the_folder() {
        let refused = |errno: Errno| {
            attempt("open", Path::new("a/b"), || Err::<(), _>(io::Error::from(errno))).unwrap_err()
        };
        for errno in [Errno::MFILE, Errno::NFILE] {
            let error = refused(errno);
            assert!(matches!(&error, Error::TooManyOpen { doing: "open", .. }), "{error}");
            assert!(error.to_string().contains("cannot open a/b: too many files are open"), "{error}");
        }
        assert!(matches!(refused(Errno::IO), Error::File { .. }));
    }
}
