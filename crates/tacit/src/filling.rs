//! Sessions that fill stores with what any program draws from.

use crate::endpoint::{Endpoint, check_count, parameters_of};
use crate::error::{Error, aborted};
use crate::kept::has_stocks;
use crate::made::{Made, Prepared, confirm, finish, prepared};
use crate::material::{other_stock, stock_binding};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Instant;
use tacit_engine::supply::{Stock, SupplyKind, agreed, fill, list_message, read_lists};
use tacit_engine::{Observer, Protocol};
use tacit_net::{Mesh, Phase};
use tacit_session::{Agreement, At, OsEntropy, Session, step};
use tacit_store::{Available, Epoch, MAX_LIST_BYTES, Unit};

/// What stores are to be filled with, the same at all parties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filling {
    /// So many items of each kind, rounded up to whole blocks.
    pub wanted: Vec<(SupplyKind, u64)>,
    /// Whether nothing is made if all parties have as much unused already, in one epoch.
    pub up_to: bool,
}

impl Filling {
    /// So many items each of what people call so ([`Protocol::stocks`]), for so many parties.
    ///
    /// # Errors
    /// [`Error::Refused`] if the protocol isn't for as many parties, has none of that, or nothing is to be made.
    pub fn of(protocol: &dyn Protocol, parties: usize, named: &[(&str, u64)]) -> Result<Self, Error> {
        check_count(protocol, parties)?;
        let stocks = protocol.stocks(parties);
        let mut wanted = Vec::new();
        for (name, count) in named.iter().filter(|(_, count)| *count > 0) {
            let Some((_, kinds)) = stocks.iter().find(|(known, _)| known == name) else {
                let known: Vec<&str> = stocks.iter().map(|(known, _)| *known).collect();
                let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
                let name_of = protocol.spec().name;
                let reason =
                    format!("protocol {name_of:?} stocks no {name} ahead of time; it stocks {known}");
                return Err(Error::Refused(reason));
            };
            wanted.extend(kinds.iter().map(|kind| (*kind, *count)));
        }
        Self { wanted, up_to: false }.checked()
    }

    /// What so many runs draw, in all their lanes together: of each its endpoint, all under the same protocol.
    ///
    /// # Errors
    /// [`Error::Refused`] if the protocol has no supplies, or nothing is drawn.
    pub fn for_runs<'a>(lanes: impl IntoIterator<Item = &'a Endpoint>, runs: u64) -> Result<Self, Error> {
        let mut all = BTreeMap::new();
        for lane in lanes {
            if !has_stocks(&*lane.protocol, &lane.parties) {
                let name = lane.protocol.spec().name;
                return Err(Error::Refused(format!("protocol {name:?} fills no stores for any program")));
            }
            for (kind, blocks) in lane.draws() {
                let sum: &mut u64 = all.entry(kind).or_default();
                *sum = sum.saturating_add(blocks.saturating_mul(kind.per_block()).saturating_mul(runs));
            }
        }
        Self { wanted: all.into_iter().collect(), up_to: false }.checked()
    }

    /// As many blocks of each kind, of which any are wanted.
    pub(crate) fn blocks(&self) -> Vec<(SupplyKind, u64)> {
        let some = self.wanted.iter().filter(|(_, count)| *count > 0);
        some.map(|(kind, count)| (*kind, count.div_ceil(kind.per_block()))).collect()
    }

    /// The same in people's words, such as `triples=1000,bits=64`.
    pub(crate) fn in_words(&self, protocol: &dyn Protocol, parties: usize) -> String {
        let mut left: BTreeMap<SupplyKind, u64> = self.wanted.iter().copied().collect();
        let mut words = Vec::new();
        for (name, kinds) in protocol.stocks(parties) {
            if let Some(count) = kinds.first().and_then(|kind| left.get(kind).copied())
                && kinds.iter().all(|kind| left.get(kind) == Some(&count))
            {
                words.push(format!("{name}={count}"));
                left.retain(|kind, _| !kinds.contains(kind));
            }
        }
        words.extend(left.into_iter().map(|(kind, count)| format!("{count} {kind}")));
        words.join(",")
    }

    fn checked(self) -> Result<Self, Error> {
        if self.wanted.iter().any(|(_, count)| *count > 0) {
            return Ok(self);
        }
        Err(Error::Refused("nothing is to be made ahead of time: say how much of what".to_owned()))
    }
}

pub(crate) fn stocked(
    protocol: &dyn Protocol,
    parties: &[String],
    me: usize,
    filling: &Filling,
    made: &Made,
    start: Instant,
) -> Prepared {
    let is_new = made.disk_bytes > 0;
    let supplies = filling.wanted.iter().copied().filter(|_| is_new).collect();
    Prepared { supplies, ..prepared(protocol, parties, me, made, None, start.elapsed()) }
}

/// Plays a party's part in a session that fills stores of supplies: an epoch under one key, which is fresh. All have it or
/// none, as of [`play_offline`](crate::play_offline). What was there before, if it was enough, takes no bytes on disk. Runs may
/// draw from the stock meanwhile.
///
/// # Errors
/// [`Error::Refused`] if the protocol has no supplies, or for another store; else the first failure, which ends the session
/// for all.
pub fn play_fill(
    protocol: &dyn Protocol,
    parties: &[String],
    mesh: Mesh,
    filling: &Filling,
    stock: &Stock,
    observer: &mut dyn Observer,
) -> Result<Made, Error> {
    let (made, _) = fill_as("", protocol, parties, mesh, filling, stock, observer)?;
    Ok(made)
}

/// The same, where all parties say these words of the session; and the older epochs that nobody needs beside the new one and the
/// fullest, as all parties said what they have of them.
pub(crate) fn fill_as(
    words: &str,
    protocol: &dyn Protocol,
    parties: &[String],
    mesh: Mesh,
    filling: &Filling,
    stock: &Stock,
    observer: &mut dyn Observer,
) -> Result<(Made, Vec<Epoch>), Error> {
    if !stock.is_for(&stock_binding(protocol, parties, mesh.me())) {
        return Err(other_stock());
    }
    let mut agreement = agreement(protocol, parties, filling);
    agreement.parameters += words;
    let session = Session::establish(mesh, agreement, Box::new(OsEntropy));
    let mut session = session.map_err(|error| aborted(error.into()))?;
    let made = made(protocol, &mut session, filling, stock, observer)
        .inspect_err(|error| session.abort(&error.to_string()))?;
    // Whoever is lost from here on has everything, too.
    let _ = session.close();
    Ok(made)
}

fn made(
    protocol: &dyn Protocol,
    session: &mut Session,
    filling: &Filling,
    mut stock: &Stock,
    observer: &mut dyn Observer,
) -> Result<(Made, Vec<Epoch>), Error> {
    let mut surplus = Vec::new();
    if filling.up_to {
        let wanted = filling.blocks();
        let lists = told(session, &wanted, stock)?;
        let shelves: Vec<_> =
            wanted.iter().map(|(kind, count)| (kind.code(), *count, Unit::default())).collect();
        if let Ok(runs) = agreed(session, &shelves, &lists, |_| false)
            && let Some(run) = runs.first()
        {
            let sent = vec![0; session.parties()];
            return Ok((Made { epoch: run.epoch, disk_bytes: 0, sent }, surplus));
        }
        surplus = by_fullness(&wanted, &lists).into_iter().skip(FULLEST).collect();
    }
    let epoch = Epoch(*session.id());
    session.mesh().set_phase(Phase::Offline);
    let mut supply = protocol.live_supply(session).map_err(aborted)?;
    let mut writer = stock.with(|store| store.writer(epoch))?;
    let filled = fill(supply.as_mut(), session, &filling.wanted, &mut writer, observer);
    filled.map_err(|cause| aborted(cause).in_check(session.is_challenged()))?;
    finish(session, writer, &mut stock)?;
    Ok((confirm(session, &mut stock, epoch)?, surplus))
}

/// What this party has of these kinds.
pub(crate) fn unused(wanted: &[(SupplyKind, u64)], stock: &Stock) -> Vec<Vec<Available>> {
    stock.with(|store| wanted.iter().map(|(kind, _)| store.available(kind.code())).collect())
}

/// What each party has of these kinds, once all were told the same.
fn told(
    session: &mut Session,
    wanted: &[(SupplyKind, u64)],
    stock: &Stock,
) -> Result<Vec<Vec<Vec<Available>>>, Error> {
    let own = unused(wanted, stock);
    let at = At { lane: 0, part: step::STORED, op: 0, batch: 0 };
    let (shelves, most) = (wanted.len(), wanted.len() * (4 + MAX_LIST_BYTES));
    let read = |bytes: &[u8]| read_lists(bytes, shelves);
    let lists = session.tell_all(at, &list_message(&own), most, "lists of its supplies", read);
    let lists = lists.map_err(|error| aborted(error.into()))?;
    let all: Vec<u8> = lists.iter().flat_map(|lists| list_message(lists)).collect();
    session.echo(&all).map_err(|error| aborted(error.into()))?;
    Ok(lists)
}

/// Epochs beside a new one that stay in a store that is filled again and again: those of which most is left.
const FULLEST: usize = 2;

/// All epochs of which some party has something of these kinds, those first of which all have most. It is the scarcest kind that
/// counts, against what is wanted of it.
pub(crate) fn by_fullness(wanted: &[(SupplyKind, u64)], lists: &[Vec<Vec<Available>>]) -> Vec<Epoch> {
    let all = lists.iter().flatten().flatten().map(|own| own.epoch).collect::<BTreeSet<Epoch>>();
    let left = |list: &[Available], epoch: Epoch| {
        let own = list.iter().find(|own| own.epoch == epoch);
        own.map_or(0, |own| own.count.saturating_sub(own.next))
    };
    let full = |epoch: Epoch| {
        let of_party = |lists: &Vec<Vec<Available>>| {
            let kinds = lists.iter().zip(wanted);
            kinds.map(|(list, (_, count))| (u128::from(left(list, epoch)) << 64) / u128::from(*count)).min()
        };
        lists.iter().filter_map(of_party).min()
    };
    let mut epochs: Vec<_> = all.into_iter().map(|epoch| (Reverse(full(epoch)), epoch)).collect();
    epochs.sort_unstable();
    epochs.into_iter().map(|(_, epoch)| epoch).collect()
}

/// What is agreed on by those who fill stores. No run goes with it.
fn agreement(protocol: &dyn Protocol, parties: &[String], filling: &Filling) -> Agreement {
    let mut parameters = parameters_of(protocol) + ", supplies only";
    for (kind, count) in &filling.wanted {
        let _ = write!(parameters, ", {count} {kind}");
    }
    if filling.up_to {
        parameters += ", up to that";
    }
    Agreement::among(parties.to_vec(), protocol.spec().name, parameters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::plan::Domain;

    #[test]
    fn epochs_are_ranked_by_what_all_parties_have_of_the_scarcest_kind() {
        let wanted = [(SupplyKind::Triple(Domain::Bits), 100), (SupplyKind::RandomBit(Domain::Bits), 10)];
        let own = |epoch: u8, next: u64, count: u64| Available { epoch: Epoch([epoch; 32]), next, count };
        // 1 lacks bits, 2 has few triples, 3 is whole, and one party has nothing of 4.
        let one =
            vec![vec![own(1, 0, 100), own(2, 90, 100), own(3, 0, 100)], vec![own(2, 0, 10), own(3, 0, 10)]];
        let mut other = one.clone();
        other[0].push(own(4, 0, 100));
        other[1].push(own(4, 0, 10));
        let ranked = by_fullness(&wanted, &[one, other]);
        assert_eq!(ranked, [3, 2, 1, 4].map(|epoch| Epoch([epoch; 32])));
    }
}
