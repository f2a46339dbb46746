//! What unit tests share.

use tacit_testkit::Rng;
use tacit_testkit::fuzz::mutant;

/// Mutants of some seeds.
const MUTANTS: usize = 20_000;

/// Hands a reader these bytes, and as many changed ones as the targets of fuzzing have; it panics at none.
pub(crate) fn bears_mutants(seeds: &[Vec<u8>], read: impl Fn(&[u8])) {
    for bytes in seeds {
        read(bytes);
    }
    let mut rng = Rng::new(seeds.len() as u64);
    for _ in 0..MUTANTS {
        read(&mutant(seeds, &mut rng));
    }
}
