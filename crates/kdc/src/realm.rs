//! What every server of a realm has a copy of: its settings, and who there is. Nothing of it is secret.

use crate::enctype::Enctype;
use crate::messages::Name;
use crate::wire::MAX_BATCH;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// How the names of all records begin.
const RECORDS: &str = "key ";

/// Who knows the keys of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Sessions {
    /// Clients and services alone: servers have shares of them, as of long-term keys
    #[default]
    Shared,
    /// Each server, too: tickets cost a third, and each server can act in every session of its time
    Servers,
}

impl fmt::Display for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shared => "shared",
            Self::Servers => "servers",
        })
    }
}

/// A realm's settings, as `kdc.toml` has them; the same for all servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The realm.
    pub realm: String,
    /// The encryption type of all its keys.
    pub enctype: Enctype,
    /// The protocol that servers run.
    pub protocol: String,
    /// Who knows the keys of sessions.
    #[serde(default)]
    pub sessions: Sessions,
    /// Where the front takes requests, by UDP and TCP.
    pub listen: String,
    /// Where the front takes an admin's orders.
    pub orders: String,
    /// Where each server takes what the front relays.
    pub servers: [String; 3],
    /// Seconds that a ticket lives at most.
    pub max_life: i64,
    /// Seconds for which a ticket may be renewed, and for which one that begins later may wait.
    #[serde(default = "renewable_life")]
    pub max_renewable_life: i64,
    /// Seconds after which a password gives no tickets any more; 0 for never.
    #[serde(default)]
    pub max_password_age: i64,
    /// Wrong passwords of one principal in a minute, after which it has to wait.
    #[serde(default = "wrong_passwords")]
    pub max_wrong_passwords: usize,
    /// Seconds that a client's clock may differ from the servers'.
    pub max_skew: i64,
    /// Bytes that a reply by UDP may have.
    pub max_datagram: usize,
    /// Datagrams that wait, and links, that the front takes of one address at a time.
    #[serde(default = "of_address")]
    pub max_of_address: usize,
    /// Requests that go together in a run, 256 at most: the more they may be, the longer servers compile before they serve.
    #[serde(default = "of_a_run")]
    pub max_together: usize,
    /// Seconds between two times at which servers that serve give all keys fresh shares: at multiples of it from 1970 on, in UTC; 0
    /// for never.
    #[serde(default)]
    pub refresh_every: i64,
}

/// Seconds between two times at which keys get fresh shares, at most: a year's.
const MOST_BETWEEN: i64 = 366 * 24 * 3600;

fn renewable_life() -> i64 {
    7 * 24 * 3600
}

fn wrong_passwords() -> usize {
    10
}

fn of_address() -> usize {
    64
}

fn of_a_run() -> usize {
    MAX_BATCH
}

impl Settings {
    /// Reads them.
    ///
    /// # Errors
    /// If the file can't be read or isn't as it should be.
    pub fn load(path: &Path) -> io::Result<Self> {
        let wrong = |error: toml::de::Error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()))
        };
        let settings: Self =
            toml::from_str(&fs::read_to_string(path).map_err(|error| about(path, &error))?).map_err(wrong)?;
        if !(1..=MAX_BATCH).contains(&settings.max_together) {
            let told = format!("{}: max_together has to be 1 to {MAX_BATCH}", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, told));
        }
        if !(0..=MOST_BETWEEN).contains(&settings.refresh_every) {
            let told = format!("{}: refresh_every has to be 0 to {MOST_BETWEEN} seconds", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, told));
        }
        Ok(settings)
    }
}

fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// What is known of a principal. Its keys aren't: those are kept as shares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Principal {
    /// The version of its newest key.
    pub kvno: u64,
    /// What the record of that key is kept as.
    pub record: String,
    /// What a password is hashed with; nothing of keys of no password.
    pub salt: String,
    /// How often it is hashed; 0 of keys of no password.
    #[serde(default)]
    pub iterations: u32,
    /// Whether it gets no tickets, nor anybody one for it.
    pub revoked: bool,
    /// Since when there is one of this name, in seconds since 1970: tickets of another one before it are none of its.
    pub since: i64,
    /// Since when it has its newest key.
    pub keyed: i64,
    /// Keys that tickets may still be sealed under.
    pub old: Vec<OldKey>,
}

/// A key that another one has replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OldKey {
    /// Its version.
    pub kvno: u64,
    /// What its record is kept as.
    pub record: String,
    /// When all tickets under it have ended, in seconds since 1970.
    pub until: i64,
}

impl Principal {
    /// What the record of a key of this version is kept as, if tickets under it can still be good.
    pub fn key(&self, kvno: i64, now: i64) -> Option<&str> {
        if u64::try_from(kvno) == Ok(self.kvno) {
            return Some(&self.record);
        }
        let old = self.old.iter().find(|old| u64::try_from(kvno) == Ok(old.kvno) && old.until > now);
        old.map(|old| old.record.as_str())
    }
}

/// An order that was carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carried {
    /// Its number: an order is later than those with lesser ones.
    pub number: u128,
    /// As the admin signed it.
    pub sent: String,
}

/// The last orders of each kind that were carried out of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orders {
    /// That struck it off.
    #[serde(default)]
    pub deleted: Carried,
    /// That gave it a key.
    #[serde(default)]
    pub key: Carried,
    /// That locked or unlocked it.
    #[serde(default)]
    pub lock: Carried,
}

impl Orders {
    /// In the order in which they can be carried out: a name that was struck off may have come again since.
    pub fn in_turn(&self) -> [&str; 3] {
        [&self.deleted, &self.key, &self.lock].map(|carried| carried.sent.as_str())
    }
}

/// All principals of a realm, by name, and the versions of the last keys of those that were struck off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Principals {
    live: BTreeMap<String, Principal>,
    gone: BTreeMap<String, u64>,
    /// Records of keys whose orders have begun: whether they were carried out is found out of the other servers.
    #[serde(default)]
    begun: BTreeSet<String>,
    /// Records of keys that have ended, which are to be dropped.
    #[serde(default)]
    ended: BTreeSet<String>,
    /// What was carried out of each name.
    #[serde(default)]
    orders: BTreeMap<String, Orders>,
}

impl Principals {
    /// Reads them; none if there is no file.
    ///
    /// # Errors
    /// If the file can't be read or isn't as it should be.
    pub fn load(path: &Path) -> io::Result<Self> {
        match fs::read(path) {
            Ok(bytes) => Ok(Self::read(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(about(path, &error)),
        }
    }

    /// Reads them from a file's bytes.
    ///
    /// # Errors
    /// If they are none.
    pub fn read(bytes: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(bytes)
    }

    /// A file's bytes.
    ///
    /// # Errors
    /// Never, of what they hold.
    pub fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec_pretty(self)
    }

    /// Writes them, durably: the file is the old one or the new one, whenever the machine stops.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let new = path.with_extension("new");
        let mut file = File::create(&new)?;
        file.write_all(&self.to_bytes()?)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
    }

    /// The principal of a name.
    pub fn find(&self, name: &Name) -> Option<&Principal> {
        self.live.get(&name.text()?)
    }

    /// The principal of a name's text.
    pub fn get(&self, name: &str) -> Option<&Principal> {
        self.live.get(name)
    }

    /// The principal of a name's text.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Principal> {
        self.live.get_mut(name)
    }

    /// All of them, with their names.
    pub fn all(&self) -> impl Iterator<Item = (&String, &Principal)> {
        self.live.iter()
    }

    /// Gives a principal a key of the version that an order says, which is greater than the last one's: a new principal, or one
    /// that has others. Tickets under those may be good for `life` more seconds.
    pub fn put_key(
        &mut self,
        name: &str,
        (kvno, record): (u64, String),
        (salt, iterations): (String, u32),
        at: i64,
        life: i64,
    ) {
        // Whatever was noted of it, it is a key now.
        self.forget(&record);
        if let Some(principal) = self.live.get_mut(name) {
            let record = std::mem::replace(&mut principal.record, record);
            principal.old.push(OldKey { kvno: principal.kvno, record, until: at + life });
            (principal.kvno, principal.keyed) = (kvno, at);
            (principal.salt, principal.iterations) = (salt, iterations);
            return;
        }
        // Of a name that nobody has had before there are no tickets that could be another's.
        let since = if self.gone.contains_key(name) { at } else { 0 };
        let (revoked, old) = (false, Vec::new());
        let principal = Principal { kvno, record, salt, iterations, revoked, since, keyed: at, old };
        self.live.insert(name.to_owned(), principal);
    }

    /// Notes that an order has begun which keeps this record.
    pub fn begin(&mut self, record: &str) {
        self.begun.insert(record.to_owned());
    }

    /// Notes records that are kept and of which nothing is known, as begun: nothing may be under way. The other
    /// servers may have carried out their orders, and else they would stay for ever, never with fresh shares. Whether
    /// there are any.
    pub fn begin_strays(&mut self, kept: &BTreeSet<String>) -> bool {
        let keys = self.records();
        let is_known = |record: &&String| {
            keys.contains(*record) || self.begun.contains(*record) || self.ended.contains(*record)
        };
        let strays: Vec<String> =
            kept.iter().filter(|record| record.starts_with(RECORDS) && !is_known(record)).cloned().collect();
        self.begun.extend(strays.iter().cloned());
        !strays.is_empty()
    }

    /// Notes that a record's key has ended, or that its order came to nothing.
    pub fn finish(&mut self, record: &str) {
        self.begun.remove(record);
        self.ended.insert(record.to_owned());
    }

    /// Forgets a record, once nothing is kept of it.
    pub fn forget(&mut self, record: &str) {
        self.begun.remove(record);
        self.ended.remove(record);
    }

    /// Records of orders that have begun and not ended: nobody's key is one of them.
    pub fn begun(&self) -> Vec<String> {
        self.begun.iter().cloned().collect()
    }

    /// Records that are to be dropped: nobody's key is one of them.
    pub fn ended(&self) -> Vec<String> {
        self.ended.iter().cloned().collect()
    }

    /// All names of which something is known.
    pub fn names(&self) -> BTreeSet<String> {
        self.live.keys().chain(self.orders.keys()).cloned().collect()
    }

    /// What was carried out of a name.
    pub fn orders(&self, name: &str) -> Orders {
        self.orders.get(name).cloned().unwrap_or_default()
    }

    /// The same, to be added to.
    pub fn orders_mut(&mut self, name: &str) -> &mut Orders {
        self.orders.entry(name.to_owned()).or_default()
    }

    /// The records of all keys, old ones, too.
    pub fn records(&self) -> BTreeSet<String> {
        let old = |principal: &Principal| principal.old.clone().into_iter().map(|old| old.record);
        self.live.values().flat_map(|principal| old(principal).chain([principal.record.clone()])).collect()
    }

    /// The records of keys whose principals aren't any more as they were: they have another key, are locked or unlocked, or were
    /// struck off; and of old keys that have ended.
    pub fn changed_since(&self, before: &Self) -> BTreeSet<String> {
        let mut changed = BTreeSet::new();
        for (name, was) in &before.live {
            let of = |principal: &Principal| (principal.record.clone(), principal.revoked, principal.since);
            let now = self.live.get(name).filter(|now| of(now) == of(was));
            if now.is_none() {
                changed.insert(was.record.clone());
            }
            let has_ended = |old: &&OldKey| now.is_none_or(|now| !now.old.contains(old));
            changed.extend(was.old.iter().filter(has_ended).map(|old| old.record.clone()));
        }
        changed
    }

    /// Strikes one off: the records of its keys. Its name's next key has a greater version.
    pub fn remove(&mut self, name: &str) -> Vec<String> {
        let Some(Principal { kvno, record, old, .. }) = self.live.remove(name) else { return Vec::new() };
        self.gone.insert(name.to_owned(), kvno);
        [record].into_iter().chain(old.into_iter().map(|old| old.record)).collect()
    }

    /// Forgets keys under which no ticket can be good any more: their records.
    pub fn expire(&mut self, now: i64) -> Vec<String> {
        let mut records = Vec::new();
        for principal in self.live.values_mut() {
            let (good, ended) =
                std::mem::take(&mut principal.old).into_iter().partition(|old| old.until > now);
            principal.old = good;
            let ended: Vec<OldKey> = ended;
            records.extend(ended.into_iter().map(|old| old.record));
        }
        records
    }

    /// The least version that the next key of this name may have.
    pub fn next_kvno(&self, name: &str) -> u64 {
        let last = self.live.get(name).map(|principal| principal.kvno);
        last.or_else(|| self.gone.get(name).copied()).unwrap_or(0) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principals_come_back_from_their_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("principals.json");
        let mut principals = Principals::load(&path).unwrap();
        assert_eq!(principals, Principals::default());
        principals.put_key("ann", (2, "key 1f".into()), ("R1ann".into(), 4096), 100, 50);
        principals.put_key("ann", (7, "key 20".into()), ("R1ann".into(), 4096), 200, 50);
        principals.begin("key 30");
        principals.begin("key 31");
        principals.put_key("ann", (8, "key 30".into()), ("R1ann".into(), 4096), 200, 50);
        principals.save(&path).unwrap();
        assert_eq!(principals.begun(), ["key 31"]);
        principals.finish("key 31");
        assert!(principals.begun().is_empty() && principals.ended() == ["key 31"]);
        principals.forget("key 31");
        assert!(principals.ended().is_empty());
        principals.orders_mut("ben").deleted = Carried { number: 1 << 100, sent: "sent".into() };
        principals.save(&path).unwrap();
        assert!(principals.names().iter().eq(["ann", "ben"]));
        assert_eq!(Principals::load(&path).unwrap(), principals);
        let ann = Name::of_text("ann").unwrap();
        assert_eq!(principals.find(&ann).unwrap().kvno, 8);
        assert!(principals.find(&Name { kind: 1, parts: vec!["a[1]".into()] }).is_none());
        fs::write(&path, b"{\"ann\": {}}").unwrap();
        assert!(Principals::load(&path).is_err());
    }

    #[test]
    fn what_is_kept_of_no_order_that_is_known_counts_as_begun() {
        let mut principals = Principals::default();
        principals.put_key("ann", (1, "key 1".into()), (String::new(), 0), 100, 50);
        principals.put_key("ann", (2, "key 2".into()), (String::new(), 0), 100, 50);
        principals.begin("key 3");
        principals.finish("key 4");
        let kept = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let known = ["key 1", "key 2", "key 3", "key 4", "weights"];
        assert!(!principals.begin_strays(&kept(&known)));
        assert!(principals.begin_strays(&kept(&[&known[..], &["key 5"]].concat())));
        assert_eq!(principals.begun(), ["key 3", "key 5"]);
        assert_eq!(principals.ended(), ["key 4"]);
    }

    #[test]
    fn records_of_principals_that_have_changed_are_told() {
        let mut principals = Principals::default();
        for (kvno, name) in [(1, "ann"), (2, "ann"), (1, "ben")] {
            principals.put_key(name, (kvno, format!("{name} {kvno}")), (String::new(), 0), 100, 50);
        }
        let changed = |change: &dyn Fn(&mut Principals)| -> Vec<String> {
            let mut later = principals.clone();
            change(&mut later);
            later.changed_since(&principals).into_iter().collect()
        };
        let new = |name: &str| (3, format!("{name} 3"));
        assert!(changed(&|_| ()).is_empty());
        // What comes of other names changes nothing.
        assert!(changed(&|later| later.put_key("eve", new("eve"), (String::new(), 0), 120, 50)).is_empty());
        assert_eq!(
            changed(&|later| later.put_key("ann", new("ann"), (String::new(), 0), 120, 50)),
            ["ann 1", "ann 2"]
        );
        assert_eq!(changed(&|later| later.get_mut("ben").unwrap().revoked = true), ["ben 1"]);
        assert_eq!(changed(&|later| later.get_mut("ben").unwrap().since = 7), ["ben 1"]);
        assert_eq!(changed(&|later| drop(later.remove("ann"))), ["ann 1", "ann 2"]);
        assert_eq!(changed(&|later| drop(later.expire(150))), ["ann 1"]);
    }

    #[test]
    fn old_keys_live_as_long_as_tickets_and_versions_never_come_twice() {
        let mut principals = Principals::default();
        principals.put_key("ann", (1, "a".into()), (String::new(), 0), 100, 50);
        principals.get_mut("ann").unwrap().revoked = true;
        principals.put_key("ann", (2, "b".into()), (String::new(), 0), 200, 50);
        let ann = principals.get("ann").unwrap();
        assert!(ann.revoked && ann.since == 0, "a new key changes nothing else");
        assert_eq!(
            [(1, 249), (1, 250), (2, 999), (3, 0), (-1, 0)].map(|(kvno, now)| ann.key(kvno, now)),
            [Some("a"), None, Some("b"), None, None]
        );
        assert!(principals.expire(249).is_empty());
        assert_eq!(principals.expire(250), ["a"]);
        principals.put_key("ann", (3, "c".into()), (String::new(), 0), 300, 50);
        assert_eq!(principals.remove("ann"), ["c", "b"]);
        assert_eq!(["ann", "ben"].map(|name| principals.next_kvno(name)), [4, 1]);
        principals.put_key("ann", (4, "d".into()), (String::new(), 0), 400, 50);
        let ann = principals.get("ann").unwrap();
        assert!(!ann.revoked && ann.since == 400 && ann.old.is_empty());
    }
}
