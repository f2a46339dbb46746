//! What both forms of garbled MSB extraction take: seeds, masks, places and addresses.

use crate::draws::Drawn;
use crate::garbling::{PARTS, checked_circuit_of, circuit_of, garbled_bytes, kept_bytes};
use crate::state::AstraEngine;
use std::ops::Range;
use tacit_engine::bank::words_of;
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job};
use tacit_garble::Plan as Garbling;
use tacit_kernel::{Word, bits, transpose};
use tacit_program::plan::Reg;
use tacit_session::At;
use zeroize::Zeroizing;

impl AstraEngine {
    /// The circuit for the MSB extraction of a register's numbers.
    pub(crate) fn msb_circuit(&self, a: Reg) -> &'static Garbling {
        if self.verified.is_some() {
            checked_circuit_of(&self.party.plan, a)
        } else {
            circuit_of(&self.party.plan, a)
        }
    }

    /// Draws a component of a job's part of the result, as one who holds it, and gives its words.
    pub(crate) fn draw_mask(&mut self, job: &Job, dst: Reg, component: usize) -> Vec<u64> {
        let other = if self.me == 0 { component } else { 0 };
        let words = words_of(&job.cols, self.party.plan.register(dst).cols);
        let mut mask = vec![0; words.len()];
        let block = (words.start / 2) as u64;
        section(Section::Randomness, || {
            let draw = Self::draw(job, Drawn::Mask);
            self.streams[other].fill(draw, block, bytemuck::cast_slice_mut(&mut mask));
        });
        self.party.component_mut(component).make(dst).words_mut()[words].copy_from_slice(&mask);
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
            Some(_) => kept_bytes(&self.party.plan, a, 2, numbers),
            None => garbled_bytes(&self.party.plan, a, numbers),
        };
        bytes(job.cols.start)..bytes(job.cols.end)
    }

    /// The address of one of a job's messages of labels or tables.
    pub(crate) fn part_at(&self, job: &Job, which: usize) -> At {
        let at = self.address(job);
        At { batch: job.batch * PARTS + which as u32, ..at }
    }
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
