//! Registers of one component of a sharing, and the linear steps on them.
//!
//! A protocol whose shares have several components (replicated: two) has a bank for each and runs every linear step in
//! all of them. Each bank knows which component it holds: a public value enters a sharing in one component only, and an
//! additive component is shared by itself in its own.

mod opened;
mod places;
mod sorting;
#[cfg(test)]
mod tests;

use crate::{Clear, Error, with_element, with_word};
use places::{LayOut, Places};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use tacit_kernel::{Buffer, Element, Word, bits, matrix, ring, transpose};
use tacit_program::plan::{Domain, Local, MatrixShape, Plan, Public, Reg, Register, Rows, Width};

pub use tacit_client::wire::row_words;

/// The words of a row that hold columns `cols`; the last ones to the row's end.
pub fn words_of(cols: &Range<usize>, total: usize) -> Range<usize> {
    let end = if cols.end == total { row_words(total) } else { cols.end / 64 };
    cols.start / 64..end
}

/// Products of elements between two looks at the links: less than a second's.
const TICK_PRODUCTS: usize = 1 << 29;

/// The least rows of a matrix product that are computed at once: each time the right matrix is packed anew.
const TICK_ROWS: usize = 32;

/// What of a sharing a bank holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// One of its components. Component 0 takes the public values. Where a plan asks for additive components, they
    /// are these ([`tacit_program::plan`]).
    Component(u8),
    /// The values themselves, in the clear. If a plan asks for additive components, it makes up some that
    /// look random, always the same for a place in a register.
    Whole,
}

impl Part {
    const fn takes_public(self) -> bool {
        matches!(self, Self::Component(0) | Self::Whole)
    }

    /// What a bank holds of one additive component of some values, of which the first has place `first`; `None` if
    /// nothing, where it holds another one. `draw` makes an element of a random word, `sub` takes one off another.
    fn additive_component<T: Copy>(
        self,
        values: &[T],
        first: usize,
        component: u8,
        draw: impl Fn(u64) -> T,
        sub: impl Fn(T, T) -> T,
    ) -> Option<Cow<'_, [T]>> {
        let whole = |(at, &value): (usize, &T)| {
            let [x_0, x_1] = [0, 1].map(|which| draw(mix(2 * (first + at) as u64 + which)));
            match component {
                0 => x_0,
                1 => x_1,
                _ => sub(sub(value, x_0), x_1),
            }
        };
        match self {
            Self::Component(held) => (held == component).then_some(Cow::Borrowed(values)),
            Self::Whole => Some(values.iter().enumerate().map(whole).collect()),
        }
    }
}

/// A word that looks random, always the same for a number: the output of SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) const fn mix(number: u64) -> u64 {
    let word = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// One component's registers. Memory of freed registers is used again.
#[derive(Debug)]
pub struct Bank {
    part: Part,
    plan: Arc<Plan>,
    registers: Vec<Option<Buffer>>,
    /// Memory that [`Bank::reserve`] laid out, and of each register which of it is its own whenever it is written.
    places: Places,
    /// Other memory that is free.
    spare: Vec<Buffer>,
}

impl Bank {
    /// No register has memory yet.
    pub fn new(plan: Arc<Plan>, part: Part) -> Self {
        let registers = (0..plan.registers.len()).map(|_| None).collect();
        Self { part, plan, registers, places: Places::default(), spare: Vec::new() }
    }

    /// Goes on to another plan, or the same again, with the same memory.
    pub fn next(&mut self, plan: Arc<Plan>) {
        if Arc::ptr_eq(&self.plan, &plan) {
            (0..self.registers.len() as Reg).for_each(|reg| self.free(reg));
            return;
        }
        self.spare
            .extend(self.registers.drain(..).flatten().chain(std::mem::take(&mut self.places).memory()));
        self.registers.resize_with(plan.registers.len(), || None);
        self.plan = plan;
    }

    /// Takes all memory that the plan will need, so that none has to come from the system in the middle of a run:
    /// there a fresh page costs more than what is computed on it. Goes through the plan's registers in its order.
    pub fn reserve(&mut self) {
        self.places = Self::lay_out(&self.plan).end();
    }

    /// The bytes that it takes for a plan.
    pub fn bytes_of(plan: &Plan) -> u64 {
        Self::lay_out(plan).bytes()
    }

    fn lay_out(plan: &Plan) -> LayOut {
        let mut layout = LayOut::new(plan.registers.len());
        let make = |layout: &mut LayOut, reg: Reg| layout.make(reg, bytes_of(plan.register(reg)));
        let public = plan.public_inputs.iter().map(|input| input.reg);
        let kept = plan.kept.iter().map(|kept| kept.reg);
        for reg in plan.inputs.iter().map(|input| input.reg).chain(public).chain(kept) {
            make(&mut layout, reg);
        }
        for (at, level) in plan.levels.iter().enumerate() {
            for step in plan.copies_before(at).chain(&level.local) {
                make(&mut layout, step.writes());
            }
            for reg in level.stages.iter().flat_map(|stage| plan.op(stage.op).kind.writes()) {
                make(&mut layout, reg);
            }
            level.free.iter().for_each(|&reg| layout.free(reg));
        }
        layout
    }

    /// A register's shape.
    pub fn shape(&self, reg: Reg) -> Register {
        self.plan.register(reg)
    }

    /// A register that was written.
    ///
    /// # Panics
    /// If the register was not written: a plan writes each before it reads it.
    pub fn get(&self, reg: Reg) -> &Buffer {
        self.registers[reg as usize].as_ref().expect("a plan writes a register before it reads it")
    }

    /// Whether a register has been written since it was last free.
    pub fn is_written(&self, reg: Reg) -> bool {
        self.registers[reg as usize].is_some()
    }

    /// A register to write; its contents are unspecified until then.
    ///
    /// # Panics
    /// Never: it was just given memory.
    pub fn make(&mut self, reg: Reg) -> &mut Buffer {
        let bytes = bytes_of(self.shape(reg));
        if self.registers[reg as usize].is_none() {
            let own = self.places.take(reg, bytes);
            self.registers[reg as usize] = Some(own.unwrap_or_else(|| self.memory(bytes)));
        }
        self.registers[reg as usize].as_mut().expect("memory was just given")
    }

    /// A register of zeros.
    pub fn zero(&mut self, reg: Reg) {
        self.make(reg).bytes_mut().fill(0);
    }

    /// Takes a register out, to write it while others are read; [`put`](Self::put) it back.
    ///
    /// # Panics
    /// Never: it was just given memory.
    pub fn take(&mut self, reg: Reg) -> Buffer {
        self.make(reg);
        self.registers[reg as usize].take().expect("memory was just given")
    }

    /// Puts back what [`take`](Self::take) took, or other memory that is as long.
    pub fn put(&mut self, reg: Reg, buffer: Buffer) {
        if let Some(mut before) = self.registers[reg as usize].replace(buffer) {
            before.wipe();
        }
    }

    /// Frees a register.
    pub fn free(&mut self, reg: Reg) {
        let buffer = self.registers[reg as usize].take();
        let Some(mut other) = buffer.and_then(|buffer| self.places.give_back(reg, buffer)) else { return };
        if self.places.has(reg) {
            // It came from elsewhere, and every turn of a section would bring another one.
            other.wipe();
        } else {
            self.spare.push(other);
        }
    }

    /// Overwrites all memory, of registers that are written and of those that are free.
    pub fn wipe(&mut self) {
        let written = self.registers.iter_mut().flatten();
        written.chain(self.places.free()).chain(&mut self.spare).for_each(Buffer::wipe);
    }

    /// Runs a linear step. `tick` is called now and then in what may take long.
    ///
    /// # Errors
    /// Those of `tick`.
    pub fn run(&mut self, step: &Local, tick: &mut dyn FnMut() -> Result<(), Error>) -> Result<(), Error> {
        // A public register is in each bank, whole.
        let public = self.part.takes_public() || self.shape(step.writes()).public;
        match step {
            Local::Add { a, b, dst } => self.ring2(*a, *b, *dst, Ring2::Add),
            Local::Sub { a, b, dst } => self.ring2(*a, *b, *dst, Ring2::Sub),
            Local::Constant { value, dst } => self.constant(value, *dst, public),
            Local::AddPublic { a, c, dst } => self.add_public(*a, c, *dst, public),
            Local::MulPublic { a, c, dst } => self.mul_public(*a, c, *dst),
            Local::MatMulPublic { a, c, left, shape, dst } => {
                return self.matmul_public(*a, c, *left, *shape, *dst, tick);
            }
            Local::Sum { a, outer, axis, inner, dst } => {
                let mut out = self.take(*dst);
                with_element!(self.domain(*dst), E => {
                    ring::sum::<E>(self.get(*a).words(), *outer, *axis, *inner, out.words_mut());
                });
                self.put(*dst, out);
            }
            Local::Copy { a, layout, at, dst } => {
                let mut out = self.take(*dst);
                let cols = self.shape(*a).cols;
                let count: usize = layout.shape.iter().product();
                match self.shape(*dst).domain {
                    Domain::Bits => bits::copy_strided(
                        self.get(*a).words(),
                        cols,
                        layout.offset,
                        &layout.shape,
                        &layout.strides,
                        out.words_mut(),
                        *at,
                    ),
                    domain => with_element!(domain, E => {
                        let out = &mut out.words_mut::<E>()[*at..*at + count];
                        ring::copy_strided::<E>(self.get(*a).words(), layout.offset, &layout.shape, &layout.strides, out);
                    }),
                }
                self.put(*dst, out);
            }
            Local::Xor { a, b, dst } => self.rows(*dst, |bank, index, out| {
                bits::xor(bank.row(*a, index), bank.row(*b, index), out);
            }),
            Local::Not { a, dst } => self.rows(*dst, |bank, index, out| {
                if public {
                    bits::not(bank.row(*a, index), out);
                } else {
                    out.copy_from_slice(bank.row(*a, index));
                }
            }),
            Local::CopyRows { a, dst } => {
                self.rows(*dst, |bank, index, out| out.copy_from_slice(bank.row(*a, index)));
            }
            Local::XorPublic { a, c, dst } => {
                self.bits_public(*a, c, *dst, |a, c| if public { a ^ c } else { a });
            }
            Local::AndPublic { a, c, dst } => self.bits_public(*a, c, *dst, |a, c| a & c),
            Local::BitComponent { a, component, dst } => self.bit_component(*a, *component, *dst),
            Local::ShiftComponents { a, by, dst } => self.shift_components(*a, (*by).into(), *dst),
            Local::PublicBits { a, bits, dst } => self.public_bits(*a, *bits, *dst),
            Local::Gather { a, index, block, dst } => self.gather(*a, *index, *block, *dst)?,
            Local::Insertion(step) => self.insertion(step)?,
        }
        tick()
    }

    /// What this bank holds of an additive component of columns of numbers; `None` if it holds another one.
    pub fn additive_component<W: Word>(
        &self,
        a: Reg,
        component: u8,
        cols: Range<usize>,
    ) -> Option<Cow<'_, [W]>> {
        // Only the component that this bank holds was computed: what a party doesn't read may have no memory.
        if matches!(self.part, Part::Component(held) if held != component) {
            return None;
        }
        let numbers = &self.get(a).words::<W>()[cols.clone()];
        self.part.additive_component(numbers, cols.start, component, W::from_u64, W::wrapping_sub)
    }

    /// The width of a register's ring of words.
    pub(crate) fn width(&self, reg: Reg) -> Width {
        match self.domain(reg) {
            Domain::Ring(width) => width,
            Domain::Bits | Domain::Modular(_) => unreachable!("lowering gives conversions rings of words"),
        }
    }

    /// Fills a public register with values in the clear.
    pub fn write_public(&mut self, reg: Reg, values: &Clear) {
        self.make(reg).bytes_mut().copy_from_slice(values.data().bytes());
    }

    /// Rows of a register, as the kernel names them: for packing into a message and unpacking.
    pub fn stack(rows: Rows) -> bits::Rows {
        bits::Rows { first: rows.first as usize, step: rows.step as usize, count: rows.count as usize }
    }

    /// A row of a register of bits.
    pub fn row(&self, rows: Rows, index: u32) -> &[u64] {
        let words = row_words(self.shape(rows.reg).cols);
        let start = rows.row(index) as usize * words;
        &self.get(rows.reg).words()[start..start + words]
    }

    fn domain(&self, reg: Reg) -> Domain {
        self.shape(reg).domain
    }

    /// The smallest spare buffer that is large enough, or fresh memory.
    fn memory(&mut self, bytes: usize) -> Buffer {
        let fits = (0..self.spare.len())
            .filter(|&index| self.spare[index].capacity() >= bytes)
            .min_by_key(|&index| self.spare[index].capacity());
        match fits {
            Some(index) if self.spare[index].capacity() <= places::most_for(bytes) => {
                let mut buffer = self.spare.swap_remove(index);
                buffer.reuse(bytes);
                buffer
            }
            _ => Buffer::new(bytes),
        }
    }

    fn ring2(&mut self, a: Reg, b: Reg, dst: Reg, op: Ring2) {
        let mut out = self.take(dst);
        with_element!(self.domain(dst), E => {
            let (a, b) = (self.get(a).words::<E>(), self.get(b).words::<E>());
            match op {
                Ring2::Add => ring::add(a, b, out.words_mut()),
                Ring2::Sub => ring::sub(a, b, out.words_mut()),
            }
        });
        self.put(dst, out);
    }

    fn constant(&mut self, value: &Public, dst: Reg, public: bool) {
        if !public {
            return self.zero(dst);
        }
        let mut out = self.take(dst);
        self.fill_public(value, self.shape(dst), &mut out);
        self.put(dst, out);
    }

    /// A public value, whole, as a register `like` of one row has it: for shares that take it in by a factor.
    pub fn public_value(&self, value: &Public, like: Reg) -> Buffer {
        let shape = self.shape(like);
        let mut out = Buffer::new(bytes_of(shape));
        self.fill_public(value, shape, &mut out);
        out
    }

    fn fill_public(&self, value: &Public, shape: Register, out: &mut Buffer) {
        match (value, shape.domain) {
            (Public::Register(from), _) => out.bytes_mut().copy_from_slice(self.get(*from).bytes()),
            (value, Domain::Bits) => fill_bits(value, out.words_mut()),
            (value, domain) => with_element!(domain, E => match value {
                Public::Splat(word) => out.words_mut::<E>().fill(E::from_u128(*word)),
                Public::Vector(words) => {
                    for (out, element) in out.words_mut::<E>().iter_mut().zip(elements::<E>(words, domain)) {
                        *out = element;
                    }
                }
                Public::Register(_) => unreachable!("copied above"),
            }),
        }
    }

    fn bit_component(&mut self, a: Reg, component: u8, dst: Reg) {
        let mut out = self.take(dst);
        let row = self.row(Rows::one(a, 0), 0);
        with_word!(self.width(dst), W => {
            match self.part.additive_component(row, 0, component, |word| word, |a, b| a ^ b) {
                Some(addend) => transpose::bit_to_words::<W>(&addend, out.words_mut()),
                None => out.words_mut::<W>().fill(W::ZERO),
            }
        });
        self.put(dst, out);
    }

    fn shift_components(&mut self, a: Reg, by: u32, dst: Reg) {
        let mut out = self.take(dst);
        with_word!(self.width(dst), W => {
            let (out, all) = (out.words_mut::<W>(), 0..self.shape(a).cols);
            out.fill(W::ZERO);
            for addend in (0..3).filter_map(|component| self.additive_component::<W>(a, component, all.clone())) {
                for (out, addend) in out.iter_mut().zip(addend.iter()) {
                    *out = out.wrapping_add(addend.shr(by));
                }
            }
        });
        self.put(dst, out);
    }

    fn add_public(&mut self, a: Reg, c: &Public, dst: Reg, public: bool) {
        let (mut out, domain) = (self.take(dst), self.domain(dst));
        with_element!(domain, E => {
            let (a, out) = (self.get(a).words::<E>(), out.words_mut::<E>());
            match c {
                _ if !public => out.copy_from_slice(a),
                Public::Splat(word) => ring::add_splat(a, E::from_u128(*word), out),
                Public::Vector(words) => {
                    for ((out, &a), c) in out.iter_mut().zip(a).zip(elements::<E>(words, domain)) {
                        *out = a.wrapping_add(c);
                    }
                }
                Public::Register(c) => ring::add(a, self.get(*c).words::<E>(), out),
            }
        });
        self.put(dst, out);
    }

    fn mul_public(&mut self, a: Reg, c: &Public, dst: Reg) {
        let (mut out, domain) = (self.take(dst), self.domain(dst));
        with_element!(domain, E => {
            let (a, out) = (self.get(a).words::<E>(), out.words_mut::<E>());
            match c {
                Public::Splat(word) => ring::mul_splat(a, E::from_u128(*word), out),
                Public::Vector(words) => {
                    for ((out, &a), c) in out.iter_mut().zip(a).zip(elements::<E>(words, domain)) {
                        *out = a.wrapping_mul(c);
                    }
                }
                Public::Register(c) => ring::mul(a, self.get(*c).words::<E>(), out),
            }
        });
        self.put(dst, out);
    }

    fn matmul_public(
        &mut self,
        a: Reg,
        c: &[u64],
        left: bool,
        shape: MatrixShape,
        dst: Reg,
        tick: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut out, domain) = (self.take(dst), self.domain(dst));
        let MatrixShape { batch, m, k, n } = shape;
        let step = (TICK_PRODUCTS / (k * n).max(1)).max(TICK_ROWS);
        with_element!(domain, E => {
            let public: Vec<E> = elements(c, domain).collect();
            let secret = self.get(a).words::<E>();
            let out = out.words_mut::<E>();
            out.fill(E::ZERO);
            for index in 0..batch {
                let (left, right) = if left { (&public[..], secret) } else { (secret, &public[..]) };
                let right = &right[index * k * n..(index + 1) * k * n];
                for from in (0..m).step_by(step) {
                    let rows = step.min(m - from);
                    let row = index * m + from;
                    let product = &mut out[row * n..(row + rows) * n];
                    matrix::matmul(&left[row * k..(row + rows) * k], right, product, rows, k, n);
                    tick()?;
                }
            }
        });
        self.put(dst, out);
        Ok(())
    }

    fn rows(&mut self, dst: Rows, work: impl Fn(&Self, u32, &mut [u64])) {
        let mut out = self.take(dst.reg);
        let words = row_words(self.shape(dst.reg).cols);
        for index in 0..dst.count {
            let start = dst.row(index) as usize * words;
            work(self, index, &mut out.words_mut()[start..start + words]);
        }
        self.put(dst.reg, out);
    }
}

#[derive(Clone, Copy)]
enum Ring2 {
    Add,
    Sub,
}

/// Writes to every page, which makes the system provide it: in the middle of a run that costs more than what is computed on
/// the page. What the first byte of each page held is lost.
pub fn touch(bytes: &mut [u8]) {
    for page in bytes.chunks_mut(4096) {
        // Memory that is zero already would else be left alone by a clever compiler.
        *std::hint::black_box(&mut page[0]) = 0;
    }
}

fn bytes_of(shape: Register) -> usize {
    match shape.domain {
        Domain::Bits => shape.rows as usize * row_words(shape.cols) * 8,
        domain => with_element!(domain, E => shape.cols * E::BYTES),
    }
}

fn fill_bits(value: &Public, out: &mut [u64]) {
    match value {
        Public::Splat(bit) => out.fill(0_u64.wrapping_sub(*bit as u64 & 1)),
        Public::Vector(words) => {
            out.fill(0);
            out[..words.len()].copy_from_slice(words);
        }
        Public::Register(_) => unreachable!("copied from its register"),
    }
}

/// Public elements from the words that a plan writes them in.
fn elements<E: Element>(words: &[u64], domain: Domain) -> impl Iterator<Item = E> {
    words.chunks_exact(domain.limbs()).map(|limbs| match limbs {
        [low, high] => E::from_u128(u128::from(*high) << 64 | u128::from(*low)),
        _ => E::from_u128(limbs[0].into()),
    })
}
