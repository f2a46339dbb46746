//! Whose operands are computed on, and numbers that look random.

/// Who gives the left operands, who the right ones, who others, and who looks at the result. All of them are parties.
pub(super) const LEFT: &str = "P0";
pub(super) const RIGHT: &str = "P1";
pub(super) const THIRD: &str = "P2";
pub(super) const CHECKER: &str = "P0";

/// Who gives the bids of an auction: a client, for all bidders.
pub(super) const BIDDERS: &str = "bidders";

/// A word that looks random, another for every index.
pub(super) fn coin_word(index: u64) -> u64 {
    let index = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (index ^ index >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
