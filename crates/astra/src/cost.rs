//! What every operation sends, message by message. The conformance suite holds it against the links' counters.

use crate::choice::Choice;
use crate::counts::products;
use crate::fair::terms::{REPORT, SIGNAL};
use crate::garbling::{self, garbled_bits, label_bits, msb_count};
use crate::seats::Seats;
use crate::verify::{self, Rules};
use tacit_engine::{Checks, Participants, Security};
use tacit_kernel::digest::DIGEST_BYTES;
use tacit_kernel::garble::LABEL;
use tacit_program::cost::{Flow, Phase, Step, in_phase};
use tacit_program::plan::{Domain, InputOp, OpKind, OutputOp, Plan};
use tacit_threeparty::PARTIES;
use tacit_threeparty::cost::{COUNT_BITS, HASH_BITS, SEED_BITS, bits_of};
use tacit_threeparty::hiding::clients_learn;

/// Bits of a keyed digest.
const DIGEST_BITS: u64 = 8 * DIGEST_BYTES as u64;

/// Bits of a sum of tags.
const TAG_BITS: u64 = 8 * LABEL as u64;

/// What a step of a run sends.
pub(crate) fn price(
    choice: Choice,
    plan: &Plan,
    participants: &Participants,
    step: Step<'_>,
) -> Vec<(Phase, Flow)> {
    let (phase, flows) = match step {
        Step::Stage { op, stage } => {
            let mut online = online(choice.seats, plan, &op.kind, stage);
            if choice.is_verified() {
                online.extend(masked_opening(choice.seats, plan, &op.kind, stage));
            }
            let offline = in_phase(Phase::Offline, vec![offline(choice, plan, &op.kind, stage)]);
            return offline.chain(in_phase(Phase::Online, online)).collect();
        }
        Step::Seeds { client } => (Phase::Input, seeds(choice, client)),
        Step::Input(given) => (Phase::Input, input(choice.seats, plan, participants, given)),
        Step::Output(output) => (Phase::Output, outputs(choice, plan, participants, output)),
    };
    in_phase(phase, flows).collect()
}

/// Whether a stage has messages online: bits of masks are shared offline, and what takes bits back to numbers is
/// done in one round.
pub(crate) fn has_online_messages(kind: &OpKind, stage: u32) -> bool {
    match kind {
        OpKind::Split { .. } => false,
        OpKind::Inject { .. } | OpKind::Shift { .. } => stage == 0,
        _ => true,
    }
}

/// Bits of the results of a stage; not of an MSB extraction, which is garbled.
fn result_bits(plan: &Plan, kind: &OpKind, stage: u32) -> u64 {
    match kind {
        OpKind::Inject { .. } | OpKind::Shift { .. } if stage > 0 => 0,
        kind => tacit_threeparty::cost::result_bits(plan, kind, stage),
    }
}

/// From `P_0` to `P_2` an element of every product (figure 3), where they are checked also of those that are added up
/// (figure 8); of a shift two, of a number that is split its bits, of an MSB extraction a garbled circuit.
fn offline(choice: Choice, plan: &Plan, kind: &OpKind, stage: u32) -> Flow {
    let bits = match kind {
        OpKind::Msb { .. } if stage > 0 => 0,
        OpKind::Msb { a, .. } => garbled_bits(plan, *a, choice.is_verified()),
        OpKind::Shift { .. } => 2 * result_bits(plan, kind, stage),
        OpKind::MatMul { shape, .. } if choice.is_verified() => {
            shape.k as u64 * result_bits(plan, kind, stage)
        }
        _ => result_bits(plan, kind, stage),
    };
    choice.seats.flow(0, 2, bits)
}

/// An element of every product from `P_1` and `P_2` to each other (figures 3 and 11); of an MSB extraction labels, and
/// then a bit back.
fn online(seats: Seats, plan: &Plan, kind: &OpKind, stage: u32) -> Vec<Flow> {
    match kind {
        kind if !has_online_messages(kind, stage) => Vec::new(),
        OpKind::Msb { a, .. } if stage == 0 => vec![seats.flow(1, 2, label_bits(plan, *a))],
        OpKind::Msb { dst, .. } => vec![seats.flow(2, 1, plan.register(*dst).cols as u64)],
        kind => {
            [(1, 2), (2, 1)].map(|(from, to)| seats.flow(from, to, result_bits(plan, kind, stage))).into()
        }
    }
}

/// Where products are checked: masked operands from `P_1` to `P_0`, each entry of a matrix once.
fn masked_opening(seats: Seats, plan: &Plan, kind: &OpKind, stage: u32) -> Option<Flow> {
    let bits = match kind {
        OpKind::Msb { .. } => return None,
        OpKind::MatMul { a, b, .. } => bits_of(plan, *a) + bits_of(plan, *b),
        kind => 2 * result_bits(plan, kind, stage),
    };
    Some(seats.flow(1, 0, bits))
}

/// The masked value, to whoever of `P_1` and `P_2` doesn't own it (figure 1).
fn input(seats: Seats, plan: &Plan, participants: &Participants, input: &InputOp) -> Vec<Flow> {
    let bits = bits_of(plan, input.reg);
    let from = participants.endpoint(input.owner);
    let evaluators = [1, 2].map(|role| seats.party(role)).into_iter();
    evaluators.filter(|&to| to != from).map(|to| Flow { from, to, bits }).collect()
}

/// The seeds of its masks, to a client; where it compares them, `P_0` gives both, too.
fn seeds(choice: Choice, client: usize) -> Vec<Flow> {
    let from = |role, bits| Flow { from: choice.seats.party(role), to: client, bits };
    let both = choice.is_verified().then(|| from(0, 2 * SEED_BITS));
    both.into_iter().chain([1, 2].map(|role| from(role, SEED_BITS))).collect()
}

/// What opens an output. Where all honest parties have it or nobody (figure 10): every component that a party lacks,
/// from both of its holders.
fn outputs(choice: Choice, plan: &Plan, participants: &Participants, output: &OutputOp) -> Vec<Flow> {
    let seats = choice.seats;
    if choice.security != Security::Fair {
        return seats.scheme(choice.is_verified()).output_flows(plan, participants, output);
    }
    let opened = pairs().map(|(from, to)| seats.flow(from, to, bits_of(plan, output.reg)));
    opened.filter(|flow| participants.learns(flow.to, output.to)).collect()
}

/// Where products are checked: offline their triples, and what was garbled. Instances that are prepared one after
/// another are checked together, until they are sealed.
pub(crate) fn checked_together(seats: Seats, plan: &Plan, runs: u64, lanes: u16) -> Checks {
    let (products, signs, rules) = (products(plan), msb_count(plan), Rules::of_lanes(lanes));
    let sealed = |runs: u64| {
        let all: Vec<(Domain, u64)> =
            products.iter().map(|&(domain, count)| (domain, runs * count)).collect();
        let mut checks = verify::cost(seats, rules, &all);
        if runs * signs > 0 {
            let accepted = seats.scheme(true).to_all(HASH_BITS);
            checks.round(Phase::Offline, vec![seats.flow(1, 2, DIGEST_BITS)]);
            checks.round(Phase::Offline, accepted);
        }
        checks
    };
    let full = verify::instances(rules, &products).into_iter().chain(garbling::instances(signs)).min();
    let Some(together) = full.filter(|&together| together < runs) else {
        return sealed(runs);
    };
    let mut checks = sealed(together).times(runs / together);
    checks.extend(sealed(runs % together));
    checks
}

/// Messages of checks besides these: of how much was drawn; where products are checked, of inputs and of what `P_0`
/// computed.
pub(crate) fn checks(choice: Choice, plan: &Plan, participants: &Participants) -> Checks {
    let seats = choice.seats;
    match choice.security {
        Security::SemiHonest => {
            let mut checks = Checks::default();
            checks.round(Phase::Verify, seats.scheme(false).to_all(COUNT_BITS));
            if client_gives(plan, participants) {
                // Seeds go to clients before anything comes from them.
                checks.round(Phase::Input, Vec::new());
            }
            checks
        }
        Security::MaliciousAbort => accepted(seats, plan, participants),
        Security::Fair => agreed(seats, plan, participants),
    }
}

/// Where products are checked: inputs, what `P_0` computed, and that all accept.
fn accepted(seats: Seats, plan: &Plan, participants: &Participants) -> Checks {
    let mut checks = compared(seats, plan, participants);
    let scheme = seats.scheme(true);
    checks.round(Phase::Verify, scheme.to_all(HASH_BITS));
    if clients_learn(plan, participants) {
        // In the round of the verdicts.
        checks.flows.extend(scheme.key_flows().map(|flow| (Phase::Verify, flow)));
    }
    checks
}

/// As above, but for the last.
fn compared(seats: Seats, plan: &Plan, participants: &Participants) -> Checks {
    let (products, signs) = (products(plan), msb_count(plan));
    let mut checks = Checks::default();
    let client_gives = client_gives(plan, participants);
    if client_gives {
        checks.round(Phase::Input, Vec::new());
    }
    if client_gives || participants.gives(plan, seats.party(0)) {
        checks.round(Phase::Input, [(1, 2), (2, 1)].map(|(from, to)| seats.flow(from, to, HASH_BITS)).into());
    }
    let mut compared = Vec::new();
    compared.extend((signs > 0).then(|| seats.flow(2, 1, TAG_BITS)));
    compared.extend((!products.is_empty()).then(|| seats.flow(2, 0, DIGEST_BITS)));
    if !compared.is_empty() {
        checks.round(Phase::Verify, compared);
    }
    if !products.is_empty() {
        checks.round(Phase::Verify, [1, 2].map(|to| seats.flow(0, to, DIGEST_BITS)).into());
    }
    checks
}

/// Where outputs are fair: offline two commitments from each pair with `P_0` to the third; after the check of
/// products the seven steps, and what opens the commitments.
fn agreed(seats: Seats, plan: &Plan, participants: &Participants) -> Checks {
    let mut checks = compared(seats, plan, participants);
    let flows =
        |of: &[(usize, usize)], bits| of.iter().map(|&(from, to)| seats.flow(from, to, bits)).collect();
    let (evaluators, of_first) = ([(1, 2), (2, 1)], [(0, 1), (0, 2)]);
    checks.round(Phase::Offline, flows(&[(0, 1), (0, 2), (1, 2), (2, 1)], 2 * HASH_BITS));
    // P_0 says so with the last thing that it shows, if it shows any.
    let shows = checks.rounds.iter().any(|(phase, _)| *phase == Phase::Verify);
    checks.rounds(Phase::Verify, u64::from(!shows), flows(&of_first, HASH_BITS));
    checks.round(Phase::Verify, flows(&[(1, 0), (1, 2), (2, 0), (2, 1)], HASH_BITS));
    checks.round(Phase::Verify, flows(&of_first, 8));
    checks.round(Phase::Verify, flows(&evaluators, 8));
    checks.round(Phase::Verify, flows(&[(1, 0), (2, 0)], HASH_BITS));
    checks.round(Phase::Verify, flows(&of_first, 8 * SIGNAL as u64));
    checks.round(Phase::Verify, flows(&evaluators, 8 * REPORT as u64));
    let learns =
        |role: usize| plan.outputs.iter().any(|output| participants.learns(seats.party(role), output.to));
    let opened = pairs().filter(|(_, to)| learns(*to));
    checks.flows.extend(opened.map(|(from, to)| (Phase::Output, seats.flow(from, to, HASH_BITS))));
    checks
}

/// All pairs of roles.
fn pairs() -> impl Iterator<Item = (usize, usize)> {
    let pairs = (0..PARTIES).flat_map(|from| (0..PARTIES).map(move |to| (from, to)));
    pairs.filter(|(from, to)| from != to)
}

/// Whether a client gives an input.
fn client_gives(plan: &Plan, participants: &Participants) -> bool {
    participants.clients().iter().any(|&client| participants.gives(plan, client))
}
