//! Matrix products over `Z_2^k`, row-major.

use crate::Word;
use crate::cpu;

/// `c += a b`, for `a` of `m x k`, `b` of `k x n` and `c` of `m x n`.
///
/// # Panics
/// If a slice hasn't its matrix's number of elements.
pub fn matmul<W: Word>(a: &[W], b: &[W], c: &mut [W], m: usize, k: usize, n: usize) {
    check(a.len(), m, k);
    check(b.len(), k, n);
    check(c.len(), m, n);
    if m == 0 || k == 0 || n == 0 {
        return;
    }
    by_rows(a, b, c, k, n);
}

fn check(len: usize, rows: usize, columns: usize) {
    assert_eq!(rows.checked_mul(columns), Some(len), "a matrix of {rows} x {columns} has as many elements");
}

/// Adds to every row of `c` the rows of `b`, each times an element of the row of `a`.
fn by_rows<W: Word>(a: &[W], b: &[W], c: &mut [W], k: usize, n: usize) {
    cpu::run(
        #[inline(always)]
        || {
            for (a, c) in a.chunks_exact(k).zip(c.chunks_exact_mut(n)) {
                for (&factor, b) in a.iter().zip(b.chunks_exact(n)) {
                    for (sum, &x) in c.iter_mut().zip(b) {
                        *sum = sum.wrapping_add(factor.wrapping_mul(x));
                    }
                }
            }
        },
    );
}
