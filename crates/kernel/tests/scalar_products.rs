//! Scalar products of replicated shares, one after another.

use tacit_kernel::ring::{cross, cross_sums};

#[test]
fn a_scalar_product_is_the_sum_of_its_products() {
    for (terms, count) in [(1, 9), (4, 37), (5, 1), (17, 3), (3, 0), (0, 2)] {
        let words = |seed: u64| -> Vec<u64> {
            (0..(terms * count) as u64).map(|at| (at + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
        };
        let [x, x_other, y, y_other] = [1, 1000, 2000, 3000].map(words);
        let mut each = vec![0; x.len()];
        cross(&x, &x_other, &y, &y_other, &mut each);
        let first: Vec<u64> = (0..count as u64).collect();
        let mut sums = first.clone();
        cross_sums(&x, &x_other, &y, &y_other, terms, &mut sums);
        let expected: Vec<u64> = (0..count)
            .map(|at| {
                each[at * terms..(at + 1) * terms].iter().fold(first[at], |sum, &one| sum.wrapping_add(one))
            })
            .collect();
        assert_eq!(sums, expected, "{count} of {terms} terms");
    }
}

#[test]
#[should_panic(expected = "each scalar product has all its terms")]
fn too_few_terms_are_refused() {
    cross_sums(&[1_u32; 5], &[1; 6], &[1; 6], &[1; 6], 3, &mut [0; 2]);
}
