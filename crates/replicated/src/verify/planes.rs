//! The bits of a batch's ANDs, as either verifier shares them with the prover: a type for each side, so that they can't
//! be swapped.

use tacit_kernel::relation::Side;

/// What the left verifier shares with the prover. A plane has a bit for every AND, the blocks of the first round one
/// after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeftPlanes<'a> {
    pub(crate) a: &'a [u64],
    pub(crate) c: &'a [u64],
    pub(crate) e: &'a [u64],
}

/// What the right verifier shares with the prover, likewise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RightPlanes<'a> {
    pub(crate) b: &'a [u64],
    pub(crate) d: &'a [u64],
    pub(crate) f: &'a [u64],
}

/// The planes of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planes<'a> {
    Left(LeftPlanes<'a>),
    Right(RightPlanes<'a>),
}

impl<'a> LeftPlanes<'a> {
    /// `a, c, e`.
    pub(crate) fn all(self) -> [&'a [u64]; 3] {
        [self.a, self.c, self.e]
    }
}

impl<'a> RightPlanes<'a> {
    /// `b, d, f`.
    pub(crate) fn all(self) -> [&'a [u64]; 3] {
        [self.b, self.d, self.f]
    }
}

impl<'a> Planes<'a> {
    /// Whose they are.
    pub(crate) fn side(self) -> Side {
        match self {
            Self::Left(_) => Side::Left,
            Self::Right(_) => Side::Right,
        }
    }

    /// `a, c, e` or `b, d, f`.
    pub(crate) fn all(self) -> [&'a [u64]; 3] {
        match self {
            Self::Left(planes) => planes.all(),
            Self::Right(planes) => planes.all(),
        }
    }
}

impl<'a> From<LeftPlanes<'a>> for Planes<'a> {
    fn from(planes: LeftPlanes<'a>) -> Self {
        Self::Left(planes)
    }
}

impl<'a> From<RightPlanes<'a>> for Planes<'a> {
    fn from(planes: RightPlanes<'a>) -> Self {
        Self::Right(planes)
    }
}
