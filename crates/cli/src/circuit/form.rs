//! Values as text, and as packed bits: 64 to a word, the first in the least significant place.

use tacit_kernel::bits;

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The number whose bits are the value's, the first the least significant, in hex.
    Hex,
    /// The bits in their order.
    Bits,
}

impl Form {
    /// The most bytes that a value of so many bits is read from.
    pub(crate) fn longest(self, width: usize) -> usize {
        match self {
            // Zeros on the left are let pass, within reason.
            Self::Hex => width.div_ceil(4) + 64,
            Self::Bits => width,
        }
    }

    /// Reads a value of `width` bits into as many words as they take.
    ///
    /// # Errors
    /// What is wrong; of a text that isn't a value no more than one character is told, for values are secrets.
    pub(crate) fn read(self, text: &[u8], width: usize) -> Result<Vec<u64>, String> {
        let mut value = vec![0; bits::words(width)];
        match self {
            Self::Hex => {
                let digits = text.strip_prefix(b"0x").unwrap_or(text);
                if digits.is_empty() {
                    return Err("no number".to_owned());
                }
                for (place, &digit) in digits.iter().rev().enumerate() {
                    let digit = char::from(digit);
                    let four = digit.to_digit(16).ok_or_else(|| format!("{digit:?} is no hex digit"))?;
                    let room = width.saturating_sub(4 * place).min(4);
                    if four >> room != 0 {
                        return Err(format!("a number that {width} bits don't hold"));
                    }
                    if room > 0 {
                        value[place / 16] |= u64::from(four) << (place % 16 * 4);
                    }
                }
            }
            Self::Bits => {
                if text.len() != width {
                    return Err(format!("{} bits, where there are {width}", text.len()));
                }
                for (place, &bit) in text.iter().enumerate() {
                    match bit {
                        b'0' => {}
                        b'1' => bits::set(&mut value, place, true),
                        other => return Err(format!("{:?} is no bit", char::from(other))),
                    }
                }
            }
        }
        Ok(value)
    }

    /// Writes the `width` bits from `from` on: all of them in binary, all digits in hex.
    pub(crate) fn write(self, packed: &[u64], from: usize, width: usize, text: &mut String) {
        match self {
            Self::Hex => {
                let digit = |place: usize| {
                    let own = 4 * place..width.min(4 * place + 4);
                    own.rev().fold(0, |digit, bit| 2 * digit + u32::from(bits::get(packed, from + bit)))
                };
                text.extend(
                    (0..width.div_ceil(4)).rev().filter_map(|place| char::from_digit(digit(place), 16)),
                );
            }
            Self::Bits => {
                text.extend((from..from + width).map(|bit| if bits::get(packed, bit) { '1' } else { '0' }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_at_every_width() {
        for width in [1, 2, 3, 4, 5, 63, 64, 65, 127, 128, 129, 1600] {
            // A pattern without a period that fits a word.
            let bits: Vec<bool> = (0..width).map(|bit| (bit * bit + bit / 3) % 7 < 3).collect();
            for form in [Form::Hex, Form::Bits] {
                for from in [0, 1, 63] {
                    let mut packed = vec![u64::MAX; bits::words(from + width) + 1];
                    bits.iter().enumerate().for_each(|(at, &bit)| bits::set(&mut packed, from + at, bit));
                    let mut text = String::new();
                    form.write(&packed, from, width, &mut text);
                    let value = form.read(text.as_bytes(), width).unwrap();
                    let read: Vec<bool> = (0..width).map(|bit| bits::get(&value, bit)).collect();
                    assert_eq!(read, bits, "{form:?}, {width} bits from {from} on: {text}");
                    assert!(bits::tail_is_zero(bytemuck::cast_slice(&value), width));
                    assert_eq!(text.len(), if form == Form::Hex { width.div_ceil(4) } else { width });
                }
            }
        }
    }

    #[test]
    fn hex_is_a_number_and_binary_the_order_of_the_wires() {
        assert_eq!(Form::Hex.read(b"1a", 8), Ok(vec![0x1a]));
        assert_eq!(Form::Hex.read(b"0x0001A", 5), Ok(vec![0x1a]));
        assert_eq!(Form::Bits.read(b"01011", 5), Ok(vec![0x1a]));
        let wide = b"0123456789abcdef0000000000000002";
        assert_eq!(Form::Hex.read(wide, 128), Ok(vec![2, 0x0123_4567_89ab_cdef]));
    }

    #[test]
    fn what_is_no_value_is_refused_in_words() {
        for (form, text, width, expected) in [
            (Form::Hex, "20", 5, "5 bits don't hold"),
            (Form::Hex, "100", 8, "8 bits don't hold"),
            (Form::Hex, "1000000000000000000", 64, "64 bits don't hold"),
            (Form::Hex, "", 8, "no number"),
            (Form::Hex, "0x", 8, "no number"),
            (Form::Hex, "1g", 8, "'g' is no hex digit"),
            (Form::Hex, "-1", 8, "'-' is no hex digit"),
            (Form::Hex, "1 2", 12, "' ' is no hex digit"),
            (Form::Bits, "0101", 5, "4 bits, where there are 5"),
            (Form::Bits, "01012", 5, "'2' is no bit"),
        ] {
            let error = form.read(text.as_bytes(), width).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
