//! What servers log and count: it is there, and nothing of what is given or learnt is in it.

use crate::{PORT, command, object, write_numbers};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use tacit::SavedPlan;
use tacit::program::{Builder, Dtype, Range, Recipient};

const GIVEN: [i64; 2] = [271_828_182_845, -314_159_265_358];
/// Beside the servers' own.
const METRICS: u16 = PORT + 20;

/// Whether a text has one of these numbers: in digits, or its bytes, as they are or in hexadecimal digits.
fn has(text: &[u8], numbers: &[i64]) -> bool {
    numbers.iter().any(|number| {
        let bytes = number.to_le_bytes();
        let hex = |bytes: [u8; 8]| bytes.map(|byte| format!("{byte:02x}")).concat();
        let (little, big) = (hex(bytes), hex(number.to_be_bytes()));
        let digits = number.unsigned_abs().to_string();
        let forms = [digits.as_bytes(), little.as_bytes(), big.as_bytes(), &bytes[..6]];
        forms.into_iter().any(|form| text.windows(form.len()).any(|part| part == form))
    })
}

/// A server's figures, if it gives any.
fn figures(port: u16) -> Option<String> {
    let mut caller = TcpStream::connect(("127.0.0.1", port)).ok()?;
    caller.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").ok()?;
    let mut text = String::new();
    caller.read_to_string(&mut text).ok()?;
    Some(text)
}

pub(crate) fn servers_log_and_count_and_tell_nothing_of_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    object(&["init", &path(""), "--clients", "alice", "--port", &PORT.to_string(), "--json"]);
    let mut build = Builder::new();
    let x = build.input("alice", "x", Dtype::Int, &[2], Range::new(-(1 << 40), 1 << 40)).unwrap();
    let larger = build.max(x, None, false).unwrap();
    let twice = build.add(larger, larger).unwrap();
    build.reveal(twice, Recipient::All).unwrap();
    let plan = SavedPlan::new(build.finish().unwrap(), "twice");
    std::fs::write(path("twice.plan"), plan.to_bytes()).unwrap();
    write_numbers(&folder.path().join("x.npy"), GIVEN);
    let start = |party: u16| {
        let (config, metrics) = (path(&format!("P{party}/parties.toml")), METRICS + party);
        let (plan, metrics) = (path("twice.plan"), format!("127.0.0.1:{metrics}"));
        let args = ["serve", &plan, "--config", &config, "--log", "json", "--metrics", &metrics];
        command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let servers = [0, 1, 2].map(start);
    let (config, given) = (path("alice/parties.toml"), format!("x={}", path("x.npy")));
    let run = object(&["run", &path("twice.plan"), "--config", &config, "--json", "--input", &given]);
    let learnt = 2 * GIVEN[0];
    assert_eq!(run["outputs"][0]["value"], learnt);
    let secrets = [GIVEN[0], GIVEN[1], learnt];
    for text in [format!("x{learnt}"), "003de7384a3f000000".to_owned()] {
        assert!(has(text.as_bytes(), &secrets), "what is looked for is found: {text}");
    }
    for (party, server) in (0..).zip(servers) {
        let counted = "tacit_runs_total{outcome=\"ok\"} 1\n";
        let text = loop {
            match figures(METRICS + party) {
                Some(text) if text.contains(counted) => break text,
                _ => std::thread::yield_now(),
            }
        };
        // Two others, four lanes and that of control messages.
        for line in ["tacit_links 10\n", "tacit_run_seconds_count 1\n", "tacit_certificate_expiry_seconds "] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(!has(text.as_bytes(), &secrets), "{text}");
        kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
        let log = server.wait_with_output().unwrap().stderr;
        assert!(!has(&log, &secrets), "{}", String::from_utf8_lossy(&log));
        let events: Vec<Json> =
            log.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let event = |message: &str| events.iter().find(|event| event["message"] == message);
        let (begins, ended) = (event("run begins").unwrap(), event("run ended").unwrap());
        assert_eq!((&begins["run"], &begins["clients"]), (&ended["run"], &1.into()));
        assert!(ended["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{ended}");
    }
}
