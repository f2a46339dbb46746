//! Parties that compute on other shares than they kept, that lie on other disks, or that have a mistake planted.

use super::mistakes::Mistake;
use super::versions::digests;
use super::*;
use crate::{Compiled, Error, Filling, Local, Residents, Run, StorePath};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use tacit_engine::KeptShare;
use tacit_program::{Builder, Data, Dtype, Program, Range, Recipient, Uses, Value};
use tacit_store::{Epoch, EpochStanding, Overview};

fn compiled(build: impl FnOnce(&mut Builder)) -> Arc<Compiled> {
    let mut builder = Builder::new();
    build(&mut builder);
    let program: Program = builder.finish().unwrap();
    Compiled::new(program).unwrap()
}

fn keeper(uses: Uses) -> Arc<Compiled> {
    compiled(|build| {
        let x = build.input("P0", "x", Dtype::Int, &[2], Range::new(-99, 99)).unwrap();
        build.keep(x, "x", uses).unwrap();
    })
}

/// Tells everybody the double of `x`.
fn doubles() -> Arc<Compiled> {
    compiled(|build| {
        let x = build.kept("x", Dtype::Int, &[2], Range::new(-99, 99)).unwrap();
        let twice = build.add(x, x).unwrap();
        build.reveal(twice, Recipient::All).unwrap();
    })
}

/// The squares.
fn squares() -> Arc<Compiled> {
    compiled(|build| {
        let x = build.kept("x", Dtype::Int, &[2], Range::new(-99, 99)).unwrap();
        let square = build.mul(x, x).unwrap();
        build.reveal(square, Recipient::All).unwrap();
    })
}

fn ints(values: [i64; 2]) -> Value {
    Value { shape: vec![2], data: Data::Int(values.to_vec()) }
}

/// Runs a program at all parties, with stores if there are any.
fn run(
    local: &Local,
    states: &mut [State],
    place: Option<&StorePath>,
    program: &Arc<Compiled>,
    inputs: &[Value],
) -> Result<Run, Error> {
    let fill = Fill::new();
    let stores = place.map(|place| local.open_stores(program, place).unwrap());
    let mut stores = stores.into_iter().flatten().collect::<Vec<_>>();
    let mut stores = stores.iter_mut();
    let residents = |state| Residents { state, fill: &fill, store: stores.next() };
    let residents = states.iter_mut().map(residents).collect();
    local.run_on(program, residents, inputs, &|_, _| ())
}

/// Has a party compute on another share of `x@1` than it kept, and stand by it.
fn change(state: &mut State, part: usize) {
    let mut share = KeptShare::clone(&state.share("x", 1).unwrap());
    share.parts[part].bytes[0] ^= 4;
    let version = state.version_mut("x", 1).unwrap();
    version.digests = digests(&share);
    version.share = Some(Arc::new(share));
}

/// Parties under `mascot`, with a store that has what two inputs take, and `x` on disk.
struct Mascot {
    local: Local,
    folder: tempfile::TempDir,
    place: StorePath,
}

impl Mascot {
    fn keeping(values: [i64; 2]) -> Self {
        let (local, folder) = (Local::new("mascot").unwrap(), tempfile::tempdir().unwrap());
        let place = StorePath::simulated(folder.path().join("stores"));
        let protocol = crate::protocol("mascot").unwrap();
        let blocks = [("triples", 128), ("bits", 256), ("masks", 128)];
        let filling = Filling::of(&*protocol, local.parties.len(), &blocks).unwrap();
        local.stock(&filling, &place, &|_, _| {}).unwrap();
        let own = Self { local, folder, place };
        own.run(&mut own.states(), &keeper(Uses::default()), &[ints(values)]).unwrap();
        own
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn states(&self) -> Vec<State> {
        self.local.open_states(self.folder.path()).unwrap()
    }

    fn run(&self, states: &mut [State], program: &Arc<Compiled>, inputs: &[Value]) -> Result<Run, Error> {
        run(&self.local, states, Some(&self.place), program, inputs)
    }

    fn moves(&self, from: &str, to: &str) {
        std::fs::rename(self.path(from), self.path(to)).unwrap();
    }
}

/// A byte of the value's part or of its MAC's: the check of MACs fails, and nobody has an output.
#[test]
fn under_mascot_a_changed_share_ends_the_run() {
    let honest = Mascot::keeping([5, -6]);
    let mut states = honest.states();
    let done = honest.run(&mut states, &doubles(), &[]).unwrap();
    assert_eq!(done.outputs, [Some(ints([10, -12]))]);
    let parts = states[1].share("x", 1).unwrap().parts.len();
    assert!(parts >= 2, "a value's and its MAC's");
    for part in 0..parts {
        let own = Mascot::keeping([5, -6]);
        let mut states = own.states();
        change(&mut states[1], part);
        let error = own.run(&mut states, &doubles(), &[]).unwrap_err();
        assert!(error.is_failed_check(), "part {part}: {error}");
        // Nobody can read it any more, and each party's store says so.
        let epoch = Epoch(states[0].version("x", 1).unwrap().about.key.unwrap());
        for party in &own.local.parties {
            let store = own.place.of(party);
            let known = Overview::read(&store.store, &store.anchors).unwrap().known;
            assert_eq!(known.get(&epoch), Some(&EpochStanding::Gone), "part {part}: {party}");
        }
    }
}

/// A disk that was put back is refused by name; that of another party fits no MAC.
#[test]
fn under_mascot_an_old_and_a_swapped_disk_give_nothing() {
    let own = Mascot::keeping([5, -6]);
    let copied = own.path("old");
    std::fs::create_dir(&copied).unwrap();
    std::fs::set_permissions(&copied, std::fs::Permissions::from_mode(0o700)).unwrap();
    for entry in std::fs::read_dir(own.path("P1")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, copied.join(path.file_name().unwrap())).unwrap();
    }
    own.run(&mut own.states(), &keeper(Uses::default()), &[ints([7, 8])]).unwrap();
    own.moves("P1", "new");
    own.moves("old", "P1");
    let refused = own.run(&mut own.states(), &doubles(), &[]).unwrap_err().to_string();
    assert!(refused.contains("P1 lacks x@2"), "{refused}");
    own.moves("P1", "old");
    own.moves("new", "P1");
    let done = own.run(&mut own.states(), &doubles(), &[]).unwrap();
    assert_eq!(done.outputs, [Some(ints([14, 16]))]);
    own.moves("P1", "new");
    own.moves("P0", "P1");
    own.moves("new", "P0");
    let error = own.run(&mut own.states(), &doubles(), &[]).unwrap_err();
    assert!(error.is_failed_check() || matches!(error, Error::Refused(_)), "{error}");
}

/// Two parties that don't look at what a value may be used for don't have their way as long as one does. If none did,
/// all would learn what is for alice alone.
#[test]
fn uses_hold_as_long_as_one_party_looks_at_them() {
    let uses = || Uses::new(vec![], Some(vec!["alice".into()]));
    for name in ["replicated", "replicated-malicious", "gmw"] {
        let local = Local::new(name).unwrap();
        let count = local.parties.len();
        for looks in (0..count).map(Some).chain([None]) {
            let mut states: Vec<State> = (0..count).map(|_| State::new()).collect();
            run(&local, &mut states, None, &keeper(uses()), &[ints([5, -6])]).unwrap();
            for (party, state) in states.iter_mut().enumerate() {
                state.mistakes.planted = (Some(party) != looks).then_some(Mistake::UsesIgnored);
            }
            let done = run(&local, &mut states, None, &doubles(), &[]);
            match looks {
                Some(_) => {
                    let refused = done.unwrap_err().to_string();
                    assert!(refused.contains("may be learnt by alice only"), "{name}: {refused}");
                }
                None => assert_eq!(done.unwrap().outputs, [Some(ints([10, -12]))], "{name}"),
            }
        }
    }
}

/// Whether it is below a bound of somebody's choice would else be told to all, run by run.
#[test]
fn a_range_that_is_assumed_tells_nobody_of_what_is_for_others() {
    let program = compiled(|build| {
        let x = build.kept("x", Dtype::Int, &[2], Range::new(-100, 100)).unwrap();
        let small = build.assume(x, Range::new(0, 50).unwrap()).unwrap();
        build.keep(small, "junk", Uses::new(vec![], Some(vec!["alice".into()]))).unwrap();
    });
    for (learners, is_refused) in [(Some(vec!["alice".into()]), true), (None, false)] {
        let local = Local::new("replicated").unwrap();
        let mut states: Vec<State> = (0..3).map(|_| State::new()).collect();
        run(&local, &mut states, None, &keeper(Uses::new(vec![], learners)), &[ints([5, -6])]).unwrap();
        let error = run(&local, &mut states, None, &program, &[]).unwrap_err();
        if is_refused {
            let says =
                "may be learnt by alice only, and all learn whether it is in the range that is assumed";
            assert!(matches!(&error, Error::Refused(reason) if reason.contains(says)), "{error}");
        } else {
            assert!(matches!(error, Error::OutsideAssumed { .. }), "{error}");
        }
    }
}

/// One that holds another share than it kept is found by the other holder of its part; a party that looks at no
/// digest has the others compute on it: under `replicated` on a wrong value.
#[test]
fn digests_hold_as_long_as_the_other_holder_compares_them() {
    let local = Local::new("replicated").unwrap();
    for (ignore, is_found) in [(vec![], true), (vec![1], true), (vec![0, 1, 2], false)] {
        let mut states: Vec<State> = (0..3).map(|_| State::new()).collect();
        run(&local, &mut states, None, &keeper(Uses::default()), &[ints([5, -6])]).unwrap();
        change(&mut states[1], 0);
        for party in ignore {
            states[party].mistakes.planted = Some(Mistake::DigestsIgnored);
        }
        match run(&local, &mut states, None, &squares(), &[]) {
            // A number that can't be is an error, too.
            Err(error) => {
                assert_eq!(error.to_string().contains("holds another share of x@1"), is_found, "{error}");
            }
            Ok(done) => assert!(!is_found && done.outputs != [Some(ints([25, 36]))], "{:?}", done.outputs),
        }
    }
}
