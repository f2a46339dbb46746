//! Whole commands, as a user gives them.

use crate::tests::tacit;
use serde_json::Value as Json;
use std::fmt::Write as _;
use std::path::PathBuf;
use tacit::circuit::{bristol, catalogue};

/// A folder of its own; gone at the end.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file; `@` and its name, for an input.
    fn values(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        format!("@{}", self.path(name).display())
    }
}

/// Standard output of a command that has to end well.
fn told(args: &[&str]) -> String {
    let (code, out, err) = tacit(&[&["circuit"], args].concat());
    assert_eq!(code, 0, "{args:?}: {err}");
    out
}

/// Standard error of a command that is refused before anything runs.
fn refused(args: &[&str]) -> String {
    let (code, out, err) = tacit(&[&["circuit"], args].concat());
    assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
    err
}

#[test]
fn one_instance_by_name() {
    let out = told(&["adder64", "--simulate", "--input", "0=1", "--input", "1=0x2"]);
    assert_eq!(out, "output 0=0000000000000003\n");
    let out = told(&[
        "adder64",
        "--simulate",
        "3",
        "--input",
        "0=ffffffffffffffff",
        "--input",
        "1=2",
        "--owner",
        "0=alice",
    ]);
    assert_eq!(out, "output 0=0000000000000001\n");
}

#[test]
fn bytes_of_aes_are_the_number_s_from_the_least_on() {
    // FIPS 197, appendix C.1; the number's least significant byte is the string's first.
    let turned = |hex: &str| -> String {
        let bytes: Vec<&str> = (0..hex.len()).step_by(2).rev().map(|at| &hex[at..at + 2]).collect();
        bytes.concat()
    };
    let key = format!("0={}", turned("000102030405060708090a0b0c0d0e0f"));
    let block = format!("1={}", turned("00112233445566778899aabbccddeeff"));
    for name in ["aes128", "aes128-depth40"] {
        let out = told(&[name, "--simulate", "--input", &key, "--input", &block]);
        assert_eq!(out, format!("output 0={}\n", turned("69c4e0d86a7b0430d8cdb78070b4c55a")));
    }
}

#[test]
fn files_of_both_formats_are_read() {
    let folder = Folder::new();
    let fashion = folder.path("less32.txt");
    std::fs::write(&fashion, bristol::write(&catalogue::named("less32").unwrap())).unwrap();
    let old = folder.path("two.old");
    // The sum of two bits, and the carry.
    std::fs::write(&old, "2 4\n1 1 2\n\n2 1 0 1 2 XOR\n2 1 0 1 3 AND\n").unwrap();
    let run = |path: &PathBuf, a: &str, b: &str| {
        told(&[path.to_str().unwrap(), "--simulate", "--bits", "--input", a, "--input", b])
    };
    let number =
        |value: u32| (0..32).map(|bit| char::from(b'0' + (value >> bit & 1) as u8)).collect::<String>();
    assert_eq!(run(&fashion, &format!("0={}", number(6)), &format!("1={}", number(7))), "output 0=1\n");
    assert_eq!(run(&fashion, &format!("0={}", number(7)), &format!("1={}", number(7))), "output 0=0\n");
    assert_eq!(run(&old, "0=1", "1=1"), "output 0=01\n");
    assert_eq!(run(&old, "0=0", "1=1"), "output 0=10\n");
}

#[test]
fn many_instances_come_out_in_order() {
    let folder = Folder::new();
    let count = 1500_u64;
    let mut numbers = String::new();
    (0..count).for_each(|i| writeln!(numbers, "{:x}", i * i).unwrap());
    let many = format!("1={}", folder.values("b", &numbers));
    let args = ["adder64", "--simulate", "--input", "0=f", "--input", &many];
    let lines = |out: String| out.lines().map(str::to_owned).collect::<Vec<_>>();
    let expected: Vec<String> = (0..count).map(|i| format!("output 0={:016x}", i * i + 15)).collect();
    assert_eq!(lines(told(&args)), expected);

    let out = lines(told(&[&args[..], &["--json"]].concat()));
    assert_eq!(out.len(), 1501);
    for (i, line) in out.iter().take(1500).enumerate() {
        let object: Json = serde_json::from_str(line).unwrap();
        let sum = format!("{:016x}", i * i + 15);
        assert_eq!(object, serde_json::json!({"instance": i, "outputs": [sum]}));
    }
    let object: Json = serde_json::from_str(&out[1500]).unwrap();
    assert_eq!(object["report"]["rounds"], 63);
    assert!(object["report"]["endpoints"]["P0"]["sent_bytes"]["online"].as_u64() > Some(0));
}

#[test]
fn a_run_sends_what_its_cost_says() {
    let folder = Folder::new();
    let factors = format!("1={}", folder.values("factors", &"5\n".repeat(1000)));
    let options = ["multiplier32", "--count", "1000", "--owner", "0=alice", "--once", "0", "--json"];
    let cost: Json = serde_json::from_str(&told(&[&options[..], &["--cost"]].concat())).unwrap();
    let cost = &cost["protocols"]["replicated"];
    assert_eq!(cost["endpoints"], serde_json::json!(["P0", "P1", "P2", "alice"]));
    // A bit of each AND from every party, layer by layer.
    assert_eq!(cost["phases"]["online"]["sent_bytes"][0], 993 * 1000 / 8);
    let out = told(&[&options[..], &["--simulate", "--input", "0=3", "--input", &factors]].concat());
    let last: Json = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    for (phase, expected) in cost["phases"].as_object().unwrap() {
        for (place, name) in ["P0", "P1", "P2", "alice"].iter().enumerate() {
            let sent = &last["report"]["endpoints"][name]["sent_bytes"][phase];
            assert_eq!(*sent, expected["sent_bytes"][place], "{name}, {phase}");
        }
    }
    assert_eq!(last["report"]["rounds"], cost["phases"]["online"]["rounds"]);
    // alice's factor is shared once, and not a thousand times; so it is in a simulation if nobody says it.
    let sent = &last["report"]["endpoints"]["alice"]["sent_bytes"]["input"];
    assert!(sent.as_u64() < Some(100), "{sent}");
    let unsaid =
        ["multiplier32", "--owner", "0=alice", "--json", "--simulate", "--input", "0=3", "--input", &factors];
    let unsaid: Json = serde_json::from_str(told(&unsaid).lines().last().unwrap()).unwrap();
    assert_eq!(unsaid["report"]["endpoints"]["alice"]["sent_bytes"]["input"], *sent);
    assert!(out.starts_with("{\"instance\":0,\"outputs\":[\"0000000f\"]}"), "{out}");
    let text = told(&["aes128", "--cost", "--count", "8", "--net", "wan"]);
    assert!(
        text.contains("6,400") && text.contains("network time (wan)") && !text.contains("\nline"),
        "{text}"
    );
}

#[test]
fn a_window_is_the_option_s_or_else_the_configuration_s() {
    let folder = Folder::new();
    let rounds = |more: &[&str]| {
        let options = ["adder64", "--json", "--count", "200000", "--owner", "0=P1", "--once", "0"];
        let out = told(&[&options[..], more].concat());
        let last: Json = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        let priced = &last["protocols"]["replicated"]["phases"]["online"]["rounds"];
        priced.as_u64().or(last["report"]["rounds"].as_u64()).unwrap()
    };
    let config = folder.path("parties.toml");
    let parties =
        (0..3).map(|i| format!("[[party]]\nname = \"P{i}\"\naddress = \"127.0.0.1:{}\"\n", 7000 + i));
    let list = parties.collect::<String>();
    std::fs::write(&config, format!("me = \"P0\"\ntransport = \"tcp\"\nwindow_bytes = 1\n{list}")).unwrap();
    let deployed = ["--cost", "--config", config.to_str().unwrap()];

    let (usual, narrow) = (rounds(&["--cost"]), rounds(&["--cost", "--window", "1"]));
    assert!(usual < narrow, "{usual}, {narrow}");
    assert_eq!(rounds(&deployed), narrow);
    assert_eq!(rounds(&[&deployed[..], &["--window", "65536"]].concat()), usual);
    let ones = format!("1={}", folder.values("ones", &"1\n".repeat(200_000)));
    let simulated = ["--simulate", "--input", "0=1", "--input", &ones];
    assert_eq!(rounds(&simulated), usual);
    assert_eq!(rounds(&[&simulated[..], &["--window", "1"]].concat()), narrow);
    let stranger = refused(&[&["adder64", "--owner", "1=eve"], &deployed[..]].concat());
    assert!(stranger.contains("\"eve\" is neither a party nor a client"), "{stranger}");
}

#[test]
fn rounds_are_told_of_however_long_a_stream() {
    let lane = |rounds| tacit::Report { rounds, ..tacit::Report::default() };
    let all = tacit::Report::of_lanes(&[lane(3), lane(u64::MAX)]);
    assert_eq!(crate::run::report(&all)["rounds"], u64::MAX);
    // More than 32 bits count.
    let out = told(&["aes128", "--cost", "--count", "1099511627776", "--window", "1", "--json"]);
    let cost: Json = serde_json::from_str(&out).unwrap();
    assert!(cost["protocols"]["replicated"]["rounds"].as_u64() > Some(1 << 32), "{cost}");
}

#[test]
fn a_report_is_for_people_too() {
    let args = ["circuit", "equal32", "--simulate", "--input", "0=7", "--input", "1=7", "--verbose"];
    let (code, out, err) = tacit(&args);
    assert_eq!((code, out.as_str()), (0, "output 0=1\n"));
    assert!(err.contains("P0 sent ") && err.contains("5 rounds"), "{err}");
}

#[test]
fn the_catalogue_is_listed() {
    let out = told(&["--list"]);
    assert_eq!(out.lines().count(), catalogue::names().count() + 1);
    assert!(
        out.lines().any(|line| line.split_whitespace().eq(["aes128", "128,", "128", "128", "6,400", "60"]))
    );
    let first: Json = serde_json::from_str(told(&["--list", "--json"]).lines().next().unwrap()).unwrap();
    assert_eq!(
        first,
        serde_json::json!({"name": "aes128", "inputs": [128, 128], "outputs": [128], "ands": 6400, "depth": 60})
    );
}

#[test]
fn bad_use_and_bad_input_are_refused_in_words() {
    let folder = Folder::new();
    let three = format!("0={}", folder.values("three", "1\n2\n3\n"));
    let two = format!("1={}", folder.values("two", "1\n2\n"));
    let bad = format!("1={}", folder.values("bad", "1\n2\nx\n"));
    std::fs::write(folder.path("broken"), "1 3\n2 1 1\n1 1\n2 1 0 9 2 AND\n").unwrap();
    let broken = folder.path("broken");
    let simulated = |more: &[&str]| refused(&[&["adder64", "--simulate"], more].concat());
    for (error, expected) in [
        (refused(&[]), "FILE"),
        (refused(&["adder64"]), "--config"),
        (refused(&["adder64", "--list"]), "cannot be used with"),
        (refused(&["adder64", "--simulate", "--cost"]), "cannot be used with"),
        (refused(&["adder64", "--simulate", "--config", "x"]), "cannot be used with"),
        (refused(&["--list", "--config", "x"]), "cannot be used with"),
        (refused(&["--list", "--cost"]), "cannot be used with"),
        (refused(&["nowhere.txt", "--simulate"]), "nowhere.txt can't be read, and no circuit is named that"),
        (refused(&[broken.to_str().unwrap(), "--simulate"]), "broken, line 4: "),
        (simulated(&[]), "no value for input 0, which is P0's to give"),
        (simulated(&["--input", "0=1"]), "no value for input 1, which is P1's to give"),
        (simulated(&["--input", "0"]), "stands before ="),
        (simulated(&["--input", "a=1"]), "no number of an input"),
        (simulated(&["--input", "2=1"]), "the circuit has 2 inputs, counted from 0"),
        (simulated(&["--input", "0=1", "--input", "0=1"]), "given twice"),
        (simulated(&["--input", "0=10000000000000000", "--input", "1=1"]), "input 0: a number that 64 bits"),
        (simulated(&["--input", "0=1", "--input", &bad]), "bad, line 3: 'x' is no hex digit"),
        (simulated(&["--input", &three, "--input", &two]), "input 0 has 3 values and input 1 has 2"),
        (simulated(&["--input", &three, "--input", "1=1", "--count", "4"]), "--count says 4"),
        (simulated(&["--input", "0=1", "--input", "1=1", "--bits"]), "1 bits, where there are 64"),
        (simulated(&["--count", "0"]), "0 is not in"),
        (simulated(&["--owner", "5=P0"]), "--owner 5="),
        (
            simulated(&["--once", "2", "--input", "0=1", "--input", "1=1"]),
            "--once 2: the circuit has 2 inputs",
        ),
        (simulated(&["--once", "0", "--input", &three, "--input", "1=1"]), "--once 0: its file has 3 values"),
        (simulated(&["--count", "5", "--input", "0=1", "--input", "1=1"]), "all 5 would be the same"),
        (refused(&["adder64", "--cost", "--count", "5", "--once", "0,1"]), "all 5 would be the same"),
        (refused(&["adder64", "--cost", "--input", "0=1"]), "cannot be used with"),
        (refused(&["adder64", "--cost", "--net", "moon"]), "moon"),
        (refused(&["adder64", "--cost", "--protocol", "oracle"]), "no protocol is named \"oracle\""),
        (refused(&["adder64", "--config", "/nowhere/parties.toml"]), "/nowhere/parties.toml"),
    ] {
        assert!(error.contains(expected), "{expected}: {error}");
    }
}
