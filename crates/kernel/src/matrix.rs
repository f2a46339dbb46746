//! Matrix products over a ring or a field, row-major.
//!
//! The right-hand matrix is packed into panels of some columns, cut into slabs of some rows, so that what the
//! innermost loop walks over lies in a row in the first-level cache (Goto and van de Geijn, Anatomy of
//! high-performance matrix multiplication, 2008).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

#[cfg(target_arch = "x86_64")]
use crate::cpu::Level;
use crate::{Buffer, Element, cpu};
use std::fmt;
use std::marker::PhantomData;

/// `c += a b`, for `a` of `m x k`, `b` of `k x n` and `c` of `m x n`.
///
/// # Panics
/// If a slice hasn't its matrix's number of elements.
pub fn matmul<E: Element>(a: &[E], b: &[E], c: &mut [E], m: usize, k: usize, n: usize) {
    check(a, m, k);
    check(b, k, n);
    check(c, m, n);
    if m == 0 || k == 0 || n == 0 {
        return;
    }
    if n == 1 {
        by_columns(a, b, c, k);
    } else if m < WORTH_PACKING {
        by_rows(a, b, c, k, n);
    } else {
        Packed::new(b, k, n).multiply(a, c, m);
    }
}

/// A matrix made ready to stand on the right-hand side of many products.
#[derive(Clone)]
pub struct Packed<E: Element> {
    /// Slab by slab, panel by panel, row by row, a panel's width in every row and zeros past the last column; or
    /// column by column where there are few.
    words: Buffer,
    k: usize,
    n: usize,
    width: PhantomData<E>,
}

impl<E: Element> Packed<E> {
    /// Packs `b` of `k x n`.
    ///
    /// # Panics
    /// If `b` hasn't as many elements.
    pub fn new(b: &[E], k: usize, n: usize) -> Self {
        check(b, k, n);
        let words = if n <= FEW_COLUMNS { columns(b, n) } else { panels(b, n) };
        Self { words, k, n, width: PhantomData }
    }

    /// `c += a b`, for `a` of `m x k` and `c` of `m x n`: all rows of a product, or a block of them.
    ///
    /// # Panics
    /// If a slice hasn't its matrix's number of elements.
    pub fn multiply(&self, a: &[E], c: &mut [E], m: usize) {
        check(a, m, self.k);
        check(c, m, self.n);
        if m == 0 || self.k == 0 || self.n == 0 {
            return;
        }
        let words = self.words.words();
        if self.n <= FEW_COLUMNS {
            return by_columns(a, words, c, self.k);
        }
        let width = panel_width::<E>();
        let panels = self.n.div_ceil(width);
        for (slab, words) in words.chunks(SLAB * panels * width).enumerate() {
            let depth = words.len() / (panels * width);
            for (a, c) in a.chunks(ROWS * self.k).zip(c.chunks_mut(ROWS * self.n)) {
                for (panel, words) in words.chunks_exact(depth * width).enumerate() {
                    let columns = Columns { first: panel * width, total: self.n };
                    multiply_panel(
                        Left { words: a, stride: self.k, first: slab * SLAB, depth },
                        words,
                        c,
                        columns,
                    );
                }
            }
        }
    }
}

/// Says the shape, never the contents: they may be secret.
impl<E: Element> fmt::Debug for Packed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packed").field("k", &self.k).field("n", &self.n).finish_non_exhaustive()
    }
}

/// With fewer rows on the left-hand side the right-hand matrix is used as it is.
const WORTH_PACKING: usize = 8;

/// So many columns, or fewer, are multiplied one by one: a panel would stay nearly empty.
const FEW_COLUMNS: usize = 4;

/// Bytes of a panel's row: two vectors.
const PANEL: usize = 128;

/// Rows of a slab: a panel of a slab takes half of a first-level cache.
const SLAB: usize = 128;

/// Rows of the left-hand matrix that meet all panels of a slab in turn: their part stays in a second-level cache.
const ROWS: usize = 256;

/// Columns of a panel.
const fn panel_width<E: Element>() -> usize {
    PANEL / E::BYTES
}

/// The part of some rows of the left-hand matrix that meets a slab.
#[derive(Clone, Copy)]
struct Left<'a, E> {
    /// The rows, whole.
    words: &'a [E],
    /// Elements in a row.
    stride: usize,
    /// The part's first column.
    first: usize,
    /// The part's columns.
    depth: usize,
}

impl<'a, E> Left<'a, E> {
    /// The parts of `N` rows.
    #[inline(always)]
    fn rows<const N: usize>(&self, row: usize) -> [&'a [E]; N] {
        std::array::from_fn(
            #[inline(always)]
            |i| &self.words[(row + i) * self.stride + self.first..][..self.depth],
        )
    }
}

/// The columns of the product that a panel stands for.
#[derive(Clone, Copy)]
struct Columns {
    /// The first one.
    first: usize,
    /// Columns of the whole product.
    total: usize,
}

impl Columns {
    /// The elements of a row of the product that a panel of `width` columns stands for.
    #[inline(always)]
    fn of<'a, E>(&self, c: &'a mut [E], row: usize, width: usize) -> &'a mut [E] {
        &mut c[row * self.total + self.first..][..width.min(self.total - self.first)]
    }
}

fn check<E>(words: &[E], rows: usize, columns: usize) {
    let (wanted, found) = (rows.checked_mul(columns), words.len());
    assert_eq!(wanted, Some(found), "a matrix of {rows} x {columns} has {found} elements");
}

/// Packs a matrix column by column.
fn columns<E: Element>(b: &[E], n: usize) -> Buffer {
    let mut buffer = Buffer::of_words::<E>(b.len());
    let mut places = buffer.words_mut().iter_mut();
    for column in 0..n {
        for (row, place) in b.chunks_exact(n).zip(places.by_ref()) {
            *place = row[column];
        }
    }
    buffer
}

/// Packs a matrix into panels.
fn panels<E: Element>(b: &[E], n: usize) -> Buffer {
    let (width, rows) = (panel_width::<E>(), b.len() / n);
    let padded = n.next_multiple_of(width);
    let size = padded.checked_mul(rows).expect("a packed matrix must fit the address space");
    let mut buffer = Buffer::of_words::<E>(size);
    for (slab, packed) in b.chunks(SLAB * n).zip(buffer.words_mut::<E>().chunks_mut(SLAB * padded)) {
        let depth = slab.len() / n;
        for (panel, packed) in packed.chunks_exact_mut(depth * width).enumerate() {
            let first = panel * width;
            let used = width.min(n - first);
            for (row, place) in slab.chunks_exact(n).zip(packed.chunks_exact_mut(width)) {
                place[..used].copy_from_slice(&row[first..first + used]);
            }
        }
    }
    buffer
}

/// Adds the product of some rows' parts and a panel to the panel's columns of `c`.
fn multiply_panel<E: Element>(a: Left<'_, E>, panel: &[E], c: &mut [E], columns: Columns) {
    #[cfg(target_arch = "x86_64")]
    match cpu::level() {
        // SAFETY: the machine has the instructions of this level.
        Level::Avx512 if E::VECTORS => return unsafe { avx512::multiply_panel(a, panel, c, columns) },
        Level::Avx2 if E::VECTORS && E::BYTES >= 4 => {
            // SAFETY: as above. Narrower words do well by plain loops.
            return unsafe { avx2::multiply_panel(a, panel, c, columns) };
        }
        _ => {}
    }
    match E::BYTES {
        1 => row_by_row::<E, PANEL>(a, panel, c, columns),
        2 => row_by_row::<E, { PANEL / 2 }>(a, panel, c, columns),
        4 => row_by_row::<E, { PANEL / 4 }>(a, panel, c, columns),
        8 => row_by_row::<E, { PANEL / 8 }>(a, panel, c, columns),
        _ => row_by_row::<E, { PANEL / 16 }>(a, panel, c, columns),
    }
}

/// The same by plain loops; a panel has `WIDTH` columns.
fn row_by_row<E: Element, const WIDTH: usize>(a: Left<'_, E>, panel: &[E], c: &mut [E], columns: Columns) {
    cpu::run(
        #[inline(always)]
        || {
            for row in 0..a.words.len() / a.stride {
                let [factors] = a.rows(row);
                let mut sums = [E::ZERO; WIDTH];
                for (&factor, b) in factors.iter().zip(panel.as_chunks::<WIDTH>().0) {
                    for (sum, &x) in sums.iter_mut().zip(b) {
                        *sum = sum.wrapping_add(factor.wrapping_mul(x));
                    }
                }
                for (sum, &x) in columns.of(c, row, WIDTH).iter_mut().zip(&sums) {
                    *sum = sum.wrapping_add(x);
                }
            }
        },
    );
}

/// Adds to every row of `c` the rows of `b`, each times an element of the row of `a`.
fn by_rows<E: Element>(a: &[E], b: &[E], c: &mut [E], k: usize, n: usize) {
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

/// Adds to every element of `c` the dot product of a row of `a` and a column of the right-hand matrix, given
/// column by column.
fn by_columns<E: Element>(a: &[E], columns: &[E], c: &mut [E], k: usize) {
    let n = columns.len() / k;
    cpu::run(
        #[inline(always)]
        || {
            for (a, c) in a.chunks_exact(k).zip(c.chunks_exact_mut(n)) {
                for (sum, column) in c.iter_mut().zip(columns.chunks_exact(k)) {
                    let products = a.iter().zip(column);
                    *sum = products.fold(
                        *sum,
                        #[inline(always)]
                        |sum, (&x, &y)| sum.wrapping_add(x.wrapping_mul(y)),
                    );
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{at, available};
    use crate::field::{Fp61, Fp128};
    use crate::gf128::Gf128;
    use crate::noise::noise;
    use proptest::prelude::*;

    fn naive<E: Element>(a: &[E], b: &[E], c: &[E], [m, k, n]: [usize; 3]) -> Vec<E> {
        let entry = |i: usize, j: usize| {
            let products = (0..k).map(|l| a[i * k + l].wrapping_mul(b[l * n + j]));
            products.fold(c[i * n + j], E::wrapping_add)
        };
        (0..m).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).collect()
    }

    fn agrees<E: Element>(shape: [usize; 3]) {
        let [m, k, n] = shape;
        let [a, b, c] = [m * k, k * n, m * n].map(|count| noise::<E>(count as u64, count + 1));
        let [a, b, c] = [&a[1..], &b[1..], &c[1..]];
        let expected = naive(a, b, c, shape);
        for level in available() {
            let mut product = c.to_vec();
            at(level, || matmul(a, b, &mut product, m, k, n));
            assert_eq!(product, expected, "{shape:?} of {} bytes at {level:?}", E::BYTES);
            let mut product = c.to_vec();
            at(level, || Packed::new(b, k, n).multiply(a, &mut product, m));
            assert_eq!(product, expected, "{shape:?} of {} bytes at {level:?}, packed", E::BYTES);
        }
    }

    fn all_agree(shape: [usize; 3]) {
        agrees::<u8>(shape);
        agrees::<u16>(shape);
        agrees::<u32>(shape);
        agrees::<u64>(shape);
        agrees::<u128>(shape);
        agrees::<Fp61>(shape);
        agrees::<Fp128>(shape);
        agrees::<Gf128>(shape);
    }

    #[test]
    fn edge_shapes_agree_with_the_definition() {
        for shape in [[0, 3, 3], [3, 0, 3], [3, 3, 0], [1, 1, 1], [1, 65, 1], [2, 129, 3]] {
            all_agree(shape);
        }
        if cfg!(miri) {
            return;
        }
        all_agree([5, 129, 3]);
        all_agree([3, 7, 200]);
        all_agree([9, 64, 65]);
        all_agree([ROWS + 1, SLAB + 1, 5]);
        all_agree([15, 2 * SLAB, PANEL + 1]);
        all_agree([WORTH_PACKING - 1, 20, 40]);
        all_agree([WORTH_PACKING, 20, 40]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        #[cfg_attr(miri, ignore = "takes an interpreter hours")]
        fn every_shape_agrees_with_the_definition(m in 0_usize..20, k in 0_usize..150, n in 0_usize..150) {
            all_agree([m, k, n]);
        }
    }

    #[test]
    fn a_packed_matrix_serves_many_blocks_of_rows() {
        let (a, b) = (noise::<u64>(1, 30 * 20), noise::<u64>(2, 20 * 40));
        let packed = Packed::new(&b, 20, 40);
        let mut product = vec![0; 30 * 40];
        for (a, c) in a.chunks(7 * 20).zip(product.chunks_mut(7 * 40)) {
            packed.multiply(a, c, a.len() / 20);
        }
        assert_eq!(product, naive(&a, &b, &[0; 30 * 40], [30, 20, 40]));
        assert_eq!(format!("{packed:?}"), "Packed { k: 20, n: 40, .. }");
    }

    #[test]
    #[should_panic(expected = "a matrix of 2 x 3 has 5 elements")]
    fn a_matrix_of_another_size_is_refused() {
        matmul(&[1_u8; 5], &[1; 3], &mut [0; 2], 2, 3, 1);
    }

    #[test]
    #[should_panic(expected = "a matrix of 2 x 2 has 3 elements")]
    fn a_product_of_another_size_is_refused() {
        Packed::new(&[1_u8; 4], 2, 2).multiply(&[1; 4], &mut [0; 3], 2);
    }
}
