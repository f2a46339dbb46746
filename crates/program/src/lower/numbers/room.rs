//! How large numbers may be that are opened under a mask.

use crate::capabilities::Field;

/// Bits of a mask beyond those of what it hides: the statistical distance is 2 to minus so many for each element opened.
pub(super) const STATISTICAL: u32 = 40;

/// The most bits of a number that a field has room to mask.
pub(crate) const fn room(field: Field) -> u32 {
    field.modulus().bits() as u32 - 1 - STATISTICAL
}
