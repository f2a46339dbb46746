//! A party's kept values in one run: what it reads is agreed on before anything is computed, what it keeps when all is checked.

use super::about::About;
use super::exchange::{AllTold, Message, begin, make_room, put_away, taken};
use super::mistakes::Mistake;
use super::residents::Residents;
use super::values::State;
use super::wanted::Wanted;
use crate::endpoint::Endpoint;
use crate::error::{Error, aborted};
use crate::material::part;
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
    /// What is kept, in the plan's order, and what each will be.
    next: Vec<Next>,
    /// Its shares of the tables of which rows are kept, in the same order.
    tables: Vec<Arc<KeptShare>>,
}

/// A version to come.
struct Next {
    /// Under the name that the run says.
    keep: Keep,
    number: u64,
    /// The programs that may keep the one after it.
    writers: Vec<[u8; 32]>,
    /// The one before, if any is left.
    after: Option<u64>,
    /// What is kept becomes rows of that.
    table: Option<Table>,
}

/// A table of which some rows are kept anew.
struct Table {
    about: About,
    rows: Vec<u64>,
}

/// How often the parties look again if another run kept something as they looked.
const TIMES: u32 = 3;

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

impl<'a> Keeping<'a> {
    /// Agrees with the other parties on what fills each slot, and on the versions of what will be kept; every party
    /// holds it against the program, and what it may be used for. Three rounds in the setup, two more each time that
    /// another run kept something just as the parties looked, and one more if some party doesn't know that all have
    /// what the run begins with, and for each name to be kept of which runs that broke off have left something; nothing
    /// secret is sent.
    ///
    /// # Errors
    /// [`Error::Refused`], by all parties and with the value's name.
    pub(crate) fn agree(
        endpoint: &Endpoint,
        session: &mut Session,
        residents: Residents<'a>,
    ) -> Result<Self, Error> {
        let (program, Residents { state, fill, .. }) = (endpoint.compiled.program(), residents);
        let filled = fill.wanted(program).and_then(|slots| {
            let keeps = fill.keeps(program)?;
            refuse_lanes(endpoint, session)?;
            Ok((slots, keeps))
        });
        let (slots, keeps) = filled.inspect_err(|refused| session.abort(&refused.to_string()))?;
        let (reads, slots) = (slots.len(), [slots, wanted_rows(&keeps)].concat());
        let mut time = 0;
        let (own, told) = loop {
            let own = Message::new(state, slots.clone(), &keeps);
            let told = AllTold::exchange(session, &endpoint.parties, &own, time)?;
            if time == TIMES || !told.is_of_two_times() {
                break (own, told);
            }
            // Whoever knew of less has put away by now what another one knew all to have.
            time += 1;
            state.look_again(program, fill).inspect_err(|_| session.abort("it can't read what it keeps"))?;
        };
        for (keep, _) in &keeps {
            told.level(session, state, &keep.name)?;
        }
        let agreed = picked(endpoint, &own, &told).and_then(|picked| {
            let (read, key) = admitted(endpoint, state, &own.slots, &picked)?;
            let (next, key) = next(endpoint, state, &told, keeps, key)?;
            Ok((next, picked, read, key))
        });
        let (next, picked, read, key) = agreed.map_err(|reason| part(session, Error::Refused(reason)))?;
        let slots = own.slots.iter().map(|slot| slot.name.clone());
        let values: Vec<_> = slots.zip(picked).chain(tables(&next)).collect();
        let mut whole = taken(session, state, &values)?;
        let tables = whole.split_off(reads);
        // All have the one before what is kept: what that replaced is dropped at the latest now.
        let before = next.iter().filter_map(|next| Some((next.keep.name.clone(), next.after?)));
        let begins: Vec<_> = values.iter().cloned().chain(before).collect();
        begin(session, state, &told, &begins)?;
        for Next { keep, number, after, .. } in &next {
            make_room(session, state, &told, (&keep.name, after.unwrap_or(0)), *number)?;
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
        Ok(Self { state, shares, read, key, next, tables })
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
        let (id, mut values, mut tables) = (*session.id(), Vec::new(), self.tables.iter());
        for (next, share) in self.next.iter().zip(shares) {
            let Some(Table { about, rows }) = &next.table else {
                let keep = &next.keep;
                let about = About::new(endpoint, keep, (next.number, &next.writers), id, &share);
                values.push((about, next.after, share));
                continue;
            };
            let whole = tables.next().map(|table| table.with_rows(about.rows() as usize, rows, &share));
            let whole = whole.transpose().map_err(aborted);
            let whole = whole.inspect_err(|error| session.abort(&error.to_string()))?;
            let about = about.rewritten(next.number, endpoint.compiled.hash(), id);
            values.extend(whole.map(|whole| (about, next.after, whole)));
        }
        put_away(session, self.state, values)
    }
}

/// Refuses runs in which nothing is kept or read.
fn refuse_lanes(endpoint: &Endpoint, session: &Session) -> Result<(), Error> {
    if session.lanes() > 1 || endpoint.parts() > 1 {
        return Err(Error::Refused("what reads or keeps values runs in one lane, and once".to_owned()));
    }
    Ok(())
}

/// The version of the value that fills each slot, from what the parties told one another.
fn picked(endpoint: &Endpoint, own: &Message, told: &AllTold<'_>) -> Result<Vec<u64>, String> {
    let slots = endpoint.compiled.program().kept();
    if let Some(party) = told.messages.iter().position(|told| told.slots != own.slots) {
        let differs = |at: &usize| told.messages[party].slots.get(*at) != own.slots.get(*at);
        let slot = (0..slots.len()).find(differs);
        let party = &endpoint.parties[party];
        return Err(match slot {
            Some(at) => format!("{party} fills {:?} with another value, version or rows", slots[at].name),
            None => format!("{party} keeps other rows of a table"),
        });
    }
    if let Some(party) = told.messages.iter().position(|told| !told.names_as(own)) {
        return Err(format!("{} keeps a value under another name", endpoint.parties[party]));
    }
    own.slots.iter().take(slots.len()).map(|slot| told.picked(slot)).collect()
}

/// What each kept value will be, and the key that all MACs are under. Those may keep later versions whom the first of the name
/// says, and this program has to be one of them.
fn next(
    endpoint: &Endpoint,
    state: &State,
    told: &AllTold<'_>,
    keeps: Vec<(Keep, Vec<u64>)>,
    mut key: Option<[u8; 32]>,
) -> Result<(Vec<Next>, Option<[u8; 32]>), String> {
    let (hash, own) = (endpoint.compiled.hash(), endpoint.compiled.program().keeps());
    let of = |((keep, rows), own): ((Keep, Vec<u64>), &Keep)| {
        let after = told.current(&keep.name)?;
        let before = after.and_then(|number| state.version(&keep.name, number));
        let writers = if let Some(version) = before {
            // A program that may keep two values could else be made to keep one in the other's place.
            if keep.name != own.name {
                return Err(format!(
                    "{:?} is kept already, and the program calls what it keeps {:?}",
                    keep.name, own.name
                ));
            }
            if let Some(refusal) = version.about.whole_refusal(endpoint, &keep).filter(|_| rows.is_empty()) {
                return Err(refusal);
            }
            version.about.writable(&hash)?
        } else {
            let mut writers = [&keep.uses.writers[..], &[hash]].concat();
            writers.sort_unstable();
            writers.dedup();
            writers
        };
        let table = match before {
            _ if rows.is_empty() => None,
            None => return Err(format!("there is no table {:?} of which rows can be kept", keep.name)),
            Some(version) => {
                let about = version.about.clone();
                if let Some(refusal) = about.rows_refusal(endpoint, &keep, &rows) {
                    return Err(refusal);
                }
                key = same_key(key, &about)?;
                Some(Table { about, rows })
            }
        };
        Ok(Next { number: told.next(&keep.name)?, keep, writers, after, table })
    };
    let next = keeps.into_iter().zip(own).map(of).collect::<Result<_, _>>()?;
    Ok((next, key))
}

/// The rows that are kept, by the table's name.
fn wanted_rows(keeps: &[(Keep, Vec<u64>)]) -> Vec<Wanted> {
    let written = keeps.iter().filter(|(_, rows)| !rows.is_empty());
    let wanted =
        written.map(|(keep, rows)| Wanted { name: keep.name.clone(), version: None, rows: rows.clone() });
    wanted.collect()
}

/// The tables of which rows are kept, as they are now.
fn tables(next: &[Next]) -> impl Iterator<Item = (String, u64)> {
    let tables = next.iter().filter_map(|next| next.table.as_ref());
    tables.map(|table| (table.about.name.clone(), table.about.version))
}

/// The one key that all MACs are under.
fn same_key(key: Option<[u8; 32]>, about: &About) -> Result<Option<[u8; 32]>, String> {
    if about.key.is_some() && key.is_some() && key != about.key {
        return Err(format!("{about} is under another key than others of the run"));
    }
    Ok(key.or(about.key))
}

/// What is read, as `weights@3`, by the program's names, and the key that all MACs are under.
type Read = (Vec<(String, String)>, Option<[u8; 32]>);

/// What is read, if the program may read it.
fn admitted(endpoint: &Endpoint, state: &State, slots: &[Wanted], picked: &[u64]) -> Result<Read, String> {
    let (mut read, mut key) = (Vec::new(), None);
    for ((slot, wanted), number) in endpoint.compiled.program().kept().iter().zip(slots).zip(picked) {
        let gone = || format!("{}@{number} is gone", wanted.name);
        let about = &state.version(&wanted.name, *number).ok_or_else(gone)?.about;
        let refusal = about.refusal(endpoint, slot, &wanted.rows);
        if let Some(refusal) = refusal.filter(|_| !state.mistakes.has(Mistake::UsesIgnored)) {
            return Err(refusal);
        }
        key = same_key(key, about)?;
        read.push((slot.name.clone(), wanted.picked(*number)));
    }
    Ok((read, key))
}
