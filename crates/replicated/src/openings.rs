//! Openings to all parties, in the middle of a run.
//!
//! `P_i` sends its component `x_i` to `P_(i-1)`, the one that lacks it. That tells `P_(i-1)` no more than the value: it holds
//! the other two components, and so the third follows from the value.
//!
//! **Cost.** An element from each party, in one round.

use crate::state::ReplicatedEngine;
use tacit_engine::wire::{message_bytes, message_of, unpack_columns};
use tacit_engine::{Error, Job, bytes_of, vector};
use tacit_kernel::Buffer;
use tacit_program::plan::{Reg, Register};
use tacit_threeparty::products::Products;
use tacit_threeparty::{next, prev};

impl ReplicatedEngine {
    pub(crate) fn open_begin(&mut self, job: &Job, a: Reg) -> Result<(), Error> {
        let shape = self.party.plan.register(a);
        let message = message_of(shape, self.party.own.get(a), &job.cols);
        self.send(job, prev(self.me), message)
    }

    /// Adds the component that this party lacks. A public register is in both banks, whole.
    pub(crate) fn open_finish(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        let shape = self.party.plan.register(a);
        let message = self.recv(job, next(self.me), message_bytes(shape.domain, job.cols.len()))?;
        let piece = Register { cols: job.cols.len(), ..shape };
        let mut sum = Buffer::new(bytes_of(shape.domain, piece.cols));
        unpack_columns(piece, &message, 0..piece.cols, &mut sum);
        self.party.session.mesh().recycle(message);
        for bank in [&self.party.own, &self.party.prev] {
            vector::add_part(shape.domain, &mut sum, bank.get(a), job.cols.start);
        }
        for bank in [&mut self.party.own, &mut self.party.prev] {
            let mut out = bank.take(dst);
            vector::copy_part(shape.domain, &mut out, &sum, job.cols.start);
            bank.put(dst, out);
        }
        Ok(())
    }
}
