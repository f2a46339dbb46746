//! One party or client of a deployment on several machines.

use crate::endpoint::{Endpoint, play};
use crate::local::Told;
use crate::{Compiled, Error, Progress, Report, Run, protocol};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tacit_engine::Clear;
use tacit_net::Mesh;
use tacit_net::setup::{Config, Listener, connect};
use tacit_net::stream::StreamTransport;
use tacit_program::Value;

/// A seat in a deployment. A party's keeps its port open, and every run brings the others together anew.
pub struct Seat {
    config: Config,
    /// A party's; clients call, and nobody calls them.
    listener: Option<Listener>,
}

impl Seat {
    /// Reads `parties.toml` and, for a party, opens its port.
    pub fn open(config: &Path) -> Result<Self, Error> {
        Self::with(Config::load(config)?)
    }

    /// Takes the seat that a configuration describes.
    pub fn with(config: Config) -> Result<Self, Error> {
        let listener = if config.is_client() { None } else { Some(Listener::bind(&config)?) };
        Ok(Self { config, listener })
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// This endpoint's name.
    pub fn name(&self) -> String {
        self.config.names().swap_remove(self.config.me())
    }

    /// Where others reach this party; nothing for a client.
    pub fn address(&self) -> &str {
        self.config.parties().get(self.config.me()).map_or("", |party| &party.address)
    }

    /// Whether this is a computing party; else it is a client.
    pub fn is_party(&self) -> bool {
        self.listener.is_some()
    }

    /// The names of the parties, in order.
    pub fn parties(&self) -> Vec<String> {
        self.config.parties().iter().map(|party| party.name.clone()).collect()
    }

    /// Runs a program once, with everybody whom it names. `inputs` has a value for each input that this endpoint
    /// gives, by the index of the input, and `None` for the others. Waits for the others for as long as the
    /// configuration's limit says.
    pub fn run(
        &mut self,
        compiled: &Arc<Compiled>,
        protocol_name: &str,
        inputs: &[Option<Value>],
        progress: Progress<'_>,
    ) -> Result<Run, Error> {
        let within = self.config.limits().connect;
        self.run_within(compiled, protocol_name, inputs, progress, within)
    }

    /// As [`Seat::run`], waiting for the others for another time: a server that stays up waits long.
    pub fn run_within(
        &mut self,
        compiled: &Arc<Compiled>,
        protocol_name: &str,
        inputs: &[Option<Value>],
        progress: Progress<'_>,
        within: Duration,
    ) -> Result<Run, Error> {
        if compiled.is_debug() {
            let reason =
                "a debug run reveals everything: it is for made-up data in one process, not for a deployment";
            return Err(Error::Refused(reason.to_owned()));
        }
        let clients = self.config.clients().iter().map(|client| client.name.clone()).collect();
        let endpoint = Endpoint::new(compiled.clone(), protocol(protocol_name)?, self.parties(), clients)?;
        let values = self.encode(&endpoint, inputs)?;
        let mesh = self.gather(&endpoint, within)?;
        let start = Instant::now();
        let (outcome, traffic) = play(&endpoint, mesh, &values, &mut Told::new(progress))?;
        let report = Report {
            endpoints: vec![(self.name(), traffic)],
            rounds: outcome.rounds,
            elapsed: start.elapsed(),
        };
        Ok(Run { outputs: compiled.decode_all(&outcome.outputs)?, report })
    }

    /// Checks that exactly this endpoint's inputs are given, and that they are as declared.
    fn encode(&self, endpoint: &Endpoint, inputs: &[Option<Value>]) -> Result<Vec<Option<Clear>>, Error> {
        let compiled = &endpoint.compiled;
        let me = self.config.me();
        let mine = |input: usize| endpoint.roles.endpoint(compiled.plan().inputs[input].owner) == me;
        (0..compiled.inputs().len())
            .map(|input| {
                let declared = &compiled.inputs()[input];
                match (inputs.get(input).and_then(Option::as_ref), mine(input)) {
                    (Some(value), true) => compiled.encode(input, value).map(Some),
                    (None, false) => Ok(None),
                    (None, true) => Err(Error::Refused(format!(
                        "no value for input {:?}, which is {}'s to give",
                        declared.name, declared.owner
                    ))),
                    (Some(_), false) => Err(Error::Refused(format!(
                        "input {:?} is {}'s to give, and this is {}",
                        declared.name,
                        declared.owner,
                        self.name()
                    ))),
                }
            })
            .collect()
    }

    fn gather(&mut self, endpoint: &Endpoint, within: Duration) -> Result<Mesh, Error> {
        let me = self.config.me();
        let transport: StreamTransport = match &mut self.listener {
            Some(listener) => listener.gather(endpoint.roles.clients(), within)?,
            None if endpoint.roles.clients().contains(&me) => connect(&self.config)?,
            None => {
                return Err(Error::Refused(format!(
                    "the program doesn't name {}: it neither gives an input nor learns an output",
                    self.name()
                )));
            }
        };
        Ok(Mesh::new(Box::new(transport), me, self.config.names(), self.config.limits().clone()))
    }
}
