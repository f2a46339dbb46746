//! Mistakes in what protocols share, planted by tests that show that attackers then get through.
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
    /// An output's component isn't compared with its digest.
    ComponentsNotCompared,
    /// A client doesn't look at the parties' acceptances.
    AcceptancesUnchecked,
    /// The key that hides outputs' components is what one party says.
    KeyFromOne,
    /// What hides components of numbers is combined with them as that of bits is, by XOR.
    HiddenByXor,
}

#[cfg(feature = "planted")]
thread_local! {
    static PLANTED: std::cell::RefCell<Vec<Mistake>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Plants mistakes in what this thread does, and takes out those from before.
#[cfg(feature = "planted")]
pub fn plant(mistakes: impl Iterator<Item = Mistake>) {
    PLANTED.set(mistakes.collect());
}

/// Whether a mistake is planted.
#[cfg(feature = "planted")]
pub(crate) fn planted(mistake: Mistake) -> bool {
    PLANTED.with_borrow(|planted| planted.contains(&mistake))
}

/// None is.
#[cfg(not(feature = "planted"))]
pub(crate) const fn planted(_: Mistake) -> bool {
    false
}
