//! Streams: a program that is run part after part in one session, on more instances than memory would hold at once.

use crate::auto_select::comparison;
use crate::endpoint::{Endpoint, Feed, play_parts};
use crate::local::{collect, together};
use crate::price::price_in;
use crate::report::Traffic;
use crate::{Compiled, Error, Local, Report, Seat, is_open, negotiate, players, protocol};
use std::sync::Arc;
use std::time::Instant;
use tacit_engine::executor::Unobserved;
use tacit_engine::{Outcome, Participants, Protocol};
use tacit_program::cost::Cost;

/// What is run of a stream. Everybody who takes part agrees on all of it before anything is sent.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The program of a whole part.
    pub part: Arc<Compiled>,
    /// How often it is run, 1 at least.
    pub times: u64,
    /// The program that is run once after that, of the same participants: what is left.
    pub rest: Option<Arc<Compiled>>,
    /// How many instances all parts have together.
    pub instances: u64,
}

impl Stream {
    /// The clients that the programs name.
    pub fn clients(&self, parties: &[String]) -> Vec<String> {
        Participants::clients_of(self.part.plan(), parties)
    }

    /// The same with so many bytes of circuits' messages under way at a time ([`Compiled::with_window`]).
    #[must_use]
    pub fn with_window(self, bytes: usize) -> Self {
        let rest = self.rest.map(|rest| rest.with_window(bytes));
        Self { part: self.part.with_window(bytes), rest, ..self }
    }

    /// What a run sends and its rounds under the protocol of a name, exactly: those of all parts together, in one of so many
    /// lanes.
    pub fn price(&self, name: &str, parties: &[String], lanes: u16) -> Result<Cost, Error> {
        let mut total = Cost::default();
        for (compiled, times) in [(Some(&self.part), self.times), (self.rest.as_ref(), 1)] {
            let Some(compiled) = compiled else { continue };
            for (phase, cost) in price_in(compiled, name, parties, lanes)?.total.phases() {
                total.add_times(phase, cost, times);
            }
        }
        Ok(total)
    }

    /// What an endpoint has to know.
    fn endpoint(
        &self,
        protocol: &'static dyn Protocol,
        parties: Vec<String>,
        clients: Vec<String>,
    ) -> Result<Endpoint, Error> {
        let programs = [Some(&self.part), self.rest.as_ref()];
        if programs.into_iter().flatten().any(|compiled| compiled.is_debug()) {
            return Err(Error::Refused("a stream is not for debug runs, which reveal everything".to_owned()));
        }
        Endpoint::new(&self.part, protocol, parties, clients)?.repeated(
            self.times,
            self.rest.clone(),
            self.instances,
        )
    }
}

impl Local {
    /// Runs a stream. There is a feed for each endpoint, the parties in order and then [`Stream::clients`], which
    /// gives what is the endpoint's to give and gets what the endpoint learns, in a thread of its own.
    ///
    /// # Errors
    /// The first failure, also of a feed, which ends the run for all.
    ///
    /// # Panics
    /// If there is another number of feeds.
    pub fn stream(&self, stream: &Stream, feeds: Vec<&mut (dyn Feed + Send)>) -> Result<Report, Error> {
        let clients = stream.clients(&self.parties);
        let endpoint = stream.endpoint(protocol(&self.protocol)?, self.parties.clone(), clients)?;
        let names = [self.parties.clone(), endpoint.clients.clone()].concat();
        assert_eq!(feeds.len(), names.len(), "a feed for each endpoint");
        let start = Instant::now();
        let play = |_, mesh, feed: &mut (dyn Feed + Send)| {
            let (rounds, traffic) = play_parts(&endpoint, mesh, feed, &mut Unobserved)?;
            Ok(vec![without_outputs(rounds, traffic)])
        };
        let results = together(&endpoint, endpoint.clients.len(), feeds, play);
        let players = players(endpoint.protocol, &self.parties);
        let comparison = comparison(&self.protocol, endpoint.protocol)?;
        let report = Report { elapsed: start.elapsed(), players, comparison, ..Report::default() };
        let (_, report) = collect(&names, 1, results, &report)?.swap_remove(0);
        Ok(report)
    }
}

/// The outputs went to the feed.
fn without_outputs(rounds: u64, traffic: Traffic) -> (Outcome, Traffic) {
    (Outcome { outputs: Vec::new(), rounds }, traffic)
}

impl Seat {
    /// Runs a stream with everybody whom it names. `feed` gives what is this endpoint's to give and gets what it
    /// learns. Waits for the others for as long as the configuration's limit says. What is left to the network is
    /// negotiated first, as in [`Seat::run`].
    ///
    /// # Errors
    /// The first failure, also of `feed`, which ends the run for all.
    pub fn stream(
        &mut self,
        stream: &Stream,
        protocol_name: &str,
        feed: &mut dyn Feed,
    ) -> Result<Report, Error> {
        self.counted(|seat| seat.stream_once(stream, protocol_name, feed))
    }

    fn stream_once(
        &mut self,
        stream: &Stream,
        protocol_name: &str,
        feed: &mut dyn Feed,
    ) -> Result<Report, Error> {
        let mut stream = stream.clone();
        if let Some(bytes) = self.config().window() {
            stream = stream.with_window(bytes);
        }
        let clients: Vec<String> = self.config().clients().iter().map(|client| client.name.clone()).collect();
        let parties = self.parties();
        let mut endpoint = stream.endpoint(protocol(protocol_name)?, parties.clone(), clients)?;
        let within = self.config().limits().connect;
        let mut mesh = self.gather(&endpoint, 1, within)?.swap_remove(0);
        let start = Instant::now();
        let mut comparison = None;
        if is_open(protocol_name)? {
            let price = |name: &str| stream.price(name, &parties, 1);
            let settled;
            (mesh, settled) = negotiate(mesh, &endpoint, protocol_name, price)?;
            endpoint = endpoint.under(settled.protocol)?;
            comparison = settled.comparison;
        }
        let players = players(endpoint.protocol, &parties);
        let (rounds, traffic) = play_parts(&endpoint, mesh, feed, &mut Unobserved)?;
        let endpoints = vec![(self.name(), traffic)];
        Ok(Report { endpoints, rounds, elapsed: start.elapsed(), players, comparison, material: None })
    }
}
