//! A party's kept values in one run: what it reads is agreed on before anything is computed, what it keeps when all is checked.

use super::exchange::{AllTold, Message, put_away, settle, taken};
use super::wanted::Wanted;
use super::{About, Fill, Residents, State};
use crate::Error;
use crate::endpoint::Endpoint;
use crate::material::part;
use crate::offline::aborted;
use std::sync::Arc;
use tacit_engine::KeptShare;
use tacit_program::Keep;
use tacit_session::Session;

/// What a party's run reads, and where what it keeps goes.
pub(crate) struct Keeping<'a> {
    state: &'a mut State,
    /// Its shares of what the plan reads, in the plan's order.
    pub(crate) shares: Vec<Arc<KeptShare>>,
    /// What is read, as `weights@3`, by the program's names.
    pub(crate) read: Vec<(String, String)>,
    /// The key that all MACs are under, if there are any.
    pub(crate) key: Option<[u8; 32]>,
    /// What is kept, under the names that the run says, and what each will be, in the plan's order.
    keeps: Vec<Keep>,
    next: Vec<Next>,
}

/// A version to come.
struct Next {
    number: u64,
    /// The programs that may keep the one after it.
    writers: Vec<[u8; 32]>,
    /// The one before, if any is left.
    after: Option<u64>,
}

/// Why a run that keeps values or reads kept ones is refused where there is no [`State`].
pub const NO_STATE: &str = "the program keeps values or reads kept ones; say where this party keeps them: `--state FOLDER`, or \
    `state=` in Python";

/// Refuses what has to have state and has none.
///
/// # Errors
/// [`Error::Refused`], which says how to name one.
pub(crate) fn refuse_homeless(endpoint: &Endpoint) -> Result<(), Error> {
    if !endpoint.compiled.has_residents() {
        return Ok(());
    }
    Err(Error::Refused(NO_STATE.to_owned()))
}

/// What a program keeps, under the names that a run says.
fn renamed(endpoint: &Endpoint, fill: &Fill) -> Result<Vec<Keep>, Error> {
    let mut keeps = endpoint.compiled.program().keeps().to_vec();
    for keep in &mut keeps {
        if let Some(name) = fill.get(&keep.name) {
            let wanted = Wanted::parse(name)?;
            if wanted.version.is_some() || !wanted.rows.is_empty() {
                return Err(Error::Refused(format!(
                    "{name:?} is no name for what is kept: it has a version or rows"
                )));
            }
            keep.name.clone_from(name);
        }
    }
    for (at, keep) in keeps.iter().enumerate() {
        if keeps[..at].iter().any(|other| other.name == keep.name) {
            return Err(Error::Refused(format!("two values of one run would be kept as {:?}", keep.name)));
        }
    }
    Ok(keeps)
}

/// What is to fill each slot of an endpoint's program.
fn slots(endpoint: &Endpoint, fill: &Fill) -> Result<Vec<Wanted>, Error> {
    let program = endpoint.compiled.program();
    let kept = program.kept();
    let reads = |name: &String| kept.iter().any(|slot| slot.name == *name);
    let keeps = |name: &String| program.keeps().iter().any(|keep| keep.name == *name);
    if let Some(both) = fill.keys().find(|name| reads(name) && keeps(name)) {
        return Err(Error::Refused(format!(
            "the program both reads and keeps {both:?}: fill it as it is called"
        )));
    }
    if let Some(unknown) = fill.keys().find(|name| !reads(name) && !keeps(name)) {
        return Err(Error::Refused(format!("the program reads no kept value that it calls {unknown:?}")));
    }
    kept.iter().map(|slot| Wanted::parse(fill.get(&slot.name).unwrap_or(&slot.name))).collect()
}

impl<'a> Keeping<'a> {
    /// Agrees with the other parties on what fills each slot, and on the versions of what will be kept; every party holds it
    /// against the program, and what it may be used for. Three rounds in the setup; nothing secret is sent.
    ///
    /// # Errors
    /// [`Error::Refused`], by all parties and with the value's name.
    pub(crate) fn agree(
        endpoint: &Endpoint,
        session: &mut Session,
        residents: Residents<'a>,
    ) -> Result<Self, Error> {
        let Residents { state, fill, .. } = residents;
        let named = slots(endpoint, fill).and_then(|slots| {
            let keeps = renamed(endpoint, fill)?;
            admit(endpoint, session, state, &keeps)?;
            Ok((slots, keeps))
        });
        let (slots, keeps) = named.inspect_err(|refused| session.abort(&refused.to_string()))?;
        let own = Message::new(state, slots, &keeps);
        let told = AllTold::exchange(session, &endpoint.parties, &own)?;
        let agreed = picked(endpoint, &own, &told).and_then(|picked| {
            let (read, key) = admitted(endpoint, state, &own.slots, &picked)?;
            Ok((next(endpoint, state, &keeps, &told)?, picked, read, key))
        });
        let (next, picked, read, key) = agreed.map_err(|reason| part(session, Error::Refused(reason)))?;
        let values: Vec<_> = own.slots.iter().map(|slot| slot.name.clone()).zip(picked).collect();
        let whole = taken(session, state, &values)?;
        for (keep, next) in keeps.iter().zip(&next) {
            // All have the one before: what that replaced is dropped at the latest now.
            if let Some(number) = next.after {
                settle(session, state, &keep.name, number)?;
            }
        }
        let mut shares = Vec::with_capacity(whole.len());
        for ((share, slot), (name, number)) in whole.into_iter().zip(&own.slots).zip(&values) {
            let count = state.version(name, *number).map_or(0, |version| version.about.rows() as usize);
            let rows = match &slot.rows[..] {
                [] => Ok(share),
                rows => share.rows(count, rows).map(Arc::new),
            };
            shares.push(rows.map_err(aborted).inspect_err(|error| session.abort(&error.to_string()))?);
        }
        Ok(Self { state, shares, read, key, keeps, next })
    }

    /// Puts away what the run keeps, once all parties have theirs ([`put_away`]). What was kept, as `weights@3`.
    ///
    /// # Errors
    /// The first failure; what is put away then stays pending.
    pub(crate) fn keep(
        &mut self,
        endpoint: &Endpoint,
        session: &mut Session,
        shares: Vec<KeptShare>,
    ) -> Result<Vec<String>, Error> {
        let (id, keeps) = (*session.id(), &self.keeps);
        let about = |((keep, share), next): ((_, KeptShare), &Next)| {
            (About::new(endpoint, keep, (next.number, &next.writers), id, &share), share)
        };
        put_away(session, self.state, keeps.iter().zip(shares).zip(&self.next).map(about).collect())
    }
}

/// Refuses runs in which nothing is kept or read, and more versions than there may be.
fn admit(endpoint: &Endpoint, session: &Session, state: &State, keeps: &[Keep]) -> Result<(), Error> {
    if session.lanes() > 1 || endpoint.parts() > 1 {
        return Err(Error::Refused("what reads or keeps values runs in one lane, and once".to_owned()));
    }
    keeps.iter().try_for_each(|keep| state.admit(&keep.name))
}

/// The version of the value that fills each slot, from what the parties told one another.
fn picked(endpoint: &Endpoint, own: &Message, told: &AllTold<'_>) -> Result<Vec<u64>, String> {
    if let Some(party) = told.messages.iter().position(|told| told.slots != own.slots) {
        let slots = endpoint.compiled.program().kept();
        let differs = |at: &usize| told.messages[party].slots.get(*at) != own.slots.get(*at);
        let slot = (0..slots.len()).find(differs).map_or_else(String::new, |at| slots[at].name.clone());
        return Err(format!(
            "{} fills {slot:?} with another value, version or rows",
            endpoint.parties[party]
        ));
    }
    if let Some(party) = told.messages.iter().position(|told| !told.names_as(own)) {
        return Err(format!("{} keeps a value under another name", endpoint.parties[party]));
    }
    own.slots.iter().map(|slot| told.picked(slot)).collect()
}

/// What each kept value will be. Those may keep later versions whom the first of the name says, and this program has to be one of
/// them.
fn next(endpoint: &Endpoint, state: &State, keeps: &[Keep], told: &AllTold<'_>) -> Result<Vec<Next>, String> {
    let hash = endpoint.compiled.hash();
    let of = |keep: &Keep| {
        let after = told.current(&keep.name)?;
        let writers = if let Some(version) = after.and_then(|number| state.version(&keep.name, number)) {
            version.about.writable(&hash)?
        } else {
            let mut writers = [&keep.uses.writers[..], &[hash]].concat();
            writers.sort_unstable();
            writers.dedup();
            writers
        };
        Ok(Next { number: told.next(&keep.name)?, writers, after })
    };
    keeps.iter().map(of).collect()
}

/// What is read, as `weights@3`, by the program's names, and the key that all MACs are under.
type Read = (Vec<(String, String)>, Option<[u8; 32]>);

/// What is read, if the program may read it.
fn admitted(endpoint: &Endpoint, state: &State, slots: &[Wanted], picked: &[u64]) -> Result<Read, String> {
    let (mut read, mut key) = (Vec::new(), None);
    for ((slot, wanted), number) in endpoint.compiled.program().kept().iter().zip(slots).zip(picked) {
        let gone = || format!("{}@{number} is gone", wanted.name);
        let about = &state.version(&wanted.name, *number).ok_or_else(gone)?.about;
        if let Some(refusal) = about.refusal(endpoint, slot, &wanted.rows) {
            return Err(refusal);
        }
        if about.key.is_some() && key.is_some() && key != about.key {
            return Err(format!("{about} is under another key than others that the run reads"));
        }
        key = key.or(about.key);
        read.push((slot.name.clone(), wanted.picked(*number)));
    }
    Ok((read, key))
}
