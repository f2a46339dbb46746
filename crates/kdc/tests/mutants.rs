//! Readers of outside bytes, on mutants of what they are for.

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use tacit_kdc::readers;

/// Mutants of each target.
const MUTANTS: usize = 20_000;

#[test]
fn readers_bear_mutants() {
    for (name, read, seeds) in readers::targets() {
        let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
        for seed in &seeds {
            read(seed);
            (0..seed.len()).for_each(|end| read(&seed[..end]));
        }
        for number in 0..MUTANTS {
            let mut bytes = seeds[number % seeds.len()].clone();
            for _ in 0..=rng.next_u32() % 4 {
                let at = rng.next_u32() as usize % bytes.len();
                match rng.next_u32() % 4 {
                    0 => bytes[at] = rng.next_u32() as u8,
                    1 => bytes[at] ^= 1 << (rng.next_u32() % 8),
                    2 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, rng.next_u32() as u8),
                }
                if bytes.is_empty() {
                    bytes.push(0);
                }
            }
            read(&bytes);
        }
        println!("{name}: {} seeds", seeds.len());
    }
}
