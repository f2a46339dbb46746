//! `astra-malicious`: what one party, or a client, can do with what it sees before it sends.

mod digests;
mod inputs;
mod signs;
mod triples;
mod wires;

use std::sync::{Arc, Mutex, PoisonError};

use tacit_astra::Astra;
use tacit_astra::planted::{Mistake, Told, plant, tell_to};
use tacit_astra::step;
use tacit_engine::Protocol;
use tacit_net::{Event, Frame, FrameKind};
use tacit_program::plan::{Builder, OpKind, Plan, Rows, To, Width};
use tacit_testkit::react::{Act, Attacker};
use tacit_testkit::{Altered, Case, Run};

use crate::table::{Attack, Outcome, Version};

/// All of them.
pub(crate) fn attacks() -> Vec<Attack> {
    let attack = |name, runs, run| Attack { name, protocol: "astra-malicious", runs, long: false, run };
    let garbled = |name, runs, run| Attack {
        protocol: "astra-malicious comparison=garbled",
        ..attack(name, runs, run)
    };
    vec![
        attack("coin before triples: P_0 withholds its parts until it knows the coin", 4, triples::withheld),
        attack("lanes toss the same coin: P_0 stalls one until the other's is out", 4, triples::stalled_lane),
        attack("wrong products beyond a full batch", 6, triples::beyond_a_batch),
        attack("wrong products beyond a full batch of 2^20", 2, triples::beyond_a_whole_batch),
        attack("products that nothing notes, counted by the log", 2, triples::unnoted_products),
        attack("opened differences left out of the digest: P_1 reads a mask", 96, triples::undigested),
        attack(
            "half of the operands left out of the digest: P_1 reads an input",
            2,
            digests::half_of_operands,
        ),
        attack("half of the results left out of the digest", 2, digests::half_of_results),
        attack("half of the inputs left out of the digest", 2, digests::half_of_inputs),
        attack("a digest's second point unchecked, and the first guessed", 2, digests::second_point),
        attack("a digest's first point unchecked, and the second guessed", 2, digests::first_point),
        attack("a digest at one point twice, and that guessed", 2, digests::one_point_twice),
        attack("a digest whose key the inputs' owner holds", 2, digests::known_key),
        attack("a delta shared by two products of one wire: P_0 reads", 2, wires::shared_delta),
        attack("a delta_z shared by two products of one wire: P_0 reads", 2, wires::shared_result_delta),
        attack("inputs compared last: P_0 sees who complains", 2, inputs::compared_last),
        attack("a client that doesn't look at acceptances", 2, inputs::not_accepted),
        garbled("signs that nothing notes, counted by the log", 2, signs::unnoted),
        garbled("labels left out of the garblers' digest", 2, signs::uncompared_labels),
    ]
}

/// What honest parties do in a version.
const fn mistakes(version: Version, mistakes: &'static [Mistake]) -> &'static [Mistake] {
    match version {
        Version::Planted => mistakes,
        Version::Ours => &[],
    }
}

/// A protocol in which each endpoint has its mistakes, and tells what it knows if there is somebody to be told.
fn protocol(
    of: &'static dyn Protocol,
    mistakes: impl Fn(usize) -> &'static [Mistake] + Send + Sync + 'static,
    told: impl Fn(usize) -> Option<Told> + Send + Sync + 'static,
) -> &'static dyn Protocol {
    Altered::beginning_with(of, move |endpoint| {
        plant(mistakes(endpoint));
        tell_to(told(endpoint));
    })
}

/// The protocol with the same mistakes everywhere.
fn mistaken(mistakes: &'static [Mistake]) -> &'static dyn Protocol {
    protocol(&Astra::MALICIOUS, move |_| mistakes, |_| None)
}

/// What an endpoint that is attacked from inside told, for a purpose.
fn told(told: &Told, part: u16) -> Option<Vec<u8>> {
    let told = told.lock().unwrap_or_else(PoisonError::into_inner);
    told.iter().rev().find(|(what, _)| *what == part).map(|(_, secret)| secret.clone())
}

/// Products of numbers of 64 bits, of `P_1`'s and `P_2`'s.
fn products(protocol: &'static dyn Protocol, count: usize) -> Case {
    let mut builder = Builder::new();
    let [x, y, z] = std::array::from_fn(|_| builder.ring(Width::W64, count));
    for (owner, reg) in [("P1", x), ("P2", y)] {
        let owner = builder.role(owner);
        builder.input(owner, reg);
    }
    builder.interact(OpKind::Mul { a: x, b: y, dst: z });
    builder.output(z, To::All);
    let numbers = |seed: u64| (0..count as u64).map(|at| at.wrapping_mul(seed) | 1).collect();
    Case::new(protocol, 3, builder.finish(), &[numbers(0x9e37_79b9), numbers(77)])
}

/// ANDs of `P_1`'s bits and `P_2`'s, a row of them.
fn ands(protocol: &'static dyn Protocol, x: &[u64], y: &[u64]) -> Case {
    let mut builder = Builder::new();
    let [a, b, z] = std::array::from_fn(|_| builder.bits(1, x.len()));
    for (owner, reg) in [("P1", a), ("P2", b)] {
        let owner = builder.role(owner);
        builder.input(owner, reg);
    }
    and(&mut builder, [a, b, z]);
    builder.output(z, To::All);
    Case::new(protocol, 3, builder.finish(), &[x.to_vec(), y.to_vec()])
}

fn and(builder: &mut Builder, regs: [u32; 3]) {
    let [a, b, dst] = regs.map(|reg| Rows::one(reg, 0));
    builder.interact(OpKind::And { a, b, dst });
}

/// What a client gives, which all learn: nothing is computed.
fn given(protocol: &'static dyn Protocol, plan: impl Fn(&mut Builder) -> u32, values: &[u64]) -> Case {
    let mut builder = Builder::new();
    let x = plan(&mut builder);
    let owner = builder.role("alice");
    builder.input(owner, x);
    builder.output(x, To::All);
    Case::new(protocol, 3, builder.finish(), &[values.to_vec()])
}

/// Whether honest endpoints have outputs that aren't those of the inputs.
fn wrong_outputs(case: &Case, endings: &[Option<tacit_testkit::Ending>], corrupt: usize) -> Outcome {
    let right = case.run_in_the_clear().expect("the plan runs in the clear").outputs;
    let mut why = "nobody has an output".to_owned();
    for (endpoint, ending) in endings.iter().enumerate().filter(|(endpoint, _)| *endpoint != corrupt) {
        let Some(ending) = ending else { continue };
        match &ending.result {
            Ok(outcome) => {
                let pairs = outcome.outputs.iter().zip(&right);
                let wrong = pairs.into_iter().any(|(has, right)| has.is_some() && has != right);
                if wrong {
                    return Outcome::Broken(format!("{} takes a wrong output", case.name(endpoint)));
                }
                why = format!("{} has the right output", case.name(endpoint));
            }
            Err(error) => why = error.to_string(),
        }
    }
    Outcome::Held(why)
}

/// Whether honest parties have different outputs.
fn different_outputs(run: &Run) -> Outcome {
    let outputs: Vec<_> = [1, 2]
        .into_iter()
        .filter_map(|party| Some(run.endings[party].as_ref()?.result.as_ref().ok()?.outputs.clone()))
        .collect();
    match outputs.as_slice() {
        [one, other] if one != other => Outcome::Broken("P1 and P2 have different outputs".to_owned()),
        _ => held(run, 1),
    }
}

/// What an honest endpoint says.
fn held(run: &Run, endpoint: usize) -> Outcome {
    let ending = run.endings[endpoint].as_ref().map(|ending| &ending.result);
    Outcome::Held(match ending {
        Some(Ok(_)) => "all is well".to_owned(),
        Some(Err(error)) => error.to_string(),
        None => "it never came".to_owned(),
    })
}

/// Whether an attacker knew a secret bit each time: what it would say, if anything, and what it was.
fn knew(guesses: impl IntoIterator<Item = (Option<u64>, u64)>) -> Outcome {
    let (mut said, mut right, mut tried) = (0, 0, 0);
    for (guess, secret) in guesses {
        tried += 1;
        said += usize::from(guess.is_some());
        right += usize::from(guess == Some(secret));
    }
    assert!(tried >= 10, "few tries tell little");
    if right == tried {
        Outcome::Broken(format!("it knows a secret bit {right} times of {tried}"))
    } else {
        Outcome::Held(format!("it has a word on it {said} times of {tried}, and is right {right} times"))
    }
}

/// An attacker of what it does with each data frame that it sends, and with each that it hears; and what it sees is told.
struct Does<S, H> {
    sends: S,
    hears: H,
}

impl<S, H> Does<S, H>
where
    S: FnMut(usize, Frame, &mut Act<'_>) + Send + 'static,
    H: FnMut(usize, &Frame) + Send + 'static,
{
    fn boxed(sends: S, hears: H) -> Box<dyn Attacker> {
        Box::new(Self { sends, hears })
    }
}

impl<S, H> Attacker for Does<S, H>
where
    S: FnMut(usize, Frame, &mut Act<'_>) + Send,
    H: FnMut(usize, &Frame) + Send,
{
    fn sends(&mut self, to: usize, frame: Frame, act: &mut Act<'_>) {
        if frame.kind == FrameKind::Data {
            (self.sends)(to, frame, act);
        } else {
            act.send(to, frame);
        }
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        if let Event::Frame(frame) = &event
            && frame.kind == FrameKind::Data
        {
            (self.hears)(from, frame);
        }
        act.hear(from, event);
    }
}

/// An attacker that changes what it sends, and is else honest.
fn changes(mut change: impl FnMut(usize, &mut Frame) + Send + 'static) -> Box<dyn Attacker> {
    let sends = move |to: usize, mut frame: Frame, act: &mut Act<'_>| {
        change(to, &mut frame);
        act.send(to, frame);
    };
    Does::boxed(sends, |_, _| ())
}

/// What an attacker saw, for the time after the run.
type Seen<T> = Arc<Mutex<T>>;

fn take<T: Default>(seen: &Seen<T>) -> T {
    std::mem::take(&mut seen.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A bit of a message.
fn bit(payload: &[u8], at: usize) -> u64 {
    u64::from(payload[at / 8] >> (at % 8) & 1)
}

/// The contents of the first delivery on a link at a step, and of an operation if one is named.
fn delivered(run: &Run, from: usize, to: usize, part: u16, op: u32) -> Vec<u8> {
    let mut link = run.trace.link(from, to);
    let found = link.find(|delivery| (delivery.at.part, delivery.at.op) == (part, op));
    found.map(|delivery| delivery.payload.clone()).unwrap_or_default()
}

/// The step of masked operands that `P_1` shows of operations.
const SHOWN: u16 = step::OPERATION + step::MASKED;

/// The step of what is made offline for operations.
const OFFLINE_OPERATION: u16 = step::OPERATION + step::OFFLINE;

/// A plan that compares numbers of 8 bits of `P_1`'s with zero.
fn signs(count: usize) -> Plan {
    let mut builder = Builder::new();
    let (a, dst) = (builder.ring(Width::W8, count), builder.bits(1, count));
    let owner = builder.role("P1");
    builder.input(owner, a);
    builder.interact(OpKind::Msb { a, dst });
    builder.output(dst, To::All);
    builder.finish()
}
