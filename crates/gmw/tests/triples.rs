//! Triples as a supply gives them: right, used once, and hidden from all but one together.

use std::sync::Arc;

use tacit_engine::supply::{Demand, Drawer, SupplyKind};
use tacit_engine::{Error, Protocol};
use tacit_gmw::GMW;
use tacit_kernel::Buffer;
use tacit_program::plan::Domain;
use tacit_session::{Agreement, step};
use tacit_testkit::{Draws, World, party_names, play};

const TRIPLES: SupplyKind = SupplyKind::Triple(Domain::Bits);
const BITS: SupplyKind = SupplyKind::RandomBit(Domain::Bits);

/// The step of corrections.
const CORRECTIONS: u16 = step::OFFLINE + 0x3a00;

/// What each party has of so many times 64 triples and random bits, twice.
fn made(world: &World, parties: usize, items: u64) -> Vec<Vec<Vec<u64>>> {
    let agreement = Agreement::among(party_names(parties), "gmw", String::new());
    let made = play(world.transports(), &agreement, &Draws::fixed(3), |session| {
        let mut supply = GMW.live_supply(session)?;
        let demand = Arc::new(Demand::stock(&[(TRIPLES, items), (BITS, items)]));
        let mut parts: Vec<Vec<u64>> = Vec::new();
        for _ in 0..2 {
            supply.provide(session, &demand)?;
            for kind in [TRIPLES, BITS] {
                let drawn = supply.draw(Drawer::Stock, kind, 0..items)?;
                assert!(supply.draw(Drawer::Stock, kind, 0..1).is_err(), "once only");
                parts.extend(drawn.iter().map(|part: &Buffer| part.words::<u64>().to_vec()));
            }
        }
        Ok::<_, Error>(parts)
    });
    made.into_iter().map(|made| made.expect("nobody deviates")).collect()
}

fn sum(made: &[Vec<Vec<u64>>], part: usize) -> Vec<u64> {
    let zeros = vec![0; made[0][part].len()];
    made.iter().fold(zeros, |sum, one| sum.iter().zip(&one[part]).map(|(a, b)| a ^ b).collect())
}

#[test]
fn triples_are_right_and_fresh() {
    for parties in [2, 3, 5, 12] {
        let made = made(&World::new(parties, 0), parties, 300);
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
    let made = made(&world, parties, words);
    let trace = world.trace();
    let honest = parties - 1;
    let mut all = Vec::new();
    for to in 0..honest {
        let told: Vec<_> = trace.link(honest, to).filter(|one| one.at.part == CORRECTIONS).collect();
        // To the party after it there is nothing to correct.
        assert_eq!(told.is_empty(), to == 0, "to P{to}");
        // The first extension's.
        let first = told.iter().map(|one| one.at.op).min();
        let message: Vec<u8> =
            told.iter().filter(|one| Some(one.at.op) == first).flat_map(|one| one.payload.clone()).collect();
        let read =
            |bytes: &[u8]| bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let (choices, differences) = message.split_at(message.len() / 2);
        all.extend([choices, differences].map(read).into_iter().filter(|one: &Vec<u64>| !one.is_empty()));
    }
    all.extend(made[honest][..2].iter().cloned());
    all
}

/// How far the cells of a table of bits, one for each combination of the vectors' bits, are from equally full: chi-square less
/// its mean, in standard deviations.
fn deviation(vectors: &[Vec<u64>]) -> f64 {
    let mut cells = vec![0_u32; 1 << vectors.len()];
    let count = 64 * vectors[0].len();
    for at in 0..count {
        let cell = vectors.iter().fold(0, |cell, one| cell << 1 | (one[at / 64] >> (at % 64) & 1) as usize);
        cells[cell] += 1;
    }
    let expected = count as f64 / cells.len() as f64;
    let chi: f64 = cells.iter().map(|&cell| (f64::from(cell) - expected).powi(2) / expected).sum();
    let freedom = (cells.len() - 1) as f64;
    (chi - freedom) / (2.0 * freedom).sqrt()
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
