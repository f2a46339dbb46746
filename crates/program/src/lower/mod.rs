//! From a program to the plan that an engine executes.
//!
//! Every node becomes a *view*: a register and a strided walk over it. So reshapes, slices, transposes and broadcasts
//! are free until an operation needs their elements in a row. Public operands become registers only where an operation
//! can't take them as they are. The plan's builder puts independent operations into one round.
//!
//! | module | lowers |
//! | --- | --- |
//! | `term` | sums, products and logic of operands that may be public |
//! | `numbers` | from numbers to bits and back: a strategy for each way that protocols have |
//! | `guard` | what looks whether numbers are in the ranges that are assumed |
//! | `number` | comparison, truncation, choice |
//! | `rectified` | `max(x, 0)` and a truncation as one |
//! | `rounded` | products with public numbers that aren't integers, quotients |
//! | `tournament` | extremes along an axis |
//! | `conv` | convolutions |
//! | `arrange` | sums over axes, matrix products, joins |
//! | `circuit` | circuits on bit-vectors |
//! | `branch` | arms of branches |
//! | `zeroed` | programs with branches as a circuit whose inactive wires are zero |
//! | `shuffle` | orders that nobody knows |
//! | `sort` | orders by keys |
//! | `repeat` | bodies that are repeated |
//! | `keep` | what the parties keep |
//! | `known` | what all parties know |
//!
//! `weight` chooses between rings and bits where a protocol has both, and `spread` bounds what a plan holds of public values.

mod arrange;
mod branch;
mod circuit;
mod conv;
mod fused;
mod guard;
mod keep;
mod known;
mod lowering;
mod number;
mod numbers;
mod rectified;
mod repeat;
mod rounded;
mod scaling;
mod shuffle;
mod sort;
mod spread;
mod term;
#[cfg(test)]
mod tests;
mod tournament;
mod weight;
mod zeroed;

use crate::capabilities::{Capabilities, Feature, Numbers};
use crate::error::{ProgramError, Source};
use crate::expand::Expanded;
use crate::node::{Node, NodeId};
use crate::operations::{Operation, Rounding};
use crate::plan::{Domain, Form, Layout, Local, Plan, Reg, To};
use crate::program::{Program, Recipient};
use crate::signature::{InputType, OutputType};
use crate::types::{Dtype, Type};
use lowering::{Lowering, View};
use term::Term;
use weight::{is_for_rings, weight};

/// A plan, and what its inputs and outputs mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// What an engine executes.
    pub plan: Plan,
    /// What each of the plan's inputs has to be, in the plan's order, which is the program's.
    pub inputs: Vec<InputType>,
    /// What each of the plan's outputs is, in the plan's order: the program's first.
    pub outputs: Vec<OutputType>,
    sources: Vec<Source>,
    source_of: Vec<u32>,
}

impl Lowered {
    /// The same, where nodes are those of another program that it was made of.
    fn of(self, program: &Program) -> Self {
        let source_of = program.nodes().iter().map(|node| node.source).collect();
        Self { sources: program.sources().to_vec(), source_of, ..self }
    }

    /// The user's line that a node comes from: what [`Op::node`](crate::plan::Op::node) and [`OutputType::node`] name.
    pub fn source(&self, node: u32) -> Option<&Source> {
        self.sources.get(*self.source_of.get(node as usize)? as usize)
    }
}

/// Lowers a program to what a protocol offers.
///
/// Where numbers are bits ([`Numbers::BitsAlone`]) an input has as many as the declared range takes, and its owner can
/// give any pattern of them: of a range that isn't that of whole bits, only the bits are sure. What is computed of
/// numbers outside the range is what circuits make of them, modulo powers of two, and nothing else goes wrong.
///
/// # Errors
/// [`Fault::NotOffered`](crate::Fault::NotOffered) at the line of an operation for which the protocol has no means;
/// [`Fault::TooMany`](crate::Fault::TooMany) at the line with which public values, repeated to the shapes of the secrets that they
/// meet, become too many.
pub fn lower(program: &Program, capabilities: Capabilities) -> Result<Lowered, ProgramError> {
    lowered(program, capabilities, false)
}

/// Lowers a program as [`lower`] does, and reveals every secret node to everybody after the program's own outputs,
/// in the order of nodes, and shuffles nothing. For debug runs on made-up data: nothing stays secret.
///
/// # Errors
/// As for [`lower`].
pub fn lower_for_debug(program: &Program, capabilities: Capabilities) -> Result<Lowered, ProgramError> {
    lowered(program, capabilities, true)
}

/// In the way that the protocol has; of two ways, in that which sends less.
fn lowered(
    program: &Program,
    capabilities: Capabilities,
    reveal_everything: bool,
) -> Result<Lowered, ProgramError> {
    let with_networks = |capabilities: Capabilities| {
        let by_network =
            |sort| !capabilities.sorts() || sort::is_network_cheaper(program, sort, capabilities);
        program.sorts().any(by_network).then(|| program.expanded(by_network)).transpose()
    };
    let networks = with_networks(capabilities)?;
    let run_with = |networks: &Option<Expanded>, capabilities, holds_ranges| match networks {
        None => Lowering { holds_ranges, ..Lowering::new(program, capabilities) }.run(reveal_everything),
        Some(networks) => {
            let lowering = Lowering::new(&networks.program, capabilities);
            let lowered =
                Lowering { holds_ranges, networks: Some(networks), ..lowering }.run(reveal_everything);
            lowered.map(|lowered| lowered.of(program))
        }
    };
    let run = |capabilities, holds_ranges| run_with(&networks, capabilities, holds_ranges);
    let elements = run(capabilities, false).and_then(|lowered| {
        let held = capabilities.holds_ranges && depends_on_ranges(&lowered.plan);
        if held { run(capabilities, true) } else { Ok(lowered) }
    });
    let decided = |lowered: &Lowered| is_for_rings(&lowered.plan, capabilities.proofs.is_some());
    let Some(traffic) = capabilities.or_bits.filter(|_| !elements.as_ref().is_ok_and(decided)) else {
        return elements;
    };
    // The proof of a shuffle of long words of bits costs too much.
    let as_bits = Capabilities { numbers: Numbers::BitsAlone, ..capabilities }.without(Feature::Insertion);
    let bits = with_networks(as_bits).and_then(|networks| run_with(&networks, as_bits, false));
    match (&elements, &bits) {
        (Ok(elements), Ok(bits)) if weight(&elements.plan, traffic) <= weight(&bits.plan, traffic) => {}
        (_, Ok(_)) => return bits,
        _ => {}
    }
    elements
}

/// Whether what comes of a number outside its range depends on how it is split: a shift of its components does. What is kept
/// may be shifted by another plan.
fn depends_on_ranges(plan: &Plan) -> bool {
    let shifts = |step: &Local| matches!(step, Local::ShiftComponents { .. });
    !plan.keeps.is_empty() || plan.levels.iter().any(|level| level.local.iter().any(shifts))
}

impl Lowering<'_> {
    fn run(mut self, reveal_everything: bool) -> Result<Lowered, ProgramError> {
        self.debug = reveal_everything;
        let program = self.program;
        spread::check(program, &self.scalings)?;
        self.find_rectified();
        if self.zeroes_arms() {
            self.zeroed()?;
        } else {
            self.nodes(0..program.nodes().len(), None)?;
        }
        self.leave_arms();
        let mut outputs = Vec::new();
        for output in program.outputs() {
            let to = match &output.to {
                Recipient::All => To::All,
                Recipient::Role(name) => To::One(self.plan.role(name)),
            };
            outputs.push(self.output(output.node, to));
            self.offered()?;
        }
        if !reveal_everything {
            self.guard();
            self.offered()?;
            for keep in program.keeps() {
                self.keep(keep);
                self.offered()?;
            }
        }
        if reveal_everything {
            let all = (0..program.nodes().len() as u32).map(|number| Some(NodeId::new(number)));
            let all: Vec<_> = self.networks.map_or_else(|| all.collect(), |networks| networks.of.clone());
            for (id, number) in all.into_iter().zip(0..) {
                if let Some(id) = id.filter(|id| program.node(*id).ty.secret) {
                    outputs.push(OutputType { node: number, ..self.output(id, To::All) });
                }
            }
        }
        Ok(Lowered {
            plan: self.plan.finish(),
            inputs: program.input_types(),
            outputs,
            sources: program.sources().to_vec(),
            source_of: program.nodes().iter().map(|node| node.source).collect(),
        })
    }

    /// Whether an operation is one on numbers that are bits.
    fn is_binary(&self, node: &Node) -> bool {
        let numbers = |ty: &Type| ty.kind != Dtype::Bool;
        self.capabilities.numbers.are_bits()
            && (numbers(&node.ty) || node.operands.iter().any(|&id| numbers(self.ty(id))))
    }

    /// What its owner gives.
    fn input(&mut self, id: NodeId, owner: u32, ty: &Type) -> Reg {
        let reg = self.fresh(self.domain(id), ty.len());
        match self.form(id) {
            form @ Form::Signed => self.plan.input_in(owner, reg, form, ty.range),
            form => self.plan.input_as(owner, reg, form),
        }
        if self.holds_ranges { numbers::within::held(self, reg, ty.range) } else { reg }
    }

    /// A value that is kept.
    fn kept(&mut self, id: NodeId, name: &str, domain: Domain, len: usize) -> Reg {
        let reg = self.fresh(domain, len);
        self.plan.kept(name, reg, self.form(id));
        reg
    }

    /// The plan's steps for one secret node, and where its elements are then.
    fn node(&mut self, id: NodeId, node: &Node) -> View {
        let Node { operation, operands, ty, .. } = node;
        let shape = &ty.shape;
        let domain = self.domain(id);
        let reg = match operation {
            Operation::Input { owner, .. } => {
                let owner = self.plan.role(owner);
                self.input(id, owner, ty)
            }
            Operation::Kept { name } => self.kept(id, name, domain, ty.len()),
            Operation::Known { name } => self.public_input(id, name, domain, ty.len(), self.form(id)),
            Operation::Constant(_) => unreachable!("a constant is public"),
            Operation::State { .. }
            | Operation::Step
            | Operation::Repeat { .. }
            | Operation::After
            | Operation::Shuffle
            | Operation::ShuffleToo
            | Operation::Sort
            | Operation::SortToo
            | Operation::Within { .. } => unreachable!("this is taken from elsewhere"),
            Operation::Assume { .. } => self.assumed(id, operands[0], ty),
            Operation::Mul | Operation::And if let Some(product) = self.by_known(operands, shape, domain) => {
                product
            }
            Operation::Add | Operation::Sub | Operation::Mul => {
                let (a, b) = (self.term(operands[0], shape, domain), self.term(operands[1], shape, domain));
                let result = match operation {
                    Operation::Add => self.add(&a, &b),
                    Operation::Sub => self.sub(&a, &b),
                    _ => self.mul(&a, &b),
                };
                self.register(&result)
            }
            Operation::Neg => {
                let a = self.term(operands[0], shape, domain);
                let negative = self.neg(&a);
                self.register(&negative)
            }
            Operation::And | Operation::Or | Operation::Xor => {
                let (a, b) = (self.term(operands[0], shape, domain), self.term(operands[1], shape, domain));
                let result = match operation {
                    Operation::And => self.and(&a, &b),
                    Operation::Or => self.or(&a, &b),
                    _ => self.xor(&a, &b),
                };
                self.register(&result)
            }
            Operation::Not => {
                let a = self.whole(operands[0]);
                self.not(a)
            }
            Operation::Less | Operation::Equal | Operation::Pick(_) => self.compared(operation, operands, ty),
            Operation::Where => self.choice(operands, ty, domain),
            Operation::Abs => self.abs(operands[0]),
            Operation::Relu => self.relu(operands[0]),
            Operation::Clip => self.clip(operands, ty),
            Operation::FromBool { .. } => {
                let bit = self.whole(operands[0]);
                self.inject(bit, domain)
            }
            Operation::Scale { by } => {
                let a = self.term(operands[0], shape, domain);
                let factor = Term::splat(1 << by, domain, ty.len());
                let scaled = self.mul(&a, &factor);
                self.register(&scaled)
            }
            Operation::Truncate { by, rounding } => match self.rectified.operand(id) {
                Some(x) => self.rectify(id, x, *by, *rounding),
                None => self.truncate(operands[0], *by, *rounding),
            },
            Operation::ShiftRight { by } => self.truncate(operands[0], *by, Rounding::Floor),
            Operation::Extremum { which, axis, .. } => self.extremum(operands[0], *which, *axis),
            Operation::ArgExtremum { which, axis, .. } => {
                self.arg_extremum(operands[0], *which, *axis, domain)
            }
            Operation::MatMul => self.matmul(operands, domain),
            Operation::Conv => return self.conv(operands, domain),
            Operation::WideProduct { matrix, by } => self.wide_product(operands, *matrix, *by, ty, domain),
            Operation::Times(_) | Operation::Over { .. } | Operation::Weigh { .. } => {
                self.rounded(id, operation, operands[0], ty)
            }
            Operation::Ratio { .. } | Operation::Root { .. } | Operation::Piecewise(_) => {
                self.by_circuit(operation, operands, ty, domain)
            }
            Operation::Circuit(circuit) => self.circuit(circuit, operands, ty),
            Operation::Divide | Operation::Remainder => self.divided(id, operation, operands, ty, domain),
            Operation::Sum { axes, .. } => return self.sum(operands[0], axes, ty),
            Operation::Concatenate { axis } => return self.concatenate(operands, *axis, ty),
            Operation::Reshape { shape } => return self.reshape(operands[0], shape),
            Operation::Transpose { .. }
            | Operation::Slice { .. }
            | Operation::BroadcastTo { .. }
            | Operation::Windows { .. }
            | Operation::Raw { .. } => {
                return self.walk(operands[0], |layout| operation.entry().walk(layout));
            }
        };
        View { reg, layout: Layout::whole(shape) }
    }

    fn output(&mut self, id: NodeId, to: To) -> OutputType {
        let Type { kind, shape, range, secret } = self.ty(id).clone();
        self.begin(id);
        if self.capabilities.numbers.are_bits() && kind != Dtype::Bool {
            self.output_bits(id, to);
            return OutputType { to, kind, shape, range, width: None, node: self.number_of(id) };
        }
        let reg = if secret {
            self.whole(id)
        } else {
            let public = self.term(id, &shape, self.domain(id));
            self.register(&public)
        };
        self.plan.output_as(reg, to, self.form(id));
        let width = match self.plan.shape(reg).domain {
            Domain::Ring(width) => Some(width),
            Domain::Bits | Domain::Modular(_) => None,
        };
        OutputType { to, kind, shape, range, width, node: self.number_of(id) }
    }
}
