//! What a proof of products rests on, each thing left out.

use super::*;
use std::sync::LazyLock;
use tacit_kernel::matrix::matmul;

/// Whether errors that are chosen by all bits pass.
fn passes_with(operations: &[Operation], errors: &[(usize, u64)], bits: Vec<Picked>) -> bool {
    let mut rng = Rng(5);
    let [batch, ..] = batches(operations, || rng.word());
    let [left, right] = sides(&batch);
    let altered =
        errors.iter().fold(Altered { e: left.e.to_vec() }, |all, &(output, by)| all.and(output, by));
    let told = Side { e: &altered.e, ..left };
    // Over the integers, all errors together are what is missing of T.
    let (mut sums, columns) = (quotients(left, right, &bits), bits[0].columns.len());
    let mut missing = [0_i128; COEFFICIENTS];
    for (output, _) in errors {
        let by = i128::from(told.e[*output]) - i128::from(left.e[*output]);
        let (operation, place) = (output / operations[0].count(), output % operations[0].count());
        let (alpha, beta) = (bits[operation].rows[place / columns], bits[operation].columns[place % columns]);
        for (one, other) in (0..64).flat_map(|one| (0..64).map(move |other| (one, other))) {
            missing[one + other] += by * i128::from(alpha >> one & beta >> other & 1);
        }
    }
    sums.iter_mut().zip(missing).for_each(|(sum, missing)| *sum -= missing >> 64);
    let change = Change { bits: Some(bits), quotients: Some(sums), ..Change::default() };
    passes([told, right], [told, right], 1, change)
}

/// Errors of 2^63 count modulo 2: 127 equations over F_2. Who has the bits before its messages are where they are
/// verified solves them, so no seed leaves before that.
#[test]
fn errors_that_are_chosen_by_the_bits_pass() {
    let operations = [of(Outputs::Each { count: 200, inner: 1 }, 0)];
    let bits = ID.bits(&[1; 32], operations);
    // The product of two polynomials over F_2, and which outputs it is of.
    let row = |output: usize| {
        let (alpha, beta) = (bits[0].rows[0], bits[0].columns[output]);
        (0..64)
            .filter(|degree| alpha >> degree & 1 == 1)
            .fold(0, |sum, degree| sum ^ u128::from(beta) << degree)
    };
    // Each with the outputs that it is the sum of, of which 128 do.
    let mut solved: Vec<(u128, u128)> = Vec::new();
    let chosen = (0..128).find_map(|output| {
        let (mut rest, mut of) = (row(output), 1_u128 << output);
        for (known, outputs) in &solved {
            if rest ^ known < rest {
                (rest, of) = (rest ^ known, of ^ outputs);
            }
        }
        solved.push((rest, of));
        solved.sort_by_key(|(known, _)| std::cmp::Reverse(*known));
        (rest == 0).then_some(of)
    });
    let chosen = chosen.expect("128 outputs are more than 127 equations");
    let errors: Vec<(usize, u64)> =
        (0..128).filter(|at| chosen >> at & 1 == 1).map(|at| (at, 1 << 63)).collect();
    assert!(!errors.is_empty());
    assert!(passes_with(&operations, &errors, bits));
    assert!(rejected(&operations, &errors));
    assert!(
        !passes_with(&operations, &errors, ID.bits(&[2; 32], operations)),
        "a second repetition has bits of its own"
    );
}

/// Bits that two operations share, and rows that have the bits of columns, let `D` and `-D` pass.
#[test]
fn errors_that_cancel_pass_if_bits_are_shared() {
    let grid = of(Outputs::Each { count: 9, inner: 1 }, 0);
    let (twice, cancel) = ([grid, grid], [(3, 5), (9 + 3, 5_u64.wrapping_neg())]);
    let one = ID.bits(&[1; 32], [grid]);
    assert!(passes_with(&twice, &cancel, vec![one[0].clone(), one[0].clone()]));
    assert!(!passes_with(&twice, &cancel, ID.bits(&[1; 32], twice)));
    let matrix = [of(Outputs::Matrix { m: 6, k: 2, n: 6 }, 0)];
    let (antisymmetric, bits) = ([(2, 7), (2 * 6, 7_u64.wrapping_neg())], ID.bits(&[1; 32], matrix));
    let rows = bits[0].rows.clone();
    assert!(passes_with(&matrix, &antisymmetric, vec![Picked { columns: rows.clone(), rows }]));
    assert!(!passes_with(&matrix, &antisymmetric, bits));
}

/// The batch of a party with a product of matrices of which it knows that everything is right.
fn of_matrices(m: usize, k: usize, n: usize) -> Batch {
    let mut rng = Rng(14);
    let mut words = |count: usize| -> Vec<u64> { (0..count).map(|_| rng.word()).collect() };
    let [a, a_prev] = [words(m * k), words(m * k)];
    let [b, b_prev] = [words(k * n), words(k * n)];
    let [mask, mask_prev] = [words(m * n), words(m * n)];
    let mut z: Vec<u64> = mask.iter().zip(&mask_prev).map(|(own, prev)| own.wrapping_sub(*prev)).collect();
    for (a, b) in [(&a, &b), (&a, &b_prev), (&a_prev, &b)] {
        matmul(a, b, &mut z, m, k, n);
    }
    let mut batch = Batch::new(0);
    let [x, y, masks] = [[a, a_prev], [b, b_prev], [mask, mask_prev]].map(|of| of.map(Cow::Owned));
    batch.note::<u64>(
        of(Outputs::Matrix { m, k, n }, 0),
        &Words { x, y, z: [z.into(), Cow::default()], masks },
    );
    batch
}

/// That of two matrices of 1000 x 1000.
fn of_large_matrices() -> &'static Batch {
    static BATCH: LazyLock<Batch> = LazyLock::new(|| of_matrices(1000, 1000, 1000));
    &BATCH
}

/// Of a million outputs that have their terms in common one alone is wrong, by the least there is or by half the ring.
#[test]
fn one_wrong_entry_of_a_large_matrix_does_not_pass() {
    let batch = of_large_matrices();
    assert!(passes(sides(batch), sides(batch), 1, Change::default()));
    for (entry, by) in [(0, 1), (999 * 1000 + 17, 1 << 63)] {
        assert!(rejected_of(batch, &[(entry, by)]), "{entry}, {by}");
    }
}

/// A prover knows what its claim lacks once it has the prime and the point, and the vectors are made then. If what makes whole
/// blocks isn't zero at verifiers, but what the prover has there, that much can be in it.
#[test]
fn an_error_that_is_hidden_behind_the_last_element_does_not_pass() {
    let mut rng = Rng(15);
    for count in [1, 5, 99, 1001] {
        let [batch, ..] = batches(&[of(Outputs::Each { count, inner: 1 }, 0)], || rng.word());
        let [left, right] = sides(&batch);
        let Altered { e } = Altered::of(left, count - 1, 1);
        let told = Side { e: &e, ..left };
        let hidden = |padding| {
            let change = Change { padding: Some(padding), ..Change::default() };
            passes([told, right], [told, right], 1, change)
        };
        assert!(hidden(Padding::OfAll), "{count}");
        assert!(!hidden(Padding::OfProver), "{count}");
    }
}

/// With 96 bits for the left verifier the right one reads what quotients have above these, but for one more or less. Those of
/// large matrices have something there. So the left one has 80 bits more than they can have.
#[test]
fn short_shares_of_quotients_let_them_be_read() {
    let mut rng = Rng(13);
    let quotients: [i128; COEFFICIENTS] = std::array::from_fn(|_| {
        let size = i128::from(rng.word() >> 18) << 64 | i128::from(rng.word());
        size - (1 << 109)
    });
    let mut read = |bytes: usize| {
        let drawn = (0..Shares::BYTES).map(|at| if at % 24 < bytes { rng.word() as u8 } else { 0 });
        let drawn: Vec<u8> = drawn.collect();
        let mut message = Vec::new();
        Shares::drawn(drawn[..].try_into().unwrap()).rest(&quotients).write(&mut message);
        let is_read = |(share, quotient): (&[u8], &i128)| {
            let above = share[12..].iter().rev().fold(0_i128, |above, &byte| above << 8 | i128::from(byte));
            // Less one, if the left share is more than what is below; 96 bits with a sign.
            [0, 1].contains(&((quotient >> 96) - (above << 32 >> 32)))
        };
        message.chunks(24).zip(&quotients).filter(|&one| is_read(one)).count()
    };
    assert_eq!(read(12), COEFFICIENTS);
    assert_eq!(read(24), 0);
    let [left, right] = sides(of_large_matrices());
    let of_matrix = super::quotients(left, right, &ID.bits(&[1; 32], left.proved()));
    assert!(of_matrix.iter().any(|quotient| quotient >> 96 > 1));
}

/// `H = T - 2^64 Q` modulo a number below 2^61, for a `Q` that is negative: digits in mixed radix, in turn times all primes before.
fn chosen(t: u64, digits: &[(u64, u64)], modulo: u64) -> u64 {
    let modulo = u128::from(modulo);
    let (mut value, mut place) = (u128::from(t) % modulo, (1 << 64) % modulo);
    for &(digit, prime) in digits {
        value = (value + place * u128::from(digit)) % modulo;
        place = place * u128::from(prime) % modulo;
    }
    value as u64
}

/// An integer below 2^256 that isn't 0 has at most four prime factors above 2^60. Of other factors of that size it can have
/// millions, and a prover can see to that: by its quotient it chooses all of `H` but what is wrong of `T` modulo 2^64. At each of
/// these numbers its proof would pass whatever the point is. So a modulus is a prime.
#[test]
fn composite_moduli_divide_what_a_prover_chooses() {
    const WRONG: u64 = 12_345;
    let is_prime = |n: &u64| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    let (mut digits, mut bits): (Vec<(u64, u64)>, f64) = (Vec::new(), 0.0);
    for prime in (3..).filter(is_prime) {
        bits += (prime as f64).log2();
        // What a quotient can be.
        if bits > 190.0 {
            break;
        }
        let makes_zero = |digit: &u64| chosen(WRONG, &[&digits[..], &[(*digit, prime)]].concat(), prime) == 0;
        let digit = (0..prime).find(makes_zero).expect("2^64 and the primes before have an inverse");
        digits.push((digit, prime));
    }
    // The products of all subsets of one half of the primes, and of the other half.
    let (few, others) = digits.split_at(digits.len() / 2);
    let subsets = |primes: &[(u64, u64)]| {
        let mut all = vec![1_u128];
        for &(_, prime) in primes {
            let more: Vec<u128> = all.iter().map(|product| product * u128::from(prime)).collect();
            all.extend(more);
        }
        all.sort_unstable();
        all
    };
    let (few, others) = (subsets(few), subsets(others));
    let mut factors = 0;
    for &one in few.iter().filter(|one| **one < 1 << 61) {
        let [low, high] = [60, 61].map(|bits| others.partition_point(|other| one * other < 1 << bits));
        factors += high - low;
        for other in others[low..high].iter().take(3) {
            let factor = (one * other) as u64;
            assert_eq!(chosen(WRONG, &digits, factor), 0);
            assert!(Prime::new(factor).is_none(), "{factor} is no prime");
        }
    }
    // Of all numbers between 2^60 and 2^61 much more than four of all primes.
    assert!(factors as f64 / 2_f64.powi(60) > 1000.0 * 4.0 / 27_467_389_548_130_805.0, "{factors}");
    for seed in 0..100 {
        let (prime, _) = ID.field(&[seed; 32]);
        // Bases that drawing it doesn't try.
        assert!([41, 43, 47, 53, 59].iter().all(|&base| prime.power(base, prime.order() - 1) == 1));
    }
}

/// A prime that a prover knows before lets it divide: the quotients of a wrong product are `T / 2^64` modulo it. So the
/// prime is drawn, and one that differs is no use.
#[test]
fn quotients_modulo_a_known_prime_do_not_pass_another() {
    let mut rng = Rng(6);
    let [batch, ..] = batches(&[of(Outputs::Each { count: 5, inner: 1 }, 0)], || rng.word());
    let [left, right] = sides(&batch);
    let Altered { e } = Altered::of(left, 2, 1);
    let told = Side { e: &e, ..left };
    let bits = ID.bits(&[1; 32], batch.operations.iter().copied());
    let exact = quotients(left, right, &bits);
    // What is missing of T is -alpha beta: of each coefficient its product with 1 / 2^64.
    let mut missing = [0_i128; COEFFICIENTS];
    let picked = &bits[0];
    for degree in (0..64).filter(|degree| picked.rows[0] >> degree & 1 == 1) {
        for other in (0..64).filter(|other| picked.columns[2] >> other & 1 == 1) {
            missing[degree + other] -= 1;
        }
    }
    let known = Prime::new((1 << 61) - 1).unwrap();
    let inverse = known.inverse(known.radix(1));
    let forged = |prime: &Prime, chi: u64| {
        let ((u, s), (v, t)) = (vector(told, &bits, prime, chi), vector(right, &bits, prime, chi));
        let mut product = [0];
        prime.inner_products(&u, &v, 1, &mut product);
        let coefficient =
            |(&q, &less): (&i128, &i128)| q + i128::from(known.mul(known.integer(less), inverse));
        let value = exact.iter().zip(&missing).map(coefficient).rev();
        let value = value.fold(0, |sum, q| prime.add(prime.mul(sum, chi), prime.integer(q)));
        product[0] == prime.add(prime.add(s, t), prime.mul(value, prime.radix(1)))
    };
    assert!((0..20).all(|chi| forged(&known, chi + 12345)), "against a fixed prime it always passes");
    for seed in 0..20 {
        let (prime, chi) = ID.field(&[seed; 32]);
        assert!(!forged(&prime, chi));
    }
}

/// With one share for both repetitions the right verifier learns how their quotients differ, which depends on all words.
#[test]
fn shares_of_quotients_that_serve_twice_show_how_quotients_differ() {
    let mut rng = Rng(12);
    let [batch, ..] = batches(&[of(Outputs::Each { count: 9, inner: 1 }, 0)], || rng.word());
    let [left, right] = sides(&batch);
    let of_repetitions = [0, 1].map(|repetition| {
        let bits = ProofId { repetition, ..ID }.bits(&[1; 32], left.proved());
        quotients(left, right, &bits)
    });
    let mut shares = || {
        let drawn: Vec<u8> = (0..Shares::BYTES).map(|_| rng.word() as u8).collect();
        Shares::drawn(drawn[..].try_into().unwrap())
    };
    let [one, other] = [shares(), shares()];
    let shown = |of_second: &Shares| {
        let mut messages = [Vec::new(), Vec::new()];
        one.rest(&of_repetitions[0]).write(&mut messages[0]);
        of_second.rest(&of_repetitions[1]).write(&mut messages[1]);
        let low =
            |message: &[u8], at: usize| i128::from_le_bytes(message[24 * at..][..16].try_into().unwrap());
        let differs = |at: usize| low(&messages[0], at).wrapping_sub(low(&messages[1], at));
        (0..COEFFICIENTS).filter(|&at| differs(at) == of_repetitions[0][at] - of_repetitions[1][at]).count()
    };
    assert_eq!(shown(&one), COEFFICIENTS);
    assert_eq!(shown(&other), 0);
}

/// With one last seed for a batch of ANDs and one of products the shorter chain is the end of the longer one: the seed
/// that it begins with comes after that of the bits, and is released before the quotients are where they are verified.
#[test]
fn a_last_seed_of_two_proofs_gives_seeds_of_the_longer_one_away() {
    let last = [9; 32];
    let (of_ands, of_products) = (chain(&last, 2), chain(&last, 5));
    assert_eq!(of_products[3], of_ands[0]);
    assert_eq!([before(&of_products[3]), before(&before(&of_products[3]))], [of_products[2], of_products[1]]);
    let own = chain(&[8; 32], 5);
    assert!(!own.contains(&of_ands[0]));
}
