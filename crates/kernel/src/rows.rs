//! A matrix of bits of 128 columns: from columns to rows, and corrections of columns.
//!
//! Columns follow one another, all of the same length, packed. Bit `j` of row `i` is bit `i` of column `j`.

#[cfg(target_arch = "x86_64")]
mod avx512;

use crate::cpu;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Level;

/// Columns of a matrix: bits of a row.
pub const COLUMNS: usize = 128;

/// Writes the rows of a matrix.
///
/// # Panics
/// If rows don't come in whole words of 64, or there aren't as many columns of that length.
pub fn from_columns(columns: &[u64], rows: &mut [u128]) {
    assert!(rows.len().is_multiple_of(64), "rows are whole words of a column");
    let words = rows.len() / 64;
    assert_eq!(columns.len(), COLUMNS * words, "{COLUMNS} columns of {words} words");
    #[cfg(not(target_arch = "x86_64"))]
    let first = 0;
    #[cfg(target_arch = "x86_64")]
    let first = if cpu::level() == Level::Avx512 { words / 8 * 8 } else { 0 };
    #[cfg(target_arch = "x86_64")]
    if first > 0 {
        // SAFETY: the machine has the instructions of this level.
        unsafe { avx512::from_columns(columns, words, &mut rows[..64 * first]) };
    }
    cpu::run(
        #[inline(always)]
        || {
            for word in first..words {
                let mut square = std::array::from_fn(|j| {
                    u128::from(columns[j % 64 * words + word])
                        | u128::from(columns[(j % 64 + 64) * words + word]) << 64
                });
                transpose(&mut square);
                rows[64 * word..][..64].copy_from_slice(&square);
            }
        },
    );
}

/// Transposes two 64 x 64 matrices of bits side by side, as [`crate::transpose`] does eight.
#[inline(always)]
fn transpose(square: &mut [u128; 64]) {
    let mut size = 32;
    let mut mask = u64::MAX >> 32;
    while size > 0 {
        let both = u128::from(mask) << 64 | u128::from(mask);
        for pair in square.chunks_exact_mut(2 * size) {
            let (low, high) = pair.split_at_mut(size);
            for (low, high) in low.iter_mut().zip(high) {
                let swapped = (*low >> size ^ *high) & both;
                *low ^= swapped << size;
                *high ^= swapped;
            }
        }
        size /= 2;
        mask ^= mask << size;
    }
}

/// Adds a column to those where a bit is 1. Bits are secret.
///
/// # Panics
/// If there are more than 128 columns, or they have another length.
pub fn add_where(columns: &mut [u64], column: &[u64], bits: u128) {
    let count = columns.len().checked_div(column.len()).unwrap_or(0);
    assert!(columns.len() == count * column.len() && count <= COLUMNS, "columns of one length");
    cpu::run(
        #[inline(always)]
        || {
            for (j, target) in columns.chunks_exact_mut(column.len().max(1)).enumerate() {
                let mask = ((bits >> j) as u64 & 1).wrapping_neg();
                for (word, add) in target.iter_mut().zip(column) {
                    *word ^= add & mask;
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::get;
    use crate::cpu::{at, available};
    use crate::noise::{lengths, noise};

    #[test]
    fn rows_have_the_bits_of_the_columns() {
        for words in lengths(1, [0, 1, 7, 8, 9, 16, 64]) {
            let columns = noise::<u64>(3, COLUMNS * words);
            for level in available() {
                let mut rows = vec![7; 64 * words];
                at(level, || from_columns(&columns, &mut rows));
                for (i, row) in rows.iter().enumerate() {
                    for j in 0..COLUMNS {
                        let bit = get(&columns[j * words..], i);
                        assert_eq!(row >> j & 1 == 1, bit, "row {i}, column {j}, {words} words, {level:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_column_is_added_where_a_bit_is_set() {
        for words in lengths(1, [1, 8, 13]) {
            for count in [1, 4, 128] {
                let (before, column) = (noise::<u64>(4, count * words), noise::<u64>(5, words));
                let bits = noise::<u128>(6, 1)[0];
                for level in available() {
                    let mut columns = before.clone();
                    at(level, || add_where(&mut columns, &column, bits));
                    for (at, word) in columns.iter().enumerate() {
                        let added = if bits >> (at / words) & 1 == 1 { column[at % words] } else { 0 };
                        assert_eq!(*word, before[at] ^ added);
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "128 columns of 1 words")]
    fn missing_columns_are_refused() {
        from_columns(&[0; 127], &mut [0; 64]);
    }
}
