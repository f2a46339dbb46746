use super::*;
use proptest::prelude::*;

/// Sorts rows of these keys, which are all different.
fn sorted(keys: &[u64]) -> Result<Vec<u32>, NoRoom> {
    let bits = |bits: Vec<bool>| {
        let word = |bits: &[bool]| bits.iter().rev().fold(0, |word, &bit| word << 1 | u64::from(bit));
        bits.chunks(64).map(word).collect::<Vec<u64>>()
    };
    let mut order = Vec::new();
    for Phase { before, after, levels, pairs: room } in phases(keys.len()) {
        assert_eq!((order.len(), before + 1), (before, 1 << levels));
        let mut gaps = vec![0; after - before];
        for level in (0..levels).rev() {
            let row = |(gap, row): (&u32, usize)| {
                keys[order[*gap as usize + (1 << level) - 1] as usize] < keys[row]
            };
            let right = bits(gaps.iter().zip(before..).map(row).collect());
            let mut next = vec![0; gaps.len()];
            descend(&gaps, &right, 1 << level, &mut next);
            gaps = next;
        }
        let mut both = vec![0; 2 * room];
        pairs(&gaps, before + 1, before as u32, &mut both)?;
        let (lefts, rights) = both.split_at(room);
        let less =
            bits(lefts.iter().zip(rights).map(|(&l, &r)| keys[l as usize] < keys[r as usize]).collect());
        let mut merged = vec![u32::MAX; after];
        merge(&order, &gaps, &less, &mut merged)?;
        order = merged;
    }
    Ok(order)
}

proptest! {
    #[test]
    fn rows_are_sorted(rows in 1usize..3000, seed: u64) {
        let mut keys: Vec<u64> = (0..rows as u64).map(|at| at * 3).collect();
        let mut state = seed | 1;
        for at in (1..rows).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            keys.swap(at, (state >> 33) as usize % (at + 1));
        }
        let order = sorted(&keys).unwrap();
        let mut expected: Vec<u32> = (0..rows as u32).collect();
        expected.sort_by_key(|&row| keys[row as usize]);
        prop_assert_eq!(order, expected);
    }
}

#[test]
fn an_order_that_is_not_random_has_no_room_and_says_so() {
    assert_eq!(sorted(&(0..1 << 14).collect::<Vec<_>>()), Err(NoRoom));
}

/// Comparisons of a sort are about `n (log2 n + 1)`, and rounds of comparisons some dozens.
#[test]
fn comparisons_are_few() {
    let count = |rows: usize| {
        let phases = phases(rows);
        let comparisons: usize = phases
            .iter()
            .map(|phase| (phase.after - phase.before) * phase.levels as usize + phase.pairs)
            .sum();
        (comparisons, phases.iter().map(|phase| phase.levels + 1).sum::<u32>())
    };
    for (rows, each, rounds) in [(128, 64, 1), (1 << 12, 36, 21), (1 << 16, 26, 41), (1 << 20, 23, 59)] {
        let (comparisons, made) = count(rows);
        assert!(comparisons <= each * rows, "{rows} rows: {comparisons} comparisons");
        assert!(made <= rounds, "{rows} rows: {made} rounds");
    }
}

/// That there is room for all pairs but with a probability of 2^-40, by Chernoff's bound.
///
/// The numbers of new rows in the gaps are as likely as those of m + 1 independent geometric numbers `g` with
/// `P(g = j) = p q^j`, given that these sum to k. With `p = m / (k + m)` the sum is most likely k, and so that has a
/// probability of at least `3 / (4 (4 s + 1))`, where `s` is the sum's standard deviation (Chebyshev). So for any `t > 0`,
/// and G such that a gap has G rows with a probability below 2^-42,
///
/// `P(pairs > T) <= 2^-42 + E(e^(t g (g - 1) / 2); g < G)^(m + 1) e^(-t T) (4 (4 s + 1) / 3)`.
///
/// A gap has G rows with a probability of at most `(k / (k + m))^G`.
#[test]
fn there_is_room_for_pairs() {
    for levels in 3..27_u32 {
        for ratio in 1..8_usize {
            let m = (1_usize << levels) - 1;
            for k in [(ratio - 1) * (m + 1) + 1, ratio * (m + 1) - 1, ratio * (m + 1)] {
                let room = most_pairs(m, k);
                if room >= k * (k - 1) / 2 {
                    continue;
                }
                let (gaps, p) = ((m + 1) as f64, m as f64 / (k + m) as f64);
                let q = 1.0 - p;
                let longest = ((42.0 * 2_f64.ln() + gaps.ln()) / -q.ln()).ceil() as usize;
                let deviation = (gaps * q).sqrt() / p;
                let given = (4.0 * (4.0 * deviation + 1.0) / 3.0).ln();
                let bound = |t: f64| {
                    let term = |j: usize| {
                        (t * (j * j.saturating_sub(1)) as f64 / 2.0 + j as f64 * q.ln() + p.ln()).exp()
                    };
                    gaps * (0..longest).map(term).sum::<f64>().ln() - t * room as f64 + given
                };
                let best = (0..400)
                    .map(|step| bound(10_f64.powf(-6.0 + f64::from(step) * 0.015)))
                    .fold(f64::INFINITY, f64::min);
                assert!(best < -41.0 * 2_f64.ln(), "{k} rows in the gaps of {m}: 2^{}", best / 2_f64.ln());
            }
        }
    }
}
