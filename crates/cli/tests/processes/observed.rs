//! What servers log and count: it is there, and nothing of what is given or learnt is in it, nor of anybody's key.

use crate::secrets::{Secret, refuse};
use crate::{PORT, command, object, tacit, write_numbers};
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

/// A server's figures, if it gives any.
fn figures(port: u16) -> Option<String> {
    let mut caller = TcpStream::connect(("127.0.0.1", port)).ok()?;
    caller.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").ok()?;
    let mut text = String::new();
    caller.read_to_string(&mut text).ok()?;
    Some(text)
}

/// What a doctor finds, and whether all is well.
fn doctor(deployment: &str) -> (bool, Vec<Json>) {
    let output = tacit(&["doctor", deployment, "--json"]);
    let lines = output.stdout.split(|&byte| byte == b'\n');
    let found: Vec<Json> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let found = found.into_iter().filter(|line| line["check"].is_string()).collect();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    (output.status.success(), found)
}

pub(crate) fn servers_log_and_count_and_tell_no_secret() {
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
    let mut servers = [0, 1, 2].map(start);
    // Nobody reads this one's log any more, and it serves all the same.
    drop(servers[2].stderr.take());
    while (0..3)
        .any(|party| figures(METRICS + party).is_none_or(|text| !text.contains("tacit_links_up 10\n")))
    {
        std::thread::yield_now();
    }
    for endpoint in ["P1", "alice"] {
        let (well, found) = doctor(&path(endpoint));
        assert!(well && found.iter().all(|finding| finding["state"] == "ok"), "{found:?}");
        for check in ["keys", "certificate", "link", "list", "clock"] {
            assert!(found.iter().any(|finding| finding["check"] == check), "{check}: {found:?}");
        }
    }
    // Another list.
    let (own, other) = (path("alice/parties.toml"), path("alice/other.toml"));
    let text = std::fs::read_to_string(own).unwrap().replace("name = \"P2\"", "name = \"P7\"");
    std::fs::write(&other, text).unwrap();
    let (well, found) = doctor(&other);
    let lists = found.iter().filter(|finding| finding["check"] == "list");
    assert!(!well && lists.clone().count() == 3, "{found:?}");
    assert!(lists.clone().all(|list| list["says"].as_str().unwrap().ends_with("for P7")), "{found:?}");
    let (config, given) = (path("alice/parties.toml"), format!("x={}", path("x.npy")));
    let run = object(&["run", &path("twice.plan"), "--config", &config, "--json", "--input", &given]);
    let learnt = 2 * GIVEN[0];
    assert_eq!(run["outputs"][0]["value"], learnt);
    let keys = ["P0", "P1", "P2", "alice"].map(|name| Secret::key(&folder.path().join(name).join("key.pem")));
    let secrets: Vec<Secret> =
        keys.into_iter().chain([GIVEN[0], GIVEN[1], learnt].map(Secret::number)).collect();
    secrets.iter().for_each(Secret::is_found);
    let key = std::fs::read_to_string(path("alice/key.pem")).unwrap();
    let known = [format!("x{learnt}"), "003de7384a3f000000".to_owned(), "Pec4Sj8A".to_owned(), key];
    assert!(known.iter().all(|text| secrets.iter().any(|secret| secret.is_in(text.as_bytes()))));
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
        refuse(&secrets, text.as_bytes());
        kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
        let is_read = server.stderr.is_some();
        let output = server.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        if !is_read {
            continue;
        }
        let log = output.stderr;
        refuse(&secrets, &log);
        let lines = log.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let events: Vec<Json> = lines.map(|line| serde_json::from_slice(line).expect("an object")).collect();
        let event = |message: &str| events.iter().find(|event| event["message"] == message);
        let (begins, ended) = (event("run begins").unwrap(), event("run ended").unwrap());
        assert_eq!((&begins["run"], &begins["clients"]), (&ended["run"], &1.into()));
        assert!(ended["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{ended}");
    }
    let (well, found) = doctor(&path("P0"));
    let state = |check: &str| -> Vec<&Json> {
        found.iter().filter(|finding| finding["check"] == check).map(|finding| &finding["state"]).collect()
    };
    assert!(!well && state("port") == ["warning"] && state("link") == ["wrong"; 2], "{found:?}");
}
