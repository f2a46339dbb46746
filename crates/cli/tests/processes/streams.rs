//! Circuits on streams of instances.

use std::process::Stdio;

use crate::{Deployment, Json, PORT, command};

pub(crate) fn parties_run_a_circuit_on_a_stream_of_instances() {
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
