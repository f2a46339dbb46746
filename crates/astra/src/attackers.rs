//! What attackers compute of a check's coin; for tests.

use crate::verify::Rules;
use crate::verify::permutation::Piles;

/// Of the triples of a session's batch of so many products, those in the bucket of one, by the coin.
pub fn bucket(coin: &[u8; 16], (batch, products): (u32, usize), victim: usize, lanes: u16) -> Vec<u32> {
    let parameters = Rules::of_lanes(lanes).parameters(products);
    let mut places = vec![0; parameters.triples(products)];
    Piles::default().order::<u64>(coin, batch, &mut places, &mut []);
    (0..parameters.bucket).map(|row| places[row * products + victim]).collect()
}
