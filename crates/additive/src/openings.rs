//! Values in the middle of a run: random ones that nobody knows, and those that are opened to all parties.

use crate::demand::{columns, random};
use crate::messages::{add_piece, at};
use crate::planted::{Mistake, planted};
use crate::state::Party;
use crate::vectors::row;
use tacit_engine::supply::Drawer;
use tacit_engine::wire::{message_bytes, message_of};
use tacit_engine::{Error, Job};
use tacit_program::plan::Reg;

impl Party {
    /// Elements that nobody knows. No message.
    pub(crate) fn random(&mut self, job: &Job, dst: Reg, bits: bool) -> Result<(), Error> {
        if self.draw_arm_masks(job.op, dst)? {
            return Ok(());
        }
        let domain = self.plan.register(dst).domain;
        let items = columns(domain, job.cols.clone());
        let drawn = self.drawn(Drawer::Op(job.op), random(domain, bits), items)?;
        self.put_part(dst, &job.cols, &drawn.shares[0]);
        Ok(())
    }

    /// Sends this party's shares of what is opened to all.
    pub(crate) fn open_begin(&mut self, job: &Job, a: Reg) -> Result<(), Error> {
        let shape = row(self.plan.register(a).domain, job.cols.len());
        let share = self.part(a, &job.cols)?;
        let message = message_of(shape, &share.value, &(0..shape.cols));
        self.shared.send_to_all(&mut self.session, at(job), &message)
    }

    /// Adds the others' shares.
    pub(crate) fn open_finish(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        let shape = row(self.plan.register(dst).domain, job.cols.len());
        let mut opened = self.part(a, &job.cols)?;
        let bytes = message_bytes(shape.domain, shape.cols);
        for party in self.others() {
            let message = self.shared.receive(&mut self.session, party, at(job), bytes)?;
            add_piece(shape.domain, &message, &(0..shape.cols), &mut opened.value);
        }
        self.put_public(dst, &job.cols, &opened.value);
        if !planted(Mistake::OpeningsUnrecorded) {
            self.record(shape, opened);
        }
        Ok(())
    }
}
