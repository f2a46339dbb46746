//! MSB extraction by garbled circuits: two rounds, whatever the width (section 5.4, `Pi_BitExt`, mended). Here are the
//! semi-honest form and what the checked form ([`checked_garbling`](crate::checked_garbling)) has in common with it.
//!
//! `x = u_1 + u_2` with `u_1 = m`, which `P_1` and `P_2` know online, and `u_2 = x_1 + x_2`, which `P_0` knows offline.
//! `P_0` garbles `y = msb(u_1 + u_2) xor r` with `r = r_1 xor r_2`, where it draws `r_1` with `P_1` and `r_2` with
//! `P_2`. It draws the seed of the garbling with `P_1` too, so `P_1` has the labels of `u_1`.
//!
//! - Offline `P_0` sends `P_2` the tables and the bit that decodes `y`. `u_2` and `r` are folded in: they have no
//!   labels.
//! - Online `P_1` sends `P_2` the labels of `m`'s bits. `P_2` evaluates, decodes `y` and sends it to `P_1`.
//!
//! This shares the result: `msb(x) = y xor r_1 xor r_2`, so `m = y`, `x_1 = r_1` and `x_2 = r_2`.
//!
//! **What they see.** `P_2` has one label of each wire, and the bit of it where it is an input's. As garbling is
//! private, a simulator can make these of `m` and `y` alone. `P_1`, who sees no table, and `P_2` both get `y` masked by
//! a bit that they don't know, `r_2` and `r_1`. `P_0` gets nothing.
//!
//! **Departures.** In the paper `P_0` and `P_1` alone draw `r`, labels of `u_2` are sent, `P_1` shares `r` and `P_2`
//! shares `y`, and the circuit is a prefix adder of 2 l ANDs. That takes 5 l kappa bits offline and two rounds of
//! sharing on top. Here it takes 2 (l - 1) kappa + 1 bits, a ripple-carry adder, and nothing is shared.
//!
//! **Seeds.** A job has a seed, and is a batch of its own as far as labels go. Hashes have the number of the operation
//! and of the job's tile, in the session that made the material. Nothing comes twice.

use crate::checked_garbling;
use crate::engine::{AstraEngine, Drawn, Walk, words_of};
use std::ops::Range;
use std::sync::LazyLock;
use tacit_circuit::Circuit;
use tacit_circuit::arith::circuits::masked_msb;
use tacit_engine::bank::{Bank, row_words};
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job, with_word};
use tacit_garble::{Evaluator, Garbler, Plan as Garbling};
use tacit_kernel::garble::LABEL;
use tacit_kernel::{Word, bits, transpose};
use tacit_program::plan::{Domain, Plan, Reg, Rows, Width};
use tacit_session::At;
use zeroize::Zeroizing;

/// Bits of numbers whose labels are a message: 64 KiB for a job.
pub(crate) const BITS: usize = 8;

/// Bytes of tables in a message at most.
const TABLES: usize = 64 << 10;

/// A circuit for each width, in the order of [`Width::ALL`].
static CIRCUITS: LazyLock<[Garbling; 4]> = LazyLock::new(|| Width::ALL.map(garbling));

/// The circuit, whose inputs are the bytes of `u_1`, each a message, then `u_2` and `r`, which garblers know.
fn garbling(width: Width) -> Garbling {
    with_bytes_first(&masked_msb(width.bits().into(), 2, 1), width, &[true; 2])
}

/// A circuit whose first input is a word of this width, with an input for each byte of it. `known` says of each of the other
/// inputs whether the garblers know it.
pub(crate) fn with_bytes_first(circuit: &Circuit, width: Width, known: &[bool]) -> Garbling {
    let bytes = vec![BITS as u32; width.bytes()];
    let inputs = [&bytes, &circuit.inputs()[1..]].concat();
    let known = [&vec![false; bytes.len()], known].concat();
    let circuit = Circuit::new(inputs, circuit.gates().to_vec(), circuit.outputs().to_vec());
    Garbling::new(&circuit.expect("as many bits of inputs as before"), &known)
}

/// Of one circuit for each width that of a register's.
pub(crate) fn of_width<'a>(circuits: &'a [Garbling; 4], plan: &Plan, a: Reg) -> &'a Garbling {
    &circuits[Width::ALL.iter().position(|&width| width == width_of(plan, a)).unwrap_or_default()]
}

fn circuit_of(plan: &Plan, a: Reg) -> &'static Garbling {
    of_width(&CIRCUITS, plan, a)
}

pub(crate) fn width_of(plan: &Plan, a: Reg) -> Width {
    match plan.register(a).domain {
        Domain::Ring(width) => width,
        Domain::Bits | Domain::Modular(_) => unreachable!("lowering takes signs of rings of words"),
    }
}

/// Bytes that `P_0` makes for `P_2` of so many numbers: tables, and the bits that decode.
pub(crate) fn garbled_bytes(plan: &Plan, a: Reg, numbers: usize) -> usize {
    circuit_of(plan, a).table_bytes(numbers) + numbers.div_ceil(8)
}

/// Bits of the same, for all numbers of a register.
pub(crate) fn garbled_bits(plan: &Plan, a: Reg) -> u64 {
    let numbers = plan.register(a).cols;
    8 * circuit_of(plan, a).table_bytes(numbers) as u64 + numbers as u64
}

/// Bits of labels that `P_1` sends for all numbers of a register.
pub(crate) fn label_bits(plan: &Plan, a: Reg) -> u64 {
    let register = plan.register(a);
    8 * LABEL as u64 * register.domain.bits() * register.cols as u64
}

/// Whether a party receives anything in a stage: `P_2` tables offline and labels online in the first, `P_1` a bit in
/// the second.
pub(crate) fn receives(me: usize, stage: u32) -> bool {
    (me == 2) == (stage == 0)
}

impl AstraEngine {
    pub(crate) fn msb_begin(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        match (self.me, job.stage) {
            (0, 0) => with_word!(width_of(&self.plan, a), W => self.give_tables::<W>(job, a, dst)),
            (1, 0) => with_word!(width_of(&self.plan, a), W => self.give_labels::<W>(job, a, dst)),
            (2, 1) => {
                let masked = self.bank(0).take(dst);
                let stride = row_words(self.plan.register(dst).cols);
                let message = self.pack_rows(&masked, Rows::one(dst, 0), stride, job.cols.clone());
                self.bank(0).put(dst, masked);
                self.send_part(job, message)
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn msb_finish(&mut self, job: &Job, from: usize, a: Reg, dst: Reg) -> Result<(), Error> {
        if self.walk == Walk::Offline {
            return self.take_tables(job, from, a);
        }
        if self.me == 2 {
            return self.evaluate_msb(job, from, a, dst);
        }
        let message = self.recv_part(job, from, job.cols.len().div_ceil(8))?;
        let stride = row_words(self.plan.register(dst).cols);
        let masked = self.bank(0).make(dst).words_mut();
        bits::unpack_rows(&message, masked, stride, Bank::stack(Rows::one(dst, 0)), job.cols.clone());
        self.session.mesh().recycle(message);
        if self.verified.is_some() { self.expect_tags(job, dst) } else { Ok(()) }
    }

    /// The circuit for the MSB extraction of a register's numbers.
    pub(crate) fn msb_circuit(&self, a: Reg) -> &'static Garbling {
        if self.verified.is_some() {
            checked_garbling::circuit_of(&self.plan, a)
        } else {
            circuit_of(&self.plan, a)
        }
    }

    /// `P_0`, offline: garbles, and sends tables and what decodes.
    fn give_tables<W: Word>(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        let circuit = circuit_of(&self.plan, a);
        let count = job.cols.len();
        let sum = planes::<W>(&self.mask_of::<W>(a, job));
        let mut mask = vec![0; bits::words(count)];
        for component in [1, 2] {
            bits::xor_assign(&mut mask, &self.draw_mask(job, dst, component)[..bits::words(count)]);
        }
        let seed = self.garbling_seed(job, 1);
        let mut garbled = vec![0; circuit.table_bytes(count)];
        let decoding = section(Section::Gates, || {
            let mut garbler = Garbler::new(circuit, &seed, self.ahead()?.batch(job.op));
            let outputs =
                garbler.garble(piece(job), &[&sum, &mask], &mut garbled).map_err(|error| misfit(&error))?;
            Ok::<_, Error>(outputs.decoding())
        })?;
        garbled.extend_from_slice(&bytemuck::cast_slice(&decoding)[..count.div_ceil(8)]);
        section(Section::Sending, || {
            let (to, pieces) = (self.receiver(), message_ranges(garbled.len()));
            for (which, range) in pieces {
                let at = self.part_at(job, which);
                self.session.mesh().send(to, at, &garbled[range])?;
            }
            Ok(())
        })
    }

    /// `P_2`, offline: keeps what `P_0` garbled.
    fn take_tables(&mut self, job: &Job, from: usize, a: Reg) -> Result<(), Error> {
        let place = self.garbled_range(job, a);
        for (which, range) in message_ranges(place.len()) {
            let at = self.part_at(job, which);
            let message = self.session.mesh().recv(from, at, range.len())?;
            let range = place.start + range.start..place.start + range.end;
            self.ahead()?.shares_mut(job.op)[range].copy_from_slice(&message);
            self.session.mesh().recycle(message);
        }
        Ok(())
    }

    /// `P_1`, online: sends the labels of the bits of `m`.
    fn give_labels<W: Word>(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        self.draw_mask(job, dst, 1);
        let circuit = self.msb_circuit(a);
        let planes = planes::<W>(&self.bank(0).get(a).words::<W>()[job.cols.clone()]);
        let seed = self.garbling_seed(job, 0);
        let garbler = Garbler::new(circuit, &seed, self.ahead()?.batch(job.op));
        let to = self.receiver();
        for (byte, rows) in planes.chunks_exact(BITS * bits::words(job.cols.len())).enumerate() {
            let mut labels = self.session.mesh().filled(BITS * job.cols.len() * LABEL);
            section(Section::Gates, || garbler.labels(byte, piece(job), rows, &mut labels))
                .map_err(|error| misfit(&error))?;
            let at = self.part_at(job, byte);
            section(Section::Sending, || self.session.mesh().send_vec(to, at, labels))?;
        }
        Ok(())
    }

    /// `P_2`, online: evaluates on the labels that `P_1` sends, and decodes.
    fn evaluate_msb(&mut self, job: &Job, from: usize, a: Reg, dst: Reg) -> Result<(), Error> {
        self.draw_mask(job, dst, 2);
        let count = job.cols.len();
        let labels = section(Section::Receiving, || {
            let messages = (0..width_of(&self.plan, a).bytes()).map(|byte| {
                let at = self.part_at(job, byte);
                self.session.mesh().recv(from, at, BITS * count * LABEL)
            });
            messages.collect::<Result<Vec<_>, _>>()
        })?;
        let active: Vec<&[u8]> = labels.iter().map(Vec::as_slice).collect();
        let masked = if self.verified.is_some() {
            with_word!(width_of(&self.plan, a), W => self.evaluate_checked::<W>(job, a, &active))
        } else {
            section(Section::Gates, || self.evaluate_unchecked(job, a, &active))
        }?;
        let start = job.cols.start / 64;
        self.bank(0).make(dst).words_mut()[start..start + masked.len()].copy_from_slice(&masked);
        for message in labels {
            self.session.mesh().recycle(message);
        }
        Ok(())
    }

    fn evaluate_unchecked(&mut self, job: &Job, a: Reg, labels: &[&[u8]]) -> Result<Vec<u64>, Error> {
        let (circuit, count) = (circuit_of(&self.plan, a), job.cols.len());
        let place = self.garbled_range(job, a);
        let ahead = self.ahead()?;
        let (tables, decoding) = ahead.shares(job.op)[place].split_at(circuit.table_bytes(count));
        let mut evaluator = Evaluator::new(circuit, ahead.batch(job.op));
        let active = evaluator.evaluate(piece(job), labels, tables).map_err(|error| misfit(&error))?;
        active.decode(&packed(decoding, count)).map_err(|error| misfit(&error))
    }

    /// Draws a component of a job's part of the result, as one who holds it, and gives its words.
    pub(crate) fn draw_mask(&mut self, job: &Job, dst: Reg, component: usize) -> Vec<u64> {
        let other = if self.me == 0 { component } else { 0 };
        let words = words_of(&job.cols, self.plan.register(dst).cols);
        let mut mask = vec![0; words.len()];
        let block = (words.start / 2) as u64;
        section(Section::Randomness, || {
            let draw = Self::draw(job, Drawn::Mask);
            self.streams[other].fill(draw, block, bytemuck::cast_slice_mut(&mut mask));
        });
        self.bank(component).make(dst).words_mut()[words].copy_from_slice(&mask);
        mask
    }

    /// What `P_0` and `P_1` garble a job from.
    pub(crate) fn garbling_seed(&mut self, job: &Job, other: usize) -> Zeroizing<[u8; 16]> {
        let mut seed = Zeroizing::new([0; 16]);
        self.streams[other].fill(Self::draw(job, Drawn::Seed), job.batch.into(), seed.as_mut_slice());
        seed
    }

    /// Where `P_2` has a job's garbled circuits among those of the operation.
    pub(crate) fn garbled_range(&self, job: &Job, a: Reg) -> Range<usize> {
        let bytes = |numbers| match self.verified {
            Some(_) => checked_garbling::kept_bytes(&self.plan, a, 2, numbers),
            None => garbled_bytes(&self.plan, a, numbers),
        };
        bytes(job.cols.start)..bytes(job.cols.end)
    }

    /// The address of one of a job's messages of labels or tables.
    pub(crate) fn part_at(&self, job: &Job, which: usize) -> At {
        let at = self.at(job);
        At { batch: job.batch * PARTS + which as u32, ..at }
    }
}

/// Messages that a job has at most: of labels as many as a number has bytes; of what is made offline two for each, or
/// where it is checked nine.
pub(crate) const PARTS: u32 = 128;

/// What is garbled, cut into messages.
pub(crate) fn message_ranges(bytes: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    (0..bytes).step_by(TABLES).map(move |start| start..bytes.min(start + TABLES)).enumerate()
}

/// A job's instances.
pub(crate) fn piece(job: &Job) -> Range<u64> {
    job.cols.start as u64..job.cols.end as u64
}

/// Packed bits as words.
pub(crate) fn packed(bytes: &[u8], count: usize) -> Vec<u64> {
    let mut words = vec![0; bits::words(count)];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    words
}

/// The bits of numbers, a row for each.
pub(crate) fn planes<W: Word>(numbers: &[W]) -> Vec<u64> {
    let stride = bits::words(numbers.len());
    let mut planes = vec![0; W::BITS as usize * stride];
    section(Section::Slicing, || {
        transpose::to_planes::<W>(numbers, W::BITS as usize, &mut planes, stride);
    });
    planes
}

pub(crate) fn misfit(error: &tacit_garble::Error) -> Error {
    Error::Refused(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::plan::{Builder, OpKind, To};

    #[test]
    fn a_circuit_has_an_and_for_each_bit_but_the_highest_and_jobs_are_pieces() {
        for (width, circuit) in Width::ALL.into_iter().zip(CIRCUITS.iter()) {
            assert_eq!(circuit.ands(), u64::from(width.bits()) - 1);
            let mut builder = Builder::new();
            let (a, dst) = (builder.ring(width, 1300), builder.bits(1, 1300));
            builder.interact(OpKind::Msb { a, dst });
            builder.output(dst, To::All);
            let plan = builder.finish();
            for job in tacit_engine::jobs(&plan, 0, 0) {
                assert!(job.cols.start.is_multiple_of(circuit.tile()), "{width:?}");
                let bytes = garbled_bytes(&plan, a, job.cols.len());
                let parts = message_ranges(bytes).count().max(width.bytes());
                assert!(parts <= PARTS as usize, "{width:?}: {parts} messages");
            }
            assert_eq!(garbled_bits(&plan, a), 1300 * (256 * (u64::from(width.bits()) - 1) + 1));
            assert_eq!(label_bits(&plan, a), 1300 * 128 * u64::from(width.bits()));
        }
    }
}
