//! What is sent before inputs, exactly.

use crate::supply::Wanted;
use crate::triples::{IN_FLIGHT, PIECE, next};
use tacit_engine::Checks;
use tacit_engine::supply::Demand;
use tacit_ot::Params;
use tacit_program::cost::Phase;

/// Rounds of base OTs and trees.
const SETUP_ROUNDS: u64 = 2;

/// Bits of corrections for a triple.
const CORRECTION_BITS: u64 = 2;

/// Base OTs, and all that a plan draws, among so many parties.
///
/// `n (n - 1)` random oblivious transfers for a triple. On each link, with trees of height `k`, `ceil(128 / k) - 1` bits for a triple
/// (of whole batches), and 2 more but on that to the next party.
pub(crate) fn offline(params: &Params, demand: &Demand, parties: usize) -> Checks {
    let mut checks = Checks::default();
    // A plan that draws what isn't made here ends with an error, and has no cost.
    let Ok(wanted) = Wanted::of(demand) else { return checks };
    let mut add = |rounds: usize, bytes: &dyn Fn(usize, usize) -> u64| {
        checks.between(Phase::Offline, rounds as u64, parties, bytes);
    };
    add(SETUP_ROUNDS as usize, &|_, _| params.setup_bytes().iter().sum());
    if wanted.triples > 0 {
        let transfers = 64 * wanted.triples;
        add(params.batch_count(transfers).div_ceil(params.ahead() + 1), &|_, _| {
            params.extension_bytes(transfers, false).iter().sum()
        });
        let corrected = if parties > 2 { wanted.triples.div_ceil(PIECE).div_ceil(IN_FLIGHT + 1) } else { 0 };
        add(corrected, &|from, to| {
            if to == next(from, parties) { 0 } else { CORRECTION_BITS * transfers as u64 / 8 }
        });
    }
    checks
}
