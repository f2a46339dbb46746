//! Which operation goes where.

use crate::checks::{Verified, refuse_unverified};
use crate::cost;
use crate::draws::Walk;
use crate::fair::room::{refuse_clients, refuse_large};
use crate::fair::terms::Fair;
use crate::prepared::{Keys, Prepared};
use crate::state::AstraEngine;
use std::sync::Arc;
use tacit_engine::profile::{Section, section};
use tacit_engine::{Clear, Engine, Error, Job, KeptShare, Material, Participants};
use tacit_garble::Batch;
use tacit_program::plan::{Local, OpKind, Plan, Reg};
use tacit_session::{PrssStream, Session};
use tacit_threeparty::PARTIES;
use tacit_threeparty::products::Results;

impl AstraEngine {
    /// Ends the walk through an instance that is being made.
    fn made(&mut self) -> Result<Option<Prepared>, Error> {
        if self.walk == Walk::Offline && self.fair.is_some() {
            self.promise()?;
        }
        let Some(mut ahead) = self.ahead.take_if(|_| self.walk == Walk::Offline) else { return Ok(None) };
        ahead.drawn = self.streams.each_ref().map(PrssStream::drawn);
        ahead.take_outputs([&mut self.party.own, &mut self.party.prev]);
        for reg in 0..self.party.plan.registers.len() as Reg {
            self.party.free(reg);
        }
        Ok(Some(ahead))
    }

    /// Computes this party's part of a job and sends it.
    fn begin_part(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        match kind {
            OpKind::And { .. } | OpKind::Mul { .. } | OpKind::MatMul { .. } => self.product_begin(job, kind),
            OpKind::Circuit { circuit, inputs, dst } => self.layer_begin(job, circuit, inputs, *dst),
            &OpKind::Split { a, bits, s } => self.split_begin(job, a, bits, s),
            OpKind::Inject { .. } | OpKind::Shift { .. } => self.select_begin(job, kind),
            &OpKind::Msb { a, dst } => self.msb_begin(job, a, dst),
            OpKind::Open { .. }
            | OpKind::Random { .. }
            | OpKind::PairMask { .. }
            | OpKind::Compose { .. }
            | OpKind::Shuffle { .. } => {
                unreachable!("the protocol doesn't offer it")
            }
        }
    }
}

impl Engine for AstraEngine {
    fn session(&mut self) -> Option<&mut Session> {
        Some(&mut self.party.session)
    }

    fn prepare(&mut self) -> Result<bool, Error> {
        if self.verified.is_some()
            && let Some(ahead) = self.made()?
        {
            self.verified().put_aside(ahead);
        }
        if self.ahead.is_some() {
            return Ok(false);
        }
        if std::mem::replace(&mut self.used, true) {
            let addresses = self.party.plan.addresses();
            self.party.session.next_plan(addresses, addresses)?;
        }
        let parties = [0, 1, 2].map(|role| self.seats.party(role));
        let keys = Keys::fresh(&mut self.party.session, parties);
        self.streams = keys.streams(self.party.session.lane());
        let memory = std::mem::take(&mut self.spare);
        let mut batch = Batch { session: [0; 16], number: self.party.session.first_operation() };
        batch.session.copy_from_slice(&self.party.session.id()[..16]);
        let places = self.places();
        self.ahead = Some(Prepared::new(places, keys, batch, memory));
        self.walk = Walk::Offline;
        if !self.idle() {
            self.mask_inputs();
        }
        Ok(true)
    }

    fn is_full(&self) -> bool {
        self.verified.as_ref().is_none_or(Verified::is_full)
    }

    fn seal(&mut self) -> Result<Vec<Material>, Error> {
        let made = self.made()?;
        let Some(verified) = &mut self.verified else {
            return Ok(made.into_iter().map(Prepared::into_material).collect());
        };
        if let Some(ahead) = made {
            verified.put_aside(ahead);
        }
        let checked = verified.seal(&mut self.party.session, self.seats, &self.party.plan)?;
        Ok(checked.into_iter().map(Prepared::into_material).collect())
    }

    fn load(&mut self, material: Material) -> Result<(), Error> {
        let places = self.places();
        let mut ahead = Prepared::from_material(material, places)?;
        self.streams = ahead.keys.streams(self.party.session.lane());
        self.walk = Walk::Online;
        if let Some(verified) = &mut self.verified {
            verified.start(&mut self.streams);
        }
        ahead.give_outputs([&mut self.party.own, &mut self.party.prev]);
        self.ahead = Some(ahead);
        self.mask_inputs();
        Ok(())
    }

    fn share_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        self.give_input(input, values)
    }

    fn receive_share(&mut self, input: u32) -> Result<(), Error> {
        self.take_input(input)
    }

    /// The masks of a kept value are those of the run that kept it: nobody opens what they hide, and each product has fresh
    /// masks, so it is as a wire that is read in several places. They are there in both walks.
    fn load_kept(&mut self, kept: u32, share: &KeptShare) -> Result<(), Error> {
        self.party.load_kept(kept, share)
    }

    fn keep(&mut self, keep: u32) -> Result<KeptShare, Error> {
        Ok(self.party.keep(keep))
    }

    fn local(&mut self, step: &Local) -> Result<(), Error> {
        if self.idle() {
            return Ok(());
        }
        let walked = (self.has_one_mask(), self.me);
        let mesh = self.party.session.mesh();
        let mut tick = || Ok(mesh.tick()?);
        section(Section::Gates, || match walked {
            (true, 1) => self.party.own.run(step, &mut tick),
            (true, _) => self.party.prev.run(step, &mut tick),
            (false, _) => {
                self.party.own.run(step, &mut tick)?;
                self.party.prev.run(step, &mut tick)
            }
        })
    }

    fn begin(&mut self, job: &Job) -> Result<(), Error> {
        if self.idle() {
            return Ok(());
        }
        let plan = self.party.plan.clone();
        let kind = &plan.op(job.op).kind;
        if let OpKind::Circuit { circuit, inputs, dst } = kind {
            return self.layer_begin(job, circuit, inputs, *dst);
        }
        match (self.verified.is_some(), self.walk, self.me) {
            (true, Walk::Offline, _) => self.make_products(job, kind),
            (true, Walk::Online, 0) => self.compute_masked(job, kind),
            (true, Walk::Online, _) => {
                self.begin_part(job, kind)?;
                self.show_operands(job, kind)
            }
            (false, ..) => self.begin_part(job, kind),
        }
    }

    fn arrived(&mut self, job: &Job) -> Result<bool, Error> {
        let kind = &self.party.plan.op(job.op).kind;
        if self.walk == Walk::Online && !cost::has_online_messages(kind, job.stage) {
            return Ok(true);
        }
        match self.sender(job) {
            Some(from) => Ok(self.party.session.mesh().arrived(from)?),
            None => Ok(true),
        }
    }

    fn finish(&mut self, job: &Job) -> Result<(), Error> {
        let Some(from) = self.sender(job) else { return Ok(()) };
        let plan = self.party.plan.clone();
        let kind = &plan.op(job.op).kind;
        match kind {
            OpKind::And { .. } | OpKind::Mul { .. } | OpKind::MatMul { .. } => {
                self.results_finish(job, from, &Results::of(job, kind))
            }
            OpKind::Circuit { circuit, .. } => self.layer_finish(job, from, circuit),
            &OpKind::Split { bits, s, .. } => self.split_finish(job, from, bits, s),
            OpKind::Inject { .. } | OpKind::Shift { .. } => self.select_finish(job, from, kind),
            &OpKind::Msb { a, dst } => self.msb_finish(job, from, a, dst),
            OpKind::Open { .. }
            | OpKind::Random { .. }
            | OpKind::PairMask { .. }
            | OpKind::Compose { .. }
            | OpKind::Shuffle { .. } => {
                unreachable!("the protocol doesn't offer it")
            }
        }?;
        if self.verified.is_some() { self.note_results(job, kind) } else { Ok(()) }
    }

    fn free(&mut self, reg: Reg) {
        if !self.idle() {
            self.party.free(reg);
        }
    }

    fn check(&mut self) -> Result<(), Error> {
        if self.fair.is_some() {
            return self.agree();
        }
        if let Some(verified) = &mut self.verified {
            return verified.check(&mut self.party, self.seats);
        }
        let mut drawn = self.streams.each_ref().map(PrssStream::drawn);
        if self.me == 0 {
            // What P_0 drew offline, the others draw online.
            drawn = self.ahead()?.drawn;
        }
        let others = (0..PARTIES).filter(|&role| role != self.me);
        let counts: Vec<(usize, u64)> = others.map(|role| (self.seats.party(role), drawn[role])).collect();
        Ok(self.party.session.compare_draws(&counts)?)
    }

    fn send_output(&mut self, output: u32) -> Result<(), Error> {
        if self.fair.is_some() {
            return self.open(output);
        }
        self.party.send_output(output)?;
        match &mut self.verified {
            None => self.send_part(output),
            Some(verified) => self.party.confirm_to_clients(output, verified.hiding.as_mut()),
        }
    }

    fn open_output(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        if self.fair.is_some() { self.take_opened(output) } else { self.party.open_output(output) }
    }

    fn next(&mut self, plan: Arc<Plan>, participants: Participants) -> Result<(), Error> {
        if self.verified.is_some() {
            refuse_unverified(&plan)?;
        }
        if let Some(fair) = &mut self.fair {
            refuse_clients(&plan, &participants)?;
            refuse_large(self.seats, &plan, &participants, &self.party.session)?;
            *fair = Fair::default();
            self.party.session.mesh().require_all()?;
        }
        self.party.next(plan, participants)?;
        self.used = false;
        if let Some(ahead) = self.ahead.take() {
            self.spare = ahead.into_memory();
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(self.party.session.close()?)
    }
}
