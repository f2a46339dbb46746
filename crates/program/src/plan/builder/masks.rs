//! Masks that all parties but one know ([`OpKind::PairMask`]): each hides one difference, which that party is shown.

use super::{Builder, Mask};
use crate::domain::Domain;
use crate::plan::registers::Reg;
use crate::plan::steps::{OpKind, Operand};

impl Builder {
    /// Notes masks that an operation draws, takes off, or adds again: a circuit takes them off, in the same turn of a
    /// section, and its result alone is composed with them.
    ///
    /// # Panics
    /// If masks aren't whole bytes, or are used in any other way, or twice: two differences tell how what they hide differs.
    pub(super) fn note_masks(&mut self, kind: &OpKind) {
        let section = self.open.last().map(|open| open.index);
        match kind {
            &OpKind::PairMask { bits, dst } => {
                let (shape, each) = (self.shape(dst), usize::from(bits));
                let are_bits = shape.domain == Domain::Bits && shape.rows == 1;
                let are_whole = bits > 0 && bits.is_multiple_of(8) && shape.cols.is_multiple_of(each);
                assert!(are_bits && are_whole, "masks are a row of numbers of whole bytes");
                let mask = Mask { bits: bits.into(), section, difference: None, is_shown: false };
                assert!(self.masks.insert(dst, mask).is_none(), "a register has masks once");
            }
            OpKind::Circuit { inputs, dst, .. } => {
                self.assert_no_masks([*dst], kind.name());
                for input in inputs {
                    let Some(mask) = self.masks.get_mut(&input.reg()) else { continue };
                    let is_each = matches!(input, Operand::Each(_));
                    assert!(is_each && mask.section == section, "masks are for each instance of one turn");
                    let before = mask.difference.replace(*dst);
                    assert!(before.is_none(), "a mask hides one difference");
                }
            }
            OpKind::Compose { a, mask, dst } => {
                self.assert_no_masks([*a, *dst], kind.name());
                let (of, ring) = (self.shape(*a), self.shape(*dst));
                let mask = self.masks.get_mut(mask).expect("a register of masks");
                let bits = ring.domain.bits();
                let fits = matches!(ring.domain, Domain::Ring(_)) && bits == mask.bits;
                assert!(
                    fits && (of.rows, of.cols) == (1, ring.cols * bits as usize),
                    "differences, masks and elements have as many bits"
                );
                assert!(
                    mask.difference == Some(*a) && mask.section == section && !mask.is_shown,
                    "what is shown once is the difference that the mask was taken off of"
                );
                mask.is_shown = true;
            }
            kind => self.assert_no_masks(kind.reads().into_iter().chain(kind.writes()), kind.name()),
        }
    }

    /// Refuses masks where something else is due.
    pub(super) fn assert_no_masks(&self, regs: impl IntoIterator<Item = Reg>, whose: &str) {
        for reg in regs {
            assert!(
                !self.masks.contains_key(&reg),
                "{whose} has register {reg}, whose masks hide a difference"
            );
        }
    }
}
