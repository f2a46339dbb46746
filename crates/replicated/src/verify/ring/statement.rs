//! The statement of a proof of products, as polynomials and as vectors over F_p.
//!
//! Each output of an operation has an integer `D = sum of l r - e - f`, which is 0 modulo 2^64 if the output is right. The
//! bits `alpha_m` of its row and `beta_n` of its column are polynomials with coefficients 0 and 1, and
//! `T(X) = sum of alpha_m(X) beta_n(X) D_mn` is a polynomial over the integers, of degree 126.

use super::super::counts::Counts;
use super::shuffled::{Column, Known, Shuffled};
use std::ops::Range;
use tacit_kernel::matrix::matmul;
use tacit_kernel::projection::{SUMS, add_picked, add_picked_short, add_product};
use tacit_program::plan::Components;
use tacit_threeparty::{PARTIES, prev};

/// Coefficients of `T`.
pub(crate) const COEFFICIENTS: usize = 2 * SUMS - 1;

/// Columns of an operation whose outputs have no grid of their own.
const COLUMNS: usize = 1024;

/// Outputs of a product of matrices up to which the prover computes every integer: of more, only what their bits pick.
const FEW: usize = 1024;

/// The outputs of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outputs {
    /// So many scalar products of `inner` terms each, one after another: in rows of [`COLUMNS`].
    Each { count: usize, inner: usize },
    /// A product of a matrix of m x k and one of k x n.
    Matrix { m: usize, k: usize, n: usize },
    /// So many elements of a column after a turn of a shuffle ([`super::shuffled`]), in rows of [`COLUMNS`].
    Shuffled { count: usize },
}

/// An operation in Z_2^d.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) outputs: Outputs,
    /// `64 - d`.
    pub(crate) shift: u32,
    /// The components of both operands that aren't zero by the plan alone; of matrices all.
    pub(crate) has: [Components; 2],
}

/// An operation's bits.
#[derive(Clone, Debug)]
pub(crate) struct Picked {
    pub(crate) rows: Vec<u64>,
    pub(crate) columns: Vec<u64>,
}

impl Operation {
    /// Rows and columns of its outputs.
    pub(crate) fn grid(&self) -> (usize, usize) {
        match self.outputs {
            Outputs::Each { count, .. } | Outputs::Shuffled { count } => {
                (count.div_ceil(COLUMNS), count.min(COLUMNS))
            }
            Outputs::Matrix { m, n, .. } => (m, n),
        }
    }

    /// Outputs.
    pub(crate) fn count(&self) -> usize {
        match self.outputs {
            Outputs::Each { count, .. } | Outputs::Shuffled { count } => count,
            Outputs::Matrix { m, n, .. } => m * n,
        }
    }

    /// Whether all outputs have their terms in common.
    pub(crate) fn is_matrix(&self) -> bool {
        matches!(self.outputs, Outputs::Matrix { .. })
    }

    /// Whether this party sends anything, and so has anything to prove.
    pub(crate) fn is_proved_by(&self, prover: usize) -> bool {
        let [x, y] = self.has;
        x.parts(y).has(prover)
    }

    /// Whether this party's part has a term `x_i y_(i-1)`, and one `y_i x_(i-1)`, which the verifiers multiply.
    pub(crate) fn terms(&self, prover: usize) -> [bool; 2] {
        let ([x, y], before) = (self.has, prev(prover));
        [x.has(prover) && y.has(before), y.has(prover) && x.has(before)]
    }

    /// Elements of both operands.
    pub(crate) fn operands(&self) -> [usize; 2] {
        match self.outputs {
            Outputs::Each { count, inner } => [count * inner; 2],
            Outputs::Matrix { m, k, n } => [m * k, k * n],
            Outputs::Shuffled { count } => [count, 0],
        }
    }

    /// Elements that it has in this party's vectors over F_p.
    pub(crate) fn length(&self, prover: usize) -> usize {
        let terms = self.terms(prover).map(usize::from).iter().sum::<usize>();
        match self.outputs {
            Outputs::Each { count, inner } => terms * count * inner,
            Outputs::Matrix { k, .. } => terms * k,
            Outputs::Shuffled { count } => count,
        }
    }

    /// How much there is to prove, by all three.
    pub(crate) fn counts(&self) -> Counts {
        let elements = (0..PARTIES).map(|prover| self.length(prover) as u64).sum();
        Counts { words: 0, elements, outputs: self.count() as u64 }
    }

    /// By how many times 2^128 its integers can differ from 0, all together: what the quotients' format is made for.
    pub(crate) fn size(&self) -> u64 {
        match self.outputs {
            Outputs::Each { count, inner } => count as u64 * (3 * inner as u64 + 3),
            Outputs::Matrix { m, k, n } => (m * n) as u64 * (3 * k as u64 + 3),
            Outputs::Shuffled { count } => 3 * count as u64,
        }
    }
}

/// A batch's words as one party of a proof has them: those of the prover and the left verifier, or those of the prover and
/// the right one, operation after operation. Of components that are zero by the plan there are none. Words of Z_2^d are
/// below 2^d.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    /// The `i` of the proof's party.
    pub(crate) prover: usize,
    /// Of prover and left verifier.
    pub(crate) left: bool,
    /// All of the batch, also those of which the prover has nothing to prove.
    pub(crate) operations: &'a [Operation],
    /// `x_i` on the left, `x_(i-1)` on the right.
    pub(crate) x: &'a [u64],
    /// `y_i`, or `y_(i-1)`.
    pub(crate) y: &'a [u64],
    /// `z_i - x_i y_i - rho_i` on the left, but of matrices `z_i - rho_i`; `rho_(i-1)` on the right. Only of what is proved.
    pub(crate) e: &'a [u64],
    /// Of each column that was shuffled, what this party knows of its turn.
    pub(crate) shuffles: &'a [Shuffled],
    /// The prover's number less this party's, modulo 3.
    pub(crate) ahead: usize,
}

/// The words of one operation that is proved.
pub(super) struct Part<'a> {
    pub(super) operation: Operation,
    terms: [bool; 2],
    pub(super) x: &'a [u64],
    pub(super) y: &'a [u64],
    pub(super) e: &'a [u64],
    /// Of a column that was shuffled.
    pub(super) known: Option<Known<'a>>,
}

impl<'a> Side<'a> {
    /// The operations that are proved, in their order.
    pub(crate) fn proved(self) -> impl Iterator<Item = Operation> {
        self.operations.iter().copied().filter(move |operation| operation.is_proved_by(self.prover))
    }

    pub(super) fn parts(self) -> impl Iterator<Item = Part<'a>> {
        let Side { prover, left, operations, mut x, mut y, mut e, shuffles, ahead } = self;
        let component = if left { prover } else { prev(prover) };
        let mut shuffles = shuffles.iter();
        operations.iter().filter_map(move |&operation| {
            let take = |from: &mut &'a [u64], count: usize| {
                let (taken, rest) = from.split_at(count);
                *from = rest;
                taken
            };
            let [xs, ys] = operation.operands();
            let x = take(&mut x, if operation.has[0].has(component) { xs } else { 0 });
            let y = take(&mut y, if operation.has[1].has(component) { ys } else { 0 });
            let known = match operation.outputs {
                Outputs::Shuffled { .. } => shuffles.next().map(|shuffled| shuffled.known(ahead)),
                Outputs::Each { .. } | Outputs::Matrix { .. } => None,
            };
            operation.is_proved_by(prover).then(|| {
                let e = take(&mut e, operation.count());
                Part { operation, terms: operation.terms(prover), x, y, e, known }
            })
        })
    }
}

/// The length of the vectors of a batch's proofs: of those of the party that has most, and at least 1.
pub(crate) fn longest(operations: &[Operation]) -> usize {
    let of = |prover| operations.iter().map(|operation| operation.length(prover)).sum();
    (0..PARTIES).map(of).fold(1, usize::max)
}

impl<'a> Part<'a> {
    fn column(&self) -> Column<'a> {
        Column { shift: self.operation.shift, x: self.x, e: self.e }
    }

    /// The words of its terms, in their order: `x_i` meets `y_(i-1)`, and `y_i` meets `x_(i-1)`.
    pub(super) fn terms_of(&self, left: bool) -> impl Iterator<Item = &'a [u64]> {
        let words = if left { [self.x, self.y] } else { [self.y, self.x] };
        words.into_iter().zip(self.terms).filter_map(|(words, is_term)| is_term.then_some(words))
    }
}

/// `T / 2^64`, rounded down, which an honest prover's is without a rest: its coefficients are below 2^110.
pub(crate) fn quotients(left: Side<'_>, right: Side<'_>, bits: &[Picked]) -> [i128; COEFFICIENTS] {
    let mut sums = [0; COEFFICIENTS];
    for ((left, right), picked) in left.parts().zip(right.parts()).zip(bits) {
        match left.operation.outputs {
            Outputs::Matrix { m, k, n } if m * n > FEW => {
                let of_matrix = quotients_of_matrix(&left, &right, [k, n], picked);
                sums.iter_mut().zip(of_matrix).for_each(|(sum, quotient)| *sum += quotient);
            }
            _ => {
                let (count, stride) = (left.operation.count(), picked.columns.len());
                // Each product adds less than 2^64 to a quotient, and the rest of all at most 1: of two it is short.
                let terms = left.terms.iter().filter(|is_term| **is_term).count();
                let is_short =
                    matches!(left.operation.outputs, Outputs::Each { inner, .. } if inner * terms <= 2);
                let add = if is_short { add_picked_short } else { add_picked };
                for (at, &row) in picked.rows.iter().enumerate() {
                    let outputs = at * stride..count.min((at + 1) * stride);
                    let numbers = match (left.operation.outputs, &left.known) {
                        (Outputs::Each { inner, .. }, _) => quotients_of_each(&left, &right, inner, outputs),
                        (Outputs::Matrix { k, n, .. }, _) => quotients_of_row(&left, &right, [k, n], at),
                        (_, Some(known)) => known.quotients(left.column(), right.column(), outputs),
                        (_, None) => vec![0; outputs.len()],
                    };
                    let mut projected = [0; SUMS];
                    add(&picked.columns[..numbers.len()], &numbers, &mut projected);
                    add_product(row, &projected, &mut sums);
                }
            }
        }
    }
    sums
}

/// `D / 2^64` of each of these outputs.
fn quotients_of_each(left: &Part<'_>, right: &Part<'_>, inner: usize, outputs: Range<usize>) -> Vec<i128> {
    let (shift, [is_first, is_second]) = (left.operation.shift, left.terms);
    if let (1, [true, true]) = (inner, left.terms) {
        let [lx, ly, le] = [left.x, left.y, left.e].map(|words| &words[outputs.clone()]);
        let [rx, ry, re] = [right.x, right.y, right.e].map(|words| &words[outputs.clone()]);
        let terms = lx.iter().zip(ry).zip(ly.iter().zip(rx)).zip(le.iter().zip(re));
        return terms
            .map(|(((&a, &b), (&c, &d)), (&e, &f))| {
                let [first, second] = [(a, b), (c, d)].map(|(l, r)| u128::from(l << shift) * u128::from(r));
                let low = i128::from(first as u64) + i128::from(second as u64);
                let high = (first >> 64) as i128 + (second >> 64) as i128;
                high + ((low - i128::from(e << shift) - i128::from(f << shift)) >> 64)
            })
            .collect();
    }
    let of = |output: usize| {
        let (mut low, mut high) = (0_i128, 0_i128);
        let mut add = |l: u64, r: u64| {
            let product = u128::from(l << shift) * u128::from(r);
            low += i128::from(product as u64);
            high += (product >> 64) as i128;
        };
        for at in output * inner..(output + 1) * inner {
            if is_first {
                add(left.x[at], right.y[at]);
            }
            if is_second {
                add(left.y[at], right.x[at]);
            }
        }
        high + ((low - i128::from(left.e[output] << shift) - i128::from(right.e[output] << shift)) >> 64)
    };
    outputs.map(of).collect()
}

/// `D / 2^64` of each output of a row of a product of matrices.
fn quotients_of_row(left: &Part<'_>, right: &Part<'_>, [k, n]: [usize; 2], row: usize) -> Vec<i128> {
    let shift = left.operation.shift;
    let (mut low, mut high) = (vec![0_i128; n], vec![0_i128; n]);
    let mut add = |x: &[u64], y: &[u64], shifts: [u32; 2]| {
        for (x, y) in x[row * k..][..k].iter().zip(y.chunks(n)) {
            for ((low, high), y) in low.iter_mut().zip(&mut high).zip(y) {
                let product = u128::from(x << shifts[0]) * u128::from(y << shifts[1]);
                *low += i128::from(product as u64);
                *high += (product >> 64) as i128;
            }
        }
    };
    // A_i (B_i + B_(i-1)) + A_(i-1) B_i, in which the prover's own component is shifted.
    add(left.x, left.y, [shift, 0]);
    add(left.x, right.y, [shift, 0]);
    add(right.x, left.y, [0, shift]);
    let quotient = |(output, (low, high)): (usize, (i128, i128))| {
        let [e, f] = [left.e, right.e].map(|of| i128::from(of[row * n + output] << shift));
        high + ((low - e - f) >> 64)
    };
    low.into_iter().zip(high).enumerate().map(quotient).collect()
}

/// Bits of a limb: the products of as many pairs of limbs as [`DEPTH`] don't leave a word together.
const LIMB: usize = 26;
const DEPTH: usize = 1 << (64 - 2 * LIMB);

/// `T / 2^64` of a product of matrices, by `sum over k of (alpha A)_k (B beta)_k`: of sums that bits pick, in limbs, so that
/// a polynomial product is one of matrices of words.
fn quotients_of_matrix(
    left: &Part<'_>,
    right: &Part<'_>,
    [k, n]: [usize; 2],
    picked: &Picked,
) -> [i128; COEFFICIENTS] {
    let shift = left.operation.shift;
    let m = picked.rows.len();
    // alpha A_i and alpha A_(i-1); B_i beta and B_(i-1) beta.
    let rows_of = |words: &[u64], at: usize| {
        let column: Vec<i128> = (0..m).map(|row| i128::from(words[row * k + at])).collect();
        let mut sums = [0; SUMS];
        add_picked_short(&picked.rows, &column, &mut sums);
        sums
    };
    let columns_of = |words: &[u64], at: usize| {
        let row: Vec<i128> = words[at * n..(at + 1) * n].iter().map(|&word| i128::from(word)).collect();
        let mut sums = [0; SUMS];
        add_picked_short(&picked.columns, &row, &mut sums);
        sums
    };
    let most = 64 + usize::BITS as usize - m.max(2 * n).leading_zeros() as usize;
    let limbs = most.div_ceil(LIMB);
    // Of every sum of limbs' numbers, so many times 2^26, and every degree.
    let mut sums = vec![[0_i128; COEFFICIENTS]; 2 * limbs - 1];
    for first in (0..k).step_by(DEPTH / 2) {
        let depth = (k - first).min(DEPTH / 2);
        // A_i (B_(i-1) + B_i) + A_(i-1) B_i: two products, one after the other.
        let mut a = vec![vec![0_u64; SUMS * 2 * depth]; limbs];
        let mut b = vec![vec![0_u64; 2 * depth * SUMS]; limbs];
        for at in 0..depth {
            let (own, before) = (rows_of(left.x, first + at), rows_of(right.x, first + at));
            let (own_y, before_y) = (columns_of(left.y, first + at), columns_of(right.y, first + at));
            for degree in 0..SUMS {
                // The prover's own component is shifted.
                let pairs = [
                    (own[degree] << shift, own_y[degree] + before_y[degree]),
                    (before[degree], own_y[degree] << shift),
                ];
                for (half, (a_sum, b_sum)) in pairs.into_iter().enumerate() {
                    for limb in 0..limbs {
                        let of = |sum: i128| (sum >> (LIMB * limb)) as u64 % (1 << LIMB);
                        a[limb][degree * 2 * depth + half * depth + at] = of(a_sum);
                        b[limb][(half * depth + at) * SUMS + degree] = of(b_sum);
                    }
                }
            }
        }
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate() {
                let mut product = vec![0_u64; SUMS * SUMS];
                matmul(a, b, &mut product, SUMS, 2 * depth, SUMS);
                for (at, &entry) in product.iter().enumerate() {
                    sums[i + j][at / SUMS + at % SUMS] += i128::from(entry);
                }
            }
        }
    }
    // Less alpha (e + f) beta.
    let mut rest = [0; COEFFICIENTS];
    for (row, &word) in picked.rows.iter().enumerate() {
        let entries = row * n..(row + 1) * n;
        let numbers = left.e[entries.clone()].iter().zip(&right.e[entries]);
        let numbers: Vec<i128> =
            numbers.map(|(e, f)| i128::from(e << shift) + i128::from(f << shift)).collect();
        let mut projected = [0; SUMS];
        add_picked_short(&picked.columns, &numbers, &mut projected);
        add_product(word, &projected, &mut rest);
    }
    std::array::from_fn(|degree| {
        // The low 64 bits are zero: limb by limb what is above them is carried on.
        let (mut carried, mut quotient, mut bits) = (-rest[degree], 0_i128, 0);
        for (place, sums) in sums.iter().enumerate() {
            if bits < 64 {
                carried += sums[degree];
                let step = LIMB.min(64 - bits);
                carried >>= step;
                bits += step;
                if bits == 64 {
                    // From here on the place of a limb is above 2^64.
                    quotient += carried;
                }
            } else {
                quotient += sums[degree] << (LIMB * place - 64);
            }
        }
        quotient
    })
}
