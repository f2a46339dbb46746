//! Polynomials by their values at consecutive small numbers.

use super::field::{BaseField, Field};

/// What the values at `first`, `first + 1`, ... (`count` of them) are multiplied by to give the value at `point`:
/// Lagrange's coefficients, `product over j != k of (point - x_j) / (x_k - x_j)`.
pub(crate) fn weights<F: Field>(first: usize, count: usize, point: F) -> Vec<F> {
    let differences: Vec<F> = (first..first + count).map(|x| point.sub(F::number(x))).collect();
    let mut weights: Vec<F> = F::Base::inverse_products(first, count).into_iter().map(F::from_base).collect();
    let multiply = |product: F, (weight, difference): (&mut F, &F)| {
        *weight = weight.mul(product);
        product.mul(*difference)
    };
    weights.iter_mut().zip(&differences).fold(F::number(1), multiply);
    weights.iter_mut().zip(&differences).rev().fold(F::number(1), multiply);
    weights
}

/// The value at `point` of the polynomial with these values at `first`, `first + 1`, ...
pub(crate) fn evaluate<F: Field>(first: usize, values: &[F], point: F) -> F {
    let weights = weights(first, values.len(), point);
    values.iter().zip(weights).fold(F::zero(), |sum, (value, weight)| sum.add(value.mul(weight)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_kernel::Element;
    use tacit_kernel::field::Fp61;

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
}
