//! Vectors that are zero but for one element of each block, times a number that the other side has: single-point VOLE
//! (Weng, Yang, Katz, Wang, "Wolverine", S&P 2021, figure 7), many blocks at once.
//!
//! The *prover* has `e`, the *verifier* a number `Delta`; they get additive shares of `e Delta`, `t` for the prover and `q` for
//! the verifier. The verifier grows a tree for each block, as in [`tree`](crate::tree). With oblivious transfers by the bits of
//! a place `alpha` that nobody else knows, the prover gets all leaves `f_i` but that of `alpha`:
//!
//! ```text
//! q_i = -f_i          t_i = f_i  but for alpha          e_i = 0  but for alpha
//! ```
//!
//! `e_alpha` is a random element that they have shares of already, `q + t = e_alpha Delta`. The verifier sends `d = q + f_0 +
//! ... + f_15`, and the prover has `t_alpha = d + t - (all its leaves) = f_alpha + e_alpha Delta`.
//!
//! **The check.** The verifier may send sums that aren't, so that shares are right or wrong depending on `alpha`. So the prover
//! draws weights `w` when it holds everything, and with one correlation more, `q_x + t_x = x Delta`, sends
//! `y = sum of e_i w_i - x`. Then both can compute
//!
//! ```text
//! sum of w_i t_i - t_x  =  y Delta - sum of w_i q_i + q_x
//! ```
//!
//! The verifier commits to its side, the prover sends its own, and the verifier opens if they are the same. A prover that sends
//! another `y` thus doesn't see the verifier's side, which would tell it `Delta`.
//!
//! Here is what both compute; nothing depends on `alpha` but values.

use crate::lpn::{HEIGHT, LEAVES, POINTS, ROWS};
use tacit_kernel::Element;
use tacit_kernel::aes::Aes128Ctr;
use tacit_kernel::field::Fp128;
use tacit_kernel::robust::RobustHash;
use zeroize::Zeroizing;

/// Field elements as words, wiped when dropped.
pub(crate) type Words = Zeroizing<Vec<u128>>;

/// The words' elements.
pub(crate) fn elements(words: &[u128]) -> &[Fp128] {
    bytemuck::cast_slice(words)
}

/// The same, to be changed.
pub(crate) fn elements_mut(words: &mut [u128]) -> &mut [Fp128] {
    bytemuck::cast_slice_mut(words)
}

/// Oblivious transfers that all blocks take.
pub(crate) const OTS: usize = POINTS * HEIGHT;

/// Bytes of an element, and of a masked node.
const WORD: usize = 16;

/// Bytes of all trees' sums, two for each level after the first.
const SUMS_BYTES: usize = POINTS * (HEIGHT - 1) * 2 * WORD;

/// Bytes that the verifier sends for all blocks.
pub(crate) const TREES_BYTES: usize = SUMS_BYTES + POINTS * WORD;

/// The verifier's trees, from both values of each OT and its shares of the blocks' noise. Gives all leaves, and adds to the
/// message what the prover needs.
pub(crate) fn grow(
    hash: &RobustHash,
    [zeros, ones]: [&[u128]; 2],
    noise: &[u128],
    message: &mut Vec<u8>,
) -> Words {
    let mut nodes = Words::new(Vec::with_capacity(2 * POINTS));
    let bases = zeros.iter().zip(ones).step_by(HEIGHT);
    nodes.extend(bases.flat_map(|(zero, one)| [*zero, *one]));
    for level in 1..HEIGHT {
        nodes = children(hash, level, &nodes);
        for (tree, nodes) in nodes.chunks_exact(2 << level).enumerate() {
            let ot = tree * HEIGHT + level;
            for (sum, key) in sums(nodes).iter().zip([zeros[ot], ones[ot]]) {
                message.extend_from_slice(&(sum ^ key).to_le_bytes());
            }
        }
    }
    for (leaves, noise) in nodes.chunks_exact_mut(LEAVES).zip(elements(noise)) {
        let d = noise.wrapping_add(reduce(leaves));
        message.extend_from_slice(&d.to_u128().to_le_bytes());
    }
    nodes
}

/// What the prover has of all blocks.
pub(crate) struct Points {
    /// Its shares.
    pub(crate) shares: Words,
    /// `alpha` of each block.
    places: Zeroizing<Vec<usize>>,
}

/// The prover's side, from the OTs' packed choices and chosen values, its shares of the blocks' noise and the message.
///
/// # Panics
/// If the message hasn't [`TREES_BYTES`].
pub(crate) fn regrow(
    hash: &RobustHash,
    choices: &[u64],
    keys: &[u128],
    noise: &[u128],
    message: &[u8],
) -> Points {
    let word = |at: usize| message[WORD * at..].first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes));
    let mut places = Zeroizing::new(vec![0; POINTS]);
    let mut nodes = Words::new(vec![0; 2 * POINTS]);
    for level in 0..HEIGHT {
        if level > 0 {
            nodes = children(hash, level, &nodes);
        }
        for (tree, (nodes, place)) in nodes.chunks_exact_mut(2 << level).zip(&mut *places).enumerate() {
            let ot = tree * HEIGHT + level;
            // It chose the side that the missing node isn't on.
            let side = (choices[ot / 64] >> (ot % 64) & 1) as usize;
            let mut sum = keys[ot];
            if level > 0 {
                let at = 2 * ((level - 1) * POINTS + tree);
                let own = sums(nodes);
                sum ^= select(word(at) ^ own[0], word(at + 1) ^ own[1], side);
            }
            // The sum of that side is right when the one node there that it couldn't compute is.
            let sibling = *place << 1 | side;
            for (number, node) in nodes.iter_mut().enumerate() {
                *node ^= sum & mask(number, sibling);
            }
            *place = *place << 1 | side ^ 1;
        }
    }
    let blocks = nodes.chunks_exact_mut(LEAVES).zip(elements(noise)).zip(&*places);
    for (tree, ((leaves, noise), place)) in blocks.enumerate() {
        let d = Fp128::from_u128(word(SUMS_BYTES / WORD + tree));
        let missing = d.wrapping_add(*noise).wrapping_sub(reduce(leaves)).to_u128();
        for (number, share) in elements_mut(leaves).iter_mut().enumerate() {
            *share = share.wrapping_add(Fp128::from_u128(missing & mask(number, *place)));
        }
    }
    Points { shares: nodes, places }
}

impl Points {
    /// Adds the blocks' noise to elements, one for each place of each block.
    pub(crate) fn add_noise(&self, noise: &[u128], sums: &mut [u128]) {
        for ((sums, noise), place) in sums.chunks_exact_mut(LEAVES).zip(noise).zip(&*self.places) {
            for (number, sum) in elements_mut(sums).iter_mut().enumerate() {
                *sum = sum.wrapping_add(Fp128::from_u128(noise & mask(number, *place)));
            }
        }
    }

    /// The prover's part of the check: `y`, and its side. `noise` are the values, `x` and `t` the correlation that is given up.
    pub(crate) fn answer(&self, coin: &[u8; 16], noise: &[u128], [x, t]: [u128; 2]) -> [Fp128; 2] {
        let weights = weights(coin, ROWS);
        let mut y = Fp128::from_u128(x).wrapping_neg();
        for ((weights, noise), place) in weights.chunks_exact(LEAVES).zip(elements(noise)).zip(&*self.places)
        {
            let weight = weights
                .iter()
                .enumerate()
                .fold(0, |sum, (number, weight)| sum | weight.to_u128() & mask(number, *place));
            y = y.wrapping_add(noise.wrapping_mul(Fp128::from_u128(weight)));
        }
        let side = inner(&weights, elements(&self.shares));
        [y, side.wrapping_sub(Fp128::from_u128(t))]
    }
}

/// The verifier's side of the check: of its leaves, its number and its share of what is given up.
pub(crate) fn expected(coin: &[u8; 16], y: Fp128, leaves: &[u128], [delta, q]: [u128; 2]) -> Fp128 {
    let [delta, q] = [delta, q].map(Fp128::from_u128);
    inner(&weights(coin, ROWS), elements(leaves)).wrapping_add(y.wrapping_mul(delta)).wrapping_add(q)
}

/// Weights of which nobody knew anything before the coin.
pub(crate) fn weights(coin: &[u8; 16], count: usize) -> Vec<Fp128> {
    let mut weights = vec![Fp128::ZERO; count];
    Fp128::fill(&Aes128Ctr::new(coin), 0, 0, &mut weights);
    weights
}

/// The sum of all products of elements at the same place.
pub(crate) fn inner(x: &[Fp128], y: &[Fp128]) -> Fp128 {
    Fp128::sum_of_products(x.iter().copied().zip(y.iter().copied()))
}

/// Two nodes below each. Each node of a round has an index of its own in the hash.
fn children(hash: &RobustHash, level: usize, nodes: &[u128]) -> Words {
    let mut next = Words::new(Vec::with_capacity(2 * nodes.len()));
    next.extend(nodes.iter().flat_map(|node| [*node; 2]));
    hash.hash((level as u64) << 32, &mut next);
    next
}

/// The sums of a tree's nodes on either side.
fn sums(nodes: &[u128]) -> [u128; 2] {
    nodes.as_chunks().0.iter().fold([0; 2], |[left, right], [l, r]| [left ^ l, right ^ r])
}

/// Makes elements of leaves; gives their sum.
fn reduce(leaves: &mut [u128]) -> Fp128 {
    leaves.iter_mut().fold(Fp128::ZERO, |sum, leaf| {
        let element = Fp128::from_u128(*leaf);
        *leaf = element.to_u128();
        sum.wrapping_add(element)
    })
}

/// All ones if both numbers, small ones, are the same, else zero. No branch.
fn mask(one: usize, other: usize) -> u128 {
    let same = ((one ^ other).wrapping_sub(1) >> (usize::BITS - 1)) as u128;
    same.wrapping_neg()
}

/// The first word, or the second one if `which` is 1.
fn select(zero: u128, one: u128, which: usize) -> u128 {
    zero ^ (zero ^ one) & (which as u128).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_testkit::Rng;

    fn word(rng: &mut Rng) -> u128 {
        u128::from(rng.word()) << 64 | u128::from(rng.word())
    }

    fn element(rng: &mut Rng) -> Fp128 {
        Fp128::from_u128(word(rng))
    }

    /// What both sides start from, as OTs and correlations give it.
    struct Start {
        hash: RobustHash,
        delta: Fp128,
        keys: [Vec<u128>; 2],
        choices: Vec<u64>,
        chosen: Vec<u128>,
        /// The noise, and both sides' shares of it; the last one is given up.
        noise: [Vec<u128>; 3],
    }

    fn start(seed: u64) -> Start {
        let mut rng = Rng::new(seed);
        let delta = element(&mut rng);
        let keys = [(); 2].map(|()| (0..OTS).map(|_| word(&mut rng)).collect::<Vec<u128>>());
        let choices: Vec<u64> = (0..OTS.div_ceil(64)).map(|_| rng.word()).collect();
        let chosen = (0..OTS).map(|at| keys[(choices[at / 64] >> (at % 64) & 1) as usize][at]).collect();
        let mut noise = [(); 3].map(|()| Vec::new());
        for _ in 0..=POINTS {
            let [value, t] = [element(&mut rng), element(&mut rng)];
            let q = value.wrapping_mul(delta).wrapping_sub(t);
            for (list, element) in noise.iter_mut().zip([value, t, q]) {
                list.push(element.to_u128());
            }
        }
        Start { hash: RobustHash::new(&[7; 16]), delta, keys, choices, chosen, noise }
    }

    impl Start {
        fn grow(&self) -> (Words, Vec<u8>) {
            let mut message = Vec::new();
            let keys = self.keys.each_ref().map(Vec::as_slice);
            let leaves = grow(&self.hash, keys, &self.noise[2][..POINTS], &mut message);
            assert_eq!(message.len(), TREES_BYTES);
            (leaves, message)
        }

        fn regrow(&self, message: &[u8]) -> Points {
            regrow(&self.hash, &self.choices, &self.chosen, &self.noise[1][..POINTS], message)
        }

        /// Both sides of the check.
        fn sides(&self, leaves: &[u128], points: &Points) -> [Fp128; 2] {
            let [x, t, q] = self.noise.each_ref().map(|list| list[POINTS]);
            let [y, side] = points.answer(&[9; 16], &self.noise[0][..POINTS], [x, t]);
            [side, expected(&[9; 16], y, leaves, [self.delta.to_u128(), q])]
        }
    }

    #[test]
    fn shares_are_those_of_the_noise() {
        let start = start(1);
        let (leaves, message) = start.grow();
        let points = start.regrow(&message);
        let mut noise = vec![0; ROWS];
        points.add_noise(&start.noise[0][..POINTS], &mut noise);
        for (block, values) in noise.chunks_exact(LEAVES).zip(&start.noise[0]) {
            assert_eq!(block.iter().filter(|value| **value != 0).collect::<Vec<_>>(), [values]);
        }
        for ((e, t), leaf) in elements(&noise).iter().zip(elements(&points.shares)).zip(elements(&leaves)) {
            assert_eq!(t.wrapping_sub(*leaf), e.wrapping_mul(start.delta));
        }
        let [one, other] = start.sides(&leaves, &points);
        assert_eq!(one, other);
        // All places occur.
        let mut places = points.places.to_vec();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), LEAVES);
    }

    /// A sum that isn't makes the sides differ for whoever uses it, and changes nothing for all others.
    #[test]
    fn wrong_sums_make_the_sides_differ_for_whoever_uses_them() {
        let start = start(2);
        let (leaves, message) = start.grow();
        let right = start.regrow(&message);
        let mut used = [0, 0];
        for at in (0..SUMS_BYTES).step_by(4 * WORD + 5).chain(SUMS_BYTES..SUMS_BYTES + 3) {
            let mut wrong = message.clone();
            wrong[at] ^= 0x10;
            let points = start.regrow(&wrong);
            let (level, tree) = (1 + at / WORD / 2 / POINTS, at / WORD / 2 % POINTS);
            let ot = tree * HEIGHT + level;
            let uses =
                at >= SUMS_BYTES || (start.choices[ot / 64] >> (ot % 64) & 1) as usize == at / WORD % 2;
            used[usize::from(uses)] += 1;
            let [one, other] = start.sides(&leaves, &points);
            assert_eq!(one != other, uses, "byte {at}");
            assert_eq!(points.shares != right.shares, uses, "byte {at}");
        }
        assert!(used.iter().all(|count| *count > 100), "{used:?}");
    }
}
