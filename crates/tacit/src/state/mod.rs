//! What a party keeps between runs: shares of values, by name and version.
//!
//! A program says `keep(x, "weights")`, and the run makes the next version of that name. A later program reads `kept("weights")`:
//! that is a *slot*, and each run says which value and version fills it ([`Fill`]). The parties agree on it by what they tell
//! one another of the versions they have ([`agree`]), before anything is computed.
//!
//! **Two steps.** Each party puts its share away as *pending*, and tells the others so, with digests of its share's parts. What all
//! have is *settled*. A party that dies in between has a pending version that the others may know as settled: the next run that
//! reads it finds that all have it, and settles it. What not all have is never read.
//!
//! [Decision 23](../../../../docs/adr/0023-values-that-stay.md) has the reasons.

mod about;
mod agree;
mod keeping;
mod run;

pub use about::About;
pub use agree::Standing;
pub use run::Residents;

pub(crate) use keeping::{Keeping, refuse_homeless};

use crate::Error;
use agree::{Digests, Told, ToldVersion};
use std::collections::BTreeMap;
use std::sync::Arc;
use tacit_engine::KeptShare;

/// Versions of one name that a party has at most, dropped ones aside.
pub const MAX_VERSIONS: usize = 1000;

/// Which kept value fills each slot of a program: by the slot's name `weights@3`, or `weights` for the newest version. A slot
/// that isn't named is filled by the newest value of its own name.
pub type Fill = BTreeMap<String, String>;

/// What one party keeps. In memory, as long as it lives.
#[derive(Debug, Default)]
pub struct State {
    names: BTreeMap<String, Name>,
}

/// All versions of a name.
#[derive(Debug, Default)]
struct Name {
    /// The last version that there ever was.
    last: u64,
    versions: BTreeMap<u64, Version>,
}

#[derive(Debug)]
struct Version {
    about: About,
    standing: Standing,
    /// Digests of the share's parts.
    digests: Digests,
    /// Nothing once it is dropped.
    share: Option<Arc<KeptShare>>,
}

/// A kept value, to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What it is.
    pub about: About,
    /// Where it stands.
    pub standing: Standing,
    /// Bytes of this party's share.
    pub bytes: usize,
}

impl State {
    /// Nothing yet, and in memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// All that is kept and what was dropped, by name and version.
    pub fn list(&self) -> Vec<Listed> {
        let versions = self.names.values().flat_map(|name| name.versions.values());
        let listed = |version: &Version| {
            let parts = version.share.iter().flat_map(|share| &share.parts);
            let bytes = parts.map(|part| part.bytes.len()).sum();
            Listed { about: version.about.clone(), standing: version.standing, bytes }
        };
        versions.map(listed).collect()
    }

    /// Drops a value (`weights@3`), or all versions of a name (`weights`): the share is wiped, and the version is never read again.
    /// Each party drops its own; until all have, runs that would read it are refused.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is none.
    pub fn drop_value(&mut self, value: &str) -> Result<(), Error> {
        let (name, wanted) = parse(value)?;
        let nothing = || Error::Refused(format!("nothing is kept as {value:?}"));
        let known = self.names.get_mut(&name).ok_or_else(nothing)?;
        let own = known.versions.iter_mut().filter(|(number, version)| {
            wanted.is_none_or(|wanted| wanted == **number) && version.standing != Standing::Dropped
        });
        let mut dropped = 0;
        for (_, version) in own {
            (version.standing, version.share) = (Standing::Dropped, None);
            dropped += 1;
        }
        if dropped == 0 { Err(nothing()) } else { Ok(()) }
    }

    /// What this party tells the others of a name.
    fn told(&self, name: &str) -> Told {
        let Some(known) = self.names.get(name) else { return Told::default() };
        let version = |(number, version): (&u64, &Version)| ToldVersion {
            number: *number,
            standing: version.standing,
            value: version.about.hash(),
            digests: version.digests.clone(),
        };
        Told { last: known.last, versions: known.versions.iter().map(version).collect() }
    }

    /// A value's version that there is.
    fn version(&self, name: &str, number: u64) -> Option<&Version> {
        self.names.get(name)?.versions.get(&number)
    }

    /// Refuses another version of a name that has too many.
    fn admit(&self, name: &str) -> Result<(), Error> {
        let lives = |version: &&Version| version.standing != Standing::Dropped;
        let count = self.names.get(name).map_or(0, |name| name.versions.values().filter(lives).count());
        if count < MAX_VERSIONS {
            return Ok(());
        }
        Err(Error::Refused(format!("{MAX_VERSIONS} versions of {name} are kept already; drop some first")))
    }

    /// Puts a version away that not all parties are known to have.
    fn put(&mut self, about: About, digests: Digests, share: KeptShare) {
        let name = self.names.entry(about.name.clone()).or_default();
        name.last = name.last.max(about.version);
        let share = Some(Arc::new(share));
        let version = Version { standing: Standing::Pending, digests, share, about };
        name.versions.insert(version.about.version, version);
    }

    /// Notes that all parties have a version.
    fn settle(&mut self, name: &str, number: u64) {
        let version = self.names.get_mut(name).and_then(|name| name.versions.get_mut(&number));
        if let Some(version) = version.filter(|version| version.standing == Standing::Pending) {
            version.standing = Standing::Settled;
        }
    }
}

/// The name in `weights@3` or `weights`, and the version if one is named.
fn parse(value: &str) -> Result<(String, Option<u64>), Error> {
    let Some((name, number)) = value.rsplit_once('@') else { return Ok((value.to_owned(), None)) };
    match number.parse() {
        Ok(number) if number > 0 && !name.is_empty() => Ok((name.to_owned(), Some(number))),
        _ => Err(Error::Refused(format!(
            "{value:?} names no kept value: write weights@3, or weights for the newest"
        ))),
    }
}
