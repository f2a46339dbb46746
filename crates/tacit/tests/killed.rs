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
use tacit::{Compiled, Error, Fill, Local, Residents, Run, State};

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
        // Of each version every element says which it is.
        let listed = states.iter().flat_map(State::list);
        let last = listed.map(|listed| listed.about.version).max().unwrap_or(0) as i64;
        let value = Value { shape: vec![COUNT], data: Data::Int(vec![last + 1; COUNT]) };
        let kept = run(&mut states, &keeps, &[value]).expect("nothing goes wrong").report.kept;
        record.write_all(format!("{}\n", kept[0]).as_bytes()).unwrap();
        if number % 3 == 0 {
            let old = format!("x@{last}");
            for state in &mut states {
                // A process before this one may have done so.
                let _ = state.drop_value(&old);
            }
        }
    }
}

fn recorded(root: &Path) -> Vec<u64> {
    let record = std::fs::read_to_string(root.join("record")).unwrap_or_default();
    record.lines().filter_map(|line| line.strip_prefix("x@")?.parse().ok()).collect()
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

        let last = *recorded(root).last().unwrap();
        let mut states = local().open_states(&root.join("state")).expect("what is left opens");
        let done = run(&mut states, &reads, &[]).unwrap_or_else(|error| panic!("life {life}: {error}"));
        let version: u64 = done.report.read[0].1.strip_prefix("x@").unwrap().parse().unwrap();
        assert!(version >= last, "life {life}: version {version} after {last}");
        let expected = Value { shape: vec![COUNT], data: Data::Int(vec![version as i64; COUNT]) };
        assert_eq!(done.outputs[0].as_ref(), Some(&expected), "life {life}");
    }
}
