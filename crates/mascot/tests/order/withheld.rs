//! Withholds each message that something waits for, and sees whether it leaves.

use crate::common::play;
use crate::table::{Kind, TABLE};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use tacit_testkit::{Fate, World};

/// What leaves though somebody withholds from its sender what it waits for. `plant` is done by each party before it begins.
pub(crate) fn early(parties: usize, plant: fn()) -> BTreeSet<&'static str> {
    // More triples than a message has, and more values: of each kind only the last message is withheld.
    const COUNT: usize = 22;
    let mut early = BTreeSet::new();
    for (what, released, needs) in TABLE {
        for need in needs {
            for (from, to) in (0..parties).flat_map(|from| (0..parties).map(move |to| (from, to))) {
                if from != to && leaves(parties, COUNT, plant, released, *need, (from, to)) {
                    early.insert(what);
                }
            }
        }
    }
    early
}

/// Whether `to` releases something, to anybody, though `from` keeps the last message of a kind from it. If there is no such
/// message, as a mistake leaves it out, nothing leaves.
fn leaves(
    parties: usize,
    count: usize,
    plant: fn(),
    released: Kind,
    need: Kind,
    (from, to): (usize, usize),
) -> bool {
    // Whether it was withheld, and whether it left in spite of that.
    let seen = Arc::new(Mutex::new([false; 2]));
    let noted = Arc::clone(&seen);
    let last = last_message(need, count);
    let world = World::new(parties, 0).intercept(Box::new(move |message| {
        let at = message.frame.at;
        if message.from == to && (at.part, at.op) == released {
            noted.lock().expect("nobody panics")[1] = true;
        }
        let withheld =
            (message.from, message.to, at.part, at.op, at.batch) == (from, to, need.0, need.1, last);
        if !withheld {
            return Fate::Deliver;
        }
        noted.lock().expect("nobody panics")[0] = true;
        Fate::Cut
    }));
    let had = play(&world, parties, 1, |session, preprocessing| {
        plant();
        preprocessing.triples(session, count)
    });
    let [withheld, left] = *seen.lock().expect("nobody panics");
    assert_eq!(had.iter().any(Result::is_err), withheld, "all wait for all");
    withheld && left
}

/// The number of a kind's last message: of differences there are those of 21 triples in one, of MACs those of 64 values.
fn last_message((part, _): Kind, count: usize) -> u32 {
    let last = match part {
        tacit_mascot::step::PRODUCTS => (count - 1) / 21,
        tacit_mascot::step::MACS => 5 * count / 64,
        _ => 0,
    };
    last as u32
}
