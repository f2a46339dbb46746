//! What all parties have counts, and what was made without it never will.
//!
//! A version is *settled* once all parties are known to have it. Later versions of its name that were put away by runs which
//! began without it, and that some party lacks, can't both count with it: the party *passes them over*, in the same change. What
//! is passed over is *void*. Its number is never used again, its share is erased, and the party says of it that it lacks it.
//!
//! So no party settles it afterwards, whatever another one says; and one that has settled it before refuses what it was made
//! without. An answer needs all parties to have settled what is read: no honest party gives one of a version, and then one of
//! another that leaves it out.

use super::about::About;
use super::disk;
use super::values::{State, TOLD_VERSIONS, at};
use super::versions::{Digests, Version};
use crate::error::Error;
use std::collections::{BTreeMap, BTreeSet};
use tacit_store::KeptStanding as Standing;

#[cfg(test)]
mod tests;

/// Of each name that the parties have told one another of, the versions that may be passed over: those after the one that is read
/// which not all have.
pub(super) type Passable = BTreeMap<String, BTreeSet<u64>>;

/// In the place of a void version's run: it is no run's any more.
const NO_RUN: [u8; 32] = [0; 32];

/// Dropped versions that are known of a name whose versions replace one another, as fresh shares do.
///
/// Safety needs none: who has an older copy lacks the newest version, which others have; and where that was dropped, too, what is
/// settled at anybody counts, and is refused because others lack it. Nor does a run that has its shares, and found its version
/// settled, ask for more. One that found it pending does: it goes on if no more than these have been replaced since, which for one
/// that another run has just put away is the one, and the next.
const REPLACED: usize = 2;

/// A change of what a party keeps.
#[derive(Default)]
struct Change {
    settled: Vec<(String, u64)>,
    /// Whether each is void.
    dropped: BTreeMap<(String, u64), bool>,
}

impl State {
    /// Notes, durably, that all parties have a version; and so they have all that the same run kept. What that
    /// replaces is dropped in the same change, and so are versions that not all have, older ones and those that it
    /// passes over, with all that their runs kept: whatever of them could be read was settled before this one was
    /// made, and what is left would be shares of a value that fresh shares don't hide.
    ///
    /// # Errors
    /// [`Error::Refused`] if another run has put a version away that was made without this one, and it isn't to be passed over: an
    /// answer of this one would be of a value that the name never had. [`Error::Store`].
    pub(super) fn settle(&mut self, name: &str, number: u64, passable: &Passable) -> Result<(), Error> {
        let Some(change) = self.to_settle(name, number, passable)? else { return Ok(()) };
        if let Some(home) = &self.home {
            at(home).settle(name, number, passable)?;
        }
        self.carry_out(&change)
    }

    /// Strikes off versions of a name that never count, of those that are pending here, durably, with all that their runs kept.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(super) fn strike(&mut self, name: &str, left: &BTreeSet<u64>) -> Result<(), Error> {
        if let Some(home) = &self.home {
            at(home).strike(name, left)?;
        }
        let left = left.iter().filter_map(|number| self.version(name, *number));
        let pending = left.filter(|version| version.standing == Standing::Pending);
        let runs: BTreeSet<_> = pending.map(|version| version.about.session).collect();
        let mut change = Change::default();
        self.void(runs, &mut change);
        self.carry_out(&change)
    }

    /// Counts so many versions of a name at least, durably, though there may never have been as many: their numbers don't come
    /// any more.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(super) fn raise(&mut self, name: &str, last: u64) -> Result<(), Error> {
        if let Some(home) = &self.home {
            at(home).raise(name, last)?;
        }
        if self.names.get(name).map_or(0, |known| known.last) >= last {
            return Ok(());
        }
        let about = nobodys(name, last);
        let known = self.names.entry(name.to_owned()).or_default();
        // Those that were counted so before say nothing more.
        let void = known.versions.iter().filter(|(_, version)| version.is_void());
        let void: Vec<u64> = void.map(|(number, _)| *number).collect();
        if let Some(folder) = &mut self.folder {
            folder.pass(name, last, disk::entry_bytes(&about, &Digests::new()), &void)?;
        }
        known.versions.retain(|number, _| !void.contains(number));
        known.last = last;
        let standing = Standing::Dropped;
        let version =
            Version { about, standing, after: None, digests: Digests::new(), bytes: 0, share: None };
        known.versions.insert(last, version);
        Ok(())
    }

    /// Makes a change, durably.
    fn carry_out(&mut self, change: &Change) -> Result<(), Error> {
        self.write(change)?;
        for (name, number) in &change.settled {
            if let Some(version) = self.version_mut(name, *number) {
                version.standing = Standing::Settled;
            }
        }
        for ((name, number), is_void) in &change.dropped {
            if let Some(version) = self.version_mut(name, *number) {
                if *is_void {
                    version.about.session = NO_RUN;
                }
                version.forget();
            }
        }
        for name in change.names() {
            let forgotten: Vec<u64> = self.forgotten(name, change).collect();
            if let Some(known) = self.names.get_mut(name) {
                known.versions.retain(|number, _| !forgotten.contains(number));
            }
        }
        Ok(())
    }

    /// What is to change with the settling of a version; nothing if it is settled, or was.
    fn to_settle(&self, name: &str, number: u64, passable: &Passable) -> Result<Option<Change>, Error> {
        let version = self.version(name, number);
        let version = version.ok_or_else(|| Error::Refused(format!("{name}@{number} is gone")))?;
        if version.standing == Standing::Pending {
            return self.change(version.about.session, passable).map(Some);
        }
        match self.made_without(name, number).next() {
            Some(later) => Err(kept_meanwhile(&later.about)),
            None if version.is_void() => {
                Err(Error::Refused(format!("another run has passed {name}@{number} over meanwhile")))
            }
            None => Ok(None),
        }
    }

    /// The versions that are settled with these, siblings with them, of those that aren't.
    ///
    /// # Errors
    /// As [`State::settle`], but for those of the folder.
    pub(super) fn settled_with(
        &self,
        values: &[(String, u64)],
        passable: &Passable,
    ) -> Result<Vec<(String, u64)>, Error> {
        let mut all = Vec::new();
        for (name, number) in values {
            all.extend(
                self.to_settle(name, *number, passable)?.into_iter().flat_map(|change| change.settled),
            );
        }
        Ok(all)
    }

    /// What is to change with the settling of what a run kept.
    fn change(&self, session: [u8; 32], passable: &Passable) -> Result<Change, Error> {
        let mut change = Change::default();
        let mut void_runs = BTreeSet::new();
        for About { name, version: number, replaces, .. } in self.pending_of(session) {
            change.settled.push((name.clone(), *number));
            for later in self.made_without(name, *number) {
                let may = passable.get(name).is_some_and(|those| those.contains(&later.about.version));
                if !may || later.standing != Standing::Pending {
                    return Err(kept_meanwhile(&later.about));
                }
                void_runs.insert(later.about.session);
            }
            let older = self.names.get(name).into_iter().flat_map(|known| known.versions.range(..number));
            for (_, old) in older.clone() {
                if *replaces == Some(old.about.version) && old.standing != Standing::Dropped {
                    change.dropped.insert((name.clone(), old.about.version), false);
                } else if old.standing == Standing::Pending {
                    void_runs.insert(old.about.session);
                }
            }
            let stay = older.filter(|(_, old)| old.standing == Standing::Settled).rev();
            for (old, _) in stay.skip(self.most_versions.map_or(usize::MAX, |most| most - 1)) {
                change.dropped.insert((name.clone(), *old), false);
            }
        }
        self.void(void_runs, &mut change);
        Ok(change)
    }

    /// Has all that these runs kept be void: no run reads one value of a run beside an older one of another name.
    fn void(&self, runs: BTreeSet<[u8; 32]>, change: &mut Change) {
        for run in runs {
            for about in self.pending_of(run) {
                change.dropped.entry((about.name.clone(), about.version)).or_insert(true);
            }
        }
    }

    /// Writes a change to the folder, if there is one.
    fn write(&mut self, change: &Change) -> Result<(), Error> {
        let mut dropped = Vec::with_capacity(change.dropped.len());
        for ((name, number), is_void) in &change.dropped {
            let Some(Version { about, .. }) = self.version(name, *number) else { continue };
            let session = if *is_void { NO_RUN } else { about.session };
            let remains = disk::entry_bytes(&About { session, ..about.clone() }, &Digests::new());
            dropped.push((name.as_str(), *number, remains));
        }
        let settled: Vec<_> = change.settled.iter().map(|(name, number)| (name.as_str(), *number)).collect();
        let names = change.names();
        let forgotten =
            names.iter().flat_map(|name| self.forgotten(name, change).map(|number| (*name, number)));
        let forgotten: Vec<(&str, u64)> = forgotten.collect();
        match &mut self.folder {
            Some(folder) => Ok(folder.settle_and_forget(&settled, &dropped, &forgotten)?),
            None => Ok(()),
        }
    }

    /// What a run kept and not all are known to have.
    fn pending_of(&self, session: [u8; 32]) -> impl Iterator<Item = &About> {
        let all = self.names.values().flat_map(|name| name.versions.values());
        let those = all.filter(move |one| one.standing == Standing::Pending && one.about.session == session);
        those.map(|version| &version.about)
    }

    /// The later versions of a name that were made without this one, by runs that began when it wasn't known to be
    /// all parties', and aren't void. A run settles what it begins with before it puts anything away: so what is
    /// pending after one that is pending was made without it, whoever remembers the run.
    fn made_without(&self, name: &str, number: u64) -> impl Iterator<Item = &Version> {
        let is_pending = self.version(name, number).is_some_and(|own| own.standing == Standing::Pending);
        let later =
            self.names.get(name).into_iter().flat_map(move |known| known.versions.range(number + 1..));
        later.map(|(_, later)| later).filter(move |later| match later.after {
            Some(after) => after < number && !later.is_void(),
            None => is_pending && later.standing == Standing::Pending,
        })
    }

    /// Dropped versions of a name, with those that are dropped now, of which nothing has to be known any more: there are as many
    /// newer ones of them, void or not, as are told of, or as [`REPLACED`] says. The last one of all stays.
    fn forgotten(&self, name: &str, change: &Change) -> impl Iterator<Item = u64> {
        let versions = || self.names.get(name).into_iter().flat_map(|known| known.versions.iter().rev());
        let is_void = |(number, version): (&u64, &Version)| match version.standing {
            Standing::Dropped => Some(version.is_void()),
            _ => change.dropped.get(&(name.to_owned(), *number)).copied(),
        };
        let mut live = versions().filter(|entry| is_void(*entry).is_none());
        let replaces = live.next().is_some_and(|(_, newest)| newest.about.replaces.is_some());
        let most = if replaces { REPLACED } else { TOLD_VERSIONS };
        let of = |void: bool| {
            let those = versions().filter(|entry| is_void(*entry) == Some(void));
            those.skip(most).map(|(number, _)| *number).collect::<Vec<_>>()
        };
        [of(false), of(true)].concat().into_iter()
    }
}

impl Change {
    /// The names that it is about.
    fn names(&self) -> BTreeSet<&str> {
        let dropped = self.dropped.keys().map(|(name, _)| name.as_str());
        self.settled.iter().map(|(name, _)| name.as_str()).chain(dropped).collect()
    }
}

impl Version {
    /// Whether it was passed over.
    pub(super) fn is_void(&self) -> bool {
        self.standing == Standing::Dropped && self.about.session == NO_RUN
    }

    /// Whether there never was one, and it only counts.
    pub(super) fn is_nobodys(&self) -> bool {
        self.about.kind.is_empty()
    }
}

/// Of a version that there never was.
fn nobodys(name: &str, version: u64) -> About {
    About {
        name: name.to_owned(),
        version,
        kind: String::new(),
        shape: Vec::new(),
        range: (0, 0),
        parties: Vec::new(),
        sharing: String::new(),
        key: None,
        session: NO_RUN,
        program: NO_RUN,
        readers: Vec::new(),
        learners: None,
        writers: Vec::new(),
        soundness: None,
        replaces: None,
    }
}

fn kept_meanwhile(later: &About) -> Error {
    Error::Refused(format!("another run has kept {later} meanwhile"))
}
