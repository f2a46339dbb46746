//! What a protocol's name leaves to the network: the role assignment, and how numbers are compared.
//!
//! *Roles.* A protocol has roles if it has a parameter of that name. The network decides their order if the protocol's
//! name says `roles=auto` or, in a deployment, doesn't say an order (`roles=201`). *Comparison.* A protocol may have
//! several ways to compare. With `comparison=auto` the network decides which one is taken; without it the default is
//! taken.
//!
//! Before the run proper the parties of a deployment measure their links ([`Session::measure`]). Each computes the same
//! selection ([`select`]) from the same figures by the same rule. Where all parties are in one process their links take
//! no time, and the default is taken.
//!
//! A corrupt party can only make a run slower, or make it take some gigabytes more. Neither matters to what a protocol
//! hides.

use crate::compiled::Compiled;
use crate::endpoint::{Endpoint, establish};
use crate::error::Error;
use crate::material::{all_or_none, part};
use crate::price::price;
use crate::registry::{AUTO, Chosen, protocol};
use crate::report::{Comparison, Making};
use std::fmt;
use std::sync::Arc;
use tacit_engine::{Participants, Protocol};
use tacit_net::{Mesh, Profile};
use tacit_program::cost::{Cost, Phase};
use tacit_session::{Agreement, Session};

/// The parameter whose values are orders of the parties: of `201` the third party plays `P_0`, the first `P_1`.
const ROLES: &str = "roles";

/// The parameter whose values are ways to compare numbers.
const COMPARISON: &str = "comparison";

/// Predictions that differ by no more than this factor count as the same, so that what is measured anew before each run
/// doesn't change the choice each time.
const NEAR: f64 = 1.1;

/// What is left to the network never takes more bytes than this over those of the way that takes fewest: a party that lies about
/// its links can't make the others keep more material than that.
const MOST_OVER: u64 = 4 << 30;

/// What is selected for a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// The protocol's name with all that it left to the network, as [`protocol`] takes it.
    pub protocol: String,
    /// The role assignment, if that was left to the network.
    pub roles: Option<RoleAssignment>,
    /// How numbers are compared, if that was.
    pub comparison: Option<Comparison>,
}

/// The role assignment: who plays what.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleAssignment {
    /// The names of those who play `P_0`, `P_1` and so on.
    pub parties: Vec<String>,
    /// What the network takes so, by prediction.
    pub seconds: Seconds,
    /// The same for the order that is slowest online.
    pub slowest: Seconds,
}

/// What the network takes of a run, by prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seconds {
    /// From the inputs to the outputs, without the offline phase.
    pub online: f64,
    /// In all.
    pub total: f64,
}

/// What all endpoints of a deployment have negotiated.
#[derive(Clone)]
pub struct Negotiated {
    /// The protocol, with nothing left open.
    pub protocol: Arc<dyn Protocol>,
    /// How numbers are compared, if that was left open.
    pub comparison: Option<Comparison>,
}

/// Whether a deployment that runs the protocol of this name leaves something to the network.
///
/// # Errors
/// If there is no such protocol.
pub fn is_open(name: &str) -> Result<bool, Error> {
    Ok(!Chosen::of(name)?.open.is_empty())
}

/// The names of those who play a protocol's `P_0`, `P_1` and so on; empty if its parties are all alike.
pub fn players(protocol: &dyn Protocol, parties: &[String]) -> Vec<String> {
    protocol.roles().into_iter().filter_map(|party| parties.get(party).cloned()).collect()
}

/// How numbers are compared under a protocol, if that was left to the network and nothing was predicted.
pub(crate) fn comparison(chosen: &Chosen, protocol: &dyn Protocol) -> Option<Comparison> {
    let is_open = !chosen.left(COMPARISON).is_empty();
    let picked = is_open.then(|| protocol.value(COMPARISON));
    picked.map(|picked| Comparison { picked, seconds: Vec::new(), making: Making::InRun })
}

/// What is played where nothing is known of the network, as in a run within one process: all that a name leaves to it is as
/// usual.
///
/// # Errors
/// If there is no such protocol.
pub fn select_default(name: &str) -> Result<Selection, Error> {
    let chosen = Chosen::of(name)?;
    let comparison = comparison(&chosen, &*chosen.protocol);
    Ok(Selection { protocol: name.to_owned(), roles: None, comparison })
}

/// The selection, by the prediction for a network.
///
/// Role assignment: of all orders those within 10 % of the quickest online, of these those within 10 % of the quickest
/// in all, and of these the first, in the order in which the protocol offers them. Online comes first because it is
/// what whoever gives an input waits for, and material may be made ahead.
///
/// How numbers are compared, with these roles each: the first way within 10 % of the quickest, by the seconds that are
/// waited for, of those that take at most 4 GiB more than another. `price` says what the run costs under the protocol of
/// a name. `endpoints` are the parties, and then the clients. A name that leaves nothing open is what is picked.
///
/// # Errors
/// If there is no such protocol, and those of `price`.
pub fn select(
    name: &str,
    endpoints: &[String],
    net: &Profile,
    making: Making,
    price: impl Fn(&str) -> Result<Cost, Error>,
) -> Result<Selection, Error> {
    let chosen = Chosen::of(name)?;
    let ways = chosen.left(COMPARISON);
    if ways.is_empty() {
        return Ok(select_roles(&chosen, endpoints, net, price)?.0);
    }
    let each = ways.iter().filter_map(|way| chosen.with(COMPARISON, way));
    let all = each.map(|way| select_roles(&way, endpoints, net, &price));
    let mut all = all.collect::<Result<Vec<_>, _>>()?;
    let least = all.iter().map(|(.., bytes)| *bytes).min().unwrap_or(0);
    let seconds: Vec<f64> = all.iter().map(|(_, seconds, _)| seconds.waited(making)).collect();
    let within = |(seconds, (.., bytes)): (&f64, &(Selection, Seconds, u64))| {
        if bytes - least <= MOST_OVER { *seconds } else { f64::INFINITY }
    };
    let place = first_near(&seconds.iter().zip(&all).map(within).collect::<Vec<_>>());
    let seconds = ways.iter().copied().zip(seconds).collect();
    let comparison = Comparison { picked: ways[place], seconds, making };
    Ok(Selection { comparison: Some(comparison), ..all.swap_remove(place).0 })
}

/// The selection for runs of a program on a network that is given instead of measured: as [`select`], with the links of
/// the program's clients, which nobody measures.
///
/// # Errors
/// Those of [`price`](crate::price()).
pub fn select_for(
    compiled: &Arc<Compiled>,
    name: &str,
    parties: &[String],
    net: &Profile,
    making: Making,
) -> Result<Selection, Error> {
    let endpoints = [parties, &Participants::clients_of(compiled.plan(), parties)].concat();
    select(name, &endpoints, net, making, |name| Ok(price(compiled, name, parties)?.total))
}

/// The same for roles alone, what the network takes then, and bytes.
fn select_roles(
    chosen: &Chosen,
    endpoints: &[String],
    net: &Profile,
    price: impl Fn(&str) -> Result<Cost, Error>,
) -> Result<(Selection, Seconds, u64), Error> {
    let orders = chosen.left(ROLES);
    if orders.is_empty() {
        let protocol = chosen.to_string();
        let cost = price(&protocol)?;
        let selection = Selection { protocol, roles: None, comparison: None };
        return Ok((selection, Seconds::of(&cost, net, endpoints), cost.bytes()));
    }
    let mut all = Vec::new();
    for order in orders.iter().filter_map(|order| chosen.with(ROLES, order)) {
        let cost = price(&order.to_string())?;
        all.push((order, Seconds::of(&cost, net, endpoints), cost.bytes()));
    }
    let seconds: Vec<Seconds> = all.iter().map(|(_, seconds, _)| *seconds).collect();
    let slowest = seconds.iter().copied().max_by(|a, b| a.online.total_cmp(&b.online));
    let (picked, seconds, bytes) = all.swap_remove(pick(&seconds));
    let parties = players(&*picked.protocol, endpoints);
    let seating = RoleAssignment { parties, seconds, slowest: slowest.unwrap_or(seconds) };
    let protocol = picked.to_string();
    Ok((Selection { protocol, roles: Some(seating), comparison: None }, seconds, bytes))
}

/// Negotiates what the name of a run's protocol leaves to the network, over the links of its first lane. Returns the
/// links, for the run proper, and the result.
///
/// It has a session of its own, whose agreement says what is open. The parties measure their links and select, by what
/// `price` says that the run costs under the protocol of a name. All tell the clients, who accept it if all say the
/// same. An endpoint with another result notices when the run proper is agreed on.
///
/// # Errors
/// If the run ends here, because a link failed, somebody deviated, or somebody is about to run something else.
pub fn negotiate(
    mesh: Mesh,
    endpoint: &Endpoint,
    name: &str,
    price: impl Fn(&str) -> Result<Cost, Error>,
) -> Result<(Mesh, Negotiated), Error> {
    let chosen = &Chosen::of(name)?;
    let settling = Negotiation { endpoint, chosen, making: Making::InRun, made: None, measured: None };
    settling.negotiate(mesh, endpoint.agreement(), price)
}

/// An endpoint's part in negotiating what a name leaves open.
pub(crate) struct Negotiation<'a> {
    /// The endpoint with all that is open as usual.
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) chosen: &'a Chosen,
    pub(crate) making: Making,
    /// What the material of this party's store was made under, if there is a store.
    pub(crate) made: Option<Arc<dyn Protocol>>,
    /// What this party has measured with all others before, if it has.
    pub(crate) measured: Option<Arc<Measured>>,
}

/// The parties' links as they were measured by all together, between runs.
#[derive(Debug)]
pub(crate) struct Measured {
    /// Which measurement it was: the number of the run that it was.
    pub(crate) number: u64,
    /// The same at all parties.
    pub(crate) net: Profile,
}

/// What stands before the number of a measurement where a party tells what it has; no value of a protocol's begins so.
const MEASURED: &str = "measured ";

impl Negotiation<'_> {
    /// As [`negotiate`], with what is agreed on in the end. Where the parties have material already, nothing is
    /// measured: the material decides.
    pub(crate) fn negotiate(
        &self,
        mesh: Mesh,
        agreement: Agreement,
        price: impl Fn(&str) -> Result<Cost, Error>,
    ) -> Result<(Mesh, Negotiated), Error> {
        let aborted = |cause: tacit_session::Error| self.endpoint.compiled.aborted(cause.into());
        let words = self.chosen.open.iter().map(|open| format!(", {}={AUTO}", open.name));
        let parameters = words.fold(agreement.parameters, |all, word| all + &word);
        let agreement = Agreement { parameters, ..agreement };
        let mut session = establish(self.endpoint, mesh, agreement)?;
        let is_party = session.me() < session.parties();
        let (selected, mut comparison) = if is_party {
            self.negotiated_by_parties(&mut session, price)?
        } else {
            (session.receive_selection().map_err(aborted)?, None)
        };
        // What peers tell may be anything.
        let Some(protocol) = self.read(&selected) else {
            let what = "the parties settled on values that the protocol does not have";
            return Err(aborted(session.reject(what)));
        };
        if is_party {
            session.send_selection(&selected).map_err(aborted)?;
        }
        comparison = comparison.or_else(|| self::comparison(self.chosen, &*protocol));
        Ok((session.into_mesh(), Negotiated { protocol, comparison }))
    }

    /// A party's part: the values of all that is open, and the prediction that led to them.
    fn negotiated_by_parties(
        &self,
        session: &mut Session,
        price: impl Fn(&str) -> Result<Cost, Error>,
    ) -> Result<(String, Option<Comparison>), Error> {
        let aborted = |cause: tacit_session::Error| self.endpoint.compiled.aborted(cause.into());
        let made = self.made.as_ref().map(|made| self.chosen.told(&**made));
        let known = self.measured.as_ref().map(|measured| format!("{MEASURED}{}", measured.number));
        let own = made.or(known).unwrap_or_default();
        let mut all = session.tell_parties(&own).map_err(aborted)?;
        // What one measurement gave all have alike; nothing is measured if all name the same.
        let same = all.iter().all(|told| *told == own);
        let known = self.measured.as_ref().filter(|_| same && own.starts_with(MEASURED));
        for told in all.iter_mut().filter(|told| told.starts_with(MEASURED)) {
            told.clear();
        }
        // What peers tell may be anything, and is shown to nobody before it was read.
        for made in all.iter().filter(|made| !made.is_empty()) {
            if self.read(made).is_none() {
                let what = "a party says that its store was made with values that the protocol does not have";
                return Err(aborted(session.reject(what)));
            }
        }
        if let Some(made) = self.common(&all).map_err(|error| part(session, error))? {
            return Ok((made, None));
        }
        let parties = &self.endpoint.parties;
        let net = match known {
            Some(measured) => measured.net.clone(),
            None => session.measure().map_err(aborted)?,
        };
        let selection = select(&self.chosen.to_string(), parties, &net, self.making, price)
            .inspect_err(|error| session.abort(&error.to_string()))?;
        Ok((self.chosen.told(&*protocol(&selection.protocol)?), selection.comparison))
    }

    /// What the material of all parties was made with, if they have some, of what each has told.
    fn common(&self, all: &[String]) -> Result<Option<String>, Error> {
        let parties = &self.endpoint.parties;
        if self.making == Making::InRun {
            all_or_none(parties, &all.iter().map(|made| !made.is_empty()).collect::<Vec<_>>())?;
        }
        let mut made = parties.iter().zip(all).filter(|(_, made)| !made.is_empty());
        let Some((name, first)) = made.next() else { return Ok(None) };
        match made.find(|(_, made)| *made != first) {
            None => Ok(Some(first.clone())),
            Some((other, made)) => Err(Error::Refused(format!(
                "the parties' stores were made for different roles or comparisons: that of {name} for {first}, that of {other} \
                 for {made}; delete those that don't fit, and make new material"
            ))),
        }
    }

    /// The protocol with these values of what is open; `None` if it doesn't have them.
    fn read(&self, selected: &str) -> Option<Arc<dyn Protocol>> {
        let words: Vec<&str> = selected.split(' ').collect();
        let mut open = self.chosen.open.iter().zip(&words);
        let protocol = open.try_fold(self.chosen.protocol.clone(), |protocol, (open, word)| {
            protocol.with_parameter(open.name, word)
        });
        protocol.filter(|_| words.len() == self.chosen.open.len())
    }
}

impl Seconds {
    fn of(cost: &Cost, net: &Profile, endpoints: &[String]) -> Self {
        let online = cost.phases().filter(|(phase, _)| *phase != Phase::Offline);
        let online = online.map(|(_, cost)| cost.network_seconds(net, endpoints)).sum();
        Self { online, total: cost.network_seconds(net, endpoints) }
    }

    fn waited(self, making: Making) -> f64 {
        match making {
            Making::InRun => self.total,
            Making::Offline => self.online,
        }
    }
}

impl fmt::Display for RoleAssignment {
    /// `0 = berlin, 1 = london, 2 = new york, because ...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seconds, slowest, .. } = self;
        write!(f, "{}, because ", describe_roles(&self.parties))?;
        if slowest.online <= NEAR * seconds.online {
            write!(f, "all orders take about as long online")
        } else {
            write!(
                f,
                "the network takes {:.3} s online so, and {:.3} s in the slowest order",
                seconds.online, slowest.online
            )
        }
    }
}

impl fmt::Display for Comparison {
    /// `garbled: the network takes 0.383 s with prefix, 0.103 s with garbled`, and why not the quickest if it isn't.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { picked, seconds, making } = self;
        f.write_str(picked)?;
        let Some(taken) = seconds.iter().find(|(way, _)| way == picked).map(|(_, seconds)| *seconds) else {
            return Ok(());
        };
        let each: Vec<String> =
            seconds.iter().map(|(way, seconds)| format!("{seconds:.3} s with {way}")).collect();
        let online = if *making == Making::Offline { " online" } else { "" };
        write!(f, ": the network takes {}{online}", each.join(", "))?;
        let least = seconds.iter().map(|(_, seconds)| *seconds).fold(f64::INFINITY, f64::min);
        if taken <= least {
            Ok(())
        } else if taken <= NEAR * least {
            write!(f, "; within a tenth of the quickest counts as the same, and {picked} is usual")
        } else {
            write!(f, "; the quicker one takes over {} GiB more", MOST_OVER >> 30)
        }
    }
}

/// Who plays what, in words: 0 is the `P_0` of the protocol's page, whatever parties are called.
pub fn describe_roles(players: &[String]) -> String {
    let each = players.iter().enumerate().map(|(role, player)| format!("{role} = {player}"));
    each.collect::<Vec<_>>().join(", ")
}

/// The place of the order to take, of one at least.
fn pick(all: &[Seconds]) -> usize {
    let online: Vec<f64> = all.iter().map(|seconds| seconds.online).collect();
    let quick = near(&online);
    let total = |(seconds, quick): (&Seconds, bool)| if quick { seconds.total } else { f64::INFINITY };
    let total: Vec<f64> = all.iter().zip(quick).map(total).collect();
    first_near(&total)
}

/// The place of the first that is about the least.
fn first_near(seconds: &[f64]) -> usize {
    near(seconds).into_iter().position(|near| near).unwrap_or(0)
}

/// Which are about the least.
fn near(seconds: &[f64]) -> Vec<bool> {
    let most = NEAR * seconds.iter().copied().fold(f64::INFINITY, f64::min);
    seconds.iter().map(|&seconds| seconds <= most).collect()
}
