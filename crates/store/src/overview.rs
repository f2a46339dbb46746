//! What a store has, for people to look at: nothing is locked, and nothing changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::index::Shelf;
use crate::ledger::{Contents, Ledger, Used, WHOLE};
use crate::store::{JOURNAL, anchor_name};
use crate::{Binding, Epoch, Error, Store, files};

/// What a store's files say. Of a store that another process uses it may be a moment old.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// What its material is good for.
    pub binding: Binding,
    /// Where its anchor is, or should be.
    pub anchor: PathBuf,
    /// The shelves of the epochs that have a folder, but for those with a supply's key.
    pub epochs: Vec<Stock>,
    /// How all epochs stand that ever were here.
    pub known: BTreeMap<Epoch, EpochStanding>,
}

/// Whether what hangs on an epoch's key can be used; the worst comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EpochStanding {
    /// It is here.
    Here,
    /// A check on its key has begun and has no verdict. Unless one is under way in this moment, the next opening destroys it.
    Checking,
    /// It is destroyed, or used up with its key.
    Gone,
}

/// A shelf of an epoch of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stock {
    /// The epoch's name.
    pub epoch: Epoch,
    /// The shelf's number.
    pub shelf: u64,
    /// Instances that it was made with.
    pub count: u64,
    /// The first that the store's journal doesn't call used; `None` if the journal doesn't know the epoch,
    /// `u64::MAX` if it is destroyed, or a check of it has no verdict.
    pub journal: Option<u64>,
    /// The same of the anchor.
    pub anchor: Option<u64>,
}

/// What is to be thought of a shelf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// So many of its instances can be used.
    Unused(u64),
    /// So many, and the journal knew less than the anchor: the store is an older copy.
    Restored(u64),
    /// The anchor doesn't know it: no run begins.
    Unanchored,
}

impl Overview {
    /// Reads what the store in a folder has, whose anchor is in the folder `anchors`.
    ///
    /// # Errors
    /// [`Error::NoStore`], [`Error::Exposed`], [`Error::Foreign`], [`Error::Damaged`], [`Error::File`].
    pub fn read(store: &Path, anchors: &Path) -> Result<Self, Error> {
        let Some(binding) = Store::binding_at(store)? else {
            return Err(Error::NoStore { path: store.to_owned() });
        };
        files::private_folder(store)?;
        let hash = binding.hash();
        let anchor = anchors.join(anchor_name(&hash));
        let [journal, anchored] = [&store.join(JOURNAL), &anchor].map(|path| Ledger::read(path, &hash));
        let (journal, anchored) = (journal?.unwrap_or_default(), anchored?.unwrap_or_default());
        let here: BTreeSet<Epoch> =
            files::names(store)?.iter().filter_map(|name| Epoch::parse(name)).collect();
        let mut known = BTreeMap::new();
        for (epoch, _) in journal.uses.keys().chain(anchored.uses.keys()) {
            let standing = match whole(*epoch, [&journal, &anchored]) {
                used if used.next == Used::DESTROYED || !here.contains(epoch) => EpochStanding::Gone,
                used if used.pending() => EpochStanding::Checking,
                _ => EpochStanding::Here,
            };
            known.insert(*epoch, standing);
        }
        let mut epochs = Vec::new();
        for epoch in here {
            let shelves = Shelf::all_in(&store.join(epoch.to_string()), &hash, epoch)?;
            // Then the next opening destroys it.
            let pending = whole(epoch, [&journal, &anchored]).pending();
            for (shelf, found) in shelves.iter().filter(|(shelf, _)| !binding.is_supply() || **shelf != WHOLE)
            {
                let next = |contents: &Contents| {
                    let whole = contents.uses.get(&(epoch, WHOLE))?.next;
                    let own = contents.uses.get(&(epoch, *shelf)).map_or(0, |used| used.next);
                    Some(if pending { Used::DESTROYED } else { own.max(whole) })
                };
                let (journal, anchor) = (next(&journal), next(&anchored));
                epochs.push(Stock { epoch, shelf: *shelf, count: found.count(), journal, anchor });
            }
        }
        Ok(Self { binding, anchor, epochs, known })
    }
}

/// What journal and anchor say of an epoch as a whole.
fn whole(epoch: Epoch, ledgers: [&Contents; 2]) -> Used {
    let said = ledgers.into_iter().filter_map(|contents| contents.uses.get(&(epoch, WHOLE)));
    said.copied().fold(Used::default(), Used::or)
}

impl Stock {
    /// What is to be thought of it.
    pub fn standing(&self) -> Standing {
        let Some(anchor) = self.anchor else { return Standing::Unanchored };
        let journal = self.journal.unwrap_or_default();
        let unused = self.count.saturating_sub(anchor.max(journal));
        if journal < anchor { Standing::Restored(unused) } else { Standing::Unused(unused) }
    }
}
