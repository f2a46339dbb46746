//! Arithmetic on words: slices of wires, the least significant bit first, of any width.
//!
//! Words that meet in an operation have the same width, and a mismatch is a panic: it is a mistake of the program
//! that builds the circuit, never of data. Constants among the wires are folded, so that adding a constant costs
//! what it must and no more.
//!
//! For words of n bits, with k = ceil(log2 n) and l = ceil(log2(n - 1)), where both styles exist:
//!
//! | operation | ANDs, small | depth | ANDs, shallow at n = 8, 32, 64 | depth |
//! | --- | --- | --- | --- | --- |
//! | [`add`], [`add_modulo`], [`subtract`] | n - 1 | n - 1 | 19, 139, 325 | l + 1 |
//! | [`add_with_carry`] | n | n | 25, 149, 337 | k + 1 |
//! | [`negate`] | n - 2 | n - 2 | 9, 69, 162 | l |
//! | [`less`], [`less_signed`] | n | n | 19, 89, 184 | k + 1 |
//! | [`equal`] | n - 1 | k | the same | |
//! | [`select`] | n | 1 | the same | |
//!
//! The counts of [`multiply`], [`multiply_wide`], [`divide`], [`sum`] and [`popcount`] stand with them. Shifts and
//! rotations cost nothing. [`circuits`] has every operation as a whole circuit.

mod add;
mod carry;
pub mod circuits;
mod compare;
mod divide;
mod multiply;
mod sum;
#[cfg(test)]
mod tests;
mod word;

pub use add::{add, add_modulo, add_with_carry, negate, subtract};
pub use compare::{all, equal, less, less_signed};
pub use divide::divide;
pub use multiply::{multiply, multiply_wide};
pub use sum::{carry_save, popcount, sum};
pub use word::{
    and, constant, not, rotate_left, rotate_right, select, shift_left, shift_right, shift_right_signed, xor,
};

/// What a circuit is made for, where the two can't be had together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// Few ANDs: the less to send.
    Small,
    /// Little depth: the fewer rounds.
    Shallow,
}
