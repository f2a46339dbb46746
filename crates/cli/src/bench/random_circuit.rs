//! Random circuits for branches (Heath, Kolesnikov, Peceny 2021, section 7.2): so many gates of each kind, put into layers at
//! random, and wired layer by layer.

use super::operands::coin_word;
use std::collections::BTreeSet;
use tacit::circuit::{Builder, Circuit};

/// Layers.
const LAYERS: usize = 10;

/// A branch.
pub(super) struct Branch {
    /// From some bits to as many.
    pub(super) circuit: Circuit,
    /// ANDs of each layer.
    pub(super) ands: Vec<usize>,
}

/// Words that look random, the same for the same seed.
struct Coins {
    seed: u64,
    drawn: u64,
}

impl Coins {
    /// A number below another one.
    fn below(&mut self, bound: usize) -> usize {
        self.drawn += 1;
        let word = coin_word(self.seed.wrapping_add(self.drawn));
        ((u128::from(word) * bound as u128) >> 64) as usize
    }
}

/// `gates` ANDs and as many sums. Each way to put them into layers is as likely (RANCOM of Nijenhuis and Wilf): the two kinds
/// by themselves. A gate's operands are two different wires of the layers before, or of the `wires` bits of the input. Every AND
/// goes into one of as many bits of the output: here what nothing depends on would be left out, and so are sums that no AND reads.
pub(super) fn branch(gates: usize, wires: u32, seed: u64) -> Branch {
    let mut coins = Coins { seed: coin_word(seed), drawn: 0 };
    let (ands, sums) = (composition(gates, LAYERS, &mut coins), composition(gates, LAYERS, &mut coins));
    let mut build = Builder::new();
    let mut pool = build.input(wires);
    let mut outputs = pool.clone();
    for (&ands, &sums) in ands.iter().zip(&sums) {
        let mut made = Vec::with_capacity(ands + sums);
        for gate in 0..ands + sums {
            let a = coins.below(pool.len());
            // Any other one.
            let b = (a + 1 + coins.below(pool.len() - 1)) % pool.len();
            let [a, b] = [a, b].map(|place| pool[place]);
            made.push(if gate < ands { build.and(a, b) } else { build.xor(a, b) });
        }
        for (place, &wire) in made[..ands].iter().enumerate() {
            let output = &mut outputs[place % wires as usize];
            *output = build.xor(*output, wire);
        }
        pool.extend(made);
    }
    Branch { circuit: build.finish(vec![outputs]), ands }
}

/// So many balls in cells, each way to put them there as likely: cells' walls are at random places among balls and walls.
fn composition(balls: usize, cells: usize, coins: &mut Coins) -> Vec<usize> {
    let places = balls + cells - 1;
    let mut walls = BTreeSet::new();
    while walls.len() < cells - 1 {
        walls.insert(coins.below(places));
    }
    let ends: Vec<usize> = walls.into_iter().chain([places]).collect();
    let mut start = 0;
    let cell = |end: &usize| {
        let balls = end - start;
        start = end + 1;
        balls
    };
    ends.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_has_the_gates_that_it_says_in_its_layers() {
        for seed in 0..5 {
            let Branch { circuit, ands } = branch(1000, 128, seed);
            assert_eq!((circuit.ands(), ands.iter().sum(), ands.len()), (1000, 1000, LAYERS));
            assert!(circuit.depth() as usize <= LAYERS && circuit.depth() > 1);
            assert_eq!((circuit.input_bits(), circuit.output_bits()), (128, 128));
            assert_eq!(branch(1000, 128, seed).circuit, circuit);
            assert_ne!(branch(1000, 128, seed + 1).ands, ands);
        }
    }

    /// Of two cells and two balls there are three ways.
    #[test]
    fn every_composition_is_as_likely() {
        let mut coins = Coins { seed: 7, drawn: 0 };
        let mut counts = [0; 3];
        for _ in 0..3000 {
            let cells = composition(2, 2, &mut coins);
            assert_eq!(cells.iter().sum::<usize>(), 2);
            counts[cells[0]] += 1;
        }
        assert!(counts.iter().all(|count| (880..1120).contains(count)), "{counts:?}");
    }
}
