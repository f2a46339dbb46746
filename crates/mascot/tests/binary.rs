//! Preprocessing over GF(2^128) and over primes of other lengths, and without MACs: that it is right, and what it costs.

mod common;

use common::{check_triples, params, play_in, values};
use tacit_kernel::field::Fp128;
use tacit_kernel::gf128::Gf128;
use tacit_kernel::mersenne::Fp;
use tacit_mascot::{CHECKED_TOGETHER, FieldElement, Passive, Preprocessing, cost};
use tacit_ot::copee::Field;
use tacit_ot::{Params, Security};
use tacit_session::{Agreement, Error, Phase, Session};
use tacit_testkit::{Draws, World, party_names};

/// Triples of each test; no multiple of a message's.
const COUNT: usize = 25;

fn sent(session: &mut Session) -> u64 {
    session.mesh().counters().in_phase(Phase::Offline).sent_bytes
}

#[test]
fn all_that_is_made_is_right_and_costs_what_it_should() {
    for parties in 2..=4 {
        let counts: Vec<usize> = (0..parties).map(|party| 7 * party).collect();
        let links = World::new(parties, 0).transports();
        let had = play_in(
            links,
            parties,
            1,
            |_| (),
            |session, preprocessing: &mut Preprocessing<Gf128>| {
                let triples = preprocessing.triples(session, COUNT)?;
                let first = sent(session);
                let inputs = preprocessing.inputs(session, &counts)?;
                let second = sent(session);
                let squares = preprocessing.squares(session, 3)?;
                let third = sent(session);
                let bits = preprocessing.bits(session, 200)?;
                let bytes = [first, second - first, third - second, sent(session) - third];
                // That opened values pass the check shows that MACs are right.
                session.mesh().set_phase(Phase::Output);
                let shares = [&triples.a, &triples.b, &triples.c, &squares.roots, &squares.squares, &bits];
                for shares in shares.into_iter().chain(&inputs.shares) {
                    preprocessing.open(session, shares)?;
                }
                Ok((triples, inputs, squares, bits, bytes))
            },
        );
        let had: Vec<_> = had.into_iter().map(|had| had.expect("nobody deviates")).collect();

        let triples: Vec<_> = had.iter().map(|(triples, ..)| triples.clone()).collect();
        assert!(check_triples(&triples), "{parties} parties");
        for (owner, (_, own, ..)) in had.iter().enumerate() {
            assert_eq!(*own.values, *values(had.iter().map(|(_, inputs, ..)| &inputs.shares[owner])));
        }
        let roots = values(had.iter().map(|(_, _, squares, ..)| &squares.roots));
        let squares = values(had.iter().map(|(_, _, squares, ..)| &squares.squares));
        assert!(roots.iter().zip(&squares).all(|(root, square)| root.wrapping_mul(*root) == *square));
        let bits: Vec<Gf128> = values(had.iter().map(|(_, _, _, bits, _)| bits));
        let ones = bits.iter().filter(|bit| **bit == Gf128::ONE).count();
        assert!(bits.iter().all(|bit| bit.0 < 2));
        // 200 fair coins: outside of this with 2^-40 or less.
        assert!((49..=151).contains(&ones), "{ones} of 200");

        let (field, params, most) = (Field::Binary, params(), 7 * (parties - 1));
        for (me, (.., bytes)) in had.iter().enumerate() {
            let expected = [
                cost::triples_bytes(field, &params, COUNT),
                cost::inputs_bytes(field, &params, counts[me], most),
                cost::squares_bytes(field, &params, 3),
                cost::checked_bits_bytes(&params, 200),
            ];
            assert_eq!(*bytes, expected.map(|bytes| (parties as u64 - 1) * bytes));
        }
    }
}

/// Triples, input tuples and squares in a prime field: that they are right, with MACs that pass, and cost what they should.
fn prime_field_makes<E: FieldElement>() {
    for parties in 2..=3 {
        let counts: Vec<usize> = (0..parties).map(|party| 3 * party).collect();
        let links = World::new(parties, 0).transports();
        let had = play_in(
            links,
            parties,
            1,
            |_| (),
            |session, preprocessing: &mut Preprocessing<E>| {
                let triples = preprocessing.triples(session, COUNT)?;
                let first = sent(session);
                let inputs = preprocessing.inputs(session, &counts)?;
                let second = sent(session);
                let squares = preprocessing.squares(session, 3)?;
                let bytes = [first, second - first, sent(session) - second];
                let setup = session.mesh().counters().in_phase(Phase::Setup).sent_bytes;
                session.mesh().set_phase(Phase::Output);
                let shares = [&triples.a, &triples.b, &triples.c, &squares.roots, &squares.squares];
                for shares in shares.into_iter().chain(&inputs.shares) {
                    preprocessing.open(session, shares)?;
                }
                Ok((triples, inputs, squares, bytes, setup))
            },
        );
        let had: Vec<_> = had.into_iter().map(|had| had.expect("nobody deviates")).collect();
        let triples: Vec<_> = had.iter().map(|(triples, ..)| triples.clone()).collect();
        assert!(check_triples(&triples), "{parties} parties");
        for (owner, (_, own, ..)) in had.iter().enumerate() {
            assert_eq!(*own.values, *values(had.iter().map(|(_, inputs, ..)| &inputs.shares[owner])));
        }
        let roots = values(had.iter().map(|(_, _, squares, ..)| &squares.roots));
        let squares = values(had.iter().map(|(_, _, squares, ..)| &squares.squares));
        assert!(roots.iter().zip(&squares).all(|(root, square)| root.wrapping_mul(*root) == *square));

        let (field, params, others) = (E::FIELD, params(), parties as u64 - 1);
        for (me, (.., bytes, setup)) in had.iter().enumerate() {
            let expected = [
                cost::triples_bytes(field, &params, COUNT),
                cost::inputs_bytes(field, &params, counts[me], 3 * (parties - 1)),
                cost::squares_bytes(field, &params, 3),
            ];
            assert_eq!(*bytes, expected.map(|bytes| others * bytes), "{field:?}");
            // The handshake is in the same phase.
            let handshake = setup / others - cost::setup_bytes(field, &params);
            assert!((32..1000).contains(&handshake), "{handshake} bytes");
        }
    }
}

#[test]
fn a_field_of_64_bits_has_triples() {
    prime_field_makes::<Fp<1>>();
}

#[test]
fn a_field_of_256_bits_has_triples() {
    prime_field_makes::<Fp<4>>();
}

#[test]
fn a_field_of_512_bits_has_triples() {
    prime_field_makes::<Fp<8>>();
}

/// Triples in batches, of which the last is short; and more than are checked together.
#[test]
fn batches_of_triples_follow_one_another() {
    follow::<Fp<8>>(tacit_mascot::batch_size(Field::Prime512) + 1);
    follow::<Fp<1>>(CHECKED_TOGETHER * tacit_mascot::batch_size(Field::Prime64) + 2);
}

fn follow<E: FieldElement>(count: usize) {
    let links = World::new(2, 0).transports();
    let had = play_in(
        links,
        2,
        1,
        |_| (),
        |session, preprocessing: &mut Preprocessing<E>| {
            let triples = preprocessing.triples(session, count)?;
            let bytes = sent(session);
            session.mesh().set_phase(Phase::Output);
            preprocessing.open(session, &triples.c)?;
            Ok((triples, bytes))
        },
    );
    let had: Vec<_> = had.into_iter().map(|had| had.expect("nobody deviates")).collect();
    assert!(check_triples(&had.iter().map(|(triples, _)| triples.clone()).collect::<Vec<_>>()));
    assert!(had.iter().all(|(_, bytes)| *bytes == cost::triples_bytes(E::FIELD, &params(), count)));
}

/// Opens triples without MACs, and says whether they are products, and what they cost.
fn passive<E: FieldElement>(parties: usize, params: Params) -> Vec<Result<(bool, u64), Error>> {
    let agreement = Agreement::among(party_names(parties), "passive", params.to_string());
    let links = World::new(parties, 0).transports();
    tacit_testkit::play(links, &agreement, &Draws::fixed(2), |session| {
        let mut passive = Passive::setup(session, params, 0)?;
        session.mesh().set_phase(Phase::Offline);
        let made = passive.triples::<E>(session, COUNT)?;
        let bytes = sent(session);
        session.mesh().set_phase(Phase::Output);
        let a = passive.open(session, &made.a)?;
        let b = passive.open(session, &made.b)?;
        let c = passive.open(session, &made.c)?;
        Ok((a.iter().zip(&b).zip(&c).all(|((a, b), c)| a.wrapping_mul(*b) == *c), bytes))
    })
}

#[test]
fn triples_without_macs_are_right_and_cost_what_they_should() {
    let params = Params::new(4, Security::SemiHonest).and_then(|params| params.with_rows(512));
    let params = params.expect("there are such batches");
    for parties in [2, 3] {
        let right = |field| (true, (parties as u64 - 1) * cost::passive_bytes(field, &params, COUNT));
        let are = |had: Vec<Result<_, Error>>, field| {
            assert!(had.into_iter().all(|had| had.expect("nobody deviates") == right(field)), "{field:?}");
        };
        are(passive::<Fp128>(parties, params), Field::Prime);
        are(passive::<Gf128>(parties, params), Field::Binary);
        are(passive::<Fp<1>>(parties, params), Field::Prime64);
        are(passive::<Fp<4>>(parties, params), Field::Prime256);
    }
    // Parameters against parties that deviate would promise what nobody checks.
    assert!(passive::<Fp128>(2, Params::DEFAULT).iter().all(Result::is_err));
}
