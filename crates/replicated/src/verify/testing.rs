//! What tests of proofs draw on.

use super::schedule::FoldingSchedule;

/// Words without structure.
pub(super) struct Rng(pub(super) u64);

impl Rng {
    pub(super) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

/// Planes a, c, e, b, d, f of an honest prover.
pub(super) fn honest(schedule: &FoldingSchedule, rng: &mut Rng) -> [Vec<u64>; 6] {
    let words = schedule.padded_words();
    let [a, c, b, d, f]: [Vec<u64>; 5] = std::array::from_fn(|_| (0..words).map(|_| rng.word()).collect());
    let e = (0..words).map(|w| a[w] & b[w] ^ c[w] & d[w] ^ f[w]).collect();
    [a, c, e, b, d, f]
}
