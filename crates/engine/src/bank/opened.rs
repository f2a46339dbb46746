//! Steps on public registers, which openings fill: values from others, of which anything may be expected.

use super::Bank;
use crate::{Error, with_element};
use tacit_kernel::Element;
use tacit_program::plan::{Domain, Reg};

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

    /// The elements at public places.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is no such place.
    pub(super) fn gather(&mut self, a: Reg, index: Reg, dst: Reg) -> Result<(), Error> {
        let (from, cols) = (self.shape(a).cols, self.shape(dst).cols);
        let places: Vec<usize> = with_element!(self.domain(index), E => {
            let places = self.get(index).words::<E>().iter().map(|place| place.to_u128());
            places.take(cols).map(|place| usize::try_from(place).unwrap_or(usize::MAX)).collect()
        });
        if places.iter().any(|&place| place >= from) {
            // All endpoints are told this, and not all of them may know the place.
            return Err(Error::Refused(format!(
                "a public place is outside of a register of {from} elements"
            )));
        }
        let mut out = self.take(dst);
        match self.domain(dst) {
            Domain::Bits => {
                let (source, out) = (self.get(a).words::<u64>(), out.words_mut::<u64>());
                out.fill(0);
                for (at, &place) in places.iter().enumerate() {
                    out[at / 64] |= (source[place / 64] >> (place % 64) & 1) << (at % 64);
                }
            }
            domain => with_element!(domain, E => {
                let source = self.get(a).words::<E>();
                for (out, &place) in out.words_mut::<E>().iter_mut().zip(&places) {
                    *out = source[place];
                }
            }),
        }
        self.put(dst, out);
        Ok(())
    }
}
