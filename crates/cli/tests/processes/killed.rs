//! A server that is killed while it keeps what a client gives.

use crate::living::{House, Serves, learns};
use crate::material::Random;
use crate::tacit;
use std::io::{BufRead, BufReader};
use std::process::{ChildStderr, Stdio};
use std::time::Duration;

/// Times that it is killed.
const ROUNDS: usize = 5;
/// Milliseconds from the beginning of a run to the kill, less than: some runs have ended by then.
const MOMENTS: u64 = 12;

/// Reads a server's log until something is said.
pub(crate) fn hear(log: &mut impl BufRead, what: &str) {
    let mut line = String::new();
    while !line.contains(what) {
        line.clear();
        assert_ne!(log.read_line(&mut line).unwrap(), 0, "it has ended before {what:?}");
    }
}

/// A server whose log is read.
fn starts(house: &House, party: u16) -> (Serves, BufReader<ChildStderr>) {
    let mut serves = house.serve(party, &[], Stdio::piped());
    let log = serves.0.as_mut().and_then(|server| server.stderr.take()).unwrap();
    (serves, BufReader::new(log))
}

/// Whenever that is, all have the old version or all the next one, and runs go on.
pub(crate) fn a_server_that_is_killed_leaves_one_version() {
    let house = House::new();
    house.make();
    let others = [0, 2].map(|party| house.serve(party, &[], Stdio::null()));
    let (mut killed, mut log) = starts(&house, 1);
    // What a client gets for 3 and 5: their products with what is kept.
    let reads = || {
        let asks = house.asks("alice", "ask.plan", "low.npy", &["--kept", "keys=table[0,1]"]);
        learns(asks).unwrap_or_else(|words| panic!("runs don't go on: {words}"))
    };
    let kept = [("low.npy", serde_json::json!([9, 25])), ("high.npy", serde_json::json!([30, 100]))];
    let (mut old, mut random, mut was_cut, mut versions) = (reads(), Random(3), 0, 1);
    for round in 0..ROUNDS {
        hear(&mut log, "run ended");
        let (given, new) = kept.iter().find(|(_, read)| *read != old).unwrap();
        let client = house.asks("alice", "put.plan", given, &["--rows", "table[0,1]"]);
        hear(&mut log, "run begins");
        std::thread::sleep(Duration::from_millis(random.next() % MOMENTS));
        drop(killed);
        (killed, log) = starts(&house, 1);
        let (told, read) = (learns(client), reads());
        assert!(read == *new || (read == old && told.is_err()), "round {round}: {read}, {told:?}");
        was_cut += usize::from(told.is_err());
        versions += usize::from(read == *new);
        old = read;
    }
    assert!(was_cut > 0, "no run was under way");
    for server in [killed].into_iter().chain(others) {
        let output = server.ends();
        assert!(output.status.success(), "{output:?}");
    }
    // What a run that was cut off leaves may have a number, too, at some parties.
    let kept = ["P0", "P1", "P2"].map(|party| {
        let (config, state) = (house.config(party), house.path(&format!("{party}/state")));
        let shown = tacit(&["state", "show", &state, "table", "--config", &config, "--json"]);
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        let mut listed = shown.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let last = listed.rfind(|one| one["standing"] == "kept");
        last.unwrap_or_else(|| panic!("{party} keeps nothing: {shown}"))["value"].as_str().unwrap().to_owned()
    });
    assert!(kept.iter().all(|value| *value == kept[0]), "{kept:?}");
    let number: usize = kept[0].trim_start_matches("table@").parse().unwrap();
    assert!(number >= versions, "{kept:?} after {versions}");
}
