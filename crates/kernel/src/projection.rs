//! Exact sums of numbers that bits pick: a vector of integers, projected on polynomials with coefficients 0 and 1.

use crate::transpose;

/// Coefficients of a polynomial: sums that one word of bits picks numbers for.
pub const SUMS: usize = 64;

/// Words of 64 bits, one for each number of a vector: bit `j` says whether the number is in sum `j`.
#[derive(Clone, Debug)]
pub struct Picks {
    /// Plane `j` has bit `j` of all words.
    planes: Vec<u64>,
    stride: usize,
    count: usize,
}

/// Numbers whose sums are tabulated together.
const GROUP: usize = 4;

impl Picks {
    /// Those of these words.
    pub fn new(words: &[u64]) -> Self {
        let stride = words.len().div_ceil(64);
        let mut planes = vec![0; SUMS * stride];
        transpose::to_planes::<u64>(words, SUMS, &mut planes, stride);
        Self { planes, stride, count: words.len() }
    }

    /// Adds to sum `j` the numbers that bit `j` of their words picks. It costs 20 additions for a number.
    ///
    /// # Panics
    /// If there are more numbers than words, or fewer; and with overflow checks if a sum leaves 128 bits.
    pub fn add_to(&self, numbers: &[i128], sums: &mut [i128; SUMS]) {
        assert_eq!(numbers.len(), self.count, "a number for every word of bits");
        for (at, numbers) in numbers.chunks(64).enumerate() {
            let planes: [u64; SUMS] = std::array::from_fn(|j| self.planes[j * self.stride + at]);
            for (group, numbers) in numbers.chunks(GROUP).enumerate() {
                // Entry `k` is the sum of the numbers at the bits of `k`.
                let mut table = [0_i128; 1 << GROUP];
                for (bit, &number) in numbers.iter().enumerate() {
                    let (known, new) = table[..2 << bit].split_at_mut(1 << bit);
                    new.iter_mut().zip(known).for_each(|(new, known)| *new = *known + number);
                }
                for (sum, plane) in sums.iter_mut().zip(planes) {
                    *sum += table[(plane >> (GROUP * group)) as usize % (1 << GROUP)];
                }
            }
        }
    }
}

/// Adds the product of a polynomial with coefficients 0 and 1, the bits of `word`, and another one to a third.
pub fn add_product(word: u64, other: &[i128; SUMS], sum: &mut [i128; 2 * SUMS - 1]) {
    for degree in 0..SUMS {
        // All ones if the coefficient is 1.
        let mask = -i128::from(word >> degree & 1);
        for (sum, &coefficient) in sum[degree..].iter_mut().zip(other) {
            *sum += coefficient & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::noise;

    #[test]
    fn sums_are_those_of_the_numbers_that_bits_pick() {
        for count in [0, 1, 3, 4, 5, 63, 64, 65, 200] {
            let words = noise::<u64>(1, count);
            let numbers: Vec<i128> = noise::<u128>(2, count).into_iter().map(|x| x as i128 >> 10).collect();
            let mut sums = [7; SUMS];
            Picks::new(&words).add_to(&numbers, &mut sums);
            for (j, &sum) in sums.iter().enumerate() {
                let picked = numbers.iter().zip(&words).filter(|(_, word)| *word >> j & 1 == 1);
                assert_eq!(sum, 7 + picked.map(|(number, _)| number).sum::<i128>());
            }
            let mut product = [1; 2 * SUMS - 1];
            add_product(0x8000_0000_0000_0005, &sums, &mut product);
            for (degree, &found) in product.iter().enumerate() {
                let of =
                    |shift: usize| degree.checked_sub(shift).and_then(|j| sums.get(j)).copied().unwrap_or(0);
                assert_eq!(found, 1 + of(0) + of(2) + of(63));
            }
        }
    }
}
