//! A party's kept values in one run: what it reads is agreed on before anything is computed, what it keeps when all is checked.

use super::agree::{MAX_TOLD_BYTES, Told, pick, torn};
use super::disk::{Digests, digests};
use super::{About, Fill, Residents, State, TOLD_VERSIONS, parse};
use crate::Error;
use crate::endpoint::Endpoint;
use crate::material::part;
use crate::offline::aborted;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use subtle::ConstantTimeEq;
use tacit_engine::KeptShare;
use tacit_net::Phase;
use tacit_program::{Keep, Program};
use tacit_session::{At, Session, step};

/// What a party's run reads, and where what it keeps goes.
pub(crate) struct Keeping<'a> {
    state: &'a mut State,
    /// Its shares of what the plan reads, in the plan's order.
    pub(crate) shares: Vec<Arc<KeptShare>>,
    /// What is read, as `weights@3`, by the program's names.
    pub(crate) read: Vec<(String, String)>,
    /// The key that all MACs are under, if there are any.
    pub(crate) key: Option<[u8; 32]>,
    /// The version that each kept value will be, in the plan's order.
    versions: Vec<u64>,
}

/// What a party tells the others before a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Message {
    /// The value that is to fill each of the program's slots, and its version if one is wanted.
    slots: Vec<(String, Option<u64>)>,
    /// What the party has under each name that is read or kept.
    names: BTreeMap<String, Told>,
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

/// The value that is to fill each slot of an endpoint's program, and its version if one is wanted.
fn slots(endpoint: &Endpoint, fill: &Fill) -> Result<Vec<(String, Option<u64>)>, Error> {
    let kept = endpoint.compiled.program().kept();
    if let Some(unknown) = fill.keys().find(|name| !kept.iter().any(|slot| slot.name == **name)) {
        return Err(Error::Refused(format!("the program reads no kept value that it calls {unknown:?}")));
    }
    kept.iter().map(|slot| parse(fill.get(&slot.name).unwrap_or(&slot.name))).collect()
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
        let (program, Residents { state, fill, .. }) = (endpoint.compiled.program(), residents);
        let slots = slots(endpoint, fill).and_then(|slots| admit(endpoint, session, state).map(|()| slots));
        let slots = slots.inspect_err(|refused| session.abort(&refused.to_string()))?;
        let read = slots.iter().map(|(name, _)| name);
        let names = read.chain(program.keeps().iter().map(|keep| &keep.name));
        let told = |name: &String| {
            let wanted = slots.iter().filter(|(other, _)| other == name).filter_map(|(_, wanted)| *wanted);
            (name.clone(), state.told(name, &wanted.collect::<Vec<_>>()))
        };
        let names = names.map(told).collect();
        let own = Message { slots, names };
        let told = tell(endpoint, session, &own)?;
        let refused = |reason: String| Error::Refused(reason);
        let picked = picked(endpoint, &own, &told).map_err(refused);
        let next = picked.and_then(|picked| Ok((next_versions(program, &told)?, picked)));
        let read = next.and_then(|(versions, picked)| {
            let admitted = admitted_by(endpoint, state, &picked)?;
            Ok((versions, picked, admitted))
        });
        let (versions, picked, (read, key)) = read.map_err(|error| part(session, error))?;
        let mut shares = Vec::with_capacity(picked.len());
        for (name, number) in &picked {
            let share = state.settle(name, *number).and_then(|()| state.share(name, *number));
            // Others are told no names of files.
            let lost = || format!("its share of {name}@{number} can't be read");
            shares.push(share.inspect_err(|_| session.abort(&lost()))?);
        }
        let held =
            picked.iter().filter_map(|(name, number)| Some(state.version(name, *number)?.digests.clone()));
        let differs = compare(session, 1, &held.collect::<Vec<_>>());
        if let Some((party, at)) = differs.map_err(|error| ended(session, endpoint, error))? {
            let ((name, number), other) = (&picked[at], session.name(party).to_owned());
            let reason =
                format!("{other} holds another share of {name}@{number} than it kept, or this party does");
            session.abort(&reason);
            return Err(Error::Refused(reason));
        }
        Ok(Self { state, shares, read, key, versions })
    }

    /// Puts away what the run keeps, once all parties have theirs: what not all have is never read. Two rounds, whose bytes
    /// count as those of the setup. What was kept, as `weights@3`.
    ///
    /// # Errors
    /// The first failure; what is put away then stays pending.
    pub(crate) fn keep(
        &mut self,
        endpoint: &Endpoint,
        session: &mut Session,
        shares: &[KeptShare],
    ) -> Result<Vec<String>, Error> {
        let (id, keeps) = (*session.id(), endpoint.compiled.program().keeps());
        let (mut values, mut own, mut held, mut puts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for ((keep, share), version) in keeps.iter().zip(shares).zip(&self.versions) {
            let about = About::new(endpoint, keep, *version, id, share);
            let digests = digests(share);
            own.push(about.hash());
            values.push(about.to_string());
            held.push(digests.clone());
            puts.push((about, digests, share.clone()));
        }
        session.mesh().set_phase(Phase::Setup);
        let differs = compare(session, 3, &held).map_err(|error| ended(session, endpoint, error))?;
        if let Some((_, at)) = differs {
            let what = format!("two parties that hold the same share of {} hold different ones", values[at]);
            return Err(aborted(session.reject(&what).into()));
        }
        let lost = || format!("its shares of {} couldn't be put away", values.join(" and "));
        self.state.put(puts).inspect_err(|_| session.abort(&lost()))?;
        let own = own.concat();
        let at = At { lane: 0, part: step::KEPT, op: 2, batch: 0 };
        let read = |bytes: &[u8]| (bytes == own).then_some(());
        let told = session.tell_all(at, &own, own.len(), "what it has kept", read);
        told.map_err(|error| ended(session, endpoint, error))?;
        // What one run kept settles together.
        if let (Some(keep), Some(number)) = (keeps.first(), self.versions.first()) {
            self.state.settle(&keep.name, *number)?;
        }
        Ok(values)
    }
}

/// Refuses runs in which nothing is kept or read, and more versions than there may be.
fn admit(endpoint: &Endpoint, session: &Session, state: &State) -> Result<(), Error> {
    if session.lanes() > 1 || endpoint.parts() > 1 {
        return Err(Error::Refused("what reads or keeps values runs in one lane, and once".to_owned()));
    }
    endpoint.compiled.program().keeps().iter().try_for_each(|keep| state.admit(&keep.name))
}

/// Tells the other parties what this one has; what each told, by party, once all are known to have been told the same.
fn tell(endpoint: &Endpoint, session: &mut Session, own: &Message) -> Result<Vec<Message>, Error> {
    // Plain data: this can't fail.
    let message = |message: &Message| postcard::to_stdvec(message).unwrap_or_default();
    let read = |bytes: &[u8]| {
        let (told, rest) = postcard::take_from_bytes::<Message>(bytes).ok()?;
        let most = 2 * TOLD_VERSIONS + own.slots.len();
        let is_short = told.names.values().all(|name| name.versions.len() <= most);
        (rest.is_empty() && is_short && message(&told) == bytes).then_some(told)
    };
    let at = At { lane: 0, part: step::KEPT, op: 0, batch: 0 };
    let told = session.tell_all(at, &message(own), MAX_TOLD_BYTES, "what it keeps", read);
    let told = told.map_err(|error| ended(session, endpoint, error))?;
    let all: Vec<u8> = told.iter().flat_map(message).collect();
    session.echo(&all).map_err(|error| endpoint.compiled.aborted(error.into()))?;
    Ok(told)
}

/// The name and the version of the value that fills each slot, from what the parties told one another.
fn picked(endpoint: &Endpoint, own: &Message, told: &[Message]) -> Result<Vec<(String, u64)>, String> {
    if let Some(party) = told.iter().position(|told| told.slots != own.slots) {
        let slots = endpoint.compiled.program().kept();
        let differs = |at: &usize| told[party].slots.get(*at) != own.slots.get(*at);
        let slot = (0..slots.len()).find(differs).map_or_else(String::new, |at| slots[at].name.clone());
        return Err(format!("{} fills {slot:?} with another value or version", endpoint.parties[party]));
    }
    let none = Told::default();
    let names: Vec<_> = told.iter().map(|told| told.names.clone()).collect();
    let torn = torn(&names);
    let pick = |(name, wanted): &(String, Option<u64>)| {
        let of = |told: &'_ Message| told.names.get(name).unwrap_or(&none).clone();
        let told: Vec<Told> = told.iter().map(of).collect();
        let parties = endpoint.parties.iter().map(String::as_str);
        let told: Vec<(&str, &Told)> = parties.zip(&told).collect();
        Ok((name.clone(), pick(name, *wanted, &told, &torn)?))
    };
    own.slots.iter().map(pick).collect()
}

/// The version that each kept value will be: the one after the last that any party knows of.
fn next_versions(program: &Program, told: &[Message]) -> Result<Vec<u64>, Error> {
    let next = |keep: &Keep| {
        let last = told.iter().filter_map(|told| Some(told.names.get(&keep.name)?.last)).max().unwrap_or(0);
        let refused = || Error::Refused(format!("some party says that {} has no more versions", keep.name));
        last.checked_add(1).ok_or_else(refused)
    };
    program.keeps().iter().map(next).collect()
}

/// What is read, as `weights@3`, by the program's names, and the key that all MACs are under.
type Read = (Vec<(String, String)>, Option<[u8; 32]>);

/// What is read, if the program may read it.
fn admitted_by(endpoint: &Endpoint, state: &State, picked: &[(String, u64)]) -> Result<Read, Error> {
    let (mut read, mut key) = (Vec::new(), None);
    for (slot, (name, number)) in endpoint.compiled.program().kept().iter().zip(picked) {
        let gone = || Error::Refused(format!("{name}@{number} is gone"));
        let about = &state.version(name, *number).ok_or_else(gone)?.about;
        if let Some(refusal) = about.refusal(endpoint, slot) {
            return Err(Error::Refused(refusal));
        }
        if about.key.is_some() && key.is_some() && key != about.key {
            return Err(Error::Refused(format!(
                "{about} is under another key than others that the run reads"
            )));
        }
        key = key.or(about.key);
        read.push((slot.name.clone(), about.to_string()));
    }
    Ok((read, key))
}

/// Compares digests of the parts of values that two parties hold, by value, with each other party that holds any: one round. The
/// party and the value that differ, if any do.
///
/// # Security
/// A digest goes to nobody but the other holder of the part, as this party's own engine named it: whoever lacks the part could
/// else guess the value.
fn compare(
    session: &mut Session,
    op: u32,
    values: &[Digests],
) -> Result<Option<(usize, usize)>, tacit_session::Error> {
    let at = At { lane: 0, part: step::KEPT, op, batch: 0 };
    let shared_with = |party: usize| -> Vec<(usize, [u8; 32])> {
        let parts = values
            .iter()
            .enumerate()
            .flat_map(|(value, digests)| digests.iter().map(move |part| (value, part)));
        let shared = parts.filter(|(_, part)| part.other.is_some_and(|other| usize::from(other) == party));
        shared.map(|(value, part)| (value, part.digest)).collect()
    };
    let shared: Vec<_> = session
        .others()
        .map(|party| (party, shared_with(party)))
        .filter(|(_, shared)| !shared.is_empty())
        .collect();
    for (party, shared) in &shared {
        let message: Vec<u8> = shared.iter().flat_map(|(_, digest)| *digest).collect();
        session.mesh().send(*party, at, &message)?;
    }
    let mut differs = None;
    for (party, shared) in &shared {
        let theirs = session.mesh().recv(*party, at, 32 * shared.len())?;
        let digests = theirs.as_chunks::<32>().0;
        let other = shared.iter().zip(digests).find(|((_, own), theirs)| !bool::from(own.ct_eq(*theirs)));
        differs = differs.or(other.map(|((value, _), _)| (*party, *value)));
    }
    Ok(differs)
}

/// Ends a session for all.
fn ended(session: &mut Session, endpoint: &Endpoint, error: tacit_session::Error) -> Error {
    session.abort(&error.to_string());
    endpoint.compiled.aborted(error.into())
}
