//! Fresh shares of a kept value: what an old copy of one party's folder and a new one of another's hold doesn't combine.
//!
//! All parties take part, and nobody else; no program is run. The fresh shares are those of the next version, with
//! the same uses. Before they are put away all make sure that they are of the same value ([`Protocol::same`]). The old version
//! is dropped by each party in the same change in which it settles the new one. So it
//! is where MACs move to the key of another epoch: a value is under one key at a time, whatever happens.

use super::about::About;
use super::exchange::{AllTold, Message, begin, make_room, put_away, taken};
use super::values::State;
use super::wanted::Wanted;
use crate::deployment::Seat;
use crate::endpoint::parameters_of;
use crate::error::{Error, aborted};
use crate::kept::StorePath;
use crate::local::{Local, all_of, together};
use crate::material::part;
use crate::registry::protocol;
use std::time::Duration;
use tacit_engine::supply::Stock;
use tacit_engine::{Error as Cause, KeptShare, Protocol};
use tacit_net::Mesh;
use tacit_session::{Agreement, OsEntropy, Session};
use tacit_store::KeptStanding as Standing;
use tacit_store::Store;

impl Seat {
    /// Gives the newest value of a name fresh shares, together with all other parties, within such a time: the next version of
    /// the name, as `weights@4`, with the same uses, under the protocol and in the roles in which it was kept. The old version is
    /// dropped.
    ///
    /// # Errors
    /// [`Error::Refused`], by all parties, if the value isn't there or isn't the same everywhere, or is shared otherwise.
    pub fn refresh(&mut self, state: &mut State, name: &str, within: Duration) -> Result<String, Error> {
        self.refuse_keeper()?;
        self.refreshed(state, name, None, within)
    }

    /// As [`Seat::refresh`], and moves the value's MACs from the key of its epoch to that of another one in this
    /// party's store of supplies: one that values are under already, if one has as many masks. It takes a mask of
    /// each party for each element and one more there, and one of the old epoch.
    ///
    /// # Errors
    /// As [`Seat::refresh`]; [`Error::Refused`] also if the store lacks the value's epoch; [`Error::NoMaterial`] if one epoch or the
    /// other has too few masks. A check that fails destroys the epoch under whose key it was, with all values under it.
    pub fn rekey(
        &mut self,
        state: &mut State,
        name: &str,
        place: &StorePath,
        within: Duration,
    ) -> Result<String, Error> {
        self.refuse_keeper()?;
        let (protocol, me) = (protocol(&state.sharing(name)?)?, self.config().me());
        let stock = Stock::new(place.supplies(&*protocol, &self.parties(), me, Store::open)?);
        self.refreshed(state, name, Some(&stock), within)
    }

    fn refreshed(
        &mut self,
        state: &mut State,
        name: &str,
        stock: Option<&Stock>,
        within: Duration,
    ) -> Result<String, Error> {
        let protocol = protocol(&state.sharing(name)?)?;
        let parties = self.parties();
        self.counted(|seat| {
            let mesh = seat.gather(&[], 1, within)?.swap_remove(0);
            play_refresh(&*protocol, &parties, mesh, name, state, stock)
        })
    }
}

impl Local {
    /// Gives the newest value of a name fresh shares, at all parties. Else as [`Seat::refresh`].
    ///
    /// # Errors
    /// As [`Seat::refresh`].
    pub fn refresh(&self, states: &mut [State], name: &str) -> Result<String, Error> {
        let protocol = protocol(&self.protocol)?;
        let play = |mut meshes: Vec<Mesh>, state: &mut State| {
            play_refresh(&*protocol, &self.parties, meshes.swap_remove(0), name, state, None)
        };
        one(all_of(together(&self.parties, &[], 1, states, play))?)
    }

    /// As [`Local::refresh`], and moves the value's MACs to the key of another epoch, of stores as [`Local::stock`]
    /// fills. Else as [`Seat::rekey`].
    ///
    /// # Errors
    /// As [`Seat::rekey`].
    pub fn rekey(&self, states: &mut [State], name: &str, place: &StorePath) -> Result<String, Error> {
        let protocol = protocol(&self.protocol)?;
        let open = |(me, party): (usize, &String)| {
            place.of(party).supplies(&*protocol, &self.parties, me, Store::open).map(Stock::new)
        };
        let stocks = self.parties.iter().enumerate().map(open).collect::<Result<Vec<_>, _>>()?;
        let play = |mut meshes: Vec<Mesh>, (state, stock): (&mut State, &Stock)| {
            play_refresh(&*protocol, &self.parties, meshes.swap_remove(0), name, state, Some(stock))
        };
        one(all_of(together(&self.parties, &[], 1, states.iter_mut().zip(&stocks), play))?)
    }
}

/// What all parties come to.
fn one(mut fresh: Vec<String>) -> Result<String, Error> {
    fresh.pop().ok_or_else(|| Error::Refused("there are no parties".to_owned()))
}

/// Plays a party's part in giving the newest value of a name fresh shares, and, if there is a stock, MACs under the
/// key of another epoch. What it is then, as `weights@4`.
///
/// # Errors
/// As [`Seat::refresh`] or [`Seat::rekey`].
pub fn play_refresh(
    protocol: &dyn Protocol,
    parties: &[String],
    mesh: Mesh,
    name: &str,
    state: &mut State,
    stock: Option<&Stock>,
) -> Result<String, Error> {
    refresh_as("", protocol, parties, mesh, name, state, stock)
}

/// The same, of a session that all call so besides.
///
/// # Errors
/// As [`play_refresh`].
pub(crate) fn refresh_as(
    words: &str,
    protocol: &dyn Protocol,
    parties: &[String],
    mesh: Mesh,
    name: &str,
    state: &mut State,
    stock: Option<&Stock>,
) -> Result<String, Error> {
    let mut parameters = parameters_of(protocol) + &format!(", fresh shares of {name:?}{words}");
    if stock.is_some() {
        parameters += " under another key";
    }
    let agreement = Agreement::among(parties.to_vec(), protocol.spec().name, parameters);
    let session = Session::establish(mesh, agreement, Box::new(OsEntropy));
    let mut session = session.map_err(|error| aborted(error.into()))?;
    let fresh = refreshed(protocol, parties, &mut session, name, state, stock)
        .inspect_err(|error| session.abort(&error.to_string()))?;
    // Whoever is lost from here on has everything, too.
    let _ = session.close();
    Ok(fresh)
}

fn refreshed(
    protocol: &dyn Protocol,
    parties: &[String],
    session: &mut Session,
    name: &str,
    state: &mut State,
    stock: Option<&Stock>,
) -> Result<String, Error> {
    let wanted = Wanted { name: name.to_owned(), version: None, rows: Vec::new() };
    let told = AllTold::exchange(session, parties, &Message::new(state, vec![wanted.clone()], &[]), 0)?;
    told.level(session, state, name)?;
    let agreed = told.picked(&wanted).and_then(|number| {
        let gone = || format!("{name}@{number} is gone");
        let about = &state.version(name, number).ok_or_else(gone)?.about;
        match about.foreign(protocol, parties) {
            Some(refusal) => Err(refusal),
            None => Ok((number, about.refreshed(told.next(name)?, *session.id()))),
        }
    });
    let (number, about) = agreed.map_err(|reason| part(session, Error::Refused(reason)))?;
    let values = [(name.to_owned(), number)];
    let share = taken(session, state, &values)?.swap_remove(0);
    begin(session, state, &told, &values)?;
    make_room(session, state, &told, (name, number), about.version)?;
    let fresh = match stock {
        None => protocol.refresh(session, &share).map_err(aborted)?,
        Some(stock) => rekeyed(protocol, session, &share, stock)?,
    };
    // Before they are put away: what all have put away counts, whoever ends then.
    protocol.same(session, &share, &fresh).map_err(aborted)?;
    let about = About { key: fresh.key, ..about };
    Ok(put_away(session, state, vec![(about, Some(number), fresh)])?.swap_remove(0))
}

/// The share under the key of another epoch of a stock.
///
/// # Security
/// A check that has begun and doesn't pass destroys its own epoch. What ends before one begins, also by a comparison that fails, tells
/// nobody anything of a key: what was compared is all uniform, and what a party that deviates has sent it knows.
fn rekeyed(
    protocol: &dyn Protocol,
    session: &mut Session,
    share: &KeptShare,
    stock: &Stock,
) -> Result<KeptShare, Error> {
    let no_key = || Cause::Refused("it has no MACs, and so no key: refresh it without a store".to_owned());
    let pair = share.key.ok_or_else(no_key).and_then(|key| stock.pair(key));
    let pair = pair.map_err(|refused| part(session, Error::Refused(refused.to_string())));
    let [mut from, mut to] = pair?;
    let fresh = protocol.rekey(session, share, &mut from, &mut to);
    fresh.map_err(|cause| match cause {
        Cause::NoMaterial(none) => Error::NoMaterial(none),
        cause => aborted(cause).in_check(session.is_challenged()),
    })
}

impl State {
    /// How the newest value of a name that this party has is shared: the protocol's name, with its roles.
    pub(crate) fn sharing(&self, name: &str) -> Result<String, Error> {
        let versions = self.names.get(name).map(|name| name.versions.values().rev());
        let newest = versions.into_iter().flatten().find(|version| version.standing != Standing::Dropped);
        let nothing = || Error::Refused(format!("nothing is kept under the name {name:?}"));
        newest.map(|version| version.about.sharing.clone()).ok_or_else(nothing)
    }
}
