//! The interfaces that a protocol implements.

use crate::supply::{Demand, Supply, SupplyKind};
use crate::{Clear, Error, Job, KeptShare, Material, Participants};
use std::sync::Arc;
use tacit_program::Capabilities;
use tacit_program::cost::{Flow, Phase, Step};
use tacit_program::plan::{Local, Op, Plan, Reg};
use tacit_session::Session;

/// What a protocol promises when parties misbehave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Private if all parties follow the protocol.
    SemiHonest,
    /// A deviation leads to an abort, never to a wrong output.
    MaliciousAbort,
    /// As before, and nobody learns the output unless all honest parties do.
    Fair,
}

/// How many parties may be corrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// Fewer than half.
    HonestMajority,
    /// All but one.
    AllButOne,
}

impl Threshold {
    /// The most of so many parties that may be corrupted.
    pub const fn among(self, parties: usize) -> usize {
        match self {
            Self::HonestMajority => parties.saturating_sub(1) / 2,
            Self::AllButOne => parties.saturating_sub(1),
        }
    }
}

/// What a protocol is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolSpec {
    /// The name that users say.
    pub name: &'static str,
    /// How many parties it is for.
    pub parties: std::ops::RangeInclusive<usize>,
    /// How many of them may be corrupted.
    pub corruptions: Threshold,
    /// What it promises.
    pub security: Security,
    /// Where it is from.
    pub source: &'static str,
}

impl ProtocolSpec {
    /// How many parties it is for, in words: `3`, or `2 to 8`.
    pub fn party_count(&self) -> String {
        let (least, most) = (self.parties.start(), self.parties.end());
        if least == most { least.to_string() } else { format!("{least} to {most}") }
    }

    /// How many of them may be corrupted, in words: `1 of 3`, or of several sizes `fewer than half` and `all but one`.
    pub fn corrupted(&self) -> String {
        let (least, most) = (*self.parties.start(), *self.parties.end());
        match self.corruptions {
            threshold if least == most => format!("{} of {least}", threshold.among(least)),
            Threshold::HonestMajority => "fewer than half".to_owned(),
            Threshold::AllButOne => "all but one".to_owned(),
        }
    }
}

/// A parameter of a protocol: a word behind its name, a flag of the command line, a keyword of Python's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, in lower case, with hyphens.
    pub name: &'static str,
    /// What it decides, in a line for the command's help, without a full stop.
    pub about: &'static str,
    /// Its values, the usual one first.
    pub values: &'static [&'static str],
    /// Whether the network may decide it.
    pub auto: Auto,
}

/// Whether a parameter may be left to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auto {
    /// No.
    Never,
    /// If that is asked for.
    IfSaid,
    /// Unless a value is asked for.
    UnlessSaid,
}

impl Parameter {
    /// The value that it has if nothing is said.
    pub fn usual(&self) -> &'static str {
        self.values.first().copied().unwrap_or_default()
    }
}

/// What parties send to check one another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Messages, by phase.
    pub flows: Vec<(Phase, Flow)>,
    /// Rounds that follow on the others of their phase.
    pub rounds: Vec<(Phase, u64)>,
    /// Random oblivious transfers from each party to each other one, where triples are made of nothing else.
    pub transfers: u64,
}

impl Checks {
    /// The same so many times, one after another.
    #[must_use]
    pub fn times(self, times: u64) -> Self {
        let flows = self.flows.into_iter();
        let flows = flows.map(|(phase, flow)| (phase, flow.times(times)));
        let rounds = self.rounds.into_iter().map(|(phase, rounds)| (phase, times * rounds));
        let transfers = times.saturating_mul(self.transfers);
        Self { flows: flows.collect(), rounds: rounds.collect(), transfers }
    }

    /// Adds others that follow.
    pub fn extend(&mut self, others: Self) {
        self.flows.extend(others.flows);
        self.rounds.extend(others.rounds);
        self.transfers = self.transfers.saturating_add(others.transfers);
    }

    /// Adds a round.
    pub fn round(&mut self, phase: Phase, flows: Vec<Flow>) {
        self.rounds(phase, 1, flows);
    }

    /// Adds some rounds in which each party sends each other one so many bytes, by who sends and who receives.
    pub fn between(
        &mut self,
        phase: Phase,
        rounds: u64,
        parties: usize,
        bytes: impl Fn(usize, usize) -> u64,
    ) {
        let pairs = (0..parties).flat_map(|from| (0..parties).map(move |to| (from, to)));
        let flow = |(from, to)| Flow { from, to, bits: 8 * bytes(from, to) };
        self.rounds(phase, rounds, pairs.filter(|(from, to)| from != to).map(flow).collect());
    }

    /// Adds some rounds, and all that is sent in them.
    pub fn rounds(&mut self, phase: Phase, rounds: u64, flows: Vec<Flow>) {
        self.flows.extend(flows.into_iter().map(|flow| (phase, flow)));
        self.rounds.push((phase, rounds));
    }
}

/// Refuses a plan that needs what these capabilities lack. Lowering asks for no such thing; a plan made by hand may.
///
/// # Errors
/// [`Error::Refused`], which says what.
pub fn offers_all(capabilities: Capabilities, plan: &Plan) -> Result<(), Error> {
    match plan.needs.missing_in(capabilities.features).next() {
        None => Ok(()),
        Some(feature) => {
            Err(Error::Refused(format!("the plan needs {}, which the protocol lacks", feature.description())))
        }
    }
}

/// A protocol: its costs, and how to make an engine or a client of it.
pub trait Protocol: Send + Sync {
    /// What it is.
    fn spec(&self) -> &ProtocolSpec;
    /// Its parameters. Not all of their values go together.
    fn parameters(&self) -> &'static [Parameter] {
        &[]
    }
    /// The value of one of its parameters.
    fn value(&self, parameter: &str) -> &'static str {
        let _ = parameter;
        ""
    }
    /// The same protocol with another value of one of its parameters; `None` if there is no such parameter or
    /// value, or if it doesn't go with the values of others.
    fn with_parameter(&self, parameter: &str, value: &str) -> Option<Arc<dyn Protocol>> {
        let _ = (parameter, value);
        None
    }
    /// The values of its parameters in words (`soundness=100 proofs=li-2023`): a part of what endpoints agree on. Empty
    /// where all are as usual.
    fn parameter_values(&self) -> String {
        let own = self.parameters().iter().map(|known| (known, self.value(known.name)));
        let others = own.filter(|(known, value)| known.usual() != *value);
        others.map(|(known, value)| format!("{}={value}", known.name)).collect::<Vec<_>>().join(" ")
    }
    /// Those of them that stores of supplies depend on, in words: what is made under one set of values is good for runs under any
    /// other with the same of these.
    fn material_values(&self) -> String {
        self.parameter_values()
    }
    /// The parties that play `P_0`, `P_1` and so on; nobody if all are alike.
    fn roles(&self) -> Vec<usize> {
        Vec::new()
    }
    /// What plans for it may ask for.
    fn capabilities(&self) -> Capabilities;
    /// Whether it has an offline phase: whether its engines have something to [`prepare`](Engine::prepare).
    fn prepares(&self) -> bool {
        false
    }
    /// What a step of a run sends among given participants, by phase: offline before inputs are known, online on them. What
    /// a stage sends is that of all its jobs.
    fn price(&self, plan: &Plan, participants: &Participants, step: Step<'_>) -> Vec<(Phase, Flow)>;
    /// Rounds of what a whole plan sends offline.
    fn offline_rounds(&self, plan: &Plan, participants: &Participants) -> u64 {
        let _ = (plan, participants);
        0
    }
    /// Whether a stage of an operation has messages online, and so takes a round.
    fn has_online_messages(&self, op: &Op, stage: u32) -> bool {
        let _ = (op, stage);
        true
    }
    /// Messages with which the parties check one another in a run, besides those of operations, inputs and outputs.
    fn checks(&self, plan: &Plan, participants: &Participants) -> Checks;
    /// Messages of the offline phase with which the parties check together what one session, which is one of so many lanes,
    /// makes for so many runs of a plan, from 1 on; they aren't among [`Protocol::checks`].
    fn checks_together(&self, plan: &Plan, participants: &Participants, runs: u64, lanes: u16) -> Checks {
        let _ = (plan, participants, runs, lanes);
        Checks::default()
    }
    /// Messages of the offline phase with which a session makes ready, once, what all its plans use, if it has one that needs
    /// it as this one does; they aren't among [`Protocol::checks`].
    fn setup(&self, plan: &Plan, participants: &Participants) -> Checks {
        let _ = (plan, participants);
        Checks::default()
    }
    /// Refuses what the protocol can't run: a plan that needs what [`Protocol::capabilities`] lack ([`offers_all`]), and what
    /// it can't though it offers all operations of it, outputs that it opens to no client, say. All endpoints ask before
    /// anything is sent, and prices do; of the latter [`Protocol::engine`] and [`Protocol::client`] refuse the same.
    ///
    /// # Errors
    /// [`Error::Refused`] with the reason.
    fn admit(&self, plan: &Plan, participants: &Participants) -> Result<(), Error> {
        let _ = participants;
        offers_all(self.capabilities(), plan)
    }
    /// Refuses a run in so many lanes, as [`Protocol::admit`] does a plan.
    ///
    /// # Errors
    /// [`Error::Refused`] with the reason.
    fn admit_lanes(&self, count: u16) -> Result<(), Error> {
        let _ = count;
        Ok(())
    }
    /// What a run of a plan draws from supplies; nothing, for a protocol that has none. The same at all parties.
    fn demand(&self, plan: &Plan, participants: &Participants) -> Demand {
        let _ = (plan, participants);
        Demand::default()
    }
    /// Whether shares that stay have MACs, and so are good under the key of a store's epoch alone ([`Engine::keep`]).
    fn keeps_under_key(&self) -> bool {
        false
    }
    /// Fresh shares of a kept value: to this party's share its part of a sharing of zero is added that no coalition which the
    /// protocol withstands knows more of than what its own parts are. So old shares and new ones don't combine. Asked of
    /// protocols that keep values alone, in a session that does nothing else.
    ///
    /// # Errors
    /// [`Error::Refused`] if it keeps none, or the share is of another kind; those of links and checks.
    ///
    /// # Security
    /// Whoever sees a party during this knows its shares of before and of after (Herzberg et al. 1995, section 2).
    fn refresh(&self, session: &mut Session, share: &KeptShare) -> Result<KeptShare, Error> {
        let _ = (session, share);
        Err(Error::Refused(format!("protocol {:?} keeps no values", self.spec().name)))
    }
    /// Makes sure that fresh shares are of the value that the old ones are of, before they are put away and
    /// both holders of each part compare its digest. Of no protocol whose parties can't tell without telling more: then this does
    /// nothing, and MACs, where there are any, fail when the value is read.
    ///
    /// # Errors
    /// A failed check if it is another value; [`Error::Refused`] if the shares are of another kind; those of links.
    fn same(&self, session: &mut Session, old: &KeptShare, fresh: &KeptShare) -> Result<(), Error> {
        let _ = (session, old, fresh);
        Ok(())
    }
    /// Moves a kept value from the key of one supply to that of another: fresh shares, with MACs under the other key, of what
    /// the old ones are shown to be of. Asked of protocols that keep under a key ([`Protocol::keeps_under_key`]), in a session
    /// that does nothing else; the first supply draws under the key that the share is under.
    ///
    /// # Errors
    /// [`Error::Refused`] if it keeps nothing under a key, or the share is of another kind; [`Error::NoMaterial`] if one of the
    /// supplies has too few masks, and nothing has been sent then; those of links and checks. A check that fails or has no verdict
    /// destroys the key that it is of, and no other.
    fn rekey(
        &self,
        session: &mut Session,
        share: &KeptShare,
        from: &mut dyn Supply,
        to: &mut dyn Supply,
    ) -> Result<KeptShare, Error> {
        let _ = (session, share, from, to);
        Err(Error::Refused(format!("protocol {:?} keeps nothing under a key", self.spec().name)))
    }
    /// What stores are filled with for this protocol among so many parties, ahead of any program: names that users say, in
    /// lower case, each with the kinds of which it is so many items. The first is what most programs draw most of.
    fn stocks(&self, parties: usize) -> Vec<(&'static str, Vec<SupplyKind>)> {
        let _ = parties;
        Vec::new()
    }
    /// A supply that is made in the session as it is asked for: what engines of this protocol draw from if they are given
    /// no other, and what a store is filled from.
    ///
    /// # Errors
    /// [`Error::Refused`] if the protocol draws from none.
    fn live_supply(&self, session: &mut Session) -> Result<Box<dyn Supply>, Error> {
        let _ = session;
        Err(Error::Refused(format!("protocol {:?} draws from no supply", self.spec().name)))
    }
    /// A party's engine.
    ///
    /// # Errors
    /// [`Error::Refused`] if it can't run the plan.
    fn engine(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Engine>, Error>;
    /// A client.
    ///
    /// # Errors
    /// [`Error::Refused`] if it can't run the plan.
    fn client(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Client>, Error>;
}

/// One party's state in a protocol. Every call works on a whole batch.
///
/// Where a protocol has an offline phase, the executor walks the plan twice: first, if `prepare` says so, local steps
/// and jobs as below, without inputs and outputs, and `seal`, whose material goes to `load`. Material that was made
/// before is loaded instead; then `prepare` says that there is nothing to do.
///
/// Then it calls: `load_kept` for what stays from earlier runs (before the first walk, too); all inputs, in groups (`share_input`
/// for each, then `receive_share` for each); for every level its local steps, then its jobs, each begun once and finished once,
/// in the same order (those of arms that exclude one another together); then `check`, then the outputs, in groups (`send_output`
/// for each, then `open_output` for each), after `keep` for what stays.
///
/// A group is one for all endpoints; only its last member can be longer than [`MAX_IN_FLIGHT`](crate::executor::MAX_IN_FLIGHT)
/// messages.
pub trait Engine: Send {
    /// The session; none in the clear.
    fn session(&mut self) -> Option<&mut Session>;
    /// Begins the walk that makes ready what doesn't depend on inputs, for another instance of the plan; `false` if
    /// there is nothing to make.
    ///
    /// # Errors
    /// Those of links and checks.
    fn prepare(&mut self) -> Result<bool, Error> {
        Ok(false)
    }
    /// Whether [`Self::prepare`] makes a supply of the engine's own: that is the offline phase of such a run, which the
    /// executor announces before it.
    fn makes_supply(&self) -> bool {
        false
    }
    /// Whether what was prepared should be sealed before more is: for a protocol that checks many instances together
    /// as soon as there are enough.
    fn is_full(&self) -> bool {
        true
    }
    /// Ends walks that `prepare` began: the material of each, in order, checked as far as the protocol promises it.
    ///
    /// # Errors
    /// If a check fails: nothing that the session made may be used then. Those of links.
    fn seal(&mut self) -> Result<Vec<Material>, Error> {
        Ok(Vec::new())
    }
    /// Takes the material of the instance that runs next. It must have been made by the same endpoint of the same
    /// protocol for the same plan; what doesn't fit is an error.
    ///
    /// # Errors
    /// [`Error::Refused`] if it doesn't fit.
    fn load(&mut self, material: Material) -> Result<(), Error> {
        let _ = material;
        Err(Error::Refused("the protocol has no offline phase".to_owned()))
    }
    /// Takes the supply that it draws from, before anything else is asked of it; else it makes its own
    /// ([`Protocol::live_supply`]). It is the engine that asks for what each plan draws ([`Supply::provide`]), when it
    /// `prepare`s.
    ///
    /// # Errors
    /// [`Error::Refused`] if the protocol draws from none.
    fn supply(&mut self, supply: Box<dyn Supply>) -> Result<(), Error> {
        let _ = supply;
        Err(Error::Refused("the protocol draws from no supply".to_owned()))
    }
    /// Sends what is to be sent for an input; its owner has the values.
    ///
    /// # Errors
    /// Those of links.
    fn share_input(&mut self, input: u32, values: Option<&Clear>) -> Result<(), Error>;
    /// Receives a share of an input.
    ///
    /// # Errors
    /// Those of links, and a share that can be none.
    fn receive_share(&mut self, input: u32) -> Result<(), Error>;
    /// Takes a value that all parties hold; they have agreed on it. Asked of protocols that offer public inputs alone.
    ///
    /// # Errors
    /// [`Error::Refused`] if it offers none.
    fn public_input(&mut self, input: u32, values: &Clear) -> Result<(), Error> {
        let _ = values;
        Err(Error::Refused(format!("the protocol takes no public input, and {input} is one")))
    }
    /// Takes this party's share of what the parties keep from an earlier run; sends nothing. Before each walk, and asked of
    /// protocols that keep values alone. The parties have made sure that all have shares of the same value.
    ///
    /// # Errors
    /// [`Error::Refused`] if it keeps none, or the share is of another kind.
    fn load_kept(&mut self, kept: u32, share: &KeptShare) -> Result<(), Error> {
        let _ = share;
        Err(Error::Refused(format!("the protocol keeps no values, and the plan reads kept value {kept}")))
    }
    /// This party's share of what the parties keep of the run; sends nothing. Once all is checked, and before the outputs.
    ///
    /// # Errors
    /// [`Error::Refused`] if it keeps none.
    ///
    /// # Security
    /// What is kept is as good as an output: it isn't asked for before [`Engine::check`].
    fn keep(&mut self, keep: u32) -> Result<KeptShare, Error> {
        Err(Error::Refused(format!("the protocol keeps no values, and the plan keeps value {keep}")))
    }
    /// Runs a step that needs no message.
    ///
    /// # Errors
    /// Those of links, which long steps keep alive.
    fn local(&mut self, step: &Local) -> Result<(), Error>;
    /// Computes and sends a job's messages.
    ///
    /// # Errors
    /// Those of links and of the supply.
    fn begin(&mut self, job: &Job) -> Result<(), Error>;
    /// Begins jobs of operations in arms of a branch that exclude one another, each arm's by itself unless a protocol does
    /// better: they have the same columns, so that all arms can share a message.
    ///
    /// # Errors
    /// As [`Engine::begin`].
    fn begin_arms(&mut self, jobs: &[Job]) -> Result<(), Error> {
        jobs.iter().try_for_each(|job| self.begin(job))
    }
    /// Finishes jobs that [`Engine::begin_arms`] has begun.
    ///
    /// # Errors
    /// As [`Engine::finish`].
    fn finish_arms(&mut self, jobs: &[Job]) -> Result<(), Error> {
        jobs.iter().try_for_each(|job| self.finish(job))
    }
    /// Whether the messages that `finish` would wait for are there. Does not wait.
    ///
    /// # Errors
    /// Those of links.
    fn arrived(&mut self, job: &Job) -> Result<bool, Error>;
    /// Receives a job's messages and completes its result.
    ///
    /// # Errors
    /// Those of links and of checks that go along.
    fn finish(&mut self, job: &Job) -> Result<(), Error>;
    /// Forgets a register.
    fn free(&mut self, reg: Reg);
    /// Makes sure that all that was computed so far is right, as far as the protocol promises it: before a level with a
    /// verified opening, and before the outputs.
    ///
    /// # Errors
    /// If something is not right. The session is of no more use then.
    fn check(&mut self) -> Result<(), Error>;
    /// Sends what is to be sent for an output.
    ///
    /// # Errors
    /// Those of links; an output that is not checked is refused.
    fn send_output(&mut self, output: u32) -> Result<(), Error>;
    /// Receives what is to be received for an output; the values, if this party is to learn them. The only way out.
    ///
    /// # Errors
    /// Those of links, and if what comes is not what was promised.
    fn open_output(&mut self, output: u32) -> Result<Option<Clear>, Error>;
    /// Takes another plan in the same session, once all outputs of the last one are revealed.
    ///
    /// # Errors
    /// [`Error::Refused`] if it can't run the plan.
    fn next(&mut self, plan: Arc<Plan>, participants: Participants) -> Result<(), Error>;
    /// Ends the run in good order.
    ///
    /// # Errors
    /// Those of links.
    fn close(self: Box<Self>) -> Result<(), Error>;
}

/// A client's half of a protocol: it gives inputs and receives outputs, and holds no shares in between.
pub trait Client: Send {
    /// The session.
    fn session(&mut self) -> &mut Session;
    /// Shares one of its inputs among the parties.
    ///
    /// # Errors
    /// Those of links.
    fn share_input(&mut self, input: u32, values: &Clear) -> Result<(), Error>;
    /// Receives one of its outputs.
    ///
    /// # Errors
    /// Those of links, and if what comes is not what was promised.
    fn open_output(&mut self, output: u32) -> Result<Clear, Error>;
    /// Takes another plan in the same session.
    ///
    /// # Errors
    /// [`Error::Refused`] if it can't run the plan.
    fn next(&mut self, plan: Arc<Plan>, participants: Participants) -> Result<(), Error>;
    /// Ends the run in good order.
    ///
    /// # Errors
    /// Those of links.
    fn close(self: Box<Self>) -> Result<(), Error>;
}
