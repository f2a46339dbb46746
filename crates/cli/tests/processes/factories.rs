//! Two parties under `mascot`, whose stores of supplies are filled ahead of runs, and killed at any instant.

use std::path::Path;
use std::process::{Child, Stdio};

use tacit::SavedPlan;
use tacit::program::{Builder, Dtype, Range, Recipient};
use tempfile::TempDir;

use crate::material::Random;
use crate::{Json, PORT, command, ended_well, object, write_numbers};

const PARTIES: [&str; 2] = ["P0", "P1"];

/// Two parties, and a program: products of numbers of both.
struct Factory {
    folder: TempDir,
}

impl Factory {
    fn new(port: u16) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let factory = Self { folder };
        object(&["init", &factory.path("."), "--parties", "2", "--port", &port.to_string(), "--json"]);
        let mut build = Builder::new();
        let inputs = PARTIES.map(|name| build.input(name, name, Dtype::Int, &[2], Range::new(-100, 100)));
        let [a, b] = inputs.map(|input| input.expect("a small input"));
        let product = build.mul(a, b).expect("numbers");
        build.reveal(product, Recipient::All).expect("the node is there");
        let plan = SavedPlan::new(build.finish().expect("something is revealed"), "products");
        std::fs::write(factory.path("products.plan"), plan.to_bytes()).expect("a plan");
        for (name, values) in [("P0", [5, -7]), ("P1", [4, 3])] {
            write_numbers(Path::new(&factory.path(&format!("{name}.npy"))), values);
            // Nobody waits long for whoever is killed.
            let config = factory.path(&format!("{name}/parties.toml"));
            let text = std::fs::read_to_string(&config).expect("a configuration");
            let limited = format!("{text}\n[limits]\nconnect_seconds = 5.0\n");
            std::fs::write(&config, limited).expect("a configuration");
        }
        factory
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Both parties, each with its store.
    fn start(&self, command_name: &str, more: &[&str]) -> [Child; 2] {
        PARTIES.map(|name| self.start_one(name, command_name, ["parties.toml", "stores"], more))
    }

    /// One party, by a configuration and with its store in this folder, whose anchors are their own.
    fn start_one(&self, name: &str, command_name: &str, [config, stores]: [&str; 2], more: &[&str]) -> Child {
        let [plan, config, store, anchors] = [
            "products.plan",
            &format!("{name}/{config}"),
            &format!("{stores}/{name}"),
            &format!("anchors-of-{stores}"),
        ]
        .map(|path| self.path(path));
        let input = format!("{name}={}", self.path(&format!("{name}.npy")));
        let args = [command_name, &plan, "--config", &config, "--protocol", "mascot", "--json"];
        let mut party = command(&[&args[..], &["--store", &store, "--anchors", &anchors], more].concat());
        if command_name != "offline" {
            party.args(["--input", &input]);
        }
        let party = party.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        party.expect("this program can be started")
    }

    /// Makes what a run takes.
    fn make(&self) {
        let [one, other] = self.start("offline", &["--count", "1"]).map(ended_well);
        assert_eq!(one["epoch"], other["epoch"]);
    }

    /// The same, and runs.
    fn go_on(&self) {
        self.make();
        for object in self.start("run", &[]).map(ended_well) {
            check(&object);
        }
    }
}

fn check(object: &Json) {
    assert_eq!(object["outputs"][0]["value"], serde_json::json!([20, -21]), "{object}");
}

/// Whatever is killed, a factory or a run: no output is wrong, what is made next is whole and used, and nothing unfinished is
/// left.
pub(crate) fn killed_factories_and_runs_leave_no_harm() {
    let factory = Factory::new(PORT + 39);
    let mut random = Random(7);
    factory.go_on();
    let mut was_cut = 0;
    for round in 0..4 {
        let (command_name, more): (_, &[&str]) =
            if round % 2 == 0 { ("offline", &["--count", "600"]) } else { ("run", &[]) };
        if command_name == "run" {
            factory.make();
        }
        let mut parties = factory.start(command_name, more);
        random.kill(&mut parties, 400);
        for party in parties {
            let output = party.wait_with_output().expect("it was started");
            was_cut += usize::from(!output.status.success());
            if command_name == "run" && output.status.success() {
                check(&serde_json::from_slice(&output.stdout).expect("an object"));
            }
        }
        factory.go_on();
    }
    assert!(was_cut > 0, "only {was_cut} processes were killed in time");
    for name in PARTIES {
        let entries = std::fs::read_dir(factory.path(&format!("stores/{name}"))).expect("a store");
        let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
        assert!(names.into_iter().all(|name| !name.contains('.')), "nothing unfinished is left");
    }
}

/// While a server has one store, and its port, the next one is filled by configurations with ports of their own; then it serves.
pub(crate) fn a_second_store_is_filled_beside_a_server() {
    const BESIDE: u16 = PORT + 50;
    let factory = Factory::new(PORT + 48);
    for name in PARTIES {
        let config = factory.path(&format!("{name}/parties.toml"));
        let text = std::fs::read_to_string(&config).expect("a configuration");
        let other = (0..2).fold(text.clone(), |text, party| {
            text.replace(&format!(":{}", PORT + 48 + party), &format!(":{}", BESIDE + party))
        });
        assert_ne!(text, other);
        std::fs::write(factory.path(&format!("{name}/factory.toml")), other).expect("a configuration");
    }
    factory.make();
    let serve = |stores: &str, party: usize| {
        factory.start_one(PARTIES[party], "serve", ["parties.toml", stores], &["--runs", "1"])
    };
    let mut server = serve("stores", 0);
    while std::net::TcpStream::connect(("127.0.0.1", PORT + 48)).is_err() {
        assert!(server.try_wait().expect("it was started").is_none(), "it waits for the other one");
        std::thread::yield_now();
    }
    let beside = ["factory.toml", "next"];
    let made =
        PARTIES.map(|name| factory.start_one(name, "offline", beside, &["--count", "1"])).map(ended_well);
    assert_eq!(made[0]["epoch"], made[1]["epoch"]);
    assert!(server.try_wait().expect("it was started").is_none(), "it has been there all the time");
    let servers = [server, serve("stores", 1)];
    servers.map(ended_well).iter().for_each(check);
    [0, 1].map(|party| serve("next", party)).map(ended_well).iter().for_each(check);
}
