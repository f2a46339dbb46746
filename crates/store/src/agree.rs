//! Which material a run uses: the same at all parties. Nothing here does I/O.

use std::collections::{BTreeMap, BTreeSet};

use crate::Epoch;

/// Epochs with unused material that a store has, and that a list may name.
pub const MAX_EPOCHS: usize = 1 << 10;

/// Bytes for each epoch in an encoded list.
const ENTRY: usize = 48;

/// The longest list of epochs as a message.
pub const MAX_LIST_BYTES: usize = ENTRY * MAX_EPOCHS;

/// An epoch of which a party has unused material on a shelf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Available {
    /// The epoch.
    pub epoch: Epoch,
    /// Its first unused instance; all after it are unused.
    pub next: u64,
    /// How many instances it was made with.
    pub count: u64,
}

/// What a run uses: some instances, one after another, of a shelf of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The epoch.
    pub epoch: Epoch,
    /// The shelf.
    pub shelf: u64,
    /// The first instance.
    pub first: u64,
    /// How many.
    pub instances: u64,
}

/// What a run wants of a shelf, and every party's list of what it has there, with its name.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// The shelf.
    pub shelf: u64,
    /// How many instances.
    pub instances: u64,
    /// What the parties have.
    pub lists: Vec<(&'a str, &'a [Available])>,
    /// What people call what lies there.
    pub unit: Unit,
}

/// What people call the instances of a shelf, and how many of it one instance has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Such as `triples`; empty for material of one plan.
    pub name: String,
    /// How many are in an instance; none for material of one plan.
    pub each: u64,
}

impl Unit {
    fn unused(&self) -> &str {
        if self.name.is_empty() { "material for this program" } else { &self.name }
    }

    fn count(&self, instances: u64) -> String {
        match self.each {
            0 => format!("{instances} instances"),
            each => format!("{} {}", instances.saturating_mul(each), self.name),
        }
    }
}

/// Bytes that are no list of epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAList {
    /// Not a whole number of entries, or more than [`MAX_EPOCHS`].
    #[error("{len} bytes are no list of up to {MAX_EPOCHS} epochs")]
    Length {
        /// How many bytes came.
        len: usize,
    },
    /// Epochs aren't ascending.
    #[error("the list's epochs are not in order, or one comes twice")]
    Order,
    /// An epoch has nothing unused.
    #[error("epoch {epoch} is in the list, and has nothing unused")]
    Nothing {
        /// The epoch.
        epoch: Epoch,
    },
}

/// Why the parties have no common material for a run. Every text says who lacks what.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoAgreement {
    /// Some have none at all.
    #[error("{} {} no unused {}; `tacit offline`, run by all parties together, makes some", .parties.join(" and "), if .parties.len() == 1 { "has" } else { "have" }, .unit.unused())]
    None {
        /// Who has none.
        parties: Vec<String>,
        /// Of what.
        unit: Unit,
    },
    /// Everybody has some, and there is no epoch that all have.
    #[error("no epoch's material is unused at all parties: most have epoch {epoch}, and {} {} not; `tacit offline`, run by all parties together, makes more", .parties.join(" and "), if .parties.len() == 1 { "does" } else { "do" })]
    Apart {
        /// An epoch that as many as possible have.
        epoch: Epoch,
        /// Who doesn't have it.
        parties: Vec<String>,
    },
    /// No common epoch has enough left.
    #[error(
        "{} are wanted, and no epoch has more than {} that are unused at all parties (of epoch {epoch}, {party} has used the most); `tacit offline`, run by all parties together, makes more",
        .unit.count(*.wanted), .unit.each.max(1).saturating_mul(*.left)
    )]
    TooFew {
        /// What instances are.
        unit: Unit,
        /// How many are wanted.
        wanted: u64,
        /// How many are left at most.
        left: u64,
        /// In which epoch.
        epoch: Epoch,
        /// Who has used most of it.
        party: String,
    },
    /// There is enough of everything, but of one thing in one epoch and of another in another.
    #[error(
        "no epoch has enough of all that is wanted; `tacit offline`, run by all parties together, makes more"
    )]
    NotInOne,
    /// Keys that are the same at all were checked more often elsewhere.
    #[error(
        "{} {} set back: the key of epoch {epoch} has had more checks than {} of. Nothing of it is used. Find out who restored an older copy, delete it, and let all parties run `tacit offline` anew",
        .parties.iter().map(|name| format!("the store of {name}")).collect::<Vec<_>>().join(" and "),
        if .parties.len() == 1 { "was" } else { "were" },
        if .parties.len() == 1 { "it knows" } else { "they know" }
    )]
    SetBack {
        /// The epoch.
        epoch: Epoch,
        /// Whose stores know of fewer checks.
        parties: Vec<String>,
    },
    /// Parties speak of one epoch and mean two.
    #[error("of epoch {epoch}, {} made {} instances and {} made {}; somebody's store is not what that offline session made", parties[0].0, parties[0].1, parties[1].0, parties[1].1)]
    Counts {
        /// The epoch.
        epoch: Epoch,
        /// Two parties and what they say.
        parties: [(String, u64); 2],
    },
}

impl NoAgreement {
    /// Whether there is only too little, and nobody's store is another than it should be.
    pub fn is_lack(&self) -> bool {
        match self {
            Self::None { .. } | Self::Apart { .. } | Self::TooFew { .. } | Self::NotInOne => true,
            Self::SetBack { .. } | Self::Counts { .. } => false,
        }
    }
}

/// Picks the material for a run, given what it wants of some shelves: an epoch for all of them, and a range of each.
/// Whoever has the same lists, in whichever order, picks the same: of the epochs that all have, the one with the fewest
/// instances left that suffice, and one that is to be taken `last` only if no other does; in it, from the first instance on
/// that nobody has used.
///
/// A party that lies about what it has used makes others burn material; it can't make them use any twice, since each
/// holds against its own journal and anchor what it is asked to take. Parties have to make sure that all were told the
/// same lists, as they do for everything that they agree on at the beginning of a session.
///
/// # Errors
/// [`NoAgreement`].
pub fn agree(wanted: &[Wanted<'_>], last: impl Fn(&Epoch) -> bool) -> Result<Vec<Run>, NoAgreement> {
    let mut all = Vec::with_capacity(wanted.len());
    for shelf in wanted {
        all.push(shelf.everybodys()?);
    }
    let Some(first) = all.first() else { return Ok(Vec::new()) };
    let left = |epoch: &Epoch| {
        let left =
            all.iter().zip(wanted).map(|(epochs, wanted)| Some(epochs.get(epoch)?.enough(wanted)?.left));
        left.sum::<Option<u64>>()
    };
    let fitting = first.keys().filter_map(|epoch| Some((last(epoch), left(epoch)?, epoch)));
    if let Some((.., epoch)) = fitting.min() {
        let run = |(epochs, wanted): (&BTreeMap<Epoch, Common>, &Wanted<'_>)| Run {
            epoch: *epoch,
            shelf: wanted.shelf,
            first: epochs[epoch].first,
            instances: wanted.instances,
        };
        return Ok(all.iter().zip(wanted).map(run).collect());
    }
    // The first shelf that lacks something says what is missing.
    let why = all.iter().zip(wanted).find_map(|(epochs, wanted)| wanted.refusal(epochs));
    // Each has an epoch of its own that would do.
    Err(why.unwrap_or(NoAgreement::NotInOne))
}

/// Whether all parties know of the same number of checks of an epoch's key, given what [`Store::checked_keys`] gives at each,
/// with its name. Each check takes every party's message, which leaves it when its journal has the check; and if the check has
/// no verdict there, its epoch is destroyed. So whoever has the epoch and knows of fewer has an older copy, or others lie.
///
/// [`Store::checked_keys`]: crate::Store::checked_keys
///
/// # Errors
/// [`NoAgreement::SetBack`], with all who know of fewer than another.
pub fn same_checks(epoch: Epoch, lists: &[(&str, &[Available])]) -> Result<(), NoAgreement> {
    // A store that isn't sound doesn't list its key.
    let checks = |list: &[Available]| {
        list.iter().find(|own| own.epoch == epoch).map_or(0, |own| own.next.saturating_add(1))
    };
    let most = lists.iter().map(|(_, list)| checks(list)).max().unwrap_or(0).max(1);
    let behind = lists.iter().filter(|(_, list)| checks(list) < most);
    let parties: Vec<String> = behind.map(|(name, _)| (*name).to_owned()).collect();
    if parties.is_empty() { Ok(()) } else { Err(NoAgreement::SetBack { epoch, parties }) }
}

impl Wanted<'_> {
    /// What all together have of each epoch of the shelf.
    fn everybodys(&self) -> Result<BTreeMap<Epoch, Common>, NoAgreement> {
        let without = self.lists.iter().filter(|(_, list)| list.is_empty());
        let without: Vec<String> = without.map(|(name, _)| (*name).to_owned()).collect();
        if !without.is_empty() || self.lists.is_empty() {
            return Err(NoAgreement::None { parties: without, unit: self.unit.clone() });
        }
        let epochs = self.lists.iter().flat_map(|(_, list)| list.iter().map(|own| own.epoch));
        let epochs = epochs.collect::<BTreeSet<Epoch>>().into_iter();
        epochs.map(|epoch| Ok((epoch, Common::of(&self.lists, epoch)?))).collect()
    }

    /// Why no epoch of the shelf suffices; `None` if one does.
    fn refusal(&self, epochs: &BTreeMap<Epoch, Common>) -> Option<NoAgreement> {
        if epochs.values().any(|common| common.enough(self).is_some()) {
            return None;
        }
        let common = epochs.iter().filter(|(_, common)| common.without.is_empty());
        if let Some((epoch, most)) = common.max_by_key(|(_, common)| common.left) {
            let (wanted, left, party) = (self.instances, most.left, most.furthest.clone());
            let unit = self.unit.clone();
            return Some(NoAgreement::TooFew { wanted, left, epoch: *epoch, party, unit });
        }
        let (epoch, nearest) = epochs.iter().min_by_key(|(_, common)| common.without.len())?;
        Some(NoAgreement::Apart { epoch: *epoch, parties: nearest.without.clone() })
    }
}

/// What all parties together have of a shelf of an epoch.
struct Common {
    without: Vec<String>,
    /// The first instance that nobody has used, and who has used those before it.
    first: u64,
    furthest: String,
    left: u64,
}

impl Common {
    fn of(lists: &[(&str, &[Available])], epoch: Epoch) -> Result<Self, NoAgreement> {
        let mut without = Vec::new();
        let mut furthest: Option<(&str, Available)> = None;
        for (name, list) in lists {
            let Some(own) = list.iter().find(|own| own.epoch == epoch) else {
                without.push((*name).to_owned());
                continue;
            };
            match furthest {
                Some((other, theirs)) if theirs.count != own.count => {
                    let parties = [(other.to_owned(), theirs.count), ((*name).to_owned(), own.count)];
                    return Err(NoAgreement::Counts { epoch, parties });
                }
                Some((_, theirs)) if theirs.next >= own.next => {}
                _ => furthest = Some((name, *own)),
            }
        }
        let (name, own) = furthest.unwrap_or(("", Available { epoch, next: 0, count: 0 }));
        let left = own.count.saturating_sub(own.next);
        Ok(Self { without, first: own.next, furthest: name.to_owned(), left })
    }

    /// Itself, if all have as much as is wanted.
    fn enough(&self, wanted: &Wanted<'_>) -> Option<&Self> {
        (self.without.is_empty() && self.left >= wanted.instances).then_some(self)
    }
}

/// A list as a message: 48 bytes for each epoch (its name, `next` and `count` as u64, little-endian), ascending.
pub fn encode(list: &[Available]) -> Vec<u8> {
    let mut list = list.to_vec();
    list.sort_unstable_by_key(|own| own.epoch);
    let entry = |own: &Available| {
        own.epoch.0.into_iter().chain(own.next.to_le_bytes()).chain(own.count.to_le_bytes())
    };
    list.iter().flat_map(entry).collect()
}

/// Reads a list that a peer sent.
///
/// # Errors
/// [`NotAList`], whatever the bytes; there is one encoding of each list.
pub fn decode(bytes: &[u8]) -> Result<Vec<Available>, NotAList> {
    let (entries, rest) = bytes.as_chunks::<ENTRY>();
    if !rest.is_empty() || entries.len() > MAX_EPOCHS {
        return Err(NotAList::Length { len: bytes.len() });
    }
    let list: Vec<Available> = entries.iter().map(entry).collect();
    if !list.is_sorted_by(|one, next| one.epoch < next.epoch) {
        return Err(NotAList::Order);
    }
    match list.iter().find(|own| own.next >= own.count) {
        Some(own) => Err(NotAList::Nothing { epoch: own.epoch }),
        None => Ok(list),
    }
}

fn entry(bytes: &[u8; ENTRY]) -> Available {
    let (mut epoch, mut next, mut count) = ([0; 32], [0; 8], [0; 8]);
    epoch.copy_from_slice(&bytes[..32]);
    next.copy_from_slice(&bytes[32..40]);
    count.copy_from_slice(&bytes[40..]);
    Available { epoch: Epoch(epoch), next: u64::from_le_bytes(next), count: u64::from_le_bytes(count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(epoch: u8, next: u64, count: u64) -> Available {
        Available { epoch: Epoch([epoch; 32]), next, count }
    }

    fn run(epoch: u8, first: u64, instances: u64) -> Run {
        Run { epoch: Epoch([epoch; 32]), shelf: 7, first, instances }
    }

    /// Of one shelf.
    fn agree(lists: &[(&str, &[Available])], instances: u64) -> Result<Run, NoAgreement> {
        let runs = super::agree(
            &[Wanted { shelf: 7, instances, lists: lists.to_vec(), unit: Unit::default() }],
            |_| false,
        )?;
        Ok(runs[0])
    }

    #[test]
    fn all_shelves_are_taken_from_one_epoch_that_suffices_for_all() {
        let [triples, bits] = [[own(1, 0, 9), own(2, 0, 9)], [own(1, 8, 9), own(2, 0, 9)]];
        let wanted = |triple, bit| {
            let lists = |list| vec![("P0", list), ("P1", list)];
            [
                Wanted { shelf: 7, instances: triple, lists: lists(&triples[..]), unit: Unit::default() },
                Wanted { shelf: 8, instances: bit, lists: lists(&bits[..]), unit: Unit::default() },
            ]
        };
        let of = |epoch, bits| {
            vec![
                run(epoch, 0, 2),
                Run { shelf: 8, first: bits, instances: 1 + u64::from(epoch == 2), ..run(epoch, 0, 0) },
            ]
        };
        assert_eq!(super::agree(&wanted(2, 1), |_| false), Ok(of(1, 8)));
        assert_eq!(super::agree(&wanted(2, 2), |_| false), Ok(of(2, 0)));
        // Not from the first, though it has less left; unless no other suffices.
        let first = |epoch: &Epoch| *epoch == Epoch([1; 32]);
        assert_eq!(super::agree(&wanted(2, 1), first).unwrap()[0].epoch, Epoch([2; 32]));
        assert_eq!(super::agree(&wanted(2, 2), |epoch| !first(epoch)), Ok(of(2, 0)));
        assert!(matches!(
            super::agree(&wanted(2, 10), |_| false),
            Err(NoAgreement::TooFew { wanted: 10, left: 9, .. })
        ));
        assert_eq!(super::agree(&[], |_| false), Ok(Vec::new()));
    }

    #[test]
    fn the_first_instance_that_nobody_has_used_is_taken() {
        let (a, b, c) = (&[own(1, 3, 10)][..], &[own(1, 0, 10)][..], &[own(1, 5, 10)][..]);
        let lists = [("P0", a), ("P1", b), ("P2", c)];
        assert_eq!(agree(&lists, 5), Ok(run(1, 5, 5)));
        let error = agree(&lists, 6).unwrap_err();
        assert!(matches!(&error, NoAgreement::TooFew { left: 5, party, .. } if party == "P2"));
        let says = error.to_string();
        assert!(
            says.contains("6 instances") && says.contains("P2 has used") && says.contains("tacit offline")
        );
    }

    #[test]
    fn all_pick_the_same_epoch_whatever_the_order_and_it_is_the_fullest_used_one_that_suffices() {
        let a = &[own(1, 0, 100), own(2, 6, 10), own(3, 9, 10), own(4, 2, 6)][..];
        let b = &[own(1, 0, 100), own(2, 0, 10), own(3, 0, 10), own(4, 0, 6), own(5, 0, 1)][..];
        for (instances, expected) in
            [(1, run(3, 9, 1)), (2, run(2, 6, 2)), (4, run(2, 6, 4)), (5, run(1, 0, 5))]
        {
            assert_eq!(agree(&[("P0", a), ("P1", b)], instances), Ok(expected));
            assert_eq!(agree(&[("P1", b), ("P0", a)], instances), Ok(expected));
        }
    }

    #[test]
    fn who_lacks_what_is_said() {
        let some = &[own(1, 0, 10), own(2, 0, 10)][..];
        let says = agree(&[("P0", some), ("P1", &[]), ("P2", &[])], 1).unwrap_err().to_string();
        assert!(says.starts_with("P1 and P2 have no unused material"), "{says}");
        let says = agree(&[("P0", some), ("P1", &some[1..]), ("P2", &some[..1])], 1).unwrap_err().to_string();
        assert!(says.contains(&Epoch([1; 32]).to_string()) && says.contains("P1 does not"), "{says}");
        let says = agree(&[("P0", some), ("P1", &[own(1, 2, 11)])], 1).unwrap_err().to_string();
        assert!(says.contains("P0 made 10 instances and P1 made 11"), "{says}");
        assert!(agree(&[], 1).is_err());
        assert!(agree(&[("P0", &[own(1, u64::MAX, 3)])], 1).is_err());
    }

    #[test]
    fn whoever_knows_of_fewer_checks_is_named() {
        let (one, two, none) = (&[own(1, 4, u64::MAX)][..], &[own(1, 6, u64::MAX)][..], &[][..]);
        let epoch = Epoch([1; 32]);
        let fresh = &[own(1, 0, u64::MAX)][..];
        for same in [one, fresh] {
            assert_eq!(same_checks(epoch, &[("P0", same), ("P1", same)]), Ok(()));
        }
        for (lists, names) in [
            ([("P0", two), ("P1", one), ("P2", two)], &["P1"][..]),
            ([("P0", none), ("P1", fresh), ("P2", fresh)], &["P0"]),
            ([("P0", none), ("P1", two), ("P2", one)], &["P0", "P2"]),
            ([("P0", none), ("P1", none), ("P2", none)], &["P0", "P1", "P2"]),
        ] {
            let error = same_checks(epoch, &lists).unwrap_err();
            let parties = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(error, NoAgreement::SetBack { epoch, parties });
            let says = error.to_string();
            assert!(names.iter().all(|name| says.contains(&format!("the store of {name}"))), "{says}");
        }
    }

    #[test]
    fn lists_come_back_and_others_are_refused() {
        let list = vec![own(1, 0, 10), own(2, 9, 10), own(9, u64::MAX - 1, u64::MAX)];
        let bytes = encode(&list);
        assert_eq!(decode(&bytes), Ok(list.clone()));
        assert_eq!(encode(&[list[2], list[0], list[1]]), bytes, "one encoding");
        assert_eq!(decode(&[]), Ok(Vec::new()));
        for len in (0..bytes.len()).filter(|len| len % ENTRY != 0) {
            assert_eq!(decode(&bytes[..len]), Err(NotAList::Length { len }));
        }
        assert_eq!(decode(&[&bytes[48..], &bytes[..48]].concat()), Err(NotAList::Order));
        assert_eq!(decode(&[&bytes[..48], &bytes[..48]].concat()), Err(NotAList::Order));
        assert!(matches!(decode(&encode(&[own(1, 10, 10)])), Err(NotAList::Nothing { .. })));
        let many = vec![0; (MAX_EPOCHS + 1) * ENTRY];
        assert!(matches!(decode(&many), Err(NotAList::Length { .. })));
    }
}
