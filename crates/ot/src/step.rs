//! The `part` of this crate's addresses. `op` is the caller's number of a setup or an extension, `batch` the batch's.

use tacit_session::step::OFFLINE;

/// Points of base OTs, from who chooses.
pub const BASE_CHOICES: u16 = OFFLINE + 0x3800;
/// Points of base OTs, from who has two keys.
pub const BASE_POINTS: u16 = OFFLINE + 0x3801;
/// Corrections of trees, and what checks them.
pub const TREES: u16 = OFFLINE + 0x3802;
/// Corrections of a batch's columns.
pub const COLUMNS: u16 = OFFLINE + 0x3803;
/// The coin by which a batch's columns are checked.
pub const COIN: u16 = OFFLINE + 0x3804;
/// The answer to the coin.
pub const ANSWER: u16 = OFFLINE + 0x3805;
/// Two masked values for each OT, or one.
pub const MASKED: u16 = OFFLINE + 0x3806;
/// Points of the base OTs of shared products, from who chooses.
pub const COPEE_CHOICES: u16 = OFFLINE + 0x3807;
/// Points of the base OTs of shared products, from who has two keys.
pub const COPEE_POINTS: u16 = OFFLINE + 0x3808;
/// OTs that a benchmark compares.
pub const SAMPLES: u16 = OFFLINE + 0x3809;
