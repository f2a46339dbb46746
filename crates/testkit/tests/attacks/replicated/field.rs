//! What an attacker on proofs computes: F_p, its extension by i, and polynomials by their values.

use tacit_kernel::Element;
use tacit_kernel::field::Fp61;

/// An element of F_p[i], i^2 = -1, or of F_p if its second part is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct F(pub(crate) [Fp61; 2]);

impl F {
    pub(crate) const ZERO: Self = Self([Fp61::ZERO; 2]);
    pub(crate) const ONE: Self = Self([Fp61::ONE, Fp61::ZERO]);

    /// An integer.
    pub(crate) fn number(value: i64) -> Self {
        let size = Fp61::from_u128(value.unsigned_abs().into());
        Self([if value < 0 { size.wrapping_neg() } else { size }, Fp61::ZERO])
    }

    /// An element of these parts.
    pub(crate) fn of(parts: [u64; 2]) -> Self {
        Self(parts.map(|part| Fp61::from_u128(part.into())))
    }

    /// Its parts.
    pub(crate) fn parts(self) -> [u64; 2] {
        self.0.map(|part| part.to_u128() as u64)
    }

    pub(crate) fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|part| self.0[part].wrapping_add(other.0[part])))
    }

    pub(crate) fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|part| self.0[part].wrapping_sub(other.0[part])))
    }

    pub(crate) fn mul(self, other: Self) -> Self {
        let product = |at: usize, by: usize| self.0[at].wrapping_mul(other.0[by]);
        Self([product(0, 0).wrapping_sub(product(1, 1)), product(0, 1).wrapping_add(product(1, 0))])
    }

    /// `1 / self`, of what isn't 0: its conjugate over its norm, which is inverted by Fermat.
    pub(crate) fn inverse(self) -> Self {
        let [re, im] = self.0;
        let norm = re.wrapping_mul(re).wrapping_add(im.wrapping_mul(im));
        let mut power = Fp61::ONE;
        for bit in (0..61).rev() {
            power = power.wrapping_mul(power);
            if (Fp61::MODULUS - 2) >> bit & 1 == 1 {
                power = power.wrapping_mul(norm);
            }
        }
        Self([re.wrapping_mul(power), im.wrapping_neg().wrapping_mul(power)])
    }

    /// The element in a message, of one part or of two.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut parts = [0; 2];
        for (part, bytes) in parts.iter_mut().zip(bytes.chunks_exact(8)) {
            *part = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        }
        Self::of(parts)
    }

    /// Puts it into a message.
    pub(crate) fn write(self, bytes: &mut [u8]) {
        for (part, bytes) in self.parts().iter().zip(bytes.chunks_exact_mut(8)) {
            bytes.copy_from_slice(&part.to_le_bytes());
        }
    }
}

/// Lagrange's coefficients at `point`: what the values at 1, 2, ..., `count` are multiplied by.
pub(crate) fn weights(count: usize, point: F) -> Vec<F> {
    let weight = |at: usize| {
        let others = (1..=count as i64).filter(|&other| other != at as i64);
        let (above, below) = others.fold((F::ONE, F::ONE), |(above, below), other| {
            (above.mul(point.sub(F::number(other))), below.mul(F::number(at as i64 - other)))
        });
        above.mul(below.inverse())
    };
    (1..=count).map(weight).collect()
}
