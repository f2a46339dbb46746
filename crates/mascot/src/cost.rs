//! Exact costs: payload bytes that a party sends each other party. They don't depend on the number of parties.

use crate::checked_bits::SUMS;
use crate::combine::PARTS;
use crate::field::BITS;
use crate::macs::by_vole;
use crate::multiply::OTS;
use crate::passive;
use crate::preprocessing::BATCH;
use tacit_ot::Params;
use tacit_ot::copee::{Field, PRODUCT_BYTES, initialize_bytes};
use tacit_ot::vole::Vole;

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

/// Rounds of what is made once for a key before MACs come by vector OLE.
pub const BASE_ROUNDS: u64 = 3;

/// Rounds of Authenticate, where nobody has more than `most` values.
fn authenticate_rounds(field: Field, params: &Params, most: usize) -> u64 {
    if by_vole(field, params, most + 1) { 18 + 5 * ((most + 1).div_ceil(Vole::MADE) as u64 - 1) } else { 10 }
}

/// Rounds of input tuples of which nobody has more than `most`: Authenticate, and an acceptance.
pub fn inputs_rounds(field: Field, params: &Params, most: usize) -> u64 {
    authenticate_rounds(field, params, most) + 1
}

/// Rounds of `count` triples: for each batch 3 of OTs, differences, a coin, Authenticate, Sacrifice, and an acceptance.
pub fn triples_rounds(field: Field, params: &Params, count: usize) -> u64 {
    let batches = (0..count).step_by(BATCH).map(|first| BATCH.min(count - first));
    batches.map(|size| 3 + 1 + 2 + authenticate_rounds(field, params, PARTS * size) + 9 + 1).sum()
}

/// Rounds of `count` random bits of the prime field: those of as many triples, two of openings, a check and an acceptance.
pub fn bits_rounds(params: &Params, count: usize) -> u64 {
    triples_rounds(Field::Prime, params, count) + 9
}

/// Base OTs and trees for triples, and base OTs by the bits of the MAC key, all in both directions; and the check that each
/// party has one share of the key.
pub fn setup_bytes(params: &Params) -> u64 {
    params.setup_bytes().iter().sum::<u64>() + initialize_bytes() + bind_bytes()
}

/// The check that each party has one share of the key: a value is authenticated, and a sum opened and checked.
pub fn bind_bytes() -> u64 {
    macs_bytes(PRODUCT_BYTES as u64, 1) + ELEMENT + CHECK
}

/// OTs of `count` triples, in both directions.
pub fn ots_bytes(params: &Params, count: usize) -> u64 {
    params.extension_bytes(count * OTS, true).iter().sum()
}

/// What is made once for a key, before the first batch of `count` triples: the base of vector OLE, or nothing if they go without.
pub fn triples_base_bytes(field: Field, params: &Params, count: usize) -> u64 {
    inputs_base_bytes(field, params, PARTS * count.min(BATCH))
}

/// The same before input tuples of which nobody has more than `most`.
pub fn inputs_base_bytes(field: Field, params: &Params, most: usize) -> u64 {
    if by_vole(field, params, most + 1) { Vole::base_bytes() } else { 0 }
}

/// MACs of `count` values of this party's own, where nobody has more than `most`, and their check. Without a base.
fn authenticate_bytes(field: Field, params: &Params, count: usize, most: usize) -> u64 {
    // Who has values has one more authenticated.
    if by_vole(field, params, most + 1) {
        Vole::bytes(params, most + 1) + macs_bytes(ELEMENT, count)
    } else {
        macs_bytes(PRODUCT_BYTES as u64, count)
    }
}

/// Messages of so many bytes for each value, and the check.
fn macs_bytes(each: u64, count: usize) -> u64 {
    let made = if count > 0 { each * (count as u64 + 1) + ELEMENT } else { 0 };
    made + TOSS + CHECK
}

/// `count` triples. Without [`triples_base_bytes`].
pub fn triples_bytes(field: Field, params: &Params, count: usize) -> u64 {
    let batches = (0..count).step_by(BATCH).map(|first| BATCH.min(count - first));
    batches.map(|size| batch_bytes(field, params, size)).sum()
}

fn batch_bytes(field: Field, params: &Params, count: usize) -> u64 {
    let multiply = ots_bytes(params, count) + ELEMENT * (OTS * count) as u64;
    let sacrifice = TOSS + ELEMENT * count as u64 + CHECK;
    let values = PARTS * count;
    multiply + TOSS + authenticate_bytes(field, params, values, values) + sacrifice + DIGEST
}

/// `count` triples without MACs ([`Passive`](crate::Passive)): OTs for one product each, and their differences.
pub fn passive_bytes(params: &Params, count: usize) -> u64 {
    let ots = passive::TAU * BITS * count;
    params.extension_bytes(ots, true).iter().sum::<u64>() + ELEMENT * ots as u64
}

/// A batch of `count` triples over a prime field of so many bits, a multiple of 8, with `tau` products each and MACs by COPEe: the
/// same steps with longer elements. There is none but of 128 bits here; this is for comparison.
pub fn batch_of_width_bytes(params: &Params, bits: usize, tau: usize, count: usize) -> u64 {
    let (element, ots) = (bits as u64 / 8, tau * bits * count);
    let multiply = params.extension_bytes(ots, true).iter().sum::<u64>() + element * ots as u64;
    let checks = 2 * (CHECK - ELEMENT + element);
    let macs = element * bits as u64 * (PARTS * count + 1) as u64 + element + TOSS;
    multiply + TOSS + macs + TOSS + element * count as u64 + checks + DIGEST
}

/// `count` input tuples of a party's own over such a field.
pub fn inputs_of_width_bytes(bits: usize, count: usize) -> u64 {
    let element = bits as u64 / 8;
    element * bits as u64 * (count as u64 + 1) + element + TOSS + (CHECK - ELEMENT + element) + DIGEST
}

/// `count` input tuples of this party's own, made together with others', of whom nobody has more than `most`. Without
/// [`inputs_base_bytes`].
pub fn inputs_bytes(field: Field, params: &Params, count: usize, most: usize) -> u64 {
    authenticate_bytes(field, params, count, most) + DIGEST
}

/// `count` squares. Without [`triples_base_bytes`].
pub fn squares_bytes(field: Field, params: &Params, count: usize) -> u64 {
    triples_bytes(field, params, count) + ELEMENT * count as u64 + CHECK + DIGEST
}

/// `count` random bits of the prime field. Without [`triples_base_bytes`].
pub fn bits_bytes(params: &Params, count: usize) -> u64 {
    squares_bytes(Field::Prime, params, count) + ELEMENT * count as u64
}

/// `count` random bits of GF(2^128).
pub fn checked_bits_bytes(params: &Params, count: usize) -> u64 {
    let all = count + SUMS;
    authenticate_bytes(Field::Binary, params, all, all) + TOSS + ELEMENT * SUMS as u64 + CHECK + DIGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What longer elements would send is what those that are here send, at their length.
    #[test]
    fn other_widths_cost_as_this_one_does() {
        let (field, params) = (Field::Binary, Params::DEFAULT);
        for count in [1, 25, BATCH] {
            assert_eq!(batch_of_width_bytes(&params, 128, 3, count), triples_bytes(field, &params, count));
            assert_eq!(inputs_of_width_bytes(128, count), inputs_bytes(field, &params, count, count));
        }
    }

    /// Those of docs/protocols/mascot.md, beside the paper's table 2: 1000 bits for a triple on each of n (n - 1) links.
    #[test]
    fn figures_are_those_of_the_page() {
        let (field, params, batch) = (Field::Prime, Params::DEFAULT, BATCH);
        let each = |bytes: u64| bytes as f64 / batch as f64;
        let triple = triples_bytes(field, &params, batch);
        let ots = ots_bytes(&params, batch);
        let is = |figure: f64, text: &str| {
            let digits = text.split('.').nth(1).map_or(0, str::len);
            assert_eq!(format!("{figure:.digits$}"), text);
        };
        is(each(triple), "7857.1");
        is(each(ots), "1563.4");
        is(8.0 * each(ots) / OTS as f64, "32.57");
        for (n, text) in [(2.0, "125.7"), (3.0, "377.1"), (4.0, "754.3"), (5.0, "1257.1")] {
            is(each(triple) * 8.0 / 1000.0 * n * (n - 1.0), text);
        }
        let paper = f64::from(3 * 128 * 128 + (3 + 5) * 128 * 128) / 1000.0;
        is(paper, "180.224");
        let (few, many) = (1000, PARTS * batch);
        is(inputs_bytes(field, &params, few, few) as f64 / few as f64, "2050.5");
        is(inputs_bytes(field, &params, many, many) as f64 / many as f64, "26.7");
        // From where vector OLE sends less, with its base.
        assert_eq!([3309, 3310].map(|most| inputs_base_bytes(field, &params, most)), [0, 6_619_184]);
        assert_eq!([661, 662].map(|count| triples_base_bytes(field, &params, count) > 0), [false, true]);
        assert_eq!([TOSS, CHECK, bind_bytes()], [128, 272, 4800]);
        assert_eq!(SUMS, 80, "what is no bit passes for one with 2^-80");
        assert_eq!(setup_bytes(&params), 12_288 + 12_288 + 4_128 + 4800);
    }
}
