//! Square roots and inverses in the field. Both are of public values, and take a time that depends on them.

use tacit_kernel::Element;
use tacit_kernel::field::Fp128;

/// `p - 1 = 2^5 (2^123 - 5)`.
const TWOS: u32 = 5;
const ODD: u128 = (Fp128::MODULUS - 1) >> TWOS;

/// A generator of the group of 2^5 elements: the power of 5, the least element that is no square, to the odd part.
const GENERATOR: u128 = 0xd142_3e98_49c7_1404_fb41_4cca_9401_92c7;

fn power(base: Fp128, exponent: u128) -> Fp128 {
    (0..u128::BITS - exponent.leading_zeros()).rev().fold(Fp128::ONE, |power, bit| {
        let square = power.wrapping_mul(power);
        if exponent >> bit & 1 == 1 { square.wrapping_mul(base) } else { square }
    })
}

/// `1 / x`, or 0 of 0.
pub(crate) fn inverse(x: Fp128) -> Fp128 {
    power(x, Fp128::MODULUS - 2)
}

/// The smaller one, as an integer, of the two square roots of `square`; `None` of 0 and of what is no square (Tonelli,
/// Shanks).
pub(crate) fn root(square: Fp128) -> Option<Fp128> {
    let mut generator = Fp128::from_u128(GENERATOR);
    let half = power(square, ODD / 2);
    let mut root = half.wrapping_mul(square);
    // root^2 = square left, and the order of `left` is a power of two.
    let mut left = root.wrapping_mul(half);
    if left == Fp128::ZERO {
        return None;
    }
    let mut order = TWOS;
    while left != Fp128::ONE {
        let (mut power, mut twos) = (left, 0);
        while power != Fp128::ONE {
            power = power.wrapping_mul(power);
            twos += 1;
            if twos == order {
                return None;
            }
        }
        for _ in 0..order - twos - 1 {
            generator = generator.wrapping_mul(generator);
        }
        root = root.wrapping_mul(generator);
        generator = generator.wrapping_mul(generator);
        left = left.wrapping_mul(generator);
        order = twos;
    }
    let other = root.wrapping_neg();
    Some(if root.to_u128() < other.to_u128() { root } else { other })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_testkit::Rng;

    const NO_SQUARE: u128 = 5;

    #[test]
    fn the_generator_is_of_the_least_that_is_no_square() {
        assert_eq!(ODD, (1 << 123) - 5);
        assert_eq!(power(Fp128::from_u128(NO_SQUARE), ODD).to_u128(), GENERATOR);
        let euler = |x: u128| power(Fp128::from_u128(x), (Fp128::MODULUS - 1) / 2);
        assert_eq!(euler(NO_SQUARE), Fp128::ONE.wrapping_neg());
        assert!((1..NO_SQUARE).all(|x| euler(x) == Fp128::ONE));
    }

    #[test]
    fn roots_and_inverses_are_right() {
        let mut rng = Rng::new(1);
        let mut drawn =
            (0..200).map(|_| Fp128::from_u128(u128::from(rng.word()) << 64 | u128::from(rng.word())));
        let few: Vec<Fp128> = (1..20).map(Fp128::from_u128).collect();
        let all: Vec<Fp128> = few.into_iter().chain(drawn.by_ref()).collect();
        for x in all {
            assert_eq!(inverse(x).wrapping_mul(x), Fp128::ONE);
            let found = root(x.wrapping_mul(x)).expect("it is a square");
            assert!(found == x || found == x.wrapping_neg());
            assert!(found.to_u128() <= Fp128::MODULUS / 2);
            assert_eq!(root(x.wrapping_mul(x).wrapping_mul(Fp128::from_u128(NO_SQUARE))), None);
        }
        assert_eq!(root(Fp128::ZERO), None);
        assert_eq!(inverse(Fp128::ZERO), Fp128::ZERO);
    }
}
