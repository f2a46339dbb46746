//! What is no part of a store any more and still to be erased.

use std::path::{Path, PathBuf};

use crate::{Error, files};

/// The folder of an epoch that is used up, destroyed, or was never whole. What isn't erased is when the store is opened next.
#[derive(Debug)]
#[must_use = "its bytes are still there"]
pub struct Spent {
    store: PathBuf,
    name: String,
}

impl Spent {
    pub(crate) fn new(store: &Path, name: String) -> Self {
        Self { store: store.to_owned(), name }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.store.join(&self.name)
    }

    /// Overwrites and removes it, if it is there.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn erase(self) -> Result<(), Error> {
        if files::exists(&self.path())? { files::erase_folder(&self.store, &self.name) } else { Ok(()) }
    }
}
