//! Triples, input tuples, squares and bits: that they are right, what they cost, and that nothing is sent twice under one
//! address.

mod common;

use common::{check_triples, params, play, sums, values};
use std::collections::HashSet;
use tacit_kernel::Element;
use tacit_kernel::field::Fp128;
use tacit_mascot::{BATCH, Inputs, Shares, cost};
use tacit_ot::copee::Field;
use tacit_session::Phase;
use tacit_testkit::World;

/// Triples of each test; no multiple of a message's.
const COUNT: usize = 25;

fn all<T>(had: Vec<Result<T, tacit_session::Error>>) -> Vec<T> {
    had.into_iter().map(|had| had.expect("nobody deviates")).collect()
}

#[test]
fn triples_multiply_and_cost_what_they_should() {
    for (parties, counts) in [(2, &[1, COUNT][..]), (3, &[1, COUNT]), (4, &[1, COUNT]), (5, &[COUNT])] {
        for &count in counts {
            let had = all(play(&World::new(parties, 0), parties, 1, |session, preprocessing| {
                let triples = preprocessing.triples(session, count)?;
                let counters = session.mesh().counters();
                // That opened values pass the check shows that MACs are right.
                session.mesh().set_phase(Phase::Output);
                for shares in [&triples.a, &triples.b, &triples.c] {
                    preprocessing.open(session, shares)?;
                }
                Ok((triples, counters))
            }));
            let (triples, counters): (Vec<_>, Vec<_>) = had.into_iter().unzip();
            assert!(check_triples(&triples), "{parties} parties, {count} triples");
            assert_eq!(triples[0].len(), count);
            for (me, counters) in counters.iter().enumerate() {
                for peer in (0..parties).filter(|&peer| peer != me) {
                    let sent = |phase| counters.with_peer(phase, peer).sent_bytes;
                    assert_eq!(sent(Phase::Offline), cost::triples_bytes(Field::Prime, &params(), count));
                }
            }
        }
    }
}

#[test]
fn several_batches_follow_one_another() {
    let count = BATCH + 3;
    let world = World::new(2, 0);
    let had = all(play(&world, 2, 1, |session, preprocessing| {
        let triples = preprocessing.triples(session, count)?;
        Ok((triples, session.mesh().counters().in_phase(Phase::Offline).sent_bytes))
    }));
    let (triples, bytes): (Vec<_>, Vec<_>) = had.into_iter().unzip();
    assert!(check_triples(&triples));
    let base = cost::triples_base_bytes(Field::Prime, &params(), count);
    assert!(base > 0, "MACs of a whole batch are made by vector OLE");
    assert_eq!(bytes, [base + cost::triples_bytes(Field::Prime, &params(), count); 2]);
    let a = values(triples.iter().map(|triples| &triples.a));
    assert_eq!(a.iter().collect::<HashSet<_>>().len(), count);
}

#[test]
fn owners_know_their_values_and_pay_for_them() {
    // Those of the last go by vector OLE, and take two rounds.
    for counts in
        [vec![3, 0], vec![70, 1], vec![0, 2, 130], vec![2, 0, 1, 5], vec![0, 1, 0, 3, 2], vec![1, 10_500, 0]]
    {
        let (parties, most) = (counts.len(), counts.iter().copied().max().unwrap_or_default());
        let base = cost::inputs_base_bytes(Field::Prime, &params(), most);
        assert_eq!(base > 0, most > 1000);
        let had = all(play(&World::new(parties, 0), parties, 1, |session, preprocessing| {
            let inputs = preprocessing.inputs(session, &counts)?;
            let counters = session.mesh().counters();
            session.mesh().set_phase(Phase::Output);
            for shares in &inputs.shares {
                preprocessing.open(session, shares)?;
            }
            Ok((inputs, counters))
        }));
        let (inputs, counters): (Vec<Inputs>, Vec<_>) = had.into_iter().unzip();
        for (owner, &count) in counts.iter().enumerate() {
            let shared = values(inputs.iter().map(|inputs| &inputs.shares[owner]));
            assert_eq!(*inputs[owner].values, *shared);
            assert_eq!(shared.len(), count);
            let to = usize::from(owner == 0);
            let sent = counters[owner].with_peer(Phase::Offline, to).sent_bytes;
            assert_eq!(sent, base + cost::inputs_bytes(Field::Prime, &params(), count, most));
        }
    }
}

#[test]
fn squares_and_bits_are_what_they_say() {
    for parties in [2, 3] {
        let had = all(play(&World::new(parties, 0), parties, 1, |session, preprocessing| {
            let sent = |session: &mut tacit_session::Session| {
                session.mesh().counters().in_phase(Phase::Offline).sent_bytes
            };
            let squares = preprocessing.squares(session, COUNT)?;
            let between = sent(session);
            let bits = preprocessing.bits(session, 200)?;
            let bytes = [between, sent(session) - between];
            session.mesh().set_phase(Phase::Output);
            for shares in [&squares.roots, &squares.squares, &bits] {
                preprocessing.open(session, shares)?;
            }
            Ok((squares, bits, bytes))
        }));
        let roots = values(had.iter().map(|(squares, ..)| &squares.roots));
        let squares = values(had.iter().map(|(squares, ..)| &squares.squares));
        assert!(roots.iter().zip(&squares).all(|(root, square)| root.wrapping_mul(*root) == *square));
        let bits = values(had.iter().map(|(_, bits, _)| bits));
        let ones = bits.iter().filter(|bit| **bit == Fp128::ONE).count();
        assert!(bits.iter().all(|bit| [Fp128::ZERO, Fp128::ONE].contains(bit)));
        // 200 fair coins: outside of this with 2^-40 or less.
        assert!((49..=151).contains(&ones), "{ones} of 200");
        let links = parties as u64 - 1;
        for (.., bytes) in &had {
            let expected =
                [cost::squares_bytes(Field::Prime, &params(), COUNT), cost::bits_bytes(&params(), 200)];
            assert_eq!(*bytes, expected.map(|bytes| links * bytes));
        }
    }
}

#[test]
fn the_setup_costs_what_it_should() {
    let had = all(play(&World::new(3, 0), 3, 1, |session, _| Ok(session.mesh().counters())));
    for (me, counters) in had.iter().enumerate() {
        for peer in (0..3).filter(|&peer| peer != me) {
            // What the handshake sends beside it: an agreement and a hash.
            let sent = counters.with_peer(Phase::Setup, peer).sent_bytes;
            let handshake = sent - cost::setup_bytes(Field::Prime, &params());
            assert!((32..1000).contains(&handshake), "{handshake} bytes");
        }
    }
}

/// Shares alone say nothing: each party's are new in every run, whatever the others' are.
#[test]
fn shares_of_one_party_are_none_of_anothers() {
    let had =
        all(play(&World::new(2, 0), 2, 1, |session, preprocessing| preprocessing.triples(session, COUNT)));
    let mut seen = HashSet::new();
    for triples in &had {
        for Shares { values, macs } in [&triples.a, &triples.b, &triples.c] {
            seen.extend(values.iter().chain(macs.iter()).map(|element| element.to_u128()));
        }
    }
    assert_eq!(seen.len(), 2 * 3 * 2 * COUNT);
    assert!(sums(&[&had[0].a.values, &had[1].a.values]).iter().all(|sum| *sum != Fp128::ZERO));
}

#[test]
fn no_two_messages_have_one_address_and_lengths_tell_nothing() {
    let shape = |seed| {
        let world = World::new(3, 0);
        all(play(&world, 3, seed, |session, preprocessing| {
            preprocessing.triples(session, COUNT)?;
            preprocessing.inputs(session, &[2, 0, 65])?;
            preprocessing.bits(session, 3)
        }));
        let shape = world.trace().skeleton();
        let addresses: HashSet<_> = shape.iter().map(|&(from, to, at, _)| (from, to, at)).collect();
        assert_eq!(addresses.len(), shape.len());
        shape
    };
    assert_eq!(shape(1), shape(2));
}
