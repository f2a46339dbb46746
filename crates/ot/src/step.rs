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
/// Vector OLE: products of the base with the peers' numbers.
pub const VOLE_BASE: u16 = OFFLINE + 0x380a;
/// The coin by which a base is checked.
pub const VOLE_BASE_COIN: u16 = OFFLINE + 0x380b;
/// The answer to that coin: two sums.
pub const VOLE_BASE_ANSWER: u16 = OFFLINE + 0x380c;
/// What is sent of the trees of a round's noise.
pub const VOLE_TREES: u16 = OFFLINE + 0x380d;
/// The coin by which trees are checked, and what goes with it.
pub const VOLE_COIN: u16 = OFFLINE + 0x380e;
/// The commitment of who has the trees to its side of that check.
pub const VOLE_COMMITMENT: u16 = OFFLINE + 0x380f;
/// The other one's side.
pub const VOLE_SIDE: u16 = OFFLINE + 0x3810;
/// The opening of that commitment.
pub const VOLE_OPENING: u16 = OFFLINE + 0x3811;
