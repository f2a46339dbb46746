//! Runs on material from a store: nothing is left of their offline phase.

use crate::lanes::Source;
use crate::local::given;
use crate::material::made_under;
use crate::run::Given;
use crate::{Compiled, Error, Local, Progress, Run, Seat, StorePath};
use std::sync::Arc;
use std::time::Duration;
use tacit_program::Value;
use tacit_store::Store;

impl Seat {
    /// Opens this party's store for runs of a program; one process at a time can have it open. If the protocol's name
    /// leaves something to the network ([`is_open`]), it is as the store's material was made.
    ///
    /// # Errors
    /// [`Error::Refused`] on a client's seat, or if the protocol has no offline phase; [`Error::Store`].
    pub fn open_store(
        &self,
        compiled: &Arc<Compiled>,
        protocol_name: &str,
        place: &StorePath,
    ) -> Result<Store, Error> {
        let endpoint = self.party_endpoint(compiled, protocol_name)?;
        place.open_made(&endpoint, protocol_name, self.config().me())
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
        store: &mut Store,
        inputs: &[Option<Value>],
        progress: Progress<'_>,
        within: Duration,
    ) -> Result<Run, Error> {
        let endpoint = self.party_endpoint(compiled, protocol_name)?;
        let given = Given::Values(vec![inputs.iter().map(Option::as_ref).collect()]);
        let source = Source::Material(store);
        let run =
            |seat: &mut Self| seat.run_from(protocol_name, &[endpoint], given, source, progress, within);
        Ok(self.counted(run)?.swap_remove(0))
    }
}

impl Local {
    /// Opens the stores of all parties for runs of a program, where [`Local::offline`] made them.
    ///
    /// # Errors
    /// As [`Seat::open_store`].
    pub fn open_stores(&self, compiled: &Arc<Compiled>, place: &StorePath) -> Result<Vec<Store>, Error> {
        let endpoint = self.endpoint(compiled)?;
        let open = |(me, name): (usize, &String)| place.of(name).open_made(&endpoint, &self.protocol, me);
        self.parties.iter().enumerate().map(open).collect()
    }

    /// Runs a program once, as [`Local::run`], on one instance of the material in the parties' stores. Else as
    /// [`Seat::run_stored`].
    ///
    /// # Panics
    /// If there is another number of stores than of parties.
    pub fn run_stored(
        &self,
        compiled: &Arc<Compiled>,
        stores: &mut [Store],
        inputs: &[Value],
        progress: Progress<'_>,
    ) -> Result<Run, Error> {
        assert_eq!(stores.len(), self.parties.len(), "a store for each party");
        let lanes = [made_under(&self.endpoint(compiled)?, &self.protocol, 0, &stores[0])?];
        let sources = stores.iter_mut().map(Source::Material).collect();
        let ended = self.play(&lanes, given(&lanes, &[inputs])?, sources, progress)?.swap_remove(0);
        lanes[0].compiled.run_of(ended)
    }
}
