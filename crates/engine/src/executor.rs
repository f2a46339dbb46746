//! Walks a plan and keeps an engine busy.
//!
//! In a level the executor divides every operation into jobs of about one message. It begins jobs one after another and
//! finishes, in the same order, whatever has arrived meanwhile. So it computes the next job while the last one travels.
//! It waits only when all jobs are begun, or when so many are under way that memory would suffer.

mod groups;

pub use groups::{MAX_IN_FLIGHT, output_groups};

use crate::job::{self, Job};
use crate::planted::{Mistake, planted};
use crate::{Clear, Client, Engine, Error, KeptShare, Material, Participants, Protocol};
use groups::{groups, look};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use tacit_net::Phase;
use tacit_program::plan::{Plan, PublicInput, Section, Stage};
use tacit_session::Session;

/// Jobs that may be begun and not finished: 32 MiB of messages, more than the bandwidth times the round trip of
/// links up to 10 Gbit/s and 25 ms.
const WINDOW: usize = 512;

/// What one endpoint has at the end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The program's outputs, in the plan's order; those that this endpoint does not learn are `None`.
    pub outputs: Vec<Option<Clear>>,
    /// Levels in which this endpoint exchanged messages with others, and layers of circuits that waited for one
    /// another.
    pub rounds: u64,
    /// This party's shares of what the parties keep, in the plan's order, unless the observer took them; none at clients.
    pub kept: Vec<KeptShare>,
}

/// Is told how a run goes on.
pub trait Observer {
    /// A phase begins. The parties' benchmark waits for one another here.
    ///
    /// # Errors
    /// The observer's own: they end the run.
    fn phase(&mut self, phase: Phase, engine: &mut dyn Engine) -> Result<(), Error> {
        let _ = (phase, engine);
        Ok(())
    }

    /// These are this party's shares of what the parties keep; those that it doesn't take it gives back. All that they depend on
    /// is checked, and no output is opened yet: who learns one can't keep the others from what is kept.
    ///
    /// # Errors
    /// The observer's own: they end the run.
    fn keep(&mut self, shares: Vec<KeptShare>, engine: &mut dyn Engine) -> Result<Vec<KeptShare>, Error> {
        let _ = engine;
        Ok(shares)
    }

    /// `done` of the plan's `total` jobs are finished.
    fn progress(&mut self, done: usize, total: usize) {
        let _ = (done, total);
    }

    /// Whether a store is filled with another part ([`fill`](crate::supply::fill)). Each party is asked before each part; where one
    /// says no, all end there.
    fn goes_on(&mut self) -> bool {
        true
    }
}

/// An observer that does nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct Unobserved;

impl Observer for Unobserved {}

/// Runs an engine by itself, on a plan that reads nothing of what is kept, and counts a round for each level. `inputs` has this
/// party's values by the index of the input, and after them all public inputs.
///
/// # Errors
/// Those of the engine. The others are told before it returns.
pub fn run_party(
    engine: &mut dyn Engine,
    plan: &Plan,
    inputs: &[Option<Clear>],
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    run(Walk { engine, protocol: None, plan, observer, done: 0, total: 0 }, &[], inputs)
}

/// Runs a party's part of any plan with an engine of this protocol, on its shares of what the plan reads of what is kept, in
/// the plan's order.
///
/// # Errors
/// As [`run_party`].
pub fn run_party_on(
    protocol: &dyn Protocol,
    engine: &mut dyn Engine,
    plan: &Plan,
    kept: &[Arc<KeptShare>],
    inputs: &[Option<Clear>],
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    run(Walk { engine, protocol: Some(protocol), plan, observer, done: 0, total: 0 }, kept, inputs)
}

fn run(mut walk: Walk<'_>, kept: &[Arc<KeptShare>], inputs: &[Option<Clear>]) -> Result<Outcome, Error> {
    let result = walk.run(kept, inputs);
    if let (Err(error), Some(session)) = (&result, walk.engine.session()) {
        tell(error, session);
    }
    result
}

/// Tells others that a run ends here, unless all of them know.
fn tell(error: &Error, session: &mut Session) {
    if *error != Error::OutsideAssumed {
        session.abort(&error.to_string());
    }
}

/// Preprocessing: makes material for `count` instances of a plan, and hands over what is ready: `keep` gets every
/// instance's, in order. Nothing is computed on inputs.
///
/// # Errors
/// [`Error::Refused`] if the protocol has no offline phase; the first failure, also of `keep`, ends it for all.
pub fn run_offline(
    engine: &mut dyn Engine,
    plan: &Plan,
    count: u64,
    keep: &mut dyn FnMut(Material) -> Result<(), Error>,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    let mut walk = Walk { engine, protocol: None, plan, observer, done: 0, total: 0 };
    walk.total = walk.jobs().saturating_mul(count as usize);
    let result = walk.offline(count, keep);
    if let (Err(error), Some(session)) = (&result, engine.session()) {
        session.abort(&error.to_string());
    }
    result
}

/// Runs a client's part: gives its inputs, receives its outputs.
///
/// # Errors
/// Those of the client. The others are told before it returns.
pub fn run_client(
    client: &mut dyn Client,
    plan: &Plan,
    participants: &Participants,
    inputs: &[Option<Clear>],
) -> Result<Outcome, Error> {
    let me = client.session().me();
    let result = client_part(client, plan, participants, inputs, me);
    if let Err(error) = &result {
        tell(error, client.session());
    }
    result
}

fn client_part(
    client: &mut dyn Client,
    plan: &Plan,
    participants: &Participants,
    inputs: &[Option<Clear>],
    me: usize,
) -> Result<Outcome, Error> {
    client.session().mesh().set_phase(Phase::Input);
    for (index, input) in plan.inputs.iter().enumerate() {
        if participants.endpoint(input.owner) == me {
            let values = own_values(plan, inputs, index)?;
            client.share_input(index as u32, values).map_err(|error| error.during(input.node))?;
        }
    }
    client.session().mesh().set_phase(Phase::Output);
    let mut outputs = vec![None; plan.outputs.len()];
    for index in output_groups(plan).into_iter().flatten() {
        let output = &plan.outputs[index];
        if participants.learns(me, output.to) {
            let value = client.open_output(index as u32).map_err(|error| error.during(output.node))?;
            look(plan, index, &value)?;
            outputs[index] = Some(value);
        }
    }
    outputs.truncate(plan.own_outputs());
    Ok(Outcome { outputs, rounds: 0, kept: Vec::new() })
}

/// The values of an input that this endpoint gives, in the shape that the plan says.
fn own_values<'a>(plan: &Plan, inputs: &'a [Option<Clear>], index: usize) -> Result<&'a Clear, Error> {
    let register = plan.register(plan.inputs[index].reg);
    match inputs.get(index) {
        Some(Some(values)) if values.domain() == register.domain && values.cols() == register.cols => {
            Ok(values)
        }
        Some(Some(values)) => Err(Error::Refused(format!(
            "input {index} has {} elements of {:?}; the plan says {} of {:?}",
            values.cols(),
            values.domain(),
            register.cols,
            register.domain
        ))),
        _ => Err(Error::Refused(format!("no values for input {index}, which is this endpoint's to give"))),
    }
}

struct Walk<'a> {
    engine: &'a mut dyn Engine,
    /// Says what takes a round.
    protocol: Option<&'a dyn Protocol>,
    plan: &'a Plan,
    observer: &'a mut dyn Observer,
    done: usize,
    total: usize,
}

impl Walk<'_> {
    fn run(&mut self, kept: &[Arc<KeptShare>], inputs: &[Option<Clear>]) -> Result<Outcome, Error> {
        self.total = self.jobs();
        let known = self.agreed(inputs.get(self.plan.inputs.len()..).unwrap_or_default())?;
        if self.engine.makes_supply() {
            self.phase(Phase::Offline)?;
        }
        if self.engine.prepare()? {
            self.total *= 2;
            self.phase(Phase::Offline)?;
            self.public_inputs(&known)?;
            self.load_kept(kept)?;
            self.levels(false)?;
            for material in self.engine.seal()? {
                self.engine.load(material)?;
            }
        }
        self.phase(Phase::Input)?;
        self.public_inputs(&known)?;
        self.load_kept(kept)?;
        self.inputs(inputs)?;
        self.phase(Phase::Online)?;
        let rounds = self.levels(true)?;
        self.phase(Phase::Verify)?;
        self.engine.check()?;
        let mut all = output_groups(self.plan).into_iter();
        let mut outputs = vec![None; self.plan.outputs.len()];
        if self.plan.guard.is_some() {
            self.counts_as(Phase::Output);
            self.outputs(all.next().unwrap_or_default(), &mut outputs)?;
            self.counts_as(Phase::Verify);
        }
        let kept = (0..self.plan.keeps.len() as u32).map(|keep| self.engine.keep(keep));
        let mut kept: Vec<KeptShare> = kept.collect::<Result<_, _>>()?;
        if !kept.is_empty() {
            kept = self.observer.keep(kept, self.engine)?;
        }
        self.phase(Phase::Output)?;
        for group in all {
            self.outputs(group, &mut outputs)?;
        }
        outputs.truncate(self.plan.own_outputs());
        Ok(Outcome { outputs, rounds, kept })
    }

    fn jobs(&self) -> usize {
        let jobs = |stage: &Stage| job::jobs(self.plan, stage.op, u32::from(stage.stage)).count();
        let levels = self.plan.counted_levels();
        levels.map(|(level, times)| times as usize * level.stages.iter().map(jobs).sum::<usize>()).sum()
    }

    /// Runs all operations; on values, checks come before verified openings. Returns the longest chain of messages.
    fn levels(&mut self, on_values: bool) -> Result<u64, Error> {
        let mut rounds = 0;
        for visit in self.plan.visits() {
            for (section, turn) in &visit.begins {
                self.begin_turn(section, *turn)?;
            }
            let level = visit.level;
            for step in &level.local {
                self.engine.local(step)?;
                self.tick()?;
            }
            if on_values && self.plan.opens_verified(level) && !planted(Mistake::OpenedUnchecked) {
                self.phase(Phase::Verify)?;
                self.engine.check()?;
                self.phase(Phase::Online)?;
            }
            rounds += self.stages(&visit.stages().collect::<Vec<_>>())?;
            for &reg in &level.free {
                self.engine.free(reg);
            }
        }
        Ok(rounds)
    }

    /// What the last turn made goes to where the next one reads it.
    fn begin_turn(&mut self, section: &Section, turn: u32) -> Result<(), Error> {
        if turn > 0 {
            section.carry.iter().for_each(|step| self.engine.free(step.writes()));
            for step in &section.carry {
                self.engine.local(step)?;
            }
            section.kept.iter().for_each(|&reg| self.engine.free(reg));
        }
        for slice in &section.slices {
            self.engine.local(&slice.of_turn(turn))?;
        }
        self.tick()
    }

    fn offline(
        &mut self,
        count: u64,
        keep: &mut dyn FnMut(Material) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if !self.plan.public_inputs.is_empty() {
            let reason =
                "nothing is made ahead of time for a program with public inputs, which come with its run";
            return Err(Error::Refused(reason.to_owned()));
        }
        if !self.plan.kept.is_empty() {
            let reason =
                "nothing is made ahead of time for a program that reads kept values, which its run names";
            return Err(Error::Refused(reason.to_owned()));
        }
        self.phase(Phase::Offline)?;
        for _ in 0..count {
            if !self.engine.prepare()? {
                return Err(Error::Refused("the protocol makes nothing ahead of time".to_owned()));
            }
            self.levels(false)?;
            if self.engine.is_full() {
                self.engine.seal()?.into_iter().try_for_each(&mut *keep)?;
            }
        }
        self.engine.seal()?.into_iter().try_for_each(keep)
    }

    /// The public inputs, once all parties are known to hold the same.
    fn agreed<'v>(&mut self, values: &'v [Option<Clear>]) -> Result<Vec<&'v Clear>, Error> {
        let declared = &self.plan.public_inputs;
        let known: Vec<&Clear> = values.iter().flatten().collect();
        let fits = |(input, clear): (&PublicInput, &&Clear)| {
            let register = self.plan.register(input.reg);
            (clear.domain(), clear.cols()) == (register.domain, register.cols)
        };
        if known.len() != declared.len() || !declared.iter().zip(&known).all(fits) {
            let (given, declared) = (known.len(), declared.len());
            let reason =
                format!("{given} values for {declared} public inputs, or of other shapes than the plan's");
            return Err(Error::Refused(reason));
        }
        if !known.is_empty()
            && !planted(Mistake::PublicInputsNotCompared)
            && let Some(session) = self.engine.session()
        {
            let bytes: Vec<u8> = known.iter().flat_map(|clear| clear.comparable()).collect();
            let names: Vec<&str> = declared.iter().map(|input| input.name.as_str()).collect();
            let what = format!("public inputs ({})", names.join(", "));
            session.agree(&bytes, &what)?;
        }
        Ok(known)
    }

    /// Gives the engine the public inputs: before each walk, as the one before has freed them.
    fn public_inputs(&mut self, known: &[&Clear]) -> Result<(), Error> {
        let declared = &self.plan.public_inputs;
        for (index, values) in known.iter().enumerate() {
            let node = declared[index].node;
            self.engine.public_input(index as u32, values).map_err(|error| error.during(node))?;
        }
        Ok(())
    }

    /// Gives the engine its shares of what is kept: before each walk.
    fn load_kept(&mut self, shares: &[Arc<KeptShare>]) -> Result<(), Error> {
        let declared = &self.plan.kept;
        if shares.len() != declared.len() {
            let (given, declared) = (shares.len(), declared.len());
            return Err(Error::Refused(format!(
                "{given} kept values for the {declared} that the plan reads"
            )));
        }
        for (index, (kept, share)) in declared.iter().zip(shares).enumerate() {
            self.engine.load_kept(index as u32, share).map_err(|error| error.during(kept.node))?;
        }
        Ok(())
    }

    fn inputs(&mut self, values: &[Option<Clear>]) -> Result<(), Error> {
        let inputs = &self.plan.inputs;
        for group in groups(self.plan, inputs.iter().map(|input| input.reg)) {
            for index in group.clone() {
                let values = values.get(index).and_then(Option::as_ref);
                self.engine
                    .share_input(index as u32, values)
                    .map_err(|error| error.during(inputs[index].node))?;
            }
            for index in group {
                self.engine.receive_share(index as u32).map_err(|error| error.during(inputs[index].node))?;
            }
        }
        Ok(())
    }

    fn outputs(&mut self, group: Range<usize>, values: &mut [Option<Clear>]) -> Result<(), Error> {
        let outputs = &self.plan.outputs;
        for index in group.clone() {
            self.engine.send_output(index as u32).map_err(|error| error.during(outputs[index].node))?;
        }
        for index in group {
            let value = self.engine.open_output(index as u32);
            let value = value.map_err(|error| error.during(outputs[index].node))?;
            value.iter().try_for_each(|value| look(self.plan, index, value))?;
            values[index] = value;
        }
        Ok(())
    }

    /// Runs a level's stages. Those that are no circuit's share the circuits' first round. Returns the longest chain
    /// of messages.
    fn stages(&mut self, stages: &[Stage]) -> Result<u64, Error> {
        let (circuits, others): (Vec<Stage>, Vec<Stage>) =
            stages.iter().partition(|stage| job::is_circuit(self.plan, **stage));
        let under_way = self.begin(&others)?;
        self.gather_sends(true);
        let longest = self.circuits(&circuits, under_way)?;
        self.gather_sends(false);
        let takes_round = |stage: &Stage| {
            let op = self.plan.op(stage.op);
            self.protocol.is_none_or(|protocol| protocol.has_online_messages(op, stage.stage.into()))
        };
        Ok(longest.max(u64::from(others.iter().any(takes_round))))
    }

    /// Begins all jobs of some stages, and finishes what has arrived meanwhile in the same order. Returns what is still
    /// to be finished.
    fn begin(&mut self, stages: &[Stage]) -> Result<VecDeque<Vec<Job>>, Error> {
        let plan = self.plan;
        let mut under_way = VecDeque::new();
        for jobs in job::arms(plan, stages) {
            self.begin_jobs(&jobs)?;
            under_way.push_back(jobs);
            while let Some(first) = under_way.front() {
                if under_way.len() < WINDOW && !self.arrived(first)? {
                    break;
                }
                self.finish_first(&mut under_way)?;
            }
        }
        Ok(under_way)
    }

    /// Begins a job, or those of several arms.
    fn begin_jobs(&mut self, jobs: &[Job]) -> Result<(), Error> {
        let begun = match jobs {
            [job] => self.engine.begin(job),
            jobs => self.engine.begin_arms(jobs),
        };
        begun.map_err(|error| error.during(self.plan.op(jobs[0].op).node))
    }

    /// Whether what these jobs would wait for is there.
    fn arrived(&mut self, jobs: &[Job]) -> Result<bool, Error> {
        for job in jobs {
            let arrived = self.engine.arrived(job);
            if !arrived.map_err(|error| error.during(self.plan.op(job.op).node))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Finishes a job, or those of several arms.
    fn finish_jobs(&mut self, jobs: &[Job]) -> Result<(), Error> {
        let finished = match jobs {
            [job] => self.engine.finish(job),
            jobs => self.engine.finish_arms(jobs),
        };
        finished.map_err(|error| error.during(self.plan.op(jobs[0].op).node))
    }

    /// Evaluates circuits tile by tile, and finishes `others`, whose messages were sent before, once the window is
    /// full for the first time: a tile keeps its place in the window from its first layer to its last, and
    /// the places take turns, so that one tile is computed while the others' messages travel. The order depends on
    /// nothing but the plan, and so is the same for all parties. Returns the longest chain of messages.
    fn circuits(&mut self, stages: &[Stage], mut others: VecDeque<Vec<Job>>) -> Result<u64, Error> {
        let plan = self.plan;
        let mut waiting = job::arms(plan, stages);
        let mut under_way: VecDeque<(Vec<Job>, u64)> = VecDeque::new();
        let mut longest = 0;
        let window = job::tiles_under_way(plan, stages);
        loop {
            while under_way.len() < window {
                let Some(tiles) = waiting.next() else { break };
                self.layer(tiles, 0, &mut under_way)?;
            }
            while !others.is_empty() {
                self.finish_first(&mut others)?;
            }
            let Some((mut tiles, mut chain)) = under_way.pop_front() else { break };
            self.finish_jobs(&tiles)?;
            for job in &mut tiles {
                job.stage += 1;
            }
            chain += 1;
            longest = longest.max(chain);
            let mut goes_on = self.layer(tiles, chain, &mut under_way)?;
            while !goes_on {
                let Some(tiles) = waiting.next() else { break };
                goes_on = self.layer(tiles, chain, &mut under_way)?;
            }
        }
        Ok(longest)
    }

    /// Begins a layer of a tile, or of one for each of several arms. Whether it waits for messages: the last layer ends a
    /// tile.
    fn layer(
        &mut self,
        mut tiles: Vec<Job>,
        chain: u64,
        under_way: &mut VecDeque<(Vec<Job>, u64)>,
    ) -> Result<bool, Error> {
        self.begin_jobs(&tiles)?;
        let begun = tiles.len();
        tiles.retain(|job| job.stage < job::depth(self.plan, job.op));
        if tiles.len() < begun {
            self.done += begun - tiles.len();
            self.observer.progress(self.done, self.total);
            self.tick()?;
        }
        let goes_on = !tiles.is_empty();
        if goes_on {
            under_way.push_back((tiles, chain));
        }
        Ok(goes_on)
    }

    /// Whether tiles take turns, so that what they send may go out together.
    fn gather_sends(&mut self, gathering: bool) {
        if let Some(session) = self.engine.session() {
            session.mesh().gather_sends(gathering);
        }
    }

    fn finish_first(&mut self, under_way: &mut VecDeque<Vec<Job>>) -> Result<(), Error> {
        if let Some(jobs) = under_way.pop_front() {
            self.finish_jobs(&jobs)?;
            self.done += jobs.len();
            self.observer.progress(self.done, self.total);
        }
        Ok(())
    }

    fn phase(&mut self, phase: Phase) -> Result<(), Error> {
        self.observer.phase(phase, self.engine)?;
        self.counts_as(phase);
        Ok(())
    }

    /// What is sent and received from here on is counted so.
    fn counts_as(&mut self, phase: Phase) {
        if let Some(session) = self.engine.session() {
            session.mesh().set_phase(phase);
        }
    }

    fn tick(&mut self) -> Result<(), Error> {
        match self.engine.session() {
            Some(session) => Ok(session.mesh().tick()?),
            None => Ok(()),
        }
    }
}
