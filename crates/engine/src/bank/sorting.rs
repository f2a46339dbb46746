//! Steps of sorts, on public registers ([`tacit_program::insertion`]).

use super::Bank;
use crate::Error;
use tacit_program::insertion::{self, NoRoom};
use tacit_program::plan::{Insertion, Reg};

impl Bank {
    /// A step of a sort.
    ///
    /// # Errors
    /// [`Error::Chance`] if more rows than there is room for have to be compared with one another.
    pub(super) fn insertion(&mut self, step: &Insertion) -> Result<(), Error> {
        let dst = step.writes();
        let mut out = self.take(dst);
        let done = match step {
            Insertion::Numbers { block, words, at, .. } => {
                let cols = self.shape(dst).cols;
                number(out.words_mut(), cols, *block, *words, *at);
                Ok(())
            }
            Insertion::Places { rows, above, .. } => {
                let cols = self.shape(dst).cols;
                insertion::places(*rows, *above, &mut out.words_mut()[..cols]);
                Ok(())
            }
            Insertion::Descend { gaps, right, by, .. } => {
                insertion::descend(self.numbers(*gaps), self.get(*right).words(), *by, out.words_mut());
                Ok(())
            }
            Insertion::Pairs { gaps, count, first, .. } => {
                insertion::pairs(self.numbers(*gaps), *count as usize, *first, out.words_mut())
            }
            Insertion::Order { ranks, .. } => {
                insertion::order(self.numbers(*ranks), out.words_mut());
                Ok(())
            }
            Insertion::Merge { sorted, gaps, less, .. } => {
                let sorted = sorted.map_or(&[][..], |sorted| self.numbers(sorted));
                insertion::merge(sorted, self.numbers(*gaps), self.get(*less).words(), out.words_mut())
            }
        };
        self.put(dst, out);
        done.map_err(|NoRoom| {
            let reason = "a sort has to compare more rows with one another than it has room for, which happens with a \
                          probability below 2^-40 in each phase, whatever is sorted: run again";
            Error::Chance(reason.to_owned())
        })
    }

    fn numbers(&self, reg: Reg) -> &[u32] {
        self.get(reg).words()
    }
}

/// In each word of `block` bits the number of its group of so many words, from bit `at` on.
fn number(out: &mut [u64], cols: usize, block: usize, words: usize, at: u32) {
    out.fill(0);
    for word in 0..cols / block {
        let (number, start) = ((word / words) as u64, word * block + at as usize);
        let (place, shift) = (start / 64, start % 64);
        out[place] |= number << shift;
        // A number has 32 bits at most, which may go on in the next word.
        if shift > 32 {
            let rest = number >> (64 - shift);
            if rest > 0 {
                out[place + 1] |= rest;
            }
        }
    }
}
