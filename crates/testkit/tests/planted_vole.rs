//! Mistakes planted in vector OLE: each lets an attacker through whom the right form notices, or who learns nothing there.

use std::sync::{Arc, Mutex};

use tacit_kernel::Element;
use tacit_kernel::field::Fp128;
use tacit_ot::copee::{self, Field};
use tacit_ot::planted::{Mistake, plant};
use tacit_ot::vole::{Correlations, Vole};
use tacit_ot::{Ot, Params, Roles, step};
use tacit_session::{Agreement, Error, Session};
use tacit_testkit::{Draws, Fate, Interceptor, World, party_names};

/// Both parties' number.
const DELTA: u128 = 0x1234_5678_9abc_def0_0fed_cba9_8765_4321;

/// Steps of two extensions, of a round each: the second one takes what the first one has left of the base.
const EXTENSIONS: [u32; 2] = [3, 4];

/// Extensions of two parties, each with its mistakes: what each has of all.
fn play(
    extensions: &[u32],
    interceptor: Interceptor,
    mistakes: [&'static [Mistake]; 2],
    seed: u64,
) -> Vec<Result<Vec<Correlations>, Error>> {
    let params = Params::DEFAULT.with_rows(1024).expect("there are such batches");
    let world = World::new(2, 0).intercept(interceptor);
    let agreement = Agreement::among(party_names(2), "vole", params.to_string());
    tacit_testkit::play(world.transports(), &agreement, &Draws::fixed(seed), |session| {
        plant(mistakes[session.me()]);
        make(session, params, extensions)
    })
}

fn make(session: &mut Session, params: Params, extensions: &[u32]) -> Result<Vec<Correlations>, Error> {
    let peer = 1 - session.me();
    let mut ot = Ot::setup(session, &[peer], Roles::Both, params, 0)?;
    let mut products = copee::initialize(session, &[peer], Field::Prime, &DELTA.to_le_bytes(), 1)?;
    let mut links: Vec<_> = products.iter_mut().map(|(own, theirs)| (peer, own, theirs)).collect();
    let mut vole = Vole::base(session, &mut links, 2)?;
    let mut all = Vec::new();
    for &op in extensions {
        let made;
        (vole, made) = vole.extend(session, &mut ot, op, 1)?;
        all.extend(made);
    }
    Ok(all)
}

/// Of what `P_1` has of its own values, how many products are wrong.
fn wrong(had: &[Result<Vec<Correlations>, Error>]) -> usize {
    let [theirs, own] = [0, 1].map(|party| had[party].as_ref().expect("nobody notices"));
    let element = |word: &u128| Fp128::from_u128(*word);
    let products = own
        .iter()
        .zip(theirs)
        .flat_map(|(own, theirs)| own.values.iter().zip(&*own.shares).zip(&*theirs.theirs));
    let sum = |t, q| element(t).wrapping_add(element(q));
    products.filter(|((u, t), q)| sum(t, q) != element(u).wrapping_mul(element(&DELTA))).count()
}

/// Alters the first message of a step's part on its way from a party.
fn altering(from: usize, op: u32, part: u16, alter: impl Fn(&mut [u8]) + Send + 'static) -> Interceptor {
    Box::new(move |message| {
        let mut frame = message.frame.clone();
        if (message.from, frame.at.part, frame.at.op, frame.at.batch) == (from, part, op, 0) {
            alter(&mut frame.payload);
        }
        Fate::Replace(vec![frame])
    })
}

fn is_rejected(had: &[Result<Vec<Correlations>, Error>]) -> bool {
    had.iter().any(|had| had.as_ref().is_err_and(Error::is_failed_check))
}

/// The verifier sends another sum of a side of a tree, and goes on whatever the prover says: whether products are
/// wrong tells where noise is.
#[test]
fn wrong_trees_tell_places_unless_they_are_checked() {
    for op in EXTENSIONS {
        let attack = |mistakes: &'static [Mistake], seed| {
            // The second level's sums of tree 500, the rows of which are handed out.
            let alter = |message: &mut [u8]| message[500 * 32] ^= 1;
            play(
                &EXTENSIONS,
                altering(0, op, step::VOLE_TREES, alter),
                [&[Mistake::SideUncompared], mistakes],
                seed,
            )
        };
        let seen = [0, 1, 2, 3, 4, 5].map(|seed| wrong(&attack(&[Mistake::NoiseUnchecked], seed)) > 0);
        assert!(seen.contains(&true) && seen.contains(&false), "step {op}: {seen:?}");
        for (seed, wrong) in (0..).zip(seen) {
            assert_eq!(is_rejected(&attack(&[], seed)), wrong, "step {op}: it passes if the guess is right");
        }
    }
}

/// The prover sends another `y`: the verifier's side of the check is off by its number.
#[test]
fn another_y_tells_the_key_unless_sides_are_compared() {
    for op in EXTENSIONS {
        let attack = |mistakes| {
            // P_1's side, and P_0's if it opens it.
            let sides = Arc::new(Mutex::new([None; 2]));
            let seen = Arc::clone(&sides);
            let interceptor: Interceptor = Box::new(move |message| {
                let mut frame = message.frame.clone();
                let word = |bytes: &[u8]| {
                    Fp128::from_u128(u128::from_le_bytes(*bytes.first_chunk().expect("an element")))
                };
                match (message.from, frame.at.part) {
                    _ if frame.at.op != op => {}
                    (1, step::VOLE_COIN) => {
                        let y = word(&frame.payload[16..]).wrapping_add(Fp128::ONE);
                        frame.payload[16..].copy_from_slice(&y.to_u128().to_le_bytes());
                    }
                    (1, step::VOLE_SIDE) => {
                        seen.lock().expect("nobody panics")[0] = Some(word(&frame.payload));
                    }
                    (0, step::VOLE_OPENING) => {
                        seen.lock().expect("nobody panics")[1] = Some(word(&frame.payload));
                    }
                    _ => {}
                }
                Fate::Replace(vec![frame])
            });
            let had = play(&EXTENSIONS, interceptor, mistakes, 7);
            let sides = *sides.lock().expect("nobody panics");
            (is_rejected(&had), sides)
        };
        let (_, [own, opened]) = attack([&[Mistake::SideUncompared], &[]]);
        let difference = opened.and_then(|opened| Some(opened.wrapping_sub(own?)));
        assert_eq!(difference, Some(Fp128::from_u128(DELTA)), "step {op}");
        let (rejected, [own, opened]) = attack([&[], &[]]);
        assert!(rejected && own.is_some() && opened.is_none(), "step {op}");
    }
}

/// The prover uses another factor for the highest bit of the verifier's number, which is 0: it passes, and says so. For a bit
/// that is 1 the base is wrong, and the check notices.
#[test]
fn other_factors_for_a_bit_make_wrong_products_unless_the_base_is_checked() {
    for (bit, ones) in [(127, false), (124, true)] {
        assert_eq!(DELTA >> bit & 1 == 1, ones);
        // Words of a bit stand together, from the highest bit down; there are 128 products in a message.
        let at = 16 * 128 * (127 - bit);
        let attack = |mistakes| {
            let alter = altering(1, 2, step::VOLE_BASE, move |message| message[at] ^= 1);
            play(&EXTENSIONS[..1], alter, mistakes, 8)
        };
        assert_eq!(wrong(&attack([&[Mistake::BaseUnchecked], &[]])) > 0, ones);
        assert_eq!(is_rejected(&attack([&[], &[]])), ones);
    }
}
