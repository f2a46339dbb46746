//! Exact sums of numbers that bits pick: a vector of integers, projected on polynomials with coefficients 0 and 1.

#[cfg(target_arch = "x86_64")]
mod avx512;

use crate::cpu;

/// Coefficients of a polynomial: sums that one word of bits picks numbers for.
pub const SUMS: usize = 64;

/// Bits of a number's lower part, and numbers whose lower parts' sum is a word.
const LOW: u32 = 40;
const MANY: usize = 1 << 20;

/// Bits of a part of a number that isn't long, and numbers whose parts' sum is half a word.
const PART: u32 = 22;
#[cfg(target_arch = "x86_64")]
const SOME: usize = 1 << (32 - PART);

/// [`add_picked`] of numbers from -2^65 to below 2^65. Whoever calls it knows that they are, whatever the secrets
/// are: the numbers themselves don't choose how they are added. It costs 192 additions of half words for a number,
/// sixteen at a time, where the machine can.
///
/// # Panics
/// As [`add_picked`]; and with debug assertions if a number is longer.
pub fn add_picked_short(words: &[u64], numbers: &[i128], sums: &mut [i128; SUMS]) {
    assert_eq!(words.len(), numbers.len(), "a number for every word of bits");
    debug_assert!(numbers.iter().all(|number| matches!(number >> (3 * PART - 1), -1 | 0)), "a long number");
    #[cfg(target_arch = "x86_64")]
    if cpu::level() == cpu::Level::Avx512 {
        for (words, numbers) in words.chunks(SOME).zip(numbers.chunks(SOME)) {
            // SAFETY: the machine has the instructions of this level.
            let [low, middle, high] = unsafe { avx512::picked_in_parts(words, numbers) };
            for (sum, ((low, middle), high)) in sums.iter_mut().zip(low.into_iter().zip(middle).zip(high)) {
                let parts = i64::from(low) + (i64::from(middle) << PART);
                *sum += i128::from(parts) + (i128::from(high.cast_signed()) << (2 * PART));
            }
        }
        return;
    }
    add_picked(words, numbers, sums);
}

/// Adds to sum `j` the numbers that bit `j` of their words picks, one word for each. Of 2^20 that follow one another, the
/// sizes add up to less than 2^103. It costs 128 additions of words for a number, eight at a time where the machine can.
///
/// # Panics
/// If there are more numbers than words, or fewer; and with overflow checks if a sum leaves 128 bits.
pub fn add_picked(words: &[u64], numbers: &[i128], sums: &mut [i128; SUMS]) {
    assert_eq!(words.len(), numbers.len(), "a number for every word of bits");
    for (words, numbers) in words.chunks(MANY).zip(numbers.chunks(MANY)) {
        let [low, high] = picked(words, numbers);
        for ((sum, low), high) in sums.iter_mut().zip(low).zip(high) {
            *sum += i128::from(low) + (i128::from(high as i64) << LOW);
        }
    }
}

/// The sums of the numbers' low and high parts that bits pick, of at most [`MANY`].
fn picked(words: &[u64], numbers: &[i128]) -> [[u64; SUMS]; 2] {
    #[cfg(target_arch = "x86_64")]
    if cpu::level() == cpu::Level::Avx512 {
        // SAFETY: the machine has the instructions of this level.
        return unsafe { avx512::picked(words, numbers) };
    }
    let [mut low, mut high] = [[0_u64; SUMS]; 2];
    cpu::run(
        #[inline(always)]
        || {
            for (&word, &number) in words.iter().zip(numbers) {
                let (of_low, of_high) = (number as u64 % (1 << LOW), (number >> LOW) as u64);
                for sum in 0..SUMS {
                    // All ones if it is picked.
                    let mask = if word & (1 << sum) == 0 { 0 } else { u64::MAX };
                    low[sum] += of_low & mask;
                    high[sum] = high[sum].wrapping_add(of_high & mask);
                }
            }
        },
    );
    [low, high]
}

/// Adds the product of a polynomial with coefficients 0 and 1, the bits of `word`, and another one to a third. The bits are
/// no secret.
pub fn add_product(word: u64, other: &[i128; SUMS], sum: &mut [i128; 2 * SUMS - 1]) {
    for degree in (0..SUMS).filter(|degree| word >> degree & 1 == 1) {
        sum[degree..].iter_mut().zip(other).for_each(|(sum, &coefficient)| *sum += coefficient);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::noise;

    #[test]
    fn sums_are_those_of_the_numbers_that_bits_pick() {
        cpu::available().for_each(|level| cpu::at(level, sums_of_numbers));
    }

    fn sums_of_numbers() {
        for count in [0, 1, 3, 4, 5, 63, 64, 65, 200] {
            let words = noise::<u64>(1, count);
            for bits in [80, 66, 64] {
                let number = |x: u128| x as i128 >> (128 - bits);
                let numbers: Vec<i128> = noise::<u128>(2, count).into_iter().map(number).collect();
                sums_and_product(&words, &numbers);
            }
        }
        let many = if cfg!(miri) { 65 } else { 3000 };
        // The largest and the least that have few parts, one more, and one less.
        for number in [(1 << 65) - 1, 1 << 65, -(1 << 65), -(1 << 65) - 1] {
            sums_and_product(&vec![u64::MAX; many], &vec![number; many]);
        }
    }

    fn sums_and_product(words: &[u64], numbers: &[i128]) {
        let mut sums = [7; SUMS];
        add_picked(words, numbers, &mut sums);
        if numbers.iter().all(|number| (-1 << 65..1 << 65).contains(number)) {
            let mut short = [7; SUMS];
            add_picked_short(words, numbers, &mut short);
            assert_eq!(short, sums);
        }
        for (j, &sum) in sums.iter().enumerate() {
            let picked = numbers.iter().zip(words).filter(|(_, word)| *word >> j & 1 == 1);
            assert_eq!(sum, 7 + picked.map(|(number, _)| number).sum::<i128>());
        }
        let mut product = [1; 2 * SUMS - 1];
        add_product(0x8000_0000_0000_0005, &sums, &mut product);
        for (degree, &found) in product.iter().enumerate() {
            let of = |shift: usize| degree.checked_sub(shift).and_then(|j| sums.get(j)).copied().unwrap_or(0);
            assert_eq!(found, 1 + of(0) + of(2) + of(63));
        }
    }
}
