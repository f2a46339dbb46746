//! Which party plays which role, in protocols whose roles differ: as the network would have it.
//!
//! A protocol has roles if it offers a parameter of that name. A deployment whose protocol's name doesn't say their order
//! (`roles=201`), or says `roles=auto`, leaves it to the network: before the run proper the parties measure their links
//! ([`Session::measure`]), and [`cast`] picks for all of them, from the same figures by the same rule. Where all
//! parties are in one process their links are alike, and `roles=auto` is the usual order.
//!
//! A corrupt party can only make a run slower: the order is of no matter to what a protocol hides.

use crate::{Endpoint, Error, protocol};
use std::fmt;
use tacit_engine::Protocol;
use tacit_net::{Mesh, Profile};
use tacit_program::cost::{Cost, LinkProfile, NetProfile, Phase};
use tacit_session::{OsEntropy, Session};

/// The parameter whose values are orders of the parties: of `201` the third party plays `P_0`, the first `P_1`.
const PARAMETER: &str = "roles";

/// The parameter with the value that leaves it to the network.
pub(crate) const AUTO: &str = "roles=auto";

/// Predictions that differ by no more than this factor count as the same, so that what is measured anew before each run
/// doesn't change the order each time.
const NEAR: f64 = 1.1;

/// Who plays what.
#[derive(Clone, Debug, PartialEq)]
pub struct Casting {
    /// The value of the protocol's parameter `roles`.
    pub order: &'static str,
    /// The protocol's name with it, as [`protocol`] takes it.
    pub protocol: String,
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
    /// From the inputs to the outputs, without what is done ahead of time.
    pub online: f64,
    /// In all.
    pub total: f64,
}

/// Whether a deployment that runs the protocol of this name leaves the roles to the network.
///
/// # Errors
/// If there is no such protocol.
pub fn is_open(name: &str) -> Result<bool, Error> {
    let given = name.split_whitespace().rfind(|word| is_order(word));
    Ok(!orders(protocol(name)?).is_empty() && given.is_none_or(|word| word == AUTO))
}

/// The names of those who play a protocol's `P_0`, `P_1` and so on; empty if its parties are all alike.
pub fn players(protocol: &dyn Protocol, parties: &[String]) -> Vec<String> {
    let own = protocol.parameters();
    let given = own.split_whitespace().find_map(|word| word.strip_prefix(PARAMETER)?.strip_prefix('='));
    // The usual value, the first, goes without saying.
    let order = given.or_else(|| orders(protocol).first().copied()).unwrap_or_default();
    let player = |digit: char| parties.get(digit.to_digit(10)? as usize).cloned();
    order.chars().filter_map(player).collect()
}

/// Who is to play what, by the prediction for a network: of all orders those within 10 % of the quickest online, of these
/// those within 10 % of the quickest in all, and of these the first, in the order in which the protocol offers them.
///
/// Online comes first because it is what whoever gives an input waits for, and material may be made ahead.
/// `price` says what the run costs under the protocol of a name.
///
/// # Errors
/// If there is no such protocol or it has no roles, and those of `price`.
pub fn cast(
    name: &str,
    parties: &[String],
    net: &NetProfile,
    price: impl Fn(&str) -> Result<Cost, Error>,
) -> Result<Casting, Error> {
    let mut all = Vec::new();
    for order in orders(protocol(name)?) {
        let named = in_order(name, order);
        let (players, seconds) = (players(protocol(&named)?, parties), Seconds::of(&price(&named)?, net));
        all.push(Casting { order, protocol: named, parties: players, seconds, slowest: seconds });
    }
    let predictions: Vec<Seconds> = all.iter().map(|casting| casting.seconds).collect();
    let slowest = predictions.iter().copied().max_by(|a, b| a.online.total_cmp(&b.online));
    match (pick(&predictions), slowest) {
        (Some(place), Some(slowest)) => Ok(Casting { slowest, ..all.swap_remove(place) }),
        _ => Err(Error::Refused(format!("protocol {name:?} has no roles: its parties are all alike"))),
    }
}

/// A network by the names of its endpoints, as one by their numbers. A link that it doesn't name takes no time.
pub fn network(profile: &Profile, endpoints: &[String]) -> NetProfile {
    let mut net = NetProfile::uniform(LinkProfile::UNLIMITED);
    for (one, name) in endpoints.iter().enumerate() {
        for (other, other_name) in endpoints.iter().enumerate().skip(one + 1) {
            if let Some(shape) = profile.between(name, other_name) {
                let rtt_seconds = shape.rtt.as_secs_f64();
                net = net.with(
                    one,
                    other,
                    LinkProfile { rtt_seconds, bits_per_second: shape.bandwidth as f64 },
                );
            }
        }
    }
    net
}

/// Settles the roles of a run that leaves them to the network, over the links of its first lane: the links, for the run
/// proper, and the protocol with its roles.
///
/// In a session of its own, whose agreement says that the roles are open. The parties measure their links and cast, with what
/// `price` says that the run costs under the protocol of a name; all tell the clients, who go by it if all say the same.
/// Whoever came to another order notices when the run proper is agreed on.
///
/// Material that was made ahead has its roles already: then there is nothing to measure ([`settle_as_made`]).
///
/// # Errors
/// If the run ends here, because a link failed, somebody deviated, or somebody is about to run something else.
pub fn settle(
    mesh: Mesh,
    endpoint: &Endpoint,
    name: &str,
    price: impl Fn(&str) -> Result<Cost, Error>,
) -> Result<(Mesh, &'static dyn Protocol), Error> {
    let aborted = |cause: tacit_session::Error| endpoint.compiled.aborted(cause.into());
    let mut session =
        Session::establish(mesh, endpoint.agreement_on(AUTO), Box::new(OsEntropy)).map_err(aborted)?;
    let is_party = session.me() < session.parties();
    let order = if is_party {
        let profile = session.measure().map_err(aborted)?;
        let net = network(&profile, &endpoint.parties);
        match cast(name, &endpoint.parties, &net, price) {
            Ok(casting) => casting.order.to_owned(),
            Err(error) => {
                session.abort(&error.to_string());
                return Err(error);
            }
        }
    } else {
        session.told().map_err(aborted)?
    };
    // What peers tell may be anything.
    let Some(order) = orders(endpoint.protocol).iter().find(|known| **known == order) else {
        return Err(aborted(session.reject("the parties settled on roles that the protocol does not have")));
    };
    if is_party {
        session.tell_clients(order).map_err(aborted)?;
    }
    Ok((session.into_mesh(), protocol(&in_order(name, order))?))
}

/// A party's part of [`settle`] where its material has the roles already: it tells the clients, who can't know.
pub(crate) fn settle_as_made(mesh: Mesh, endpoint: &Endpoint) -> Result<Mesh, Error> {
    let aborted = |cause: tacit_session::Error| endpoint.compiled.aborted(cause.into());
    let mut session =
        Session::establish(mesh, endpoint.agreement_on(AUTO), Box::new(OsEntropy)).map_err(aborted)?;
    if let Some(usual) = orders(endpoint.protocol).first() {
        session.tell_clients(usual).map_err(aborted)?;
    }
    Ok(session.into_mesh())
}

impl Seconds {
    fn of(cost: &Cost, net: &NetProfile) -> Self {
        let online = cost.phases().filter(|(phase, _)| *phase != Phase::Offline);
        let online = online.map(|(_, cost)| cost.network_seconds(net)).sum();
        Self { online, total: cost.network_seconds(net) }
    }
}

impl fmt::Display for Casting {
    /// `P_0 = berlin, P_1 = london, P_2 = new york, because ...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seconds, slowest, .. } = self;
        write!(f, "{}, because ", told(&self.parties))?;
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

/// Who plays what, in words.
pub fn told(players: &[String]) -> String {
    let each = players.iter().enumerate().map(|(role, player)| format!("P_{role} = {player}"));
    each.collect::<Vec<_>>().join(", ")
}

/// The place of the one to take.
fn pick(all: &[Seconds]) -> Option<usize> {
    let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
    let online = NEAR * least(&mut all.iter().map(|seconds| seconds.online));
    let quick = || all.iter().enumerate().filter(|(_, seconds)| seconds.online <= online);
    let total = NEAR * least(&mut quick().map(|(_, seconds)| seconds.total));
    quick().find(|(_, seconds)| seconds.total <= total).map(|(place, _)| place)
}

/// The orders that a protocol offers, the usual one first.
pub(crate) fn orders(protocol: &dyn Protocol) -> &'static [&'static str] {
    protocol.offered().iter().find(|(parameter, _)| *parameter == PARAMETER).map_or(&[], |(_, orders)| orders)
}

/// Whether a word of a protocol's name says the roles.
fn is_order(word: &str) -> bool {
    word.split_once('=').is_some_and(|(parameter, _)| parameter == PARAMETER)
}

/// A protocol's name with another order.
fn in_order(name: &str, order: &str) -> String {
    let words = name.split_whitespace().filter(|word| !is_order(word));
    words.map(ToOwned::to_owned).chain([format!("{PARAMETER}={order}")]).collect::<Vec<_>>().join(" ")
}
