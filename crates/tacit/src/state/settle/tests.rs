//! Versions that not all parties have, in the way of one that all have.

use super::*;
use crate::state::versions::Made;
use crate::{Compiled, Fill, Local, Residents, Run};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tacit_program::{Builder, Data, Dtype, Range, Recipient, Uses, Value};

mod refreshed;

fn compiled(build: impl FnOnce(&mut Builder)) -> Arc<Compiled> {
    let mut builder = Builder::new();
    build(&mut builder);
    Compiled::new(builder.finish().unwrap()).unwrap()
}

/// Keeps a number under each of these names.
fn keeper(names: &[&str]) -> Arc<Compiled> {
    compiled(|build| {
        for name in names {
            let given = build.input("P0", name, Dtype::Int, &[1], Range::new(-99, 99)).unwrap();
            build.keep(given, name, Uses::default()).unwrap();
        }
    })
}

fn reader(name: &str) -> Arc<Compiled> {
    compiled(|build| {
        let kept = build.kept(name, Dtype::Int, &[1], Range::new(-99, 99)).unwrap();
        build.reveal(kept, Recipient::All).unwrap();
    })
}

fn number(number: i64) -> Value {
    Value { shape: vec![1], data: Data::Int(vec![number]) }
}

/// Parties with folders.
struct World {
    local: Local,
    folder: tempfile::TempDir,
    states: Vec<State>,
}

impl World {
    /// That keep numbers under these names.
    fn new(names: &[&str], numbers: &[i64]) -> Self {
        Self::under("replicated", names, numbers)
    }

    fn under(protocol: &str, names: &[&str], numbers: &[i64]) -> Self {
        // Thousands of writes, each of them durable.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let local = Local::among(protocol, 3).unwrap();
        let states = local.open_states(folder.path()).unwrap();
        let mut own = Self { local, folder, states };
        let numbers: Vec<Value> = numbers.iter().map(|one| number(*one)).collect();
        own.run(&keeper(names), &numbers).unwrap();
        own
    }

    fn run(&mut self, program: &Arc<Compiled>, inputs: &[Value]) -> Result<Run, Error> {
        let fill = Fill::new();
        let own = self.states.iter_mut().map(|state| Residents { state, fill: &fill, store: None }).collect();
        self.local.run_on(program, own, inputs, &|_, _| ())
    }

    fn read(&mut self, name: &str) -> Result<Value, String> {
        let done = self.run(&reader(name), &[]).map_err(|error| error.to_string())?;
        Ok(done.outputs.into_iter().next().flatten().unwrap())
    }

    /// A run that began with version 1 has put these numbers away as this version, at these parties alone.
    fn torn(&mut self, names: &[&str], numbers: &[i64], version: u64, parties: &[usize]) {
        let other = Self::under(&self.local.protocol, names, numbers);
        for &party in parties {
            self.states[party].put(made(&other.states[party], names, version)).unwrap();
        }
    }

    /// These parties end and start again.
    fn restarts(&mut self, parties: impl IntoIterator<Item = usize>) {
        for party in parties {
            self.states[party] = State::new();
            let path = Path::join(self.folder.path(), &self.local.parties[party]);
            self.states[party] = State::open(&path, None).unwrap();
        }
    }

    fn standing(&self, party: usize, name: &str, version: u64) -> Option<Standing> {
        self.states[party].version(name, version).map(|version| version.standing)
    }
}

/// What a run puts away that has this state's first versions.
fn made(state: &State, names: &[&str], version: u64) -> Vec<Made> {
    let of = |name: &&str| {
        let Version { about, digests, share, .. } = state.version(name, 1).unwrap().clone();
        let about = About { version, session: [version as u8; 32], ..about };
        Made { about, after: Some(1), digests, share: share.unwrap() }
    };
    names.iter().map(of).collect()
}

fn passes(version: u64) -> Passable {
    [("x".to_owned(), BTreeSet::from([version]))].into()
}

/// All parties have the second version, which a run left that ended badly; one that began without it has left the
/// third at two of them.
fn stuck() -> World {
    let mut world = World::new(&["x"], &[1]);
    world.torn(&["x"], &[2], 2, &[0, 1, 2]);
    world.torn(&["x"], &[3], 3, &[0, 2]);
    world
}

#[test]
fn what_not_all_have_is_passed_over_by_parties_that_run_on() {
    let mut world = stuck();
    assert_eq!(world.read("x"), Ok(number(2)));
    assert_eq!([0, 2].map(|party| world.standing(party, "x", 3)), [Some(Standing::Dropped); 2]);
    assert_eq!(world.read("x"), Ok(number(2)));
    // One that says that it has the third has nobody read it, now or later.
    let mut other = State::new();
    other.put(made(&World::new(&["x"], &[3]).states[1], &["x"], 3)).unwrap();
    let third = Version { after: None, ..other.version("x", 3).unwrap().clone() };
    world.states[1].names.get_mut("x").unwrap().versions.insert(3, third);
    assert_eq!(world.read("x"), Ok(number(2)));
    world.restarts([0, 2]);
    assert_eq!(world.read("x"), Ok(number(2)));
    // Its number doesn't come again.
    assert_eq!(world.run(&keeper(&["x"]), &[number(4)]).unwrap().report.kept, ["x@4"]);
    assert_eq!(world.read("x"), Ok(number(4)));
}

/// Some have settled the second version when the others end; some start again, and some run on.
#[test]
fn wherever_a_crash_comes_the_name_has_one_value_and_goes_on() {
    let subset = |bits: usize| (0..3).filter(move |party| bits >> party & 1 == 1);
    for (settled, restarted) in
        (0..8).flat_map(|settled| [0, 1, 2, 6, 7].map(|restarted| (settled, restarted)))
    {
        let mut world = stuck();
        for party in subset(settled) {
            world.states[party].settle("x", 2, &passes(3)).unwrap();
        }
        world.restarts(subset(restarted));
        let what = format!("{settled:03b} have settled, {restarted:03b} restart");
        assert_eq!(world.read("x"), Ok(number(2)), "{what}");
        assert_eq!(world.run(&keeper(&["x"]), &[number(4)]).unwrap().report.kept, ["x@4"], "{what}");
        assert_eq!(world.read("x"), Ok(number(4)), "{what}");
    }
}

/// A party knows that all have the third version, and may have an answer of it: nobody reads the second, whatever another says.
#[test]
fn what_somebody_may_have_read_is_passed_over_by_nobody() {
    for settled in [0, 2] {
        let mut world = stuck();
        world.states[settled].settle("x", 3, &Passable::new()).unwrap();
        for _ in 0..2 {
            let refused = world.read("x").unwrap_err();
            assert!(refused.contains("P1 lacks x@3"), "{refused}");
            world.restarts(0..3);
        }
        assert_eq!(world.standing(settled, "x", 3), Some(Standing::Settled));
        let refused = world.states[settled].settle("x", 2, &passes(3)).unwrap_err().to_string();
        assert!(refused.contains("x@2"), "{refused}");
    }
}

/// The run that put the third version away is still under way at a party when that passes it over: it has no answer.
#[test]
fn a_run_whose_version_was_passed_over_settles_it_nowhere() {
    let mut world = stuck();
    let homes: Vec<_> = world.states.drain(..).map(|state| Arc::new(Mutex::new(state))).collect();
    let late = |home: &Arc<Mutex<State>>| State::apart(home, reader("x").program(), &Fill::new()).unwrap();
    let mut late = [late(&homes[0]), late(&homes[2])];
    world.states =
        homes.iter().map(|home| State::apart(home, reader("x").program(), &Fill::new()).unwrap()).collect();
    assert_eq!(world.read("x"), Ok(number(2)));
    for late in &mut late {
        let refused = late.settle("x", 3, &Passable::new()).unwrap_err().to_string();
        assert!(refused.contains("another run has passed x@3 over meanwhile"), "{refused}");
    }
}

/// The second version is asked for by its number, and all have the third, which was made without it.
#[test]
fn an_older_version_that_never_counted_is_not_read_beside_a_newer_one() {
    let mut world = World::new(&["x"], &[1]);
    world.torn(&["x"], &[2], 2, &[0, 1, 2]);
    world.torn(&["x"], &[3], 3, &[0, 1, 2]);
    for _ in 0..2 {
        let fill = [("x", "x@2")].into();
        let own =
            world.states.iter_mut().map(|state| Residents { state, fill: &fill, store: None }).collect();
        let refused =
            world.local.run_on(&reader("x"), own, &[], &|_, _| ()).map(drop).unwrap_err().to_string();
        assert!(refused.contains("x@2 was never settled"), "{refused}");
        world.restarts(0..3);
    }
    assert_eq!(world.read("x"), Ok(number(3)));
}

/// A run has left the second versions of two names at two parties; another one goes on from the first version of one of them.
#[test]
fn what_one_run_kept_is_passed_over_together() {
    for restarted in [0..0, 0..3] {
        let mut world = World::new(&["x", "y"], &[1, -1]);
        world.torn(&["x", "y"], &[2, -2], 2, &[0, 2]);
        world.restarts(restarted);
        // The first version's keeper is the program of both.
        let both = world.run(&keeper(&["x", "y"]), &[number(3), number(-3)]).unwrap();
        assert_eq!(both.report.kept, ["x@3", "y@3"]);
        assert_eq!([0, 2].map(|party| world.standing(party, "y", 2)), [Some(Standing::Dropped); 2]);
        assert_eq!((world.read("x"), world.read("y")), (Ok(number(3)), Ok(number(-3))));
    }
    // One that is settled alone takes the other name's along.
    let mut world = World::new(&["x", "y"], &[1, -1]);
    world.torn(&["x", "y"], &[2, -2], 2, &[0, 1, 2]);
    world.torn(&["x"], &[3], 3, &[0, 1, 2]);
    assert_eq!(world.read("x"), Ok(number(3)));
    assert_eq!([0, 1, 2].map(|party| world.standing(party, "y", 2)), [Some(Standing::Dropped); 3]);
    assert_eq!(world.read("y"), Ok(number(-1)));
}

/// A run has left both names' second versions at all parties, and another one the third of `y` at two. Who reads `x` has told nobody of
/// `y`, and passes nothing over there.
#[test]
fn what_nobody_told_of_is_not_passed_over() {
    let mut world = World::new(&["x", "y"], &[1, -1]);
    world.torn(&["x", "y"], &[2, -2], 2, &[0, 1, 2]);
    world.torn(&["y"], &[-3], 3, &[0, 2]);
    let refused = world.read("x").unwrap_err();
    assert!(refused.contains("another run has kept y@3 meanwhile"), "{refused}");
    assert_eq!([0, 1, 2].map(|party| world.standing(party, "x", 2)), [Some(Standing::Pending); 3]);
    assert_eq!([0, 2].map(|party| world.standing(party, "y", 3)), [Some(Standing::Pending); 2]);
    assert_eq!((world.read("y"), world.read("x")), (Ok(number(-2)), Ok(number(2))));
}

/// What is kept again and again fills neither the disk nor the number of versions that a name may have.
#[test]
fn old_versions_make_room_for_new_ones_where_they_are_to() {
    let mut world = World::new(&["x"], &[0]);
    world.states = world.states.into_iter().map(|state| state.with_most_versions(2)).collect();
    for value in 1..5 {
        world.run(&keeper(&["x"]), &[number(value)]).unwrap();
    }
    for party in 0..3 {
        let standings: Vec<Standing> = world.states[party].list().iter().map(|one| one.standing).collect();
        let (dropped, settled) = (Standing::Dropped, Standing::Settled);
        assert_eq!(standings, [dropped, dropped, dropped, settled, settled]);
    }
    world.restarts(0..3);
    assert_eq!(world.read("x"), Ok(number(4)));
}

/// What two runs do.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Runs {
    /// One reads the second version, and the other the third, which was made without that.
    ReadBoth,
    /// One reads the second version, and the other puts the third one away.
    ReadAndKeep,
    /// One reads the second version, and the other strikes it off.
    ReadAndStrike,
    /// One puts the second version away, and the other strikes it off.
    KeepAndStrike,
}

/// Two honest parties, and two runs at each: one settles the second version, and the other does what can't be beside that. What the
/// party that deviates says to whom comes when it likes, and so it chooses the order of all steps, and which runs end
/// before they have settled. Nobody says what he is about to do before both have begun. In no order does one party settle the
/// second version that the other one erases.
#[test]
fn two_runs_that_are_told_different_things_settle_one_version() {
    let kept = World::new(&["x"], &[1]);
    let states = [&kept.states[0], &kept.states[2]];
    let mut drawn = 1_u64;
    let mut draw = |below: usize| {
        drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (drawn >> 33) as usize % below
    };
    for runs in [Runs::ReadBoth, Runs::ReadAndKeep, Runs::ReadAndStrike, Runs::KeepAndStrike] {
        let mut done_by_all = [0; 2];
        for _ in 0..6000 {
            // Each run of each party begins, says what it is about to do, and does that or ends without.
            let (mut order, lost) = (Vec::new(), draw(16));
            let mut steps = [0; 4];
            while order.len() < 12 {
                let run = draw(4);
                if steps[run] < 3 && (steps[run] == 0 || steps[run ^ 1] > 0) {
                    order.push((run, steps[run]));
                    steps[run] += 1;
                }
            }
            let done = played(states, runs, &order, lost);
            let counts = [0, 1].map(|run| done.iter().filter(|done| **done == Some(run)).count());
            assert!(counts.contains(&0), "{runs:?}: {order:?}, lost {lost:04b}");
            for (all, count) in done_by_all.iter_mut().zip(counts) {
                *all += usize::from(count == 2);
            }
        }
        assert!(done_by_all.iter().all(|all| *all > 0), "{runs:?}: {done_by_all:?}");
    }
}

/// Which of the two runs' ends each of the two parties has come to, if any. Runs 0 and 1 are the first one at each party.
fn played(states: [&State; 2], runs: Runs, order: &[(usize, usize)], lost: usize) -> [Option<usize>; 2] {
    let homes = states.map(|state| {
        let mut home = State::new();
        let versions = match runs {
            Runs::ReadBoth => 1..=3,
            Runs::ReadAndKeep | Runs::ReadAndStrike => 1..=2,
            Runs::KeepAndStrike => 1..=1,
        };
        for version in versions {
            home.put(made(state, &["x"], version)).unwrap();
        }
        Arc::new(Mutex::new(home))
    });
    let mut apart = [None, None, None, None];
    let mut said = [false; 4];
    for &(run, step) in order {
        let (party, is_other) = (run % 2, run >= 2);
        if step == 0 {
            apart[run] = Some(State::apart(&homes[party], reader("x").program(), &Fill::new()).unwrap());
            continue;
        }
        let Some(state) = &mut apart[run] else { continue };
        let value = |number| ("x".to_owned(), number);
        if step == 1 {
            let mut keeps = |number| {
                let made = made(states[party], &["x"], number);
                state.claim_new(vec![value(number)]).and_then(|()| state.put(made)).is_ok()
            };
            said[run] = match (runs, is_other) {
                (Runs::KeepAndStrike, false) => keeps(2),
                (_, false) => state.claim(&[value(2)], &passes(3)).is_ok(),
                (Runs::ReadBoth, true) => state.claim(&[value(3)], &Passable::new()).is_ok(),
                (Runs::ReadAndKeep, true) => keeps(3),
                (Runs::ReadAndStrike | Runs::KeepAndStrike, true) => state.claim_over("x", 1, 3).is_ok(),
            };
        } else if said[run] && said[run ^ 1] && lost >> run & 1 == 0 {
            match (runs, is_other) {
                (_, false) => state.settle("x", 2, &passes(3)).unwrap(),
                (Runs::ReadBoth | Runs::ReadAndKeep, true) => state.settle("x", 3, &Passable::new()).unwrap(),
                (Runs::ReadAndStrike | Runs::KeepAndStrike, true) => {
                    state.strike("x", &[2].into()).unwrap();
                }
            }
        }
        if step == 2 || !said[run] {
            apart[run] = None;
        }
    }
    [0, 1].map(|party| match at(&homes[party]).version("x", 2).map(|second| second.standing) {
        Some(Standing::Settled) => Some(0),
        Some(Standing::Dropped) => Some(1),
        Some(Standing::Pending) | None => None,
    })
}

/// A run that put the third version away is under way at one party, and hears there that all have. Nobody settles the second
/// meanwhile, also where no two parties hold the same part of a share; and somebody does once it has ended.
#[test]
fn nobody_settles_what_some_party_may_be_about_to_pass_over() {
    for protocol in ["replicated", "gmw"] {
        let mut world = World::under(protocol, &["x"], &[1]);
        world.torn(&["x"], &[2], 2, &[0, 1, 2]);
        world.torn(&["x"], &[3], 3, &[0, 2]);
        let homes: Vec<_> = world.states.drain(..).map(|state| Arc::new(Mutex::new(state))).collect();
        let apart =
            |home: &Arc<Mutex<State>>| State::apart(home, reader("x").program(), &Fill::new()).unwrap();
        let mut late = apart(&homes[2]);
        late.claim_new(vec![("x".to_owned(), 3)]).unwrap();
        for _ in 0..2 {
            world.states = homes.iter().map(apart).collect();
            let refused = world.read("x").unwrap_err();
            assert!(refused.contains("another run is about to settle x@3"), "{protocol}: {refused}");
            world.states.clear();
            for home in &homes {
                assert_eq!(at(home).version("x", 2).unwrap().standing, Standing::Pending, "{protocol}");
            }
        }
        drop(late);
        world.states = homes.iter().map(apart).collect();
        assert_eq!(world.read("x"), Ok(number(2)), "{protocol}");
    }
}

/// A run that reads `x`, at this party.
fn run_of(home: &Arc<Mutex<State>>) -> State {
    State::apart(home, reader("x").program(), &Fill::new()).unwrap()
}

/// The first party of a world, and so many runs there.
fn runs_of<const RUNS: usize>(world: &mut World) -> (Arc<Mutex<State>>, [State; RUNS]) {
    let home = Arc::new(Mutex::new(world.states.swap_remove(0)));
    let runs = [(); RUNS].map(|()| run_of(&home));
    (home, runs)
}

/// Runs of one version share it, one that is settled is in nobody's way, and what a lost run has said binds who began before that.
#[test]
fn a_claim_is_in_the_way_of_another_version_alone_and_ends() {
    let mut world = stuck();
    let (home, [mut one, mut other, mut late]) = runs_of(&mut world);
    let apart = || run_of(&home);
    let (second, third) = ([("x".to_owned(), 2)], [("x".to_owned(), 3)]);
    one.claim(&second, &passes(3)).unwrap();
    other.claim(&second, &passes(3)).unwrap();
    let mut between = apart();
    drop((one, other));
    for begun in [&mut late, &mut between] {
        let refused = begun.claim(&third, &Passable::new()).unwrap_err().to_string();
        assert!(refused.contains("another run is about to settle x@2"), "{refused}");
        begun.claim_new(third.to_vec()).unwrap_err();
        begun.claim_over("x", 1, 4).unwrap_err();
    }
    // One that begins now isn't told what those were told; and who comes first then goes first.
    let mut next = apart();
    next.claim(&third, &Passable::new()).unwrap();
    late.claim(&second, &passes(3)).unwrap_err();
    at(&home).settle("x", 3, &Passable::new()).unwrap();
    apart().claim_new(vec![("x".to_owned(), 4)]).unwrap();
    let refused = late.claim(&second, &passes(3)).unwrap_err().to_string();
    assert!(refused.contains("another run has kept x@3 meanwhile"), "{refused}");
    // Nothing has to be known any more of claims that ended before all runs began that are under way.
    drop((late, between, next));
    apart().claim_new(vec![("x".to_owned(), 5)]).unwrap();
    assert_eq!(at(&home).claims.all.len(), 1);
    assert!(at(&home).claims.begun.is_empty());
}

/// A run has claimed the fourth version over what others left, and counts are raised beyond that: it may still strike those off.
#[test]
fn a_claim_on_what_never_comes_stays() {
    for last in [4, 9] {
        let mut world = stuck();
        let (home, [mut strikes, mut reads]) = runs_of(&mut world);
        strikes.claim_over("x", 1, 4).unwrap();
        at(&home).raise("x", last).unwrap();
        reads.claim(&[("x".to_owned(), 2)], &passes(3)).unwrap_err();
    }
}

/// Nor is one that was dropped so long ago that nothing is known of it.
#[test]
fn a_claim_on_what_is_forgotten_is_in_nobodys_way() {
    let mut world = stuck();
    let (home, [mut reads, mut other]) = runs_of(&mut world);
    reads.claim(&[("x".to_owned(), 2)], &passes(3)).unwrap();
    let third = [("x".to_owned(), 3)];
    other.claim(&third, &Passable::new()).unwrap_err();
    at(&home).names.get_mut("x").unwrap().versions.remove(&2);
    other.claim(&third, &Passable::new()).unwrap();
}

/// So is one that was about to be put away, and was, once later ones have taken its place and it is forgotten.
#[test]
fn a_claim_on_what_was_put_away_and_is_forgotten_is_in_nobodys_way() {
    let mut world = stuck();
    let (home, [mut keeps, mut late]) = runs_of(&mut world);
    keeps.claim_new(vec![("x".to_owned(), 4)]).unwrap();
    late.claim_new(vec![("x".to_owned(), 5)]).unwrap_err();
    let mut home = at(&home);
    home.names.get_mut("x").unwrap().versions.remove(&3);
    let mut fifth = home.names["x"].versions[&2].clone();
    fifth.standing = Standing::Settled;
    home.names.get_mut("x").unwrap().versions.insert(5, fifth);
    drop(home);
    late.claim_new(vec![("x".to_owned(), 6)]).unwrap();
}

/// A run puts nothing away where another one is about to settle what can't count beside it; the next one does at once.
#[test]
fn nothing_is_put_away_beside_what_is_about_to_be_settled() {
    let mut world = World::new(&["x"], &[1]);
    let homes: Vec<_> = world.states.drain(..).map(|state| Arc::new(Mutex::new(state))).collect();
    let program = keeper(&["x"]);
    let apart = |home: &Arc<Mutex<State>>| State::apart(home, program.program(), &Fill::new()).unwrap();
    let mut other = apart(&homes[0]);
    other.claim_new(vec![("x".to_owned(), 7)]).unwrap();
    world.states = homes.iter().map(apart).collect();
    world.run(&program, &[number(2)]).map(drop).unwrap_err();
    assert!(at(&homes[0]).version("x", 2).is_none());
    drop(other);
    world.states.clear();
    world.states = homes.iter().map(apart).collect();
    world.run(&program, &[number(3)]).unwrap();
    assert_eq!(world.read("x"), Ok(number(3)));
}
