//! Whole commands, as a user gives them, of the binary without Python. Parties are processes.
//!
//! It has no test harness, so that one test runs at a time, and finds no other of them on its ports.

use serde_json::Value as Json;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use tacit::SavedPlan;
use tacit::program::{Builder, Dtype, Range, Recipient};

#[path = "processes/factories.rs"]
mod factories;
#[path = "processes/filled.rs"]
mod filled;
#[path = "processes/killed.rs"]
mod killed;
#[path = "processes/living.rs"]
mod living;
#[path = "processes/material.rs"]
mod material;
#[path = "processes/native.rs"]
mod native;
#[path = "processes/observed.rs"]
mod observed;
#[path = "processes/papers.rs"]
mod papers;
#[path = "processes/secrets.rs"]
mod secrets;
#[path = "processes/servers.rs"]
mod servers;
#[path = "processes/streams.rs"]
mod streams;
#[path = "processes/supplies.rs"]
mod supplies;

/// A test that takes longer waits for something that doesn't come: each takes seconds.
const LONGEST: Duration = Duration::from_mins(5);

fn main() {
    let first = std::env::args().nth(1);
    let tests: [(&str, fn()); 34] = [
        ("plans are told and run without Python", native::plans_are_told_and_run_without_python),
        ("a saved plan starts and ends", native::a_saved_plan_starts_and_ends),
        ("every benchmark runs over every transport", every_benchmark_runs_over_every_transport),
        ("a benchmark's object has all its keys", a_benchmarks_object_has_all_its_keys),
        ("what was sent went over the wire", what_was_sent_went_over_the_wire),
        ("products cost the bits of their ring", products_cost_the_bits_of_their_ring),
        ("a profile is all of every party's time", a_profile_is_all_of_every_partys_time),
        ("a deployment that lives is measured", living::a_deployment_that_lives_is_measured),
        ("the paper's experiments are redone", the_papers_experiments_are_redone),
        ("oblivious transfers are measured", supplies::oblivious_transfers_are_measured_over_every_transport),
        ("triples are measured", supplies::triples_are_measured_among_two_parties_or_more),
        ("products are measured on stores", supplies::products_are_measured_on_stores),
        ("the experiments of Li et al. are redone", papers::the_experiments_of_li_et_al_are_redone),
        (
            "the experiments of Chaudhari et al. are redone",
            papers::the_experiments_of_chaudhari_et_al_are_redone,
        ),
        ("the experiments of Keller et al. are redone", papers::the_experiments_of_keller_et_al_are_redone),
        ("the experiments of Heath et al. are redone", papers::the_experiments_of_heath_et_al_are_redone),
        ("a scale has four steps", a_scale_has_four_steps),
        ("a shaped link takes its time", a_shaped_link_takes_its_time),
        ("the limits of this machine are measured", the_limits_of_this_machine_are_measured),
        ("servers answer one run after another", servers::servers_answer_one_run_after_another),
        ("a deployment lives by its commands", living::a_deployment_lives_by_its_commands),
        ("a server that is killed leaves one version", killed::a_server_that_is_killed_leaves_one_version),
        ("servers log and count", observed::servers_log_and_count_and_tell_no_secret),
        (
            "a server stops after failed checks and attempts",
            servers::a_server_stops_after_failed_checks_and_attempts,
        ),
        (
            "parties run a circuit on a stream of instances",
            streams::parties_run_a_circuit_on_a_stream_of_instances,
        ),
        ("comparisons follow the network", comparisons_follow_the_network),
        ("material is made in one session and used in others", material::material_is_made_and_used),
        ("parties that are killed use nothing twice", material::parties_that_are_killed_use_nothing_twice),
        (
            "what a killed offline session leaves is no harm",
            material::a_killed_offline_session_leaves_no_harm,
        ),
        ("killed factories and runs leave no harm", factories::killed_factories_and_runs_leave_no_harm),
        (
            "a server that is killed while it fills its store leaves nothing of it",
            filled::a_server_that_is_killed_while_it_fills_its_store_leaves_nothing_of_it,
        ),
        ("a second store is filled beside a server", factories::a_second_store_is_filled_beside_a_server),
        ("a party that is on its own says whom it missed", servers::a_party_on_its_own_says_whom_it_missed),
        ("early clients wait and say for whom", servers::early_clients_wait_and_say_for_whom),
    ];
    // Like a harness: `cargo test --test processes -- killed` runs those with the word in their names.
    let word = first.filter(|word| !word.starts_with('-')).unwrap_or_default();
    for (name, test) in tests.into_iter().filter(|(name, _)| name.contains(&word)) {
        let (ends, ended) = channel::<()>();
        std::thread::spawn(move || {
            if ended.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                eprintln!("stuck: {name}");
                std::process::exit(101);
            }
        });
        test();
        drop(ends);
        println!("ok: {name}");
    }
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tacit"));
    command.args(args);
    command
}

fn tacit(args: &[&str]) -> Output {
    command(args).output().expect("this program can be started")
}

/// The one object that a command prints if all goes well.
fn object(args: &[&str]) -> Json {
    let output = tacit(args);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{args:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error} in {text}"))
}

fn every_benchmark_runs_over_every_transport() {
    let benches = ["and", "mul", "dot", "matmul", "compare", "predict"].map(|name| vec![name]);
    let more = [
        vec!["mul", "--depth", "3"],
        vec!["and", "--depth", "3", "--count", "195"],
        vec!["matmul", "--shape", "3,65,1", "--count", "2"],
        vec!["mul", "--ring", "1"],
        vec!["mul", "--ring", "fp61", "--depth", "3"],
        vec!["dot", "--ring", "128"],
        vec!["matmul", "--ring", "fp128", "--zero-sharing", "information-theoretic"],
        vec!["compare", "--count", "1"],
        vec!["compare", "--protocol", "astra", "--comparison", "auto", "--net", "1ms,1gbit"],
        vec!["predict", "--model", "logistic-sign"],
        vec!["predict", "--model", "logistic-3"],
        vec!["and", "--depth", "3", "--count", "195", "--threads", "4"],
        vec!["mul", "--threads", "2", "--net", "1ms,1gbit"],
        vec!["dot", "--threads", "3"],
        vec!["matmul", "--shape", "3,65,1", "--count", "2", "--threads", "2"],
        vec!["compare", "--count", "5", "--threads", "5"],
        vec!["predict", "--threads", "3"],
        vec!["and", "--protocol", "replicated-malicious", "--soundness", "100"],
        vec!["triples", "--protocol", "mascot", "--field", "gf2-128"],
        vec!["triples", "--protocol", "mascot", "--passive"],
        vec!["and", "--protocol", "replicated-malicious", "--proofs", "boyle-2019"],
        vec!["and", "--protocol", "replicated-malicious proofs=li-2023", "--challenges", "fiat-shamir"],
    ];
    // With what is said besides a name each goes over one of them, in turn.
    let transports = ["memory", "tcp", "tls"];
    let one = |at: usize| vec![transports[at % transports.len()]];
    let more = more.into_iter().enumerate().map(|(at, bench)| (bench, one(at)));
    for (bench, transports) in benches.into_iter().map(|bench| (bench, transports.to_vec())).chain(more) {
        for transport in transports {
            let args = [&["bench"], &bench[..], &["--quick", "--json", "--transport", transport]].concat();
            let object = object(&args);
            assert_eq!((&object["bench"], &object["transport"]), (&bench[0].into(), &transport.into()));
            assert!(object["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{object}");
            let threads = bench.iter().position(|&option| option == "--threads").map(|at| bench[at + 1]);
            assert_eq!(object["threads"].to_string(), threads.unwrap_or("1"));
        }
    }
}

/// Messages that a party sends and never waits for an answer to are counted, too.
fn what_was_sent_went_over_the_wire() {
    for protocol in ["astra-fair", "astra-malicious", "replicated"] {
        for transport in ["memory", "tcp", "tls"] {
            let bench = ["bench", "mul", "--protocol", protocol, "--transport", transport];
            let object = object(&[&bench[..], &["--count", "10000", "--json"]].concat());
            let bytes = |key: &str| -> Vec<u64> {
                object[key].as_array().expect(key).iter().map(|bytes| bytes.as_u64().expect(key)).collect()
            };
            let mut pairs = bytes("sent_bytes").into_iter().zip(bytes("wire_bytes"));
            assert!(pairs.all(|(sent, wire)| sent < wire), "{object}");
        }
    }
}

fn products_cost_the_bits_of_their_ring() {
    // Each party compares its draws with two others: 16 bytes besides the products.
    let sent = |more: &[&str]| {
        let args = [&["bench", "mul", "--count", "1001", "--json", "--transport", "memory"], more].concat();
        let object = object(&args);
        let sent = object["sent_bytes"].as_array().and_then(|sent| sent[0].as_u64());
        (sent.map(|bytes| bytes - 16), object["ring"].as_str().map(str::to_owned))
    };
    for (ring, bits) in [("1", 1), ("9", 9), ("65", 65), ("fp61", 61), ("fp128", 128)] {
        let bytes = u64::div_ceil(1001 * bits, 8);
        assert_eq!(sent(&["--ring", ring]), (Some(bytes), Some(ring.to_owned())));
        let fresh = sent(&["--ring", ring, "--zero-sharing", "information-theoretic"]);
        assert_eq!(fresh.0, Some(2 * bytes));
    }
    assert_eq!(sent(&[]), (Some(8 * 1001), None));
    for wrong in [&["--ring", "129"][..], &["--ring", "0"], &["--ring", "fp62"], &["--zero-sharing", "none"]]
    {
        let output = tacit(&[&["bench", "mul", "--quick", "--transport", "memory"], wrong].concat());
        assert!(!output.status.success(), "{wrong:?}");
    }
}

fn a_benchmarks_object_has_all_its_keys() {
    let common = [
        "bench",
        "protocol",
        "parties",
        "transport",
        "net",
        "threads",
        "count",
        "depth",
        "seconds",
        "offline_seconds",
        "verify_seconds",
        "input_seconds",
        "output_seconds",
        "per_second",
        "online_per_second",
        "sent_bytes",
        "offline_sent_bytes",
        "wire_bytes",
        "input_bytes",
        "output_bytes",
        "rounds",
        "offline_rounds",
        "cpu_seconds",
        "peak_rss_bytes",
        "process_cpu_seconds",
        "process_peak_rss_bytes",
        "version",
        "limits",
    ];
    for transport in ["memory", "tcp"] {
        let object =
            object(&["bench", "mul", "--quick", "--repeat", "3", "--json", "--transport", transport]);
        let mut keys: Vec<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
        let mut expected = [&common[..], &["all_seconds"]].concat();
        keys.sort_unstable();
        expected.sort_unstable();
        assert_eq!(keys, expected);
        assert_eq!(object["all_seconds"].as_array().map(Vec::len), Some(3));
        for list in ["sent_bytes", "offline_sent_bytes", "wire_bytes", "input_bytes", "output_bytes"] {
            assert_eq!(object[list].as_array().map(Vec::len), Some(3), "{list}");
        }
        let apart = transport != "memory";
        assert_eq!(object["cpu_seconds"].is_array() && object["peak_rss_bytes"].is_array(), apart);
        assert_eq!(
            object["process_cpu_seconds"].is_null() && object["process_peak_rss_bytes"].is_null(),
            apart
        );
    }
}

fn a_profile_is_all_of_every_partys_time() {
    let sections = ["gates", "proving", "randomness", "receiving", "rest", "sending", "slicing"];
    for (bench, busy) in [
        (&["aes", "--threads", "2"][..], &["gates", "randomness", "receiving", "sending", "slicing"][..]),
        (
            &["and", "--depth", "3", "--count", "195"],
            &["gates", "randomness", "receiving", "sending", "slicing"],
        ),
        (&["mul"], &["gates", "randomness", "receiving", "sending"]),
        (&["compare"], &["gates", "randomness", "receiving", "sending"]),
    ] {
        for transport in ["memory", "tcp"] {
            let args =
                [&["bench"], bench, &["--quick", "--profile", "--json", "--transport", transport]].concat();
            let object = object(&args);
            let profile = &object["profile"];
            assert_eq!(profile["per"], if bench[0] == "mul" { "product" } else { "AND" });
            assert!(profile["units"].as_u64().is_some_and(|units| units > 0));
            assert_eq!(profile["paper_percent"]["gates"].is_number(), matches!(bench[0], "and" | "aes"));
            let parties = profile["parties"].as_array().expect("a list");
            assert_eq!(parties.len(), 3);
            for party in parties {
                let party = party.as_object().expect("sections");
                assert_eq!(party.keys().collect::<Vec<_>>(), sections);
                let percent: f64 = party.values().filter_map(|part| part["percent"].as_f64()).sum();
                assert!((percent - 100.0).abs() < 1e-6, "{object}");
                for &section in busy {
                    let seconds = party[section]["seconds"].as_f64();
                    assert!(seconds.is_some_and(|seconds| seconds > 0.0), "{section}: {object}");
                }
            }
        }
    }
    assert!(object(&["bench", "mul", "--quick", "--json"])["profile"].is_null());
}

fn the_papers_experiments_are_redone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("drawings").display().to_string();
    let object = object(&["bench", "araki", "--paper", "--quick", "--json", "--out", &out]);
    let mut keys: Vec<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        [
            "bench",
            "compared",
            "costs",
            "operations",
            "plots",
            "printed",
            "repeat",
            "runs",
            "transport",
            "version"
        ]
    );
    let list = |key: &str| object[key].as_array().expect("a list").clone();
    for (table, sizes) in [("table 2", [(1, 1280), (2, 2560)]), ("figure 5", [(1, 128), (1, 1280)])] {
        let runs: Vec<Json> = list("runs").into_iter().filter(|run| run["table"] == table).collect();
        let found: Vec<_> = runs.iter().map(|run| (run["lanes"].clone(), run["count"].clone())).collect();
        assert_eq!(found, sizes.map(|(lanes, count)| (lanes.into(), count.into())));
        for run in runs {
            let number = |key: &str| run[key].as_f64().filter(|number| *number > 0.0).expect(key);
            let (count, seconds) = (number("count"), number("seconds"));
            assert!((number("per_second") * seconds / count - 1.0).abs() < 1e-9, "{run}");
            assert!(number("cpu_percent") > 0.0 && number("gbit_per_second") > 0.0);
            assert_eq!(run["all_seconds"], serde_json::json!([seconds]));
        }
    }
    assert_eq!(list("printed").len(), 5);
    for plot in list("plots") {
        let svg = std::fs::read_to_string(plot.as_str().expect("a path")).expect("a drawing");
        assert!(svg.contains("Araki et al. 2016") && svg.contains("here") && svg.contains("paper"));
    }
    assert_eq!(list("plots").len(), 2);

    // A folder that can't be is told of before anything is measured.
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let output = tacit(&["bench", "araki", "--paper", "--quick", "--out", &file.display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
}

fn a_scale_has_four_steps() {
    let object =
        object(&["bench", "araki", "--scale", "--quick", "--json", "--count", "1000", "--threads", "2"]);
    let steps = object["scale"].as_array().expect("a list");
    assert_eq!(
        steps.iter().map(|step| step["count"].as_u64()).collect::<Vec<_>>(),
        [100, 200, 500, 1000].map(Some)
    );
    for step in steps {
        for key in ["seconds", "per_second", "sent_bytes", "peak_rss_bytes"] {
            assert!(step[key].as_f64().is_some_and(|number| number > 0.0), "{key}: {object}");
        }
    }
    assert_eq!(object["threads"], 2);
}

fn a_shaped_link_takes_its_time() {
    // 9 rounds of at least half a round trip of 20 ms.
    let object = object(&["bench", "predict", "--quick", "--json", "--net", "20ms,1gbit"]);
    assert!(object["seconds"].as_f64().is_some_and(|seconds| seconds >= 0.09), "{object}");
    assert_eq!(object["net"], "20ms,1gbit");
}

fn the_limits_of_this_machine_are_measured() {
    let object = object(&["bench", "limits", "--quick", "--json"]);
    for key in
        ["aes_bytes_per_second", "and_per_second", "copy_bytes_per_second", "copy_bytes_per_second_all"]
    {
        assert!(object[key].as_f64().is_some_and(|speed| speed > 0.0), "{key}: {object}");
    }
    for link in ["tcp", "tls"] {
        for key in ["bytes_per_second", "awake_seconds", "asleep_seconds"] {
            assert!(object[link][key].as_f64().is_some_and(|speed| speed > 0.0), "{link} {key}: {object}");
        }
    }
}

/// A deployment of three parties and two clients, and a program: whose numbers are larger?
struct Deployment {
    folder: tempfile::TempDir,
}

impl Deployment {
    fn new(port: u16) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().display().to_string();
        object(&["init", &path, "--clients", "alice,bob", "--port", &port.to_string(), "--json"]);
        let mut build = Builder::new();
        let range = Range::new(-100, 100);
        let a = build.input("alice", "x", Dtype::Int, &[2], range).unwrap();
        let b = build.input("bob", "y", Dtype::Int, &[2], range).unwrap();
        let larger = build.greater(a, b).unwrap();
        build.reveal(larger, Recipient::All).unwrap();
        let plan = SavedPlan::new(build.finish().unwrap(), "larger");
        std::fs::write(folder.path().join("larger.plan"), plan.to_bytes()).unwrap();
        for (name, values) in [("x", [5, -7]), ("y", [4, 4])] {
            write_numbers(&folder.path().join(format!("{name}.npy")), values);
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn start(&self, name: &str, command_name: &str, more: &[&str]) -> Child {
        let (plan, config) = (self.path("larger.plan"), self.path(&format!("{name}/parties.toml")));
        let args = [&[command_name, &plan, "--config", &config, "--json"], more].concat();
        command(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("this program can be started")
    }
}

/// Writes two 64-bit integers as NumPy does.
fn write_numbers(path: &Path, values: [i64; 2]) {
    let header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }\n";
    let elements: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let length = (header.len() as u16).to_le_bytes();
    let bytes = [&b"\x93NUMPY\x01\x00"[..], &length, header, &elements].concat();
    std::fs::write(path, bytes).unwrap();
}

/// Ports that the benchmarks above don't use, and no other test of this workspace.
const PORT: u16 = 9310;

/// Whether they measure it or are told.
fn comparisons_follow_the_network() {
    let deployment = Deployment::new(PORT + 21);
    deployment.hurry();
    let everybody = [("P0", None), ("P1", None), ("P2", None), ("alice", Some("x")), ("bob", Some("y"))];
    let run = |of: &dyn Fn(&str) -> Vec<&'static str>| {
        let start = |(name, gives): (&str, Option<&str>)| {
            let input = gives.map(|input| format!("{input}={}", deployment.path(&format!("{input}.npy"))));
            let input = input.iter().flat_map(|input| ["--input", input]);
            let more = ["--protocol", "astra", "--comparison", "auto"].into_iter().chain(of(name));
            deployment.start(name, "run", &more.chain(input).collect::<Vec<_>>())
        };
        everybody.map(start).map(|child| child.wait_with_output().unwrap())
    };
    let object = |output: &Output| -> Json { serde_json::from_slice(&output.stdout).unwrap() };
    let comparisons = |of: &dyn Fn(&str) -> Vec<&'static str>| {
        run(of).map(|output| {
            check_outputs(&object(&output));
            object(&output)["report"]["comparison"].clone()
        })
    };
    let measured = comparisons(&|_| Vec::new());
    assert!(measured.iter().all(|comparison| comparison["picked"] == measured[0]["picked"]), "{measured:?}");
    for (me, comparison) in measured.iter().enumerate() {
        // Clients are told what is picked and no more.
        let seconds = comparison["seconds"].as_object().unwrap();
        assert_eq!(seconds.len(), if me < 3 { 2 } else { 0 }, "{comparison}");
    }
    let told = comparisons(&|_| vec!["--net", "wan"]);
    assert!(told.iter().all(|comparison| *comparison == told[0]), "{told:?}");
    assert_eq!(told[0]["picked"], "garbled");
    assert!(told[0]["seconds"]["garbled"].as_f64() < told[0]["seconds"]["prefix"].as_f64());
    // All are told, or nobody is.
    for output in run(&|name| if name == "P1" { Vec::new() } else { vec!["--net", "wan"] }) {
        assert_eq!(output.status.code(), Some(1));
        let message = object(&output)["error"]["message"].to_string();
        assert!(message.contains("disagrees on the protocol's parameters"), "{message}");
    }
}

const PARTIES: [&str; 3] = ["P0", "P1", "P2"];

fn ended_well(child: Child) -> Json {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn check_outputs(object: &Json) {
    assert_eq!(object["outputs"][0]["value"], serde_json::json!([true, false]), "{object}");
}
