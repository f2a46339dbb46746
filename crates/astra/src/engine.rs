//! A party's state, and which operation goes where.

use crate::fair::{Fair, refuse_clients, refuse_large};
use crate::inout::ClientMasks;
use crate::planted::tell;
use crate::prepared::{Keys, Places, Prepared};
use crate::products::no_material;
use crate::seats::Seats;
use crate::verified::{Verified, refuse_unverified};
use crate::{PARTIES, cost, msb};
use std::ops::Range;
use std::sync::Arc;
use tacit_engine::bank::{self, Bank, Part, row_words};
use tacit_engine::cross::RightMatrices;
use tacit_engine::profile::{Section, section};
use tacit_engine::tile::Tiles;
use tacit_engine::{Clear, Engine, Error, Job, Material, Participants};
use tacit_garble::Batch;
use tacit_kernel::Buffer;
use tacit_program::plan::{Domain, Local, OpKind, Plan, Reg};
use tacit_session::{At, Draw, PrssStream, Session, step};

/// Which of the two walks through the plan is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    /// On what doesn't depend on inputs.
    Offline,
    /// On masked values.
    Online,
}

/// What a stream is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawn {
    /// The mask of a result: a component `x_1` or `x_2`.
    Mask,
    /// `P_1`'s share of what `P_0` made.
    Share,
    /// The same, of the second number where there are two.
    SecondShare,
    /// What `P_0` and `P_1` garble from.
    Seed,
    /// `delta_x` of products that are checked.
    LeftDelta,
    /// `delta_y`.
    RightDelta,
    /// `delta_z`, of a result.
    ResultDelta,
    /// `P_1`'s part of `delta_z`, of a product.
    FirstDelta,
    /// `P_1`'s share of a product, of those that are added up for a result.
    ProductShare,
    /// `delta_z` of such a product.
    ProductDelta,
}

/// One party of three.
pub(crate) struct AstraEngine {
    pub(crate) session: Session,
    pub(crate) plan: Arc<Plan>,
    pub(crate) participants: Participants,
    pub(crate) seats: Seats,
    /// `i` of `P_i`.
    pub(crate) me: usize,
    /// The component whose square is in this party's part of a product: `x_2` of `P_0`, `x_1` of `P_1`, `m` of `P_2`.
    pub(crate) first: Bank,
    /// The other one: `x_1` of `P_0`, `m` of `P_1`, `x_2` of `P_2`.
    pub(crate) second: Bank,
    /// The part of a product that `P_0` is computing.
    pub(crate) part: Buffer,
    pub(crate) walk: Walk,
    /// The instance that is being made or run; none before.
    pub(crate) ahead: Option<Prepared>,
    /// The streams of the instance's keys, by role.
    pub(crate) streams: [PrssStream; PARTIES],
    /// Memory of the last instance.
    spare: Buffer,
    /// Whether addresses of this plan were used by an instance that was made.
    used: bool,
    pub(crate) right: RightMatrices,
    /// The circuits' tiles that are under way.
    pub(crate) tiles: Tiles,
    /// The same of masks alone, of an evaluator that makes triples.
    pub(crate) mask_tiles: Tiles,
    /// Where the masks of clients' inputs come from.
    pub(crate) clients: Vec<ClientMasks>,
    /// What is still to be checked, in the protocol that does so.
    pub(crate) verified: Option<Verified>,
    /// What opens outputs, in the protocol that does so for all or nobody.
    pub(crate) fair: Option<Fair>,
}

impl AstraEngine {
    pub(crate) fn new(
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
        seats: Seats,
        verified: bool,
    ) -> Result<Self, Error> {
        let me = seats.role(session.me()).filter(|_| session.parties() == PARTIES).ok_or_else(|| {
            let parties = session.parties();
            Error::Refused(format!("ASTRA is for three parties; this deployment has {parties}"))
        })?;
        // The additive components of lowering: S is the sum of the masks, which take the public values, and T is m.
        let [one, two, masked] = [0, 1, 2].map(Part::Component);
        let held = [[two, one], [one, masked], [masked, two]][me];
        let [mut first, mut second] = held.map(|part| Bank::new(plan.clone(), part));
        first.reserve();
        second.reserve();
        let mut spare = Buffer::new(Places::new(&plan, me, verified).share_bytes());
        bank::touch(spare.bytes_mut());
        let streams = Keys::default().streams(session.lane());
        tell(step::HELLO, session.id());
        let verified = verified.then(|| Verified::new(me, seats, &plan, session.lanes()));
        Ok(Self {
            session,
            part: Buffer::default(),
            plan,
            participants,
            seats,
            me,
            first,
            second,
            walk: Walk::Online,
            ahead: None,
            streams,
            spare,
            used: false,
            right: RightMatrices::default(),
            tiles: Tiles::new(2),
            mask_tiles: Tiles::new(1),
            clients: Vec::new(),
            verified,
            fair: None,
        })
    }

    /// The same, with outputs that all honest parties have, or nobody.
    pub(crate) fn with_fair_outputs(self) -> Self {
        Self { fair: Some(Fair::default()), ..self }
    }

    /// Where everything is that this party keeps.
    fn places(&self) -> Places {
        Places::new(&self.plan, self.me, self.verified.is_some()).promising(self.fair.is_some())
    }

    /// The party that plays a role.
    pub(crate) fn party(&self, role: usize) -> usize {
        self.seats.party(role)
    }

    /// Whom this party sends its part of a product: `P_0` sends to `P_2`, and `P_1` and `P_2` to each other.
    pub(crate) fn receiver(&self) -> usize {
        self.party(if self.me == 2 { 1 } else { 2 })
    }

    /// Whose part of a job this party receives in the walk that is on: `P_2` that of `P_0` offline, `P_1` and `P_2` each
    /// other's online.
    pub(crate) fn sender(&self, job: &Job) -> Option<usize> {
        let kind = &self.plan.ops[job.op as usize].kind;
        if matches!(kind, OpKind::Msb { .. }) && !msb::receives(self.me, job.stage) {
            return None;
        }
        match (self.walk, self.me) {
            // Where triples are made, shares are taken with them.
            (Walk::Offline, 2) if self.verified.is_none() => Some(self.party(0)),
            (Walk::Online, 1 | 2) => Some(self.receiver()),
            _ => None,
        }
    }

    /// Which of the components `x_1` and `x_2` this party holds.
    pub(crate) fn held_masks(&self) -> std::ops::RangeInclusive<usize> {
        if self.me == 0 { 1..=2 } else { self.me..=self.me }
    }

    /// The bank of a component that this party holds.
    pub(crate) fn bank(&mut self, component: usize) -> &mut Bank {
        // The first are x_2, x_1, x_0 of P_0, P_1, P_2.
        if component == 2 - self.me { &mut self.first } else { &mut self.second }
    }

    /// The same, to read.
    pub(crate) fn component(&self, component: usize) -> &Bank {
        if component == 2 - self.me { &self.first } else { &self.second }
    }

    /// A vector's domain.
    pub(crate) fn domain(&self, reg: Reg) -> Domain {
        self.plan.register(reg).domain
    }

    /// Whether this party has no part in the walk that is on: only `P_0` computes offline, and it doesn't online. Where
    /// products are checked, all compute in both.
    pub(crate) fn idle(&self) -> bool {
        self.verified.is_none() && (self.walk == Walk::Offline) != (self.me == 0)
    }

    /// Whether this party walks on masks that it holds one of.
    pub(crate) fn has_one_mask(&self) -> bool {
        self.walk == Walk::Offline && self.me != 0
    }

    /// What is still to be checked. Asked for only where something is.
    pub(crate) fn verified(&mut self) -> &mut Verified {
        self.verified.as_mut().expect("only the protocol that checks products makes triples")
    }

    /// Ends the walk through an instance that is being made.
    fn made(&mut self) -> Result<Option<Prepared>, Error> {
        if self.walk == Walk::Offline && self.fair.is_some() {
            self.promise()?;
        }
        let Some(mut ahead) = self.ahead.take_if(|_| self.walk == Walk::Offline) else { return Ok(None) };
        ahead.drawn = self.streams.each_ref().map(PrssStream::drawn);
        ahead.take_outputs([&mut self.first, &mut self.second]);
        for reg in 0..self.plan.registers.len() as Reg {
            self.first.free(reg);
            self.second.free(reg);
        }
        Ok(Some(ahead))
    }

    /// A message's address in a job.
    pub(crate) fn at(&self, job: &Job) -> At {
        let ahead = if self.walk == Walk::Offline { step::OFFLINE } else { 0 };
        At { lane: 0, part: step::OPERATION + job.stage as u16 + ahead, op: job.op, batch: job.batch }
    }

    /// The address of a job's randomness.
    pub(crate) fn draw(job: &Job, drawn: Drawn) -> Draw {
        Draw { part: step::OPERATION + 16 * (1 + drawn as u16) + job.stage as u16, op: job.op }
    }

    /// Computes this party's part of a job and sends it.
    fn begin_part(&mut self, job: &Job, kind: &OpKind) -> Result<(), Error> {
        match kind {
            &OpKind::And { a, b, dst } => self.and_begin(job, a, b, dst),
            &OpKind::Mul { a, b, dst } => self.mul_begin(job, a, b, dst),
            &OpKind::MatMul { a, b, shape, dst } => self.matmul_begin(job, a, b, shape, dst),
            OpKind::Circuit { circuit, inputs, dst } => self.layer_begin(job, circuit, inputs, *dst),
            &OpKind::Split { a, bits, s } => self.split_begin(job, a, bits, s),
            &OpKind::Inject { a, dst } => self.inject_begin(job, a, dst),
            &OpKind::Shift { a, by, dst } => self.shift_begin(job, a, by, dst),
            &OpKind::Msb { a, dst } => self.msb_begin(job, a, dst),
        }
    }

    /// The instance that is being made or run.
    pub(crate) fn ahead(&mut self) -> Result<&mut Prepared, Error> {
        self.ahead.as_mut().ok_or_else(no_material)
    }
}

/// The words of a row that hold columns `cols`; the last ones to the row's end.
pub(crate) fn words_of(cols: &Range<usize>, total: usize) -> Range<usize> {
    let end = if cols.end == total { row_words(total) } else { cols.end / 64 };
    cols.start / 64..end
}

impl Engine for AstraEngine {
    fn session(&mut self) -> Option<&mut Session> {
        Some(&mut self.session)
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
            let addresses = self.plan.addresses();
            self.session.next_plan(addresses, addresses)?;
        }
        let parties = [0, 1, 2].map(|role| self.party(role));
        let keys = Keys::fresh(&mut self.session, parties);
        self.streams = keys.streams(self.session.lane());
        let memory = std::mem::take(&mut self.spare);
        let mut batch = Batch { session: [0; 16], number: self.session.first_operation() };
        batch.session.copy_from_slice(&self.session.id()[..16]);
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
        let checked = verified.seal(&mut self.session, self.seats, &self.plan)?;
        Ok(checked.into_iter().map(Prepared::into_material).collect())
    }

    fn load(&mut self, material: Material) -> Result<(), Error> {
        let places = self.places();
        let mut ahead = Prepared::from_material(material, places)?;
        self.streams = ahead.keys.streams(self.session.lane());
        self.walk = Walk::Online;
        if let Some(verified) = &mut self.verified {
            verified.start(&mut self.streams);
        }
        ahead.give_outputs([&mut self.first, &mut self.second]);
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

    fn local(&mut self, step: &Local) -> Result<(), Error> {
        if self.idle() {
            return Ok(());
        }
        let walked = (self.has_one_mask(), self.me);
        let mesh = self.session.mesh();
        let mut tick = || Ok(mesh.tick()?);
        section(Section::Gates, || match walked {
            (true, 1) => self.first.run(step, &mut tick),
            (true, _) => self.second.run(step, &mut tick),
            (false, _) => {
                self.first.run(step, &mut tick)?;
                self.second.run(step, &mut tick)
            }
        })
    }

    fn begin(&mut self, job: &Job) -> Result<(), Error> {
        if self.idle() {
            return Ok(());
        }
        let plan = self.plan.clone();
        let kind = &plan.ops[job.op as usize].kind;
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

    fn has_online_messages(&self, op: u32, stage: u32) -> bool {
        cost::has_online_messages(&self.plan.ops[op as usize].kind, stage)
    }

    fn arrived(&mut self, job: &Job) -> Result<bool, Error> {
        if self.walk == Walk::Online && !self.has_online_messages(job.op, job.stage) {
            return Ok(true);
        }
        match self.sender(job) {
            Some(from) => Ok(self.session.mesh().arrived(from)?),
            None => Ok(true),
        }
    }

    fn finish(&mut self, job: &Job) -> Result<(), Error> {
        let Some(from) = self.sender(job) else { return Ok(()) };
        let plan = self.plan.clone();
        let kind = &plan.ops[job.op as usize].kind;
        match kind {
            &OpKind::And { dst, .. } => self.and_finish(job, from, dst),
            &OpKind::Mul { dst, .. } => self.elements_finish(job, from, dst, job.cols.clone()),
            &OpKind::MatMul { shape, dst, .. } => {
                self.elements_finish(job, from, dst, job.cols.start * shape.n..job.cols.end * shape.n)
            }
            OpKind::Circuit { circuit, .. } => self.layer_finish(job, from, circuit),
            &OpKind::Split { bits, s, .. } => self.split_finish(job, from, bits, s),
            &OpKind::Inject { dst, .. } => self.select_finish(job, from, 1, dst),
            &OpKind::Shift { dst, .. } => self.select_finish(job, from, 2, dst),
            &OpKind::Msb { a, dst } => self.msb_finish(job, from, a, dst),
        }?;
        if self.verified.is_some() { self.note_results(job, kind) } else { Ok(()) }
    }

    fn free(&mut self, reg: Reg) {
        if !self.idle() {
            self.first.free(reg);
            self.second.free(reg);
        }
    }

    fn check(&mut self) -> Result<(), Error> {
        if self.fair.is_some() {
            return self.agree();
        }
        if let Some(verified) = &mut self.verified {
            return verified.check(&mut self.session, self.seats, &self.plan, &self.participants);
        }
        let mut drawn = self.streams.each_ref().map(PrssStream::drawn);
        if self.me == 0 {
            // What P_0 drew offline, the others draw online.
            drawn = self.ahead()?.drawn;
        }
        let others = (0..PARTIES).filter(|&role| role != self.me);
        let counts: Vec<(usize, u64)> = others.map(|role| (self.party(role), drawn[role])).collect();
        Ok(self.session.compare_draws(&counts)?)
    }

    fn send_output(&mut self, output: u32) -> Result<(), Error> {
        if self.fair.is_some() { self.open(output) } else { self.offer_output(output) }
    }

    fn open_output(&mut self, output: u32) -> Result<Option<Clear>, Error> {
        if self.fair.is_some() { self.take_opened(output) } else { self.reveal_output(output) }
    }

    fn next(&mut self, plan: Arc<Plan>, participants: Participants) -> Result<(), Error> {
        if self.verified.is_some() {
            refuse_unverified(&plan)?;
        }
        if let Some(fair) = &mut self.fair {
            refuse_clients(&plan, &participants)?;
            refuse_large(self.seats, &plan, &participants, &self.session)?;
            *fair = Fair::default();
            self.session.mesh().require_all()?;
        }
        self.session.next_plan(self.plan.addresses(), plan.addresses())?;
        self.used = false;
        if let Some(ahead) = self.ahead.take() {
            self.spare = ahead.into_memory();
        }
        self.first.next(plan.clone());
        self.second.next(plan.clone());
        (self.plan, self.participants) = (plan, participants);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), Error> {
        Ok(self.session.close()?)
    }
}
