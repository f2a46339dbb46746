//! ANDs, products, matrix products and circuits: masked operands from all to all.

use std::ops::Range;

use tacit_circuit::Layered;
use tacit_engine::bank::row_words;
use tacit_engine::layer::{each_row, message_bytes, message_of_rows, pieces};
use tacit_engine::supply::{Drawer, SupplyKind};
use tacit_engine::vector::add_assign;
use tacit_engine::wire::{message_of, unpack_columns};
use tacit_engine::{Error, Job, bytes_of, wire};
use tacit_kernel::{Buffer, bits};
use tacit_program::plan::{Domain, MatrixShape, Operand, Reg, Register, Rows};
use tacit_session::{At, step};

use super::dealer::Product;
use super::demand::{BITS, ands, columns, matrices, rows};
use super::engine::{AdditiveEngine, at};
use super::share::Share;

/// Masked operands of a product, as far as their shares have come, and this party's shares of the triple.
pub(super) struct Opening {
    product: Product,
    /// `d = x - a` and `e = y - b`; of their MACs this party's shares.
    masked: [Share; 2],
    triple: [Share; 3],
}

impl Opening {
    /// Both masked operands of a product of numbers one after the other, as they travel.
    fn message(&self) -> Vec<u8> {
        let (shape, joined) = self.joined();
        message_of(shape, &joined, &(0..shape.cols))
    }

    /// Adds another party's shares of both.
    fn add_message(&mut self, message: &[u8]) {
        let (shape, mut joined) = self.joined();
        unpack_columns(shape, message, 0..shape.cols, &mut joined);
        let shapes = self.product.shapes();
        let [mut first, mut second] = self.masked.each_ref().map(|share| Buffer::new(share.value.len()));
        let (one, other) = joined.bytes().split_at(first.len());
        first.bytes_mut().copy_from_slice(one);
        second.bytes_mut().copy_from_slice(other);
        add_assign(shapes[0], &mut self.masked[0].value, &first);
        add_assign(shapes[1], &mut self.masked[1].value, &second);
    }

    fn joined(&self) -> (Register, Buffer) {
        let [first, second, _] = self.product.shapes();
        let shape = Register { cols: first.cols + second.cols, ..first };
        let mut joined = Buffer::new(bytes_of(shape.domain, shape.cols));
        let (one, other) = joined.bytes_mut().split_at_mut(self.masked[0].value.len());
        one.copy_from_slice(self.masked[0].value.bytes());
        other.copy_from_slice(self.masked[1].value.bytes());
        (shape, joined)
    }
}

impl AdditiveEngine {
    pub(super) fn mul_begin(&mut self, job: &Job, a: Reg, b: Reg, dst: Reg) -> Result<(), Error> {
        let domain = self.plan.register(dst).domain;
        let operands = [a, b].map(|reg| self.part(reg, &job.cols));
        let product = Product::Elements { domain, count: job.cols.len() };
        let items = (SupplyKind::Triple(domain), columns(domain, job.cols.clone()));
        self.open_numbers(at(job), product, items, operands)
    }

    pub(super) fn mul_finish(&mut self, job: &Job, dst: Reg) -> Result<(), Error> {
        let share = self.take_numbers(at(job))?;
        self.put_part(dst, &job.cols, &share);
        Ok(())
    }

    /// A matrix product is opened as a whole when its last job's turn comes.
    pub(super) fn matmul_begin(
        &mut self,
        job: &Job,
        a: Reg,
        b: Reg,
        shape: MatrixShape,
        dst: Reg,
    ) -> Result<(), Error> {
        if !job.last {
            return Ok(());
        }
        let domain = self.plan.register(dst).domain;
        let operands = [a, b].map(|reg| self.share(reg));
        let items = (matrices(domain, shape), 0..shape.batch as u64);
        self.open_numbers(at(job), Product::Matrices { domain, shape }, items, operands)
    }

    pub(super) fn matmul_finish(&mut self, job: &Job, dst: Reg) -> Result<(), Error> {
        if job.last {
            let share = self.take_numbers(at(job))?;
            self.put_share(dst, share);
        }
        Ok(())
    }

    pub(super) fn and_begin(&mut self, job: &Job, a: Rows, b: Rows, dst: Rows) -> Result<(), Error> {
        let words = row_words(job.cols.len());
        let operands = [a, b].map(|rows| {
            let mut operand = Buffer::of_words::<u64>(dst.count as usize * words);
            for (index, row) in (0..).zip(operand.words_mut::<u64>().chunks_exact_mut(words)) {
                row.copy_from_slice(&self.bank.row(rows, index)[job.cols.start / 64..][..words]);
            }
            Share { value: operand, mac: None }
        });
        let count = dst.count as usize;
        self.open_rows(job, at(job), count, rows(job, count), operands)
    }

    pub(super) fn and_finish(&mut self, job: &Job, dst: Rows) -> Result<(), Error> {
        let share = self.take_rows(job, at(job), dst.count as usize)?;
        let stride = row_words(self.plan.register(dst.reg).cols);
        let out = self.bank.make(dst.reg).words_mut::<u64>();
        for (index, row) in (0..).zip(share.words::<u64>().chunks_exact(row_words(job.cols.len()))) {
            out[dst.row(index) as usize * stride + job.cols.start / 64..][..row.len()].copy_from_slice(row);
        }
        Ok(())
    }

    pub(super) fn layer_begin(
        &mut self,
        job: &Job,
        circuit: &Layered,
        inputs: &[Operand],
        dst: Reg,
    ) -> Result<(), Error> {
        let layer = &circuit.layers[job.stage as usize];
        if job.stage == 0 {
            let is_first = self.is_first();
            self.tiles.open(job, circuit).constants(0, circuit, is_first);
        }
        let tile = self.tiles.get(job);
        tile.load(0, circuit, job.stage as usize, inputs, &self.bank);
        tile.sums(layer);
        if job.stage == circuit.depth() {
            tile.store(0, circuit, self.bank.make(dst).words_mut());
            self.tiles.close(job);
            return Ok(());
        }
        for (piece, range) in pieces(layer, job) {
            let items = ands(job, circuit, layer, range.clone());
            let (gates, tile) = (&layer.ands[range], self.tiles.get(job));
            let operands = [0, 1].map(|side| {
                let rows = gates.iter().flat_map(|gate| tile.row(gate[side], 0).to_vec());
                let rows: Vec<u64> = rows.collect();
                let mut operand = Buffer::of_words::<u64>(rows.len());
                operand.words_mut().copy_from_slice(&rows);
                Share { value: operand, mac: None }
            });
            self.open_rows(job, layer_at(job, circuit, piece), gates.len(), items, operands)?;
        }
        Ok(())
    }

    pub(super) fn layer_finish(&mut self, job: &Job, circuit: &Layered) -> Result<(), Error> {
        let layer = &circuit.layers[job.stage as usize];
        for (piece, range) in pieces(layer, job) {
            let gates = &layer.ands[range];
            let share = self.take_rows(job, layer_at(job, circuit, piece), gates.len())?;
            let tile = self.tiles.get(job);
            for (gate, row) in gates.iter().zip(share.words::<u64>().chunks_exact(tile.row_words())) {
                tile.row(gate[2], 0).copy_from_slice(row);
            }
        }
        Ok(())
    }

    /// Begins a product of numbers: masks both operands by these items and sends them to all.
    fn open_numbers(
        &mut self,
        at: At,
        product: Product,
        items: (SupplyKind, Range<u64>),
        operands: [Share; 2],
    ) -> Result<(), Error> {
        let opening = self.mask(at.op, product, items, operands)?;
        let message = opening.message();
        self.openings.insert(at, opening);
        self.send_to_all(at, &message)
    }

    /// Ends it: this party's share of the product.
    fn take_numbers(&mut self, at: At) -> Result<Share, Error> {
        let mut opening = self.openings.remove(&at).expect("what ends has begun");
        let [first, second, _] = opening.product.shapes();
        let bytes = wire::message_bytes(first.domain, first.cols + second.cols);
        for party in self.others() {
            opening.add_message(&self.receive(party, at, bytes)?);
        }
        Ok(self.result(opening))
    }

    /// The same of `count` rows of bits, in whole words. The messages have a job's columns of them.
    fn open_rows(
        &mut self,
        job: &Job,
        at: At,
        count: usize,
        items: Range<u64>,
        operands: [Share; 2],
    ) -> Result<(), Error> {
        let product = Product::Elements { domain: Domain::Bits, count: 8 * operands[0].value.len() };
        let opening = self.mask(at.op, product, (BITS, items), operands)?;
        let rows = opening.masked.each_ref().map(|share| share.value.bytes()).concat();
        self.openings.insert(at, opening);
        debug_assert_eq!(rows.len(), 2 * count * row_words(job.cols.len()) * 8);
        let message = message_of_rows(self.session.mesh(), job, rows);
        self.send_to_all(at, &message)
    }

    fn take_rows(&mut self, job: &Job, at: At, count: usize) -> Result<Buffer, Error> {
        let mut opening = self.openings.remove(&at).expect("what ends has begun");
        let words = row_words(job.cols.len());
        for party in self.others() {
            let message = self.receive(party, at, message_bytes(job, 2 * count))?;
            each_row(job, 2 * count, &message, |index, row| {
                let masked = opening.masked[index / count].value.words_mut::<u64>();
                bits::xor_assign(&mut masked[index % count * words..][..words], row);
            });
        }
        Ok(self.result(opening).value)
    }

    /// This party's share of the product, once all shares of the masked operands have come; these are noted.
    fn result(&mut self, opening: Opening) -> Share {
        let Opening { product, masked, triple: [a, b, mut z] } = opening;
        let shapes = product.shapes();
        for (shape, masked) in shapes.iter().zip(&masked) {
            self.record(*shape, masked);
        }
        let [d, e] = masked.map(|share| share.value);
        z.add_public_times(product, &d, &b);
        z.add_times_public(product, &a, &e);
        let mut both = Buffer::new(z.value.len());
        product.add(&d, &e, &mut both);
        self.add_public(shapes[2], &mut z, &both);
        z
    }

    /// Takes a triple's factors off both operands.
    fn mask(
        &mut self,
        op: u32,
        product: Product,
        (kind, items): (SupplyKind, Range<u64>),
        operands: [Share; 2],
    ) -> Result<Opening, Error> {
        let Ok(triple) = <[Share; 3]>::try_from(self.drawn(Drawer::Op(op), kind, items)?.shares) else {
            unreachable!("a triple has three vectors")
        };
        let (mut masked, shapes) = (operands, product.shapes());
        for ((operand, factor), shape) in masked.iter_mut().zip(&triple).zip(shapes) {
            operand.sub_assign(shape, factor);
        }
        Ok(Opening { product, masked, triple })
    }
}

fn layer_at(job: &Job, circuit: &Layered, piece: u16) -> At {
    let batch = job.batch * circuit.depth() + job.stage;
    At { part: step::CIRCUIT + piece, op: job.op, batch, ..At::default() }
}
