//! Mistakes of published proof code, planted by tests that show that attackers then get through, or honest runs fail.
//!
//! Only tests have the feature `planted`; without it nothing is planted, and nothing of this is left in the code.

#[cfg(all(feature = "planted", not(debug_assertions)))]
compile_error!(
    "the feature \"planted\" breaks the protocol on purpose: it is for tests with debug assertions alone"
);

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "planted"), allow(unreachable_pub))]
pub enum Mistake {
    /// A proof passes if it should fail, and fails if it should pass.
    Inverted,
    /// That a proof fails has no consequences.
    FailureIgnored,
    /// The last quarter of every batch isn't proved.
    QuarterSkipped,
    /// Folding takes another plane than counting.
    WrongMask,
    /// Points don't depend on the seeds.
    ConstantChallenge,
    /// Only the first batch is proved.
    LaterBatchesDropped,
    /// What was proved isn't compared with what was recorded.
    NotCounted,
    /// Only the verifier before the prover checks.
    OnlyRightChecks,
    /// Whoever says nothing is taken to accept.
    SilenceAccepts,
    /// Outputs are sent before anything is checked.
    OutputsEarly,
    /// The last round has no random values.
    Unmasked,
    /// A prover takes whatever seeds it is given.
    SeedsUnchecked,
    /// What a client gave two parties isn't compared.
    GivenNotCompared,
    /// Nor is an output's component with its digest.
    ComponentsNotCompared,
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
