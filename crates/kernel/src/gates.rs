//! Gates of a Boolean circuit on rows of many instances.
//!
//! The memory of an evaluation is a list of slots of equal length. A slot holds one wire: for every component of
//! a sharing a row with a bit for each instance, rows one after another. Slots are named by their index.
//!
//! A slot's number comes from a circuit that was checked; a wrong one panics.

use crate::cpu;

/// Words that are taken at a time: four vectors of 512 bits, which stay in registers.
const BLOCK: usize = 32;

/// Added to the number of terms of a sum: it is the AND of its two terms instead.
pub const PRODUCT: u32 = 1 << 31;

/// Runs exclusive ors of whole slots, and ANDs ([`PRODUCT`]), one after another. `program` has for each its destination, the
/// number of its terms, and the terms; no terms make 0. A destination may be one of its own terms.
///
/// # Panics
/// If a slot isn't there, or the program ends in the middle of a sum, or an AND hasn't two terms.
pub fn sums(memory: &mut [u64], slot_words: usize, program: &[u32]) {
    cpu::run(
        #[inline(always)]
        || {
            let mut rest = program;
            while let [dst, count, terms @ ..] = rest {
                let (terms, after) = terms.split_at((count & !PRODUCT) as usize);
                match terms {
                    &[a, b] if count & PRODUCT != 0 => and(memory, slot_words, [a, b, *dst]),
                    _ => {
                        assert!(count & PRODUCT == 0, "an AND has two terms");
                        sum(memory, slot_words, *dst as usize * slot_words, terms);
                    }
                }
                rest = after;
            }
            assert!(rest.is_empty(), "a sum has a destination and a number of terms");
        },
    );
}

#[inline(always)]
fn sum(memory: &mut [u64], slot_words: usize, dst: usize, terms: &[u32]) {
    let whole = slot_words / BLOCK * BLOCK;
    for at in (0..whole).step_by(BLOCK) {
        let mut sum = [0; BLOCK];
        for &term in terms {
            let row = &memory[term as usize * slot_words + at..][..BLOCK];
            for (sum, word) in sum.iter_mut().zip(row) {
                *sum ^= word;
            }
        }
        memory[dst + at..][..BLOCK].copy_from_slice(&sum);
    }
    if whole < slot_words {
        let left = slot_words - whole;
        let mut sum = [0; BLOCK];
        for &term in terms {
            let row = &memory[term as usize * slot_words + whole..][..left];
            for (sum, word) in sum.iter_mut().zip(row) {
                *sum ^= word;
            }
        }
        memory[dst + whole..][..left].copy_from_slice(&sum[..left]);
    }
}

/// Runs ANDs of whole slots in the clear: left operand, right operand, destination.
///
/// # Panics
/// If a slot isn't there.
pub fn ands(memory: &mut [u64], slot_words: usize, gates: &[[u32; 3]]) {
    cpu::run(
        #[inline(always)]
        || {
            for gate in gates {
                and(memory, slot_words, *gate);
            }
        },
    );
}

#[inline(always)]
fn and(memory: &mut [u64], slot_words: usize, gate: [u32; 3]) {
    let [a, b, dst] = gate.map(|slot| slot as usize * slot_words);
    let mut at = 0;
    while at < slot_words {
        let count = BLOCK.min(slot_words - at);
        let mut product = [0; BLOCK];
        product[..count].copy_from_slice(&memory[a + at..][..count]);
        for (product, word) in product.iter_mut().zip(&memory[b + at..][..count]) {
            *product &= word;
        }
        memory[dst + at..][..count].copy_from_slice(&product[..count]);
        at += count;
    }
}

/// A party's part of ANDs of replicated sharings, whose slots are a row of `x_i` and a row of `x_(i-1)`. `out`
/// has a row for each gate: a mask before, and what the party sends after,
/// `mask ^ x_i y_i ^ x_i y_(i-1) ^ x_(i-1) y_i`. The same goes to the destination's first row.
///
/// Araki et al. 2016, section 2.1, in the form of Li et al. 2023, section 2.2.2.
///
/// # Panics
/// If a slot isn't there, or `out` isn't a row for each gate.
pub fn replicated_ands(memory: &mut [u64], row_words: usize, gates: &[[u32; 3]], out: &mut [u8]) {
    assert_eq!(out.len(), gates.len() * row_words * 8, "a row for each gate");
    cpu::run(
        #[inline(always)]
        || {
            for (gate, out) in gates.iter().zip(out.chunks_exact_mut(row_words * 8)) {
                let [a, b, dst] = gate.map(|slot| slot as usize * 2 * row_words);
                let whole = row_words / LINE * LINE;
                for at in (0..whole).step_by(LINE) {
                    let line = &mut out[at * 8..][..LINE * 8];
                    cross::<LINE>(memory, row_words, [a + at, b + at, dst + at], line);
                }
                for at in (whole..row_words).step_by(2) {
                    let line = &mut out[at * 8..][..16];
                    cross::<2>(memory, row_words, [a + at, b + at, dst + at], line);
                }
            }
        },
    );
}

/// Words of a cache line.
const LINE: usize = 8;

#[inline(always)]
fn cross<const N: usize>(memory: &mut [u64], row_words: usize, [a, b, dst]: [usize; 3], out: &mut [u8]) {
    let at = |from: usize| -> [u64; N] { std::array::from_fn(|i| memory[from..][..N][i]) };
    let (xi, xp, yi, yp) = (at(a), at(a + row_words), at(b), at(b + row_words));
    let mut z = [0; N];
    for (i, bytes) in out.as_chunks::<8>().0.iter().enumerate() {
        z[i] = u64::from_le_bytes(*bytes) ^ (xi[i] & (yi[i] ^ yp[i])) ^ (xp[i] & yi[i]);
    }
    for (word, bytes) in z.iter().zip(out.as_chunks_mut::<8>().0) {
        *bytes = word.to_le_bytes();
    }
    memory[dst..][..N].copy_from_slice(&z);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{at, available};
    use crate::noise::noise;

    const SLOTS: usize = 6;

    #[test]
    fn sums_are_those_of_the_words_at_every_length() {
        for words in [2, 4, 6, 32, 34, 64, 70] {
            let before: Vec<u64> = noise(1, SLOTS * words);
            // 4 = 1 ^ 2; 1 = 1 ^ 4 ^ 3 (onto itself); 5 = nothing; 0 = 5 ^ 1 ^ 1 ^ 2; 3 = 3 & 2 (onto itself).
            let program = [4, 2, 1, 2, 1, 3, 1, 4, 3, 5, 0, 0, 4, 5, 1, 1, 2, 3, PRODUCT | 2, 3, 2];
            for level in available() {
                let mut memory = before.clone();
                at(level, || sums(&mut memory, words, &program));
                for i in 0..words {
                    let old = |slot: usize| before[slot * words + i];
                    let new = |slot: usize| memory[slot * words + i];
                    assert_eq!(new(4), old(1) ^ old(2));
                    assert_eq!(new(1), old(1) ^ new(4) ^ old(3));
                    let expected = (0, old(2), old(3) & old(2));
                    assert_eq!((new(5), new(0), new(3)), expected, "{words} words at {level:?}");
                }
            }
        }
    }

    #[test]
    fn ands_are_those_of_the_words() {
        for words in [2, 32, 38] {
            let before: Vec<u64> = noise(2, SLOTS * words);
            for level in available() {
                let mut memory = before.clone();
                at(level, || ands(&mut memory, words, &[[0, 1, 4], [2, 2, 5]]));
                for i in 0..words {
                    let old = |slot: usize| before[slot * words + i];
                    assert_eq!(memory[4 * words + i], old(0) & old(1));
                    assert_eq!(memory[5 * words + i], old(2));
                }
            }
        }
    }

    #[test]
    fn the_parts_of_three_parties_are_a_sharing_of_the_product() {
        for row in [2, 8, 10, 16, 22] {
            // Components of six wires; party i holds components i and i - 1.
            let components: Vec<Vec<u64>> = (0..3).map(|i| noise(10 + i, SLOTS * row)).collect();
            let masks: Vec<Vec<u64>> = (0..2).map(|i| noise(20 + i, 2 * row)).collect();
            for level in available() {
                let mut product = vec![0; 2 * row];
                for party in 0..3 {
                    let (own, prev) = (&components[party], &components[(party + 2) % 3]);
                    let rows = own.chunks(row).zip(prev.chunks(row));
                    let mut memory: Vec<u64> = rows.flat_map(|(own, prev)| [own, prev].concat()).collect();
                    let mask: Vec<u64> = match party {
                        2 => masks[0].iter().zip(&masks[1]).map(|(a, b)| a ^ b).collect(),
                        _ => masks[party].clone(),
                    };
                    let mut out: Vec<u8> = mask.iter().flat_map(|word| word.to_le_bytes()).collect();
                    at(level, || replicated_ands(&mut memory, row, &[[0, 1, 4], [2, 3, 5]], &mut out));
                    let sent = out.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
                    for (i, word) in sent.enumerate() {
                        product[i] ^= word;
                        assert_eq!(memory[(4 + i / row) * 2 * row + i % row], word);
                    }
                }
                let clear = |slot: usize, i: usize| {
                    components.iter().map(|component| component[slot * row + i]).fold(0, |a, b| a ^ b)
                };
                for i in 0..row {
                    assert_eq!(product[i], clear(0, i) & clear(1, i), "{row} words at {level:?}");
                    assert_eq!(product[row + i], clear(2, i) & clear(3, i));
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "an AND has two terms")]
    fn an_and_of_three_is_refused() {
        sums(&mut [0; 4], 2, &[0, PRODUCT | 3, 1, 1, 1]);
    }

    #[test]
    #[should_panic(expected = "a destination and a number")]
    fn half_a_sum_is_refused() {
        sums(&mut [0; 4], 2, &[0, 0, 1]);
    }
}
