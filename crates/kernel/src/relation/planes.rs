//! The bits of a batch's ANDs, as either verifier shares them with the prover: a type for each side, so that they can't
//! be swapped.

/// Which of the two verifiers the bits are shared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The planes are `a`, `c`, `e`, and the vectors `g`.
    Left,
    /// The planes are `b`, `d`, `f`, and the vectors `h`.
    Right,
}

/// What the left verifier shares with the prover. A plane has a bit for every AND, the blocks of the first round one
/// after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftPlanes<'a> {
    /// Of all ANDs.
    pub a: &'a [u64],
    /// Likewise.
    pub c: &'a [u64],
    /// Likewise.
    pub e: &'a [u64],
}

/// What the right verifier shares with the prover, likewise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RightPlanes<'a> {
    /// Of all ANDs.
    pub b: &'a [u64],
    /// Likewise.
    pub d: &'a [u64],
    /// Likewise.
    pub f: &'a [u64],
}

/// The planes of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planes<'a> {
    /// `a, c, e`.
    Left(LeftPlanes<'a>),
    /// `b, d, f`.
    Right(RightPlanes<'a>),
}

impl<'a> LeftPlanes<'a> {
    /// `a, c, e`.
    pub fn all(self) -> [&'a [u64]; 3] {
        [self.a, self.c, self.e]
    }
}

impl<'a> RightPlanes<'a> {
    /// `b, d, f`.
    pub fn all(self) -> [&'a [u64]; 3] {
        [self.b, self.d, self.f]
    }
}

impl<'a> Planes<'a> {
    /// Those of a side, in the order of [`Planes::all`].
    pub fn of(side: Side, [x, y, z]: [&'a [u64]; 3]) -> Self {
        match side {
            Side::Left => Self::Left(LeftPlanes { a: x, c: y, e: z }),
            Side::Right => Self::Right(RightPlanes { b: x, d: y, f: z }),
        }
    }

    /// Whose they are.
    pub fn side(self) -> Side {
        match self {
            Self::Left(_) => Side::Left,
            Self::Right(_) => Side::Right,
        }
    }

    /// `a, c, e` or `b, d, f`.
    pub fn all(self) -> [&'a [u64]; 3] {
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
