//! The kept corpora of `fuzz/corpus` as ordinary tests: every input, and some thousands of mutants of them.

use std::fs;
use std::path::PathBuf;

use peak_alloc::PeakAlloc;
use tacit_testkit::Rng;
use tacit_testkit::fuzz::{TARGETS, Target, mutant};

/// Counts what is allocated, in the whole process: there is one test here, and no other may run beside it.
#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Mutants of each target's corpus.
const MUTANTS: usize = 20_000;

/// No panic, whatever comes, and no more memory than the target's bound: a length in a header allocates nothing
/// that doesn't come.
#[test]
fn every_reader_bears_its_corpus_and_mutants_within_its_memory() {
    for target in TARGETS {
        let corpus = corpus(&target);
        for seed in (target.seeds)() {
            let hint = "make the seeds anew: cargo run -p tacit-testkit --example write_seeds";
            assert!(corpus.contains(&seed), "the corpus of {} is not up to date; {hint}", target.name);
        }
        for bytes in &corpus {
            run(&target, bytes);
        }
        let mut rng = Rng::new(target.name.len() as u64);
        for _ in 0..MUTANTS {
            run(&target, &mutant(&corpus, &mut rng));
        }
    }
}

fn run(target: &Target, bytes: &[u8]) {
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    let ended = std::panic::catch_unwind(|| (target.run)(bytes));
    let peak = ALLOCATED.peak_usage().saturating_sub(before);
    let most = target.fixed + target.per_byte * bytes.len();
    assert!(ended.is_ok(), "{} fails on \"{}\"", target.name, bytes.escape_ascii());
    let input = bytes.escape_ascii();
    assert!(peak <= most, "{} allocates {peak} bytes, above {most}, on \"{input}\"", target.name);
}

fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder(target)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn folder(target: &Target) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus")).join(target.name)
}
