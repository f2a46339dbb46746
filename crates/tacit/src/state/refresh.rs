//! Fresh shares of a kept value: what an old copy of one party's folder and a new one of another's hold doesn't combine.
//!
//! All parties take part, and nobody else; no program is run. The fresh shares are those of the next version, with the same uses.
//! The old version is dropped by each party in the same change in which it settles the new one.

use super::exchange::{AllTold, Message, put_away, taken};
use super::wanted::Wanted;
use super::{Standing, State};
use crate::endpoint::parameters_of;
use crate::local::{all_of, together};
use crate::material::part;
use crate::offline::aborted;
use crate::{Error, Local, Seat, protocol};
use std::time::Duration;
use tacit_engine::Protocol;
use tacit_net::Mesh;
use tacit_session::{Agreement, OsEntropy, Session};

impl Seat {
    /// Gives the newest value of a name fresh shares, together with all other parties, within such a time: the next version of
    /// the name, as `weights@4`, with the same uses, under the protocol and in the roles in which it was kept. The old version is
    /// dropped.
    ///
    /// # Errors
    /// [`Error::Refused`], by all parties, if the value isn't there or isn't the same everywhere, or is shared otherwise.
    pub fn refresh(&mut self, state: &mut State, name: &str, within: Duration) -> Result<String, Error> {
        self.refuse_keeper()?;
        let protocol = protocol(&state.sharing(name)?)?;
        let parties = self.parties();
        self.counted(|seat| {
            let mesh = seat.gather(&[], 1, within)?.swap_remove(0);
            play_refresh(&*protocol, &parties, mesh, name, state)
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
            play_refresh(&*protocol, &self.parties, meshes.swap_remove(0), name, state)
        };
        let mut fresh = all_of(together(&self.parties, &[], 1, states, play))?;
        fresh.pop().ok_or_else(|| Error::Refused("there are no parties".to_owned()))
    }
}

/// Plays a party's part in giving the newest value of a name fresh shares. What it is then, as `weights@4`.
///
/// # Errors
/// As [`Seat::refresh`].
pub fn play_refresh(
    protocol: &dyn Protocol,
    parties: &[String],
    mesh: Mesh,
    name: &str,
    state: &mut State,
) -> Result<String, Error> {
    let parameters = parameters_of(protocol) + &format!(", fresh shares of {name:?}");
    let agreement = Agreement::among(parties.to_vec(), protocol.spec().name, parameters);
    let session = Session::establish(mesh, agreement, Box::new(OsEntropy));
    let mut session = session.map_err(|error| aborted(error.into()))?;
    let fresh = refreshed(protocol, parties, &mut session, name, state)
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
) -> Result<String, Error> {
    let wanted = Wanted { name: name.to_owned(), version: None, rows: Vec::new() };
    state.admit(name)?;
    let told = AllTold::exchange(session, parties, &Message::new(state, vec![wanted.clone()], &[]), 0)?;
    let agreed = told.picked(&wanted).and_then(|number| {
        let gone = || format!("{name}@{number} is gone");
        let about = &state.version(name, number).ok_or_else(gone)?.about;
        match about.foreign(protocol, parties) {
            Some(refusal) => Err(refusal),
            None => Ok((number, about.refreshed(told.next(name)?, *session.id()))),
        }
    });
    let (number, about) = agreed.map_err(|reason| part(session, Error::Refused(reason)))?;
    let passable = told.passable([(name, number)].into_iter());
    let share = taken(session, state, &[(name.to_owned(), number)], &passable)?.swap_remove(0);
    let fresh = protocol.refresh(session, &share).map_err(aborted)?;
    Ok(put_away(session, state, vec![(about, Some(number), fresh)])?.swap_remove(0))
}

impl State {
    /// How the newest value of a name that this party has is shared: the protocol's name, with its roles.
    fn sharing(&self, name: &str) -> Result<String, Error> {
        let versions = self.names.get(name).map(|name| name.versions.values().rev());
        let newest = versions.into_iter().flatten().find(|version| version.standing != Standing::Dropped);
        let nothing = || Error::Refused(format!("nothing is kept under the name {name:?}"));
        newest.map(|version| version.about.sharing.clone()).ok_or_else(nothing)
    }
}
