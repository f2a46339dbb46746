//! One endpoint's part in one run, over links that are there: what local runs, deployments and benchmarks share.

use crate::material::agree_source;
use crate::report::Traffic;
use crate::{Compiled, Error, agreed};
use std::fmt::Write;
use std::sync::Arc;
use tacit_engine::supply::Supply;
use tacit_engine::{Clear, Client, Engine, Material, Observer, Outcome, Participants, Protocol, executor};
use tacit_net::Mesh;
use tacit_session::{Agreement, OsEntropy, Session};

/// What an endpoint has to know to take part.
#[derive(Clone)]
pub struct Endpoint {
    /// What is run, with a plan for the protocol: inputs are encoded and outputs decoded by it.
    pub compiled: Arc<Compiled>,
    /// The protocol.
    pub protocol: &'static dyn Protocol,
    /// Names of the parties, in order.
    pub parties: Vec<String>,
    /// Names of the deployment's clients, in order.
    pub clients: Vec<String>,
    /// Who the plan's names are.
    pub participants: Participants,
    /// How often the program is run, one time after another over the same links.
    pub times: u64,
    /// A program that is run once after that, with its participants: what is left of a stream.
    pub rest: Option<(Arc<Compiled>, Participants)>,
    /// How many instances that makes, as everybody has to say alike; 1 without a stream.
    pub instances: u64,
}

/// Where the inputs of a stream come from, and where its outputs go. A part is one run of a program.
pub trait Feed {
    /// The values that this endpoint gives to a part, by the index of the input. Parts come in order.
    fn inputs(&mut self, part: u64) -> Result<Vec<Option<Clear>>, Error>;
    /// What came out of a part.
    fn outputs(&mut self, part: u64, outputs: Vec<Option<Clear>>) -> Result<(), Error>;
}

impl Endpoint {
    /// Refuses a number of parties that the protocol isn't for, and a program that names strangers, asks for what the
    /// protocol doesn't offer, or is none that it can run ([`Protocol::admit`]).
    pub fn new(
        compiled: &Arc<Compiled>,
        protocol: &'static dyn Protocol,
        parties: Vec<String>,
        clients: Vec<String>,
    ) -> Result<Self, Error> {
        let (compiled, roles) = admitted(compiled, protocol, &parties, &clients)?;
        Ok(Self {
            compiled,
            protocol,
            parties,
            clients,
            participants: roles,
            times: 1,
            rest: None,
            instances: 1,
        })
    }

    /// Runs the program so many times, and then `rest`: a stream of inputs that memory wouldn't hold at once, of so
    /// many instances.
    ///
    /// # Errors
    /// If `rest` is refused as [`Endpoint::new`] would.
    pub fn repeated(
        mut self,
        times: u64,
        rest: Option<Arc<Compiled>>,
        instances: u64,
    ) -> Result<Self, Error> {
        (self.times, self.instances) = (times, instances);
        self.rest = match rest {
            Some(compiled) => Some(admitted(&compiled, self.protocol, &self.parties, &self.clients)?),
            None => None,
        };
        Ok(self)
    }

    /// The same under another protocol for as many parties.
    ///
    /// # Errors
    /// If the program asks for what the protocol doesn't offer.
    pub fn under(&self, protocol: &'static dyn Protocol) -> Result<Self, Error> {
        let rest = self.rest.as_ref().map(|(compiled, _)| compiled.clone());
        Self::new(&self.compiled, protocol, self.parties.clone(), self.clients.clone())?.repeated(
            self.times,
            rest,
            self.instances,
        )
    }

    /// How many parts there are.
    pub fn parts(&self) -> u64 {
        self.times + u64::from(self.rest.is_some())
    }

    /// The program of a part, and who its names are.
    fn part(&self, part: u64) -> (&Arc<Compiled>, &Participants) {
        match &self.rest {
            Some((compiled, roles)) if part >= self.times => (compiled, roles),
            _ => (&self.compiled, &self.participants),
        }
    }

    /// What else the run depends on: the version, and the parts of a stream.
    pub(crate) fn parameters(&self) -> String {
        let mut parameters = parameters_of(self.protocol);
        if self.times != 1 {
            let _ = write!(parameters, ", {} times", self.times);
        }
        if let Some((rest, _)) = &self.rest {
            let hash = rest.hash().map(|byte| format!("{byte:02x}")).concat();
            let _ = write!(parameters, ", then program {hash}");
        }
        parameters
    }

    pub(crate) fn agreement(&self) -> Agreement {
        Agreement {
            version: 0,
            lane: 0,
            lanes: 0,
            parties: self.parties.clone(),
            clients: self.clients.clone(),
            protocol: self.protocol.spec().name.to_owned(),
            instances: self.instances,
            parameters: self.parameters(),
            window: self.compiled.plan().window as u64,
            inputs: agreed::inputs(&self.compiled),
            outputs: agreed::outputs(&self.compiled),
            steps: agreed::steps(&self.compiled),
            program: self.compiled.hash(),
        }
    }
}

/// What any run under a protocol depends on: the version, and the protocol's own parameters.
pub(crate) fn parameters_of(protocol: &dyn Protocol) -> String {
    let own = protocol.parameter_values();
    let version = concat!("tacit ", env!("CARGO_PKG_VERSION")).to_owned();
    if own.is_empty() { version } else { version + ", " + &own }
}

/// A program with its plan for a protocol, and who its names are.
///
/// # Errors
/// As [`Endpoint::new`].
pub(crate) fn admitted(
    compiled: &Arc<Compiled>,
    protocol: &dyn Protocol,
    parties: &[String],
    clients: &[String],
) -> Result<(Arc<Compiled>, Participants), Error> {
    check_count(protocol, parties.len())?;
    let compiled = compiled.for_protocol(protocol)?;
    let refused = |error: tacit_engine::Error| compiled.aborted(error);
    let roles = Participants::new(compiled.plan(), parties, clients).map_err(refused)?;
    protocol.admit(compiled.plan(), &roles).map_err(refused)?;
    Ok((compiled, roles))
}

/// Refuses a number of parties that a protocol isn't for.
pub(crate) fn check_count(protocol: &dyn Protocol, parties: usize) -> Result<(), Error> {
    let spec = protocol.spec();
    if spec.parties.contains(&parties) {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "protocol {:?} is for {} parties, not for {parties}",
        spec.name,
        spec.party_count()
    )))
}

/// Plays an endpoint's part from the handshake to the end: a party's if its number is below the number of
/// parties, a client's else. `inputs` has the values that this endpoint gives, by the index of the input.
pub fn play(
    endpoint: &Endpoint,
    mesh: Mesh,
    inputs: Vec<Option<Clear>>,
    observer: &mut dyn Observer,
) -> Result<(Outcome, Traffic), Error> {
    let mut once = Once::new(inputs);
    let (rounds, traffic) = play_parts(endpoint, mesh, &mut once, observer)?;
    Ok((Outcome { outputs: once.outputs, rounds }, traffic))
}

/// A run of one part: its inputs before, its outputs after.
pub(crate) struct Once {
    inputs: Vec<Option<Clear>>,
    pub(crate) outputs: Vec<Option<Clear>>,
}

impl Once {
    pub(crate) fn new(inputs: Vec<Option<Clear>>) -> Self {
        Self { inputs, outputs: Vec::new() }
    }
}

impl Feed for Once {
    fn inputs(&mut self, _part: u64) -> Result<Vec<Option<Clear>>, Error> {
        Ok(std::mem::take(&mut self.inputs))
    }

    fn outputs(&mut self, _part: u64, outputs: Vec<Option<Clear>>) -> Result<(), Error> {
        self.outputs = outputs;
        Ok(())
    }
}

/// Plays an endpoint's part in all parts of a stream, as [`play`] does in one run: memory is that of one part,
/// however many there are. The rounds of all parts, and what was sent.
///
/// # Errors
/// The first failure, also of `feed`, which ends the run for all.
pub fn play_parts(
    endpoint: &Endpoint,
    mesh: Mesh,
    feed: &mut dyn Feed,
    observer: &mut dyn Observer,
) -> Result<(u64, Traffic), Error> {
    play_from(endpoint, mesh, Source::InRun, feed, observer)
}

/// What a party has before a run.
pub(crate) enum Source {
    /// Nothing: what the run needs it makes.
    InRun,
    /// The material of its first part.
    Material(Material),
    /// Supplies, for all parts.
    Supply(Box<dyn Supply>),
}

/// As [`play_parts`], from what a party has before.
pub(crate) fn play_from(
    endpoint: &Endpoint,
    mesh: Mesh,
    source: Source,
    feed: &mut dyn Feed,
    observer: &mut dyn Observer,
) -> Result<(u64, Traffic), Error> {
    let me = mesh.me();
    let mut session = establish(endpoint, mesh, endpoint.agreement())?;
    if me < endpoint.parties.len() {
        agree_source(endpoint, &mut session, matches!(source, Source::Supply(_)))?;
        party(endpoint, session, source, feed, observer)
    } else {
        client(endpoint, session, feed)
    }
}

/// The handshake.
pub(crate) fn establish(endpoint: &Endpoint, mesh: Mesh, agreement: Agreement) -> Result<Session, Error> {
    Session::establish(mesh, agreement, Box::new(OsEntropy))
        .map_err(|error| endpoint.compiled.aborted(error.into()))
}

/// A party's failure, and whether it ended the run while a check was under way.
pub(crate) fn in_check(error: Error, engine: &mut dyn Engine) -> Error {
    let challenged = engine.session().is_some_and(|session| session.is_challenged());
    error.in_check(challenged)
}

/// A party's part after the handshake.
pub(crate) fn party(
    endpoint: &Endpoint,
    session: Session,
    source: Source,
    feed: &mut dyn Feed,
    observer: &mut dyn Observer,
) -> Result<(u64, Traffic), Error> {
    let (first, roles) = endpoint.part(0);
    let aborted = |cause| endpoint.compiled.aborted(cause);
    let mut engine =
        endpoint.protocol.engine(session, first.plan().clone(), roles.clone()).map_err(aborted)?;
    let ended = |error: Error, engine: &mut dyn Engine| {
        if let Some(session) = engine.session() {
            session.abort(&error.to_string());
        }
        error
    };
    let mut ending = None;
    let given = match source {
        Source::InRun => Ok(()),
        Source::Material(material) => engine.load(material),
        Source::Supply(supply) => {
            ending = Some(supply.checks().ending());
            engine.supply(supply)
        }
    };
    given.map_err(|cause| ended(aborted(cause), engine.as_mut()))?;
    let mut rounds = 0;
    for part in 0..endpoint.parts() {
        let (compiled, roles) = endpoint.part(part);
        let plan = compiled.plan();
        let aborted = |cause| compiled.aborted_in(part, cause);
        if part > 0 {
            let next = engine.next(plan.clone(), roles.clone());
            next.map_err(|cause| ended(aborted(cause), engine.as_mut()))?;
        }
        let inputs = feed.inputs(part).map_err(|error| ended(error, engine.as_mut()))?;
        let outcome = executor::run_party(engine.as_mut(), plan, &inputs, observer);
        let outcome = outcome.map_err(|cause| {
            let error = in_check(aborted(cause), engine.as_mut());
            ended(error, engine.as_mut())
        })?;
        rounds += outcome.rounds;
        feed.outputs(part, outcome.outputs).map_err(|error| ended(error, engine.as_mut()))?;
    }
    // Other lanes go on.
    if let Some(ending) = ending {
        ending.well();
    }
    let traffic = match engine.session() {
        Some(session) => Traffic::of(session.mesh()).map_err(|error| aborted(error.into()))?,
        None => Traffic::default(),
    };
    engine.close().map_err(aborted)?;
    Ok((rounds, traffic))
}

fn client(endpoint: &Endpoint, session: Session, feed: &mut dyn Feed) -> Result<(u64, Traffic), Error> {
    let (first, roles) = endpoint.part(0);
    let aborted = |cause| endpoint.compiled.aborted(cause);
    let mut client =
        endpoint.protocol.client(session, first.plan().clone(), roles.clone()).map_err(aborted)?;
    for part in 0..endpoint.parts() {
        let (compiled, roles) = endpoint.part(part);
        let plan = compiled.plan();
        let aborted = |cause| compiled.aborted(cause);
        let ended = |error: Error, client: &mut dyn Client| {
            client.session().abort(&error.to_string());
            error
        };
        if part > 0 {
            let next = client.next(plan.clone(), roles.clone());
            next.map_err(|cause| ended(aborted(cause), client.as_mut()))?;
        }
        let inputs = feed.inputs(part).map_err(|error| ended(error, client.as_mut()))?;
        let outcome = executor::run_client(client.as_mut(), plan, roles, &inputs);
        let outcome = outcome.map_err(|cause| ended(aborted(cause), client.as_mut()))?;
        feed.outputs(part, outcome.outputs).map_err(|error| ended(error, client.as_mut()))?;
    }
    let traffic = Traffic::of(client.session().mesh()).map_err(|error| aborted(error.into()))?;
    client.close().map_err(aborted)?;
    Ok((0, traffic))
}
