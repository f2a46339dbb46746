//! From all bits of numbers to the numbers, in one go: a mask that two parties know is taken off in a circuit, and the third
//! party is shown what is left.
//!
//! A number's mask `r` is its component `c` to be. `P_c` and `P_(c+1)`, which hold that component, draw it from the
//! stream that they share ([`OpKind::PairMask`]); as a sharing of bits it has zeros in the places of both other
//! components. A circuit computes the bits of `d = x - r mod 2^k`. The number is `x = d + r`, so what is left is to
//! share `d` between components `c - 1` and `c + 1`, both of which `P_(c-1)` holds ([`OpKind::Compose`]):
//!
//! - Stage 0: `P_c` sends `P_(c-1)` component `c` of the bits of `d`, which that party lacks.
//! - Stage 1: component `c + 1` is a stream `s` of `P_(c+1)` and `P_(c-1)`; `P_(c-1)` sends `P_c` component `c - 1`, which is `d - s`.
//!
//! **Secrecy.** `P_(c-1)` lacks the stream of `P_c` and `P_(c+1)`, so `r` is uniform to it and `d` with it, whatever `x` is. It holds two of
//! the three components of each bit of `d`, and so the one it is sent follows from them and `d`. That is so even if it has put
//! wrong bits into the circuit: bit `j` of `d` is bit `j` of `r`, exclusive or a function of `x` and of lower bits of `r`, whatever
//! carries are. `P_c` lacks `s`, which hides what it is sent. `P_(c+1)` is sent nothing.
//!
//! **Turns.** Numbers are in three parts of about equal length, with `c` = 0, 1 and 2, so that all parties send as much.
//!
//! **Cost.** Two elements for each number, from one party each, in two rounds; and the circuit's `k - 1` ANDs.
//!
//! [`OpKind::PairMask`]: tacit_program::plan::OpKind::PairMask
//! [`OpKind::Compose`]: tacit_program::plan::OpKind::Compose

use crate::planted::{Mistake, planted};
use crate::state::ReplicatedEngine;
use std::ops::Range;
use tacit_engine::profile::{Section, section};
use tacit_engine::wire::ALIGNMENT;
use tacit_engine::{Error, Job, with_word};
use tacit_kernel::{Word, ring};
use tacit_program::plan::Reg;
use tacit_threeparty::products::Products;
use tacit_threeparty::{PARTIES, next, prev};

/// Numbers of one operation that have masks in the same component.
pub(crate) struct Third {
    component: usize,
    pub(crate) cols: Range<usize>,
}

impl Third {
    /// Who has the mask as its own component, and sends its part of the difference.
    pub(crate) const fn masked(&self) -> usize {
        self.component
    }

    /// Who doesn't know the mask, and learns the difference.
    pub(crate) const fn shown(&self) -> usize {
        prev(self.component)
    }

    /// Who knows the mask, and is sent nothing.
    const fn silent(&self) -> usize {
        next(self.component)
    }

    /// Where numbers of so many bits are among the bytes of a row.
    const fn bytes(&self, bits: usize) -> Range<usize> {
        self.cols.start * bits / 8..self.cols.end * bits / 8
    }
}

/// Some columns of an operation on so many numbers, by third. A third begins where a job may.
pub(crate) fn thirds(cols: Range<usize>, count: usize) -> impl Iterator<Item = Third> {
    let length = count.div_ceil(PARTIES).next_multiple_of(ALIGNMENT);
    let within = move |column: usize| column.clamp(cols.start, cols.end);
    (0..PARTIES)
        .map(move |component| {
            let cols = within(component * length)..within((component + 1) * length);
            Third { component, cols }
        })
        .filter(|third| !third.cols.is_empty())
}

/// Whom a party waits for in a stage of some columns, if it waits for anybody.
pub(crate) fn sender(cols: Range<usize>, count: usize, me: usize, stage: u32) -> Option<usize> {
    let flow = |third: Third| match stage {
        0 => (third.masked(), third.shown()),
        _ => (third.shown(), third.masked()),
    };
    thirds(cols, count).map(flow).find_map(|(from, to)| (to == me).then_some(from))
}

impl ReplicatedEngine {
    /// Draws masks of so many bits, of those whose component this party holds.
    pub(crate) fn pair_mask(&mut self, job: &Job, bits: u8, dst: Reg) {
        let (me, bits) = (self.me, usize::from(bits));
        let count = self.party.plan.register(dst).cols / bits;
        let party = &mut self.party;
        for third in thirds(job.cols.clone(), count) {
            let bytes = third.bytes(bits);
            let block = (bytes.start / 16) as u64;
            for (component, peer, bank) in
                [(me, next(me), &mut party.own), (prev(me), prev(me), &mut party.prev)]
            {
                let out = &mut bank.make(dst).bytes_mut()[bytes.clone()];
                if component == third.component && !planted(Mistake::PairUnmasked) {
                    let draw = Self::draw(job, 0);
                    section(Section::Randomness, || party.session.stream(peer).fill(draw, block, out));
                } else {
                    out.fill(0);
                }
            }
        }
    }

    /// Sends what is due of the bits of differences `a`, and then of the numbers.
    pub(crate) fn compose_begin(&mut self, job: &Job, [a, mask, dst]: [Reg; 3]) -> Result<(), Error> {
        let count = self.party.plan.register(dst).cols;
        with_word!(self.party.width(dst), W => for third in thirds(job.cols.clone(), count) {
            let bytes = third.bytes(W::BITS as usize);
            if job.stage > 0 {
                self.take_components::<W>(job, &third, mask, dst)?;
            } else if self.me == third.masked() {
                let message = self.party.own.get(a).bytes()[bytes].to_vec();
                self.send(job, third.shown(), message)?;
            }
        });
        Ok(())
    }

    /// Takes what was sent.
    pub(crate) fn compose_finish(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        let count = self.party.plan.register(dst).cols;
        let bits = self.party.plan.register(dst).domain.bits() as usize;
        for third in thirds(job.cols.clone(), count) {
            let (bytes, me) = (third.bytes(bits), self.me);
            if job.stage == 0 && me == third.shown() {
                let message = self.recv(job, third.masked(), bytes.len())?;
                let mut out = self.party.own.take(dst);
                let [own, prev] =
                    [&self.party.own, &self.party.prev].map(|bank| &bank.get(a).bytes()[bytes.clone()]);
                for (out, ((own, prev), sent)) in
                    out.bytes_mut()[bytes].iter_mut().zip(own.iter().zip(prev).zip(&message))
                {
                    *out = own ^ prev ^ sent;
                }
                self.party.own.put(dst, out);
                self.party.session.mesh().recycle(message);
            } else if job.stage > 0 && me == third.masked() {
                let message = self.recv(job, third.shown(), bytes.len())?;
                self.party.prev.make(dst).bytes_mut()[bytes].copy_from_slice(&message);
                self.party.session.mesh().recycle(message);
            }
        }
        Ok(())
    }

    /// Stage 1: takes the components of the numbers that this party has by itself; whoever was shown differences sends its part.
    fn take_components<W: Word>(
        &mut self,
        job: &Job,
        third: &Third,
        mask: Reg,
        dst: Reg,
    ) -> Result<(), Error> {
        let (me, cols) = (self.me, third.cols.clone());
        if me == third.masked() {
            let words = &self.party.own.get(mask).words::<W>()[cols.clone()];
            let words = words.to_vec();
            self.party.own.make(dst).words_mut::<W>()[cols].copy_from_slice(&words);
            return Ok(());
        }
        // The stream of the two others, for component c + 1.
        let peer = if me == third.silent() { third.shown() } else { third.silent() };
        let mut drawn = vec![W::ZERO; cols.len()];
        let block = (cols.start * W::BYTES / 16) as u64;
        let draw = Self::draw(job, 0);
        section(Section::Randomness, || {
            self.key(peer).fill(draw, block, bytemuck::cast_slice_mut(&mut drawn));
        });
        if me == third.silent() {
            let words = self.party.prev.get(mask).words::<W>()[cols.clone()].to_vec();
            self.party.own.make(dst).words_mut::<W>()[cols.clone()].copy_from_slice(&drawn);
            self.party.prev.make(dst).words_mut::<W>()[cols].copy_from_slice(&words);
            return Ok(());
        }
        let own = &mut self.party.own.make(dst).words_mut::<W>()[cols.clone()];
        ring::sub_assign(own, &drawn);
        let message = bytemuck::cast_slice(own).to_vec();
        self.party.prev.make(dst).words_mut::<W>()[cols].copy_from_slice(&drawn);
        self.send(job, third.masked(), message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_in_one_third_and_parties_send_about_as_much() {
        for count in [0, 1, 511, 512, 513, 1536, 1537, 5000, 100_000] {
            let mut at = 0;
            for third in thirds(0..count, count) {
                assert_eq!(third.cols.start, at);
                assert!(third.cols.start.is_multiple_of(ALIGNMENT));
                assert!(third.cols.len() <= count / PARTIES + ALIGNMENT);
                at = third.cols.end;
                // Of a part of the columns it is the same.
                let (from, to) = (at - 1, count.min(at + 1));
                let parts: Vec<Third> = thirds(from..to, count).collect();
                assert_eq!((parts[0].component, parts[0].cols.clone()), (third.component, from..at));
                assert_eq!(parts.len(), to - from);
            }
            assert_eq!(at, count);
        }
    }

    #[test]
    fn nobody_waits_for_two_and_who_is_shown_a_difference_does_not_hold_its_mask() {
        for third in thirds(0..5000, 5000) {
            let holders = [third.component, next(third.component)];
            assert!(!holders.contains(&third.shown()) && holders == [third.masked(), third.silent()]);
        }
        for me in 0..PARTIES {
            assert_eq!(sender(0..5000, 5000, me, 0), Some(next(me)));
            assert_eq!(sender(0..5000, 5000, me, 1), Some(prev(me)));
        }
        assert_eq!([0, 1, 2].map(|me| sender(0..3, 3, me, 0)), [None, None, Some(0)]);
    }
}
