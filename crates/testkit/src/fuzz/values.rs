//! Clear values: numbers that a user's file holds, and words that parties have opened.

use tacit_program::plan::{To, Width};
use tacit_program::{
    Data, Dtype, InputType, MAX_FRACTION, Modulus, OutputType, Range, Value, decode, encode,
};

/// Whole numbers up to here are exact as floating-point numbers.
const EXACT: u64 = 1 << 53;

/// A value and its declared type, both from the bytes: what is encoded decodes to what encodes the same. The same
/// words as an output of the same type: whatever they are, a value or an error.
pub fn value(bytes: &[u8]) {
    let mut feed = Feed { bytes };
    let kind = feed.kind();
    let shape: Vec<usize> = (0..feed.byte() % 4).map(|_| usize::from(feed.byte() % 6)).collect();
    let range = match Range::new(feed.word() as i64 as i128, feed.word() as i64 as i128) {
        Some(range) if kind.is_ranged() => range,
        _ => kind.whole(),
    };
    let given = feed.data();
    let declared = InputType { owner: "alice".into(), name: "x".into(), kind, shape: shape.clone(), range };
    let width = (!matches!(kind, Dtype::Bool)).then_some(Width::W64);
    let output = OutputType { to: To::All, kind, shape: shape.clone(), range, width, node: 0 };

    match encode(&declared, &Value { shape, data: given }) {
        Ok(words) => {
            let read = decode(&output, &words).expect("what is encoded is in its range");
            let exact = |word: &u64| (*word as i64).unsigned_abs() <= EXACT;
            if !matches!(kind, Dtype::Fixed { .. }) || words.iter().all(exact) {
                assert_eq!(encode(&declared, &read), Ok(words));
            }
        }
        Err(error) => drop(error.to_string()),
    }
    let words: Vec<u64> = std::iter::from_fn(|| feed.next_word()).collect();
    match decode(&output, &words) {
        Ok(value) => assert_eq!(value.data.len() * kind.limbs(), words.len()),
        Err(error) => drop(error.to_string()),
    }
}

/// Takes bytes from the front; zeros when there are no more.
struct Feed<'a> {
    bytes: &'a [u8],
}

impl Feed<'_> {
    fn kind(&mut self) -> Dtype {
        let (tag, detail) = (self.byte(), self.byte());
        match tag % 4 {
            0 => Dtype::Bool,
            1 => Dtype::Int,
            2 => Dtype::Fixed { frac: 1 + detail % MAX_FRACTION },
            _ => Dtype::Modular(match detail {
                0..128 => Modulus::PowerOfTwo(detail + 1),
                128..192 => Modulus::Mersenne61,
                192.. => Modulus::Prime128,
            }),
        }
    }

    fn data(&mut self) -> Data {
        let (tag, len) = (self.byte(), self.byte());
        let words: Vec<u64> = (0..len).map_while(|_| self.next_word()).collect();
        match tag % 5 {
            0 => Data::Bool(words.iter().map(|word| word & 1 == 1).collect()),
            1 => Data::Int(words.iter().map(|&word| word as i64).collect()),
            2 => Data::Unsigned(words),
            3 => Data::Wide(
                words
                    .as_chunks()
                    .0
                    .iter()
                    .map(|[low, high]| u128::from(*high) << 64 | u128::from(*low))
                    .collect(),
            ),
            _ => Data::Float(words.into_iter().map(f64::from_bits).collect()),
        }
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    fn word(&mut self) -> u64 {
        self.next_word().unwrap_or(0)
    }

    fn next_word(&mut self) -> Option<u64> {
        let (first, rest) = self.bytes.split_first_chunk::<8>()?;
        self.bytes = rest;
        Some(u64::from_le_bytes(*first))
    }
}
