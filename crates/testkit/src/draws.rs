//! Randomness that can be repeated, and varied in some places only.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use tacit_session::{Entropy, Error};

/// The randomness of all endpoints of a run, addressed by endpoint and by how often that one asked before.
///
/// A draw is fixed by the seed alone, or varies with the number of the run: so what one party knows can be held
/// while all else is drawn anew. Uniform as far as SHA-256 is a random function; no secret, and so no use
/// outside of tests.
#[derive(Clone)]
pub struct Draws {
    seed: u64,
    run: u64,
    varies: Arc<dyn Fn(usize, usize) -> bool + Send + Sync>,
}

impl Draws {
    /// The same in every run.
    pub fn fixed(seed: u64) -> Self {
        Self { seed, run: 0, varies: Arc::new(|_, _| false) }
    }

    /// Those of run number `run`: the draw of (endpoint, call) is new in every run where `varies` says so, and
    /// else the same.
    pub fn varying(seed: u64, run: u64, varies: Arc<dyn Fn(usize, usize) -> bool + Send + Sync>) -> Self {
        Self { seed, run, varies }
    }

    /// One endpoint's source.
    pub fn of(&self, endpoint: usize) -> Box<dyn Entropy> {
        Box::new(Source { draws: self.clone(), endpoint, call: 0 })
    }
}

/// One endpoint's randomness.
struct Source {
    draws: Draws,
    endpoint: usize,
    call: usize,
}

impl Entropy for Source {
    fn fill(&mut self, out: &mut [u8]) -> Result<(), Error> {
        let Draws { seed, run, varies } = &self.draws;
        let run = if varies(self.endpoint, self.call) { run + 1 } else { 0 };
        let address = [*seed, run, self.endpoint as u64, self.call as u64];
        for (number, block) in out.chunks_mut(32).enumerate() {
            let mut hash = Sha256::new_with_prefix(b"tacit testkit draw 1");
            for part in address.into_iter().chain([number as u64]) {
                hash.update(part.to_le_bytes());
            }
            block.copy_from_slice(&hash.finalize()[..block.len()]);
        }
        self.call += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(draws: &Draws, endpoint: usize) -> [[u8; 40]; 2] {
        let mut source = draws.of(endpoint);
        let mut drawn = [[0; 40]; 2];
        for draw in &mut drawn {
            source.fill(draw).unwrap();
        }
        drawn
    }

    #[test]
    fn draws_are_the_same_for_one_address_and_differ_between_addresses() {
        let draws = Draws::fixed(1);
        let [first, second] = two(&draws, 0);
        assert_eq!(two(&draws, 0), [first, second]);
        assert_ne!(first, second);
        assert_ne!(first[..8], first[32..]);
        assert_ne!(two(&draws, 1), [first, second]);
        assert_ne!(two(&Draws::fixed(2), 0)[0], first);
    }

    #[test]
    fn only_what_varies_differs_between_runs() {
        let of_run = |run| two(&Draws::varying(1, run, Arc::new(|_, call| call == 1)), 0);
        let (a, b) = (of_run(0), of_run(1));
        assert_eq!(a[0], b[0]);
        assert_ne!(a[1], b[1]);
        assert_eq!(a[0], two(&Draws::fixed(1), 0)[0]);
    }
}
