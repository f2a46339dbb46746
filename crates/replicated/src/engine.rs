//! Which operation goes where.

use crate::compose;
#[cfg(feature = "planted")]
use crate::planted::{Mistake, planted};
use crate::reads::Reads;
use crate::shuffle;
use crate::state::ReplicatedEngine;
use crate::zero_sharing::ZeroSharing;
use std::sync::Arc;
use tacit_engine::profile::{Section, section};
use tacit_engine::{Clear, Engine, Error, Job, KeptShare, Participants};
use tacit_program::plan::{Local, OpKind, Plan, Reg};
use tacit_session::Session;
use tacit_threeparty::{next, prev};

impl Engine for ReplicatedEngine {
    fn session(&mut self) -> Option<&mut Session> {
        Some(&mut self.party.session)
    }

    fn share_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        self.give_input(input, values)
    }

    fn receive_share(&mut self, input: u32) -> Result<(), Error> {
        self.take_input(input)
    }

    fn public_input(&mut self, input: u32, values: &Clear) -> Result<(), Error> {
        self.party.public_input(input, values);
        Ok(())
    }

    fn load_kept(&mut self, kept: u32, share: &KeptShare) -> Result<(), Error> {
        self.party.load_kept(kept, share)
    }

    fn keep(&mut self, keep: u32) -> Result<KeptShare, Error> {
        Ok(self.party.keep(keep))
    }

    fn local(&mut self, step: &Local) -> Result<(), Error> {
        let mesh = self.party.session.mesh();
        let mut tick = || Ok(mesh.tick()?);
        section(Section::Gates, || {
            if self.party.plan.register(step.writes()).public {
                // In both banks, whole.
                self.party.own.run(step, &mut tick)?;
                self.party.prev.copy_from(&self.party.own, step.writes());
                return Ok(());
            }
            if self.reads.own(step.writes()) {
                self.party.own.run(step, &mut tick)?;
            }
            if self.reads.prev(step.writes()) {
                self.party.prev.run(step, &mut tick)?;
            }
            Ok(())
        })
    }

    fn begin(&mut self, job: &Job) -> Result<(), Error> {
        let plan = self.party.plan.clone();
        match &plan.op(job.op).kind {
            kind @ (OpKind::And { .. } | OpKind::Mul { .. } | OpKind::MatMul { .. }) => {
                self.product_begin(job, kind)
            }
            &OpKind::Split { a, bits, s } => self.split_begin(job, a, bits, s),
            kind @ (OpKind::Inject { .. } | OpKind::Shift { .. }) => self.select_begin(job, kind),
            OpKind::Circuit { circuit, inputs, dst } => self.layer_begin(job, circuit, inputs, *dst),
            OpKind::Shuffle { cols, blocks, dst, .. } => self.shuffle_begin(job, cols, *blocks, dst),
            &OpKind::Open { a, .. } => self.open_begin(job, a),
            &OpKind::PairMask { bits, dst } => {
                self.pair_mask(job, bits, dst);
                Ok(())
            }
            &OpKind::Compose { a, mask, dst } => self.compose_begin(job, [a, mask, dst]),
            OpKind::Msb { .. } | OpKind::Random { .. } => unreachable!("the protocol doesn't offer it"),
        }
    }

    fn arrived(&mut self, job: &Job) -> Result<bool, Error> {
        let awaited: &[usize] = match (&self.party.plan.op(job.op).kind, self.me, job.stage) {
            (
                OpKind::And { .. } | OpKind::Mul { .. } | OpKind::MatMul { .. } | OpKind::Circuit { .. },
                me,
                _,
            ) => match self.zero_sharing {
                ZeroSharing::Computational if !self.sends(job).prev => &[],
                ZeroSharing::Computational => &[prev(me)],
                ZeroSharing::InformationTheoretic => &[prev(me), next(me)],
            },
            (OpKind::Shuffle { .. }, me, turn) => match shuffle::partner(me, turn) {
                Some(partner) => &[partner],
                None => &[],
            },
            (OpKind::Open { .. }, me, _) if self.verified.is_some() && job.last => &[next(me), prev(me)],
            (OpKind::Open { .. }, me, _) => &[next(me)],
            (&OpKind::Compose { dst, .. }, me, stage) => {
                let cols = self.party.plan.register(dst).cols;
                match compose::sender(job.cols.clone(), cols, me, stage) {
                    Some(sender) if sender == next(me) => &[next(me)],
                    Some(_) => &[prev(me)],
                    None => &[],
                }
            }
            (OpKind::Split { .. }, 0, _) => &[1],
            (OpKind::Inject { .. } | OpKind::Shift { .. }, 0, 0) => &[1, 2],
            (OpKind::Inject { .. } | OpKind::Shift { .. }, 2, 1) => &[0],
            (
                OpKind::Split { .. }
                | OpKind::Inject { .. }
                | OpKind::Shift { .. }
                | OpKind::Msb { .. }
                | OpKind::PairMask { .. }
                | OpKind::Random { .. },
                ..,
            ) => &[],
        };
        for &peer in awaited {
            if !self.party.session.mesh().arrived(peer)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn finish(&mut self, job: &Job) -> Result<(), Error> {
        let plan = self.party.plan.clone();
        match &plan.op(job.op).kind {
            kind @ (OpKind::And { .. } | OpKind::Mul { .. } | OpKind::MatMul { .. }) => {
                self.product_finish(job, kind)
            }
            &OpKind::Split { bits, s, .. } => self.split_finish(job, bits, s),
            kind @ (OpKind::Inject { .. } | OpKind::Shift { .. }) => self.select_finish(job, kind),
            OpKind::Circuit { circuit, .. } => self.layer_finish(job, circuit),
            OpKind::Shuffle { blocks, dst, .. } => self.shuffle_finish(job, *blocks, dst),
            &OpKind::Open { a, dst, .. } => self.open_finish(job, a, dst),
            OpKind::PairMask { .. } => Ok(()),
            &OpKind::Compose { a, dst, .. } => self.compose_finish(job, a, dst),
            OpKind::Msb { .. } | OpKind::Random { .. } => unreachable!("the protocol doesn't offer it"),
        }
    }

    fn free(&mut self, reg: Reg) {
        self.party.free(reg);
    }

    /// Where nobody deviates, all is right, and at the end of a plan the parties compare what they drew.
    fn check(&mut self) -> Result<(), Error> {
        self.checks = self.checks.saturating_sub(1);
        match &mut self.verified {
            None if self.checks > 0 => Ok(()),
            None => Ok(self.party.session.compare_draws(&[])?),
            Some(verified) => verified.check(&mut self.party),
        }
    }

    fn send_output(&mut self, output: u32) -> Result<(), Error> {
        #[cfg(feature = "planted")]
        if let Some(verified) = self.verified.as_mut()
            && output == 0
            && self.party.plan.guard.is_some()
            && planted(Mistake::GuardEarly)
        {
            verified.check_late(&mut self.party)?;
        }
        self.party.send_output(output)?;
        match &mut self.verified {
            None => self.send_part(output),
            Some(verified) => self.party.confirm_to_clients(output, verified.hiding.as_mut()),
        }
    }

    fn open_output(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        #[cfg(feature = "planted")]
        if let Some(verified) = self.verified.as_mut().filter(|_| planted(Mistake::OutputsEarly)) {
            verified.check_late(&mut self.party)?;
        }
        self.party.open_output(output)
    }

    fn next(&mut self, plan: Arc<Plan>, participants: Participants) -> Result<(), Error> {
        self.party.next(plan, participants)?;
        if let Some(verified) = &mut self.verified {
            verified.next(&self.party.plan)?;
        }
        self.reads = Reads::new(&self.party.plan, self.me);
        self.checks = self.party.plan.checks();
        // Clients give new seeds.
        self.clients.clear();
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(self.party.session.close()?)
    }
}
