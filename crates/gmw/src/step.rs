//! The `part` of this crate's addresses. `op` is the number of an extension, `batch` the message's within it.

use tacit_session::step::OFFLINE;

/// Corrections of choices and differences, by which all pairs have the same factors of triples.
pub const CORRECTIONS: u16 = OFFLINE + 0x3a00;
/// Corrections of masks for arms of branches.
pub const MASK_CORRECTIONS: u16 = OFFLINE + 0x3a01;
/// Pairs of seeds: products with the bits that say which mask is zeros.
pub const PAIRS_CHOSEN: u16 = OFFLINE + 0x3a02;
/// Products with the bits that swap them.
pub const PAIRS_SWAPPED: u16 = OFFLINE + 0x3a03;
/// Shares of pairs, to their owners.
pub const PAIRS_OPENED: u16 = OFFLINE + 0x3a04;
