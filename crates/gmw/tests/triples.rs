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

/// The statistic sees what it has to: a correction under a choice that is the factor itself.
#[test]
fn factors_that_corrections_show_are_noticed() {
    let mut vectors = corrections_and_factors(3, 2048);
    let factor = vectors[2].clone();
    vectors[0].iter_mut().zip(&factor).for_each(|(told, factor)| *told &= factor);
    assert!(deviation(&vectors) > 100.0);
}
