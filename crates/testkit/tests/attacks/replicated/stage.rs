//! What is computed while a party attacks, and who has which part in the proof that it attacks.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tacit_circuit::Layered;
use tacit_engine::{Clear, Protocol};
use tacit_net::At;
use tacit_program::plan::{Builder, OpKind, Operand, Plan, Reg, Rows, To};
use tacit_replicated::ReplicatedMalicious;
use tacit_replicated::planted::{Mistake, Moment, Noted, plant, tap};
use tacit_replicated::step;
use tacit_testkit::{Altered, Case, Rng, Run, with_parameters};

use crate::table::{Outcome, Version};

/// Who has which part in the proof of the one that attacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seats {
    /// Who attacks: `P_i`.
    pub(crate) prover: usize,
    /// `P_(i+1)`, to whom it sends its bit of every AND.
    pub(crate) left: usize,
    /// `P_(i-1)`, who releases seeds.
    pub(crate) right: usize,
}

impl Seats {
    /// Each party attacks in turn.
    pub(crate) fn of(seed: u64) -> Self {
        let prover = (seed % 3) as usize;
        Self { prover, left: (prover + 1) % 3, right: (prover + 2) % 3 }
    }
}

/// The protocol with these parameters, and with mistakes in all parties' code. The corrupt party looks into its log.
pub(crate) fn protocol(
    parameters: &[(&str, &str)],
    mistakes: &'static [Mistake],
    corrupt: usize,
    look: impl FnMut(Moment, &mut Noted<'_>) + Clone + Send + Sync + 'static,
) -> &'static dyn Protocol {
    let protocol = with_parameters(&ReplicatedMalicious::SOUNDNESS_50, parameters);
    Altered::beginning_with(protocol, move |endpoint| {
        plant(mistakes);
        if endpoint == corrupt {
            tap(look.clone());
        }
    })
}

/// Attacks a version: that with all mistakes it takes, if some of them alone aren't enough, or that without any.
pub(crate) fn against(
    version: Version,
    mistakes: &'static [Mistake],
    not_enough: &'static [Mistake],
    run: impl Fn(&'static [Mistake]) -> Outcome,
) -> Outcome {
    match version {
        Version::Ours => run(&[]),
        Version::Planted if not_enough.is_empty() => run(mistakes),
        Version::Planted => match run(not_enough) {
            Outcome::Broken(how) => Outcome::Held(format!("less is enough: {how}")),
            Outcome::Held(_) => run(mistakes),
        },
    }
}

/// A computation whose last ANDs an attacker may keep back: it gives no inputs, so there is one right output. The left
/// verifier learns it.
pub(crate) struct Stage {
    pub(crate) plan: Plan,
    pub(crate) inputs: Vec<Vec<u64>>,
    /// Whether a message has bits of the last ANDs.
    pub(crate) is_last: fn(At) -> bool,
    /// These ANDs, by their numbers in the batch that they are noted in.
    pub(crate) ands: Range<usize>,
    /// The batch's number.
    pub(crate) batch: u32,
}

/// Bits in a word of the log.
const WORD: usize = 64;

/// Which of [`levels`]' operations is the last.
const LAST: u32 = 2;

impl Stage {
    /// ANDs in levels: `x & y` of `last` columns and, in the same level, one of `wide` columns; then `(x & y) & z`, whose
    /// messages are the last. Batches have so many words at most.
    pub(crate) fn levels(seats: Seats, wide: usize, last: usize, batch_words: usize) -> Self {
        let mut build = Builder::new();
        let [left, right] = [seats.left, seats.right].map(|party| build.role(&format!("P{party}")));
        let mut given = |owner, cols| {
            let reg = build.bits(1, cols);
            build.input(owner, reg);
            reg
        };
        let [x, y, z] = [left, right, left].map(|owner| given(owner, last));
        let [v, w] = [left, right].map(|owner| given(owner, wide));
        let mut and = |a: Reg, b: Reg, cols: usize| {
            let dst = build.bits(1, cols);
            let [a, b, rows] = [a, b, dst].map(|reg| Rows::one(reg, 0));
            build.interact(OpKind::And { a, b, dst: rows });
            dst
        };
        let (side, both) = (and(v, w, wide), and(x, y, last));
        let all = and(both, z, last);
        for reg in [side, all] {
            build.output(reg, To::One(left));
        }
        let mut rng = Rng::new(7);
        let mut bits = |cols: usize| -> Vec<u64> { (0..cols).map(|_| rng.word() & 1).collect() };
        let inputs = [last, last, last, wide, wide].map(&mut bits).to_vec();
        let words = wide.div_ceil(WORD) + 2 * last / WORD;
        let is_last = |at: At| (step::OPERATION..step::CIRCUIT).contains(&at.part) && at.op == LAST;
        Self::new(build.finish(), inputs, is_last, words, last, batch_words)
    }

    /// A circuit of one full tile, of 128 instances: a layer of so many ANDs, and a last one of so many. A layer of more than
    /// 4,096 goes in pieces.
    pub(crate) fn tile(seats: Seats, [first, last]: [usize; 2], batch_words: usize) -> Self {
        const INSTANCES: usize = 128;
        let mut circuit = tacit_circuit::Builder::new();
        let bits = first.max(last);
        let [x, y] = [0, 1].map(|_| circuit.input(bits as u32));
        let products: Vec<_> = (0..first).map(|at| circuit.and(x[at], y[at])).collect();
        let sum = products.iter().copied().reduce(|a, b| circuit.xor(a, b)).expect("there are ANDs");
        let results = (0..last).map(|at| circuit.and(sum, x[at])).collect();
        let circuit = Arc::new(Layered::new(&circuit.finish(vec![results])));
        let mut build = Builder::new();
        let [left, right] = [seats.left, seats.right].map(|party| build.role(&format!("P{party}")));
        let inputs = [left, right].map(|owner| {
            let reg = build.bits(1, bits * INSTANCES);
            build.input(owner, reg);
            reg
        });
        let dst = build.bits(1, last * INSTANCES);
        build.interact(OpKind::Circuit { circuit, inputs: inputs.map(Operand::Each).to_vec(), dst });
        build.output(dst, To::One(left));
        let mut rng = Rng::new(7);
        let mut given = || (0..bits * INSTANCES).map(|_| rng.word() & 1).collect::<Vec<u64>>();
        let inputs = vec![given(), given()];
        let is_last = |at: At| (step::CIRCUIT..step::SECOND).contains(&at.part) && at.batch == 1;
        let words = (first + last) * INSTANCES / WORD;
        Self::new(build.finish(), inputs, is_last, words, last * INSTANCES, batch_words)
    }

    /// One level of two full batches, the eighth message of which is kept back: the last of the first batch. The left
    /// verifier computes and sends its own part of all that is one level without waiting for it.
    pub(crate) fn two_batches(seats: Seats, chosen: usize) -> Self {
        const MESSAGE: usize = 1 << 19;
        let mut build = Builder::new();
        let [left, right] = [seats.left, seats.right].map(|party| build.role(&format!("P{party}")));
        let [x, y, dst] = std::array::from_fn(|_| build.bits(1, 16 * MESSAGE));
        build.input(left, x);
        build.input(right, y);
        let [a, b, rows] = [x, y, dst].map(|reg| Rows::one(reg, 0));
        build.interact(OpKind::And { a, b, dst: rows });
        build.output(dst, To::One(left));
        let mut rng = Rng::new(7);
        let mut bits = || (0..16 * MESSAGE).map(|_| rng.word() & 1).collect::<Vec<u64>>();
        let inputs = vec![bits(), bits()];
        let is_last = |at: At| (step::OPERATION..step::CIRCUIT).contains(&at.part) && at.batch == 7;
        Self { plan: build.finish(), inputs, is_last, ands: 7 * MESSAGE..7 * MESSAGE + chosen, batch: 0 }
    }

    fn new(
        plan: Plan,
        inputs: Vec<Vec<u64>>,
        is_last: fn(At) -> bool,
        words: usize,
        last: usize,
        batch_words: usize,
    ) -> Self {
        let end = (words - 1) % batch_words + 1;
        let ands = end * WORD - last..end * WORD;
        Self { plan, inputs, is_last, ands, batch: ((words - 1) / batch_words) as u32 }
    }

    pub(crate) fn case(&self, protocol: &'static dyn Protocol) -> Case {
        Case::new(protocol, 3, self.plan.clone(), &self.inputs)
    }
}

/// Whether an honest endpoint has a wrong output; the one that attacks gives no inputs.
pub(crate) fn judge(case: &Case, run: &Run, corrupt: usize) -> Outcome {
    let right = case.run_in_the_clear().expect("the plan can be run").outputs;
    let mut why = "all have right outputs".to_owned();
    for (endpoint, ending) in run.endings.iter().enumerate().filter(|(endpoint, _)| *endpoint != corrupt) {
        let Some(ending) = ending else { continue };
        match &ending.result {
            Err(error) if error.is_failed_check() => why = first_line(error),
            Err(_) if why.starts_with("all") => "the run ended".clone_into(&mut why),
            Err(_) => {}
            Ok(outcome) => {
                let learned = outcome.outputs.iter().zip(&right);
                let wrong =
                    learned.filter_map(|(output, right)| Some(differing(output.as_ref()?, right.as_ref()?)));
                let wrong: u32 = wrong.sum();
                if wrong > 0 {
                    return Outcome::Broken(format!("P{endpoint} accepts {wrong} wrong bits"));
                }
            }
        }
    }
    Outcome::Held(why)
}

/// Bits in which they differ.
fn differing(output: &Clear, right: &Clear) -> u32 {
    output.to_words().iter().zip(right.to_words()).map(|(output, right)| (output ^ right).count_ones()).sum()
}

/// What an error says first.
pub(crate) fn first_line(error: &tacit_engine::Error) -> String {
    let text = error.to_string();
    text.split(';').next().unwrap_or_default().to_owned()
}

/// What an attacker and a party's code tell one another.
pub(crate) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
