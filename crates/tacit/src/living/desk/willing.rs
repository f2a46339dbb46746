//! Who is ready for what, as party 0 knows it, and what all have been ready for longest. Pure; nothing waits here.

use std::collections::{BTreeMap, BTreeSet};

/// Runs that the parties are ready for, by what names a run.
pub(super) struct Willing<K> {
    /// How many parties there are.
    everybody: usize,
    by: BTreeMap<K, Parties>,
    /// How many runs each party is ready for.
    counts: BTreeMap<usize, usize>,
    turn: u64,
}

/// Who is ready for a run, and since which turn all are.
#[derive(Default)]
struct Parties {
    all: BTreeSet<usize>,
    since: Option<u64>,
}

impl<K: Ord> Willing<K> {
    pub(super) fn new(everybody: usize) -> Self {
        Self { everybody, by: BTreeMap::new(), counts: BTreeMap::new(), turn: 0 }
    }

    /// How many runs a party is ready for.
    pub(super) fn count(&self, party: usize) -> usize {
        self.counts.get(&party).copied().unwrap_or(0)
    }

    /// A party is ready for a run. With the last one the run is due, after all those that are already.
    pub(super) fn add(&mut self, run: K, party: usize) {
        let parties = self.by.entry(run).or_default();
        if !parties.all.insert(party) {
            return;
        }
        *self.counts.entry(party).or_default() += 1;
        if parties.all.len() == self.everybody {
            self.turn += 1;
            parties.since = Some(self.turn);
        }
    }

    /// A party isn't ready for a run any more.
    pub(super) fn remove(&mut self, run: &K, party: usize) {
        let Some(parties) = self.by.get_mut(run) else { return };
        if parties.all.remove(&party) {
            parties.since = None;
            discount(&mut self.counts, party);
        }
        if parties.all.is_empty() {
            self.by.remove(run);
        }
    }

    /// A party is ready for nothing any more.
    pub(super) fn lose(&mut self, party: usize) {
        for parties in self.by.values_mut().filter(|parties| parties.all.contains(&party)) {
            parties.all.remove(&party);
            parties.since = None;
        }
        self.by.retain(|_, parties| !parties.all.is_empty());
        self.counts.remove(&party);
    }

    /// A run has been proposed: nobody is ready for it any more.
    pub(super) fn take(&mut self, run: &K) {
        for party in self.by.remove(run).map(|parties| parties.all).unwrap_or_default() {
            discount(&mut self.counts, party);
        }
    }

    /// What all parties are ready for, those first that have been due longest.
    pub(super) fn due(&self) -> Vec<&K> {
        let due = self.by.iter().filter_map(|(run, parties)| Some((parties.since?, run)));
        let mut due: Vec<(u64, &K)> = due.collect();
        due.sort_by_key(|(since, _)| *since);
        due.into_iter().map(|(_, run)| run).collect()
    }
}

fn discount(counts: &mut BTreeMap<usize, usize>, party: usize) {
    if let Some(count) = counts.get_mut(&party) {
        *count = count.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_add(willing: &mut Willing<u8>, run: u8) {
        (0..3).for_each(|party| willing.add(run, party));
    }

    #[test]
    fn what_has_been_due_longest_is_first_whatever_it_is_called() {
        let mut willing = Willing::new(3);
        // Asked for first, and due last.
        willing.add(5, 0);
        for run in [9, 1, 4] {
            all_add(&mut willing, run);
        }
        assert_eq!(willing.due(), [&9, &1, &4]);
        (1..3).for_each(|party| willing.add(5, party));
        assert_eq!(willing.due(), [&9, &1, &4, &5]);
        // What is wanted anew waits behind what has waited; saying it twice changes nothing.
        willing.take(&9);
        all_add(&mut willing, 9);
        all_add(&mut willing, 1);
        assert_eq!(willing.due(), [&1, &4, &5, &9]);
        // So does what somebody was not ready for in between.
        willing.remove(&1, 2);
        assert_eq!(willing.due(), [&4, &5, &9]);
        willing.add(1, 2);
        assert_eq!(willing.due(), [&4, &5, &9, &1]);
    }

    #[test]
    fn each_partys_are_counted_and_a_lost_one_has_none() {
        let mut willing = Willing::new(3);
        all_add(&mut willing, 1);
        all_add(&mut willing, 1);
        willing.add(2, 0);
        assert_eq!([0, 1, 2].map(|party| willing.count(party)), [2, 1, 1]);
        willing.remove(&2, 0);
        willing.remove(&2, 0);
        willing.lose(1);
        assert_eq!([0, 1, 2].map(|party| willing.count(party)), [1, 0, 1]);
        assert!(willing.due().is_empty());
        willing.take(&1);
        assert_eq!([0, 1, 2].map(|party| willing.count(party)), [0; 3]);
        assert!(willing.by.is_empty());
    }
}
