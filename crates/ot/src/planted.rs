//! Mistakes of published OT code, planted by tests that show that attackers then get through.
//!
//! Only tests have the feature `planted`, and this crate's own; elsewhere nothing is planted, and nothing of this is left
//! in the code.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(any(test, feature = "planted")), allow(unreachable_pub))]
pub enum Mistake {
    /// Base OTs are those for semi-honest parties: neither of a receiver's points depends on the other.
    BaseUnbound,
    /// Points aren't looked at.
    PointsUnchecked,
    /// Keys don't depend on the session, the lane and the parties.
    ContextUnbound,
    /// Trees aren't compared with their digest.
    TreesUnchecked,
    /// Answers aren't compared with the columns.
    ColumnsUnchecked,
    /// The coin leaves before the columns have come.
    CoinEarly,
    /// The sender's OTs of a batch are handed out when its columns have come.
    HandedOutEarly,
    /// The same, and an extension ends before the last answers have come.
    AnswersUnawaited,
    /// The secret is zero.
    ZeroDelta,
    /// The factors of a vector OLE's base aren't checked.
    BaseUnchecked,
    /// The coin of that check leaves before the base's last products have come.
    VoleBaseCoinEarly,
    /// The trees of a vector OLE's noise aren't checked.
    NoiseUnchecked,
    /// The coin of that check, and `y`, leave before the trees have come.
    VoleCoinEarly,
    /// A side of that check is opened to whoever sent another one.
    SideUncompared,
}

tacit_session::planted!(Mistake, any(test, feature = "planted"));

/// Whether none is.
#[cfg(any(test, feature = "planted"))]
pub(crate) fn nothing_is_planted() -> bool {
    PLANTED.get().is_empty()
}
