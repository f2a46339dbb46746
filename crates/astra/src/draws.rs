//! Which walk is on, and what streams are drawn for.

/// Which of the two walks through the plan is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    /// On what doesn't depend on inputs.
    Offline,
    /// On masked values.
    Online,
}

/// What a stream is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawn {
    /// The mask of a result: a component `x_1` or `x_2`.
    Mask,
    /// `P_1`'s share of what `P_0` made.
    Share,
    /// The same, of the second number where there are two.
    SecondShare,
    /// What `P_0` and `P_1` garble from.
    Seed,
    /// `delta_x` of products that are checked.
    LeftDelta,
    /// `delta_y`.
    RightDelta,
    /// `delta_z`, of a result.
    ResultDelta,
    /// `P_1`'s part of `delta_z`, of a product.
    FirstDelta,
    /// `P_1`'s share of a product, of those that are added up for a result.
    ProductShare,
    /// `delta_z` of such a product.
    ProductDelta,
}
