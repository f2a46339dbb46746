//! An epoch's name.

use std::fmt;

/// The identity of the offline session that made an epoch: the same at all its parties, and never seen before.
/// Printed, it is 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub [u8; 32]);

impl Epoch {
    /// Reads the 64 small hexadecimal digits of a folder's name.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
        let pairs: &[[u8; 2]; 32] = pairs.try_into().ok()?;
        let mut bytes = [0; 32];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(bytes))
    }
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

/// Writes bytes as small hexadecimal digits.
pub(crate) fn hex(bytes: &[u8], out: &mut impl fmt::Write) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_epoch_is_read_and_nothing_else_is() {
        let epoch = Epoch(std::array::from_fn(|i| (i * 37) as u8));
        let text = epoch.to_string();
        assert_eq!(Epoch::parse(&text), Some(epoch));
        for other in
            ["", "00", &text[1..], &format!("{text}00"), &text.to_uppercase(), &text.replace('0', "g")]
        {
            assert_eq!(Epoch::parse(other), None, "{other}");
        }
    }
}
