//! The S-box and its inverse (FIPS 197, sections 5.1.1 and 5.3.2): a linear layer, inversion, a linear layer.
//!
//! The forward layers are those of Boyar and Peralta (2010) as shortened by Calik to 23 and 28 gates. The inverse's
//! are other maps around the same inversion: with the forward layers F and B, and the affine map x -> A x + 63, they
//! are F A^-1 and A^-1 B. Their programs of 23 and 30 gates were found by Boyar and Peralta's heuristic with ties
//! broken at random, and are shorter than the published ones.

use crate::arith::Style;
use crate::{Builder, Wire};

use super::inversion::{PRODUCTS, invert};
use super::sums::Sums;

/// The S-box of a byte: 81 exclusive ors, 32 ANDs and 4 complements; or 80, 34 and 4.
pub(super) fn forward(b: &mut Builder, style: Style, byte: &[Wire]) -> Vec<Wire> {
    let forms = FORWARD_IN.run(b, byte);
    let products = invert(b, style, &forms);
    let byte = FORWARD_OUT.run(b, &products);
    add_constant(b, &byte)
}

/// The inverse S-box of a byte: 83 exclusive ors, 32 ANDs and 4 complements; or 82, 34 and 4.
pub(super) fn inverse(b: &mut Builder, style: Style, byte: &[Wire]) -> Vec<Wire> {
    let byte = add_constant(b, byte);
    let forms = INVERSE_IN.run(b, &byte);
    let products = invert(b, style, &forms);
    INVERSE_OUT.run(b, &products)
}

/// A byte plus the constant of the affine map.
fn add_constant(b: &mut Builder, byte: &[Wire]) -> Vec<Wire> {
    let bit = |place: usize| 0x63 >> place & 1 == 1;
    byte.iter().enumerate().map(|(place, &wire)| if bit(place) { b.not(wire) } else { wire }).collect()
}

const FORWARD_IN: Sums = Sums {
    inputs: 8,
    gates: &[
        4, 2, 7, 1, 7, 4, 7, 2, 6, 5, 12, 0, 13, 4, 9, 8, 13, 7, 13, 1, 17, 11, 3, 15, 19, 2, 19, 6, 20, 0,
        20, 12, 21, 10, 0, 24, 23, 24, 23, 11, 12, 24, 9, 28, 7, 28,
    ],
    outputs: &[20, 22, 0, 28, 13, 25, 24, 26, 23, 15, 18, 14, 9, 17, 16, 10, 8, 11, 21, 27, 29, 30],
};

const FORWARD_OUT: Sums = Sums {
    inputs: PRODUCTS,
    gates: &[
        15, 16, 10, 18, 9, 19, 0, 2, 1, 0, 3, 4, 12, 21, 7, 23, 8, 24, 25, 26, 23, 22, 3, 5, 13, 18, 21, 29,
        20, 28, 6, 25, 14, 27, 30, 31, 12, 35, 15, 33, 19, 11, 20, 33, 27, 35, 31, 32, 32, 33, 34, 37, 43,
        17, 38, 34,
    ],
    outputs: &[36, 40, 45, 41, 32, 44, 42, 39],
};

const INVERSE_IN: Sums = Sums {
    inputs: 8,
    gates: &[
        0, 3, 3, 4, 0, 9, 1, 10, 5, 9, 4, 6, 11, 13, 9, 14, 5, 15, 10, 16, 1, 16, 4, 7, 6, 7, 15, 19, 8, 20,
        4, 20, 3, 23, 2, 7, 5, 25, 23, 26, 17, 27, 14, 25, 9, 29,
    ],
    outputs: &[27, 23, 26, 17, 10, 16, 30, 28, 22, 21, 19, 15, 11, 13, 14, 9, 24, 20, 29, 8, 18, 12],
};

const INVERSE_OUT: Sums = Sums {
    inputs: PRODUCTS,
    gates: &[
        6, 15, 12, 18, 13, 19, 16, 20, 8, 21, 3, 22, 5, 23, 4, 23, 1, 25, 2, 10, 0, 22, 2, 28, 7, 25, 8, 30,
        24, 28, 26, 32, 11, 17, 26, 27, 14, 35, 11, 13, 36, 37, 9, 34, 15, 39, 18, 38, 39, 41, 21, 42, 31,
        34, 16, 32, 27, 44, 45, 46,
    ],
    outputs: &[40, 31, 33, 47, 29, 38, 43, 24],
};
