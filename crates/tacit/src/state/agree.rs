//! What the parties tell one another of what they keep, and which value a run reads from that.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use tacit_store::KeptStanding as Standing;

/// Bytes of a message about kept values: more than all versions of a few hundred names take.
pub(crate) const MAX_TOLD_BYTES: usize = 1 << 22;

/// What a party tells of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    /// The number of the last version that there ever was; 0 if none.
    pub(crate) last: u64,
    /// Its versions, ascending.
    pub(crate) versions: Vec<ToldVersion>,
}

/// What a party tells of one version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ToldVersion {
    pub(crate) number: u64,
    pub(crate) standing: Standing,
    /// The run that kept it.
    pub(crate) session: [u8; 32],
    /// Names the value: a hash of what all may know of it, and of nothing else.
    pub(crate) value: [u8; 32],
}

impl Told {
    fn version(&self, number: u64) -> Option<&ToldVersion> {
        self.versions.iter().find(|version| version.number == number)
    }

    pub(crate) fn standing(&self, number: u64) -> Option<Standing> {
        self.version(number).map(|version| version.standing)
    }
}

/// The runs of which some party lacks a value that another one has pending. `told` has what each party told of the names that a
/// run reads or keeps. Nothing of theirs is read, unless some party knows that all had everything.
pub(crate) fn torn(told: &[&BTreeMap<String, Told>]) -> BTreeSet<[u8; 32]> {
    let has = |names: &BTreeMap<String, Told>, name: &str, number| {
        let standing = names.get(name).and_then(|told| told.standing(number));
        matches!(standing, Some(Standing::Pending | Standing::Settled))
    };
    let all = told
        .iter()
        .copied()
        .flatten()
        .flat_map(|(name, told)| told.versions.iter().map(move |one| (name, one)));
    let pending = all.filter(|(_, one)| one.standing == Standing::Pending);
    let torn = pending.filter(|(name, one)| !told.iter().all(|names| has(names, name, one.number)));
    torn.map(|(_, one)| one.session).collect()
}

/// The version of a name that a run reads: the one that is wanted, or the newest. The same at all parties, who have made sure
/// that they were told the same. `told` has what each party told, with its name.
///
/// The newest is the last one that some party knows all to have, or that all have indeed. If a party lacks it, or dropped it,
/// that party's disk is an old copy, or the others' are; no older version is read in its place.
///
/// # Errors
/// Why there is none, in words.
pub(crate) fn pick(
    name: &str,
    wanted: Option<u64>,
    told: &[(&str, &Told)],
    torn: &BTreeSet<[u8; 32]>,
) -> Result<u64, String> {
    let newest = newest(told, torn);
    let number = match wanted {
        Some(number) => number,
        None => newest.ok_or_else(|| {
            if told.iter().any(|(_, told)| told.last > 0) {
                format!("{name} was dropped, or never settled: no version of it is left")
            } else {
                format!("nothing is kept under the name {name:?}")
            }
        })?,
    };
    let those = |standing: Option<Standing>| -> Vec<&str> {
        let own = told.iter().filter(|(_, told)| told.standing(number) == standing);
        own.map(|(party, _)| *party).collect()
    };
    let (missing, dropped) = (those(None), those(Some(Standing::Dropped)));
    if dropped.len() == told.len() {
        return Err(format!("{name}@{number} was dropped"));
    }
    if !dropped.is_empty() {
        return Err(format!(
            "{name}@{number} was dropped by {}, and others have it still",
            dropped.join(", ")
        ));
    }
    if missing.len() == told.len() {
        return Err(format!("{name}@{number} isn't kept"));
    }
    if !missing.is_empty() {
        return Err(format!(
            "{} lacks {name}@{number}, which others have: its state is an older copy, or another's",
            missing.join(", ")
        ));
    }
    let versions: Vec<(&str, &ToldVersion)> =
        told.iter().filter_map(|(party, told)| Some((*party, told.version(number)?))).collect();
    let (first, own) = versions[0];
    if let Some((party, _)) = versions.iter().find(|(_, version)| version.value != own.value) {
        return Err(format!("{name}@{number} of {party} is another value than that of {first}"));
    }
    // A run settles what it begins with before it puts anything away.
    let is_without = |(_, told): &(&str, &Told)| {
        let later = newest.filter(|later| *later > number).and_then(|later| told.standing(later));
        told.standing(number) == Some(Standing::Pending) && later.is_some_and(|one| one != Standing::Dropped)
    };
    if told.iter().any(is_without) {
        return Err(format!("{name}@{number} was never settled, and what {name} is now was made without it"));
    }
    Ok(number)
}

/// The versions of a name that may be passed over where this one is settled: those after it, and after all that count. No party
/// that says so has settled them.
pub(crate) fn passable(number: u64, told: &[(&str, &Told)], torn: &BTreeSet<[u8; 32]>) -> BTreeSet<u64> {
    let last = newest(told, torn).max(Some(number));
    let all = told.iter().flat_map(|(_, told)| &told.versions).map(|version| version.number);
    all.filter(|later| Some(*later) > last).collect()
}

/// The version of a name after which the next one comes: the newest, if any is left. The same at all parties.
///
/// # Errors
/// Why nothing can be kept after it, as of [`pick`].
pub(crate) fn current(
    name: &str,
    told: &[(&str, &Told)],
    torn: &BTreeSet<[u8; 32]>,
) -> Result<Option<u64>, String> {
    let Some(number) = newest(told, torn) else { return Ok(None) };
    pick(name, Some(number), told, torn).map(Some)
}

/// The number of a name's next version: the one after the last that any party knows of.
///
/// # Errors
/// If a party says that there were far more than another knows of: it would use up the numbers.
pub(crate) fn next_version(name: &str, told: &[(&str, &Told)]) -> Result<u64, String> {
    let (least, last) = counts(told);
    if last - least >= MAX_JUMP {
        return Err(format!(
            "the parties know of {least} and of {last} versions of {name}, which is too far apart: who knows of fewer counts on \
             from here, so try again"
        ));
    }
    last.checked_add(1).ok_or_else(|| format!("{name} has no more versions"))
}

/// How many versions this party is to count at least, if they are too far apart for a next one; nothing if they aren't.
pub(crate) fn raised(told: &[(&str, &Told)], me: usize) -> Option<u64> {
    let (least, last) = counts(told);
    if last - least < MAX_JUMP {
        return None;
    }
    let own = told.get(me).map_or(0, |(_, told)| told.last);
    let others = told.iter().enumerate().filter(|(at, _)| *at != me).map(|(_, (_, told))| told.last);
    Some((least + MAX_JUMP).max(others.min().unwrap_or(0).min(own.saturating_add(MAX_BEHIND))))
}

/// The least and the greatest number of versions that a party knows of.
fn counts(told: &[(&str, &Told)]) -> (u64, u64) {
    let counts = || told.iter().map(|(_, told)| told.last);
    (counts().min().unwrap_or(0), counts().max().unwrap_or(0))
}

/// Versions that a party may know of beyond those that another does: runs that ended before the other noted theirs. Without a
/// bound one run with a party that lies would use up all numbers.
///
/// With it, nobody brings two parties that don't lie further apart than this, however many runs are broken off and whatever is
/// told, unless a folder is put back as it was before. A party's count never falls, and grows in three ways.
///
/// By a version that it puts away, or where it is [`raised`], it comes to this much more at most than the least that was told in
/// that run; what was told is no more than what another honest party counts itself, then or later. And it is raised to the least
/// that all others told, which is no more than what an honest one of them counts.
///
/// So once nobody lies there is a next version after two runs at most that are refused, if one party at most has lied. In the
/// first one who is behind all others comes up to one of them: who lied before may be far behind, and so is who has an old copy
/// of a folder. Then counts are less than this apart, and there is a next version; or just this, and all that hear it count the
/// same from then on, durably.
///
/// If all others have lied, the one that hasn't may be [`MAX_BEHIND`] further with each lie, and comes nearer to them by this with
/// each run.
///
/// Who lies of a name that nobody has leaves a short entry of it in the others' indexes, where they were about to keep it.
///
/// Numbers are used up no faster either: each run brings the greatest count of a party that doesn't lie up by this at most, and
/// 2^64 numbers last for 2^44 runs. Where counts are nearer nothing is written for it.
pub(super) const MAX_JUMP: u64 = 1 << 20;

/// Versions that a party comes up by at a time, where it is behind all others: if all of them lie, numbers last for 2^24 runs.
const MAX_BEHIND: u64 = 1 << 40;

/// The last version that counts: that some party knows all to have, that all have, with all that the same run kept, or that some
/// have and others have dropped.
fn newest(told: &[(&str, &Told)], torn: &BTreeSet<[u8; 32]>) -> Option<u64> {
    let mut numbers: Vec<u64> = told.iter().flat_map(|(_, told)| &told.versions).map(|v| v.number).collect();
    numbers.sort_unstable();
    let counts = |number: &u64| {
        let those =
            |standing| told.iter().filter(|(_, told)| told.standing(*number) == Some(standing)).count();
        let [settled, pending, dropped] =
            [Standing::Settled, Standing::Pending, Standing::Dropped].map(those);
        let is_torn = || {
            told.iter().any(|(_, told)| told.version(*number).is_some_and(|one| torn.contains(&one.session)))
        };
        settled > 0 || (pending == told.len() && !is_torn()) || (pending > 0 && dropped > 0)
    };
    numbers.into_iter().rev().find(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Standing::{Dropped, Pending, Settled};

    const NAMES: [&str; 3] = ["P0", "P1", "P2"];

    /// Three parties, and a standing for each version of each.
    fn told(standings: [&[Option<Standing>]; 3]) -> Vec<Told> {
        let party = |standings: &&[Option<Standing>]| {
            let version = |(at, standing): (usize, &Option<Standing>)| {
                let (number, id) = (at as u64 + 1, [at as u8; 32]);
                Some(ToldVersion { number, standing: (*standing)?, session: id, value: id })
            };
            Told { last: 9, versions: standings.iter().enumerate().filter_map(version).collect() }
        };
        standings.iter().map(party).collect()
    }

    fn picked(wanted: Option<u64>, told: &[Told]) -> Result<u64, String> {
        let told: Vec<_> = NAMES.into_iter().zip(told).collect();
        pick("w", wanted, &told, &BTreeSet::new())
    }

    #[test]
    fn the_newest_that_all_have_is_read_wherever_a_crash_came() {
        let (s, p) = (Some(Settled), Some(Pending));
        for (standings, number) in [
            // All wrote it, and some or none noted that all had.
            ([&[s, s][..], &[s, p], &[s, p]], 2),
            ([&[s, p], &[s, p], &[s, p]], 2),
            // Not all wrote it.
            ([&[s, p], &[s], &[s, p]], 1),
            ([&[s], &[s], &[s, p]], 1),
            ([&[s, s], &[s, s], &[s, s]], 2),
        ] {
            assert_eq!(picked(None, &told(standings)), Ok(number), "{standings:?}");
        }
        assert_eq!(picked(Some(1), &told([&[s, s], &[s, s], &[s, s]])), Ok(1));
    }

    #[test]
    fn an_old_copy_is_refused_and_no_older_version_is_read_in_its_place() {
        let (s, d) = (Some(Settled), Some(Dropped));
        for (standings, says) in [
            ([&[s, s][..], &[s], &[s, s]], "P1 lacks w@2"),
            ([&[s, s], &[], &[s, s]], "P1 lacks w@2"),
            ([&[s, s], &[s, d], &[s, s]], "w@2 was dropped by P1"),
            ([&[s, d], &[s, Some(Pending)], &[s, Some(Pending)]], "w@2 was dropped by P0"),
            ([&[d], &[d], &[d]], "no version of it is left"),
        ] {
            let refused = picked(None, &told(standings)).unwrap_err();
            assert!(refused.contains(says), "{refused}");
        }
        let all = || told([&[s, d], &[s, d], &[s, d]]);
        assert_eq!(picked(None, &all()), Ok(1));
        assert!(picked(Some(2), &all()).unwrap_err().contains("w@2 was dropped"));
        assert!(picked(Some(3), &all()).unwrap_err().contains("w@3 isn't kept"));
        let none = [Told::default(), Told::default(), Told::default()];
        assert!(picked(None, &none).unwrap_err().contains("nothing is kept under the name \"w\""));
    }

    /// A run kept the second version of both names, and one party says that it has only one of them.
    #[test]
    fn what_one_run_kept_is_read_together_or_not_at_all() {
        let (s, p) = (Some(Settled), Some(Pending));
        let whole: [&[Option<Standing>]; 3] = [&[s, p], &[s, p], &[s, p]];
        let both = |x: [&[Option<Standing>]; 3], y: [&[Option<Standing>]; 3]| -> Vec<Result<u64, String>> {
            let (x, y) = (told(x), told(y));
            let names = |(x, y): (&Told, &Told)| {
                [("x", x), ("y", y)].map(|(name, told)| (name.to_owned(), told.clone()))
            };
            let all: Vec<BTreeMap<String, Told>> = x.iter().zip(&y).map(|both| names(both).into()).collect();
            let torn = torn(&all.iter().collect::<Vec<_>>());
            let pick =
                |told: &Vec<Told>| pick("w", None, &NAMES.into_iter().zip(told).collect::<Vec<_>>(), &torn);
            [&x, &y].map(pick).into()
        };
        assert_eq!(both(whole, whole), [Ok(2), Ok(2)]);
        assert_eq!(both(whole, [&[s, p], &[s, p], &[s]]), [Ok(1), Ok(1)]);
        // Somebody knows that all had both.
        let refused = both([&[s, s], &[s, p], &[s, p]], [&[s, s], &[s, p], &[s]]);
        assert_eq!(refused[0], Ok(2));
        assert!(refused[1].as_ref().is_err_and(|says| says.contains("P2 lacks w@2")), "{refused:?}");
    }

    #[test]
    fn numbers_are_not_used_up_at_once() {
        let next = |last: [u64; 3]| {
            let told = last.map(|last| Told { last, versions: Vec::new() });
            next_version("w", &NAMES.into_iter().zip(&told).collect::<Vec<_>>())
        };
        assert_eq!(next([0, 0, 0]), Ok(1));
        assert_eq!(next([7, 9, 8]), Ok(10));
        assert_eq!(next([7, MAX_JUMP + 6, 8]), Ok(MAX_JUMP + 7));
        for last in [MAX_JUMP + 7, u64::MAX] {
            let refused = next([7, last, 8]).unwrap_err();
            assert!(refused.contains(&format!("of 7 and of {last} versions of w")), "{refused}");
        }
        assert!(next([u64::MAX; 3]).unwrap_err().contains("no more versions"));
    }

    #[test]
    fn counts_that_are_too_far_apart_come_nearer_and_no_others() {
        let each = |last: [u64; 3]| {
            let told = last.map(|last| Told { last, versions: Vec::new() });
            [0, 1, 2].map(|me| raised(&NAMES.into_iter().zip(&told).collect::<Vec<_>>(), me))
        };
        let (jump, most) = (MAX_JUMP, u64::MAX);
        assert_eq!([each([7, 9, 8]), each([7, jump + 6, 8]), each([most; 3])], [[None; 3]; 3]);
        assert_eq!(each([7, jump + 7, 8]), [Some(jump + 7); 3]);
        // One of them lies, or has lied before.
        assert_eq!(each([7, 7, most]), [Some(jump + 7); 3]);
        assert_eq!(each([7, 7, 0]), [None; 3]);
        assert_eq!(each([9 * jump, 9 * jump + 5, 3]), [Some(jump + 3), Some(jump + 3), Some(9 * jump)]);
        // All others lie.
        assert_eq!(each([7, most, most])[0], Some(7 + MAX_BEHIND));
    }

    #[test]
    fn another_value_is_refused() {
        let s = Some(Settled);
        let mut foreign = told([&[s], &[s], &[s]]);
        foreign[1].versions[0].value = [7; 32];
        assert!(picked(None, &foreign).unwrap_err().contains("w@1 of P1 is another value than that of P0"));
    }
}
