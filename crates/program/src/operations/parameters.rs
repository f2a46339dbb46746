//! What operations are told in words of their own.

/// How a truncation or a quotient rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Down.
    Floor,
    /// To the nearest; ties go up.
    Nearest,
}

impl Rounding {
    /// What is added before so many bits are dropped.
    pub(crate) const fn half(self, by: u8) -> i128 {
        match self {
            Self::Floor => 0,
            Self::Nearest => 1 << (by - 1),
        }
    }
}

/// Which end of an axis is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extreme {
    /// The least element.
    Min,
    /// The largest element.
    Max,
}
