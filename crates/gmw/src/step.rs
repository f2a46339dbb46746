//! The `part` of this crate's addresses. `op` is the number of an extension, `batch` the message's within it.

use tacit_session::step::OFFLINE;

/// Corrections of choices and differences, by which all pairs have the same factors of triples.
pub(crate) const CORRECTIONS: u16 = OFFLINE + 0x3a00;
