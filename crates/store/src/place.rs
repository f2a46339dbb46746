//! Where things lie, and who may see them.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::Error;

/// Where a user's anchors lie if nothing else is said: `tacit/anchors` in `$XDG_STATE_HOME`, which is
/// `~/.local/state` by default. `None` if the environment names neither that nor a home.
pub fn default_anchors() -> Option<PathBuf> {
    anchors_in(std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME"))
}

/// The XDG convention: relative paths don't count.
fn anchors_in(state: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: Option<OsString>| path.map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute(state).or_else(|| Some(absolute(home)?.join(".local/state")))?;
    Some(state.join("tacit/anchors"))
}

/// Refuses what others than this process's user may read or write.
pub(crate) fn private(path: &Path, metadata: &Metadata) -> Result<(), Error> {
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(Error::Foreign { path: path.to_owned() });
    }
    match metadata.mode() & 0o777 {
        mode if mode & 0o077 != 0 => Err(Error::Exposed { path: path.to_owned(), mode }),
        _ => Ok(()),
    }
}

/// Refuses anchors inside the store. Both folders are there.
pub(crate) fn apart(store: &Path, anchors: &Path) -> Result<(), Error> {
    let real = |path: &Path| {
        fs::canonicalize(path).map_err(|error| Error::File {
            doing: "find",
            path: path.to_owned(),
            detail: error.to_string(),
        })
    };
    if real(anchors)?.starts_with(real(store)?) {
        return Err(Error::AnchorInside { path: anchors.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_lie_where_the_user_keeps_state() {
        let at = |state: Option<&str>, home: Option<&str>| {
            anchors_in(state.map(OsString::from), home.map(OsString::from))
                .map(|path| path.display().to_string())
        };
        assert_eq!(at(Some("/s"), Some("/h")).as_deref(), Some("/s/tacit/anchors"));
        assert_eq!(at(None, Some("/h")).as_deref(), Some("/h/.local/state/tacit/anchors"));
        assert_eq!(at(Some("s"), Some("/h")).as_deref(), Some("/h/.local/state/tacit/anchors"));
        assert_eq!(at(Some(""), None), None);
        assert_eq!(at(None, Some("h")), None);
    }
}
