//! Prover and verifiers in one process, without messages.

mod traps;

use super::super::testing::Rng;
use super::coins::ProofId;
use super::fold::{Vectors, claim, factors, round_weights, values as values_of};
use super::log::Batch;
use super::quotients::Shares;
use super::statement::{COEFFICIENTS, Operation, Outputs, Picked, Side, longest, quotients};
use super::vector::Vector;
use super::*;
use std::borrow::Cow;
use tacit_kernel::prime::Prime;
use tacit_program::plan::Components;

const ID: ProofId<'static> = ProofId { session: &[7; 32], prover: 0, batch: 3, repetition: 0 };

/// An operation of which nothing is known to be zero.
fn of(outputs: Outputs, shift: u32) -> Operation {
    Operation { outputs, shift, has: [Components::ALL; 2] }
}

/// Operations on operands that have some components only: of one product one party has a term, of others none has more than
/// what it multiplies by itself.
fn partial() -> Vec<Operation> {
    let sets = [[0, 1], [2, 0], [1, 1], [2, 2]].map(|pair| pair.map(Components::one)).to_vec();
    let both = Components::one(0).and(Components::one(1));
    let sets = sets.into_iter().chain([[both, Components::one(2)], [Components::ALL, Components::one(1)]]);
    let outputs = [(1500, 1), (3, 5)].map(|(count, inner)| Outputs::Each { count, inner });
    sets.flat_map(|has| outputs.map(|outputs| Operation { outputs, shift: 0, has })).collect()
}

/// A party's words of products of all sorts.
fn operations() -> Vec<Operation> {
    let each = |count, inner| Outputs::Each { count, inner };
    let all = [each(1, 1), each(1500, 1), each(3, 5), Outputs::Matrix { m: 3, k: 7, n: 5 }, each(1, 300)];
    let large =
        [(40, 2050, 26, 0), (33, 5, 33, 56)].map(|(m, k, n, shift)| of(Outputs::Matrix { m, k, n }, shift));
    let of = |outputs| [0, 56, 63].map(|shift| of(outputs, shift));
    all.into_iter().flat_map(of).chain(large).chain(partial()).collect()
}

/// The batches of three parties; `draw` gives their components and masks.
fn batches(operations: &[Operation], mut draw: impl FnMut() -> u64) -> [Batch; 3] {
    let mut batches = [0, 1, 2].map(Batch::new);
    for operation in operations {
        let [xs, ys] = operation.operands();
        let mut drawn = |count: usize, is_there: &dyn Fn(usize) -> bool| {
            [0, 1, 2]
                .map(|of| -> Vec<u64> { (0..if is_there(of) { count } else { 0 }).map(|_| draw()).collect() })
        };
        let [of_x, of_y] = operation.has;
        let (x, y) = (drawn(xs, &|of| of_x.has(of)), drawn(ys, &|of| of_y.has(of)));
        // A mask hides the message of the party after it.
        let masks = drawn(operation.count(), &|of| operation.is_proved_by((of + 1) % 3));
        let z = [0, 1, 2].map(|me| {
            let before = (me + 2) % 3;
            let mut z = vec![0_u64; operation.count()];
            for (output, z) in z.iter_mut().enumerate() {
                let mut add = |at: usize, to: usize| {
                    for (a, b) in [(me, me), (me, before), (before, me)] {
                        let [x, y] =
                            [x[a].get(at), y[b].get(to)].map(|word| word.copied().unwrap_or_default());
                        *z = z.wrapping_add(x.wrapping_mul(y));
                    }
                };
                match operation.outputs {
                    Outputs::Each { inner, .. } => {
                        (output * inner..(output + 1) * inner).for_each(|at| add(at, at));
                    }
                    Outputs::Matrix { k, n, .. } => {
                        (0..k).for_each(|at| add(output / n * k + at, at * n + output % n));
                    }
                    Outputs::Shuffled { .. } => unreachable!("columns have batches of their own"),
                }
                let [own, other] = [me, before].map(|of| masks[of].get(output).copied().unwrap_or_default());
                *z = z.wrapping_add(own).wrapping_sub(other);
            }
            if operation.is_proved_by(me) { z } else { Vec::new() }
        });
        for (me, batch) in batches.iter_mut().enumerate() {
            let held = |of: &'_ [Vec<u64>; 3]| [me, (me + 2) % 3].map(|of_party| of[of_party].clone().into());
            let words = Words { x: held(&x), y: held(&y), z: held(&z), masks: held(&masks) };
            batch.note::<u64>(*operation, &words);
        }
    }
    batches
}

/// What a test changes.
#[derive(Default)]
struct Change {
    /// The prover's vectors are what it has; verifiers have others.
    quotient: Option<usize>,
    value: Option<usize>,
    /// The prover's bits aren't the verifiers'.
    other_bits: Option<Vec<Picked>>,
    /// All have these bits, and the prover these quotients.
    bits: Option<Vec<Picked>>,
    quotients: Option<[i128; COEFFICIENTS]>,
    /// The last zero that makes whole blocks is what the claim lacks.
    padding: Option<Padding>,
}

/// Whose vectors have something else than zeros after the last element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Padding {
    OfProver,
    OfAll,
}

/// Runs a proof on what the prover, the left and the right verifier have; whether both accept.
fn passes(prover: [Side<'_>; 2], verifiers: [Side<'_>; 2], seed: u8, change: Change) -> bool {
    let seeds: Vec<Seed> = (0..12).map(|round| [seed ^ round; 32]).collect();
    let bits = change.bits.unwrap_or_else(|| ID.bits(&seeds[0], prover[0].proved()));
    let computed = || quotients(prover[0], prover[1], change.other_bits.as_ref().unwrap_or(&bits));
    let all = change.quotients.unwrap_or_else(computed);
    let mut rng = Rng(seed.into());
    let drawn: Vec<u8> = (0..Shares::BYTES).map(|_| rng.word() as u8).collect();
    let left_shares = Shares::drawn(drawn[..].try_into().unwrap());
    let mut message = Vec::new();
    left_shares.rest(&all).write(&mut message);
    if let Some(at) = change.quotient {
        message[at] ^= 1;
    }
    let right_shares = Shares::received(message[..].try_into().unwrap());
    let (prime, chi) = ID.field(&seeds[1]);
    let weights = prover.map(|side| side.weights(&bits, &prime, chi));
    let [u, v] = [0, 1].map(|side| prover[side].vector(&weights[side]));
    let schedule = FoldingSchedule::of_products(longest(prover[0].operations));
    let points: Vec<u64> = (0..schedule.rounds())
        .map(|round| ID.point(round, &seeds[2 + round], &prime, schedule.blocks(round)))
        .collect();
    let mut element = || rng.word() % prime.order();
    let masks = [element(), element()];
    let blocks = schedule.blocks(0);
    let mut products = u.inner_products(&v, blocks);
    let by = round_weights(&prime, blocks, points[0]);
    let mut vectors = Vectors { u: u.combined(&by), v: v.combined(&by) };
    let mut lacks = 0;
    if change.padding.is_some() {
        let shares = [0, 1].map(|side| verifiers[side].weights(&bits, &prime, chi).share);
        let quotients = prime.add(left_shares.value(&prime, chi), right_shares.value(&prime, chi));
        let claim = shares.into_iter().fold(quotients, |sum, share| prime.add(sum, share));
        // The sum of the products of each block with itself.
        let is = products.iter().step_by(blocks + 1).fold(0, |sum, &product| prime.add(sum, product));
        lacks = prime.sub(claim, is);
        // 1 in one vector, and what is lacking in the other, at the end of the last block.
        let place = vectors.u.len() - 1;
        assert!(longest(prover[0].operations) < blocks * vectors.u.len(), "no zeros make whole blocks");
        let (u, v) = (last_of_blocks(&u, blocks, place), last_of_blocks(&v, blocks, place));
        for (at, (&u, &v)) in u.iter().zip(&v).enumerate() {
            let [row, column] = [blocks * (blocks - 1) + at, blocks * at + blocks - 1];
            products[row] = prime.add(products[row], v);
            products[column] = prime.add(products[column], prime.mul(u, lacks));
        }
        let last = blocks * blocks - 1;
        products[last] = prime.add(products[last], lacks);
        for (vector, value) in [(&mut vectors.u, 1), (&mut vectors.v, lacks)] {
            vector[place] = prime.add(vector[place], prime.times(by[blocks - 1], value));
        }
    }
    let mut values = values_of(&prime, &products, blocks);
    for (round, &point) in points.iter().enumerate().skip(1) {
        values.extend(vectors.values(&schedule, round, &prime, || masks));
        if !schedule.is_last(round) {
            vectors.fold(schedule.blocks(round), &prime, point);
        }
    }
    assert_eq!(values.len(), schedule.values_before(schedule.rounds()));
    let shares: Vec<u64> = values.iter().map(|_| element()).collect();
    let mut rest: Vec<u64> =
        values.iter().zip(&shares).map(|(&value, &share)| prime.sub(value, share)).collect();
    if let Some(at) = change.value {
        rest[at] = prime.add(rest[at], 1);
    }
    let verifier = |left: bool, quotients: &Shares, values: &[u64]| {
        let side = verifiers[usize::from(!left)];
        let weights = side.weights(&bits, &prime, chi);
        let first = prime.add(weights.share, quotients.value(&prime, chi));
        let (blocks, places, of_mask) = factors(&schedule, &prime, &points);
        let mut sum = side.vector(&weights).sum(&blocks, &places);
        if change.padding == Some(Padding::OfAll) {
            let factor = prime.both(blocks[blocks.len() - 1], places[places.len() - 1]);
            sum = prime.add(sum, prime.times(factor, if left { 1 } else { lacks }));
        }
        let own = prime.add(sum, prime.mul(of_mask, masks[usize::from(!left)]));
        (own, claim(&schedule, first, &prime, values, &points))
    };
    let (p, left) = verifier(true, &left_shares, &shares);
    let (q, right) = verifier(false, &right_shares, &rest);
    prime.mul(p, q) == prime.add(left, right)
}

/// The element at a place of each block.
fn last_of_blocks(vector: &Vector<'_>, blocks: usize, place: usize) -> Vec<u64> {
    let mut elements = vec![1; blocks * (place + 1)];
    vector.fill(0, &mut elements);
    elements.chunks(place + 1).map(|block| block[place]).collect()
}

/// A side's vector, and its share.
fn vector(side: Side<'_>, bits: &[Picked], prime: &Prime, chi: u64) -> (Vec<u64>, u64) {
    let weights = side.weights(bits, prime, chi);
    let vector = side.vector(&weights);
    let mut elements = vec![1; longest(side.operations)];
    vector.fill(0, &mut elements);
    (elements, weights.share)
}

fn sides(batch: &Batch) -> [Side<'_>; 2] {
    [batch.own(true), batch.own(false)]
}

/// A party's messages with one output altered, as its left verifier has them.
struct Altered {
    e: Vec<u64>,
}

impl Altered {
    fn of(side: Side<'_>, output: usize, by: u64) -> Self {
        let mut e = side.e.to_vec();
        e[output] = e[output].wrapping_add(by);
        Self { e }
    }

    fn and(mut self, output: usize, by: u64) -> Self {
        self.e[output] = self.e[output].wrapping_add(by);
        self
    }
}

fn rejected(operations: &[Operation], errors: &[(usize, u64)]) -> bool {
    let mut rng = Rng(5);
    let [batch, ..] = batches(operations, || rng.word());
    rejected_of(&batch, errors)
}

fn rejected_of(batch: &Batch, errors: &[(usize, u64)]) -> bool {
    let [left, right] = sides(batch);
    let mut altered = Altered { e: left.e.to_vec() };
    for &(output, by) in errors {
        altered = altered.and(output, by);
    }
    // The prover says what would be right if its messages were: it goes on from the words that its verifier has.
    let told = Side { e: &altered.e, ..left };
    !passes([told, right], [told, right], 1, Change::default())
        && !passes([left, right], [told, right], 1, Change::default())
}

#[test]
fn what_the_parties_note_of_a_product_fits_together() {
    let mut rng = Rng(1);
    let batches = batches(&operations(), || rng.word());
    for me in 0..3 {
        let (after, before) = ((me + 1) % 3, (me + 2) % 3);
        let same = |a: Side<'_>, b: Side<'_>| (a.x, a.y, a.e) == (b.x, b.y, b.e);
        assert!(same(batches[me].own(true), batches[after].of_prev()));
        assert!(same(batches[me].own(false), batches[before].of_next()));
    }
}

/// Among them words whose sums carry wherever they can.
#[test]
fn honest_proofs_pass() {
    let mut rng = Rng(2);
    for draw in [0, u64::MAX, 1 << 63].map(Some).into_iter().chain([None]) {
        for batch in &batches(&operations(), || draw.unwrap_or_else(|| rng.word())) {
            assert!(passes(sides(batch), sides(batch), 9, Change::default()), "all {draw:?}");
            if draw.is_some() {
                break;
            }
        }
    }
    // A batch of which no party has a term that verifiers multiply.
    let has = [Components::one(0); 2];
    let own = [Operation { has, ..of(Outputs::Each { count: 9, inner: 1 }, 0) }];
    for batch in &batches(&own, || rng.word()) {
        assert!(passes(sides(batch), sides(batch), 9, Change::default()));
    }
    for count in [1, 2, 8, 9, 500] {
        let one = [of(Outputs::Each { count, inner: 1 }, 32)];
        assert!(batches(&one, || rng.word()).iter().all(|batch| passes(
            sides(batch),
            sides(batch),
            9,
            Change::default()
        )));
    }
}

/// The quotients are those of integers as long as they may be.
#[test]
fn quotients_are_exact() {
    let (mut rng, all) = (Rng(3), operations());
    let [batch, ..] = batches(&all, || rng.word());
    let [left, right] = sides(&batch);
    let bits = ID.bits(&[1; 32], left.proved());
    let found = quotients(left, right, &bits);
    // Modulo a prime, where D is what it is, T is 2^64 Q.
    for seed in 0..3 {
        let (prime, chi) = ID.field(&[seed; 32]);
        let ((u, s), (v, t)) = (vector(left, &bits, &prime, chi), vector(right, &bits, &prime, chi));
        let mut product = [0];
        prime.inner_products(&u, &v, 1, &mut product);
        let value = found.iter().rev().fold(0, |sum, &q| prime.add(prime.mul(sum, chi), prime.integer(q)));
        let expected = prime.sub(prime.sub(product[0], s), t);
        assert_eq!(prime.mul(value, prime.radix(1)), expected);
    }
    assert!(found.iter().all(|quotient| quotient.unsigned_abs() < 1 << 110));
}

#[test]
fn no_error_passes() {
    let grid = |count| of(Outputs::Each { count, inner: 1 }, 0);
    let matrix = of(Outputs::Matrix { m: 9, k: 11, n: 8 }, 0);
    for by in [1, 1 << 32, 1 << 63, (1 << 61) - 1, 5 * ((1 << 61) - 1), u64::MAX] {
        assert!(rejected(&[grid(2000)], &[(1999, by)]), "{by}");
        assert!(rejected(&[matrix], &[(71, by)]), "{by}");
        // D and -D in two rows of a column, two columns of a row, and two operations.
        for (one, other) in [(3, 3 + 1024), (3, 4), (3, 2003)] {
            assert!(rejected(&[grid(2000), grid(2000)], &[(one, by), (other, by.wrapping_neg())]), "{by}");
        }
        for (one, other) in [(3, 8 * 3), (1, 8)] {
            assert!(rejected(&[matrix], &[(one, by), (other, by.wrapping_neg())]), "{by}");
        }
    }
    // Of operands with one component each: with a term that verifiers multiply, and without.
    for has in [[2, 0], [0, 2], [0, 0]].map(|pair| pair.map(Components::one)) {
        let one = Operation { has, ..grid(2000) };
        assert!(rejected(&[one], &[(1999, 1)]), "{has:?}");
        assert!(rejected(&[grid(5), one, grid(5)], &[(7, 5), (8, 5_u64.wrapping_neg())]), "{has:?}");
    }
    // In a narrower ring, whose words are below its modulus.
    assert!(rejected(&[of(Outputs::Each { count: 9, inner: 1 }, 56)], &[(4, 128)]));
}

#[test]
fn no_changed_message_passes() {
    let mut rng = Rng(4);
    let [batch, ..] = batches(&[of(Outputs::Each { count: 100, inner: 1 }, 0)], || rng.word());
    for at in [0, 15, 23, 24 * 64 + 23, Shares::BYTES - 1] {
        assert!(!passes(sides(&batch), sides(&batch), 2, Change { quotient: Some(at), ..Change::default() }));
    }
    let schedule = FoldingSchedule::of_products(200);
    for at in 0..schedule.values_before(schedule.rounds()) {
        assert!(!passes(sides(&batch), sides(&batch), 2, Change { value: Some(at), ..Change::default() }));
    }
    // Quotients by the bits of the anchor, before the first seed.
    let early = ID.bits(&[0x55; 32], batch.operations.iter().copied());
    assert!(!passes(
        sides(&batch),
        sides(&batch),
        2,
        Change { other_bits: Some(early), ..Change::default() }
    ));
}

#[test]
fn coins_differ_by_all_that_they_are_for() {
    let operations = [of(Outputs::Each { count: 1500, inner: 1 }, 0); 2];
    let others = [
        ProofId { session: &[8; 32], ..ID },
        ProofId { prover: 1, ..ID },
        ProofId { batch: 4, ..ID },
        ProofId { repetition: 1, ..ID },
    ];
    let first = ID.bits(&[1; 32], operations);
    for other in others {
        assert_ne!(first[0].rows, other.bits(&[1; 32], operations)[0].rows);
        assert_ne!(ID.field(&[1; 32]), other.field(&[1; 32]));
    }
    assert_ne!(first[0].columns, first[1].columns, "equal operations have bits of their own");
    assert_ne!(first[0].rows[..], first[0].columns[..2]);
    assert_ne!(ID.bits(&[2; 32], operations)[0].rows, first[0].rows);
    let (prime, _) = ID.field(&[1; 32]);
    assert!(ID.point(0, &[1; 32], &prime, 8) > 8);
    assert_ne!(ID.point(0, &[1; 32], &prime, 8), ID.point(1, &[1; 32], &prime, 8));
}

/// The right verifier's share of a quotient tells nothing of it: the left one's has 80 bits more. All signs come back.
#[test]
fn quotients_are_the_sums_of_their_shares() {
    let mut rng = Rng(8);
    let mut all = [0_i128; COEFFICIENTS];
    for (at, quotient) in all.iter_mut().enumerate() {
        let size = (u128::from(rng.word()) << 46 | 1) >> (at % 110);
        *quotient = if at % 2 == 0 { size as i128 } else { -(size as i128) };
    }
    // All 190 bits of each are drawn: with fewer, its verifier would read quotients.
    let mut longest = Vec::new();
    Shares::drawn(&[0xff; Shares::BYTES]).write(&mut longest);
    assert!(longest.chunks(24).all(|share| share[..23] == [0xff; 23] && share[23] == 0x3f));
    for fill in [0, 0xff, 0x5a] {
        let left = Shares::drawn(&[fill; Shares::BYTES]);
        let right = left.rest(&all);
        for seed in 0..3 {
            let (prime, chi) = ID.field(&[seed; 32]);
            let value = all.iter().rev().fold(0, |sum, &q| prime.add(prime.mul(sum, chi), prime.integer(q)));
            let sum = prime.add(left.value(&prime, chi), right.value(&prime, chi));
            assert_eq!(sum, prime.mul(value, prime.radix(1)));
        }
    }
}

/// The theorem's constants: `2^-63 + 4 / 27467389548130805 + 126 / 2^60 + 168 / (2^60 - 17) < 2^-51`.
#[test]
fn the_bound_is_that_of_the_page() {
    let degrees = |elements: usize| {
        let schedule = FoldingSchedule::of_products(elements);
        let degree = |round| 2 * schedule.blocks(round) - if schedule.is_last(round) { 0 } else { 2 };
        (0..schedule.rounds()).map(degree).sum::<usize>()
    };
    // The lengths after the first round decide: 2^21 of them at most.
    let worst = (1..=1 << 21).map(|length| degrees(8 * length)).max();
    assert_eq!(worst, Some(168));
    let full = FoldingSchedule::of_products(1 << 21);
    assert_eq!(full.lengths, [1 << 18, 1 << 14, 1 << 10, 64, 4]);
    assert_eq!(8 * full.values_before(full.rounds()), 1136);
    assert_eq!(Shares::BYTES, 3048);
    let chance = 2_f64.powi(-63)
        + 4.0 / 27_467_389_548_130_805.0
        + 126.0 / 2_f64.powi(60)
        + 168.0 / (2_f64.powi(60) - 17.0);
    assert!(chance < 2_f64.powi(-51));
}

/// The batches of three parties after a turn of a shuffle of two columns, and after a product; `order` is the turn's.
fn after_turn(
    turn: usize,
    count: usize,
    shift: u32,
    order: &[u32],
    draw: &mut impl FnMut() -> u64,
) -> [Batch; 3] {
    let product = [of(Outputs::Each { count: 3, inner: 1 }, 0)];
    let mut batches = batches(&product, &mut *draw);
    let [first, second, third] = [0, 1, 2].map(|ahead| (turn + ahead) % 3);
    for _ in 0..2 {
        let mut vector = || (0..count).map(|_| draw()).collect::<Vec<u64>>();
        let x = [vector(), vector(), vector()];
        let (r, s) = (vector(), vector());
        let moved = |x: &[u64]| order.iter().map(|&place| x[place as usize]).collect::<Vec<u64>>();
        let less =
            |a: &[u64], b: &[u64]| a.iter().zip(b).map(|(a, b)| a.wrapping_sub(*b)).collect::<Vec<u64>>();
        // a = pi(x_t + x_(t-1)) - r, so that e is pi(x_(t-1)) - r; and b.
        let e = less(&moved(&x[third]), &r);
        let b = less(&moved(&x[second]), &s);
        let none = vec![0; count];
        for (me, batch) in batches.iter_mut().enumerate() {
            let (z, masks) = if me == first {
                ([e.clone(), none.clone()], [b.clone(), r.clone()])
            } else if me == second {
                ([s.clone(), e.clone()], [none.clone(), b.clone()])
            } else {
                ([none.clone(), s.clone()], [r.clone(), none.clone()])
            };
            let held = [x[me].clone(), x[(me + 2) % 3].clone()];
            let [x, z, masks] = [held, z, masks].map(|of| of.map(Cow::Owned));
            let words = Words { x, y: Default::default(), z, masks };
            let order = if me == third { [].into() } else { order.into() };
            let outputs = Outputs::Shuffled { count };
            batch.note_shuffled(of(outputs, shift), &words, Shuffled { order, part: (me + 3 - turn) % 3 });
        }
    }
    batches
}

/// Whether each party's proof passes, with an error of the prover's at its left verifier, and at its right one.
fn proofs_of_turn(batches: &[Batch; 3], errors: [Option<(usize, u64)>; 2]) -> [bool; 3] {
    [0, 1, 2].map(|me| {
        let verifiers = [batches[(me + 1) % 3].of_prev(), batches[(me + 2) % 3].of_next()];
        let altered = [0, 1].map(|side| {
            let (at, by) = errors[side].unwrap_or((0, 0));
            Altered::of(verifiers[side], at, by)
        });
        let told = [0, 1].map(|side| Side { e: &altered[side].e, ..verifiers[side] });
        passes(sides(&batches[me]), told, 3 + me as u8, Change::default())
    })
}

#[test]
fn turns_of_shuffles_pass_and_errors_in_them_do_not() {
    let mut rng = Rng(9);
    for (count, shift) in [(1, 0), (7, 56), (1025, 0), (2500, 63)] {
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.rotate_left(count / 3);
        order.swap(0, count / 2);
        for turn in 0..3 {
            let batches = after_turn(turn, count, shift, &order, &mut || rng.word());
            assert_eq!(proofs_of_turn(&batches, [None; 2]), [true; 3], "{count} elements, turn {turn}");
            let last = 3 + 2 * count - 1;
            for error in [(3, 1), (last, 1 << (63 - shift)), (last, 1)] {
                for errors in [[Some(error), None], [None, Some(error)]] {
                    assert_eq!(proofs_of_turn(&batches, errors), [false; 3], "{count}, {turn}, {error:?}");
                }
            }
        }
    }
}

/// Elements in another place than the order's, though they are the same elements; and an order that takes one of them twice.
#[test]
fn another_order_than_the_turns_is_no_proof() {
    let mut rng = Rng(10);
    let order: Vec<u32> = (0..1100).rev().collect();
    let [mut swapped, mut twice] = [order.clone(), order.clone()];
    swapped.swap(5, 1050);
    twice[7] = twice[8];
    for turn in 0..3 {
        for wrong in [&swapped, &twice] {
            let [right, wrong] = [&order, wrong].map(|order| {
                let mut rng = Rng(rng.word());
                after_turn(turn, 1100, 0, order, &mut || rng.word())
            });
            // The prover and all words follow the wrong order; the honest party that knows the right one has that.
            for prover in [turn, (turn + 1) % 3] {
                let [to_left, to_right] = [&wrong[(prover + 1) % 3], &wrong[(prover + 2) % 3]];
                let (mut left_side, mut right_side) = (to_left.of_prev(), to_right.of_next());
                if prover == turn {
                    left_side.shuffles = right[(prover + 1) % 3].of_prev().shuffles;
                } else {
                    right_side.shuffles = right[(prover + 2) % 3].of_next().shuffles;
                }
                let own = sides(&wrong[prover]);
                assert!(
                    !passes(own, [left_side, right_side], 17, Change::default()),
                    "turn {turn}, P_{prover}"
                );
            }
        }
    }
}
