//! AES-128 in counter mode: the streams that shares and masks are drawn from.
//!
//! Block `b` of the stream of a key and a nonce is `AES_k(le64(nonce) || le64(b))`.

mod portable;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

use crate::Word;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{self, Level};
use aes::Aes128;
use aes::cipher::KeyInit;
use std::fmt;

/// Bytes in a block.
pub const BLOCK: usize = 16;

/// The streams of one key, one for every nonce. The key is wiped when this is dropped, and never printed.
#[derive(Clone)]
pub struct Aes128Ctr {
    portable: Aes128,
    /// For this machine's AES instructions, if it has them.
    #[cfg(target_arch = "x86_64")]
    hardware: Option<x86::RoundKeys>,
}

impl Aes128Ctr {
    /// The streams of `key`.
    pub fn new(key: &[u8; 16]) -> Self {
        Self {
            portable: Aes128::new(key.into()),
            #[cfg(target_arch = "x86_64")]
            hardware: x86::RoundKeys::new(key),
        }
    }

    /// Fills `out` with the stream of `nonce` from block `first_block` on; the last block may be a part of one.
    ///
    /// # Panics
    /// If the block counter would pass 2^64.
    pub fn fill(&self, nonce: u64, first_block: u64, out: &mut [u8]) {
        check_counter(first_block, out.len());
        #[cfg(target_arch = "x86_64")]
        match (cpu::level(), &self.hardware) {
            // SAFETY: the machine has the instructions of `level`.
            (Level::Avx512, Some(keys)) => return unsafe { x86::fill_avx512(keys, nonce, first_block, out) },
            // SAFETY: as above.
            (Level::Avx2, Some(keys)) => return unsafe { x86::fill_avx2(keys, nonce, first_block, out) },
            _ => {}
        }
        portable::fill(&self.portable, nonce, first_block, out);
    }

    /// Fills `out` with blocks of the stream of `nonce` from anywhere in it: those of these numbers, in their order.
    ///
    /// # Panics
    /// If there are more blocks than numbers, or fewer.
    pub fn fill_at(&self, nonce: u64, numbers: &[u64], out: &mut [[u8; BLOCK]]) {
        assert_eq!(numbers.len(), out.len(), "every block of a stream has a number");
        #[cfg(target_arch = "x86_64")]
        match (cpu::level(), &self.hardware) {
            // SAFETY: the machine has the instructions of `level`.
            (Level::Avx512, Some(keys)) => return unsafe { x86::fill_at_avx512(keys, nonce, numbers, out) },
            // SAFETY: as above.
            (Level::Avx2, Some(keys)) => return unsafe { x86::fill_at_avx2(keys, nonce, numbers, out) },
            _ => {}
        }
        portable::fill_at(&self.portable, nonce, numbers, out);
    }
}

/// Writes `F_a ^ F_b`, where `F_k` is what [`Aes128Ctr::fill`] would write: a sharing of zero's part in bits.
///
/// # Panics
/// If the block counter would pass 2^64.
pub fn xor_streams(a: &Aes128Ctr, b: &Aes128Ctr, nonce: u64, first_block: u64, out: &mut [u8]) {
    combine::<u64, XOR>(a, b, nonce, first_block, out);
}

/// Writes `F_a - F_b` word by word, where `F_k` is what [`Aes128Ctr::fill`] would write: a sharing of zero's part
/// in `Z_2^k`.
///
/// # Panics
/// If the block counter would pass 2^64.
pub fn sub_streams<W: Word>(a: &Aes128Ctr, b: &Aes128Ctr, nonce: u64, first_block: u64, out: &mut [W]) {
    combine::<W, SUB>(a, b, nonce, first_block, bytemuck::cast_slice_mut(out));
}

impl fmt::Debug for Aes128Ctr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aes128Ctr").finish_non_exhaustive()
    }
}

/// Two streams are combined by exclusive or.
const XOR: bool = false;
/// Two streams are combined by subtraction.
const SUB: bool = true;

fn check_counter(first_block: u64, bytes: usize) {
    let blocks = bytes.div_ceil(BLOCK) as u64;
    assert!(first_block.checked_add(blocks).is_some(), "the block counter of a stream must stay below 2^64");
}

/// Writes `F_a ^ F_b`, or `F_a - F_b` in words of `W`.
fn combine<W: Word, const HOW: bool>(
    a: &Aes128Ctr,
    b: &Aes128Ctr,
    nonce: u64,
    first_block: u64,
    out: &mut [u8],
) {
    check_counter(first_block, out.len());
    #[cfg(target_arch = "x86_64")]
    match (cpu::level(), &a.hardware, &b.hardware) {
        (Level::Avx512, Some(a), Some(b)) => {
            // SAFETY: the machine has the instructions of `level`.
            return unsafe { x86::combine_avx512::<W, HOW>(a, b, nonce, first_block, out) };
        }
        (Level::Avx2, Some(a), Some(b)) => {
            // SAFETY: as above.
            return unsafe { x86::combine_avx2::<W, HOW>(a, b, nonce, first_block, out) };
        }
        _ => {}
    }
    portable::combine::<W, HOW>(&a.portable, &b.portable, nonce, first_block, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{at, available};
    use crate::noise::lengths;
    use ::aes::cipher::BlockCipherEncrypt;

    /// A stream by its definition, one block at a time.
    fn stream(key: [u8; 16], nonce: u64, first: u64, bytes: usize) -> Vec<u8> {
        let cipher = Aes128::new(&key.into());
        let blocks = (first..).take(bytes.div_ceil(BLOCK)).flat_map(|counter| {
            let mut block = [nonce.to_le_bytes(), counter.to_le_bytes()].concat();
            cipher.encrypt_block(block.as_mut_slice().try_into().unwrap());
            block
        });
        blocks.take(bytes).collect()
    }

    const KEYS: [[u8; 16]; 2] = [*b"tests use no key", *b"of any real run!"];
    const LENGTHS: [usize; 16] = [0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 511, 512, 513, 1024, 1500, 5000];

    #[test]
    fn one_block_is_the_standards_example() {
        // FIPS 197, appendix B and C.1; SP 800-38A, F.1.1, the first block: key, plaintext, ciphertext.
        let vectors: [[u128; 3]; 3] = [
            [
                0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c,
                0x3243_f6a8_885a_308d_3131_98a2_e037_0734,
                0x3925_841d_02dc_09fb_dc11_8597_196a_0b32,
            ],
            [
                0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f,
                0x0011_2233_4455_6677_8899_aabb_ccdd_eeff,
                0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a,
            ],
            [
                0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c,
                0x6bc1_bee2_2e40_9f96_e93d_7e11_7393_172a,
                0x3ad7_7bb4_0d7a_3660_a89e_caf3_2466_ef97,
            ],
        ];
        for [key, plain, cipher] in vectors {
            let stream = Aes128Ctr::new(&key.to_be_bytes());
            let plain = u128::from_le_bytes(plain.to_be_bytes());
            for level in available() {
                let mut block = [0; 16];
                at(level, || stream.fill(plain as u64, (plain >> 64) as u64, &mut block));
                assert_eq!(u128::from_be_bytes(block), cipher, "{level:?}");
            }
        }
    }

    #[test]
    fn every_level_makes_the_stream_at_every_length() {
        let ctr = Aes128Ctr::new(&KEYS[0]);
        for (length, first) in lengths(17, LENGTHS).flat_map(|length| [(length, 0), (length, (1 << 32) - 3)])
        {
            let expected = stream(KEYS[0], 0x0123_4567_89ab_cdef, first, length);
            for level in available() {
                let mut out = vec![0xee; length + 1];
                at(level, || ctr.fill(0x0123_4567_89ab_cdef, first, &mut out[1..]));
                assert_eq!(out[1..], expected, "{length} bytes at {level:?}");
                assert_eq!(out[0], 0xee);
            }
        }
    }

    #[test]
    fn blocks_from_anywhere_are_those_of_the_stream() {
        let ctr = Aes128Ctr::new(&KEYS[1]);
        for count in lengths(4, [0, 1, 3, 4, 31, 32, 33, 100]) {
            let numbers: Vec<u64> =
                (0..count as u64).map(|at| (u64::MAX / 7).wrapping_mul(at) ^ (at << 3)).collect();
            let expected: Vec<u8> =
                numbers.iter().flat_map(|&number| stream(KEYS[1], 9, number, BLOCK)).collect();
            for level in available() {
                let mut out = vec![[0; BLOCK]; numbers.len()];
                at(level, || ctr.fill_at(9, &numbers, &mut out));
                assert_eq!(out.as_flattened(), expected, "{count} blocks at {level:?}");
            }
        }
    }

    #[test]
    fn two_streams_make_a_sharing_of_zeros_part() {
        let [a, b] = KEYS.map(|key| Aes128Ctr::new(&key));
        for length in lengths(17, LENGTHS) {
            let [left, right] = KEYS.map(|key| stream(key, 7, 1 << 40, length));
            let expected: Vec<u8> = left.iter().zip(&right).map(|(x, y)| x ^ y).collect();
            for level in available() {
                let mut out = vec![0; length];
                at(level, || xor_streams(&a, &b, 7, 1 << 40, &mut out));
                assert_eq!(out, expected, "{length} bytes at {level:?}");
            }
            differences::<u8>(length);
            differences::<u16>(length);
            differences::<u32>(length);
            differences::<u64>(length);
        }
    }

    fn differences<W: Word>(count: usize) {
        let [a, b] = KEYS.map(|key| Aes128Ctr::new(&key));
        let [left, right] = KEYS.map(|key| {
            let bytes = stream(key, 7, 3, count * W::BYTES);
            bytes.chunks_exact(W::BYTES).map(bytemuck::pod_read_unaligned::<W>).collect::<Vec<W>>()
        });
        for level in available() {
            let mut out = vec![W::ZERO; count];
            at(level, || sub_streams(&a, &b, 7, 3, &mut out));
            let expected: Vec<W> = left.iter().zip(&right).map(|(&x, &y)| x.wrapping_sub(y)).collect();
            assert_eq!(out, expected, "{count} words of {} bits at {level:?}", W::BITS);
        }
    }

    #[test]
    fn the_last_counter_is_used_and_no_further() {
        let ctr = Aes128Ctr::new(&KEYS[0]);
        for level in available() {
            let mut out = [0; 80];
            at(level, || ctr.fill(1, u64::MAX - 5, &mut out));
            assert_eq!(out.as_slice(), stream(KEYS[0], 1, u64::MAX - 5, 80), "{level:?}");
        }
        let wrapped = std::panic::catch_unwind(|| ctr.fill(1, u64::MAX - 5, &mut [0; 97]));
        assert!(wrapped.is_err());
    }

    #[test]
    fn a_key_is_not_printed() {
        assert_eq!(format!("{:?}", Aes128Ctr::new(&KEYS[0])), "Aes128Ctr { .. }");
    }
}
