//! Mistakes in the journal, planted by tests that show what a death or an old copy brings to light then.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// That a check begins, and that it has passed, is noted in memory alone.
    ChecksUnnoted,
    /// An epoch with a check under way is opened as if there were none.
    PendingKept,
    /// The anchor isn't told of checks.
    AnchorUntold,
}

#[cfg(test)]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Mistake>> = const { std::cell::Cell::new(None) };
}

/// Plants a mistake in what this thread does, until the result is dropped.
#[cfg(test)]
#[must_use]
pub(crate) fn plant(mistake: Mistake) -> Planted {
    PLANTED.set(Some(mistake));
    Planted
}

/// As long as it lives, a mistake is planted.
#[cfg(test)]
pub(crate) struct Planted;

#[cfg(test)]
impl Drop for Planted {
    fn drop(&mut self) {
        PLANTED.set(None);
    }
}

/// Whether a mistake is planted.
#[cfg(test)]
pub(crate) fn planted(mistake: Mistake) -> bool {
    PLANTED.get() == Some(mistake)
}

/// None is.
#[cfg(not(test))]
pub(crate) const fn planted(_: Mistake) -> bool {
    false
}
