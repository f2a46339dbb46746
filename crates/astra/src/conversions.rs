//! From numbers to bits and back, by the two additive components of a sharing.
//!
//! `x = S + T` with `S = x_1 + x_2`, the mask, which `P_0` knows before any input, and `T = x_0 = m`, which `P_1` and `P_2`
//! know. Neither takes a message online.
//!
//! **Split** shares the bits of `S` offline: component 1 is drawn by `P_0` and `P_1`, component 0 is zero, and `P_0`
//! sends component 2 to `P_2`, which that stream hides. `T`'s bits are a sharing as they are: component 0 is `T`, the
//! others 0.
//!
//! **Select** is what takes bits back to numbers: `A + v D + E`, where `P_0` knows the numbers `A` and `D` offline,
//! and `P_1` and `P_2` know the bit `v` and the number `E`. `P_0` shares `A` and `D`: `P_1`'s parts are drawn, `P_2`'s
//! are sent to it, hidden by these. Online `P_i` sends `A_i + v D_i - z_i`, `P_2` with `E` added, as its part of a
//! product: one round.
//!
//! - *Inject*: a bit `b = u xor v` with `u = b_1 xor b_2` and `v = b_0` is `u + v (1 - 2u)`: `A = u`, and `D = 1 - 2A` is not sent.
//! - *Shift*: `w`, the wrap of `S + T`, is `msb(S) or msb(T)` for a sum below 2^(k-1), so
//!   `(S >> d) + (T >> d) - w 2^(k-d) = sar(S, d) + sar(T, d) + msb(S) msb(T) 2^(k-d)`, where `sar` copies the top
//!   bit down: `A = sar(S, d)`, `D = msb(S) 2^(k-d)`, `v = msb(T)`, `E = sar(T, d)`.

use crate::draws::{Drawn, Walk};
use crate::state::AstraEngine;
use tacit_engine::bank::{Bank, row_words, words_of};
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job, with_word};
use tacit_kernel::{Element, Word, bits, ring, transpose};
use tacit_program::plan::{Reg, Rows};
use tacit_threeparty::products::{Products, rows_bytes};

impl AstraEngine {
    pub(crate) fn split_begin(&mut self, job: &Job, a: Reg, count: u8, s: Reg) -> Result<(), Error> {
        let cols = self.party.plan.register(s).cols;
        let stride = row_words(cols);
        let words = words_of(&job.cols, cols);
        let all = Rows::run(s, 0, count.into());
        let ranges = move || (0..count as usize).map(move |row| row * stride);
        let words_of_row = move |start: usize| start + words.start..start + words.end;
        if self.me != 2 {
            let mut one = self.party.component_mut(1).take(s);
            let other = usize::from(self.me == 0);
            section(Section::Randomness, || {
                for start in ranges() {
                    let range = words_of_row(start);
                    let block = (range.start / 2) as u64;
                    let out = bytemuck::cast_slice_mut(&mut one.words_mut::<u64>()[range]);
                    self.streams[other].fill(Self::draw(job, Drawn::Mask), block, out);
                }
            });
            self.party.component_mut(1).put(s, one);
        }
        match self.me {
            0 => {
                let mut two = self.party.component_mut(2).take(s);
                with_word!(self.party.width(a), W => {
                    let sum = self.party.sum_of::<W>(a, job.cols.clone());
                    let planes = &mut two.words_mut()[words_of_row(0).start..];
                    section(Section::Slicing, || transpose::to_planes::<W>(&sum, count.into(), planes, stride));
                });
                for start in ranges() {
                    let one = &self.party.component_mut(1).get(s).words()[words_of_row(start)];
                    bits::xor_assign(&mut two.words_mut()[words_of_row(start)], one);
                }
                let message = self.party.pack_rows(&two, all, stride, job.cols.clone());
                self.party.component_mut(2).put(s, two);
                self.send(job, self.receiver(), message)
            }
            2 => {
                let mut two = self.party.component_mut(2).take(s);
                let shares = bytemuck::cast_slice::<u8, u64>(self.ahead()?.shares(job.op));
                for start in ranges() {
                    two.words_mut()[words_of_row(start)].copy_from_slice(&shares[words_of_row(start)]);
                }
                self.party.component_mut(2).put(s, two);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// `P_2`, offline: keeps its share of the bits of `S`.
    pub(crate) fn split_finish(&mut self, job: &Job, from: usize, count: u8, s: Reg) -> Result<(), Error> {
        if self.walk == Walk::Online {
            return Ok(());
        }
        let message = self.recv(job, from, rows_bytes(job, count.into()))?;
        let stride = row_words(self.party.plan.register(s).cols);
        let shares = bytemuck::cast_slice_mut(self.ahead()?.shares_mut(job.op));
        bits::unpack_rows(
            &message,
            shares,
            stride,
            Bank::stack(Rows::run(s, 0, count.into())),
            job.cols.clone(),
        );
        self.party.session.mesh().recycle(message);
        Ok(())
    }

    pub(crate) fn inject_begin(&mut self, job: &Job, a: Rows, dst: Reg) -> Result<(), Error> {
        if job.stage > 0 {
            return Ok(());
        }
        with_word!(self.party.width(dst), W => {
            if self.me == 0 {
                let u = self.party.bits_of::<W>(a, &job.cols, &[1, 2]);
                return self.give_numbers(job, dst, &[u]);
            }
            let v = self.party.bits_of::<W>(a, &job.cols, &[0]);
            let mut part = self.number::<W>(job, dst, 0)?;
            for (part, v) in part.iter_mut().zip(v) {
                // v is 0 or 1, so 1 - 2v is 1 or -1.
                *part = part.wrapping_mul(W::ONE.wrapping_sub(v.wrapping_add(v)));
                if self.me == 2 {
                    *part = part.wrapping_add(v);
                }
            }
            self.select(job, dst, part)
        })
    }

    pub(crate) fn shift_begin(&mut self, job: &Job, a: Reg, by: u8, dst: Reg) -> Result<(), Error> {
        if job.stage > 0 {
            return Ok(());
        }
        let by = u32::from(by);
        with_word!(self.party.width(dst), W => {
            if self.me == 0 {
                let sum = self.party.sum_of::<W>(a, job.cols.clone());
                let shifted = sum.iter().map(|word| word.sar(by)).collect();
                let wrap = sum.iter().map(|word| word.shr(W::BITS - 1).shl(W::BITS - by)).collect();
                return self.give_numbers::<W>(job, dst, &[shifted, wrap]);
            }
            let mut part = self.number::<W>(job, dst, 0)?;
            let wrap = self.number::<W>(job, dst, 1)?;
            let evaluator = self.me == 2;
            let masked = &self.party.component_mut(0).get(a).words::<W>()[job.cols.clone()];
            for ((part, wrap), masked) in part.iter_mut().zip(wrap).zip(masked) {
                *part = part.wrapping_add(masked.shr(W::BITS - 1).wrapping_mul(wrap));
                if evaluator {
                    *part = part.wrapping_add(masked.sar(by));
                }
            }
            self.select(job, dst, part)
        })
    }

    /// `P_2` offline: keeps its parts of `count` numbers for each element. `P_1` and `P_2` online: complete the result.
    pub(crate) fn select_finish(
        &mut self,
        job: &Job,
        from: usize,
        count: usize,
        dst: Reg,
    ) -> Result<(), Error> {
        if job.stage > 0 {
            return Ok(());
        }
        if self.walk == Walk::Online {
            return self.elements_finish(job, from, dst, job.cols.clone());
        }
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
    fn give_numbers<W: Word>(&mut self, job: &Job, dst: Reg, numbers: &[Vec<W>]) -> Result<(), Error> {
        let mut message = self.party.session.mesh().buffer(numbers.len() * job.cols.len() * W::BYTES);
        for (which, numbers) in numbers.iter().enumerate() {
            let mut part = numbers.clone();
            let drawn: Vec<W> = self.draw_words(job, 1, SHARES[which]);
            ring::sub_assign(&mut part, &drawn);
            message.extend_from_slice(bytemuck::cast_slice(&part));
        }
        for component in [1, 2] {
            let masks: Vec<W> = self.draw_words(job, component, Drawn::Mask);
            self.party.component_mut(component).make(dst).words_mut::<W>()[job.cols.clone()]
                .copy_from_slice(&masks);
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

    /// `P_1` and `P_2`: masks a part of the result and sends it to the other.
    fn select<W: Word>(&mut self, job: &Job, dst: Reg, mut part: Vec<W>) -> Result<(), Error> {
        let masks: Vec<W> = self.draw_words(job, 0, Drawn::Mask);
        ring::sub_assign(&mut part, &masks);
        let (me, cols) = (self.me, job.cols.clone());
        self.party.component_mut(me).make(dst).words_mut::<W>()[cols.clone()].copy_from_slice(&masks);
        self.party.component_mut(0).make(dst).words_mut::<W>()[cols].copy_from_slice(&part);
        let mut message = self.party.session.mesh().buffer(part.len() * W::BYTES);
        message.extend_from_slice(bytemuck::cast_slice(&part));
        self.send(job, self.receiver(), message)
    }

    /// A job's part of one of the streams shared with a role.
    fn draw_words<W: Word>(&mut self, job: &Job, other: usize, drawn: Drawn) -> Vec<W> {
        let mut words = vec![W::ZERO; job.cols.len()];
        let block = (job.cols.start * W::BYTES / 16) as u64;
        self.streams[other].fill(Self::draw(job, drawn), block, bytemuck::cast_slice_mut(&mut words));
        words
    }
}

/// What `P_1`'s parts of the numbers of a conversion are drawn for.
const SHARES: [Drawn; 2] = [Drawn::Share, Drawn::SecondShare];
