//! A party's state, and which operation goes where.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use tacit_engine::bank::{Bank, Part};
use tacit_engine::supply::{Drawer, Supply, SupplyKind};
use tacit_engine::tile::Tiles;
use tacit_engine::{Clear, Engine, Error, Job, Participants};
use tacit_kernel::Buffer;
use tacit_program::plan::{Local, OpKind, Plan, Reg, Register};
use tacit_session::{At, Draw, Session, step};

use super::dealer::Dealer;
use super::demand::demand;
use super::inputs::Given;
use super::macs::{Keys, Macs};
use super::outputs::Told;
use super::products::Opening;
use super::share::Share;
use super::shared::Shared;
use super::{FIRST, Manner};

/// One party of any number.
pub(super) struct AdditiveEngine {
    pub(super) manner: Manner,
    pub(super) session: Session,
    pub(super) plan: Arc<Plan>,
    pub(super) participants: Participants,
    /// Its shares.
    pub(super) bank: Bank,
    /// Their MACs, once it has its share of the key, if values are authenticated.
    pub(super) macs: Option<Macs>,
    /// The circuits' tiles that are under way.
    pub(super) tiles: Tiles,
    /// What it draws from: the dealer, once it has met it, if it was given no other.
    pub(super) supply: Option<Box<dyn Supply>>,
    /// Masked operands that others are still to send their shares of, by the messages' address.
    pub(super) openings: HashMap<At, Opening>,
    /// Messages of jobs in arms that exclude one another, as they are made and taken apart.
    pub(super) shared: Shared,
    /// Inputs that are under way, where they go under masks.
    pub(super) given: BTreeMap<u32, Given>,
    /// Outputs that are under way, or checked, where there are MACs.
    pub(super) told: BTreeMap<u32, Told>,
    /// The coin for outputs, where a mistake has it tossed early.
    pub(super) early_coin: Option<Vec<u8>>,
    /// Checks that the plan still asks for.
    checks: u64,
}

impl AdditiveEngine {
    pub(super) fn new(manner: Manner, session: Session, plan: Arc<Plan>, participants: Participants) -> Self {
        let mut bank = Bank::new(plan.clone(), Part::Component(session.me() as u8));
        bank.reserve();
        Self {
            manner,
            session,
            participants,
            bank,
            macs: None,
            tiles: Tiles::new(1),
            supply: None,
            openings: HashMap::new(),
            shared: Shared::default(),
            given: BTreeMap::new(),
            told: BTreeMap::new(),
            early_coin: None,
            checks: plan.checks(),
            plan,
        }
    }

    /// Whether this is the party that takes public values into its share.
    pub(super) fn is_first(&self) -> bool {
        self.session.me() == FIRST
    }

    pub(super) fn others(&self) -> impl Iterator<Item = usize> + use<> {
        self.session.others()
    }

    /// What this party gets of items of a kind.
    pub(super) fn drawn(
        &mut self,
        drawer: Drawer,
        kind: SupplyKind,
        items: Range<u64>,
    ) -> Result<Drawn, Error> {
        let supply = self.supply.as_mut().expect("a party has a supply before it computes");
        let vectors = kind.part_bytes().len();
        let mut values = supply.draw(drawer, kind, items)?.into_iter();
        let shares: Vec<Buffer> = values.by_ref().take(vectors).collect();
        if shares.len() != vectors {
            return Err(Error::Supply(format!("{kind} have {vectors} parts, and {} came", shares.len())));
        }
        let mut share = |value| Share { value, mac: if self.macs.is_some() { values.next() } else { None } };
        let shares = shares.into_iter().map(&mut share).collect();
        Ok(Drawn { shares, known: values.next() })
    }

    /// A register's share.
    pub(super) fn share(&self, reg: Reg) -> Share {
        let mac = self.macs.as_ref().map(|macs| macs.bank.get(reg).clone());
        Share { value: self.bank.get(reg).clone(), mac }
    }

    /// Writes a register's share.
    pub(super) fn put_share(&mut self, reg: Reg, share: Share) {
        self.bank.put(reg, share.value);
        if let (Some(macs), Some(mac)) = (&mut self.macs, share.mac) {
            macs.bank.put(reg, mac);
        }
    }

    /// Adds what all know to a share of a vector.
    pub(super) fn add_public(&self, shape: Register, share: &mut Share, public: &Buffer) {
        if self.is_first() {
            tacit_engine::vector::add_assign(shape, &mut share.value, public);
        }
        if let (Some(macs), Some(mac)) = (&self.macs, &mut share.mac) {
            macs.add_public(shape, public, mac);
        }
    }

    /// Notes what was opened, to be checked.
    pub(super) fn record(&mut self, shape: Register, opened: &Share) {
        if let Some(macs) = &mut self.macs {
            macs.record(shape, opened);
        }
    }

    /// Notes what all were told, to be compared.
    pub(super) fn note(&mut self, shape: Register, told: &Buffer) {
        if let Some(macs) = &mut self.macs {
            macs.note(shape, told);
        }
    }

    /// Checks all that was recorded. If that fails, nothing is left of the keys.
    pub(super) fn check_macs(&mut self) -> Result<(), Error> {
        let mut macs = self.macs.take().expect("a party has its share of the key before it computes");
        let supply = self.supply.as_ref().expect("a party has a supply before it computes");
        let check = supply.checks().begin(&mut self.session)?;
        let early = self.early_coin.take();
        if let Err(error) = macs.check(&mut self.session, check.number(), self.manner.mistake, early) {
            self.supply = None;
            return Err(error);
        }
        check.pass()?;
        self.macs = Some(macs);
        Ok(())
    }

    pub(super) fn input_shape(&self, input: u32) -> (usize, Reg, Register) {
        let operation = &self.plan.inputs[input as usize];
        (self.participants.endpoint(operation.owner), operation.reg, self.plan.register(operation.reg))
    }
}

impl Engine for AdditiveEngine {
    fn session(&mut self) -> Option<&mut Session> {
        Some(&mut self.session)
    }

    fn prepare(&mut self) -> Result<bool, Error> {
        let authenticated = self.manner.authenticated;
        let mut supply = match self.supply.take() {
            Some(supply) => supply,
            None => Box::new(Dealer::meet(&mut self.session, authenticated)?),
        };
        let demand = demand(&self.plan, &self.participants, authenticated);
        supply.provide(&mut self.session, &Arc::new(demand))?;
        if authenticated && self.macs.is_none() {
            self.macs = Some(Macs::new(Keys::of_material(supply.key()?)?, self.plan.clone()));
        }
        self.supply = Some(supply);
        Ok(false)
    }

    fn supply(&mut self, supply: Box<dyn Supply>) -> Result<(), Error> {
        self.supply = Some(supply);
        Ok(())
    }

    fn share_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error> {
        if self.macs.is_some() { self.give_masked(input, values) } else { self.give(input, values) }
    }

    fn receive_share(&mut self, input: u32) -> Result<(), Error> {
        if self.macs.is_some() { self.take_masked(input) } else { self.take(input) }
    }

    fn public_input(&mut self, input: u32, values: &Clear) -> Result<(), Error> {
        let reg = self.plan.public_inputs[input as usize].reg;
        self.bank.write_public(reg, values);
        if let Some(macs) = &mut self.macs {
            macs.bank.write_public(reg, values);
        }
        Ok(())
    }

    fn local(&mut self, step: &Local) -> Result<(), Error> {
        let mesh = self.session.mesh();
        self.bank.run(step, &mut || Ok(mesh.tick()?))?;
        self.macs.as_mut().map_or(Ok(()), |macs| macs.local(step))
    }

    fn has_online_messages(&self, op: u32, _: u32) -> bool {
        has_messages(&self.plan.op(op).kind)
    }

    fn begin(&mut self, job: &Job) -> Result<(), Error> {
        let plan = self.plan.clone();
        match &plan.op(job.op).kind {
            &OpKind::And { a, b, dst } => self.and_begin(job, a, b, dst),
            &OpKind::Mul { a, b, dst } => self.mul_begin(job, a, b, dst),
            &OpKind::MatMul { a, b, shape, dst } => self.matmul_begin(job, a, b, shape, dst),
            OpKind::Circuit { circuit, inputs, dst } => self.layer_begin(job, circuit, inputs, *dst),
            &OpKind::Open { a, .. } => self.open_begin(job, a),
            &OpKind::Random { dst, bits } => self.random(job, dst, bits),
            OpKind::Split { .. }
            | OpKind::Inject { .. }
            | OpKind::Shift { .. }
            | OpKind::Msb { .. }
            | OpKind::Shuffle { .. } => {
                unreachable!("plans ask for what the protocol offers")
            }
        }
    }

    fn begin_arms(&mut self, jobs: &[Job]) -> Result<(), Error> {
        self.shared.collect();
        jobs.iter().try_for_each(|job| self.begin(job))?;
        self.send_shared(jobs)
    }

    fn finish_arms(&mut self, jobs: &[Job]) -> Result<(), Error> {
        self.receive_shared(jobs)?;
        jobs.iter().try_for_each(|job| self.finish(job))?;
        self.shared.done();
        Ok(())
    }

    fn arrived(&mut self, job: &Job) -> Result<bool, Error> {
        let kind = &self.plan.op(job.op).kind;
        if !has_messages(kind) || matches!(kind, OpKind::MatMul { .. }) && !job.last {
            return Ok(true);
        }
        for party in self.others() {
            if !self.session.mesh().arrived(party)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn finish(&mut self, job: &Job) -> Result<(), Error> {
        let plan = self.plan.clone();
        match &plan.op(job.op).kind {
            &OpKind::And { dst, .. } => self.and_finish(job, dst),
            &OpKind::Mul { dst, .. } => self.mul_finish(job, dst),
            &OpKind::MatMul { dst, .. } => self.matmul_finish(job, dst),
            OpKind::Circuit { circuit, .. } => self.layer_finish(job, circuit),
            &OpKind::Open { a, dst, .. } => self.open_finish(job, a, dst),
            OpKind::Random { .. } => Ok(()),
            OpKind::Split { .. }
            | OpKind::Inject { .. }
            | OpKind::Shift { .. }
            | OpKind::Msb { .. }
            | OpKind::Shuffle { .. } => {
                unreachable!("plans ask for what the protocol offers")
            }
        }
    }

    fn free(&mut self, reg: Reg) {
        self.bank.free(reg);
        if let Some(macs) = &mut self.macs {
            macs.bank.free(reg);
        }
    }

    /// Checks what was opened by its MACs. Without them nobody deviates, so all is right, and at the end of a plan the
    /// parties compare what they drew.
    fn check(&mut self) -> Result<(), Error> {
        self.checks -= 1;
        if self.macs.is_some() {
            return self.check_macs();
        }
        if self.checks == 0 { Ok(self.session.compare_draws(&[])?) } else { Ok(()) }
    }

    fn send_output(&mut self, output: u32) -> Result<(), Error> {
        if self.macs.is_some() { self.tell_masked(output) } else { self.tell(output) }
    }

    fn open_output(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        if self.macs.is_some() { self.hear_masked(output) } else { self.hear(output) }
    }

    fn next(&mut self, plan: Arc<Plan>, participants: Participants) -> Result<(), Error> {
        self.session.next_plan(self.plan.addresses(), plan.addresses())?;
        self.bank.next(plan.clone());
        if let Some(macs) = &mut self.macs {
            macs.bank.next(plan.clone());
        }
        self.checks = plan.checks();
        (self.plan, self.participants) = (plan, participants);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(self.session.close()?)
    }
}

/// What a party gets of some items.
pub(super) struct Drawn {
    /// Its shares of their parts.
    pub(super) shares: Vec<Share>,
    /// The elements themselves, if they are a mask of this party's.
    pub(super) known: Option<Buffer>,
}

/// Whether an operation has messages: what is random is the dealer's to give.
pub(super) const fn has_messages(kind: &OpKind) -> bool {
    !matches!(kind, OpKind::Random { .. })
}

/// The address of a job's messages.
pub(super) fn at(job: &Job) -> At {
    At { part: step::OPERATION + job.stage as u16, op: job.op, batch: job.batch, ..At::default() }
}

/// The address of a piece of an input.
pub(super) fn input_at(input: u32, batch: u32) -> At {
    At { part: step::INPUT, op: input, batch, ..At::default() }
}

/// The address of the randomness of an input's shares.
pub(super) fn input_draw(input: u32) -> Draw {
    Draw { part: step::INPUT, op: input }
}

/// The address of a piece of an output.
pub(super) fn output_at(output: u32, batch: u32) -> At {
    At { part: step::OUTPUT, op: output, batch, ..At::default() }
}
