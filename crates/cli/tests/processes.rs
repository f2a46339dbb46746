//! Whole commands, as a user gives them, of the binary without Python. Parties are processes.
//!
//! It has no test harness, so that one test runs at a time: ports and processor are theirs alone.

use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tacit::advanced::net::{ErrorKind, Event, Frame, FrameKind};
use tacit::advanced::store::Epoch;
use tacit::program::{Builder, Dtype, Range, Recipient};
use tacit::setup::Config;
use tacit::{Compiled, Holdings, Offer, QUEUE, SavedPlan, Server, Serving};
use tacit_astra::step;
use tacit_testkit::react::{Act, Attacker, reacting};

#[path = "processes/factories.rs"]
mod factories;
#[path = "processes/living.rs"]
mod living;
#[path = "processes/native.rs"]
mod native;
#[path = "processes/observed.rs"]
mod observed;
#[path = "processes/papers.rs"]
mod papers;
#[path = "processes/supplies.rs"]
mod supplies;

fn main() {
    let first = std::env::args().nth(1);
    let tests: [(&str, fn()); 31] = [
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
        ("servers answer one run after another", servers_answer_one_run_after_another),
        ("a deployment lives by its commands", living::a_deployment_lives_by_its_commands),
        ("servers log and count", observed::servers_log_and_count_and_tell_nothing_of_inputs),
        ("a server stops after failed checks and attempts", a_server_stops_after_failed_checks_and_attempts),
        ("parties run a circuit on a stream of instances", parties_run_a_circuit_on_a_stream_of_instances),
        ("comparisons follow the network", comparisons_follow_the_network),
        ("material is made in one session and used in others", material_is_made_and_used),
        ("parties that are killed use nothing twice", parties_that_are_killed_use_nothing_twice),
        ("what a killed offline session leaves is no harm", a_killed_offline_session_leaves_no_harm),
        ("killed factories and runs leave no harm", factories::killed_factories_and_runs_leave_no_harm),
        ("a second store is filled beside a server", factories::a_second_store_is_filled_beside_a_server),
        ("a party that is on its own says whom it missed", a_party_on_its_own_says_whom_it_missed),
        ("early clients wait and say for whom", early_clients_wait_and_say_for_whom),
    ];
    // Like a harness: `cargo test --test processes -- killed` runs those with the word in their names.
    let word = first.filter(|word| !word.starts_with('-')).unwrap_or_default();
    for (name, test) in tests.into_iter().filter(|(name, _)| name.contains(&word)) {
        test();
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
    for bench in benches.into_iter().chain(more) {
        for transport in ["memory", "tcp", "tls"] {
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

fn servers_answer_one_run_after_another() {
    let deployment = Deployment::new(PORT);
    let (x, y) = (format!("x={}", deployment.path("x.npy")), format!("y={}", deployment.path("y.npy")));

    let simulated = object(&[
        "run",
        &deployment.path("larger.plan"),
        "--simulate",
        "--json",
        "--input",
        &x,
        "--input",
        &y,
        "--debug",
        "--output",
        &deployment.path("out"),
    ]);
    assert_eq!(simulated["outputs"][0]["value"], serde_json::json!([true, false]));
    assert!(Path::new(&deployment.path("out/output-0.npy")).exists());

    let servers = ["P0", "P1", "P2"].map(|name| deployment.start(name, "serve", &["--runs", "2"]));
    for _ in 0..2 {
        let clients = [("alice", &x), ("bob", &y)]
            .map(|(name, input)| deployment.start(name, "run", &["--input", input]));
        for client in clients {
            let output = client.wait_with_output().unwrap();
            let object: Json = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(object["outputs"][0]["value"], serde_json::json!([true, false]), "{object}");
        }
    }
    for server in servers {
        let output = server.wait_with_output().unwrap();
        assert!(output.status.success());
        let lines: Vec<Json> = output
            .stdout
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        assert_eq!(lines.iter().map(|line| line["run"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2)]);
    }

    // A server that waits for the next run ends in good order when it is asked to.
    let mut server = deployment.start("P0", "serve", &[]);
    while !catches(server.id(), rustix::process::Signal::TERM) {
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&server);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(server.wait().unwrap().success());
}

/// A party that alters a triple, or is gone as soon as it knows a coin.
struct Corrupt {
    alters: bool,
    leaves: bool,
    openings: usize,
}

impl Corrupt {
    fn is_gone(&self) -> bool {
        self.leaves && self.openings == 2
    }
}

impl Attacker for Corrupt {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        if frame.at.part == step::CHECK_TRIPLES && std::mem::take(&mut self.alters) {
            frame.payload[0] ^= 1;
        }
        if !self.is_gone() {
            act.send(to, frame);
        }
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        let is_opening = |frame: &Frame| frame.kind == FrameKind::Data && frame.at.part == step::COIN_OPEN;
        self.openings += usize::from(matches!(&event, Event::Frame(frame) if is_opening(frame)));
        if !self.is_gone() {
            return act.hear(from, event);
        }
        for other in [1, 2] {
            act.hear(other, Event::Lost(ErrorKind::Closed { how: "it is gone itself".into() }));
        }
    }
}

/// P0 deviates, and the servers P1 and P2 end with a code of their own.
fn a_server_stops_after_failed_checks_and_attempts() {
    let mut build = Builder::new();
    let a = build.input("P1", "a", Dtype::Int, &[2], Range::new(-100, 100)).unwrap();
    let square = build.mul(a, a).unwrap();
    build.reveal(square, Recipient::All).unwrap();
    let program = build.finish().unwrap();
    let compiled = Compiled::new(program.clone()).unwrap();
    // What a server writes is read, or its reader is gone: that it stops for good is in its exit code in any case.
    for (port, failed_check, is_read) in
        [(PORT + 30, true, true), (PORT + 33, false, true), (PORT + 36, true, false)]
    {
        let deployment = Deployment::new(port);
        let plan = SavedPlan::new(program.clone(), "squares");
        std::fs::write(deployment.path("larger.plan"), plan.to_bytes()).unwrap();
        let input = format!("a={}", deployment.path("x.npy"));
        let options = ["--protocol", "astra-malicious", "--roles", "012", "--attempts", "2"];
        let given = [&options[..], &["--input", &input]].concat();
        let servers = [("P1", &given[..]), ("P2", &options[..])]
            .map(|(name, options)| deployment.start(name, "serve", options))
            .map(|mut server| {
                server.stdout.take_if(|_| !is_read);
                server
            });
        let config = Config::load(Path::new(&deployment.path("P0/parties.toml"))).unwrap();
        let offer = Offer { compiled: compiled.clone(), inputs: vec![None] };
        let (protocol, holdings) = ("astra-malicious roles=012".to_owned(), Holdings::default());
        let (open, window) = (Vec::new(), Duration::ZERO);
        let serving =
            Serving { protocol, at_once: 4, queue: QUEUE, batch: 1, window, runs: None, open, holdings };
        let mut corrupt = Server::open(&config, vec![offer], serving).unwrap();
        corrupt.stop_after(None);
        corrupt.wrap(move |links| {
            let corrupt = Corrupt { alters: failed_check, leaves: !failed_check, openings: 0 };
            reacting(Box::new(links), Box::new(corrupt))
        });
        let drain = corrupt.drain();
        let corrupt = std::thread::spawn(move || {
            corrupt.serve(&mut |served| {
                assert!(served.result.is_err());
                Ok::<_, tacit::Error>(())
            })
        });
        for server in servers {
            let output = server.wait_with_output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(output.status.code(), Some(3), "{text}");
            if !is_read {
                continue;
            }
            let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let (last, runs) = lines.split_last().unwrap();
            assert_eq!(last["error"]["kind"], "stopped", "{text}");
            let attempts: Vec<_> = runs.iter().map(|run| run["attempts"].as_u64()).collect();
            assert_eq!(attempts, if failed_check { vec![Some(1)] } else { vec![Some(1), Some(2)] }, "{text}");
        }
        drain.ask();
        corrupt.join().unwrap().unwrap();
    }
}

fn parties_run_a_circuit_on_a_stream_of_instances() {
    let deployment = Deployment::new(PORT + 6);
    // More than a part has.
    let count = (1 << 18) + 3;
    let numbers = |factor: u64| {
        let lines: Vec<String> = (0..count).map(|i| format!("{:x}\n", i * factor % 251)).collect();
        lines.concat()
    };
    for (name, factor) in [("x", 7), ("y", 11)] {
        std::fs::write(deployment.path(name), numbers(factor)).unwrap();
    }
    let (x, y) = (format!("0=@{}", deployment.path("x")), format!("1=@{}", deployment.path("y")));
    let start = |name: &str, more: &[&str]| {
        let config = deployment.path(&format!("{name}/parties.toml"));
        let owners = ["--owner", "0=alice", "--owner", "1=P2"];
        let args = [&["circuit", "adder32", "--config", &config, "--json"], &owners[..], more].concat();
        let output = std::fs::File::create(deployment.path(&format!("{name}.out"))).unwrap();
        command(&args).stdout(output).stderr(Stdio::null()).spawn().expect("this program can be started")
    };
    let all = |p1: &[&str]| {
        let count = count.to_string();
        let parties = [
            start("P0", &["--count", &count]),
            start("P1", p1),
            start("P2", &["--input", &y]),
            start("alice", &["--input", &x]),
        ];
        parties.map(|mut party| party.wait().unwrap().code())
    };
    let lines = |name: &str| -> Vec<Json> {
        let text = std::fs::read_to_string(deployment.path(&format!("{name}.out"))).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };

    assert_eq!(all(&["--count", &count.to_string()]), [Some(0); 4]);
    for name in ["P0", "P1", "P2", "alice"] {
        let lines = lines(name);
        assert_eq!(lines.len() as u64, count + 1);
        for (i, line) in (0..count).zip(&lines) {
            let sum = format!("{:08x}", i * 7 % 251 + i * 11 % 251);
            assert_eq!(*line, serde_json::json!({"instance": i, "outputs": [sum]}), "{name}");
        }
        assert_eq!(
            lines[count as usize]["report"]["endpoints"].as_object().unwrap().keys().next().unwrap(),
            name
        );
    }

    // Another number of instances is noticed by everybody, before anything is sent.
    assert_eq!(all(&["--count", &(count + 1).to_string()]), [Some(1); 4]);
    for name in ["P0", "P1", "P2", "alice"] {
        let [line] = &lines(name)[..] else { panic!("{name}: {:?}", lines(name)) };
        assert_eq!(line["error"]["kind"], "aborted", "{name}: {line}");
        let message = line["error"]["message"].as_str().unwrap_or_default();
        let counts = [count, count + 1].map(|count| count.to_string());
        assert!(message.contains("the number of instances (--count)"), "{name}: {message}");
        assert!(counts.iter().all(|count| message.contains(count)), "{name}: {message}");
    }

    // One value for all instances is shared once, if everybody says so.
    std::fs::write(deployment.path("y"), "1\n2\nff\n").unwrap();
    let once = |p1: &[&str]| {
        let parties = [
            start("P0", &["--count", "3", "--once", "0"]),
            start("P1", p1),
            start("P2", &["--input", &y, "--once", "0"]),
            start("alice", &["--count", "3", "--input", "0=100", "--once", "0"]),
        ];
        parties.map(|mut party| party.wait().unwrap().code())
    };
    assert_eq!(once(&["--count", "3", "--once", "0"]), [Some(0); 4]);
    for name in ["P0", "P1", "P2", "alice"] {
        let outputs: Vec<Json> = lines(name)[..3].iter().map(|line| line["outputs"][0].clone()).collect();
        assert_eq!(outputs, ["00000101", "00000102", "000001ff"], "{name}");
    }
    assert_eq!(once(&["--count", "3"]), [Some(1); 4]);
    for name in ["P0", "P1", "P2", "alice"] {
        let [line] = &lines(name)[..] else { panic!("{name}: {:?}", lines(name)) };
        assert!(line["error"]["message"].to_string().contains("disagrees on the inputs"), "{name}: {line}");
    }

    // What is wrong on one's own side is told without anybody else.
    let refused = |name: &str, more: &[&str]| {
        let code = start(name, more).wait().unwrap().code();
        (code, lines(name)[0]["error"]["message"].as_str().unwrap_or_default().to_owned())
    };
    for (name, more, expected) in [
        ("P0", &[][..], "no file here tells how many instances there are"),
        ("P1", &["--input", "0=1"], "input 0 is alice's to give, and this is P1"),
        ("P2", &["--count", "1"], "no value for input 1, which is P2's to give"),
        ("P2", &["--input", &y, "--count", "5"], "--count says 5"),
        ("alice", &["--input", "0=7", "--count", "5"], "say --once 0, as everybody"),
        ("alice", &["--input", "0=123456789"], "input 0: a number that 32 bits don't hold"),
        ("bob", &["--count", "1"], "doesn't name bob"),
    ] {
        let (code, message) = refused(name, more);
        assert!(code == Some(2) && message.contains(expected), "{name}: {code:?}, {message}");
    }
}

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
    fn hurry(&self) {
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

fn material_is_made_and_used() {
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
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        self.0 >> 33
    }

    /// Kills one of the parties, or all, after up to so many milliseconds.
    fn kill(&mut self, parties: &mut [Child], within: u64) {
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

fn parties_that_are_killed_use_nothing_twice() {
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

fn a_killed_offline_session_leaves_no_harm() {
    let deployment = Deployment::new(PORT + 15);
    deployment.hurry();
    let mut random = Random(5);
    let mut used = BTreeSet::new();
    for _ in 0..4 {
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

/// Whether a process has a handler for a signal, by what the system says of it.
fn catches(process: u32, signal: rustix::process::Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
}

fn a_party_on_its_own_says_whom_it_missed() {
    let deployment = Deployment::new(PORT + 3);
    let config = deployment.path("P1/parties.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{text}\n[limits]\nconnect_seconds = 0.2\n")).unwrap();
    let output = deployment.start("P1", "run", &[]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let object: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&object["error"]["kind"], &object["error"]["phase"]), (&"aborted".into(), &"setup".into()));
    assert!(object["error"]["message"].as_str().is_some_and(|message| message.contains("P0")), "{object}");
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whoever comes early waits and says for whom; whoever calls without a key is noted.
fn early_clients_wait_and_say_for_whom() {
    let deployment = Deployment::new(PORT + 24);
    let servers = PARTIES.map(|name| {
        let (plan, config) =
            (deployment.path("larger.plan"), deployment.path(&format!("{name}/parties.toml")));
        let mut server = command(&["serve", &plan, "--config", &config]);
        Running(
            server.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("this program can be started"),
        )
    });
    let client = |name: &str, input: &str, wait: &str| {
        let (plan, config) =
            (deployment.path("larger.plan"), deployment.path(&format!("{name}/parties.toml")));
        let input = format!("{input}={}", deployment.path(&format!("{input}.npy")));
        let mut client =
            command(&["run", &plan, "--config", &config, "--json", "--input", &input, "--wait", wait]);
        client.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("this program can be started")
    };
    let mut alice = client("alice", "x", "60");
    let mut noted = BufReader::new(alice.stderr.take().unwrap()).lines();
    assert_eq!(noted.next().unwrap().unwrap(), "alice waits for bob");
    let bob = client("bob", "y", "60");
    for client in [alice, bob] {
        check_outputs(&ended_well(client));
    }
    let alone = client("alice", "x", "5").wait_with_output().unwrap();
    assert_eq!(alone.status.code(), Some(1));
    let object: Json = serde_json::from_slice(&alone.stdout).unwrap();
    let says = object["error"]["message"].as_str().unwrap();
    assert!(says.contains("waits for others of this run (bob), who didn't come within 5 s"), "{says}");

    let mut stranger = std::net::TcpStream::connect(("127.0.0.1", PORT + 24)).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    // It is put off with an alert, after which nothing comes.
    let _ = stranger.read_to_end(&mut Vec::new());
    let [mut p0, _p1, _p2] = servers;
    let noted = BufReader::new(p0.0.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut waited = false;
    let away =
        noted.inspect(|line| waited |= line == "P0 waits for bob").find(|line| line.contains("turned"));
    let away = away.unwrap();
    assert!(away.starts_with("P0 turned a caller away: 127.0.0.1:") && away.contains("broke TLS"), "{away}");
    assert!(waited);
}
