//! ANDs, products, matrix products and circuits: masked operands from all to all.

use crate::demand::{ands, columns, is_short, layer_items, products, rows};
use crate::messages::{at, layer_at};
use crate::share::Share;
use crate::state::{Opening, Party};
use crate::vectors::{add_at, joined, mul_add, part_of, row};
use std::ops::Range;
use tacit_circuit::Layered;
use tacit_engine::bank::row_words;
use tacit_engine::executor::MAX_IN_FLIGHT;
use tacit_engine::layer::{all, each_row, message_bytes, message_of_rows, pieces};
use tacit_engine::supply::{Drawer, SupplyKind};
use tacit_engine::wire::{self, message_of};
use tacit_engine::{Error, Job, bytes_of, with_element};
use tacit_kernel::{Buffer, bits, ring};
use tacit_program::Feature;
use tacit_program::plan::{Domain, MatrixShape, Operand, Reg, Register, Rows};
use tacit_session::At;

impl Opening {
    /// Takes a triple's factors off both operands.
    pub(crate) fn new(shape: Register, operands: [Share; 2], triple: [Share; 3]) -> Self {
        let mut masked = operands;
        for (operand, factor) in masked.iter_mut().zip(&triple) {
            operand.sub_assign(shape, factor);
        }
        Self { shape, masked, triple }
    }

    /// Both masked operands of some products of numbers one after the other, as they travel.
    fn message(&self, range: &Range<usize>) -> Vec<u8> {
        let domain = self.shape.domain;
        let parts =
            self.masked.each_ref().map(|share| part_of(domain, &share.value, range.start, range.len()));
        message_of(row(domain, 2 * range.len()), &joined(&parts), &(0..2 * range.len()))
    }

    /// Adds another party's shares of both.
    fn add_message(&mut self, range: &Range<usize>, message: &[u8]) {
        let (domain, count) = (self.shape.domain, range.len());
        let shape = row(domain, 2 * count);
        let mut both = Buffer::new(bytes_of(domain, 2 * count));
        wire::unpack_columns(shape, message, 0..2 * count, &mut both);
        for (place, masked) in self.masked.iter_mut().enumerate() {
            let part = part_of(domain, &both, place * count, count);
            add_at(domain, range.start, &part, &mut masked.value);
        }
    }
}

impl Party {
    pub(crate) fn mul_begin(&mut self, job: &Job, a: Reg, b: Reg, dst: Reg) -> Result<(), Error> {
        let shape = row(self.plan.register(dst).domain, job.cols.len());
        let operands = [self.part(a, &job.cols)?, self.part(b, &job.cols)?];
        self.open_numbers(at(job), shape, columns(shape.domain, job.cols.clone()), operands)
    }

    pub(crate) fn mul_finish(&mut self, job: &Job, dst: Reg) -> Result<(), Error> {
        let share = self.take_numbers(at(job))?;
        self.put_part(dst, &job.cols, &share);
        Ok(())
    }

    /// A matrix product is the sums of all its products of elements. They are opened when its last job's turn comes.
    pub(crate) fn matmul_begin(
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
        let all = row(domain, products(shape));
        let MatrixShape { batch, m, k, n } = shape;
        let axes = [batch, m, n, k];
        let signed = |sizes: [usize; 4]| sizes.map(|size| size as isize);
        let strides = [signed([m * k, k, 0, 1]), signed([k * n, 0, 1, n])];
        let mut operands = [self.share(a)?, self.share(b)?];
        for (operand, strides) in operands.iter_mut().zip(strides) {
            *operand = operand.map(|values| {
                let mut repeated = Buffer::new(bytes_of(domain, all.cols));
                with_element!(domain, E => {
                    ring::copy_strided::<E>(values.words(), 0, &axes, &strides, repeated.words_mut());
                });
                repeated
            });
        }
        self.open_numbers(first_of(job), all, 0..all.cols as u64, operands)
    }

    pub(crate) fn matmul_finish(&mut self, job: &Job, shape: MatrixShape, dst: Reg) -> Result<(), Error> {
        if !job.last {
            return Ok(());
        }
        let (share, to) = (self.take_numbers(first_of(job))?, self.plan.register(dst));
        let sums = share.map(|products| {
            let mut sums = Buffer::new(bytes_of(to.domain, to.cols));
            with_element!(to.domain, E => {
                ring::sum::<E>(products.words(), to.cols, shape.k, 1, sums.words_mut());
            });
            sums
        });
        self.put_share(dst, sums);
        Ok(())
    }

    pub(crate) fn and_begin(&mut self, job: &Job, a: Rows, b: Rows, dst: Rows) -> Result<(), Error> {
        let words = row_words(job.cols.len());
        let operands = [a, b].map(|rows| {
            let mut operand = Buffer::of_words::<u64>(dst.count as usize * words);
            for (index, row) in (0..).zip(operand.words_mut::<u64>().chunks_exact_mut(words)) {
                row.copy_from_slice(&self.bank.row(rows, index)[job.cols.start / 64..][..words]);
            }
            operand
        });
        let count = dst.count as usize;
        self.open_rows(job, at(job), count, rows(job, count), operands)
    }

    pub(crate) fn and_finish(&mut self, job: &Job, dst: Rows) -> Result<(), Error> {
        let products = self.take_rows(job, at(job), dst.count as usize)?;
        let stride = row_words(self.plan.register(dst.reg).cols);
        let out = self.bank.make(dst.reg).words_mut::<u64>();
        let rows = products.words::<u64>().chunks_exact(row_words(job.cols.len()));
        for (index, row) in (0..).zip(rows) {
            out[dst.row(index) as usize * stride + job.cols.start / 64..][..row.len()].copy_from_slice(row);
        }
        Ok(())
    }

    pub(crate) fn layer_begin(
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
            self.items_used.insert(job.op, 0);
        }
        let tile = self.tiles.get(job);
        tile.load(0, circuit, job.stage as usize, inputs, &self.bank);
        tile.sums(layer);
        if job.stage == circuit.depth() {
            tile.store(0, circuit, self.bank.make(dst).words_mut());
            self.tiles.close(job);
            self.items_used.remove(&job.op);
            return Ok(());
        }
        if self.plan.needs.has(Feature::ZeroedArms) {
            return self.scalings_begin(job, circuit);
        }
        let before = self.items_used.get(&job.op).copied().unwrap_or_default();
        self.items_used.insert(job.op, before + layer_items(job, layer));
        for (piece, range) in pieces(layer, job) {
            let items = ands(job, circuit, before, range.clone());
            let (gates, tile) = (&layer.ands[range], self.tiles.get(job));
            let words = tile.row_words();
            let operands = [0, 1].map(|side| {
                let mut operand = Buffer::of_words::<u64>(gates.len() * words);
                for (gate, row) in gates.iter().zip(operand.words_mut::<u64>().chunks_exact_mut(words)) {
                    row.copy_from_slice(tile.row(gate[side], 0));
                }
                operand
            });
            self.open_rows(job, layer_at(job, circuit, piece), gates.len(), items, operands)?;
        }
        Ok(())
    }

    pub(crate) fn layer_finish(&mut self, job: &Job, circuit: &Layered) -> Result<(), Error> {
        if self.plan.needs.has(Feature::ZeroedArms) {
            return self.scalings_finish(job, circuit);
        }
        let layer = &circuit.layers[job.stage as usize];
        for (piece, range) in pieces(layer, job) {
            let gates = &layer.ands[range];
            let products = self.take_rows(job, layer_at(job, circuit, piece), gates.len())?;
            let tile = self.tiles.get(job);
            for (gate, row) in gates.iter().zip(products.words::<u64>().chunks_exact(tile.row_words())) {
                tile.row(gate[2], 0).copy_from_slice(row);
            }
        }
        Ok(())
    }

    /// Begins products of numbers: masks both operands by these triples and sends the first messages to all. Messages are
    /// numbered from the address's on.
    fn open_numbers(
        &mut self,
        at: At,
        shape: Register,
        items: Range<u64>,
        operands: [Share; 2],
    ) -> Result<(), Error> {
        let triple = self.triple(at.op, shape.domain, items)?;
        let opening = Opening::new(shape, operands, triple);
        for (at, range) in messages(at, shape).take(MAX_IN_FLIGHT) {
            self.shared.send_to_all(&mut self.session, at, &opening.message(&range))?;
        }
        self.openings.insert(at, opening);
        Ok(())
    }

    /// Ends them: this party's share of the products. What wasn't sent at once goes out as fast as the like comes in.
    fn take_numbers(&mut self, at: At) -> Result<Share, Error> {
        let mut opening = self.openings.remove(&at).expect("what ends has begun");
        let shape = opening.shape;
        let mut unsent = messages(at, shape).skip(MAX_IN_FLIGHT);
        for (at, range) in messages(at, shape) {
            let bytes = wire::message_bytes(shape.domain, 2 * range.len());
            for party in self.others() {
                let message = self.shared.receive(&mut self.session, party, at, bytes)?;
                opening.add_message(&range, &message);
                self.session.mesh().recycle(message);
            }
            if let Some((at, range)) = unsent.next() {
                self.shared.send_to_all(&mut self.session, at, &opening.message(&range))?;
            }
        }
        Ok(self.result(opening))
    }

    /// The same of `count` rows of bits, in whole words. The messages have a job's columns of them. Short rows are masked and
    /// multiplied as they are drawn and sent: without a gap.
    fn open_rows(
        &mut self,
        job: &Job,
        at: At,
        count: usize,
        items: Range<u64>,
        operands: [Buffer; 2],
    ) -> Result<(), Error> {
        let triple = self.triple(at.op, Domain::Bits, items)?;
        let shape = row(Domain::Bits, 8 * triple[0].value.len());
        let operands = operands.map(|rows| Share { value: packed(job, count, rows), mac: None });
        let opening = Opening::new(shape, operands, triple);
        let both = joined(opening.masked.each_ref().map(|share| &share.value));
        let mesh = self.session.mesh();
        let message = if is_short(job) {
            let mut message = mesh.buffer(0);
            message.resize(message_bytes(job, 2 * count), 0);
            let words = both.len() / 16;
            bits::pack_rows(both.words(), words, all(2), 0..count * job.cols.len(), &mut message);
            message
        } else {
            message_of_rows(mesh, job, both.bytes().to_vec())
        };
        self.openings.insert(at, opening);
        self.shared.send_to_all(&mut self.session, at, &message)
    }

    /// Ends them: the products' rows, in whole words.
    fn take_rows(&mut self, job: &Job, at: At, count: usize) -> Result<Buffer, Error> {
        let mut opening = self.openings.remove(&at).expect("what ends has begun");
        let words = row_words(job.cols.len());
        for party in self.others() {
            let message = self.shared.receive(&mut self.session, party, at, message_bytes(job, 2 * count))?;
            if is_short(job) {
                let words = opening.masked[0].value.len() / 8;
                let mut both = vec![0; 2 * words];
                bits::unpack_rows(&message, &mut both, words, all(2), 0..count * job.cols.len());
                for (masked, part) in opening.masked.iter_mut().zip(both.chunks_exact(words)) {
                    bits::xor_assign(masked.value.words_mut(), part);
                }
                continue;
            }
            each_row(job, 2 * count, &message, |index, row| {
                let masked = opening.masked[index / count].value.words_mut::<u64>();
                bits::xor_assign(&mut masked[index % count * words..][..words], row);
            });
        }
        let mut share = self.result(opening);
        Ok(unpacked(job, count, std::mem::take(&mut share.value)))
    }

    /// This party's share of the products, once all shares of the masked operands have come; these are noted:
    /// `z = c + d b + e a`, to which the first party adds `d e`.
    pub(crate) fn result(&mut self, opening: Opening) -> Share {
        let Opening { shape, masked: [d, e], triple: [a, b, mut z] } = opening;
        z.add_public_times(shape.domain, &d.value, &b);
        z.add_public_times(shape.domain, &e.value, &a);
        let mut both = Buffer::new(z.value.len());
        mul_add(shape.domain, &d.value, &e.value, &mut both);
        self.add_public(shape, &mut z, &both);
        self.record(shape, d);
        self.record(shape, e);
        z
    }

    /// Triples, with the masks of arms.
    fn triple(&mut self, op: u32, domain: Domain, items: Range<u64>) -> Result<[Share; 3], Error> {
        let drawn = self.drawn(Drawer::Op(op), SupplyKind::Triple(domain), items.clone())?;
        let Ok(mut triple) = <[Share; 3]>::try_from(drawn.shares) else {
            unreachable!("a triple has three vectors")
        };
        self.mask_arms(op, &items, &mut triple)?;
        Ok(triple)
    }
}

/// A job's columns of some rows as triples for them are drawn: short ones without a gap, in whole items.
fn packed(job: &Job, count: usize, rows: Buffer) -> Buffer {
    if !is_short(job) {
        return rows;
    }
    let bytes = message_bytes(job, count);
    let mut packed = Buffer::of_words::<u64>(bytes.div_ceil(8));
    let stride = row_words(job.cols.len());
    bits::pack_rows(rows.words(), stride, all(count), 0..job.cols.len(), &mut packed.bytes_mut()[..bytes]);
    packed
}

/// The same rows in whole words again.
fn unpacked(job: &Job, count: usize, packed: Buffer) -> Buffer {
    if !is_short(job) {
        return packed;
    }
    let words = row_words(job.cols.len());
    let mut rows = Buffer::of_words::<u64>(count * words);
    let bytes = &packed.bytes()[..message_bytes(job, count)];
    bits::unpack_rows(bytes, rows.words_mut(), words, all(count), 0..job.cols.len());
    rows
}

/// The messages of some products of numbers: addresses, and products.
fn messages(first: At, shape: Register) -> impl Iterator<Item = (At, Range<usize>)> {
    wire::pieces(shape).map(move |(piece, range)| (At { batch: first.batch + piece, ..first }, range))
}

/// The address of a matrix product's first message.
fn first_of(job: &Job) -> At {
    At { batch: 0, ..at(job) }
}
