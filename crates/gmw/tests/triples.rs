//! Triples as a supply gives them: right, used once, and hidden from all but one together.

mod common;

use common::{deviation, made, sum, told};
use tacit_engine::supply::SupplyKind;
use tacit_gmw::GMW;
use tacit_gmw::step::CORRECTIONS;
use tacit_program::plan::Domain;
use tacit_testkit::World;

const TRIPLES: SupplyKind = SupplyKind::Triple(Domain::Bits);
const BITS: SupplyKind = SupplyKind::RandomBit(Domain::Bits);

#[test]
fn triples_are_right_and_fresh() {
    for parties in [2, 3, 5, 12] {
        let made = made(&GMW, &World::new(parties, 0), parties, &[(TRIPLES, 300), (BITS, 300)]);
        let [a, b, c, bits, a2, b2, c2, bits2] = [0, 1, 2, 3, 4, 5, 6, 7].map(|part| sum(&made, part));
        for [a, b, c] in [[&a, &b, &c], [&a2, &b2, &c2]] {
            assert!(a.iter().zip(b).zip(c).all(|((a, b), c)| a & b == *c), "{parties} parties");
        }
        let mut words: Vec<u64> = [a, b, bits, a2, b2, bits2].concat();
        for one in &made {
            words.extend(one.concat());
        }
        let (count, ones) =
            (64 * words.len(), words.iter().map(|word| word.count_ones() as usize).sum::<usize>());
        // Products are 1 in a quarter of all cases, their shares in half of them; none of the sums of products is here.
        assert!(ones.abs_diff(count / 2) < 8 * count.isqrt() / 2, "{ones} of {count}");
        words.sort_unstable();
        assert!(words.is_sorted_by(|one, next| one < next), "no word comes twice");
    }
}

/// The corrections that a party tells and its own factors, triple by triple: `2 (n - 2) + 2` bits, uniform together.
fn corrections_and_factors(parties: usize, words: u64) -> Vec<Vec<u64>> {
    let world = World::new(parties, 0);
    let made = made(&GMW, &world, parties, &[(TRIPLES, words)]);
    let mut all = Vec::new();
    let honest = parties - 1;
    for to in 0..honest {
        let told = told(&world, CORRECTIONS, honest, to);
        // To the party after it there is nothing to correct.
        assert_eq!(told.is_empty(), to == 0, "to P{to}");
        let (choices, differences) = told.split_at(told.len() / 2);
        all.extend([choices, differences].into_iter().filter(|one| !one.is_empty()).map(<[u64]>::to_vec));
    }
    all.extend(made[honest][..2].iter().cloned());
    all
}

#[test]
fn all_others_together_learn_nothing_of_a_partys_factors() {
    for parties in [3, 4] {
        let vectors = corrections_and_factors(parties, 2048);
        assert_eq!(vectors.len(), 2 * (parties - 2) + 2);
        let off = deviation(&vectors);
        assert!(off < 7.0, "{parties} parties: {off}");
    }
}

/// A product of a bit with a vector, in pieces of several messages among more than two parties.
#[test]
fn products_of_a_bit_with_a_vector_are_right_and_hidden() {
    let kind = |length| SupplyKind::Scaling { length };
    for parties in [2, 3, 5] {
        // Of long vectors more than 2,048 items are made in pieces.
        let long = if parties == 3 { 2050 } else { 3 };
        let wanted = [(kind(1), 70), (kind(4), 70), (kind(128), long)];
        let made = made(&GMW, &World::new(parties, 0), parties, &wanted);
        for (place, (length, items)) in [(1, 70), (4, 70), (128, long as usize)].into_iter().enumerate() {
            let [a, b, c] = [0, 1, 2].map(|part| sum(&made, 3 * place + part));
            assert_eq!([a.len(), b.len(), c.len()], [items, items * length, items * length]);
            for (item, a) in a.iter().enumerate() {
                let own = item * length..(item + 1) * length;
                assert!(b[own.clone()].iter().zip(&c[own]).all(|(b, c)| a & b == *c), "{parties} parties");
            }
        }
    }
    // What the last of three tells the second: f, and e of both bits; and its own factors.
    let world = World::new(3, 0);
    let made = made(&GMW, &world, 3, &[(kind(2), 2048)]);
    let told = told(&world, CORRECTIONS, 2, 1);
    let mut vectors: Vec<Vec<u64>> = told.chunks(2048).map(<[u64]>::to_vec).collect();
    let of_bit = |bit: usize| made[2][1].iter().skip(bit).step_by(2).copied().collect::<Vec<u64>>();
    vectors.extend([made[2][0].clone(), of_bit(0), of_bit(1)]);
    assert_eq!(vectors.len(), 3 + 3);
    assert!(deviation(&vectors) < 7.0);
    let factor = vectors[4].clone();
    vectors[1].iter_mut().zip(&factor).for_each(|(told, factor)| *told &= factor);
    assert!(deviation(&vectors) > 100.0);
}

/// The statistic sees what it has to: a correction under a choice that is the factor itself.
#[test]
fn factors_that_corrections_show_are_noticed() {
    let mut vectors = corrections_and_factors(3, 2048);
    let factor = vectors[2].clone();
    vectors[0].iter_mut().zip(&factor).for_each(|(told, factor)| *told &= factor);
    assert!(deviation(&vectors) > 100.0);
}
