//! A program as bytes: one form for each program, checked like any other when it is read.
//!
//! All integers are little-endian.
//!
//! | part | holds |
//! | --- | --- |
//! | head | `tacit-p` and a version byte |
//! | body | its length (8 bytes); nodes; outputs |
//! | source | the user's lines; for every node and every output the number of its line |
//!
//! The hash covers head and body: what is computed, and not how its author wrote it. Types are not written; they
//! follow from operations. Reading builds the program anew through [`crate::Builder`], so no ill-typed one can be
//! loaded, and refuses bytes that aren't the ones that the program would be written as.

use std::sync::Arc;

use tacit_circuit::Circuit;
use thiserror::Error;

use crate::builder::{Builder, MAX_TEXT};
use crate::error::{Fault, ProgramError, Source};
use crate::modulus::Modulus;
use crate::plan::Width;
use crate::program::{Extreme, Node, NodeId, Operation, Output, Program, Recipient, Rounding};
use crate::real::{Real, Reals};
use crate::shape::{self, Span};
use crate::types::{Dtype, MAX_RANK, Range};
use crate::value::raw_of;

/// Of a public number: its mantissa's, and its exponent's.
const REAL_BYTES: usize = 8 + 2;

const HEAD: [u8; 8] = *b"tacit-p\x02";

/// Bytes that are no program.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum DecodeError {
    /// They aren't a program's, or of a version that this one can't read.
    #[error("these bytes are no program, or one of another version")]
    Head,
    /// They end too early.
    #[error("the program ends at byte {at}, in the middle of {what}")]
    Short {
        /// Where.
        at: usize,
        /// What is missing.
        what: &'static str,
    },
    /// A number that means nothing there.
    #[error("byte {at} of the program: {value} is not a {what}")]
    Meaning {
        /// Where.
        at: usize,
        /// What should stand there.
        what: &'static str,
        /// What does.
        value: u64,
    },
    /// Bytes that are no circuit.
    #[error("byte {at} of the program: {cause}")]
    Circuit {
        /// Where the circuit begins.
        at: usize,
        /// What is wrong with it.
        cause: tacit_circuit::DecodeError,
    },
    /// A node that its operation doesn't allow.
    #[error("the program can't be built: {0}")]
    Program(#[from] ProgramError),
    /// The program can be written otherwise, or there is more than it.
    #[error("the program is not written in its one canonical form")]
    NotCanonical,
}

impl Program {
    /// The canonical bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = HEAD.to_vec();
        let body = self.body_bytes();
        put_u64(&mut out, body.len() as u64);
        out.extend_from_slice(&body);
        put_u32(&mut out, self.sources.len());
        for Source { file, line, text } in &self.sources {
            put_text(&mut out, file);
            put_u32(&mut out, *line as usize);
            put_text(&mut out, text);
        }
        for source in
            self.nodes.iter().map(|node| node.source).chain(self.outputs.iter().map(|out| out.source))
        {
            put_u32(&mut out, source as usize);
        }
        out
    }

    /// Reads a program.
    ///
    /// # Errors
    /// [`DecodeError`], whatever the bytes; none makes it allocate more than a few times their length.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader { bytes, at: 0 };
        if reader.take(HEAD.len(), "head").map_err(|_| DecodeError::Head)? != HEAD {
            return Err(DecodeError::Head);
        }
        let length = reader.u64("body's length")?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let body =
            Reader { bytes: &bytes[..reader.at.saturating_add(length).min(bytes.len())], at: reader.at };
        reader.take(length, "body")?;
        let program = Self::read(body, reader)?;
        if program.to_bytes() == bytes { Ok(program) } else { Err(DecodeError::NotCanonical) }
    }

    /// SHA-256 of what the program computes, for whom, from whose inputs. The user's file names, lines and
    /// comments are no part of it.
    pub fn hash(&self) -> [u8; 32] {
        use sha2::{Digest, Sha256};
        Sha256::new_with_prefix(HEAD).chain_update(self.body_bytes()).finalize().into()
    }

    /// Some bytes of a hash of every node, and then of every output, with the user's line of each: where two programs
    /// differ first shows where their authors disagree. As little a part of the hash as the lines are.
    pub fn outline(&self) -> impl Iterator<Item = ([u8; 4], &Source)> {
        use sha2::{Digest, Sha256};
        let digest = |kind: &[u8], bytes: &[u8]| {
            let hash: [u8; 32] = Sha256::new_with_prefix(kind).chain_update(bytes).finalize().into();
            [hash[0], hash[1], hash[2], hash[3]]
        };
        let mut bytes = Vec::new();
        let nodes = self.nodes.iter().map(move |node| {
            bytes.clear();
            put_node(&mut bytes, node);
            (digest(b"tacit node", &bytes), &self.sources[node.source as usize])
        });
        let mut bytes = Vec::new();
        let outputs = self.outputs.iter().map(move |output| {
            bytes.clear();
            put_output(&mut bytes, output);
            (digest(b"tacit output", &bytes), &self.sources[output.source as usize])
        });
        nodes.chain(outputs)
    }

    fn body_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_u32(&mut out, self.nodes.len());
        put_u32(&mut out, self.outputs.len());
        for node in &self.nodes {
            put_node(&mut out, node);
        }
        for output in &self.outputs {
            put_output(&mut out, output);
        }
        out
    }

    fn read(mut body: Reader<'_>, mut tail: Reader<'_>) -> Result<Self, DecodeError> {
        let (nodes, outputs) = (body.u32("number of nodes")?, body.u32("number of outputs")?);
        let mut sources = Vec::new();
        for _ in 0..tail.u32("number of lines")? {
            sources.push(Source {
                file: tail.text("file")?,
                line: tail.u32("line")?,
                text: tail.text("line's text")?,
            });
        }
        let mut builder = Builder::with_sources(sources);
        for _ in 0..nodes {
            tail.source(&mut builder)?;
            body.node(&mut builder)?;
        }
        for _ in 0..outputs {
            tail.source(&mut builder)?;
            let node = NodeId::new(body.u32("output")?);
            let to = match body.u8("recipient")? {
                0 => Recipient::All,
                1 => Recipient::Role(body.text("recipient")?),
                other => return Err(body.meaning("recipient", other)),
            };
            builder.reveal(node, to)?;
        }
        Ok(builder.finish()?)
    }
}

fn put_output(out: &mut Vec<u8>, output: &Output) {
    put_u32(out, output.node.index());
    match &output.to {
        Recipient::All => out.push(0),
        Recipient::Role(name) => {
            out.push(1);
            put_text(out, name);
        }
    }
}

fn put_node(out: &mut Vec<u8>, node: &Node) {
    out.push(tag(&node.operation));
    match &node.operation {
        Operation::Input { owner, name } => {
            put_text(out, owner);
            put_text(out, name);
            put_kind(out, node.ty.kind);
            put_dims(out, &node.ty.shape);
            out.extend_from_slice(&node.ty.range.lo().to_le_bytes());
            out.extend_from_slice(&node.ty.range.hi().to_le_bytes());
        }
        Operation::Constant(raw) => {
            put_kind(out, node.ty.kind);
            put_dims(out, &node.ty.shape);
            for raw in raw.iter() {
                out.extend_from_slice(&raw.to_le_bytes()[..8 * node.ty.kind.limbs()]);
            }
        }
        Operation::Sum { axes, keepdims } => {
            put_dims(out, axes);
            out.push((*keepdims).into());
        }
        Operation::Extremum { axis, keepdims, .. } | Operation::ArgExtremum { axis, keepdims, .. } => {
            put_u32(out, *axis);
            out.push((*keepdims).into());
        }
        Operation::Times(numbers)
        | Operation::Over { divisors: numbers, .. }
        | Operation::Weigh { matrix: numbers, .. } => {
            put_dims(out, numbers.shape());
            for number in numbers.numbers() {
                out.extend_from_slice(&number.mantissa().to_le_bytes());
                out.extend_from_slice(&number.exponent().to_le_bytes());
            }
        }
        Operation::FromBool { wrapping } => out.push(wrapping.map_or(0, Width::bits)),
        Operation::Scale { by } | Operation::Truncate { by, .. } | Operation::ShiftRight { by } => {
            out.push(*by);
        }
        Operation::Reshape { shape: dims }
        | Operation::BroadcastTo { shape: dims }
        | Operation::Transpose { axes: dims } => {
            put_dims(out, dims);
        }
        Operation::Slice { spans } => {
            out.push(spans.len() as u8);
            for span in spans {
                put_u64(out, span.start as u64);
                put_u64(out, span.step as u64);
                put_u64(out, span.count as u64);
            }
        }
        Operation::Concatenate { axis } => {
            put_u32(out, *axis);
            put_u32(out, node.operands.len());
        }
        Operation::Circuit(circuit) => {
            let bytes = circuit.to_bytes();
            put_u64(out, bytes.len() as u64);
            out.extend_from_slice(&bytes);
            put_u32(out, node.operands.len());
        }
        Operation::Add
        | Operation::Sub
        | Operation::Neg
        | Operation::Mul
        | Operation::MatMul
        | Operation::Less
        | Operation::Equal
        | Operation::And
        | Operation::Or
        | Operation::Xor
        | Operation::Not
        | Operation::Where
        | Operation::Pick(_)
        | Operation::Clip
        | Operation::Abs
        | Operation::Relu => {}
    }
    for operand in &node.operands {
        put_u32(out, operand.index());
    }
}

/// The byte that stands for an operation.
const fn tag(operation: &Operation) -> u8 {
    match operation {
        Operation::Input { .. } => 0,
        Operation::Constant(_) => 1,
        Operation::Add => 2,
        Operation::Sub => 3,
        Operation::Neg => 4,
        Operation::Mul => 5,
        Operation::MatMul => 6,
        Operation::Sum { .. } => 7,
        Operation::Less => 8,
        Operation::Equal => 9,
        Operation::And => 10,
        Operation::Or => 11,
        Operation::Xor => 12,
        Operation::Not => 13,
        Operation::Where => 14,
        Operation::Pick(Extreme::Min) => 15,
        Operation::Pick(Extreme::Max) => 16,
        Operation::Extremum { which: Extreme::Min, .. } => 17,
        Operation::Extremum { which: Extreme::Max, .. } => 18,
        Operation::ArgExtremum { which: Extreme::Min, .. } => 19,
        Operation::ArgExtremum { which: Extreme::Max, .. } => 20,
        Operation::Abs => 21,
        Operation::Relu => 22,
        Operation::FromBool { .. } => 23,
        Operation::Scale { .. } => 24,
        Operation::Truncate { rounding: Rounding::Floor, .. } => 25,
        Operation::Truncate { rounding: Rounding::Nearest, .. } => 26,
        Operation::ShiftRight { .. } => 27,
        Operation::Reshape { .. } => 28,
        Operation::Transpose { .. } => 29,
        Operation::Slice { .. } => 30,
        Operation::BroadcastTo { .. } => 31,
        Operation::Concatenate { .. } => 32,
        Operation::Clip => 33,
        Operation::Circuit(_) => 34,
        Operation::Times(_) => 35,
        Operation::Over { rounding: Rounding::Floor, .. } => 36,
        Operation::Over { rounding: Rounding::Nearest, .. } => 37,
        Operation::Weigh { left: false, .. } => 38,
        Operation::Weigh { left: true, .. } => 39,
    }
}

fn put_u32(out: &mut Vec<u8>, value: usize) {
    out.extend_from_slice(&(value as u32).to_le_bytes());
}

fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_u32(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn put_dims(out: &mut Vec<u8>, dims: &[usize]) {
    out.push(dims.len() as u8);
    for &length in dims {
        put_u64(out, length as u64);
    }
}

fn put_kind(out: &mut Vec<u8>, kind: Dtype) {
    out.extend_from_slice(&match kind {
        Dtype::Bool => [0, 0],
        Dtype::Int => [1, 0],
        Dtype::Fixed { frac } => [2, frac],
        Dtype::Modular(Modulus::PowerOfTwo(n)) => [3, n],
        Dtype::Modular(field) => [4, field.bits()],
    });
}

/// Reads from the front; every method moves on past what it read.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn node(&mut self, builder: &mut Builder) -> Result<(), DecodeError> {
        let at = self.at;
        let tag = self.u8("operation")?;
        let (operation, operands) = match tag {
            0 => return self.input(builder),
            1 => return self.constant(builder),
            2 => (Operation::Add, 2),
            3 => (Operation::Sub, 2),
            4 => (Operation::Neg, 1),
            5 => (Operation::Mul, 2),
            6 => (Operation::MatMul, 2),
            7 => (Operation::Sum { axes: self.dims()?, keepdims: self.flag()? }, 1),
            8 => (Operation::Less, 2),
            9 => (Operation::Equal, 2),
            10 => (Operation::And, 2),
            11 => (Operation::Or, 2),
            12 => (Operation::Xor, 2),
            13 => (Operation::Not, 1),
            14 => (Operation::Where, 3),
            15 => (Operation::Pick(Extreme::Min), 2),
            16 => (Operation::Pick(Extreme::Max), 2),
            17..=20 => (self.extremum(tag)?, 1),
            21 => (Operation::Abs, 1),
            22 => (Operation::Relu, 1),
            23 => (Operation::FromBool { wrapping: self.wrapping()? }, 1),
            24 => (Operation::Scale { by: self.u8("shift")? }, 1),
            25 => (Operation::Truncate { by: self.u8("shift")?, rounding: Rounding::Floor }, 1),
            26 => (Operation::Truncate { by: self.u8("shift")?, rounding: Rounding::Nearest }, 1),
            27 => (Operation::ShiftRight { by: self.u8("shift")? }, 1),
            28 => (Operation::Reshape { shape: self.dims()? }, 1),
            29 => (Operation::Transpose { axes: self.dims()? }, 1),
            30 => (Operation::Slice { spans: self.spans()? }, 1),
            31 => (Operation::BroadcastTo { shape: self.dims()? }, 1),
            32 => {
                (Operation::Concatenate { axis: self.u32("axis")? as usize }, self.u32("number of operands")?)
            }
            33 => (Operation::Clip, 3),
            34 => (Operation::Circuit(self.circuit()?), self.u32("number of operands")?),
            35 => (Operation::Times(self.reals()?), 1),
            36 => (Operation::Over { divisors: self.reals()?, rounding: Rounding::Floor }, 1),
            37 => (Operation::Over { divisors: self.reals()?, rounding: Rounding::Nearest }, 1),
            38 | 39 => (Operation::Weigh { matrix: self.reals()?, left: tag == 39 }, 1),
            _ => return Err(self.meaning("operation", tag)),
        };
        let mut ids = Vec::new();
        for _ in 0..operands {
            ids.push(NodeId::new(self.u32("operand")?));
        }
        match builder.push_read(operation, &ids)? {
            Some(_) => Ok(()),
            None => Err(DecodeError::Meaning { at, what: "operation on a secret", value: tag.into() }),
        }
    }

    fn circuit(&mut self) -> Result<Arc<Circuit>, DecodeError> {
        let at = self.at;
        let length = usize::try_from(self.u64("circuit's length")?).unwrap_or(usize::MAX);
        let bytes = self.take(length, "circuit")?;
        let circuit = Circuit::from_bytes(bytes).map_err(|cause| DecodeError::Circuit { at, cause })?;
        Ok(Arc::new(circuit))
    }

    fn input(&mut self, builder: &mut Builder) -> Result<(), DecodeError> {
        let (owner, name) = (self.text("owner")?, self.text("name")?);
        let (kind, shape) = (self.kind()?, self.dims()?);
        let (lo, hi) = (self.i128("range")?, self.i128("range")?);
        let range = Range::new(lo, hi).ok_or_else(|| builder.fault(Fault::Range { lo, hi, kind }))?;
        builder.input(&owner, &name, kind, &shape, Some(range))?;
        Ok(())
    }

    fn constant(&mut self, builder: &mut Builder) -> Result<(), DecodeError> {
        let (kind, shape) = (self.kind()?, self.dims()?);
        shape::check(&shape).map_err(|fault| builder.fault(fault))?;
        if kind.frac() > 64 || kind == (Dtype::Fixed { frac: 0 }) {
            return Err(builder.fault(Fault::Fraction { frac: kind.frac() }).into());
        }
        let at = self.at;
        let bytes = 8 * kind.limbs();
        let data = self.take(shape.iter().product::<usize>().saturating_mul(bytes), "constant")?;
        let words: Vec<u64> = data.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let raw: Vec<i128> = raw_of(kind, &words).collect();
        match raw.iter().position(|&raw| !kind.holds(kind.whole(), raw)) {
            Some(place) => Err(DecodeError::Meaning {
                at: at + bytes * place,
                what: "constant of its kind",
                value: raw[place] as u64,
            }),
            None => Ok(builder.public(kind, shape, raw).map(|_| ())?),
        }
    }

    fn reals(&mut self) -> Result<Reals, DecodeError> {
        let shape = self.dims()?;
        let at = self.at;
        let count = shape.iter().fold(1_usize, |count, &length| count.saturating_mul(length));
        let data = self.take(count.saturating_mul(REAL_BYTES), "public numbers")?;
        let mut numbers = Vec::with_capacity(count);
        for (place, bytes) in data.as_chunks::<REAL_BYTES>().0.iter().enumerate() {
            let [a, b, c, d, e, f, g, h, low, high] = *bytes;
            let (mantissa, exponent) =
                (i64::from_le_bytes([a, b, c, d, e, f, g, h]), i16::from_le_bytes([low, high]));
            numbers.push(Real::new(mantissa, exponent).ok_or(DecodeError::Meaning {
                at: at + REAL_BYTES * place,
                what: "public number",
                value: mantissa as u64,
            })?);
        }
        let count = count as u64;
        Reals::new(shape, numbers).ok_or(DecodeError::Meaning { at, what: "number of numbers", value: count })
    }

    fn extremum(&mut self, tag: u8) -> Result<Operation, DecodeError> {
        let which = if tag % 2 == 1 { Extreme::Min } else { Extreme::Max };
        let (axis, keepdims) = (self.u32("axis")? as usize, self.flag()?);
        Ok(if tag < 19 {
            Operation::Extremum { which, axis, keepdims }
        } else {
            Operation::ArgExtremum { which, axis, keepdims }
        })
    }

    fn spans(&mut self) -> Result<Vec<Span>, DecodeError> {
        let rank = self.rank()?;
        let mut spans = Vec::with_capacity(rank);
        for _ in 0..rank {
            let start = self.length()?;
            let step = self.u64("step")? as isize;
            spans.push(Span { start, step, count: self.length()? });
        }
        Ok(spans)
    }

    fn dims(&mut self) -> Result<Vec<usize>, DecodeError> {
        let rank = self.rank()?;
        (0..rank).map(|_| self.length()).collect()
    }

    fn rank(&mut self) -> Result<usize, DecodeError> {
        let rank = self.u8("number of axes")?;
        if rank as usize > MAX_RANK { Err(self.meaning("number of axes", rank)) } else { Ok(rank.into()) }
    }

    /// A length or a place: below 2^32, so that what is reckoned from a few can't overflow.
    fn length(&mut self) -> Result<usize, DecodeError> {
        let at = self.at;
        let value = self.u64("length")?;
        u32::try_from(value).map(|length| length as usize).map_err(|_| DecodeError::Meaning {
            at,
            what: "length",
            value,
        })
    }

    fn kind(&mut self) -> Result<Dtype, DecodeError> {
        let (tag, detail) = (self.u8("kind")?, self.u8("kind")?);
        match (tag, detail) {
            (0, 0) => Ok(Dtype::Bool),
            (1, 0) => Ok(Dtype::Int),
            (2, frac) => Ok(Dtype::Fixed { frac }),
            (3, n) if Modulus::PowerOfTwo(n).is_valid() => Ok(Dtype::Modular(Modulus::PowerOfTwo(n))),
            (4, 61) => Ok(Dtype::Modular(Modulus::Mersenne61)),
            (4, 128) => Ok(Dtype::Modular(Modulus::Prime128)),
            (3 | 4, other) => Err(self.meaning("modulus", other)),
            _ => Err(self.meaning("kind", tag)),
        }
    }

    fn wrapping(&mut self) -> Result<Option<Width>, DecodeError> {
        match self.u8("width")? {
            0 => Ok(None),
            bits => match Width::ALL.into_iter().find(|width| width.bits() == bits) {
                Some(width) => Ok(Some(width)),
                None => Err(self.meaning("width", bits)),
            },
        }
    }

    /// Sets the line that the builder's next node or output comes from.
    fn source(&mut self, builder: &mut Builder) -> Result<(), DecodeError> {
        let at = self.at;
        let number = self.u32("line's number")?;
        if builder.at_number(number) {
            Ok(())
        } else {
            Err(DecodeError::Meaning { at, what: "line's number", value: number.into() })
        }
    }

    fn flag(&mut self) -> Result<bool, DecodeError> {
        match self.u8("flag")? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.meaning("flag", other)),
        }
    }

    fn text(&mut self, what: &'static str) -> Result<String, DecodeError> {
        let at = self.at;
        let length = self.u32(what)?;
        let meaning = DecodeError::Meaning { at, what: "text's length", value: length.into() };
        if length as usize > MAX_TEXT {
            return Err(meaning);
        }
        let bytes = self.take(length as usize, what)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| DecodeError::Meaning {
            at,
            what: "text",
            value: length.into(),
        })
    }

    fn u8(&mut self, what: &'static str) -> Result<u8, DecodeError> {
        Ok(u8::from_le_bytes(self.array(what)?))
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, DecodeError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    fn u64(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    fn i128(&mut self, what: &'static str) -> Result<i128, DecodeError> {
        Ok(i128::from_le_bytes(self.array(what)?))
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeError> {
        let at = self.at;
        let taken = self.take(N, what)?;
        taken.try_into().map_err(|_| DecodeError::Short { at, what })
    }

    fn take(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], DecodeError> {
        let end = self.at.saturating_add(length);
        let taken = self.bytes.get(self.at..end).ok_or(DecodeError::Short { at: self.bytes.len(), what })?;
        self.at = end;
        Ok(taken)
    }

    /// The error for a byte that was just read.
    fn meaning(&self, what: &'static str, value: u8) -> DecodeError {
        DecodeError::Meaning { at: self.at.saturating_sub(1), what, value: value.into() }
    }
}

#[cfg(test)]
mod tests;
