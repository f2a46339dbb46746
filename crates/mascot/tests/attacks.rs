//! Whatever corrupt parties send, what honest ones have is right, or their run ends with an error.

mod common;

use common::{SETUP, SETUP_ECHOES, check_triples, play, play_in, plus};
use std::collections::VecDeque;
use std::sync::Mutex;
use tacit_kernel::field::Fp128;
use tacit_kernel::gf128::Gf128;
use tacit_kernel::mersenne::Fp;
use tacit_mascot::{BATCH, CHECKED_TOGETHER, FieldElement, Preprocessing, step};
use tacit_net::{Event, Frame};
use tacit_session::{Error, Session};
use tacit_testkit::react::{Act, Attacker, reacting};
use tacit_testkit::{Fate, Interceptor, World};

const COUNT: usize = 2;

/// Values of which MACs are made by vector OLE.
const MANY: usize = 3400;

/// Numbers of a batch's steps.
const SUMS: u32 = SETUP + 3;
const MADE: u32 = SETUP + 4;
const OPENED: u32 = SETUP + 5;
const CHECKED: u32 = SETUP + 6;
/// How many there are after Multiply.
const STEPS: u32 = 6;

/// The first step after them: `a - b` is opened, and `a^2` next.
const SQUARED: u32 = SETUP + 8;

/// Alters messages of some parts after the setup, on some links. What `alter` is told is the receiver and the step's number.
fn altering(
    part: u16,
    links: &'static [(usize, usize)],
    alter: impl Fn(usize, u32, &mut [u8]) + Send + 'static,
) -> Interceptor {
    Box::new(move |message| {
        let mut frame = message.frame.clone();
        if frame.at.part == part && frame.at.op >= SETUP && links.contains(&(message.from, message.to)) {
            alter(message.to, frame.at.op, &mut frame.payload);
        }
        Fate::Replace(vec![frame])
    })
}

/// Whether everybody has triples, which are right then. Whoever has some while others failed hands nothing out that isn't.
fn made(parties: usize, interceptor: Interceptor) -> Result<(), Error> {
    made_in::<Fp128>(parties, COUNT, interceptor)
}

/// The same for so many in a field.
fn made_in<E: FieldElement>(parties: usize, count: usize, interceptor: Interceptor) -> Result<(), Error> {
    let world = World::new(parties, 0).intercept(interceptor);
    let part = |session: &mut Session, preprocessing: &mut Preprocessing<E>| {
        let triples = preprocessing.triples(session, count)?;
        // Their MACs are theirs, too.
        for shares in [&triples.a, &triples.b, &triples.c] {
            preprocessing.open(session, shares)?;
        }
        Ok(triples)
    };
    let had = play_in(world.transports(), parties, 1, |_| {}, part);
    if let Some(failed) = had.iter().find_map(|had| had.as_ref().err()) {
        // The one that says why, if there is one.
        let why =
            had.iter().filter_map(|had| had.as_ref().err()).find(|error| !matches!(error, Error::Link(_)));
        return Err(why.unwrap_or(failed).clone());
    }
    let had: Vec<_> = had.into_iter().map(|had| had.expect("nobody failed")).collect();
    assert!(check_triples(&had), "wrong triples");
    Ok(())
}

/// A corrupt `P_0`, or corrupt `P_0` and `P_1`, toward all others.
const CORRUPT: [(usize, &[(usize, usize)]); 4] =
    [(2, &[(0, 1)]), (3, &[(0, 1)]), (3, &[(0, 1), (0, 2)]), (3, &[(0, 2), (1, 2)])];

#[test]
fn a_flipped_bit_is_noticed_or_changes_nothing() {
    a_flipped_bit_is_noticed::<Fp128>(&CORRUPT);
}

/// In fields of other lengths, too.
#[test]
fn a_flipped_bit_is_noticed_in_other_fields() {
    a_flipped_bit_is_noticed::<Fp<1>>(&CORRUPT[..2]);
    a_flipped_bit_is_noticed::<Fp<4>>(&CORRUPT[..1]);
    a_flipped_bit_is_noticed::<Fp<8>>(&CORRUPT[..1]);
    a_flipped_bit_is_noticed::<Gf128>(&CORRUPT[..1]);
}

fn a_flipped_bit_is_noticed<E: FieldElement>(corrupt: &[(usize, &'static [(usize, usize)])]) {
    for part in step::PRODUCTS..=step::ACCEPT {
        let mut noticed = 0;
        for &(parties, links) in corrupt {
            for byte in [0, 1000] {
                let end = made_in::<E>(
                    parties,
                    COUNT,
                    altering(part, links, move |_, _, message| {
                        let at = byte % message.len();
                        message[at] ^= 4;
                    }),
                );
                // An oblivious transfer's difference that isn't chosen, or the product with a bit of the key that is 0.
                let guessed = matches!(part, step::PRODUCTS | step::MACS);
                assert!(guessed || end.is_err(), "part {part:#x}, {parties} parties, byte {byte}");
                noticed += usize::from(end.is_err());
            }
        }
        assert!(noticed > 0, "part {part:#x}, {:?}", E::FIELD);
    }
}

/// Another factor for each bit of the others' key shares, and another one in Multiply than is authenticated.
#[test]
fn other_values_in_other_fields_fail_checks() {
    fn fail<E: FieldElement>() {
        for (part, what) in [(step::MACS, "MACs"), (step::PRODUCTS, "MACs")] {
            let alter = |_: usize, _: u32, message: &mut [u8]| {
                for (bit, bytes) in message.chunks_exact_mut(E::BYTES).enumerate() {
                    let other = (0..=bit % 7).fold(E::from_bytes(bytes), |sum, _| sum.wrapping_add(E::ONE));
                    bytes.copy_from_slice(bytemuck::bytes_of(&other));
                }
            };
            let end = made_in::<E>(2, COUNT, altering(part, &[(0, 1)], alter));
            assert!(end.as_ref().is_err_and(Error::is_failed_check), "{:?}: {end:?}", E::FIELD);
            assert!(end.is_err_and(|error| error.to_string().contains(what)));
        }
    }
    fail::<Fp<1>>();
    fail::<Fp<4>>();
    fail::<Fp<8>>();
    // A sum with itself is nothing here, so that half of the factors are as they were.
    fail::<Gf128>();
}

/// The transfers below are of pairs: what one party alters on its links the other one of each notices, also beside a third.
#[test]
fn a_flipped_bit_in_transfers_is_noticed_or_changes_nothing() {
    use tacit_ot::step::{ANSWER, COLUMNS, TREES};
    for part in [TREES, COLUMNS, ANSWER] {
        let mut noticed = 0;
        for &(parties, links) in &CORRUPT[1..] {
            for byte in [0, 1000] {
                let alter: Interceptor = Box::new(move |message| {
                    let mut frame = message.frame.clone();
                    if frame.at.part == part && links.contains(&(message.from, message.to)) {
                        let at = byte % frame.payload.len();
                        frame.payload[at] ^= 4;
                    }
                    Fate::Replace(vec![frame])
                });
                let end = made(parties, alter);
                // A column or a level of a tree that a receiver's secret doesn't choose.
                let guessed = part != ANSWER;
                assert!(guessed || end.is_err(), "part {part:#x}, {parties} parties, byte {byte}");
                noticed += usize::from(end.is_err());
            }
        }
        assert!(noticed > 0, "part {part:#x}");
    }
}

/// Another factor for each bit of the others' key shares.
#[test]
fn other_values_for_each_bit_of_the_key_fail_the_check_of_macs() {
    for (parties, links) in CORRUPT {
        let end = made(
            parties,
            altering(step::MACS, links, |_, _, message| {
                for (bit, word) in message.as_chunks_mut::<16>().0.iter_mut().enumerate() {
                    *word = plus(*word, (bit * bit + 1) as u128);
                }
            }),
        );
        assert!(end.as_ref().is_err_and(Error::is_failed_check), "{parties} parties: {end:?}");
        assert!(end.is_err_and(|error| error.to_string().contains("MACs")));
    }
}

/// Another factor in Multiply than the one that is authenticated, for some parties or for all: products are wrong by it
/// times the others' factors.
#[test]
fn other_factors_in_products_fail_the_sacrifice() {
    for (parties, links) in CORRUPT {
        let end = made(
            parties,
            altering(step::PRODUCTS, links, |_, _, message| {
                for word in message.as_chunks_mut::<16>().0 {
                    *word = plus(*word, 1);
                }
            }),
        );
        assert!(end.is_err_and(|error| error.to_string().contains("MACs")), "{parties} parties");
    }
}

/// Another factor for each of 60 bits of others' factors: whoever guesses that they are all 0 is right with 2^-60.
#[test]
fn guesses_of_many_bits_fail_the_sacrifice() {
    for (parties, links) in CORRUPT {
        let end = made(
            parties,
            altering(step::PRODUCTS, links, |_, _, message| {
                for word in &mut message.as_chunks_mut::<16>().0[..60] {
                    *word = plus(*word, 1);
                }
            }),
        );
        assert!(end.is_err_and(|error| error.to_string().contains("MACs")), "{parties} parties");
    }
}

/// Alters a step's messages from `P_0` to `P_1`, where one call makes so many triples.
fn made_with_altered(
    count: usize,
    (part, op): (u16, u32),
    alter: impl Fn(&mut [u8]) + Send + 'static,
) -> Result<(), Error> {
    let alter = altering(part, &[(0, 1)], move |_, at, message| {
        if at == op {
            alter(message);
        }
    });
    made_in::<Fp128>(2, count, alter)
}

fn add_one(words: &mut [u8]) {
    words.as_chunks_mut::<16>().0.iter_mut().for_each(|word| *word = plus(*word, 1));
}

/// What is made of the second of two batches that are checked together.
#[test]
fn what_is_altered_in_a_second_batch_is_noticed() {
    let ots = SETUP + 2;
    for (at, altered, why) in [
        ((tacit_ot::step::ANSWER, ots), 1, "choices for oblivious transfer"),
        // Another factor for all bits, and for 60.
        ((step::PRODUCTS, ots + 1), usize::MAX, "MACs"),
        ((step::PRODUCTS, ots + 1), 60, "MACs"),
    ] {
        let end = made_with_altered(BATCH + COUNT, at, move |message| {
            let bytes = message.len().min(altered.saturating_mul(16));
            add_one(&mut message[..bytes]);
        });
        assert!(end.as_ref().is_err_and(|error| error.to_string().contains(why)), "{at:?}: {end:?}");
    }
}

/// What is made after ten batches, in the same call, is checked by itself.
#[test]
fn what_is_altered_after_the_first_check_of_a_call_is_noticed() {
    // Two numbers for each batch, and those of what is checked together; then the last batch's.
    let products = SETUP + 2 * CHECKED_TOGETHER as u32 + STEPS + 1;
    let [macs, _, _, rho, last] = [1, 2, 3, 4, 5].map(|step| products + step);
    for (at, why) in [
        ((step::PRODUCTS, products), "MACs"),
        ((step::MACS, macs), "MACs"),
        ((step::SHARES, rho), "what was sent to everybody"),
        ((step::OPENING, last), "hadn't committed"),
    ] {
        let end = made_with_altered(CHECKED_TOGETHER * BATCH + COUNT, at, |message| {
            // Each word another way: the same factor for all bits would be one.
            let words = message.as_chunks_mut::<16>().0.iter_mut().enumerate();
            words.for_each(|(at, word)| *word = plus(*word, (at * at + 1) as u128));
        });
        assert!(end.as_ref().is_err_and(|error| error.to_string().contains(why)), "{at:?}: {end:?}");
    }
}

/// The same value for all bits, but another one for each receiver: shares that don't fit.
#[test]
fn other_values_for_each_party_fail_the_check_of_macs() {
    let links = &[(0, 1), (0, 2)];
    let end = made(
        3,
        altering(step::MACS, links, |to, _, message| {
            for word in message.as_chunks_mut::<16>().0 {
                *word = plus(*word, to as u128);
            }
        }),
    );
    assert!(end.is_err_and(|error| error.is_failed_check()));
}

/// The same where MACs are made by vector OLE: another correction for each receiver.
#[test]
fn other_corrections_for_each_party_fail_the_check_of_macs() {
    let alter = altering(step::MACS, &[(0, 1), (0, 2)], |to, _, message| {
        let word = message.first_chunk_mut().expect("an element");
        *word = plus(*word, to as u128);
    });
    let world = World::new(3, 0).intercept(alter);
    let had = play(&world, 3, 1, |session, preprocessing| preprocessing.inputs(session, &[MANY, 0, 0]));
    let said: Vec<String> =
        had.into_iter().map(|had| had.expect_err("shares don't fit").to_string()).collect();
    assert!(said.iter().any(|said| said.contains("MACs")), "{said:?}");
}

/// Adds 1 to the first share that a step opens.
fn opening_another(links: &'static [(usize, usize)], op: u32) -> Interceptor {
    altering(step::SHARES, links, move |_, at, message| {
        if at == op {
            let word = message.first_chunk_mut().expect("an element");
            *word = plus(*word, 1);
        }
    })
}

/// Of shares of `y`, or of `rho`, to some parties only, or to all but corrupt ones.
#[test]
fn wrong_openings_are_seen_before_any_coin() {
    for (parties, links) in CORRUPT {
        for op in [SUMS, OPENED] {
            let said = made(parties, opening_another(links, op)).expect_err("somebody sees it").to_string();
            assert!(said.contains("what was sent to everybody"), "{parties} parties, step {op}: {said}");
        }
    }
}

/// Of `a - b`, by which triples become squares, or of `a^2`, by which squares become bits.
#[test]
fn wrong_openings_of_squares_and_bits_are_seen_before_any_coin() {
    for (parties, links) in CORRUPT {
        for (of_bits, op) in [(false, SQUARED), (true, SQUARED), (true, SQUARED + 1)] {
            let world = World::new(parties, 0).intercept(opening_another(links, op));
            let had = play(&world, parties, 1, |session, preprocessing| {
                if of_bits {
                    return preprocessing.bits(session, COUNT).map(drop);
                }
                preprocessing.squares(session, COUNT).map(drop)
            });
            let said: Vec<String> =
                had.into_iter().map(|had| had.expect_err("all compare them").to_string()).collect();
            let seen = said.iter().any(|said| said.contains("what was sent to everybody"));
            assert!(seen, "{parties} parties, bits {of_bits}, step {op}: {said:?}");
        }
    }
}

/// Waits for `P_0`'s commitment and opening of a check, and sends them to honest parties as its own. Its code is told what it
/// expects, and corrupt ones tell one another what their code sends.
struct Replays {
    parties: usize,
    corrupt: &'static [usize],
    op: u32,
    /// The comparison of commitments in that check.
    echo: u32,
    own_echo: VecDeque<Frame>,
    /// Honest parties whose comparison has come before this party's code made its own.
    compared: VecDeque<usize>,
}

impl Replays {
    fn is_of_check(&self, frame: &Frame) -> bool {
        let of_check = matches!(frame.at.part, step::COMMITMENT | step::OPENING) && frame.at.op == self.op;
        of_check || (frame.at.part, frame.at.op) == (tacit_session::step::ECHO, self.echo)
    }
}

impl Attacker for Replays {
    fn sends(&mut self, to: usize, frame: Frame, act: &mut Act<'_>) {
        if self.corrupt.contains(&to) || !self.is_of_check(&frame) {
            act.send(to, frame);
        } else if frame.at.part == tacit_session::step::ECHO {
            match self.compared.pop_front() {
                Some(from) => act.hear(from, Event::Frame(frame)),
                None => self.own_echo.push_back(frame),
            }
        }
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        let Event::Frame(frame) = event else { return act.hear(from, event) };
        if self.corrupt.contains(&from) || !self.is_of_check(&frame) {
            return act.hear(from, Event::Frame(frame));
        }
        if from == 0 {
            for to in (0..self.parties).filter(|to| !self.corrupt.contains(to)) {
                act.send(to, frame.clone());
            }
        }
        if frame.at.part != tacit_session::step::ECHO {
            act.hear(from, Event::Frame(frame));
        } else if let Some(own) = self.own_echo.pop_front() {
            act.hear(from, Event::Frame(own));
        } else {
            self.compared.push_back(from);
        }
    }
}

#[test]
fn replayed_commitments_are_no_ones_own() {
    let coalitions: [(usize, &[usize]); 3] = [(2, &[1]), (3, &[1]), (3, &[1, 2])];
    for ((parties, corrupt), (op, echo)) in coalitions.into_iter().flat_map(|coalition| {
        [(MADE, SETUP_ECHOES + 1), (CHECKED, SETUP_ECHOES + 3)].map(|check| (coalition, check))
    }) {
        let mut links = World::new(parties, 0).transports();
        for &party in corrupt {
            let own = links[party].take().expect("it has links");
            let (own_echo, compared) = (VecDeque::new(), VecDeque::new());
            let attacker = Replays { parties, corrupt, op, echo, own_echo, compared };
            links[party] = Some(reacting(own, Box::new(attacker)));
        }
        let had = common::play_on(links, parties, 1, |session, preprocessing| {
            preprocessing.triples(session, COUNT)
        });
        let said = had[0].as_ref().expect_err("it isn't P_0's alone").to_string();
        assert!(said.contains("hadn't committed"), "{parties} parties, {corrupt:?}: {said}");
    }
}

#[test]
fn a_failure_is_final() {
    for parties in [2, 3] {
        let alter = altering(step::OPENING, &[(0, 1)], |_, _, message| message[0] ^= 1);
        let world = World::new(parties, 0).intercept(alter);
        let had = play(&world, parties, 1, |session, preprocessing| {
            let first = preprocessing.inputs(session, &vec![1; parties]).expect_err("the opening is wrong");
            assert_eq!(preprocessing.triples(session, 1).err(), Some(first.clone()));
            assert_eq!(preprocessing.bits(session, 1).err(), Some(first.clone()));
            Err::<Fp128, Error>(first)
        });
        assert!(had.iter().all(Result::is_err));
    }
}

/// The check of key shares, too, is checked: of its messages none may be another.
#[test]
fn a_flipped_bit_in_the_check_of_key_shares_is_noticed() {
    let messages = [(step::SHARES, [3, 6]), (step::COMMITMENT, [4, 7]), (step::OPENING, [4, 7])];
    for (part, op) in messages.into_iter().flat_map(|(part, ops)| ops.map(|op| (part, op))) {
        let world = World::new(3, 0).intercept(Box::new(move |message| {
            let mut frame = message.frame.clone();
            if (message.from, message.to, frame.at.part, frame.at.op) == (2, 0, part, op) {
                frame.payload[0] ^= 4;
            }
            Fate::Replace(vec![frame])
        }));
        assert!(play(&world, 3, 1, |_, _| Ok(())).iter().any(Result::is_err), "part {part:#x}, step {op}");
    }
}

#[test]
fn values_without_macs_are_not_opened() {
    let had = play(&World::new(2, 0), 2, 1, |session, preprocessing| {
        let mut shares = preprocessing.inputs(session, &[2, 0])?.shares.remove(0);
        shares.macs = shares.macs[..1].to_vec().into();
        let end = preprocessing.open(session, &shares).expect_err("a MAC is missing");
        assert!(end.is_failed_check() && end.to_string().contains("needs a MAC"), "{end}");
        Err::<(), Error>(end)
    });
    assert!(had.iter().all(Result::is_err));
}

#[test]
fn a_key_is_for_its_own_session() {
    // What the parties set up in one session they take to another one.
    let kept = [(); 2].map(|()| Mutex::new(None));
    let swap = |session: &mut Session, preprocessing: &mut Preprocessing| {
        let mut kept = kept[session.me()].lock().expect("nobody panics");
        let Some(mut older) = kept.take() else {
            *kept =
                Some(std::mem::replace(preprocessing, Preprocessing::setup(session, common::params(), 100)?));
            return Ok(());
        };
        let end = older.inputs(session, &[1, 1]).expect_err("another session");
        assert!(end.to_string().contains("the session that it was made in"), "{end}");
        assert_eq!(older.triples(session, 1).err(), Some(end.clone()));
        Err(end)
    };
    assert!(play(&World::new(2, 0), 2, 1, swap).iter().all(Result::is_ok));
    assert!(play(&World::new(2, 0), 2, 2, swap).iter().all(Result::is_err));
}
