//! Mistakes planted in `astra-malicious`: each lets an attacker through, or tells one a secret, whom the right form
//! withstands. So the suite would notice them, or the attackers that are kept here.

#[path = "../../astra/tests/order/sorts.rs"]
#[expect(dead_code, reason = "others use the rest")]
mod sorts;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tacit_astra::Astra;
use tacit_astra::planted::{Mistake, Shared, plant};
use tacit_astra::step;
use tacit_engine::Protocol;
use tacit_net::At;
use tacit_program::plan::{Builder, OpKind, Rows, To, Width};
use tacit_testkit::conformance::{Subject, attacks, views};
use tacit_testkit::{Altered, Case, Draws, Fate, Run};

/// The protocol with mistakes in it.
fn mistaken(mistakes: &'static [Mistake]) -> &'static dyn Protocol {
    Altered::beginning_with(&Astra::MALICIOUS, move |_| plant(mistakes))
}

fn subject(mistakes: &'static [Mistake]) -> Subject {
    Subject { sorts: &sorts::SORTS, ..Subject::new(mistaken(mistakes), 3) }
}

/// Attackers of the suite, whom the right form withstands.
mod attackers_of_the_suite {
    use super::*;

    fn attack(mistakes: &'static [Mistake]) {
        attacks::random(&subject(mistakes), 0..400);
    }

    #[test]
    fn without_a_mistake_nobody_gets_through() {
        attack(&[]);
    }

    #[test]
    #[should_panic(expected = "honest endpoints have wrong outputs")]
    fn wrong_products_ahead_of_time() {
        attack(&[Mistake::WrongTriplesPass]);
    }

    #[test]
    #[should_panic(expected = "honest endpoints have wrong outputs")]
    fn wrong_products_online() {
        // Those of the last layer, which nothing is computed of.
        attacks::every_and(&subject(&[Mistake::WrongResultsPass]), 1);
    }

    #[test]
    #[should_panic(expected = "honest endpoints have wrong outputs")]
    fn wrong_seeds_for_a_client() {
        attack(&[Mistake::WrongSeedsPass]);
    }

    #[test]
    #[should_panic(expected = "honest endpoints have wrong outputs")]
    fn wrong_components_of_outputs() {
        attack(&[Mistake::Shared(Shared::ComponentsNotCompared)]);
    }

    #[test]
    #[should_panic(expected = "honest endpoints have wrong outputs")]
    fn wrong_components_of_a_party_and_a_client_together() {
        attacks::together(&subject(&[Mistake::Shared(Shared::ComponentsNotCompared)]), 0..400);
    }
}

/// A client gives `P_1` and `P_2` different values: they have different outputs, of what no product is computed of.
#[test]
fn inputs_that_differ() {
    let mut builder = Builder::new();
    let x = builder.bits(1, 1);
    let owner = builder.role("alice");
    builder.input(owner, x);
    builder.output(x, To::All);
    let plan = builder.finish();
    let outputs = |mistakes| {
        let case = Case::new(mistaken(mistakes), 3, plan.clone(), &[vec![1]]);
        let (run, _) = attacked(&case, 1, |from, to, at, payload| {
            if (from, to, at.part) == (3, 2, step::INPUT) {
                payload[0] ^= 1;
            }
        });
        [1, 2].map(|party| output(&run, party))
    };
    assert_eq!(outputs(&[]), [None, None]);
    // Outputs' hashes would tell the parties, too: of m, P_0 has one from each.
    assert_eq!(outputs(&[Mistake::GivenNotCompared]), [Some(1), Some(0)]);
}

/// `x & y` of a bit each, of `P_1` and of `P_2`.
fn one_and(mistakes: &'static [Mistake], to: &str, inputs: [u64; 2]) -> Case {
    let mut builder = Builder::new();
    let [x, y, z] = std::array::from_fn(|_| builder.bits(1, 1));
    for (owner, reg) in [("P1", x), ("P2", y)] {
        let owner = builder.role(owner);
        builder.input(owner, reg);
    }
    let [a, b, dst] = [x, y, z].map(|reg| Rows::one(reg, 0));
    builder.interact(OpKind::And { a, b, dst });
    let to = if to == "all" { To::All } else { To::One(builder.role(to)) };
    builder.output(z, to);
    Case::new(mistaken(mistakes), 3, builder.finish(), &inputs.map(|bit| vec![bit]))
}

/// All messages that were sent, as the attacker let them be, whether or not anybody took them.
struct Sent(Vec<(usize, usize, At, Vec<u8>)>);

impl Sent {
    /// The contents of the first message on a link that has such an address.
    fn find(&self, from: usize, to: usize, is: impl Fn(At) -> bool) -> Option<&[u8]> {
        let found = self.0.iter().find(|sent| (sent.0, sent.1) == (from, to) && is(sent.2));
        found.map(|(.., payload)| payload.as_slice())
    }

    /// A bit of a message that has to be there.
    fn bit(&self, from: usize, to: usize, at: usize, is: impl Fn(At) -> bool) -> u8 {
        let payload = self.find(from, to, is).expect("such a message is sent");
        payload[at / 8] >> (at % 8) & 1
    }
}

/// Runs with an attacker who changes messages.
fn attacked(
    case: &Case,
    seed: u64,
    change: impl Fn(usize, usize, At, &mut Vec<u8>) + Send + 'static,
) -> (Run, Sent) {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&sent);
    let world = case.world().intercept(Box::new(move |message| {
        let mut frame = message.frame.clone();
        change(message.from, message.to, frame.at, &mut frame.payload);
        let note = (message.from, message.to, frame.at, frame.payload.clone());
        noted.lock().unwrap_or_else(PoisonError::into_inner).push(note);
        Fate::Replace(vec![frame])
    }));
    let run = case.run_in(&world, &Draws::fixed(seed));
    let sent = std::mem::take(&mut *sent.lock().unwrap_or_else(PoisonError::into_inner));
    (run, Sent(sent))
}

/// Runs as it should be.
fn honest(case: &Case, seed: u64) -> Sent {
    let (run, sent) = attacked(case, seed, |_, _, _, _| ());
    run.outcomes();
    sent
}

/// The bit that an endpoint has as the first output, if it has one.
fn output(run: &Run, endpoint: usize) -> Option<u8> {
    let outcome = run.endings[endpoint].as_ref()?.result.as_ref().ok()?;
    Some(outcome.outputs[0].as_ref()?.data().words::<u64>()[0] as u8 & 1)
}

/// Whether a message is of an address's part.
fn of(part: u16) -> impl Fn(At) -> bool {
    move |at| at.part == part
}

/// Operands that `P_1` shows of an operation, the first one's bits first.
fn shown(op: u32) -> impl Fn(At) -> bool {
    move |at| at.part == step::OPERATION + step::MASKED && at.op == op
}

/// What a party that only reads what it is sent learns.
mod a_party_that_reads {
    use super::*;

    /// `P_0` reads `P_2`'s part of `chi`: `c_2 = delta_x y_2 + delta_y x_2 + gamma_2 - delta_(z,2)`. `P_1` gives `x`, so `x_2`
    /// is 0; and where `y_2` is 1, all that hides `delta_x` is `delta_(z,2)`. With `delta_x` what `P_1` shows online is `m_x`,
    /// and `P_0` has all of `x`. How often `P_0` is right, and how often it tries.
    fn operands_read(mistakes: &'static [Mistake]) -> [usize; 2] {
        let [mut right, mut tried] = [0, 0];
        for seed in 0..200 {
            let (x, y) = (seed & 1, seed >> 1 & 1);
            let sent = honest(&one_and(mistakes, "P1", [x, y]), seed);
            // P_0 draws masks of inputs with P_1 and P_2, and knows y_2, which is all that hides y in m_y.
            let y_2 = sent.bit(2, 1, 0, of(step::INPUT)) ^ y as u8;
            if y_2 == 0 {
                continue;
            }
            let gamma = sent.bit(0, 2, 0, of(step::OPERATION + step::OFFLINE));
            let delta = sent.bit(2, 0, 0, of(step::CHECK_PRODUCTS)) ^ gamma;
            tried += 1;
            right += usize::from(sent.bit(1, 0, 0, shown(0)) ^ delta == sent.bit(1, 2, 0, of(step::INPUT)));
        }
        [right, tried]
    }

    #[test]
    #[should_panic(expected = "add up to the same in every run")]
    fn has_a_view_that_the_suite_notices() {
        views::offline(&subject(&[Mistake::DeltaInOnePart]), step::CHECK_DIGEST);
    }

    #[test]
    fn sees_inputs_if_one_party_has_all_of_delta_and_else_guesses() {
        let [right, tried] = operands_read(&[Mistake::DeltaInOnePart]);
        assert!(right == tried && tried > 50);
        let [right, tried] = operands_read(&[]);
        // Of 100 guesses, about; more than four standard deviations.
        assert!((3 * tried / 10..7 * tried / 10).contains(&right), "{right} of {tried}");
    }
}

/// What a party is told too early of something that it got wrong.
mod a_party_that_is_told_too_early {
    use super::*;

    /// `P_1` shows `P_0` `m*_x + 1`. Then what `P_0` computes is off by `l_y`, and so is its digest, if it is sent: as `P_1`
    /// knows the digest of what is right, it knows `l_y`, and with `m_y` all of `y`. `P_1`'s guess, if it can make one.
    fn input_from_results(mistakes: &'static [Mistake], seed: u64, y: u64) -> Option<u8> {
        let case = one_and(mistakes, "all", [0, y]);
        let (run, sent) = attacked(&case, seed, |from, to, at, payload| {
            if (from, to) == (1, 0) && shown(0)(at) {
                payload[0] ^= 1;
            }
        });
        assert!(run.endings.iter().flatten().all(|ending| ending.result.is_err()), "somebody has an output");
        let digest = sent.find(0, 1, of(step::COMPUTED_DIGEST))?;
        let right = honest(&case, seed);
        let differs = right.find(0, 1, of(step::COMPUTED_DIGEST)) != Some(digest);
        Some(sent.bit(2, 1, 0, of(step::INPUT)) ^ u8::from(differs))
    }

    #[test]
    fn knows_an_input_if_results_come_before_operands_are_compared() {
        for seed in 0..40 {
            let y = seed & 1;
            assert_eq!(input_from_results(&[Mistake::ResultsBeforeOperands], seed, y), Some(y as u8));
            assert_eq!(input_from_results(&[], seed, y), None);
        }
    }

    /// `P_1` opens `rho_0 + 1` to `P_0`, of the product's first triple `(d, e, f)`. Then `P_0`'s component of what has to
    /// be zero is off by `e_2`, and so is its digest, if it is sent. As `P_0` opened `sigma_2 = y_2 - e_2`, `P_1` has
    /// `y_2`: the mask of an input, if an instance whose check failed were used. `P_1`'s guess, if it can make one.
    fn mask_from_zeros(mistakes: &'static [Mistake], seed: u64) -> Option<u8> {
        let case = one_and(mistakes, "all", [0, 0]);
        let (run, sent) = attacked(&case, seed, |from, to, at, payload| {
            if (from, to, at.part, at.batch) == (1, 0, step::CHECK_OPENED, 0) {
                payload[0] ^= 1;
            }
        });
        assert!(run.endings.iter().flatten().all(|ending| ending.result.is_err()), "a check passes");
        let theirs = sent.find(0, 1, of(step::CHECK_ZERO))?;
        // What P_1 sends P_0 is the digest of the same, as P_1 computes it.
        let differs = sent.find(1, 0, of(step::CHECK_ZERO)) != Some(theirs);
        // Behind the byte of rho_2.
        Some(sent.bit(0, 1, 8, of(step::CHECK_OPENED)) ^ u8::from(differs))
    }

    #[test]
    fn knows_a_mask_if_zeros_come_before_differences_are_compared() {
        for seed in 0..40 {
            let input = honest(&one_and(&[], "all", [0, 0]), seed);
            let y_2 = input.bit(2, 1, 0, of(step::INPUT));
            assert_eq!(mask_from_zeros(&[Mistake::ZerosBeforeDifferences], seed), Some(y_2));
            assert_eq!(mask_from_zeros(&[], seed), None);
        }
    }

    /// `P_1` shifts `m_z` of `z = y p` at `P_2`, and shows `P_0` the same shifted. So `P_2` objects, in its verdict. `P_0`, which
    /// has no objection, has a hash for `P_1` of a mask of one bit, which can be guessed; with it `P_1` has `(z + 1) w`, where
    /// it was to have `z w`. What `P_1` has, if it has anything.
    fn another_output(mistakes: &'static [Mistake], seed: u64, w: u64) -> Option<u8> {
        let mut builder = Builder::new();
        let [y, p, w_reg, z, out] = std::array::from_fn(|_| builder.bits(1, 1));
        for (owner, reg) in [("P2", y), ("P0", p), ("P2", w_reg)] {
            let owner = builder.role(owner);
            builder.input(owner, reg);
        }
        for operands in [[y, p, z], [z, w_reg, out]] {
            let [a, b, dst] = operands.map(|reg| Rows::one(reg, 0));
            builder.interact(OpKind::And { a, b, dst });
        }
        builder.output(out, To::All);
        let case = Case::new(mistaken(mistakes), 3, builder.finish(), &[vec![0], vec![1], vec![w]]);
        let right = honest(&case, seed);
        let (run, sent) = attacked(&case, seed, |from, to, at, payload| {
            let first = at.part == step::OPERATION && at.op == 0;
            if from == 1 && (to == 2 && first || to == 0 && shown(1)(at)) {
                payload[0] ^= 1;
            }
        });
        assert!(run.endings[2].as_ref().is_some_and(|ending| ending.result.is_err()), "P2 doesn't object");
        let hash = sent.find(0, 1, of(step::OUTPUT_DIGEST))?;
        // Anybody can hash a bit. Here the hashes of this session's bits are taken from the messages to others.
        let hash_of = |from, to| right.find(from, to, of(step::OUTPUT_DIGEST)).map(<[u8]>::to_vec);
        let known: BTreeMap<_, _> = [((0, 1), (2, 1)), ((0, 2), (1, 2)), ((2, 0), (1, 0))]
            .map(|(hashed, value)| {
                (hash_of(hashed.0, hashed.1), right.bit(value.0, value.1, 0, of(step::OUTPUT)))
            })
            .into();
        let x_2 = known[&Some(hash.to_vec())];
        let second = |at: At| at.part == step::OPERATION && at.op == 1;
        let m = sent.bit(1, 2, 0, second) ^ sent.bit(2, 1, 0, second);
        // P_1 draws x_1, and sends it to P_2 when all is well.
        Some(m ^ right.bit(1, 2, 0, of(step::OUTPUT)) ^ x_2)
    }

    #[test]
    fn has_another_output_if_outputs_come_before_verdicts() {
        for seed in 0..40 {
            let w = seed & 1;
            assert_eq!(another_output(&[Mistake::OutputsBeforeVerdicts], seed, w), Some(w as u8));
            assert_eq!(another_output(&[], seed, w), None);
        }
    }
}

/// `P_0` shares a wrong product of masks, and makes random triples with the same error: as many of those of the only product
/// as `wrong` says of each of a message's bits. In how many of these sessions `P_1` has the wrong output.
fn triples_bet_on(mistakes: &'static [Mistake], seeds: u64, wrong: fn(usize) -> bool) -> usize {
    let case = one_and(mistakes, "P1", [1, 1]);
    let wins = (0..seeds).filter(|&seed| {
        let (run, _) = attacked(&case, seed, move |from, to, at, payload| {
            if (from, to) != (0, 2) {
                return;
            }
            if at.part == step::OPERATION + step::OFFLINE {
                payload[0] ^= 1;
            } else if at.part == step::CHECK_TRIPLES {
                // Bits behind the last triple's mean nothing.
                (0..8 * payload.len())
                    .filter(|&bit| wrong(bit))
                    .for_each(|bit| payload[bit / 8] ^= 1 << (bit % 8));
            }
        });
        output(&run, 1) == Some(0)
    });
    wins.count()
}

/// A bet on one triple, or on all but one, wins once in as many sessions as there are triples, a few dozen, where buckets or
/// the cut have one; and else once in 2^40 at most.
#[test]
fn few_triples_let_wrong_products_through() {
    let one = |bit| bit == 0;
    let all_but_one = |bit| bit != 0;
    let half = |bit| bit % 2 == 0;
    assert!(triples_bet_on(&[Mistake::BucketsOfOne], 300, one) > 3);
    assert!(triples_bet_on(&[Mistake::OneTripleCut], 300, all_but_one) > 3);
    // A wrong triple for the product, and the right one for the cut.
    assert!(triples_bet_on(&[Mistake::BucketsOfOne, Mistake::OneTripleCut], 40, one) > 10);
    for bet in [one, half, all_but_one] {
        assert_eq!(triples_bet_on(&[], 300, bet), 0);
    }
}

/// `P_0` tells `P_2` another key than `P_1` has, and the client the hash of another bit. If the other key hides component 0 as
/// the first does and component 2 otherwise, as one in four does, the client adds up another output. With how many of
/// these keys, of those that differ in one bit, it does so.
fn keys_that_change_the_output(mistakes: &'static [Mistake], seed: u64) -> usize {
    const CLIENT: usize = 3;
    let case = one_and(mistakes, "client", [1, 1]);
    let right = honest(&case, seed);
    let value_of = |party| right.bit(party, CLIENT, 0, of(step::OUTPUT));
    let hash_of = |party| right.find(party, CLIENT, of(step::OUTPUT_DIGEST)).expect("a hash")[32..].to_vec();
    // P_0's hash is of what P_2 sends, and so on. P_0 can hash any bit; here hashes come from others' messages.
    let known: BTreeMap<_, _> =
        [(0, 2), (1, 0), (2, 1)].map(|(hashed, sent)| (value_of(sent), hash_of(hashed))).into();
    let Some(other) = known.get(&(value_of(2) ^ 1)).cloned() else { return 0 };
    let wins = (0..64).filter(|&bit| {
        let other = other.clone();
        let (run, _) = attacked(&case, seed, move |from, to, at, payload| match (from, to, at.part) {
            (0, 2, step::OUTPUT_KEY) => payload[bit / 8] ^= 1 << (bit % 8),
            (0, CLIENT, step::OUTPUT_DIGEST) => payload[32..].copy_from_slice(&other),
            _ => {}
        });
        output(&run, CLIENT) == Some(0)
    });
    wins.count()
}

#[test]
fn a_key_from_one_party_lets_it_choose_an_output() {
    let keys = |mistakes| (0..12).map(|seed| keys_that_change_the_output(mistakes, seed)).sum::<usize>();
    assert!(keys(&[Mistake::Shared(Shared::KeyFromOne)]) > 20);
    assert_eq!(keys(&[]), 0);
}

#[test]
#[should_panic(expected = "different keys")]
fn a_key_from_one_party_is_noticed_by_the_suite() {
    attacks::output_key_changed(&subject(&[Mistake::Shared(Shared::KeyFromOne)]), step::OUTPUT_KEY);
}

/// The protocol with garbled comparisons, and mistakes in it: of each party's, by role.
fn garbled(mistakes: [&'static [Mistake]; 3]) -> Subject {
    let plant = move |endpoint: usize| plant(mistakes.get(endpoint).copied().unwrap_or_default());
    Subject { protocol: Altered::beginning_with(&Astra::MALICIOUS_GARBLED, plant), ..subject(&[]) }
}

/// A corrupt `P_1` changes labels of masked numbers, and doesn't mind what comes of it.
#[test]
fn wrong_labels_are_noticed_by_who_evaluates_them() {
    let careless = garbled([&[], &[Mistake::TagsUnchecked], &[]]);
    assert_eq!(attacks::unnoticed_in_comparisons(&careless, 1, 53), 0);
}

#[test]
#[should_panic(expected = "honest endpoints have wrong outputs")]
fn labels_that_nobody_checks() {
    let mistakes = garbled([&[], &[Mistake::TagsUnchecked], &[Mistake::LabelsUnchecked]]);
    attacks::unnoticed_in_comparisons(&mistakes, 1, 53);
}

/// A corrupt `P_2` gives another result of an MSB extraction.
#[test]
#[should_panic(expected = "honest endpoints have wrong outputs")]
fn signs_whose_tags_nobody_checks() {
    attacks::unnoticed_in_comparisons(&garbled([&[], &[Mistake::TagsUnchecked], &[]]), 2, 1);
}

/// A corrupt `P_0` makes one commitment wrong: if `P_2` stops, a bit of the masked number is the one that it stands for.
#[test]
#[should_panic(expected = "who stops depends on the input")]
fn commitments_that_are_left_out_of_the_garblers_digest() {
    const MISTAKES: &[Mistake] = &[Mistake::CommitmentsUncompared];
    attacks::selective_failure(&garbled([&[], MISTAKES, MISTAKES]), 0);
}

/// A corrupt `P_0` makes one table wrong: the evaluator has a wrong label if it uses that.
#[test]
#[should_panic(expected = "who stops depends on the input")]
fn garblers_that_nobody_compares() {
    attacks::selective_failure(&garbled([&[], &[], &[Mistake::GarblersUncompared]]), 0);
}

/// What a path notes nothing of is missed before any input, though nobody deviates: counts are held against the plan.
#[test]
fn paths_that_note_nothing_are_noticed() {
    let refused = |case: &Case| {
        let run = case.run(&Draws::fixed(1));
        for ending in run.endings.iter().flatten() {
            let error = ending.result.as_ref().expect_err("nobody has an output").to_string();
            assert!(error.contains("other products and signs were prepared"), "{error}");
        }
        let sent: Vec<u16> = run.trace.deliveries().iter().map(|delivery| delivery.at.part).collect();
        assert!(!sent.contains(&step::INPUT), "inputs were given");
    };
    let mut builder = Builder::new();
    let [x, z] = std::array::from_fn(|_| builder.ring(Width::W32, 3));
    let owner = builder.role("P1");
    builder.input(owner, x);
    builder.interact(OpKind::Mul { a: x, b: x, dst: z });
    builder.output(z, To::All);
    let protocol = mistaken(&[Mistake::PathUnnoted]);
    refused(&Case::new(protocol, 3, builder.finish(), &[vec![1, 2, 3]]));
    let mut builder = Builder::new();
    let (x, sign) = (builder.ring(Width::W32, 3), builder.bits(1, 3));
    let owner = builder.role("P1");
    builder.input(owner, x);
    builder.interact(OpKind::Msb { a: x, dst: sign });
    builder.output(sign, To::All);
    let protocol = garbled([&[Mistake::SignsUnnoted]; 3]).protocol;
    refused(&Case::new(protocol, 3, builder.finish(), &[vec![1, 2, 3]]));
}
