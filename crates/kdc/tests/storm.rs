//! The paper's flow by three processes.

use std::process::Command;

/// What the bench says of 40 logins that go together so often.
fn measured(every: &str, port: u16) -> serde_json::Value {
    let bench =
        ["bench", "--paper", "400", "--every", every, "--count", "40", "--protocol", "replicated", "--json"];
    let out = Command::new(env!("CARGO_BIN_EXE_tacit-kdc"))
        .args(bench)
        .args(["--port", &port.to_string()])
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// The bench opens each reply, so it ends well if all are right.
#[test]
fn logins_wait_for_their_batch_and_its_run() {
    let port = 30_000 + (std::process::id() % 400 * 6) as u16;
    let number = |told: &serde_json::Value, name: &str| told[name].as_f64().unwrap();
    let told = measured("50", port);
    // The first batch begins after 50 ms, with the logins that have come by then.
    assert!(number(&told, "late_seconds") > 0.045);
    assert!((1.0..=2.0).contains(&number(&told, "batches")), "40 logins come in 100 ms");
    let told = measured("0", port + 3);
    assert!((2.0..=40.0).contains(&number(&told, "batches")), "the first login goes alone");
    assert!(number(&told, "median_seconds") > 0.0 && number(&told, "seconds") > 0.095);
}
