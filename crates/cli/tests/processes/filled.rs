//! Two servers under `mascot` that fill their stores while they serve, one of which is killed meanwhile.

use crate::killed::hear;
use crate::living::{Serves, learns};
use crate::material::Random;
use crate::{PORT, command, object, tacit, write_numbers};
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{ChildStderr, Stdio};
use std::time::Duration;
use tacit::SavedPlan;
use tacit::program::{Builder, Dtype, Range, Recipient};
use tempfile::TempDir;

const FIRST: u16 = PORT + 52;
const METRICS: u16 = PORT + 54;
/// Three parts of 20,160 triples are made, one after another, for seconds.
const LEVEL: &str = "triples=60000,bits=2048,elements=2048,masks=2048";
/// Times that it is killed.
const ROUNDS: usize = 3;
/// Milliseconds from the beginning of a filling to the kill, less than.
const MOMENTS: u64 = 1000;

struct House(TempDir);

impl House {
    fn new() -> Self {
        let house = Self(tempfile::tempdir().unwrap());
        let port = FIRST.to_string();
        let made = ["--parties", "2", "--clients", "alice", "--port", &port, "--json"];
        object(&[&["init", &house.path("")], &made[..]].concat());
        let mut build = Builder::new();
        let x = build.input("guest", "x", Dtype::Int, &[2], Range::new(-100, 100)).unwrap();
        let square = build.mul(x, x).unwrap();
        build.reveal(square, Recipient::Role("guest".into())).unwrap();
        let plan = SavedPlan::new(build.finish().unwrap(), "square");
        std::fs::write(house.path("square.plan"), plan.to_bytes()).unwrap();
        write_numbers(Path::new(&house.path("x.npy")), [5, -7]);
        house
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// A server whose log is read.
    fn serve(&self, party: u16, level: &str) -> (Serves, BufReader<ChildStderr>) {
        let [config, store, anchors] =
            ["parties.toml", "store", "anchors"].map(|name| self.path(&format!("P{party}/{name}")));
        let (plan, metrics) = (self.path("square.plan"), format!("127.0.0.1:{}", METRICS + party));
        let own = ["serve", &plan, "--config", &config, "--protocol", "mascot", "--open", "guest", "--json"];
        let fills = ["--store", &store, "--anchors", &anchors, "--fill", level];
        let watched = ["--log", "json", "--metrics", &metrics];
        let mut serves = command(&[&own[..], &fills, &watched].concat());
        let mut serves = Serves(Some(serves.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()));
        let log = serves.0.as_mut().and_then(|server| server.stderr.take()).unwrap();
        (serves, BufReader::new(log))
    }

    /// Epochs in a party's store, by what the command says.
    fn epochs(&self, party: u16) -> Vec<String> {
        let [store, anchors] = ["store", "anchors"].map(|name| self.path(&format!("P{party}/{name}")));
        let listed = object(&["store", "list", &store, "--anchors", &anchors, "--json"]);
        let epochs = listed["epochs"].as_array().unwrap().iter();
        let mut epochs: Vec<String> =
            epochs.map(|epoch| epoch["epoch"].as_str().unwrap().to_owned()).collect();
        epochs.dedup();
        epochs
    }
}

fn figures(party: u16) -> String {
    let mut port = TcpStream::connect(("127.0.0.1", METRICS + party)).unwrap();
    port.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut text = String::new();
    port.read_to_string(&mut text).unwrap();
    text
}

/// Whenever that is, nothing of it is used, and what is made next is whole and at both.
pub(crate) fn a_server_that_is_killed_while_it_fills_its_store_leaves_nothing_of_it() {
    let house = House::new();
    let refused = tacit(&["serve", &house.path("square.plan"), "--config", "no", "--fill", "triples=9"]);
    let says = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && says.contains("--store"), "{says}");
    let (stays, mut others_log) = house.serve(0, LEVEL);
    let (mut killed, mut log) = house.serve(1, LEVEL);
    // Told to end, it does so in the midst of a filling.
    hear(&mut log, "filling begins");
    let output = killed.ends();
    assert!(output.status.success(), "{output:?}");
    (killed, log) = house.serve(1, LEVEL);
    let mut random = Random(5);
    for _ in 0..ROUNDS {
        hear(&mut log, "filling begins");
        std::thread::sleep(Duration::from_millis(random.next() % MOMENTS));
        drop(killed);
        (killed, log) = house.serve(1, LEVEL);
    }
    hear(&mut log, "store filled");
    hear(&mut others_log, "store filled");
    let text = figures(1);
    for figure in
        ["tacit_supplies_unused{kind=\"triples of ", "tacit_supplies_level{", "tacit_filling_progress 0"]
    {
        assert!(text.lines().any(|line| line.starts_with(figure)), "{figure}: {text}");
    }
    let (plan, config, x) =
        (house.path("square.plan"), house.path("alice/parties.toml"), house.path("x.npy"));
    let given = ["--plays", "guest", "--input", &format!("x={x}"), "--json"];
    let asks = command(&[&["run", &plan, "--config", &config, "--protocol", "mascot"], &given[..]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(learns(asks).unwrap(), serde_json::json!([25, 49]));
    for server in [stays, killed] {
        let output = server.ends();
        assert!(output.status.success(), "{output:?}");
    }
    let epochs = house.epochs(0);
    assert!(!epochs.is_empty() && epochs == house.epochs(1), "{epochs:?}");
    for party in 0..2 {
        let names = std::fs::read_dir(house.path(&format!("P{party}/store"))).unwrap();
        let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(names.all(|name| !name.contains('.')), "nothing unfinished is left");
    }
}
