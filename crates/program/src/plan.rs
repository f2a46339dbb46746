//! What an engine executes: registers, local steps, and interactive operations in levels.
//!
//! A plan is closed: it holds every step from the inputs to the revealed outputs, and no computed value can change
//! which step comes next. Lowering builds it from a [`crate::Program`]. The builder here puts each operation into the
//! earliest level at which its operands are there, so independent operations share a round.
//!
//! **Registers.** A register is a vector of elements of a ring or a field, or a stack of rows of packed bits. Numbers
//! in bit-sliced form have a row for every bit position and a column for every number. In memory every row starts at a
//! word; in a message the rows follow one another without a gap.
//!
//! **Additive components.** Conversions between numbers and bits need a sharing of additive components,
//! `x = x_0 + x_1 + x_2 mod 2^k`, and for bits with XOR.
//!
//! - *Three.* So many parties know each component that a sharing of it needs no message and nobody can lie about it.
//!   The sharing of `x_1` has `x_1` as its component 1, and zeros as the others.
//! - *Two.* `x = S + T`: one party knows `S = x_0 + x_1`, and the others know `T = x_2`.
//!
//! **Order.** In a level all of `local` runs first. Then every stage of `stages` begins and is finished, and then the
//! registers of `free` go. An operation of `k` stages stands in `k` levels that follow one another.

use crate::capabilities::{self, Features};
pub use crate::modulus::Modulus;
use sha2::{Digest as _, Sha256};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use tacit_circuit::Layered;

/// A register's name: its index in [`Plan::registers`].
pub type Reg = u32;

/// The algebraic structure that a register's elements live in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Domain {
    /// Bits under XOR and AND, packed 64 to a word, least significant first.
    Bits,
    /// Integers modulo 2^k, for the k of a machine word.
    Ring(Width),
    /// Integers modulo anything else that there is: they have sums and products, and no bits.
    Modular(Modulus),
}

/// The `k` of a ring of integers modulo 2^k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    /// Modulo 2^8.
    W8,
    /// Modulo 2^16.
    W16,
    /// Modulo 2^32.
    W32,
    /// Modulo 2^64.
    W64,
}

impl Width {
    /// Every width, narrow to wide.
    pub const ALL: [Self; 4] = [Self::W8, Self::W16, Self::W32, Self::W64];

    /// Bits in an element.
    pub const fn bits(self) -> u8 {
        match self {
            Self::W8 => 8,
            Self::W16 => 16,
            Self::W32 => 32,
            Self::W64 => 64,
        }
    }

    /// Bytes in an element.
    pub const fn bytes(self) -> usize {
        self.bits() as usize / 8
    }
}

impl Domain {
    /// Bits that one element takes in a message.
    pub const fn bits(self) -> u64 {
        match self {
            Self::Bits => 1,
            Self::Ring(width) => width.bits() as u64,
            Self::Modular(modulus) => modulus.bits() as u64,
        }
    }

    /// Words of 64 bits that a raw element takes where it stands alone: 1, or 2 for moduli of more than 64 bits.
    pub const fn limbs(self) -> usize {
        self.bits().div_ceil(64) as usize
    }

    /// What its sums and products are reduced by; bits are integers modulo 2.
    pub const fn modulus(self) -> Modulus {
        match self {
            Self::Bits => Modulus::PowerOfTwo(1),
            Self::Ring(width) => Modulus::PowerOfTwo(width.bits()),
            Self::Modular(modulus) => modulus,
        }
    }
}

/// The shape of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    /// What its elements are.
    pub domain: Domain,
    /// Rows; 1 for all but bits.
    pub rows: u32,
    /// Elements in a row.
    pub cols: usize,
}

impl Register {
    /// Elements in all.
    pub fn len(&self) -> usize {
        self.rows as usize * self.cols
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Some rows of a register: `first`, `first + step`, ... (`count` of them).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rows {
    /// The register.
    pub reg: Reg,
    /// The first row.
    pub first: u32,
    /// From one row to the next; may be 0, so that one row stands against many.
    pub step: u32,
    /// How many rows.
    pub count: u32,
}

impl Rows {
    /// One row.
    pub const fn one(reg: Reg, row: u32) -> Self {
        Self { reg, first: row, step: 1, count: 1 }
    }

    /// Rows `first`, `first + 1`, ... (`count` of them).
    pub const fn run(reg: Reg, first: u32, count: u32) -> Self {
        Self { reg, first, step: 1, count }
    }

    /// The row at `index`.
    pub const fn row(&self, index: u32) -> u32 {
        self.first + self.step * index
    }
}

/// Public numbers written into a plan. Elements are reduced and stand one to a word, or to two words, the low one
/// first, as [`Domain::limbs`] says; bits are packed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Public {
    /// The same element everywhere (a bit is 0 or 1).
    Splat(u128),
    /// An element for every place.
    Vector(Arc<[u64]>),
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
}

/// The additive component that is `T` in a sharing of two.
pub const SECOND_COMPONENT: u8 = 2;

/// An operand of a circuit: where the bits of one of its inputs are, for every instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// In one row: instance after instance, each with all bits of the input.
    Each(Reg),
    /// A row for each bit of the input, with a column for every instance.
    Rows(Reg),
    /// In one row: the same bits for all instances; a late input of the circuit ([`Layered::with_late`]).
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
/// [`Domain::Ring`] in conversions.
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
    /// tiles ([`Plan::window`]).
    Circuit { circuit: Arc<Layered>, inputs: Vec<Operand>, dst: Reg },
}

impl OpKind {
    /// Levels that the operation stands in.
    pub const fn stages(&self) -> u8 {
        match self {
            Self::And { .. }
            | Self::Mul { .. }
            | Self::MatMul { .. }
            | Self::Split { .. }
            | Self::Circuit { .. } => 1,
            Self::Inject { .. } | Self::Shift { .. } | Self::Msb { .. } => 2,
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
            Self::Split { a, .. } | Self::Shift { a, .. } | Self::Msb { a, .. } => vec![*a],
            Self::Inject { a, .. } => vec![a.reg],
            Self::Circuit { inputs, .. } => inputs.iter().map(|input| input.reg()).collect(),
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
            | Self::Circuit { dst, .. } => vec![*dst],
        }
    }

    /// Elements of the result that can be worked on apart from one another: columns of bits (all rows of a
    /// column go together), ring elements, entries of a matrix product, or a circuit's instances.
    pub fn extent(&self, plan: &Plan) -> usize {
        match self {
            Self::And { dst, .. } => plan.registers[dst.reg as usize].cols,
            Self::Mul { dst, .. }
            | Self::Inject { dst, .. }
            | Self::Shift { dst, .. }
            | Self::Msb { dst, .. } => plan.registers[*dst as usize].cols,
            Self::MatMul { shape, .. } => shape.batch * shape.m * shape.n,
            Self::Split { s, .. } => plan.registers[*s as usize].cols,
            Self::Circuit { circuit, dst, .. } => {
                plan.registers[*dst as usize].cols / circuit.output_slots.len().max(1)
            }
        }
    }
}

impl Local {
    /// The registers read.
    pub fn reads(&self) -> Vec<Reg> {
        match self {
            Self::Constant { .. } => vec![],
            Self::Add { a, b, .. } | Self::Sub { a, b, .. } => vec![*a, *b],
            Self::AddPublic { a, .. }
            | Self::MulPublic { a, .. }
            | Self::MatMulPublic { a, .. }
            | Self::Sum { a, .. }
            | Self::Copy { a, .. }
            | Self::XorPublic { a, .. }
            | Self::AndPublic { a, .. }
            | Self::BitComponent { a, .. }
            | Self::ShiftComponents { a, .. } => vec![*a],
            Self::Xor { a, b, .. } => vec![a.reg, b.reg],
            Self::Not { a, .. } | Self::CopyRows { a, .. } => vec![a.reg],
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
            | Self::ShiftComponents { dst, .. } => *dst,
            Self::Xor { dst, .. } | Self::Not { dst, .. } | Self::CopyRows { dst, .. } => dst.reg,
        }
    }
}

/// An interactive operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// The node of the program that it comes from.
    pub node: u32,
}

/// A stage of an operation, in the level that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stage {
    /// Index in [`Plan::ops`]; the operation's part of every address.
    pub op: u32,
    /// Which of the operation's stages, from 0.
    pub stage: u8,
}

/// What runs between one wait for messages and the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Level {
    /// Steps without messages, in order.
    pub local: Vec<Local>,
    /// Stages that share this round.
    pub stages: Vec<Stage>,
    /// Registers that nothing reads any more once the level is done.
    pub free: Vec<Reg>,
}

/// How the elements of an input or an output stand in its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// One of the register's for each.
    Elements,
    /// Numbers as bits, one number after another, each with its lowest bit first.
    Bits {
        /// Bits of a number, 1 to 128.
        width: u8,
        /// Whether they are two's complement; else no number is negative.
        signed: bool,
    },
}

/// A value that its owner shares among the parties.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InputOp {
    /// Index in [`Plan::roles`].
    pub owner: u32,
    /// Where it goes; one row.
    pub reg: Reg,
    /// How its elements stand there.
    pub form: Form,
    /// The node of the program.
    pub node: u32,
}

/// A value that is revealed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OutputOp {
    /// What; one row.
    pub reg: Reg,
    /// How its elements stand there.
    pub form: Form,
    /// To whom.
    pub to: To,
    /// The node of the program.
    pub node: u32,
}

/// Who learns an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum To {
    /// Every computing party and everyone whom the plan names.
    All,
    /// One of [`Plan::roles`].
    One(u32),
}

/// The whole of a computation. Made by [`Builder`]; public fields are for reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Names of those who give inputs or receive outputs, as the program says them. A name is a computing
    /// party's if the deployment has a party of that name, and else a client's.
    pub roles: Vec<String>,
    /// Shapes of all registers.
    pub registers: Vec<Register>,
    /// Inputs; they come before the first level.
    pub inputs: Vec<InputOp>,
    /// Interactive operations.
    pub ops: Vec<Op>,
    /// The order of work.
    pub levels: Vec<Level>,
    /// Outputs; they come after the last level.
    pub outputs: Vec<OutputOp>,
    /// Bytes of messages of circuits that each party has under way at a time: about the links' bandwidth times
    /// their round trip. The same for all parties.
    pub window: usize,
}

/// [`Plan::window`] where nobody says otherwise: for links of a machine or a rack. The tiles whose messages fill more
/// of it would not stay in the second cache from one layer to the next.
pub const WINDOW: usize = 64 << 10;

impl Plan {
    /// The shape of a register.
    pub fn register(&self, reg: Reg) -> Register {
        self.registers[reg as usize]
    }

    /// How many addresses of operations a run takes: inputs, operations and outputs are each counted from 0.
    pub fn addresses(&self) -> u32 {
        self.inputs.len().max(self.ops.len()).max(self.outputs.len()) as u32
    }

    /// SHA-256 of all that is done, which is all but the window. For one machine and one build of this code: others may
    /// come to another hash of the same plan, so it is nothing for parties to compare.
    pub fn digest(&self) -> [u8; 32] {
        let Self { roles, registers, inputs, ops, levels, outputs, window: _ } = self;
        let mut digest = Digest(Sha256::new_with_prefix("tacit plan 1"));
        (roles, registers, inputs, ops, levels, outputs).hash(&mut digest);
        digest.0.finalize().into()
    }

    /// Levels in which messages are exchanged: the longest chain of operations, each of which counts once.
    pub fn depth(&self) -> usize {
        self.levels.iter().filter(|level| !level.stages.is_empty()).count()
    }
}

/// Takes in what is hashed.
struct Digest(Sha256);

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("only the whole digest is asked for")
    }
}

/// Builds a [`Plan`], step by step, in an order in which every register is written before it is read.
#[derive(Debug, Default)]
pub struct Builder {
    roles: Vec<String>,
    registers: Vec<Register>,
    /// The level in which a register's value can first be read.
    ready: Vec<usize>,
    /// The last level that reads or writes a register.
    used: Vec<usize>,
    inputs: Vec<InputOp>,
    ops: Vec<Op>,
    levels: Vec<Level>,
    outputs: Vec<OutputOp>,
    node: u32,
    needs: Features,
}

impl Builder {
    /// An empty plan.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says which node of the program the next steps come from.
    pub fn at_node(&mut self, node: u32) {
        self.node = node;
    }

    /// What the plan needs of a protocol so far.
    pub fn needs(&self) -> Features {
        self.needs
    }

    /// The index of a participant, added if it is new.
    pub fn role(&mut self, name: &str) -> u32 {
        if let Some(found) = self.roles.iter().position(|role| role == name) {
            return found as u32;
        }
        self.roles.push(name.to_owned());
        self.roles.len() as u32 - 1
    }

    /// A new register of ring elements.
    pub fn ring(&mut self, width: Width, cols: usize) -> Reg {
        self.row(Domain::Ring(width), cols)
    }

    /// A new register of one row.
    pub fn row(&mut self, domain: Domain, cols: usize) -> Reg {
        self.push(Register { domain, rows: 1, cols })
    }

    /// A new register of bits.
    pub fn bits(&mut self, rows: u32, cols: usize) -> Reg {
        self.push(Register { domain: Domain::Bits, rows, cols })
    }

    /// The shape of a register.
    pub fn shape(&self, reg: Reg) -> Register {
        self.registers[reg as usize]
    }

    /// A value that `owner` gives, into `reg`, element by element.
    pub fn input(&mut self, owner: u32, reg: Reg) {
        self.input_as(owner, reg, Form::Elements);
    }

    /// A value that `owner` gives, into `reg`, where its elements have this form.
    pub fn input_as(&mut self, owner: u32, reg: Reg, form: Form) {
        self.inputs.push(InputOp { owner, reg, form, node: self.node });
    }

    /// Reveals `reg` after the last level, element by element.
    pub fn output(&mut self, reg: Reg, to: To) {
        self.output_as(reg, to, Form::Elements);
    }

    /// Reveals `reg`, where elements have this form, after the last level.
    pub fn output_as(&mut self, reg: Reg, to: To, form: Form) {
        self.outputs.push(OutputOp { reg, form, to, node: self.node });
    }

    /// Lets nothing be written to `reg` before `other` is written: for large work that goes slab by slab, so that one
    /// slab's registers are free before the next one's are filled.
    pub fn after(&mut self, reg: Reg, other: Reg) {
        self.ready[reg as usize] = self.ready[reg as usize].max(self.ready[other as usize]);
    }

    /// Adds a local step.
    pub fn local(&mut self, step: Local) {
        self.needs = self.needs.and(capabilities::of_step(&step));
        let mut level = self.ready[step.writes() as usize];
        for reg in step.reads() {
            level = level.max(self.ready[reg as usize]);
        }
        for reg in step.reads() {
            self.touch(reg, level);
        }
        let dst = step.writes();
        self.touch(dst, level);
        self.ready[dst as usize] = level;
        self.level(level).local.push(step);
    }

    /// Adds an interactive operation.
    pub fn interact(&mut self, kind: OpKind) {
        self.needs = self.needs.and(capabilities::of_operation(&kind));
        let reads = kind.reads();
        let writes = kind.writes();
        let first = reads.iter().chain(&writes).map(|&reg| self.ready[reg as usize]).max().unwrap_or(0);
        let stages = kind.stages();
        let op = self.ops.len() as u32;
        self.ops.push(Op { kind, node: self.node });
        for stage in 0..stages {
            self.level(first + stage as usize).stages.push(Stage { op, stage });
        }
        let last = first + stages as usize - 1;
        for &reg in reads.iter().chain(&writes) {
            self.touch(reg, last);
        }
        for reg in writes {
            self.ready[reg as usize] = last + 1;
        }
    }

    /// The finished plan.
    pub fn finish(mut self) -> Plan {
        let last = self.ready.iter().zip(&self.registers).map(|(&ready, _)| ready).max().unwrap_or(0);
        if !self.registers.is_empty() {
            self.level(last);
        }
        let kept: std::collections::HashSet<Reg> = self.outputs.iter().map(|output| output.reg).collect();
        for reg in 0..self.registers.len() as Reg {
            if !kept.contains(&reg) {
                let level = self.used[reg as usize];
                self.levels[level].free.push(reg);
            }
        }
        while self.levels.last().is_some_and(|level| level.local.is_empty() && level.stages.is_empty()) {
            self.levels.pop();
        }
        Plan {
            roles: self.roles,
            registers: self.registers,
            inputs: self.inputs,
            ops: self.ops,
            levels: self.levels,
            outputs: self.outputs,
            window: WINDOW,
        }
    }

    fn push(&mut self, register: Register) -> Reg {
        self.needs = self.needs.with(capabilities::of_domain(register.domain));
        self.registers.push(register);
        self.ready.push(0);
        self.used.push(0);
        self.registers.len() as Reg - 1
    }

    fn touch(&mut self, reg: Reg, level: usize) {
        let used = &mut self.used[reg as usize];
        *used = (*used).max(level);
    }

    fn level(&mut self, index: usize) -> &mut Level {
        while self.levels.len() <= index {
            self.levels.push(Level::default());
        }
        &mut self.levels[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_operations_share_a_level_and_registers_are_freed_after_their_last_use() {
        let mut builder = Builder::new();
        let owner = builder.role("alice");
        let [a, b, c, d, e] = std::array::from_fn(|_| builder.ring(Width::W64, 4));
        builder.input(owner, a);
        builder.input(owner, b);
        builder.interact(OpKind::Mul { a, b, dst: c });
        builder.interact(OpKind::Mul { a, b: a, dst: d });
        builder.local(Local::Add { a: c, b: d, dst: e });
        builder.output(e, To::All);
        let plan = builder.finish();
        assert_eq!(plan.depth(), 1);
        assert_eq!(plan.levels.len(), 2);
        assert_eq!(plan.levels[0].stages.len(), 2);
        assert_eq!(plan.levels[0].free, [a, b]);
        assert_eq!(plan.levels[1].free, [c, d]);
    }

    #[test]
    fn a_slab_waits_until_the_one_before_is_free() {
        let mut builder = Builder::new();
        let owner = builder.role("alice");
        let a = builder.ring(Width::W8, 4);
        builder.input(owner, a);
        let mut products: Vec<Reg> = Vec::new();
        for _ in 0..2 {
            let [copy, product] = std::array::from_fn(|_| builder.ring(Width::W8, 4));
            if let Some(&before) = products.last() {
                builder.after(copy, before);
            }
            builder.local(Local::Copy { a, layout: Layout::whole(&[4]), at: 0, dst: copy });
            builder.interact(OpKind::Mul { a: copy, b: copy, dst: product });
            products.push(product);
        }
        for product in products {
            builder.output(product, To::All);
        }
        let plan = builder.finish();
        assert_eq!(plan.depth(), 2);
        assert_eq!([&plan.levels[0].free[..], &plan.levels[1].free], [&[1][..], &[0, 3]]);
    }

    #[test]
    fn an_operation_of_two_stages_stands_in_two_levels() {
        let mut builder = Builder::new();
        let bit = builder.bits(1, 3);
        let number = builder.ring(Width::W32, 3);
        let square = builder.ring(Width::W32, 3);
        builder.interact(OpKind::Inject { a: Rows::one(bit, 0), dst: number });
        builder.interact(OpKind::Mul { a: number, b: number, dst: square });
        builder.output(square, To::All);
        let plan = builder.finish();
        assert_eq!(plan.depth(), 3);
        assert_eq!(plan.levels[1].stages, [Stage { op: 0, stage: 1 }]);
        assert_eq!(plan.levels[1].free, [bit]);
    }
}
