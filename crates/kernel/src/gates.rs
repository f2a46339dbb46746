//! Gates of a Boolean circuit on rows of many instances.
//!
//! The memory of an evaluation is a list of slots of equal length. A slot holds one wire: for every component of
//! a sharing a row with a bit for each instance, rows one after another. Slots are named by their index.
//!
//! A slot's number comes from a circuit that was checked; a wrong one panics.

use crate::cpu;

/// Words that are taken at a time: four vectors of 512 bits, which stay in registers.
const BLOCK: usize = 32;

/// Words that are taken at a time of what is left: a vector of 256 bits.
const FEW: usize = 4;

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

/// Narrow slots are as common as wide ones: those of few instances of a deep circuit. So what is left of a slot is taken a few
/// words at a time, too.
#[inline(always)]
fn sum(memory: &mut [u64], slot_words: usize, dst: usize, terms: &[u32]) {
    let mut at = 0;
    while at < slot_words {
        at += match slot_words - at {
            BLOCK.. => sum_words::<BLOCK>(memory, slot_words, dst, at, terms),
            FEW.. => sum_words::<FEW>(memory, slot_words, dst, at, terms),
            _ => sum_words::<1>(memory, slot_words, dst, at, terms),
        };
    }
}

/// Sums words `at` of some slots; how many.
#[inline(always)]
fn sum_words<const N: usize>(
    memory: &mut [u64],
    slot_words: usize,
    dst: usize,
    at: usize,
    terms: &[u32],
) -> usize {
    let mut sum = [0; N];
    for &term in terms {
        let from = term as usize * slot_words + at;
        let row = &memory[from..from + N];
        for i in 0..N {
            sum[i] ^= row[i];
        }
    }
    put(memory, dst + at, sum);
    N
}

/// Words from one place on.
#[inline(always)]
fn get<const N: usize>(memory: &[u64], from: usize) -> [u64; N] {
    *memory[from..].first_chunk().expect("a slot's words are there")
}

/// Writes words from one place on.
#[inline(always)]
fn put<const N: usize>(memory: &mut [u64], from: usize, words: [u64; N]) {
    *memory[from..].first_chunk_mut().expect("a slot's words are there") = words;
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
    let [a, b, dst] = slots(gate, slot_words);
    let mut at = 0;
    while at < slot_words {
        at += match slot_words - at {
            BLOCK.. => and_words::<BLOCK>(memory, [a + at, b + at, dst + at]),
            FEW.. => and_words::<FEW>(memory, [a + at, b + at, dst + at]),
            _ => and_words::<1>(memory, [a + at, b + at, dst + at]),
        };
    }
}

/// Where the slots of an AND's operands and of its result begin, in words.
type Slots = [usize; 3];

#[inline(always)]
fn and_words<const N: usize>(memory: &mut [u64], [a, b, dst]: Slots) -> usize {
    let (mut product, other) = (get::<N>(memory, a), get::<N>(memory, b));
    for i in 0..N {
        product[i] &= other[i];
    }
    put(memory, dst, product);
    N
}

/// Where a gate's slots begin.
#[inline(always)]
fn slots([a, b, dst]: [u32; 3], slot_words: usize) -> Slots {
    [a as usize * slot_words, b as usize * slot_words, dst as usize * slot_words]
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
    crosses(memory, row_words, gates, &mut Sent(out.as_chunks_mut().0));
}

/// As [`replicated_ands`], for ANDs that are proved: the masks are given as the two streams that they are the difference of,
/// and what the gates read is noted. A plane has a row for each gate: of `x_i`, `y_i`, `x_(i-1)` and `y_(i-1)`.
///
/// # Panics
/// If a slot isn't there, or `noted`, `masks` or `out` aren't a row for each gate.
pub fn noted_ands(
    memory: &mut [u64],
    row_words: usize,
    gates: &[[u32; 3]],
    masks: [&[u64]; 2],
    noted: [&mut [u64]; 4],
    out: &mut [u8],
) {
    let words = gates.len() * row_words;
    assert!(masks.iter().all(|masks| masks.len() == words), "a row for each gate");
    assert!(noted.iter().all(|plane| plane.len() == words), "a row for each gate");
    assert_eq!(out.len(), words * 8, "a row for each gate");
    crosses(memory, row_words, gates, &mut Notes { masks, planes: noted, sent: Sent(out.as_chunks_mut().0) });
}

/// A row for each gate, beside the memory.
trait Beside {
    /// What hides `N` words.
    fn masks<const N: usize>(&self, at: usize) -> [u64; N];

    /// Takes what these words of the gate's operands give: `x_i`, `y_i`, `x_(i-1)` and `y_(i-1)`.
    fn take<const N: usize>(&mut self, at: usize, operands: [[u64; N]; 4], sent: [u64; N]);
}

/// The masks, and in their places what is sent.
struct Sent<'a>(&'a mut [[u8; 8]]);

impl Beside for Sent<'_> {
    #[inline(always)]
    fn masks<const N: usize>(&self, at: usize) -> [u64; N] {
        let (row, mut masks) = (&self.0[at..at + N], [0; N]);
        for i in 0..N {
            masks[i] = u64::from_le_bytes(row[i]);
        }
        masks
    }

    #[inline(always)]
    fn take<const N: usize>(&mut self, at: usize, _: [[u64; N]; 4], sent: [u64; N]) {
        let row = &mut self.0[at..at + N];
        for i in 0..N {
            row[i] = sent[i].to_le_bytes();
        }
    }
}

/// Both streams of masks, what is noted, and what is sent.
struct Notes<'a> {
    masks: [&'a [u64]; 2],
    planes: [&'a mut [u64]; 4],
    sent: Sent<'a>,
}

impl Beside for Notes<'_> {
    #[inline(always)]
    fn masks<const N: usize>(&self, at: usize) -> [u64; N] {
        let (mut masks, other) = (get::<N>(self.masks[0], at), get::<N>(self.masks[1], at));
        for i in 0..N {
            masks[i] ^= other[i];
        }
        masks
    }

    #[inline(always)]
    fn take<const N: usize>(&mut self, at: usize, operands: [[u64; N]; 4], sent: [u64; N]) {
        for (plane, operand) in self.planes.iter_mut().zip(operands) {
            put(plane, at, operand);
        }
        self.sent.take(at, operands, sent);
    }
}

/// Words of a cache line.
const LINE: usize = 8;

#[inline(always)]
fn crosses(memory: &mut [u64], row_words: usize, gates: &[[u32; 3]], beside: &mut impl Beside) {
    cpu::run(
        #[inline(always)]
        || {
            let mut first = 0;
            for &gate in gates {
                let [a, b, dst] = slots(gate, 2 * row_words);
                let mut at = 0;
                while at < row_words {
                    let places = [a + at, b + at, dst + at];
                    at += match row_words - at {
                        LINE.. => cross::<LINE>(memory, row_words, places, first + at, beside),
                        _ => cross::<2>(memory, row_words, places, first + at, beside),
                    };
                }
                first += row_words;
            }
        },
    );
}

#[inline(always)]
fn cross<const N: usize>(
    memory: &mut [u64],
    row_words: usize,
    [a, b, dst]: Slots,
    at: usize,
    beside: &mut impl Beside,
) -> usize {
    let [x, x_prev] = [get::<N>(memory, a), get::<N>(memory, a + row_words)];
    let [y, y_prev] = [get::<N>(memory, b), get::<N>(memory, b + row_words)];
    let mut z = beside.masks::<N>(at);
    for i in 0..N {
        z[i] ^= (x[i] & (y[i] ^ y_prev[i])) ^ (x_prev[i] & y[i]);
    }
    beside.take(at, [x, y, x_prev, y_prev], z);
    put(memory, dst, z);
    N
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
                    let (gates, before) = ([[0, 1, 4], [2, 3, 5]], memory.clone());
                    at(level, || replicated_ands(&mut memory, row, &gates, &mut out));
                    note(level, before, row, &gates, (&mask, &memory, &out));
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

    /// Proved ANDs are the same ones, and note what they read.
    fn note(
        level: crate::cpu::Level,
        mut memory: Vec<u64>,
        row: usize,
        gates: &[[u32; 3]],
        (mask, after, sent): (&[u64], &[u64], &[u8]),
    ) {
        let before = memory.clone();
        let other: Vec<u64> = noise(30, mask.len());
        let one: Vec<u64> = mask.iter().zip(&other).map(|(mask, other)| mask ^ other).collect();
        let [mut x, mut y, mut x_prev, mut y_prev] = [1, 2, 3, 4].map(|seed| noise(seed, mask.len()));
        let mut out = vec![1; sent.len()];
        let noted = [&mut x[..], &mut y, &mut x_prev, &mut y_prev];
        at(level, || noted_ands(&mut memory, row, gates, [&one, &other], noted, &mut out));
        assert!(memory == after && out == sent, "{row} words at {level:?}");
        for (operand, planes) in [[x, x_prev], [y, y_prev]].into_iter().enumerate() {
            let read = gates.iter().map(|gate| &before[gate[operand] as usize * 2 * row..][..2 * row]);
            for (component, plane) in planes.into_iter().enumerate() {
                let expected: Vec<u64> =
                    read.clone().flat_map(|slot| slot[component * row..][..row].to_vec()).collect();
                assert!(plane == expected, "{row} words at {level:?}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "a row for each gate")]
    fn too_short_a_plane_is_refused() {
        let (mut planes, mut memory) = ([[0; 2], [0; 2], [0; 2]], [0; 12]);
        let [x, y, x_prev] = planes.each_mut().map(<[u64; 2]>::as_mut_slice);
        noted_ands(&mut memory, 2, &[[0, 1, 2]], [&[0; 2]; 2], [x, y, x_prev, &mut []], &mut [0; 16]);
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
