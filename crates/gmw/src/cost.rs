//! What is sent before inputs, exactly.

use crate::exchange::rounds;
use crate::pairs::{TRANSFERS, words};
use crate::supply::{Wanted, made_at_once};
use crate::triples::{correction_words, next};
use tacit_engine::Checks;
use tacit_engine::supply::Demand;
use tacit_ot::Params;
use tacit_program::cost::Phase;

/// Rounds of base OTs and trees.
const SETUP_ROUNDS: u64 = 2;

/// Base OTs with all others, with the first plan that draws something made of transfers.
pub(crate) fn setup(params: &Params, demand: &Demand, parties: usize) -> Checks {
    let mut checks = Checks::default();
    if Wanted::of(demand).is_ok_and(|wanted| wanted.takes_transfers()) {
        let bytes = params.setup_bytes().iter().sum();
        checks.between(Phase::Offline, SETUP_ROUNDS, parties, |_, _| bytes);
    }
    checks
}

/// All that a plan draws, among so many parties.
///
/// `n (n - 1)` random oblivious transfers for a triple. On each link, with trees of height `k`, `ceil(128 / k) - 1` bits for a triple
/// (of whole batches), and 2 more but on that to the next party; of a product of a bit with a vector one more than it has. For a branch whose arms share `L` triples one such transfer, and at
/// full length `2 L` bits and one more but on the link to the next party; of pairs of seeds seven transfers and 22 strings.
pub(crate) fn offline(params: &Params, demand: &Demand, parties: usize, seeds: usize) -> Checks {
    let mut checks = Checks::default();
    // Who draws what isn't made here ends before anything is sent for it.
    let Ok(wanted) = Wanted::of(demand) else { return checks };
    checks.transfers = wanted.transfers(seeds);
    let mut add = |rounds: usize, bytes: &dyn Fn(usize, usize) -> u64| {
        checks.between(Phase::Offline, rounds as u64, parties, bytes);
    };
    for &(_, length, count) in &wanted.products {
        // Whole pieces, and what is left.
        let at_once = made_at_once(length);
        let pieces = [(count / at_once, at_once), (1, count % at_once)];
        for (times, words) in pieces.into_iter().filter(|(times, words)| times * words > 0) {
            let bytes = extension_bytes(params, 64 * words) * times as u64;
            add(times * extension_rounds(params, 64 * words), &|_, _| bytes);
            let words = correction_words(words, length);
            add(times * corrections(parties, words), &|from, to| {
                if to == next(from, parties) { 0 } else { 8 * (words * times) as u64 }
            });
        }
    }
    if wanted.masks.is_empty() {
        return checks;
    }
    let masks = wanted.mask_layout(seeds);
    let transfers = if seeds > 1 { TRANSFERS } else { 1 } * masks.count();
    let bytes = extension_bytes(params, transfers);
    add(extension_rounds(params, transfers), &|_, _| bytes);
    if seeds > 1 {
        for words in words(masks.count()) {
            add(rounds(words), &|_, _| 8 * words as u64);
        }
        return checks;
    }
    let words = masks.correction_words();
    add(corrections(parties, words), &|from, to| {
        if to == next(from, parties) { 0 } else { 8 * words as u64 }
    });
    checks
}

/// Of so many transfers in both directions, from each of two parties to the other one.
fn extension_bytes(params: &Params, count: usize) -> u64 {
    params.extension_bytes(count, false).iter().sum()
}

fn extension_rounds(params: &Params, count: usize) -> usize {
    params.batch_count(count).div_ceil(params.ahead() + 1)
}

/// Rounds of corrections of so many words: two parties have none.
fn corrections(parties: usize, words: usize) -> usize {
    if parties > 2 { rounds(words) } else { 0 }
}
