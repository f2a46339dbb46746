//! Exact costs: payload bytes that a party sends each other party. They don't depend on the number of parties.

use crate::checked_bits::SUMS;
use crate::combine::PARTS;
use crate::macs::by_vole;
use crate::multiply::ots;
use crate::passive;
use crate::preprocessing::{CHECKED_TOGETHER, batch_size};
use tacit_ot::Params;
use tacit_ot::copee::{Field, initialize_bytes};
use tacit_ot::vole::Vole;

/// A digest that is compared, a commitment, or an acceptance.
const DIGEST: u64 = 32;

/// A toss: a commitment, and its opening with a digest of all commitments.
pub const TOSS: u64 = DIGEST + 3 * DIGEST;

/// A field element.
const fn element(field: Field) -> u64 {
    field.bytes() as u64
}

/// A check of opened values' MACs: a digest of the values, a toss, a commitment, a digest of all commitments, and the opening.
pub const fn check_bytes(field: Field) -> u64 {
    DIGEST + TOSS + DIGEST + DIGEST + element(field) + DIGEST
}

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

/// Rounds of `count` triples: for each batch 3 of OTs, and differences; for those that are checked together a coin, Authenticate,
/// Sacrifice, and an acceptance.
pub fn triples_rounds(field: Field, params: &Params, count: usize) -> u64 {
    let checks = |size: usize| 2 + authenticate_rounds(field, params, PARTS * size) + 9 + 1;
    checked(field, count).map(|size| 4 * parts(size, batch_size(field)).count() as u64 + checks(size)).sum()
}

/// How many of `count` triples are checked together.
fn checked(field: Field, count: usize) -> impl Iterator<Item = usize> {
    parts(count, CHECKED_TOGETHER * batch_size(field))
}

/// The sizes of parts of `size`, and of a shorter last one.
fn parts(count: usize, size: usize) -> impl Iterator<Item = usize> {
    (0..count).step_by(size).map(move |first| size.min(count - first))
}

/// Rounds of `count` random bits of the prime field of 128 bits: those of as many triples, two of openings, a check
/// and an acceptance.
pub fn bits_rounds(params: &Params, count: usize) -> u64 {
    triples_rounds(Field::Prime, params, count) + 9
}

/// Base OTs and trees for triples, and base OTs by the bits of the MAC key, all in both directions; and the check that each
/// party has one share of the key.
pub fn setup_bytes(field: Field, params: &Params) -> u64 {
    params.setup_bytes().iter().sum::<u64>() + initialize_bytes(field) + bind_bytes(field)
}

/// The check that each party has one share of the key: a value is authenticated, and a sum opened and checked.
pub fn bind_bytes(field: Field) -> u64 {
    macs_bytes(field, field.product_bytes() as u64, 1) + element(field) + check_bytes(field)
}

/// OTs of `count` triples, in both directions.
pub fn ots_bytes(field: Field, params: &Params, count: usize) -> u64 {
    params.extension_bytes(count * ots(field), true).iter().sum()
}

/// What is made once for a key, before the first of `count` triples: the base of vector OLE, or nothing if they go without.
pub fn triples_base_bytes(field: Field, params: &Params, count: usize) -> u64 {
    inputs_base_bytes(field, params, PARTS * count.min(CHECKED_TOGETHER * batch_size(field)))
}

/// The same before input tuples of which nobody has more than `most`.
pub fn inputs_base_bytes(field: Field, params: &Params, most: usize) -> u64 {
    if by_vole(field, params, most + 1) { Vole::base_bytes() } else { 0 }
}

/// MACs of `count` values of this party's own, where nobody has more than `most`, and their check. Without a base.
fn authenticate_bytes(field: Field, params: &Params, count: usize, most: usize) -> u64 {
    // Who has values has one more authenticated.
    if by_vole(field, params, most + 1) {
        Vole::bytes(params, most + 1) + macs_bytes(field, element(field), count)
    } else {
        macs_bytes(field, field.product_bytes() as u64, count)
    }
}

/// Messages of so many bytes for each value, and the check.
fn macs_bytes(field: Field, each: u64, count: usize) -> u64 {
    let made = if count > 0 { each * (count as u64 + 1) + element(field) } else { 0 };
    made + TOSS + check_bytes(field)
}

/// `count` triples. Without [`triples_base_bytes`].
pub fn triples_bytes(field: Field, params: &Params, count: usize) -> u64 {
    checked(field, count).map(|size| checked_bytes(field, params, size)).sum()
}

fn checked_bytes(field: Field, params: &Params, count: usize) -> u64 {
    let ots_bytes: u64 = parts(count, batch_size(field)).map(|size| ots_bytes(field, params, size)).sum();
    let multiply = ots_bytes + element(field) * (ots(field) * count) as u64;
    let sacrifice = TOSS + element(field) * count as u64 + check_bytes(field);
    let values = PARTS * count;
    multiply + TOSS + authenticate_bytes(field, params, values, values) + sacrifice + DIGEST
}

/// `count` triples without MACs ([`Passive`](crate::Passive)): OTs for one product each, and their differences.
pub fn passive_bytes(field: Field, params: &Params, count: usize) -> u64 {
    let ots = passive::TAU * field.bits() * count;
    params.extension_bytes(ots, true).iter().sum::<u64>() + element(field) * ots as u64
}

/// `count` input tuples of this party's own, made together with others', of whom nobody has more than `most`. Without
/// [`inputs_base_bytes`].
pub fn inputs_bytes(field: Field, params: &Params, count: usize, most: usize) -> u64 {
    authenticate_bytes(field, params, count, most) + DIGEST
}

/// `count` squares. Without [`triples_base_bytes`].
pub fn squares_bytes(field: Field, params: &Params, count: usize) -> u64 {
    triples_bytes(field, params, count) + element(field) * count as u64 + check_bytes(field) + DIGEST
}

/// `count` random bits of the prime field. Without [`triples_base_bytes`].
pub fn bits_bytes(params: &Params, count: usize) -> u64 {
    let field = Field::Prime;
    squares_bytes(field, params, count) + element(field) * count as u64
}

/// `count` random bits of GF(2^128).
pub fn checked_bits_bytes(params: &Params, count: usize) -> u64 {
    let (field, all) = (Field::Binary, count + SUMS);
    let opened = TOSS + element(field) * SUMS as u64 + check_bytes(field);
    authenticate_bytes(field, params, all, all) + opened + DIGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those of docs/protocols/mascot.md for fields of other lengths: 1000 bits for a triple of a full batch, and for an input.
    #[test]
    fn figures_of_other_fields_are_those_of_the_page() {
        let params = Params::DEFAULT;
        let of = |field: Field| {
            let (batch, few) = (batch_size(field), 1000);
            let kbit = |bytes: u64, count: usize| format!("{:.2}", 8e-3 * bytes as f64 / count as f64);
            let input = inputs_bytes(field, &params, few, few);
            (batch, kbit(triples_bytes(field, &params, batch), batch), kbit(input, few))
        };
        let all = [Field::Binary, Field::Prime64, Field::Prime256, Field::Prime512].map(of);
        let figures = [
            (2016, "143.72", "16.40"),
            (2016, "45.27", "4.10"),
            (504, "549.71", "65.61"),
            (126, "2149.85", "262.41"),
        ];
        assert_eq!(all, figures.map(|(batch, triple, input)| (batch, triple.to_owned(), input.to_owned())));
    }

    /// Those of docs/protocols/mascot.md, beside the paper's table 2: 1000 bits for a triple on each of n (n - 1) links.
    #[test]
    fn figures_are_those_of_the_page() {
        let (field, params) = (Field::Prime, Params::DEFAULT);
        let batch = batch_size(field);
        let each = |bytes: u64| bytes as f64 / batch as f64;
        let triple = triples_bytes(field, &params, batch);
        let ots = ots_bytes(field, &params, batch);
        let is = |figure: f64, text: &str| {
            let digits = text.split('.').nth(1).map_or(0, str::len);
            assert_eq!(format!("{figure:.digits$}"), text);
        };
        is(each(triple), "7857.1");
        is(each(ots), "1563.4");
        is(8.0 * each(ots) / super::ots(field) as f64, "32.57");
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
        assert_eq!([TOSS, check_bytes(field), bind_bytes(field)], [128, 272, 4800]);
        assert_eq!(SUMS, 80, "what is no bit passes for one with 2^-80");
        assert_eq!(setup_bytes(field, &params), 12_288 + 12_288 + 4_128 + 4800);
    }
}
