//! Values in the clear, as an engine takes and gives them.

use tacit_kernel::{Buffer, Word};
use tacit_program::plan::{Domain, Width};

/// A vector in the clear: packed bits or little-endian ring elements.
#[derive(Clone)]
pub struct Clear {
    domain: Domain,
    cols: usize,
    data: Buffer,
}

impl PartialEq for Clear {
    /// Equal elements; what memory holds after the last bit doesn't count.
    fn eq(&self, other: &Self) -> bool {
        let whole = self.cols / 64;
        let same_bits = || {
            let (a, b) = (self.data.words::<u64>(), other.data.words::<u64>());
            a[..whole] == b[..whole]
                && (self.cols.is_multiple_of(64) || (a[whole] ^ b[whole]) << (64 - self.cols % 64) == 0)
        };
        self.domain == other.domain
            && self.cols == other.cols
            && match self.domain {
                Domain::Bits => same_bits(),
                Domain::Ring(_) => self.data.bytes() == other.data.bytes(),
            }
    }
}

impl Eq for Clear {}

impl std::fmt::Debug for Clear {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values may be secrets: their shape only.
        write!(f, "Clear({:?} x {})", self.domain, self.cols)
    }
}

impl Clear {
    /// Takes `data` as it is; its length is the one that [`bytes_of`] says.
    pub fn new(domain: Domain, cols: usize, data: Buffer) -> Self {
        assert_eq!(data.len(), bytes_of(domain, cols), "data of another length than its shape's");
        Self { domain, cols, data }
    }

    /// Reduces one word per element: modulo 2^k, or to the lowest bit.
    pub fn from_words(domain: Domain, words: &[u64]) -> Self {
        let mut data = Buffer::new(bytes_of(domain, words.len()));
        match domain {
            Domain::Bits => {
                let packed = data.words_mut::<u64>();
                for (index, word) in words.iter().enumerate() {
                    packed[index / 64] |= (word & 1) << (index % 64);
                }
            }
            Domain::Ring(width) => match width {
                Width::W8 => narrow::<u8>(words, &mut data),
                Width::W16 => narrow::<u16>(words, &mut data),
                Width::W32 => narrow::<u32>(words, &mut data),
                Width::W64 => narrow::<u64>(words, &mut data),
            },
        }
        Self { domain, cols: words.len(), data }
    }

    /// One word per element, without sign.
    pub fn to_words(&self) -> Vec<u64> {
        match self.domain {
            Domain::Bits => {
                let packed = self.data.words::<u64>();
                (0..self.cols).map(|index| packed[index / 64] >> (index % 64) & 1).collect()
            }
            Domain::Ring(width) => match width {
                Width::W8 => widen::<u8>(&self.data),
                Width::W16 => widen::<u16>(&self.data),
                Width::W32 => widen::<u32>(&self.data),
                Width::W64 => widen::<u64>(&self.data),
            },
        }
    }

    /// What the elements are.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// How many there are.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The elements' memory.
    pub fn data(&self) -> &Buffer {
        &self.data
    }
}

/// Bytes that `cols` elements take in memory; bits in whole blocks of 16 bytes.
pub fn bytes_of(domain: Domain, cols: usize) -> usize {
    match domain {
        Domain::Bits => crate::bank::row_words(cols) * 8,
        Domain::Ring(width) => cols * width.bytes(),
    }
}

fn narrow<W: Word>(words: &[u64], data: &mut Buffer) {
    for (out, &word) in data.words_mut::<W>().iter_mut().zip(words) {
        *out = W::from_u64(word);
    }
}

fn widen<W: Word>(data: &Buffer) -> Vec<u64> {
    data.words::<W>().iter().map(|word| word.to_u64()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_reduced() {
        let words = [0, 1, 255, 256, u64::MAX, 77];
        for (domain, mask) in [
            (Domain::Bits, 1),
            (Domain::Ring(Width::W8), 0xff),
            (Domain::Ring(Width::W16), 0xffff),
            (Domain::Ring(Width::W32), 0xffff_ffff),
            (Domain::Ring(Width::W64), u64::MAX),
        ] {
            let clear = Clear::from_words(domain, &words);
            assert_eq!(clear.to_words(), words.map(|word| word & mask));
        }
    }

    #[test]
    fn debug_output_shows_no_value() {
        assert!(!format!("{:?}", Clear::from_words(Domain::Ring(Width::W64), &[123_456])).contains("123"));
    }
}
