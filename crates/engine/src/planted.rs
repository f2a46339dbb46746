//! Mistakes, planted by tests that show that attackers are noticed then.
//!
//! Only tests have the feature `planted`; without it nothing is planted, and nothing of this is left in the code.

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

tacit_session::planted!(Mistake, feature = "planted");
