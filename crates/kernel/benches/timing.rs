//! Whether the time that kernels take depends on secrets: `make timing`, or `cargo bench -p tacit-kernel --bench timing`.
//!
//! As dudect does it (Reparaz, Balasch, Verbauwhede 2017): the same call on two classes of secrets, one fixed and one
//! random, in random order; the slowest measurements, which the machine and not the code made slow, are left out; then
//! Welch's t-test on the means. A kernel leaks if |t| passes the threshold in every one of several independent rounds.
//! A comparison that stops at the first difference is tried first: if that isn't found, the test finds nothing.
//!
//! Exit code 1 if a kernel leaks, or if the one that is meant to isn't found. No leak found is no proof that there is
//! none; it is what this many measurements on this machine can tell.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;
use tacit_kernel::aes::Aes128Ctr;
use tacit_kernel::cpu::{Level, at, available};
use tacit_kernel::digest::Digest;
use tacit_kernel::field::Fp61;
use tacit_kernel::gf64::Gf64;
use tacit_kernel::gf128::{self, Gf128};
use tacit_kernel::leaves::Leaves;
use tacit_kernel::relation::{self, LeftPlanes, RightPlanes};
use tacit_kernel::robust::RobustHash;
use tacit_kernel::transpose::{from_planes, to_planes};
use tacit_kernel::{Element, bits, fp61, garble, gates, gf64, matrix, ring, rows};

/// Measurements in a round, of both classes together.
const MEASUREMENTS: usize = 20_000;
/// The share of the slowest that is left out, one in so many.
const CROPPED: usize = 5;
/// |t| beyond which a round finds a difference: dudect's "definitely not constant time".
const THRESHOLD: f64 = 10.0;
/// A leak shows in all of them; a disturbance of the machine doesn't.
const ROUNDS: usize = 3;
/// Words of secrets that a call works on.
const WORDS: usize = 192;

fn main() -> ExitCode {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let mut random = Random(Aes128Ctr::new(&[7; 16]), 0);
    println!("{:34}{:>10}{:>10}   verdict", "kernel", "level", "least |t|");
    let mut failed = false;
    let planted = Kernel { name: "planted: stops at a difference", call: Box::new(stops_early) };
    if planted.least_t(Level::Portable, &mut random, true) < THRESHOLD {
        println!("the comparison that leaks isn't found: the machine is too noisy for this test");
        failed = true;
    }
    for level in available() {
        for kernel in kernels_of_shares()
            .iter()
            .chain(&kernels_of_checks())
            .chain(&kernels_of_transfers())
            .filter(|kernel| kernel.name.starts_with(&wanted))
        {
            failed |= kernel.least_t(level, &mut random, false) >= THRESHOLD;
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// What is timed: a call on secrets, given as words.
type Call = Box<dyn Fn(&[u64])>;

struct Kernel {
    name: &'static str,
    call: Call,
}

impl Kernel {
    fn new(name: &'static str, call: impl Fn(&[u64]) + 'static) -> Self {
        Self { name, call: Box::new(call) }
    }

    /// The least |t| of all rounds, for the class that is all zeros or that is all ones, whichever differs more.
    fn least_t(&self, level: Level, random: &mut Random, leaks: bool) -> f64 {
        let classes = [0, u64::MAX].map(|word| vec![word; WORDS]);
        let of_class = |class: &Vec<u64>, random: &mut Random| {
            let rounds = (0..ROUNDS).map(|_| at(level, || self.round(class, random)).abs());
            rounds.fold(f64::INFINITY, f64::min)
        };
        let t = classes.iter().map(|class| of_class(class, random)).fold(0.0, f64::max);
        let verdict = match (t >= THRESHOLD, leaks) {
            (true, true) => "leaks, as it should",
            (true, false) => "LEAKS",
            (false, true) => "NOT FOUND",
            (false, false) => "no difference",
        };
        println!("{:34}{:>10}{t:>10.1}   {verdict}", self.name, format!("{level:?}"));
        t
    }

    fn round(&self, fixed: &[u64], random: &mut Random) -> f64 {
        let mut times: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
        let (mut secret, mut drawn) = (vec![0; WORDS], vec![0; WORDS]);
        for _ in 0..MEASUREMENTS {
            random.fill(&mut drawn);
            let class = (random.word() & 1) as usize;
            // Nothing but the contents tells the classes apart: not the place, nor what came before.
            let chosen = black_box(0_u64.wrapping_sub(class as u64));
            for ((secret, fixed), drawn) in secret.iter_mut().zip(fixed).zip(&drawn) {
                *secret = fixed & !chosen | drawn & chosen;
            }
            let start = Instant::now();
            (self.call)(black_box(&secret));
            times[class].push(start.elapsed().as_nanos() as f64);
        }
        let mut all: Vec<f64> = times.concat();
        all.sort_by(f64::total_cmp);
        let longest = all[all.len() - 1 - all.len() / CROPPED];
        welch(times.map(|times| times.into_iter().filter(|&time| time <= longest).collect()))
    }
}

/// Welch's t of two samples.
fn welch(samples: [Vec<f64>; 2]) -> f64 {
    let [first, second] = samples.map(|sample| {
        let count = sample.len() as f64;
        let mean = sample.iter().sum::<f64>() / count;
        let variance = sample.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (mean, variance / count)
    });
    let spread = (first.1 + second.1).sqrt();
    if spread > 0.0 { (first.0 - second.0) / spread } else { 0.0 }
}

/// What no kernel may do.
fn stops_early(secret: &[u64]) {
    let same = secret.iter().position(|&word| word != 0 && word != u64::MAX);
    black_box(same);
}

struct Random(Aes128Ctr, u64);

impl Random {
    fn fill(&mut self, words: &mut [u64]) {
        self.0.fill(self.1, 0, bytemuck::cast_slice_mut(words));
        self.1 += 1;
    }

    fn word(&mut self) -> u64 {
        let mut word = [0];
        self.fill(&mut word);
        word[0]
    }
}

/// Elements of the field from words.
fn elements(words: &[u64]) -> Vec<Fp61> {
    words.iter().map(|&word| Fp61::from_u128((word >> 3).into())).collect()
}

/// Words that are no secrets, to compute with.
fn others() -> Vec<u64> {
    (0..WORDS as u64).map(|word| word.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

/// Kernels that are given keys and shares.
fn kernels_of_shares() -> Vec<Kernel> {
    let half = WORDS / 2;
    let [a, b, c, d] = [(); 4].map(|()| others());
    vec![
        Kernel::new("aes: keys", |secret| {
            let key: &[[u8; 16]] = bytemuck::cast_slice(secret);
            let mut out = [0; 256];
            Aes128Ctr::new(&key[0]).fill(1, 2, &mut out);
            black_box(out);
        }),
        Kernel::new("bits: cross terms", move |secret| {
            let mut out = a.clone();
            bits::cross(secret, &a, &a, secret, &mut out);
            black_box(out);
        }),
        Kernel::new("bits: pack rows", |secret| {
            let mut out = [0; 8 * WORDS];
            let rows = bits::Rows { first: 0, step: 1, count: 3 };
            bits::pack_rows(
                secret,
                WORDS / 3,
                rows,
                0..WORDS / 3 * 64 - 3,
                &mut out[..bits::packed_len(3, WORDS / 3 * 64 - 3)],
            );
            black_box(out);
        }),
        Kernel::new("gates: ANDs", move |secret| {
            let mut memory = secret.to_vec();
            gates::ands(&mut memory, WORDS / 4, &[[0, 1, 3], [1, 2, 3]]);
            black_box(memory);
        }),
        Kernel::new("ring: cross terms, u64", move |secret| {
            let mut out = b.clone();
            ring::cross(secret, &b, &b, secret, &mut out);
            black_box(out);
        }),
        Kernel::new("ring: cross terms, modulo 2^61 - 1", move |secret| {
            let (x, y) = (elements(secret), elements(&c));
            let mut out = y.clone();
            ring::cross(&x, &y, &y, &x, &mut out);
            black_box(out);
        }),
        Kernel::new("ring: shift right", |secret| {
            let mut out = [0_u64; WORDS];
            ring::sar(secret, 13, &mut out);
            black_box(out);
        }),
        Kernel::new("matrix product, u64", move |secret| {
            let mut out = [0_u64; 64];
            matrix::matmul(&secret[..half], &d[..half], &mut out, 8, half / 8, 8);
            black_box(out);
        }),
        Kernel::new("transpose: to planes and back", |secret| {
            let mut planes = vec![0; 64 * 3];
            to_planes(secret, 64, &mut planes, 3);
            let mut back = vec![0_u64; WORDS];
            from_planes(&planes, 64, 3, &mut back);
            black_box(back);
        }),
    ]
}

/// Kernels that are given what checks and garbling work on.
fn kernels_of_checks() -> Vec<Kernel> {
    let [e, f, g, h, i, j] = [(); 6].map(|()| others());
    let weights = elements(&e[..64]);
    let coefficients: Vec<Gf64> = e.iter().map(|&word| Gf64(word)).collect();
    vec![
        Kernel::new("relation: counts", move |secret| {
            let third = WORDS / 3;
            let own =
                LeftPlanes { a: &secret[..third], c: &secret[third..2 * third], e: &secret[2 * third..] };
            let other = RightPlanes { b: &e[..third], d: &e[third..2 * third], f: &e[2 * third..] };
            let mut out = [0; 64 * 64];
            relation::counts(own, other, 64, &mut out);
            black_box(out);
        }),
        Kernel::new("relation: fold", move |secret| {
            let third = WORDS / 3;
            let planes =
                LeftPlanes { a: &secret[..third], c: &secret[third..2 * third], e: &secret[2 * third..] };
            let mut out = vec![Fp61::ZERO; 4 * 64];
            relation::fold(planes.into(), &weights, &mut out);
            black_box(out);
        }),
        Kernel::new("fp61: inner products", move |secret| {
            let (x, y) = (elements(secret), elements(&f));
            let mut out = [Fp61::ZERO; 64];
            fp61::inner_products(&x, &y, 8, &mut out);
            black_box(out);
        }),
        Kernel::new("gf64: inner products", move |secret| {
            let x: Vec<Gf64> = secret.iter().map(|&word| Gf64(word)).collect();
            let mut out = [Gf64::ZERO; 64];
            gf64::inner_products(&x, &coefficients, 8, &mut out);
            black_box((gf64::sum_chosen(&x, &g[..WORDS / 64]), out));
        }),
        Kernel::new("gf64: choices", move |secret| {
            let chosen: Vec<Gf64> = h.iter().map(|&word| Gf64(word)).collect();
            black_box(gf64::sum_chosen(&chosen, &secret[..WORDS / 64]));
        }),
        Kernel::new("digest: keys and contents", move |secret| {
            let bytes: &[u8] = bytemuck::cast_slice(secret);
            let key = bytes.first_chunk().expect("there are enough bytes");
            let mut digest = Digest::new(key);
            digest.absorb(bytes);
            black_box(digest.value());
        }),
        Kernel::new("garble: labels", move |secret| {
            let mut memory: Vec<u128> =
                secret[..48].iter().map(|&word| u128::from(word) << 64 | u128::from(word)).collect();
            let mut tables = vec![0; 8 * garble::TABLE];
            let delta = u128::from(secret[100]) << 64 | u128::from(i[3]) | 1;
            garble::garble(&mut memory, 8, delta, &[[0, 1, 2]], &[[1; 16]], &mut tables);
            black_box((memory, tables));
        }),
        Kernel::new("garble: choices", move |secret| {
            let mut labels: Vec<u8> = bytemuck::cast_slice(&j[..128]).to_vec();
            garble::choose(&mut labels, &secret[..1], 1 << 77 | 1);
            black_box(labels);
        }),
    ]
}

/// Kernels that are given what oblivious transfers keep secret.
fn kernels_of_transfers() -> Vec<Kernel> {
    let [a, b] = [(); 2].map(|()| others());
    vec![
        Kernel::new("leaves: keys", |secret| {
            let keys: &[[u8; 16]] = bytemuck::cast_slice(secret);
            let (mut sum, mut planes) = ([0; 8], [0; 16]);
            Leaves::new(&keys[..4]).sums(1, &mut sum, &mut planes);
            black_box((sum, planes));
        }),
        Kernel::new("rows: of columns", |secret| {
            let mut rows = [0; 64];
            rows::from_columns(&secret[..128], &mut rows);
            black_box(rows);
        }),
        Kernel::new("rows: where a bit is set", move |secret| {
            let mut columns = a.clone();
            let bits = u128::from(secret[0]) << 64 | u128::from(secret[1]);
            rows::add_where(&mut columns, &a[..WORDS / 96], bits);
            black_box(columns);
        }),
        Kernel::new("robust: rows and difference", |secret| {
            let row = |pair: &[u64]| u128::from(pair[0]) << 64 | u128::from(pair[1]);
            let mut zeros: Vec<u128> = secret.chunks_exact(2).map(row).collect();
            let mut ones = vec![0; zeros.len()];
            RobustHash::new(&[1; 16]).hash_both(1, row(secret), &mut zeros, &mut ones);
            black_box((zeros, ones));
        }),
        Kernel::new("gf128: columns", move |secret| {
            let weights: Vec<Gf128> = b[..WORDS / 4].iter().map(|&word| Gf128(word.into())).collect();
            let mut sums = [Gf128::ZERO; 2];
            gf128::weigh(&weights, secret, &mut sums);
            black_box(sums);
        }),
    ]
}
