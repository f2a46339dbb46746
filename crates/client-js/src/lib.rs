//! What JavaScript asks of a client's half, as text: a JSON object with what is to be done, and one with what came of it.
//!
//! Bytes are hexadecimal digits, integers decimal ones. A vector's elements are `"bits"`, `"ring8"` to `"ring64"`, `"mersenne61"`,
//! `"prime128"` or `{"power-of-two": 12}`, as the plan's registers have them, and its values are raw: of fixed point in steps, of
//! bools 0 and 1.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use tacit_client::additive::{self, Told};
use tacit_client::components::{Binding, InputStreams, SEED_BYTES, check_component, opened, verdict};
use tacit_client::digits::Digits;
use tacit_client::wire::{messages, vector_of};
use tacit_client::{Clear, vector};
use tacit_kernel::Buffer;
use tacit_program::Range;
use tacit_program::plan::{Domain, Modulus, Register};

/// Components of what three parties share.
const COMPONENTS: usize = 3;

/// Elements that one vector has at most: memory for more isn't taken on a text's word.
const MOST: usize = 1 << 24;

/// What is to be done.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
enum Request {
    /// Shares an input among three parties: its message to the two holders of the third component.
    Share { input: u32, seeds: [String; 2], lane: u16, of: Kind, values: Vec<String> },
    /// Opens an output of parts that add up.
    Open { of: Kind, count: usize, parts: Vec<Vec<String>> },
    /// Opens an output of which each component comes with its digest and a word that the sender of that accepts.
    OpenConfirmed {
        family: String,
        session: String,
        plan: u32,
        output: u32,
        of: Kind,
        count: usize,
        parts: Vec<Vec<String>>,
        confirmations: Vec<Confirmation>,
    },
    /// Shares an input additively: the first party's share, what is left of the streams under these keys.
    ShareAdditive { input: u32, keys: Vec<String>, lane: u16, of: Kind, values: Vec<String> },
    /// Shares an input under a mask, of which each party sent its part: the message to all parties. With a range, if the plan has
    /// numbers of this input shown to be in it: they are told bit by bit.
    ShareMasked {
        input: u32,
        of: Kind,
        range: Option<[String; 2]>,
        values: Vec<String>,
        parts: Vec<Vec<String>>,
    },
    /// Opens an output that all parties say alike; of one that this client alone learns they send parts of its mask before it.
    OpenChecked { of: Kind, count: usize, alone: bool, parts: Vec<Vec<String>> },
}

/// What confirms a component.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Confirmation {
    /// The number of who sends it.
    party: usize,
    /// Its acceptance and the digest, one after the other.
    message: String,
}

/// What elements are.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Bits,
    Ring8,
    Ring16,
    Ring32,
    Ring64,
    Mersenne61,
    Prime128,
    PowerOfTwo(u8),
}

impl Kind {
    fn domain(self) -> Result<Domain, String> {
        let modulus = match self {
            Self::Bits => return Ok(Domain::Bits),
            Self::Ring8 => Modulus::PowerOfTwo(8),
            Self::Ring16 => Modulus::PowerOfTwo(16),
            Self::Ring32 => Modulus::PowerOfTwo(32),
            Self::Ring64 => Modulus::PowerOfTwo(64),
            Self::Mersenne61 => Modulus::Mersenne61,
            Self::Prime128 => Modulus::Prime128,
            Self::PowerOfTwo(exponent) => Modulus::PowerOfTwo(exponent),
        };
        if modulus.is_valid() { Ok(modulus.domain()) } else { Err("an exponent is from 1 to 128".to_owned()) }
    }

    fn shape(self, count: usize) -> Result<Register, String> {
        Ok(vector::row(self.domain()?, few(count)?))
    }
}

/// What came of it.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    /// Messages, each with its number behind the others.
    Messages(Vec<String>),
    /// Raw values, without sign.
    Values(Vec<String>),
    /// Why nothing did.
    Error(String),
}

/// Does what a text says; what came of it.
pub fn call(text: &str) -> String {
    let answer = serde_json::from_str(text).map_err(|error| format!("no request: {error}")).and_then(done);
    let answer = answer.unwrap_or_else(Answer::Error);
    // Writing texts can't fail.
    serde_json::to_string(&answer).unwrap_or_default()
}

fn done(request: Request) -> Result<Answer, String> {
    match request {
        Request::Share { input, seeds: [one, other], lane, of, values } => {
            let (shape, values) = given(of, &values)?;
            let seeds: [[u8; SEED_BYTES]; 2] = [fixed(&one)?, fixed(&other)?];
            let masked = InputStreams::new(&seeds, lane).masked(input, shape, values.data());
            Ok(told(shape, &masked))
        }
        Request::ShareAdditive { input, keys, lane, of, values } => {
            let (shape, values) = given(of, &values)?;
            let keys = keys.iter().map(|key| fixed(key)).collect::<Result<Vec<[u8; 16]>, _>>()?;
            let rest = additive::rest_of_keys(&keys, lane, input, shape, values.data());
            Ok(told(shape, &rest))
        }
        Request::ShareMasked { input, of, range, values, parts } => {
            let (shape, values) = given(of, &values)?;
            let Some(range) = range else {
                let (mask, _) = read(Told { shape, triple: true, said: false }, &parts)?;
                return Ok(told(shape, &additive::masked(shape, values.data(), &mask)));
            };
            let digits = digits(&range)?;
            few(digits.count() * shape.cols)?;
            let [bits, masks] = digits.shapes(shape);
            let (mask, opened) = read(Told { shape: masks, triple: true, said: true }, &parts)?;
            let masked = additive::masked_bits(&digits, (input, shape), values.data(), [&mask, &opened]);
            Ok(told(bits, &masked.map_err(|fault| fault.to_string())?))
        }
        Request::Open { of, count, parts } => {
            let shape = of.shape(count)?;
            Ok(learnt(shape, opened(shape, &vectors(shape, &parts)?)))
        }
        Request::OpenConfirmed { family, session, plan, output, of, count, parts, confirmations } => {
            let (shape, session) = (of.shape(count)?, fixed(&session)?);
            let parts = vectors(shape, &parts)?;
            let confirming: BTreeSet<usize> = confirmations.iter().map(|one| one.party).collect();
            if [parts.len(), confirmations.len(), confirming.len()] != [COMPONENTS; 3] {
                return Err("an output has three components, each confirmed by another party".to_owned());
            }
            let binding = Binding { family: &family, session: &session, plan };
            for (part, Confirmation { party, message }) in parts.iter().zip(&confirmations) {
                let message: [u8; 64] = fixed(message)?;
                let (acceptance, digest) = message.split_at(32);
                // A client draws nothing from the streams that it shares with parties.
                if acceptance != verdict(&session, plan, *party, 0, b"") {
                    return Err(format!("party {party} accepts something else"));
                }
                check_component(binding, output, shape, part, digest).map_err(|fault| fault.to_string())?;
            }
            Ok(learnt(shape, opened(shape, &parts)))
        }
        Request::OpenChecked { of, count, alone, parts } => {
            let shape = of.shape(count)?;
            let (mask, mut said) = read(Told { shape, triple: alone, said: true }, &parts)?;
            if alone {
                vector::sub_assign(shape, &mut said, &mask);
            }
            Ok(learnt(shape, said))
        }
    }
}

/// A number of elements that one vector may have.
fn few(count: usize) -> Result<usize, String> {
    if count > MOST {
        return Err(format!("a vector has {MOST} elements at most, not {count}"));
    }
    Ok(count)
}

/// Values of a vector, as they are given.
fn given(of: Kind, values: &[String]) -> Result<(Register, Clear), String> {
    let shape = of.shape(values.len())?;
    let mut words = Vec::with_capacity(values.len() * shape.domain.limbs());
    for text in values {
        let value = element(text, shape.domain.modulus())?;
        words.extend([value as u64, (value >> 64) as u64].into_iter().take(shape.domain.limbs()));
    }
    Ok((shape, Clear::from_words(shape.domain, &words)))
}

/// An element as it is written: without sign, or a negative number for one of the upper half.
fn element(text: &str, modulus: Modulus) -> Result<u128, String> {
    let value = match text.parse::<i128>() {
        Ok(number) if number < 0 => {
            (number.unsigned_abs() <= modulus.last().div_ceil(2)).then(|| modulus.reduce(number))
        }
        Ok(number) => Some(number as u128),
        Err(_) => Some(text.parse().map_err(|_| format!("{text:?} is no integer of 128 bits"))?),
    };
    value.filter(|&value| modulus.holds(value)).ok_or_else(|| format!("{text} is no number modulo {modulus}"))
}

/// How numbers of a range are told.
fn digits(range: &[String; 2]) -> Result<Digits, String> {
    let end = |text: &String| text.parse::<i128>().map_err(|_| format!("{text:?} is no integer"));
    let (low, high) = (end(&range[0])?, end(&range[1])?);
    let range = Range::new(low, high).ok_or_else(|| format!("{low} to {high} is no range"))?;
    Ok(Digits::of(range))
}

/// The mask that parties' parts are shares of, and what all of them say alike.
fn read(told: Told, parts: &[Vec<String>]) -> Result<(Buffer, Buffer), String> {
    // One party's word is no proof of a mask, and none at all would be that of the mask 0.
    if parts.len() < 2 {
        return Err("each party sends a part, and there are two at least".to_owned());
    }
    if told.shape.domain == Domain::Bits {
        return Err("numbers have masks and checks, and bits have none".to_owned());
    }
    let parts = vectors(told.message(), parts)?;
    told.read(&parts, |party| format!("party {party}")).map_err(|fault| fault.to_string())
}

fn told(shape: Register, vector: &Buffer) -> Answer {
    Answer::Messages(messages(shape, vector).map(|(_, message)| hex(&message)).collect())
}

fn learnt(shape: Register, values: Buffer) -> Answer {
    let words = Clear::new(shape.domain, shape.cols, values).to_words();
    let value = |limbs: &[u64]| limbs.iter().rev().fold(0, |high, &low| high << 64 | u128::from(low));
    Answer::Values(words.chunks(shape.domain.limbs()).map(|limbs| value(limbs).to_string()).collect())
}

/// The vectors that messages are.
fn vectors(shape: Register, parts: &[Vec<String>]) -> Result<Vec<Buffer>, String> {
    let part = |messages: &Vec<String>| {
        let messages = messages.iter().map(|message| bytes(message)).collect::<Result<Vec<_>, _>>()?;
        vector_of(shape, &messages).ok_or_else(|| "a part has another length than the output".to_owned())
    };
    parts.iter().map(part).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let wrong = || "bytes are pairs of hexadecimal digits".to_owned();
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| digit.to_digit(16).map(|digit| digit as u8))
        .collect::<Option<_>>()
        .ok_or_else(wrong)?;
    let (pairs, rest) = digits.as_chunks::<2>();
    if rest.is_empty() { Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect()) } else { Err(wrong()) }
}

fn fixed<const N: usize>(text: &str) -> Result<[u8; N], String> {
    bytes(text)?.try_into().map_err(|_| format!("{N} bytes are expected here"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_opened() {
        let seeds = r#""seeds": ["00000000000000000000000000000001", "00000000000000000000000000000002"]"#;
        let shared = |values: &str| {
            call(&format!(
                r#"{{"do": "share", "input": 0, {seeds}, "lane": 0, "of": "ring64", "values": {values}}}"#
            ))
        };
        // The difference of two messages of one seed is that of the values: what a seed is used for once only.
        assert_ne!(shared(r#"["5"]"#), shared(r#"["6"]"#));
        assert_eq!(shared(r#"["5"]"#), shared(r#"["5"]"#));
        let open = r#"{"do": "open", "of": "ring64", "count": 1, "parts": [["0500000000000000"], ["feffffffffffffff"]]}"#;
        assert_eq!(call(open), r#"{"values":["3"]}"#);
        for (text, says) in [
            ("", "no request"),
            (r#"{"do": "steal"}"#, "no request"),
            (&open.replace("\"count\": 1", "\"count\": 2"), "another length"),
            (&open.replace("\"count\": 1", "\"count\": 99999999999"), "elements at most"),
            (&open.replace("05", "0x"), "hexadecimal"),
            (
                &format!(
                    r#"{{"do": "share", "input": 0, {seeds}, "lane": 0, "of": "bits", "values": ["2"]}}"#
                ),
                "no number modulo 2^1",
            ),
            (&open.replace("\"ring64\"", r#"{"power-of-two": 129}"#), "from 1 to 128"),
        ] {
            let answer = call(text);
            assert!(answer.contains("error") && answer.contains(says), "{answer}");
        }
    }

    #[test]
    fn elements_have_the_numbers_of_their_modulus() {
        let open = |of: &str, part: &str| {
            call(&format!(r#"{{"do": "open", "of": {of}, "count": 1, "parts": [["{part}"]]}}"#))
        };
        // The largest element, and the modulus, which is 0.
        for (of, part, value) in [
            (r#""prime128""#, "60ffffffffffffffffffffffffffffff", "340282366920938463463374607431768211296"),
            (r#""prime128""#, "61ffffffffffffffffffffffffffffff", "0"),
            (r#""mersenne61""#, "feffffffffffff1f", "2305843009213693950"),
            (r#"{"power-of-two": 12}"#, "ff0f", "4095"),
            (
                r#"{"power-of-two": 127}"#,
                "ffffffffffffffffffffffffffffff7f",
                "170141183460469231731687303715884105727",
            ),
        ] {
            assert_eq!(open(of, part), format!(r#"{{"values":["{value}"]}}"#), "{of}");
        }
        let [prime, half] = [Modulus::Prime128.last(), Modulus::Prime128.last() / 2];
        for (text, value) in [
            ("-1".to_owned(), Some(prime)),
            (format!("-{half}"), Some(half + 1)),
            (format!("-{}", half + 1), None),
            (prime.to_string(), Some(prime)),
            ((prime + 1).to_string(), None),
            (format!("{prime}0"), None),
        ] {
            assert_eq!(element(&text, Modulus::Prime128).ok(), value, "{text}");
        }
    }

    #[test]
    fn a_mask_is_all_parties() {
        let number = |value: u128| hex(&value.to_le_bytes());
        // The mask 3, its factor 7 and their product, in two shares; and what both say.
        let shares = [number(1) + &number(2) + &number(20), number(2) + &number(5) + &number(1)];
        let parts = |shares: &[String]| {
            let parts: Vec<String> = shares.iter().map(|share| format!(r#"["{share}"]"#)).collect();
            format!("[{}]", parts.join(", "))
        };
        let share = |of: &str, values: &str, shares: &[String]| {
            let parts = parts(shares);
            call(&format!(
                r#"{{"do": "share-masked", "input": 4, "of": "{of}", "values": {values}, "parts": {parts}}}"#
            ))
        };
        assert_eq!(share("prime128", r#"["10"]"#, &shares), format!(r#"{{"messages":["{}"]}}"#, number(7)));
        for (answer, says) in [
            (share("prime128", r#"["10"]"#, &shares[..1]), "two at least"),
            (share("prime128", r#"["10"]"#, &[]), "two at least"),
            (share("prime128", r#"["10"]"#, &[shares[0].clone(), shares[0].clone()]), "doesn't fit"),
            (share("prime128", r#"["10", "11"]"#, &shares), "another length"),
            (share("bits", r#"["1"]"#, &shares), "bits have none"),
        ] {
            assert!(answer.contains("error") && answer.contains(says), "{answer}");
        }
        let wide = call(
            r#"{"do": "share-masked", "input": 0, "of": "ring8", "range": ["1", "0"], "values": ["1"], "parts": []}"#,
        );
        assert!(wide.contains("1 to 0 is no range"), "{wide}");
        let said: Vec<String> = shares.iter().map(|share| share.clone() + &number(45)).collect();
        let open = |alone: bool, shares: &[String]| {
            let parts = parts(shares);
            call(&format!(
                r#"{{"do": "open-checked", "of": "prime128", "count": 1, "alone": {alone}, "parts": {parts}}}"#
            ))
        };
        assert_eq!(open(true, &said), r#"{"values":["42"]}"#);
        let [same, other] = [number(45), number(44)];
        assert_eq!(open(false, &[same.clone(), same.clone()]), r#"{"values":["45"]}"#);
        assert!(open(false, &[same, other]).contains("party 1 says something else"));
        assert!(open(false, &[]).contains("two at least"));
    }
}
