//! What a check sends, message by message.

use super::batch::Piece;
use super::parameters::{MANY, Rules};
use super::turn::{DIGESTS_TO, VALUES_TO};
use crate::seats::Seats;
use tacit_engine::Checks;
use tacit_kernel::digest::DIGEST_BYTES;
use tacit_program::cost::{Flow, Phase};
use tacit_program::plan::Domain;
use tacit_threeparty::PARTIES;

/// Bytes of a commitment of a coin, of its opening, and of a verdict.
const CONTROL_BYTES: [usize; 3] = [32, 96, 32];

/// Rounds: `P_2` and then `P_1` receive what triples are made of, two for the coin, what is opened, what is zero, verdicts.
/// The first may go beside others in which `P_0` sends.
const ROUNDS: u64 = 7;

/// What a check sends, by a run's rules, for so many products of each domain, each domain once. Nothing for none.
///
/// For a product of a whole batch, in elements: `P_0` sends 4 to `P_1` and 6 to `P_2`, `P_1` 5 to `P_0` and 2 to `P_2`,
/// `P_2` 1 to `P_0` and 2 to `P_1`. With the one of `P_0` that makes it a product, that is 21.
pub(crate) fn cost(seats: Seats, rules: Rules, counts: &[(Domain, u64)]) -> Checks {
    let mut checks = Checks::default();
    let batch = rules.batch() as u64;
    for &(domain, count) in counts {
        for _ in 0..count / batch {
            add_check(&mut checks, seats, rules, &[(domain, batch)]);
        }
    }
    let left = counts.iter().map(|&(domain, count)| (domain, count % batch));
    add_check(&mut checks, seats, rules, &left.collect::<Vec<_>>());
    checks
}

/// Instances with so many products each after which what was made is sealed ([`Unchecked::is_full`](super::Unchecked::is_full)).
/// None without products: there is nothing to check then.
pub(crate) fn instances(rules: Rules, counts: &[(Domain, u64)]) -> Option<u64> {
    counts.iter().map(|&(_, count)| ((MANY * rules.batch()) as u64).div_ceil(count)).min()
}

/// Adds a check of a batch of each of some domains.
fn add_check(checks: &mut Checks, seats: Seats, rules: Rules, counts: &[(Domain, u64)]) {
    let mut flows: Vec<Flow> = Vec::new();
    let mut add = |from: usize, to: usize, bytes: usize| flows.push(seats.flow(from, to, 8 * bytes as u64));
    for &(domain, count) in counts.iter().filter(|(_, count)| *count > 0) {
        let (count, bits) = (count as usize, domain.bits() as u32);
        let parameters = rules.parameters(count);
        for piece in Piece::of_one(count, bits) {
            add(1, 0, piece.bytes(bits));
            add(2, 0, piece.bytes(bits));
        }
        for piece in Piece::of_one(parameters.triples(count), bits) {
            for (from, to) in [(0, 2), (1, 2), (2, 1)] {
                add(from, to, piece.bytes(bits));
            }
        }
        for piece in Piece::of_opened(count, bits, parameters) {
            for (from, receivers) in VALUES_TO.into_iter().enumerate() {
                for &(to, _) in receivers {
                    add(from, to, piece.bytes(bits));
                }
            }
        }
    }
    if counts.iter().all(|(_, count)| *count == 0) {
        return;
    }
    for (from, receivers) in DIGESTS_TO.into_iter().enumerate() {
        for &(to, _) in receivers {
            add(from, to, DIGEST_BYTES);
        }
    }
    for from in 0..PARTIES {
        for to in (0..PARTIES).filter(|&to| to != from) {
            CONTROL_BYTES.into_iter().chain([DIGEST_BYTES]).for_each(|bytes| add(from, to, bytes));
        }
    }
    checks.rounds(Phase::Offline, ROUNDS, flows);
}
