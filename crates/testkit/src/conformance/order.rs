//! Who may release what, and after what: a protocol's release-order table, and a party that withholds each entry.
//!
//! **Why.** A coin, a point, a seed or an opening lets its receiver choose what it sends next. So none may leave before
//! everyone who verifies holds all that the checked statement depends on. Altered messages don't show a mistake here: a
//! prover withheld one verifier's message, got its point from the other one, and then chose what to send.
//!
//! **How.** The table says of each release which messages it waits for, and at which holders. One message that a release
//! waits for is withheld, and all that follows it in its order on its link; what stands aside of it passes, and so does
//! everything else, signs of life included. The release must then not be sent by anyone but the one that withholds. Each
//! such pair of messages of an honest run is tried, so all rotations of the parties are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use tacit_net::At;

use crate::{Case, Draws, Fate, Interceptor};

/// A message by its place: who sent it to whom, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sent {
    /// Who sent it.
    pub from: usize,
    /// Who holds it once it has come.
    pub to: usize,
    /// Its address.
    pub at: At,
}

/// An entry of a protocol's release-order table.
#[derive(Clone, Copy)]
pub struct Release {
    /// What is released.
    pub what: &'static str,
    /// What it waits for, and where that must be.
    pub after: &'static str,
    /// Whether a message is this release.
    pub is: fn(Sent) -> bool,
    /// Whether this release (first) waits until another message (second) is where that goes to.
    pub waits_for: fn(Sent, Sent) -> bool,
}

/// A release that left though something that it waits for was withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Early {
    /// Of which entry.
    pub what: &'static str,
    /// What left.
    pub released: Sent,
    /// What was withheld.
    pub withheld: Sent,
}

/// What was tried, and what left early.
#[derive(Debug, Default)]
pub struct Tried {
    /// Pairs of messages by entry: its number in the table.
    pub pairs: BTreeMap<usize, usize>,
    /// Releases that left early.
    pub early: Vec<Early>,
}

/// Withholds each message that a release of this table waits for, one a run; every `stride`-th of an entry's, if there are
/// many. `corrupt` says whose messages are withheld; all parties' in turn, if it is `None`.
pub fn withheld(case: &Case, table: &[Release], stride: usize, corrupt: Option<usize>) -> Tried {
    let honest = case.run(&Draws::fixed(1));
    honest.outcomes();
    let sent: Vec<Sent> = honest
        .trace
        .deliveries()
        .iter()
        .map(|delivery| Sent { from: delivery.from, to: delivery.to, at: delivery.at })
        .collect();
    let mut pairs: BTreeMap<Sent, Vec<(usize, Sent)>> = BTreeMap::new();
    let mut tried = Tried::default();
    for (entry, release) in table.iter().enumerate() {
        let releases: Vec<Sent> = sent.iter().copied().filter(|&sent| (release.is)(sent)).collect();
        let mut waited: BTreeMap<Sent, Vec<(usize, Sent)>> = BTreeMap::new();
        for &released in &releases {
            for &held in
                sent.iter().filter(|held| released.from != held.from && (release.waits_for)(released, **held))
            {
                waited.entry(held).or_default().push((entry, released));
            }
        }
        let waited =
            waited.into_iter().filter(|(held, _)| corrupt.is_none_or(|corrupt| corrupt == held.from));
        for (held, released) in waited.step_by(stride) {
            *tried.pairs.entry(entry).or_default() += released.len();
            pairs.entry(held).or_default().extend(released);
        }
    }
    for (withheld, releases) in pairs {
        let left = left_without(case, withheld);
        let early = releases.into_iter().filter(|(_, released)| left.contains(released));
        tried.early.extend(early.map(|(entry, released)| Early {
            what: table[entry].what,
            released,
            withheld,
        }));
    }
    tried
}

/// Holds a protocol to its table, in these cases.
///
/// # Panics
/// If something leaves early, or an entry was tried in no case.
pub fn held_to(cases: &[Case], table: &[Release], stride: usize) {
    let mut entries = BTreeSet::new();
    for case in cases {
        let tried = withheld(case, table, stride, None);
        assert!(tried.early.is_empty(), "{} leaves early: {:?}", tried.early[0].what, tried.early[0]);
        entries.extend(tried.pairs.into_keys());
    }
    let missing: Vec<&str> =
        (0..table.len()).filter(|entry| !entries.contains(entry)).map(|entry| table[entry].what).collect();
    assert!(missing.is_empty(), "no case tries these entries: {missing:?}");
}

/// What is sent if a message is withheld, by whoever sends it.
fn left_without(case: &Case, withheld: Sent) -> BTreeSet<Sent> {
    let left: Arc<Mutex<BTreeSet<Sent>>> = Arc::default();
    let noted = Arc::clone(&left);
    let mut withholds = false;
    let interceptor: Interceptor = Box::new(move |message| {
        let sent = Sent { from: message.from, to: message.to, at: message.frame.at };
        withholds |= sent == withheld;
        let same_order = (sent.from, sent.to, sent.at.lane, sent.at.is_aside())
            == (withheld.from, withheld.to, withheld.at.lane, withheld.at.is_aside());
        if withholds && same_order {
            return Fate::Replace(vec![]);
        }
        noted.lock().unwrap_or_else(PoisonError::into_inner).insert(sent);
        Fate::Deliver
    });
    case.run_in(&case.world().intercept(interceptor), &Draws::fixed(1));
    let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut left)
}
