//! Benchmarks of what protocols with a dishonest majority are made of.

use crate::{command, object, tacit};
use serde_json::Value as Json;

pub(crate) fn oblivious_transfers_are_measured_over_every_transport() {
    for transport in ["memory", "tcp", "tls"] {
        let object = object(&["bench", "ot", "--quick", "--json", "--k", "3", "--transport", transport]);
        assert_eq!((&object["bench"], &object["k"]), (&"ot".into(), &3.into()));
        let number = |key: &str| object[key].as_f64().expect(key);
        assert!(number("per_second") > 0.0 && number("setup_seconds") > 0.0, "{object}");
        // 42 bits, and what three batches cost besides.
        assert!((5.25..6.0).contains(&number("bytes_per_ot")), "{object}");
    }
    let output = tacit(&["bench", "ot", "--quick", "--k", "9"]);
    assert_eq!(output.status.code(), Some(2), "there are no such trees");
}

pub(crate) fn triples_are_measured_among_two_parties_or_more() {
    for (parties, transport) in [("2", "tcp"), ("3", "tls"), ("4", "memory")] {
        let triples = ["bench", "triples", "--protocol", "mascot", "--parties", parties];
        let object = object(&[&triples[..], &["--quick", "--json", "--transport", transport]].concat());
        assert_eq!((&object["bench"], &object["transport"]), (&"triples".into(), &transport.into()));
        let number = |key: &str| object[key].as_f64().expect(key);
        let parties: f64 = parties.parse().expect("a number");
        // 17,920 bytes to each other party, a share, and what is for a batch.
        let bytes = number("bytes_per_triple") / (parties - 1.0);
        assert!((17_936.0..18_200.0).contains(&bytes), "{object}");
        assert!(number("per_second") > 0.0 && number("setup_seconds") > 0.0, "{object}");
    }
    for field in ["fp64", "fp256", "fp512"] {
        let few = ["--quick", "--count", "20", "--json"];
        let object =
            object(&[&["bench", "triples", "--protocol", "mascot", "--field", field], &few[..]].concat());
        assert!(object["per_second"].as_f64() > Some(0.0), "{field}: {object}");
    }
    for wrong in [&["--protocol", "mascot", "--parties", "1"][..], &["--protocol", "astra"], &[]] {
        let output = tacit(&[&["bench", "triples", "--quick"], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

/// Products online on what is in stores: what is sent on inputs is what a run sends that makes its triples, and nothing of a store
/// is left.
pub(crate) fn products_are_measured_on_stores() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (parties, transport, threads) in [("2", "tcp", "1"), ("3", "tls", "2"), ("3", "memory", "2")] {
        let bench = ["bench", "mul", "--protocol", "mascot", "--parties", parties, "--threads", threads];
        let args = [&bench[..], &["--count", "200", "--transport", transport, "--json"]].concat();
        let output = command(&[&args[..], &["--store"]].concat()).env("TMPDIR", folder.path()).output();
        let output = output.expect("this program can be started");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        let stored: Json = serde_json::from_str(&text).expect("an object");
        let in_run = object(&args);
        for key in ["sent_bytes", "input_bytes", "output_bytes", "rounds"] {
            assert_eq!(stored[key], in_run[key], "{key}");
        }
        let number = |key: &str| stored[key].as_f64().expect(key);
        assert!(number("seconds") > 0.0 && number("offline_seconds") > number("seconds"), "{stored}");
        assert_eq!(stored["offline_rounds"], 0, "the run makes nothing");
        for (key, least) in [("store_disk_bytes", 200 * 96), ("offline_sent_bytes", 200 * 7_000)] {
            let each = stored[key].as_array().expect(key);
            assert_eq!(each.len().to_string(), parties);
            assert!(each.iter().all(|bytes| bytes.as_u64() >= Some(least)), "{stored}");
        }
        assert!(in_run["store_disk_bytes"].is_null());
        assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 0, "nothing is left");
    }
    let says = |args: &[&str]| {
        let output = tacit(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for protocol in ["replicated", "astra"] {
        let refused = says(&["bench", "mul", "--quick", "--store", "--protocol", protocol]);
        assert!(refused.contains("fills no stores for any program"), "{refused}");
    }
    let refused = says(&["bench", "compare", "--quick", "--store", "--protocol", "mascot"]);
    assert!(refused.contains("--store means nothing for this benchmark"), "{refused}");
    says(&["bench", "mul", "--quick", "--store", "--cost", "--protocol", "mascot"]);
}
