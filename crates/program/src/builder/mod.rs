//! Builds a [`Program`], one operation at a time, and refuses what would go wrong when it runs.
//!
//! Each method takes nodes and gives the node of the result, with `NumPy`'s semantics. Where both operands are
//! public the result is reckoned at once. Dtypes go together as follows: a bool in arithmetic is the integer 0 or
//! 1; an integer beside fixed point becomes fixed point; of two fixed-point numbers the one of fewer fraction
//! bits takes those of the other; a public integer beside a modular one is reduced.
//!
//! ```
//! use tacit_program::{Builder, Dtype, Recipient, Source};
//!
//! let mut build = Builder::new();
//! build.at(Source { file: "richer.py".into(), line: 3, text: "a > b".into() });
//! let a = build.input("alice", "a", Dtype::Int, &[1000], None)?;
//! let b = build.input("bob", "b", Dtype::Int, &[1000], None)?;
//! let richer = build.greater(a, b)?;
//! let count = build.sum(richer, None, false)?;
//! build.reveal(count, Recipient::All)?;
//! let program = build.finish()?;
//! assert_eq!(program.inputs().len(), 2);
//! # Ok::<(), tacit_program::ProgramError>(())
//! ```

mod arithmetic;
mod arrange;
mod branch;
mod compare;
mod functions;
mod keep;
mod known;
mod partition;
mod repeat;
mod rounded;
mod shuffle;
mod sort;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::branches::Branches;
pub use crate::codec::MAX_TEXT;
use crate::columns::unsound;
use crate::error::{Fault, ProgramError, Source};
use crate::loops;
pub use crate::node::MAX_NODES;
use crate::node::{Node, NodeId};
use crate::operations::Operation;
use crate::program::{Keep, Output, Program, Recipient};
use crate::reference;
use crate::shape;
use crate::types::{Dtype, MAX_FRACTION, Range, Type};
use crate::value::{self, Value};

/// A method that takes values alone.
#[derive(Clone, Copy)]
enum Method {
    One(fn(&mut Builder, NodeId) -> Result<NodeId, ProgramError>),
    Two(fn(&mut Builder, NodeId, NodeId) -> Result<NodeId, ProgramError>),
    Three(fn(&mut Builder, NodeId, NodeId, NodeId) -> Result<NodeId, ProgramError>),
}

/// Builds a program. See the [module's](self) description.
#[derive(Clone, Debug)]
pub struct Builder {
    nodes: Vec<Node>,
    inputs: Vec<NodeId>,
    kept: Vec<NodeId>,
    known: Vec<NodeId>,
    outputs: Vec<Output>,
    keeps: Vec<Keep>,
    sources: Vec<Source>,
    /// The line that the next node comes from.
    here: u32,
    /// Owners and names of inputs.
    names: HashSet<(String, String)>,
    /// Names of what the program reads, keeps and knows.
    others: HashSet<(&'static str, String)>,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// An empty program.
    pub fn new() -> Self {
        Self::with_sources(vec![Source::default()])
    }

    /// An empty program whose lines are known, as a file has them.
    pub(crate) fn with_sources(sources: Vec<Source>) -> Self {
        let (nodes, inputs, kept, known) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (outputs, keeps) = (Vec::new(), Vec::new());
        let (names, others) = (HashSet::new(), HashSet::new());
        Self { nodes, inputs, kept, known, outputs, keeps, sources, here: 0, names, others }
    }

    /// Says which line of the user's the next nodes come from.
    pub fn at(&mut self, mut source: Source) {
        cut(&mut source.file);
        cut(&mut source.text);
        if self.sources.get(self.here as usize) != Some(&source) {
            self.here = self.sources.len() as u32;
            self.sources.push(source);
        }
    }

    /// Says the same by the line's number; `false` if there is none of that number.
    pub(crate) fn at_number(&mut self, number: u32) -> bool {
        self.here = number;
        self.sources.len() > number as usize
    }

    /// How many nodes there are.
    pub(crate) const fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The type of a node.
    pub fn type_of(&self, id: NodeId) -> Result<&Type, ProgramError> {
        match self.nodes.get(id.index()) {
            Some(node) => Ok(&node.ty),
            None => Err(self.fault(Fault::UnknownNode { node: id.number() })),
        }
    }

    /// The clear value of a public node; `None` if it is secret.
    pub fn constant_of(&self, id: NodeId) -> Result<Option<Value>, ProgramError> {
        let ty = self.type_of(id)?;
        Ok(self.raw(id).map(|raw| value::to_value(ty.kind, &ty.shape, raw)))
    }

    /// A secret that `owner` gives and calls `name`. `range` is that of raw values; without one, elements can be
    /// any that 64 bits hold, which leaves no room for arithmetic.
    pub fn input(
        &mut self,
        owner: &str,
        name: &str,
        kind: Dtype,
        shape: &[usize],
        range: Option<Range>,
    ) -> Result<NodeId, ProgramError> {
        self.named("a role", owner)?;
        self.named("an input", name)?;
        let ty = self.declaration(kind, shape, range)?;
        let operation = Operation::Input { owner: owner.to_owned(), name: name.to_owned() };
        if !self.names.insert((owner.to_owned(), name.to_owned())) {
            return Err(self.fault(Fault::InputTwice { owner: owner.to_owned(), name: name.to_owned() }));
        }
        let id = self.append(operation, vec![], ty)?;
        self.inputs.push(id);
        Ok(id)
    }

    /// The type of a secret that is declared.
    fn declaration(&self, kind: Dtype, shape: &[usize], range: Option<Range>) -> Result<Type, ProgramError> {
        shape::check(shape).map_err(|fault| self.fault(fault))?;
        self.declared(kind)?;
        let range = range.unwrap_or(kind.whole());
        let suits = if kind.is_ranged() { kind.whole().covers(range) } else { kind.whole() == range };
        if !suits {
            return Err(self.fault(Fault::Range { lo: range.lo(), hi: range.hi(), kind }));
        }
        Ok(Type { kind, shape: shape.to_vec(), range, secret: true })
    }

    /// A value that everybody knows.
    pub fn constant(&mut self, value: &Value, kind: Dtype) -> Result<NodeId, ProgramError> {
        self.declared(kind)?;
        self.reckoned(value, kind)
    }

    fn reckoned(&mut self, value: &Value, kind: Dtype) -> Result<NodeId, ProgramError> {
        shape::check(&value.shape).map_err(|fault| self.fault(fault))?;
        let words = value::encode_as(kind, kind.whole(), value);
        let words = words.map_err(|error| self.fault(Fault::Constant(error)))?;
        if let value::Data::Float(numbers) = &value.data {
            let vanished = numbers.iter().zip(&words).find(|(number, word)| **number != 0.0 && **word == 0);
            if let Some((&number, _)) = vanished {
                return Err(self.fault(Fault::Vanishes { value: number, frac: kind.frac() }));
            }
        }
        let raw = value::raw_of(kind, &words).collect();
        self.public(kind, value.shape.clone(), raw)
    }

    /// A value that everybody knows, of the dtype that suits an operation with `beside`: floating-point numbers take
    /// the fraction bits of a fixed-point neighbour, to which they are rounded as an input would be, and are refused
    /// beside any other. Factors, divisors and weights needn't be rounded: see [`Self::scale`], [`Self::divide`] and
    /// [`Self::weigh`].
    pub fn constant_beside(&mut self, value: &Value, beside: NodeId) -> Result<NodeId, ProgramError> {
        let other = self.type_of(beside)?.kind;
        let kind = match (&value.data, other) {
            (value::Data::Bool(_), _) => Dtype::Bool,
            // Signed integers of any size are reduced where they meet their neighbour.
            (value::Data::Int(_), Dtype::Modular(_)) => Dtype::Int,
            (value::Data::Float(_), Dtype::Fixed { .. }) | (_, Dtype::Modular(_)) => other,
            _ => Dtype::Int,
        };
        self.reckoned(value, kind)
    }

    /// Calls a method that takes values alone by its name, for front ends in other languages; `None` if there is none of
    /// that name and for so many operands.
    pub fn call(&mut self, method: &str, operands: &[NodeId]) -> Option<Result<NodeId, ProgramError>> {
        let mut methods = arithmetic::METHODS
            .iter()
            .chain(branch::METHODS)
            .chain(compare::METHODS)
            .chain(functions::METHODS);
        let (_, method) = methods.find(|(name, _)| *name == method)?;
        Some(match (method, operands) {
            (Method::One(make), &[a]) => make(self, a),
            (Method::Two(make), &[a, b]) => make(self, a, b),
            (Method::Three(make), &[a, b, c]) => make(self, a, b, c),
            _ => return None,
        })
    }

    /// Lets `to` learn a value. Outputs come in the order in which they are revealed.
    pub fn reveal(&mut self, id: NodeId, to: Recipient) -> Result<(), ProgramError> {
        self.type_of(id)?;
        if let Recipient::Role(name) = &to {
            self.named("a role", name)?;
        }
        if self.outputs.len() >= MAX_NODES {
            return Err(self.fault(Fault::TooMany { what: "outputs", limit: MAX_NODES }));
        }
        self.outputs.push(Output { node: id, to, source: self.here });
        Ok(())
    }

    /// The finished program: its inputs, what it reads of what is kept, what all parties know, and what all that it
    /// reveals and keeps depends on. Nodes are numbered anew.
    pub fn finish(self) -> Result<Program, ProgramError> {
        self.finished().map(|(program, _)| program)
    }

    /// The same, and which node each of the builder's became, if it is in the program.
    pub(crate) fn finished(self) -> Result<(Program, Vec<Option<NodeId>>), ProgramError> {
        if self.outputs.is_empty() && self.keeps.is_empty() {
            return Err(self.fault(Fault::NothingRevealed));
        }
        let mut live = vec![false; self.nodes.len()];
        let ends =
            self.outputs.iter().map(|output| output.node).chain(self.keeps.iter().map(|keep| keep.node));
        for id in self.inputs.iter().chain(&self.kept).chain(&self.known).copied().chain(ends) {
            live[id.index()] = true;
        }
        for (place, node) in self.nodes.iter().enumerate().rev() {
            if live[place] {
                node.operands.iter().for_each(|operand| live[operand.index()] = true);
            }
        }
        let mut renumbered = Vec::with_capacity(live.len());
        let mut next = 0;
        for &keep in &live {
            renumbered.push(NodeId::new(next));
            next += u32::from(keep);
        }
        let new = |id: NodeId| renumbered[id.index()];
        let mut sources = Sources { old: self.sources, new: Vec::new(), number: HashMap::new() };
        let mut nodes = Vec::with_capacity(next as usize);
        for (node, _) in self.nodes.into_iter().zip(&live).filter(|(_, keep)| **keep) {
            let operands = node.operands.into_iter().map(new).collect();
            nodes.push(Node { operands, source: sources.keep(node.source), ..node });
        }
        let at = |place: usize| sources.new.get(nodes[place].source as usize).cloned().unwrap_or_default();
        let wrong = |(place, fault): (usize, Fault)| ProgramError { at: at(place), fault: Box::new(fault) };
        let wrong_column = |(place, node)| Some((place, unsound(&nodes, node)?));
        if let Some(found) = nodes.iter().enumerate().find_map(wrong_column) {
            return Err(wrong(found));
        }
        let loops = loops::find(&nodes).map_err(wrong)?;
        loops::visits(nodes.len(), &loops).map_err(|fault| wrong((nodes.len() - 1, fault)))?;
        let inputs = self.inputs.into_iter().map(new).collect();
        let kept = self.kept.into_iter().map(new).collect();
        let known = self.known.into_iter().map(new).collect();
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for Output { node, to, source } in self.outputs {
            outputs.push(Output { node: new(node), to, source: sources.keep(source) });
        }
        let mut keeps = Vec::with_capacity(self.keeps.len());
        for keep in self.keeps {
            keeps.push(Keep { node: new(keep.node), source: sources.keep(keep.source), ..keep });
        }
        let last = outputs.iter().map(|output| output.node).chain(keeps.iter().map(|keep| keep.node));
        let branches = Branches::find(&nodes, last, &loops).map_err(|(place, fault)| ProgramError {
            at: sources.new.get(nodes[place].source as usize).cloned().unwrap_or_default(),
            fault: Box::new(fault),
        })?;
        let of = renumbered.iter().zip(&live).map(|(&id, &is_live)| is_live.then_some(id)).collect();
        let program =
            Program { nodes, inputs, kept, known, outputs, keeps, sources: sources.new, loops, branches };
        Ok((program, of))
    }

    /// Adds a node, or its value where all operands are public.
    pub(crate) fn push(&mut self, operation: Operation, operands: &[NodeId]) -> Result<NodeId, ProgramError> {
        let ty = self.infer(&operation, operands)?;
        if ty.secret {
            return self.append(operation, operands.to_vec(), ty);
        }
        let values = operands.iter().map(|&id| (&self.nodes[id.index()].ty, self.raw(id).unwrap_or(&[])));
        let raw = reference::apply(&operation, &values.collect::<Vec<_>>(), &ty);
        self.public(ty.kind, ty.shape, raw)
    }

    /// Adds a node as a file has it: one that the builder would have reckoned at once is no part of a program.
    pub(crate) fn push_read(
        &mut self,
        operation: Operation,
        operands: &[NodeId],
    ) -> Result<Option<NodeId>, ProgramError> {
        let ty = self.infer(&operation, operands)?;
        if ty.secret { self.append(operation, operands.to_vec(), ty).map(Some) } else { Ok(None) }
    }

    /// Adds a constant of raw values.
    pub(crate) fn public(
        &mut self,
        kind: Dtype,
        shape: Vec<usize>,
        raw: Vec<i128>,
    ) -> Result<NodeId, ProgramError> {
        let tight = if kind.is_ranged() { Range::of_values(&raw) } else { None };
        let ty = Type { kind, shape, range: tight.unwrap_or(kind.whole()), secret: false };
        self.append(Operation::Constant(Arc::from(raw)), vec![], ty)
    }

    /// An error at the current line.
    pub(crate) fn fault(&self, fault: Fault) -> ProgramError {
        ProgramError {
            at: self.sources.get(self.here as usize).cloned().unwrap_or_default(),
            fault: Box::new(fault),
        }
    }

    fn infer(&self, operation: &Operation, operands: &[NodeId]) -> Result<Type, ProgramError> {
        let types = operands.iter().map(|&id| self.type_of(id)).collect::<Result<Vec<_>, _>>()?;
        crate::typing::infer(operation, &types).map_err(|fault| self.fault(fault))
    }

    fn append(
        &mut self,
        operation: Operation,
        operands: Vec<NodeId>,
        ty: Type,
    ) -> Result<NodeId, ProgramError> {
        if self.nodes.len() >= MAX_NODES {
            return Err(self.fault(Fault::TooMany { what: "operations", limit: MAX_NODES }));
        }
        self.nodes.push(Node { operation, operands, ty, source: self.here });
        Ok(NodeId::new(self.nodes.len() as u32 - 1))
    }

    fn kind(&self, id: NodeId) -> Result<Dtype, ProgramError> {
        self.type_of(id).map(|ty| ty.kind)
    }

    /// The raw elements of a public node.
    fn raw(&self, id: NodeId) -> Option<&[i128]> {
        match &self.nodes.get(id.index())?.operation {
            Operation::Constant(raw) => Some(raw),
            _ => None,
        }
    }

    fn named(&self, what: &'static str, name: &str) -> Result<(), ProgramError> {
        if name.is_empty() || name.len() > MAX_TEXT {
            return Err(self.fault(Fault::Name { what, name: name.to_owned() }));
        }
        Ok(())
    }

    /// Refuses a dtype that an input or a constant can't have.
    fn declared(&self, kind: Dtype) -> Result<(), ProgramError> {
        match kind {
            Dtype::Fixed { frac } if frac == 0 || frac > MAX_FRACTION => {
                Err(self.fault(Fault::Fraction { frac }))
            }
            Dtype::Modular(modulus) if !modulus.is_valid() => Err(self.fault(Fault::Modulus { modulus })),
            _ => Ok(()),
        }
    }
}

/// Keeps the sources that are used, in the order of their first use.
struct Sources {
    old: Vec<Source>,
    new: Vec<Source>,
    number: HashMap<u32, u32>,
}

impl Sources {
    fn keep(&mut self, old: u32) -> u32 {
        *self.number.entry(old).or_insert_with(|| {
            self.new.push(self.old[old as usize].clone());
            self.new.len() as u32 - 1
        })
    }
}

/// Cuts a text to [`MAX_TEXT`] bytes, between two characters.
fn cut(text: &mut String) {
    if text.len() > MAX_TEXT {
        let end = (0..=MAX_TEXT).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        text.truncate(end);
    }
}
