//! What a run will cost: payload bytes per link and phase, and rounds, from the plan alone.

use crate::compiled::Compiled;
use crate::endpoint::{Endpoint, admitted};
use crate::error::Error;
use crate::lanes::lane_count;
use crate::material::two_phases;
use crate::registry::{protocol, protocols};
use std::sync::Arc;
use tacit_engine::{Checks, Participants, Protocol};
use tacit_program::Feature;
use tacit_program::cost::{Cost, CostModel, Flow, Itemised, Phase, Step, of_plan};
use tacit_program::plan::{Op, OpKind, Plan, Stage};
use tacit_session::Session;

/// The cost of a run under the protocol of a name, in all, for every node of the program, and for all nodes together.
///
/// Exact: the links' counters agree to the byte, phase by phase. Only the handshake (setup) is left out: some
/// kilobytes, which depend on the lengths of names.
///
/// # Errors
/// If there is no such protocol, if it isn't for as many parties or can't run the program.
pub fn price(compiled: &Arc<Compiled>, name: &str, parties: &[String]) -> Result<Itemised, Error> {
    price_in(compiled, name, parties, 1)
}

/// The same of one of the lanes of a run that has so many: a run keeps its bound over all of them together, and what each
/// checks can depend on it.
pub(crate) fn price_in(
    compiled: &Arc<Compiled>,
    name: &str,
    parties: &[String],
    lanes: u16,
) -> Result<Itemised, Error> {
    let (mut breakdown, setup) = price_part(compiled, name, parties, lanes)?;
    share_checks(&mut breakdown, &setup);
    Ok(breakdown)
}

/// The same without what a session makes ready once, which is told apart.
fn price_part(
    compiled: &Arc<Compiled>,
    name: &str,
    parties: &[String],
    lanes: u16,
) -> Result<(Itemised, Checks), Error> {
    let (compiled, Prices { protocol, participants }) = prices(compiled, name, parties)?;
    let setup = protocol.setup(compiled.plan(), &participants);
    let together = protocol.checks_together(compiled.plan(), &participants, 1, lanes);
    let mut breakdown = of_instance(compiled.plan(), &Prices { protocol, participants });
    share_checks(&mut breakdown, &together);
    Ok((breakdown, setup))
}

/// The cost of programs that are run so many times each, one after another, in one of so many lanes.
pub(crate) fn price_parts(
    parts: [(Option<&Arc<Compiled>>, u64); 2],
    name: &str,
    parties: &[String],
    lanes: u16,
) -> Result<Cost, Error> {
    let mut total = Cost::default();
    let mut ready = Itemised::default();
    for (compiled, times) in parts {
        let Some(compiled) = compiled else { continue };
        let (breakdown, setup) = price_part(compiled, name, parties, lanes)?;
        for (phase, cost) in breakdown.total.phases() {
            total.add_times(phase, cost, times);
        }
        // With the first part that needs it.
        if ready.total == Cost::default() {
            share_checks(&mut ready, &setup);
        }
    }
    total += &ready.total;
    Ok(total)
}

/// The cost of a run that has a lane for each of these, under the protocol of a name: bytes add up, and each phase has the
/// rounds of the lane that has the most.
///
/// # Errors
/// As [`price`], and if a run can't have as many lanes.
pub fn price_lanes(lanes: &[Endpoint], name: &str) -> Result<Cost, Error> {
    let count = lane_count(lanes.len())?;
    let mut total = Cost::default();
    for lane in lanes {
        let parts = [(Some(&lane.compiled), lane.times), (lane.rest.as_ref().map(|(rest, _)| rest), 1)];
        total.add_beside(&price_parts(parts, name, &lane.parties, count)?);
    }
    Ok(total)
}

/// A program with its plan for the protocol of a name, and the prices of it.
fn prices(
    compiled: &Arc<Compiled>,
    name: &str,
    parties: &[String],
) -> Result<(Arc<Compiled>, Prices), Error> {
    let protocol = protocol(name)?;
    let clients = Participants::clients_of(compiled.plan(), parties);
    let (compiled, roles) = admitted(compiled, &*protocol, parties, &clients)?;
    Ok((compiled, Prices { protocol, participants: roles }))
}

/// The cost of a run but for what is checked together with other runs.
fn of_instance(plan: &Plan, prices: &Prices) -> Itemised {
    let Prices { protocol, participants: roles } = prices;
    let mut breakdown = of_plan(plan, prices);
    for &client in roles.clients().iter().filter(|&&client| roles.gives(plan, client)) {
        for (phase, flow) in protocol.price(plan, roles, Step::Seeds { client }) {
            breakdown.share(phase, &flow);
        }
    }
    breakdown.total.add_rounds(Phase::Offline, protocol.offline_rounds(plan, roles));
    share_checks(&mut breakdown, &protocol.checks(plan, roles));
    breakdown
}

fn share_checks(breakdown: &mut Itemised, checks: &Checks) {
    for (phase, flow) in &checks.flows {
        breakdown.share(*phase, flow);
    }
    for &(phase, rounds) in &checks.rounds {
        breakdown.share_rounds(phase, rounds);
    }
    breakdown.transfers = breakdown.transfers.saturating_add(checks.transfers);
}

/// What a program's branches take under the protocol of a name, in words; `None` if it has none.
///
/// # Errors
/// If there is no such protocol.
pub fn branches_in_words(compiled: &Compiled, name: &str) -> Result<Option<&'static str>, Error> {
    if compiled.program().branches() == 0 {
        return Ok(None);
    }
    let capabilities = protocol(name)?.capabilities();
    Ok(Some(if capabilities.offers(Feature::MaskedArms) {
        "all arms are computed, and bytes on inputs are those of all; triples before inputs are those of the longest path"
    } else if capabilities.offers(Feature::ZeroedArms) {
        "all arms are computed, and bytes on inputs are those of all; products before inputs are, layer by layer, those of the \
         arm with most"
    } else {
        "all arms are computed, and the bytes are those of all"
    }))
}

/// Names to compare the prices of, if none is given: those of all protocols, and for a program that compares numbers also
/// those with a way of their own to do it.
pub fn priced(compiled: &Arc<Compiled>) -> Vec<String> {
    let signs = |op: &Op| matches!(op.kind, OpKind::Msb { .. });
    let compares = |protocol: &dyn Protocol| {
        compiled.for_protocol(protocol).is_ok_and(|compiled| compiled.plan().ops.iter().any(signs))
    };
    let mut names = Vec::new();
    for usual in protocols() {
        let name = usual.spec().name;
        names.push(name.to_owned());
        let values =
            usual.parameters().iter().flat_map(|known| known.values.iter().map(|value| (known.name, value)));
        for (parameter, value) in values {
            let other = usual.with_parameter(parameter, value);
            let other = other.filter(|other| other.capabilities() != usual.capabilities());
            if other.is_some_and(|other| compares(&*other)) {
                names.push(format!("{name} {parameter}={value}"));
            }
        }
    }
    names
}

/// What an offline session sends that makes material for `count` runs, and its rounds, exactly but for the handshake:
/// the offline phase of as many runs, of which protocols check several together, and that every party accepts what was made.
///
/// # Errors
/// As [`price`], and [`Error::Refused`] if the protocol has no offline phase.
pub fn price_offline(
    compiled: &Arc<Compiled>,
    name: &str,
    parties: &[String],
    count: u64,
) -> Result<Cost, Error> {
    two_phases(&*protocol(name)?)?;
    let (compiled, prices) = prices(compiled, name, parties)?;
    let one = of_instance(compiled.plan(), &prices).total.phase(Phase::Offline);
    let mut total = Cost::default();
    total.add_times(Phase::Offline, &one, count);
    if count > 0 {
        let mut together = Itemised::default();
        let Prices { protocol, participants } = &prices;
        share_checks(&mut together, &protocol.checks_together(compiled.plan(), participants, count, 1));
        share_checks(&mut together, &protocol.setup(compiled.plan(), participants));
        total += &together.total;
    }
    total.add_rounds(Phase::Verify, 1);
    let pairs = (0..parties.len()).flat_map(|from| (0..parties.len()).map(move |to| (from, to)));
    for (from, to) in pairs.filter(|(from, to)| from != to) {
        total.add_flow(Phase::Verify, &Flow { from, to, bits: 8 * Session::ACCEPTANCE_BYTES });
    }
    Ok(total)
}

/// A protocol's prices, for given roles.
struct Prices {
    protocol: Arc<dyn Protocol>,
    participants: Participants,
}

impl CostModel for Prices {
    fn price(&self, plan: &Plan, step: Step<'_>) -> Vec<(Phase, Flow)> {
        self.protocol.price(plan, &self.participants, step)
    }

    fn rounds(&self, plan: &Plan, stages: &[Stage]) -> u64 {
        tacit_engine::rounds(plan, stages, |op, stage| self.protocol.has_online_messages(op, stage))
    }
}
