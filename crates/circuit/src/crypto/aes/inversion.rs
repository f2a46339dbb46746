//! Inversion in GF(2^8), all that is not linear in AES: between the layers of an S-box, as Boyar and Peralta lay it
//! out ("A new combinational logic minimization technique with applications to cryptology", 2010, and "A depth-16
//! circuit for the AES S-box", 2011).
//!
//! In GF((2^4)^2) an element's inverse is its conjugate times the inverse of its norm. The norm and the last
//! products are the same in both papers; the inversion in GF(2^4) between them trades ANDs for depth.

use crate::arith::Style;
use crate::{Builder, Wire};

/// How many sums of a byte's bits the inversion takes: two rows of nine factors, and four terms of the norm.
pub(super) const FORMS: usize = 22;

/// How many products it leaves for the layer that follows.
pub(super) const PRODUCTS: usize = 18;

/// The products from the sums: 32 ANDs at depth 6, or 34 at depth 4.
pub(super) fn invert(b: &mut Builder, style: Style, forms: &[Wire]) -> Vec<Wire> {
    assert_eq!(forms.len(), FORMS, "inversion takes two rows of factors and four terms");
    let (factors, terms) = forms.split_at(PRODUCTS);
    let norm = norm(b, factors, terms);
    let inverse = match style {
        Style::Small => invert_small(b, norm),
        Style::Shallow => invert_shallow(b, norm),
    };
    products(b, factors, inverse)
}

/// The norm in GF(2^4): nine products, each of a factor of the first row and its partner in the second.
fn norm(b: &mut Builder, factors: &[Wire], terms: &[Wire]) -> [Wire; 4] {
    let (first, second) = factors.split_at(PRODUCTS / 2);
    let p: Vec<Wire> = first.iter().zip(second).map(|(&x, &y)| b.and(x, y)).collect();
    let low = b.xor(p[6], p[7]);
    let high = b.xor(p[6], p[8]);
    let mut sum = |wires: [Wire; 4]| wires.into_iter().reduce(|x, y| b.xor(x, y)).expect("four of them");
    [
        sum([p[0], p[1], terms[0], low]),
        sum([p[0], p[2], terms[1], high]),
        sum([p[3], p[4], terms[2], low]),
        sum([p[3], p[5], terms[3], high]),
    ]
}

/// The inverse in GF(2^4) by 5 ANDs, the fewest there can be, at depth 4 (2010).
fn invert_small(b: &mut Builder, [x0, x1, x2, x3]: [Wire; 4]) -> [Wire; 4] {
    let low = b.xor(x0, x1);
    let high = b.xor(x2, x3);
    let p = b.and(x0, x2);
    let x3_p = b.xor(x3, p);
    let x1_p = b.xor(x1, p);
    let q = b.and(low, x3_p);
    let y0 = b.xor(q, x1);
    let r = b.and(x1_p, high);
    let y2 = b.xor(r, x3);
    let s = b.xor(x3_p, y2);
    let t = b.and(x3, s);
    let x2_y2 = b.xor(x2, y2);
    let y3 = b.xor(t, x2_y2);
    let u = b.xor(x3_p, t);
    let v = b.and(y0, u);
    let y1 = b.xor(low, v);
    [y0, y1, y2, y3]
}

/// The inverse in GF(2^4) by 7 ANDs at depth 2 (2011).
fn invert_shallow(b: &mut Builder, [x0, x1, x2, x3]: [Wire; 4]) -> [Wire; 4] {
    let low = b.xor(x0, x1);
    let high = b.xor(x2, x3);
    let p = b.and(x0, x2);
    let x1_p = b.xor(x1, p);
    let x3_p = b.xor(x3, p);
    let q = b.and(x3_p, low);
    let r = b.and(x1_p, high);
    let s = b.and(x0, x3);
    let s = b.and(low, s);
    let t = b.and(x1, x2);
    let t = b.and(high, t);
    let low_p = b.xor(low, p);
    let high_p = b.xor(high, p);
    [b.xor(x1, q), b.xor(s, low_p), b.xor(x3, r), b.xor(t, high_p)]
}

/// The inverse norm times the conjugate: the same nine factors for both rows.
fn products(b: &mut Builder, factors: &[Wire], [y0, y1, y2, y3]: [Wire; 4]) -> Vec<Wire> {
    let y13 = b.xor(y1, y3);
    let y02 = b.xor(y0, y2);
    let y01 = b.xor(y0, y1);
    let y23 = b.xor(y2, y3);
    let all = b.xor(y02, y13);
    let inverse = [y23, y3, y2, y01, y1, y0, y02, all, y13];
    factors.iter().zip(inverse.iter().cycle()).map(|(&x, &y)| b.and(x, y)).collect()
}
