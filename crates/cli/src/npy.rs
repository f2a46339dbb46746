//! NumPy's `.npy` files, strictly: one array of bools, integers or floating-point numbers, little-endian.
//!
//! The format is NumPy's NEP 1: `\x93NUMPY`, two bytes of version, the header's length (2 bytes in version 1, 4
//! from version 2 on), a header that is a Python dict literal, and the elements in C or Fortran order. Anything
//! else is refused, above all pickled objects. Memory is bounded by the file's own length.

use std::path::Path;
use tacit::program::{Data, MAX_RANK, Value};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that is read.
const MAX_HEADER: usize = 1 << 16;

/// Reads an array.
///
/// # Errors
/// A text for the user.
pub(crate) fn read(path: &Path) -> Result<Value, String> {
    parse(&std::fs::read(path).map_err(|error| format!("can't be read: {error}"))?)
}

/// Writes an array, in C order.
///
/// # Errors
/// A text for the user.
pub(crate) fn write(path: &Path, value: &Value) -> Result<(), String> {
    std::fs::write(path, to_bytes(value))
        .map_err(|error| format!("{} can't be written: {error}", path.display()))
}

fn parse(bytes: &[u8]) -> Result<Value, String> {
    let cut = || "the file ends in its header".to_owned();
    let rest = bytes.strip_prefix(MAGIC).ok_or("not a NumPy file (.npy)")?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
    let (length, rest) = match version {
        [1, 0] => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        [2 | 3, 0] => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(cut)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
        [major, minor] => return Err(format!("a NumPy file of version {major}.{minor}, which is not known")),
    };
    if length > MAX_HEADER {
        return Err(format!("a header of {length} bytes, which no array needs"));
    }
    let (header, elements) = rest.split_at_checked(length).ok_or_else(cut)?;
    let header = std::str::from_utf8(header).map_err(|_| "a header that is not text")?;
    let Header { descr, fortran, shape } = Header::parse(header)?;
    let data = decode(&descr, elements, &shape)?;
    let data = if fortran { reorder(data, &shape) } else { data };
    Ok(Value { shape, data })
}

/// What a header says.
#[derive(Debug, PartialEq)]
struct Header {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    /// Reads the dict literal, which has just these three keys, in any order.
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("a header that can't be read: {}", text.trim_end());
        let mut rest = text.trim().strip_prefix('{').ok_or_else(wrong)?;
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        loop {
            rest = rest.trim_start();
            if rest == "}" {
                break;
            }
            let (key, after) = quoted(rest).ok_or_else(wrong)?;
            let value = after.trim_start().strip_prefix(':').ok_or_else(wrong)?.trim_start();
            rest = match key {
                "descr" if descr.is_none() => {
                    let (text, rest) = quoted(value)
                        .ok_or("elements that are records; only arrays of numbers or bools can be read")?;
                    descr = Some(text.to_owned());
                    rest
                }
                "fortran_order" if fortran.is_none() => {
                    let after_true = value.strip_prefix("True");
                    fortran = Some(after_true.is_some());
                    after_true.or_else(|| value.strip_prefix("False")).ok_or_else(wrong)?
                }
                "shape" if shape.is_none() => {
                    let (inside, rest) =
                        value.strip_prefix('(').and_then(|value| value.split_once(')')).ok_or_else(wrong)?;
                    shape = Some(lengths(inside).ok_or_else(wrong)?);
                    rest
                }
                _ => return Err(wrong()),
            };
            rest = rest.trim_start();
            rest = match rest.strip_prefix(',') {
                Some(rest) => rest,
                None if rest == "}" => rest,
                None => return Err(wrong()),
            };
        }
        match (descr, fortran, shape) {
            (Some(descr), Some(fortran), Some(shape)) if shape.len() <= MAX_RANK => {
                Ok(Self { descr, fortran, shape })
            }
            (_, _, Some(shape)) if shape.len() > MAX_RANK => {
                Err(format!("{} axes, where at most {MAX_RANK} are possible", shape.len()))
            }
            _ => Err(wrong()),
        }
    }
}

/// A quoted text without escapes, and what comes after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|quote| ['\'', '"'].contains(quote))?;
    let (inside, rest) = text[1..].split_once(quote)?;
    (!inside.contains('\\')).then_some((inside, rest))
}

/// The lengths in a tuple: `2, 3` or `2,` or nothing.
fn lengths(text: &str) -> Option<Vec<usize>> {
    let text = text.trim();
    let text = text.strip_suffix(',').unwrap_or(text);
    if text.is_empty() {
        return Some(vec![]);
    }
    text.split(',').map(|length| length.trim().parse().ok()).collect()
}

fn decode(descr: &str, bytes: &[u8], shape: &[usize]) -> Result<Data, String> {
    let count = shape.iter().try_fold(1_usize, |count, &length| count.checked_mul(length));
    let elements = Elements { bytes, count, shape };
    Ok(match descr {
        "|b1" => Data::Bool(elements.read(|[byte]: [u8; 1]| match byte {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(format!("a bool that is {other}")),
        })?),
        "|i1" | "<i1" => Data::Int(elements.read(|x| Ok(i8::from_le_bytes(x).into()))?),
        "<i2" => Data::Int(elements.read(|x| Ok(i16::from_le_bytes(x).into()))?),
        "<i4" => Data::Int(elements.read(|x| Ok(i32::from_le_bytes(x).into()))?),
        "<i8" => Data::Int(elements.read(|x| Ok(i64::from_le_bytes(x)))?),
        "|u1" | "<u1" => Data::Unsigned(elements.read(|x| Ok(u8::from_le_bytes(x).into()))?),
        "<u2" => Data::Unsigned(elements.read(|x| Ok(u16::from_le_bytes(x).into()))?),
        "<u4" => Data::Unsigned(elements.read(|x| Ok(u32::from_le_bytes(x).into()))?),
        "<u8" => Data::Unsigned(elements.read(|x| Ok(u64::from_le_bytes(x)))?),
        // NumPy has no integers of 128 bits: their bytes, as `a.view(np.void(16))` would show them.
        "|V16" => Data::Wide(elements.read(|x| Ok(u128::from_le_bytes(x)))?),
        "<f4" => Data::Float(elements.read(|x| Ok(f32::from_le_bytes(x).into()))?),
        "<f8" => Data::Float(elements.read(|x| Ok(f64::from_le_bytes(x)))?),
        other => {
            return Err(format!(
                "elements of type {other:?}; bools, integers, float32 and float64 in little-endian order can be read"
            ));
        }
    })
}

/// The elements' bytes and what the header says of them.
struct Elements<'a> {
    bytes: &'a [u8],
    /// `None` if it doesn't fit a word.
    count: Option<usize>,
    shape: &'a [usize],
}

impl Elements<'_> {
    fn read<const N: usize, T>(&self, one: impl Fn([u8; N]) -> Result<T, String>) -> Result<Vec<T>, String> {
        let (chunks, rest) = self.bytes.as_chunks::<N>();
        if Some(chunks.len()) != self.count || !rest.is_empty() {
            return Err(format!(
                "{} bytes of elements, which is not what shape {:?} of {N} bytes each takes",
                self.bytes.len(),
                self.shape
            ));
        }
        chunks.iter().map(|chunk| one(*chunk)).collect()
    }
}

/// From Fortran to C order.
fn reorder(data: Data, shape: &[usize]) -> Data {
    match data {
        Data::Bool(data) => Data::Bool(to_c_order(&data, shape)),
        Data::Int(data) => Data::Int(to_c_order(&data, shape)),
        Data::Unsigned(data) => Data::Unsigned(to_c_order(&data, shape)),
        Data::Wide(data) => Data::Wide(to_c_order(&data, shape)),
        Data::Float(data) => Data::Float(to_c_order(&data, shape)),
    }
}

fn to_c_order<T: Copy>(data: &[T], shape: &[usize]) -> Vec<T> {
    // The place in Fortran order of the element at a place in C order: the last axis runs fastest in C.
    let place = |mut at: usize| {
        let mut index = vec![0; shape.len()];
        for (axis, &length) in shape.iter().enumerate().rev() {
            index[axis] = at % length;
            at /= length;
        }
        index.iter().zip(shape).rev().fold(0, |place, (index, length)| place * length + index)
    };
    (0..data.len()).map(|at| data[place(at)]).collect()
}

fn to_bytes(value: &Value) -> Vec<u8> {
    let (descr, elements): (&str, Vec<u8>) = match &value.data {
        Data::Bool(data) => ("|b1", data.iter().map(|&bit| u8::from(bit)).collect()),
        Data::Int(data) => ("<i8", data.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Data::Unsigned(data) => ("<u8", data.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Data::Wide(data) => ("|V16", data.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Data::Float(data) => ("<f8", data.iter().flat_map(|x| x.to_le_bytes()).collect()),
    };
    let lengths: Vec<String> = value.shape.iter().map(|length| length.to_string() + ",").collect();
    let lengths = lengths.concat();
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({lengths}), }}");
    // With magic, version and length, the elements start at a multiple of 64 bytes, after a line's end.
    let before = MAGIC.len() + 4;
    let padded = (before + header.len() + 1).next_multiple_of(64) - before;
    header.extend(std::iter::repeat_n(' ', padded - 1 - header.len()));
    header.push('\n');
    // At most MAX_RANK lengths: far below version 1's limit.
    let length = (header.len() as u16).to_le_bytes();
    [MAGIC, &[1, 0], &length, header.as_bytes(), &elements].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, elements: &[u8]) -> Vec<u8> {
        [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes(), elements].concat()
    }

    #[test]
    fn what_is_written_can_be_read() {
        for shape in [vec![], vec![6], vec![2, 3], vec![1, 6, 1], vec![2, 0]] {
            let count: usize = shape.iter().product();
            for data in [
                Data::Bool((0..count).map(|i| i % 2 == 0).collect()),
                Data::Int((0..count).map(|i| i64::MIN + i as i64).collect()),
                Data::Unsigned((0..count).map(|i| u64::MAX - i as u64).collect()),
                Data::Wide((0..count).map(|i| u128::MAX - i as u128).collect()),
                Data::Float((0..count).map(|i| i as f64 / 3.0).collect()),
            ] {
                let value = Value { shape: shape.clone(), data };
                let bytes = to_bytes(&value);
                assert_eq!(parse(&bytes), Ok(value));
                for end in 0..bytes.len() {
                    assert!(parse(&bytes[..end]).is_err());
                }
            }
        }
    }

    #[test]
    fn fortran_order_is_turned() {
        let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n";
        let value = parse(&file(header, &[1, 4, 2, 5, 3, 6])).unwrap();
        assert_eq!(value, Value { shape: vec![2, 3], data: Data::Unsigned(vec![1, 2, 3, 4, 5, 6]) });
    }

    #[test]
    fn small_and_narrow_types_widen() {
        let header =
            |descr: &str| format!("{{\"descr\": \"{descr}\", \"fortran_order\": False, \"shape\": (1,)}}");
        let read = |descr: &str, bytes: &[u8]| parse(&file(&header(descr), bytes)).unwrap().data;
        assert_eq!(read("<i2", &[0xff, 0xff]), Data::Int(vec![-1]));
        assert_eq!(read("<u2", &[0xff, 0xff]), Data::Unsigned(vec![65_535]));
        assert_eq!(read("<f4", &1.5_f32.to_le_bytes()), Data::Float(vec![1.5]));
    }

    #[test]
    fn what_is_not_an_array_of_numbers_is_refused_in_words() {
        let header = |descr: &str, shape: &str| {
            format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n")
        };
        let cases: [(Vec<u8>, &str); 10] = [
            (b"PK\x03\x04".to_vec(), "not a NumPy file"),
            ([MAGIC, &[9, 0]].concat(), "version 9.0"),
            ([MAGIC, &[2, 0], &u32::MAX.to_le_bytes()].concat(), "no array needs"),
            (file(&header("'|O'", "(1,)"), &[0; 8]), "\"|O\""),
            (file(&header("'>i8'", "(1,)"), &[0; 8]), "little-endian"),
            (file(&header("[('a', '<i8')]", "(1,)"), &[0; 8]), "records"),
            (file(&header("'<i8'", "(2,)"), &[0; 8]), "shape [2]"),
            (file(&header("'<i8'", "(-1,)"), &[0; 8]), "can't be read"),
            (file(&header("'<i8'", "(18446744073709551615, 2)"), &[0; 8]), "not what shape"),
            (file(&header("'|b1'", "(1,)"), &[2]), "a bool that is 2"),
        ];
        for (bytes, expected) in cases {
            let error = parse(&bytes).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        assert!(
            parse(&file("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), 'x': 1}", &[0; 8])).is_err()
        );
        assert!(parse(&file("{'descr': '<i8', 'shape': (1,)}", &[0; 8])).is_err());
        let nine = file(&header("'<i8'", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), &[0; 8]);
        assert!(parse(&nine).unwrap_err().contains("9 axes"));
    }
}
