//! Shares that stay from one run to the next.

use crate::wire::{message_bytes, message_of, unpack_columns};
use crate::{Error, bytes_of, with_word};
use tacit_kernel::{Buffer, Word};
use tacit_program::plan::{Domain, Register, Width};
use zeroize::Zeroizing;

/// One party's share of a value that the parties keep. Secret: wiped when it is dropped, and never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptShare {
    /// What its elements are.
    pub domain: Domain,
    /// How many there are.
    pub cols: usize,
    /// What names the key that its MACs are under, the same at all parties; nothing without MACs.
    pub key: Option<[u8; 32]>,
    /// Its parts.
    pub parts: Vec<KeptPart>,
}

/// A part of a party's share.
#[derive(Clone, PartialEq, Eq)]
pub struct KeptPart {
    /// Which: all parties that hold a part of one number hold the same bytes.
    pub number: u8,
    /// The other party that holds it, if one does. To nobody else may anything be told that hangs on it, not even a digest: whoever
    /// holds the other parts could guess the value.
    pub other: Option<u8>,
    /// Its elements as they travel: the bits that count of one after another, without a gap, the lowest first.
    pub bytes: Zeroizing<Vec<u8>>,
}

impl std::fmt::Debug for KeptShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeptShare({:?} x {})", self.domain, self.cols)
    }
}

impl KeptShare {
    /// From parts of a register of one row, each with its number and the other party that holds it.
    pub fn new<'a>(
        shape: Register,
        key: Option<[u8; 32]>,
        parts: impl IntoIterator<Item = (u8, Option<usize>, &'a Buffer)>,
    ) -> Self {
        let part = |(number, other, data): (u8, Option<usize>, &Buffer)| KeptPart {
            number,
            other: other.map(|party| party as u8),
            bytes: Zeroizing::new(message_of(shape, data, &(0..shape.cols))),
        };
        let parts = parts.into_iter().map(part).collect();
        Self { domain: shape.domain, cols: shape.cols, key, parts }
    }

    /// Bytes of each part.
    pub fn part_bytes(&self) -> usize {
        message_bytes(self.domain, self.cols)
    }

    /// A part for a register of one row. Of what was kept in the ring of 64 bits a narrower ring takes the low ones: that is
    /// linear, and so takes a sharing to one of the same numbers.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is no such part, it has another length than its shape says, or the register's is another.
    pub fn part(&self, number: u8, shape: Register) -> Result<Buffer, Error> {
        let part = self.parts.iter().find(|part| part.number == number);
        let part = part.ok_or_else(|| refused("it is another party's share, or of another sharing"))?;
        if part.bytes.len() != self.part_bytes() || shape.cols != self.cols {
            return Err(refused("it has another length than the plan's"));
        }
        let own = Register { domain: self.domain, rows: 1, cols: self.cols, public: false };
        let mut data = Buffer::new(bytes_of(self.domain, self.cols));
        unpack_columns(own, &part.bytes, 0..self.cols, &mut data);
        match (self.domain, shape.domain) {
            (kept, read) if kept == read => Ok(data),
            (Domain::Ring(Width::W64), Domain::Ring(width)) => {
                let mut low = Buffer::new(bytes_of(shape.domain, shape.cols));
                with_word!(width, W => {
                    for (out, &word) in low.words_mut::<W>().iter_mut().zip(data.words::<u64>()) {
                        *out = W::from_u64(word);
                    }
                });
                data.wipe();
                Ok(low)
            }
            _ => {
                data.wipe();
                Err(refused("its elements are others than the plan's"))
            }
        }
    }
}

fn refused(why: &str) -> Error {
    Error::Refused(format!("a kept value doesn't fit: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(domain: Domain, cols: usize) -> Register {
        Register { domain, rows: 1, cols, public: false }
    }

    fn numbers(words: &[u64]) -> Buffer {
        let mut buffer = Buffer::of_words::<u64>(words.len());
        buffer.words_mut::<u64>().copy_from_slice(words);
        buffer
    }

    #[test]
    fn a_narrower_ring_reads_the_low_bits() {
        let wide = shape(Domain::Ring(Width::W64), 3);
        let words = [0x1122_3344_5566_7788, u64::MAX, 5];
        let kept = KeptShare::new(wide, None, [(2, Some(1), &numbers(&words))]);
        assert_eq!(kept.parts[0].bytes[..8], words[0].to_le_bytes());
        assert_eq!(kept.part(2, wide).unwrap().words::<u64>(), words);
        let narrow = kept.part(2, shape(Domain::Ring(Width::W16), 3)).unwrap();
        assert_eq!(narrow.words::<u16>(), [0x7788, u16::MAX, 5]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let wide = shape(Domain::Ring(Width::W64), 3);
        let mut kept = KeptShare::new(wide, None, [(2, Some(1), &numbers(&[1, 2, 3]))]);
        for (number, shape) in [
            (1, wide),
            (2, shape(Domain::Ring(Width::W64), 2)),
            (2, shape(Domain::Bits, 3)),
            (2, shape(Domain::Modular(tacit_program::Modulus::Mersenne61), 3)),
        ] {
            assert!(matches!(kept.part(number, shape), Err(Error::Refused(_))));
        }
        kept.parts[0].bytes.pop();
        assert!(kept.part(2, wide).unwrap_err().to_string().contains("another length"));
        assert_eq!(format!("{kept:?}"), "KeptShare(Ring(W64) x 3)");
    }

    #[test]
    fn bits_have_no_gap() {
        let bits = shape(Domain::Bits, 70);
        let mut data = Buffer::new(bytes_of(Domain::Bits, 70));
        data.words_mut::<u64>()[0] = 0b101;
        data.words_mut::<u64>()[1] = 0b10_0000;
        let kept = KeptShare::new(bits, None, [(0, None, &data)]);
        assert_eq!(kept.parts[0].bytes[..], [5, 0, 0, 0, 0, 0, 0, 0, 0x20]);
        assert_eq!(kept.part(0, bits).unwrap().words::<u64>()[..2], [5, 0x20]);
    }
}
