//! What a party keeps between runs: shares of values, by name and version.
//!
//! A program says `keep(x, "weights")`, and the run makes the next version of that name. A later program reads
//! `kept("weights")`: that is a *slot*, and each run says which value and version fills it ([`Fill`]); and of tables,
//! which rows are read, or kept. The parties agree on it by what they tell one another of the versions they have
//! ([`agree`]), before anything is computed. Two that hold the same part of a share compare digests of it, and tell
//! them to nobody else.
//!
//! **Two steps.** Each party puts its share away as *pending*, and tells the others so, before any output is opened. What all
//! have is *settled*. A party that dies in between has a pending version that the others may know as settled: the next run that
//! reads it finds that all have it, and settles it.
//!
//! What not all have is never read, and is void once a version counts that it was made without ([`settle`]). All that one run
//! keeps is put away together, and settled together: no run reads one value of it beside an older one of another name.
//!
//! [Decision 23](../../../../docs/adr/0023-values-that-stay.md) has the reasons.

mod about;
mod agree;
mod apart;
mod claim;
mod disk;
mod exchange;
mod fill;
mod keeping;
mod mistakes;
mod refresh;
mod run;
mod settle;
#[cfg(test)]
mod tests;
mod wanted;

pub use about::About;
pub use fill::Fill;
pub use keeping::NO_STATE;
pub use refresh::play_refresh;
pub use run::Residents;
pub use tacit_store::KeptStanding as Standing;

pub(crate) use apart::at;
pub(crate) use fill::MAX_FILL_BYTES;
pub(crate) use keeping::{Keeping, refuse_homeless};

use crate::Error;
use agree::{Told, ToldVersion};
use claim::{Claimed, Claims};
use disk::{Digests, digests};
use mistakes::Mistakes;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tacit_engine::KeptShare;
use tacit_net::setup::Config;
use tacit_store::{KeptFolder, KeptValue};
use wanted::Wanted;

/// Versions of one name that a party has at most, dropped ones aside.
pub const MAX_VERSIONS: usize = 1000;

/// As many versions of a name are told of those that stand where they do, of the last ones: runs that were ended, however many,
/// hide none that all have.
const TOLD_VERSIONS: usize = 32;

/// Versions of a name that are told at most, wanted ones aside.
const MAX_TOLD: usize = 3 * TOLD_VERSIONS;

/// What one party keeps: in memory, as long as this lives, or in a folder.
#[derive(Debug, Default)]
pub struct State {
    names: BTreeMap<String, Name>,
    folder: Option<KeptFolder>,
    /// The state that this is what one run needs of ([`State::apart`]).
    home: Option<Arc<Mutex<State>>>,
    /// What runs apart from this are about to settle.
    claims: Claims,
    /// What this run has claimed at its home.
    claimed: Vec<Claimed>,
    mistakes: Mistakes,
}

/// All versions of a name.
#[derive(Clone, Debug, Default)]
struct Name {
    /// The last version that there ever was.
    last: u64,
    versions: BTreeMap<u64, Version>,
}

#[derive(Clone, Debug)]
struct Version {
    about: About,
    standing: Standing,
    /// The version that its run began with, 0 for none, if that was a run of this process.
    after: Option<u64>,
    /// Digests of the share's parts.
    digests: Digests,
    /// Bytes of all parts of the share.
    bytes: u64,
    /// Nothing once it is dropped, or before it is read from the folder.
    share: Option<Arc<KeptShare>>,
}

/// A version that a run has made.
#[derive(Clone)]
struct Made {
    about: About,
    /// The version that the run began with: the last one that counted.
    after: Option<u64>,
    digests: Digests,
    share: Arc<KeptShare>,
}

/// A kept value, to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What it is.
    pub about: About,
    /// Where it stands.
    pub standing: Standing,
    /// Bytes of this party's share.
    pub bytes: u64,
}

impl State {
    /// Nothing yet, and in memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// What lies in a folder, and in memory what is read of it; the folder is made if it isn't there. It is sealed
    /// under `key`, or, without one, under a key that lies in it: for trying out. One process at a time can have it
    /// open.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn open(path: &Path, key: Option<[u8; 32]>) -> Result<Self, Error> {
        let folder = KeptFolder::open(path, key)?;
        let mut names: BTreeMap<String, Name> = BTreeMap::new();
        for entry in folder.entries() {
            let (name, version) = disk::read_entry(path, entry)?;
            let known = names.entry(name).or_default();
            known.last = known.last.max(version.about.version);
            known.versions.insert(version.about.version, version);
        }
        Ok(Self { names, folder: Some(folder), ..Self::default() })
    }

    /// What lies in a folder, and what was dropped, as it was a moment ago, while another process may have it open; `key` as
    /// [`State::open`]. Changes nothing.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn look(path: &Path, key: Option<[u8; 32]>) -> Result<Vec<Listed>, Error> {
        let entries = KeptFolder::look(path, key)?;
        let mut all =
            entries.iter().map(|entry| disk::read_entry(path, entry)).collect::<Result<Vec<_>, _>>()?;
        all.sort_by(|one, other| (&one.0, one.1.about.version).cmp(&(&other.0, other.1.about.version)));
        Ok(all.iter().map(|(_, version)| version.listed()).collect())
    }

    /// As [`State::open`], of a party with this configuration: sealed under its private key, if it has one.
    ///
    /// # Errors
    /// [`Error::Setup`] if that can't be read; [`Error::Store`].
    pub fn of(config: &Config, folder: &Path) -> Result<Self, Error> {
        Self::open(folder, Self::key(config)?)
    }

    /// The key that a party's folder is sealed under: of its private key, if it has one.
    ///
    /// # Errors
    /// [`Error::Setup`] if that can't be read.
    pub fn key(config: &Config) -> Result<Option<[u8; 32]>, Error> {
        Ok(config.own_key(b"tacit state 1")?)
    }

    /// All that is kept and what was dropped, by name and version.
    pub fn list(&self) -> Vec<Listed> {
        self.names.values().flat_map(|name| name.versions.values()).map(Version::listed).collect()
    }

    /// Drops a value (`weights@3`), or all versions of a name (`weights`): the share is wiped, and the version is
    /// never read again. Each party drops its own; until all have, runs that would read it are refused.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is none; [`Error::Store`].
    pub fn drop_value(&mut self, value: &str) -> Result<(), Error> {
        let Wanted { name, version: wanted, rows } = Wanted::parse(value)?;
        if !rows.is_empty() {
            return Err(Error::Refused("a table is dropped whole, and not by rows".to_owned()));
        }
        let nothing = || Error::Refused(format!("nothing is kept as {value:?}"));
        let known = self.names.get_mut(&name).ok_or_else(nothing)?;
        let own = known.versions.iter_mut().filter(|(number, version)| {
            wanted.is_none_or(|wanted| wanted == **number) && version.standing != Standing::Dropped
        });
        let mut dropped = 0;
        for (number, version) in own {
            if let Some(folder) = &mut self.folder {
                folder.drop_version(&name, *number, version.remains())?;
            }
            version.forget();
            dropped += 1;
        }
        if dropped == 0 { Err(nothing()) } else { Ok(()) }
    }

    /// What this party tells the others of a name: the last versions that stand where they do, and what is wanted.
    fn told(&self, name: &str, wanted: &[u64]) -> Told {
        let Some(known) = self.names.get(name) else { return Told::default() };
        let last = |standing| {
            let those = known.versions.iter().rev();
            let those = those.filter(move |(_, version)| version.standing == standing && !version.is_void());
            those.take(TOLD_VERSIONS).map(|(number, _)| number)
        };
        let last = [Standing::Pending, Standing::Settled, Standing::Dropped].into_iter().flat_map(last);
        let told: BTreeSet<u64> = last.chain(wanted).copied().collect();
        let version = |number: u64| {
            let version = known.versions.get(&number).filter(|version| !version.is_void())?;
            let (standing, about) = (version.standing, &version.about);
            Some(ToldVersion { number, standing, session: about.session, value: about.hash() })
        };
        Told { last: known.last, versions: told.into_iter().filter_map(version).collect() }
    }

    /// A value's version that there is.
    fn version(&self, name: &str, number: u64) -> Option<&Version> {
        self.names.get(name)?.versions.get(&number)
    }

    fn version_mut(&mut self, name: &str, number: u64) -> Option<&mut Version> {
        self.names.get_mut(name)?.versions.get_mut(&number)
    }

    /// Refuses another version of a name that has too many.
    fn admit(&self, name: &str) -> Result<(), Error> {
        if let Some(home) = &self.home {
            return at(home).admit(name);
        }
        let lives = |version: &&Version| version.standing != Standing::Dropped;
        let count = self.names.get(name).map_or(0, |name| name.versions.values().filter(lives).count());
        if count < MAX_VERSIONS {
            return Ok(());
        }
        Err(Error::Refused(format!("{MAX_VERSIONS} versions of {name} are kept already; drop some first")))
    }

    /// This party's share of a version that there is, from the folder if it hasn't been read yet.
    fn share(&mut self, name: &str, number: u64) -> Result<Arc<KeptShare>, Error> {
        let gone = || Error::Refused(format!("{name}@{number} is gone"));
        let version = self.names.get_mut(name).and_then(|name| name.versions.get_mut(&number));
        let version = version.filter(|version| version.standing != Standing::Dropped).ok_or_else(gone)?;
        if let Some(share) = &version.share {
            return Ok(share.clone());
        }
        let share = if let Some(home) = &self.home {
            at(home).share(name, number)?
        } else {
            let folder = self.folder.as_ref().ok_or_else(gone)?;
            Arc::new(disk::read_share(&folder.share(name, number)?).ok_or_else(gone)?)
        };
        if digests(&share) != version.digests {
            // Sealed by this party, and not for this version.
            return Err(Error::Refused(format!("the share of {name}@{number} is another's")));
        }
        version.share = Some(share.clone());
        Ok(share)
    }

    /// Puts all that a run keeps away, durably, all of it or nothing: not all parties are known to have theirs.
    /// Nothing comes in the place of a version that was settled after the run began, whatever the run was told of it:
    /// others may have read that one.
    fn put(&mut self, values: Vec<Made>) -> Result<(), Error> {
        let is_late = |made: &&Made| {
            self.names.get(&made.about.name).is_some_and(|known| {
                let settled = known.versions.values().filter(|one| one.standing == Standing::Settled);
                let settled = settled.map(|one| one.about.version).max();
                known.last >= made.about.version || settled > made.after
            })
        };
        if let Some(Made { about, .. }) = values.iter().find(is_late) {
            return Err(Error::Refused(format!("another run has kept {about} meanwhile")));
        }
        if let Some(home) = &self.home {
            at(home).put(values.clone())?;
        }
        if let Some(folder) = &mut self.folder {
            let value = |Made { about, digests, share, .. }: &Made| KeptValue {
                name: about.name.clone(),
                version: about.version,
                about: disk::entry_bytes(about, digests),
                share: disk::share_bytes(share),
            };
            folder.put(values.iter().map(value).collect())?;
        }
        for Made { about, after, digests, share } in values {
            let name = self.names.entry(about.name.clone()).or_default();
            name.last = name.last.max(about.version);
            let bytes = share.parts.iter().map(|part| part.bytes.len() as u64).sum();
            let share = Some(share);
            let (standing, after) = (Standing::Pending, Some(after.unwrap_or(0)));
            let version = Version { about, standing, after, digests, bytes, share };
            name.versions.insert(version.about.version, version);
        }
        Ok(())
    }

    /// Writes what lies in the folder into one file, sealed as it is: for back-up.
    ///
    /// # Errors
    /// [`Error::Refused`] for what is in memory alone; [`Error::Store`].
    pub fn export(&self, path: &Path) -> Result<(), Error> {
        let nowhere = || Error::Refused("what is kept in memory alone has no copy".to_owned());
        Ok(self.folder.as_ref().ok_or_else(nowhere)?.export(path)?)
    }

    /// Puts a copy back as a folder that isn't there yet, whole or not at all; under `key` as [`State::open`].
    ///
    /// # Errors
    /// [`Error::Store`].
    ///
    /// # Security
    /// Other parties that have newer versions refuse those of an old copy by name.
    pub fn import(path: &Path, folder: &Path, key: Option<[u8; 32]>) -> Result<Self, Error> {
        drop(KeptFolder::import(path, folder, key)?);
        Self::open(folder, key)
    }
}

impl Version {
    /// What the folder's index holds of it once it is dropped: no digests, which would tell short values.
    fn remains(&self) -> Vec<u8> {
        disk::entry_bytes(&self.about, &Digests::new())
    }

    fn listed(&self) -> Listed {
        Listed { about: self.about.clone(), standing: self.standing, bytes: self.bytes }
    }

    /// Drops it.
    fn forget(&mut self) {
        (self.standing, self.digests, self.share, self.bytes) = (Standing::Dropped, Digests::new(), None, 0);
    }
}
