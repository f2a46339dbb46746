//! What the command line accepts and refuses.

mod costs;
mod stores;

use crate::context::Context;
use crate::output::{Output, UNREAD};
use crate::{Front, Told, Unmade};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use tacit::program::{Builder, Data, Dtype, Range, Recipient, Source, Uses, Value};

/// A Python that has two programs: products, and comparisons.
struct TwoPrograms;

impl Front for TwoPrograms {
    fn load_source(&self, path: &Path, args: &[String]) -> Result<tacit::SavedPlan, String> {
        let larger = path == Path::new("larger.py");
        if !larger && path != Path::new("sum.py") {
            return Err(format!("{} can't be read", path.display()));
        }
        let size: usize = args.first().map_or(Ok(4), |arg| arg.parse()).map_err(|_| "a size".to_owned())?;
        let mut build = Builder::new();
        build.at(Source { file: "sum.py".into(), line: 3, text: "a * b".into() });
        let bound = if larger { 1 << 61 } else { 10 };
        let range = Range::new(-bound, bound);
        let a = build.input("alice", "a", Dtype::Int, &[size], range).unwrap();
        let b = build.input("P1", "b", Dtype::Int, &[size], range).unwrap();
        let result = if larger { build.greater(a, b) } else { build.mul(a, b) }.unwrap();
        build.reveal(result, Recipient::Role("alice".into())).unwrap();
        Ok(tacit::SavedPlan::new(build.finish().unwrap(), "sum"))
    }

    fn read_table(
        &self,
        plan: &tacit::SavedPlan,
        name: &str,
        path: &Path,
    ) -> Result<Vec<(String, Value)>, String> {
        if name != "sums" {
            return Err(format!("{}: no table {name:?}", path.display()));
        }
        let four = |first| Data::Int((first..first + 4).collect());
        let value = |name: &str, data| (name.to_owned(), Value { shape: vec![4], data });
        assert_eq!(plan.name, "sum");
        Ok(vec![value("alice.a", four(1)), value("P1.b", four(5))])
    }

    fn describe_tables(&self, _plan: &tacit::SavedPlan) -> Result<Option<Told>, String> {
        Ok(None)
    }

    fn tell_table(
        &self,
        _structure: &str,
        _outputs: &[Option<Value>],
        _file: Option<&Path>,
    ) -> Result<Option<Told>, String> {
        Ok(None)
    }

    fn infer(&self, args: &[String]) -> Result<i32, String> {
        if args == ["net.onnx", "--help", "--json"] { Ok(42) } else { Err("no network".to_owned()) }
    }

    /// Products of the numbers 1, 2, 3 by one another, of which each row has the same.
    fn measured(&self, work: &str, folder: &Path) -> Result<(), Unmade> {
        let asked: serde_json::Value = serde_json::from_str(work).unwrap();
        let Some(rows) = asked["work"]["dnn"]["rows"].as_u64().filter(|_| asked["quick"] == true) else {
            let is_join = !asked["work"]["join"].is_null();
            return Err(if is_join { Unmade::Wrong } else { Unmade::Refused }(format!("no {work} here")));
        };
        let (rows, kept) = (rows as usize, asked["work"]["dnn"]["weights"] == "kept");
        let (kind, range) = (Dtype::Fixed { frac: 16 }, Range::new(-1 << 20, 1 << 20));
        let input = |build: &mut Builder, owner| build.input(owner, owner, kind, &[rows, 3], range).unwrap();
        let write = |build: Builder, name: &str| {
            let plan = tacit::SavedPlan::new(build.finish().unwrap(), name).to_bytes();
            std::fs::write(folder.join(format!("{name}.plan")), plan).unwrap();
        };
        let mut build = Builder::new();
        let a = input(&mut build, "P0");
        let weights = if kept {
            let mut keep = Builder::new();
            let given = input(&mut keep, "P1");
            keep.keep(given, "b", Uses::default()).unwrap();
            write(keep, "keep");
            build.kept("b", kind, &[rows, 3], range)
        } else {
            Ok(input(&mut build, "P1"))
        };
        let result = build.mul(a, weights.unwrap()).unwrap();
        build.reveal(result, Recipient::Role("P0".into())).unwrap();
        write(build, "bench");
        let repeated = |row: [f64; 3]| Value { shape: vec![rows, 3], data: Data::Float(row.repeat(rows)) };
        let weights = if kept { "keep-0" } else { "bench-1" };
        for (name, row) in [("bench-0", [1.0, 2.0, 3.0]), (weights, [1.0; 3]), ("float", [1.5, 2.0, 3.0])] {
            crate::npy::write(&folder.join(format!("{name}.npy")), &repeated(row)).unwrap();
        }
        Ok(())
    }

    fn demo(&self, json: bool) -> Result<i32, String> {
        Ok(if json { 41 } else { 40 })
    }

    fn interpreter(&self) -> Option<PathBuf> {
        None
    }
}

/// Exit code, standard output, standard error.
pub(crate) fn tacit(args: &[&str]) -> (i32, String, String) {
    tacit_of(args.iter().map(Into::into).collect())
}

fn tacit_of(args: Vec<OsString>) -> (i32, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut context = Context {
        front: &TwoPrograms,
        this_command: vec![],
        json: false,
        out: Output::to(&mut out),
        err: &mut err,
    };
    let code = context.main(args);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// Arguments are whatever the system passes: those that are no text are refused like others, and files may be named so.
#[test]
fn arguments_that_are_no_text() {
    let odd = |prefix: &str| OsString::from_vec([prefix.as_bytes(), b"\xff\xfe"].concat());
    let run = ["run", "sum.py", "--simulate"].map(OsString::from);
    let cases = [
        (vec![odd("")], "unrecognized subcommand"),
        ([&run[..], &["--protocol".into(), odd("")]].concat(), "UTF-8"),
        ([&run[..], &["--arg".into(), odd("")]].concat(), "UTF-8"),
        ([&run[..], &["--input".into(), odd("")]].concat(), "NAME=FILE.npy"),
        ([&run[..], &["--input".into(), odd("a=/nowhere")]].concat(), "/nowhere"),
        (vec!["run".into(), odd("sum.py"), "--simulate".into()], "can't be read"),
    ];
    for (args, expected) in cases {
        let (code, out, err) = tacit_of(args);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(expected), "{err}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(odd("a"));
    crate::npy::write(&file, &Value { shape: vec![4], data: Data::Int(vec![1, 2, 3, 4]) }).unwrap();
    let given = |name: &str| {
        let mut given = OsString::from(name);
        given.push(&file);
        given
    };
    let (code, out, err) =
        tacit_of([&run[..], &["--input".into(), given("a="), "--input".into(), given("b=")]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("[1, 4, 9, 16]") || out.contains("1 4 9 16"), "{out}");
}

#[test]
fn bad_use_ends_with_2_and_says_what_is_wrong() {
    let cases: [(&[&str], &str); 63] = [
        (&[], "Usage"),
        (&["dance"], "dance"),
        (&["run"], "PROGRAM"),
        (&["run", "sum.py"], "--config"),
        (&["run", "sum.py", "--simulate", "--config", "x"], "cannot be used with"),
        (&["run", "sum.py", "--config", "x", "--debug"], "cannot be used with"),
        (&["run", "--simulate", "sum.py"], "the program comes before --simulate"),
        (&["run", "sum.py", "--simulate", "--input", "a"], "NAME=FILE.npy"),
        (&["run", "sum.py", "--simulate"], "--input a=a.npy"),
        (&["run", "sum.py", "--simulate", "--input", "c=c.npy"], "no input \"c\""),
        (&["run", "sum.py", "--simulate", "--input", "a=/nowhere.npy"], "/nowhere.npy"),
        (&["run", "sum.py", "--simulate", "--input", "a=/dev/zero"], "/dev/zero: not a NumPy file"),
        (&["run", "other.py", "--simulate"], "other.py can't be read"),
        (&["run", "sum.py", "--config", "/dev/zero"], "/dev/zero: not a file"),
        (&["run", "sum.py", "--config", "x", "--wait", "0"], "a number of seconds"),
        (&["client", "add", "carol", "5f", "--config", "x"], "64 hexadecimal digits"),
        (&["run", "sum.py", "--simulate", "--window", "0"], "1 at least"),
        (&["offline", "sum.py", "--simulate", "--store", "/nowhere"], "--count"),
        (&["offline", "sum.py", "--simulate", "--count", "3"], "--store"),
        (&["offline", "sum.py", "--cost", "--protocol", "astra"], "--count"),
        (&["offline", "sum.py", "--cost", "--count", "3"], "has no offline phase"),
        (&["offline", "sum.py", "--cost", "--count", "3", "--store", "/nowhere"], "cannot be used with"),
        (&["offline", "sum.py", "--count", "3", "--store", "/nowhere"], "--simulate"),
        (&["offline", "sum.py", "--simulate", "--count", "3", "--store", "/nowhere"], "has no offline phase"),
        (&["store", "list"], "<STORE>"),
        (&["store", "list", "/nowhere", "--anchors", "/nowhere"], "no store at /nowhere"),
        (&["store", "adopt", "/nowhere", "--anchors", "/nowhere", "--never-copied"], "no store at /nowhere"),
        (&["run", "sum.py", "--simulate", "--anchors", "/nowhere"], "--store"),
        (&["run", "sum.py", "--simulate", "--store", "/nowhere", "--debug"], "cannot be used with"),
        (&["cost", "sum.py", "--net", "moon"], "moon"),
        (&["cost", "sum.py", "--window", "64k"], "1 at least"),
        (&["cost", "sum.py", "--config", "/nowhere/parties.toml"], "/nowhere/parties.toml"),
        (
            &["cost", "sum.py", "--protocol", "replicated-malicious soundness=100", "--proofs", "boyle-2019"],
            "doesn't go with",
        ),
        (&["circuit", "adder64", "--cost", "--proofs", "li-2023"], "Give --protocol with proofs=li-2023"),
        (&["cost", "sum.py", "--protocol", "oracle"], "no protocol is named \"oracle\""),
        (&["cost", "sum.py", "--soundness", "100"], "Give --protocol with soundness=100"),
        (&["cost", "sum.py", "--roles", "201"], "Give --protocol with roles=201"),
        (&["cost", "sum.py", "--protocol", "astra", "--roles", "200"], "roles is 012 or 021"),
        (
            &["cost", "sum.py", "--protocol", "replicated", "--roles", "auto"],
            "no parameter \"roles\"; it has zero-sharing=",
        ),
        (&["cost", "sum.py", "--comparison", "auto"], "Give --protocol with comparison=auto"),
        (&["run", "sum.py", "--simulate", "--net", "moon", "--input", "a=/x.npy"], "x.npy"),
        (
            &["cost", "sum.py", "--protocol", "replicated", "--soundness", "100"],
            "no parameter \"soundness\"; it has zero-sharing=",
        ),
        (
            &["cost", "sum.py", "--protocol", "replicated-malicious", "--soundness", "80"],
            "soundness is 50 or 100",
        ),
        (
            &["bench", "and", "--parties", "2", "--protocol", "replicated-malicious"],
            "is for 3 parties, not for 2",
        ),
        (&["bench", "mul", "--threads", "0"], "--threads is 1 to 64"),
        (&["bench", "mul", "--threads", "65"], "--threads is 1 to 64"),
        (&["bench", "matmul", "--threads", "2"], "only 1 to share out"),
        (&["bench", "and", "--count", "9", "--depth", "3", "--threads", "4"], "only 3 to share out"),
        (&["bench", "limits", "--threads", "2"], "--threads means nothing"),
        (&["bench", "mul", "--length", "2"], "--length means nothing"),
        (&["bench", "mul", "--count", "10", "--depth", "3"], "equal layers"),
        (&["bench", "matmul", "--shape", "3,4"], "three sizes"),
        (&["bench", "mul", "--parties", "4"], "not for 4"),
        (&["bench", "mul", "--count", "0"], "nothing to measure"),
        (&["bench", "mul", "--repeat", "0"], "measure nothing"),
        (&["bench", "dot", "--profile"], "--profile means nothing"),
        (&["bench", "aes", "--paper"], "--paper means nothing"),
        (&["bench", "araki"], "--paper or --scale"),
        (&["bench", "araki", "--paper", "--scale"], "cannot be used with"),
        (&["bench", "araki", "--paper", "--count", "5"], "cannot be used with"),
        (&["bench", "araki", "--scale", "--out", "x"], "cannot be used with"),
        (&["bench", "araki", "--scale", "--count", "9"], "no tenth"),
        (&["bench", "araki", "--scale", "--transport", "memory"], "--transport tcp or tls"),
    ];
    for (args, expected) in cases {
        let (code, out, err) = tacit(args);
        assert_eq!(code, 2, "{args:?}: {err}");
        assert!(out.is_empty(), "{args:?}: {out}");
        assert!(err.contains(expected), "{args:?}: {err}");
    }
}

#[test]
fn with_json_an_error_is_an_object_too() {
    for args in [&["dance", "--json"][..], &["run", "other.py", "--simulate", "--json"]] {
        let (code, out, err) = tacit(args);
        let object: serde_json::Value = serde_json::from_str(&out).unwrap();
        let fields: Vec<&String> = object["error"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["kind", "line", "message", "peer", "phase"]);
        assert_eq!(code, 2);
        assert!(!err.is_empty());
    }
}

#[test]
fn help_and_version_are_results() {
    for args in [&["--help"][..], &["--version"], &["run", "--help"], &["bench", "--help"]] {
        let (code, out, err) = tacit(args);
        assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
        assert!(out.contains("tacit"), "{args:?}: {out}");
    }
    assert!(!tacit(&["--help"]).1.contains("bench-party"));
}

/// A file with the paper's network, its machines in another order.
fn papers_network(folder: &Path) -> String {
    let file = folder.join("net.toml");
    let pair =
        |one, other, net| format!("[[pair]]\nbetween = [\"{one}\", \"{other}\"]\nnet = \"{net},25mbit\"\n");
    let pairs = [("P0", "P1", "81.736ms"), ("P1", "P2", "201.928ms"), ("P0", "P2", "229.792ms")];
    std::fs::write(&file, pairs.map(|(one, other, net)| pair(one, other, net)).concat()).unwrap();
    file.display().to_string()
}

#[test]
fn material_has_the_roles_that_its_network_asks_for() {
    let folder = tempfile::tempdir().unwrap();
    let (net, store) = (papers_network(folder.path()), folder.path().join("store").display().to_string());
    let object = |args: &[&str]| -> serde_json::Value {
        let (code, out, err) = tacit(args);
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(out.lines().next().unwrap()).unwrap()
    };
    let offline =
        ["offline", "sum.py", "--simulate", "--protocol", "astra", "--count", "1", "--store", &store];
    let made = object(&[&offline[..], &["--net", &net, "--json"]].concat());
    assert_eq!(made["roles"]["0"], "P2");
    assert!(
        tacit(&offline).1.contains("bytes sent: ") && tacit(&offline).1.contains("; roles: 0 = P2, 1 = ")
    );
    let value = tacit::program::Value { shape: vec![4], data: tacit::program::Data::Int(vec![1, -2, 3, 0]) };
    let values = folder.path().join("values.npy");
    crate::npy::write(&values, &value).unwrap();
    let [a, b] = ["a", "b"].map(|name| format!("{name}={}", values.display()));
    let run = ["run", "sum.py", "--simulate", "--protocol", "astra", "--store", &store, "--json"];
    let run = object(&[&run[..], &["--input", &a, "--input", &b]].concat());
    assert_eq!(run["report"]["roles"], made["roles"]);
    assert_eq!(run["outputs"][0]["value"], serde_json::json!([1, 4, 9, 0]));
}

/// On the paper's network.
#[test]
fn a_cost_says_who_plays_what() {
    let folder = tempfile::tempdir().unwrap();
    let net = papers_network(folder.path());
    let breakdown = |more: &[&str]| {
        let args = [&["cost", "sum.py", "--protocol", "astra", "--net", &net, "--json"], more].concat();
        let object: serde_json::Value = serde_json::from_str(&tacit(&args).1).unwrap();
        object["protocols"].as_object().unwrap().values().next().unwrap().clone()
    };
    let chosen = breakdown(&[]);
    assert_eq!(chosen["roles"]["0"], "P2");
    assert_eq!(breakdown(&["--roles", "auto"])["roles"], chosen["roles"]);
    let usual = breakdown(&["--roles", "012"]);
    assert!(usual["roles"].is_null());
    assert!(chosen["network_seconds"].as_f64() < usual["network_seconds"].as_f64());
    let (_, text, _) = tacit(&["cost", "sum.py", "--protocol", "astra", "--net", &net]);
    assert!(text.contains("roles: 0 = P2, 1 = ") && text.contains("s in the slowest order"), "{text}");
    let (_, text, _) = tacit(&["cost", "sum.py", "--protocol", "astra"]);
    assert!(text.ends_with("\nroles: 0 = P0, 1 = P1, 2 = P2\n"), "{text}");
}

#[test]
fn a_cost_says_how_numbers_are_compared() {
    let breakdown = |size: &str, net: &str, comparison: &str| {
        let args = ["cost", "larger.py", "--arg", size, "--net", net, "--json", "--protocol", "astra"];
        let object: serde_json::Value =
            serde_json::from_str(&tacit(&[&args[..], &["--comparison", comparison]].concat()).1).unwrap();
        object["protocols"].as_object().unwrap().values().next().unwrap().clone()
    };
    for (size, net, expected) in
        [("10", "wan", "garbled"), ("10000", "wan", "prefix"), ("1000", "lan", "prefix")]
    {
        let (auto, picked) = (breakdown(size, net, "auto"), breakdown(size, net, expected));
        assert_eq!(auto["comparison"]["picked"], expected);
        assert_eq!(auto["sent_bytes"], picked["sent_bytes"]);
        let seconds = |way: &str| auto["comparison"]["seconds"][way].as_f64().unwrap();
        assert!(seconds(expected) <= 1.1 * seconds("prefix").min(seconds("garbled")));
        assert!(picked["comparison"].is_null());
    }
    let args = ["cost", "larger.py", "--protocol", "astra", "--comparison", "auto", "--net", "wan"];
    let (_, text, _) = tacit(&args);
    assert!(
        text.contains("comparison: garbled: the network takes 0.") && text.contains("s with prefix, 0."),
        "{text}"
    );
}

/// The links of clients, who give and learn values, are in all of it.
#[test]
fn a_cost_has_one_network_time() {
    for comparison in ["prefix", "garbled"] {
        let cost = |comparison: &str| {
            let args = ["cost", "larger.py", "--arg", "400", "--net", "wan", "--protocol", "astra"];
            let args = [&args[..], &["--comparison", comparison]].concat();
            let object: serde_json::Value =
                serde_json::from_str(&tacit(&[&args[..], &["--json"]].concat()).1).unwrap();
            let breakdown = object["protocols"].as_object().unwrap().values().next().unwrap().clone();
            (breakdown, tacit(&args).1)
        };
        let (alone, _) = cost(comparison);
        let (auto, text) = cost("auto");
        assert_eq!(auto["comparison"]["seconds"][comparison], alone["network_seconds"]);
        // The other way is quicker, by less than a tenth.
        assert_eq!(auto["comparison"]["picked"], "prefix");
        let why = "; within a tenth of the quickest counts as the same, and prefix is usual";
        assert!(text.contains(why), "{text}");
    }
}

#[test]
fn a_simulation_says_how_numbers_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let values = folder.path().join("values.npy");
    let value = tacit::program::Value { shape: vec![4], data: tacit::program::Data::Int(vec![1, -2, 3, 0]) };
    crate::npy::write(&values, &value).unwrap();
    let given = ["a", "b"].map(|name| format!("{name}={}", values.display()));
    let [a, b] = &given;
    let run = |more: &[&str]| {
        let args = ["run", "larger.py", "--simulate", "--input", a, "--input", b, "--protocol", "astra"];
        let (code, out, err) = tacit(&[&args[..], &["--comparison", "auto", "--json"], more].concat());
        assert_eq!(code, 0, "{err}");
        let object: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(object["outputs"][0]["value"], serde_json::json!([false, false, false, false]));
        (object["report"]["comparison"].clone(), err)
    };
    let (comparison, err) = run(&["--net", "wan"]);
    assert_eq!(comparison["picked"], "garbled");
    assert!(comparison["seconds"]["garbled"].as_f64() < comparison["seconds"]["prefix"].as_f64());
    assert!(err.contains("comparison: garbled: the network takes"), "{err}");
    let (comparison, err) = run(&[]);
    assert_eq!(comparison, serde_json::json!({"picked": "prefix", "seconds": {}}));
    assert_eq!(err.trim(), "comparison: prefix");
}

#[test]
fn a_network_is_measured_and_compared_with_floating_point() {
    let bench = ["bench", "dnn", "--model", "mlp", "--transport", "memory"];
    let figures = |more: &[&str]| -> serde_json::Value {
        let (code, out, err) = tacit(&[&bench[..], &["--quick", "--rows", "2", "--json"], more].concat());
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(&out).unwrap()
    };
    for protocol in ["replicated", "replicated-malicious", "astra"] {
        let [kept, given] =
            ["kept", "given"].map(|weights| figures(&["--protocol", protocol, "--weights", weights]));
        for figures in [&kept, &given] {
            assert_eq!((figures["bench"].as_str(), figures["count"].as_u64()), (Some("dnn"), Some(2)));
            let accuracy = &figures["accuracy"];
            assert_eq!((accuracy["argmax"].as_u64(), accuracy["rows"].as_u64()), (Some(2), Some(2)));
            assert!((accuracy["error"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-4, "{accuracy}");
        }
        assert_eq!((kept["weights"].as_str(), given["weights"].as_str()), (Some("kept"), Some("given")));
        // What is kept was shared before.
        let owners_input = |figures: &serde_json::Value| figures["input_bytes"][1].as_u64().unwrap();
        assert!(owners_input(&kept) < owners_input(&given), "{kept} {given}");
    }
    assert_eq!(figures(&[])["weights"], "kept");
    let (code, _, err) = tacit(&bench);
    assert!(code == 2 && err.contains("mlp") && err.contains(" here"), "{err}");
    for (wrong, words) in [
        (&["bench", "dnn", "--model", "linear"][..], "resnet50"),
        (&["bench", "predict", "--model", "mlp"], "bench dnn"),
        (&["bench", "dnn", "--rows", "0"], "nothing to measure"),
        (&["bench", "mul", "--rows", "1"], "--rows means nothing"),
        (&["bench", "mul", "--weights", "kept"], "--weights means nothing"),
        (&["bench", "dnn", "--model", "mlp", "--quick", "--protocol", "mascot"], "--weights given"),
    ] {
        let (code, _, err) = tacit(wrong);
        assert!(code == 2 && err.contains(words), "{wrong:?}: {err}");
    }
}

#[test]
fn tables_are_made_by_the_front_end() {
    for (args, exit, words) in [
        (&["bench", "join", "--bits", "20"][..], 1, r#"{"join":{"bits":20,"columns":1,"count":65536}}"#),
        (&["bench", "groupby", "--quick"], 2, r#"{"groupby":{"bits":32,"columns":1,"count":1000}}"#),
        (&["bench", "tpch", "--query", "6"], 2, r#"{"tpch":{"query":6,"scale":0.01}}"#),
        (&["bench", "tpch", "--scale", "0.1"], 2, r#"{"tpch":{"query":3,"scale":0.1}}"#),
        (&["bench", "tpch", "--query", "23"], 2, "1..=22"),
        (&["bench", "tpch", "--scale"], 2, "takes gigabytes"),
        (&["bench", "tpch", "--scale", "9"], 2, "from 0.001 to 1"),
        (&["bench", "groupby", "--columns", "0"], 2, "nothing to measure"),
        (&["bench", "join", "--count", "0"], 2, "nothing to measure"),
        (&["bench", "join", "--query", "6"], 2, "--query means nothing"),
        (&["bench", "tpch", "--count", "6"], 2, "--count means nothing"),
    ] {
        let (code, _, err) = tacit(args);
        assert!(code == exit && err.contains(words), "{args:?}: {code} {err}");
    }
}

#[test]
fn a_cost_is_what_is_sent() {
    let bench = ["bench", "sort", "--quick", "--transport", "memory", "--json"];
    let [cost, run] = [&["--cost"][..], &[]].map(|more| {
        let (code, out, err) = tacit(&[&bench[..], more].concat());
        assert_eq!(code, 0, "{err}");
        serde_json::from_str::<serde_json::Value>(&out).unwrap()
    });
    for key in ["bench", "count", "sent_bytes", "input_bytes", "output_bytes", "offline_sent_bytes", "rounds"]
    {
        assert_eq!(cost[key], run[key], "{key}");
    }
    assert!(cost["seconds"].is_null());
    let (_, out, _) = tacit(&["bench", "mul", "--quick", "--cost"]);
    assert!(out.contains("online, checks included") && !out.contains("offline"), "{out}");
    let (code, _, err) = tacit(&["bench", "limits", "--cost"]);
    assert!(code == 2 && err.contains("--cost means nothing"), "{err}");
}

#[test]
fn a_benchmark_in_memory_tells_people_what_it_found() {
    let (code, out, err) = tacit(&["bench", "mul", "--quick", "--transport", "memory"]);
    assert_eq!(code, 0, "{err}");
    for expected in ["1,000 products", "the result is right", "sent by each party", "rounds"] {
        assert!(out.contains(expected), "{out}");
    }
}

/// A reader that has had enough, as `head` has.
struct Gone;

impl std::io::Write for Gone {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_command_whose_results_nobody_reads_ends_quietly() {
    let simulated = ["circuit", "adder64", "--simulate", "--input", "0=1", "--input", "1=2"];
    let commands: [&[&str]; 5] = [
        &["--help"],
        &["cost", "sum.py"],
        &["cost", "sum.py", "--json"],
        &["offline", "sum.py", "--protocol", "astra", "--count", "1", "--cost"],
        &simulated,
    ];
    for command in commands {
        let (mut gone, mut err) = (Gone, Vec::new());
        let out = Output::to(&mut gone);
        let mut context =
            Context { front: &TwoPrograms, this_command: vec![], json: false, out, err: &mut err };
        let code = context.main(command.iter().map(OsString::from).collect());
        assert_eq!((code, String::from_utf8(err).unwrap().as_str()), (UNREAD, ""), "{command:?}");
    }
}

#[test]
fn a_protocol_that_cannot_run_it_is_named_with_the_reason() {
    let sentence = "reveals outputs to parties alone, and this plan reveals one to a client; reveal it to the parties: \
                    reveal(..., to=[\"P0\", \"P1\", \"P2\"])";
    let breakdown: serde_json::Value = serde_json::from_str(&tacit(&["cost", "sum.py", "--json"]).1).unwrap();
    assert!(
        breakdown["protocols"]["astra-malicious"].is_object()
            && breakdown["protocols"]["astra-fair"].is_null()
    );
    assert!(breakdown["refused"]["astra-fair"].as_str().unwrap().contains(sentence), "{breakdown}");
    let (code, text, _) = tacit(&["cost", "sum.py"]);
    assert!(
        code == 0 && text.contains(&format!("astra-fair can't run it: protocol \"astra-fair\" {sentence}")),
        "{text}"
    );

    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("net").display().to_string();
    assert_eq!(tacit(&["init", &net, "--clients", "alice", "--port", "7391"]).0, 0);
    let config = format!("{net}/P0/parties.toml");
    let store = folder.path().join("store").display().to_string();
    let fair = ["sum.py", "--protocol", "astra-fair"];
    let commands: [(&str, &[&str]); 5] = [
        ("cost", &[]),
        ("run", &["--simulate"]),
        // Nobody else is there: it doesn't wait for them.
        ("serve", &["--config", &config]),
        ("offline", &["--simulate", "--count", "1", "--store", &store]),
        ("offline", &["--count", "1", "--cost"]),
    ];
    let value = tacit::program::Value { shape: vec![4], data: tacit::program::Data::Int(vec![1, -2, 3, 0]) };
    let values = folder.path().join("values.npy");
    crate::npy::write(&values, &value).unwrap();
    let [a, b] = ["a", "b"].map(|name| format!("{name}={}", values.display()));
    for (command, more) in commands {
        let inputs: &[&str] = if command == "run" { &["--input", &a, "--input", &b] } else { &[] };
        let (code, out, err) = tacit(&[&[command], &fair[..], more, inputs].concat());
        assert!(code == 2 && out.is_empty() && err.contains(sentence), "{command}: {code} {out} {err}");
    }
    assert!(!folder.path().join("store").exists());
    let (code, _, err) = tacit(&[
        "bench",
        "mul",
        "--protocol",
        "astra-fair",
        "--transport",
        "memory",
        "--count",
        "1000",
        "--threads",
        "2",
    ]);
    assert!(code == 2 && err.contains("\"astra-fair\" runs in one lane"), "{code} {err}");
}

#[test]
fn a_deployment_is_made_for_as_many_parties_as_some_protocol_is_for() {
    let folder = tempfile::tempdir().unwrap();
    let net = folder.path().join("net").display().to_string();
    let (code, _, err) = tacit(&["init", &net, "--parties", "17"]);
    assert!(
        code == 2
            && err.contains("no protocol is for 17 parties: replicated for 3 (1 of 3 may be corrupt), "),
        "{err}"
    );
    assert!(!folder.path().join("net").exists());
}
