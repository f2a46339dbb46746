//! MSB extraction by garbled circuits: what both forms of it do ([`msb`](crate::msb),
//! [`checked_garbling`](crate::checked_garbling)).

use crate::draws::Drawn;
use crate::garbling::{BITS, Form, Kept, Lengths, PARTS, message_ranges};
use crate::planted::{Mistake, planted};
use crate::seats::other_holder;
use crate::state::{AstraEngine, no_material};
use std::ops::Range;
use tacit_engine::bank::words_of;
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job};
use tacit_garble::{Error as Misfit, Evaluator, Garbler};
use tacit_kernel::{Buffer, Word, bits, transpose};
use tacit_program::plan::Reg;
use tacit_session::At;
use zeroize::Zeroizing;

impl AstraEngine {
    /// How the MSBs of a register's numbers are garbled.
    pub(crate) fn form(&self, a: Reg) -> Form {
        Form::of(&self.party.plan, a, self.verified.is_some())
    }

    /// A job's bits of a component of an operand, a row for each.
    pub(crate) fn operand_planes<W: Word>(&self, job: &Job, a: Reg, component: usize) -> Vec<u64> {
        planes::<W>(&self.party.component(component).get(a).words::<W>()[job.cols.clone()])
    }

    /// Draws a component of a job's part of the result, as one who holds it, and gives its words.
    pub(crate) fn draw_mask(&mut self, job: &Job, dst: Reg, component: usize) -> Vec<u64> {
        let words = words_of(&job.cols, self.party.plan.register(dst).cols);
        let mut mask = vec![0; words.len()];
        let block = (words.start / 2) as u64;
        section(Section::Randomness, || {
            let stream = &mut self.streams[other_holder(self.me, component)];
            stream.fill(Self::draw(job, Drawn::Mask), block, bytemuck::cast_slice_mut(&mut mask));
        });
        self.party.component_mut(component).make(dst).words_mut()[words].copy_from_slice(&mask);
        mask.truncate(bits::words(job.cols.len()));
        mask
    }

    /// What `P_0` and `P_1` garble a job from.
    pub(crate) fn garbling_seed(&mut self, job: &Job) -> Zeroizing<[u8; 16]> {
        let mut seed = Zeroizing::new([0; 16]);
        let draw = Self::draw(job, Drawn::Seed);
        self.streams[1 - self.me].fill(draw, job.batch.into(), seed.as_mut_slice());
        seed
    }

    /// Where `P_2` has a job's garbled circuits among those of the operation.
    pub(crate) fn garbled_range(&self, job: &Job, a: Reg) -> Range<usize> {
        let form = self.form(a);
        form.kept(2, job.cols.start)..form.kept(2, job.cols.end)
    }

    /// The address of one of a job's messages of labels or tables.
    pub(crate) fn part_at(&self, job: &Job, which: usize) -> At {
        let at = self.address(job);
        At { batch: job.batch * PARTS + which as u32, ..at }
    }

    /// `P_0`, offline: garbles, and sends all that `P_2` is to have.
    pub(crate) fn give_garbled<W: Word>(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        let (form, count) = (self.form(a), job.cols.len());
        let lengths = form.lengths(count);
        let [mut r_1, r_2] = [1, 2].map(|component| self.draw_mask(job, dst, component));
        let (u_2, mut u_3);
        if form.checked {
            (u_2, u_3) = (self.operand_planes::<W>(job, a, 1), self.operand_planes::<W>(job, a, 2));
        } else {
            (u_2, u_3) = (planes::<W>(&self.party.sum_of::<W>(a, job.cols.clone())), Vec::new());
            bits::xor_assign(&mut r_1, &r_2);
        }
        if let Some(bits) = u_3.last_mut().filter(|_| planted(Mistake::OtherLabels)) {
            *bits ^= 1;
        }
        let seed = self.garbling_seed(job);
        let mut sent = std::mem::take(&mut self.part);
        sent.reuse(lengths.sent());
        let batch = self.ahead()?.batch(job.op);
        let made = section(Section::Gates, || {
            let mut garbler = Garbler::new(form.circuit, &seed, batch);
            let (tables, rest) = sent.bytes_mut().split_at_mut(lengths.tables);
            let (commitments, rest) = rest.split_at_mut(lengths.commitments);
            let (mut labels, rest) = rest.split_at_mut(lengths.labels);
            let (decoding, mut others) = rest.split_at_mut(lengths.decoding);
            let outputs = garbler.garble(piece(job), &[&u_2, &r_1], tables)?;
            decoding.copy_from_slice(&bytemuck::cast_slice(&outputs.decoding())[..lengths.decoding]);
            let of_bytes = commitments.chunks_exact_mut(form.byte_commitments(count));
            for (byte, commitments) in of_bytes.enumerate() {
                garbler.commitments(byte, piece(job), commitments)?;
            }
            for (input, bits) in form.given().zip([&u_3, &r_2]) {
                let bytes = form.circuit.commitment_bytes(input, count) / 2;
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

    /// `P_2`, offline: keeps what `P_0` garbled; apart from it the commitments that it makes others of.
    pub(crate) fn receive_garbled(
        &mut self,
        job: &Job,
        a: Reg,
        lengths: &Lengths,
        others: &mut Buffer,
    ) -> Result<(), Error> {
        let (from, place, kept) = (self.seats.party(0), self.garbled_range(job, a).start, lengths.kept());
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

    /// `P_2`, online: evaluates on the labels of a job's numbers, a message for each byte, and gives `y`. Where labels are
    /// committed to, checks them before.
    pub(crate) fn evaluate<W: Word>(
        &mut self,
        job: &Job,
        a: Reg,
        labels: &[&[u8]],
    ) -> Result<Vec<u64>, Error> {
        let (form, count) = (self.form(a), job.cols.len());
        let u_1 = if form.checked { self.operand_planes::<W>(job, a, 0) } else { Vec::new() };
        let place = self.garbled_range(job, a);
        let ahead = self.ahead.as_ref().ok_or_else(no_material)?;
        let kept = Kept::of(&form.lengths(count), &ahead.shares(job.op)[place]);
        let found = section(Section::Gates, || {
            let mut evaluator = Evaluator::new(form.circuit, ahead.batch(job.op));
            let commitments = kept.commitments.chunks_exact(form.byte_commitments(count));
            let rows = u_1.chunks_exact(BITS * bits::words(count)).zip(commitments);
            for (byte, (labels, (bits, commitments))) in labels.iter().zip(rows).enumerate() {
                match evaluator.check_labels(byte, piece(job), bits, labels, commitments) {
                    Err(Misfit::Label) if planted(Mistake::LabelsUnchecked) => {}
                    checked => checked?,
                }
            }
            let (mut active, mut rest) = (labels.to_vec(), kept.labels);
            let label_bytes = |input| form.circuit.commitment_bytes(input, count) / 2;
            active.extend(form.given().filter_map(|input| rest.split_off(..label_bytes(input))));
            let outputs = evaluator.evaluate(piece(job), &active, kept.tables)?;
            let tags = if form.checked { outputs.tags() } else { Vec::new() };
            let tags = tags.as_chunks().0.iter().map(|tag| u128::from_le_bytes(*tag));
            Ok((outputs.decode(&packed(kept.decoding, count))?, tags.fold(0, |sum, tag| sum ^ tag)))
        });
        let (masked, tags) = found.map_err(|error| match error {
            Misfit::Label => self.party.session.reject("a label isn't that of a masked number's bit").into(),
            error => misfit(&error),
        })?;
        if let Some(verified) = &mut self.verified {
            verified.tagged(count, tags);
        }
        Ok(masked)
    }
}

/// A job's instances.
pub(crate) fn piece(job: &Job) -> Range<u64> {
    job.cols.start as u64..job.cols.end as u64
}

/// Packed bits as words.
fn packed(bytes: &[u8], count: usize) -> Vec<u64> {
    let mut words = vec![0; bits::words(count)];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    words
}

/// The bits of numbers, a row for each.
fn planes<W: Word>(numbers: &[W]) -> Vec<u64> {
    let stride = bits::words(numbers.len());
    let mut planes = vec![0; W::BITS as usize * stride];
    section(Section::Slicing, || {
        transpose::to_planes::<W>(numbers, W::BITS as usize, &mut planes, stride);
    });
    planes
}

pub(crate) fn misfit(error: &Misfit) -> Error {
    Error::Refused(error.to_string())
}
