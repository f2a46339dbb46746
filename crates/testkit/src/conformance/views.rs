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
//! elements' low bits; and weak generators, since streams are taken as they come.
//!
//! **Deviations.** In the client-server model (Araki et al. 2016, section 4) the same must hold for a server that
//! deviates at will, as long as no server learns an output. Here the corrupt server's messages after the handshake
//! are changed, in the same way in every run or in a new one each time.

use std::sync::Arc;

use tacit_net::Frame;
use tacit_program::cost::Flow;
use tacit_program::plan::{Domain, Kind, Width};
use tacit_program::{Modulus, Program, Recipient};
use tacit_session::step;

use super::Subject;
use super::catalogue::{self, Numbers};
use crate::sample::{BitRow, Flaw, Sample};
use crate::{Case, Delivery, Draws, Fate, Interceptor, Rng, Run, generate};

/// What the corrupt party does with what it sends for inputs, operations and outputs.
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
    let moduli = rings.into_iter().chain([Modulus::Mersenne61, Modulus::Prime128]);
    // Where numbers are bits, a product of 65 of them has thousands of ANDs, and five show the same.
    let few = |modulus: &Modulus| subject.protocol.native().rings || modulus.bits() < 9;
    for modulus in moduli.filter(few) {
        for name in ["input", "mul", "matmul"] {
            operation_on(subject, name, Numbers::modular(modulus), if modulus.bits() < 9 { 3 } else { 1 });
        }
    }
}

/// Leaves out what isn't defined for such numbers.
fn operation_on(subject: &Subject, name: &str, numbers: Numbers, len: usize) {
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
            for corrupt in 0..case.parties() {
                if let Err(leak) = check(subject, &case, corrupt, conduct) {
                    panic!(
                        "{name}: P{corrupt} ({conduct:?}, inputs of {owners:?}, output to {to:?}): {leak}"
                    );
                }
            }
        }
    }
}

/// The view of one corrupt party in one case. Gives how many bits it has.
///
/// # Errors
/// How it differs from uniform bits.
pub fn check(subject: &Subject, case: &Case, corrupt: usize, conduct: Conduct) -> Result<usize, Leak> {
    let hidden: Arc<dyn Fn(usize, usize) -> bool + Send + Sync> =
        Arc::new(hidden(case, corrupt, subject.told));
    let one = |run: u64| {
        let world = match conduct {
            Conduct::Honest => case.world(),
            Conduct::FixedFlips => case.world().intercept(flips(corrupt, 0)),
            Conduct::RandomFlips => case.world().intercept(flips(corrupt, run + 1)),
        };
        (world, Draws::varying(7, run, Arc::clone(&hidden)))
    };
    let (world, draws) = one(0);
    let View { bits, low } = View::new(case, corrupt, &case.run_in(&world, &draws))?;
    let mut sample = Sample::default();
    for run in case.run_each((0..Sample::runs_for(bits.len(), low.len()) as u64).map(one)) {
        sample.push(View::new(case, corrupt, &run)?.bits);
    }
    sample.check(&low)?;
    Ok(bits.len())
}

/// What a run shows a corrupt party while inputs are shared and operations run.
struct View {
    bits: BitRow,
    /// The lowest bit of each element: in these a product of ring elements is a product of bits.
    low: Vec<usize>,
}

impl View {
    fn new(case: &Case, corrupt: usize, run: &Run) -> Result<Self, Leak> {
        // Who aborts tells something by that, and nobody does here.
        run.outcomes();
        let (mut bits, mut low) = (BitRow::default(), Vec::new());
        for delivery in run.trace.received(corrupt) {
            if let Some((count, element)) = contents(case, delivery) {
                if !padding_is_zero(&delivery.payload, count) {
                    return Err(Leak::Padding(delivery.at));
                }
                low.extend((0..count).step_by(element).map(|bit| bits.len() + bit));
                bits.extend(&delivery.payload, count);
            }
        }
        Ok(Self { bits, low })
    }
}

/// Which draws a corrupt party can't know, of those of all endpoints. In the handshake an endpoint draws a nonce,
/// which all learn, and then a seed for each endpoint that it has a link to.
pub fn hidden(
    case: &Case,
    corrupt: usize,
    told: fn(usize, usize, usize) -> bool,
) -> impl Fn(usize, usize) -> bool + Send + Sync + use<> {
    let (parties, endpoints) = (case.parties(), case.endpoints());
    move |endpoint, call| {
        let linked = |&peer: &usize| peer != endpoint && (peer < parties || endpoint < parties);
        let peers: Vec<usize> = (0..endpoints).filter(linked).collect();
        match call {
            _ if endpoint == corrupt => false,
            0 => false,
            _ => match peers.get(call - 1) {
                Some(&peer) => peer != corrupt,
                None => !told(corrupt, endpoint, call - 1 - peers.len()),
            },
        }
    }
}

/// How many bits a message holds by the protocol's own account, and how many an element of it has; `None` if it
/// belongs to no input or operation. Programs here are so small that a stage's bits on a link are one message.
fn contents(case: &Case, delivery: &Delivery) -> Option<(usize, usize)> {
    let (plan, at) = (&case.plan, delivery.at);
    let (flows, element) = if let Some((op, stage)) = delivery.stage(plan) {
        let op = &plan.ops[op as usize];
        let domain = match &op.kind {
            Kind::And { .. } | Kind::Split { .. } | Kind::Circuit { .. } => Domain::Bits,
            Kind::Mul { dst, .. }
            | Kind::MatMul { dst, .. }
            | Kind::Inject { dst, .. }
            | Kind::Shift { dst, .. } => plan.register(*dst).domain,
        };
        (case.protocol.operation(plan, op, stage), domain.bits())
    } else if at.part == step::INPUT {
        let input = &plan.inputs[at.op as usize];
        (case.protocol.input(plan, case.roles(), input), plan.register(input.reg).domain.bits())
    } else {
        return None;
    };
    let of_link = |flow: &&Flow| (flow.from, flow.to) == (delivery.from, delivery.to);
    let bits = flows.iter().filter(of_link).map(|flow| flow.bits as usize).sum();
    assert_eq!(delivery.payload.len(), usize::div_ceil(bits, 8), "one message for all of {at}");
    Some((bits, element as usize))
}

fn padding_is_zero(payload: &[u8], bits: usize) -> bool {
    bits.is_multiple_of(8) || payload.last().is_none_or(|last| last >> (bits % 8) == 0)
}

/// Flips bits of what `corrupt` sends after the handshake: of inputs, operations and outputs.
fn flips(corrupt: usize, seed: u64) -> Interceptor {
    Box::new(move |message| {
        if message.from != corrupt || message.frame.at.part < step::INPUT {
            return Fate::Deliver;
        }
        let mut rng = Rng::new(seed ^ (message.to as u64) << 32 ^ (message.nth as u64) << 40);
        let payload = message.frame.payload.iter().map(|byte| byte ^ rng.word() as u8).collect();
        Fate::Replace(vec![Frame::data(message.frame.at, payload)])
    })
}

fn case(subject: &Subject, program: &Program, rng: &mut Rng) -> Case {
    let inputs = generate::inputs(&program.input_types(), rng);
    let lowered = subject.lowered(program);
    Case::new(subject.protocol, lowered.plan, &inputs)
}
