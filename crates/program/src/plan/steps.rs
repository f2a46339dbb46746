//! What a plan does: steps without messages, and operations for which parties exchange messages.

use super::insertion::Insertion;
use super::registers::{Reg, Rows};
use std::sync::Arc;
use tacit_circuit::Layered;

/// Public numbers. Those written into a plan: elements are reduced and stand one to a word, or to two words, the low one
/// first, as [`Domain::limbs`](super::Domain::limbs) says; bits are packed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Public {
    /// The same element everywhere (a bit is 0 or 1).
    Splat(u128),
    /// An element for every place.
    Vector(Arc<[u64]>),
    /// Those of a public register of the same domain and length.
    Register(Reg),
}

impl Public {
    /// The register, if it is one.
    pub const fn register(&self) -> Option<Reg> {
        match self {
            Self::Register(reg) => Some(*reg),
            Self::Splat(_) | Self::Vector(_) => None,
        }
    }
}

/// A strided walk over a register: element `(i_0, i_1, ...)` of `shape`, in row-major order, is the source's
/// `offset + sum of i_j * strides[j]`. Carries slices, transposes, broadcasts (stride 0) and reversals.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Where the walk begins.
    pub offset: usize,
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// Steps of the axes, in elements.
    pub strides: Vec<isize>,
}

/// A product of `batch` pairs of matrices, each m x k by k x n, all in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixShape {
    /// Pairs of matrices.
    pub batch: usize,
    /// Rows of the left one and of the product.
    pub m: usize,
    /// Columns of the left one, rows of the right one.
    pub k: usize,
    /// Columns of the right one and of the product.
    pub n: usize,
}

/// A step that needs no message. `dst` may not be one of the operands. *Ring* stands for all domains but bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant's line says what its fields are")]
pub enum Local {
    /// `dst` = a public value, as a sharing of it.
    Constant { value: Public, dst: Reg },
    /// Ring: `dst = a + b`.
    Add { a: Reg, b: Reg, dst: Reg },
    /// Ring: `dst = a - b`.
    Sub { a: Reg, b: Reg, dst: Reg },
    /// Ring: `dst = a + c`.
    AddPublic { a: Reg, c: Public, dst: Reg },
    /// Ring: `dst = a * c`.
    MulPublic { a: Reg, c: Public, dst: Reg },
    /// Ring: the matrix product `a * c`, or `c * a` where `left`; the public matrices are all given, as in [`Public`].
    MatMulPublic { a: Reg, c: Arc<[u64]>, left: bool, shape: MatrixShape, dst: Reg },
    /// Ring: `a` seen as `outer x axis x inner`, summed over the middle axis.
    Sum { a: Reg, outer: usize, axis: usize, inner: usize, dst: Reg },
    /// Either domain, single rows: elements of `a` as the layout walks them, to `dst` from `at` on.
    Copy { a: Reg, layout: Layout, at: usize, dst: Reg },
    /// Bits: `dst = a ^ b`.
    Xor { a: Rows, b: Rows, dst: Rows },
    /// Bits: `dst = !a`.
    Not { a: Rows, dst: Rows },
    /// Bits: `dst = a`.
    CopyRows { a: Rows, dst: Rows },
    /// Bits, single rows: `dst = a ^ c`.
    XorPublic { a: Reg, c: Public, dst: Reg },
    /// Bits, single rows: `dst = a & c`.
    AndPublic { a: Reg, c: Public, dst: Reg },
    /// A row of bits to the ring of words of `dst`: additive component `component` of each, of three, as the number 0
    /// or 1.
    BitComponent { a: Reg, component: u8, dst: Reg },
    /// Ring of words, three additive components: `dst = (x_0 >> by) + (x_1 >> by) + (x_2 >> by)`, zeros coming in.
    ShiftComponents { a: Reg, by: u8, dst: Reg },
    /// Public: the low bits of each number of `a`, as elements 0 and 1 of the domain of `dst`: first the lowest ones of all
    /// numbers, then the next ones.
    PublicBits { a: Reg, bits: u8, dst: Reg },
    /// Either domain, single rows of blocks of so many elements: block i of `dst` is block `index[i]` of `a`, for a public
    /// register of places. A place that `a` hasn't ends the run.
    Gather { a: Reg, index: Reg, block: usize, dst: Reg },
    /// A step of a sort.
    Insertion(Insertion),
}

/// When an opening may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opening {
    /// The value is uniform in its whole domain whatever the inputs are, whatever a deviator adds to anything before it, and
    /// whatever the value without its mask is: the mask, which nothing else shows, is uniform there. The protocol records the
    /// opening, and checks it before an output at the latest. The only opening that may stand inside a branch: where an arm
    /// isn't active, anything may be under the mask, and one that hides numbers of a range alone would show it.
    Masked,
    /// All that the value depends on is checked first: it is meant to be known, or its mask hides it only if it is
    /// what it should be.
    Verified,
}

/// The additive component that is `T` in a sharing of two.
pub const SECOND_COMPONENT: u8 = 2;

/// An operand of a circuit: where the bits of one of its inputs are, for every instance. All but [`Component`](Self::Component)
/// may be public registers, if the circuit's layers say so ([`Layered::public`]): an AND with one is local, and isn't counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// In one row: instance after instance, each with all bits of the input.
    Each(Reg),
    /// A row for each bit of the input, with a column for every instance.
    Rows(Reg),
    /// In one row: the same bits for all instances; a late input of the circuit ([`tacit_circuit::Given::late`]).
    Same(Reg),
    /// In one row of a ring of words, with a number for every instance: the low bits of one of its additive components,
    /// or of that one's negative modulo 2^k. No message. Of a sharing of two only [`SECOND_COMPONENT`]: what
    /// [`OpKind::Split`] is to the first.
    Component {
        /// The numbers.
        a: Reg,
        /// Which additive component: 0, 1 or 2.
        component: u8,
        /// Whether the bits are those of its negative.
        negate: bool,
    },
}

impl Operand {
    /// The register.
    pub const fn reg(self) -> Reg {
        match self {
            Self::Each(reg) | Self::Rows(reg) | Self::Same(reg) | Self::Component { a: reg, .. } => reg,
        }
    }
}

/// An operation for which parties exchange messages. *Ring* stands for all domains but bits in products, and for
/// [`Domain::Ring`](super::Domain::Ring) in conversions.
///
/// `Split`, `Inject` and `Shift` are for protocols whose sharing has two additive components, `x = S + T mod 2^k`, of
/// which one party knows `S` and the others know `T`. With three, ANDs and products do the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "a variant's line says what its fields are")]
pub enum OpKind {
    /// Bits: `dst = a & b`, row by row.
    And { a: Rows, b: Rows, dst: Rows },
    /// Ring: `dst = a * b`.
    Mul { a: Reg, b: Reg, dst: Reg },
    /// Ring: the matrix product.
    MatMul { a: Reg, b: Reg, shape: MatrixShape, dst: Reg },
    /// Ring to bits: rows 0 to `bits - 1` of `s` are the low bits of `S`. Only circuits read `s`
    /// ([`Operand::Rows`]).
    Split { a: Reg, bits: u8, s: Reg },
    /// One row of bits to the ring of `dst`: 0 or 1. Two stages.
    Inject { a: Rows, dst: Reg },
    /// Ring, for `0 <= x < 2^(k-1)`: `dst = (S >> by) + (T >> by) - w 2^(k-by)`, where `w`, the wrap of
    /// `S + T`, is 1 if the top bit of `S` or of `T` is. What is missing to `x >> by` is the carry out of the
    /// low `by` bits of `S + T`. Two stages.
    Shift { a: Reg, by: u8, dst: Reg },
    /// MSB extraction, ring to one row of bits: the top bit of each number. Two stages. For protocols with a way of
    /// their own.
    Msb { a: Reg, dst: Reg },
    /// Bits: a circuit, on as many instances as `dst` has room for. `dst` is one row: instance after instance,
    /// each with the bits of all outputs. One stage, and as many rounds as the circuit is deep for every window of
    /// tiles ([`Plan::window`](super::Plan::window)).
    Circuit { circuit: Arc<Layered>, inputs: Vec<Operand>, dst: Reg },
    /// Either domain, one row: the values of `a` to all parties, in the public register `dst`.
    Open { a: Reg, dst: Reg, how: Opening },
    /// Either domain, single rows, each of so many blocks of equal length: the blocks of each of `cols` in an order that is the
    /// same for all of them, uniformly random, and unknown to everybody. As many stages as there are `turns`.
    Shuffle { cols: Vec<Reg>, blocks: usize, turns: u8, dst: Vec<Reg> },
    /// Either domain, one row: elements that nobody knows, uniform and independent of each other; if `bits`, each of them 0
    /// or 1.
    Random { dst: Reg, bits: bool },
    /// Bits, one row: uniform numbers of so many bits, one after another. Each is known to all parties but one, to whom
    /// [`Self::Compose`] may show what it masks.
    PairMask { bits: u8, dst: Reg },
    /// One row of bits, numbers of as many as the ring of `dst` has, one after another, to that ring: `dst = a +
    /// mask`, where `a` is the bits of a difference that `mask` hides, a register of [`Self::PairMask`] that nothing
    /// else opens. The party that doesn't know a number's mask learns its difference. Two stages.
    Compose { a: Reg, mask: Reg, dst: Reg },
}

impl OpKind {
    /// What it is called where a plan is refused.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::And { .. } => "And",
            Self::Mul { .. } => "Mul",
            Self::MatMul { .. } => "MatMul",
            Self::Split { .. } => "Split",
            Self::Inject { .. } => "Inject",
            Self::Shift { .. } => "Shift",
            Self::Msb { .. } => "Msb",
            Self::Circuit { .. } => "Circuit",
            Self::Open { .. } => "Open",
            Self::Random { .. } => "Random",
            Self::PairMask { .. } => "PairMask",
            Self::Compose { .. } => "Compose",
            Self::Shuffle { .. } => "Shuffle",
        }
    }

    /// Levels that the operation stands in.
    pub const fn stages(&self) -> u8 {
        match self {
            Self::And { .. }
            | Self::Mul { .. }
            | Self::MatMul { .. }
            | Self::Split { .. }
            | Self::Circuit { .. }
            | Self::Open { .. }
            | Self::Random { .. }
            | Self::PairMask { .. } => 1,
            Self::Inject { .. } | Self::Shift { .. } | Self::Msb { .. } | Self::Compose { .. } => 2,
            Self::Shuffle { turns, .. } => *turns,
        }
    }

    /// What a stage's messages are counted by: the stage itself, or all layers of a circuit that have ANDs.
    pub fn layers(&self, stage: u8) -> std::ops::Range<u32> {
        match self {
            Self::Circuit { circuit, .. } => 0..circuit.depth(),
            _ => u32::from(stage)..u32::from(stage) + 1,
        }
    }

    /// The registers read.
    pub fn reads(&self) -> Vec<Reg> {
        match self {
            Self::And { a, b, .. } => vec![a.reg, b.reg],
            Self::Mul { a, b, .. } | Self::MatMul { a, b, .. } => vec![*a, *b],
            Self::Split { a, .. } | Self::Shift { a, .. } | Self::Msb { a, .. } | Self::Open { a, .. } => {
                vec![*a]
            }
            Self::Random { .. } | Self::PairMask { .. } => vec![],
            Self::Compose { a, mask, .. } => vec![*a, *mask],
            Self::Shuffle { cols, .. } => cols.clone(),
            Self::Inject { a, .. } => vec![a.reg],
            Self::Circuit { inputs, .. } => inputs.iter().map(|input| input.reg()).collect(),
        }
    }

    /// The registers read of which there have to be shares.
    pub(crate) fn reads_shares(&self) -> Vec<Reg> {
        match self {
            Self::Circuit { inputs, .. } => {
                let shared = inputs.iter().filter(|input| matches!(input, Operand::Component { .. }));
                shared.map(|input| input.reg()).collect()
            }
            _ => self.reads(),
        }
    }

    /// The registers written.
    pub fn writes(&self) -> Vec<Reg> {
        match self {
            Self::And { dst, .. } => vec![dst.reg],
            Self::Split { s: dst, .. }
            | Self::Mul { dst, .. }
            | Self::MatMul { dst, .. }
            | Self::Inject { dst, .. }
            | Self::Shift { dst, .. }
            | Self::Msb { dst, .. }
            | Self::Circuit { dst, .. }
            | Self::Open { dst, .. }
            | Self::Random { dst, .. }
            | Self::PairMask { dst, .. }
            | Self::Compose { dst, .. } => vec![*dst],
            Self::Shuffle { dst, .. } => dst.clone(),
        }
    }
}

impl Local {
    /// What it is called where a plan is refused.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Constant { .. } => "Constant",
            Self::Add { .. } => "Add",
            Self::Sub { .. } => "Sub",
            Self::AddPublic { .. } => "AddPublic",
            Self::MulPublic { .. } => "MulPublic",
            Self::MatMulPublic { .. } => "MatMulPublic",
            Self::Sum { .. } => "Sum",
            Self::Copy { .. } => "Copy",
            Self::Xor { .. } => "Xor",
            Self::Not { .. } => "Not",
            Self::CopyRows { .. } => "CopyRows",
            Self::XorPublic { .. } => "XorPublic",
            Self::AndPublic { .. } => "AndPublic",
            Self::BitComponent { .. } => "BitComponent",
            Self::ShiftComponents { .. } => "ShiftComponents",
            Self::PublicBits { .. } => "PublicBits",
            Self::Gather { .. } => "Gather",
            Self::Insertion(_) => "Insertion",
        }
    }

    /// The registers that have to be public.
    pub(crate) fn reads_public(&self) -> Vec<Reg> {
        match self {
            Self::Constant { value: c, .. }
            | Self::AddPublic { c, .. }
            | Self::MulPublic { c, .. }
            | Self::XorPublic { c, .. }
            | Self::AndPublic { c, .. } => c.register().into_iter().collect(),
            Self::PublicBits { a, dst, .. } => vec![*a, *dst],
            Self::Gather { index, .. } => vec![*index],
            Self::Insertion(step) => [step.reads(), vec![step.writes()]].concat(),
            _ => vec![],
        }
    }

    /// The registers read of which the result has shares, if it isn't public.
    pub(crate) fn reads_shares(&self) -> Vec<Reg> {
        let mut reads = self.reads();
        match self {
            Self::Constant { .. } | Self::Insertion(_) => reads.clear(),
            // The operand comes first, and what is public after it.
            Self::AddPublic { .. }
            | Self::MulPublic { .. }
            | Self::XorPublic { .. }
            | Self::AndPublic { .. }
            | Self::Gather { .. } => reads.truncate(1),
            _ => {}
        }
        reads
    }

    /// The registers read.
    pub fn reads(&self) -> Vec<Reg> {
        match self {
            Self::Constant { value, .. } => value.register().into_iter().collect(),
            Self::Add { a, b, .. } | Self::Sub { a, b, .. } | Self::Gather { a, index: b, .. } => {
                vec![*a, *b]
            }
            Self::AddPublic { a, c, .. }
            | Self::MulPublic { a, c, .. }
            | Self::XorPublic { a, c, .. }
            | Self::AndPublic { a, c, .. } => std::iter::once(*a).chain(c.register()).collect(),
            Self::MatMulPublic { a, .. }
            | Self::Sum { a, .. }
            | Self::Copy { a, .. }
            | Self::BitComponent { a, .. }
            | Self::ShiftComponents { a, .. }
            | Self::PublicBits { a, .. } => vec![*a],
            Self::Xor { a, b, .. } => vec![a.reg, b.reg],
            Self::Not { a, .. } | Self::CopyRows { a, .. } => vec![a.reg],
            Self::Insertion(step) => step.reads(),
        }
    }

    /// The register written.
    pub fn writes(&self) -> Reg {
        match self {
            Self::Constant { dst, .. }
            | Self::Add { dst, .. }
            | Self::Sub { dst, .. }
            | Self::AddPublic { dst, .. }
            | Self::MulPublic { dst, .. }
            | Self::MatMulPublic { dst, .. }
            | Self::Sum { dst, .. }
            | Self::Copy { dst, .. }
            | Self::XorPublic { dst, .. }
            | Self::AndPublic { dst, .. }
            | Self::BitComponent { dst, .. }
            | Self::ShiftComponents { dst, .. }
            | Self::PublicBits { dst, .. }
            | Self::Gather { dst, .. } => *dst,
            Self::Xor { dst, .. } | Self::Not { dst, .. } | Self::CopyRows { dst, .. } => dst.reg,
            Self::Insertion(step) => step.writes(),
        }
    }
}
