//! Two random combinations of each triple's products (MASCOT, protocol 4, Combine).
//!
//! A corrupt party that used another `b` for some bits of an honest one's `a` learns by the triple's passing that it guessed
//! those bits. So `a` has tau elements, and the triple's is `<a, r>` with random `r` that nobody knew before: guessed bits of
//! `a` say nothing of that. With another `r^` the same products give a second triple of the same `b`, for the sacrifice.
//!
//! **Order.** A party commits to the coin that `r` and `r^` come from when it has all messages of Multiply.

use crate::coins::Coins;
use crate::field::FieldElement;
use crate::multiply::{MAX_TAU, Products, tau};
use crate::planted::{Mistake, planted};
use crate::secret::Secret;
use std::ops::Range;

/// Parts of a combined triple: `a`, `b`, `c`, `a^`, `c^`.
pub(crate) const PARTS: usize = 5;

/// Where a part of `count` combined triples is in the list of all.
pub(crate) fn part(part: usize, count: usize) -> Range<usize> {
    part * count..(part + 1) * count
}

/// This party's shares of all `a`, then all `b`, `c`, `a^` and `c^`, of some batches' products.
pub(crate) fn combine<E: FieldElement>(batches: &[Products<E>], coins: &mut Coins) -> Secret<E> {
    let count: usize = batches.iter().map(|products| products.b.len()).sum();
    let mut all = Secret::zeros(PARTS * count);
    let tau = tau(E::FIELD);
    let factors = batches
        .iter()
        .flat_map(|Products { a, b, c }| a.chunks_exact(tau).zip(c.chunks_exact(tau)).zip(b.iter()));
    for (at, ((a, c), b)) in factors.enumerate() {
        all[count + at] = *b;
        let mut weights = [E::ZERO; 2 * MAX_TAU];
        let weights = &mut weights[..2 * tau];
        coins.fill(weights);
        if planted(Mistake::NotCombined) {
            weights.fill(E::ZERO);
            (weights[0], weights[tau + 1]) = (E::ONE, E::ONE);
        }
        let (r, other) = weights.split_at(tau);
        all[at] = inner(a, r);
        all[2 * count + at] = inner(c, r);
        all[3 * count + at] = inner(a, other);
        all[4 * count + at] = inner(c, other);
    }
    all
}

fn inner<E: FieldElement>(x: &[E], y: &[E]) -> E {
    x.iter().zip(y).fold(E::ZERO, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(*y)))
}
