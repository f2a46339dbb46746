//! Mistakes that unit tests plant in some parties, to see that a check is one: without it others would notice. Nothing of this is
//! left where nothing is tested.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    /// What a kept value may be used for isn't looked at.
    UsesIgnored,
    /// Nor is whether another holder's digest of a part is the same.
    DigestsIgnored,
}

/// What is planted in a party.
#[derive(Clone, Debug, Default)]
pub(super) struct Mistakes {
    #[cfg(test)]
    pub(super) planted: Option<Mistake>,
}

impl Mistakes {
    #[cfg(test)]
    pub(super) fn has(&self, mistake: Mistake) -> bool {
        self.planted == Some(mistake)
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "tests look at it")]
    pub(super) const fn has(&self, _mistake: Mistake) -> bool {
        false
    }
}
