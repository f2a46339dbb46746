//! Whatever a corrupt party or the network does to a message, OTs are right or the run ends with an error.

mod common;

use common::{Had, Keep, fit, play, run};
use std::sync::Mutex;
use tacit_ot::{Choices, Form, Ot, Params, Request, Roles, Security, step};
use tacit_session::{Error, Phase};
use tacit_testkit::{Deviation, Draws, Fate, Interceptor, World};

const COUNT: usize = 1500;

/// Heights of trees: the usual one first, which is tried most. Trees of height 1 have nothing to send or to check.
const HEIGHTS: [usize; 4] = [4, 1, 2, 8];

fn params(height: usize) -> Params {
    Params::new(height, Security::Malicious).and_then(|params| params.with_rows(1024)).expect("there are")
}

/// A run of which one message is altered, from `P0` to `P1`.
fn altered(height: usize, interceptor: Interceptor) -> Vec<Result<Had, Error>> {
    let world = World::new(2, 0).intercept(interceptor);
    play(&world, 2, &params(height), &Draws::fixed(1), |session| {
        run(session, Roles::Both, params(height), COUNT, None, Form::Random)
    })
}

/// Messages of this crate's in a run without deviations, from `P0` to `P1`, unless they are empty: their places and parts.
fn messages(height: usize) -> Vec<(usize, u16)> {
    let world = World::new(2, 0);
    let had = play(&world, 2, &params(height), &Draws::fixed(1), |session| {
        run(session, Roles::Both, params(height), COUNT, None, Form::Random)
    });
    assert!(had.iter().all(Result::is_ok));
    let trace = world.trace();
    let all = trace.link(0, 1).map(|one| one.at.part).enumerate();
    let is_empty = |part| height == 1 && part == step::TREES;
    all.filter(|&(_, part)| (step::BASE_CHOICES..=step::ANSWER).contains(&part) && !is_empty(part)).collect()
}

/// Nobody has OTs that don't fit, and if both parties end well all fit.
fn right_or_none(had: &[Result<Had, Error>], what: &str) -> bool {
    let [Ok(first), Ok(second)] = had else { return false };
    assert!(fit(first, second, [0, 1], COUNT) && fit(second, first, [1, 0], COUNT), "{what}: wrong OTs");
    true
}

#[test]
fn a_flipped_bit_ends_the_run_or_changes_nothing() {
    for height in HEIGHTS {
        let bits: &[usize] = if height == 4 { &[0, 7, 130, 777, 20_000, 9_999_999] } else { &[7, 20_000] };
        for (nth, part) in messages(height) {
            for &bit in bits {
                let what = format!("k = {height}, message {nth}, part {part:#x}, bit {bit}");
                let unharmed = right_or_none(&altered(height, Deviation::Flip(bit).at(0, 1, nth)), &what);
                // A sum of a tree that the secret's bit has no use for, or a column for a block of zeros.
                assert!(!unharmed || matches!(part, step::TREES | step::COLUMNS), "{what}: nobody notices");
            }
        }
    }
}

#[test]
fn messages_of_another_length_or_order_end_the_run() {
    let deviations = [
        Deviation::Truncate,
        Deviation::Extend,
        Deviation::Replay,
        Deviation::ReplayOlder,
        Deviation::Swap,
        Deviation::Silence,
        Deviation::Death,
    ];
    for height in HEIGHTS {
        // Lengths depend on the height, and order doesn't.
        let deviations = if height == 4 { &deviations[..] } else { &deviations[..2] };
        for (nth, part) in messages(height) {
            for deviation in deviations {
                let what = format!("k = {height}, message {nth}, part {part:#x}, {deviation:?}");
                // The last message can come twice unseen.
                let unharmed = right_or_none(&altered(height, deviation.at(0, 1, nth)), &what);
                assert!(!unharmed || part == step::ANSWER, "{what}: nobody notices");
            }
        }
    }
}

/// What a batch's messages are altered to is another batch's: columns, coins and answers are for one batch only.
#[test]
fn messages_of_another_batch_end_the_run() {
    for (height, part) in HEIGHTS
        .into_iter()
        .flat_map(|height| [step::COLUMNS, step::COIN, step::ANSWER].map(|part| (height, part)))
    {
        let mut kept = None;
        let interceptor: Interceptor = Box::new(move |message| {
            let mut frame = message.frame.clone();
            if (message.from, frame.at.part) == (0, part) {
                match &kept {
                    None => kept = Some(frame.payload.clone()),
                    Some(older) => frame.payload.clone_from(older),
                }
            }
            Fate::Replace(vec![frame])
        });
        // Batches of the same number of rows, or else the length is wrong already.
        let unharmed = right_or_none(&altered(height, interceptor), "another batch's message");
        assert!(!unharmed, "k = {height}, part {part:#x}");
    }
}

/// A third party's points and trees, sent on as one's own, are worth nothing: keys name who sent them.
#[test]
fn what_another_party_sent_is_no_use() {
    for (height, part) in HEIGHTS
        .into_iter()
        .flat_map(|height| [step::BASE_CHOICES, step::BASE_POINTS, step::TREES].map(|part| (height, part)))
    {
        if (height, part) == (1, step::TREES) {
            continue;
        }
        let mut kept = None;
        let interceptor: Interceptor = Box::new(move |message| {
            let frame = message.frame.clone();
            match (message.from, message.to, frame.at.part) {
                (0, 2, at) if at == part => {
                    kept = Some(frame.payload.clone());
                    Fate::Replace(vec![frame])
                }
                (1, 2, at) if at == part => {
                    let mut frame = frame;
                    // Without P0's at hand: anything else.
                    frame.payload = kept.clone().unwrap_or_else(|| vec![3; frame.payload.len()]);
                    Fate::Replace(vec![frame])
                }
                _ => Fate::Deliver,
            }
        });
        let world = World::new(3, 0).intercept(interceptor);
        let had = play(&world, 3, &params(height), &Draws::fixed(1), |session| {
            run(session, Roles::Both, params(height), 100, None, Form::Random)
        });
        // Trees of height 1 say nothing of their keys: then P1's own code sees by P2's answer that it hasn't those of its points.
        let seen = had[2].is_err() || (height, part) == (1, step::BASE_CHOICES) && had[1].is_err();
        assert!(seen, "k = {height}, part {part:#x}");
    }
}

/// What happens to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Harm {
    Spoilt,
    Withheld,
}

/// Does harm to a message of one batch from the OTs' receiver, `P1`.
fn harming(harm: Harm, part: u16, batch: u32) -> Interceptor {
    Box::new(move |message| {
        let mut frame = message.frame.clone();
        if (message.from, frame.at.part, frame.at.batch) != (1, part, batch) {
            return Fate::Deliver;
        }
        if harm == Harm::Withheld {
            return Fate::Cut;
        }
        frame.payload.iter_mut().for_each(|byte| *byte = !*byte);
        Fate::Replace(vec![frame])
    })
}

const BATCHES: usize = 7;

fn small() -> Params {
    Params::DEFAULT.with_rows(512).expect("there are such batches")
}

/// OTs of some batches from `P0` to `P1`: how the run ended for `P0`, and what its sink had by then. When it has failed, each
/// party asks again.
fn sent_by_the_end(world: &World) -> (Result<(), Error>, [Vec<u128>; 2]) {
    let (params, count) = (small(), BATCHES * small().batch());
    let sinks = [(); 2].map(|()| Mutex::new(Keep::of(2)));
    let mut ends = play(world, 2, &params, &Draws::fixed(1), |session| {
        let me = session.me();
        let roles = if me == 0 { Roles::Sender } else { Roles::Receiver };
        let mut ot = Ot::setup(session, &[1 - me], roles, params, 0)?;
        session.mesh().set_phase(Phase::Offline);
        let request = Request { op: 1, count, choices: Choices::Random, form: Form::Random };
        let ended = ot.extend(session, &request, &mut *sinks[me].lock().expect("nobody panics"));
        if let Err(first) = &ended {
            for choices in [Choices::Random, Choices::Given(&[&[0; 6]])] {
                let request = Request { op: 2, count: 384, choices, form: Form::Random };
                let again = ot.extend(session, &request, &mut Keep::of(2));
                assert_eq!(again.as_ref(), Err(first), "a failure is final");
            }
        }
        ended
    });
    let [sender, _] = sinks.map(|sink| sink.into_inner().expect("nobody panics"));
    (ends.remove(0), sender.0[1].sent.clone())
}

#[test]
fn a_senders_ots_leave_when_their_batch_has_passed() {
    let (end, all) = sent_by_the_end(&World::new(2, 0));
    assert_eq!(end, Ok(()));
    assert_eq!(all[0].len(), BATCHES * small().batch());
    for harm in [Harm::Spoilt, Harm::Withheld] {
        for part in [step::COLUMNS, step::ANSWER] {
            for batch in [3, 5] {
                let (end, sent) =
                    sent_by_the_end(&World::new(2, 0).intercept(harming(harm, part, batch as u32)));
                let what = format!("{harm:?}, part {part:#x}, batch {batch}");
                // A lost link is no failed check, nor are the calls that follow.
                let checked = end.as_ref().is_err_and(Error::is_failed_check);
                assert!(end.is_err() && checked == (harm == Harm::Spoilt), "{what}: {end:?}");
                // When columns are missed, the answers for the four batches before are under way.
                let missed = (harm, part) == (Harm::Withheld, step::COLUMNS);
                let passed = if missed { usize::saturating_sub(batch, 4) } else { batch };
                let ots = passed * small().batch();
                assert!(sent.iter().zip(&all).all(|(sent, all)| *sent == all[..ots]), "{what}");
            }
        }
    }
}
