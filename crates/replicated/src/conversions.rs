//! From numbers to bits and back, by the two additive components of a sharing ([`tacit_threeparty::conversions`]).
//!
//! `x = S + T` with `S = x_0 + x_1`, which `P_1` knows, and `T = x_2`, which `P_2` and `P_0` know.
//!
//! **Split** shares the bits of `S`. `P_1` shares them as an input of its own: component 1 is the stream that it has in
//! common with `P_2`, component 2 is 0, and it sends component 0 to `P_0`, masked by that stream. Component 2 has no
//! memory. `T`'s bits need no message: component 2 is `T`, the others 0, and so a tile takes them from `x_2` itself.
//!
//! **Select** takes bits back to numbers: it shares `A + v D + E`.
//!
//! - Stage 0: `P_1` shares `A = a_0 + a_1` and `D = d_0 + d_1`, where `a_1` and `d_1` come from the stream that it
//!   shares with `P_2`, and sends `a_0`, `d_0` to `P_0`. Components 1 and 0 of the result are fresh streams, `r` of
//!   `k_1` and `q` of `k_0`. `P_2` sends `e = a_1 + v d_1 + E - r` to `P_0`.
//! - Stage 1: `P_0` sends `m = a_0 + v d_0 - q` to `P_2`, and component 2 is `e + m`.
//!
//! `P_0` doesn't hold `k_1`, which hides `a_0`, `d_0` and `e` from it; `P_2` doesn't hold `k_0`, which hides `m`.

use crate::state::ReplicatedEngine;
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job, with_word};
use tacit_kernel::{Word, ring};
use tacit_program::plan::{OpKind, Reg, Rows};
use tacit_threeparty::conversions::{Selection, draw_rows, part};
use tacit_threeparty::products::{Products, Results};

/// The component that is `T`.
const THIRD: usize = 2;

/// Draws of a selection.
const A_ONE: u16 = 0;
const D_ONE: u16 = 1;
const RESULT_ONE: u16 = 2;
const RESULT_ZERO: u16 = 3;

impl ReplicatedEngine {
    pub(crate) fn split_begin(&mut self, job: &Job, a: Reg, count: u8, s: Reg) -> Result<(), Error> {
        if self.me == 0 {
            return Ok(());
        }
        let rows = Rows::run(s, 0, count.into());
        let bank = if self.me == 1 { &mut self.party.own } else { &mut self.party.prev };
        let key = self.party.session.stream(3 - self.me);
        draw_rows(key, Self::draw(job, 0), bank, job, rows);
        if self.me == 2 {
            return Ok(());
        }
        let message = self.party.split(job, a, rows, 1);
        self.send(job, 0, message)
    }

    pub(crate) fn split_finish(&mut self, job: &Job, count: u8, s: Reg) -> Result<(), Error> {
        if self.me != 0 {
            return Ok(());
        }
        let results = Results::Rows(Rows::run(s, 0, count.into()));
        let message = self.recv(job, 1, results.message_bytes(&self.party.plan, job))?;
        let out = self.party.own.make(s).bytes_mut();
        section(Section::Receiving, || results.unpack(&self.party.plan, job, &message, out));
        self.party.session.mesh().recycle(message);
        Ok(())
    }

    pub(crate) fn select_begin(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        let (selection, dst) = (Selection::of(kind), kind.writes()[0]);
        with_word!(self.party.width(dst), W => match (self.me, job.stage) {
            (1, 0) => self.select_give::<W>(job, selection, dst),
            (2, 0) => self.select_pass::<W>(job, selection, dst),
            (0, 1) => self.select_answer::<W>(job, dst),
            _ => Ok(()),
        })
    }

    pub(crate) fn select_finish(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        let (selection, dst) = (Selection::of(kind), kind.writes()[0]);
        with_word!(self.party.width(dst), W => match (self.me, job.stage) {
            (0, 0) => self.select_store::<W>(job, selection, dst),
            (2, 1) => self.select_complete::<W>(job, dst),
            _ => Ok(()),
        })
    }

    /// P_1, stage 0: shares `A` and, where it isn't implied, `D`; takes components 1 and 0 of the result.
    fn select_give<W: Word>(&mut self, job: &Job, selection: Selection, dst: Reg) -> Result<(), Error> {
        let mut message = Vec::with_capacity(selection.numbers() * job.cols.len());
        for (mut values, which) in self.party.selected::<W>(job, selection).into_iter().zip([A_ONE, D_ONE]) {
            ring::sub_assign(&mut values, &self.select_stream(job, 2, which));
            message.append(&mut values);
        }
        self.party.session.mesh().send(0, Self::at(job), bytemuck::cast_slice(&message))?;
        let one = self.select_stream::<W>(job, 2, RESULT_ONE);
        let zero = self.select_stream::<W>(job, 0, RESULT_ZERO);
        self.put_columns(job, dst, &one, &zero);
        Ok(())
    }

    /// P_2, stage 0: sends `e` and keeps it; takes component 1 of the result.
    fn select_pass<W: Word>(&mut self, job: &Job, selection: Selection, dst: Reg) -> Result<(), Error> {
        let v = self.party.selector::<W>(job, selection, THIRD);
        let a_one = self.select_stream::<W>(job, 1, A_ONE);
        let d_one = (selection.numbers() > 1).then(|| self.select_stream::<W>(job, 1, D_ONE));
        let mut e = part(&a_one, d_one.as_deref(), &v, false);
        if let Some(addend) = self.party.addend(job, selection, THIRD) {
            ring::add_assign(&mut e, &addend);
        }
        let one = self.select_stream::<W>(job, 1, RESULT_ONE);
        ring::sub_assign(&mut e, &one);
        self.party.session.mesh().send(0, Self::at(job), bytemuck::cast_slice(&e))?;
        self.put_columns(job, dst, &e, &one);
        Ok(())
    }

    /// P_0, end of stage 0: keeps `a_0 + v d_0` and `e` until it answers.
    fn select_store<W: Word>(&mut self, job: &Job, selection: Selection, dst: Reg) -> Result<(), Error> {
        let count = job.cols.len();
        let given = self.recv_words::<W>(job, 1, selection.numbers() * count)?;
        let (a_zero, d_zero) = given.split_at(count);
        let v = self.party.selector::<W>(job, selection, THIRD);
        let share = part(a_zero, (selection.numbers() > 1).then_some(d_zero), &v, true);
        let e = self.recv_words::<W>(job, 2, count)?;
        self.put_columns(job, dst, &share, &e);
        Ok(())
    }

    /// P_0, stage 1: sends `m`; component 2 is `e + m`, component 0 is `q`.
    fn select_answer<W: Word>(&mut self, job: &Job, dst: Reg) -> Result<(), Error> {
        let q = self.select_stream::<W>(&Job { stage: 0, ..job.clone() }, 1, RESULT_ZERO);
        let own = &mut self.party.own.make(dst).words_mut::<W>()[job.cols.clone()];
        let mut m = own.to_vec();
        own.copy_from_slice(&q);
        ring::sub_assign(&mut m, &q);
        self.party.session.mesh().send(2, Self::at(job), bytemuck::cast_slice(&m))?;
        ring::add_assign(&mut self.party.prev.make(dst).words_mut::<W>()[job.cols.clone()], &m);
        Ok(())
    }

    /// P_2, end of stage 1: component 2 is `e + m`.
    fn select_complete<W: Word>(&mut self, job: &Job, dst: Reg) -> Result<(), Error> {
        let m = self.recv_words::<W>(job, 0, job.cols.len())?;
        ring::add_assign(&mut self.party.own.make(dst).words_mut::<W>()[job.cols.clone()], &m);
        Ok(())
    }

    /// Writes a job's columns of both components.
    fn put_columns<W: Word>(&mut self, job: &Job, dst: Reg, own: &[W], prev: &[W]) {
        for (bank, values) in [(&mut self.party.own, own), (&mut self.party.prev, prev)] {
            bank.make(dst).words_mut::<W>()[job.cols.clone()].copy_from_slice(values);
        }
    }

    /// A job's part of one of the streams shared with `peer`.
    fn select_stream<W: Word>(&mut self, job: &Job, peer: usize, which: u16) -> Vec<W> {
        let mut words = vec![W::ZERO; job.cols.len()];
        let block = (job.cols.start * W::BYTES / 16) as u64;
        self.key(peer).fill(Self::draw(job, which), block, bytemuck::cast_slice_mut(&mut words));
        words
    }

    fn recv_words<W: Word>(&mut self, job: &Job, from: usize, count: usize) -> Result<Vec<W>, Error> {
        let message = self.recv(job, from, count * W::BYTES)?;
        let mut words = vec![W::ZERO; count];
        bytemuck::cast_slice_mut(&mut words).copy_from_slice(&message);
        self.party.session.mesh().recycle(message);
        Ok(words)
    }
}
