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

use crate::garbled::{misfit, packed, piece, planes};
use crate::garbling::{BITS, Kept, Lengths, TAGS, checked_circuit_of, given, message_ranges, width_of};
use crate::planted::{Mistake, planted};
use crate::state::{AstraEngine, no_material};
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job, with_word};
use tacit_garble::{Error as Misfit, Evaluator, Garbler};
use tacit_kernel::bits::{get, words};
use tacit_kernel::garble::LABEL;
use tacit_kernel::{Buffer, Word};
use tacit_program::plan::Reg;
use zeroize::Zeroizing;

impl AstraEngine {
    /// Offline: makes a job's garbled circuits.
    pub(crate) fn make_msbs(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        if self.me != 0 {
            let (verified, streams) = (self.verified.as_mut(), &mut self.streams);
            let verified = verified.expect("only the protocol that checks garbled circuits has two garblers");
            verified.begin_vouching(&mut streams[3 - self.me]);
        }
        with_word!(width_of(&self.party.plan, a), W => match self.me {
            0 => self.give_garbled::<W>(job, a, dst),
            1 => self.vouch::<W>(job, a, dst),
            _ => self.take_garbled::<W>(job, a, dst),
        })?;
        self.verified().garbled(job.cols.len());
        Ok(())
    }

    /// A job's bits of a component of an operand, a row for each.
    fn additive_component<W: Word>(&self, job: &Job, a: Reg, component: usize) -> Vec<u64> {
        planes::<W>(&self.party.component(component).get(a).words::<W>()[job.cols.clone()])
    }

    /// A component of a job's part of the result.
    fn mask(&mut self, job: &Job, dst: Reg, component: usize) -> Vec<u64> {
        let mut mask = self.draw_mask(job, dst, component);
        mask.truncate(words(job.cols.len()));
        mask
    }

    /// `P_0`: garbles, and sends all that `P_2` is to have.
    fn give_garbled<W: Word>(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        let circuit = checked_circuit_of(&self.party.plan, a);
        let lengths = Lengths::of(circuit, job.cols.len());
        let [u_2, mut u_3] = [1, 2].map(|component| self.additive_component::<W>(job, a, component));
        let [r_1, r_2] = [1, 2].map(|component| self.mask(job, dst, component));
        if let Some(bits) = u_3.last_mut().filter(|_| planted(Mistake::OtherLabels)) {
            *bits ^= 1;
        }
        let seed = self.garbling_seed(job, 1);
        let mut sent = std::mem::take(&mut self.part);
        sent.reuse(lengths.sent());
        let batch = self.ahead()?.batch(job.op);
        let made = section(Section::Gates, || {
            let mut garbler = Garbler::new(circuit, &seed, batch);
            let (tables, rest) = sent.bytes_mut().split_at_mut(lengths.tables);
            let (commitments, rest) = rest.split_at_mut(lengths.commitments);
            let (mut labels, rest) = rest.split_at_mut(lengths.labels);
            let (decoding, mut others) = rest.split_at_mut(lengths.decoding);
            let outputs = garbler.garble(piece(job), &[&u_2, &r_1], tables)?;
            decoding.copy_from_slice(&bytemuck::cast_slice(&outputs.decoding())[..lengths.decoding]);
            for (byte, commitments) in
                commitments.chunks_exact_mut(lengths.commitments / W::BYTES).enumerate()
            {
                garbler.commitments(byte, piece(job), commitments)?;
            }
            for (input, bits) in given(circuit).into_iter().zip([&u_3, &r_2]) {
                let bytes = circuit.commitment_bytes(input, job.cols.len()) / 2;
                let own = labels.split_off_mut(..bytes).unwrap_or_default();
                garbler.labels(input, piece(job), bits, own)?;
                let other = others.split_off_mut(..bytes).unwrap_or_default();
                garbler.other_commitments(input, piece(job), bits, other)?;
            }
            Ok(())
        });
        made.map_err(|error: Misfit| misfit(&error))?;
        let to = self.receiver();
        section(Section::Sending, || {
            for (which, range) in message_ranges(lengths.sent()) {
                let at = self.part_at(job, which);
                self.party.session.mesh().send(to, at, &sent.bytes()[range])?;
            }
            Ok::<(), Error>(())
        })?;
        self.part = sent;
        Ok(())
    }

    /// `P_1`: garbles the same, notes what `P_2` should have of it, and keeps the tags of outputs.
    fn vouch<W: Word>(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        let circuit = checked_circuit_of(&self.party.plan, a);
        let count = job.cols.len();
        let (u_2, r_1) = (self.additive_component::<W>(job, a, 1), self.mask(job, dst, 1));
        let seed = self.garbling_seed(job, 0);
        let mut scratch = std::mem::take(&mut self.part);
        let batch = self.ahead()?.batch(job.op);
        let verified = self.verified();
        let made = section(Section::Gates, || {
            let mut garbler = Garbler::new(circuit, &seed, batch);
            scratch.reuse(circuit.table_bytes(count));
            let outputs = garbler.garble(piece(job), &[&u_2, &r_1], scratch.bytes_mut())?;
            verified.vouch(scratch.bytes());
            let mut commitments = |input: usize| {
                scratch.reuse(circuit.commitment_bytes(input, count));
                garbler.commitments(input, piece(job), scratch.bytes_mut())?;
                verified.vouch(scratch.bytes());
                Ok::<(), Misfit>(())
            };
            if !planted(Mistake::CommitmentsUncompared) {
                (0..W::BYTES).try_for_each(&mut commitments)?;
            }
            if !planted(Mistake::LabelsUncompared) {
                given(circuit).into_iter().try_for_each(commitments)?;
            }
            verified.vouch(&bytemuck::cast_slice(&outputs.decoding())[..count.div_ceil(8)]);
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
        let circuit = checked_circuit_of(&self.party.plan, a);
        let lengths = Lengths::of(circuit, job.cols.len());
        let (u_3, r_2) = (self.additive_component::<W>(job, a, 2), self.mask(job, dst, 2));
        let place = self.garbled_range(job, a);
        let mut others = std::mem::take(&mut self.part);
        others.reuse(lengths.labels);
        self.receive_garbled(job, &lengths, place.start, &mut others)?;
        let Self { ahead, verified: Some(verified), .. } = self else { return Err(no_material()) };
        let ahead = ahead.as_ref().ok_or_else(no_material)?;
        let kept = Kept::of(&lengths, &ahead.shares(job.op)[place]);
        let noted = section(Section::Gates, || {
            let evaluator = Evaluator::new(circuit, ahead.batch(job.op));
            verified.vouch(kept.tables);
            if !planted(Mistake::CommitmentsUncompared) {
                let of_bytes = kept.commitments.chunks_exact(lengths.commitments / W::BYTES);
                of_bytes.for_each(|commitments| verified.vouch(commitments));
            }
            let (mut labels, mut others) = (kept.labels, others.bytes());
            for (input, bits) in given(circuit).into_iter().zip([&u_3, &r_2]) {
                let bytes = circuit.commitment_bytes(input, job.cols.len()) / 2;
                let own = labels.split_off(..bytes).unwrap_or_default();
                let other = others.split_off(..bytes).unwrap_or_default();
                let commitments = evaluator.all_commitments(input, piece(job), bits, own, other)?;
                if !planted(Mistake::LabelsUncompared) {
                    verified.vouch(&commitments);
                }
            }
            verified.vouch(kept.decoding);
            Ok(())
        });
        self.part = others;
        noted.map_err(|error: Misfit| misfit(&error))
    }

    /// `P_2`: receives what it keeps of a job, from a place on, and the commitments that it makes others of.
    fn receive_garbled(
        &mut self,
        job: &Job,
        lengths: &Lengths,
        place: usize,
        others: &mut Buffer,
    ) -> Result<(), Error> {
        let (from, kept) = (self.seats.party(0), lengths.kept());
        for (which, range) in message_ranges(lengths.sent()) {
            let at = self.part_at(job, which);
            let message =
                section(Section::Receiving, || self.party.session.mesh().recv(from, at, range.len()))?;
            let (own, rest) = message.split_at(kept.saturating_sub(range.start).min(message.len()));
            let to = place + range.start.min(kept);
            self.ahead()?.shares_mut(job.op)[to..to + own.len()].copy_from_slice(own);
            let to = range.start.saturating_sub(kept);
            others.bytes_mut()[to..to + rest.len()].copy_from_slice(rest);
            self.party.session.mesh().recycle(message);
        }
        Ok(())
    }

    /// `P_0`, online: draws what the result is shared with.
    pub(crate) fn expect_msbs(&mut self, job: &Job, dst: Reg) {
        for component in [1, 2] {
            self.draw_mask(job, dst, component);
        }
        self.verified().tagged(job.cols.len(), 0);
    }

    /// `P_2`, online: checks the labels of a job's numbers, a message for each byte, before it evaluates. Gives `y`.
    pub(crate) fn evaluate_checked<W: Word>(
        &mut self,
        job: &Job,
        a: Reg,
        labels: &[&[u8]],
    ) -> Result<Vec<u64>, Error> {
        let (circuit, count) = (checked_circuit_of(&self.party.plan, a), job.cols.len());
        let lengths = Lengths::of(circuit, count);
        let u_1 = self.additive_component::<W>(job, a, 0);
        let place = self.garbled_range(job, a);
        let ahead = self.ahead.as_ref().ok_or_else(no_material)?;
        let kept = Kept::of(&lengths, &ahead.shares(job.op)[place]);
        let found = section(Section::Gates, || {
            let mut evaluator = Evaluator::new(circuit, ahead.batch(job.op));
            let commitments = kept.commitments.chunks_exact(lengths.commitments / W::BYTES);
            let rows = u_1.chunks_exact(BITS * words(count)).zip(commitments);
            for (byte, (labels, (bits, commitments))) in labels.iter().zip(rows).enumerate() {
                match evaluator.check_labels(byte, piece(job), bits, labels, commitments) {
                    Err(Misfit::Label) if planted(Mistake::LabelsUnchecked) => {}
                    checked => checked?,
                }
            }
            let (of_third, of_mask) = kept.labels.split_at(count * LABEL * W::BITS as usize);
            let active = [labels, &[of_third, of_mask]].concat();
            let outputs = evaluator.evaluate(piece(job), &active, kept.tables)?;
            let tags = outputs.tags();
            let tags = tags.as_chunks().0.iter().map(|tag| u128::from_le_bytes(*tag));
            Ok((outputs.decode(&packed(kept.decoding, count))?, tags.fold(0, |sum, tag| sum ^ tag)))
        });
        let (masked, tags) = found.map_err(|error| match error {
            Misfit::Label => self.party.session.reject("a label isn't that of a masked number's bit").into(),
            error => misfit(&error),
        })?;
        self.verified().tagged(count, tags);
        Ok(masked)
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
