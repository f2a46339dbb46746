//! What servers know of principals, held against what the others do.
//!
//! An order that breaks off as a server ends may be carried out at the others. Then the servers differ on its
//! principal. Here they tell one another what they know, and a server that lacks an order takes it if both others
//! have carried it out, one of whom is honest: if the admin signed it, if it is later than all that this server has
//! of the kind, and if this server has its share of the order's key. All that is said follows from what all were told
//! alike, so that all say the same.

#[cfg(test)]
mod tests;

use crate::failure::Failure;
use crate::messages::Name;
use crate::order::{self, AdminKey, Change, Order};
use crate::programs::TOLD;
use crate::realm::{Orders, Principals, Sessions, Settings};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a hash of some names' entries.
const HASH: usize = 32;
/// Names are told apart by their hashes, so that servers tell only of some names if they differ.
const BUCKETS: usize = TOLD / HASH;
/// Bytes of a list at most: whoever says more has others ask no further.
const MOST: u64 = 1 << 24;
/// Differences that are told one by one, and old keys of each.
const SHOWN: usize = 20;

/// What a server knows of a principal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// Of its newest key; nothing if there is no such principal.
    kvno: Option<u64>,
    record: String,
    revoked: bool,
    /// The versions of its old keys, if they count.
    old: BTreeSet<u64>,
    orders: Orders,
}

impl Entry {
    /// What must be alike.
    fn seen(&self) -> (Option<u64>, &str, bool, &BTreeSet<u64>) {
        (self.kvno, &self.record, self.revoked, &self.old)
    }
}

/// Entries by name.
pub(crate) type List = BTreeMap<String, Entry>;

/// Tells all servers some bytes, and hears what each of them told: [`TOLD`] bytes each.
pub(crate) type Tell<'t> = &'t mut dyn FnMut(&[u8]) -> Result<Vec<Vec<u8>>, Failure>;

/// Who holds lists against others.
pub(crate) struct Reader<'a> {
    pub(crate) me: usize,
    pub(crate) names: &'a [String],
    pub(crate) settings: &'a Settings,
    pub(crate) admin: &'a AdminKey,
    /// The records of which this server has its shares.
    pub(crate) holds: &'a BTreeSet<String>,
    /// Whether old keys count: requests don't go by them alone, and each server drops them by its own clock.
    pub(crate) old_too: bool,
    pub(crate) now: i64,
}

/// What came of lists.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    /// What was carried out here that others had carried out before.
    pub(crate) carried: Vec<String>,
    /// Records that ended with it.
    pub(crate) ended: Vec<String>,
    /// On what the servers differ still, and what to do.
    pub(crate) differ: Vec<String>,
}

impl Reader<'_> {
    /// What there is to say if no principals need be told of: nothing, if all know the same, and none of an order that broke
    /// off; or in which setting the servers differ. What was told may be of a while ago.
    pub(crate) fn first_look(
        &self,
        principals: &Principals,
        tell: Tell<'_>,
    ) -> Result<Option<Settled>, Failure> {
        let states = [u8::from(!principals.begun().is_empty()), self.settings.sessions as u8];
        let known = Sha256::digest(hashes(&list_of(principals, self.old_too)).concat());
        let told = tell(&[&known[..], &states].concat())?;
        if let Some(differ) = self.sessions_differ(&told) {
            return Ok(Some(Settled { differ: vec![differ], ..Settled::default() }));
        }
        let none_broke_off = told.iter().all(|told| told.get(HASH) == Some(&0));
        let is_alike = none_broke_off && told.windows(2).all(|pair| pair[0] == pair[1]);
        Ok(is_alike.then(Settled::default))
    }

    /// Who says what of session keys, if not all say the same.
    fn sessions_differ(&self, told: &[Vec<u8>]) -> Option<String> {
        let said = |told: &Vec<u8>| told.get(HASH + 1).copied();
        if told.windows(2).all(|pair| said(&pair[0]) == said(&pair[1])) {
            return None;
        }
        let known = [Sessions::Shared, Sessions::Servers];
        let each = told.iter().enumerate().map(|(at, told)| {
            let own = known.into_iter().find(|sessions| said(told) == Some(*sessions as u8));
            format!("{} says {}", self.name(at), own.map_or("none".to_owned(), |own| format!("\"{own}\"")))
        });
        let each = each.collect::<Vec<_>>().join(", ");
        Some(format!(
            "of sessions in kdc.toml {each}; if so, requests are refused until all have the same: edit it and start those \
             servers again"
        ))
    }

    /// Carries out what both others have carried out and this server lacks, and says on what they differ after that.
    ///
    /// # Errors
    /// If the others don't answer, or with what is no list.
    pub(crate) fn settle(&self, principals: &mut Principals, tell: Tell<'_>) -> Result<Settled, Failure> {
        let Some(lists) = self.differing(principals, tell)? else { return Ok(Settled::default()) };
        let mut settled = self.carry_forward(&lists, principals);
        if let Some(lists) = self.differing(principals, tell)? {
            settled.differ = self.differences(&lists);
        }
        Ok(settled)
    }

    /// The lists of all servers, of some names, if they aren't alike.
    fn differing(&self, principals: &Principals, tell: Tell<'_>) -> Result<Option<Vec<List>>, Failure> {
        let mut own = list_of(principals, self.old_too);
        let told = tell(&hashes(&own).concat())?;
        let differ = |bucket: &usize| {
            let at = bucket * HASH..(bucket + 1) * HASH;
            told.windows(2).any(|pair| pair[0].get(at.clone()) != pair[1].get(at.clone()))
        };
        let differ: BTreeSet<usize> = (0..BUCKETS).filter(differ).collect();
        if differ.is_empty() {
            return Ok(None);
        }
        own.retain(|name, _| differ.contains(&bucket_of(name)));
        let bytes = serde_json::to_vec(&own).map_err(|error| Failure::Refused(error.to_string()))?;
        let lengths = tell(&(bytes.len() as u64).to_le_bytes())?;
        let length = |told: &Vec<u8>| told.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
        let lengths: Vec<u64> = lengths.iter().map(length).collect();
        let most = lengths.iter().copied().max().unwrap_or_default();
        if most > MOST {
            return Err(Failure::Refused(format!("a server says that its list has {most} bytes")));
        }
        let mut all = vec![Vec::new(); lengths.len()];
        for part in 0..most.div_ceil(TOLD as u64) as usize {
            let own = bytes.chunks(TOLD).nth(part).unwrap_or_default();
            all.iter_mut().zip(tell(own)?).for_each(|(list, told)| list.extend(told));
        }
        let read = |(at, (mut bytes, length)): (usize, (Vec<u8>, u64))| {
            bytes.truncate(length as usize);
            let wrong = |what| Failure::Refused(format!("{} told {what}", self.name(at)));
            let list: List = serde_json::from_slice(&bytes).map_err(|_| wrong("no list"))?;
            // They are shown, in logs too.
            if list.keys().any(|name| Name::of_text(name).is_none()) {
                return Err(wrong("a list with a name that no principal can have"));
            }
            Ok(list)
        };
        all.into_iter().zip(lengths).enumerate().map(read).collect::<Result<_, _>>().map(Some)
    }

    fn name(&self, server: usize) -> &str {
        self.names.get(server).map_or("a server", String::as_str)
    }

    /// Carries out what both others have carried out: nothing else, since one of them may lie.
    fn carry_forward(&self, lists: &[List], principals: &mut Principals) -> Settled {
        let mut settled = Settled::default();
        let others: Vec<&List> =
            lists.iter().enumerate().filter(|(at, _)| *at != self.me).map(|(_, list)| list).collect();
        let [first, second] = others[..] else { return settled };
        for (name, entry) in first {
            let Some(other) = second.get(name) else { continue };
            for (sent, same) in entry.orders.in_turn().into_iter().zip(other.orders.in_turn()) {
                let Some(order) = self.missed(name, sent, principals).filter(|_| sent == same) else {
                    continue;
                };
                let (ended, told) = order.carry_out(principals, sent, self.now, self.settings);
                settled.carried.push(format!("{name}: {told}, as both other servers have it"));
                settled.ended.extend(ended);
            }
        }
        settled
    }

    /// An order that this server can still carry out: of the admin, of this name, and later than what it has.
    fn missed(&self, name: &str, sent: &str, principals: &Principals) -> Option<Order> {
        let bytes = self.admin.open(&self.settings.realm, sent)?.as_bytes();
        let order = Order::read(bytes).ok().filter(|order| order.principal == name)?;
        let has_share = || self.holds.contains(&order::record(bytes));
        let fits = match order.change {
            Change::Key { kvno, .. } => kvno >= principals.next_kvno(name) && has_share(),
            Change::Lock | Change::Unlock => principals.get(name).is_some(),
            Change::Delete => true,
            Change::Version => false,
        };
        (fits && order.number > order.least(&principals.orders(name))).then_some(order)
    }

    /// What the servers differ on, in words, as far as there is room for it: any of them can make its list long.
    fn differences(&self, lists: &[List]) -> Vec<String> {
        let names: BTreeSet<&String> = lists.iter().flat_map(BTreeMap::keys).collect();
        let mut all = names.into_iter().filter_map(|name| self.difference(name, lists));
        let mut differ: Vec<String> = all.by_ref().take(SHOWN).collect();
        match all.count() {
            0 => {}
            more => differ.push(format!("and {more} more")),
        }
        differ
    }

    fn difference(&self, name: &str, lists: &[List]) -> Option<String> {
        let entries: Vec<Entry> =
            lists.iter().map(|list| list.get(name).cloned().unwrap_or_default()).collect();
        if entries.windows(2).all(|pair| pair[0].seen() == pair[1].seen()) {
            return None;
        }
        let each = |say: &dyn Fn(&Entry) -> String| {
            let says =
                entries.iter().enumerate().map(|(at, entry)| format!("{} {}", self.name(at), say(entry)));
            says.collect::<Vec<_>>().join(", ")
        };
        let differ =
            |part: &dyn Fn(&Entry) -> String| entries.windows(2).any(|pair| part(&pair[0]) != part(&pair[1]));
        let version =
            |entry: &Entry| entry.kvno.map_or("has none".to_owned(), |kvno| format!("has version {kvno}"));
        Some(if differ(&|entry| format!("{:?} {}", entry.kvno, entry.record)) {
            format!(
                "{name}: of its key {}; a server can't get its share of a key from the others, so give it a \
                 new key that all take (tacit-kdc rotate), and then, but for krbtgt, its own (passwd, ktadd or \
                 import-keytab), or delete it if it is to go",
                each(&version)
            )
        } else if differ(&|entry| entry.revoked.to_string()) {
            let locked =
                |entry: &Entry| if entry.revoked { "has it locked" } else { "has it unlocked" }.to_owned();
            format!("{name}: {}; repeat the order (tacit-kdc lock or unlock)", each(&locked))
        } else {
            let old = |entry: &Entry| {
                let (shown, all) = (entry.old.iter().take(SHOWN).collect::<Vec<_>>(), entry.old.len());
                format!("has {shown:?}{}", if all > SHOWN { format!(" of {all}") } else { String::new() })
            };
            format!(
                "{name}: of its old keys {}; wait until they end with the first order after their tickets, or delete it and \
                 add it again",
                each(&old)
            )
        })
    }
}

/// What a server knows of principals, old keys counted or not.
fn list_of(principals: &Principals, old_too: bool) -> List {
    let old = |name: &str| {
        let old = principals.get(name).filter(|_| old_too).map(|principal| principal.old.iter());
        old.into_iter().flatten().map(|old| old.kvno).collect()
    };
    let of = |name: String| {
        let (live, orders) = (principals.get(&name), principals.orders(&name));
        let entry = Entry {
            kvno: live.map(|live| live.kvno),
            record: live.map(|live| live.record.clone()).unwrap_or_default(),
            revoked: live.is_some_and(|live| live.revoked),
            old: old(&name),
            orders,
        };
        (name, entry)
    };
    principals.names().into_iter().map(of).collect()
}

/// All that a server knows.
pub(crate) fn of(principals: &Principals) -> List {
    list_of(principals, true)
}

/// A hash of the entries of each bucket.
fn hashes(list: &List) -> Vec<[u8; HASH]> {
    let mut hashes = vec![Sha256::new(); BUCKETS];
    for (name, entry) in list {
        // What is neither there nor has an old key is as if nobody had heard of it.
        if entry.seen() != Entry::default().seen() {
            hashes[bucket_of(name)].update(format!("{name:?} {:?};", entry.seen()));
        }
    }
    hashes.into_iter().map(|hash| hash.finalize().into()).collect()
}

fn bucket_of(name: &str) -> usize {
    usize::from(Sha256::digest(name).first().copied().unwrap_or_default()) % BUCKETS
}
