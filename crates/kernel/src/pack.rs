//! Elements as they travel: the low bits of each, one after another, without a gap.
//!
//! Bit `j` of element `i` is bit `i * bits + j` of the bytes, the lowest of each byte first; unused bits of the last
//! byte are zero.

use crate::Element;

/// Bytes of `count` elements of `bits` bits.
///
/// # Panics
/// If they can't be counted.
pub fn packed_len(count: usize, bits: u32) -> usize {
    count.checked_mul(bits as usize).expect("packed elements must fit the address space").div_ceil(8)
}

/// Packs the low `bits` bits of every element.
///
/// # Panics
/// If `bits` is 0 or more than an element has, or `out` hasn't [`packed_len`] bytes.
pub fn pack<E: Element>(elements: &[E], bits: u32, out: &mut [u8]) {
    check::<E>(elements.len(), bits, out.len());
    if bits as usize == 8 * E::BYTES {
        return out.copy_from_slice(bytemuck::cast_slice(elements));
    }
    let mask = u128::MAX >> (128 - bits);
    let mut stream = Bits { held: 0, count: 0 };
    let mut words = out.chunks_mut(8);
    let mut put = |word: u64| {
        if let Some(place) = words.next() {
            place.copy_from_slice(&word.to_le_bytes()[..place.len()]);
        }
    };
    for element in elements {
        let value = element.to_u128() & mask;
        stream.push(value as u64, bits.min(64), &mut put);
        if bits > 64 {
            stream.push((value >> 64) as u64, bits - 64, &mut put);
        }
    }
    if stream.count > 0 {
        put(stream.held as u64);
    }
}

/// The inverse of [`pack`]: elements of which the bytes hold the low bits and whose others are zero, reduced to the
/// element's modulus. Unused bits of the last byte are ignored.
///
/// # Panics
/// As [`pack`].
pub fn unpack<E: Element>(bytes: &[u8], bits: u32, out: &mut [E]) {
    check::<E>(out.len(), bits, bytes.len());
    if bits as usize == 8 * E::BYTES && E::DRAWN == E::BYTES {
        return E::draw(bytes, out);
    }
    let mut words = bytes.chunks(8).map(|piece| {
        let mut word = [0; 8];
        word[..piece.len()].copy_from_slice(piece);
        u64::from_le_bytes(word)
    });
    let mut next = || words.next().unwrap_or(0);
    let mut stream = Bits { held: 0, count: 0 };
    for element in out {
        let low = stream.pull(bits.min(64), &mut next) as u128;
        let high = if bits > 64 { stream.pull(bits - 64, &mut next) as u128 } else { 0 };
        *element = E::from_u128(high << 64 | low);
    }
}

fn check<E: Element>(count: usize, bits: u32, bytes: usize) {
    assert!((1..=8 * E::BYTES as u32).contains(&bits), "an element of {} bytes has no {bits} bits", E::BYTES);
    assert_eq!(packed_len(count, bits), bytes, "{count} elements of {bits} bits fill their bytes");
}

/// Bits on their way between elements and words: fewer than 64 between two calls.
struct Bits {
    held: u128,
    count: u32,
}

impl Bits {
    /// Adds up to 64 bits, and gives away a word if there is a whole one.
    #[inline(always)]
    fn push(&mut self, value: u64, bits: u32, put: &mut impl FnMut(u64)) {
        self.held |= (value as u128) << self.count;
        self.count += bits;
        if self.count >= 64 {
            put(self.held as u64);
            self.held >>= 64;
            self.count -= 64;
        }
    }

    /// Takes up to 64 bits, fetching a word if there are fewer.
    #[inline(always)]
    fn pull(&mut self, bits: u32, next: &mut impl FnMut() -> u64) -> u64 {
        if self.count < bits {
            self.held |= (next() as u128) << self.count;
            self.count += 64;
        }
        let value = self.held as u64 & (u64::MAX >> (64 - bits));
        self.held >>= bits;
        self.count -= bits;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::{Fp61, Fp128};
    use crate::noise::{lengths, noise};

    const LENGTHS: [usize; 8] = [0, 1, 7, 8, 9, 63, 65, 512];

    fn bit(bytes: &[u8], at: usize) -> bool {
        bytes[at / 8] >> (at % 8) & 1 == 1
    }

    fn there_and_back<E: Element>(bits: u32) {
        for length in lengths(9, LENGTHS) {
            let elements = noise::<E>(bits.into(), length);
            let mut bytes = vec![0xee; packed_len(length, bits)];
            pack(&elements, bits, &mut bytes);
            for (i, element) in elements.iter().enumerate() {
                for j in 0..bits as usize {
                    let expected = element.to_u128() >> j & 1 == 1;
                    assert_eq!(bit(&bytes, i * bits as usize + j), expected, "bit {j} of {i}, {bits} bits");
                }
            }
            assert!((length * bits as usize..8 * bytes.len()).all(|at| !bit(&bytes, at)), "padding");
            let mut back = vec![E::ONE; length];
            unpack(&bytes, bits, &mut back);
            let mask = u128::MAX >> (128 - bits);
            for (element, back) in elements.iter().zip(&back) {
                assert_eq!(E::from_u128(element.to_u128() & mask), *back, "{bits} bits");
            }
        }
    }

    #[test]
    fn bits_lie_in_a_row_at_every_width() {
        (1..=8).for_each(there_and_back::<u8>);
        (9..=16).for_each(there_and_back::<u16>);
        (17..=32).for_each(there_and_back::<u32>);
        (33..=64).for_each(there_and_back::<u64>);
        (65..=128).for_each(there_and_back::<u128>);
        [1, 63, 64].into_iter().for_each(there_and_back::<u128>);
        there_and_back::<Fp61>(61);
        there_and_back::<Fp128>(128);
    }

    #[test]
    fn what_is_no_element_is_reduced() {
        let (mut narrow, mut wide) = ([Fp61::ONE], [Fp128::ONE]);
        unpack(&[0xff; 8], 61, &mut narrow);
        unpack(&[0xff; 16], 128, &mut wide);
        assert_eq!((narrow[0].to_u128(), wide[0].to_u128()), (0, 158));
    }

    #[test]
    #[should_panic(expected = "3 elements of 5 bits fill their bytes")]
    fn bytes_of_another_length_are_refused() {
        unpack(&[0; 3], 5, &mut [0_u8; 3]);
    }

    #[test]
    #[should_panic(expected = "an element of 1 bytes has no 9 bits")]
    fn more_bits_than_there_are_are_refused() {
        pack(&[0_u8], 9, &mut [0; 2]);
    }
}
