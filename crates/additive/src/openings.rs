//! Values in the middle of a run: random ones that nobody knows, and those that are opened to all parties.

use std::ops::Range;

use tacit_engine::bank::Bank;
use tacit_engine::supply::Drawer;
use tacit_engine::vector::add_assign;
use tacit_engine::wire::{message_bytes, message_of, unpack_columns};
use tacit_engine::{Error, Job, bytes_of};
use tacit_kernel::Buffer;
use tacit_program::plan::Reg;

use super::dealer::row;
use super::demand::{columns, random};
use super::engine::{AdditiveEngine, at};
use super::share::Share;

impl AdditiveEngine {
    /// Elements that nobody knows. No message.
    pub(super) fn random(&mut self, job: &Job, dst: Reg, bits: bool) -> Result<(), Error> {
        let domain = self.plan.register(dst).domain;
        let items = columns(domain, job.cols.clone());
        let drawn = self.drawn(Drawer::Op(job.op), random(domain, bits), items)?;
        self.put_part(dst, &job.cols, &drawn.shares[0]);
        Ok(())
    }

    /// Sends this party's shares of what is opened to all.
    pub(super) fn open_begin(&mut self, job: &Job, a: Reg) -> Result<(), Error> {
        let shape = row(self.plan.register(a).domain, job.cols.len());
        let share = part(&self.bank, a, &job.cols);
        self.send_to_all(at(job), &message_of(shape, &share, &(0..shape.cols)))
    }

    /// Adds the others' shares.
    pub(super) fn open_finish(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        let shape = row(self.plan.register(dst).domain, job.cols.len());
        let mut opened = self.part(a, &job.cols);
        let mut share = Buffer::new(opened.value.len());
        for party in self.others() {
            let bytes = message_bytes(shape.domain, shape.cols);
            let message = self.receive(party, at(job), bytes)?;
            unpack_columns(shape, &message, 0..shape.cols, &mut share);
            add_assign(shape, &mut opened.value, &share);
        }
        self.record(shape, &opened);
        put_part(&mut self.bank, dst, &job.cols, &opened.value);
        if let Some(macs) = &mut self.macs {
            put_part(&mut macs.bank, dst, &job.cols, &opened.value);
        }
        Ok(())
    }

    /// A job's columns of a register of one row.
    pub(super) fn part(&self, reg: Reg, cols: &Range<usize>) -> Share {
        let mac = self.macs.as_ref().map(|macs| part(&macs.bank, reg, cols));
        Share { value: part(&self.bank, reg, cols), mac }
    }

    /// Writes a job's columns of a register of one row.
    pub(super) fn put_part(&mut self, reg: Reg, cols: &Range<usize>, share: &Share) {
        put_part(&mut self.bank, reg, cols, &share.value);
        if let (Some(macs), Some(mac)) = (&mut self.macs, &share.mac) {
            put_part(&mut macs.bank, reg, cols, mac);
        }
    }
}

fn part(bank: &Bank, reg: Reg, cols: &Range<usize>) -> Buffer {
    let domain = bank.shape(reg).domain;
    let mut part = Buffer::new(bytes_of(domain, cols.len()));
    let (start, bytes) = (bytes_of(domain, cols.start), part.len());
    part.bytes_mut().copy_from_slice(&bank.get(reg).bytes()[start..start + bytes]);
    part
}

fn put_part(bank: &mut Bank, reg: Reg, cols: &Range<usize>, part: &Buffer) {
    let start = bytes_of(bank.shape(reg).domain, cols.start);
    bank.make(reg).bytes_mut()[start..start + part.len()].copy_from_slice(part.bytes());
}
