//! What a corrupt party receives is uniform, whatever the inputs are and whatever that party does.
//!
//! **The experiment.** All that the corrupt party knows is held fixed: its own randomness, the seeds that others
//! send it, and what else the protocol tells it ([`Subject::told`]). All that it can't know is drawn anew in each
//! run. Then the bits that it receives while inputs are shared and operations run must be jointly uniform. As
//! they are so for every input, they tell nothing of it. Handshake, seeds and outputs are no part of this; an
//! output's last share is what the output and the receiver's own shares make it.
//!
//! **What it notices.** A missing mask, a mask that the receiver knows, a mask that serves twice, a mask with bias,
//! and padding that carries anything: see [`crate::sample`] for how.
//!
//! **What it can't notice.** Dependence that shows in no single bit and in no sum of bits and of products of two
//! elements' low bits; what stands in the middle of long messages; and weak generators, since streams are taken as
//! they come.
//!
//! **Deviations.** In the client-server model (Araki et al. 2016, section 4) the same must hold for a server that
//! deviates at will, as long as no server learns an output. Here the corrupt server's messages after the handshake
//! are changed, in the same way in every run or in a new one each time. Where the parties verify, they then end with an
//! error, and always the same ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use tacit_circuit::{Builder, Circuit};
use tacit_engine::Security;
use tacit_net::Frame;
use tacit_program::cost::{Flow, Phase, Step};
use tacit_program::plan::{self, Domain, OpKind, To, Width};
use tacit_program::{Feature, Modulus, Program, Recipient};
use tacit_session::step;

use super::Subject;
use super::catalogue::{self, Numbers};
use crate::sample::{BitRow, Flaw, Sample};
use crate::{Case, Delivery, Draws, Fate, Interceptor, Rng, Run, generate};

/// What the corrupt party does with what it sends for inputs, operations and outputs; proofs are no part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conduct {
    /// It follows the protocol.
    Honest,
    /// It flips bits, the same in every run.
    FixedFlips,
    /// It flips bits, others in every run.
    RandomFlips,
}

/// Why a view tells something.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Leak {
    /// Bits aren't uniform.
    #[error(transparent)]
    Flaw(#[from] Flaw),
    /// What fills the last byte of a message isn't zero.
    #[error("the message of {0} has padding that isn't zero")]
    Padding(tacit_net::At),
}

/// Every corrupt party's view of one operation of the catalogue: on two different inputs with a party and a client
/// who give them and an output for all; then, on two others, with clients only and a corrupt party that deviates.
///
/// # Panics
/// If a view tells something.
pub fn operation(subject: &Subject, name: &str) {
    // Rings of eight bits are enough to tell, and small enough for hundreds of runs; with two elements there is
    // one that isn't the first.
    operation_on(subject, name, Numbers::int(3), 2);
}

/// The same for all operations of the catalogue, for a protocol whose tests try only some of them each time.
///
/// # Panics
/// If a view tells something.
pub fn all_operations(subject: &Subject) {
    for name in catalogue::names() {
        operation(subject, name);
    }
}

/// The same for all operations, on numbers of more bits and on more of them.
///
/// # Panics
/// If a view tells something.
pub fn wider_operations(subject: &Subject) {
    for name in catalogue::names() {
        for numbers in [Numbers::int(15), Numbers::fixed(8, 5), Numbers::wrapping(Width::W16)] {
            operation_on(subject, name, numbers, 3);
        }
    }
}

/// The same for sums and products to other moduli than those of machine words: rings of few bits and of an odd
/// number of them, and both fields.
///
/// # Panics
/// If a view tells something.
pub fn moduli(subject: &Subject) {
    let rings = [1, 5, 65].map(Modulus::PowerOfTwo);
    let moduli: Vec<Modulus> = rings.into_iter().chain([Modulus::Mersenne61, Modulus::Prime128]).collect();
    of_moduli(subject, &moduli, &["input", "mul", "matmul"]);
}

/// The same for products in rings of one bit and of an odd number of them, and in a field.
///
/// # Panics
/// If a view tells something.
pub fn few_moduli(subject: &Subject) {
    let rings = [1, 5].map(Modulus::PowerOfTwo);
    of_moduli(subject, &[rings[0], rings[1], Modulus::Mersenne61], &["mul"]);
}

fn of_moduli(subject: &Subject, moduli: &[Modulus], operations: &[&str]) {
    // As bits, a wide product is ANDs like any others, and thousands of them.
    let few =
        |modulus: &Modulus| subject.protocol.capabilities().offers(Feature::Rings) || modulus.bits() < 5;
    let few: Vec<Modulus> = moduli.iter().copied().filter(few).collect();
    assert!(!few.is_empty(), "no modulus is tried");
    for modulus in few {
        for name in operations {
            operation_on(subject, name, Numbers::modular(modulus), if modulus.bits() < 9 { 3 } else { 1 });
        }
    }
}

/// Bits that a row of a circuit's tile has besides its whole block of randomness: the first of a second block.
const ROW_AND_ONE: usize = 129;

/// The same for a circuit of two layers whose rows have a block of randomness and one bit of a second. Its input is
/// once the corrupt party's own, so that masks alone hide what the others send, and once a client's.
///
/// # Panics
/// If a view tells something.
pub fn circuits(subject: &Subject) {
    let mut build = Builder::new();
    let bits = build.input(2);
    let both = build.and(bits[0], bits[1]);
    let other = build.xor(both, bits[0]);
    let again = build.and(both, other);
    let circuit = Arc::new(build.finish(vec![vec![again]]));
    let (mut rng, mut cut) = (Rng::new(8), subject.cut());
    if subject.has_primes_alone() {
        return;
    }
    for corrupt in subject.coalitions() {
        for owner in [&format!("P{}", corrupt[0]), "alice"] {
            if !cut.takes() {
                continue;
            }
            let case = case(subject, &on_instances(&circuit, owner, ROW_AND_ONE), &mut rng);
            if let Err(leak) = check(subject, &case, &corrupt, Conduct::Honest) {
                panic!("{corrupt:?}, input of {owner}: {leak}");
            }
        }
    }
}

/// The same for a layer of so many ANDs that its messages go in pieces, in more than one tile: what stands at the
/// ends of every message.
///
/// # Panics
/// If a view tells something, or the layer is no longer cut.
pub fn pieces(subject: &Subject) {
    if subject.has_primes_alone() {
        return;
    }
    let mut build = Builder::new();
    let bits = build.input(97);
    let ands: Vec<_> = (0..4104).map(|at| build.and(bits[at % 97], bits[(at + at / 97 + 1) % 97])).collect();
    let sum = ands.into_iter().reduce(|sum, and| build.xor(sum, and));
    let circuit = Arc::new(build.finish(vec![sum.into_iter().collect()]));
    let case = case(subject, &on_instances(&circuit, "P1", ROW_AND_ONE), &mut Rng::new(9));
    let run = case.run(&Draws::fixed(1));
    let received = run.trace.received(1).into_iter();
    let messages = received.filter(|delivery| delivery.stage(&case.plan).is_some());
    assert!(messages.count() > 2, "two pieces of a tile, and another tile");
    // As many parties together as may be.
    let coalitions = subject.coalitions();
    let corrupt = coalitions.iter().rev().find(|coalition| coalition.contains(&1)).expect("P1 is in some");
    if let Err(leak) = check(subject, &case, corrupt, Conduct::Honest) {
        panic!("{corrupt:?}: {leak}");
    }
}

/// The same, of a protocol that prepares, for a product of two numbers and for all that is received for it, offline and
/// online: parts of triples, what is told of results, differences that are opened. Of digests nothing is looked at: steps from `before` on.
///
/// # Panics
/// If a view tells something.
pub fn ahead(subject: &Subject, before: u16) {
    for owners in [["P1", "P2"], ["P0", "alice"]] {
        for values in [[0, 0], [3, 250]] {
            let mut build = plan::Builder::new();
            // Elements are bytes, so that no message has padding.
            let [a, b, dst] = std::array::from_fn(|_| build.ring(Width::W8, 1));
            for (owner, reg) in owners.into_iter().zip([a, b]) {
                let owner = build.role(owner);
                build.input(owner, reg);
            }
            build.interact(OpKind::Mul { a, b, dst });
            let to = build.role("P0");
            build.output(dst, To::One(to));
            let case = subject.case(build.finish(), &values.map(|value| vec![value]));
            for corrupt in 0..case.parties() {
                if let Err(flaw) = check_ahead(subject, &case, corrupt, before) {
                    panic!("P{corrupt}, inputs {values:?} of {owners:?}: {flaw}");
                }
            }
        }
    }
}

/// One party's view, for [`ahead`].
fn check_ahead(subject: &Subject, case: &Case, corrupt: usize, before: u16) -> Result<(), Flaw> {
    let hidden: Arc<dyn Fn(usize, usize) -> bool + Send + Sync> =
        Arc::new(hidden(case, corrupt, subject.told));
    let view = |run: &Run| {
        run.outcomes();
        let mut bits = BitRow::default();
        for delivery in run.trace.received(corrupt) {
            let part = delivery.at.part;
            if part == step::INPUT || (step::OPERATION..before).contains(&part) {
                bits.extend(&delivery.payload, 8 * delivery.payload.len());
            }
        }
        bits
    };
    let one = |run: u64| (case.world(), Draws::varying(7, run, Arc::clone(&hidden)));
    let (world, draws) = one(0);
    let bits = view(&case.run_in(&world, &draws)).len();
    let low: Vec<usize> = (0..bits).step_by(8).collect();
    let mut sample = Sample::default();
    for run in case.run_each((0..Sample::runs_for(bits, low.len()) as u64).map(one)) {
        sample.push(view(&run));
    }
    sample.check(&low)
}

/// A circuit of one input on so many instances of the owner's, with outputs for all.
fn on_instances(circuit: &Arc<Circuit>, owner: &str, instances: usize) -> Program {
    let mut build = tacit_program::Builder::new();
    let shape = [instances, circuit.inputs()[0] as usize];
    let input = build.input(owner, "x", tacit_program::Dtype::Bool, &shape, None).expect("bits are an input");
    for output in build.circuit(circuit, &[input]).expect("the operand fits") {
        build.reveal(output, Recipient::All).expect("the node is there");
    }
    build.finish().expect("something is revealed")
}

/// Leaves out what isn't defined for such numbers.
fn operation_on(subject: &Subject, name: &str, numbers: Numbers, len: usize) {
    let (mut rng, mut cut) = (Rng::new(6), subject.cut());
    let among_all = (["P1", "alice"], Recipient::All, [Conduct::Honest; 2]);
    let for_clients =
        (["alice", "bob"], Recipient::Role("carol".into()), [Conduct::FixedFlips, Conduct::RandomFlips]);
    for (owners, to, conducts) in [among_all, for_clients] {
        let Some(program) = subject.sample(name, numbers, len, owners, std::slice::from_ref(&to)) else {
            continue;
        };
        for conduct in conducts {
            let case = case(subject, &program, &mut rng);
            for corrupt in subject.coalitions() {
                if !cut.takes() {
                    continue;
                }
                if let Err(leak) = check(subject, &case, &corrupt, conduct) {
                    panic!(
                        "{name}: {corrupt:?} ({conduct:?}, inputs of {owners:?}, output to {to:?}): {leak}"
                    );
                }
            }
        }
    }
}

/// The view of corrupt parties in one case: of one, or of some together. Gives how many bits it has.
///
/// # Errors
/// How it differs from uniform bits.
pub fn check(subject: &Subject, case: &Case, corrupt: &[usize], conduct: Conduct) -> Result<usize, Leak> {
    let hidden: Arc<dyn Fn(usize, usize) -> bool + Send + Sync> =
        Arc::new(hidden_from(case, corrupt, subject.told));
    let one = |run: u64| {
        let world = match conduct {
            Conduct::Honest => case.world(),
            Conduct::FixedFlips => case.world().intercept(flips(corrupt, 0)),
            Conduct::RandomFlips => case.world().intercept(flips(corrupt, run + 1)),
        };
        (world, Draws::varying(7, run, Arc::clone(&hidden)))
    };
    let (world, draws) = one(0);
    let run = case.run_in(&world, &draws);
    let View { bits, low } = View::new(subject, case, corrupt, &run)?;
    // Who aborts tells something by that: so it has to be the same for the same deviation, and without one nobody does.
    let (aborts, verified) = (aborts(&run), case.protocol.spec().security != Security::SemiHonest);
    if conduct == Conduct::Honest || !verified {
        run.outcomes();
    }
    let mut sample = Sample::default();
    for run in case.run_each((0..Sample::runs_for(bits.len(), low.len()) as u64).map(one)) {
        let same = conduct == Conduct::RandomFlips || self::aborts(&run) == aborts;
        assert!(same, "who aborts depends on what is hidden");
        sample.push(View::new(subject, case, corrupt, &run)?.bits);
    }
    sample.check(&low)?;
    Ok(bits.len())
}

/// The view of parties and clients who put together what they have, and follow the protocol. What they send one another
/// is a part of it: a client's masked input shows the masks, whose seeds are no part; but if the client drew the seeds, it is
/// nothing new; nor is what parties among them send one another. Of an output that a client among
/// them learns, every share from outside counts but the last one, which is what the output and the others make it; the
/// output has to be the same in every run. Where the parties verify, what goes to clients is a component from each, hidden by
/// what all parties know: with a party none of them counts, as it has two of the three and the output makes the third. Gives
/// how many bits the view has.
///
/// # Errors
/// How it differs from uniform bits.
///
/// # Panics
/// If a run fails, or a client learns another output than in the first one.
pub fn together(subject: &Subject, case: &Case, corrupt: &[usize]) -> Result<usize, Leak> {
    let hidden: Arc<dyn Fn(usize, usize) -> bool + Send + Sync> =
        Arc::new(hidden_from(case, corrupt, subject.told));
    let one = |run: u64| (case.world(), Draws::varying(7, run, Arc::clone(&hidden)));
    let (world, draws) = one(0);
    let first = case.run_in(&world, &draws);
    let View { bits, low } = View::new(subject, case, corrupt, &first)?;
    let mut sample = Sample::default();
    for run in case.run_each((0..Sample::runs_for(bits.len(), low.len()) as u64).map(one)) {
        for (learnt, before) in run.outcomes().into_iter().zip(first.outcomes()) {
            assert_eq!(learnt, before, "an output depends on randomness");
        }
        sample.push(View::new(subject, case, corrupt, &run)?.bits);
    }
    sample.check(&low)?;
    Ok(bits.len())
}

/// A message of more bits is looked at where it begins and where it ends. Masks that repeat do so from the beginning
/// of a message, a tile or a block on, and few bits need few runs.
const LONG: usize = 512;

/// Bits of a long message's ends.
const ENDS: usize = 8;

/// What a run shows a corrupt party while inputs are shared and operations run.
struct View {
    bits: BitRow,
    /// The lowest bit of each element: in these a product of ring elements is a product of bits.
    low: Vec<usize>,
}

impl View {
    fn new(subject: &Subject, case: &Case, corrupt: &[usize], run: &Run) -> Result<Self, Leak> {
        let mut view = Self { bits: BitRow::default(), low: Vec::new() };
        // Of each stage and link, the bits that are still to come.
        let mut left = BTreeMap::new();
        let verified = case.protocol.spec().security != Security::SemiHonest;
        let bare = verified && corrupt.iter().any(|&one| one < case.parties());
        for &to in corrupt {
            let last = last_share(case, corrupt, to, run);
            for delivery in run.trace.received(to) {
                let among_parties = delivery.from.max(to) < case.parties();
                if corrupt.contains(&delivery.from) && (among_parties || draws_seeds(case, delivery.from)) {
                    continue;
                }
                let contents = match last {
                    Some(_) if delivery.at.part == step::OUTPUT && bare => None,
                    Some(last) if delivery.at.part == step::OUTPUT => {
                        let counts = delivery.from != last && !corrupt.contains(&delivery.from);
                        counts.then(|| of_output(case, delivery))
                    }
                    _ => contents(case, delivery),
                };
                let Some(Contents { stage, bits, element }) = contents else { continue };
                // What all receive alike counts once.
                if subject.broadcasts && among_parties && stage.1.is_some() && to != corrupt[0] {
                    continue;
                }
                let left = left.entry((stage, delivery.from, to)).or_insert(bits);
                let count = (8 * delivery.payload.len()).min(*left);
                assert_eq!(
                    delivery.payload.len(),
                    count.div_ceil(8),
                    "{} is longer than declared",
                    delivery.at
                );
                *left -= count;
                view.push(delivery, count, element)?;
            }
        }
        assert!(left.values().all(|&left| left == 0), "less came than declared");
        Ok(view)
    }

    /// Adds a message of so many bits.
    fn push(&mut self, delivery: &Delivery, count: usize, element: usize) -> Result<(), Leak> {
        let payload = &delivery.payload;
        if !padding_is_zero(payload, count) {
            return Err(Leak::Padding(delivery.at));
        }
        let seen = |bit: &usize| count <= LONG || *bit < ENDS || *bit >= count - ENDS;
        for bit in (0..count).filter(seen) {
            if bit % element == 0 {
                self.low.push(self.bits.len());
            }
            self.bits.push(payload[bit / 8] >> (bit % 8) & 1 == 1);
        }
        Ok(())
    }
}

/// Whether an endpoint is a client that draws the seeds of its inputs' masks itself.
fn draws_seeds(case: &Case, endpoint: usize) -> bool {
    endpoint >= case.parties()
        && case.price(Step::Seeds { client: endpoint }).iter().any(|(_, flow)| flow.from == endpoint)
}

/// Who sends a client the last share of its outputs, of those that aren't corrupt; `None` of a party.
fn last_share(case: &Case, corrupt: &[usize], to: usize, run: &Run) -> Option<usize> {
    let shares = run.trace.deliveries().iter().filter(|one| one.to == to && one.at.part == step::OUTPUT);
    let outside = shares.map(|one| one.from).filter(|from| !corrupt.contains(from));
    outside.max().filter(|_| to >= case.parties())
}

/// What a step sends in a phase.
fn flows(case: &Case, phase: Phase, step: Step<'_>) -> Vec<Flow> {
    let sent = case.price(step).into_iter().filter(|(of, _)| *of == phase);
    sent.map(|(_, flow)| flow).collect()
}

/// What a client's share of an output is.
fn of_output(case: &Case, delivery: &Delivery) -> Contents {
    let output = &case.plan.outputs[delivery.at.op as usize];
    let flows = flows(case, Phase::Output, Step::Output(output));
    Contents::new(delivery, (delivery.at.op, None), &flows, case.plan.register(output.reg).domain.bits())
}

/// Who ends with an error.
fn aborts(run: &Run) -> Vec<bool> {
    run.endings.iter().flatten().map(|ending| ending.result.is_err()).collect()
}

/// Which draws a corrupt party can't know, of those of all endpoints. In the handshake an endpoint draws a nonce,
/// which all learn, and then a seed for each endpoint that it has a link to.
pub fn hidden(
    case: &Case,
    corrupt: usize,
    told: fn(usize, usize, usize) -> bool,
) -> impl Fn(usize, usize) -> bool + Send + Sync + use<> {
    hidden_from(case, &[corrupt], told)
}

/// The same for several who put together what they have.
fn hidden_from(
    case: &Case,
    corrupt: &[usize],
    told: fn(usize, usize, usize) -> bool,
) -> impl Fn(usize, usize) -> bool + Send + Sync + use<> {
    let (parties, endpoints, corrupt) = (case.parties(), case.endpoints(), corrupt.to_vec());
    move |endpoint, call| {
        let linked = |&peer: &usize| peer != endpoint && (peer < parties || endpoint < parties);
        let peers: Vec<usize> = (0..endpoints).filter(linked).collect();
        match call {
            _ if corrupt.contains(&endpoint) => false,
            0 => false,
            _ => match peers.get(call - 1) {
                Some(peer) => !corrupt.contains(peer),
                None => !corrupt.iter().any(|&one| told(one, endpoint, call - 1 - peers.len())),
            },
        }
    }
}

/// What a message belongs to.
struct Contents {
    /// An operation and its stage; an input.
    stage: (u32, Option<u32>),
    /// How many bits the stage has on this link by the protocol's own account. They may go in several messages, all
    /// but the last of which are whole bytes.
    bits: usize,
    /// Bits of an element.
    element: usize,
}

impl Contents {
    fn new(delivery: &Delivery, stage: (u32, Option<u32>), flows: &[Flow], element: u64) -> Self {
        let of_link = |flow: &&Flow| (flow.from, flow.to) == (delivery.from, delivery.to);
        let bits = flows.iter().filter(of_link).map(|flow| flow.bits as usize).sum();
        Self { stage, bits, element: element as usize }
    }
}

/// What a message belongs to; `None` if that is no input or operation.
fn contents(case: &Case, delivery: &Delivery) -> Option<Contents> {
    let (plan, at) = (&case.plan, delivery.at);
    let (stage, flows, element) = if let Some((op, stage)) = delivery.stage(plan) {
        let op = plan.op(op);
        let domain = match &op.kind {
            OpKind::And { .. } | OpKind::Split { .. } | OpKind::Msb { .. } | OpKind::Circuit { .. } => {
                Domain::Bits
            }
            OpKind::Mul { dst, .. }
            | OpKind::MatMul { dst, .. }
            | OpKind::Inject { dst, .. }
            | OpKind::Shift { dst, .. }
            | OpKind::Open { dst, .. }
            | OpKind::Random { dst, .. } => plan.register(*dst).domain,
        };
        ((at.op, Some(stage)), flows(case, Phase::Online, Step::Stage { op, stage }), domain.bits())
    } else if at.part == step::INPUT {
        let input = &plan.inputs[at.op as usize];
        let flows = flows(case, Phase::Input, Step::Input(input));
        ((at.op, None), flows, plan.register(input.reg).domain.bits())
    } else {
        return None;
    };
    Some(Contents::new(delivery, stage, &flows, element))
}

fn padding_is_zero(payload: &[u8], bits: usize) -> bool {
    bits.is_multiple_of(8) || payload.last().is_none_or(|last| last >> (bits % 8) == 0)
}

/// Flips bits of what `corrupt` sends after the handshake: of inputs, operations and outputs.
fn flips(corrupt: &[usize], seed: u64) -> Interceptor {
    let corrupt = corrupt.to_vec();
    Box::new(move |message| {
        let at = message.frame.at;
        if !corrupt.contains(&message.from) || at.part < step::INPUT || at.is_aside() {
            return Fate::Deliver;
        }
        let mut rng = Rng::new(seed ^ (message.to as u64) << 32 ^ (message.nth as u64) << 40);
        let payload = message.frame.payload.iter().map(|byte| byte ^ rng.word() as u8).collect();
        Fate::Replace(vec![Frame::data(at, payload)])
    })
}

fn case(subject: &Subject, program: &Program, rng: &mut Rng) -> Case {
    let inputs = generate::inputs(&program.input_types(), rng);
    let lowered = subject.lowered(program);
    subject.case(lowered.plan, &inputs)
}
