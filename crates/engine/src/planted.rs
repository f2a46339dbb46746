//! Mistakes, planted by tests that show that attackers are noticed then.
//!
//! Only tests have the feature `planted`; without it nothing is planted, and nothing of this is left in the code.

#[cfg(all(feature = "planted", not(debug_assertions)))]
compile_error!(
    "the feature \"planted\" breaks protocols on purpose: it is for tests with debug assertions alone"
);

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "planted"), allow(unreachable_pub))]
pub enum Mistake {
    /// Parties don't compare what they were given as public inputs.
    PublicInputsNotCompared,
    /// A turn at a key's checks ends with a check's beginning, not with its verdict: lanes check at once.
    ChecksAtOnce,
    /// Nothing is checked before what is opened under masks that hide a range alone.
    OpenedUnchecked,
}

#[cfg(feature = "planted")]
thread_local! {
    static PLANTED: std::cell::Cell<&'static [Mistake]> = const { std::cell::Cell::new(&[]) };
}

/// Plants mistakes in what this thread does, and takes out those from before.
#[cfg(feature = "planted")]
pub fn plant(mistakes: &'static [Mistake]) {
    PLANTED.set(mistakes);
}

/// Whether a mistake is planted.
#[cfg(feature = "planted")]
pub(crate) fn planted(mistake: Mistake) -> bool {
    PLANTED.get().contains(&mistake)
}

/// None is.
#[cfg(not(feature = "planted"))]
pub(crate) const fn planted(_: Mistake) -> bool {
    false
}
