//! What `tacit cost` says of a program's lines.

use super::tacit;

#[test]
fn a_cost_is_by_party_phase_and_line() {
    let (code, out, _) = tacit(&["cost", "sum.py", "--arg", "10", "--json", "--net", "wan"]);
    assert_eq!(code, 0);
    let object: serde_json::Value = serde_json::from_str(&out).unwrap();
    let breakdown = &object["protocols"]["replicated"];
    assert_eq!(breakdown["endpoints"], serde_json::json!(["P0", "P1", "P2", "alice"]));
    // One 16-bit or narrower word per product and party.
    let online = breakdown["phases"]["online"]["sent_bytes"].as_array().unwrap();
    assert_eq!(online[0], online[2]);
    assert_eq!(online[3], 0);
    assert_eq!(breakdown["lines"][0]["line"], "sum.py:3: a * b");
    assert!(breakdown["network_seconds"].as_f64().unwrap() >= 0.06);

    let (code, out, _) = tacit(&["cost", "sum.py"]);
    assert_eq!(code, 0);
    assert!(out.contains("replicated") && out.contains("online") && out.contains("sum.py:3: a * b"), "{out}");
}

/// Where there is nothing but ANDs, lines say how many, and what triples are made of; elsewhere they don't.
#[test]
fn lines_say_how_many_ands_they_take() {
    let args = ["cost", "larger.py", "--protocol", "gmw"];
    let breakdown = |args: &[&str]| -> serde_json::Value {
        let object: serde_json::Value =
            serde_json::from_str(&tacit(&[args, &["--json"]].concat()).1).unwrap();
        object["protocols"].as_object().unwrap().values().next().unwrap().clone()
    };
    let gmw = breakdown(&args);
    let ands: u64 = gmw["lines"].as_array().unwrap().iter().map(|line| line["ands"].as_u64().unwrap()).sum();
    let transfers = gmw["random_transfers"].as_u64().unwrap();
    assert!(0 < ands && ands <= transfers && transfers.is_multiple_of(64), "{ands} {transfers}");
    let out = tacit(&args).1;
    assert!(out.contains("ANDs") && out.contains("random oblivious transfers"), "{out}");
    assert!(gmw["branches"].is_null() && !out.contains("arms"), "{out}");
    let rings = breakdown(&["cost", "sum.py", "--protocol", "replicated"]);
    assert!(rings["random_transfers"].is_null() && rings["lines"][0]["ands"].is_null(), "{rings}");
}

/// Rows of what each line costs and what all cost together.
#[test]
fn what_lines_cost_adds_up() {
    for protocol in ["replicated", "replicated-malicious", "astra", "astra-malicious"] {
        let args = ["cost", "larger.py", "--protocol", protocol];
        let object: serde_json::Value =
            serde_json::from_str(&tacit(&[&args[..], &["--json"]].concat()).1).unwrap();
        let breakdown = object["protocols"].as_object().unwrap().values().next().unwrap();
        let sum = |sent: &serde_json::Value| -> u64 {
            sent.as_array().unwrap().iter().map(|bytes| bytes.as_u64().unwrap()).sum()
        };
        let lines: u64 =
            breakdown["lines"].as_array().unwrap().iter().map(|line| sum(&line["sent_bytes"])).sum();
        let shared = sum(&breakdown["shared"]["sent_bytes"]);
        assert_eq!(lines + shared, sum(&breakdown["sent_bytes"]), "{protocol}");
        assert!(shared > 0 && tacit(&args).1.contains("for all lines"), "{protocol}");
    }
}
