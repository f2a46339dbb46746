//! Reads the files of a deployment: bounded, and secrets only if nobody else can read them.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use zeroize::Zeroizing;

use super::error::SetupError;

/// The longest file that is read: a list of [`super::hello::MAX_ENDPOINTS`] is far below it.
pub(super) const MAX_FILE: u64 = 1 << 20;

/// Reads a file whole.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, SetupError> {
    open(path).and_then(whole).map_err(|error| file_error(path, &error))
}

/// Reads a file that holds a secret.
///
/// # Errors
/// If others than its owner may read or write it, or if its owner is neither who runs this nor root.
pub(super) fn read_secret(path: &Path) -> Result<Zeroizing<Vec<u8>>, SetupError> {
    let can_not = |error: io::Error| file_error(path, &error);
    let file = open(path).map_err(can_not)?;
    // Of the file that is open, whatever the path leads to by now.
    let kept = file.metadata().map_err(can_not)?;
    let me = rustix::process::geteuid().as_raw();
    if let Some(why) = open_to_others(kept.uid(), me, kept.mode() & 0o777) {
        let detail = why.replace("{}", &path.display().to_string());
        return Err(SetupError::Config { path: path.to_owned(), detail });
    }
    whole(file).map(Zeroizing::new).map_err(can_not)
}

/// Why a secret file isn't one, if others than user `me` or root may read or write it; `{}` stands for its name.
fn open_to_others(owner: u32, me: u32, mode: u32) -> Option<String> {
    if owner != me && owner != 0 {
        return Some(format!(
            "belongs to user {owner}, who can read and replace it, and this is user {me}: run this as its owner, or \
             `chown {me} {{}}`"
        ));
    }
    (mode & 0o077 != 0).then(|| {
        format!(
            "others than its owner may read or write it (mode {mode:03o}): `chmod 600 {{}}`, and if anybody may have \
             read it, make a new key"
        )
    })
}

/// Waits until nobody else changes a file, and keeps others from it until this is dropped.
pub(super) fn alone(path: &Path) -> Result<File, SetupError> {
    let path = path.with_extension("lock");
    let lock = File::create(&path).and_then(|file| file.lock().map(|()| file));
    lock.map_err(|error| file_error(&path, &error))
}

/// Replaces a file whole: whoever reads it sees all of the old one or all of the new one.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), SetupError> {
    if text.len() as u64 > MAX_FILE {
        let detail = format!("longer than {MAX_FILE} bytes: no more can be listed");
        return Err(SetupError::Config { path: path.to_owned(), detail });
    }
    let fresh = path.with_extension("new");
    let written = File::create(&fresh)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&fresh, path));
    written.map_err(|error| file_error(path, &error))
}

/// When a file was last written, how long it is, and its number: one that replaces it within the clock's grain has another.
pub(super) type Stamp = Option<(SystemTime, u64, u64)>;

pub(super) fn stamp(path: &Path) -> Stamp {
    let known = fs::metadata(path).ok()?;
    Some((known.modified().ok()?, known.len(), known.ino()))
}

/// Opens a file; not what has no end, nor a pipe that nobody may ever write to.
fn open(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    File::open(path)
}

fn whole(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(io::Error::other(format!("longer than {MAX_FILE} bytes")));
    }
    Ok(bytes)
}

fn file_error(path: &Path, error: &io::Error) -> SetupError {
    SetupError::File { path: path.to_owned(), detail: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_its_owners_alone() {
        for (owner, me, mode) in [(7, 7, 0o600), (7, 7, 0o400), (0, 7, 0o600), (0, 0, 0o700)] {
            assert_eq!(open_to_others(owner, me, mode), None);
        }
        for mode in [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o777] {
            let why = open_to_others(7, 7, mode).unwrap();
            assert!(why.contains("chmod 600") && why.contains(&format!("{mode:o}")), "{why}");
        }
        for (owner, me) in [(8, 7), (8, 0)] {
            let why = open_to_others(owner, me, 0o600).unwrap();
            assert!(why.contains("belongs to user 8") && why.contains(&format!("chown {me}")), "{why}");
        }
    }

    #[test]
    fn what_has_no_end_or_is_too_long_is_not_read() {
        for path in ["/dev/zero", "/dev/null", "/proc", "/nowhere"] {
            let error = read(Path::new(path)).unwrap_err().to_string();
            assert!(error.starts_with(path), "{error}");
        }
        let path = std::env::temp_dir().join(format!("tacit-long-{}", std::process::id()));
        for (length, fits) in [(MAX_FILE, true), (MAX_FILE + 1, false)] {
            fs::write(&path, vec![b' '; length as usize]).unwrap();
            assert_eq!(read(&path).is_ok(), fits);
        }
        fs::remove_file(&path).unwrap();
    }
}
