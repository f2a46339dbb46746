//! What sessions make for runs to come, and how it comes onto the disks of all parties or of none.

use crate::auto_select::players;
use crate::error::{Error, aborted};
use crate::report::Comparison;
use std::time::Duration;
use tacit_engine::Protocol;
use tacit_engine::supply::{Stock, SupplyKind};
use tacit_net::Phase;
use tacit_program::cost::Cost;
use tacit_session::Session;
use tacit_store::{Epoch, Store, Writer};

/// What an offline session made, at one party.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The party.
    pub party: String,
    /// The session's identity, by which all parties call what it made.
    pub epoch: Epoch,
    /// How many instances, each for one run; none of supplies that any program draws from.
    pub instances: u64,
    /// The supplies that were made for any program; none if there were enough already.
    pub supplies: Vec<(SupplyKind, u64)>,
    /// Bytes that they take on this party's disk.
    pub disk_bytes: u64,
    /// What this party sent, by link.
    pub links: Vec<Sent>,
    /// From the handshake until all was on disk everywhere.
    pub elapsed: Duration,
    /// The names of those who play `P_0`, `P_1` and so on in runs on it; empty if the protocol's parties are all alike.
    pub players: Vec<String>,
    /// How numbers are compared in runs on it, if that was left to the network.
    pub comparison: Option<Comparison>,
}

/// Payload bytes that went by a link, the handshake left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The receiver.
    pub to: String,
    /// Bytes as they were counted.
    pub bytes: u64,
    /// Bytes as [`price_offline`](crate::price_offline) has them; nothing of supplies.
    pub declared: Option<u64>,
}

/// What a session made at a party, of which the cost is declared.
pub(crate) fn prepared(
    protocol: &dyn Protocol,
    parties: &[String],
    me: usize,
    made: &Made,
    declared: Option<&Cost>,
    elapsed: Duration,
) -> Prepared {
    let to = |peer: usize| {
        let bytes = |declared: &Cost| {
            let links = declared.phases().flat_map(|(_, cost)| &cost.links);
            links.filter(|link| (link.from, link.to) == (me, peer)).map(|link| link.bytes).sum()
        };
        Sent { to: parties[peer].clone(), bytes: made.sent[peer], declared: declared.map(bytes) }
    };
    Prepared {
        party: parties[me].clone(),
        epoch: made.epoch,
        instances: 0,
        supplies: Vec::new(),
        disk_bytes: made.disk_bytes,
        links: (0..parties.len()).filter(|&peer| peer != me).map(to).collect(),
        elapsed,
        players: players(protocol, parties),
        comparison: None,
    }
}

/// The store that a session fills.
pub(crate) trait Filled {
    /// Does something with it, and waits for no peer meanwhile.
    fn with<T>(&mut self, act: impl FnOnce(&mut Store) -> T) -> T;

    /// Takes away an epoch that was finished and that others may lack.
    fn take_back(&mut self, epoch: Epoch) -> Result<(), tacit_store::Error>;
}

impl Filled for Store {
    fn with<T>(&mut self, act: impl FnOnce(&mut Store) -> T) -> T {
        act(self)
    }

    fn take_back(&mut self, epoch: Epoch) -> Result<(), tacit_store::Error> {
        self.destroy(epoch)
    }
}

/// Others draw from it meanwhile.
impl Filled for &Stock {
    fn with<T>(&mut self, act: impl FnOnce(&mut Store) -> T) -> T {
        Stock::with(self, act)
    }

    /// Not from under a run, which draws from it only if all parties have it. What some lack goes after the next filling.
    fn take_back(&mut self, epoch: Epoch) -> Result<(), tacit_store::Error> {
        self.discard(&[epoch]).map(|_| ())
    }
}

/// What a party has at the end of an offline session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The session's identity.
    pub epoch: Epoch,
    /// Bytes on disk.
    pub disk_bytes: u64,
    /// Payload bytes sent, by party, without those of the handshake.
    pub sent: Vec<u64>,
}

/// Puts what was written onto disk, and once all parties have it there, to use.
pub(crate) fn finish(
    session: &mut Session,
    mut writer: Writer,
    store: &mut impl Filled,
) -> Result<(), Error> {
    let ended = |session: &mut Session, error: tacit_store::Error| {
        session.abort(&error.to_string());
        Error::from(error)
    };
    writer.sync().map_err(|error| ended(session, error))?;
    // Bound to the session, and so to all that was agreed on: program, protocol, parameters, count.
    session.accept(b"offline").map_err(|error| aborted(error.into()))?;
    store.with(|store| writer.finish(store)).map_err(|error| ended(session, error))?;
    Ok(())
}

/// Waits until all parties say that what they made can be used; else takes it away again.
pub(crate) fn confirm(session: &mut Session, store: &mut impl Filled, epoch: Epoch) -> Result<Made, Error> {
    if let Err(error) = session.barrier() {
        store.take_back(epoch)?;
        return Err(aborted(error.into()));
    }
    let disk_bytes = store.with(|store| store.bytes_of(epoch))?;
    let counters = session.mesh().counters();
    let phases = || Phase::ALL.into_iter().filter(|phase| *phase != Phase::Setup);
    let to = |peer| phases().map(|phase| counters.with_peer(phase, peer).sent_bytes).sum();
    Ok(Made { epoch, disk_bytes, sent: (0..session.parties()).map(to).collect() })
}
