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

use crate::state::ReplicatedEngine;
use std::ops::Range;
use tacit_engine::bank::{row_words, words_of};
use tacit_engine::wire::{message_bytes, message_of};
use tacit_engine::{Error, Job, with_element};
use tacit_kernel::Element;
use tacit_program::plan::{Reg, Rows};
use tacit_threeparty::prev;
use tacit_threeparty::products::{Products, add_columns, add_rows, rows_bytes};

impl ReplicatedEngine {
    /// Draws a job's bits of rows, for the previous party's components, and sends them to it.
    pub(crate) fn draw_rows(&mut self, job: &Job, rows: Rows) -> Result<(), Error> {
        let cols = self.party.plan.register(rows.reg).cols;
        let (stride, words) = (row_words(cols), words_of(&job.cols, cols));
        let mut drawn = self.party.prev.take(rows.reg);
        for index in 0..rows.count {
            let start = rows.row(index) as usize * stride;
            let row = &mut drawn.words_mut::<u64>()[start + words.start..start + words.end];
            self.party.session.entropy().fill(bytemuck::cast_slice_mut(row))?;
        }
        let message = self.party.pack_rows(&drawn, rows, stride, job.cols.clone());
        self.party.prev.put(rows.reg, drawn);
        self.send(job, prev(self.me), message)
    }

    /// Draws elements of a register, for the previous party's component, and sends them to it.
    pub(crate) fn draw_elements(&mut self, job: &Job, reg: Reg, cols: Range<usize>) -> Result<(), Error> {
        let shape = self.party.plan.register(reg);
        let mut drawn = self.party.prev.take(reg);
        with_element!(shape.domain, E => {
            let mut bytes = vec![0; cols.len() * E::DRAWN];
            self.party.session.entropy().fill(&mut bytes)?;
            E::draw(&bytes, &mut drawn.words_mut::<E>()[cols.clone()]);
        });
        let message = message_of(shape, &drawn, &cols);
        self.party.prev.put(reg, drawn);
        self.send(job, prev(self.me), message)
    }

    /// Adds what a neighbour sends of rows to the component that this party shares with it.
    pub(crate) fn add_rows(&mut self, job: &Job, from: usize, rows: Rows) -> Result<(), Error> {
        let message = self.recv(job, from, rows_bytes(job, rows.count))?;
        let bank = if from == prev(self.me) { &mut self.party.prev } else { &mut self.party.own };
        add_rows(bank, job, rows, &message);
        self.party.session.mesh().recycle(message);
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
        let message = self.recv(job, from, message_bytes(self.domain(reg), cols.len()))?;
        let bank = if from == prev(self.me) { &mut self.party.prev } else { &mut self.party.own };
        add_columns(bank, reg, cols, &message);
        self.party.session.mesh().recycle(message);
        Ok(())
    }
}
