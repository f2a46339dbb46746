//! Openings to all parties, in the middle of a run.
//!
//! `P_i` sends its component `x_i` to `P_(i-1)`, the one that lacks it. That tells `P_(i-1)` no more than the value: it holds
//! the other two components, and so the third follows from the value. Where parties may deviate the other holder, `P_(i+1)`, sends a
//! digest of it, and `P_(i-1)` compares before it goes on.
//!
//! **Cost.** An element from each party, and a digest, in one round.

use crate::opened::Opened;
use crate::planted::{Mistake, planted};
use crate::state::ReplicatedEngine;
use tacit_engine::wire::{message_bytes, message_of, unpack_columns};
use tacit_engine::{Error, Job, bytes_of, vector};
use tacit_kernel::Buffer;
use tacit_program::plan::{Reg, Register};
use tacit_threeparty::products::Products;
use tacit_threeparty::{next, prev};

/// Bytes of a digest.
pub(crate) const DIGEST_BYTES: usize = 32;

impl ReplicatedEngine {
    pub(crate) fn open_begin(&mut self, job: &Job, a: Reg) -> Result<(), Error> {
        let shape = self.party.plan.register(a);
        let message = message_of(shape, self.party.own.get(a), &job.cols);
        if self.verified.is_some() {
            let held = message_of(shape, self.party.prev.get(a), &job.cols);
            self.opened(job).into_iter().for_each(|opened| opened.add_held(&held));
        }
        self.send(job, prev(self.me), message)?;
        match self.opened(job).filter(|_| job.last).map(Opened::digest_of_held) {
            Some(digest) => self.send(job, next(self.me), digest.to_vec()),
            None => Ok(()),
        }
    }

    /// Adds the component that this party lacks. A public register is in both banks, whole.
    pub(crate) fn open_finish(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        let shape = self.party.plan.register(a);
        let message = self.recv(job, next(self.me), message_bytes(shape.domain, job.cols.len()))?;
        if let Some(opened) = self.opened(job) {
            opened.add_received(&message);
        }
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
        if job.last { self.confirm(job) } else { Ok(()) }
    }

    /// Compares what was received with what its other holder has.
    fn confirm(&mut self, job: &Job) -> Result<(), Error> {
        let Some(verified) = &mut self.verified else { return Ok(()) };
        let Some(opened) = verified.opened.remove(&job.op) else { return Ok(()) };
        let theirs = self.recv(job, prev(self.me), DIGEST_BYTES)?;
        if opened.confirmed_by(&theirs) || planted(Mistake::OpeningUnconfirmed) {
            return Ok(());
        }
        Err(self.party.session.reject("two parties have different components of what was opened").into())
    }

    /// Where parties may deviate: what is hashed of an opening, from its first job on.
    fn opened(&mut self, job: &Job) -> Option<&mut Opened> {
        let (verified, session) = (self.verified.as_mut()?, &self.party.session);
        Some(verified.opened.entry(job.op).or_insert_with(|| Opened::new(session, job.op, self.me)))
    }
}
