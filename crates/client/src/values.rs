//! Values in the clear, as an engine takes and gives them.

use crate::with_element;
use tacit_kernel::{Buffer, Element, bits};
use tacit_program::plan::{Domain, Form, Modulus};

/// A vector in the clear: packed bits, or elements of a ring or a field as [`with_element`] says.
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
                // Bits above the modulus are unspecified.
                Domain::Modular(_) => self.to_words() == other.to_words(),
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
    ///
    /// # Panics
    /// If it has another length.
    pub fn new(domain: Domain, cols: usize, data: Buffer) -> Self {
        assert_eq!(data.len(), bytes_of(domain, cols), "data of another length than its shape's");
        Self { domain, cols, data }
    }

    /// Packs bits.
    pub fn from_bools(bits: &[bool]) -> Self {
        let mut data = Buffer::new(bytes_of(Domain::Bits, bits.len()));
        for (packed, bits) in data.words_mut::<u64>().iter_mut().zip(bits.chunks(64)) {
            *packed = bits.iter().rev().fold(0, |word, &bit| word << 1 | u64::from(bit));
        }
        Self { domain: Domain::Bits, cols: bits.len(), data }
    }

    /// Reduces elements of one word, or of two with the low one first where the domain's [`Domain::limbs`] says so.
    pub fn from_words(domain: Domain, words: &[u64]) -> Self {
        let cols = words.len() / domain.limbs();
        let mut data = Buffer::new(bytes_of(domain, cols));
        match domain {
            Domain::Bits => {
                for (packed, bits) in data.words_mut::<u64>().iter_mut().zip(words.chunks(64)) {
                    *packed = bits.iter().rev().fold(0, |word, bit| word << 1 | bit & 1);
                }
            }
            domain => with_element!(domain, E => {
                let elements = words.chunks_exact(domain.limbs());
                for (out, limbs) in data.words_mut::<E>().iter_mut().zip(elements) {
                    let value = limbs.iter().rev().fold(0, |high, &low| high << 64 | u128::from(low));
                    *out = E::from_u128(value);
                }
            }),
        }
        Self { domain, cols, data }
    }

    /// One word per element, or two, the low one first; without sign.
    pub fn to_words(&self) -> Vec<u64> {
        match self.domain {
            Domain::Bits => {
                let mut words = vec![0; self.cols];
                for (bits, packed) in words.chunks_mut(64).zip(self.data.words::<u64>()) {
                    bits.iter_mut().enumerate().for_each(|(place, bit)| *bit = packed >> place & 1);
                }
                words
            }
            domain => with_element!(domain, E => {
                let mask = counted(domain.modulus());
                let words = self.data.words::<E>().iter().flat_map(|element| {
                    let value = element.to_u128() & mask;
                    [value as u64, (value >> 64) as u64].into_iter().take(domain.limbs())
                });
                words.collect()
            }),
        }
    }

    /// Bytes that are the same for equal vectors of one shape, and for no others: bits eight to a byte, and elements in words.
    pub fn comparable(&self) -> Vec<u8> {
        if self.domain != Domain::Bits {
            return self.to_words().into_iter().flat_map(u64::to_le_bytes).collect();
        }
        let mut words = self.data.words::<u64>()[..self.cols.div_ceil(64)].to_vec();
        if let (Some(last), used @ 1..) = (words.last_mut(), self.cols % 64) {
            *last &= u64::MAX >> (64 - used);
        }
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    /// Raw elements, as [`tacit_program::encode`] makes them, in the form in which an input's register has them.
    pub fn from_elements(domain: Domain, form: Form, words: &[u64]) -> Self {
        let width = match form {
            Form::Elements => return Self::from_words(domain, words),
            Form::Signed => return Self::from_words(domain, &signed_to_field(domain, words)),
            Form::Bits { width, .. } => width,
        };
        let (width, limbs) = (usize::from(width), limbs(width));
        let cols = words.len() / limbs * width;
        let mut data = Buffer::new(bytes_of(Domain::Bits, cols));
        let packed = data.words_mut::<u64>();
        for (index, element) in words.chunks_exact(limbs).enumerate() {
            bits::copy(element, 0, packed, index * width, width);
        }
        Self { domain: Domain::Bits, cols, data }
    }

    /// Raw elements, as [`tacit_program::decode`] takes them, from the form in which an output's register has them.
    /// Bits after the last whole element are left out.
    pub fn to_elements(&self, form: Form) -> Vec<u64> {
        let (width, signed) = match form {
            Form::Elements => return self.to_words(),
            Form::Signed => return field_to_signed(self.domain, &self.to_words()),
            Form::Bits { width, signed } => (width, signed),
        };
        let (width, limbs) = (usize::from(width), limbs(width));
        let packed = self.data.words::<u64>();
        let mut words = vec![0; self.cols / width * limbs];
        for (index, element) in words.chunks_exact_mut(limbs).enumerate() {
            bits::copy(packed, index * width, element, 0, width);
            if signed && bits::get(element, width - 1) {
                bits::fill(element, width, 64 * limbs - width, true);
            }
        }
        words
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
        Domain::Bits => crate::wire::row_words(cols) * 8,
        domain => with_element!(domain, E => cols * E::BYTES),
    }
}

/// Elements of a field, in words, from signed numbers of 64 bits.
fn signed_to_field(domain: Domain, words: &[u64]) -> Vec<u64> {
    let elements = words.iter().map(|&word| domain.modulus().reduce((word as i64).into()));
    elements
        .flat_map(|element| [element as u64, (element >> 64) as u64].into_iter().take(domain.limbs()))
        .collect()
}

/// Signed numbers from elements of a field: those above its middle are negative. What 64 bits don't hold becomes the
/// nearest number that they do.
fn field_to_signed(domain: Domain, words: &[u64]) -> Vec<u64> {
    let last = domain.modulus().last();
    let number = |limbs: &[u64]| {
        let element = limbs.iter().rev().fold(0, |high, &low| high << 64 | u128::from(low));
        let magnitude = i128::try_from(element.min(last - element + 1)).unwrap_or(i128::MAX);
        let number = if element > last / 2 { -magnitude } else { magnitude };
        number.clamp(i64::MIN.into(), i64::MAX.into()) as u64
    };
    words.chunks_exact(domain.limbs()).map(number).collect()
}

/// Words that a raw element of so many bits takes.
const fn limbs(width: u8) -> usize {
    width.div_ceil(64) as usize
}

/// The bits of an element's memory that count.
const fn counted(modulus: Modulus) -> u128 {
    match modulus {
        Modulus::PowerOfTwo(_) => modulus.last(),
        Modulus::Mersenne61 | Modulus::Prime128 | Modulus::Gf128 => u128::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::plan::Width;

    #[test]
    fn equal_vectors_alone_are_comparable_as_the_same_bytes() {
        let words: Vec<u64> = (0..131).map(|at| at * at / 3 % 2).collect();
        for cols in [1, 63, 64, 65, 128, 131] {
            let clear = Clear::from_words(Domain::Bits, &words[..cols]);
            assert_eq!(clear.to_words(), words[..cols]);
            let bools: Vec<bool> = words[..cols].iter().map(|&word| word == 1).collect();
            assert_eq!(Clear::from_bools(&bools), clear);
            // What memory holds after the last bit doesn't count.
            let mut data = clear.data().clone();
            if let (Some(last), used @ 1..) = (data.words_mut::<u64>().get_mut(cols / 64), cols % 64) {
                *last |= u64::MAX << used;
            }
            assert_eq!(Clear::new(Domain::Bits, cols, data).comparable(), clear.comparable());
            for at in 0..cols {
                let mut other = words[..cols].to_vec();
                other[at] ^= 1;
                assert_ne!(Clear::from_words(Domain::Bits, &other).comparable(), clear.comparable());
            }
        }
        let ring = Clear::from_words(Domain::Ring(Width::W16), &[5, 65_536 + 7]);
        assert_eq!(ring.comparable(), [5_u64, 7].map(u64::to_le_bytes).concat());
    }

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
    fn wide_elements_have_two_words() {
        for n in [65, 127, 128] {
            let domain = Domain::Modular(Modulus::PowerOfTwo(n));
            let clear = Clear::from_words(domain, &[5, u64::MAX, 0, 1]);
            assert_eq!((clear.cols(), clear.to_words()), (2, vec![5, u64::MAX >> (128 - n), 0, 1]));
        }
        for (n, words) in [(1, [0, 1]), (9, [511, 0]), (63, [u64::MAX >> 1, 6])] {
            let clear = Clear::from_words(Domain::Modular(Modulus::PowerOfTwo(n)), &words);
            assert_eq!(clear.to_words(), words);
        }
        let field = Clear::from_words(Domain::Modular(Modulus::Mersenne61), &[(1 << 61) - 1, u64::MAX]);
        assert_eq!(field.to_words(), [0, 7]);
        let field = Clear::from_words(Domain::Modular(Modulus::Prime128), &[u64::MAX; 2]);
        assert_eq!(field.to_words(), [158, 0]);
    }

    #[test]
    fn numbers_come_back_from_their_bits() {
        let words = |numbers: &[i64]| numbers.iter().map(|&number| number as u64).collect::<Vec<_>>();
        for width in [1, 2, 7, 8, 31, 33, 63, 64] {
            let (lo, hi) = (i64::MIN >> (64 - width), i64::MAX >> (64 - width));
            let numbers = words(&[lo, hi, 0, -1, lo / 2, hi / 3, lo]);
            let form = Form::Bits { width, signed: true };
            let clear = Clear::from_elements(Domain::Bits, form, &numbers);
            assert_eq!((clear.domain(), clear.cols()), (Domain::Bits, 7 * usize::from(width)));
            let bits = clear.to_words();
            assert!(bits.iter().enumerate().all(|(at, bit)| {
                let (number, place) = (at / usize::from(width), at % usize::from(width));
                numbers[number] >> place & 1 == *bit
            }));
            assert_eq!(clear.to_elements(form), numbers, "{width} bits");
            let unsigned: Vec<u64> = numbers.iter().map(|number| number & u64::MAX >> (64 - width)).collect();
            assert_eq!(clear.to_elements(Form::Bits { width, signed: false }), unsigned);
        }
        for width in [65, 127, 128] {
            let form = Form::Bits { width, signed: false };
            let numbers = [5, 1, u64::MAX, u64::MAX >> (128 - width), 0, 0];
            let clear = Clear::from_elements(Domain::Bits, form, &numbers);
            assert_eq!((clear.cols(), clear.to_elements(form)), (3 * usize::from(width), numbers.to_vec()));
        }
        let whole = Clear::from_elements(Domain::Ring(Width::W8), Form::Elements, &[3, 300]);
        assert_eq!((whole.to_words(), whole.to_elements(Form::Elements)), (vec![3, 44], vec![3, 44]));
    }

    #[test]
    fn debug_output_shows_no_value() {
        assert!(!format!("{:?}", Clear::from_words(Domain::Ring(Width::W64), &[123_456])).contains("123"));
    }
}
