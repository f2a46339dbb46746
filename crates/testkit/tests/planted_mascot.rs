//! Mistakes planted in MASCOT's preprocessing: each lets an attacker through whom the right form notices, or who learns
//! nothing there.

#[path = "../../mascot/tests/common/mod.rs"]
mod common;

use common::{SETUP, check_triples, play, play_from, play_in, play_on, plus, sums, values};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tacit_kernel::Element;
use tacit_kernel::field::Fp128;
use tacit_kernel::gf128::Gf128;
use tacit_mascot::planted::{Mistake, plant, set_tap, use_two_keys};
use tacit_mascot::{Preprocessing, Shares, Squares, Triples, step};
use tacit_net::{ErrorKind, Event, Frame};
use tacit_session::{Commitment, Error, OsEntropy, Session};
use tacit_testkit::react::{Act, Attacker, reacting};
use tacit_testkit::{Fate, Interceptor, World};

const COUNT: usize = 2;

/// What a corrupt party does with what it computes with.
type Tap = fn() -> Box<dyn FnMut(&'static str, &mut [Fp128])>;

/// Mistakes in all parties, of whom some are corrupt and compute with other numbers.
fn made(
    parties: usize,
    mistakes: &'static [Mistake],
    corrupt: &[usize],
    tap: Tap,
) -> Vec<Result<Triples, Error>> {
    play(&World::new(parties, 0), parties, 1, |session, preprocessing| {
        plant(mistakes);
        if corrupt.contains(&session.me()) {
            set_tap(tap());
        }
        preprocessing.triples(session, COUNT)
    })
}

fn is_rejected<T>(had: &[Result<T, Error>]) -> bool {
    had.iter().any(|had| had.as_ref().is_err_and(Error::is_failed_check))
}

/// Whether all parties have triples that aren't.
fn are_wrong(had: Vec<Result<Triples, Error>>) -> bool {
    let triples: Vec<Triples> = had.into_iter().map(|had| had.expect("nobody notices")).collect();
    !check_triples(&triples)
}

fn add(element: &mut Fp128, number: u128) {
    *element = element.wrapping_add(Fp128::from_u128(number));
}

/// Corrupt parties take another `b` for the lowest bit of `P_0`'s first factor. If that bit is 1 the product is wrong, and the
/// run ends; if not nobody notices, and they know the bit.
#[test]
fn guessed_bits_are_bits_of_factors_unless_products_are_combined() {
    let guess = |parties: usize, corrupt: &'static [usize], mistakes: &'static [Mistake], seed| {
        let flip: Interceptor = Box::new(move |message| {
            let mut frame = message.frame.clone();
            let is_a_guess = corrupt.contains(&message.from) && message.to == 0;
            if is_a_guess && (frame.at.part, frame.at.batch) == (step::PRODUCTS, 0) {
                let word = frame.payload.first_chunk_mut().expect("a difference");
                *word = plus(*word, 1);
            }
            Fate::Replace(vec![frame])
        });
        let mut had =
            play(&World::new(parties, 0).intercept(flip), parties, seed, |session, preprocessing| {
                plant(mistakes);
                preprocessing.triples(session, COUNT)
            });
        let bit = |triples: Triples| triples.a.values[0].to_u128() & 1;
        let passed = had.iter().all(Result::is_ok).then(|| had.remove(0).map(bit).expect("it passed"));
        assert!(passed.is_some() || is_rejected(&had));
        passed
    };
    let cases = [(2, &[1][..], 24, 5..20), (3, &[1], 14, 2..13), (3, &[1, 2], 14, 2..13)];
    for (parties, corrupt, seeds, likely) in cases {
        let seen = |mistakes| -> Vec<u128> {
            (0..seeds).filter_map(|seed| guess(parties, corrupt, mistakes, seed)).collect()
        };
        // About half of all guesses are right, in both forms.
        let [known, hidden] = [seen(&[Mistake::NotCombined]), seen(&[])];
        assert!([&known, &hidden].iter().all(|all| likely.contains(&all.len())), "{known:?} {hidden:?}");
        assert!(known.iter().all(|bit| *bit == 0), "it is the factor's bit: {known:?}");
        assert_eq!(BTreeSet::from_iter(hidden), BTreeSet::from([0, 1]), "it says nothing of the factor");
    }
}

/// Corrupt parties have a wrong share of `c` authenticated.
#[test]
fn wrong_products_pass_without_the_check_of_macs() {
    let tap: Tap = || {
        Box::new(|what, elements| {
            if what == "authenticated" {
                add(&mut elements[2 * COUNT], 1);
            }
        })
    };
    for (parties, corrupt) in [(2, &[1][..]), (3, &[1]), (3, &[0, 2])] {
        assert!(are_wrong(made(parties, &[Mistake::MacsUnchecked], corrupt, tap)));
        assert!(is_rejected(&made(parties, &[], corrupt, tap)));
    }
}

/// Corrupt parties commit to something else than what is left of their MACs, or open a wrong share to everybody.
#[test]
fn wrong_shares_of_macs_and_of_openings_are_noticed() {
    let sigma: Tap = || {
        Box::new(|what, elements| {
            if what == "sigma" {
                add(&mut elements[0], 7);
            }
        })
    };
    let opened: Tap = || {
        Box::new(|what, elements| {
            if what == "opened" {
                add(&mut elements[1], 7);
            }
        })
    };
    for tap in [sigma, opened] {
        for (parties, corrupt) in [(2, &[0][..]), (3, &[2]), (3, &[0, 1])] {
            let had = made(parties, &[], corrupt, tap);
            assert!(is_rejected(&had), "{parties} parties");
            let said = had
                .iter()
                .filter_map(|had| had.as_ref().err())
                .any(|error| error.to_string().contains("MACs"));
            assert!(said, "{parties} parties");
        }
    }
}

/// Openings of a party while bits are made: of `rho`, by the sacrifice; of `a - b`, for a square; of `a^2`, for a bit.
const DIFFERENCE: usize = 1;
const SQUARE: usize = 2;

/// Lets the party whose thread this is add to the first value of one of its openings, towards everybody.
fn open_another(which: usize, number: u128) {
    let mut openings = 0;
    set_tap(move |what, elements| {
        if what == "opened" {
            if openings == which {
                add(&mut elements[0], number);
            }
            openings += 1;
        }
    });
}

/// Whether all parties' runs ended, of one at least because of MACs.
fn ended_by_macs<T>(had: &[Result<T, Error>]) -> bool {
    let said: Vec<_> =
        had.iter().filter_map(|had| had.as_ref().err()).filter(|error| error.is_failed_check()).collect();
    had.iter().all(Result::is_err) && said.iter().any(|error| error.to_string().contains("MACs"))
}

const COALITIONS: [(usize, &[usize]); 3] = [(2, &[1]), (3, &[1]), (3, &[0, 2])];

/// With `a - b + e` a square is `a^2 + e a`.
#[test]
fn wrong_differences_make_wrong_squares_without_the_check_of_macs() {
    for (parties, corrupt) in COALITIONS {
        let made = |mistakes: &'static [Mistake]| {
            play(&World::new(parties, 0), parties, 1, |session, preprocessing| {
                plant(mistakes);
                if corrupt.contains(&session.me()) {
                    open_another(DIFFERENCE, 1);
                }
                preprocessing.squares(session, COUNT)
            })
        };
        let taken = made(&[Mistake::MacsUnchecked]).into_iter();
        let taken: Vec<Squares> = taken.map(|had| had.expect("nobody notices")).collect();
        let roots = values(taken.iter().map(|squares| &squares.roots));
        let squares = values(taken.iter().map(|squares| &squares.squares));
        let right = roots.iter().zip(&squares).map(|(root, square)| root.wrapping_mul(*root) == *square);
        assert_eq!(right.collect::<Vec<_>>(), [false, true], "{parties} parties");
        assert!(ended_by_macs(&made(&[])), "{parties} parties");
    }
}

/// With another `a - b`, or another `a^2`, `a / w` is neither 1 nor -1. Half of all numbers have no root `w`: that ends the run
/// even if nobody checks MACs, so several are tried.
#[test]
fn wrong_differences_and_squares_make_wrong_bits_without_the_check_of_macs() {
    for ((parties, corrupt), which) in
        COALITIONS.into_iter().flat_map(|coalition| [DIFFERENCE, SQUARE].map(|which| (coalition, which)))
    {
        let made = |mistakes: &'static [Mistake], number| {
            play(&World::new(parties, 0), parties, 1, |session, preprocessing| {
                plant(mistakes);
                if corrupt.contains(&session.me()) {
                    open_another(which, number);
                }
                preprocessing.bits(session, COUNT)
            })
        };
        let taken = (1..=20).find_map(|number| {
            let had = made(&[Mistake::MacsUnchecked], number).into_iter();
            Some((number, had.collect::<Result<Vec<Shares>, _>>().ok()?))
        });
        let (number, taken) = taken.expect("half of all numbers have a root");
        let are_bits = values(&taken).into_iter().map(|bit| [Fp128::ZERO, Fp128::ONE].contains(&bit));
        assert_eq!(are_bits.collect::<Vec<_>>(), [false, true], "{parties} parties, opening {which}");
        // Whether there is a root isn't looked at before MACs are.
        for number in 1..=number {
            assert!(ended_by_macs(&made(&[], number)), "{parties} parties, opening {which}");
        }
    }
}

/// Who knows `s` beforehand makes `c` and `c^` wrong so that the errors cancel.
#[test]
fn a_coin_before_the_shares_lets_errors_cancel() {
    let tap: Tap = || {
        let known = Rc::new(Cell::new(Fp128::from_u128(77)));
        Box::new(move |what, elements| match what {
            "coin" => known.set(elements[0]),
            "authenticated" => {
                add(&mut elements[2 * COUNT], 1);
                add(&mut elements[4 * COUNT], known.get().to_u128());
            }
            _ => {}
        })
    };
    for (parties, corrupt) in [(2, &[1][..]), (3, &[2])] {
        assert!(are_wrong(made(parties, &[Mistake::SacrificedEarly], corrupt, tap)));
        assert!(is_rejected(&made(parties, &[], corrupt, tap)));
    }
}

/// The owner takes another value for one bit of the other's key share. If that bit is 1 the MAC is wrong. Without the check
/// it is handed out, and the first opening that ends a run or doesn't tells the bit.
#[test]
fn inputs_are_handed_out_with_wrong_macs_unless_these_are_checked() {
    let wrong = |mistakes: &'static [Mistake], seed| {
        let flip: Interceptor = Box::new(|message| {
            let mut frame = message.frame.clone();
            // The value for the key's highest bit.
            if (message.from, frame.at.part) == (0, step::MACS) && frame.at.op >= SETUP {
                let word = frame.payload.first_chunk_mut().expect("a word");
                *word = plus(*word, 1);
            }
            Fate::Replace(vec![frame])
        });
        let found = AtomicBool::new(false);
        play(&World::new(2, 0).intercept(flip), 2, seed, |session, preprocessing| {
            plant(mistakes);
            let inputs = preprocessing.inputs(session, &[1, 0])?;
            let opened = preprocessing.open(session, &inputs.shares[0]);
            found.fetch_or(opened.is_err(), Ordering::Relaxed);
            opened
        });
        found.into_inner()
    };
    assert!((0..12).any(|seed| wrong(&[Mistake::AuthenticatedUnchecked], seed)));
    assert!((0..12).all(|seed| !wrong(&[], seed)));
}

/// Waits for the other's opened `sigma`, and commits to what makes up for it.
struct Rushes {
    op: u32,
    session: Arc<Mutex<[u8; 32]>>,
}

impl Attacker for Rushes {
    fn sends(&mut self, to: usize, frame: Frame, act: &mut Act<'_>) {
        if frame.at.op != self.op || !matches!(frame.at.part, step::COMMITMENT | step::OPENING) {
            act.send(to, frame);
        }
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        if let Event::Frame(frame) = &event
            && (frame.at.part, frame.at.op) == (step::OPENING, self.op)
        {
            let sigma = frame.payload.first_chunk().expect("an element");
            let sigma = Fp128::from_u128(u128::from_le_bytes(*sigma)).wrapping_neg().to_u128().to_le_bytes();
            let id = *self.session.lock().expect("nobody panics");
            let label = format!("mac check 0 {}", self.op);
            let (commitment, opening) =
                Commitment::new(&id, 1, &label, &sigma, &mut OsEntropy).expect("there is randomness");
            act.send(from, Frame::data(frame.at.with_part(step::COMMITMENT), commitment.0.to_vec()));
            act.send(from, Frame::data(frame.at, [&sigma[..], &opening.0].concat()));
        }
        act.hear(from, event);
    }
}

#[test]
fn whoever_sees_sigma_before_it_commits_opens_what_it_likes() {
    // Its own code goes on whatever it sees.
    let attack = |honest: &'static [Mistake], corrupt: &'static [Mistake]| {
        let world = World::new(2, 0);
        let mut links = world.transports();
        let id = Arc::new(Mutex::new([0; 32]));
        let own = links[1].take().expect("it has links");
        links[1] = Some(reacting(own, Box::new(Rushes { op: SETUP + 6, session: Arc::clone(&id) })));
        play_on(links, 2, 1, |session, preprocessing| {
            plant(if session.me() == 0 { honest } else { corrupt });
            if session.me() == 1 {
                *id.lock().expect("nobody panics") = *session.id();
                set_tap(|what, elements| {
                    if what == "authenticated" {
                        add(&mut elements[2 * COUNT], 1);
                    }
                });
            }
            preprocessing.triples(session, COUNT)
        })
    };
    assert!(are_wrong(attack(
        &[Mistake::OpenedWithCommitment],
        &[Mistake::OpenedWithCommitment, Mistake::MacsUnchecked]
    )));
    assert!(attack(&[], &[Mistake::MacsUnchecked])[0].is_err());
}

/// `P_1` puts in `X` in the place of a bit. A sum that this is picked for isn't a bit.
#[test]
fn what_is_no_bit_is_one_unless_it_is_checked() {
    let made = |mistakes: &'static [Mistake]| {
        play_in(
            World::new(2, 0).transports(),
            2,
            1,
            |_| (),
            |session, preprocessing: &mut Preprocessing<Gf128>| {
                plant(mistakes);
                if session.me() == 1 {
                    set_tap(|what, elements| {
                        if what == "bits" {
                            elements[1] = Fp128::from_u128(2);
                        }
                    });
                }
                preprocessing.bits(session, COUNT)
            },
        )
    };
    let bits: Vec<_> =
        made(&[Mistake::BitsUnchecked]).into_iter().map(|had| had.expect("nobody notices")).collect();
    assert!(values(&bits)[1].0 & !1 == 2, "P_0's part is a bit");
    let noticed = made(&[]);
    assert!(is_rejected(&noticed) && noticed.iter().all(Result::is_err));
}

/// Values that are opened differently to two parties end the run in any case; but without the comparison only when `sigma`
/// is opened.
#[test]
fn different_openings_reach_the_macs_unless_they_are_compared() {
    let said = |mistakes: &'static [Mistake]| {
        let alter: Interceptor = Box::new(|message| {
            let mut frame = message.frame.clone();
            let shares = (message.from, message.to, frame.at.part) == (2, 0, step::SHARES);
            if shares && frame.at.op >= SETUP {
                let word = frame.payload.first_chunk_mut().expect("an element");
                *word = plus(*word, 1);
            }
            Fate::Replace(vec![frame])
        });
        let had = play(&World::new(3, 0).intercept(alter), 3, 1, |session, preprocessing| {
            plant(mistakes);
            preprocessing.triples(session, COUNT)
        });
        let all: Vec<String> =
            had.iter().filter_map(|had| had.as_ref().err()).map(ToString::to_string).collect();
        all.concat()
    };
    assert!(said(&[Mistake::OpenedUncompared]).contains("MACs"));
    assert!(said(&[]).contains("what was sent to everybody"));
}

/// `P_2` has a key share for `P_0`, and one that is larger by 1 for `P_1`. What Authenticate opens tells it how to make up for
/// that. It has the tuples accepted, and when `P_0` and `P_1` open the sum of theirs it learns both.
#[test]
fn two_keys_tell_what_a_sum_hides_unless_they_are_bound() {
    let attack = |mistakes: &'static [Mistake]| {
        // What each party has weighed last, and what it opened as its sigma.
        let told = Arc::new(Mutex::new([[Fp128::ZERO; 2]; 3]));
        // Who has accepted tuples, and the values of P_0's and of P_1's.
        let (accepted, secrets) = (Mutex::new(BTreeSet::new()), Mutex::new([Fp128::ZERO; 2]));
        let before = |session: &Session| {
            plant(mistakes);
            let (me, told, mut weighed) = (session.me(), Arc::clone(&told), Vec::new());
            if me == 2 {
                use_two_keys();
            }
            set_tap(move |what, elements| match what {
                "weighed" => weighed.push(elements[0]),
                "sigma" => {
                    // In Authenticate's check there is a sum for each owner: P_1's is off by the difference of keys.
                    if let (2, [_, y, _]) = (me, &weighed[..]) {
                        elements[0] = elements[0].wrapping_sub(*y);
                    }
                    told.lock().expect("nobody panics")[me] = [weighed[0], elements[0]];
                    weighed.clear();
                }
                _ => {}
            });
        };
        let had = play_from(World::new(3, 0).transports(), 3, 1, before, |session, preprocessing| {
            let inputs = preprocessing.inputs(session, &[1, 1, 0])?;
            accepted.lock().expect("nobody panics").insert(session.me());
            if let Some(value) = inputs.values.first() {
                secrets.lock().expect("nobody panics")[session.me()] = *value;
            }
            let add = |x: &[Fp128], y: &[Fp128]| sums(&[x, y]).into();
            let [x, y] = [0, 1].map(|owner| &inputs.shares[owner]);
            let sum = Shares { values: add(&x.values, &y.values), macs: add(&x.macs, &y.macs) };
            preprocessing.open(session, &sum)
        });
        assert!(is_rejected(&had));
        let told = *told.lock().expect("nobody panics");
        let secrets = secrets.into_inner().expect("nobody panics");
        (accepted.into_inner().expect("nobody panics"), told, secrets)
    };
    let (accepted, told, [x, y]) = attack(&[Mistake::KeyUnbound]);
    assert_eq!(accepted, BTreeSet::from([0, 1, 2]));
    // All sigmas add up to the weight times P_1's value, and what was weighed is the weight times the sum of both.
    let sigma = sums(&told.each_ref().map(|[_, sigma]| std::slice::from_ref(sigma)))[0];
    assert_eq!(sigma.wrapping_mul(x.wrapping_add(y)), told[0][0].wrapping_mul(y));
    assert!(y != Fp128::ZERO);

    let (accepted, ..) = attack(&[]);
    assert_eq!(accepted, BTreeSet::new());
}

/// Opens a wrong value, waits for all others' `sigma`, from which it has the key, and hangs up: no check fails.
struct HangsUp {
    op: u32,
    /// Whose `sigma` it waits for.
    others: Vec<usize>,
    /// Whose it has.
    known: Vec<usize>,
    knows: Arc<AtomicBool>,
}

impl Attacker for HangsUp {
    fn sends(&mut self, to: usize, frame: Frame, act: &mut Act<'_>) {
        if (frame.at.part, frame.at.op) != (step::OPENING, self.op) {
            act.send(to, frame);
        }
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        match &event {
            Event::Frame(frame) if (frame.at.part, frame.at.op) == (step::OPENING, self.op) => {
                self.known.push(from);
                if self.known.len() == self.others.len() {
                    self.knows.store(true, Ordering::Relaxed);
                    for &other in &self.others {
                        act.hear(other, Event::Lost(ErrorKind::Closed { how: "hung up".into() }));
                    }
                }
            }
            _ => act.hear(from, event),
        }
    }
}

#[test]
fn nothing_is_left_of_a_key_whose_check_somebody_left() {
    for parties in [2, 3] {
        nothing_is_left(parties);
    }
}

fn nothing_is_left(parties: usize) {
    let knows = Arc::new(AtomicBool::new(false));
    let mut links = World::new(parties, 0).transports();
    let corrupt = links[1].take().expect("it has links");
    // The check of what is opened after the inputs' four steps and a draw for each party.
    let attacker = HangsUp {
        op: SETUP + 5 + parties as u32,
        others: (0..parties).filter(|&party| party != 1).collect(),
        known: Vec::new(),
        knows: Arc::clone(&knows),
    };
    links[1] = Some(reacting(corrupt, Box::new(attacker)));
    let had = play_on(links, parties, 1, |session, preprocessing| {
        let inputs = preprocessing.inputs(session, &vec![2; parties])?;
        if session.me() == 1 {
            set_tap(|what, elements| {
                if what == "opened" {
                    add(&mut elements[0], 1);
                }
            });
        }
        let end = preprocessing.open(session, &inputs.shares[1]).expect_err("its check has no end");
        assert!(!end.is_failed_check(), "{end}");
        // Nor is what nobody has touched.
        for shares in &inputs.shares {
            assert_eq!(preprocessing.open(session, shares), Err(end.clone()));
        }
        let counts: Vec<usize> = (0..parties).map(|party| usize::from(party == 0)).collect();
        assert_eq!(preprocessing.inputs(session, &counts).err(), Some(end.clone()));
        assert_eq!(preprocessing.triples(session, 1).err(), Some(end.clone()));
        Err::<(), Error>(end)
    });
    assert!(had.iter().all(Result::is_err));
    assert!(knows.load(Ordering::Relaxed), "it has the others' sigma, {parties} parties");
}

/// Shares that nobody altered are of the values that their owner has.
#[test]
fn without_mistakes_and_attackers_all_is_well() {
    let had = made(2, &[], &[], || Box::new(|_, _| {}));
    let triples: Vec<Triples> = had.into_iter().map(|had| had.expect("nobody deviates")).collect();
    assert!(check_triples(&triples));
    assert_eq!(values(triples.iter().map(|triples| &triples.a)).len(), COUNT);
}
