//! Steps on public registers, which openings fill: values from others, of which anything may be expected.

use super::Bank;
use crate::{Error, vector, with_element};
use tacit_kernel::Element;
use tacit_program::plan::{Domain, Reg, Width};

impl Bank {
    /// The low bits of public numbers, position by position.
    pub(super) fn public_bits(&mut self, a: Reg, count: u8, dst: Reg) {
        let cols = self.shape(a).cols;
        let mut out = self.take(dst);
        with_element!(self.domain(a), E => {
            let numbers: Vec<u128> = self.get(a).words::<E>().iter().map(|number| number.to_u128()).collect();
            let bits = (0..count).flat_map(|bit| numbers.iter().map(move |number| number >> bit & 1));
            match self.domain(dst) {
                Domain::Bits => {
                    let words = out.words_mut::<u64>();
                    words.fill(0);
                    bits.enumerate().for_each(|(at, bit)| words[at / 64] |= (bit as u64) << (at % 64));
                }
                domain => with_element!(domain, F => {
                    for (out, bit) in out.words_mut::<F>()[..usize::from(count) * cols].iter_mut().zip(bits) {
                        *out = F::from_u128(bit);
                    }
                }),
            }
        });
        self.put(dst, out);
    }

    /// The blocks at public places.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is no such place.
    pub(super) fn gather(&mut self, a: Reg, index: Reg, block: usize, dst: Reg) -> Result<(), Error> {
        let (shape, count) = (self.shape(a), self.shape(dst).cols / block);
        let mut out = self.take(dst);
        let are_there = match self.domain(index) {
            Domain::Ring(Width::W32) => {
                let places = &self.get(index).words::<u32>()[..count];
                vector::gather(shape, self.get(a), places, block, &mut out)
            }
            domain => with_element!(domain, E => {
                let places = self.get(index).words::<E>().iter().take(count);
                let places: Vec<u32> =
                    places.map(|place| u32::try_from(place.to_u128()).unwrap_or(u32::MAX)).collect();
                vector::gather(shape, self.get(a), &places, block, &mut out)
            }),
        };
        self.put(dst, out);
        if !are_there {
            // All endpoints are told this, and not all of them may know the place.
            let blocks = shape.cols / block;
            return Err(Error::Refused(format!(
                "a public place is outside of a register of {blocks} blocks"
            )));
        }
        Ok(())
    }
}
