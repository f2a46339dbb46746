//! Mistakes planted in proofs of products.

use super::{flip, is_and, subject};
use std::sync::Mutex;
use tacit_engine::Protocol;
use tacit_program::plan::{self, OpKind, To, Width};
use tacit_program::{Builder, Dtype, NodeId, Range, Recipient, lower};
use tacit_replicated::planted::{Mistake, Shared, plant, session};
use tacit_replicated::{ReplicatedMalicious, order_of_products, step};
use tacit_session::At;
use tacit_testkit::conformance::attacks::reacting;
use tacit_testkit::{Altered, Case, Draws, Fate, Interceptor, Run, with_parameters};

/// Steps of these proofs, in which the prover sends quotients, the right verifier the seed of the prime, and the prover the first
/// round's values.
const QUOTIENTS: u32 = 2;
const PRIME: u32 = 3;
const VALUES: u32 = 4;

/// Bytes of the quotients of one repetition.
const QUOTIENT_BYTES: usize = 127 * 24;

/// Three products of numbers of `P_0` and `P_1`, with these mistakes.
fn case(protocol: &'static dyn Protocol, mistakes: &'static [Mistake]) -> Case {
    let mut build = Builder::new();
    let range = Range::new(-(1 << 30), 1 << 30);
    let [x, y]: [NodeId; 2] =
        ["P0", "P1"].map(|owner| build.input(owner, "x", Dtype::Int, &[3], range).unwrap());
    let product = build.mul(x, y).unwrap();
    build.reveal(product, Recipient::All).unwrap();
    let protocol = Altered::beginning_with(protocol, move |_| plant(mistakes));
    let plan = lower(&build.finish().unwrap(), protocol.capabilities()).unwrap().plan;
    Case::new(protocol, 3, plan, &[vec![1, 2, 3], vec![4, 5, 6]])
}

fn run(case: &Case, interceptor: Interceptor) -> Run {
    case.run_in(&case.world().intercept(interceptor), &Draws::fixed(1))
}

/// What endpoints say that failed.
fn errors(run: &Run) -> Vec<String> {
    let errors = run.endings.iter().flatten().filter_map(|ending| ending.result.as_ref().err());
    errors.map(ToString::to_string).collect()
}

fn errors_at_50(mistakes: &'static [Mistake], interceptor: Interceptor) -> Vec<String> {
    errors(&run(&case(&ReplicatedMalicious::SOUNDNESS_50, mistakes), interceptor))
}

fn nothing() -> Interceptor {
    Box::new(|_| Fate::Deliver)
}

/// Changes a message of a step of the proofs.
fn in_step(
    (from, to): (usize, usize),
    (part, step): (u16, u32),
    change: impl Fn(&mut Vec<u8>) + Send + 'static,
) -> Interceptor {
    Box::new(move |message| {
        let at: At = message.frame.at;
        if (message.from, message.to, at.part, at.batch) != (from, to, part, step) {
            return Fate::Deliver;
        }
        let mut frame = message.frame.clone();
        change(&mut frame.payload);
        Fate::Replace(vec![frame])
    })
}

fn fails(errors: &[String]) -> bool {
    errors.iter().any(|error| error.contains("its products right fails"))
}

/// What a party notes of products, and how quotients are read.
#[test]
fn products_are_noted_and_their_proofs_fail() {
    assert_eq!(errors_at_50(&[], nothing()), [""; 0]);
    let missed = errors_at_50(&[Mistake::ProductsUnnoted], nothing());
    assert_eq!(missed.iter().filter(|error| error.contains("not all products were proved")).count(), 3);
    assert!(fails(&errors_at_50(&[Mistake::QuotientsUnsigned], nothing())));
    let lone = &[Mistake::FailureIgnored, Mistake::Shared(Shared::ComponentsNotCompared)];
    for prover in 0..3 {
        let wrong = || flip(prover, (prover + 1) % 3, is_and);
        assert!(fails(&errors_at_50(&[], wrong())));
        assert_eq!(errors_at_50(lone, wrong()), [""; 0], "nobody notices");
    }
}

/// A quotient that is wrong in one repetition alone.
#[test]
fn both_repetitions_are_checked() {
    for prover in 0..3 {
        let errors_of = |mistakes, repetition| {
            let link = (prover, (prover + 2) % 3);
            let change = move |payload: &mut Vec<u8>| payload[repetition * QUOTIENT_BYTES + 5] ^= 1;
            let wrong = in_step(link, (step::PROOF_BACK, QUOTIENTS), change);
            errors(&run(&case(&ReplicatedMalicious::SOUNDNESS_100, mistakes), wrong))
        };
        assert!([0, 1].iter().all(|&repetition| fails(&errors_of(&[], repetition))), "P{prover}");
        assert!(fails(&errors_of(&[Mistake::SecondUnchecked], 0)));
        assert_eq!(errors_of(&[Mistake::SecondUnchecked], 1), [""; 0], "nobody notices");
    }
}

/// The prime is that of the seed which is released once the quotients are where they are verified: its order is no element of the
/// field, and what is one less is. One that the prover knew before would let it say quotients modulo it.
#[test]
fn the_prime_comes_from_the_second_seed() {
    let accepts = |mistakes, less: u64| {
        let seed = Mutex::new(None);
        let interceptor: Interceptor = Box::new(move |message| {
            let at = message.frame.at;
            let mut frame = message.frame.clone();
            match (message.from, message.to, at.part, at.batch) {
                (2, 0, step::PROOF_FORTH, PRIME) => {
                    *seed.lock().unwrap() = frame.payload[..].try_into().ok();
                }
                (0, 2, step::PROOF_BACK, VALUES) => {
                    let seed: [u8; 32] = seed.lock().unwrap().expect("the seed came before");
                    let order = order_of_products(&session(), 0, &seed);
                    frame.payload[..8].copy_from_slice(&(order - less).to_le_bytes());
                }
                _ => {}
            }
            Fate::Replace(vec![frame])
        });
        let errors = errors_at_50(mistakes, interceptor);
        assert!(!errors.is_empty(), "the value is wrong");
        !errors.iter().any(|error| error.contains("no element of its field"))
    };
    assert_eq!([0, 1].map(|less| accepts(&[], less)), [false, true]);
    assert_ne!([0, 1].map(|less| accepts(&[Mistake::PrimeEarly], less)), [false, true]);
}

/// A prover compares every seed with what it has of the chain.
#[test]
fn seeds_are_those_that_were_committed_to() {
    let objects = |mistakes, at| {
        let other = in_step((2, 0), (step::PROOF_FORTH, at), |payload| payload[3] ^= 4);
        let errors = errors_at_50(mistakes, other);
        errors.iter().any(|error| error.contains("is not the one that was committed to"))
    };
    for at in [1, PRIME, VALUES + 1] {
        assert!(objects(&[], at), "step {at}");
        assert!(!objects(&[Mistake::SeedsUnchecked], at), "step {at}");
    }
}

/// What verifiers show of their vectors isn't what it would be without random values, in both repetitions.
#[test]
fn what_verifiers_show_is_masked() {
    let shown = |mistakes| {
        let run = run(&case(&ReplicatedMalicious::SOUNDNESS_100, mistakes), nothing());
        assert_eq!(errors(&run), [""; 0]);
        let links = (0..3).flat_map(|left| [(left, (left + 1) % 3), ((left + 1) % 3, left)]);
        let last = |(from, to): (usize, usize)| {
            let parts = [step::PROOF_BACK, step::PROOF_FORTH];
            let proofs = run.trace.link(from, to).filter(|sent| parts.contains(&sent.at.part));
            let last = proofs.max_by_key(|sent| sent.at.batch).expect("verifiers show what they have");
            let words: Vec<[u8; 8]> = last.payload.as_chunks().0.to_vec();
            assert_eq!(words.len(), 4, "a share and a factor of two repetitions");
            [words[1], words[3]]
        };
        links.map(last).collect::<Vec<_>>()
    };
    let (masked, bare) = (shown(&[]), shown(&[Mistake::Unmasked]));
    for (masked, bare) in masked.into_iter().flatten().zip(bare.into_iter().flatten()) {
        assert_ne!(masked, bare);
    }
}

/// So many operations of 200 products in a ring, as elements, in batches of 128 products or of one operation.
fn of_elements(mistakes: &'static [Mistake], width: Width, operations: usize) -> Case {
    const PRODUCTS: usize = 200;
    let protocol = with_parameters(&ReplicatedMalicious::SOUNDNESS_50, &[("batch", "64")]);
    let protocol = Altered::beginning_with(protocol, move |_| plant(mistakes));
    let mut build = plan::Builder::new();
    let [x, y] = ["P0", "P1"].map(|owner| {
        let (owner, reg) = (build.role(owner), build.ring(width, PRODUCTS));
        build.input(owner, reg);
        reg
    });
    for _ in 0..operations {
        let dst = build.ring(width, PRODUCTS);
        build.interact(OpKind::Mul { a: x, b: y, dst });
        build.output(dst, To::All);
    }
    Case::new(protocol, 3, build.finish(), &[vec![3; PRODUCTS], vec![5; PRODUCTS]])
}

/// An error in a product and its opposite in another, which is in another batch: each batch is proved by itself.
#[test]
fn opposite_errors_in_two_batches_do_not_cancel() {
    let case = |mistakes| of_elements(mistakes, Width::W64, 2);
    let honest = run(&case(&[]), nothing());
    assert_eq!(errors(&honest), [""; 0]);
    let proofs = honest.trace.link(0, 2).filter(|sent| sent.at.part == step::PROOF_BACK);
    assert!(proofs.map(|sent| sent.payload.len()).sum::<usize>() > 2 * QUOTIENT_BYTES, "two batches");
    let lone = &[Mistake::FailureIgnored, Mistake::Shared(Shared::ComponentsNotCompared)];
    for prover in 0..3 {
        let wrong = || -> Interceptor {
            Box::new(move |message| {
                let mut frame = message.frame.clone();
                if (message.from, message.to) == (prover, (prover + 1) % 3) && is_and(frame.at.part) {
                    let (word, _) = frame.payload.split_first_chunk_mut().expect("a message has words");
                    let by = if frame.at.op == 0 { 5 } else { 5_u64.wrapping_neg() };
                    *word = u64::from_le_bytes(*word).wrapping_add(by).to_le_bytes();
                }
                Fate::Replace(vec![frame])
            })
        };
        assert!(fails(&errors(&run(&case(&[]), wrong()))), "P{prover}");
        assert_eq!(errors(&run(&case(lone), wrong())), [""; 0], "nobody notices");
    }
}

/// Words that the left verifier doesn't bring into the ring, as the prover does.
#[test]
fn words_of_narrow_rings_are_the_same_at_both_sides() {
    let errors_of = |mistakes| errors(&run(&of_elements(mistakes, Width::W8, 1), nothing()));
    assert_eq!(errors_of(&[]), [""; 0]);
    assert!(fails(&errors_of(&[Mistake::ReducedOneSide])));
}

/// The set of addresses that are drawn at notices it; what the right verifier would learn, `verify/ring/tests/traps.rs` shows.
#[test]
#[should_panic(expected = "was drawn before")]
fn shares_of_quotients_serve_one_repetition() {
    run(&case(&ReplicatedMalicious::SOUNDNESS_100, &[Mistake::SameQuotientShares]), nothing());
}

/// With 96 bits for the left verifier the right one's shares are signs above these, or what quotients have there: `traps.rs` shows
/// how it reads them.
#[test]
fn shares_of_quotients_are_longer_than_quotients() {
    let bare = |mistakes| {
        let run = run(&case(&ReplicatedMalicious::SOUNDNESS_50, mistakes), nothing());
        assert_eq!(errors(&run), [""; 0]);
        let is_of_quotients = |at: At| (at.part, at.batch) == (step::PROOF_BACK, QUOTIENTS);
        let sent = run.trace.link(0, 2).find(|sent| is_of_quotients(sent.at)).expect("quotients are sent");
        assert_eq!(sent.payload.len(), QUOTIENT_BYTES);
        let is_sign =
            |share: &&[u8]| share[13..].iter().all(|byte| *byte == share[12] && [0, 0xff].contains(byte));
        sent.payload.chunks(24).filter(is_sign).count()
    };
    assert_eq!([bare(&[]), bare(&[Mistake::ShortQuotientShares])], [0, 127]);
}

/// So it does with seeds that two kinds of batches share: what a prover would learn by that, the same file shows.
#[test]
#[should_panic(expected = "was drawn before")]
fn seeds_of_products_are_not_those_of_ands() {
    let mut build = Builder::new();
    let range = Range::new(-(1 << 30), 1 << 30);
    let [x, y]: [NodeId; 2] =
        ["P0", "P1"].map(|owner| build.input(owner, "x", Dtype::Int, &[3], range).unwrap());
    for result in [build.mul(x, y).unwrap(), build.less(x, y).unwrap()] {
        build.reveal(result, Recipient::All).unwrap();
    }
    let protocol = Altered::beginning_with(&ReplicatedMalicious::SOUNDNESS_50, |_| {
        plant(&[Mistake::OneSeedAddress]);
    });
    let plan = lower(&build.finish().unwrap(), protocol.capabilities()).unwrap().plan;
    run(&Case::new(protocol, 3, plan, &[vec![1, 2, 3], vec![4, 5, 6]]), nothing());
}

/// Attackers that react, and find nothing in what ships, find what is planted. In sorts they would have to keep to what they have
/// changed, in openings and in outputs: what is planted there has attackers of its own (`planted_sorts.rs`).
mod reacting_attackers_get_through {
    use super::*;

    #[test]
    #[should_panic(expected = "wrong outputs")]
    fn in_products() {
        reacting::random_products(&subject(&[Mistake::ProductsUnnoted, Mistake::NotCounted]), 0..300);
    }

    #[test]
    #[should_panic(expected = "wrong outputs")]
    fn in_layers() {
        reacting::random_layers(&subject(&[Mistake::FailureIgnored]), 0..300);
    }
}
