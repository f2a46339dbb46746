//! What canonical bytes are made of: integers, texts, shapes, dtypes, public numbers. All integers are little-endian.

use std::sync::Arc;

use tacit_circuit::Circuit;
use thiserror::Error;

use crate::domain::Width;
use crate::error::ProgramError;
use crate::modulus::Modulus;
use crate::real::{Real, Reals};
use crate::shape::Span;
use crate::types::{Dtype, MAX_RANK, Range};

/// Bytes that a name or a source text may have; a longer text is cut.
pub const MAX_TEXT: usize = 1 << 10;

/// Of a public number: its mantissa's, and its exponent's.
pub(crate) const REAL_BYTES: usize = 8 + 2;

/// Bytes that are no program.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// They aren't a program's, or of a version that this one can't read.
    #[error("these bytes are no program, or one of another version")]
    Head,
    /// They end too early.
    #[error("the program ends at byte {at}, in the middle of {what}")]
    Short {
        /// Where.
        at: usize,
        /// What is missing.
        what: &'static str,
    },
    /// A number that means nothing there.
    #[error("byte {at} of the program: {value} is not a {what}")]
    Meaning {
        /// Where.
        at: usize,
        /// What should stand there.
        what: &'static str,
        /// What does.
        value: u64,
    },
    /// Bytes that are no circuit.
    #[error("byte {at} of the program: {cause}")]
    Circuit {
        /// Where the circuit begins.
        at: usize,
        /// What is wrong with it.
        cause: tacit_circuit::DecodeError,
    },
    /// A node that its operation doesn't allow.
    #[error("the program can't be built: {0}")]
    Program(#[from] ProgramError),
    /// The program can be written otherwise, or there is more than it.
    #[error("the program is not written in its one canonical form")]
    NotCanonical,
}

pub(crate) fn put_u32(out: &mut Vec<u8>, value: usize) {
    out.extend_from_slice(&(value as u32).to_le_bytes());
}

pub(crate) fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_u32(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

pub(crate) fn put_dims(out: &mut Vec<u8>, dims: &[usize]) {
    out.push(dims.len() as u8);
    for &length in dims {
        put_u64(out, length as u64);
    }
}

pub(crate) fn put_kind(out: &mut Vec<u8>, kind: Dtype) {
    out.extend_from_slice(&match kind {
        Dtype::Bool => [0, 0],
        Dtype::Int => [1, 0],
        Dtype::Fixed { frac } => [2, frac],
        Dtype::Modular(Modulus::PowerOfTwo(n)) => [3, n],
        Dtype::Modular(field) => [4, field.bits()],
    });
}

pub(crate) fn put_flag(out: &mut Vec<u8>, flag: bool) {
    out.push(flag.into());
}

pub(crate) fn put_range(out: &mut Vec<u8>, range: Range) {
    out.extend_from_slice(&range.lo().to_le_bytes());
    out.extend_from_slice(&range.hi().to_le_bytes());
}

pub(crate) fn put_reals(out: &mut Vec<u8>, numbers: &Reals) {
    put_dims(out, numbers.shape());
    for number in numbers.numbers() {
        out.extend_from_slice(&number.mantissa().to_le_bytes());
        out.extend_from_slice(&number.exponent().to_le_bytes());
    }
}

/// Reads from the front; every method moves on past what it read.
pub(crate) struct Reader<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn circuit(&mut self) -> Result<Arc<Circuit>, DecodeError> {
        let at = self.at;
        let length = usize::try_from(self.u64("circuit's length")?).unwrap_or(usize::MAX);
        let bytes = self.take(length, "circuit")?;
        let circuit = Circuit::from_bytes(bytes).map_err(|cause| DecodeError::Circuit { at, cause })?;
        Ok(Arc::new(circuit))
    }

    pub(crate) fn reals(&mut self) -> Result<Reals, DecodeError> {
        let shape = self.dims()?;
        let at = self.at;
        let count = shape.iter().fold(1_usize, |count, &length| count.saturating_mul(length));
        let data = self.take(count.saturating_mul(REAL_BYTES), "public numbers")?;
        let mut numbers = Vec::with_capacity(count);
        for (place, bytes) in data.as_chunks::<REAL_BYTES>().0.iter().enumerate() {
            let [a, b, c, d, e, f, g, h, low, high] = *bytes;
            let (mantissa, exponent) =
                (i64::from_le_bytes([a, b, c, d, e, f, g, h]), i16::from_le_bytes([low, high]));
            numbers.push(Real::new(mantissa, exponent).ok_or(DecodeError::Meaning {
                at: at + REAL_BYTES * place,
                what: "public number",
                value: mantissa as u64,
            })?);
        }
        let count = count as u64;
        Reals::new(shape, numbers).ok_or(DecodeError::Meaning { at, what: "number of numbers", value: count })
    }

    /// A range, which isn't empty.
    pub(crate) fn range(&mut self) -> Result<Range, DecodeError> {
        let at = self.at;
        let (lo, hi) = (self.i128("range")?, self.i128("range")?);
        Range::new(lo, hi).ok_or(DecodeError::Meaning { at, what: "range", value: lo as u64 })
    }

    /// An axis.
    pub(crate) fn axis(&mut self) -> Result<usize, DecodeError> {
        Ok(self.u32("axis")? as usize)
    }

    pub(crate) fn spans(&mut self) -> Result<Vec<Span>, DecodeError> {
        let rank = self.rank()?;
        let mut spans = Vec::with_capacity(rank);
        for _ in 0..rank {
            let start = self.length()?;
            let step = self.u64("step")? as isize;
            spans.push(Span { start, step, count: self.length()? });
        }
        Ok(spans)
    }

    pub(crate) fn dims(&mut self) -> Result<Vec<usize>, DecodeError> {
        let rank = self.rank()?;
        (0..rank).map(|_| self.length()).collect()
    }

    pub(crate) fn rank(&mut self) -> Result<usize, DecodeError> {
        let rank = self.u8("number of axes")?;
        if rank as usize > MAX_RANK { Err(self.meaning("number of axes", rank)) } else { Ok(rank.into()) }
    }

    /// A length or a place: below 2^32, so that what is reckoned from a few can't overflow.
    pub(crate) fn length(&mut self) -> Result<usize, DecodeError> {
        let at = self.at;
        let value = self.u64("length")?;
        u32::try_from(value).map(|length| length as usize).map_err(|_| DecodeError::Meaning {
            at,
            what: "length",
            value,
        })
    }

    pub(crate) fn kind(&mut self) -> Result<Dtype, DecodeError> {
        let (tag, detail) = (self.u8("kind")?, self.u8("kind")?);
        match (tag, detail) {
            (0, 0) => Ok(Dtype::Bool),
            (1, 0) => Ok(Dtype::Int),
            (2, frac) => Ok(Dtype::Fixed { frac }),
            (3, n) if Modulus::PowerOfTwo(n).is_valid() => Ok(Dtype::Modular(Modulus::PowerOfTwo(n))),
            (4, 61) => Ok(Dtype::Modular(Modulus::Mersenne61)),
            (4, 128) => Ok(Dtype::Modular(Modulus::Prime128)),
            (3 | 4, other) => Err(self.meaning("modulus", other)),
            _ => Err(self.meaning("kind", tag)),
        }
    }

    pub(crate) fn wrapping(&mut self) -> Result<Option<Width>, DecodeError> {
        match self.u8("width")? {
            0 => Ok(None),
            bits => match Width::ALL.into_iter().find(|width| width.bits() == bits) {
                Some(width) => Ok(Some(width)),
                None => Err(self.meaning("width", bits)),
            },
        }
    }

    pub(crate) fn flag(&mut self) -> Result<bool, DecodeError> {
        match self.u8("flag")? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.meaning("flag", other)),
        }
    }

    pub(crate) fn text(&mut self, what: &'static str) -> Result<String, DecodeError> {
        let at = self.at;
        let length = self.u32(what)?;
        let meaning = DecodeError::Meaning { at, what: "text's length", value: length.into() };
        if length as usize > MAX_TEXT {
            return Err(meaning);
        }
        let bytes = self.take(length as usize, what)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| DecodeError::Meaning {
            at,
            what: "text",
            value: length.into(),
        })
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, DecodeError> {
        Ok(u8::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn i128(&mut self, what: &'static str) -> Result<i128, DecodeError> {
        Ok(i128::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeError> {
        let at = self.at;
        let taken = self.take(N, what)?;
        taken.try_into().map_err(|_| DecodeError::Short { at, what })
    }

    pub(crate) fn take(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], DecodeError> {
        let end = self.at.saturating_add(length);
        let taken = self.bytes.get(self.at..end).ok_or(DecodeError::Short { at: self.bytes.len(), what })?;
        self.at = end;
        Ok(taken)
    }

    /// The error for a byte that was just read.
    pub(crate) fn meaning(&self, what: &'static str, value: u8) -> DecodeError {
        DecodeError::Meaning { at: self.at.saturating_sub(1), what, value: value.into() }
    }
}
