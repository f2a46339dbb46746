//! A prover keeps the message of its products from the left verifier until it has the bits that pick them, and then chooses
//! it: of some products half the ring more, so that nothing is left of them in the statement modulo 2^64.
//!
//! **What it solves.** An error of 2^63 in an output adds `2^63 alpha beta` to `T`, of the output's row and column, and so
//! counts modulo 2: if the polynomials `alpha beta` of all that are wrong add up to 0 over F_2, `T` is a multiple of 2^64 as
//! before, and the prover has true quotients for it. These are 127 linear equations, 254 with two repetitions, and one
//! more output than equations is enough. All that comes after is honest, of the words that the left verifier then has.
//!
//! **Or it divides.** Who knows the prime and the point before it has said its quotients needs no true ones: of any error a
//! multiple of 2^64 is left modulo that prime. It knows them if they come from the seed of the bits; or it keeps its quotients
//! back, and a verifier that doesn't wait for them releases the seed from which they come.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tacit_net::{At, Event, Frame, FrameKind};
use tacit_program::plan::{Builder, OpKind, To, Width};
use tacit_replicated::attackers::{field, picks};
use tacit_replicated::planted::{Mistake, NotedProducts, plant, session, tap_products};
use tacit_replicated::{ReplicatedMalicious, step};
use tacit_testkit::react::{Act, Attacker};
use tacit_testkit::{Altered, Case, Draws, Fate, Rng, with_parameters};

use super::stage::{Seats, against, judge, lock};
use super::withheld::{PATIENCE, Withholds};
use crate::search::cancelling;
use crate::table::{Outcome, Version};

/// An attack of this kind.
pub(crate) struct WithheldProducts {
    /// The protocol's parameters.
    pub(crate) parameters: &'static [(&'static str, &'static str)],
    /// Repetitions whose equations are solved.
    pub(crate) repetitions: usize,
    /// Numbers to choose from: some more than the equations, 127 for each of these repetitions.
    pub(crate) products: usize,
    /// What it takes.
    pub(crate) mistakes: &'static [Mistake],
    /// Of these, what alone isn't enough.
    pub(crate) not_enough: &'static [Mistake],
}

/// A wrong product, and quotients of it modulo a prime.
pub(crate) struct Divided {
    /// The protocol's parameters.
    pub(crate) parameters: &'static [(&'static str, &'static str)],
    pub(crate) from: PrimeFrom,
    /// Repetitions whose primes are used; others' quotients are modulo the last of these.
    pub(crate) repetitions: usize,
    /// What it takes.
    pub(crate) mistakes: &'static [Mistake],
    /// Of these, what alone isn't enough.
    pub(crate) not_enough: &'static [Mistake],
}

/// Where the attacker takes primes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrimeFrom {
    /// The seed of the bits.
    Bits,
    /// The seed that is released for the prime, for which it keeps its quotients back.
    KeptBack,
}

/// An error that counts modulo 2.
const ERROR: u64 = 1 << 63;

/// Products of which one is divided.
const PRODUCTS: usize = 10;

/// The step in which the right verifier releases the seed of the bits, and that in which the prover sends its quotients.
const BITS: u32 = 1;
const QUOTIENTS: u32 = 2;

/// Bytes of a quotient, and of all of a repetition.
const QUOTIENT_BYTES: usize = 24;
const REPETITION_BYTES: usize = 127 * QUOTIENT_BYTES;

/// The products that are wrong: the attacker chooses them, and has this party's code prove them.
#[derive(Default)]
struct Chosen {
    products: Vec<usize>,
    /// What picks each product, by repetition.
    picks: Vec<Vec<[u64; 2]>>,
}

impl WithheldProducts {
    pub(crate) fn run(&self, version: Version, seed: u64) -> Outcome {
        let run = |mistakes| self.run_with(mistakes, seed);
        against(version, self.mistakes, self.not_enough, run)
    }

    fn run_with(&self, mistakes: &'static [Mistake], seed: u64) -> Outcome {
        let seats = Seats::of(seed);
        let chosen: Arc<Mutex<Chosen>> = Arc::default();
        let (proves, known) = (Arc::clone(&chosen), Arc::clone(&chosen));
        let protocol = with_parameters(&ReplicatedMalicious::SOUNDNESS_50, self.parameters);
        let protocol = Altered::beginning_with(protocol, move |endpoint| {
            plant(mistakes);
            if endpoint == seats.prover {
                let proves = Arc::clone(&proves);
                tap_products(move |noted| lock(&proves).prove(noted));
            }
        });
        let (repetitions, count) = (self.repetitions, self.products);
        let choose = move |released: Option<[u8; 32]>, last: &mut Frame| {
            let mut rng = Rng::new(seed);
            let picks = (0..repetitions).map(|repetition| {
                picks(&session(), &released.unwrap_or_default(), [seats.prover, 0, repetition], count)
            });
            let picks: Vec<_> = picks.collect();
            let products = match &picks[..] {
                [one] => cancelling(&one.iter().map(polynomial).collect::<Vec<_>>(), &mut rng),
                [one, other] => {
                    let both = one.iter().zip(other).map(|(one, other)| [polynomial(one), polynomial(other)]);
                    let both: Vec<[u64; 4]> = both.map(|[[a, b], [c, d]]| [a, b, c, d]).collect();
                    cancelling(&both, &mut rng)
                }
                _ => unreachable!("proofs have one repetition or two"),
            };
            for product in &products {
                // The highest bit of a word of 64, the lowest byte first.
                last.payload[8 * product + 7] ^= 0x80;
            }
            *lock(&known) = Chosen { products, picks };
        };
        let attacker = Withholds::new(seats, is_of_products, BITS, choose, || false);
        let case = case(protocol, seats, self.products);
        let run = case.run_attacked(&case.world(), &Draws::fixed(seed), seats.prover, Box::new(attacker));
        assert!(
            !lock(&chosen).products.is_empty(),
            "the attacker found nothing to change, and so shows nothing"
        );
        judge(&case, &run, seats.prover)
    }
}

impl Chosen {
    /// What the left verifier has by now, and the quotients that fit it.
    fn prove(&self, noted: &mut NotedProducts<'_>) {
        let (NotedProducts { e, quotients, .. }, of) = (noted, &self.products);
        // What the errors add to e, and so take from D, as integers.
        let errors: Vec<i128> = of
            .iter()
            .map(|&product| {
                let before = e[product];
                e[product] = before.wrapping_add(ERROR);
                i128::from(e[product]) - i128::from(before)
            })
            .collect();
        // A repetition whose equations aren't solved is hoped to have the same bits.
        for (picks, quotients) in self.picks.iter().cycle().zip(quotients.iter_mut()) {
            let mut less = [0_i128; 127];
            for (&product, error) in of.iter().zip(&errors) {
                let [alpha, beta] = picks[product];
                for (one, other) in (0..64).flat_map(|one| (0..64).map(move |other| (one, other))) {
                    less[one + other] += error * i128::from(alpha >> one & beta >> other & 1);
                }
            }
            quotients.iter_mut().zip(less).for_each(|(quotient, less)| *quotient -= less >> 64);
        }
    }
}

impl Divided {
    pub(crate) fn run(&self, version: Version, seed: u64) -> Outcome {
        let run = |mistakes| self.run_with(mistakes, seed);
        against(version, self.mistakes, self.not_enough, run)
    }

    fn run_with(&self, mistakes: &'static [Mistake], seed: u64) -> Outcome {
        let (seats, repetitions, from) = (Seats::of(seed), self.repetitions, self.from);
        let wrong: Arc<Mutex<Option<Wrong>>> = Arc::default();
        let notes = Arc::clone(&wrong);
        let protocol = with_parameters(&ReplicatedMalicious::SOUNDNESS_50, self.parameters);
        let protocol = Altered::beginning_with(protocol, move |endpoint| {
            plant(mistakes);
            if endpoint == seats.prover {
                let notes = Arc::clone(&notes);
                tap_products(move |noted| {
                    let wrong = Wrong::of(noted, repetitions);
                    if from == PrimeFrom::Bits {
                        for (repetition, quotients) in noted.quotients.iter_mut().enumerate() {
                            quotients[0] -= i128::from(wrong.divided(repetition, &wrong.bits));
                        }
                    }
                    *lock(&notes) = Some(wrong);
                });
            }
        });
        let case = case(protocol, seats, PRODUCTS);
        let run = if from == PrimeFrom::Bits {
            let world = case.world().intercept(Box::new(move |message| {
                let mut frame = message.frame.clone();
                if (message.from, message.to) == (seats.prover, seats.left) && is_of_products(frame.at) {
                    add_one(&mut frame);
                }
                Fate::Replace(vec![frame])
            }));
            case.run_in(&world, &Draws::fixed(seed))
        } else {
            let attacker = KeepsQuotients { seats, wrong: Arc::clone(&wrong), kept: None, done: false };
            case.run_attacked(&case.world(), &Draws::fixed(seed), seats.prover, Box::new(attacker))
        };
        assert!(lock(&wrong).is_some(), "the attacker proved nothing, and so shows nothing");
        judge(&case, &run, seats.prover)
    }
}

/// The first product is one more than it should be.
fn add_one(frame: &mut Frame) {
    let (word, _) = frame.payload.split_first_chunk_mut().expect("a message has words");
    *word = u64::from_le_bytes(*word).wrapping_add(1).to_le_bytes();
}

/// What a prover whose first product is one more knows of its proof.
struct Wrong {
    me: usize,
    batch: usize,
    /// The seed of the bits.
    bits: [u8; 32],
    /// What the product adds to `e`, and so takes from `D`, as an integer.
    error: i128,
    repetitions: usize,
}

impl Wrong {
    /// Has this party's code prove what its left verifier has.
    fn of(noted: &mut NotedProducts<'_>, repetitions: usize) -> Self {
        let before = noted.e[0];
        noted.e[0] = before.wrapping_add(1);
        let error = i128::from(noted.e[0]) - i128::from(before);
        Self { me: noted.me, batch: noted.number as usize, bits: noted.seed, error, repetitions }
    }

    /// What the error takes from `T` at the point of a repetition, divided by 2^64 modulo its prime, if both come from this seed.
    fn divided(&self, repetition: usize, seed: &[u8; 32]) -> u64 {
        let place = |repetition| [self.me, self.batch, repetition];
        let (prime, chi) = field(&session(), seed, place(repetition.min(self.repetitions - 1)));
        let at_chi = |polynomial: u64| {
            let bits = (0..64).rev().map(|degree| polynomial >> degree & 1);
            bits.fold(0, |sum, bit| prime.add(prime.mul(sum, chi), bit))
        };
        let [alpha, beta] = picks(&session(), &self.bits, place(repetition), PRODUCTS)[0].map(at_chi);
        let less = prime.mul(prime.integer(self.error), prime.mul(alpha, beta));
        prime.mul(less, prime.inverse(prime.radix(1)))
    }
}

/// Keeps quotients from the right verifier until it has released a seed.
struct KeepsQuotients {
    seats: Seats,
    wrong: Arc<Mutex<Option<Wrong>>>,
    kept: Option<Frame>,
    done: bool,
}

impl KeepsQuotients {
    /// Sends them, of each repetition the first one less what this seed makes of the error.
    fn release(&mut self, seed: &[u8; 32], act: &mut Act<'_>) {
        let Some(mut frame) = self.kept.take() else { return };
        if let Some(wrong) = lock(&self.wrong).as_ref() {
            for (repetition, quotients) in frame.payload.chunks_mut(REPETITION_BYTES).enumerate() {
                subtract(&mut quotients[..QUOTIENT_BYTES], wrong.divided(repetition, seed));
            }
        }
        act.send(self.seats.right, frame);
        self.done = true;
    }
}

/// Takes a number from a share of a quotient, the lowest byte first.
fn subtract(share: &mut [u8], number: u64) {
    let mut borrow = false;
    for (byte, less) in share.iter_mut().zip(number.to_le_bytes().into_iter().chain(std::iter::repeat(0))) {
        let (difference, below) = byte.overflowing_sub(less);
        let (difference, below_too) = difference.overflowing_sub(u8::from(borrow));
        (*byte, borrow) = (difference, below || below_too);
    }
}

impl Attacker for KeepsQuotients {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        if frame.kind == FrameKind::Data && to == self.seats.left && is_of_products(frame.at) {
            add_one(&mut frame);
        }
        let is_of_quotients = (frame.at.part, frame.at.batch) == (step::PROOF_BACK, QUOTIENTS);
        if frame.kind == FrameKind::Data && to == self.seats.right && is_of_quotients {
            self.kept = Some(frame);
        } else {
            act.send(to, frame);
        }
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        // The seed of the bits has come in a step before.
        if let Event::Frame(frame) = &event
            && (from, frame.at.part) == (self.seats.right, step::PROOF_FORTH)
            && frame.at.batch >= QUOTIENTS
            && let Some(seed) = frame.payload.last_chunk()
        {
            self.release(seed, act);
        }
        act.hear(from, event);
    }

    fn wakes(&self) -> Option<Duration> {
        (!self.done).then_some(PATIENCE)
    }

    fn woken(&mut self, act: &mut Act<'_>) {
        self.release(&[0; 32], act);
        self.done = true;
    }
}

fn is_of_products(at: At) -> bool {
    (step::OPERATION..step::CIRCUIT).contains(&at.part)
}

/// The product of two polynomials over F_2.
fn polynomial([alpha, beta]: &[u64; 2]) -> [u64; 2] {
    let shifted = (0..64).filter(|degree| alpha >> degree & 1 == 1).map(|degree| u128::from(*beta) << degree);
    let product = shifted.fold(0, |sum, one| sum ^ one);
    [product as u64, (product >> 64) as u64]
}

/// Products of numbers of both verifiers: the one that attacks gives none, so there is one right output. The left
/// verifier, whose own message doesn't wait for that which is kept back, learns it.
fn case(protocol: &'static dyn tacit_engine::Protocol, seats: Seats, products: usize) -> Case {
    let mut build = Builder::new();
    let [left, right] = [seats.left, seats.right].map(|party| build.role(&format!("P{party}")));
    let [x, y, dst] = std::array::from_fn(|_| build.ring(Width::W64, products));
    build.input(left, x);
    build.input(right, y);
    build.interact(OpKind::Mul { a: x, b: y, dst });
    build.output(dst, To::One(left));
    let mut rng = Rng::new(7);
    let mut numbers = || (0..products).map(|_| rng.word()).collect::<Vec<u64>>();
    let inputs = [numbers(), numbers()];
    Case::new(protocol, 3, build.finish(), &inputs)
}
