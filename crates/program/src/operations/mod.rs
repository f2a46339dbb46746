//! The table of operations: what each is called, written, typed, and what it means.
//!
//! An operation is a variant of [`Operation`], a line in [`Operation::entry`] and in [`read`], and an [`Entry`], which is
//! all that typing, canonical bytes, rings, the reference and the shadow know of it. Only lowering knows more.

mod arithmetic;
mod arrange;
mod branch;
mod check;
mod choose;
mod circuit;
mod conv;
mod convert;
mod entry;
mod functions;
pub(crate) mod parameters;
mod repeat;
mod rounded;
mod shuffle;
mod sort;
mod tensor;
#[cfg(test)]
mod tests;
mod wide;

use std::sync::Arc;

use tacit_circuit::Circuit;

use crate::codec::{DecodeError, Reader};
use crate::domain::Width;
use crate::piecewise::{Pieces, Piecewise};
use crate::real::Reals;
use crate::shape::Span;
use crate::types::Range;
pub(crate) use conv::Flat as FlatConv;
pub(crate) use entry::Entry;
pub use functions::RATIO_BITS;
pub use parameters::{Extreme, Rounding};
pub(crate) use tensor::Tensor;
pub(crate) use wide::{exact as exact_product, is_wide};

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
    Constant(Arc<[i128]>),
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
    /// Inner products of the windows of `a`, `(groups, places.., window..)`, with the filters of `b`, `(groups, window..,
    /// outputs)`; raw as in `Mul`. With `Windows` before it, a convolution.
    Conv,
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
    /// `a * b` or `a @ b`, of fixed point, whose exact product no value of 64 bits holds, or no truncation in rings takes: with
    /// fewer fraction bits than both together, to the nearest, ties up.
    WideProduct {
        /// Whether it is a product of matrices or vectors.
        matrix: bool,
        /// How many fraction bits go.
        by: u8,
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
    /// What a window of these lengths shows, at each place where it fits: the places in the window are new last axes.
    Windows {
        /// Its lengths.
        lengths: Vec<usize>,
        /// The axis of each.
        axes: Vec<usize>,
    },
    /// Joins the operands along an axis.
    Concatenate {
        /// The axis.
        axis: usize,
    },
    /// `a // b`, of integers: rounded down.
    Divide,
    /// `a % b`, of integers: what `a // b` leaves, of the sign of `b`.
    Remainder,
    /// A value that changes from step to step of a body that is repeated: at first the operand. The first one begins the
    /// body.
    State {
        /// What raw elements can be in any step.
        range: Range,
    },
    /// A step's slice of the operand along its first axis.
    Step,
    /// Ends a body that is repeated. Operands are its states, and as many results: what each state is in the next step.
    Repeat {
        /// How many steps there are.
        times: u32,
    },
    /// A result of a body after its last step, for operands the end of the body and the result.
    After,
    /// `a`, of which the author knows that raw elements are in a range.
    Assume {
        /// The range.
        range: Range,
        /// Whether a run looks, and ends where it doesn't hold; else nothing checks it but debug runs.
        watched: bool,
    },
    /// The operand's blocks along its first axis in a uniformly random order that nobody knows.
    Shuffle,
    /// The second operand's blocks along its first axis in the same order as a shuffle's, which is the first operand.
    ShuffleToo,
    /// The elements of each row of a matrix in ascending order.
    Sort,
    /// The blocks of the third operand, one for each element of a matrix, in the order of a sort of it, which is the
    /// first operand; the matrix is the second. Equal elements keep their order.
    SortToo,
    /// The second operand, in an arm of the branch by the first, a single bool ([`crate::Builder::if_set`]).
    Within {
        /// Whether the arm is taken where the condition is set.
        set: bool,
    },
    /// What the parties keep from an earlier run.
    Kept {
        /// What the program calls it. Each run says which kept value it is.
        name: String,
    },
    /// What all parties hold, and each run says.
    Known {
        /// What the program calls it.
        name: String,
    },
    /// The number with the same raw value and more fraction bits, or fewer: the number is divided by 2^by.
    Raw {
        /// How many more.
        by: i8,
    },
    /// `a 2^by / b`, of integers: to the nearest, ties up. Beyond `2^bits` it is the last number before, and a `b` of 0 counts as
    /// 1.
    Ratio {
        /// The exponent.
        by: u8,
        /// Bits of a quotient, at most.
        bits: u8,
    },
    /// The square root of `a 2^by`, of integers, to the nearest; 0 of numbers below 0.
    Root {
        /// The exponent.
        by: u8,
    },
    /// A function of integers by pieces.
    Piecewise(Arc<Piecewise>),
    /// A Boolean circuit. Operands are its inputs, bools whose last axis is the bits; their other axes broadcast and
    /// count instances. The result's last axis is the bits of all outputs, in order.
    Circuit(Arc<Circuit>),
}

impl Operation {
    /// What messages call it: the way it is written in Python.
    pub fn name(&self) -> &'static str {
        self.entry().name
    }

    /// What it is.
    pub(crate) fn entry(&self) -> Entry<'_> {
        match self {
            Self::Input { .. } => declared("input", 0),
            Self::Constant(_) => Entry::new("constant", 1, Some(0)),
            Self::Add => arithmetic::add(),
            Self::Sub => arithmetic::sub(),
            Self::Neg => arithmetic::neg(),
            Self::Mul => arithmetic::mul(),
            Self::MatMul => arithmetic::matmul(),
            Self::Conv => conv::conv(),
            Self::Times(numbers) => rounded::times(numbers),
            Self::Over { divisors, rounding } => rounded::over(divisors, *rounding),
            Self::Weigh { matrix, left } => rounded::weigh(matrix, *left),
            Self::WideProduct { matrix, by } => wide::product(*matrix, *by),
            Self::Sum { axes, keepdims } => arithmetic::sum(axes, *keepdims),
            Self::Less => choose::less(),
            Self::Equal => choose::equal(),
            Self::And => choose::and(),
            Self::Or => choose::or(),
            Self::Xor => choose::xor(),
            Self::Not => choose::not(),
            Self::Where => choose::select(),
            Self::Pick(which) => choose::pick(*which),
            Self::Clip => choose::clip(),
            Self::Extremum { which, axis, keepdims } => choose::extremum(*which, axis, *keepdims),
            Self::ArgExtremum { which, axis, keepdims } => choose::arg_extremum(*which, axis, *keepdims),
            Self::Abs => choose::abs(),
            Self::Relu => choose::relu(),
            Self::FromBool { wrapping } => convert::from_bool(*wrapping),
            Self::Scale { by } => convert::scale(*by),
            Self::Truncate { by, rounding } => convert::truncate(*by, *rounding),
            Self::ShiftRight { by } => convert::shift_right(*by),
            Self::Reshape { shape } => arrange::reshape(shape),
            Self::Transpose { axes } => arrange::transpose(axes),
            Self::Slice { spans } => arrange::slice(spans),
            Self::BroadcastTo { shape } => arrange::broadcast_to(shape),
            Self::Windows { lengths, axes } => arrange::windows(lengths, axes),
            Self::Concatenate { axis } => arrange::concatenate(*axis),
            Self::Divide => arithmetic::divide(),
            Self::Remainder => arithmetic::remainder(),
            Self::State { range } => repeat::state(*range),
            Self::Step => repeat::step(),
            Self::Repeat { times } => repeat::repeat(*times),
            Self::After => repeat::after(),
            Self::Assume { range, watched } => repeat::assume(*range, *watched),
            Self::Shuffle => shuffle::shuffle(),
            Self::ShuffleToo => shuffle::shuffle_too(),
            Self::Sort => sort::sort(),
            Self::SortToo => sort::sort_too(),
            Self::Within { set } => branch::within(*set),
            Self::Kept { .. } => declared("kept", KEPT),
            Self::Known { .. } => declared("public", KNOWN),
            Self::Raw { by } => functions::raw(*by),
            Self::Ratio { by, bits } => functions::ratio(*by, *bits),
            Self::Root { by } => functions::root(*by),
            Self::Piecewise(function) => functions::piecewise(function),
            Self::Circuit(circuit) => circuit::evaluate(circuit),
        }
    }
}

/// What a participant gives, or all parties have.
fn declared(name: &'static str, code: u8) -> Entry<'static> {
    Entry::new(name, code, Some(0)).not_in_arms("an arm can't declare inputs")
}

/// The code of [`Operation::Kept`].
pub(crate) const KEPT: u8 = 50;

/// The code of [`Operation::Known`], of bools.
pub(crate) const KNOWN: u8 = 90;

/// Its code for numbers, whose type is written.
pub(crate) const KNOWN_NUMBERS: u8 = 91;

/// An operation of a code, with its parameters; `None` for a code that none has. What is declared (inputs, kept values and
/// constants) is read elsewhere.
pub(crate) fn read(code: u8, from: &mut Reader<'_>) -> Result<Option<Operation>, DecodeError> {
    let (min, max) = (Extreme::Min, Extreme::Max);
    let (down, nearest) = (Rounding::Floor, Rounding::Nearest);
    Ok(Some(match code {
        2 => Operation::Add,
        3 => Operation::Sub,
        4 => Operation::Neg,
        5 => Operation::Mul,
        6 => Operation::MatMul,
        7 => Operation::Sum { axes: from.dims()?, keepdims: from.flag()? },
        8 => Operation::Less,
        9 => Operation::Equal,
        10 => Operation::And,
        11 => Operation::Or,
        12 => Operation::Xor,
        13 => Operation::Not,
        14 => Operation::Where,
        15 => Operation::Pick(min),
        16 => Operation::Pick(max),
        17 => Operation::Extremum { which: min, axis: from.axis()?, keepdims: from.flag()? },
        18 => Operation::Extremum { which: max, axis: from.axis()?, keepdims: from.flag()? },
        19 => Operation::ArgExtremum { which: min, axis: from.axis()?, keepdims: from.flag()? },
        20 => Operation::ArgExtremum { which: max, axis: from.axis()?, keepdims: from.flag()? },
        21 => Operation::Abs,
        22 => Operation::Relu,
        23 => Operation::FromBool { wrapping: from.wrapping()? },
        24 => Operation::Scale { by: from.u8("shift")? },
        25 => Operation::Truncate { by: from.u8("shift")?, rounding: down },
        26 => Operation::Truncate { by: from.u8("shift")?, rounding: nearest },
        27 => Operation::ShiftRight { by: from.u8("shift")? },
        28 => Operation::Reshape { shape: from.dims()? },
        29 => Operation::Transpose { axes: from.dims()? },
        30 => Operation::Slice { spans: from.spans()? },
        31 => Operation::BroadcastTo { shape: from.dims()? },
        32 => Operation::Concatenate { axis: from.axis()? },
        33 => Operation::Clip,
        34 => Operation::Circuit(from.circuit()?),
        35 => Operation::Times(from.reals()?),
        36 => Operation::Over { divisors: from.reals()?, rounding: down },
        37 => Operation::Over { divisors: from.reals()?, rounding: nearest },
        38 => Operation::Weigh { matrix: from.reals()?, left: false },
        39 => Operation::Weigh { matrix: from.reals()?, left: true },
        40 => Operation::Divide,
        41 => Operation::Remainder,
        42 => Operation::State { range: from.range()? },
        43 => Operation::Step,
        44 => Operation::Repeat { times: from.u32("number of steps")? },
        45 => Operation::After,
        46 => Operation::Assume { range: from.range()?, watched: true },
        47 => Operation::Windows { lengths: from.dims()?, axes: from.dims()? },
        48 => Operation::Shuffle,
        49 => Operation::ShuffleToo,
        51 => Operation::Within { set: from.flag()? },
        52 => Operation::WideProduct { matrix: false, by: from.u8("shift")? },
        53 => Operation::WideProduct { matrix: true, by: from.u8("shift")? },
        54 => Operation::Raw { by: from.u8("shift")?.cast_signed() },
        55 => Operation::Ratio { by: from.u8("shift")?, bits: from.u8("number of bits")? },
        56 => Operation::Root { by: from.u8("shift")? },
        57 => Operation::Piecewise(piecewise(from)?),
        60 => Operation::Conv,
        64 => Operation::Sort,
        65 => Operation::SortToo,
        66 => Operation::Assume { range: from.range()?, watched: false },
        _ => return Ok(None),
    }))
}

/// A function by pieces, with as many coefficients as it says.
fn piecewise(from: &mut Reader<'_>) -> Result<Arc<Piecewise>, DecodeError> {
    let at = from.at;
    let (tag, bits, parts) = (from.u8("pieces")?, from.u8("pieces")?, from.u8("pieces")?);
    let (low, high) = (from.u64("pieces")?.cast_signed(), from.u64("pieces")?.cast_signed());
    let pieces = match (tag, parts, low, high) {
        (0, 0, ..) => Pieces::Even { low, high, bits },
        (1, _, 0, 0) => Pieces::Octaves { bits, parts },
        _ => return Err(DecodeError::Meaning { at, what: "kind of pieces", value: tag.into() }),
    };
    let (places, guard, terms) = (from.u8("places")?, from.u8("guard bits")?, from.u8("number of terms")?);
    let count = from.length()?;
    let bytes = from.take(count.saturating_mul(8), "coefficients")?;
    let coefficients = bytes.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect();
    let function = Piecewise::new(pieces, places, guard, terms.into(), coefficients);
    let wrong = DecodeError::Meaning { at, what: "function by pieces", value: count as u64 };
    function.map(Arc::new).ok_or(wrong)
}
