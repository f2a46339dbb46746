//! Withholds each message that something waits for, and sees whether it leaves.

use crate::common::{play, play_in};
use crate::table::{Kind, Made, Row, is_between_two};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use tacit_kernel::gf128::Gf128;
use tacit_mascot::{BATCH, Preprocessing};
use tacit_session::{Error, Session};
use tacit_testkit::{Fate, World};

/// More triples than a message of differences has, and more values than one of MACs: of each kind only the last message is
/// withheld.
const COUNT: usize = 27;
const INPUTS: usize = 130;
const MANY_INPUTS: usize = 3400;

/// Lets every party make something after what `plant` does.
fn make(world: &World, parties: usize, (made, plant): (Made, fn())) -> Vec<Result<(), Error>> {
    if made == Made::CheckedBits {
        let part = |session: &mut Session, preprocessing: &mut Preprocessing<Gf128>| {
            plant();
            preprocessing.bits(session, INPUTS).map(drop)
        };
        return play_in(world.transports(), parties, 1, |_| {}, part);
    }
    play(world, parties, 1, |session, preprocessing| {
        plant();
        let inputs = |count| vec![count; parties];
        match made {
            Made::Triples => preprocessing.triples(session, COUNT).map(drop),
            Made::Batches => preprocessing.triples(session, BATCH + COUNT).map(drop),
            Made::ManyInputs => preprocessing.inputs(session, &inputs(MANY_INPUTS)).map(drop),
            Made::Inputs => preprocessing.inputs(session, &inputs(INPUTS)).map(drop),
            Made::Squares => preprocessing.squares(session, COUNT).map(drop),
            Made::Bits => preprocessing.bits(session, COUNT).map(drop),
            Made::CheckedBits => unreachable!("they are of another field"),
        }
    })
}

/// The numbers of all kinds' last messages.
pub(crate) fn last_messages(parties: usize, run: (Made, fn())) -> HashMap<Kind, u32> {
    let world = World::new(parties, 0);
    make(&world, parties, run);
    let mut last = HashMap::new();
    for (_, _, at, _) in world.trace().skeleton() {
        let known = last.entry((at.part, at.op)).or_insert(at.batch);
        *known = at.batch.max(*known);
    }
    last
}

/// What leaves though somebody withholds from its sender what it waits for. A
/// kind that there isn't, as a mistake leaves it out, can't be withheld. Of the links on which it may be one in `stride` is tried,
/// for each kind others.
pub(crate) fn early(
    parties: usize,
    run: (Made, fn()),
    table: &[Row],
    stride: usize,
) -> BTreeSet<&'static str> {
    let last = last_messages(parties, run);
    let mut early = BTreeSet::new();
    for (what, released, needs) in table {
        let needed = needs.iter().filter_map(|need| Some((need, last.get(need)?)));
        for (place, (need, last)) in needed.enumerate() {
            let links = (0..parties).flat_map(|from| (0..parties).map(move |to| (from, to)));
            let links = links.filter(|(from, to)| from != to);
            for (from, to) in links.skip(place % stride).step_by(stride) {
                if leaves(parties, run, *released, (*need, *last), (from, to)) {
                    early.insert(*what);
                }
            }
        }
    }
    early
}

/// Whether `to` releases something, to anybody or as a part of what is between these two, though `from` keeps a message from it.
fn leaves(
    parties: usize,
    run: (Made, fn()),
    released: Kind,
    (need, last): (Kind, u32),
    (from, to): (usize, usize),
) -> bool {
    let seen = Arc::new(Mutex::new(false));
    let left = Arc::clone(&seen);
    let world = World::new(parties, 0).intercept(Box::new(move |message| {
        let at = message.frame.at;
        let counts = message.to == from || !is_between_two(released.0);
        if message.from == to && counts && (at.part, at.op) == released {
            *left.lock().expect("nobody panics") = true;
        }
        let withheld =
            (message.from, message.to, at.part, at.op, at.batch) == (from, to, need.0, need.1, last);
        if withheld { Fate::Cut } else { Fate::Deliver }
    }));
    assert!(make(&world, parties, run).iter().any(Result::is_err), "something was withheld");
    *seen.lock().expect("nobody panics")
}
