//! Runs on material from a store: nothing is left of their offline phase.

use crate::compiled::Compiled;
use crate::deployment::Seat;
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::kept::{Kept, Source, StorePath};
use crate::local::{Local, given};
use crate::material::made_under;
use crate::progress::Progress;
use crate::registry::Chosen;
use crate::report::Run;
use crate::run::{Given, Own, endpoint_of};
use crate::state::residents::Residents;
use std::sync::Arc;
use std::time::Duration;
use tacit_engine::Participants;
use tacit_net::setup::Config;
use tacit_program::Value;

impl Seat {
    /// Opens this party's store for runs of a program; one process at a time can have it open. If the protocol's name
    /// leaves something to the network ([`is_open`](crate::is_open)), it is as the store's material was made.
    ///
    /// # Errors
    /// [`Error::Refused`] on a client's seat, or if the protocol has no offline phase; [`Error::Store`].
    pub fn open_store(
        &self,
        compiled: &Arc<Compiled>,
        protocol_name: &str,
        place: &StorePath,
    ) -> Result<Kept, Error> {
        self.refuse_client()?;
        place.open_for(self.config(), compiled, protocol_name)
    }

    /// Runs a program once, as [`Seat::run_within`], on one instance of the material in a store that
    /// [`Seat::open_store`] opened for it. All parties have to take theirs from their stores. The instance is used from
    /// the moment that the parties have agreed on it; after a failed check all that its offline session made is destroyed.
    ///
    /// # Errors
    /// [`Error::NoMaterial`] if the parties have none in common, [`Error::Store`]; nothing that depends on a secret has
    /// been sent then.
    pub fn run_stored(
        &mut self,
        compiled: &Arc<Compiled>,
        protocol_name: &str,
        store: &mut Kept,
        inputs: &[Option<Value>],
        progress: Progress<'_>,
        within: Duration,
    ) -> Result<Run, Error> {
        let chosen = Chosen::of(protocol_name)?;
        let endpoint = self.party_endpoint(compiled, &chosen)?;
        let given = Given::Values(vec![inputs.iter().map(Option::as_ref).collect()]);
        let own = Own { given, source: store.source(), residents: None, measured: None };
        let run = |seat: &mut Self| seat.run_from(&chosen, &[endpoint], own, progress, within);
        Ok(self.counted(run)?.swap_remove(0))
    }
}

impl StorePath {
    /// Opens the store of the party whose configuration this is. Else as [`Seat::open_store`].
    ///
    /// # Errors
    /// As [`Seat::open_store`].
    pub fn open_for(
        &self,
        config: &Config,
        compiled: &Arc<Compiled>,
        protocol_name: &str,
    ) -> Result<Kept, Error> {
        let chosen = Chosen::of(protocol_name)?;
        let parties: Vec<String> = config.parties().iter().map(|party| party.name.clone()).collect();
        let clients = Participants::clients_of(compiled.plan(), &parties);
        let endpoint = endpoint_of(config, compiled, chosen.protocol.clone(), clients)?;
        self.open_made(&endpoint, &chosen, config.me())
    }
}

impl Local {
    /// Opens the stores of all parties for runs of a program, where [`Local::offline`] made them.
    ///
    /// # Errors
    /// As [`Seat::open_store`].
    pub fn open_stores(&self, compiled: &Arc<Compiled>, place: &StorePath) -> Result<Vec<Kept>, Error> {
        let (endpoint, chosen) = (self.endpoint(compiled)?, Chosen::of(&self.protocol)?);
        let open = |(me, name): (usize, &String)| place.of(name).open_made(&endpoint, &chosen, me);
        self.parties.iter().enumerate().map(open).collect()
    }

    /// Runs a program once, as [`Local::run`], on one instance of the material in the parties' stores. Else as
    /// [`Seat::run_stored`].
    ///
    /// # Panics
    /// If there is another number of stores than of parties.
    ///
    /// # Errors
    /// As [`Seat::run_stored`].
    pub fn run_stored(
        &self,
        compiled: &Arc<Compiled>,
        stores: &mut [Kept],
        inputs: &[Value],
        progress: Progress<'_>,
    ) -> Result<Run, Error> {
        assert_eq!(stores.len(), self.parties.len(), "a store for each party");
        let endpoint = self.endpoint_made(compiled, stores.first())?;
        self.run_one(endpoint, inputs, stores.iter_mut().map(Kept::source).collect(), Vec::new(), progress)
    }

    /// What everybody has to know of a program that runs on what the first party's store has, if there is one.
    pub(crate) fn endpoint_made(
        &self,
        compiled: &Arc<Compiled>,
        first: Option<&Kept>,
    ) -> Result<Endpoint, Error> {
        let usual = self.endpoint(compiled)?;
        match first {
            Some(Kept::Material(store)) => made_under(&usual, &Chosen::of(&self.protocol)?, 0, store),
            _ => Ok(usual),
        }
    }

    /// Runs a program once, in one lane, on what the parties bring.
    pub(crate) fn run_one<'a>(
        &self,
        endpoint: Endpoint,
        inputs: &'a [Value],
        sources: Vec<Source<'_>>,
        residents: Vec<Residents<'a>>,
        progress: Progress<'_>,
    ) -> Result<Run, Error> {
        let lanes = [endpoint];
        let given = given(&lanes, &[inputs])?;
        let ended = self.play(&lanes, given, sources, residents, progress)?.swap_remove(0);
        lanes[0].compiled.run_of(ended)
    }
}
