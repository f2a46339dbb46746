//! Offline sessions: the parties make material for runs to come, and each keeps its own in a store.

use crate::auto_select::{Negotiation, comparison};
use crate::compiled::Compiled;
use crate::deployment::Seat;
use crate::endpoint::{Endpoint, establish, in_check};
use crate::error::{Error, aborted};
use crate::filling::Filling;
use crate::kept::{StorePath, has_stocks};
use crate::local::{Local, all_of, together};
use crate::made::{Made, Prepared, confirm, finish, prepared};
use crate::material::{refuse_other, two_phases};
use crate::price::{price, price_offline};
use crate::progress::{Progress, Tally};
use crate::registry::Chosen;
use crate::report::Making;
use std::sync::Arc;
use std::time::Instant;
use tacit_engine::{Engine, Error as Cause, Material, Observer, Protocol, executor};
use tacit_net::Mesh;
use tacit_session::Agreement;
use tacit_store::{Epoch, Store, WHOLE, Writer};

impl Seat {
    /// Makes material for `count` runs of a program, together with all other parties; clients aren't needed. If the protocol
    /// draws from supplies, it makes as much of them as the runs draw, in an epoch that any program can draw from. It is in
    /// the stores of all when this returns, and the store is made if it isn't there.
    ///
    /// If the protocol's name leaves something to the network ([`is_open`](crate::is_open)), it is as in the stores
    /// of those that have one; if nobody has, the network is measured first. Runs on the material go by it.
    ///
    /// # Errors
    /// [`Error::Refused`] on a client's seat, for a protocol without an offline phase, or for no instances or more than
    /// fit in one session, or if parties' stores were made for different roles or comparisons; [`Error::Store`]. Of an
    /// offline session that fails nothing is kept.
    pub fn offline(
        &mut self,
        compiled: &Arc<Compiled>,
        protocol_name: &str,
        count: u64,
        place: &StorePath,
        progress: Progress<'_>,
    ) -> Result<Prepared, Error> {
        self.counted(|seat| seat.offline_once(compiled, protocol_name, count, place, progress))
    }

    fn offline_once(
        &mut self,
        compiled: &Arc<Compiled>,
        protocol_name: &str,
        count: u64,
        place: &StorePath,
        progress: Progress<'_>,
    ) -> Result<Prepared, Error> {
        let chosen = &Chosen::of(protocol_name)?;
        let mut endpoint = self.party_endpoint(compiled, chosen)?;
        if has_stocks(&*endpoint.protocol, &endpoint.parties) {
            let filling = Filling::for_runs([&endpoint], count)?;
            let prepared = self.stock_once(&*endpoint.protocol, &filling, place, progress)?;
            return Ok(Prepared { instances: count, ..prepared });
        }
        check_count(&endpoint, count)?;
        let (me, is_open) = (self.config().me(), !chosen.open.is_empty());
        let made = place.made(&endpoint, chosen, me)?;
        let store = match &made {
            Some(made) => Some(place.create(made, me)?),
            None if is_open => None,
            None => Some(place.create(&endpoint, me)?),
        };
        let within = self.config().limits().connect;
        let mut mesh = self.gather(&[], 1, within)?.swap_remove(0);
        let start = Instant::now();
        let mut comparison = None;
        if is_open {
            let made = made.map(|made| made.protocol);
            let settling =
                Negotiation { endpoint: &endpoint, chosen, making: Making::Offline, made, measured: None };
            let price = |name: &str| Ok(price(compiled, name, &endpoint.parties)?.total);
            let settled;
            (mesh, settled) = settling.negotiate(mesh, agreement(&endpoint, count), price)?;
            endpoint = endpoint.under(settled.protocol)?;
            comparison = settled.comparison;
        }
        let store = store.map_or_else(|| place.create(&endpoint, me), Ok);
        let mut store = match store {
            Ok(store) => store,
            Err(error) => {
                mesh.abort(&error.to_string());
                return Err(error);
            }
        };
        let tally = Tally::new(progress);
        let declared = price_offline(compiled, &name_of(&*endpoint.protocol), &endpoint.parties, count)?;
        let made = play_offline(&endpoint, mesh, count, &mut store, &mut tally.lane())?;
        let (protocol, parties) = (&*endpoint.protocol, &endpoint.parties);
        let prepared = prepared(protocol, parties, me, &made, Some(&declared), start.elapsed());
        Ok(Prepared { comparison, instances: count, ..prepared })
    }
}

impl Local {
    /// Makes material for `count` runs of a program, each party in a store of its own under the place's
    /// ([`StorePath::simulated`]): what each made. Else as [`Seat::offline`].
    ///
    /// # Errors
    /// As [`Seat::offline`].
    pub fn offline(
        &self,
        compiled: &Arc<Compiled>,
        count: u64,
        place: &StorePath,
        progress: Progress<'_>,
    ) -> Result<Vec<Prepared>, Error> {
        let (mut endpoint, chosen) = (self.endpoint(compiled)?, Chosen::of(&self.protocol)?);
        if has_stocks(&*endpoint.protocol, &self.parties) {
            let made = self.stock(&Filling::for_runs([&endpoint], count)?, place, progress)?;
            return Ok(made.into_iter().map(|made| Prepared { instances: count, ..made }).collect());
        }
        check_count(&endpoint, count)?;
        if let Some(first) = self.parties.first()
            && let Some(made) = place.of(first).made(&endpoint, &chosen, 0)?
        {
            endpoint = made;
        }
        let declared = price_offline(compiled, &name_of(&*endpoint.protocol), &self.parties, count)?;
        let open = |(me, name): (usize, &String)| place.of(name).create(&endpoint, me);
        let mut stores = self.parties.iter().enumerate().map(open).collect::<Result<Vec<_>, _>>()?;
        let (told, untold) = (Tally::new(progress), Tally::new(&|_, _| {}));
        let start = Instant::now();
        let play = |mut meshes: Vec<Mesh>, store: &mut Store| {
            let tally = if meshes[0].me() == 0 { &told } else { &untold };
            play_offline(&endpoint, meshes.swap_remove(0), count, store, &mut tally.lane())
        };
        let made = all_of(together(&self.parties, &[], 1, stores.iter_mut(), play))?;
        let elapsed = start.elapsed();
        let comparison = comparison(&chosen, &*endpoint.protocol);
        let prepared = |(me, made)| Prepared {
            comparison: comparison.clone(),
            instances: count,
            ..prepared(&*endpoint.protocol, &self.parties, me, made, Some(&declared), elapsed)
        };
        Ok(made.iter().enumerate().map(prepared).collect())
    }
}

/// A name of a protocol with all its parameters.
fn name_of(protocol: &dyn Protocol) -> String {
    format!("{} {}", protocol.spec().name, protocol.parameter_values())
}

/// What is agreed on by those who make material. A run, or a run's client, doesn't go with it.
fn agreement(endpoint: &Endpoint, count: u64) -> Agreement {
    let agreement = endpoint.agreement();
    let parameters = agreement.parameters + ", offline phase only";
    Agreement { instances: count, parameters, ..agreement }
}

/// Refuses numbers of instances that an offline session can't make.
fn check_count(endpoint: &Endpoint, count: u64) -> Result<(), Error> {
    two_phases(&*endpoint.protocol)?;
    if endpoint.compiled.is_debug() {
        return Err(Error::Refused("a debug run takes no material that was made ahead of time".to_owned()));
    }
    // Every instance has addresses of its own.
    let most = u64::from(u32::MAX) / u64::from(endpoint.compiled.plan().addresses().max(1));
    if (1..=most).contains(&count) {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "one offline session makes material for 1 to {most} runs of this program, not for {count}"
    )))
}

/// Plays a party's part in an offline session over links to the other parties, and puts what it makes into `store`.
///
/// Nobody can use any of it before all parties have said that they have everything on disk, and each takes it away again
/// unless all then say that it can be used. So all have the epoch or none, but for one that dies in between: what others
/// lack, no run agrees on.
///
/// # Errors
/// The first failure, which ends the session for all.
pub fn play_offline(
    endpoint: &Endpoint,
    mesh: Mesh,
    count: u64,
    store: &mut Store,
    observer: &mut dyn Observer,
) -> Result<Made, Error> {
    refuse_other(endpoint, mesh.me(), store)?;
    let session = establish(endpoint, mesh, agreement(endpoint, count))?;
    let epoch = Epoch(*session.id());
    let plan = endpoint.compiled.plan().clone();
    let mut engine =
        endpoint.protocol.engine(session, plan, endpoint.participants.clone()).map_err(aborted)?;
    let mut writer = match store.writer(epoch) {
        Ok(writer) => writer,
        Err(error) => {
            engine.session().into_iter().for_each(|session| session.abort(&error.to_string()));
            return Err(error.into());
        }
    };
    make(endpoint, engine.as_mut(), count, &mut writer, observer)
        .map_err(|error| in_check(error, engine.as_mut()))?;
    let Some(session) = engine.session() else {
        return Err(Error::Refused("an engine without a session makes nothing".to_owned()));
    };
    finish(session, writer, store)?;
    let made = confirm(session, store, epoch)?;
    // Whoever is lost from here on has everything, too.
    let _ = engine.close();
    Ok(made)
}

/// Walks the plan as often as there are to be instances, and writes what comes of it.
fn make(
    endpoint: &Endpoint,
    engine: &mut dyn Engine,
    count: u64,
    writer: &mut Writer,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    let mut unwritten = None;
    let mut keep = |material: Material| {
        let mut bytes = material.into_buffer();
        let written = writer.put(WHOLE, bytes.bytes());
        bytes.wipe();
        written.map_err(|error| {
            let reason = Cause::Refused(error.to_string());
            unwritten = Some(error);
            reason
        })
    };
    let done = executor::run_offline(engine, endpoint.compiled.plan(), count, &mut keep, observer);
    match (unwritten, done) {
        (Some(error), _) => Err(error.into()),
        (None, done) => done.map_err(|cause| endpoint.compiled.aborted(cause)),
    }
}
