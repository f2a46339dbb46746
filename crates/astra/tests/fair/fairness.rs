//! Whether all honest parties have the outputs or nobody has, whatever one party does: of `astra-fair`, whose steps these
//! attacks know.
//!
//! **The claim.** At the end all honest parties have the same outputs, the right ones unless the one that deviates gave
//! another input; or none has any, and no honest party has sent the one that deviates a piece of a component that it lacks.
//! With any such piece it counts as having the output: whatever it does afterwards can't take that back.
//!
//! **When.** Honest parties take their time to compute, as much as the protocol allows; their clocks don't run quite alike; and of
//! every other run the links are reset when somebody leaves, with what is under way on them.
//!
//! **How.** At every message from the last of the check on, the one that deviates has a choice of its own for each receiver:
//! as it should be, changed, late, missing, nothing from here on. As `P_0` it may say that it goes on, or aborts, with its
//! proofs or with others, to each what it likes and before it could know; as an evaluator it may claim that `P_0` aborted, with
//! the proof that it has or with none. Earlier messages are changed one at a time.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tacit_astra::step;
use tacit_net::{At, Frame};
use tacit_program::{Builder, Dtype, Recipient};

use tacit_testkit::conformance::Subject;
use tacit_testkit::conformance::robust::FAIR;
use tacit_testkit::react::{Attacker, reacting};
use tacit_testkit::{Case, Draws, Fate, Interceptor, Message, Rng, Run};

/// Bytes of a proof that `P_0` aborts.
const PROOF: usize = 16;

/// How runs ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// All honest parties had the outputs.
    pub(crate) all: usize,
    /// Nobody had.
    pub(crate) nobody: usize,
    /// Some had, and others not; or the one that deviates and not all others; or they were wrong.
    pub(crate) unfair: usize,
}

/// Runs with these seeds, in each of which one party deviates: each of the three in turn.
pub(crate) fn random(subject: &Subject, seeds: Range<u64>) -> Tally {
    let stage = Stage::new(subject);
    let mut tally = Tally::default();
    for seed in seeds {
        let corrupt = (seed % 3) as usize;
        let opened = Arc::default();
        let run = stage.run(stage.attacker(corrupt, seed, Arc::clone(&opened)), seed);
        let opened = *opened.lock().unwrap_or_else(PoisonError::into_inner);
        match stage.judge(corrupt, &run, opened) {
            Some(true) => tally.all += 1,
            Some(false) => tally.nobody += 1,
            None => {
                println!(
                    "seed {seed}: unfair, P{corrupt} deviates, opened to it: {opened}; {:?}",
                    run.endings
                );
                tally.unfair += 1;
            }
        }
    }
    println!("{tally:?}");
    tally
}

struct Stage {
    case: Case,
    expected: Vec<tacit_engine::Outcome>,
    /// Messages on each link.
    messages: BTreeMap<(usize, usize), usize>,
    /// What `P_0` says to each evaluator when it aborts, by receiver.
    aborts: [Vec<u8>; 3],
}

impl Stage {
    fn new(subject: &Subject) -> Self {
        let mut build = Builder::new();
        let range = tacit_program::Range::new(-8, 7);
        let mut input = |owner: &str| build.input(owner, owner, Dtype::Int, &[3], range).expect("an input");
        let [a, b, c] = ["P0", "P1", "P2"].map(&mut input);
        let product = build.mul(a, b).expect("a product");
        let sum = build.add(product, c).expect("a sum");
        build.reveal(sum, Recipient::All).expect("an output");
        build.reveal(product, Recipient::Role("P1".into())).expect("an output");
        let program = build.finish().expect("something is revealed");
        let inputs = [vec![3, 7, 1], vec![2, 5, 0], vec![1, 1, 1]];
        let case = Case::new(subject.protocol, 3, subject.lowered(&program).plan, &inputs);
        let run = case.run(&Draws::fixed(1));
        let expected = run.outcomes().into_iter().cloned().collect();
        let messages =
            run.trace.links().into_iter().map(|link| (link, run.trace.link(link.0, link.1).count()));
        let mut stage = Self { messages: messages.collect(), case, expected, aborts: Default::default() };
        // The proofs are the same in every run with these draws: P_0 gives them when the commitments differ.
        let aborted = stage.run(
            Box::new(|message| {
                let mut frame = message.frame.clone();
                if (message.from, frame.at.part) == (2, step::FAIR_COMMITMENT) {
                    frame.payload[0] ^= 1;
                }
                Fate::Replace(vec![frame])
            }),
            0,
        );
        for delivery in aborted.trace.deliveries() {
            if delivery.at.part == step::FAIR_SIGNAL {
                stage.aborts[delivery.to].clone_from(&delivery.payload);
            }
        }
        assert!(stage.aborts[1..].iter().all(|abort| abort[0] == 1), "P0 aborts with a proof");
        stage
    }

    /// Runs with somebody who deviates, in a world whose weather this seed decides.
    fn run(&self, interceptor: Interceptor, seed: u64) -> Run {
        let mut rng = Rng::new(seed ^ 1 << 51);
        let world = self.case.world().intercept(interceptor);
        let world = if rng.one_in(2) { world.resetting() } else { world };
        let silence = self.case.limits.silence;
        let slow = rng.below(10) as u32;
        let mut rngs: Vec<Rng> = (0..3).map(|party| Rng::new(seed << 8 ^ party)).collect();
        let world =
            world.charging(move |party, frame| busy(&mut rngs[party], frame.at.part, silence) * slow / 9);
        let mut links = world.transports();
        for end in &mut links {
            let clock =
                Clock { ahead: silence * rng.below(1000) as u32, faster: 500 + rng.below(500) as u32 };
            *end = end.take().map(|end| reacting(end, Box::new(clock)));
        }
        let endings = self.case.run_over(links, &Draws::fixed(1));
        let run = Run { endings, trace: world.trace(), took: world.now() };
        let longest = FAIR * silence;
        assert!(run.took < longest, "the run took {:?} of its world's time", run.took);
        run
    }

    /// Whether all honest parties have the outputs, or nobody; `None` if neither.
    fn judge(&self, corrupt: usize, run: &Run, opened: bool) -> Option<bool> {
        let honest: Vec<_> = (0..3).filter(|&party| party != corrupt).collect();
        let outcome =
            |party: usize| run.endings[party].as_ref().and_then(|ending| ending.result.as_ref().ok());
        // No honest party has outputs of its own alone, so these can be compared.
        let right = |&party: &usize| {
            outcome(party).is_some_and(|outcome| outcome.outputs == self.expected[party].outputs)
        };
        if honest.iter().all(right) {
            return Some(true);
        }
        (honest.iter().all(|&party| outcome(party).is_none()) && !opened).then_some(false)
    }

    /// One that deviates, and notes whether it was sent a piece of what it lacks.
    fn attacker(&self, corrupt: usize, seed: u64, opened: Arc<Mutex<bool>>) -> Interceptor {
        let mut rng = Rng::new(seed ^ 1 << 50);
        let early = rng.one_in(8).then(|| {
            let to = rng.pick(&[(corrupt + 1) % 3, (corrupt + 2) % 3]);
            (to, rng.below(self.messages[&(corrupt, to)]))
        });
        // One of a few habits, so that those that go together come often.
        let often = rng.pick(&[1, 2, 4, 12]);
        let mut said = [false; 3];
        let aborts = self.aborts.clone();
        let silence = self.case.limits.silence;
        Box::new(move |message| {
            if message.from != corrupt {
                if message.to == corrupt && message.frame.at.part == step::OUTPUT {
                    *opened.lock().unwrap_or_else(PoisonError::into_inner) = true;
                }
                return Fate::Deliver;
            }
            let mut rng = Rng::new(seed << 24 ^ (message.to << 20 ^ message.nth) as u64);
            let part = message.frame.at.part;
            let fair = matches!(part, step::ACCEPT | step::OUTPUT | step::FAIR_VERDICT..=step::FAIR_OPENING);
            if early == Some((message.to, message.nth)) && part != step::INPUT {
                return anything(&mut rng, message.frame, silence);
            }
            if !fair {
                return Fate::Deliver;
            }
            if part == step::ACCEPT && corrupt == 0 && rng.one_in(2) {
                // Says at once what it should only decide later.
                said[message.to] = true;
                let of = |part| At { part, ..message.frame.at };
                let verdict = Frame::data(of(step::FAIR_VERDICT), vec![1]);
                let signal = Frame::data(of(step::FAIR_SIGNAL), signal(&mut rng, &aborts[message.to]));
                let mut first = message.frame.clone();
                if rng.one_in(4) {
                    first.payload[0] ^= 1;
                }
                return Fate::Replace(vec![first, verdict, signal]);
            }
            if said[message.to] {
                // What it has said counts; nothing more comes.
                return if part == step::FAIR_SIGNAL && rng.one_in(2) {
                    Fate::Cut
                } else {
                    Fate::Replace(vec![])
                };
            }
            if !rng.one_in(often) {
                return Fate::Deliver;
            }
            claim(&mut rng, message, &aborts, silence)
        })
    }
}

/// How long a party computes before it sends a message, at most: what it sends to both others, and the way, takes less
/// than a limit of silence; a commitment may take one longer.
fn busy(rng: &mut Rng, part: u16, silence: Duration) -> Duration {
    let most = match part {
        step::FAIR_COMMITMENT => 180,
        step::FAIR_REPORT | step::FAIR_READY => 90,
        step::ACCEPT | step::FAIR_VERDICT | step::FAIR_SIGNAL | step::FAIR_OPENING => 45,
        _ => 0,
    };
    silence / 100 * rng.below(most + 1) as u32
}

/// A party's clock: it began earlier than others, and is faster by one in so many.
struct Clock {
    ahead: Duration,
    faster: u32,
}

impl Attacker for Clock {
    fn clock(&self, now: Duration) -> Duration {
        self.ahead + now + now / self.faster
    }
}

/// What `P_0` may say: that it goes on, or aborts, with its proof or another.
fn signal(rng: &mut Rng, abort: &[u8]) -> Vec<u8> {
    match rng.below(4) {
        0 | 1 => vec![0; abort.len()],
        2 => abort.to_vec(),
        _ => {
            let mut wrong = abort.to_vec();
            let last = wrong.len() - 1;
            wrong[rng.pick(&[1, PROOF, PROOF + 1, last])] ^= 1 << rng.below(8);
            wrong
        }
    }
}

/// A lie where one is to be told, or anything.
fn claim(rng: &mut Rng, message: &Message<'_>, aborts: &[Vec<u8>; 3], silence: Duration) -> Fate {
    let mut frame = message.frame.clone();
    match frame.at.part {
        step::FAIR_SIGNAL if rng.one_in(2) => frame.payload = signal(rng, &aborts[message.to]),
        step::FAIR_REPORT if rng.one_in(2) => {
            // An evaluator knows the proof that the other one is to be given; and can make one up.
            frame.payload = aborts[message.to][..=PROOF].to_vec();
            if rng.one_in(2) {
                frame.payload[1..].fill(rng.word() as u8);
            }
        }
        _ => return anything(rng, &frame, silence),
    }
    Fate::Replace(vec![frame])
}

/// Something that a sender may do with any message.
fn anything(rng: &mut Rng, frame: &Frame, silence: Duration) -> Fate {
    let mut changed = frame.clone();
    match rng.below(10) {
        0 | 1 if !changed.payload.is_empty() => {
            let at = rng.below(changed.payload.len());
            changed.payload[at] ^= 1 << rng.below(8);
        }
        2 => changed.payload.push(0),
        3 => changed.at.batch ^= 1,
        4 => return Fate::Replace(vec![]),
        5 => return Fate::Replace(vec![changed.clone(), changed]),
        6 => return Fate::Cut,
        7 => return Fate::Hang,
        8 => return Fate::Die,
        _ => return Fate::Delay(silence / 4 * rng.below(60) as u32),
    }
    Fate::Replace(vec![changed])
}
