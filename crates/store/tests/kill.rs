//! A process that is killed at random instants, again and again, on one store: what it was given is recorded outside.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tacit_store::{Binding, Epoch, Run, Store};

/// Names the folder to the killed process, and says which one it is.
const ROOT: &str = "TACIT_STORE_TEST_ROOT";
const LIFE: &str = "TACIT_STORE_TEST_LIFE";

/// Instances of each epoch.
const COUNT: u64 = 12;
/// Bytes of a line in the record, more or less.
const LINE: u64 = 75;
/// How long a process may take for some lines of the record.
const PATIENCE: Duration = Duration::from_secs(30);

fn binding() -> Binding {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Binding {
        me: "P1".into(),
        parties: names(&["P0", "P1", "P2"]),
        clients: Vec::new(),
        protocol: "test".into(),
        parameters: String::new(),
        inputs: String::new(),
        program: [1; 32],
        plan: [5; 32],
    }
}

fn open(root: &Path) -> Store {
    let store = Store::create(&root.join("store"), &root.join("anchors"), &binding());
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
fn material(epoch: Epoch, index: u64) -> Vec<u8> {
    let len = 100 + (index % 5) * 7000;
    (0..len).map(|i| (i as u8).wrapping_mul(epoch.0[3] | 1) ^ epoch.0[7] ^ (index as u8) << 3).collect()
}

/// Writes a line into the record, in one piece.
fn note(record: &mut File, line: &str) {
    record.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Takes a run, and records what is given.
fn take(store: &mut Store, run: Run, record: &mut File) {
    for (index, got) in (run.first..).zip(store.take_run(run).expect("the run is unused")) {
        assert_eq!(&got.expect("it is whole")[..], material(run.epoch, index), "{index} of {}", run.epoch);
        note(record, &format!("given {} {index}", run.epoch));
    }
}

#[test]
#[ignore = "not a test: the process that the tests kill"]
fn victim() {
    let (Ok(root), Ok(life)) = (std::env::var(ROOT), std::env::var(LIFE)) else { return };
    let (root, life) = (PathBuf::from(root), life.parse().unwrap());
    let mut record = OpenOptions::new().append(true).create(true).open(root.join("record")).unwrap();
    note(&mut record, &format!("begun {life}"));
    let mut store = open(&root);
    for number in 0.. {
        let epoch = epoch(life, number);
        let mut writer = store.writer(epoch).unwrap();
        for index in 0..COUNT {
            writer.put(&material(epoch, index)).unwrap();
        }
        writer.finish().unwrap();
        note(&mut record, &format!("finished {epoch}"));
        let (mut first, mut instances) = (0, 1);
        while first + instances <= COUNT {
            note(&mut record, &format!("touched {epoch}"));
            take(&mut store, Run { epoch, first, instances }, &mut record);
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
    /// All that were given of each epoch.
    given: BTreeMap<String, BTreeSet<u64>>,
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

/// Starts and kills so many processes on one store; `random` says when.
fn lives(lives: u32, mut random: u64) {
    let root = tempfile::tempdir().unwrap();
    for life in 0..lives {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["victim", "--exact", "--ignored"])
            .env(ROOT, root.path())
            .env(LIFE, life.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
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
        restart(root.path());
    }
    let given: usize = told(root.path()).given.values().map(BTreeSet::len).sum();
    assert!(given > lives as usize, "{given} instances were given");
}

/// Opens the store after a kill, and holds it against the record.
fn restart(root: &Path) {
    let told = told(root);
    let mut store = open(root);
    assert_eq!(store.restored(), []);
    let available = store.available();
    for own in &available {
        let name = own.epoch.to_string();
        assert!(!told.destroyed.contains(&name), "{name} was destroyed");
        assert_eq!(own.count, COUNT, "{name} is whole");
        let last = told.given.get(&name).and_then(BTreeSet::last);
        assert!(
            last.is_none_or(|last| *last < own.next),
            "{name}: {last:?} was given, and {} is next",
            own.next
        );
    }
    for name in told.finished.difference(&told.touched) {
        assert!(
            available.iter().any(|own| own.epoch.to_string() == *name),
            "{name} was finished, and is lost"
        );
    }
    // All that is left of all but the first is taken, so that files are read; the first is left for the next kill.
    let mut record = OpenOptions::new().append(true).open(root.join("record")).unwrap();
    for own in available.iter().skip(1) {
        note(&mut record, &format!("touched {}", own.epoch));
        let run = Run { epoch: own.epoch, first: own.next, instances: own.count - own.next };
        take(&mut store, run, &mut record);
    }
}

#[test]
fn a_process_killed_at_any_instant_is_given_nothing_twice() {
    lives(40, 0x9e37_79b9_7f4a_7c15);
}

#[test]
#[ignore = "takes minutes"]
fn a_process_killed_two_thousand_times_is_given_nothing_twice() {
    (1..=20).for_each(|seed| lives(100, seed));
}
