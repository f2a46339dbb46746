//! Servers that stay, and those that wait for them.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tacit::advanced::net::{ErrorKind, Event, Frame, FrameKind};
use tacit::program::{Builder, Dtype, Range, Recipient};
use tacit::setup::Config;
use tacit::{Compiled, Offer, SavedPlan, Server, Serving};
use tacit_astra::step;
use tacit_testkit::react::{Act, Attacker, reacting};

use crate::{Deployment, Json, PARTIES, PORT, check_outputs, command, ended_well, object};

pub(crate) fn servers_answer_one_run_after_another() {
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
    let usual = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(256), ..usual }).unwrap();
    let mut server = deployment.start("P0", "serve", &[]);
    setrlimit(Resource::Nofile, usual).unwrap();
    while !catches(server.id(), rustix::process::Signal::TERM) {
        std::thread::yield_now();
    }
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.id())).unwrap();
    let of_files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let [may, at_most] = [0, 1].map(|column| of_files.split_whitespace().nth(column).unwrap());
    assert_eq!(may, at_most, "{limits}");
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
pub(crate) fn a_server_stops_after_failed_checks_and_attempts() {
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
        let serving = Serving::new("astra-malicious roles=012", 4);
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

/// Whether a process has a handler for a signal, by what the system says of it.
fn catches(process: u32, signal: rustix::process::Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
}

pub(crate) fn a_party_on_its_own_says_whom_it_missed() {
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
pub(crate) fn early_clients_wait_and_say_for_whom() {
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
