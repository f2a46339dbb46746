//! Speeds of the kernels at every level of this machine: `cargo bench -p tacit-kernel`.
//!
//! Each figure is the median of several runs on one core, over blocks that fit the first- or second-level cache
//! unless the line says otherwise. A name's first letters, given as an argument, choose what runs.

use std::hint::black_box;
use std::time::{Duration, Instant};
use tacit_kernel::aes::{Aes128Ctr, sub_streams, xor_streams};
use tacit_kernel::cpu::{at, available};
use tacit_kernel::field::Fp61;
use tacit_kernel::gf128::{self, Gf128};
use tacit_kernel::leaves::Leaves;
use tacit_kernel::relation::{self, LeftPlanes, Planes, RightPlanes, Side};
use tacit_kernel::robust::RobustHash;
use tacit_kernel::transpose::{bit_to_words, from_planes, to_planes};
use tacit_kernel::{Element, Word, bits, fp61, garble, matrix, ring, rows};

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    print!("{:38}", "");
    for level in available() {
        print!("{:>20}", format!("{level:?}"));
    }
    println!();
    let bench = Bench { wanted };
    streams(&bench);
    products(&bench);
    moves(&bench);
    transposes(&bench);
    matrices(&bench);
    proofs(&bench);
    labels(&bench);
    transfers(&bench);
}

fn streams(bench: &Bench) {
    let [a, b] = [[1; 16], [2; 16]].map(|key| Aes128Ctr::new(&key));
    let mut out = vec![0_u8; 16 << 10];
    let size = out.len() as f64;
    bench.line("aes fill, 16 KiB", size, "GB/s", || a.fill(1, 2, black_box(&mut out)));
    bench.line("aes fill, 64 B", 64.0, "GB/s", || a.fill(1, 2, black_box(&mut out[..64])));
    bench.line("aes xor_streams, 16 KiB", size, "GB/s", || xor_streams(&a, &b, 1, 2, black_box(&mut out)));
    let [x, xp, y, yp] = [1, 2, 3, 4].map(|seed| vec![seed; 2048]);
    let mut masks = vec![0_u64; 2048];
    bench.line("and: xor_streams + cross, 16 KiB", size * 8.0, "G and/s", || {
        xor_streams(&a, &b, 1, 2, bytemuck::cast_slice_mut(black_box(&mut masks)));
        bits::cross(&x, &xp, &y, &yp, &mut masks);
    });
    bench.line("mul: sub_streams + cross, u64", 2048.0, "G mul/s", || {
        sub_streams(&a, &b, 1, 2, black_box(&mut masks));
        ring::cross(&x, &xp, &y, &yp, &mut masks);
    });
}

fn products(bench: &Bench) {
    let [x, xp, y, yp] = [1, 2, 3, 4].map(|seed| vec![seed; 2048]);
    let mut out = vec![0_u64; 2048];
    let size = out.len() as f64;
    bench.line("bits cross", size * 64.0, "G and/s", || bits::cross(&x, &xp, &y, &yp, black_box(&mut out)));
    bench.line("ring cross, u64", size, "G mul/s", || ring::cross(&x, &xp, &y, &yp, black_box(&mut out)));
    bench.line("ring add, u64", size * 8.0, "GB/s", || ring::add(&x, &y, black_box(&mut out)));
    bench.line("ring sum, 32 x 64 x 1, u64", size * 8.0, "GB/s", || {
        ring::sum(&x, 32, 64, 1, black_box(&mut out[..32]));
    });
    bench.line("ring sum, 1 x 64 x 32, u64", size * 8.0, "GB/s", || {
        ring::sum(&x, 1, 64, 32, black_box(&mut out[..32]));
    });
}

fn moves(bench: &Bench) {
    let src = vec![0x55_u64; 64 * 64];
    let rows = bits::Rows { first: 0, step: 1, count: 64 };
    for (name, cols) in [("0..4096", 0..4096), ("0..4001", 0..4001), ("3..10", 3..10)] {
        let mut bytes = vec![0; bits::packed_len(64, cols.len())];
        let mut back = vec![0; src.len()];
        let size = bytes.len() as f64;
        bench.line(&format!("pack 64 rows of {name}"), size, "GB/s", || {
            bits::pack_rows(&src, 64, rows, cols.clone(), black_box(&mut bytes));
        });
        bench.line(&format!("unpack 64 rows of {name}"), size, "GB/s", || {
            bits::unpack_rows(&bytes, black_box(&mut back), 64, rows, cols.clone());
        });
    }
    let mut out = vec![0; 64 * 64];
    bench.line("strided copy: 64 x 64 transpose, u64", 8.0 * 4096.0, "GB/s", || {
        ring::copy_strided(&src, 0, &[64, 64], &[1, 64], black_box(&mut out));
    });
}

fn transposes(bench: &Bench) {
    transposes_of::<u64>(bench, 64);
    transposes_of::<u64>(bench, 20);
    transposes_of::<u32>(bench, 32);
    transposes_of::<u8>(bench, 8);
    let row = vec![0x1234_5678_9abc_def0; 64];
    let mut words = vec![0_u64; 4096];
    bench.line("bit to words, u64", 4096.0, "G words/s", || bit_to_words(&row, black_box(&mut words)));
}

fn transposes_of<W: Word>(bench: &Bench, count: usize) {
    let mut words = vec![W::ONE; 4096];
    let mut planes = vec![0; count * 64];
    bench.line(&format!("to {count} planes, u{}", W::BITS), 4096.0, "G words/s", || {
        to_planes(&words, count, black_box(&mut planes), 64);
    });
    bench.line(&format!("from {count} planes, u{}", W::BITS), 4096.0, "G words/s", || {
        from_planes(&planes, count, 64, black_box(&mut words));
    });
}

fn matrices(bench: &Bench) {
    matrices_of::<u64>(bench, [1000, 1000, 1000]);
    matrices_of::<u32>(bench, [1000, 1000, 1000]);
    matrices_of::<u16>(bench, [512, 512, 512]);
    matrices_of::<u8>(bench, [512, 512, 512]);
    for shape in
        [[1000, 784, 1], [1, 784, 1000], [1000, 784, 10], [4, 1000, 1000], [10, 10, 10], [64, 64, 64]]
    {
        matrices_of::<u64>(bench, shape);
    }
}

fn matrices_of<W: Word>(bench: &Bench, [m, k, n]: [usize; 3]) {
    let (a, b, mut c) = (vec![W::ONE; m * k], vec![W::ONE; k * n], vec![W::ZERO; m * n]);
    let name = format!("matrix {m} x {k} x {n}, u{}", W::BITS);
    bench.line(&name, (m * k * n) as f64, "G mul/s", || matrix::matmul(&a, &b, black_box(&mut c), m, k, n));
}

/// What a proof does with a batch of a million ANDs, which takes a second-level cache nearly whole, and with the
/// vectors that it is folded to.
fn proofs(bench: &Bench) {
    let ands = 1 << 20;
    let key = Aes128Ctr::new(&[1; 16]);
    let planes: Vec<Vec<u64>> = (0..6)
        .map(|plane| {
            let mut words = vec![0; ands / 64];
            u64::fill(&key, plane, 0, &mut words);
            words
        })
        .collect();
    let [a, c, e, b, d, f] = [0, 1, 2, 3, 4, 5].map(|i| planes[i].as_slice());
    let elements = |nonce: u64, count: usize| {
        let mut elements = vec![Fp61::ZERO; count];
        Fp61::fill(&key, nonce, 0, &mut elements);
        elements
    };
    for blocks in [32, 64, 128] {
        let mut out = vec![0; blocks * blocks];
        bench.time(&format!("relation counts, {blocks} blocks"), ands, "and", || {
            relation::counts(LeftPlanes { a, c, e }, RightPlanes { b, d, f }, blocks, black_box(&mut out));
        });
        let weights = elements(6, blocks);
        let mut out = vec![Fp61::ZERO; 4 * ands / blocks];
        for side in [Side::Left, Side::Right] {
            bench.time(&format!("relation fold, {blocks} blocks, {side:?}"), ands, "and", || {
                relation::fold(Planes::of(side, [a, c, e]), &weights, black_box(&mut out));
            });
        }
    }
    for (blocks, count) in [(4, 1 << 14), (8, 1 << 16), (32, 1 << 16), (32, 1 << 13)] {
        let (u, v, weights) = (elements(7, count), elements(8, count), elements(9, blocks));
        let mut products = vec![Fp61::ZERO; blocks * blocks];
        let name = format!("fp61 inner products, {blocks} x {}", count / blocks);
        bench.time(&name, count * blocks, "mul", || {
            fp61::inner_products(&u, &v, blocks, black_box(&mut products));
        });
        let mut out = vec![Fp61::ZERO; count / blocks];
        bench.time(&format!("fp61 combine, {blocks} x {}", count / blocks), count, "mul", || {
            fp61::combine(&u, &weights, black_box(&mut out));
        });
    }
}

/// Half gates on rows of labels that fit the first-level cache, with tables that fit the second-level one.
fn labels(bench: &Bench) {
    for width in [8, 64, garble::MAX_ROW] {
        let gates = vec![[1, 2, 3]; 32];
        let keys = vec![[1; 16]; gates.len()];
        let mut memory = vec![0x55_u128; 4 * width];
        let mut tables = vec![0; gates.len() * width * garble::TABLE];
        let ands = gates.len() * width;
        bench.time(&format!("half gates garbled, rows of {width}"), ands, "and", || {
            garble::garble(black_box(&mut memory), width, 3, &gates, &keys, &mut tables);
        });
        bench.time(&format!("half gates evaluated, rows of {width}"), ands, "and", || {
            garble::evaluate(black_box(&mut memory), width, &gates, &keys, &tables);
        });
    }
}

/// What oblivious transfers are made of, a tile of 4,096 at a time.
fn transfers(bench: &Bench) {
    const ROWS: usize = 4096;
    let words = ROWS / 64;
    for height in [1, 2, 3, 4, 5, 8] {
        let trees = 128_usize.div_ceil(height);
        let leaves: Vec<Leaves> =
            (0..trees).map(|tree| Leaves::new(&vec![[tree as u8; 16]; 1 << height])).collect();
        let (mut sum, mut planes) = (vec![0; words], vec![0; height * words]);
        bench.time(&format!("ot leaves, k = {height}"), ROWS, "ot", || {
            for tree in &leaves {
                tree.sums(0, black_box(&mut sum), black_box(&mut planes));
            }
        });
    }
    let columns = vec![0x5a5a_u64; 128 * words];
    let (mut zeros, mut ones) = (vec![0; ROWS], vec![0; ROWS]);
    let hash = RobustHash::new(&[1; 16]);
    bench.time("ot rows of columns", ROWS, "ot", || {
        rows::from_columns(black_box(&columns), black_box(&mut zeros));
    });
    bench.time("ot hash", ROWS, "ot", || hash.hash(1, black_box(&mut zeros)));
    bench.time("ot hash of both", ROWS, "ot", || {
        hash.hash_both(1, 3, black_box(&mut zeros), black_box(&mut ones));
    });
    let weights = vec![Gf128(3 << 100); ROWS / 128];
    let mut sums = vec![Gf128::ZERO; 128];
    bench.time("ot columns' hashes", ROWS, "ot", || {
        gf128::weigh(&weights, black_box(&columns), black_box(&mut sums));
    });
    let mut corrected = columns.clone();
    bench.time("ot corrections", ROWS, "ot", || {
        for planes in black_box(&mut corrected).chunks_mut(4 * words) {
            rows::add_where(planes, &columns[..words], 5);
        }
    });
}

struct Bench {
    wanted: String,
}

impl Bench {
    /// Prints the speed of `work`, which does `amount` of `unit`s (less the giga), at every level.
    fn line(&self, name: &str, amount: f64, unit: &str, work: impl FnMut()) {
        self.at_every_level(name, work, |seconds| format!("{:.2} {unit}", amount / seconds / 1e9));
    }

    /// Prints the time of one of the `count` things that `work` does, at every level.
    fn time(&self, name: &str, count: usize, thing: &str, work: impl FnMut()) {
        self.at_every_level(name, work, |seconds| format!("{:.3} ns/{thing}", seconds * 1e9 / count as f64));
    }

    fn at_every_level(&self, name: &str, mut work: impl FnMut(), figure: impl Fn(f64) -> String) {
        if !name.starts_with(&self.wanted) {
            return;
        }
        print!("{name:38}");
        for level in available() {
            let seconds = at(level, || median(&mut work)).as_secs_f64();
            print!("{:>20}", figure(seconds));
        }
        println!();
    }
}

/// The median of eleven measurements of at least five milliseconds each, or of one call where that is longer.
fn median(work: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    let once = start.elapsed().max(Duration::from_nanos(5));
    let calls = (Duration::from_millis(5).as_nanos() / once.as_nanos()).max(1) as u32;
    let mut runs: Vec<Duration> = (0..11)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..calls {
                work();
            }
            start.elapsed() / calls
        })
        .collect();
    runs.sort_unstable();
    runs[runs.len() / 2]
}
