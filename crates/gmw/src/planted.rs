//! Mistakes that tests plant; elsewhere nothing is planted, and nothing of this is left in the code.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// All peers are told corrections by the transfers with one of them.
    OnePairForAll,
    /// Pairs of seeds are opened in the order that the paper prints.
    SeedsInOrder,
    /// All swaps of a branch's pairs are masked by one transfer.
    OneTransferForAll,
}

#[cfg(test)]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Mistake>> = const { std::cell::Cell::new(None) };
}

/// Plants a mistake in what this thread does.
#[cfg(test)]
pub(crate) fn plant(mistake: Mistake) {
    PLANTED.set(Some(mistake));
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
