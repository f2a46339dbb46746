//! Half gates on rows of labels: Zahur, Rosulek, Evans, "Two halves make a whole", 2015, figure 2.
//!
//! A label is a `u128`, 16 bytes in messages, least significant first. A wire has a label for each of its two bits: `W`
//! for 0 and `W ^ delta` for 1, where `delta`, the same for all wires, is odd. So a label's lowest bit says nothing of
//! the wire's bit to a party that doesn't know that of `W`. A garbler's row holds `W` for every instance, an
//! evaluator's the label of the instance's bit, the active one. Exclusive ors of wires are those of rows:
//! [`crate::gates::sums`].
//!
//! **An AND** of wires `A` and `B` with lowest bits `p` and `q` of their false labels, `H` and `H'` the hash with the
//! two tweaks of the AND and the instance:
//!
//! ```text
//! tables  G = H(A) ^ H(A ^ delta) ^ q delta        E = H'(B) ^ H'(B ^ delta) ^ A
//! false   H(A) ^ p G  ^  H'(B) ^ q (E ^ A)
//! active  H(a) ^ s G  ^  H'(b) ^ t (E ^ a)         s and t the lowest bits of the active labels a and b
//! ```
//!
//! The first half makes `x & q`, the second one `x & (y ^ q)`, of which the evaluator knows `t = y ^ q`.
//!
//! **The hash.** `H(x, i) = AES_k(u) ^ u` with `u = sigma(x) ^ i`, where `sigma(h, l) = (h ^ l, h)` on halves of 64
//! bits, `k` is the AND's key, and the tweak `i` is `2 c` for the first half of instance `c` of the row and `2 c + 1`
//! for the second. What the proof needs of it (Guo, Katz, Wang, Weng, Yu, "Better concrete security for half-gates
//! garbling (in the multi-instance setting)", 2020, of whose construction this is a variant):
//!
//! - *Correlation robustness*, for the evaluator sees `H(x ^ delta)` masked by what it knows.
//! - *Circular*, for what is masked contains `delta` itself: `q delta` in `G`, and in `E` the false label of a wire
//!   whose bit is 1. With plain `AES(x) ^ x` the feed-forward could cancel it. `sigma` is linear and so is
//!   `x -> sigma(x) ^ x`, and both are one to one: `sigma(delta)` and `sigma(delta) ^ delta` both have all of `delta`'s
//!   entropy.
//! - *Tweaked*, for one label may enter many ANDs, and with the same hashes the sum of two tables would be `delta`.
//!   Under a key all tweaks differ, and whoever calls has a key for every AND and row.
//! - *For labels only*: strings that are random, results of the hash, fixed by everybody, or sums of those. Inputs `u`
//!   of two different tweaks meet by accident alone. An adversary who chose labels could make them meet, which two
//!   calls of the cipher would prevent (Guo et al., "Efficient and secure multiparty computation from fixed-key block
//!   ciphers", 2020); nobody chooses labels here, and half as many calls are enough.
//!
//! **What is left.** In the ideal-cipher model, with `m` hashed pairs of labels under each key and `n` in all: an
//! attacker that asks the cipher `t` times finds a hidden input or output with probability at most `2 m t / 2^127`, for
//! each question is of one key, and `delta` has 127 bits; and inputs or outputs under one key meet with at most
//! `4 m n / 2^127`.
//!
//! A row has at most [`MAX_ROW`] instances and so `m` is at most 2^10: 116 bits against an attacker that computes, and
//! after 2^40 ANDs 2^-74 by accident. (A single key for all of them would leave 85 bits: `n` would take the place of
//! `m`.)
//!
//! **Timing.** Labels, `delta` and lowest bits are never branched on and are never addresses.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use crate::cpu;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Level;

/// Bytes of a label.
pub const LABEL: usize = 16;

/// Bytes of an AND's table.
pub const TABLE: usize = 2 * LABEL;

/// Instances that a row has at most: what bounds the labels that are hashed under one key.
pub const MAX_ROW: usize = 512;

/// Garbles ANDs of whole slots: left operand, right operand, destination, as [`crate::gates::ands`] does in the
/// clear. `memory` has a row of `width` false labels for each slot. For every AND its table goes to `tables`: first
/// `G` of all instances, then `E` of all.
///
/// Four calls of AES for each instance of each AND; an AND's key is one of `keys`, which are public.
///
/// # Panics
/// If a slot isn't there, there isn't a key and room for a table for each AND, or a row is longer than [`MAX_ROW`].
pub fn garble(
    memory: &mut [u128],
    width: usize,
    delta: u128,
    gates: &[[u32; 3]],
    keys: &[[u8; 16]],
    tables: &mut [u8],
) {
    check(width, gates, keys, tables);
    if width == 0 {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if cpu::level() == Level::Avx512 {
        // SAFETY: the machine has the instructions of this level.
        return unsafe { avx512::garble(memory, width, delta, gates, keys, tables) };
    }
    cpu::run(
        #[inline(always)]
        || portable::garble(memory, width, delta, gates, keys, tables),
    );
}

/// Evaluates ANDs of whole slots that [`garble`] garbled with the same gates, keys and width. `memory` has a row of
/// active labels for each slot.
///
/// Two calls of AES for each instance of each AND.
///
/// # Panics
/// If a slot isn't there, there isn't a key and a table for each AND, or a row is longer than [`MAX_ROW`].
pub fn evaluate(memory: &mut [u128], width: usize, gates: &[[u32; 3]], keys: &[[u8; 16]], tables: &[u8]) {
    check(width, gates, keys, tables);
    if width == 0 {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if cpu::level() == Level::Avx512 {
        // SAFETY: the machine has the instructions of this level.
        return unsafe { avx512::evaluate(memory, width, gates, keys, tables) };
    }
    cpu::run(
        #[inline(always)]
        || portable::evaluate(memory, width, gates, keys, tables),
    );
}

fn check(width: usize, gates: &[[u32; 3]], keys: &[[u8; 16]], tables: &[u8]) {
    assert!(width <= MAX_ROW, "a row has at most {MAX_ROW} instances");
    assert_eq!(keys.len(), gates.len(), "a key for each AND");
    assert_eq!(tables.len(), gates.len() * width * TABLE, "a table for each AND and instance");
}

/// Hashes a row of labels where they stand, with the tweaks of ANDs' first halves. No AND has the same key.
///
/// # Panics
/// If the row is longer than [`MAX_ROW`], or ends in the middle of a label.
pub fn hash(key: &[u8; 16], labels: &mut [u8]) {
    let (labels, rest) = labels.as_chunks_mut();
    assert!(rest.is_empty(), "a label has {LABEL} bytes");
    assert!(labels.len() <= MAX_ROW, "a row has at most {MAX_ROW} instances");
    #[cfg(target_arch = "x86_64")]
    if cpu::level() == Level::Avx512 {
        // SAFETY: the machine has the instructions of this level.
        return unsafe { avx512::hash(key, labels) };
    }
    cpu::run(
        #[inline(always)]
        || portable::hash(key, labels),
    );
}

/// What labels differ in from those that some bits, one packed bit for each, choose of two rows: 0 if in nothing.
///
/// # Panics
/// If the rows aren't equally long, there aren't as many words of bits as it takes, or a row ends in the middle of a label.
pub fn difference(labels: &[u8], zeros: &[u8], ones: &[u8], bits: &[u64]) -> u128 {
    let [labels, zeros, ones] = [labels, zeros, ones].map(|row| {
        let (row, rest) = row.as_chunks::<LABEL>();
        assert!(rest.is_empty(), "a label has {LABEL} bytes");
        row
    });
    assert!(labels.len() == zeros.len() && labels.len() == ones.len(), "rows of as many labels");
    assert_eq!(bits.len(), labels.len().div_ceil(64), "a bit for each label");
    cpu::run(
        #[inline(always)]
        || {
            let mut difference = 0;
            let rows = labels.chunks(64).zip(zeros.chunks(64)).zip(ones.chunks(64)).zip(bits);
            for (((labels, zeros), ones), &word) in rows {
                for (i, ((label, zero), one)) in labels.iter().zip(zeros).zip(ones).enumerate() {
                    let [label, zero, one] = [label, zero, one].map(|label| u128::from_le_bytes(*label));
                    difference |= label ^ zero ^ (zero ^ one) & mask(u128::from(word >> i));
                }
            }
            difference
        },
    )
}

/// Turns false labels into those of some bits, one packed bit for each: `label ^ bit delta`.
///
/// # Panics
/// If there aren't as many words of bits as it takes, or the row ends in the middle of a label.
pub fn choose(labels: &mut [u8], bits: &[u64], delta: u128) {
    let (labels, rest) = labels.as_chunks_mut();
    assert!(rest.is_empty(), "a label has {LABEL} bytes");
    assert_eq!(bits.len(), labels.len().div_ceil(64), "a bit for each label");
    cpu::run(
        #[inline(always)]
        || {
            for (labels, &word) in labels.chunks_mut(64).zip(bits) {
                for (i, label) in labels.iter_mut().enumerate() {
                    let chosen = u128::from_le_bytes(*label) ^ delta & mask(u128::from(word >> i));
                    *label = chosen.to_le_bytes();
                }
            }
        },
    );
}

/// Exchanges the labels of two rows where a packed bit is 1.
///
/// # Panics
/// If the rows aren't equally long, there aren't as many words of bits as it takes, or a row ends in the middle of a label.
pub fn exchange(first: &mut [u8], second: &mut [u8], bits: &[u64]) {
    let ((first, rest), (second, more)) = (first.as_chunks_mut::<LABEL>(), second.as_chunks_mut::<LABEL>());
    assert!(rest.is_empty() && more.is_empty(), "a label has {LABEL} bytes");
    assert_eq!(first.len(), second.len(), "rows of as many labels");
    assert_eq!(bits.len(), first.len().div_ceil(64), "a bit for each label");
    cpu::run(
        #[inline(always)]
        || {
            let rows = first.chunks_mut(64).zip(second.chunks_mut(64));
            for ((first, second), &word) in rows.zip(bits) {
                for (i, (a, b)) in first.iter_mut().zip(second).enumerate() {
                    let [x, y] = [&*a, &*b].map(|label| u128::from_le_bytes(*label));
                    let both = (x ^ y) & mask(u128::from(word >> i));
                    (*a, *b) = ((x ^ both).to_le_bytes(), (y ^ both).to_le_bytes());
                }
            }
        },
    );
}

/// Adds the labels' lowest bits, packed, to `bits`.
///
/// # Panics
/// If there aren't as many words of bits as it takes, or the row ends in the middle of a label.
pub fn xor_low_bits(labels: &[u8], bits: &mut [u64]) {
    let (labels, rest) = labels.as_chunks::<LABEL>();
    assert!(rest.is_empty(), "a label has {LABEL} bytes");
    assert_eq!(bits.len(), labels.len().div_ceil(64), "a bit for each label");
    for (labels, word) in labels.chunks(64).zip(bits) {
        for (i, label) in labels.iter().enumerate() {
            *word ^= u64::from(label[0] & 1) << i;
        }
    }
}

/// `(h ^ l, h)` for the halves `h`, the higher one, and `l`.
#[inline(always)]
fn sigma(label: u128) -> u128 {
    let high = label >> 64;
    (high ^ label) << 64 | high
}

/// All ones if the lowest bit is 1.
#[inline(always)]
fn mask(label: u128) -> u128 {
    (label & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{at, available};
    use crate::noise::{lengths, noise};
    use ::aes::Aes128;
    use ::aes::cipher::{BlockCipherEncrypt, KeyInit};

    const SLOTS: usize = 6;
    /// Two of other slots, one of a slot with itself, and one onto its own operand.
    const GATES: [[u32; 3]; 4] = [[0, 1, 3], [1, 2, 4], [2, 2, 5], [0, 1, 0]];
    const WIDTHS: [usize; 16] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, MAX_ROW];

    fn keys() -> Vec<[u8; 16]> {
        noise::<u128>(3, GATES.len()).into_iter().map(u128::to_le_bytes).collect()
    }

    fn delta() -> u128 {
        noise::<u128>(4, 1)[0] | 1
    }

    /// The hash by its definition.
    fn reference(key: [u8; 16], label: u128, tweak: u128) -> u128 {
        let input = sigma(label) ^ tweak;
        let mut block = input.to_le_bytes().into();
        Aes128::new(&key.into()).encrypt_block(&mut block);
        u128::from_le_bytes(block.into()) ^ input
    }

    /// Garbled memory and tables at a level.
    fn garbled(width: usize, level: cpu::Level) -> (Vec<u128>, Vec<u8>) {
        let mut memory = noise::<u128>(1, SLOTS * width);
        let mut tables = vec![0; GATES.len() * width * TABLE];
        at(level, || garble(&mut memory, width, delta(), &GATES, &keys(), &mut tables));
        (memory, tables)
    }

    #[test]
    fn tables_and_labels_are_those_of_the_paper() {
        for width in lengths(4, WIDTHS) {
            let mut memory = noise::<u128>(1, SLOTS * width);
            let mut expected = Vec::new();
            let delta = delta();
            for (gate, key) in GATES.iter().zip(keys()) {
                let [a, b, to] = gate.map(|slot| slot as usize * width);
                let (mut left, mut right) = (Vec::new(), Vec::new());
                for c in 0..width {
                    let (a, b) = (memory[a + c], memory[b + c]);
                    let hash = |label, half| reference(key, label, 2 * c as u128 + half);
                    let (p, q) = (a & 1, b & 1);
                    let generator = hash(a, 0) ^ hash(a ^ delta, 0) ^ (q * delta);
                    let evaluator = hash(b, 1) ^ hash(b ^ delta, 1) ^ a;
                    memory[to + c] = hash(a, 0) ^ (p * generator) ^ hash(b, 1) ^ (q * (evaluator ^ a));
                    left.extend(generator.to_le_bytes());
                    right.extend(evaluator.to_le_bytes());
                }
                expected.extend([left, right].concat());
            }
            for level in available() {
                let (garbled, tables) = garbled(width, level);
                assert_eq!(tables, expected, "{width} instances at {level:?}");
                assert_eq!(garbled, memory, "{width} instances at {level:?}");
            }
        }
    }

    #[test]
    fn active_labels_are_those_of_the_products() {
        for width in lengths(4, WIDTHS) {
            let (falses, tables) = garbled(width, cpu::level());
            let bits: Vec<u64> = noise(2, SLOTS * width);
            // The last gate overwrites what it reads.
            let mut clear = bits.clone();
            for gate in GATES {
                let [a, b, to] = gate.map(|slot| slot as usize * width);
                for c in 0..width {
                    clear[to + c] = clear[a + c] & clear[b + c];
                }
            }
            let before = noise::<u128>(1, SLOTS * width).into_iter().zip(&bits);
            let before: Vec<u128> = before.map(|(label, &bit)| label ^ delta() & mask(bit.into())).collect();
            for level in available() {
                let mut active = before.clone();
                at(level, || evaluate(&mut active, width, &GATES, &keys(), &tables));
                for ((label, active), bit) in falses.iter().zip(active).zip(&clear) {
                    let expected = label ^ delta() & mask((*bit).into());
                    assert_eq!(active, expected, "{width} instances at {level:?}");
                }
            }
        }
    }

    #[test]
    fn sigma_and_sigma_less_itself_are_one_to_one() {
        // Both are linear, and so one to one if no combination of the images of single bits vanishes.
        for map in [sigma, |label| sigma(label) ^ label] {
            let mut images: Vec<u128> = (0..128).map(|bit| map(1 << bit)).collect();
            for bit in 0..128 {
                let pivot = (bit..128).find(|&row| images[row] >> bit & 1 == 1).expect("full rank");
                images.swap(bit, pivot);
                for row in bit + 1..128 {
                    images[row] ^= images[bit] * (images[row] >> bit & 1);
                }
            }
        }
    }

    #[test]
    fn rows_are_hashed_as_first_halves_are() {
        let key = keys()[0];
        for width in lengths(4, WIDTHS) {
            let labels = noise::<u128>(5, width);
            for level in available() {
                let mut hashed = labels.clone();
                at(level, || hash(&key, bytemuck::cast_slice_mut(&mut hashed)));
                for (c, (label, hashed)) in labels.iter().zip(hashed).enumerate() {
                    assert_eq!(hashed, reference(key, *label, 2 * c as u128), "{width} labels at {level:?}");
                }
            }
        }
    }

    #[test]
    fn bits_choose_labels_and_low_bits_are_gathered() {
        for width in lengths(4, WIDTHS) {
            let (labels, bits) = (noise::<u128>(6, width), noise::<u64>(7, width.div_ceil(64)));
            let bit = |row: &[u64], c: usize| row[c / 64] >> (c % 64) & 1;
            for level in available() {
                let mut chosen = labels.clone();
                let mut low = bits.clone();
                at(level, || choose(bytemuck::cast_slice_mut(&mut chosen), &bits, delta()));
                at(level, || xor_low_bits(bytemuck::cast_slice(&labels), &mut low));
                for c in 0..width {
                    assert_eq!(chosen[c], labels[c] ^ (u128::from(bit(&bits, c)) * delta()));
                    assert_eq!(bit(&low, c), bit(&bits, c) ^ labels[c] as u64 & 1);
                }
            }
        }
    }

    #[test]
    fn any_difference_from_what_bits_choose_is_found() {
        for width in lengths(4, WIDTHS).filter(|&width| width > 0) {
            let [zeros, ones] = [8, 9].map(|seed| noise::<u128>(seed, width));
            let bits = noise::<u64>(7, width.div_ceil(64));
            let bit = |c: usize| bits[c / 64] >> (c % 64) & 1 == 1;
            let chosen: Vec<u128> = (0..width).map(|c| if bit(c) { ones[c] } else { zeros[c] }).collect();
            for level in available() {
                let found = |labels: &[u128]| {
                    let [labels, zeros, ones] = [labels, &zeros, &ones].map(bytemuck::cast_slice);
                    at(level, || difference(labels, zeros, ones, &bits))
                };
                assert_eq!(found(&chosen), 0);
                for c in [0, width / 2, width - 1] {
                    let mut other = chosen.clone();
                    other[c] ^= 1 << (c % 128);
                    assert_eq!(found(&other), 1 << (c % 128));
                }
            }
        }
    }

    #[test]
    fn rows_are_exchanged_where_bits_are_set() {
        for width in lengths(4, WIDTHS) {
            let [a, b] = [8, 9].map(|seed| noise::<u128>(seed, width));
            let bits = noise::<u64>(7, width.div_ceil(64));
            for level in available() {
                let (mut first, mut second) = (a.clone(), b.clone());
                let [one, two] = [&mut first, &mut second].map(|row| bytemuck::cast_slice_mut(row));
                at(level, || exchange(one, two, &bits));
                for c in 0..width {
                    let pair = if bits[c / 64] >> (c % 64) & 1 == 1 { (b[c], a[c]) } else { (a[c], b[c]) };
                    assert_eq!((first[c], second[c]), pair);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "at most 512 instances")]
    fn rows_that_would_hash_too_much_under_a_key_are_refused() {
        hash(&[0; 16], &mut [0; (MAX_ROW + 1) * LABEL]);
    }

    #[test]
    #[should_panic(expected = "a table for each AND")]
    fn tables_of_another_length_are_refused() {
        evaluate(&mut [0; 30], 10, &[[0, 1, 2]], &[[0; 16]], &[0; 319]);
    }
}
