//! MixColumns and its inverse, a column of four bytes at a time.

use crate::arith::xor;
use crate::{Builder, Wire};

use super::super::bytes;
use super::sums::Sums;

/// MixColumns (FIPS 197, section 5.1.3): 92 exclusive ors.
pub(super) fn forward(b: &mut Builder, column: &[Wire]) -> Vec<Wire> {
    COLUMN.run(b, column)
}

/// Its inverse (section 5.3.3), 150 exclusive ors: MixColumns after a product with 4 x^2 + 5, as x^4 = 1 (Daemen,
/// Rijmen, "The Design of Rijndael", 2002).
pub(super) fn inverse(b: &mut Builder, column: &[Wire]) -> Vec<Wire> {
    let (low, high) = column.split_at(16);
    let sum = xor(b, low, high);
    let four_times: Vec<Wire> = bytes(&sum).flat_map(|byte| four_times(b, byte)).collect();
    let mut column = xor(b, low, &four_times);
    column.extend(xor(b, high, &four_times));
    forward(b, &column)
}

/// A byte times x^2, modulo x^8 + x^4 + x^3 + x + 1: 5 exclusive ors.
fn four_times(b: &mut Builder, byte: &[Wire]) -> [Wire; 8] {
    let top = b.xor(byte[6], byte[7]);
    [
        byte[6],
        top,
        b.xor(byte[0], byte[7]),
        b.xor(byte[1], byte[6]),
        b.xor(byte[2], top),
        b.xor(byte[3], byte[7]),
        byte[4],
        byte[5],
    ]
}

/// The program of Maximov, "AES MixColumn with 92 XOR gates" (2019).
const COLUMN: Sums = Sums {
    inputs: 32,
    gates: &[
        0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27, 4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22,
        30, 23, 31, 7, 15, 8, 33, 47, 48, 7, 23, 24, 32, 46, 51, 33, 52, 50, 53, 27, 46, 32, 49, 50, 56, 37,
        55, 38, 58, 11, 47, 39, 60, 36, 61, 2, 18, 50, 63, 41, 60, 40, 55, 10, 34, 37, 67, 26, 35, 36, 69, 9,
        25, 63, 71, 69, 72, 67, 72, 1, 51, 30, 43, 44, 76, 14, 45, 42, 78, 5, 21, 30, 50, 17, 48, 13, 40, 43,
        83, 12, 80, 29, 41, 42, 86, 28, 85, 86, 88, 83, 88, 15, 44, 46, 91, 14, 81, 91, 93, 31, 45, 93, 95,
        47, 95, 44, 80, 79, 98, 71, 75, 53, 100, 38, 62, 64, 102, 34, 82, 54, 104, 39, 59, 64, 106, 22, 98,
        43, 108, 19, 66, 28, 110, 3, 65, 12, 112, 35, 75, 57, 114, 56, 71, 82, 116, 4, 50, 19, 118, 65, 119,
        3, 66, 50, 121, 20, 122,
    ],
    outputs: &[
        49, 117, 68, 62, 113, 84, 79, 92, 57, 115, 73, 103, 120, 89, 99, 96, 52, 101, 70, 59, 111, 87, 77,
        97, 54, 105, 74, 107, 123, 90, 109, 94,
    ],
};
