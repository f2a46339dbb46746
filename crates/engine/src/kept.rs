//! Shares that stay from one run to the next.

use crate::wire::{message_bytes, message_of, unpack_columns};
use crate::{Error, bytes_of, vector, with_word};
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
    /// The other party that holds it, if one does. To nobody else may anything be told that hangs on it, not even a
    /// digest: whoever holds the other parts could guess the value.
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

    /// The register of one row that a part is.
    pub fn shape(&self) -> Register {
        Register { domain: self.domain, rows: 1, cols: self.cols, public: false }
    }

    /// Other shares of the same value: to each part a vector is added, which `zero` gives by the part's number. The vectors are
    /// shares of zero ([`Protocol::refresh`](crate::Protocol::refresh)).
    ///
    /// # Errors
    /// [`Error::Refused`] if a part has another length than its shape says; those of `zero`.
    pub fn plus(&self, mut zero: impl FnMut(u8) -> Result<Buffer, Error>) -> Result<Self, Error> {
        let shape = self.shape();
        let mut parts = Vec::with_capacity(self.parts.len());
        for KeptPart { number, other, .. } in &self.parts {
            let (mut sum, mut zero) = (self.part(*number, shape)?, zero(*number)?);
            vector::add_assign(shape, &mut sum, &zero);
            let bytes = Zeroizing::new(message_of(shape, &sum, &(0..self.cols)));
            sum.wipe();
            zero.wipe();
            parts.push(KeptPart { number: *number, other: *other, bytes });
        }
        Ok(Self { domain: self.domain, cols: self.cols, key: self.key, parts })
    }

    /// The share of some rows of a table of `count` rows, in this order. Takes as long as there is to copy.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is no such row, or the elements are no table of as many.
    pub fn rows(&self, count: usize, rows: &[u64]) -> Result<Self, Error> {
        let bits = self.row_bits(count, rows)?;
        let cols = self.cols / count * rows.len();
        let part = |part: &KeptPart| {
            let mut bytes = Zeroizing::new(vec![0; message_bytes(self.domain, cols)]);
            for (to, &row) in rows.iter().enumerate() {
                copy_bits(&part.bytes, row as usize * bits, &mut bytes, to * bits, bits);
            }
            KeptPart { bytes, ..*part }
        };
        Ok(Self { domain: self.domain, cols, key: self.key, parts: self.parts.iter().map(part).collect() })
    }

    /// The share of the same table with other rows: those of `new`, in this order. Linear in what there is to copy.
    ///
    /// # Errors
    /// [`Error::Refused`] as [`KeptShare::rows`], or if the rows are of another sharing than the table.
    pub fn with_rows(&self, count: usize, rows: &[u64], new: &Self) -> Result<Self, Error> {
        let bits = self.row_bits(count, rows)?;
        let holders =
            |share: &Self| share.parts.iter().map(|part| (part.number, part.other)).collect::<Vec<_>>();
        let is_one = (self.domain, self.key) == (new.domain, new.key) && holders(self) == holders(new);
        let fits = new.cols == self.cols / count * rows.len() && new.is_whole();
        if !is_one || !fits {
            return Err(refused("the rows are of another table, or shared otherwise"));
        }
        let part = |(table, new): (&KeptPart, &KeptPart)| {
            let mut bytes = table.bytes.clone();
            for (from, &row) in rows.iter().enumerate() {
                copy_bits(&new.bytes, from * bits, &mut bytes, row as usize * bits, bits);
            }
            KeptPart { bytes, ..*table }
        };
        let parts = self.parts.iter().zip(&new.parts).map(part).collect();
        Ok(Self { domain: self.domain, cols: self.cols, key: self.key, parts })
    }

    /// Whether each part is as long as it has to be.
    fn is_whole(&self) -> bool {
        self.parts.iter().all(|part| part.bytes.len() == self.part_bytes())
    }

    /// Bits of each of a table's rows, if it has these.
    fn row_bits(&self, count: usize, rows: &[u64]) -> Result<usize, Error> {
        let is_table = count > 0 && self.cols.is_multiple_of(count);
        if !is_table || !self.is_whole() || rows.iter().any(|&row| row >= count as u64) {
            return Err(refused("it has no such rows"));
        }
        Ok(self.cols / count * self.domain.bits() as usize)
    }

    /// Bytes of each part.
    pub fn part_bytes(&self) -> usize {
        message_bytes(self.domain, self.cols)
    }

    /// A part for a register of one row ([`KeptShare::read`]).
    ///
    /// # Errors
    /// [`Error::Refused`] if there is no such part, it has another length than its shape says, or the register's is another.
    pub fn part(&self, number: u8, shape: Register) -> Result<Buffer, Error> {
        let mut data = Buffer::new(bytes_of(shape.domain, shape.cols));
        self.read(number, shape, &mut data)?;
        Ok(data)
    }

    /// Writes a part to the memory of a register of one row. Of what was kept in the ring of 64 bits a narrower ring
    /// takes the low ones: that is linear, and so takes a sharing to one of the same numbers.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is no such part, it has another length than its shape says, or the register's is another.
    pub fn read(&self, number: u8, shape: Register, out: &mut Buffer) -> Result<(), Error> {
        let part = self.parts.iter().find(|part| part.number == number);
        let part = part.ok_or_else(|| refused("it is another party's share, or of another sharing"))?;
        if part.bytes.len() != self.part_bytes() || shape.cols != self.cols {
            return Err(refused("it has another length than the plan's"));
        }
        match (self.domain, shape.domain) {
            (kept, read) if kept == read => {
                // Bits may end before their memory does.
                out.bytes_mut().fill(0);
                unpack_columns(self.shape(), &part.bytes, 0..self.cols, out);
            }
            (Domain::Ring(Width::W64), Domain::Ring(width)) => with_word!(width, W => {
                let words = part.bytes.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes));
                out.words_mut::<W>().iter_mut().zip(words).for_each(|(out, word)| *out = W::from_u64(word));
            }),
            _ => return Err(refused("its elements are others than the plan's")),
        }
        Ok(())
    }
}

/// Copies so many bits, from one place to another; by whole bytes where all of that is.
fn copy_bits(from: &[u8], start: usize, to: &mut [u8], at: usize, count: usize) {
    if [start, at, count].iter().all(|bits| bits.is_multiple_of(8)) {
        let (start, at, count) = (start / 8, at / 8, count / 8);
        to[at..at + count].copy_from_slice(&from[start..start + count]);
        return;
    }
    for bit in 0..count {
        let (start, at) = (start + bit, at + bit);
        let value = from[start / 8] >> (start % 8) & 1;
        to[at / 8] = to[at / 8] & !(1 << (at % 8)) | value << (at % 8);
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
    fn rows_of_a_table_are_put_where_they_belong() {
        // Three rows of three bits: nothing falls on a byte.
        let bits = |cols: usize, word: u64| {
            let mut data = Buffer::new(bytes_of(Domain::Bits, cols));
            data.words_mut::<u64>()[0] = word;
            KeptShare::new(shape(Domain::Bits, cols), None, [(0, Some(1), &data)])
        };
        let (table, rows) = (bits(9, 0b101_011_110), bits(6, 0b000_111));
        let changed = table.with_rows(3, &[2, 0], &rows).unwrap();
        assert_eq!(changed, bits(9, 0b111_011_000));
        assert_eq!(changed.rows(3, &[2, 0]).unwrap(), rows);
        for (count, wanted, rows) in [(3, [2, 3], &rows), (2, [0, 1], &rows), (3, [0, 1], &bits(9, 0))] {
            assert!(matches!(table.with_rows(count, &wanted, rows), Err(Error::Refused(_))));
        }
        let mut other = rows.clone();
        other.parts[0].number = 1;
        assert!(matches!(table.with_rows(3, &[0, 1], &other), Err(Error::Refused(_))));
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
