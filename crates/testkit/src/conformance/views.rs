//! What a corrupt party receives is uniform, whatever the inputs are and whatever that party does.
//!
//! **The experiment.** All that the corrupt party knows is held fixed: its own randomness, the seeds that others send it, and
//! what else the protocol tells it ([`Subject::told`]). All that it can't know is drawn anew in each run.
//!
//! Then the bits that it receives while inputs are shared and operations run must be jointly uniform. As they are so for every
//! input, they tell nothing of it. Handshake, seeds and outputs are no part of this; an output's last share is what the output
//! and the receiver's own shares make it.
//!
//! **What it notices.** A missing mask, a mask that the receiver knows, a mask that serves twice, a mask with bias,
//! and padding that carries anything: see [`crate::sample`] for how.
//!
//! **What it can't notice.** Dependence that shows in no single bit and in no sum of bits and of products of two
//! elements' low bits; what stands in the middle of long messages; and weak generators, since streams are taken as
//! they come.
//!
//! **Two inputs.** What is opened under a mask that hides numbers of a range alone isn't uniform. Where a plan opens
//! anything, the views of runs on two inputs have to look alike instead.
//!
//! **Deviations.** In the client-server model (Araki et al. 2016, section 4) the same must hold for a server that
//! deviates at will, as long as no server learns an output. Here the corrupt server's messages after the handshake
//! are changed, in the same way in every run or in a new one each time. Where the parties verify, they then end with an
//! error, and always the same ones.

mod view;

use std::sync::Arc;

use tacit_circuit::{Builder, Circuit};
use tacit_engine::Security;
use tacit_net::Frame;
use tacit_program::plan::{self, OpKind, To, Width};
use tacit_program::{Feature, Modulus, Program, Recipient};
use tacit_session::step;

use super::catalogue::{self, Numbers};
use super::{Cut, Subject};
use crate::sample::{BitRow, Flaw, Sample};
use crate::{Case, Draws, Fate, Interceptor, Rng, Run, generate};
use view::View;

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
    let few = LONG_VIEWS.contains(&name).then(|| some(subject));
    operation_on(few.as_ref().unwrap_or(subject), name, Numbers::int(3), 2);
}

/// One view in five of those that [`operation`] looks at; which ones goes by the operation's place in the catalogue, so that
/// in a few operations all kinds of them occur: each party is corrupt, follows the protocol, and deviates in either way. Of a
/// subject that tries fewer anyway the first.
///
/// # Panics
/// If a view tells something.
pub fn some_of_operation(subject: &Subject, name: &str) {
    let some = some(subject);
    let place = catalogue::names().iter().position(|other| *other == name).expect("it is in the catalogue");
    let first = if subject.one_in < some.one_in { place % some.one_in } else { 0 };
    operation_seen_by(&some, name, (Numbers::int(3), 2), &subject.coalitions(), some.cut_from(first));
}

/// Operations of which a view has so many bits that it takes thousands of runs.
const LONG_VIEWS: [&str; 3] = ["repeat", "sort_too", "weigh"];

/// The same for all that one coalition sees, however much else the subject tries.
///
/// # Panics
/// If a view tells something.
pub fn operation_seen(subject: &Subject, name: &str, corrupt: &[usize]) {
    let all = Subject { one_in: 1, baseline: subject.baseline.clone(), ..*subject };
    operation_seen_by(&all, name, (Numbers::int(3), 2), &[corrupt.to_vec()], all.cut());
}

/// The same for all operations of the catalogue, for a protocol whose tests try only some of them each time.
///
/// # Panics
/// If a view tells something.
pub fn all_operations(subject: &Subject) {
    for name in catalogue::names() {
        operation_on(subject, name, Numbers::int(3), 2);
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

/// The same for products in rings of one bit, of an odd number of them and of more than a word has, and in a field.
///
/// # Panics
/// If a view tells something.
pub fn few_moduli(subject: &Subject) {
    let [bit, odd, wide] = [1, 5, 65].map(Modulus::PowerOfTwo);
    of_moduli(&some(subject), &[bit, odd, wide, Modulus::Mersenne61], &["mul"]);
}

/// The subject, of which one view in five is looked at: with three parties each of them is corrupt in one, following the protocol
/// or not.
pub fn some(subject: &Subject) -> Subject {
    Subject { one_in: subject.one_in.max(5), baseline: subject.baseline.clone(), ..*subject }
}

fn of_moduli(subject: &Subject, moduli: &[Modulus], operations: &[&str]) {
    let offers = |feature| subject.protocol.capabilities().offers(feature);
    let few = |modulus: &Modulus| match modulus {
        Modulus::Mersenne61 => offers(Feature::Fp61),
        Modulus::Prime128 => offers(Feature::Fp128),
        Modulus::Gf128 => offers(Feature::Gf128),
        // As bits, a wide product is ANDs like any others, and thousands of them.
        Modulus::PowerOfTwo(bits) => {
            let in_rings = offers(if *bits > 64 { Feature::WideRings } else { Feature::Rings });
            in_rings || offers(Feature::Bits) && *bits < 5
        }
    };
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
    // Where gates are products, they have no such messages.
    if !subject.protocol.capabilities().offers(Feature::Circuit) {
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

/// The same, of a protocol that prepares, for a product of two numbers and for all that is received for it, offline
/// and online: parts of triples, what is told of results, differences that are opened. Of digests nothing is looked
/// at: steps from `before` on.
///
/// # Panics
/// If a view tells something.
pub fn offline(subject: &Subject, before: u16) {
    let mut cut = subject.cut();
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
                if cut.takes()
                    && let Err(flaw) = check_ahead(subject, &case, corrupt, before)
                {
                    panic!("P{corrupt}, inputs {values:?} of {owners:?}: {flaw}");
                }
            }
        }
    }
}

/// One party's view, for [`offline`].
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
    operation_seen_by(subject, name, (numbers, len), &subject.coalitions(), subject.cut());
}

fn operation_seen_by(
    subject: &Subject,
    name: &str,
    (numbers, len): (Numbers, usize),
    coalitions: &[Vec<usize>],
    mut cut: Cut,
) {
    let mut rng = Rng::new(6);
    let among_all = (["P1", "alice"], Recipient::All, [Conduct::Honest; 2]);
    let for_clients =
        (["alice", "bob"], Recipient::Role("carol".into()), [Conduct::FixedFlips, Conduct::RandomFlips]);
    for (owners, to, conducts) in [among_all, for_clients] {
        let Some(program) = subject.sample(name, numbers, len, owners, std::slice::from_ref(&to)) else {
            continue;
        };
        for conduct in conducts {
            let case = case(subject, &program, &mut rng);
            let opens = case.plan.ops.iter().any(|op| matches!(op.kind, OpKind::Open { .. }));
            if opens && conduct != Conduct::Honest && subject.protocol.spec().security == Security::SemiHonest
            {
                // A mask hides what is in its range. Where nobody checks that, a deviation may bring about anything.
                continue;
            }
            let other = opens.then(|| with_other_inputs(subject, &program, &case, &mut rng));
            for corrupt in coalitions {
                if !cut.takes() {
                    continue;
                }
                let seen = match &other {
                    Some(other) => check_alike(
                        subject,
                        [&case, &with_own_inputs(other, &case, corrupt)],
                        corrupt,
                        conduct,
                    ),
                    None => check(subject, &case, corrupt, conduct),
                };
                if let Err(leak) = seen {
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
    let Sampled { sample, low, .. } = Sampled::new(subject, case, corrupt, conduct, 0)?;
    sample.check(&low)?;
    Ok(sample.bits())
}

/// The same in two cases that differ in inputs which the corrupt parties don't know: the views look alike. Needn't be
/// uniform, as what is opened under a mask isn't that hides numbers of a range alone.
///
/// # Errors
/// How they differ.
///
/// # Panics
/// If it depends on the inputs who aborts.
pub fn check_alike(
    subject: &Subject,
    [one, other]: [&Case; 2],
    corrupt: &[usize],
    conduct: Conduct,
) -> Result<usize, Leak> {
    let one = Sampled::new(subject, one, corrupt, conduct, 0)?;
    let other = Sampled::new(subject, other, corrupt, conduct, 1 << 32)?;
    assert_eq!(one.aborts, other.aborts, "who aborts depends on inputs");
    one.sample.check_alike(&other.sample, &one.low)?;
    Ok(one.sample.bits())
}

/// Views of many runs of a case.
struct Sampled {
    sample: Sample,
    /// As in [`View`].
    low: Vec<usize>,
    /// Who ends with an error: tells something, and so has to be the same for the same deviation; without one nobody does.
    aborts: Vec<bool>,
}

impl Sampled {
    /// Runs with these numbers draw what is hidden anew: from `first` on.
    fn new(
        subject: &Subject,
        case: &Case,
        corrupt: &[usize],
        conduct: Conduct,
        first: u64,
    ) -> Result<Self, Leak> {
        let hidden: Arc<dyn Fn(usize, usize) -> bool + Send + Sync> =
            Arc::new(hidden_from(case, corrupt, subject.told));
        let one = |run: u64| {
            let world = match conduct {
                Conduct::Honest => case.world(),
                Conduct::FixedFlips => case.world().intercept(flips(case, corrupt, 0)),
                Conduct::RandomFlips => case.world().intercept(flips(case, corrupt, run + 1)),
            };
            (world, Draws::varying(7, run, Arc::clone(&hidden)))
        };
        let (world, draws) = one(first);
        let run = case.run_in(&world, &draws);
        let deviates = conduct != Conduct::Honest;
        let View { bits, low } = View::new(subject, case, corrupt, &run, deviates)?;
        let (aborts, verified) = (aborts(&run), case.protocol.spec().security != Security::SemiHonest);
        if !deviates || !verified {
            run.outcomes();
        }
        let mut sample = Sample::default();
        let runs = first..first + Sample::runs_for(bits.len(), low.len()) as u64;
        for run in case.run_each(runs.map(one)) {
            let same = conduct == Conduct::RandomFlips || self::aborts(&run) == aborts;
            assert!(same, "who aborts depends on what is hidden");
            sample.push(View::new(subject, case, corrupt, &run, deviates)?.bits);
        }
        Ok(Self { sample, low, aborts })
    }
}

/// The view of parties and clients who put together what they have, and follow the protocol. What they send one another is a part
/// of it: a client's masked input shows the masks, whose seeds are no part; but if the client drew the seeds, it is nothing new;
/// nor is what parties among them send one another.
///
/// Of an output that a client among them learns, every share from outside counts but the last one, which is what the output and
/// the others make it; the output has to be the same in every run. Where the parties verify, what goes to clients is a component
/// from each, hidden by what all parties know: with a party none of them counts, as it has two of the three and the output makes
/// the third.
///
/// Gives how many bits the view has.
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
    let View { bits, low } = View::new(subject, case, corrupt, &first, false)?;
    let mut sample = Sample::default();
    for run in case.run_each((0..Sample::runs_for(bits.len(), low.len()) as u64).map(one)) {
        for (learnt, before) in run.outcomes().into_iter().zip(first.outcomes()) {
            assert_eq!(learnt, before, "an output depends on randomness");
        }
        sample.push(View::new(subject, case, corrupt, &run, false)?.bits);
    }
    sample.check(&low)?;
    Ok(bits.len())
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

/// Flips bits of what `corrupt` sends after the handshake: of inputs, operations and outputs. Not of what clients mask their
/// inputs with, which they check before they give any.
fn flips(case: &Case, corrupt: &[usize], seed: u64) -> Interceptor {
    let (corrupt, parties) = (corrupt.to_vec(), case.parties());
    Box::new(move |message| {
        let at = message.frame.at;
        let to_giver = at.part == step::INPUT && message.to >= parties;
        if !corrupt.contains(&message.from) || at.part < step::INPUT || at.is_aside() || to_giver {
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

/// The same case with other inputs of everybody.
fn with_other_inputs(subject: &Subject, program: &Program, first: &Case, rng: &mut Rng) -> Case {
    loop {
        let other = case(subject, program, rng);
        if other.inputs.iter().zip(&first.inputs).all(|(other, first)| other != first) {
            return other;
        }
    }
}

/// The same case with the corrupt endpoints' inputs of another one.
fn with_own_inputs(other: &Case, first: &Case, corrupt: &[usize]) -> Case {
    let mut case = other.clone();
    for (index, input) in other.plan.inputs.iter().enumerate() {
        if corrupt.contains(&other.roles().endpoint(input.owner)) {
            case.inputs[index] = first.inputs[index].clone();
        }
    }
    case
}
