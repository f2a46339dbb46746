//! Secrets in what others may read: in whatever form they stand there.

use std::path::Path;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Bytes of a key that are looked for at a time: part of a key is a secret, too.
const PART: usize = 8;

/// A secret, by what a text has of it if it has any.
pub(crate) struct Secret {
    name: String,
    forms: Vec<Vec<u8>>,
}

impl Secret {
    /// A number of five bytes or six, in digits or as bytes in either order.
    pub(crate) fn number(number: i64) -> Self {
        let (little, big) = (number.to_le_bytes(), number.to_be_bytes());
        let digits = number.unsigned_abs().to_string().into_bytes();
        let forms = [vec![digits], forms(&little[..6]), forms(&big[2..])].concat();
        Self { name: number.to_string(), forms }
    }

    /// The private number in a file with an endpoint's key.
    pub(crate) fn key(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let body: String = text.lines().filter(|line| !line.starts_with('-')).collect();
        let bytes = of_base64(body.trim_end_matches('='));
        // PKCS #8 of an elliptic curve: version 1, then a string of 32 bytes.
        let head = [2, 1, 1, 4, 32];
        let at =
            bytes.windows(head.len()).position(|part| part == head).expect("a key on a curve of 256 bits");
        let private = &bytes[at + head.len()..][..32];
        Self { name: path.display().to_string(), forms: private.windows(PART).flat_map(forms).collect() }
    }

    pub(crate) fn is_in(&self, text: &[u8]) -> bool {
        self.forms.iter().any(|form| text.windows(form.len()).any(|part| part == form))
    }

    /// Each form is found where it stands.
    pub(crate) fn is_found(&self) {
        for form in &self.forms {
            assert!(self.is_in(&[b"key=", &form[..], b" "].concat()), "{} in {form:?}", self.name);
        }
    }
}

/// Refuses a text that has one of these.
pub(crate) fn refuse(secrets: &[Secret], text: &[u8]) {
    for secret in secrets {
        assert!(!secret.is_in(text), "{} stands in {}", secret.name, String::from_utf8_lossy(text));
    }
}

/// What a text has that has these bytes: as they are, in hexadecimal digits, in decimal numbers, or in base64, wherever they
/// begin in what is encoded.
fn forms(bytes: &[u8]) -> Vec<Vec<u8>> {
    let each = |word: fn(&u8) -> String| bytes.iter().map(word).collect::<Vec<_>>();
    let (lower, upper) = (each(|byte| format!("{byte:02x}")), each(|byte| format!("{byte:02X}")));
    let numbers = each(u8::to_string);
    let texts = [lower.concat(), upper.concat(), numbers.join(", "), numbers.join(",")];
    let shifted = (0..3).map(|before| {
        let all = base64(&[&[0; 2][..before], bytes].concat());
        // Of the first and the last digit others decide some bits.
        all[(8 * before).div_ceil(6)..8 * (before + bytes.len()) / 6].to_vec()
    });
    shifted.chain(texts.map(String::into_bytes)).chain([bytes.to_vec()]).collect()
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    let digits = bytes.chunks(3).flat_map(|group| {
        let of = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = of(0) << 16 | of(1) << 8 | of(2);
        (0..=group.len()).map(move |digit| BASE64[(bits >> (18 - 6 * digit) & 63) as usize])
    });
    digits.collect()
}

fn of_base64(text: &str) -> Vec<u8> {
    let digits = text.bytes().map(|digit| BASE64.iter().position(|own| *own == digit).expect("base64"));
    let digits: Vec<usize> = digits.collect();
    let groups = digits.chunks(4).flat_map(|group| {
        let bits = group.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - group.len()));
        (0..group.len() - 1).map(move |byte| (bits >> (16 - 8 * byte)) as u8)
    });
    groups.collect()
}
