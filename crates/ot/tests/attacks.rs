//! Whatever a corrupt party or the network does to a message, OTs are right or the run ends with an error.

mod common;

use common::{Had, fit, play, run};
use tacit_ot::{Form, Params, Roles, Security, step};
use tacit_session::Error;
use tacit_testkit::{Deviation, Draws, Fate, Interceptor, World};

const COUNT: usize = 1500;

fn params() -> Params {
    Params::new(4, Security::Malicious).and_then(|params| params.with_rows(1024)).expect("there are")
}

/// A run of which one message is altered, from `P0` to `P1`.
fn altered(interceptor: Interceptor) -> Vec<Result<Had, Error>> {
    let world = World::new(2, 0).intercept(interceptor);
    play(&world, 2, &params(), &Draws::fixed(1), |session| {
        run(session, Roles::Both, params(), COUNT, None, Form::Random)
    })
}

/// Messages of this crate's in a run without deviations, from `P0` to `P1`: their places and parts.
fn messages() -> Vec<(usize, u16)> {
    let world = World::new(2, 0);
    let had = play(&world, 2, &params(), &Draws::fixed(1), |session| {
        run(session, Roles::Both, params(), COUNT, None, Form::Random)
    });
    assert!(had.iter().all(Result::is_ok));
    let trace = world.trace();
    let all = trace.link(0, 1).map(|one| one.at.part).enumerate();
    all.filter(|&(_, part)| (step::BASE_CHOICES..=step::ANSWER).contains(&part)).collect()
}

/// Nobody has OTs that don't fit, and if both parties end well all fit.
fn right_or_none(had: &[Result<Had, Error>], what: &str) -> bool {
    let [Ok(first), Ok(second)] = had else { return false };
    assert!(fit(first, second, [0, 1], COUNT) && fit(second, first, [1, 0], COUNT), "{what}: wrong OTs");
    true
}

#[test]
fn a_flipped_bit_ends_the_run_or_changes_nothing() {
    for (nth, part) in messages() {
        for bit in [0, 7, 130, 777, 20_000, 9_999_999] {
            let what = format!("message {nth}, part {part:#x}, bit {bit}");
            let unharmed = right_or_none(&altered(Deviation::Flip(bit).at(0, 1, nth)), &what);
            // A sum of a tree that the secret's bit has no use for, or a column for a block of zeros.
            assert!(!unharmed || matches!(part, step::TREES | step::COLUMNS), "{what}: nobody notices");
        }
    }
}

#[test]
fn messages_of_another_length_or_order_end_the_run() {
    for (nth, part) in messages() {
        let deviations = [
            Deviation::Truncate,
            Deviation::Extend,
            Deviation::Replay,
            Deviation::ReplayOlder,
            Deviation::Swap,
            Deviation::Silence,
            Deviation::Death,
        ];
        for deviation in deviations {
            let what = format!("message {nth}, part {part:#x}, {deviation:?}");
            // The last message can come twice unseen.
            let unharmed = right_or_none(&altered(deviation.at(0, 1, nth)), &what);
            assert!(!unharmed || part == step::ANSWER, "{what}: nobody notices");
        }
    }
}

/// What a batch's messages are altered to is another batch's: columns, coins and answers are for one batch only.
#[test]
fn messages_of_another_batch_end_the_run() {
    for part in [step::COLUMNS, step::COIN, step::ANSWER] {
        let mut kept = None;
        let had = altered(Box::new(move |message| {
            let mut frame = message.frame.clone();
            if (message.from, frame.at.part) == (0, part) {
                match &kept {
                    None => kept = Some(frame.payload.clone()),
                    Some(older) => frame.payload.clone_from(older),
                }
            }
            Fate::Replace(vec![frame])
        }));
        // Batches of the same number of rows, or else the length is wrong already.
        assert!(!right_or_none(&had, "another batch's message"), "part {part:#x}");
    }
}

/// A third party's points and trees, sent on as one's own, are worth nothing: keys name who sent them.
#[test]
fn what_another_party_sent_is_no_use() {
    for part in [step::BASE_CHOICES, step::BASE_POINTS, step::TREES] {
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
        let had = play(&world, 3, &params(), &Draws::fixed(1), |session| {
            run(session, Roles::Both, params(), 100, None, Form::Random)
        });
        assert!(had[2].is_err(), "part {part:#x}");
    }
}
