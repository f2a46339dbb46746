//! A process that is killed at random instants, again and again, on one store: what it was given is recorded outside.
//! Once with a plan's material, and once with supplies: two shelves of each epoch, read in another order than they lie in,
//! and checks on its key.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tacit_store::{Binding, Epoch, Material, PlanBinding, Run, Store, WHOLE};

/// Names the folder to the killed process, and says which one it is.
const ROOT: &str = "TACIT_STORE_TEST_ROOT";
const LIFE: &str = "TACIT_STORE_TEST_LIFE";
/// Is there if the store is one of supplies.
const SUPPLY: &str = "TACIT_STORE_TEST_SUPPLY";

/// Shelves of supplies.
const SHELVES: [u64; 2] = [3, u64::MAX];

/// Instances of each epoch.
const COUNT: u64 = 12;
/// Bytes of a line in the record, more or less.
const LINE: u64 = 75;
/// How long a process may take for some lines of the record.
const PATIENCE: Duration = Duration::from_secs(30);

fn binding(is_supply: bool) -> Binding {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Binding {
        me: "P1".into(),
        parties: names(&["P0", "P1", "P2"]),
        clients: Vec::new(),
        protocol: "test".into(),
        parameters: String::new(),
        plan: (!is_supply).then(|| PlanBinding { inputs: String::new(), program: [1; 32], plan: [5; 32] }),
    }
}

fn open(root: &Path, is_supply: bool) -> Store {
    let store = Store::create(&root.join("store"), &root.join("anchors"), &binding(is_supply));
    store.unwrap_or_else(|error| panic!("a killed process leaves a store that opens: {error}"))
}

/// The `number`th epoch of a life.
fn epoch(life: u32, number: u32) -> Epoch {
    let mut name = [0; 32];
    name[..4].copy_from_slice(&life.to_be_bytes());
    name[4..8].copy_from_slice(&number.to_be_bytes());
    Epoch(name)
}

/// Some hundred to some ten thousand bytes, all of which say which instance it is.
fn material(epoch: Epoch, shelf: u64, index: u64) -> Vec<u8> {
    let len = 100 + (index % 5) * 7000;
    let own = epoch.0[7] ^ shelf as u8 ^ (index as u8) << 3;
    (0..len).map(|i| (i as u8).wrapping_mul(epoch.0[3] | 1) ^ own).collect()
}

/// Writes a line into the record, in one piece.
fn note(record: &mut File, line: &str) {
    record.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Takes a run, and records what is given.
fn take(store: &mut Store, run: Run, record: &mut File) {
    for (index, got) in (run.first..).zip(store.take_run(run).expect("the run is unused")) {
        given(run, index, &got.expect("it is whole"), record);
    }
}

fn given(Run { epoch, shelf, .. }: Run, index: u64, got: &Material, record: &mut File) {
    assert_eq!(got[..], material(epoch, shelf, index), "{index} of {epoch}");
    note(record, &format!("given {epoch}/{shelf} {index}"));
}

/// Takes a run from each of two shelves, with a check on their key in between; reads them in turn, backwards.
fn take_both(store: &mut Store, run: Run, record: &mut File) {
    let mut reserved = SHELVES.map(|shelf| store.reserve(Run { shelf, ..run }).expect("the run is unused"));
    assert_eq!(store.key(run.epoch).expect("it is there")[..], material(run.epoch, WHOLE, 0));
    for index in (run.first..run.first + run.instances).rev() {
        for reserved in &mut reserved {
            let got = store.read(reserved, index..index + 1).expect("it is whole");
            given(reserved.run(), index, &got[0], record);
        }
    }
    note(record, &format!("checking {}", run.epoch));
    let number = store.begin_check(run.epoch).expect("no check is under way");
    note(record, &format!("check {}/{number}", run.epoch));
    store.pass_check(run.epoch).expect("a check is under way");
    note(record, &format!("passed {}", run.epoch));
    for reserved in reserved {
        store.put_away(reserved).expect("it can be put away");
    }
}

#[test]
#[ignore = "not a test: the process that the tests kill"]
fn victim() {
    let (Ok(root), Ok(life)) = (std::env::var(ROOT), std::env::var(LIFE)) else { return };
    let (root, life) = (PathBuf::from(root), life.parse().unwrap());
    let mut record = OpenOptions::new().append(true).create(true).open(root.join("record")).unwrap();
    note(&mut record, &format!("begun {life}"));
    let is_supply = std::env::var(SUPPLY).is_ok();
    let mut store = open(&root, is_supply);
    for number in 0.. {
        let epoch = epoch(life, number);
        let mut writer = store.writer(epoch).unwrap();
        let shelves = if is_supply { &SHELVES[..] } else { &[WHOLE] };
        for (index, shelf) in (0..COUNT).flat_map(|index| shelves.iter().map(move |shelf| (index, *shelf))) {
            writer.put(shelf, &material(epoch, shelf, index)).unwrap();
        }
        if is_supply {
            writer.put(WHOLE, &material(epoch, WHOLE, 0)).unwrap();
        }
        writer.finish(&mut store).unwrap();
        note(&mut record, &format!("finished {epoch}"));
        let (mut first, mut instances) = (0, 1);
        while first + instances <= COUNT {
            note(&mut record, &format!("touched {epoch}"));
            let take = if is_supply { take_both } else { take };
            take(&mut store, Run { epoch, shelf: WHOLE, first, instances }, &mut record);
            // One is skipped now and then, and some epochs aren't used to their end.
            (first, instances) = (first + instances + u64::from(number % 2), 1 + number as u64 % 3);
        }
        if number % 4 == 3 {
            store.destroy(epoch).unwrap();
            note(&mut record, &format!("destroyed {epoch}"));
        }
    }
}

/// What the record says.
#[derive(Default)]
struct Told {
    /// All that were given of each shelf of each epoch.
    given: BTreeMap<String, BTreeSet<u64>>,
    /// Epochs, and how many of their checks more have begun, or are about to, than have passed.
    checking: BTreeMap<String, u64>,
    checks: BTreeSet<String>,
    finished: BTreeSet<String>,
    touched: BTreeSet<String>,
    destroyed: BTreeSet<String>,
}

fn told(root: &Path) -> Told {
    let mut told = Told::default();
    let record = fs::read_to_string(root.join("record")).unwrap_or_default();
    // The last line may be in the middle of being written.
    for line in record.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        let words: Vec<&str> = line.split(' ').collect();
        let known = match words[..] {
            ["given", epoch, index] => {
                let index = index.parse().unwrap();
                let anew = told.given.entry(epoch.to_owned()).or_default().insert(index);
                assert!(anew, "{index} of {epoch} was given twice");
                true
            }
            ["finished", epoch] => told.finished.insert(epoch.to_owned()),
            ["touched", epoch] => told.touched.insert(epoch.to_owned()) | true,
            ["checking", epoch] => {
                *told.checking.entry(epoch.to_owned()).or_default() += 1;
                true
            }
            ["check", number] => {
                assert!(told.checks.insert(number.to_owned()), "check {number} was begun twice");
                true
            }
            ["passed", epoch] => {
                *told.checking.entry(epoch.to_owned()).or_default() -= 1;
                true
            }
            ["destroyed", epoch] => told.destroyed.insert(epoch.to_owned()),
            _ => line.starts_with("begun"),
        };
        assert!(known, "{line}");
    }
    told
}

/// Bytes in the record.
fn recorded(root: &Path) -> u64 {
    fs::metadata(root.join("record")).map_or(0, |metadata| metadata.len())
}

/// One test at a time: a process that another test starts holds this one's open files, and so its lock, until it is the
/// victim's program.
static ALONE: Mutex<()> = Mutex::new(());

/// Starts and kills so many processes on one store; `random` says when.
fn lives(lives: u32, is_supply: bool, mut random: u64) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let root = tempfile::tempdir().unwrap();
    for life in 0..lives {
        let mut victim = Command::new(std::env::current_exe().unwrap());
        victim.args(["victim", "--exact", "--ignored"]).env(ROOT, root.path()).env(LIFE, life.to_string());
        if is_supply {
            victim.env(SUPPLY, "");
        }
        let mut victim = victim.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // So much recorded, and a moment more: how far it gets doesn't depend on how busy the machine is.
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let (began, length) = (Instant::now(), recorded(root.path()) + 1 + (random >> 60) * LINE);
        while recorded(root.path()) < length {
            assert!(began.elapsed() < PATIENCE, "the process does nothing");
            sleep(Duration::from_micros(200));
        }
        sleep(Duration::from_micros(random >> 32 & 0xfff));
        assert!(victim.try_wait().unwrap().is_none(), "the process ended by itself in life {life}");
        victim.kill().unwrap();
        victim.wait().unwrap();
        restart(root.path(), is_supply);
    }
    let given: usize = told(root.path()).given.values().map(BTreeSet::len).sum();
    assert!(given > lives as usize, "{given} instances were given");
}

/// Opens the store after a kill, and holds it against the record.
fn restart(root: &Path, is_supply: bool) {
    let mut told = told(root);
    let mut store = open(root, is_supply);
    assert_eq!(store.restored(), []);
    let shelves = if is_supply { &SHELVES[..] } else { &[WHOLE] };
    let all = || shelves.iter().map(|shelf| (*shelf, store.available(*shelf)));
    let available: Vec<_> =
        all().flat_map(|(shelf, list)| list.into_iter().map(move |own| (shelf, own))).collect();
    for (shelf, own) in &available {
        let name = own.epoch.to_string();
        assert!(!told.destroyed.contains(&name), "{name} was destroyed");
        assert_eq!(own.count, COUNT, "{name} is whole");
        let last = told.given.get(&format!("{name}/{shelf}")).and_then(BTreeSet::last);
        assert!(
            last.is_none_or(|last| *last < own.next),
            "{name}: {last:?} was given, and {} is next",
            own.next
        );
    }
    for name in told.finished.difference(&told.touched) {
        assert!(
            available.iter().any(|(_, own)| own.epoch.to_string() == *name),
            "{name} was finished, and is lost"
        );
    }
    // A process that dies in a check has no word on whether it had passed: its epoch has none under way any more, or is gone.
    for name in told.checking.iter().filter(|(_, pending)| **pending > 0).map(|(name, _)| name) {
        let survivor = available.iter().find(|(_, own)| own.epoch.to_string() == *name);
        if let Some((_, own)) = survivor {
            let number = store.begin_check(own.epoch).expect("no check is under way");
            assert!(told.checks.insert(format!("{name}/{number}")), "{name}: check {number} was begun twice");
            store.pass_check(own.epoch).unwrap();
        }
    }
    // All that is left of all but the first is taken, so that files are read; the first is left for the next kill.
    let mut record = OpenOptions::new().append(true).open(root.join("record")).unwrap();
    let kept = available.first().map(|(_, own)| own.epoch);
    for (shelf, own) in available.iter().filter(|(_, own)| Some(own.epoch) != kept) {
        note(&mut record, &format!("touched {}", own.epoch));
        let (first, instances) = (own.next, own.count - own.next);
        take(&mut store, Run { epoch: own.epoch, shelf: *shelf, first, instances }, &mut record);
    }
}

#[test]
fn a_process_killed_at_any_instant_is_given_nothing_twice() {
    lives(40, false, 0x9e37_79b9_7f4a_7c15);
}

#[test]
fn a_process_killed_at_any_instant_is_given_no_supply_twice() {
    lives(40, true, 0x9e37_79b9_7f4a_7c15);
}

#[test]
#[ignore = "takes minutes; `make test-long` runs it"]
fn a_process_killed_two_thousand_times_is_given_nothing_twice() {
    (1..=20).for_each(|seed| lives(100, seed % 2 == 0, seed));
}
