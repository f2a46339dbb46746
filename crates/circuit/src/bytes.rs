//! A circuit as bytes: one form for each circuit, so that equal bytes, or hashes, are equal circuits.
//!
//! After `tacit-c` and a version byte come numbers, each as LEB128 (7 bits to a byte, least significant first, the
//! high bit set on all but the last) in as few bytes as it takes.
//!
//! | part | numbers |
//! | --- | --- |
//! | inputs | how many; the bits of each |
//! | gates | how many; each as below |
//! | outputs | how many; for each its bits, and for each bit how far its wire is from the one after the last |
//!
//! A gate's first number is `4 * x + kind`: 0 an exclusive or, 1 an AND, 2 a complement, 3 a constant. `x` is the
//! constant, or how many wires lie between the first operand and the gate's own; the second operand follows as
//! another number of this kind. Distances of outputs have a sign: `d` is written as `2 * d`, `-d` as `2 * d - 1`.

#[cfg(test)]
mod tests;

use crate::circuit::{Circuit, Gate, MAX_INPUT_BITS, Wire};
use thiserror::Error;

const HEAD: [u8; 8] = *b"tacit-c\x01";

/// Bytes that are no circuit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// They aren't a circuit's, or of a version that this one can't read.
    #[error("these bytes are no circuit, or one of another version")]
    Head,
    /// They end too early.
    #[error("the circuit ends at byte {at}, in the middle of {what}")]
    Short {
        /// Where.
        at: usize,
        /// What is missing.
        what: &'static str,
    },
    /// A number that means nothing there.
    #[error("byte {at} of the circuit: {value} is not a {what}")]
    Meaning {
        /// Where.
        at: usize,
        /// What should stand there.
        what: &'static str,
        /// What does.
        value: u64,
    },
    /// A number in more bytes than it takes, or of more than 64 bits.
    #[error("byte {at} of the circuit: a {what} is not written in its one canonical form")]
    NotCanonical {
        /// Where.
        at: usize,
        /// What it is.
        what: &'static str,
    },
    /// There is more than the circuit.
    #[error("the circuit ends at byte {at}, and there is more")]
    More {
        /// Where.
        at: usize,
    },
}

impl Circuit {
    /// The canonical bytes: two to four for a gate of most circuits.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = HEAD.to_vec();
        put(&mut out, self.inputs().len() as u64);
        for &bits in self.inputs() {
            put(&mut out, bits.into());
        }
        put(&mut out, self.gates().len() as u64);
        for (own, gate) in (self.input_bits() as u64..).zip(self.gates()) {
            let between = |wire: Wire| own - 1 - u64::from(wire);
            match *gate {
                Gate::Xor(a, b) => put_all(&mut out, [4 * between(a), between(b)]),
                Gate::And(a, b) => put_all(&mut out, [4 * between(a) + 1, between(b)]),
                Gate::Not(a) => put(&mut out, 4 * between(a) + 2),
                Gate::Constant(bit) => put(&mut out, 4 * u64::from(bit) + 3),
            }
        }
        put(&mut out, self.outputs().len() as u64);
        let mut next = 0;
        for output in self.outputs() {
            put(&mut out, output.len() as u64);
            for &wire in output {
                put(&mut out, with_sign(i64::from(wire) - next));
                next = i64::from(wire) + 1;
            }
        }
        out
    }

    /// Reads a circuit.
    ///
    /// # Errors
    /// [`DecodeError`], whatever the bytes; none makes it allocate more than a few dozen times their length.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        if !bytes.starts_with(&HEAD) {
            return Err(DecodeError::Head);
        }
        let mut reader = Reader { bytes, at: HEAD.len() };
        let mut inputs = Vec::new();
        let mut wires = 0;
        for _ in 0..reader.number("number of inputs")? {
            let bits = reader.below(MAX_INPUT_BITS + 1 - wires, "number of bits of an input")?;
            wires += bits;
            inputs.push(bits as u32);
        }
        let mut gates = Vec::new();
        for _ in 0..reader.below(MOST_WIRES - wires, "number of gates")? {
            gates.push(reader.gate(wires)?);
            wires += 1;
        }
        let mut outputs = Vec::new();
        let mut next = 0;
        for _ in 0..reader.number("number of outputs")? {
            let mut output = Vec::new();
            for _ in 0..reader.number("number of bits of an output")? {
                let wire = reader.output(next, wires)?;
                next = i64::from(wire) + 1;
                output.push(wire);
            }
            outputs.push(output);
        }
        if reader.at < bytes.len() {
            return Err(DecodeError::More { at: reader.at });
        }
        Ok(Self::new(inputs, gates, outputs).expect("every wire was looked up"))
    }
}

/// One more wire than a circuit can have.
const MOST_WIRES: u64 = Wire::MAX as u64;

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_all(out: &mut Vec<u8>, numbers: [u64; 2]) {
    for number in numbers {
        put(out, number);
    }
}

const fn with_sign(distance: i64) -> u64 {
    (distance << 1 ^ distance >> 63) as u64
}

const fn without_sign(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Reads from the front; every method moves on past what it read.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn number(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        let start = self.at;
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or(DecodeError::Short { at: self.at, what })?;
            self.at += 1;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits || (byte == 0 && shift > 0) {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(DecodeError::NotCanonical { at: start, what })
    }

    fn below(&mut self, limit: u64, what: &'static str) -> Result<u64, DecodeError> {
        let at = self.at;
        let value = self.number(what)?;
        if value < limit { Ok(value) } else { Err(DecodeError::Meaning { at, what, value }) }
    }

    fn gate(&mut self, own: u64) -> Result<Gate, DecodeError> {
        let at = self.at;
        let first = self.number("gate")?;
        let (x, kind) = (first / 4, first % 4);
        if kind == 3 {
            return match x {
                0 | 1 => Ok(Gate::Constant(x == 1)),
                value => Err(DecodeError::Meaning { at, what: "constant", value }),
            };
        }
        let place = |between: u64| (own - 1 - between) as Wire;
        if x >= own {
            return Err(DecodeError::Meaning { at, what: "distance of an operand", value: x });
        }
        if kind == 2 {
            return Ok(Gate::Not(place(x)));
        }
        let other = place(self.below(own, "distance of an operand")?);
        Ok(if kind == 0 { Gate::Xor(place(x), other) } else { Gate::And(place(x), other) })
    }

    fn output(&mut self, next: i64, wires: u64) -> Result<Wire, DecodeError> {
        let what = "distance of an output";
        let at = self.at;
        let value = self.number(what)?;
        let wire = next.checked_add(without_sign(value)).and_then(|wire| Wire::try_from(wire).ok());
        wire.filter(|&wire| u64::from(wire) < wires).ok_or(DecodeError::Meaning { at, what, value })
    }
}
