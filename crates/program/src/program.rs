//! A program: nodes in the order of their making, inputs that participants give, outputs that participants learn.
//!
//! A program is closed and well typed: it is made by [`crate::Builder`] alone, also when it is read from bytes.

use std::fmt;

use tacit_circuit::Circuit;

use crate::error::Source;
use crate::plan::{To, Width};
use crate::real::Reals;
use crate::shape::Span;
use crate::types::{Dtype, Range, Type};

/// A node's number in its program or its builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// The node of this number; a builder refuses one that isn't there.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Its place among the nodes.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a truncation or a quotient rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Down.
    Floor,
    /// To the nearest; ties go up.
    Nearest,
}

/// Which end of an axis is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extreme {
    /// The least element.
    Min,
    /// The largest element.
    Max,
}

/// What a node does with its operands. Elementwise operations broadcast as `NumPy`'s do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A secret that a participant gives.
    Input {
        /// The participant.
        owner: String,
        /// What the owner calls it.
        name: String,
    },
    /// Raw values that everybody knows.
    Constant(std::sync::Arc<[i128]>),
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `-a`.
    Neg,
    /// `a * b`; the raw product, whose fraction bits are those of both together.
    Mul,
    /// `a @ b`; raw as in `Mul`.
    MatMul,
    /// `a * numbers`, elementwise, of fixed point: the nearest multiple of the step of `a`, ties up.
    Times(Reals),
    /// `a / numbers`, elementwise: of fixed point the nearest multiple of the step of `a`, ties up; of integers rounded
    /// down.
    Over {
        /// The divisors, of which none is 0.
        divisors: Reals,
        /// How quotients are rounded.
        rounding: Rounding,
    },
    /// `a @ matrix`, of fixed point: of each sum the nearest multiple of the step of `a`, ties up.
    Weigh {
        /// The matrix, or a vector.
        matrix: Reals,
        /// Whether it stands on the left: `matrix @ a`.
        left: bool,
    },
    /// The sum over some axes.
    Sum {
        /// The axes, ascending.
        axes: Vec<usize>,
        /// Whether they stay, with length 1.
        keepdims: bool,
    },
    /// `a < b`.
    Less,
    /// `a == b`.
    Equal,
    /// `a & b`, of bools.
    And,
    /// `a | b`, of bools.
    Or,
    /// `a ^ b`, of bools.
    Xor,
    /// `~a`, of bools.
    Not,
    /// `a if c else b`, elementwise, for operands c, a, b.
    Where,
    /// The smaller of `a` and `b`, or the larger.
    Pick(Extreme),
    /// `a`, but at least `low` and at most `high`, for operands a, low, high, of which no `low` is above a `high`.
    Clip,
    /// The least or the largest along an axis.
    Extremum {
        /// Which.
        which: Extreme,
        /// The axis.
        axis: usize,
        /// Whether it stays, with length 1.
        keepdims: bool,
    },
    /// Where along an axis the least or the largest stands, the first time that it does.
    ArgExtremum {
        /// Which.
        which: Extreme,
        /// The axis.
        axis: usize,
        /// Whether it stays, with length 1.
        keepdims: bool,
    },
    /// `|a|`.
    Abs,
    /// `max(a, 0)`.
    Relu,
    /// Bools as the numbers 0 and 1: int, or modulo 2^k where a width is given.
    FromBool {
        /// The k.
        wrapping: Option<Width>,
    },
    /// Adds fraction bits; the number stays the same.
    Scale {
        /// How many.
        by: u8,
    },
    /// Takes fraction bits away: the raw value is divided by 2^by, exactly rounded. None left makes an integer.
    Truncate {
        /// How many.
        by: u8,
        /// How the quotient is rounded.
        rounding: Rounding,
    },
    /// Integers divided by 2^by, rounded down.
    ShiftRight {
        /// The exponent.
        by: u8,
    },
    /// The same elements in another shape.
    Reshape {
        /// The shape.
        shape: Vec<usize>,
    },
    /// Axis `i` of the result is axis `axes[i]` of the operand.
    Transpose {
        /// The order of axes.
        axes: Vec<usize>,
    },
    /// Some places of every axis.
    Slice {
        /// Which, axis by axis.
        spans: Vec<Span>,
    },
    /// Repeats the operand along new axes and those of length 1.
    BroadcastTo {
        /// The shape.
        shape: Vec<usize>,
    },
    /// Joins the operands along an axis.
    Concatenate {
        /// The axis.
        axis: usize,
    },
    /// A Boolean circuit. Operands are its inputs, bools whose last axis is the bits; their other axes broadcast and
    /// count instances. The result's last axis is the bits of all outputs, in order.
    Circuit(std::sync::Arc<Circuit>),
}

impl Operation {
    /// What messages call it: the way it is written in Python.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Input { .. } => "input",
            Self::Constant(_) => "constant",
            Self::Add => "+",
            Self::Sub | Self::Neg => "-",
            Self::Mul | Self::Times(_) => "*",
            Self::MatMul | Self::Weigh { .. } => "@",
            Self::Over { rounding: Rounding::Nearest, .. } => "/",
            Self::Over { rounding: Rounding::Floor, .. } => "//",
            Self::Sum { .. } => "sum",
            Self::Less => "<",
            Self::Equal => "==",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::Not => "~",
            Self::Where => "where",
            Self::Pick(Extreme::Min) => "minimum",
            Self::Pick(Extreme::Max) => "maximum",
            Self::Clip => "clip",
            Self::Extremum { which: Extreme::Min, .. } => "min",
            Self::Extremum { which: Extreme::Max, .. } => "max",
            Self::ArgExtremum { which: Extreme::Min, .. } => "argmin",
            Self::ArgExtremum { which: Extreme::Max, .. } => "argmax",
            Self::Abs => "abs",
            Self::Relu => "relu",
            Self::FromBool { .. } | Self::Scale { .. } => "astype",
            Self::Truncate { .. } => "rescale",
            Self::ShiftRight { .. } => ">>",
            Self::Reshape { .. } => "reshape",
            Self::Transpose { .. } => "transpose",
            Self::Slice { .. } => "slice",
            Self::BroadcastTo { .. } => "broadcast_to",
            Self::Concatenate { .. } => "concatenate",
            Self::Circuit(_) => "circuit",
        }
    }
}

/// A value of a program and how it comes about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What makes it.
    pub operation: Operation,
    /// From which values, all of them earlier nodes.
    pub operands: Vec<NodeId>,
    /// What it is.
    pub ty: Type,
    /// Index in [`Program::sources`].
    pub(crate) source: u32,
}

/// Who learns an output.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Recipient {
    /// Everybody.
    All,
    /// One participant.
    Role(String),
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "all",
            Self::Role(name) => name,
        })
    }
}

/// A value that is revealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Which.
    pub node: NodeId,
    /// To whom.
    pub to: Recipient,
    /// Index in [`Program::sources`].
    pub(crate) source: u32,
}

/// What an owner has to give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputType {
    /// The participant that gives it.
    pub owner: String,
    /// What the owner calls it.
    pub name: String,
    /// What its elements are.
    pub kind: Dtype,
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// What raw elements may be.
    pub range: Range,
}

/// What a recipient gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputType {
    /// Who learns it, by the plan's participants.
    pub to: To,
    /// What its elements are.
    pub kind: Dtype,
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// What raw elements can be.
    pub range: Range,
    /// The ring that it comes out of, if it is of machine words; `None` for bools, for other moduli, and where numbers
    /// are bits ([`crate::plan::Form`]).
    pub width: Option<Width>,
    /// The node that it is.
    pub node: u32,
}

/// A typed tensor program. Made by [`crate::Builder::finish`] or [`Program::from_bytes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub(crate) nodes: Vec<Node>,
    pub(crate) inputs: Vec<NodeId>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) sources: Vec<Source>,
}

impl Program {
    /// All nodes; operands come before what is made of them, and each is an input or reaches an output.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A node.
    ///
    /// # Panics
    /// If the number is not one of this program's.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The inputs, in the order in which they were declared.
    pub fn inputs(&self) -> &[NodeId] {
        &self.inputs
    }

    /// What each input has to be.
    pub fn input_types(&self) -> Vec<InputType> {
        let declared = |id: &NodeId| {
            let Node { operation, ty, .. } = self.node(*id);
            let Operation::Input { owner, name } = operation else {
                unreachable!("an input is made by an input operation");
            };
            InputType {
                owner: owner.clone(),
                name: name.clone(),
                kind: ty.kind,
                shape: ty.shape.clone(),
                range: ty.range,
            }
        };
        self.inputs.iter().map(declared).collect()
    }

    /// The outputs, in the order in which they were revealed.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Lines of the user's source.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The line that a node comes from.
    pub fn source(&self, id: NodeId) -> &Source {
        &self.sources[self.node(id).source as usize]
    }

    /// The line that reveals an output.
    pub fn output_source(&self, output: &Output) -> &Source {
        &self.sources[output.source as usize]
    }
}
