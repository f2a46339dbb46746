//! From numbers to bits and back, by the two additive components of a sharing.
//!
//! `x = S + T` with `S = x_0 + x_1`, which `P_1` knows, and `T = x_2`, which `P_2` and `P_0` know.
//!
//! **Split** shares the bits of `S`. `P_1` shares them as an input of its own: component 1 is the stream that it has in
//! common with `P_2`, component 2 is 0, and it sends component 0 to `P_0`, masked by that stream. Component 2 has no
//! memory. `T`'s bits need no message: component 2 is `T`, the others 0, and so a tile takes them from `x_2` itself.
//!
//! **Select** takes bits back to numbers. `P_1` knows `A` and `D`, the others know a bit `v`; the result shares
//! `A + v D`, plus a number `E` that `P_2` knows.
//!
//! - Stage 0: `P_1` shares `A = a_0 + a_1` and `D = d_0 + d_1`, where `a_1` and `d_1` come from the stream that it
//!   shares with `P_2`, and sends `a_0`, `d_0` to `P_0`. Components 1 and 0 of the result are fresh streams, `r` of
//!   `k_1` and `q` of `k_0`. `P_2` sends `e = a_1 + v d_1 + E - r` to `P_0`.
//! - Stage 1: `P_0` sends `m = a_0 + v d_0 - q` to `P_2`, and component 2 is `e + m`.
//!
//! `P_0` doesn't hold `k_1`, which hides `a_0`, `d_0` and `e` from it; `P_2` doesn't hold `k_0`, which hides `m`.
//!
//! - *Inject*: a bit `b = u xor v` with `u = b_0 xor b_1` is `u + v (1 - 2u)`: `A = u`, and `D = 1 - 2A` is not sent.
//! - *Shift*: `w`, the wrap of `S + T`, is `msb(S) or msb(T)` for a sum below 2^(k-1), so
//!   `(S >> d) + (T >> d) - w 2^(k-d) = sar(S, d) + sar(T, d) + msb(S) msb(T) 2^(k-d)`, where `sar` copies the top bit
//!   down: `A = sar(S, d)`, `D = msb(S) 2^(k-d)`, `v = msb(T)`, `E = sar(T, d)`.

use crate::state::ReplicatedEngine;
use tacit_engine::bank::{Bank, row_words, words_of};
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job, with_word};
use tacit_kernel::{Element, Word, bits, transpose};
use tacit_program::plan::{Reg, Rows};
use tacit_threeparty::products::{Products, rows_bytes};

/// Draws of `select`.
const A_ONE: u16 = 0;
const D_ONE: u16 = 1;
const RESULT_ONE: u16 = 2;
const RESULT_ZERO: u16 = 3;

impl ReplicatedEngine {
    pub(crate) fn split_begin(&mut self, job: &Job, a: Reg, count: u8, s: Reg) -> Result<(), Error> {
        match self.me {
            1 => self.split_sum(job, a, count.into(), s),
            2 => {
                self.split_mask(job, count.into(), s);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn split_finish(&mut self, job: &Job, count: u8, s: Reg) -> Result<(), Error> {
        if self.me != 0 {
            return Ok(());
        }
        let message = self.recv(job, 1, rows_bytes(job, count.into()))?;
        let stride = row_words(self.party.plan.register(s).cols);
        let words = self.party.own.make(s).words_mut();
        let rows = Bank::stack(Rows::run(s, 0, u32::from(count)));
        section(Section::Receiving, || {
            bits::unpack_rows(&message, words, stride, rows, job.cols.clone());
        });
        self.party.session.mesh().recycle(message);
        Ok(())
    }

    /// P_1: shares the bits of `S = x_1 + x_0`.
    fn split_sum(&mut self, job: &Job, a: Reg, count: u32, s: Reg) -> Result<(), Error> {
        let stride = row_words(self.party.plan.register(s).cols);
        let words = words_of(&job.cols, self.party.plan.register(s).cols);
        let mut planes = self.party.prev.take(s);
        with_word!(self.party.width(a), W => {
            let sum = self.party.sum_of::<W>(a, job.cols.clone());
            let planes = &mut planes.words_mut()[words.start..];
            section(Section::Slicing, || transpose::to_planes::<W>(&sum, count as usize, planes, stride));
        });
        self.split_mask(job, count, s);
        for row in 0..count as usize {
            let range = row * stride + words.start..row * stride + words.end;
            bits::xor_assign(&mut planes.words_mut()[range.clone()], &self.party.own.get(s).words()[range]);
        }
        let message = self.party.pack_rows(&planes, Rows::run(s, 0, count), stride, job.cols.clone());
        self.party.prev.put(s, planes);
        self.send(job, 0, message)
    }

    /// P_1 and P_2: component 1 of `S`'s bits.
    fn split_mask(&mut self, job: &Job, count: u32, s: Reg) {
        let cols = self.party.plan.register(s).cols;
        let stride = row_words(cols);
        let words = words_of(&job.cols, cols);
        let me = self.me;
        let bank = if me == 1 { &mut self.party.own } else { &mut self.party.prev };
        let key = self.party.session.stream(if me == 1 { 2 } else { 1 });
        let planes = bank.make(s).words_mut::<u64>();
        section(Section::Randomness, || {
            for row in 0..count as usize {
                let range = row * stride + words.start..row * stride + words.end;
                let block = (range.start / 2) as u64;
                key.fill(Self::draw(job, 0), block, bytemuck::cast_slice_mut(&mut planes[range]));
            }
        });
    }

    pub(crate) fn inject_begin(&mut self, job: &Job, a: Rows, dst: Reg) -> Result<(), Error> {
        with_word!(self.party.width(dst), W => {
            if job.stage == 1 {
                return self.select_answer::<W>(job, dst);
            }
            match self.me {
                1 => {
                    let u = self.party.bits_of::<W>(a, &job.cols, &[1, 0]);
                    self.select_give::<W>(job, dst, &u, None)
                }
                2 => {
                    let v = self.party.bits_of::<W>(a, &job.cols, &[2]);
                    let a_one = self.select_stream::<W>(job, 1, A_ONE);
                    // a_1 + v d_1 with d_1 = -2 a_1; the 1 of D is in d_0.
                    let e = a_one.iter().zip(&v).map(|(&a, &v)| {
                        a.wrapping_sub(v.wrapping_mul(a.wrapping_add(a)))
                    });
                    let e: Vec<W> = e.collect();
                    self.select_pass(job, dst, e)
                }
                _ => Ok(()),
            }
        })
    }

    pub(crate) fn inject_finish(&mut self, job: &Job, a: Rows, dst: Reg) -> Result<(), Error> {
        with_word!(self.party.width(dst), W => {
            match (self.me, job.stage) {
                (0, 0) => {
                    let v = self.party.bits_of::<W>(a, &job.cols, &[2]);
                    let given = self.recv_words::<W>(job, 1, job.cols.len())?;
                    let share = given.iter().zip(&v).map(|(&a, &v)| {
                        // a_0 + v d_0 with d_0 = 1 - 2 a_0.
                        let d = W::ONE.wrapping_sub(a.wrapping_add(a));
                        a.wrapping_add(v.wrapping_mul(d))
                    });
                    let share: Vec<W> = share.collect();
                    self.select_store(job, dst, &share)
                }
                (2, 1) => self.select_complete::<W>(job, dst),
                _ => Ok(()),
            }
        })
    }

    pub(crate) fn shift_begin(&mut self, job: &Job, a: Reg, by: u8, dst: Reg) -> Result<(), Error> {
        let by = u32::from(by);
        with_word!(self.party.width(dst), W => {
            if job.stage == 1 {
                return self.select_answer::<W>(job, dst);
            }
            match self.me {
                1 => {
                    let sum = self.party.sum_of::<W>(a, job.cols.clone());
                    let shifted: Vec<W> = sum.iter().map(|word| word.sar(by)).collect();
                    let wrap: Vec<W> = sum.iter().map(|word| word.shr(W::BITS - 1).shl(W::BITS - by)).collect();
                    self.select_give(job, dst, &shifted, Some(&wrap))
                }
                2 => {
                    let a_one = self.select_stream::<W>(job, 1, A_ONE);
                    let d_one = self.select_stream::<W>(job, 1, D_ONE);
                    let third = &self.party.own.get(a).words::<W>()[job.cols.clone()];
                    let e = third.iter().zip(&a_one).zip(&d_one).map(|((t, &a), &d)| {
                        a.wrapping_add(t.shr(W::BITS - 1).wrapping_mul(d)).wrapping_add(t.sar(by))
                    });
                    let e: Vec<W> = e.collect();
                    self.select_pass(job, dst, e)
                }
                _ => Ok(()),
            }
        })
    }

    pub(crate) fn shift_finish(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        with_word!(self.party.width(dst), W => {
            match (self.me, job.stage) {
                (0, 0) => {
                    let given = self.recv_words::<W>(job, 1, 2 * job.cols.len())?;
                    let (a_zero, d_zero) = given.split_at(job.cols.len());
                    let third = &self.party.prev.get(a).words::<W>()[job.cols.clone()];
                    let share = third.iter().zip(a_zero).zip(d_zero).map(|((t, &a), &d)| {
                        a.wrapping_add(t.shr(W::BITS - 1).wrapping_mul(d))
                    });
                    let share: Vec<W> = share.collect();
                    self.select_store(job, dst, &share)
                }
                (2, 1) => self.select_complete::<W>(job, dst),
                _ => Ok(()),
            }
        })
    }

    /// P_1, stage 0: shares `A` and, where it isn't implied, `D`; takes components 1 and 0 of the result.
    fn select_give<W: Word>(&mut self, job: &Job, dst: Reg, a: &[W], d: Option<&[W]>) -> Result<(), Error> {
        let mut message = Vec::with_capacity(2 * a.len());
        for (values, which) in [(Some(a), A_ONE), (d, D_ONE)] {
            let Some(values) = values else { continue };
            let masks = self.select_stream::<W>(job, 2, which);
            message.extend(values.iter().zip(masks).map(|(value, mask)| value.wrapping_sub(mask)));
        }
        self.party.session.mesh().send(0, Self::at(job), bytemuck::cast_slice(&message))?;
        let one = self.select_stream::<W>(job, 2, RESULT_ONE);
        let zero = self.select_stream::<W>(job, 0, RESULT_ZERO);
        self.party.own.make(dst).words_mut::<W>()[job.cols.clone()].copy_from_slice(&one);
        self.party.prev.make(dst).words_mut::<W>()[job.cols.clone()].copy_from_slice(&zero);
        Ok(())
    }

    /// P_2, stage 0: sends `e` and keeps it; takes component 1 of the result.
    fn select_pass<W: Word>(&mut self, job: &Job, dst: Reg, mut e: Vec<W>) -> Result<(), Error> {
        let one = self.select_stream::<W>(job, 1, RESULT_ONE);
        for (e, r) in e.iter_mut().zip(&one) {
            *e = e.wrapping_sub(*r);
        }
        self.party.session.mesh().send(0, Self::at(job), bytemuck::cast_slice(&e))?;
        self.party.own.make(dst).words_mut::<W>()[job.cols.clone()].copy_from_slice(&e);
        self.party.prev.make(dst).words_mut::<W>()[job.cols.clone()].copy_from_slice(&one);
        Ok(())
    }

    /// P_0, end of stage 0: keeps `a_0 + v d_0` and `e` until it answers.
    fn select_store<W: Word>(&mut self, job: &Job, dst: Reg, share: &[W]) -> Result<(), Error> {
        let e = self.recv_words::<W>(job, 2, job.cols.len())?;
        self.party.own.make(dst).words_mut::<W>()[job.cols.clone()].copy_from_slice(share);
        self.party.prev.make(dst).words_mut::<W>()[job.cols.clone()].copy_from_slice(&e);
        Ok(())
    }

    /// P_0, stage 1: sends `m`; component 2 is `e + m`, component 0 is `q`.
    fn select_answer<W: Word>(&mut self, job: &Job, dst: Reg) -> Result<(), Error> {
        if self.me != 0 {
            return Ok(());
        }
        let first_stage = Job { stage: 0, ..job.clone() };
        let q = self.select_stream::<W>(&first_stage, 1, RESULT_ZERO);
        let mut m = q.clone();
        for (m, share) in m.iter_mut().zip(&self.party.own.get(dst).words::<W>()[job.cols.clone()]) {
            *m = share.wrapping_sub(*m);
        }
        self.party.session.mesh().send(2, Self::at(job), bytemuck::cast_slice(&m))?;
        for (component, m) in self.party.prev.make(dst).words_mut::<W>()[job.cols.clone()].iter_mut().zip(&m)
        {
            *component = component.wrapping_add(*m);
        }
        self.party.own.make(dst).words_mut::<W>()[job.cols.clone()].copy_from_slice(&q);
        Ok(())
    }

    /// P_2, end of stage 1: component 2 is `e + m`.
    fn select_complete<W: Word>(&mut self, job: &Job, dst: Reg) -> Result<(), Error> {
        let m = self.recv_words::<W>(job, 0, job.cols.len())?;
        for (component, m) in self.party.own.make(dst).words_mut::<W>()[job.cols.clone()].iter_mut().zip(&m) {
            *component = component.wrapping_add(*m);
        }
        Ok(())
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
