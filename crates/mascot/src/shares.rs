//! Shares with MACs, `[[x]]`.
//!
//! Of a value `x` party `P_i` has a share `x^(i)`, a share `m^(i)` of the MAC, and its share `Delta^(i)` of the key:
//!
//! ```text
//! x = sum of x^(i)        sum of m^(i) = x Delta        Delta = sum of Delta^(i)
//! ```
//!
//! Sums of shared values, and multiples by public ones, are those of the shares and of the MACs.

use crate::secret::Secret;
use tacit_kernel::Element;
use tacit_kernel::field::Fp128;

/// A party's shares of some values, and of their MACs; wiped when dropped, never printed.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    /// Of the values.
    pub values: Secret,
    /// Of the MACs.
    pub macs: Secret,
}

/// Triples: `c = a b`, with `a` and `b` random.
#[derive(Clone, Debug, Default)]
pub struct Triples {
    /// First factors.
    pub a: Shares,
    /// Second factors.
    pub b: Shares,
    /// Products.
    pub c: Shares,
}

/// Squares of random values.
#[derive(Clone, Debug, Default)]
pub struct Squares {
    /// The values.
    pub roots: Shares,
    /// Their squares.
    pub squares: Shares,
}

/// Random values each of which one party, their owner, knows.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// Everybody's, by owner.
    pub shares: Vec<Shares>,
    /// This party's own.
    pub values: Secret,
}

impl Triples {
    /// None, with room for so many.
    pub(crate) fn with_capacity(count: usize) -> Self {
        let room = || Shares { values: Secret::with_capacity(count), macs: Secret::with_capacity(count) };
        Self { a: room(), b: room(), c: room() }
    }

    /// Adds some.
    pub(crate) fn append(&mut self, others: &Self) {
        let parts = [(&mut self.a, &others.a), (&mut self.b, &others.b), (&mut self.c, &others.c)];
        for (own, more) in parts {
            own.values.append(&more.values);
            own.macs.append(&more.macs);
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.a.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.a.is_empty()
    }
}

impl Shares {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Some of the values.
    pub(crate) fn range(&self, range: std::ops::Range<usize>) -> Self {
        let part = |of: &Secret| of[range.clone()].iter().copied().collect();
        Self { values: part(&self.values), macs: part(&self.macs) }
    }

    /// `f` of each share and of each MAC's share, with those at the same place of `other`. A share of a linear function of
    /// two values, if `f` is that function.
    pub(crate) fn with(&self, other: &Self, f: impl Fn(usize, Fp128, Fp128) -> Fp128) -> Self {
        let both = |x: &Secret, y: &Secret| {
            x.iter().zip(y.iter()).enumerate().map(|(at, (x, y))| f(at, *x, *y)).collect()
        };
        Self { values: both(&self.values, &other.values), macs: both(&self.macs, &other.macs) }
    }

    /// `self - other`.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        self.with(other, |_, x, y| x.wrapping_sub(y))
    }
}
