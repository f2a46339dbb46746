//! The engine without a protocol: one party that holds everything in the clear.
//!
//! It runs every plan and says what the right outputs are. Where a plan asks for additive components, its bank
//! makes some up ([`Part::Whole`]).

use crate::bank::{Bank, Part, mix, row_words};
use crate::tile::Tiles;
use crate::{Clear, Engine, Error, Job, KeptShare, Participants, vector, with_element, with_word};
use std::sync::Arc;
use tacit_circuit::Layered;
use tacit_kernel::{Element, Word, bits, matrix, ring, transpose};
use tacit_program::plan::{Domain, Local, MatrixShape, OpKind, Operand, Plan, Reg, Rows, SECOND_COMPONENT};
use tacit_session::Session;

/// One party, no messages, no secrets.
pub struct ClearEngine {
    plan: Arc<Plan>,
    bank: Bank,
    tiles: Tiles,
}

impl ClearEngine {
    /// Ready for the plan's inputs, which all are this party's to give.
    pub fn new(plan: Arc<Plan>) -> Self {
        Self { bank: Bank::new(plan.clone(), Part::Whole), tiles: Tiles::new(1), plan }
    }

    fn and(&mut self, a: Rows, b: Rows, dst: Rows) {
        let words = row_words(self.bank.shape(dst.reg).cols);
        let mut out = self.bank.take(dst.reg);
        for index in 0..dst.count {
            let start = dst.row(index) as usize * words;
            let row = &mut out.words_mut()[start..start + words];
            bits::and(self.bank.row(a, index), self.bank.row(b, index), row);
        }
        self.bank.put(dst.reg, out);
    }

    fn mul(&mut self, a: Reg, b: Reg, dst: Reg) {
        let mut out = self.bank.take(dst);
        with_element!(self.bank.shape(dst).domain, E => {
            ring::mul::<E>(self.bank.get(a).words(), self.bank.get(b).words(), out.words_mut());
        });
        self.bank.put(dst, out);
    }

    fn matmul(&mut self, a: Reg, b: Reg, shape: MatrixShape, dst: Reg) {
        let MatrixShape { batch, m, k, n } = shape;
        let mut out = self.bank.take(dst);
        with_element!(self.bank.shape(dst).domain, E => {
            let (a, b) = (self.bank.get(a).words::<E>(), self.bank.get(b).words::<E>());
            let out = out.words_mut::<E>();
            out.fill(E::ZERO);
            for index in 0..batch {
                matrix::matmul(
                    &a[index * m * k..(index + 1) * m * k],
                    &b[index * k * n..(index + 1) * k * n],
                    &mut out[index * m * n..(index + 1) * m * n],
                    m,
                    k,
                    n,
                );
            }
        });
        self.bank.put(dst, out);
    }

    fn split(&mut self, a: Reg, count: u8, s: Reg) {
        let mut planes = self.bank.take(s);
        let stride = row_words(self.bank.shape(s).cols);
        with_word!(self.bank.width(a), W => {
            let first: Vec<W> = self.additive_components::<W>(a).map(|[first, _]| first).collect();
            transpose::to_planes::<W>(&first, count as usize, planes.words_mut(), stride);
        });
        self.bank.put(s, planes);
    }

    fn inject(&mut self, a: Rows, dst: Reg) {
        let mut out = self.bank.take(dst);
        with_word!(self.bank.width(dst), W => {
            transpose::bit_to_words::<W>(self.bank.row(a, 0), out.words_mut());
        });
        self.bank.put(dst, out);
    }

    fn shift(&mut self, a: Reg, by: u8, dst: Reg) {
        let mut out = self.bank.take(dst);
        let by = u32::from(by);
        with_word!(self.bank.width(dst), W => {
            for (out, [s, t]) in out.words_mut::<W>().iter_mut().zip(self.additive_components::<W>(a)) {
                let wrap = s.shr(W::BITS - 1).max(t.shr(W::BITS - 1)).shl(W::BITS - by);
                *out = s.shr(by).wrapping_add(t.shr(by)).wrapping_sub(wrap);
            }
        });
        self.bank.put(dst, out);
    }

    fn msb(&mut self, a: Reg, dst: Reg) {
        let mut out = self.bank.take(dst);
        with_word!(self.bank.width(a), W => {
            let tops: Vec<W> = self.bank.get(a).words::<W>().iter().map(|word| word.shr(W::BITS - 1)).collect();
            transpose::to_planes::<W>(&tops, 1, out.words_mut(), row_words(tops.len()));
        });
        self.bank.put(dst, out);
    }

    fn open(&mut self, a: Reg, dst: Reg) {
        let mut out = self.bank.take(dst);
        out.bytes_mut().copy_from_slice(self.bank.get(a).bytes());
        self.bank.put(dst, out);
    }

    /// Elements that look random, always the same for an operation and a place: results don't depend on them.
    fn random(&mut self, op: u32, dst: Reg, as_bits: bool) {
        let mut out = self.bank.take(dst);
        let word = |at: usize, half: u64| mix((u64::from(op) << 40) ^ (2 * at as u64) ^ half);
        match self.bank.shape(dst).domain {
            Domain::Bits => {
                let words = out.words_mut::<u64>().iter_mut().enumerate();
                words.for_each(|(at, out)| *out = word(at, 0));
            }
            domain => with_element!(domain, E => {
                for (at, out) in out.words_mut::<E>().iter_mut().enumerate() {
                    let element = u128::from(word(at, 1)) << 64 | u128::from(word(at, 0));
                    let element = if as_bits { element & 1 } else { domain.modulus().reduce_unsigned(element) };
                    *out = E::from_u128(element);
                }
            }),
        }
        self.bank.put(dst, out);
    }

    fn compose(&mut self, a: Reg, mask: Reg, dst: Reg) {
        let mut out = self.bank.take(dst);
        with_word!(self.bank.width(dst), W => {
            let all = ..out.words_mut::<W>().len();
            let [a, mask] = [a, mask].map(|reg| &self.bank.get(reg).words::<W>()[all]);
            ring::add(a, mask, out.words_mut());
        });
        self.bank.put(dst, out);
    }

    /// An order that looks random, always the same for an operation: results that a plan reveals don't depend on it.
    fn shuffle(&mut self, op: u32, cols: &[Reg], blocks: usize, dst: &[Reg]) {
        let mut order: Vec<u32> = (0..blocks as u32).collect();
        for at in (1..blocks).rev() {
            let place = mix(u64::from(op) << 32 ^ at as u64) % (at as u64 + 1);
            order.swap(at, place as usize);
        }
        for (&from, &dst) in cols.iter().zip(dst) {
            let mut out = self.bank.take(dst);
            vector::in_order(self.bank.shape(from), self.bank.get(from), &order, &mut out);
            self.bank.put(dst, out);
        }
    }

    /// The two additive components of each number.
    fn additive_components<W: Word>(&self, a: Reg) -> impl Iterator<Item = [W; 2]> {
        let numbers = self.bank.get(a).words::<W>();
        let second =
            self.bank.additive_component::<W>(a, SECOND_COMPONENT, 0..numbers.len()).unwrap_or_default();
        (0..numbers.len()).map(move |at| [numbers[at].wrapping_sub(second[at]), second[at]])
    }

    /// One layer of one tile.
    fn circuit(&mut self, job: &Job, circuit: &Layered, inputs: &[Operand], dst: Reg) {
        if job.stage == 0 {
            let tile = self.tiles.open(job, circuit);
            tile.constants(0, circuit, true);
        }
        let layer = &circuit.layers[job.stage as usize];
        let tile = self.tiles.get(job);
        tile.load(0, circuit, job.stage as usize, inputs, &self.bank);
        tile.sums(layer);
        tile.ands(layer);
        if job.stage == circuit.depth() {
            tile.store(0, circuit, self.bank.make(dst).words_mut());
            self.tiles.close(job);
        }
    }
}

impl Engine for ClearEngine {
    fn session(&mut self) -> Option<&mut Session> {
        None
    }

    fn share_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        let reg = self.plan.inputs[input as usize].reg;
        let values = values.ok_or_else(|| Error::Refused(format!("no values for input {input}")))?;
        let shape = self.plan.register(reg);
        if (values.domain(), values.cols()) != (shape.domain, shape.cols) {
            return Err(Error::Refused(format!("input {input} has another shape than the plan's")));
        }
        self.bank.make(reg).bytes_mut().copy_from_slice(values.data().bytes());
        Ok(())
    }

    fn receive_share(&mut self, _input: u32) -> Result<(), Error> {
        Ok(())
    }

    fn public_input(&mut self, input: u32, values: &Clear) -> Result<(), Error> {
        self.bank.write_public(self.plan.public_inputs[input as usize].reg, values);
        Ok(())
    }

    fn load_kept(&mut self, kept: u32, share: &KeptShare) -> Result<(), Error> {
        let reg = self.plan.kept[kept as usize].reg;
        share.read(0, self.plan.register(reg), self.bank.make(reg))
    }

    fn keep(&mut self, keep: u32) -> Result<KeptShare, Error> {
        let reg = self.plan.keeps[keep as usize].reg;
        Ok(KeptShare::new(self.plan.register(reg), None, [(0, None, self.bank.get(reg))]))
    }

    fn local(&mut self, step: &Local) -> Result<(), Error> {
        self.bank.run(step, &mut || Ok(()))
    }

    fn begin(&mut self, job: &Job) -> Result<(), Error> {
        // The whole operation at once, when its last job's turn comes.
        let plan = self.plan.clone();
        let kind = &plan.op(job.op).kind;
        if let OpKind::Circuit { circuit, inputs, dst } = kind {
            self.circuit(job, circuit, inputs, *dst);
            return Ok(());
        }
        if !job.last || job.stage + 1 != u32::from(kind.stages()) {
            return Ok(());
        }
        if let OpKind::Shuffle { cols, blocks, dst, .. } = kind {
            self.shuffle(job.op, cols, *blocks, dst);
            return Ok(());
        }
        match *kind {
            OpKind::And { a, b, dst } => self.and(a, b, dst),
            OpKind::Mul { a, b, dst } => self.mul(a, b, dst),
            OpKind::MatMul { a, b, shape, dst } => self.matmul(a, b, shape, dst),
            OpKind::Split { a, bits, s } => self.split(a, bits, s),
            OpKind::Inject { a, dst } => self.inject(a, dst),
            OpKind::Shift { a, by, dst } => self.shift(a, by, dst),
            OpKind::Msb { a, dst } => self.msb(a, dst),
            OpKind::Open { a, dst, .. } => self.open(a, dst),
            OpKind::Random { dst, bits } => self.random(job.op, dst, bits),
            OpKind::PairMask { dst, .. } => self.random(job.op, dst, true),
            OpKind::Compose { a, mask, dst } => self.compose(a, mask, dst),
            OpKind::Circuit { .. } | OpKind::Shuffle { .. } => unreachable!("done above"),
        }
        Ok(())
    }

    fn arrived(&mut self, _job: &Job) -> Result<bool, Error> {
        Ok(true)
    }

    fn finish(&mut self, _job: &Job) -> Result<(), Error> {
        Ok(())
    }

    fn free(&mut self, reg: Reg) {
        self.bank.free(reg);
    }

    fn check(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn send_output(&mut self, _output: u32) -> Result<(), Error> {
        Ok(())
    }

    fn open_output(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        let reg = self.plan.outputs[output as usize].reg;
        let shape = self.plan.register(reg);
        Ok(Some(Clear::new(shape.domain, shape.cols, self.bank.get(reg).clone())))
    }

    fn next(&mut self, plan: Arc<Plan>, _roles: Participants) -> Result<(), Error> {
        *self = Self::new(plan);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::{Unobserved, run_party};
    use tacit_program::plan::{Builder, Domain, To};

    #[test]
    fn circuits_read_rows_and_write_one_whatever_the_tiles() {
        let mut build = tacit_circuit::Builder::new();
        let bits = build.input(8);
        let both = build.and(bits[0], bits[7]);
        let sum = build.xor(both, bits[3]);
        let circuit = Arc::new(Layered::new(&build.finish(vec![vec![sum]])));
        // A tile has less than 2^20 columns.
        for cols in [1, 63, 64, 65, 127, 128, 129, (1 << 20) + 65] {
            let mut builder = Builder::new();
            let owner = builder.role("alice");
            let s = builder.bits(8, cols);
            let dst = builder.bits(1, cols);
            for bit in 0..8 {
                let row = builder.bits(1, cols);
                builder.input(owner, row);
                builder.local(Local::CopyRows { a: Rows::one(row, 0), dst: Rows::one(s, bit) });
            }
            let inputs = vec![Operand::Rows(s)];
            builder.interact(OpKind::Circuit { circuit: circuit.clone(), inputs, dst });
            builder.output(dst, To::All);
            let plan = Arc::new(builder.finish());
            let bytes: Vec<u8> = (0..cols).map(|at| (at * 151 % 257) as u8).collect();
            let inputs = (0..8).map(|bit| {
                let words = bytes.iter().map(|byte| u64::from(byte >> bit & 1)).collect::<Vec<_>>();
                Some(Clear::from_words(Domain::Bits, &words))
            });
            let inputs: Vec<Option<Clear>> = inputs.collect();
            let mut engine = ClearEngine::new(plan.clone());
            let outcome = run_party(&mut engine, &plan, &inputs, &mut Unobserved).unwrap();
            let expected = bytes.iter().map(|byte| u64::from(byte & byte >> 7 ^ byte >> 3) & 1);
            let got = outcome.outputs[0].as_ref().unwrap().to_words();
            assert!(got.into_iter().eq(expected), "{cols} columns");
        }
    }
}
