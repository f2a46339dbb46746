//! What JavaScript asks of a client's half, as text: a JSON object with what is to be done, and one with what came of it.
//!
//! Bytes are hexadecimal digits, integers decimal ones. A vector's elements are `{"bits"}`, `{"ring": 64}` or
//! `{"modulus": "..."}` as the plan's registers have them, and its values are raw: of fixed point in steps, of bools
//! 0 and 1.

use serde::{Deserialize, Serialize};
use tacit_client::additive;
use tacit_client::components::{Binding, InputStreams, SEED_BYTES, check_component, opened, verdict};
use tacit_client::wire::{messages, vector_of};
use tacit_client::{Clear, vector};
use tacit_kernel::Buffer;
use tacit_program::plan::{Domain, Register, Width};

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
}

impl Kind {
    const fn domain(self) -> Domain {
        match self {
            Self::Bits => Domain::Bits,
            Self::Ring8 => Domain::Ring(Width::W8),
            Self::Ring16 => Domain::Ring(Width::W16),
            Self::Ring32 => Domain::Ring(Width::W32),
            Self::Ring64 => Domain::Ring(Width::W64),
        }
    }

    fn shape(self, count: usize) -> Result<Register, String> {
        if count > MOST {
            return Err(format!("a vector has {MOST} elements at most, not {count}"));
        }
        Ok(vector::row(self.domain(), count))
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
        Request::Open { of, count, parts } => {
            let shape = of.shape(count)?;
            Ok(learnt(shape, opened(shape, &vectors(shape, &parts)?)))
        }
        Request::OpenConfirmed { family, session, plan, output, of, count, parts, confirmations } => {
            let (shape, session) = (of.shape(count)?, fixed(&session)?);
            let parts = vectors(shape, &parts)?;
            if parts.len() != confirmations.len() {
                return Err("each component has to be confirmed".to_owned());
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
    }
}

/// Values of a vector, as they are given.
fn given(of: Kind, values: &[String]) -> Result<(Register, Clear), String> {
    let shape = of.shape(values.len())?;
    let word = |text: &String| {
        let number: i128 = text.parse().map_err(|_| format!("{text:?} is no integer"))?;
        let bits = of.domain().bits();
        let fits = (-(1_i128 << (bits - 1))..1_i128 << bits).contains(&number);
        if fits { Ok(number as u64) } else { Err(format!("{number} isn't one of {bits} bits")) }
    };
    let words = values.iter().map(word).collect::<Result<Vec<u64>, String>>()?;
    Ok((shape, Clear::from_words(shape.domain, &words)))
}

fn told(shape: Register, vector: &Buffer) -> Answer {
    Answer::Messages(messages(shape, vector).map(|(_, message)| hex(&message)).collect())
}

fn learnt(shape: Register, values: Buffer) -> Answer {
    let words = Clear::new(shape.domain, shape.cols, values).to_words();
    Answer::Values(words.iter().map(u64::to_string).collect())
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
                "isn't one of 1 bits",
            ),
        ] {
            let answer = call(text);
            assert!(answer.contains("error") && answer.contains(says), "{answer}");
        }
    }
}
