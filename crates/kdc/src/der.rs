//! As much of DER (X.690) as Kerberos' messages take: tags of one byte, definite lengths.

use thiserror::Error;

/// Tags of one byte that are universal.
pub mod tag {
    /// INTEGER.
    pub const INTEGER: u8 = 0x02;
    /// BIT STRING.
    pub const BITS: u8 = 0x03;
    /// OCTET STRING.
    pub const OCTETS: u8 = 0x04;
    /// GeneralizedTime.
    pub const TIME: u8 = 0x18;
    /// GeneralString.
    pub const STRING: u8 = 0x1b;
    /// SEQUENCE.
    pub const SEQUENCE: u8 = 0x30;

    /// A field of a sequence.
    pub const fn field(number: u8) -> u8 {
        0xa0 | number
    }

    /// A message.
    pub const fn application(number: u8) -> u8 {
        0x60 | number
    }
}

/// Bytes that are no such message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("malformed: {0}")]
pub struct Malformed(pub &'static str);

/// Reads elements one after another. Whatever the bytes are, it ends with a value or an error, and allocates nothing.
#[derive(Clone, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads these.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The tag and the content of the next element.
    fn element(&mut self) -> Result<(u8, &'a [u8]), Malformed> {
        const CUT: Malformed = Malformed("an element is cut");
        let (&tag, rest) = self.0.split_first().ok_or(CUT)?;
        let (&first, mut rest) = rest.split_first().ok_or(CUT)?;
        let length = match first {
            0..=0x7f => usize::from(first),
            0x81..=0x84 => {
                let (bytes, behind) = rest.split_at_checked(usize::from(first & 0x7f)).ok_or(CUT)?;
                rest = behind;
                let length = bytes.iter().fold(0, |length, &byte| length << 8 | usize::from(byte));
                if length < 0x80 || bytes[0] == 0 {
                    return Err(Malformed("a length has more bytes than it takes"));
                }
                length
            }
            _ => return Err(Malformed("a length is indefinite or too long")),
        };
        let (content, rest) = rest.split_at_checked(length).ok_or(CUT)?;
        self.0 = rest;
        Ok((tag, content))
    }

    /// The content of the next element, which has this tag.
    ///
    /// # Errors
    /// If it has another, or isn't there.
    pub fn content(&mut self, tag: u8) -> Result<&'a [u8], Malformed> {
        match self.element()? {
            (found, content) if found == tag => Ok(content),
            _ => Err(Malformed("an element is another than was expected")),
        }
    }

    /// The elements in the next one, which has this tag.
    ///
    /// # Errors
    /// As [`Reader::content`].
    pub fn inside(&mut self, tag: u8) -> Result<Self, Malformed> {
        self.content(tag).map(Self)
    }

    /// The one element in the field of this number, if the field is next.
    ///
    /// # Errors
    /// If it is there and isn't whole.
    pub fn optional(&mut self, number: u8) -> Result<Option<Self>, Malformed> {
        if self.0.first() == Some(&tag::field(number)) {
            self.inside(tag::field(number)).map(Some)
        } else {
            Ok(None)
        }
    }

    /// The same of a field that must be there.
    ///
    /// # Errors
    /// As [`Reader::content`].
    pub fn field(&mut self, number: u8) -> Result<Self, Malformed> {
        self.inside(tag::field(number))
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is left.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Refuses what is left.
    ///
    /// # Errors
    /// If anything is.
    pub fn end(&self) -> Result<(), Malformed> {
        if self.is_empty() { Ok(()) } else { Err(Malformed("something stands behind the last element")) }
    }

    /// An integer of at most 8 bytes.
    ///
    /// # Errors
    /// If it is none.
    pub fn integer(&mut self) -> Result<i64, Malformed> {
        let bytes = self.content(tag::INTEGER)?;
        let Some(&first) = bytes.first().filter(|_| bytes.len() <= 8) else {
            return Err(Malformed("an integer has no bytes or too many"));
        };
        let sign = if first >= 0x80 { -1 } else { 0 };
        Ok(bytes.iter().fold(sign, |number, &byte| number << 8 | i64::from(byte)))
    }

    /// An integer of type Int32.
    ///
    /// # Errors
    /// If it is none.
    pub fn int32(&mut self) -> Result<i32, Malformed> {
        i32::try_from(self.integer()?).map_err(|_| Malformed("an integer is too large"))
    }

    /// Text.
    ///
    /// # Errors
    /// If it is none.
    pub fn text(&mut self) -> Result<String, Malformed> {
        let text = std::str::from_utf8(self.content(tag::STRING)?);
        text.map(str::to_owned).map_err(|_| Malformed("a name is no text"))
    }

    /// A time, in seconds since 1970.
    ///
    /// # Errors
    /// If it isn't written as Kerberos does.
    pub fn time(&mut self) -> Result<i64, Malformed> {
        const NONE: Malformed = Malformed("a time isn't of the form 20260131235959Z");
        let bytes: &[u8; 15] = self.content(tag::TIME)?.try_into().map_err(|_| NONE)?;
        if bytes[14] != b'Z' || !bytes[..14].iter().all(u8::is_ascii_digit) {
            return Err(NONE);
        }
        let number = |from: usize, to: usize| {
            bytes[from..to].iter().fold(0, |number, digit| 10 * number + i64::from(digit - b'0'))
        };
        let (year, month, day) = (number(0, 4), number(4, 6), number(6, 8));
        let (hour, minute, second) = (number(8, 10), number(10, 12), number(12, 14));
        let fits =
            (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
        if !fits {
            return Err(NONE);
        }
        Ok(86400 * days(year, month, day) + 3600 * hour + 60 * minute + second)
    }

    /// The first 32 bits of a bit string, bit 0 the most significant.
    ///
    /// # Errors
    /// If it is none.
    pub fn flags(&mut self) -> Result<u32, Malformed> {
        match self.content(tag::BITS)? {
            [0..8, bits @ ..] => {
                let byte = |at: usize| u32::from(bits.get(at).copied().unwrap_or(0));
                Ok((0..4).fold(0, |flags, at| flags << 8 | byte(at)))
            }
            _ => Err(Malformed("flags are no bit string")),
        }
    }
}

/// Days from 1970-01-01 to a day of the Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms").
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of such a number.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + 400 * era + i64::from(month <= 2), month, day)
}

/// An element of these contents, one behind the other.
pub fn element(tag: u8, contents: &[&[u8]]) -> Vec<u8> {
    let length: usize = contents.iter().map(|content| content.len()).sum();
    let mut bytes = vec![tag];
    if length < 0x80 {
        bytes.push(length as u8);
    } else {
        let length = length.to_be_bytes();
        let from = length.iter().position(|&byte| byte != 0).unwrap_or(length.len() - 1);
        bytes.push(0x80 | (length.len() - from) as u8);
        bytes.extend_from_slice(&length[from..]);
    }
    for content in contents {
        bytes.extend_from_slice(content);
    }
    bytes
}

/// A sequence of these elements.
pub fn sequence(elements: &[&[u8]]) -> Vec<u8> {
    element(tag::SEQUENCE, elements)
}

/// A field with one element.
pub fn field(number: u8, content: &[u8]) -> Vec<u8> {
    element(tag::field(number), &[content])
}

/// An integer.
pub fn integer(number: i64) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    // A byte is left out if it says no more than the sign of the next one.
    let says_sign = |pair: &[u8]| pair[0] == if pair[1] >= 0x80 { 0xff } else { 0 };
    let from = bytes.windows(2).take_while(|pair| says_sign(pair)).count();
    element(tag::INTEGER, &[&bytes[from..]])
}

/// Octets.
pub fn octets(bytes: &[u8]) -> Vec<u8> {
    element(tag::OCTETS, &[bytes])
}

/// Text.
pub fn text(text: &str) -> Vec<u8> {
    element(tag::STRING, &[text.as_bytes()])
}

/// 32 bits, bit 0 the most significant.
pub fn flags(flags: u32) -> Vec<u8> {
    element(tag::BITS, &[&[0], &flags.to_be_bytes()])
}

/// A time, in seconds since 1970.
pub fn time(seconds: i64) -> Vec<u8> {
    let (year, month, day) = date(seconds.div_euclid(86400));
    let within = seconds.rem_euclid(86400);
    let (hour, minute, second) = (within / 3600, within / 60 % 60, within % 60);
    let text = format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}Z");
    element(tag::TIME, &[text.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "19700101000000Z"),
            (951_827_696, "20000229123456Z"),
            (2_136_422_885, "20370913024805Z"),
            (1_795_521_599, "20261124115959Z"),
        ] {
            assert_eq!(time(seconds), element(tag::TIME, &[text.as_bytes()]), "{text}");
        }
        for text in ["20261324112639Z", "2026112411263Z", "20261124112639+", "2026112411263xZ"] {
            assert!(Reader::new(&element(tag::TIME, &[text.as_bytes()])).time().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(number: i64, bits: u32, seconds in 0i64..4_000_000_000, bytes: Vec<u8>) {
            prop_assert_eq!(Reader::new(&integer(number)).integer().unwrap(), number);
            prop_assert_eq!(Reader::new(&flags(bits)).flags().unwrap(), bits);
            prop_assert_eq!(Reader::new(&time(seconds)).time().unwrap(), seconds);
            let nested = field(3, &octets(&bytes));
            let mut reader = Reader::new(&nested);
            prop_assert_eq!(reader.field(3).unwrap().content(tag::OCTETS).unwrap(), &bytes[..]);
            prop_assert!(reader.end().is_ok());
            for end in 0..nested.len() {
                prop_assert!(Reader::new(&nested[..end]).field(3).is_err());
            }
        }
    }
}
