//! The `part` of this crate's addresses. `op` is the number of a step, `batch` the message's within it.

use tacit_session::step::OFFLINE;

/// Multiply: differences of oblivious transfers' values, with a factor in them.
pub const PRODUCTS: u16 = OFFLINE + 0x3900;
/// Authenticate: products of own values with the others' key shares.
pub const MACS: u16 = OFFLINE + 0x3901;
/// Shares of values that are opened.
pub const SHARES: u16 = OFFLINE + 0x3902;
/// Commitments to what is left of the opened values' MACs.
pub const COMMITMENT: u16 = OFFLINE + 0x3903;
/// Openings of those commitments.
pub const OPENING: u16 = OFFLINE + 0x3904;
/// That a party accepts what was made.
pub const ACCEPT: u16 = OFFLINE + 0x3905;
/// Draws: the shares of an owner's values that others have.
pub const INPUT_SHARE: u16 = OFFLINE + 0x3906;
