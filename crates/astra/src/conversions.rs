//! From numbers to bits and back, by the two additive components of a sharing ([`tacit_threeparty::conversions`]).
//!
//! `x = S + T` with `S = x_1 + x_2`, the mask, which `P_0` knows before any input, and `T = x_0 = m`, which `P_1` and `P_2`
//! know. Neither takes a message online.
//!
//! **Split** shares the bits of `S` offline: component 1 is drawn by `P_0` and `P_1`, component 0 is zero, and `P_0`
//! sends component 2 to `P_2`, which that stream hides. `T`'s bits are a sharing as they are: component 0 is `T`, the
//! others 0.
//!
//! **Select** takes bits back to numbers, `A + v D + E`. `P_0` shares `A` and `D` offline: `P_1`'s parts are drawn, `P_2`'s
//! are sent to it, hidden by these. Online `P_i` sends `A_i + v D_i - z_i`, `P_2` with `E` added, as its part of a
//! product: one round.

use crate::draws::{Drawn, Walk};
use crate::state::AstraEngine;
use tacit_engine::bank::{row_words, words_of};
use tacit_engine::{Error, Job, with_word};
use tacit_kernel::{Element, Word, ring};
use tacit_program::plan::{OpKind, Reg, Rows};
use tacit_threeparty::conversions::{Selection, draw_rows, part};
use tacit_threeparty::products::{Products, Results};

/// What `P_1`'s parts of the numbers of a selection are drawn for.
const SHARES: [Drawn; 2] = [Drawn::Share, Drawn::SecondShare];

impl AstraEngine {
    pub(crate) fn split_begin(&mut self, job: &Job, a: Reg, count: u8, s: Reg) -> Result<(), Error> {
        let rows = Rows::run(s, 0, count.into());
        if self.me == 2 {
            let cols = self.party.plan.register(s).cols;
            let (stride, words) = (row_words(cols), words_of(&job.cols, cols));
            let mut two = self.party.component_mut(2).take(s);
            let shares = bytemuck::cast_slice::<u8, u64>(self.ahead()?.shares(job.op));
            for start in (0..usize::from(count)).map(|row| row * stride) {
                let range = start + words.start..start + words.end;
                two.words_mut()[range.clone()].copy_from_slice(&shares[range]);
            }
            self.party.component_mut(2).put(s, two);
            return Ok(());
        }
        let stream = &mut self.streams[1 - self.me];
        draw_rows(stream, Self::draw(job, Drawn::Mask), self.party.component_mut(1), job, rows);
        if self.me == 1 {
            return Ok(());
        }
        let message = self.party.split(job, a, rows, 1);
        self.send(job, self.receiver(), message)
    }

    /// `P_2`, offline: keeps its share of the bits of `S`.
    pub(crate) fn split_finish(&mut self, job: &Job, from: usize, count: u8, s: Reg) -> Result<(), Error> {
        if self.walk == Walk::Online {
            return Ok(());
        }
        self.results_finish(job, from, &Results::Rows(Rows::run(s, 0, count.into())))
    }

    pub(crate) fn select_begin(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        if job.stage > 0 {
            return Ok(());
        }
        let (selection, dst) = (Selection::of(kind), kind.writes()[0]);
        with_word!(self.party.width(dst), W => {
            if self.me == 0 { self.give_numbers::<W>(job, selection, dst) } else { self.select::<W>(job, selection, dst) }
        })
    }

    /// `P_2` offline: keeps its parts of the numbers for each element. `P_1` and `P_2` online: complete the result.
    pub(crate) fn select_finish(&mut self, job: &Job, from: usize, kind: &OpKind) -> Result<(), Error> {
        if job.stage > 0 {
            return Ok(());
        }
        if self.walk == Walk::Online {
            return self.results_finish(job, from, &Results::of(job, kind));
        }
        let (count, dst) = (Selection::of(kind).numbers(), kind.writes()[0]);
        with_word!(self.party.width(dst), W => {
            let message = self.recv(job, from, count * job.cols.len() * W::BYTES)?;
            let cols = self.party.plan.register(dst).cols;
            let shares = bytemuck::cast_slice_mut::<u8, W>(self.ahead()?.shares_mut(job.op));
            for (which, part) in message.chunks_exact(message.len() / count).enumerate() {
                let range = which * cols + job.cols.start..which * cols + job.cols.end;
                bytemuck::cast_slice_mut(&mut shares[range]).copy_from_slice(part);
            }
            self.party.session.mesh().recycle(message);
        });
        Ok(())
    }

    /// `P_0`: shares numbers between `P_1` and `P_2`, and draws the masks of the result.
    fn give_numbers<W: Word>(&mut self, job: &Job, selection: Selection, dst: Reg) -> Result<(), Error> {
        let mut message = self.party.session.mesh().buffer(selection.numbers() * job.cols.len() * W::BYTES);
        for (mut part, drawn) in self.party.selected::<W>(job, selection).into_iter().zip(SHARES) {
            ring::sub_assign(&mut part, &self.draw_words(job, 1, drawn));
            message.extend_from_slice(bytemuck::cast_slice(&part));
        }
        for component in [1, 2] {
            let masks: Vec<W> = self.draw_words(job, component, Drawn::Mask);
            self.put_columns(job, dst, component, &masks);
        }
        self.send(job, self.receiver(), message)
    }

    /// `P_1` and `P_2`: their part of a number that `P_0` shared.
    fn number<W: Word>(&mut self, job: &Job, dst: Reg, which: usize) -> Result<Vec<W>, Error> {
        if self.me == 1 {
            return Ok(self.draw_words(job, 0, SHARES[which]));
        }
        let cols = self.party.plan.register(dst).cols;
        let shares = bytemuck::cast_slice::<u8, W>(self.ahead()?.shares(job.op));
        Ok(shares[which * cols + job.cols.start..which * cols + job.cols.end].to_vec())
    }

    /// `P_1` and `P_2`: mask a part of the result and send it to the other.
    fn select<W: Word>(&mut self, job: &Job, selection: Selection, dst: Reg) -> Result<(), Error> {
        let me = self.me;
        let v = self.party.selector::<W>(job, selection, 0);
        let a = self.number::<W>(job, dst, 0)?;
        let d = if selection.numbers() > 1 { Some(self.number::<W>(job, dst, 1)?) } else { None };
        let mut part = part(&a, d.as_deref(), &v, me == 2);
        if me == 2
            && let Some(addend) = self.party.addend(job, selection, 0)
        {
            ring::add_assign(&mut part, &addend);
        }
        let masks: Vec<W> = self.draw_words(job, 0, Drawn::Mask);
        ring::sub_assign(&mut part, &masks);
        self.put_columns(job, dst, me, &masks);
        self.put_columns(job, dst, 0, &part);
        let mut message = self.party.session.mesh().buffer(part.len() * W::BYTES);
        message.extend_from_slice(bytemuck::cast_slice(&part));
        self.send(job, self.receiver(), message)
    }

    /// Writes a job's columns of a component.
    fn put_columns<W: Word>(&mut self, job: &Job, dst: Reg, component: usize, values: &[W]) {
        let bank = self.party.component_mut(component);
        bank.make(dst).words_mut::<W>()[job.cols.clone()].copy_from_slice(values);
    }

    /// A job's part of one of the streams shared with a role.
    fn draw_words<W: Word>(&mut self, job: &Job, other: usize, drawn: Drawn) -> Vec<W> {
        let mut words = vec![W::ZERO; job.cols.len()];
        let block = (job.cols.start * W::BYTES / 16) as u64;
        self.streams[other].fill(Self::draw(job, drawn), block, bytemuck::cast_slice_mut(&mut words));
        words
    }
}
