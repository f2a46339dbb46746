//! What one party keeps: values by name and version, and what its runs have claimed of them.

use super::agree::{Told, ToldVersion};
use super::disk;
use super::mistakes::Mistakes;
use super::versions::{Digests, Listed, Made, Name, Version, digests};
use super::wanted::Wanted;
use crate::error::Error;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tacit_engine::KeptShare;
use tacit_net::setup::Config;
use tacit_store::{KeptFolder, KeptStanding as Standing, KeptValue};

/// Versions of one name that a party has at most, dropped ones aside.
pub const MAX_VERSIONS: usize = 1000;

/// As many versions of a name are told of those that stand where they do, of the last ones: runs that were ended, however many,
/// hide none that all have.
pub(super) const TOLD_VERSIONS: usize = 32;

/// Versions of a name that are told at most, wanted ones aside.
pub(super) const MAX_TOLD: usize = 3 * TOLD_VERSIONS;

/// What one party keeps: in memory, as long as this lives, or in a folder.
#[derive(Debug, Default)]
pub struct State {
    pub(super) names: BTreeMap<String, Name>,
    pub(super) folder: Option<KeptFolder>,
    /// Versions of a name that stay when a newer one is settled, that one among them; without it all of them do.
    pub(super) most_versions: Option<usize>,
    /// The state that this is what one run needs of ([`State::apart`]).
    pub(super) home: Option<Arc<Mutex<State>>>,
    /// What runs apart from this are about to settle.
    pub(super) claims: Claims,
    /// What this run has claimed at its home.
    pub(super) claimed: Vec<Claimed>,
    /// When this run began there.
    pub(super) begun: Option<Begun>,
    pub(super) mistakes: Mistakes,
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

    /// From now on only so many versions of a name stay, one or more: when a newer one is settled, the oldest are dropped in the
    /// same change. Programs that keep a value again and again would else fill disk and [`MAX_VERSIONS`].
    #[must_use]
    pub fn with_most_versions(mut self, most: usize) -> Self {
        self.most_versions = Some(most.max(1));
        self
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
        Ok(all
            .iter()
            .filter(|(_, version)| !version.is_nobodys())
            .map(|(_, version)| version.listed())
            .collect())
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
        let all = self.names.values().flat_map(|name| name.versions.values());
        all.filter(|version| !version.is_nobodys()).map(Version::listed).collect()
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
    pub(super) fn told(&self, name: &str, wanted: &[u64]) -> Told {
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
    pub(super) fn version(&self, name: &str, number: u64) -> Option<&Version> {
        self.names.get(name)?.versions.get(&number)
    }

    pub(super) fn version_mut(&mut self, name: &str, number: u64) -> Option<&mut Version> {
        self.names.get_mut(name)?.versions.get_mut(&number)
    }

    /// Refuses another version of a name that has too many.
    pub(super) fn admit(&self, name: &str) -> Result<(), Error> {
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
    pub(super) fn share(&mut self, name: &str, number: u64) -> Result<Arc<KeptShare>, Error> {
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
            let sealed = folder.share(name, number).map_err(|error| match error {
                // It costs the runs that read it, and no others.
                tacit_store::Error::Sealed { .. } => Error::Refused(error.to_string()),
                error => error.into(),
            })?;
            Arc::new(disk::read_share(&sealed).ok_or_else(gone)?)
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
    /// others may have read that one. Nor is one followed that was dropped since: all of a table would be back.
    pub(super) fn put(&mut self, values: Vec<Made>) -> Result<(), Error> {
        for Made { about, after, .. } in &values {
            let Some(known) = self.names.get(&about.name) else { continue };
            let settled = known.versions.values().filter(|one| one.standing == Standing::Settled);
            let settled = settled.map(|one| one.about.version).max();
            // What was dropped so long ago that it is forgotten isn't followed either.
            let is_dropped =
                |number: &u64| known.versions.get(number).is_none_or(|one| one.standing == Standing::Dropped);
            if known.last >= about.version || settled > *after {
                return Err(Error::Refused(format!("another run has kept {about} meanwhile")));
            }
            if let Some(number) = after.filter(is_dropped) {
                let name = &about.name;
                return Err(Error::Refused(format!(
                    "{name}@{number}, which {about} is to follow, was dropped meanwhile"
                )));
            }
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
}

/// All claims of a party.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// By name and version.
    pub(super) all: BTreeMap<(String, u64), Claim>,
    /// When the runs began that are under way.
    pub(super) begun: BTreeSet<u64>,
    /// Counts the beginnings of runs and the ends of claims, by which they are told apart.
    clock: u64,
}

impl Claims {
    pub(super) fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}

#[derive(Debug, Default)]
pub(super) struct Claim {
    /// The runs that have it.
    pub(super) runs: usize,
    /// When the last of those ended that have had it; 0 if none has.
    pub(super) ended: u64,
    /// Whether there was no such version when it was first claimed.
    pub(super) is_new: bool,
}

/// When a run began, by its home's claims. Dropped with the run.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) home: Arc<Mutex<State>>,
    pub(super) at: u64,
}

impl Drop for Begun {
    fn drop(&mut self) {
        at(&self.home).claims.begun.remove(&self.at);
    }
}

/// What one run has claimed. Dropped with the run.
#[derive(Debug)]
pub(super) struct Claimed {
    pub(super) home: Arc<Mutex<State>>,
    pub(super) values: Vec<(String, u64)>,
}

impl Drop for Claimed {
    fn drop(&mut self) {
        let claims = &mut at(&self.home).claims;
        let now = claims.tick();
        for value in &self.values {
            if let Some(claim) = claims.all.get_mut(value) {
                claim.runs = claim.runs.saturating_sub(1);
                claim.ended = now;
            }
        }
    }
}

/// A state that others use, too.
pub(crate) fn at(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // A panic ends the server; until then all parties agree on what they read, as ever.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
