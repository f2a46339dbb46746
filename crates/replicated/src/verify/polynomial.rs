//! Polynomials by their values at consecutive small integers.

use super::field::Field;
use tacit_kernel::Element;
use tacit_kernel::field::Fp61;

/// What the values at `first`, `first + 1`, ... (`count` of them) are multiplied by to give the value at `point`:
/// Lagrange's coefficients, `product over j != k of (point - x_j) / (x_k - x_j)`.
///
/// The denominators are `(k - first)! (last - k)!` up to the sign, so one inversion does.
pub(crate) fn weights<F: Field>(first: usize, count: usize, point: F) -> Vec<F> {
    let differences: Vec<F> = (first..first + count).map(|x| point.sub(F::from_base(number(x)))).collect();
    let mut factorial = Fp61::ONE;
    (1..count).for_each(|k| factorial = factorial.wrapping_mul(number(k)));
    // 1 / (count - 1)!, and from it all smaller ones.
    let mut inverses = vec![inverse(factorial); count];
    for k in (1..count).rev() {
        inverses[k - 1] = inverses[k].wrapping_mul(number(k));
    }
    let mut weights = Vec::with_capacity(count);
    let mut below = F::from_base(Fp61::ONE);
    for (k, difference) in differences.iter().enumerate() {
        let sign = if (count - 1 - k).is_multiple_of(2) { Fp61::ONE } else { Fp61::ONE.wrapping_neg() };
        let denominator = inverses[k].wrapping_mul(inverses[count - 1 - k]).wrapping_mul(sign);
        weights.push(below.scale(denominator));
        below = below.mul(*difference);
    }
    let mut above = F::from_base(Fp61::ONE);
    for (weight, difference) in weights.iter_mut().zip(&differences).rev() {
        *weight = weight.mul(above);
        above = above.mul(*difference);
    }
    weights
}

/// The value at `point` of the polynomial with these values at `first`, `first + 1`, ...
pub(crate) fn evaluate<F: Field>(first: usize, values: &[F], point: F) -> F {
    dot(values, &weights(first, values.len(), point))
}

/// The inner product.
pub(crate) fn dot<F: Field>(a: &[F], b: &[F]) -> F {
    a.iter().zip(b).fold(F::zero(), |sum, (a, b)| sum.add(a.mul(*b)))
}

/// An integer as an element of F_p.
pub(crate) fn number(value: usize) -> Fp61 {
    Fp61::from_u128(value as u128)
}

/// `1 / value` for a value that isn't 0: `value^(p - 2)`.
fn inverse(value: Fp61) -> Fp61 {
    let (mut power, mut square, mut exponent) = (Fp61::ONE, value, Fp61::MODULUS - 2);
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = power.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        exponent /= 2;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: u64) -> Fp61 {
        Fp61::from_u128(value.into())
    }

    /// The value at `x` of the polynomial with these coefficients, lowest first.
    fn horner(coefficients: &[Fp61], x: Fp61) -> Fp61 {
        coefficients.iter().rev().fold(Fp61::ZERO, |value, c| value.wrapping_mul(x).wrapping_add(*c))
    }

    #[test]
    fn a_polynomial_is_known_by_its_values() {
        for (first, count) in [(0, 1), (1, 1), (0, 2), (1, 4), (0, 9), (1, 16), (2, 30), (1, 127)] {
            let coefficients: Vec<Fp61> =
                (0..count as u64).map(|k| number(k.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
            let values: Vec<Fp61> =
                (first..first + count).map(|x| horner(&coefficients, number(x as u64))).collect();
            for x in [0, 1, 5, 200, Fp61::MODULUS - 1, 0x0123_4567_89ab_cdef] {
                let point = number(x);
                assert_eq!(
                    evaluate(first, &values, point),
                    horner(&coefficients, point),
                    "{count} values at {x}"
                );
            }
        }
    }

    #[test]
    fn at_a_known_point_the_weights_pick_its_value() {
        let picked = weights(1, 16, number(7));
        assert!((1..=16).all(|k| picked[k - 1] == number(u64::from(k == 7))));
    }

    #[test]
    fn inverses() {
        for value in [1, 2, 3, Fp61::MODULUS - 1, 1 << 60] {
            assert_eq!(number(value).wrapping_mul(inverse(number(value))), Fp61::ONE);
        }
    }
}
