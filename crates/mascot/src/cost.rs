//! Exact costs: payload bytes that a party sends each other party. They don't depend on the number of parties.

use crate::combine::PARTS;
use crate::multiply::OTS;
use crate::preprocessing::Preprocessing;
use tacit_ot::Params;
use tacit_ot::copee::{PRODUCT_BYTES, initialize_bytes};

/// A field element.
const ELEMENT: u64 = 16;

/// A digest that is compared, a commitment, or an acceptance.
const DIGEST: u64 = 32;

/// A toss: a commitment, and its opening with a digest of all commitments.
pub const TOSS: u64 = DIGEST + 3 * DIGEST;

/// A check of opened values' MACs: a digest of the values, a toss, a commitment, a digest of all commitments, and the opening.
pub const CHECK: u64 = DIGEST + TOSS + DIGEST + DIGEST + ELEMENT + DIGEST;

/// Rounds of the setup.
pub const SETUP_ROUNDS: u64 = 20;

/// Rounds of input tuples: Authenticate, and an acceptance.
pub const INPUTS_ROUNDS: u64 = 11;

/// Rounds of a batch of triples: 3 of OTs, differences, a coin, Authenticate, Sacrifice, and an acceptance.
pub const BATCH_ROUNDS: u64 = 3 + 1 + 2 + 10 + 9 + 1;

/// Rounds of `count` triples.
pub fn triples_rounds(count: usize) -> u64 {
    BATCH_ROUNDS * count.div_ceil(Preprocessing::BATCH) as u64
}

/// Rounds of `count` random bits: those of as many triples, two of openings, a check and an acceptance.
pub fn bits_rounds(count: usize) -> u64 {
    triples_rounds(count) + 9
}

/// Base OTs and trees for triples, and base OTs by the bits of the MAC key, all in both directions; and the check that each
/// party has one share of the key.
pub fn setup_bytes(params: &Params) -> u64 {
    params.setup_bytes().iter().sum::<u64>() + initialize_bytes() + bind_bytes()
}

/// The check that each party has one share of the key: a value is authenticated, and a sum opened and checked.
pub fn bind_bytes() -> u64 {
    authenticate_bytes(1) + ELEMENT + CHECK
}

/// OTs of `count` triples, in both directions.
pub fn ots_bytes(params: &Params, count: usize) -> u64 {
    params.extension_bytes(count * OTS, true).iter().sum()
}

/// MACs of `count` values of this party's own, and their check.
fn authenticate_bytes(count: usize) -> u64 {
    let made = if count > 0 { PRODUCT_BYTES as u64 * (count as u64 + 1) + ELEMENT } else { 0 };
    made + TOSS + CHECK
}

/// `count` triples.
pub fn triples_bytes(params: &Params, count: usize) -> u64 {
    let batches =
        (0..count).step_by(Preprocessing::BATCH).map(|first| Preprocessing::BATCH.min(count - first));
    batches.map(|size| batch_bytes(params, size)).sum()
}

fn batch_bytes(params: &Params, count: usize) -> u64 {
    let multiply = ots_bytes(params, count) + ELEMENT * (OTS * count) as u64;
    let sacrifice = TOSS + ELEMENT * count as u64 + CHECK;
    multiply + TOSS + authenticate_bytes(PARTS * count) + sacrifice + DIGEST
}

/// `count` input tuples of this party's own, made together with any number of others'.
pub fn inputs_bytes(count: usize) -> u64 {
    authenticate_bytes(count) + DIGEST
}

/// `count` squares.
pub fn squares_bytes(params: &Params, count: usize) -> u64 {
    triples_bytes(params, count) + ELEMENT * count as u64 + CHECK + DIGEST
}

/// `count` random bits.
pub fn bits_bytes(params: &Params, count: usize) -> u64 {
    squares_bytes(params, count) + ELEMENT * count as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of docs/protocols/mascot.md, beside the paper's table 2: 1000 bits for a triple on each of n (n - 1) links.
    #[test]
    fn figures_are_those_of_the_page() {
        let (params, batch) = (Params::DEFAULT, Preprocessing::BATCH);
        let each = |bytes: u64| bytes as f64 / batch as f64;
        let triple = triples_bytes(&params, batch);
        let ots = ots_bytes(&params, batch);
        let is = |figure: f64, text: &str| {
            let digits = text.split('.').nth(1).map_or(0, str::len);
            assert_eq!(format!("{figure:.digits$}"), text);
        };
        is(each(triple), "17964.9");
        is(each(ots), "1563.4");
        is(8.0 * each(ots) / OTS as f64, "32.57");
        for (n, text) in [(2.0, "287.4"), (3.0, "862.3"), (4.0, "1724.6"), (5.0, "2874.4")] {
            is(each(triple) * 8.0 / 1000.0 * n * (n - 1.0), text);
        }
        let paper = f64::from(3 * 128 * 128 + (3 + 5) * 128 * 128) / 1000.0;
        is(paper, "180.224");
        is(each(inputs_bytes(batch)) * 8.0 / 1000.0, "16.394");
        assert_eq!([TOSS, CHECK, bind_bytes()], [128, 272, 4800]);
        assert_eq!(setup_bytes(&params), 12_288 + 12_288 + 4_128 + 4800);
    }
}
