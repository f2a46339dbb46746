//! A process that is killed at random instants while its parties keep values: whatever is left, all parties come to the same
//! version, whole, and it is no older than the last one that was known to be kept.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tacit::program::{Builder, Data, Dtype, Range, Recipient, Uses, Value};
use tacit::{Compiled, Error, Fill, Local, Residents, Run, Standing, State};

/// Names the folder to the killed process.
const ROOT: &str = "TACIT_STATE_TEST_ROOT";
/// Elements of the value: files of some tens of kilobytes.
const COUNT: usize = 4096;
/// How often the process is killed.
const LIVES: u64 = 12;
/// How long a process may take to keep its first value.
const PATIENCE: Duration = Duration::from_mins(1);

fn keeps() -> Arc<Compiled> {
    let mut build = Builder::new();
    let x = build.input("P0", "x", Dtype::Int, &[COUNT], Range::new(0, 1 << 30)).unwrap();
    build.keep(x, "x", Uses::default()).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

fn reveals() -> Arc<Compiled> {
    let mut build = Builder::new();
    let x = build.kept("x", Dtype::Int, &[COUNT], Range::new(0, 1 << 30)).unwrap();
    build.reveal(x, Recipient::All).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

fn run(states: &mut [State], compiled: &Arc<Compiled>, inputs: &[Value]) -> Result<Run, Error> {
    let fill = Fill::new();
    let residents = states.iter_mut().map(|state| Residents { state, fill: &fill, store: None });
    local().run_on(compiled, residents.collect(), inputs, &|_, _| {})
}

fn local() -> Local {
    Local::new("replicated-malicious").unwrap()
}

#[test]
#[ignore = "not a test: the process that the test kills"]
fn victim() {
    let Ok(root) = std::env::var(ROOT) else { return };
    let root = PathBuf::from(root);
    let mut record = OpenOptions::new().append(true).create(true).open(root.join("record")).unwrap();
    let mut states =
        local().open_states(&root.join("state")).expect("a killed process leaves folders that open");
    let keeps = keeps();
    for number in 1_i64.. {
        let (last, element) = recorded(&root).last().copied().unwrap_or((0, 0));
        // Every other version has a value of its own, in every element; the one after it is fresh shares of that.
        let (kept, element) = if number % 2 == 0 {
            (local().refresh(&mut states, "x").expect("nothing goes wrong"), element)
        } else {
            let value = Value { shape: vec![COUNT], data: Data::Int(vec![element + 1; COUNT]) };
            (
                run(&mut states, &keeps, &[value]).expect("nothing goes wrong").report.kept.swap_remove(0),
                element + 1,
            )
        };
        record.write_all(format!("{kept} {element}\n").as_bytes()).unwrap();
        if number % 3 == 0 {
            let old = format!("x@{last}");
            for state in &mut states {
                // A process before this one may have done so.
                let _ = state.drop_value(&old);
            }
        }
    }
}

/// The versions that were known to be kept, each with its elements.
fn recorded(root: &Path) -> Vec<(u64, i64)> {
    let record = std::fs::read_to_string(root.join("record")).unwrap_or_default();
    let read = |line: &str| {
        let (version, element) = line.strip_prefix("x@")?.split_once(' ')?;
        Some((version.parse().ok()?, element.parse().ok()?))
    };
    record.lines().filter_map(read).collect()
}

#[test]
fn whatever_a_killed_process_leaves_all_parties_read_the_same_version() {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let root = folder.path();
    let reads = reveals();
    for life in 0..LIVES {
        let before = recorded(root).len();
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["victim", "--exact", "--ignored", "--nocapture"])
            .env(ROOT, root)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while recorded(root).len() < before + 1 + life as usize % 3 {
            assert!(start.elapsed() < PATIENCE, "nothing is kept");
            assert!(victim.try_wait().unwrap().is_none(), "the process ended by itself in life {life}");
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_micros(life * 1_700 % 9_001));
        victim.kill().unwrap();
        victim.wait().unwrap();

        let (last, element) = *recorded(root).last().unwrap();
        let mut states = local().open_states(&root.join("state")).expect("what is left opens");
        let done = run(&mut states, &reads, &[]).unwrap_or_else(|error| panic!("life {life}: {error}"));
        let version: u64 = done.report.read[0].1.strip_prefix("x@").unwrap().parse().unwrap();
        assert!(version >= last, "life {life}: version {version} after {last}");
        // What wasn't recorded any more is the next value, or fresh shares of the last.
        let next = if version == last { element } else { element + 1 };
        let expected = |element| Value { shape: vec![COUNT], data: Data::Int(vec![element; COUNT]) };
        let read = done.outputs[0].as_ref();
        assert!(
            read == Some(&expected(element)) || read == Some(&expected(next)),
            "life {life}: {version} after {last}"
        );
        // What is fresh has replaced what was before, wherever that was known.
        for state in &states {
            let all = state.list();
            let settled = |version| {
                all.iter().any(|one| one.about.version == version && one.standing == Standing::Settled)
            };
            let replaced = all
                .iter()
                .filter(|one| one.standing == Standing::Settled)
                .filter_map(|one| one.about.replaces);
            assert!(!replaced.into_iter().any(settled), "life {life}: old shares beside fresh ones");
        }
    }
}
