//! Which additive components of a sharing of three a register may have: others are known to be zero.
//!
//! A component that is shared by itself has zeros in the place of both others, and so have sums of such. Where a sharing
//! of three has component `j` at two neighbours, a product falls into three parts, `x_i y_i + x_i y_(i-1) + x_(i-1) y_i`
//! for each i. A part of which all terms are zero by the plan alone needs no message: [`Op::parts`](super::Op::parts).

/// Some of the three components, or of the parts of a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Components(u8);

impl Components {
    /// None.
    pub const NONE: Self = Self(0);
    /// All three.
    pub const ALL: Self = Self(0b111);

    /// One of them.
    ///
    /// # Panics
    /// If there is no such component.
    pub const fn one(component: u8) -> Self {
        assert!(component < 3, "there are three components");
        Self(1 << component)
    }

    /// Whether one is among them.
    pub const fn has(self, component: usize) -> bool {
        self.0 >> (component % 3) & 1 == 1
    }

    /// How many.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// These and others.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The parts i of a product that have a term which isn't zero.
    #[must_use]
    pub const fn parts(self, other: Self) -> Self {
        let before = Self((self.0 << 1 | self.0 >> 2) & 0b111);
        let other_before = Self((other.0 << 1 | other.0 >> 2) & 0b111);
        Self(self.0 & (other.0 | other_before.0) | before.0 & other.0)
    }

    /// The components of a product of these parts: a part's own, and what hides it, which the one before it has, too.
    pub(super) const fn product(self) -> Self {
        Self(self.0 | self.0 >> 1 | (self.0 << 2 & 0b111))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_of_terms_that_are_not_zero() {
        for a in 0..8_u8 {
            for b in 0..8_u8 {
                let (a, b) = (Components(a), Components(b));
                let parts = a.parts(b);
                for i in 0..3 {
                    let before = (i + 2) % 3;
                    let terms = [(i, i), (i, before), (before, i)];
                    let expected = terms.iter().any(|&(x, y)| a.has(x) && b.has(y));
                    assert_eq!(parts.has(i), expected, "{a:?} {b:?} {i}");
                    let masked = parts.has(i) || parts.has(i + 1);
                    assert_eq!(parts.product().has(i), masked, "{a:?} {b:?} {i}");
                }
            }
        }
    }
}
