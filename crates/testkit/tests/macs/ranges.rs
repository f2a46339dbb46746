//! Owners of inputs that are out of their ranges, and parties that tamper with what hides the bits of others' inputs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{EngineMistake, MACS, mistaken, mistaken_engine};
use tacit_additive::BIT_MASKS;
use tacit_additive::planted::Mistake;
use tacit_engine::{Clear, Error, Protocol};
use tacit_net::Frame;
use tacit_program::plan::{OpKind, Plan};
use tacit_program::{Builder, Data, Dtype, Modulus, Range, Recipient, Value, lower};
use tacit_session::step;
use tacit_testkit::{Case, Draws, Fate, Message};

/// Whether the second party's number, times what the first party's bit says, is below 7.
fn plan() -> Plan {
    let mut build = Builder::new();
    let bit = build.input("P0", "bit", Dtype::Bool, &[], None).expect("an input");
    let number = build.input("P1", "number", Dtype::Int, &[], Range::new(0, 100)).expect("an input");
    let others = build.input("P1", "others", Dtype::Int, &[], Range::new(0, 100)).expect("an input");
    let chosen = build.select(bit, number, others).expect("a choice");
    let less = build.less(chosen, others).expect("a comparison");
    build.reveal(less, Recipient::All).expect("the node is there");
    let program = build.finish().expect("something is revealed");
    lower(&program, MACS.capabilities()).expect("the tenant has all of it").plan
}

/// What is opened in a comparison, if it comes so far, with so much as the first party's bit.
fn opened(protocol: &'static dyn Protocol, bit: u128) -> Result<u128, Error> {
    let mut case = Case::new(protocol, 2, plan(), &[vec![0], vec![99], vec![3]]);
    let words = [bit as u64, (bit >> 64) as u64];
    case.inputs[0] = Clear::from_words(Modulus::Prime128.domain(), &words);
    shown(&case, |_| None)
}

/// What the parties of a case open of a number, if they come so far and it ends well, where messages are altered.
fn shown(
    case: &Case,
    alter: impl Fn(&Message<'_>) -> Option<Vec<u8>> + Send + 'static,
) -> Result<u128, Error> {
    let sum = Arc::new(Mutex::new(0));
    let result = seen(case, alter, &sum);
    result.map(|()| *lock(&sum))
}

/// The same however it ends: `sum` gets all shares that are sent.
fn seen(
    case: &Case,
    alter: impl Fn(&Message<'_>) -> Option<Vec<u8>> + Send + 'static,
    sum: &Arc<Mutex<u128>>,
) -> Result<(), Error> {
    let is_open = |op: &u32| matches!(case.plan.op(*op).kind, OpKind::Open { .. });
    let opening = (0..case.plan.op_count()).find(is_open).expect("a comparison opens a number");
    let shown = sum.clone();
    let world = case.world().intercept(Box::new(move |message| {
        let Frame { at, payload, .. } = &message.frame;
        if at.part == step::OPERATION && at.op == opening {
            let share = payload.first_chunk().map_or(0, |share| u128::from_le_bytes(*share));
            let mut sum = lock(&shown);
            *sum = Modulus::Prime128.add(*sum, share);
        }
        match alter(message) {
            Some(payload) => Fate::Replace(vec![Frame::data(*at, payload)]),
            None => Fate::Deliver,
        }
    }));
    for ending in case.run_in(&world, &Draws::fixed(3)).endings.into_iter().flatten() {
        ending.result?;
    }
    Ok(())
}

/// The difference of the second party's numbers, 96, stands above the mask of the comparison if the first party gives 2^64 for
/// a bit. Its own code refuses it; what others' code takes, bits, are in no way out of their ranges.
#[test]
fn an_input_out_of_its_range_shows_anothers() {
    let unproved = mistaken(&[Mistake::RangesUnproved]);
    let shown = opened(unproved, 1 << 64).expect("nobody notices");
    assert_eq!(shown >> 64, 96);
    assert!(opened(unproved, 1).expect("nothing is wrong") < 1 << 50);
    for bit in [0, 1] {
        assert!(opened(&MACS, bit).expect("nothing is wrong") < 1 << 50);
    }
    let refused = opened(&MACS, 1 << 64).expect_err("its own code refuses it");
    assert!(refused.to_string().contains("outside of its range"), "{refused}");
}

/// Whether the first party tells what hides its bit, though the other one opened something else before.
fn told(protocol: &'static dyn Protocol, seed: u64) -> bool {
    let case = Case::new(protocol, 2, plan(), &[vec![1], vec![99], vec![3]]);
    let told = Arc::new(Mutex::new(false));
    let seen = told.clone();
    let world = case.world().intercept(Box::new(move |message| {
        let Frame { at, payload, .. } = &message.frame;
        if (message.from, at.part) == (0, step::INPUT) && at.op == 0 {
            *lock(&seen) = true;
        }
        // Of the larger field.
        if (message.from, at.part) == (1, BIT_MASKS + 1) {
            let mut changed = payload.clone();
            changed[0] = changed[0].wrapping_add(1);
            return Fate::Replace(vec![Frame::data(*at, changed)]);
        }
        Fate::Deliver
    }));
    let run = case.run_in(&world, &Draws::fixed(seed));
    assert!(run.endings.iter().flatten().all(|ending| ending.result.is_err()), "somebody notices");
    *lock(&told)
}

/// If 1 is added to what hides a bit, and the owner goes on, its mask was 0. So it must not: with what it tells, all know its
/// input.
#[test]
fn what_hides_bits_is_checked_before_owners_use_it() {
    let unchecked = mistaken(&[Mistake::BitMasksUnchecked]);
    assert!((0..12).any(|seed| told(unchecked, seed)), "half of all owners go on");
    assert!((0..12).all(|seed| !told(&MACS, seed)));
}

/// Whether the first party's number times the second's is below 7.
fn product() -> Plan {
    let mut build = Builder::new();
    let [own, others] = ["P1", "P0"]
        .map(|owner| build.input(owner, "number", Dtype::Int, &[], Range::new(0, 100)).expect("an input"));
    let product = build.mul(own, others).expect("a product");
    let seven = Value { shape: Vec::new(), data: Data::Int(vec![7]) };
    let limit = build.constant(&seven, Dtype::Int).expect("a number");
    let less = build.less(product, limit).expect("a comparison");
    build.reveal(less, Recipient::All).expect("the node is there");
    let program = build.finish().expect("something is revealed");
    lower(&program, MACS.capabilities()).expect("the tenant has all of it").plan
}

/// The second party adds 2^100 to what all open of its number's masked form, `d = u - a`, and its own code takes it
/// for the other's share: to the product comes 2^100 times the other's number, which stands above the mask of the
/// comparison.
#[test]
fn an_opening_that_nothing_is_checked_before_shows_a_number() {
    const OTHERS: u128 = 93;
    let numbers_in = |protocol| {
        let case = Case::new(protocol, 2, product(), &[vec![5], vec![OTHERS as u64]]);
        let is_product = |op: &u32| matches!(case.plan.op(*op).kind, OpKind::Mul { .. });
        let product = (0..case.plan.op_count()).find(is_product).expect("there is a product");
        let alter = move |message: &Message<'_>| {
            let Frame { at, payload, .. } = &message.frame;
            let is_product = at.part == step::OPERATION && at.op == product;
            is_product.then(|| {
                let mut changed = payload.clone();
                let d = changed.first_chunk_mut().expect("an element");
                *d = Modulus::Prime128.add(u128::from_le_bytes(*d), 1 << 100).to_le_bytes();
                changed
            })
        };
        let sum = Arc::new(Mutex::new(0));
        let result = seen(&case, alter, &sum);
        assert!(
            result.is_err_and(|error| error.is_failed_check()),
            "it is noticed before outputs in any case"
        );
        *lock(&sum)
    };
    let unchecked = mistaken_engine(&[EngineMistake::OpenedUnchecked]);
    assert_eq!(numbers_in(unchecked) >> 100, OTHERS);
    assert_eq!(numbers_in(&MACS), 0, "nothing is opened");
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
