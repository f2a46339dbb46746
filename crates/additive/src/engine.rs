//! The engine: which operation goes where.

use crate::demand::{demand_of_arms, shared};
use crate::macs::{Keys, Macs};
use crate::planted::{Mistake, planted};
use crate::preprocessing::Manner;
use crate::state::{Party, lost};
use std::sync::Arc;
use tacit_engine::supply::Supply;
use tacit_engine::{Clear, Engine, Error, Job, KeptShare, Participants};
use tacit_net::Phase;
use tacit_program::plan::{Local, OpKind, Plan, Reg};
use tacit_session::Session;

/// One party of any number.
pub(crate) struct AdditiveEngine(Party);

impl AdditiveEngine {
    pub(crate) fn new(manner: Manner, session: Session, plan: Arc<Plan>, participants: Participants) -> Self {
        Self(Party::new(manner, session, plan, participants))
    }
}

impl Engine for AdditiveEngine {
    fn session(&mut self) -> Option<&mut Session> {
        Some(&mut self.0.session)
    }

    fn makes_supply(&self) -> bool {
        !self.0.is_supplied
    }

    fn prepare(&mut self) -> Result<bool, Error> {
        let party = &mut self.0;
        let authenticated = party.manner.is_authenticated();
        // What is made in a run is made in checks, of which others know the verdict first. A client that is lost meanwhile ends
        // the run after them, and nobody has to count that as an attempt.
        let is_held = authenticated && !party.is_supplied;
        if is_held {
            party.session.mesh().hold_faults();
        }
        // An error leaves neither.
        let (supply, macs) = (party.supply.take(), party.macs.take());
        let mut supply = match supply {
            Some(supply) => supply,
            None if party.is_supplied => return Err(lost()),
            None => party.manner.preprocessing.live(&mut party.session)?,
        };
        let arms = shared(&party.plan, party.manner);
        party.demand = Arc::new(demand_of_arms(&party.plan, &party.participants, party.manner, &arms));
        party.intervals = arms.1;
        party.arm_masks.clear();
        supply.provide(&mut party.session, &party.demand)?;
        if is_held {
            party.session.mesh().raise_faults()?;
        }
        let macs = match macs {
            None if authenticated => {
                let keys = Keys::of_material(party.manner.fields, supply.key()?)?;
                Some(Macs::new(keys, party.plan.clone()))
            }
            macs => macs,
        };
        (party.supply, party.macs) = (Some(supply), macs);
        if authenticated {
            party.session.mesh().set_phase(Phase::Offline);
            party.mask_bits()?;
        }
        Ok(false)
    }

    fn supply(&mut self, supply: Box<dyn Supply>) -> Result<(), Error> {
        self.0.supply = Some(supply);
        self.0.is_supplied = true;
        Ok(())
    }

    fn share_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        let party = &mut self.0;
        match (party.manner.is_authenticated(), party.digits(input)) {
            (false, _) => party.share_input(input, values),
            (true, None) => party.share_masked(input, values),
            (true, Some(_)) => party.share_bits(input, values),
        }
    }

    fn receive_share(&mut self, input: u32) -> Result<(), Error> {
        let party = &mut self.0;
        match (party.manner.is_authenticated(), party.digits(input)) {
            (false, _) => party.receive_share(input),
            (true, None) => party.receive_masked(input),
            (true, Some(_)) => party.receive_bits(input),
        }
    }

    fn public_input(&mut self, input: u32, values: &Clear) -> Result<(), Error> {
        let reg = self.0.plan.public_inputs[input as usize].reg;
        self.0.bank.write_public(reg, values);
        if let Some(macs) = &mut self.0.macs {
            macs.bank.write_public(reg, values);
        }
        Ok(())
    }

    fn load_kept(&mut self, kept: u32, share: &KeptShare) -> Result<(), Error> {
        self.0.load_kept(kept, share)
    }

    fn keep(&mut self, keep: u32) -> Result<KeptShare, Error> {
        self.0.keep(keep)
    }

    fn local(&mut self, step: &Local) -> Result<(), Error> {
        let mesh = self.0.session.mesh();
        self.0.bank.run(step, &mut || Ok(mesh.tick()?))?;
        self.0.macs.as_mut().map_or(Ok(()), |macs| macs.local(step))
    }

    fn begin(&mut self, job: &Job) -> Result<(), Error> {
        let (plan, party) = (self.0.plan.clone(), &mut self.0);
        match &plan.op(job.op).kind {
            &OpKind::And { a, b, dst } => party.and_begin(job, a, b, dst),
            &OpKind::Mul { a, b, dst } => party.mul_begin(job, a, b, dst),
            &OpKind::MatMul { a, b, shape, dst } => party.matmul_begin(job, a, b, shape, dst),
            OpKind::Circuit { circuit, inputs, dst } => party.layer_begin(job, circuit, inputs, *dst),
            &OpKind::Open { a, .. } => party.open_begin(job, a),
            &OpKind::Random { dst, bits } => party.random(job, dst, bits),
            OpKind::Split { .. }
            | OpKind::Inject { .. }
            | OpKind::Shift { .. }
            | OpKind::Msb { .. }
            | OpKind::PairMask { .. }
            | OpKind::Compose { .. }
            | OpKind::Shuffle { .. } => {
                unreachable!("plans ask for what the protocol offers")
            }
        }
    }

    fn begin_arms(&mut self, jobs: &[Job]) -> Result<(), Error> {
        self.0.shared.collect();
        jobs.iter().try_for_each(|job| self.begin(job))?;
        let party = &mut self.0;
        party.shared.send_collected(&mut party.session, &party.plan, jobs)
    }

    fn finish_arms(&mut self, jobs: &[Job]) -> Result<(), Error> {
        let party = &mut self.0;
        party.shared.receive_collected(&mut party.session, &party.plan, jobs)?;
        jobs.iter().try_for_each(|job| self.finish(job))?;
        self.0.shared.done();
        Ok(())
    }

    fn arrived(&mut self, job: &Job) -> Result<bool, Error> {
        let kind = &self.0.plan.op(job.op).kind;
        if !has_messages(kind) || matches!(kind, OpKind::MatMul { .. }) && !job.last {
            return Ok(true);
        }
        for other in self.0.others() {
            if !self.0.session.mesh().arrived(other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn finish(&mut self, job: &Job) -> Result<(), Error> {
        let (plan, party) = (self.0.plan.clone(), &mut self.0);
        match &plan.op(job.op).kind {
            &OpKind::And { dst, .. } => party.and_finish(job, dst),
            &OpKind::Mul { dst, .. } => party.mul_finish(job, dst),
            &OpKind::MatMul { shape, dst, .. } => party.matmul_finish(job, shape, dst),
            OpKind::Circuit { circuit, .. } => party.layer_finish(job, circuit),
            &OpKind::Open { a, dst, .. } => party.open_finish(job, a, dst),
            OpKind::Random { .. } => Ok(()),
            OpKind::Split { .. }
            | OpKind::Inject { .. }
            | OpKind::Shift { .. }
            | OpKind::Msb { .. }
            | OpKind::PairMask { .. }
            | OpKind::Compose { .. }
            | OpKind::Shuffle { .. } => {
                unreachable!("plans ask for what the protocol offers")
            }
        }
    }

    fn free(&mut self, reg: Reg) {
        self.0.bank.free(reg);
        if let Some(macs) = &mut self.0.macs {
            macs.bank.free(reg);
        }
    }

    /// Checks what was opened by its MACs. Without them nobody deviates, so all is right, and at the end of a plan the
    /// parties compare what they drew.
    fn check(&mut self) -> Result<(), Error> {
        self.0.checks -= 1;
        if self.0.manner.is_authenticated() {
            return if planted(Mistake::ResultsUnchecked) { Ok(()) } else { self.0.check_macs() };
        }
        if self.0.checks == 0 { Ok(self.0.session.compare_draws(&[])?) } else { Ok(()) }
    }

    fn send_output(&mut self, output: u32) -> Result<(), Error> {
        if self.0.manner.is_authenticated() { self.0.send_masked(output) } else { self.0.send_shares(output) }
    }

    fn open_output(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        if self.0.manner.is_authenticated() { self.0.open_masked(output) } else { self.0.add_shares(output) }
    }

    fn next(&mut self, plan: Arc<Plan>, participants: Participants) -> Result<(), Error> {
        let party = &mut self.0;
        party.session.next_plan(party.plan.addresses(), plan.addresses())?;
        party.bank.next(plan.clone());
        if let Some(macs) = &mut party.macs {
            macs.bank.next(plan.clone());
        }
        party.checks = plan.checks();
        (party.plan, party.participants) = (plan, participants);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        let Party { session, .. } = self.0;
        Ok(session.close()?)
    }
}

/// Whether an operation has messages: what is random is the supply's to give.
pub(crate) const fn has_messages(kind: &OpKind) -> bool {
    !matches!(kind, OpKind::Random { .. })
}
