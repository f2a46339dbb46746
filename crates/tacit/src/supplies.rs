//! Supplies: sessions that fill stores with what any program draws from, and runs that draw from them.

use crate::endpoint::{Endpoint, parameters_of};
use crate::offline::{Made, aborted, confirm, finish};
use crate::{Error, StorePath};
use std::fmt::Write;
use tacit_engine::Protocol;
use tacit_engine::supply::{Stock, SupplyKind, fill};
use tacit_net::{Mesh, Phase};
use tacit_session::{Agreement, OsEntropy, Session};
use tacit_store::{Binding, Epoch, Store};

impl StorePath {
    /// Opens a party's store of supplies for a protocol, and makes it first if there is none. One process at a time can
    /// have it open.
    ///
    /// # Errors
    /// [`Error::Store`], for a store of something else too.
    pub fn open_supplies(
        &self,
        protocol: &dyn Protocol,
        parties: &[String],
        me: usize,
    ) -> Result<Store, Error> {
        Ok(Store::create(&self.store, &self.anchors, &binding(protocol, parties, me))?)
    }
}

/// What a party's supplies are good for: any program that the same parties run under the protocol.
fn binding(protocol: &dyn Protocol, parties: &[String], me: usize) -> Binding {
    Binding {
        me: parties[me].clone(),
        parties: parties.to_vec(),
        clients: Vec::new(),
        protocol: protocol.spec().name.to_owned(),
        parameters: parameters_of(protocol),
        plan: None,
    }
}

/// Plays a party's part in a session that makes so many items of each kind, and puts them into a store of supplies: an
/// epoch under one key. All have it or none, as of [`play_offline`](crate::play_offline).
///
/// # Errors
/// [`Error::Refused`] if the protocol has no supplies, or for another store; else the first failure, which ends the session
/// for all.
pub fn play_fill(
    protocol: &dyn Protocol,
    parties: &[String],
    mesh: Mesh,
    wanted: &[(SupplyKind, u64)],
    store: &mut Store,
) -> Result<Made, Error> {
    if !store.is_for(&binding(protocol, parties, mesh.me())) {
        return Err(other());
    }
    let agreement = agreement(protocol, parties, wanted);
    let session = Session::establish(mesh, agreement, Box::new(OsEntropy));
    let mut session = session.map_err(|error| aborted(error.into()))?;
    let epoch = Epoch(*session.id());
    session.mesh().set_phase(Phase::Offline);
    let made = made(protocol, &mut session, wanted, store, epoch)
        .inspect_err(|error| session.abort(&error.to_string()))?;
    // Whoever is lost from here on has everything, too.
    let _ = session.close();
    Ok(made)
}

fn made(
    protocol: &dyn Protocol,
    session: &mut Session,
    wanted: &[(SupplyKind, u64)],
    store: &mut Store,
    epoch: Epoch,
) -> Result<Made, Error> {
    let mut supply = protocol.live_supply(session).map_err(aborted)?;
    let mut writer = store.writer(epoch)?;
    let filled = fill(supply.as_mut(), session, wanted, &mut writer);
    filled.map_err(|cause| aborted(cause).in_check(session.is_challenged()))?;
    finish(session, writer)?;
    confirm(session, store, epoch)
}

/// What is agreed on by those who fill stores. No run goes with it.
fn agreement(protocol: &dyn Protocol, parties: &[String], wanted: &[(SupplyKind, u64)]) -> Agreement {
    let mut parameters = parameters_of(protocol) + ", supplies only";
    for (kind, count) in wanted {
        let _ = write!(parameters, ", {count} {kind}");
    }
    Agreement::among(parties.to_vec(), protocol.spec().name, parameters)
}

/// Refuses supplies that are for something else.
pub(crate) fn refuse_other_stock(endpoint: &Endpoint, me: usize, stock: &Stock) -> Result<(), Error> {
    let is_mine =
        me < endpoint.parties.len() && stock.is_for(&binding(endpoint.protocol, &endpoint.parties, me));
    if is_mine { Ok(()) } else { Err(other()) }
}

fn other() -> Error {
    Error::Refused(
        "the store was opened for a program, or for supplies of another protocol or list of parties"
            .to_owned(),
    )
}
