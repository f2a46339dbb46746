//! Runs on material from a store: nothing is left of their offline phase.

use crate::auto_select::{Making, Negotiation, comparison};
use crate::endpoint::{Endpoint, Once, Source, establish, party, play};
use crate::lanes::{Tally, Told};
use crate::local::{all_of, collect, together};
use crate::material::{Instance, agree_stored, made_under, refuse_other, take};
use crate::report::Traffic;
use crate::{Compiled, Error, Local, Progress, Report, Run, Seat, StorePath, is_open, players, price};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tacit_engine::{Clear, Observer, Outcome};
use tacit_net::Mesh;
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
        self.counted(|seat| seat.run_stored_once(compiled, protocol_name, store, inputs, progress, within))
    }

    fn run_stored_once(
        &mut self,
        compiled: &Arc<Compiled>,
        protocol_name: &str,
        store: &mut Store,
        inputs: &[Option<Value>],
        progress: Progress<'_>,
        within: Duration,
    ) -> Result<Run, Error> {
        let open = self.party_endpoint(compiled, protocol_name)?;
        let endpoint = made_under(&open, protocol_name, self.config().me(), store)?;
        let values = self.encode(&endpoint, inputs)?;
        let mut mesh = self.gather(&endpoint, 1, within)?.swap_remove(0);
        if is_open(protocol_name)? {
            // The clients can't know it.
            let made = Some(endpoint.protocol);
            let settling = Negotiation { endpoint: &open, name: protocol_name, making: Making::InRun, made };
            let price = |name: &str| Ok(price(compiled, name, &open.parties)?.total);
            (mesh, _) = settling.negotiate(mesh, open.agreement(), price)?;
        }
        let tally = Tally::new(progress);
        let start = Instant::now();
        let (outcome, traffic, instance) = play_stored(&endpoint, mesh, store, values, &mut tally.lane())?;
        let report = Report {
            endpoints: vec![(self.name(), traffic)],
            rounds: outcome.rounds,
            elapsed: start.elapsed(),
            players: players(endpoint.protocol, &endpoint.parties),
            comparison: comparison(protocol_name, endpoint.protocol)?,
            material: Some(instance),
        };
        Ok(Run { outputs: endpoint.compiled.decode_all(&outcome.outputs)?, report })
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
        let endpoint = match stores {
            [first, ..] => made_under(&self.endpoint(compiled)?, &self.protocol, 0, first)?,
            [] => self.endpoint(compiled)?,
        };
        let values = endpoint.compiled.encode_all(inputs)?;
        let (told, untold) = (Tally::new(progress), Tally::new(&|_, _| {}));
        let start = Instant::now();
        let part = |me: usize, mesh, store: Option<&mut Store>| {
            let inputs = endpoint.compiled.inputs_of(&endpoint.participants, me, &values);
            let tally = if me == 0 { &told } else { &untold };
            let mut observer: Told<'_> = tally.lane();
            match store {
                Some(store) => play_stored(&endpoint, mesh, store, inputs, &mut observer)
                    .map(|(outcome, traffic, instance)| (outcome, traffic, Some(instance))),
                None => play(&endpoint, mesh, inputs, &mut observer)
                    .map(|(outcome, traffic)| (outcome, traffic, None)),
            }
        };
        let clients = endpoint.clients.len();
        let seats = stores.iter_mut().map(Some).chain((0..clients).map(|_| None));
        let parts = all_of(together(&endpoint, clients, seats, part))?;
        let players = players(endpoint.protocol, &self.parties);
        let comparison = comparison(&self.protocol, endpoint.protocol)?;
        let elapsed = start.elapsed();
        let material = parts.iter().find_map(|(.., instance)| *instance);
        let names = [self.parties.clone(), endpoint.clients.clone()].concat();
        let parts = parts.into_iter().map(|(outcome, traffic, _)| Ok(vec![(outcome, traffic)])).collect();
        let report = Report { elapsed, players, comparison, material, ..Report::default() };
        let (outputs, report) = collect(&names, 1, parts, &report)?.swap_remove(0);
        Ok(Run { outputs: endpoint.compiled.decode_all(&outputs)?, report })
    }
}

/// Plays a party's part from the handshake to the end, as [`play`] does, on an instance of the material in `store`.
/// Clients [`play`] theirs as ever.
///
/// # Errors
/// [`Error::Refused`] before anything is sent if the store is for something else; else as [`Seat::run_stored`].
pub fn play_stored(
    endpoint: &Endpoint,
    mesh: Mesh,
    store: &mut Store,
    inputs: Vec<Option<Clear>>,
    observer: &mut dyn Observer,
) -> Result<(Outcome, Traffic, Instance), Error> {
    refuse_other(endpoint, mesh.me(), store)?;
    let mut session = establish(endpoint, mesh, endpoint.agreement())?;
    let instance = agree_stored(endpoint, &mut session, store)?;
    let material = match take(store, instance) {
        Ok(material) => material,
        Err(error) => {
            session.abort(&error.to_string());
            return Err(error);
        }
    };
    let mut once = Once::new(inputs);
    match party(endpoint, session, Source::Material(material), &mut once, observer) {
        Ok((rounds, traffic)) => Ok((Outcome { outputs: once.outputs, rounds }, traffic, instance)),
        // Pass or fail tells a bit of what was checked; nobody may ask again.
        Err(failed) if failed.is_failed_check() => match store.destroy(instance.epoch) {
            Ok(()) => Err(failed),
            Err(cause) => Err(Error::NotDestroyed { failed: Box::new(failed), cause }),
        },
        Err(error) => Err(error),
    }
}
