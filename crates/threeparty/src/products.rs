//! ANDs, products and matrix products: a party's part of a job, block by block.
//!
//! `(x_0 + x_1 + x_2)(y_0 + y_1 + y_2)` has nine terms. The party with number `i` computes three of them,
//! `x_i y_i + x_i y_(i-1) + x_(i-1) y_i`, and three parties compute all nine. To its terms it adds what hides them, and
//! sends the sum. What hides them, whom it sends to and what becomes of the sum is the protocol's ([`Products`]).

use crate::arithmetic::Arithmetic;
use crate::party::Party;
use std::ops::Range;
use tacit_engine::bank::{Bank, row_words, words_of};
use tacit_engine::profile::{Section, section};
use tacit_engine::wire::{message_bytes, pack_columns, unpack_columns};
use tacit_engine::{Error, Job, bytes_of, with_element};
use tacit_kernel::{Buffer, Element, bits, pack, ring};
use tacit_program::plan::{MatrixShape, OpKind, Plan, Reg, Register, Rows};
use tacit_session::At;

/// Bytes of masks that are drawn at once: they stay in the first cache until they are used.
pub const BLOCK_BYTES: usize = 8 << 10;

/// Where some elements of a result are: in the banks, and among the operation's draws and material.
pub struct Slice {
    /// The result.
    pub reg: Reg,
    /// The elements, as words in the bank.
    pub bank: Range<usize>,
    /// The first one's number.
    pub first: usize,
}

impl Slice {
    /// The block of the operation's draws in which the first one is.
    pub fn block<E: Element>(&self) -> u64 {
        block::<E>(self.first)
    }
}

/// The block of a stream in which an element is, of those that are drawn one after another.
pub const fn block<E: Element>(element: usize) -> u64 {
    (element * E::DRAWN / 16) as u64
}

/// What a job computes of an operation's result.
#[derive(Clone)]
pub enum Results {
    /// Its columns of rows of bits.
    Rows(Rows),
    /// Elements of a register.
    Elements(Reg, Range<usize>),
}

impl Results {
    /// Of ANDs, a product, a product of matrices, or whatever has an element for each column.
    pub fn of(job: &Job, kind: &OpKind) -> Self {
        match kind {
            OpKind::And { dst, .. } => Self::Rows(*dst),
            OpKind::MatMul { shape, dst, .. } => Self::Elements(*dst, entries(job, *shape)),
            kind => Self::Elements(kind.writes()[0], job.cols.clone()),
        }
    }

    /// The register.
    pub const fn reg(&self) -> Reg {
        match self {
            Self::Rows(rows) => rows.reg,
            Self::Elements(reg, _) => *reg,
        }
    }

    /// Bytes of their message.
    pub fn message_bytes(&self, plan: &Plan, job: &Job) -> usize {
        match self {
            Self::Rows(rows) => (rows.count as usize * job.cols.len()).div_ceil(8),
            Self::Elements(reg, cols) => message_bytes(plan.register(*reg).domain, cols.len()),
        }
    }

    /// Where they are among the bytes of their register, if they are elements; else all of it.
    pub fn bytes(&self, plan: &Plan) -> Range<usize> {
        let shape = plan.register(self.reg());
        match self {
            Self::Rows(_) => 0..bytes_of(shape.domain, shape.cols),
            Self::Elements(_, cols) => {
                with_element!(shape.domain, E => cols.start * E::BYTES..cols.end * E::BYTES)
            }
        }
    }

    /// The same, in memory that has nothing but all results of the operation.
    #[must_use]
    pub fn alone(&self) -> Self {
        match self {
            Self::Rows(rows) => Self::Rows(Rows::run(rows.reg, 0, rows.count)),
            elements @ Self::Elements(..) => elements.clone(),
        }
    }

    /// Puts a message of them into memory that is laid out as their register is.
    pub fn unpack(&self, plan: &Plan, job: &Job, message: &[u8], out: &mut [u8]) {
        let shape = plan.register(self.reg());
        match self {
            Self::Rows(rows) => {
                let (out, stride) = (bytemuck::cast_slice_mut(out), row_words(shape.cols));
                bits::unpack_rows(message, out, stride, Bank::stack(*rows), job.cols.clone());
            }
            Self::Elements(_, cols) => with_element!(shape.domain, E => {
                let out = &mut bytemuck::cast_slice_mut::<u8, E>(out)[cols.clone()];
                pack::unpack(message, shape.domain.bits() as u32, out);
            }),
        }
    }

    /// Adds a message of them to what a bank holds.
    pub fn add(&self, bank: &mut Bank, job: &Job, message: &[u8]) {
        match self {
            Self::Rows(rows) => add_rows(bank, job, *rows, message),
            Self::Elements(reg, cols) => add_columns(bank, *reg, cols.clone(), message),
        }
    }
}

/// What a product takes of a protocol.
pub trait Products {
    /// The party that computes.
    fn party(&mut self) -> &mut Party;

    /// A message's address in a job.
    fn at(&self, job: &Job) -> At;

    /// Begins `z`, this party's part of some elements of a result, with what hides it.
    fn mask<E: Element>(
        &mut self,
        job: &Job,
        place: &Slice,
        arithmetic: &Arithmetic<E>,
        z: &mut [E],
    ) -> Result<(), Error>;

    /// This party's part of a job's products, as a message. It is computed in `part`: where the result is, if `in_place`;
    /// else from its beginning on, of the job's columns alone.
    fn part(
        &mut self,
        job: &Job,
        kind: &OpKind,
        part: &mut Buffer,
        in_place: bool,
    ) -> Result<Vec<u8>, Error> {
        match *kind {
            OpKind::And { a, b, dst } => self.part_of_ands(job, [a, b], dst, part, in_place),
            OpKind::Mul { a, b, dst } => self.part_of_products(job, [a, b], dst, part, in_place),
            OpKind::MatMul { a, b, shape, dst } => {
                self.part_of_matrices(job, [a, b], shape, dst, part, in_place)
            }
            _ => unreachable!("only products have parts"),
        }
    }

    /// That of ANDs, row after row.
    fn part_of_ands(
        &mut self,
        job: &Job,
        [a, b]: [Rows; 2],
        dst: Rows,
        part: &mut Buffer,
        in_place: bool,
    ) -> Result<Vec<u8>, Error> {
        let cols = self.party().plan.register(dst.reg).cols;
        let (stride, words) = (row_words(cols), words_of(&job.cols, cols));
        let (rows, part_stride, part_cols) = if in_place {
            (dst, stride, job.cols.clone())
        } else {
            (Rows::run(dst.reg, 0, dst.count), words.len(), 0..job.cols.len())
        };
        for index in 0..dst.count {
            let row = dst.row(index) as usize * stride;
            for from in words.clone().step_by(BLOCK_BYTES / 8) {
                let range = from..words.end.min(from + BLOCK_BYTES / 8);
                let bank = row + range.start..row + range.end;
                let start =
                    rows.row(index) as usize * part_stride + part_cols.start / 64 + from - words.start;
                let z = &mut part.words_mut::<u64>()[start..start + range.len()];
                let place = Slice { reg: dst.reg, bank, first: index as usize * stride + from };
                self.mask(job, &place, &Arithmetic::BITS, z)?;
                let Party { own, prev, .. } = self.party();
                section(Section::Gates, || {
                    let [x, y] = [a, b].map(|rows| &own.row(rows, index)[range.clone()]);
                    let [x_prev, y_prev] = [a, b].map(|rows| &prev.row(rows, index)[range.clone()]);
                    bits::cross(x, x_prev, y, y_prev, z);
                });
            }
        }
        Ok(section(Section::Sending, || self.party().pack_rows(part, rows, part_stride, part_cols)))
    }

    /// That of products of elements.
    fn part_of_products(
        &mut self,
        job: &Job,
        [a, b]: [Reg; 2],
        dst: Reg,
        part: &mut Buffer,
        in_place: bool,
    ) -> Result<Vec<u8>, Error> {
        let (cols, shape) = (&job.cols, self.party().plan.register(dst));
        let first = if in_place { 0 } else { cols.start };
        with_element!(shape.domain, E => {
            for from in cols.clone().step_by(BLOCK_BYTES / E::DRAWN) {
                let range = from..cols.end.min(from + BLOCK_BYTES / E::DRAWN);
                let z = &mut part.words_mut::<E>()[range.start - first..range.end - first];
                let place = Slice { reg: dst, bank: range.clone(), first: from };
                self.mask::<E>(job, &place, &Arithmetic::NUMBERS, z)?;
                let Party { own, prev, .. } = self.party();
                section(Section::Gates, || {
                    let [x, y] = [a, b].map(|reg| &own.get(reg).words::<E>()[range.clone()]);
                    let [x_prev, y_prev] = [a, b].map(|reg| &prev.get(reg).words::<E>()[range.clone()]);
                    ring::cross(x, x_prev, y, y_prev, z);
                });
            }
        });
        Ok(self.party().pack_part(shape, part, cols.start - first..cols.end - first))
    }

    /// That of a job's rows of a product of matrices.
    fn part_of_matrices(
        &mut self,
        job: &Job,
        [a, b]: [Reg; 2],
        shape: MatrixShape,
        dst: Reg,
        part: &mut Buffer,
        in_place: bool,
    ) -> Result<Vec<u8>, Error> {
        let (range, register) = (entries(job, shape), self.party().plan.register(dst));
        let first = if in_place { 0 } else { range.start };
        with_element!(register.domain, E => {
            let z = &mut part.words_mut::<E>()[range.start - first..range.end - first];
            let place = Slice { reg: dst, bank: range.clone(), first: range.start };
            self.mask::<E>(job, &place, &Arithmetic::NUMBERS, z)?;
            let Party { own, prev, right, session, .. } = self.party();
            let operands = [a, b].map(|reg| [own.get(reg).words::<E>(), prev.get(reg).words::<E>()]);
            let mesh = session.mesh();
            section(Section::Gates, || {
                right.multiply(job, shape, operands[0], operands[1], z, &mut || Ok(mesh.tick()?))
            })?;
        });
        Ok(self.party().pack_part(register, part, range.start - first..range.end - first))
    }

    /// Sends a job's message.
    fn send(&mut self, job: &Job, to: usize, message: Vec<u8>) -> Result<(), Error> {
        let at = self.at(job);
        Ok(section(Section::Sending, || self.party().session.mesh().send_vec(to, at, message))?)
    }

    /// Receives a job's message.
    fn recv(&mut self, job: &Job, from: usize, bytes: usize) -> Result<Vec<u8>, Error> {
        let at = self.at(job);
        Ok(section(Section::Receiving, || self.party().session.mesh().recv(from, at, bytes))?)
    }
}

/// The entries of a product of matrices that are in a job.
pub fn entries(job: &Job, shape: MatrixShape) -> Range<usize> {
    job.cols.start * shape.n..job.cols.end * shape.n
}

impl Party {
    /// A job's results as a message, of a register that has all of them.
    pub fn message_of(&mut self, job: &Job, results: &Results, data: &Buffer) -> Vec<u8> {
        let shape = self.plan.register(results.reg());
        match results {
            Results::Rows(rows) => self.pack_rows(data, *rows, row_words(shape.cols), job.cols.clone()),
            Results::Elements(_, cols) => self.pack_part(shape, data, cols.clone()),
        }
    }

    /// Columns of rows of bits as a message.
    fn pack_rows(&mut self, data: &Buffer, rows: Rows, stride: usize, cols: Range<usize>) -> Vec<u8> {
        let bytes = (rows.count as usize * cols.len()).div_ceil(8);
        let mut message = self.session.mesh().buffer(bytes);
        message.resize(bytes, 0);
        bits::pack_rows(data.words(), stride, Bank::stack(rows), cols, &mut message);
        message
    }

    /// Columns of elements as a message.
    fn pack_part(&mut self, shape: Register, part: &Buffer, cols: Range<usize>) -> Vec<u8> {
        section(Section::Sending, || {
            let mut message = self.session.mesh().buffer(message_bytes(shape.domain, cols.len()));
            pack_columns(shape, part, cols, &mut message);
            message
        })
    }
}

fn add_rows(bank: &mut Bank, job: &Job, rows: Rows, message: &[u8]) {
    let cols = bank.shape(rows.reg).cols;
    let (stride, words) = (row_words(cols), words_of(&job.cols, cols));
    let mut received = vec![0; rows.count as usize * words.len()];
    let stack = Bank::stack(Rows::run(0, 0, rows.count));
    bits::unpack_rows(message, &mut received, words.len(), stack, 0..job.cols.len());
    let component = bank.make(rows.reg).words_mut::<u64>();
    for (index, row) in (0..rows.count).zip(received.chunks_exact(words.len().max(1))) {
        let start = rows.row(index) as usize * stride + words.start;
        bits::xor_assign(&mut component[start..start + words.len()], row);
    }
}

fn add_columns(bank: &mut Bank, reg: Reg, cols: Range<usize>, message: &[u8]) {
    let shape = Register { cols: cols.len(), ..bank.shape(reg) };
    let mut received = Buffer::new(bytes_of(shape.domain, shape.cols));
    unpack_columns(shape, message, 0..shape.cols, &mut received);
    with_element!(shape.domain, E => {
        ring::add_assign::<E>(&mut bank.make(reg).words_mut::<E>()[cols], received.words());
    });
}
