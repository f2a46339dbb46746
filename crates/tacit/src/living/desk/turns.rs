//! Whose turn it is at party 0: runs come from three sides, and none of them keeps the others waiting.

/// Where a run comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// A program of parties alone that is served again and again.
    Served,
    /// What parties want, with inputs of their own, and no client has a part in.
    Wanted,
    /// What clients have asked for, whether parties want it, too, or serve it.
    Clients,
}

/// The sides, those first that had a run longest ago.
pub(super) struct Turns([Side; 3]);

impl Default for Turns {
    fn default() -> Self {
        Self([Side::Clients, Side::Wanted, Side::Served])
    }
}

impl Turns {
    /// The sides in the order in which they are asked for a run.
    pub(super) fn order(&self) -> [Side; 3] {
        self.0
    }

    /// A run of this side is proposed: the others come first.
    pub(super) fn had(&mut self, side: Side) {
        self.0.sort_by_key(|other| *other == side);
    }
}

#[cfg(test)]
mod tests {
    use super::Side::{Clients, Served, Wanted};
    use super::*;

    #[test]
    fn a_side_that_always_has_runs_leaves_every_other_run_to_the_others() {
        let mut turns = Turns::default();
        let mut waiting = [(Served, 100), (Wanted, 100), (Clients, 2)];
        let mut next = || {
            let has = |side: &Side| waiting.iter().any(|(other, count)| other == side && *count > 0);
            let side = turns.order().into_iter().find(has)?;
            turns.had(side);
            waiting.iter_mut().filter(|(other, _)| *other == side).for_each(|(_, count)| *count -= 1);
            Some(side)
        };
        let expected = [Clients, Wanted, Served, Clients, Wanted, Served, Wanted, Served];
        assert_eq!(expected.map(Some), [(); 8].map(|()| next()));
    }
}
