//! What the proofs of shuffles are about: the words of each column before and after a turn ([`crate::verify::Shuffled`]).

use crate::verify::Words;
use std::borrow::Cow;
use tacit_engine::with_element;
use tacit_kernel::{Buffer, Element};
use tacit_program::plan::{Domain, Register};

/// What a party has to keep of a turn until it ends.
#[derive(Default)]
pub(crate) struct Turn {
    /// The order of blocks, if this party knows it.
    pub(crate) order: Option<Vec<u32>>,
    pub(crate) columns: Vec<Column>,
}

/// The same of a column.
pub(crate) struct Column {
    /// `x_i` and `x_(i-1)`, before the turn.
    x: [Vec<u64>; 2],
    /// What this party sends, if it knows the order.
    part: Vec<u64>,
}

impl Column {
    /// Of a column from before the turn.
    pub(crate) fn new(shape: Register, x: [&Buffer; 2]) -> Self {
        Self { x: x.map(|buffer| words_of(shape, buffer)), part: Vec::new() }
    }

    /// With this party's part of the result, if it has one.
    pub(crate) fn with_part(self, shape: Register, part: Option<&Buffer>) -> Self {
        Self { part: part.map(|part| words_of(shape, part)).unwrap_or_default(), ..self }
    }
}

/// The words of a column, with what this party holds of it after the turn: what verifiers have beside `x` stands where products have
/// `z` and the masks. `part` is the party's number less the turn's.
pub(crate) fn words(
    part: usize,
    order: &[u32],
    shape: Register,
    column: Column,
    after: [&Buffer; 2],
) -> Words<'static> {
    let Column { x, part: sent } = column;
    let [own, prev] = after.map(|buffer| words_of(shape, buffer));
    // Parts that are to be in the order, without what this party adds to the result.
    let less = |sum: &[u64], part: &[u64]| -> Vec<u64> {
        sum.iter().zip(part).map(|(sum, part)| sum.wrapping_sub(*part)).collect()
    };
    let moved = |x: &[u64]| -> Vec<u64> { order.iter().map(|&place| x[place as usize]).collect() };
    let none = || vec![0; own.len()];
    let (z, masks) = match part {
        // P_t sent a, received b, and has r. What P_(t-1) sent is nothing.
        0 => ([less(&sent, &moved(&x[0])), none()], [less(&own, &sent), prev]),
        // P_(t+1) sent b, received a, and has s.
        1 => ([own, less(&less(&prev, &sent), &moved(&x[1]))], [vec![0; prev.len()], sent]),
        // P_(t-1) has r and s.
        _ => ([none(), prev], [own.clone(), vec![0; own.len()]]),
    };
    let [x, z, masks] = [x, z, masks].map(|of| of.map(Cow::Owned));
    Words { x, y: Default::default(), z, masks }
}

/// An order of blocks as one of their elements.
pub(crate) fn of_elements(order: &[u32], length: usize) -> Vec<u32> {
    if length == 1 {
        return order.to_vec();
    }
    let length = length as u32;
    order.iter().flat_map(|&block| block * length..(block + 1) * length).collect()
}

/// Elements of a vector, as words.
fn words_of(shape: Register, buffer: &Buffer) -> Vec<u64> {
    match shape.domain {
        Domain::Bits => {
            let words = buffer.words::<u64>();
            (0..shape.cols).map(|at| words[at / 64] >> (at % 64) & 1).collect()
        }
        domain => with_element!(domain, E => {
            buffer.words::<E>()[..shape.cols].iter().map(|element| element.to_u128() as u64).collect()
        }),
    }
}
