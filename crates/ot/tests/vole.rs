//! Vector OLE: that products are right, what they cost, and what becomes of altered messages.

mod common;

use common::play;
use tacit_kernel::Element;
use tacit_kernel::field::Fp128;
use tacit_ot::copee::{self, Field};
use tacit_ot::vole::{Correlations, Vole};
use tacit_ot::{Ot, Params, Roles, Security, step};
use tacit_session::{Error, Phase, Session};
use tacit_testkit::{Draws, Fate, Interceptor, World};

fn params() -> Params {
    Params::DEFAULT.with_rows(1024).expect("there are such batches")
}

/// A party's number.
fn delta(party: usize) -> Fp128 {
    Fp128::from_u128(0x1234_5678_9abc_def0_0fed_cba9_8765_4321 * (party as u128 + 3))
}

/// A base, and correlations in one request after another: those of the last one.
fn make(session: &mut Session, counts: &[usize]) -> Result<Vec<Correlations>, Error> {
    make_of(session, params(), Field::Prime, counts)
}

/// The same, of these OTs and products.
fn make_of(
    session: &mut Session,
    params: Params,
    field: Field,
    counts: &[usize],
) -> Result<Vec<Correlations>, Error> {
    let me = session.me();
    let peers: Vec<usize> = session.others().collect();
    let mut ot = Ot::setup(session, &peers, Roles::Both, params, 0)?;
    let mut products = copee::initialize(session, &peers, field, &delta(me).to_u128().to_le_bytes(), 1)?;
    session.mesh().set_phase(Phase::Offline);
    let mut links: Vec<_> =
        peers.iter().zip(&mut products).map(|(peer, (own, theirs))| (*peer, own, theirs)).collect();
    let mut vole = Vole::base(session, &mut links, 2)?;
    let mut last = Vec::new();
    for (op, &count) in (3..).zip(counts) {
        (vole, last) = vole.extend(session, &mut ot, op, count)?;
    }
    Ok(last)
}

/// The values of products' shares, or an error if they aren't products.
fn check(had: &[Vec<Correlations>]) -> Result<Vec<Fp128>, (usize, usize)> {
    let element = |word: &u128| Fp128::from_u128(*word);
    let mut all = Vec::new();
    for (me, made) in had.iter().enumerate() {
        for own in made {
            let theirs = had[own.peer].iter().find(|one| one.peer == me).expect("it is their peer");
            let products = own.values.iter().zip(&*own.shares).zip(&*theirs.theirs);
            for ((u, t), q) in products {
                if element(t).wrapping_add(element(q)) != element(u).wrapping_mul(delta(own.peer)) {
                    return Err((me, own.peer));
                }
                all.push(element(u));
            }
        }
    }
    Ok(all)
}

#[test]
fn shares_are_those_of_the_products_and_cost_what_they_should() {
    for (parties, counts) in [(2, &[5, Vole::MADE + 1][..]), (3, &[1])] {
        let had = play(&World::new(parties, 0), parties, &params(), &Draws::fixed(1), |session| {
            let made = make(session, counts)?;
            Ok((made, session.mesh().counters()))
        });
        let (made, counters): (Vec<_>, Vec<_>) =
            had.into_iter().map(|had| had.expect("nobody deviates")).unzip();
        let mut values = check(&made).expect("they are products");
        let expected = counts.last().map_or(0, |count| count.div_ceil(Vole::MADE) * Vole::MADE);
        assert_eq!(values.len(), expected * parties * (parties - 1));
        // No value is another's, of another round or with another peer.
        values.sort_unstable_by_key(|value| value.to_u128());
        assert!(values.windows(2).all(|pair| pair[0] != pair[1]));
        let bytes =
            counts.iter().map(|&count| Vole::bytes(&params(), count)).sum::<u64>() + Vole::base_bytes();
        for (me, counters) in counters.iter().enumerate() {
            for peer in (0..parties).filter(|&peer| peer != me) {
                assert_eq!(counters.with_peer(Phase::Offline, peer).sent_bytes, bytes);
            }
        }
    }
}

#[test]
fn unchecked_transfers_and_binary_products_are_refused() {
    let unchecked = Params::new(4, Security::SemiHonest)
        .and_then(|params| params.with_rows(1024))
        .expect("there are such");
    for (params, field, why) in [
        (unchecked, Field::Prime, "oblivious transfers that are checked"),
        (params(), Field::Binary, "the prime field alone"),
    ] {
        let had = play(&World::new(2, 0), 2, &params, &Draws::fixed(1), |session| {
            make_of(session, params, field, &[1])
        });
        assert!(said(&had).contains(why), "{}", said(&had));
    }
}

#[test]
fn parameters_fit_a_batch_of_triples() {
    assert_eq!([Vole::TAKEN, Vole::MADE], [3231, 5 * 2016 + 1]);
}

/// Extensions, and the step and round of them that is attacked.
struct Place {
    counts: &'static [usize],
    op: u32,
    round: u32,
}

/// The round that takes what the base has made; and those that take what the round before has left, in an extension of its
/// own, and in the same one.
const PLACES: [Place; 3] = [
    Place { counts: &[1], op: 3, round: 0 },
    Place { counts: &[1, 1], op: 4, round: 0 },
    Place { counts: &[Vole::MADE + 1], op: 3, round: 1 },
];

/// Of a run of two whose messages of a part are altered from `P_0` to `P_1`: in the base, or in a round.
fn altered(
    place: &Place,
    part: u16,
    alter: impl Fn(&mut [u8]) + Send + 'static,
) -> Vec<Result<Vec<Correlations>, Error>> {
    let at = if part < step::VOLE_TREES { (2, 0) } else { (place.op, place.round) };
    let interceptor: Interceptor = Box::new(move |message| {
        let mut frame = message.frame.clone();
        if (message.from, frame.at.part, (frame.at.op, frame.at.batch)) == (0, part, at) {
            alter(&mut frame.payload);
        }
        Fate::Replace(vec![frame])
    });
    let world = World::new(2, 0).intercept(interceptor);
    play(&world, 2, &params(), &Draws::fixed(2), |session| make(session, place.counts))
}

/// All that both said.
fn said(had: &[Result<Vec<Correlations>, Error>]) -> String {
    had.iter().filter_map(|had| had.as_ref().err()).map(ToString::to_string).collect()
}

fn is_failed_check(had: &[Result<Vec<Correlations>, Error>]) -> bool {
    had.iter().any(|had| had.as_ref().is_err_and(Error::is_failed_check))
}

#[test]
fn whatever_is_altered_in_a_round_is_noticed() {
    for place in &PLACES {
        // All first sums of all trees: some are used. The one whose trees were altered on the way sees it first. (A corrupt one
        // wouldn't say so: then the prover does.)
        altered_trees_are_noticed(place, |message| {
            message.as_chunks_mut::<32>().0.iter_mut().for_each(|sums| sums[0] ^= 1);
        });
        altered_trees_are_noticed(place, |message| *message.last_mut().expect("a sum") ^= 1);
        for (part, byte, why) in [
            (step::VOLE_COIN, 0, "side of a vector OLE"),
            (step::VOLE_COIN, 16, "side of a vector OLE"),
            (step::VOLE_SIDE, 3, "side of a vector OLE"),
            (step::VOLE_COMMITMENT, 3, "trees of a vector OLE"),
            (step::VOLE_OPENING, 3, "trees of a vector OLE"),
            (step::VOLE_OPENING, 20, "trees of a vector OLE"),
        ] {
            let had = altered(place, part, move |message| message[byte] ^= 4);
            let (said, Place { op, round, .. }) = (said(&had), place);
            assert!(is_failed_check(&had), "step {op}, round {round}, part {part:#x}, byte {byte}: {said}");
            assert!(said.contains(why), "step {op}, round {round}, part {part:#x}, byte {byte}: {said}");
        }
    }
}

fn altered_trees_are_noticed(place: &Place, alter: fn(&mut [u8])) {
    let said = said(&altered(place, step::VOLE_TREES, alter));
    assert!(said.contains("side of a vector OLE"), "step {}, round {}: {said}", place.op, place.round);
}

#[test]
fn whatever_is_altered_in_the_bases_check_is_noticed() {
    for (part, byte) in [(step::VOLE_BASE_COIN, 3), (step::VOLE_BASE_ANSWER, 3), (step::VOLE_BASE_ANSWER, 19)]
    {
        let had = altered(&PLACES[0], part, move |message| message[byte] ^= 4);
        assert!(is_failed_check(&had), "part {part:#x}, byte {byte}: {}", said(&had));
        assert!(said(&had).contains("factors of a vector OLE"), "part {part:#x}, byte {byte}");
    }
}

/// A round's messages are for that round alone, though the same base and the same OTs' trees are beneath all of them.
#[test]
fn what_was_sent_in_one_round_is_no_use_in_the_next() {
    for Place { counts, op, round } in &PLACES[1..] {
        for part in step::VOLE_TREES..=step::VOLE_OPENING {
            let mut kept = None;
            let interceptor: Interceptor = Box::new(move |message| {
                let mut frame = message.frame.clone();
                if (message.from, frame.at.part) == (0, part) {
                    if (frame.at.op, frame.at.batch) == (*op, *round) {
                        frame.payload.clone_from(kept.as_ref().expect("a round was before"));
                    }
                    kept = Some(frame.payload.clone());
                }
                Fate::Replace(vec![frame])
            });
            let world = World::new(2, 0).intercept(interceptor);
            let had = play(&world, 2, &params(), &Draws::fixed(2), |session| make(session, counts));
            let said = said(&had);
            assert!(is_failed_check(&had), "step {op}, round {round}, part {part:#x}: {said}");
            assert!(said.contains("of a vector OLE"), "step {op}, round {round}, part {part:#x}: {said}");
        }
    }
}

/// Another factor for 60 bits of the number: that all of them are 0 has the probability 2^-60.
#[test]
fn other_factors_for_a_bit_fail_the_bases_check() {
    // The first product of each of the first 60 lists, of 128 words each.
    let alter = |message: &mut [u8]| {
        message.chunks_exact_mut(16 * 128).take(60).for_each(|list| list[0] ^= 1);
    };
    let had = altered(&PLACES[0], step::VOLE_BASE, alter);
    assert!(said(&had).contains("factors of a vector OLE"), "{}", said(&had));
}
