//! What an endpoint has to know to take part in a run, over links that are there: what local runs, deployments and
//! benchmarks share.

use crate::agreed;
use crate::compiled::Compiled;
use crate::error::Error;
use crate::kept::Instance;
use crate::report::Traffic;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use tacit_engine::supply::Blocks;
use tacit_engine::{Clear, Engine, Participants, Protocol};
use tacit_net::Mesh;
use tacit_program::{InputType, Value};
use tacit_session::{Agreement, OsEntropy, Session};

/// What an endpoint has to know to take part.
#[derive(Clone)]
pub struct Endpoint {
    /// What is run, with a plan for the protocol: inputs are encoded and outputs decoded by it.
    pub compiled: Arc<Compiled>,
    /// The protocol.
    pub protocol: Arc<dyn Protocol>,
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
    /// What else everybody has to say alike: the run's number and who plays the plan's names, where clients come and go.
    pub bound: String,
    /// Where an error goes that comes once a party has all that it learns and keeps. It leaves then, and others count
    /// on that: the run has ended well for it. Without this, such an error is the run's.
    pub(crate) late: Option<Sender<Error>>,
}

/// Where the inputs of a stream come from, and where its outputs go. A part is one run of a program.
pub trait Feed {
    /// The values that this endpoint gives to a part, by the index of the input. Parts come in order.
    ///
    /// # Errors
    /// If they can't be had: the run is aborted.
    fn inputs(&mut self, part: u64) -> Result<Vec<Option<Clear>>, Error>;
    /// What came out of a part.
    ///
    /// # Errors
    /// If they can't be taken: the run is aborted.
    fn outputs(&mut self, part: u64, outputs: Vec<Option<Clear>>) -> Result<(), Error>;
}

impl Endpoint {
    /// Refuses a number of parties that the protocol isn't for, and a program that names strangers, asks for what the
    /// protocol doesn't offer, or is none that it can run ([`Protocol::admit`]).
    ///
    /// # Errors
    /// [`Error::Refused`] with the reason.
    pub fn new(
        compiled: &Arc<Compiled>,
        protocol: Arc<dyn Protocol>,
        parties: Vec<String>,
        clients: Vec<String>,
    ) -> Result<Self, Error> {
        let (compiled, roles) = admitted(compiled, &*protocol, &parties, &clients)?;
        Ok(Self {
            compiled,
            protocol,
            parties,
            clients,
            participants: roles,
            times: 1,
            rest: None,
            instances: 1,
            bound: String::new(),
            late: None,
        })
    }

    /// The same in a run that also has to agree on this.
    #[must_use]
    pub fn bound_to(self, bound: String) -> Self {
        Self { bound, ..self }
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
            Some(compiled) => Some(admitted(&compiled, &*self.protocol, &self.parties, &self.clients)?),
            None => None,
        };
        Ok(self)
    }

    /// The same under another protocol for as many parties.
    ///
    /// # Errors
    /// If the program asks for what the protocol doesn't offer.
    pub fn under(&self, protocol: Arc<dyn Protocol>) -> Result<Self, Error> {
        let rest = self.rest.as_ref().map(|(compiled, _)| compiled.clone());
        let new = Self::new(&self.compiled, protocol, self.parties.clone(), self.clients.clone())?;
        let new = Self { late: self.late.clone(), ..new };
        new.bound_to(self.bound.clone()).repeated(self.times, rest, self.instances)
    }

    /// How many blocks of each kind of supplies all parts draw together.
    pub(crate) fn draws(&self) -> Blocks {
        let mut all = Blocks::new();
        for (part, times) in [(Some(0), self.times), (self.rest.is_some().then_some(self.times), 1)] {
            let Some((compiled, roles)) = part.map(|part| self.part(part)) else { continue };
            for (kind, blocks) in self.protocol.demand(compiled.plan(), roles).blocks() {
                let sum = all.entry(kind).or_default();
                *sum = sum.saturating_add(blocks.saturating_mul(times));
            }
        }
        all
    }

    /// Encodes what endpoint `me` gives: of all inputs its own, and, of a party, what all parties know.
    ///
    /// # Errors
    /// [`Error::Refused`] unless these are exactly its inputs, and as they are declared.
    pub(crate) fn encode(&self, me: usize, values: &[Option<&Value>]) -> Result<Vec<Option<Clear>>, Error> {
        let (compiled, name) = (&self.compiled, || self.names().swap_remove(me));
        let encode = |(input, declared): (usize, &InputType)| {
            let is_mine = self.participants.endpoint(compiled.plan().inputs[input].owner) == me;
            let (name_of, owner) = (&declared.name, &declared.owner);
            match (values.get(input).copied().flatten(), is_mine) {
                (Some(value), true) => compiled.encode(input, value).map(Some),
                (None, false) => Ok(None),
                (None, true) => {
                    Err(Error::Refused(format!("no value for input {name_of:?}, which is {owner}'s to give")))
                }
                (Some(_), false) => Err(Error::Refused(format!(
                    "input {name_of:?} is {owner}'s to give, and this is {}",
                    name()
                ))),
            }
        };
        let inputs: Vec<Option<Clear>> =
            compiled.inputs().iter().enumerate().map(encode).collect::<Result<_, _>>()?;
        if me >= self.parties.len() {
            let given = values.iter().skip(inputs.len()).position(Option::is_some);
            return match given.map(|at| compiled.known().swap_remove(at).name) {
                Some(known) => Err(Error::Refused(format!(
                    "public input {known:?} is what all parties give, and this is {}, a client",
                    name()
                ))),
                None => Ok(inputs),
            };
        }
        let known = compiled.given().into_iter().skip(inputs.len()).enumerate().map(|(at, declared)| {
            let value = values.get(inputs.len() + at).copied().flatten().ok_or_else(|| {
                Error::Refused(format!(
                    "no value for public input {:?}, which all parties give",
                    declared.name
                ))
            });
            compiled.encode_known(at, &declared, value?).map(Some)
        });
        let known: Vec<Option<Clear>> = known.collect::<Result<_, _>>()?;
        Ok([inputs, known].concat())
    }

    /// Names of all endpoints, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        [&self.parties[..], &self.clients[..]].concat()
    }

    /// How many parts there are.
    pub fn parts(&self) -> u64 {
        self.times + u64::from(self.rest.is_some())
    }

    /// The program of a part, and who its names are.
    pub(crate) fn part(&self, part: u64) -> (&Arc<Compiled>, &Participants) {
        match &self.rest {
            Some((compiled, roles)) if part >= self.times => (compiled, roles),
            _ => (&self.compiled, &self.participants),
        }
    }

    /// What else the run depends on: the version, and the parts of a stream.
    pub(crate) fn parameters(&self) -> String {
        let mut parameters = parameters_of(&*self.protocol);
        if self.times != 1 {
            let _ = write!(parameters, ", {} times", self.times);
        }
        if let Some((rest, _)) = &self.rest {
            let _ = write!(parameters, ", then program {}", hex(&rest.hash()));
        }
        parameters
    }

    pub(crate) fn agreement(&self) -> Agreement {
        let described = |mut lines: Vec<String>| {
            lines.truncate(agreed::DESCRIBED);
            lines
        };
        let mut parameters = self.parameters();
        if !self.bound.is_empty() {
            let _ = write!(parameters, ", {}", self.bound);
        }
        Agreement {
            clients: self.clients.clone(),
            instances: self.instances,
            window: self.compiled.plan().window as u64,
            inputs: described(agreed::inputs(&self.compiled)),
            outputs: described(agreed::outputs(&self.compiled)),
            steps: self.compiled.steps().to_vec(),
            program: self.compiled.hash(),
            ..Agreement::among(self.parties.clone(), self.protocol.spec().name, parameters)
        }
    }
}

/// What any run under a protocol depends on: the version, and the protocol's own parameters.
pub(crate) fn parameters_of(protocol: &dyn Protocol) -> String {
    of_version(&protocol.parameter_values())
}

/// The version, and such values of a protocol's parameters.
pub(crate) fn of_version(values: &str) -> String {
    let version = concat!("tacit ", env!("CARGO_PKG_VERSION")).to_owned();
    if values.is_empty() { version } else { version + ", " + values }
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

/// What a lane took, at one endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Rounds of the online phase, of all parts together; none at clients.
    pub rounds: u64,
    /// What the endpoint sent.
    pub traffic: Traffic,
    /// The material that it ran on, if that came from a store.
    pub material: Option<Instance>,
    /// What it read of what is kept, as `weights@3`, by the program's names.
    pub read: Vec<(String, String)>,
    /// What it kept, as `weights@4`.
    pub kept: Vec<String>,
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

/// A program's hash in hexadecimal digits.
pub(crate) fn hex(hash: &[u8; 32]) -> String {
    hash.map(|byte| format!("{byte:02x}")).concat()
}
