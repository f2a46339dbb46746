//! What a supply gives, and how uniform bits are together.

use std::sync::Arc;

use tacit_engine::supply::{Demand, Drawer, SupplyKind};
use tacit_engine::{Error, Protocol};
use tacit_kernel::Buffer;
use tacit_session::Agreement;
use tacit_testkit::{Draws, World, party_names, play};

/// What each party has of so many items of each kind, part by part; made twice.
pub(crate) fn made(
    protocol: &dyn Protocol,
    world: &World,
    parties: usize,
    wanted: &[(SupplyKind, u64)],
) -> Vec<Vec<Vec<u64>>> {
    let agreement = Agreement::among(party_names(parties), "gmw", String::new());
    let made = play(world.transports(), &agreement, &Draws::fixed(3), |session| {
        let mut supply = protocol.live_supply(session)?;
        let demand = Arc::new(Demand::stock(wanted));
        let mut parts: Vec<Vec<u64>> = Vec::new();
        for _ in 0..2 {
            supply.provide(session, &demand)?;
            for &(kind, items) in wanted {
                let drawn = supply.draw(Drawer::Stock, kind, 0..items)?;
                assert!(supply.draw(Drawer::Stock, kind, 0..1).is_err(), "once only");
                parts.extend(drawn.iter().map(|part: &Buffer| part.words::<u64>().to_vec()));
            }
        }
        Ok::<_, Error>(parts)
    });
    made.into_iter().map(|made| made.expect("nobody deviates")).collect()
}

/// What all parties' shares of a part add up to.
pub(crate) fn sum(made: &[Vec<Vec<u64>>], part: usize) -> Vec<u64> {
    let zeros = vec![0; made[0][part].len()];
    made.iter().fold(zeros, |sum, one| sum.iter().zip(&one[part]).map(|(a, b)| a ^ b).collect())
}

/// The first message with a step's address that a party sends another, piece after piece.
pub(crate) fn told(world: &World, part: u16, from: usize, to: usize) -> Vec<u64> {
    let trace = world.trace();
    let all: Vec<_> = trace.link(from, to).filter(|one| one.at.part == part).collect();
    let first = all.iter().map(|one| one.at.op).min();
    let message: Vec<u8> =
        all.iter().filter(|one| Some(one.at.op) == first).flat_map(|one| one.payload.clone()).collect();
    message.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

/// How far the cells of a table of bits, one for each combination of the vectors' bits, are from equally full: chi-square less
/// its mean, in standard deviations.
pub(crate) fn deviation(vectors: &[Vec<u64>]) -> f64 {
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
