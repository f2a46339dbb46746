//! Masks for branches as a supply gives them: one of two is zeros, and which is hidden from all but one together.

mod common;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use common::{deviation, made, sum, told};
use tacit_engine::Protocol;
use tacit_engine::supply::SupplyKind;
use tacit_gmw::GMW;
use tacit_gmw::step::MASK_CORRECTIONS;
use tacit_testkit::World;

fn masks(words: u32) -> SupplyKind {
    SupplyKind::Masks { words }
}

/// Masks at full length, also among those who have a way to make them of seeds.
fn at_full_length() -> Arc<dyn Protocol> {
    GMW.with_parameter("branching", "masked-vectors").expect("it is offered")
}

#[test]
fn the_mask_that_the_bit_says_is_zeros_and_the_other_one_random() {
    for parties in [2, 3, 5] {
        let kinds = [(masks(2), 130), (masks(6), 3), (masks(300), 2)];
        let made = made(&*at_full_length(), &World::new(parties, 0), parties, &kinds);
        let mut words = Vec::new();
        let mut set = 0;
        // Twice each.
        for (index, &(kind, count)) in kinds.iter().chain(&kinds).enumerate() {
            let SupplyKind::Masks { words: length } = kind else { unreachable!("these are masks") };
            let [bits, zero, one] = [0, 1, 2].map(|part| sum(&made, 3 * index + part));
            assert_eq!(bits.len() as u64, count);
            let each = zero.chunks_exact(length as usize).zip(one.chunks_exact(length as usize));
            for (bit, (zero, one)) in bits.iter().zip(each) {
                assert!(*bit < 2, "a word for each bit");
                let (zeros, random) = if *bit == 0 { (zero, one) } else { (one, zero) };
                assert!(zeros.iter().all(|word| *word == 0), "{parties} parties, {kind}");
                words.extend_from_slice(random);
                set += bit;
            }
        }
        let count = 2 * kinds.iter().map(|(_, count)| count).sum::<u64>();
        assert!(set.abs_diff(count / 2) < 4 * count.isqrt(), "{set} of {count}");
        // No mask comes twice, and none begins as another one.
        words.sort_unstable();
        assert!(words.is_sorted_by(|one, next| one < next), "{parties} parties");
        let ones: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
        let bits = 64 * words.len() as u64;
        assert!(ones.abs_diff(bits / 2) < 4 * bits.isqrt(), "{ones} of {bits}");
    }
}

/// Two parties' seeds of zeros are the same, and nothing is sent for them.
#[test]
fn two_parties_have_one_seed_for_a_mask() {
    let world = World::new(2, 0);
    let made = made(&GMW, &world, 2, &[(masks(2), 130)]);
    assert!(told(&world, MASK_CORRECTIONS, 0, 1).is_empty());
    let [bits, zero, one] = [0, 1, 2].map(|part| sum(&made, part));
    for (bit, (zero, one)) in bits.iter().zip(zero.chunks_exact(2).zip(one.chunks_exact(2))) {
        assert_eq!([zero, one].map(|seed| seed == [0, 0]), [*bit == 0, *bit == 1]);
    }
}

/// Of zeros each seed of three parties is there twice; of random bits one three times, and one of each party's own.
#[test]
fn three_parties_have_pairs_of_seeds() {
    let made = made(&GMW, &World::new(3, 0), 3, &[(masks(4), 70)]);
    let mut all = HashSet::new();
    for branch in 0..70 {
        let s = made.iter().fold(0, |s, own| s ^ own[0][branch]);
        for mask in 0..2 {
            let seeds = made.iter().flat_map(|own| own[1 + mask][4 * branch..4 * branch + 4].chunks_exact(2));
            let mut counts: BTreeMap<&[u64], usize> = BTreeMap::new();
            seeds.for_each(|seed| *counts.entry(seed).or_default() += 1);
            let mut times: Vec<usize> = counts.values().copied().collect();
            times.sort_unstable();
            assert_eq!(times, if s == mask as u64 { vec![2, 2, 2] } else { vec![1, 1, 1, 3] });
            assert!(counts.into_keys().all(|seed| all.insert(seed)), "masks have seeds of their own");
        }
    }
}

/// What a party tells of its vectors and what they are: `n - 1` bits at each place, uniform together. And of its bits.
fn corrections_and_own(parties: usize) -> [Vec<Vec<u64>>; 2] {
    let world = World::new(parties, 0);
    // Many short ones for bits, and one long one for vectors.
    let (many, long) = (64 * 40, 64 * 40);
    let kinds = [(masks(2), many), (masks(long as u32), 1)];
    let made = made(&*at_full_length(), &world, parties, &kinds);
    let honest = parties - 1;
    let (mut of_bits, mut of_vectors) = (Vec::new(), Vec::new());
    for to in 1..honest {
        let told = told(&world, MASK_CORRECTIONS, honest, to);
        // Bits of all branches, and then vectors, the long one last.
        let flips = (many as usize + 1).div_ceil(64);
        assert_eq!(told.len(), flips + 2 * many as usize + long as usize, "to P{to}");
        of_bits.push(told[..many as usize / 64].to_vec());
        of_vectors.push(told[told.len() - long as usize..].to_vec());
    }
    assert!(told(&world, MASK_CORRECTIONS, honest, 0).is_empty(), "to the party after it");
    let packed = made[honest][0].chunks_exact(64);
    of_bits.push(packed.map(|bits| bits.iter().rev().fold(0, |word, bit| word << 1 | bit)).collect());
    // r is the difference of both masks.
    of_vectors.push(made[honest][4].iter().zip(&made[honest][5]).map(|(zero, one)| zero ^ one).collect());
    [of_bits, of_vectors]
}

#[test]
fn all_others_together_learn_nothing_of_a_partys_bits_and_vectors() {
    for parties in [3, 4] {
        for vectors in corrections_and_own(parties) {
            assert_eq!(vectors.len(), parties - 1);
            let off = deviation(&vectors);
            assert!(off < 7.0, "{parties} parties: {off}");
        }
    }
}

/// The statistic sees what it has to: a vector that is told as it is.
#[test]
fn vectors_that_corrections_show_are_noticed() {
    for mut vectors in corrections_and_own(3) {
        vectors[0] = vectors[1].clone();
        assert!(deviation(&vectors) > 100.0);
    }
}
