//! Information-theoretic zero-sharing: masks that no key makes.
//!
//! Araki et al. 2016, section 2.2: every party chooses a fresh random element for each AND and product and sends it
//! to a neighbour; what it chose and what it received differ by its part of a sharing of zero. There the chosen
//! element goes to the next party, so that a party has to wait for the one that it receives before it can send the
//! product's message. Here it goes to the party before, and both messages go in one round:
//!
//! `P_i` draws `t_i`, sends `t_i` to `P_(i-1)` and `s_i = x_i y_i + x_i y_(i-1) + x_(i-1) y_i - t_i` to `P_(i+1)`.
//! Component `z_i = s_i + t_(i+1)` is then known to `P_i`, which receives `t_(i+1)`, and to `P_(i+1)`, which receives
//! `s_i`. The masks `t_(i+1) - t_i` sum to zero. Of the two elements that `P_j` receives, `t_(j+1)` is fresh, and
//! `s_(j-1)` is hidden by `t_(j-1)`, which `P_j` doesn't see.
//!
//! Between the two stages of a job `t_i` stands where the previous party's component will.

use crate::engine::{ReplicatedEngine, words_of};
use crate::prev;
use crate::products::{send_elements, send_rows};
use std::ops::Range;
use tacit_engine::bank::row_words;
use tacit_engine::wire::unpack_columns;
use tacit_engine::{Error, Job, with_element};
use tacit_kernel::{Buffer, Element, bits, ring};
use tacit_program::plan::{Reg, Register, Rows};

impl ReplicatedEngine {
    /// Draws a job's bits of rows, for the previous party's components, and sends them to it.
    pub(crate) fn draw_rows(&mut self, job: &Job, rows: Rows) -> Result<(), Error> {
        let cols = self.plan.register(rows.reg).cols;
        let (stride, words) = (row_words(cols), words_of(&job.cols, cols));
        let mut drawn = self.prev.take(rows.reg);
        for index in 0..rows.count {
            let start = rows.row(index) as usize * stride;
            let row = &mut drawn.words_mut::<u64>()[start + words.start..start + words.end];
            self.session.entropy().fill(bytemuck::cast_slice_mut(row))?;
        }
        self.prev.put(rows.reg, drawn);
        send_rows(&mut self.session, &self.prev, job, prev(self.me), rows)
    }

    /// Draws elements of a register, for the previous party's component, and sends them to it.
    pub(crate) fn draw_elements(&mut self, job: &Job, reg: Reg, cols: Range<usize>) -> Result<(), Error> {
        let mut drawn = self.prev.take(reg);
        with_element!(self.domain(reg), E => {
            let mut bytes = vec![0; cols.len() * E::DRAWN];
            self.session.entropy().fill(&mut bytes)?;
            E::draw(&bytes, &mut drawn.words_mut::<E>()[cols.clone()]);
        });
        self.prev.put(reg, drawn);
        send_elements(&mut self.session, &self.prev, job, prev(self.me), reg, cols)
    }

    /// Adds what a neighbour sends of rows to the component that this party shares with it.
    pub(crate) fn add_rows(&mut self, job: &Job, from: usize, rows: Rows) -> Result<(), Error> {
        let message = self.recv_bits(job, from, rows.count)?;
        let cols = self.plan.register(rows.reg).cols;
        let (stride, words) = (row_words(cols), words_of(&job.cols, cols));
        let mut received = vec![0; rows.count as usize * words.len()];
        let stack = bits::Rows { first: 0, step: 1, count: rows.count as usize };
        bits::unpack_rows(&message, &mut received, words.len(), stack, 0..job.cols.len());
        self.session.mesh().recycle(message);
        let bank = if from == prev(self.me) { &mut self.prev } else { &mut self.own };
        let component = bank.make(rows.reg).words_mut::<u64>();
        for (index, row) in received.chunks_exact(words.len()).enumerate() {
            let start = rows.row(index as u32) as usize * stride + words.start;
            bits::xor_assign(&mut component[start..start + words.len()], row);
        }
        Ok(())
    }

    /// Adds what a neighbour sends of columns to the component that this party shares with it.
    pub(crate) fn add_elements(
        &mut self,
        job: &Job,
        from: usize,
        reg: Reg,
        cols: Range<usize>,
    ) -> Result<(), Error> {
        let message = self.recv_elements(job, from, reg, &cols)?;
        let shape = Register { cols: cols.len(), ..self.plan.register(reg) };
        let mut received = Buffer::new(tacit_engine::bytes_of(shape.domain, shape.cols));
        unpack_columns(shape, &message, 0..shape.cols, &mut received);
        self.session.mesh().recycle(message);
        let bank = if from == prev(self.me) { &mut self.prev } else { &mut self.own };
        with_element!(shape.domain, E => {
            ring::add_assign::<E>(&mut bank.make(reg).words_mut::<E>()[cols], received.words());
        });
        Ok(())
    }
}
