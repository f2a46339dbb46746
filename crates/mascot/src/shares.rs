//! Shares with MACs, `[[x]]`.
//!
//! Of a value `x` party `P_i` has a share `x^(i)`, a share `m^(i)` of the MAC, and its share `Delta^(i)` of the key:
//!
//! ```text
//! x = sum of x^(i)        sum of m^(i) = x Delta        Delta = sum of Delta^(i)
//! ```
//!
//! Sums of shared values, and multiples by public ones, are those of the shares and of the MACs.

use crate::field::FieldElement;
use crate::secret::Secret;
use tacit_kernel::field::Fp128;

/// A party's shares of some values, and of their MACs; wiped when dropped, never printed.
#[derive(Clone, Debug, Default)]
pub struct Shares<E: FieldElement = Fp128> {
    /// Of the values.
    pub values: Secret<E>,
    /// Of the MACs.
    pub macs: Secret<E>,
}

/// Triples: `c = a b`, with `a` and `b` random.
#[derive(Clone, Debug, Default)]
pub struct Triples<E: FieldElement = Fp128> {
    /// First factors.
    pub a: Shares<E>,
    /// Second factors.
    pub b: Shares<E>,
    /// Products.
    pub c: Shares<E>,
}

/// Squares of random values.
#[derive(Clone, Debug, Default)]
pub struct Squares<E: FieldElement = Fp128> {
    /// The values.
    pub roots: Shares<E>,
    /// Their squares.
    pub squares: Shares<E>,
}

/// Random values each of which one party, their owner, knows.
#[derive(Clone, Debug, Default)]
pub struct Inputs<E: FieldElement = Fp128> {
    /// Everybody's, by owner.
    pub shares: Vec<Shares<E>>,
    /// This party's own.
    pub values: Secret<E>,
}

impl<E: FieldElement> Triples<E> {
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

impl<E: FieldElement> Shares<E> {
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
        let part = |of: &Secret<E>| of[range.clone()].iter().copied().collect();
        Self { values: part(&self.values), macs: part(&self.macs) }
    }

    /// `f` of each share and of each MAC's share, with those at the same place of `other`. A share of a linear function of
    /// two values, if `f` is that function.
    pub(crate) fn with(&self, other: &Self, f: impl Fn(usize, E, E) -> E) -> Self {
        let both = |x: &Secret<E>, y: &Secret<E>| {
            x.iter().zip(y.iter()).enumerate().map(|(at, (x, y))| f(at, *x, *y)).collect()
        };
        Self { values: both(&self.values, &other.values), macs: both(&self.macs, &other.macs) }
    }

    /// `self - other`.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        self.with(other, |_, x, y| x.wrapping_sub(y))
    }
}
