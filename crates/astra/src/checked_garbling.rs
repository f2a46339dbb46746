//! Checked garbling: MSB extraction for which `P_0` and `P_1` both garble, and `P_2` checks what they made (section
//! 5.4, the malicious `Pi_BitExt`, mended).
//!
//! `x = u_1 + u_2 + u_3` with `u_1 = m`, `u_2 = x_1` and `u_3 = x_2`. From their common seed `P_0` and `P_1` both
//! garble `y = msb(u_1 + u_2 + u_3) xor r_1 xor r_2`, with `u_2` and `r_1` folded in, which both know.
//!
//! - Offline `P_0` sends `P_2` the tables and what decodes `y`. For each bit of `u_1` it sends commitments to both
//!   labels, in the order of the bit's values. For each bit of `u_3` and `r_2`, which `P_2` knows, it sends the label
//!   and the commitment to the other one. `P_2` makes the commitments of the labels that it got. Then it has all that
//!   `P_1` has made, too, and compares a digest.
//! - Online `P_1` sends `P_2` the labels of `m`'s bits. `P_2` knows `m` as well, and checks that the labels are those
//!   committed to. It evaluates, and sends `P_1` the bits `y`. Before any verdict it sends the sum of all outputs'
//!   tags, which `P_1` compares with that of the bits that it got.
//!
//! `docs/protocols/astra-comparison.md` shows why none of it tells anybody anything.
//!
//! **When `P_2` stops.** Offline it stops when everything is here. Online it stops at once: it evaluates no label
//! before it has checked it. A wrong label would give an output label that depends on `u_3`, and `P_1`, who knows all
//! labels, could read that from a tag. `P_1` knows beforehand whether the check fails, as it knows `m` and what it
//! sends.
//!
//! **A sum of tags** is enough, and needs no key. A party that has one label of an output can't tell the other bit's
//! tag from random bits, and so neither any sum that it is a part of.

use crate::garbled::{misfit, piece};
use crate::garbling::{Kept, TAGS};
use crate::planted::{Mistake, planted};
use crate::state::{AstraEngine, no_material};
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job, with_word};
use tacit_garble::{Error as Misfit, Evaluator, Garbler};
use tacit_kernel::Word;
use tacit_kernel::bits::{get, words};
use tacit_kernel::garble::LABEL;
use tacit_program::plan::Reg;
use zeroize::Zeroizing;

impl AstraEngine {
    /// Offline: makes a job's garbled circuits.
    pub(crate) fn make_msbs(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        if self.me != 0 {
            let (verified, streams) = (self.verified.as_mut(), &mut self.streams);
            let verified = verified.expect("only the protocol that checks garbled circuits has two garblers");
            verified.begin_garbling_digest(&mut streams[3 - self.me]);
        }
        with_word!(self.party.width(a), W => match self.me {
            0 => self.give_garbled::<W>(job, a, dst),
            1 => self.garble_to_compare::<W>(job, a, dst),
            _ => self.take_garbled::<W>(job, a, dst),
        })?;
        self.verified().garbled(job.cols.len());
        Ok(())
    }

    /// `P_1`: garbles the same, notes what `P_2` should have of it, and keeps the tags of outputs.
    fn garble_to_compare<W: Word>(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        let (form, count) = (self.form(a), job.cols.len());
        let (u_2, r_1) = (self.operand_planes::<W>(job, a, 1), self.draw_mask(job, dst, 1));
        let seed = self.garbling_seed(job);
        let mut scratch = std::mem::take(&mut self.part);
        let batch = self.ahead()?.batch(job.op);
        let verified = self.verified();
        let made = section(Section::Gates, || {
            let mut garbler = Garbler::new(form.circuit, &seed, batch);
            scratch.reuse(form.circuit.table_bytes(count));
            let outputs = garbler.garble(piece(job), &[&u_2, &r_1], scratch.bytes_mut())?;
            verified.absorb_garbled(scratch.bytes());
            let mut commitments = |input: usize| {
                scratch.reuse(form.circuit.commitment_bytes(input, count));
                garbler.commitments(input, piece(job), scratch.bytes_mut())?;
                verified.absorb_garbled(scratch.bytes());
                Ok::<(), Misfit>(())
            };
            if !planted(Mistake::CommitmentsUncompared) {
                (0..W::BYTES).try_for_each(&mut commitments)?;
            }
            if !planted(Mistake::LabelsUncompared) {
                form.given().try_for_each(commitments)?;
            }
            verified.absorb_garbled(&bytemuck::cast_slice(&outputs.decoding())[..count.div_ceil(8)]);
            let tags = |bits: u64| Ok(Zeroizing::new(outputs.tags(&vec![bits; words(count)])?));
            Ok([tags(0)?, tags(u64::MAX)?])
        });
        self.part = scratch;
        let [zeros, ones] = made.map_err(|error: Misfit| misfit(&error))?;
        let kept = &mut self.ahead()?.shares_mut(job.op)[TAGS * job.cols.start..TAGS * job.cols.end];
        let pairs = zeros.as_chunks::<LABEL>().0.iter().zip(ones.as_chunks::<LABEL>().0);
        for (kept, (zero, one)) in kept.as_chunks_mut::<TAGS>().0.iter_mut().zip(pairs) {
            let (to_zero, to_one) = kept.split_at_mut(LABEL);
            to_zero.copy_from_slice(zero);
            to_one.copy_from_slice(one);
        }
        Ok(())
    }

    /// `P_2`: takes what `P_0` garbled, and notes it as `P_1` should have it.
    fn take_garbled<W: Word>(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        let (form, count) = (self.form(a), job.cols.len());
        let lengths = form.lengths(count);
        let (u_3, r_2) = (self.operand_planes::<W>(job, a, 2), self.draw_mask(job, dst, 2));
        let place = self.garbled_range(job, a);
        let mut others = std::mem::take(&mut self.part);
        others.reuse(lengths.labels);
        self.receive_garbled(job, a, &lengths, &mut others)?;
        let Self { ahead, verified: Some(verified), .. } = self else { return Err(no_material()) };
        let ahead = ahead.as_ref().ok_or_else(no_material)?;
        let kept = Kept::of(&lengths, &ahead.shares(job.op)[place]);
        let noted = section(Section::Gates, || {
            let evaluator = Evaluator::new(form.circuit, ahead.batch(job.op));
            verified.absorb_garbled(kept.tables);
            if !planted(Mistake::CommitmentsUncompared) {
                let of_bytes = kept.commitments.chunks_exact(form.byte_commitments(count));
                of_bytes.for_each(|commitments| verified.absorb_garbled(commitments));
            }
            let (mut labels, mut others) = (kept.labels, others.bytes());
            for (input, bits) in form.given().zip([&u_3, &r_2]) {
                let bytes = form.circuit.commitment_bytes(input, count) / 2;
                let own = labels.split_off(..bytes).unwrap_or_default();
                let other = others.split_off(..bytes).unwrap_or_default();
                let commitments = evaluator.all_commitments(input, piece(job), bits, own, other)?;
                if !planted(Mistake::LabelsUncompared) {
                    verified.absorb_garbled(&commitments);
                }
            }
            verified.absorb_garbled(kept.decoding);
            Ok(())
        });
        self.part = others;
        noted.map_err(|error: Misfit| misfit(&error))
    }

    /// `P_0`, online: draws what the result is shared with.
    pub(crate) fn expect_msbs(&mut self, job: &Job, dst: Reg) {
        for component in [1, 2] {
            self.draw_mask(job, dst, component);
        }
        self.verified().tagged(job.cols.len(), 0);
    }

    /// `P_1`, online: notes the tags of the bits that `P_2` sent.
    pub(crate) fn expect_tags(&mut self, job: &Job, dst: Reg) -> Result<(), Error> {
        let ahead = self.ahead.as_ref().ok_or_else(no_material)?;
        let kept = &ahead.shares(job.op)[TAGS * job.cols.start..TAGS * job.cols.end];
        let bits = self.party.component(0).get(dst).words::<u64>();
        let tags = job.cols.clone().zip(kept.as_chunks::<LABEL>().0.as_chunks::<2>().0).map(|(at, pair)| {
            let [zero, one] = pair.map(u128::from_le_bytes);
            zero ^ (zero ^ one) & u128::from(get(bits, at)).wrapping_neg()
        });
        let sum = tags.fold(0, |sum, tag| sum ^ tag);
        self.verified().tagged(job.cols.len(), sum);
        Ok(())
    }
}
