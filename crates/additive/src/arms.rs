//! Arms of branches that draw the same triples, each under masks of its own (Heath, Kolesnikov, Peceny 2021, figure 4).
//!
//! **Masks.** For each branch the supply gives a random bit `s` that nobody knows, and two masks, of which number `s` is a sharing
//! of zeros and the other one of random bits ([`SupplyKind::Masks`]). All open `s ^ t` for the condition `t`. Then arm `j` adds
//! mask `j ^ s ^ t` to both factors of its triples, not to their products: for the arm that is taken this changes nothing, and
//! the other one's factors are random ones, so that what it opens tells nothing, and its products are wrong.
//!
//! **Shared places alone** are masked: those of triples that both arms draw. A branch without any takes no masks.
//!
//! **Inside one another** masks add up. Of arms that exclude one another each has factors that are independent of all others':
//! where their paths part all but one have a mask of that branch that the others haven't.
//!
//! **Once.** Masks serve one branch, in a body that is repeated one turn of it, and `s` is drawn and noted as used before `s ^ t` is sent: a second `t` under one `s` would show
//! `t ^ t'`.
//!
//! **Seeds.** Where all parties' masks can be expanded from a few seeds of 128 bits, these are what the supply gives
//! ([`Preprocessing::mask_seeds`](crate::Preprocessing::mask_seeds)). Each is expanded by the triple's place.

use crate::arm_masks::ArmMasks;
use crate::demand::{BITS, masks};
use crate::planted::{Mistake, planted};
use crate::share::Share;
use crate::state::Party;
use std::ops::Range;
use tacit_engine::Error;
use tacit_engine::supply::Drawer;
use tacit_kernel::bits;
use tacit_program::plan::Reg;

impl Party {
    /// Draws the masks of a branch, and the bit that says which is which. No message. `false` if that isn't what the operation
    /// draws.
    pub(crate) fn draw_arm_masks(&mut self, op: u32, dst: Reg) -> Result<bool, Error> {
        let Some(triples) = self.intervals.get(&op).cloned() else { return Ok(false) };
        let seeds = self.manner.preprocessing.mask_seeds(self.session.parties());
        let masks = masks(triples.end - triples.start, seeds)?;
        let drawn = self.drawn(Drawer::Op(op), masks, 0..1)?;
        let Ok([mut bit, zero, one]) = <[Share; 3]>::try_from(drawn.shares) else {
            return Err(Error::Supply("a branch has two masks and a bit".to_owned()));
        };
        bit.value.words_mut::<u64>()[0] &= 1;
        let mut own = ArmMasks { triples, seeds, bit, masks: [zero, one] };
        if planted(Mistake::ArmMasksReused)
            && let Some(before) = self.arm_masks.values().next()
        {
            own = before.clone();
        }
        self.put_part(dst, &(0..1), &own.bit);
        self.arm_masks.insert(op, own);
        Ok(true)
    }

    /// Adds the masks of all arms that an operation stands in to the factors of its triples; those of branches that share some.
    pub(crate) fn mask_arms(
        &self,
        op: u32,
        items: &Range<u64>,
        triple: &mut [Share; 3],
    ) -> Result<(), Error> {
        // Most plans have no branches, and this is asked for each draw.
        if self.intervals.is_empty() || planted(Mistake::ArmsUnmasked) {
            return Ok(());
        }
        let region = self.plan.op(op).region;
        if region == 0 {
            return Ok(());
        }
        let own = self.demand.range(Drawer::Op(op), BITS).ok_or_else(missing)?;
        let places = own.start + items.start..own.start + items.end;
        // Those of this turn, in a section.
        let shift = self.plan.shift(op);
        for (region, swap) in self.plan.masked_around(region) {
            let drawn_by = swap.op + shift;
            if !self.intervals.contains_key(&drawn_by) {
                continue;
            }
            let masks = self.arm_masks.get(&drawn_by).ok_or_else(missing)?;
            let swapped = bits::get(self.bank.get(swap.opened).words(), 0);
            let [a, b, _] = &mut *triple;
            let factors = [a.value.words_mut(), b.value.words_mut()];
            masks.add(usize::from((region.arm == 1) ^ swapped), &places, factors);
        }
        Ok(())
    }
}

fn missing() -> Error {
    Error::Supply("masks of a branch aren't drawn yet".to_owned())
}
