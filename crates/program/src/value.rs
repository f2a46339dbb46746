//! Clear values, and the raw words that they are shared as.
//!
//! A raw word is the element's raw integer in two's complement modulo 2^64: 0 or 1 for a bool, the integer
//! itself, `round(x 2^frac)` for fixed point (ties go up, as in truncation). A ring of fewer bits takes the low
//! ones. An integer to a modulus of more than 64 bits is two words, the low one first.

use thiserror::Error;

use crate::domain::Width;
use crate::modulus::Modulus;
use crate::signature::{InputType, OutputType};
use crate::types::{Dims, Dtype, Range, to_raw};

/// A clear tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// The elements, row-major.
    pub data: Data,
}

/// The elements of a [`Value`].
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Of dtype bool.
    Bool(Vec<bool>),
    /// Of dtype int.
    Int(Vec<i64>),
    /// Of dtype modular, to a modulus of up to 64 bits.
    Unsigned(Vec<u64>),
    /// Of dtype modular, to a modulus of more than 64 bits.
    Wide(Vec<u128>),
    /// Of dtype fixed.
    Float(Vec<f64>),
}

impl Data {
    /// Elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Bool(data) => data.len(),
            Self::Int(data) => data.len(),
            Self::Unsigned(data) => data.len(),
            Self::Wide(data) => data.len(),
            Self::Float(data) => data.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What an error calls the elements.
    const fn name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "bools",
            Self::Int(_) => "integers",
            Self::Unsigned(_) | Self::Wide(_) => "unsigned integers",
            Self::Float(_) => "floating-point numbers",
        }
    }
}

/// A value that doesn't fit the type it is meant for.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ValueError {
    /// Another shape than declared.
    #[error("shape {} where {} is declared", Dims(given), Dims(declared))]
    Shape {
        /// The value's.
        given: Vec<usize>,
        /// The type's.
        declared: Vec<usize>,
    },
    /// A shape that doesn't have as many elements as there are.
    #[error("{given} elements for shape {}", Dims(shape))]
    Length {
        /// Elements given.
        given: usize,
        /// The shape.
        shape: Vec<usize>,
    },
    /// Elements of another dtype.
    #[error("{given} where {kind} is declared")]
    Kind {
        /// What was given.
        given: &'static str,
        /// What is declared.
        kind: Dtype,
    },
    /// A NaN or an infinity.
    #[error("element {position:?} is {value}, which is not a finite number")]
    NotFinite {
        /// Its index.
        position: Vec<usize>,
        /// It.
        value: String,
    },
    /// An element outside the declared range.
    #[error("element {position:?} is {value}, outside the declared range {lo} to {hi}")]
    Range {
        /// Its index.
        position: Vec<usize>,
        /// It.
        value: String,
        /// The low end.
        lo: f64,
        /// The high end.
        hi: f64,
    },
    /// A wrong number of inputs.
    #[error("{given} inputs for a program that has {declared}")]
    Inputs {
        /// How many were given.
        given: usize,
        /// How many there are.
        declared: usize,
    },
    /// A wrong number of outputs.
    #[error("{given} outputs of a plan that has {declared}")]
    Outputs {
        /// How many were given.
        given: usize,
        /// How many there are.
        declared: usize,
    },
}

/// The bits of an input of bools whose range excludes nothing; `None` for any other, which is to be [encoded](encode). Bits come
/// by millions, and words of them take 64 times the memory.
///
/// # Errors
/// As [`encode`].
pub fn bools<'v>(declared: &InputType, value: &'v Value) -> Result<Option<&'v [bool]>, ValueError> {
    match &value.data {
        Data::Bool(bits) if declared.kind == Dtype::Bool && declared.range.covers(Dtype::Bool.whole()) => {
            has_shape(declared, value)?;
            value.is_whole()?;
            Ok(Some(bits))
        }
        _ => Ok(None),
    }
}

/// The raw words of an input.
///
/// Int takes integers, fixed takes floating-point numbers and integers, modular takes unsigned integers and
/// those that aren't negative, below the modulus.
///
/// # Errors
/// A wrong shape or dtype, a NaN or an infinity, an element outside the declared range: the first such, by index.
pub fn encode(declared: &InputType, value: &Value) -> Result<Vec<u64>, ValueError> {
    if let Some(bits) = bools(declared, value)? {
        return Ok(bits.iter().map(|&bit| u64::from(bit)).collect());
    }
    has_shape(declared, value)?;
    encode_as(declared.kind, declared.range, value)
}

fn has_shape(declared: &InputType, value: &Value) -> Result<(), ValueError> {
    if value.shape == declared.shape {
        return Ok(());
    }
    Err(ValueError::Shape { given: value.shape.clone(), declared: declared.shape.clone() })
}

impl Value {
    /// Whether it has as many elements as its shape says.
    fn is_whole(&self) -> Result<(), ValueError> {
        let Self { shape, data } = self;
        if shape.iter().try_fold(1usize, |total, &length| total.checked_mul(length)) == Some(data.len()) {
            return Ok(());
        }
        Err(ValueError::Length { given: data.len(), shape: shape.clone() })
    }
}

/// The raw words of a value of any shape.
pub(crate) fn encode_as(kind: Dtype, range: Range, value: &Value) -> Result<Vec<u64>, ValueError> {
    let Value { shape, data } = value;
    value.is_whole()?;
    let wrong = || ValueError::Kind { given: data.name(), kind };
    // `None` is out of every range.
    let words = |raw: &mut dyn Iterator<Item = Option<i128>>| -> Result<Vec<u64>, ValueError> {
        let mut words = Vec::with_capacity(data.len() * kind.limbs());
        for (place, raw) in raw.enumerate() {
            match raw.filter(|&raw| kind.holds(range, raw)) {
                Some(raw) => words.extend(&words_of(raw)[..kind.limbs()]),
                None => return Err(outside(kind, range, value, place)),
            }
        }
        Ok(words)
    };
    match (kind, data) {
        (Dtype::Bool, Data::Bool(data)) => words(&mut data.iter().map(|&bit| Some(i128::from(bit)))),
        (Dtype::Int, Data::Int(data)) => words(&mut data.iter().map(|&x| Some(i128::from(x)))),
        (Dtype::Int | Dtype::Modular(_), Data::Unsigned(data)) => {
            words(&mut data.iter().map(|&x| Some(i128::from(x))))
        }
        (Dtype::Modular(_), Data::Int(data)) => {
            words(&mut data.iter().map(|&x| u64::try_from(x).ok().map(i128::from)))
        }
        (Dtype::Modular(modulus), Data::Wide(data)) => {
            words(&mut data.iter().map(|&x| modulus.holds(x).then_some(x as i128)))
        }
        (Dtype::Fixed { frac }, Data::Int(data)) => {
            words(&mut data.iter().map(|&x| Some(i128::from(x) << frac.min(63))))
        }
        (Dtype::Fixed { frac }, Data::Float(data)) => match data.iter().position(|x| !x.is_finite()) {
            Some(place) => Err(ValueError::NotFinite {
                position: position(shape, place),
                value: data[place].to_string(),
            }),
            None => words(&mut data.iter().map(|&x| to_raw(x, frac))),
        },
        _ => Err(wrong()),
    }
}

/// The clear value of an output's words, of which the low bits of its width count.
///
/// # Errors
/// [`ValueError::Length`] if there are too few or too many; [`ValueError::Range`] if an element isn't one that
/// the program can have computed, which tells of a fault in the protocol or in the engine.
pub fn decode(declared: &OutputType, words: &[u64]) -> Result<Value, ValueError> {
    let OutputType { kind, shape, range, .. } = declared;
    if *kind == Dtype::Bool && range.covers(kind.whole()) && words.len() == shape.iter().product::<usize>() {
        let data = Data::Bool(words.iter().map(|word| word & 1 == 1).collect());
        return Ok(Value { shape: shape.clone(), data });
    }
    let raw = decode_raw(declared, words)?;
    Ok(to_value(declared.kind, &declared.shape, &raw))
}

/// The raw elements of an output's words. Those of fixed point can have more bits than the float that they become.
///
/// # Errors
/// As for [`decode`].
pub fn decode_raw(declared: &OutputType, words: &[u64]) -> Result<Vec<i128>, ValueError> {
    let OutputType { kind, shape, range, width, .. } = declared;
    let words: Vec<u64> = match kind {
        Dtype::Modular(modulus) => reduced(*modulus, words),
        _ => words.iter().map(|&word| extended(*kind, *width, word)).collect(),
    };
    checked_raw(*kind, shape, *range, &words)
}

/// Words as raw elements, if there are as many as the shape has and each is in its range.
pub(crate) fn checked_raw(
    kind: Dtype,
    shape: &[usize],
    range: Range,
    words: &[u64],
) -> Result<Vec<i128>, ValueError> {
    if words.len() != shape.iter().product::<usize>() * kind.limbs() {
        return Err(ValueError::Length { given: words.len() / kind.limbs(), shape: shape.to_vec() });
    }
    let raw: Vec<i128> = raw_of(kind, words).collect();
    match raw.iter().position(|&raw| !kind.holds(range, raw)) {
        Some(place) => Err(outside(kind, range, &to_value(kind, shape, &raw), place)),
        None => Ok(raw),
    }
}

/// The clear value of raw elements, as [`crate::reference`] has them.
pub fn to_value(kind: Dtype, shape: &[usize], raw: &[i128]) -> Value {
    let data = match kind {
        Dtype::Bool => Data::Bool(raw.iter().map(|&raw| raw & 1 == 1).collect()),
        Dtype::Int => Data::Int(raw.iter().map(|&raw| raw as i64).collect()),
        Dtype::Modular(modulus) if modulus.limbs() > 1 => {
            Data::Wide(raw.iter().map(|&raw| raw as u128).collect())
        }
        Dtype::Modular(_) => Data::Unsigned(raw.iter().map(|&raw| raw as u64).collect()),
        Dtype::Fixed { frac } => {
            let unit = (1u128 << frac) as f64;
            Data::Float(raw.iter().map(|&raw| raw as f64 / unit).collect())
        }
    };
    Value { shape: shape.to_vec(), data }
}

/// Raw elements from words: signed ones but for modular integers, which from 2^127 on stand for themselves less
/// 2^128.
pub(crate) fn raw_of(kind: Dtype, words: &[u64]) -> impl Iterator<Item = i128> {
    words.chunks_exact(kind.limbs()).map(move |limbs| match (kind, limbs) {
        (Dtype::Modular(_), [low]) => i128::from(*low),
        (_, [low, high]) => (u128::from(*high) << 64 | u128::from(*low)) as i128,
        _ => i128::from(limbs[0] as i64),
    })
}

/// The words of a raw element, of which its dtype has one or two.
pub(crate) const fn words_of(raw: i128) -> [u64; 2] {
    [raw as u64, (raw >> 64) as u64]
}

/// Of words of powers of two only the modulus's bits.
fn reduced(modulus: Modulus, words: &[u64]) -> Vec<u64> {
    match modulus {
        Modulus::PowerOfTwo(_) => {
            let masks = words_of(modulus.last() as i128);
            words
                .iter()
                .zip(masks[..modulus.limbs()].iter().cycle())
                .map(|(word, mask)| word & mask)
                .collect()
        }
        Modulus::Mersenne61 | Modulus::Prime128 | Modulus::Gf128 => words.to_vec(),
    }
}

/// A word of which only the low bits of `width` count, as a word of 64.
fn extended(kind: Dtype, width: Option<Width>, word: u64) -> u64 {
    if kind == Dtype::Bool {
        return word & 1;
    }
    let unused = 64 - width.unwrap_or(Width::W64).bits();
    (((word << unused) as i64) >> unused) as u64
}

fn outside(kind: Dtype, range: Range, value: &Value, place: usize) -> ValueError {
    let real = |raw: i128| raw as f64 / (1u128 << kind.frac()) as f64;
    let (lo, hi) = match kind {
        Dtype::Modular(modulus) => (0.0, modulus.last() as f64),
        _ => (real(range.lo()), real(range.hi())),
    };
    let shown = match &value.data {
        Data::Bool(data) => data[place].to_string(),
        Data::Int(data) => data[place].to_string(),
        Data::Unsigned(data) => data[place].to_string(),
        Data::Wide(data) => data[place].to_string(),
        Data::Float(data) => data[place].to_string(),
    };
    ValueError::Range { position: position(&value.shape, place), value: shown, lo, hi }
}

/// The index of the element at `place` in row-major order.
pub(crate) fn position(shape: &[usize], place: usize) -> Vec<usize> {
    let mut left = place;
    let mut index = vec![0; shape.len()];
    for (at, &length) in index.iter_mut().zip(shape).rev() {
        *at = left % length;
        left /= length;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::To;

    fn input(kind: Dtype, shape: &[usize], lo: i128, hi: i128) -> InputType {
        let (owner, name) = ("alice".to_owned(), "x".to_owned());
        InputType { owner, name, kind, shape: shape.to_vec(), range: Range::new(lo, hi).unwrap() }
    }

    fn floats(data: &[f64]) -> Value {
        Value { shape: vec![data.len()], data: Data::Float(data.to_vec()) }
    }

    #[test]
    fn fixed_point_rounds_to_nearest_and_ties_go_up() {
        let ty = input(Dtype::Fixed { frac: 1 }, &[6], -100, 100);
        let raw = encode(&ty, &floats(&[0.25, -0.25, 0.24, -0.26, 3.0, -1.5])).unwrap();
        assert_eq!(raw.iter().map(|&word| word as i64).collect::<Vec<_>>(), [1, 0, 0, -1, 6, -3]);
        assert_eq!(to_raw(1e300, 32), Some(i128::MAX));
        assert_eq!(to_raw(-1e300, 32), Some(i128::MIN));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_position() {
        let fixed = input(Dtype::Fixed { frac: 16 }, &[2, 2], 0, 1 << 20);
        let value = |data: [f64; 4]| Value { shape: vec![2, 2], data: Data::Float(data.to_vec()) };
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = encode(&fixed, &value([0.0, 1.0, bad, 99.0])).unwrap_err();
            assert!(matches!(error, ValueError::NotFinite { position, .. } if position == [1, 0]));
        }
        for bad in [-0.1, 16.1, 1e300] {
            let error = encode(&fixed, &value([0.0, 1.0, 2.0, bad])).unwrap_err();
            assert!(matches!(error, ValueError::Range { position, .. } if position == [1, 1]));
        }
        assert!(matches!(encode(&fixed, &floats(&[0.0; 4])), Err(ValueError::Shape { .. })));
        let short = Value { shape: vec![2, 2], data: Data::Float(vec![0.0]) };
        assert!(matches!(encode(&fixed, &short), Err(ValueError::Length { .. })));
        let bools = Value { shape: vec![2, 2], data: Data::Bool(vec![true; 4]) };
        assert!(matches!(encode(&fixed, &bools), Err(ValueError::Kind { .. })));
        let int = input(Dtype::Int, &[4], -8, 7);
        assert!(matches!(encode(&int, &floats(&[0.0; 4])), Err(ValueError::Kind { .. })));
    }

    #[test]
    fn bits_stay_bits_where_nothing_is_excluded() {
        let value = |data| Value { shape: vec![2], data };
        let data = [true, false];
        let any = input(Dtype::Bool, &[2], 0, 1);
        assert_eq!(bools(&any, &value(Data::Bool(data.to_vec()))), Ok(Some(&data[..])));
        assert_eq!(encode(&any, &value(Data::Bool(data.to_vec()))), Ok(vec![1, 0]));
        for other in [&any, &input(Dtype::Int, &[2], 0, 1)] {
            assert_eq!(bools(other, &value(Data::Int(vec![1, 0]))), Ok(None));
        }
        let ones = input(Dtype::Bool, &[2], 1, 1);
        assert_eq!(bools(&ones, &value(Data::Bool(data.to_vec()))), Ok(None));
        let refused = encode(&ones, &value(Data::Bool(data.to_vec())));
        assert!(matches!(refused, Err(ValueError::Range { .. })), "{refused:?}");
        for wrong in [vec![true; 3], Vec::new()] {
            let short = value(Data::Bool(wrong.clone()));
            assert!(matches!(bools(&any, &short), Err(ValueError::Length { .. })));
            let other = Value { shape: vec![wrong.len()], ..short };
            assert!(matches!(bools(&any, &other), Err(ValueError::Shape { .. })));
        }
    }

    #[test]
    fn words_come_back_as_the_values_they_were() {
        let cases = [
            (Dtype::Bool, Data::Bool(vec![true, false])),
            (Dtype::Int, Data::Int(vec![-128, 127])),
            (Dtype::Fixed { frac: 3 }, Data::Float(vec![-16.0, 15.875])),
            (Dtype::Modular(Modulus::PowerOfTwo(8)), Data::Unsigned(vec![0, 255])),
            (Dtype::Modular(Modulus::PowerOfTwo(63)), Data::Unsigned(vec![0, u64::MAX >> 1])),
            (Dtype::Modular(Modulus::PowerOfTwo(64)), Data::Unsigned(vec![0, u64::MAX])),
            (Dtype::Modular(Modulus::PowerOfTwo(65)), Data::Wide(vec![1, (1 << 65) - 1])),
            (Dtype::Modular(Modulus::PowerOfTwo(128)), Data::Wide(vec![1 << 127, u128::MAX])),
            (Dtype::Modular(Modulus::Mersenne61), Data::Unsigned(vec![0, (1 << 61) - 2])),
            (Dtype::Modular(Modulus::Prime128), Data::Wide(vec![0, u128::MAX - 159])),
        ];
        for (kind, data) in cases {
            let value = Value { shape: vec![2], data };
            let words = encode_as(kind, kind.whole(), &value).unwrap();
            let width = (!matches!(kind, Dtype::Bool | Dtype::Modular(_))).then_some(Width::W8);
            let ty = OutputType { to: To::All, kind, shape: vec![2], range: kind.whole(), width, node: 0 };
            // What stands above the bits that count is left out, but for fields, where all bits count.
            let counted = match kind {
                Dtype::Modular(Modulus::PowerOfTwo(n)) => u128::MAX.checked_shl(n.into()).unwrap_or(0),
                Dtype::Modular(_) => 0,
                _ => 0xabcd << 8,
            };
            let noise = [counted as u64, (counted >> 64) as u64];
            let noise = noise[..kind.limbs()].iter().cycle();
            let dirty: Vec<u64> = words.iter().zip(noise).map(|(word, noise)| word ^ noise).collect();
            assert_eq!(decode(&ty, &dirty).unwrap(), value);
            assert!(matches!(decode(&ty, &words[1..]), Err(ValueError::Length { .. })));
        }
        for (modulus, data) in [
            (Modulus::Mersenne61, Data::Unsigned(vec![(1 << 61) - 1])),
            (Modulus::PowerOfTwo(9), Data::Int(vec![512])),
            (Modulus::PowerOfTwo(128), Data::Int(vec![-1])),
            (Modulus::Prime128, Data::Wide(vec![u128::MAX - 158])),
        ] {
            let ty = input(Dtype::Modular(modulus), &[1], 0, 1);
            let refused = encode(&ty, &Value { shape: vec![1], data });
            assert!(matches!(refused, Err(ValueError::Range { .. })), "{refused:?}");
        }
    }

    #[test]
    fn an_output_that_cannot_be_is_an_error() {
        let range = Range::new(0, 5).unwrap();
        let ty = OutputType {
            to: To::All,
            kind: Dtype::Int,
            shape: vec![1],
            range,
            width: Some(Width::W8),
            node: 0,
        };
        assert!(matches!(decode(&ty, &[6]), Err(ValueError::Range { .. })));
    }
}
