//! What is wrong with a program, at which line of the user's, and what helps.

use std::fmt;

use thiserror::Error;

use crate::capabilities::Field;
use crate::modulus::Modulus;
use crate::types::{Dims, Dtype, MAX_ELEMENTS, MAX_FRACTION, MAX_RANK, Range};
use crate::value::ValueError;

/// Where in the user's source a node comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The file's name; empty if there is none.
    pub file: String,
    /// The line, from 1; 0 if it isn't known.
    pub line: u32,
    /// The expression, or the line's text.
    pub text: String,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.is_empty(), self.line) {
            (true, 0) => write!(f, "{}", self.text),
            (true, line) => write!(f, "line {line}: {}", self.text),
            (false, line) => write!(f, "{}:{line}: {}", self.file, self.text),
        }
    }
}

/// A program that can't be built.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{at}{}{fault}{}", separator(at), hint_line(fault))]
pub struct ProgramError {
    /// The user's line.
    pub at: Source,
    /// What is wrong with it.
    pub fault: Box<Fault>,
}

impl ProgramError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        self.fault.hint()
    }
}

fn separator(at: &Source) -> &'static str {
    if *at == Source::default() { "" } else { "\n  " }
}

fn hint_line(fault: &Fault) -> String {
    fault.hint().map(|hint| format!("\n  hint: {hint}")).unwrap_or_default()
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// A result, or what it is reckoned from, may need more than 64 bits.
    #[error("the result of `{operation}` may be anything from {} to {}, and {} holds at most {}",
        Real(range.lo(), *frac), Real(range.hi(), *frac), Dtype::with_frac(*frac), Real(i64::MAX.into(), *frac))]
    Overflow {
        /// The operation.
        operation: &'static str,
        /// The raw values that it may have.
        range: Range,
        /// Their fraction bits.
        frac: u8,
    },
    /// What is to be truncated takes more bits than there is room for.
    #[error("what `{operation}` rounds may be anything from {} to {}; to be rounded exactly it has to stay below {}",
        Real(range.lo(), *frac), Real(range.hi(), *frac), Real(1 << bits, *frac))]
    TruncationGuard {
        /// The operation.
        operation: &'static str,
        /// The raw values that it may have.
        range: Range,
        /// Their fraction bits.
        frac: u8,
        /// The most bits of a raw value, without its sign.
        bits: u32,
    },
    /// Shapes that don't go together.
    #[error("`{operation}`: shapes {} and {} don't go together", Dims(a), Dims(b))]
    Shapes {
        /// The operation.
        operation: &'static str,
        /// The left shape.
        a: Vec<usize>,
        /// The right shape.
        b: Vec<usize>,
    },
    /// Dtypes that don't go together.
    #[error("`{operation}` is not defined between {a} and {b}")]
    Kinds {
        /// The operation.
        operation: &'static str,
        /// The left dtype.
        a: Dtype,
        /// The right dtype.
        b: Dtype,
    },
    /// A dtype that the operation isn't defined for.
    #[error("`{operation}` is not defined for {kind}")]
    NotDefined {
        /// The operation.
        operation: &'static str,
        /// The dtype.
        kind: Dtype,
    },
    /// An axis that isn't there.
    #[error("there is no axis {axis} in a value of {rank} axes")]
    Axis {
        /// As given.
        axis: i64,
        /// Axes of the value.
        rank: usize,
    },
    /// An axis given more than once.
    #[error("axis {axis} is given more than once")]
    AxisTwice {
        /// The axis.
        axis: usize,
    },
    /// A transpose whose axes aren't a permutation.
    #[error("{axes:?} is not an order of {rank} axes")]
    Permutation {
        /// As given.
        axes: Vec<usize>,
        /// Axes of the value.
        rank: usize,
    },
    /// Too many axes.
    #[error("a value of {rank} axes; at most {MAX_RANK} are supported")]
    Rank {
        /// How many.
        rank: usize,
    },
    /// Too many elements.
    #[error("a value of shape {} has more than {MAX_ELEMENTS} elements", Dims(shape))]
    Elements {
        /// The shape.
        shape: Vec<usize>,
    },
    /// No elements.
    #[error("a value of shape {} has no elements", Dims(shape))]
    Empty {
        /// The shape.
        shape: Vec<usize>,
    },
    /// A reshape to another number of elements.
    #[error("a value of shape {} can't be reshaped to {to:?}", Dims(from))]
    Reshape {
        /// The shape.
        from: Vec<usize>,
        /// What was asked for.
        to: Vec<i64>,
    },
    /// A window that is longer than its axis or has a length of 0, or not a length for each axis.
    #[error("windows of shape {} don't fit into a value of shape {}", Dims(lengths), Dims(shape))]
    Windows {
        /// The lengths of the window.
        lengths: Vec<usize>,
        /// The value's shape.
        shape: Vec<usize>,
    },
    /// Something that is to go in the order of a shuffle, and isn't one of its columns.
    #[error("only what is there before a shuffle can be shuffled with it")]
    NoShuffle,
    /// Something that is to go in the order of a sort, and isn't one of its columns.
    #[error("only what is there before a sort can be sorted with it")]
    NoSort,
    /// An integer index outside its axis.
    #[error("index {index} is outside axis {axis} of length {length}")]
    Index {
        /// As given.
        index: i64,
        /// The axis.
        axis: usize,
        /// Its length.
        length: usize,
    },
    /// A slice of step 0.
    #[error("a slice's step can't be 0")]
    StepZero,
    /// More indices than axes, or more than one ellipsis.
    #[error("too many indices for a value of {rank} axes")]
    TooManyIndices {
        /// Axes of the value.
        rank: usize,
    },
    /// Nothing to join.
    #[error("`{operation}` needs at least one value")]
    NoOperands {
        /// The operation.
        operation: &'static str,
    },
    /// A wrong number of operands.
    #[error("`{operation}` can't take {given} operands")]
    Arity {
        /// The operation.
        operation: &'static str,
        /// How many it was given.
        given: usize,
    },
    /// A node that isn't there.
    #[error("there is no value number {node} in this program")]
    UnknownNode {
        /// As given.
        node: u32,
    },
    /// A declared range that is empty or that the dtype can't hold.
    #[error("the range {lo} to {hi} (raw values) is not one that {kind} can have")]
    Range {
        /// Its low end.
        lo: i128,
        /// Its high end.
        hi: i128,
        /// The dtype.
        kind: Dtype,
    },
    /// A modulus that isn't supported.
    #[error("integers modulo {modulus}; the modulus can be 2^1 to 2^128, 2^61-1 or 2^128-159")]
    Modulus {
        /// As given.
        modulus: Modulus,
    },
    /// Fraction bits beyond what is supported.
    #[error(
        "{frac} fraction bits; an input or a constant has 1 to {MAX_FRACTION}, and no value more than 64"
    )]
    Fraction {
        /// As given.
        frac: u8,
    },
    /// A shift by nothing, by too much, or by more than the fraction bits that are there.
    #[error("`{operation}` by {by} bits is not possible for {kind}")]
    Shift {
        /// The operation.
        operation: &'static str,
        /// As given.
        by: u8,
        /// The dtype.
        kind: Dtype,
    },
    /// A public number that rounds to 0.
    #[error("{value:e} would become 0 here, to the nearest multiple of 2^-{frac}")]
    Vanishes {
        /// The number.
        value: f64,
        /// The fraction bits that it gets, or a product with it.
        frac: u8,
    },
    /// Parts of a repeated body that don't belong together.
    #[error("`repeat`: {what}")]
    Repeat {
        /// What is wrong.
        what: &'static str,
    },
    /// Several instances can't be one program.
    #[error("several instances of it can't be one program: {what}")]
    Instances {
        /// Why.
        what: &'static str,
    },
    /// An arm of a branch that isn't closed, or has what can't be in an arm.
    #[error("`cond`: {what}")]
    Branch {
        /// What is wrong.
        what: &'static str,
    },
    /// A state whose range doesn't hold after a step.
    #[error("from {} to {} before a step of `repeat`, the state may be anything from {} to {} after it",
        Real(before.lo(), *frac), Real(before.hi(), *frac), Real(after.lo(), *frac), Real(after.hi(), *frac))]
    Grows {
        /// Raw values before a step.
        before: Range,
        /// Raw values after it.
        after: Range,
        /// Their fraction bits.
        frac: u8,
    },
    /// A quotient by 0, or by what may be 0.
    #[error("division by 0, or by what may be 0")]
    DivisionByZero,
    /// Bounds of a clip of which a low one is above a high one.
    #[error("the low bounds reach up to {}, above the high ones, from {} on", low.hi(), high.lo())]
    CrossedBounds {
        /// Raw values of the low bounds.
        low: Range,
        /// Raw values of the high bounds.
        high: Range,
    },
    /// A bound of a clip that isn't public.
    #[error("the bounds of `clip` have to be public constants")]
    SecretBounds,
    /// A circuit that computes nothing from something.
    #[error("a circuit in a program needs inputs of at least one bit each and an output")]
    EmptyCircuit,
    /// A circuit with more ANDs side by side than messages under way should have.
    #[error("the circuit has {ands} ANDs in one layer; at most {limit} can be evaluated")]
    CircuitWidth {
        /// Of the widest layer.
        ands: usize,
        /// The most.
        limit: usize,
    },
    /// A circuit with so many instances and layers that its messages can't be told apart.
    #[error(
        "{instances} instances of a circuit of depth {depth} have too many messages; take fewer instances at a time"
    )]
    CircuitMessages {
        /// Instances.
        instances: usize,
        /// Layers.
        depth: u32,
    },
    /// A circuit with another number of inputs.
    #[error("the circuit has {expected} inputs; {given} were given")]
    CircuitInputs {
        /// What it has.
        expected: usize,
        /// What was given.
        given: usize,
    },
    /// A circuit's input of another width.
    #[error(
        "input {input} of the circuit takes {bits} bits along the last axis; the value's shape is {}",
        Dims(shape)
    )]
    CircuitInput {
        /// Which input, from 0.
        input: usize,
        /// Its bits.
        bits: u32,
        /// The shape of what was given.
        shape: Vec<usize>,
    },
    /// A participant or an input whose name is empty or too long.
    #[error("{name:?} is not a name for {what}")]
    Name {
        /// What it should name.
        what: &'static str,
        /// As given.
        name: String,
    },
    /// Two inputs of one owner under one name.
    #[error("{owner} already has an input called {name:?}")]
    InputTwice {
        /// The owner.
        owner: String,
        /// The name.
        name: String,
    },
    /// A name under which the program already reads or keeps a value.
    #[error("the program already {does} a value called {name:?}")]
    KeptTwice {
        /// `reads` or `keeps`.
        does: &'static str,
        /// The name.
        name: String,
    },
    /// A constant that its dtype can't hold.
    #[error("the constant can't be used here: {0}")]
    Constant(ValueError),
    /// A program without outputs.
    #[error("the program reveals and keeps nothing, so running it would tell nobody anything")]
    NothingRevealed,
    /// A program beyond the size that is supported.
    #[error("the program has more than {limit} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The most that is supported.
        limit: usize,
    },
    /// An operation that the protocol has no means for.
    #[error("the protocol doesn't offer what `{operation}` needs: {missing}")]
    NotOffered {
        /// The operation.
        operation: &'static str,
        /// The missing means.
        missing: &'static str,
    },
    /// A product of bits that takes more ANDs than the protocol makes for one.
    #[error(
        "`{operation}` takes {ands} ANDs for partial products alone; the protocol takes up to {limit} for one product"
    )]
    TooManyAnds {
        /// The operation.
        operation: &'static str,
        /// What its partial products take.
        ands: u64,
        /// The most that the protocol takes.
        limit: u64,
    },
    /// A number that a field has no room to mask.
    #[error("`{operation}` has to mask a number of {bits} bits; modulo {field} there is room for {most}")]
    NoRoomForMask {
        /// The operation.
        operation: &'static str,
        /// Bits of the number.
        bits: u32,
        /// The field.
        field: Field,
        /// The most bits that a number may have.
        most: u32,
    },
}

impl Fault {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Overflow { .. } => {
                "declare a narrower range=(low, high) for the inputs it depends on, bound what grows on the way with np.clip(x, low, high), or use modular integers"
            }
            Self::TruncationGuard { operation: "*" | "@", bits: 62, .. } => {
                "declare a narrower range=(low, high) for the inputs it depends on, or fewer fraction bits, or choose a protocol that rounds longer products; the cost command lists what each can run"
            }
            Self::TruncationGuard { .. } => {
                "declare a narrower range=(low, high) for the inputs it depends on, or fewer fraction bits"
            }
            Self::Kinds { a: Dtype::Modular(_), .. } | Self::Kinds { b: Dtype::Modular(_), .. } => {
                "modular integers go together only with those of the same modulus, public integers, and, modulo 2^8, 2^16, 2^32 and 2^64, bools"
            }
            Self::Kinds { .. } => "convert one of them first, with astype",
            Self::NotDefined {
                operation: "<" | "max" | "argmax" | "abs" | "relu",
                kind: Dtype::Modular(_),
            } => "modular integers have no order; declare the input as int with a range to compare it",
            Self::NotDefined { operation: "==" | "where", kind: Dtype::Modular(_) } => {
                "only integers modulo 2^8, 2^16, 2^32 and 2^64 can be compared for equality or chosen by bools; others have sums and products alone"
            }
            Self::NotDefined { operation: "&" | "|" | "^" | "~", .. } => {
                "these are defined for bools; a comparison such as x != 0 makes one"
            }
            Self::Grows { .. } => {
                "end the body with tacit.clip(state, low, high), or say what you know: tacit.assume(state, low, high)"
            }
            Self::DivisionByZero => {
                "declare the divisor's range=(low, high) without 0, or raise it, with tacit.maximum(divisor, 1)"
            }
            Self::Vanishes { .. } => "scale the computation, or give the input more fraction bits",
            Self::Elements { .. } => "work on the rows in several programs",
            Self::Empty { .. } => "leave out the slice or the input that is empty",
            Self::NothingRevealed => "return tacit.reveal(x, to=...) for what somebody is to learn",
            Self::KeptTwice { .. } => "give each value a name of its own",
            Self::InputTwice { .. } => "give each input of an owner a name of its own",
            Self::NoRoomForMask { field: Field::Fp61, .. } => {
                "declare narrower ranges for the inputs it depends on, or choose the field modulo 2^128-159"
            }
            Self::NoRoomForMask { .. } => "declare narrower ranges for the inputs it depends on",
            Self::TooManyAnds { .. } => {
                "declare narrower ranges, work on the rows in several programs, or choose a protocol with arithmetic"
            }
            Self::NotOffered { .. } => {
                "choose a protocol that offers it; the cost command lists what each can run"
            }
            _ => return None,
        })
    }
}

/// A raw value as the user sees it.
struct Real(i128, u8);

impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1 == 0 {
            write!(f, "{}", self.0)
        } else {
            write!(f, "{}", self.0 as f64 / (1u128 << self.1) as f64)
        }
    }
}
