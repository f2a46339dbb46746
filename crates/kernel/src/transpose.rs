//! Numbers to bit planes and back: the step between arithmetic and Boolean form.
//!
//! Plane `j` holds bit `j` of every element, packed as in [`crate::bits`]; plane `j` begins at word `j * stride`
//! and has a bit for every element, the unused bits of its last word being zero.

#[cfg(target_arch = "x86_64")]
mod avx512;

use std::ops::Range;

use crate::bits::words;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Level;
use crate::{Word, cpu};

/// Writes the low `bits` bits of every element to planes 0 to `bits - 1`: bit `j` of element `i` becomes bit `i`
/// of plane `j`. Words of `planes` between one plane's end and the next one's beginning stay as they are.
///
/// # Panics
/// If `bits` is more than the word has, or the planes don't fit into `planes`.
pub fn to_planes<W: Word>(src: &[W], bits: usize, planes: &mut [u64], stride: usize) {
    check_planes::<W>(src.len(), bits, planes.len(), stride);
    let mut tile = [[0; LINE]; 64];
    for (index, chunk) in src.chunks(CHUNK).enumerate() {
        if let Ok(full) = chunk.try_into() {
            split(full, &mut tile);
        } else {
            let mut padded = [W::ZERO; CHUNK];
            padded[..chunk.len()].copy_from_slice(chunk);
            split(&padded, &mut tile);
        }
        let used = words(chunk.len());
        for (plane, line) in tile[..bits].iter().enumerate() {
            copy_line(&line[..used], &mut planes[plane * stride + index * LINE..][..used]);
        }
    }
}

/// Puts elements together from planes 0 to `bits - 1`, the inverse of [`to_planes`]; higher bits become zero.
/// Unused bits of a plane's last word are ignored.
///
/// # Panics
/// If `bits` is more than the word has, or `planes` hasn't as many planes.
pub fn from_planes<W: Word>(planes: &[u64], bits: usize, stride: usize, dst: &mut [W]) {
    check_planes::<W>(dst.len(), bits, planes.len(), stride);
    let mut tile = [[0; LINE]; 64];
    for (index, chunk) in dst.chunks_mut(CHUNK).enumerate() {
        let used = words(chunk.len());
        for (plane, line) in tile[..bits].iter_mut().enumerate() {
            copy_line(&planes[plane * stride + index * LINE..][..used], &mut line[..used]);
        }
        tile[bits..].fill([0; LINE]);
        if let Ok(full) = (&mut *chunk).try_into() {
            join(&mut tile, full);
        } else {
            let mut padded = [W::ZERO; CHUNK];
            join(&mut tile, &mut padded);
            chunk.copy_from_slice(&padded[..chunk.len()]);
        }
    }
}

/// Takes bits out of elements that follow one another without a gap: element `i` begins at bit `i * width` of
/// `src`. Bits `bits` of elements `elements` go to planes 0, 1, ... of `planes`, first element first, like
/// [`to_planes`]'s.
///
/// # Panics
/// If an element leaves `src`, if there are more than 64 `bits` or they leave the element, or if the planes don't
/// fit into `planes`.
pub fn slice(
    src: &[u64],
    width: usize,
    elements: Range<usize>,
    bits: Range<usize>,
    planes: &mut [u64],
    stride: usize,
) {
    check_elements(src, width, &elements, &bits);
    check_planes::<u64>(elements.len(), bits.len(), planes.len(), stride);
    let mut chunk = [0; CHUNK];
    let mut tile = [[0; LINE]; 64];
    for (index, first) in elements.clone().step_by(CHUNK).enumerate() {
        let count = CHUNK.min(elements.end - first);
        if width == 64 && bits.start == 0 {
            chunk[..count].copy_from_slice(&src[first..first + count]);
        } else {
            for (i, word) in chunk[..count].iter_mut().enumerate() {
                *word = read_bits(src, (first + i) * width + bits.start);
            }
        }
        chunk[count..].fill(0);
        split(&chunk, &mut tile);
        let used = words(count);
        for (plane, line) in tile[..bits.len()].iter().enumerate() {
            copy_line(&line[..used], &mut planes[plane * stride + index * LINE..][..used]);
        }
    }
}

/// Puts bits back into elements that follow one another without a gap, the inverse of [`slice()`]. Other bits of
/// `dst` stay.
///
/// # Panics
/// As [`slice()`] does.
pub fn unslice(
    planes: &[u64],
    stride: usize,
    dst: &mut [u64],
    width: usize,
    elements: Range<usize>,
    bits: Range<usize>,
) {
    check_elements(dst, width, &elements, &bits);
    check_planes::<u64>(elements.len(), bits.len(), planes.len(), stride);
    let mut chunk = [0_u64; CHUNK];
    let mut tile = [[0; LINE]; 64];
    for (index, first) in elements.clone().step_by(CHUNK).enumerate() {
        let count = CHUNK.min(elements.end - first);
        let used = words(count);
        for (plane, line) in tile[..bits.len()].iter_mut().enumerate() {
            copy_line(&planes[plane * stride + index * LINE..][..used], &mut line[..used]);
        }
        tile[bits.len()..].fill([0; LINE]);
        join(&mut tile, &mut chunk);
        for (i, &word) in chunk[..count].iter().enumerate() {
            write_bits(dst, (first + i) * width + bits.start, bits.len(), word);
        }
    }
}

/// 64 bits from bit `at` on; those beyond the end of `src` are unspecified.
#[inline]
fn read_bits(src: &[u64], at: usize) -> u64 {
    let (word, shift) = (at / 64, at % 64);
    let low = src.get(word).map_or(0, |word| word >> shift);
    // Shifted in two steps: by 64 at once isn't defined.
    let high = src.get(word + 1).map_or(0, |word| word << 1 << (63 - shift));
    low | high
}

/// Writes the low `count` bits of `value` from bit `at` on.
#[inline]
fn write_bits(dst: &mut [u64], at: usize, count: usize, value: u64) {
    let (word, shift) = (at / 64, at % 64);
    if count == 64 && shift == 0 {
        dst[word] = value;
        return;
    }
    let mask = if count == 64 { u64::MAX } else { (1 << count) - 1 };
    let value = value & mask;
    dst[word] = dst[word] & !(mask << shift) | value << shift;
    if shift + count > 64 {
        let above = 64 - shift;
        dst[word + 1] = dst[word + 1] & !(mask >> above) | value >> above;
    }
}

/// Makes every bit of a row a word, 0 or 1.
///
/// # Panics
/// If the row has fewer bits than `dst` has words.
pub fn bit_to_words<W: Word>(row: &[u64], dst: &mut [W]) {
    assert!(words(dst.len()) <= row.len(), "a row has a bit for every word");
    cpu::run(
        #[inline(always)]
        || {
            for (chunk, &bits) in dst.chunks_mut(64).zip(row) {
                for (i, word) in chunk.iter_mut().enumerate() {
                    *word = W::from_u64(bits >> i & 1);
                }
            }
        },
    );
}

/// Words of a plane that are made at a time: a cache line, so that planes are written line by line.
const LINE: usize = 8;

/// Elements that are transposed at a time.
const CHUNK: usize = 64 * LINE;

/// A line of each of 64 planes.
type Tile = [[u64; LINE]; 64];

fn check_planes<W: Word>(count: usize, bits: usize, available: usize, stride: usize) {
    assert!(bits <= W::BITS as usize, "a word of {} bits has no {bits} planes", W::BITS);
    let needed =
        bits.checked_sub(1).map_or(Some(0), |last| last.checked_mul(stride)?.checked_add(words(count)));
    assert!(bits <= 1 || words(count) <= stride, "a plane of {count} bits fits its {stride} words");
    assert!(needed.is_some_and(|needed| needed <= available), "{bits} planes fit their memory");
}

fn check_elements(memory: &[u64], width: usize, elements: &Range<usize>, bits: &Range<usize>) {
    let end = elements.end.checked_mul(width);
    assert!(end.is_some_and(|end| words(end) <= memory.len()), "elements lie inside their memory");
    assert!(bits.len() <= 64 && bits.end <= width, "at most 64 bits, all of them the element's");
}

/// Copies words that are nearly always a whole line: a length known in advance saves a call.
#[inline]
fn copy_line(from: &[u64], to: &mut [u64]) {
    match (<&[u64; LINE]>::try_from(from), <&mut [u64; LINE]>::try_from(&mut *to)) {
        (Ok(from), Ok(to)) => *to = *from,
        _ => to.copy_from_slice(from),
    }
}

/// Elements to planes; those beyond the word's width are zero.
fn split<W: Word>(src: &[W; CHUNK], tile: &mut Tile) {
    #[cfg(target_arch = "x86_64")]
    if cpu::level() == Level::Avx512 {
        // SAFETY: the machine has the instructions of this level.
        return unsafe { avx512::split(src, tile) };
    }
    cpu::run(
        #[inline(always)]
        || {
            for (element, row) in tile.iter_mut().enumerate() {
                for (block, word) in row.iter_mut().enumerate() {
                    *word = src[64 * block + element].to_u64();
                }
            }
            transpose(tile);
        },
    );
}

/// Planes to elements; the tile is used up.
fn join<W: Word>(tile: &mut Tile, dst: &mut [W; CHUNK]) {
    #[cfg(target_arch = "x86_64")]
    if cpu::level() == Level::Avx512 {
        // SAFETY: the machine has the instructions of this level.
        return unsafe { avx512::join(tile, dst) };
    }
    cpu::run(
        #[inline(always)]
        || {
            transpose(tile);
            for (element, row) in tile.iter().enumerate() {
                for (block, &word) in row.iter().enumerate() {
                    dst[64 * block + element] = W::from_u64(word);
                }
            }
        },
    );
}

/// Transposes eight 64 x 64 matrices of bits side by side, by swapping blocks of half the size in each step
/// (Warren, Hacker's Delight, section 7-3).
#[inline(always)]
fn transpose(tile: &mut Tile) {
    let mut size = 32;
    let mut mask = u64::MAX >> 32;
    while size > 0 {
        for pair in tile.chunks_exact_mut(2 * size) {
            let (low, high) = pair.split_at_mut(size);
            for (low, high) in low.iter_mut().zip(high) {
                for (low, high) in low.iter_mut().zip(high) {
                    let swapped = (*low >> size ^ *high) & mask;
                    *low ^= swapped << size;
                    *high ^= swapped;
                }
            }
        }
        size /= 2;
        mask ^= mask << size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::get;
    use crate::cpu::{at, available};
    use crate::noise::{lengths, noise};
    use proptest::prelude::*;

    fn there_and_back<W: Word>(src: &[W], bits: usize, extra: usize) {
        let stride = words(src.len()) + extra;
        let keep = W::from_u64(u64::MAX.checked_shr(64 - bits as u32).unwrap_or(0)).to_u64();
        for level in available() {
            let mut planes = vec![0x5555_5555_5555_5555; bits * stride + 1];
            at(level, || to_planes(src, bits, &mut planes, stride));
            for (plane, row) in planes.chunks(stride.max(1)).take(bits).enumerate() {
                for (i, word) in src.iter().enumerate() {
                    assert_eq!(
                        get(row, i),
                        word.to_u64() >> plane & 1 == 1,
                        "plane {plane}, element {i}, {level:?}"
                    );
                }
                assert!(
                    (src.len()..64 * words(src.len())).all(|i| !get(row, i)),
                    "the tail of plane {plane}"
                );
                assert!(row[words(src.len())..].iter().all(|&word| word == 0x5555_5555_5555_5555));
            }
            let mut back = vec![W::ONE; src.len()];
            at(level, || from_planes(&planes, bits, stride, &mut back));
            for (word, back) in src.iter().zip(&back) {
                assert_eq!(word.to_u64() & keep, back.to_u64(), "{bits} bits at {level:?}");
            }
        }
    }

    fn at_width<W: Word>(words: &[u64]) {
        let src: Vec<W> = words.iter().map(|&word| W::from_u64(word)).collect();
        for bits in [0, 1, 3, W::BITS as usize - 1, W::BITS as usize] {
            there_and_back(&src, bits, src.len() % 3);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        #[cfg_attr(miri, ignore = "takes an interpreter hours")]
        fn planes_hold_the_bits_at_every_width(words in proptest::collection::vec(any::<u64>(), 0..700)) {
            at_width::<u8>(&words);
            at_width::<u16>(&words);
            at_width::<u32>(&words);
            at_width::<u64>(&words);
        }
    }

    #[test]
    fn planes_hold_the_bits_at_edge_lengths() {
        for length in lengths(65, [0, 1, 63, 64, 65, 511, 512, 513, 1024, 1100]) {
            let words = noise(5, length);
            at_width::<u8>(&words);
            at_width::<u16>(&words);
            at_width::<u32>(&words);
            at_width::<u64>(&words);
        }
    }

    #[test]
    fn slices_hold_the_bits_of_elements_of_any_width() {
        for (width, bits) in
            [(1, 0..1), (3, 1..3), (64, 0..64), (65, 1..65), (65, 64..65), (128, 64..128), (200, 70..130)]
        {
            let ranges = [0..0, 0..1, 0..64, 3..70, 512..1024, 0..1100];
            for elements in ranges.into_iter().filter(|range| !cfg!(miri) || range.end <= 64) {
                let src: Vec<u64> = noise(6, words(elements.end * width));
                let stride = words(elements.len());
                for level in available() {
                    let mut planes = vec![0; bits.len() * stride];
                    at(level, || slice(&src, width, elements.clone(), bits.clone(), &mut planes, stride));
                    for (plane, bit) in bits.clone().enumerate() {
                        for (i, element) in elements.clone().enumerate() {
                            assert_eq!(
                                get(&planes[plane * stride..], i),
                                get(&src, element * width + bit),
                                "bit {bit} of element {element}, {width} bits wide, at {level:?}"
                            );
                        }
                    }
                    let blank: Vec<u64> = noise(7, src.len());
                    let mut back = blank.clone();
                    at(level, || unslice(&planes, stride, &mut back, width, elements.clone(), bits.clone()));
                    for i in 0..64 * src.len() {
                        let written = elements.contains(&(i / width)) && bits.contains(&(i % width));
                        assert_eq!(get(&back, i), get(if written { &src } else { &blank }, i), "bit {i}");
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "inside their memory")]
    fn elements_beyond_the_memory_are_refused() {
        slice(&[0; 2], 65, 0..2, 0..1, &mut [0; 1], 1);
    }

    #[test]
    fn a_bit_becomes_a_word() {
        let row: Vec<u64> = noise(5, 9);
        for length in lengths(65, [0, 1, 63, 64, 65, 300, 576]) {
            for level in available() {
                let (mut narrow, mut wide) = (vec![9_u8; length], vec![9_u64; length]);
                at(level, || bit_to_words(&row, &mut narrow));
                at(level, || bit_to_words(&row, &mut wide));
                for i in 0..length {
                    let bit = u64::from(get(&row, i));
                    assert_eq!((u64::from(narrow[i]), wide[i]), (bit, bit), "{i} of {length} at {level:?}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "a word of 8 bits has no 9 planes")]
    fn more_planes_than_bits_are_refused() {
        to_planes(&[1_u8], 9, &mut [0; 9], 1);
    }

    #[test]
    #[should_panic(expected = "fits its 1 words")]
    fn planes_that_overlap_are_refused() {
        to_planes(&[1_u8; 65], 8, &mut [0; 16], 1);
    }

    #[test]
    #[should_panic(expected = "8 planes fit their memory")]
    fn too_little_memory_is_refused() {
        from_planes(&[0; 15], 8, 2, &mut [1_u8; 65]);
    }
}
