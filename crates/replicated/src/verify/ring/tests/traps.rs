//! What a proof of products rests on, each thing left out.

use super::*;

/// Of 90,000 outputs that have their terms in common one alone is wrong, by the least there is and by half the ring.
#[test]
fn one_wrong_entry_of_a_large_matrix_does_not_pass() {
    let matrix = [of(Outputs::Matrix { m: 300, k: 20, n: 300 }, 0)];
    for (entry, by) in [(0, 1), (299 * 300 + 17, 1 << 63)] {
        assert!(rejected(&matrix, &[(entry, by)]), "{entry}, {by}");
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
