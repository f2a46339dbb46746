//! What the parties say to one another about kept values: what each has, digests of what two of them hold, and that all have put
//! theirs away.

use super::about::About;
use super::agree::{MAX_TOLD_BYTES, Told, current, next_version, passable, pick, raised, torn};
use super::mistakes::Mistake;
use super::settle::Passable;
use super::values::{MAX_TOLD, State};
use super::versions::{Digests, Made, digests};
use super::wanted::Wanted;
use crate::error::{Error, aborted};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use subtle::ConstantTimeEq;
use tacit_engine::KeptShare;
use tacit_net::Phase;
use tacit_program::Keep;
use tacit_session::{At, Session, step};
use tacit_store::KeptStanding as Standing;

/// What a party tells the others before anything is computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Message {
    /// What is to fill each of the program's slots, and then the rows of tables that it keeps.
    pub(super) slots: Vec<Wanted>,
    /// What the party has under each name that is read or kept.
    names: BTreeMap<String, Told>,
}

impl Message {
    /// What a party tells of what is read and of rows that are kept, and of these names that are kept.
    pub(super) fn new(state: &State, slots: Vec<Wanted>, keeps: &[(Keep, Vec<u64>)]) -> Self {
        let told = |name: &String| {
            let wanted = slots.iter().filter(|slot| slot.name == *name).filter_map(|slot| slot.version);
            (name.clone(), state.told(name, &wanted.collect::<Vec<_>>()))
        };
        let kept = keeps.iter().map(|(keep, _)| &keep.name);
        let names = slots.iter().map(|slot| &slot.name).chain(kept).map(told).collect();
        Self { slots, names }
    }

    /// Whether it tells of the same names. The same slots read the same ones, and what is kept is all else.
    pub(super) fn names_as(&self, other: &Self) -> bool {
        self.names.keys().eq(other.names.keys())
    }

    fn to_bytes(&self) -> Vec<u8> {
        // Serialising plain data into a growing vector can't fail.
        postcard::to_stdvec(self).unwrap_or_default()
    }

    /// What a party of as many slots tells.
    fn read(bytes: &[u8], slots: usize) -> Option<Self> {
        let (told, rest) = postcard::take_from_bytes::<Self>(bytes).ok()?;
        let is_short = told.names.values().all(|name| name.versions.len() <= MAX_TOLD + slots);
        (rest.is_empty() && is_short && told.to_bytes() == bytes).then_some(told)
    }
}

/// What all parties have told one another.
pub(super) struct AllTold<'p> {
    parties: &'p [String],
    pub(super) messages: Vec<Message>,
    /// The sessions of which not all have all that was kept.
    torn: BTreeSet<[u8; 32]>,
}

/// What one party tells of a name that it wasn't asked for.
static NOTHING: Told = Told { last: 0, versions: Vec::new() };

impl<'p> AllTold<'p> {
    /// Tells the other parties what this one has, and makes sure that all are told the same, for the time of this number. Two
    /// rounds.
    pub(super) fn exchange(
        session: &mut Session,
        parties: &'p [String],
        own: &Message,
        time: u32,
    ) -> Result<Self, Error> {
        let read = |bytes: &[u8]| Message::read(bytes, own.slots.len());
        let at = At { lane: 0, part: step::KEPT, op: 0, batch: time };
        let told = session.tell_all(at, &own.to_bytes(), MAX_TOLD_BYTES, "what it keeps", read);
        let messages = told.map_err(|error| ended(session, error))?;
        let all: Vec<u8> = messages.iter().flat_map(Message::to_bytes).collect();
        session.echo(&all).map_err(|error| aborted(error.into()))?;
        let names: Vec<_> = messages.iter().map(|message| &message.names).collect();
        let torn = torn(&names);
        Ok(Self { parties, messages, torn })
    }

    /// Whether the parties may have looked before another run kept something and after: they know of different last
    /// versions, and so can't agree. All parties find the same, since they were told the same.
    pub(super) fn is_of_two_times(&self) -> bool {
        let Some((first, others)) = self.messages.split_first() else { return false };
        if others.iter().any(|other| other.slots != first.slots || !other.names_as(first)) {
            return false;
        }
        let last = |name| self.of(name).into_iter().map(|(_, told)| told.last).collect::<BTreeSet<_>>();
        let moved = first.names.keys().any(|name| last(name).len() > 1);
        let refused = |name: &String| self.current(name).is_err();
        moved
            && (first.names.keys().any(refused) || first.slots.iter().any(|slot| self.picked(slot).is_err()))
    }

    /// What each party told of a name.
    fn of(&self, name: &str) -> Vec<(&'p str, &Told)> {
        let told = self.messages.iter().map(|message| message.names.get(name).unwrap_or(&NOTHING));
        self.parties.iter().map(String::as_str).zip(told).collect()
    }

    /// The version of what is wanted that is read.
    ///
    /// # Errors
    /// As [`pick`].
    pub(super) fn picked(&self, wanted: &Wanted) -> Result<u64, String> {
        pick(&wanted.name, wanted.version, &self.of(&wanted.name), &self.torn)
    }

    /// The version that a name's next one comes after, if there is any.
    ///
    /// # Errors
    /// As [`current`].
    pub(super) fn current(&self, name: &str) -> Result<Option<u64>, String> {
        current(name, &self.of(name), &self.torn)
    }

    /// What may be passed over where these versions are settled ([`passable`]).
    fn passable(&self, settled: &[(String, u64)]) -> Passable {
        let mut all: Passable = self
            .messages
            .iter()
            .flat_map(|told| told.names.keys())
            .map(|name| (name.clone(), BTreeSet::new()))
            .collect();
        for (name, number) in settled {
            // A run may read two versions of one name.
            let those = passable(*number, &self.of(name), &self.torn);
            all.entry(name.clone()).or_default().extend(those);
        }
        all
    }

    /// Whether some party doesn't know that all have each of these. All parties find the same, since they were told the same.
    fn is_any_pending(&self, values: &[(String, u64)]) -> bool {
        let is_pending = |(_, told): (&str, &Told), number| told.standing(number) == Some(Standing::Pending);
        values.iter().any(|(name, number)| self.of(name).into_iter().any(|told| is_pending(told, *number)))
    }

    /// Has this party count as many versions of a name as it is to, if the counts are too far apart for a next one ([`raised`]).
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(super) fn level(&self, session: &mut Session, state: &mut State, name: &str) -> Result<(), Error> {
        let Some(last) = raised(&self.of(name), session.me()) else { return Ok(()) };
        raise(session, state, name, last)
    }

    /// The versions of a name that runs have left which broke off: those that some party has pending, of such as come after this
    /// one, which all have, and after all that count. All parties find the same, since they were told the same.
    fn left(&self, name: &str, number: u64) -> BTreeSet<u64> {
        let told = self.of(name);
        let is_pending =
            |later: &u64| told.iter().any(|(_, told)| told.standing(*later) == Some(Standing::Pending));
        passable(number, &told, &self.torn).into_iter().filter(is_pending).collect()
    }

    /// The number of a name's next version.
    ///
    /// # Errors
    /// As [`next_version`].
    pub(super) fn next(&self, name: &str) -> Result<u64, String> {
        next_version(name, &self.of(name))
    }
}

/// This party's shares of values that all have: of each the same, by its digests, at both that hold a part of it. One round.
///
/// # Errors
/// [`Error::Refused`] by all, with the name; [`Error::Store`].
pub(super) fn taken(
    session: &mut Session,
    state: &mut State,
    values: &[(String, u64)],
) -> Result<Vec<Arc<KeptShare>>, Error> {
    let mut shares = Vec::with_capacity(values.len());
    for (name, number) in values {
        // Others are told no names of files.
        let lost = || format!("its share of {name}@{number} can't be read");
        shares.push(state.share(name, *number).inspect_err(|_| session.abort(&lost()))?);
    }
    let held = values.iter().filter_map(|(name, number)| Some(state.version(name, *number)?.digests.clone()));
    let differs = compare(session, 1, &held.collect::<Vec<_>>());
    let differs = differs.map_err(|error| ended(session, error))?;
    if let Some((party, at)) = differs.filter(|_| !state.mistakes.has(Mistake::DigestsIgnored)) {
        let ((name, number), other) = (&values[at], session.name(party).to_owned());
        let reason =
            format!("{other} holds another share of {name}@{number} than it kept, or this party does");
        session.abort(&reason);
        return Err(Error::Refused(reason));
    }
    Ok(shares)
}

/// Settles what a run begins with; what that replaces is to be dropped only once all can be read, so [`taken`] comes
/// first. If some party has any of it pending, all wait until all others have said that they are about to, each under
/// a [claim](State::claim): one round more.
///
/// # Errors
/// [`Error::Refused`] if another run is about to settle what can't count beside it, and as [`State::settle`]; [`Error::Store`].
pub(super) fn begin(
    session: &mut Session,
    state: &mut State,
    told: &AllTold<'_>,
    values: &[(String, u64)],
) -> Result<(), Error> {
    let passable = told.passable(values);
    if told.is_any_pending(values) {
        state.claim(values, &passable).inspect_err(|refused| session.abort(&refused.to_string()))?;
        session.barrier().map_err(|error| ended(session, error))?;
    }
    for (name, number) in values {
        settle(session, state, (name, *number), &passable)?;
    }
    Ok(())
}

/// Makes room for the next version of a name, before it is put away after the one that this run begins with: what runs that broke
/// off have left is struck off, or it would pile up where runs break off again and again. If there is anything, all wait until all
/// others have [made sure](State::claim_over) that it never counts: one round more.
///
/// # Errors
/// [`Error::Refused`] if another run is about to settle any of it, or has, and if there are as many versions as there may be;
/// [`Error::Store`].
pub(super) fn make_room(
    session: &mut Session,
    state: &mut State,
    told: &AllTold<'_>,
    (name, number): (&str, u64),
    next: u64,
) -> Result<(), Error> {
    let mut left = told.left(name, number);
    // What is told of others may be anything.
    left.retain(|later| *later < next);
    if !left.is_empty() {
        let claimed = state.claim_over(name, number, next);
        claimed.inspect_err(|refused| session.abort(&refused.to_string()))?;
        // Who lacks any of it may still be in the run that made it, and puts nothing away there: that run has begun already.
        session.barrier().map_err(|error| ended(session, error))?;
        let lost = || format!("it can't strike off versions of {name}");
        state.strike(name, &left).inspect_err(|_| session.abort(&lost()))?;
    }
    state.admit(name).inspect_err(|refused| session.abort(&refused.to_string()))
}

/// Has this party count so many versions of a name at least ([`State::raise`]), or ends the session.
fn raise(session: &mut Session, state: &mut State, name: &str, last: u64) -> Result<(), Error> {
    let lost = || format!("it can't note how many versions of {name} there were");
    state.raise(name, last).inspect_err(|_| session.abort(&lost()))
}

/// Puts shares away, each with the version that its run began with, once all parties have theirs: what not all have
/// is never read. Two rounds, whose bytes count as those of the setup. What was put away, as `weights@3`.
///
/// # Errors
/// The first failure; what is put away then stays pending.
pub(super) fn put_away(
    session: &mut Session,
    state: &mut State,
    shares: Vec<(About, Option<u64>, KeptShare)>,
) -> Result<Vec<String>, Error> {
    let (mut values, mut own, mut held, mut puts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (about, after, share) in shares {
        let digests = digests(&share);
        own.push(about.hash());
        values.push(about.to_string());
        held.push(digests.clone());
        puts.push(Made { about, after, digests, share: Arc::new(share) });
    }
    session.mesh().set_phase(Phase::Setup);
    let differs = compare(session, 3, &held).map_err(|error| ended(session, error))?;
    if let Some((party, at)) = differs {
        // Where clients' shares aren't compared before, it may be a client's doing. Equality is exact, so whoever tries again gains
        // nothing.
        return Err(aborted(session.inconsistent(party, &format!("the share of {}", values[at])).into()));
    }
    let lost = || format!("its shares of {} couldn't be put away", values.join(" and "));
    let new: Vec<_> = puts.iter().map(|made| (made.about.name.clone(), made.about.version)).collect();
    let first = new.first().cloned();
    // What another run puts away meanwhile is passed over by none of these.
    let none = puts.iter().map(|made| (made.about.name.clone(), BTreeSet::new())).collect();
    let put = state.claim_new(new).and_then(|()| state.put(puts));
    put.inspect_err(|_| session.abort(&lost()))?;
    let own = own.concat();
    let at = At { lane: 0, part: step::KEPT, op: 2, batch: 0 };
    let read = |bytes: &[u8]| (bytes == own).then_some(());
    let told = session.tell_all(at, &own, own.len(), "what it has kept", read);
    told.map_err(|error| ended(session, error))?;
    // What one run kept settles together.
    if let Some((name, number)) = first {
        settle(session, state, (&name, number), &none)?;
    }
    Ok(values)
}

/// Notes that all have a version ([`State::settle`]), or ends the session: others are told no names of files.
fn settle(
    session: &mut Session,
    state: &mut State,
    (name, number): (&str, u64),
    passable: &Passable,
) -> Result<(), Error> {
    let lost = || format!("it can't note that all have {name}@{number}");
    state.settle(name, number, passable).inspect_err(|_| session.abort(&lost()))
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
fn ended(session: &mut Session, error: tacit_session::Error) -> Error {
    session.abort(&error.to_string());
    aborted(error.into())
}

#[cfg(test)]
mod tests {
    use super::super::agree::ToldVersion;
    use super::super::versions::PartDigest;
    use super::*;
    use tacit_testkit::{Draws, World, party_names, play};

    /// Each party holds parts of its own, and parts with one other: a digest goes to that one and to nobody else.
    #[test]
    fn a_digest_goes_to_the_other_holder_of_its_part_alone() {
        let own = |me: u8| -> Vec<Digests> {
            let part = |number: u8, other: Option<u8>, digest: u8| PartDigest {
                number,
                other,
                digest: [digest; 32],
            };
            let pair = |one: u8, two: u8| 0x80 | one.min(two) << 4 | one.max(two);
            let others = (0..3).filter(|other| *other != me);
            let shared = others.map(|other| part(pair(me, other), Some(other), pair(me, other))).collect();
            vec![vec![part(me, None, 0x40 | me)], shared]
        };
        let world = World::new(3, 0);
        let agreement = tacit_session::Agreement::among(party_names(3), "none", String::new());
        let same = play(world.transports(), &agreement, &Draws::fixed(1), |session| {
            compare(session, 1, &own(session.me() as u8))
        });
        assert!(same.into_iter().all(|same| same.is_ok_and(|differs| differs.is_none())));
        let trace = world.trace();
        let told = trace.deliveries().iter().filter(|delivery| delivery.at.part == step::KEPT);
        let mut count = 0;
        for delivery in told {
            count += 1;
            let digests: Vec<&[u8]> = delivery.payload.chunks(32).collect();
            let (one, two) = (delivery.from.min(delivery.to) as u8, delivery.from.max(delivery.to) as u8);
            assert_eq!(digests, [[0x80 | one << 4 | two; 32]], "from {} to {}", delivery.from, delivery.to);
        }
        assert_eq!(count, 6);
    }

    #[test]
    fn the_reader_of_what_is_told_bears_mutants() {
        let version =
            |number: u64, standing| ToldVersion { number, standing, session: [7; 32], value: [8; 32] };
        let versions = vec![version(1, Standing::Dropped), version(300, Standing::Settled)];
        let names = BTreeMap::from([("x".to_owned(), Told { last: 301, versions })]);
        let slots = vec![Wanted { name: "x".into(), version: Some(300), rows: vec![3, 0, 900] }];
        let told = Message { slots, names };
        let bytes = told.to_bytes();
        assert_eq!(Message::read(&bytes, 1), Some(told));
        let nothing = Message { slots: Vec::new(), names: BTreeMap::new() }.to_bytes();
        crate::testing::bears_mutants(&[bytes, nothing], |bytes| {
            if let Some(told) = Message::read(bytes, 1) {
                assert_eq!(told.to_bytes(), bytes);
            }
        });
    }

    #[test]
    fn whose_digest_differs_is_said() {
        let agreement = tacit_session::Agreement::among(party_names(2), "none", String::new());
        let differs = play(World::new(2, 0).transports(), &agreement, &Draws::fixed(1), |session| {
            let me = session.me() as u8;
            let digests =
                [[1; 32], [me; 32]].map(|digest| vec![PartDigest { number: 0, other: Some(1 - me), digest }]);
            compare(session, 1, &digests)
        });
        let differs: Vec<_> = differs.into_iter().map(Result::unwrap).collect();
        assert_eq!(differs, [Some((1, 1)), Some((0, 1))]);
    }
}
