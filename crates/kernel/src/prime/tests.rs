//! All levels of vector code give what single residues give.

use super::*;
use crate::noise::noise;

/// The least and the largest prime of the range, and one between.
const PRIMES: [u64; 3] = [(1 << 60) + 33, (1 << 61) - 1, 1_729_382_256_910_270_481];

fn fields() -> impl Iterator<Item = Prime> {
    PRIMES.into_iter().filter_map(Prime::new)
}

fn elements(field: &Prime, seed: u64, count: usize) -> Vec<u64> {
    noise::<u64>(seed, count).into_iter().map(|word| word % field.order()).collect()
}

fn product(field: &Prime, a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(field.order())) as u64
}

#[test]
#[cfg_attr(miri, ignore = "takes an interpreter hours")]
fn primes_are_told_from_other_numbers() {
    assert_eq!(Prime::new(PRIMES[0]).map(|field| field.order()), Some(PRIMES[0]));
    assert!(Prime::new(PRIMES[1]).is_some());
    // Even, out of the range, a square of a prime, a product of two, Carmichael numbers of three factors.
    for other in [0, 1, 2, 1 << 60, (1 << 60) - 93, (1 << 61) + 15, 1_073_741_827 * 1_073_741_827] {
        assert!(Prime::new(other).is_none(), "{other}");
    }
    let (a, b) = (1_100_000_009_u64, 1_200_000_041_u64);
    assert!(Prime::new(a * b).is_none());
    // (6k + 1)(12k + 1)(18k + 1) with three primes, between 2^60 and 2^61.
    let mut carmichael = 0;
    for k in 96_000_u64..120_000 {
        let factors = [6 * k + 1, 12 * k + 1, 18 * k + 1];
        let prime = |n: u64| (2..1 << 16).all(|d| d * d > n || !n.is_multiple_of(d));
        let all = factors[0] * factors[1] * factors[2];
        if all >> 60 == 1 && factors.into_iter().all(prime) {
            assert!(Prime::new(all).is_none(), "{all}");
            carmichael += 1;
        }
    }
    assert!(carmichael > 0);
    // As many as there should be: one in 42.
    let found = (0..20_000).filter(|k| Prime::new((1 << 60) + 12_345_678 + k).is_some()).count();
    assert!((380..580).contains(&found), "{found}");
}

#[test]
fn arithmetic_is_that_of_residues() {
    for field in fields() {
        let p = field.order();
        let mut all = elements(&field, 1, 50);
        all.extend([0, 1, 2, p - 1, p - 2]);
        for &a in &all {
            for &b in &all {
                assert_eq!(field.mul(a, b), product(&field, a, b));
                assert_eq!(field.add(a, b), (a + b) % p);
                assert_eq!(field.sub(field.add(a, b), b), a);
            }
            assert!(a == 0 || field.mul(a, field.inverse(a)) == 1);
            assert_eq!(field.integer(i128::from(a)), a);
            assert_eq!(field.add(field.integer(-i128::from(a)), a), 0);
        }
        let large = (1_u128 << 127) - 1;
        assert_eq!(u128::from(field.reduce(large)), large % u128::from(p));
        assert_eq!(field.integer(-(large as i128)), field.sub(0, field.reduce(large)));
        assert_eq!(field.integer(i128::from(p) * -4), 0);
        for n in 1..=3 {
            assert_eq!(field.radix(n), field.power(field.reduce(1 << 64), n as u64));
        }
    }
}

#[test]
fn any_words_are_multiplied_and_combined() {
    cpu::available().for_each(|level| cpu::at(level, products_of_words));
}

fn products_of_words() {
    for field in fields() {
        let p = field.order();
        // What makes the largest sums: Montgomery's form of it is p - 1.
        let last = field.times(Weight(p - 1), 1);
        let any = noise::<u64>(7, 8 * TILE);
        let shapes = [(1, 1), (7, 3), (TILE, 8), (TILE - 3, 8)];
        for (length, blocks) in shapes.into_iter().take(if cfg!(miri) { 2 } else { 4 }) {
            let words =
                [vec![u64::MAX; blocks * length], any[..blocks * length].to_vec(), vec![0; blocks * length]];
            for (words, element) in words.iter().zip([p - 1, p - 2, 1]) {
                let (words, elements): (Vec<&[u64]>, _) =
                    (words.chunks(length).collect(), vec![element; blocks * length]);
                let of_elements: Vec<&[u64]> = elements.chunks(length).collect();
                let mut sums = vec![0; blocks * blocks];
                field.add_inner_products(&words, &of_elements, &mut sums);
                for (pair, sum) in sums.into_iter().enumerate() {
                    let residues = words[pair / blocks].iter().map(|word| product(&field, word % p, element));
                    assert_eq!(field.inner_product(sum), residues.fold(0, |sum, x| field.add(sum, x)));
                }
                let weights = [last, element, 1].map(|of| vec![of; blocks]);
                for of in &weights {
                    let weights: Vec<Weight> = of.iter().map(|&of| field.weight(of)).collect();
                    let mut combined = vec![1; length];
                    field.combine_words(&words, &weights, &mut combined);
                    for (t, &found) in combined.iter().enumerate() {
                        let term = |(block, &of): (&&[u64], &u64)| product(&field, block[t] % p, of);
                        let sum = words.iter().zip(of).map(term).fold(0, |sum, x| field.add(sum, x));
                        assert_eq!(found, sum);
                    }
                    let total = field.total([weights[0]; 8]);
                    assert_eq!(field.times(total, 1), product(&field, of[0], 8));
                }
            }
        }
    }
}

#[test]
fn sums_of_products_are_reduced_in_time() {
    cpu::available().for_each(|level| cpu::at(level, sums_of_products));
}

fn sums_of_products() {
    for field in fields() {
        let p = field.order();
        let shapes = [(1, 1), (32, 1), (33, 1), (100, 4), (6 * 1031, 6), (7 * 9, 7), (32 * 40, 32)];
        for (count, blocks) in shapes.into_iter().filter(|(count, _)| !cfg!(miri) || *count <= 100) {
            for (u, v) in [
                (vec![p - 1; count], vec![p - 1; count]),
                (elements(&field, 3, count), elements(&field, 4, count)),
            ] {
                let mut products = vec![1; blocks * blocks];
                field.inner_products(&u, &v, blocks, &mut products);
                let length = count / blocks;
                for (pair, &found) in products.iter().enumerate() {
                    let sides = u[pair / blocks * length..][..length]
                        .iter()
                        .zip(&v[pair % blocks * length..][..length]);
                    assert_eq!(found, sides.fold(0, |sum, (&a, &b)| field.add(sum, product(&field, a, b))));
                }
                let weights: Vec<u64> = v[..blocks].to_vec();
                let mut combined = vec![1; length];
                field.combine(
                    &u,
                    &weights.iter().map(|&w| field.weight(w)).collect::<Vec<_>>(),
                    &mut combined,
                );
                for (t, &found) in combined.iter().enumerate() {
                    let sum = (0..blocks)
                        .fold(0, |sum, l| field.add(sum, product(&field, weights[l], u[l * length + t])));
                    assert_eq!(found, sum);
                }
            }
        }
        // The largest words by the largest weights, and by any.
        let (many, some) = if cfg!(miri) { (80, 100) } else { (8 * 2100, 1000) };
        let largest =
            [9, many].map(|count| (vec![u64::MAX; count], vec![field.times(Weight(p - 1), 1); count]));
        let any = (noise::<u64>(5, some), elements(&field, 6, some));
        for (words, weights) in largest.into_iter().chain([any]) {
            let as_weights: Vec<Weight> = weights.iter().map(|&w| field.weight(w)).collect();
            let expected: Vec<u64> =
                weights.iter().zip(&words).map(|(&w, &x)| product(&field, w, x)).collect();
            let mut weighed = vec![0; words.len()];
            field.weigh_each(&as_weights, &words, &mut weighed);
            assert_eq!(weighed, expected);
            let mut scaled = as_weights.clone();
            field.scale(as_weights[1], &as_weights, &mut scaled);
            let both = |&weight: &u64| field.weight(product(&field, weights[1], weight));
            assert!(scaled.iter().eq(&weights.iter().map(both).collect::<Vec<_>>()));
            assert_eq!(
                field.weighted_sum(&as_weights, &words),
                expected.iter().fold(0, |sum, &x| field.add(sum, x))
            );
            assert!(as_weights.iter().zip(&expected).zip(&words).all(|((&weight, &product), &word)| {
                let element = word % field.order();
                let both = field.both(weight, field.weight(element));
                field.times(weight, element) == product && field.times(both, 1) == product
            }));
            for columns in [1, 7, 8, 250] {
                let rows = words.len() / columns;
                let (words, expected) = (&words[..rows * columns], &expected[..rows * columns]);
                let mut sums = vec![vec![u128::from(u64::MAX); columns]; 2];
                if rows > 0 {
                    field.add_columns(&as_weights[..rows * columns], words, &mut sums[0]);
                    field.add_rows(&as_weights[..rows], words, &mut sums[1]);
                }
                for (column, (&by_word, &by_row)) in sums[0].iter().zip(&sums[1]).enumerate() {
                    let of = |by_row: bool| {
                        (0..rows).fold(u64::MAX % field.order(), |sum, row| {
                            let at = row * columns + column;
                            let by = product(&field, weights[row], words[at]);
                            field.add(sum, if by_row { by } else { expected[at] })
                        })
                    };
                    assert_eq!(field.reduce(by_word), of(false));
                    assert_eq!(field.reduce(by_row), of(true));
                }
            }
            field.weigh(as_weights[0], &words, &mut weighed);
            assert!(weighed.iter().zip(&words).all(|(&found, &x)| found == product(&field, weights[0], x)));
        }
    }
}
