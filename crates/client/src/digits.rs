//! Numbers in a range as sums of bits, of which each has a weight: what only has numbers in the range, and all of them.
//!
//! Let the range be `lo` to `lo + m`, and `2^(k-1) <= m < 2^k`. The weights are `1, 2, 4, ..., 2^(k-2)`, and `w = m -
//! (2^(k-1) - 1)`. Sums of the first k-1 are all numbers from 0 to `2^(k-1) - 1`; with `w` they are all from `w` to
//! `m`; and as `w <= 2^(k-1)`, nothing is left out between. So whoever gives bits gives a number in the range,
//! whatever they are.

use crate::vector::row;
use crate::{bytes_of, with_element};
use tacit_kernel::{Buffer, Element, bits};
use tacit_program::Range;
use tacit_program::plan::{Domain, Register};

/// How numbers of a range are made of bits: [`Self::count`] of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digits {
    lo: i128,
    weights: Vec<u128>,
}

impl Digits {
    /// Those of a range.
    pub fn of(range: Range) -> Self {
        let most = range.hi().wrapping_sub(range.lo()) as u128;
        let count = u128::BITS - most.leading_zeros();
        let mut weights: Vec<u128> = (0..count).map(|bit| 1 << bit).collect();
        if let Some(last) = weights.last_mut() {
            *last = most - (*last - 1);
        }
        Self { lo: range.lo(), weights }
    }

    /// How the bits of an input of this shape stand in what is told, and their masks in a vector of elements.
    pub fn shapes(&self, shape: Register) -> [Register; 2] {
        [Domain::Bits, shape.domain].map(|domain| row(domain, self.count() * shape.cols))
    }

    /// Bits of a number.
    pub fn count(&self) -> usize {
        self.weights.len()
    }

    /// The bits of numbers, a row of them: the first ones of all, then the second ones, and so on. `None` if one isn't in
    /// the range.
    pub fn of_numbers(&self, shape: Register, numbers: &Buffer) -> Option<Buffer> {
        let mut row = Buffer::new(bytes_of(Domain::Bits, self.count() * shape.cols));
        let (modulus, words) = (shape.domain.modulus(), row.words_mut::<u64>());
        let numbers: Vec<u128> =
            with_element!(shape.domain, E => numbers.words::<E>().iter().map(|one| one.to_u128()).collect());
        for (place, number) in numbers.into_iter().enumerate() {
            let mut rest = modulus.sub(number, modulus.reduce(self.lo));
            // From the last one on. Whatever is below 2^bit those before it can make.
            for (bit, &weight) in self.weights.iter().enumerate().rev() {
                let takes = rest >= 1 << bit;
                rest -= u128::from(takes) * weight;
                bits::set(words, bit * shape.cols + place, takes);
            }
            if rest > 0 {
                return None;
            }
        }
        Some(row)
    }

    /// What all bits but the masks make of numbers: `lo`, and of each position where `told` has a bit the weight.
    pub fn public(&self, shape: Register, told: &Buffer) -> Buffer {
        let mut sum = Buffer::new(bytes_of(shape.domain, shape.cols));
        let told = told.words::<u64>();
        with_element!(shape.domain, E => {
            let lo = E::from_u128(shape.domain.modulus().reduce(self.lo));
            for (place, sum) in sum.words_mut::<E>().iter_mut().enumerate() {
                let weights = self.weights.iter().enumerate();
                let told = weights.filter(|(bit, _)| bits::get(told, bit * shape.cols + place));
                *sum = told.fold(lo, |sum, (_, &weight)| sum.wrapping_add(E::from_u128(weight)));
            }
        });
        sum
    }

    /// The rest of them, of shares of the masks: `b = t + (1 - 2 t) r` for a bit `b` that is told as `t = b XOR r`.
    pub fn masked(&self, shape: Register, told: &Buffer, masks: &Buffer) -> Buffer {
        let mut sum = Buffer::new(bytes_of(shape.domain, shape.cols));
        let told = told.words::<u64>();
        with_element!(shape.domain, E => {
            let masks = masks.words::<E>();
            for (bit, (&weight, masks)) in self.weights.iter().zip(masks.chunks_exact(shape.cols.max(1))).enumerate() {
                let weight = E::from_u128(weight);
                for (place, (sum, mask)) in sum.words_mut::<E>().iter_mut().zip(masks).enumerate() {
                    let term = weight.wrapping_mul(*mask);
                    let minus = bits::get(told, bit * shape.cols + place);
                    *sum = if minus { sum.wrapping_sub(term) } else { sum.wrapping_add(term) };
                }
            }
        });
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::row;
    use tacit_kernel::field::Fp128;
    use tacit_program::Modulus;

    fn numbers(values: impl Iterator<Item = i128>) -> Buffer {
        let modulus = Modulus::Prime128;
        let values: Vec<Fp128> = values.map(|value| Fp128::from_u128(modulus.reduce(value))).collect();
        let mut buffer = Buffer::of_words::<Fp128>(values.len());
        buffer.words_mut().copy_from_slice(&values);
        buffer
    }

    /// What bits make, whatever they are: without masks.
    fn sums(digits: &Digits, cols: usize, row_of_bits: &Buffer) -> Vec<i128> {
        let shape = row(Modulus::Prime128.domain(), cols);
        let sums = digits.public(shape, row_of_bits);
        let signed = |sum: &Fp128| {
            let negative = sum.wrapping_neg().to_u128();
            if sum.to_u128() < negative { sum.to_u128() as i128 } else { -(negative as i128) }
        };
        sums.words::<Fp128>().iter().map(signed).collect()
    }

    #[test]
    fn bits_make_all_numbers_of_a_range_and_no_others() {
        for (lo, hi) in [(0, 0), (0, 1), (-7, -7), (-3, 4), (0, 10), (-100, 57), (5, 260)] {
            let digits = Digits::of(Range::new(lo, hi).unwrap());
            let cols = 1 << digits.count();
            let mut all = Buffer::new(bytes_of(Domain::Bits, digits.count() * cols));
            for (bit, place) in (0..digits.count()).flat_map(|bit| (0..cols).map(move |place| (bit, place))) {
                bits::set(all.words_mut(), bit * cols + place, place >> bit & 1 == 1);
            }
            let mut made = sums(&digits, cols, &all);
            made.sort_unstable();
            made.dedup();
            assert!(made.into_iter().eq(lo..=hi), "{lo} to {hi}");
        }
    }

    #[test]
    fn numbers_of_a_range_have_bits_and_others_have_none() {
        for (lo, hi) in [(0, 1), (-3, 4), (-1 << 63, (1 << 63) - 1), (0, 999), (17, 17)] {
            let digits = Digits::of(Range::new(lo, hi).unwrap());
            let within: Vec<i128> = [lo, hi, lo + (hi - lo) / 2, lo + (hi - lo) / 3].to_vec();
            let shape = row(Modulus::Prime128.domain(), within.len());
            let made = digits.of_numbers(shape, &numbers(within.iter().copied())).unwrap();
            assert_eq!(sums(&digits, within.len(), &made), within);
            for wrong in [lo - 1, hi + 1, 1 << 100, -1 << 100] {
                assert!(digits.of_numbers(row(shape.domain, 1), &numbers([wrong].into_iter())).is_none());
            }
        }
    }

    #[test]
    fn told_bits_take_masks_off() {
        let digits = Digits::of(Range::new(-20, 77).unwrap());
        let shape = row(Modulus::Prime128.domain(), 3);
        let values = [-20, 5, 77];
        let own = digits.of_numbers(shape, &numbers(values.into_iter())).unwrap();
        let masks: Vec<bool> = (0..digits.count() * 3).map(|place| place % 5 < 2).collect();
        let mut told = own.clone();
        for (place, mask) in masks.iter().enumerate() {
            let bit = bits::get(told.words(), place) ^ mask;
            bits::set(told.words_mut(), place, bit);
        }
        let mut sum = digits.public(shape, &told);
        let masked = digits.masked(shape, &told, &numbers(masks.iter().map(|mask| i128::from(*mask))));
        crate::vector::add_assign(shape, &mut sum, &masked);
        assert_eq!(sum.words::<Fp128>(), numbers(values.into_iter()).words::<Fp128>());
    }
}
