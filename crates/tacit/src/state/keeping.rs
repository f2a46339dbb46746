//! A party's kept values in one run: what it reads is agreed on before anything is computed, what it keeps when all is checked.

use super::agree::{Digests, MAX_TOLD_BYTES, Told, differing, pick};
use super::{About, Fill, Residents, State, parse};
use crate::Error;
use crate::endpoint::Endpoint;
use crate::material::part;
use crate::offline::aborted;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use tacit_engine::{KeptPart, KeptShare};
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

/// Refuses what has to have state and has none.
///
/// # Errors
/// [`Error::Refused`], which says how to name one.
pub(crate) fn refuse_homeless(endpoint: &Endpoint) -> Result<(), Error> {
    if !endpoint.compiled.has_residents() {
        return Ok(());
    }
    let reason = "the program keeps values or reads kept ones; say where this party keeps them (state)";
    Err(Error::Refused(reason.to_owned()))
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
    /// against the program, and what it may be used for. Two rounds in the setup; nothing secret is sent.
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
        let names = names.map(|name| (name.clone(), state.told(name))).collect();
        let own = Message { slots, names };
        let told = tell(endpoint, session, &own)?;
        let refused = |reason: String| Error::Refused(reason);
        let picked = picked(endpoint, &own, &told).map_err(refused);
        let next = picked.and_then(|picked| Ok((next_versions(program, &told)?, picked)));
        let read = next.and_then(|(versions, picked)| {
            let read = read_by(endpoint, state, &picked)?;
            Ok((versions, picked, read))
        });
        let (versions, picked, read) = read.map_err(|error| part(session, error))?;
        let Read { shares, values, key } = read;
        for (name, number) in &picked {
            state.settle(name, *number);
        }
        Ok(Self { state, shares, read: values, key, versions })
    }

    /// Puts away what the run keeps, once all parties have theirs: what not all have is never read. One round, whose bytes count
    /// as those of the setup. What was kept, as `weights@3`.
    ///
    /// # Errors
    /// The first failure; what is put away then stays pending.
    pub(crate) fn keep(
        &mut self,
        endpoint: &Endpoint,
        session: &mut Session,
        shares: Vec<KeptShare>,
    ) -> Result<Vec<String>, Error> {
        let (id, keeps) = (*session.id(), endpoint.compiled.program().keeps());
        let mut values = Vec::with_capacity(shares.len());
        let mut own = Vec::with_capacity(shares.len());
        for ((keep, share), version) in keeps.iter().zip(shares).zip(&self.versions) {
            let about = About::new(endpoint, keep, *version, id, &share);
            let digests = digests(&share);
            own.push((about.hash(), digests.clone()));
            values.push(about.to_string());
            self.state.put(about, digests, share);
        }
        session.mesh().set_phase(Phase::Setup);
        let at = At { lane: 0, part: step::KEPT, op: 1, batch: 0 };
        let message = postcard::to_stdvec(&own).unwrap_or_default();
        let read = |bytes: &[u8]| {
            let (told, rest) = postcard::take_from_bytes::<Vec<([u8; 32], Digests)>>(bytes).ok()?;
            (rest.is_empty() && told.len() == own.len()).then_some(told)
        };
        let told = session.tell_all(at, &message, MAX_TOLD_BYTES, "what it has kept", read);
        let told = told.map_err(|error| ended(session, endpoint, error))?;
        for (at, value) in values.iter().enumerate() {
            let same = told.iter().all(|told| told[at].0 == own[at].0);
            let digests = told.iter().map(|told| ("", &told[at].1[..]));
            if !same || differing(digests).is_some() {
                let what = format!("two parties that hold the same share of {value} hold different ones");
                return Err(aborted(session.reject(&what).into()));
            }
        }
        for (keep, number) in keeps.iter().zip(&self.versions) {
            self.state.settle(&keep.name, *number);
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
        (rest.is_empty() && message(&told) == bytes).then_some(told)
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
    let pick = |(name, wanted): &(String, Option<u64>)| {
        let of = |told: &'_ Message| told.names.get(name).unwrap_or(&none).clone();
        let told: Vec<Told> = told.iter().map(of).collect();
        let parties = endpoint.parties.iter().map(String::as_str);
        let told: Vec<(&str, &Told)> = parties.zip(&told).collect();
        Ok((name.clone(), pick(name, *wanted, &told)?))
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

/// What a run reads.
struct Read {
    shares: Vec<Arc<KeptShare>>,
    /// As `weights@3`, by the program's names.
    values: Vec<(String, String)>,
    key: Option<[u8; 32]>,
}

/// This party's shares of what fills the slots, if the program may read it.
fn read_by(endpoint: &Endpoint, state: &State, picked: &[(String, u64)]) -> Result<Read, Error> {
    let mut read = Read { shares: Vec::new(), values: Vec::new(), key: None };
    for (slot, (name, number)) in endpoint.compiled.program().kept().iter().zip(picked) {
        let gone = || Error::Refused(format!("{name}@{number} is gone"));
        let version = state.version(name, *number).ok_or_else(gone)?;
        if let Some(refusal) = version.about.refusal(endpoint, slot) {
            return Err(Error::Refused(refusal));
        }
        if version.about.key.is_some() && read.key.is_some_and(|key| Some(key) != version.about.key) {
            let value = &version.about;
            return Err(Error::Refused(format!(
                "{value} is under another key than others that the run reads"
            )));
        }
        read.key = version.about.key;
        read.shares.push(version.share.clone().ok_or_else(gone)?);
        read.values.push((slot.name.clone(), version.about.to_string()));
    }
    Ok(read)
}

/// Digests of a share's parts.
fn digests(share: &KeptShare) -> Digests {
    let digest = |part: &KeptPart| {
        let hash = Sha256::new_with_prefix(b"tacit kept part 1").chain_update(&*part.bytes);
        (part.number, hash.finalize().into())
    };
    share.parts.iter().map(digest).collect()
}

/// Ends a session for all.
fn ended(session: &mut Session, endpoint: &Endpoint, error: tacit_session::Error) -> Error {
    session.abort(&error.to_string());
    endpoint.compiled.aborted(error.into())
}
