//! Vectors of a domain's elements.

use tacit_engine::{bytes_of, with_element};
use tacit_kernel::{Buffer, bits, ring};
use tacit_program::plan::Domain;

pub use tacit_client::vector::{mul_add, row};

/// Adds a vector to the elements of another from `start` on: a multiple of 512, as pieces of vectors begin.
pub(crate) fn add_at(domain: Domain, start: usize, part: &Buffer, out: &mut Buffer) {
    match domain {
        Domain::Bits => {
            let words = part.words::<u64>();
            bits::xor_assign(&mut out.words_mut::<u64>()[start / 64..][..words.len()], words);
        }
        domain => with_element!(domain, E => {
            let part = part.words::<E>();
            ring::add_assign::<E>(&mut out.words_mut()[start..start + part.len()], part);
        }),
    }
}

/// A copy of some elements, from a whole word on.
pub(crate) fn part_of(domain: Domain, from: &Buffer, start: usize, cols: usize) -> Buffer {
    let mut part = Buffer::new(bytes_of(domain, cols));
    let (start, bytes) = (bytes_of(domain, start), part.len());
    part.bytes_mut().copy_from_slice(&from.bytes()[start..start + bytes]);
    part
}

/// Vectors one after another: of elements, or of bits in whole blocks.
pub(crate) fn joined<'a>(vectors: impl IntoIterator<Item = &'a Buffer> + Clone) -> Buffer {
    let mut all = Buffer::new(vectors.clone().into_iter().map(Buffer::len).sum());
    let mut rest = all.bytes_mut();
    for vector in vectors {
        let (own, after) = rest.split_at_mut(vector.len());
        own.copy_from_slice(vector.bytes());
        rest = after;
    }
    all
}
