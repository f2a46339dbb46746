//! Material of the offline phase: made, used once, and what a process that is killed leaves of it.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Child;
use std::time::{Duration, Instant};

use tacit::advanced::store::Epoch;

use crate::{Deployment, Json, PARTIES, PORT, check_outputs, ended_well, tacit};

/// What says where a party's material is, for `astra`.
fn stored(deployment: &Deployment, name: &str) -> [String; 6] {
    let (store, anchors) = (deployment.path(&format!("stores/{name}")), deployment.path("stores/anchors"));
    ["--protocol", "astra", "--store", &store, "--anchors", &anchors].map(str::to_owned)
}

impl Deployment {
    /// One of the parties, with its store.
    fn start_stored(&self, name: &str, command_name: &str, more: &[&str]) -> Child {
        let stored = stored(self, name);
        let stored: Vec<&str> = stored.iter().map(String::as_str).chain(more.iter().copied()).collect();
        self.start(name, command_name, &stored)
    }

    fn start_clients(&self) -> [Child; 2] {
        [("alice", "x"), ("bob", "y")].map(|(name, input)| {
            let file = format!("{input}={}", self.path(&format!("{input}.npy")));
            self.start(name, "run", &["--protocol", "astra", "--input", &file])
        })
    }

    /// Lets nobody wait long for whoever is killed.
    pub(crate) fn hurry(&self) {
        for name in ["P0", "P1", "P2", "alice", "bob"] {
            let config = self.path(&format!("{name}/parties.toml"));
            let text = std::fs::read_to_string(&config).unwrap();
            std::fs::write(&config, format!("{text}\n[limits]\nconnect_seconds = 5.0\n")).unwrap();
        }
    }

    /// Makes material for so many runs.
    fn make(&self, count: &str) -> [Json; 3] {
        PARTIES.map(|name| self.start_stored(name, "offline", &["--count", count])).map(ended_well)
    }

    /// Runs once; where each party's material came from.
    fn run_stored(&self) -> [Json; 3] {
        let parties = PARTIES.map(|name| self.start_stored(name, "run", &[]));
        for client in self.start_clients() {
            check_outputs(&ended_well(client));
        }
        parties.map(|party| {
            let object = ended_well(party);
            check_outputs(&object);
            object["report"]["material"].clone()
        })
    }

    /// What each party's journal says is used of each epoch.
    fn journals(&self) -> [BTreeMap<String, u64>; 3] {
        PARTIES.map(|name| {
            let journal = std::fs::read(self.path(&format!("stores/{name}/journal"))).unwrap_or_default();
            // Records of 64 bytes behind the head: the epoch, a shelf, and its first unused instance.
            let records = journal.get(JOURNAL_HEAD..).unwrap_or_default().chunks_exact(64);
            let mut used = BTreeMap::new();
            for record in records {
                let epoch = Epoch(record[..32].try_into().unwrap()).to_string();
                let next = u64::from_le_bytes(record[40..48].try_into().unwrap());
                let known = used.entry(epoch).or_insert(0);
                *known = next.max(*known);
            }
            used
        })
    }
}

pub(crate) fn material_is_made_and_used() {
    let deployment = Deployment::new(PORT + 9);
    for made in deployment.make("3") {
        assert_eq!((&made["instances"], made["epoch"].as_str().map(str::len)), (&3.into(), Some(64)));
        assert!(made["disk_bytes"].as_u64().is_some_and(|bytes| bytes > 3 * 48), "{made}");
        let links = made["links"].as_object().expect("links");
        assert_eq!(links.len(), 2);
        assert!(links.values().all(|link| link["sent_bytes"] == link["declared_bytes"]), "{made}");
    }
    let first = deployment.run_stored();
    assert!(first.iter().all(|material| *material == first[0] && material["index"] == 0), "{first:?}");

    // A server keeps its store to itself, and takes an instance for each run.
    let servers = PARTIES.map(|name| deployment.start_stored(name, "serve", &["--runs", "3"]));
    for run in 0..2 {
        for client in deployment.start_clients() {
            check_outputs(&ended_well(client));
        }
        if run == 0 {
            let stores = deployment.path("stores");
            let [plan, x, y] = ["larger.plan", "x.npy", "y.npy"].map(|name| deployment.path(name));
            let (x, y) = (format!("x={x}"), format!("y={y}"));
            let args = ["run", &plan, "--simulate", "--protocol", "astra", "--json", "--store", &stores];
            let output = tacit(&[&args[..], &["--input", &x, "--input", &y]].concat());
            assert_eq!(output.status.code(), Some(2));
            assert!(String::from_utf8_lossy(&output.stdout).contains("another process uses it"));
        }
    }
    // The third run finds nothing. It was its clients' request, so the server would stay up for others.
    let clients = deployment.start_clients();
    for server in servers {
        let output = server.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let indices: Vec<&Json> =
            lines[..2].iter().map(|line| &line["report"]["material"]["index"]).collect();
        assert_eq!(indices, [1, 2]);
        let offline =
            lines[..2].iter().flat_map(|line| line["report"]["endpoints"].as_object().unwrap().values());
        assert!(offline.into_iter().all(|endpoint| endpoint["sent_bytes"]["offline"] == 0), "{text}");
        let message = lines[2]["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("have no unused material for this program; `tacit offline`"), "{text}");
    }
    for client in clients {
        assert_eq!(client.wait_with_output().unwrap().status.code(), Some(1));
    }
}

/// Bytes of a journal before its first record.
const JOURNAL_HEAD: usize = 64;

/// Numbers that are the same in every run of the tests.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        self.0 >> 33
    }

    /// Kills one of the parties, or all, after up to so many milliseconds.
    pub(crate) fn kill(&mut self, parties: &mut [Child], within: u64) {
        std::thread::sleep(Duration::from_millis(self.next() % within));
        let all = parties.len() as u64;
        let victim = self.next() % (all + 1);
        for (number, party) in parties.iter_mut().enumerate() {
            if victim == all || victim == number as u64 {
                party.kill().unwrap();
            }
        }
    }
}

pub(crate) fn parties_that_are_killed_use_nothing_twice() {
    let deployment = Deployment::new(PORT + 12);
    deployment.hurry();
    deployment.make("40");
    let mut random = Random(11);
    let mut used: BTreeSet<(String, u64)> = BTreeSet::new();
    let mut burnt = 0;
    for round in 0..8 {
        let before = deployment.journals();
        let mut parties = PARTIES.map(|name| deployment.start_stored(name, "run", &[]));
        let mut clients = deployment.start_clients();
        // At any instant, or as soon as one of them has taken its material.
        let began = Instant::now();
        while round % 2 == 1 && deployment.journals() == before {
            assert!(began.elapsed() < Duration::from_mins(1), "no run begins");
        }
        random.kill(&mut parties, if round % 2 == 1 { 1 } else { 600 });
        let outputs = parties.map(|party| party.wait_with_output().unwrap());
        for client in &mut clients {
            let _ = client.kill();
            client.wait().unwrap();
        }
        let after = deployment.journals();
        // An instance that a party takes in this run is one that no party's journal had as used before.
        let furthest = |journals: &[BTreeMap<String, u64>; 3]| {
            let nexts = journals.iter().flat_map(|journal| journal.values().copied());
            nexts.max().unwrap_or(0)
        };
        for (journal, earlier) in after.iter().zip(&before) {
            for (epoch, next) in journal {
                let earlier = earlier.get(epoch).copied().unwrap_or(0);
                assert!(*next == earlier || *next == furthest(&before) + 1, "{before:?}, {after:?}");
            }
        }
        for output in outputs.iter().filter(|output| output.status.success()) {
            let object: Json = serde_json::from_slice(&output.stdout).unwrap();
            check_outputs(&object);
            assert_eq!(object["report"]["material"]["index"], furthest(&before), "{object}");
        }
        if furthest(&after) > furthest(&before) {
            let epoch = after[0].keys().next().cloned().unwrap_or_default();
            assert!(used.insert((epoch, furthest(&before))), "used twice");
            burnt += u64::from(!outputs.iter().all(|output| output.status.success()));
        }
        // And it goes on.
        let after = furthest(&after);
        let material = deployment.run_stored();
        assert!(material.iter().all(|material| material["index"] == after), "{material:?}, {after}");
        let epoch = material[0]["epoch"].as_str().unwrap_or_default().to_owned();
        assert!(used.insert((epoch, after)), "used twice");
    }
    assert!(burnt > 0, "no run was under way when it was killed");
}

pub(crate) fn a_killed_offline_session_leaves_no_harm() {
    let deployment = Deployment::new(PORT + 15);
    deployment.hurry();
    let mut random = Random(5);
    let mut used = BTreeSet::new();
    for _ in 0..2 {
        let mut parties = PARTIES.map(|name| deployment.start_stored(name, "offline", &["--count", "300"]));
        random.kill(&mut parties, 600);
        for mut party in parties {
            party.wait().unwrap();
        }
        // A store of which one party may have more than the others takes more, and is used.
        deployment.make("2");
        let material = deployment.run_stored();
        assert!(material.iter().all(|other| *other == material[0]), "{material:?}");
        assert!(used.insert(material[0].to_string()), "{} is used twice", material[0]);
    }
    for name in PARTIES {
        let entries = std::fs::read_dir(deployment.path(&format!("stores/{name}"))).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(names.into_iter().all(|name| !name.contains('.')), "nothing unfinished is left");
    }
}
