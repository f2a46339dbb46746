//! Keys that outlast what was made under them: those of values that stay.
//!
//! A value that is kept has MACs that are good under its epoch's key alone. So such a key stays when all else of its epoch is
//! used up, and the epoch is drawn from last. Which they are is a file of the store, since runs that read nothing that is kept
//! know of no kept values. It grows only: a key is a few bytes, and one that is erased too early costs every value under it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::format::Malformed;
use crate::{Available, Epoch, Error, MAX_EPOCHS, Store, files};

/// The names of the epochs, one after another.
const FILE: &str = "lasting";
/// Bytes of a name.
const NAME: usize = 32;

impl Store {
    /// Notes durably that values which stay are under the key of this epoch of supplies, if that isn't noted yet.
    ///
    /// # Errors
    /// [`Error::Unknown`], [`Error::File`].
    pub fn keep_key(&mut self, epoch: Epoch) -> Result<(), Error> {
        if !self.has_key(epoch) {
            return Err(Error::Unknown { epoch });
        }
        if self.lasting.contains(&epoch) {
            return Ok(());
        }
        let mut lasting: BTreeSet<Epoch> =
            self.lasting.iter().copied().filter(|epoch| self.has_key(*epoch)).collect();
        lasting.insert(epoch);
        let names: Vec<u8> = lasting.iter().flat_map(|epoch| epoch.0).collect();
        files::replace(self.path(), FILE, &names)?;
        self.lasting = lasting;
        Ok(())
    }

    /// Epochs of supplies under whose keys there are, or were, values that stay, ascending: what parties tell one another
    /// before they [`agree`](crate::agree).
    pub fn kept_keys(&self) -> Vec<Available> {
        let here = self.lasting.iter().filter(|epoch| self.has_key(**epoch));
        here.map(|&epoch| Available { epoch, next: 0, count: 1 }).collect()
    }
}

/// What a store's file says of them; nothing if there is none.
pub(crate) fn read(store: &Path) -> Result<BTreeSet<Epoch>, Error> {
    let path = store.join(FILE);
    if !files::exists(&path)? {
        return Ok(BTreeSet::new());
    }
    let bytes = files::read(&path, (NAME * MAX_EPOCHS) as u64)?;
    let (names, rest) = bytes.as_chunks::<NAME>();
    if rest.is_empty() {
        return Ok(names.iter().map(|name| Epoch(*name)).collect());
    }
    Err(Error::Damaged { path, cause: Malformed::Length })
}
