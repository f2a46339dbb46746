//! What a party keeps for runs to come: where it lies, and how a run has it.

use crate::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use tacit_engine::Protocol;
use tacit_engine::supply::Stock;
use tacit_store::{Epoch, Restored, Store};

/// Where a party keeps material.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorePath {
    /// The store: a folder for one party and one program.
    pub store: PathBuf,
    /// The folder of the anchors, outside of the store; several stores may have theirs there.
    pub anchors: PathBuf,
}

/// The folder of anchors beside the stores of parties that are all in one process.
const ANCHORS: &str = "anchors";

impl StorePath {
    /// A store with its anchor where this user's anchors lie, unless another folder is named.
    ///
    /// # Errors
    /// If none is named, and the environment says neither where the user's home is nor where state is kept.
    pub fn new(store: impl Into<PathBuf>, anchors: Option<PathBuf>) -> Result<Self, Error> {
        let anchors = anchors.or_else(tacit_store::default_anchors).ok_or_else(|| {
            let reason = "the environment says neither $HOME nor $XDG_STATE_HOME; say where anchors are to lie (--anchors)";
            Error::Refused(reason.to_owned())
        })?;
        Ok(Self { store: store.into(), anchors })
    }

    /// A store that is there, to look at: with its anchor in the folder that is named, or where this user's lie, or, if it
    /// isn't there, beside the store in `anchors` ([`StorePath::simulated`]). Runs don't look beside their stores.
    ///
    /// # Errors
    /// As [`StorePath::new`], and [`Error::Store`].
    pub fn existing(store: impl Into<PathBuf>, anchors: Option<&PathBuf>) -> Result<Self, Error> {
        let store = store.into();
        let usual = Self::new(store.clone(), anchors.cloned());
        let knows = |place: &Self| Store::is_anchored_in(&place.store, &place.anchors);
        if anchors.is_some() || usual.as_ref().is_ok_and(|place| knows(place).unwrap_or(false)) {
            return usual;
        }
        // Of `.` the folder above has to be looked up.
        let above = std::fs::canonicalize(&store).ok().and_then(|path| Some(path.parent()?.join(ANCHORS)));
        match above.map(|anchors| Self { store, anchors }) {
            Some(beside) if knows(&beside)? => Ok(beside),
            _ => usual,
        }
    }

    /// All stores of a folder: the folder itself if it is one, or else those that lie in it, by name, as of a
    /// [`StorePath::simulated`]; each as [`StorePath::existing`].
    ///
    /// # Errors
    /// As [`StorePath::existing`], and [`tacit_store::Error::NoStore`] if there is none.
    pub fn all_in(folder: impl Into<PathBuf>, anchors: Option<&PathBuf>) -> Result<Vec<Self>, Error> {
        let folder = folder.into();
        let is_store = |path: &Path| Ok::<_, Error>(Store::binding_at(path)?.is_some());
        let mut stores = Vec::new();
        if is_store(&folder)? {
            stores.push(folder.clone());
        } else if folder.is_dir() {
            let unread = |error: std::io::Error| {
                let (doing, path) = ("read", folder.clone());
                tacit_store::Error::File { doing, path, detail: error.to_string() }
            };
            for entry in std::fs::read_dir(&folder).map_err(unread)? {
                let path = entry.map_err(unread)?.path();
                if path.is_dir() && is_store(&path)? {
                    stores.push(path);
                }
            }
        }
        if stores.is_empty() {
            return Err(tacit_store::Error::NoStore { path: folder }.into());
        }
        stores.sort();
        stores.into_iter().map(|store| Self::existing(store, anchors)).collect()
    }

    /// For parties that are all in this process: a folder for each in `folder`, and one with the anchors beside them.
    /// That is for trying out: anchors that are copied with their stores show nothing.
    pub fn simulated(folder: impl Into<PathBuf>) -> Self {
        let store = folder.into();
        Self { anchors: store.join(ANCHORS), store }
    }

    /// One of the parties of a [`StorePath::simulated`].
    pub(crate) fn of(&self, party: &str) -> Self {
        Self { store: self.store.join(party), anchors: self.anchors.clone() }
    }
}

/// What a party keeps for runs to come, open in this process alone.
#[derive(Debug)]
#[non_exhaustive]
pub enum Kept {
    /// Material for one program.
    Material(Box<Store>),
    /// Supplies, for any.
    Supplies(Stock),
}

impl Kept {
    /// Epochs that the store knew less of than its anchor: somebody put an older copy in its place.
    pub fn restored(&self) -> Vec<Restored> {
        match self {
            Self::Material(store) => store.restored().to_vec(),
            Self::Supplies(stock) => stock.restored(),
        }
    }

    /// For a run.
    pub(crate) fn source(&mut self) -> Source<'_> {
        match self {
            Self::Material(store) => Source::Material(store),
            Self::Supplies(stock) => Source::Supplies(stock),
        }
    }
}

/// The instance of a run's material: which it is of those that one offline session made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The offline session.
    pub epoch: Epoch,
    /// The instance's number, from 0.
    pub index: u64,
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "instance {} of epoch {}", self.index, self.epoch)
    }
}

/// Where a party has what doesn't depend on inputs from. Clients make nothing.
#[non_exhaustive]
pub enum Source<'a> {
    /// It makes it in the run, all parties together.
    InRun,
    /// From its store of material: an instance, for a run in one lane.
    Material(&'a mut Store),
    /// From its store of supplies, for all lanes that draw from any.
    Supplies(&'a Stock),
}

/// Whether a protocol's runs draw from supplies that stores can have.
pub(crate) fn has_stocks(protocol: &dyn Protocol, parties: &[String]) -> bool {
    !protocol.stocks(parties.len()).is_empty()
}
