//! Streams: a program that is run part after part in one session, on more instances than memory would hold at once.

use crate::compiled::Compiled;
use crate::deployment::Seat;
use crate::endpoint::{Endpoint, Feed};
use crate::error::Error;
use crate::kept::Source;
use crate::local::Local;
use crate::price::price_parts;
use crate::registry::{Chosen, protocol};
use crate::report::Report;
use crate::run::{Given, Own};
use std::sync::Arc;
use tacit_engine::{Participants, Protocol};
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
    ///
    /// # Errors
    /// As [`crate::price`].
    pub fn price(&self, name: &str, parties: &[String], lanes: u16) -> Result<Cost, Error> {
        price_parts([(Some(&self.part), self.times), (self.rest.as_ref(), 1)], name, parties, lanes)
    }

    /// What an endpoint has to know.
    fn endpoint(
        &self,
        protocol: Arc<dyn Protocol>,
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
        let lanes = [stream.endpoint(protocol(&self.protocol)?, self.parties.clone(), clients)?];
        assert_eq!(feeds.len(), lanes[0].names().len(), "a feed for each endpoint");
        let given = feeds.into_iter().map(Given::Feed).collect();
        Ok(self.play(&lanes, given, Vec::new(), Vec::new(), &|_, _| {})?.swap_remove(0).report)
    }
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
        feed: &mut (dyn Feed + Send),
    ) -> Result<Report, Error> {
        let stream = match self.config().window() {
            Some(bytes) => stream.clone().with_window(bytes),
            None => stream.clone(),
        };
        let clients = self.config().clients().iter().map(|client| client.name.clone()).collect();
        let chosen = Chosen::of(protocol_name)?;
        let endpoint = stream.endpoint(chosen.protocol.clone(), self.parties(), clients)?;
        let (given, within) = (Given::Feed(feed), self.config().limits().connect);
        let own = Own { given, source: Source::InRun, residents: None, measured: None };
        let run = |seat: &mut Self| seat.run_from(&chosen, &[endpoint], own, &|_, _| {}, within);
        Ok(self.counted(run)?.swap_remove(0).report)
    }
}
