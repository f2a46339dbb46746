//! A program as bytes: one form for each program, checked like any other when it is read.
//!
//! | part | holds |
//! | --- | --- |
//! | head | `tacit-p` and a version byte |
//! | body | its length (8 bytes); nodes; outputs; if it keeps anything, what it keeps |
//! | source | the user's lines; for every node, every output and all that is kept the number of its line |
//!
//! The hash covers head and body: what is computed, and not how its author wrote it. Types are not written; they
//! follow from operations. Reading builds the program anew through [`crate::Builder`], so no ill-typed one can be
//! loaded, and refuses bytes that aren't the ones that the program would be written as.

use crate::builder::Builder;
use crate::codec::{
    DecodeError, Reader, put_dims, put_flag, put_kind, put_range, put_text, put_u32, put_u64,
};
use crate::error::{Fault, Source};
use crate::node::{Node, NodeId};
use crate::operations::{self, Operation};
use crate::program::{Keep, Output, Program, Recipient, Uses};
use crate::shape;
use crate::types::{Dtype, Range, Type};
use crate::value::raw_of;

const HEAD: [u8; 8] = *b"tacit-p\x02";

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
        let ends = self.outputs.iter().map(|output| output.source);
        let ends = ends.chain(self.keeps.iter().map(|keep| keep.source));
        for source in self.nodes.iter().map(|node| node.source).chain(ends) {
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

    /// Some bytes of a hash of every node, then of every output, and then of all that is kept, with the user's line
    /// of each: where two programs differ first shows where their authors disagree. As little a part of the hash as
    /// the lines are.
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
        let mut bytes = Vec::new();
        let keeps = self.keeps.iter().map(move |keep| {
            bytes.clear();
            put_keep(&mut bytes, keep);
            (digest(b"tacit keep", &bytes), &self.sources[keep.source as usize])
        });
        nodes.chain(outputs).chain(keeps)
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
        // What keeps nothing is written, and hashed, as it was before anything could be kept.
        if !self.keeps.is_empty() {
            put_u32(&mut out, self.keeps.len());
            self.keeps.iter().for_each(|keep| put_keep(&mut out, keep));
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
            read_source(&mut tail, &mut builder)?;
            read_node(&mut body, &mut builder)?;
        }
        for _ in 0..outputs {
            read_source(&mut tail, &mut builder)?;
            let node = NodeId::new(body.u32("output")?);
            let to = match body.u8("recipient")? {
                0 => Recipient::All,
                1 => Recipient::Role(body.text("recipient")?),
                other => return Err(body.meaning("recipient", other)),
            };
            builder.reveal(node, to)?;
        }
        let keeps = if body.at < body.bytes.len() { body.u32("number of kept values")? } else { 0 };
        for _ in 0..keeps {
            read_source(&mut tail, &mut builder)?;
            let (node, name, uses) = read_keep(&mut body)?;
            builder.keep(node, &name, uses)?;
        }
        Ok(builder.finish()?)
    }
}

fn put_keep(out: &mut Vec<u8>, keep: &Keep) {
    put_u32(out, keep.node.index());
    put_text(out, &keep.name);
    let Uses { programs, learners, writers } = &keep.uses;
    for hashes in [programs, writers] {
        put_u32(out, hashes.len());
        out.extend_from_slice(hashes.as_flattened());
    }
    put_flag(out, learners.is_some());
    if let Some(learners) = learners {
        put_u32(out, learners.len());
        for name in learners {
            put_text(out, name);
        }
    }
}

fn read_keep(from: &mut Reader<'_>) -> Result<(NodeId, String, Uses), DecodeError> {
    let (node, name) = (NodeId::new(from.u32("kept value")?), from.text("name")?);
    let (mut hashes, mut learners) = ([Vec::new(), Vec::new()], None);
    for programs in &mut hashes {
        for _ in 0..from.u32("number of programs")? {
            programs.push(from.array("program")?);
        }
    }
    if from.flag()? {
        let names: &mut Vec<String> = learners.get_or_insert_default();
        for _ in 0..from.u32("number of learners")? {
            names.push(from.text("learner")?);
        }
    }
    let [programs, writers] = hashes;
    Ok((node, name, Uses::new(programs, learners).with_writers(writers)))
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
    let entry = node.operation.entry();
    let numbers = matches!(node.operation, Operation::Known { .. }) && node.ty.kind != Dtype::Bool;
    out.push(if numbers { operations::KNOWN_NUMBERS } else { entry.code });
    match &node.operation {
        Operation::Input { owner, name } => {
            put_text(out, owner);
            put_text(out, name);
            put_type(out, &node.ty);
        }
        Operation::Kept { name } => {
            put_text(out, name);
            put_type(out, &node.ty);
        }
        Operation::Known { name } if numbers => {
            put_text(out, name);
            put_type(out, &node.ty);
        }
        Operation::Known { name } => {
            put_text(out, name);
            put_dims(out, &node.ty.shape);
        }
        Operation::Constant(raw) => {
            put_kind(out, node.ty.kind);
            put_dims(out, &node.ty.shape);
            for raw in raw.iter() {
                out.extend_from_slice(&raw.to_le_bytes()[..8 * node.ty.kind.limbs()]);
            }
        }
        _ => entry.write(out),
    }
    if entry.operands.is_none() {
        put_u32(out, node.operands.len());
    }
    for operand in &node.operands {
        put_u32(out, operand.index());
    }
}

/// A type that is declared.
fn put_type(out: &mut Vec<u8>, ty: &Type) {
    put_kind(out, ty.kind);
    put_dims(out, &ty.shape);
    put_range(out, ty.range);
}

fn read_node(from: &mut Reader<'_>, builder: &mut Builder) -> Result<(), DecodeError> {
    let at = from.at;
    let code = from.u8("operation")?;
    match code {
        0 => return read_input(from, builder),
        1 => return read_constant(from, builder),
        operations::KEPT => return read_kept(from, builder),
        operations::KNOWN => return read_known(from, builder),
        operations::KNOWN_NUMBERS => return read_known_numbers(from, builder),
        _ => {}
    }
    let Some(operation) = operations::read(code, from)? else {
        return Err(from.meaning("operation", code));
    };
    let operands = match operation.entry().operands {
        Some(count) => count as u32,
        None => from.u32("number of operands")?,
    };
    let mut ids = Vec::new();
    for _ in 0..operands {
        ids.push(NodeId::new(from.u32("operand")?));
    }
    match builder.push_read(operation, &ids)? {
        Some(_) => Ok(()),
        None => Err(DecodeError::Meaning { at, what: "operation on a secret", value: code.into() }),
    }
}

fn read_input(from: &mut Reader<'_>, builder: &mut Builder) -> Result<(), DecodeError> {
    let (owner, name) = (from.text("owner")?, from.text("name")?);
    let (kind, shape, range) = read_type(from, builder)?;
    builder.input(&owner, &name, kind, &shape, Some(range))?;
    Ok(())
}

fn read_kept(from: &mut Reader<'_>, builder: &mut Builder) -> Result<(), DecodeError> {
    let name = from.text("name")?;
    let (kind, shape, range) = read_type(from, builder)?;
    builder.kept(&name, kind, &shape, Some(range))?;
    Ok(())
}

fn read_known(from: &mut Reader<'_>, builder: &mut Builder) -> Result<(), DecodeError> {
    let (name, shape) = (from.text("name")?, from.dims()?);
    builder.known(&name, Dtype::Bool, &shape, None)?;
    Ok(())
}

fn read_known_numbers(from: &mut Reader<'_>, builder: &mut Builder) -> Result<(), DecodeError> {
    let name = from.text("name")?;
    let (kind, shape, range) = read_type(from, builder)?;
    builder.known(&name, kind, &shape, Some(range))?;
    Ok(())
}

fn read_type(from: &mut Reader<'_>, builder: &Builder) -> Result<(Dtype, Vec<usize>, Range), DecodeError> {
    let (kind, shape) = (from.kind()?, from.dims()?);
    let (lo, hi) = (from.i128("range")?, from.i128("range")?);
    let range = Range::new(lo, hi).ok_or_else(|| builder.fault(Fault::Range { lo, hi, kind }))?;
    Ok((kind, shape, range))
}

fn read_constant(from: &mut Reader<'_>, builder: &mut Builder) -> Result<(), DecodeError> {
    let (kind, shape) = (from.kind()?, from.dims()?);
    shape::check(&shape).map_err(|fault| builder.fault(fault))?;
    if kind.frac() > 64 || kind == (Dtype::Fixed { frac: 0 }) {
        return Err(builder.fault(Fault::Fraction { frac: kind.frac() }).into());
    }
    let at = from.at;
    let bytes = 8 * kind.limbs();
    let data = from.take(shape.iter().product::<usize>().saturating_mul(bytes), "constant")?;
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

/// Sets the line that the builder's next node or output comes from.
fn read_source(from: &mut Reader<'_>, builder: &mut Builder) -> Result<(), DecodeError> {
    let at = from.at;
    let number = from.u32("line's number")?;
    if builder.at_number(number) {
        Ok(())
    } else {
        Err(DecodeError::Meaning { at, what: "line's number", value: number.into() })
    }
}

#[cfg(test)]
mod tests;
