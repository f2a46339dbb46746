//! NumPy's `.npy` files, strictly: one array of bools, integers or floating-point numbers, little-endian.
//!
//! The format is NumPy's NEP 1: `\x93NUMPY`, two bytes of version, the header's length (2 bytes in version 1, 4
//! from version 2 on), a header that is a Python dict literal, and the elements in C or Fortran order. Anything
//! else is refused, above all pickled objects. No more is read than the array that is wanted takes: a file may have no end.

use crate::output::private;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use tacit::program::{Data, MAX_RANK, Value};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that is read.
const MAX_HEADER: usize = 1 << 16;

/// Bytes of the widest element.
const WIDEST: u64 = 16;

/// Reads an array of this shape.
///
/// # Errors
/// A text for the user.
pub(crate) fn read(path: &Path, shape: &[usize]) -> Result<Value, String> {
    let file = File::open(path).map_err(|error| can_not(&error))?;
    parse(&file, shape)
}

fn can_not(error: &std::io::Error) -> String {
    format!("can't be read: {error}")
}

/// Writes an array that was revealed here, in C order.
///
/// # Errors
/// A text for the user.
pub(crate) fn write(path: &Path, value: &Value) -> Result<(), String> {
    private()
        .truncate(true)
        .open(path)
        .and_then(|mut file| file.write_all(&to_bytes(value)))
        .map_err(|error| format!("{} can't be written: {error}", path.display()))
}

fn parse(mut file: impl Read, wanted: &[usize]) -> Result<Value, String> {
    let magic = start(&mut file, MAGIC.len(), "not a NumPy file (.npy)")?;
    if magic != MAGIC {
        return Err("not a NumPy file (.npy)".to_owned());
    }
    let cut = "the file ends in its header";
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte));
    let length = match start(&mut file, 2, cut)?[..] {
        [1, 0] => number(&start(&mut file, 2, cut)?),
        [2 | 3, 0] => number(&start(&mut file, 4, cut)?),
        [major, minor, ..] => {
            return Err(format!("a NumPy file of version {major}.{minor}, which is not known"));
        }
        _ => return Err(cut.to_owned()),
    };
    if length > MAX_HEADER {
        return Err(format!("a header of {length} bytes, which no array needs"));
    }
    let header = start(&mut file, length, cut)?;
    let header = std::str::from_utf8(&header).map_err(|_| "a header that is not text")?;
    let Header { descr, fortran, shape } = Header::parse(header)?;
    if shape != wanted {
        return Err(format!("shape {shape:?} where {wanted:?} is declared"));
    }
    // One byte more than there should be tells that there is more.
    let count = wanted.iter().try_fold(WIDEST, |bytes, &length| bytes.checked_mul(length as u64));
    let most = count.and_then(|bytes| bytes.checked_add(1)).unwrap_or(u64::MAX);
    let mut elements = Vec::new();
    file.take(most).read_to_end(&mut elements).map_err(|error| can_not(&error))?;
    let data = decode(&descr, &elements, &shape)?;
    let data = if fortran { reorder(data, &shape) } else { data };
    Ok(Value { shape, data })
}

/// The next bytes of a file, or what is wrong if it ends before.
fn start(file: &mut impl Read, length: usize, ends: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    file.take(length as u64).read_to_end(&mut bytes).map_err(|error| can_not(&error))?;
    if bytes.len() < length { Err(ends.to_owned()) } else { Ok(bytes) }
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
    use std::os::unix::fs::PermissionsExt;

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
                assert_eq!(parse(&bytes[..], &shape), Ok(value));
                for end in 0..bytes.len() {
                    assert!(parse(&bytes[..end], &shape).is_err());
                }
                assert!(parse(&[&bytes[..], &[0]].concat()[..], &shape).is_err());
            }
        }
    }

    #[test]
    fn what_is_written_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output-0.npy");
        let value =
            |elements: &[i64]| Value { shape: vec![elements.len()], data: Data::Int(elements.to_vec()) };
        for elements in [&[1, 2, 3][..], &[4]] {
            write(&path, &value(elements)).unwrap();
            assert_eq!(read(&path, &[elements.len()]), Ok(value(elements)));
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn fortran_order_is_turned() {
        let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n";
        let value = parse(&file(header, &[1, 4, 2, 5, 3, 6])[..], &[2, 3]).unwrap();
        assert_eq!(value, Value { shape: vec![2, 3], data: Data::Unsigned(vec![1, 2, 3, 4, 5, 6]) });
    }

    #[test]
    fn small_and_narrow_types_widen() {
        let header =
            |descr: &str| format!("{{\"descr\": \"{descr}\", \"fortran_order\": False, \"shape\": (1,)}}");
        let read = |descr: &str, bytes: &[u8]| parse(&file(&header(descr), bytes)[..], &[1]).unwrap().data;
        assert_eq!(read("<i2", &[0xff, 0xff]), Data::Int(vec![-1]));
        assert_eq!(read("<u2", &[0xff, 0xff]), Data::Unsigned(vec![65_535]));
        assert_eq!(read("<f4", &1.5_f32.to_le_bytes()), Data::Float(vec![1.5]));
    }

    #[test]
    fn what_is_not_an_array_of_numbers_is_refused_in_words() {
        let header = |descr: &str, shape: &str| {
            format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n")
        };
        let cases: [(Vec<u8>, &[usize], &str); 12] = [
            (b"PK\x03\x04".to_vec(), &[1], "not a NumPy file"),
            ([MAGIC, &[9, 0]].concat(), &[1], "version 9.0"),
            ([MAGIC, &[2, 0], &u32::MAX.to_le_bytes()].concat(), &[1], "no array needs"),
            (file(&header("'|O'", "(1,)"), &[0; 8]), &[1], "\"|O\""),
            (file(&header("'>i8'", "(1,)"), &[0; 8]), &[1], "little-endian"),
            (file(&header("[('a', '<i8')]", "(1,)"), &[0; 8]), &[1], "records"),
            (file(&header("'<i8'", "(2,)"), &[0; 8]), &[2], "shape [2]"),
            (file(&header("'<i8'", "(-1,)"), &[0; 8]), &[1], "can't be read"),
            (
                file(&header("'<i8'", "(18446744073709551615, 2)"), &[0; 8]),
                &[usize::MAX, 2],
                "not what shape",
            ),
            (file(&header("'<i8'", "(2,)"), &[0; 16]), &[1], "shape [2] where [1] is declared"),
            (file(&header("'<i8'", "()"), &[0; 8]), &[1], "shape [] where [1] is declared"),
            (file(&header("'|b1'", "(1,)"), &[2]), &[1], "a bool that is 2"),
        ];
        for (bytes, shape, expected) in cases {
            let error = parse(&bytes[..], shape).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let more = "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), 'x': 1}";
        assert!(parse(&file(more, &[0; 8])[..], &[1]).is_err());
        assert!(parse(&file("{'descr': '<i8', 'shape': (1,)}", &[0; 8])[..], &[1]).is_err());
        let nine = file(&header("'<i8'", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), &[0; 8]);
        assert!(parse(&nine[..], &[1; 9]).unwrap_err().contains("9 axes"));
    }

    /// Counts what is read of a file without an end.
    struct Endless<R>(R, usize);

    impl<R: Read> Read for Endless<R> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let read = self.0.read(buffer)?;
            self.1 += read;
            assert!(self.1 < 1 << 20, "there is no end of it");
            Ok(read)
        }
    }

    #[test]
    fn of_a_file_without_an_end_no_more_is_read_than_the_array_takes() {
        let beginnings = [
            Vec::new(),
            MAGIC.to_vec(),
            [MAGIC, &[2, 0], &u32::MAX.to_le_bytes()].concat(),
            [MAGIC, &[1, 0], &u16::MAX.to_le_bytes()].concat(),
            file("{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }\n", &[]),
            file("{'descr': '|V16', 'fortran_order': False, 'shape': (1000000000, 1000000000), }\n", &[]),
        ];
        for beginning in beginnings {
            let mut file = Endless(beginning.chain(std::io::repeat(0)), 0);
            let error = parse(&mut file, &[2]).unwrap_err();
            assert!(file.1 <= beginning.len() + MAX_HEADER + 100, "{error}: {} bytes", file.1);
        }
        assert!(read(Path::new("/dev/zero"), &[2]).unwrap_err().contains("not a NumPy file"));
    }
}
