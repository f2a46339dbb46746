//! The experiments of papers, made small.

use crate::{Json, object, tacit};

pub(crate) fn the_experiments_of_li_et_al_are_redone() {
    let object = object(&["bench", "li", "--paper", "--quick", "--json", "--transport", "memory"]);
    let list = |key: &str| object[key].as_array().expect("a list").clone();
    let runs = list("runs");
    // Layers of 1 and 10, and AES, on loopback and on the slow network, under five protocols.
    assert_eq!(runs.len(), 2 * 3 * 5);
    for run in &runs {
        let number = |key: &str| run[key].as_f64().expect(key);
        assert!(number("seconds") > 0.0 && number("bytes") > 0.0, "{run}");
        assert!(run["paper"]["seconds"].is_null(), "the paper has other counts: {run}");
        assert_eq!(run["all_seconds"], serde_json::json!([number("seconds")]));
    }
    let semi = |run: &&Json| run["protocol"] == "replicated" && run["depth"] == 10;
    // A bit of each of 10,000 ANDs from each party, and two counts of eight bytes.
    let expected = 3 * (10_000 / 8 + 16);
    assert_eq!(
        runs.iter().filter(semi).map(|run| run["bytes"].as_u64()).collect::<Vec<_>>(),
        [Some(expected); 2]
    );
    assert_eq!(list("operations").len(), 4);
    let output = tacit(&["bench", "li", "--quick"]);
    assert_eq!(output.status.code(), Some(2), "--paper is missing");
}

pub(crate) fn the_experiments_of_chaudhari_et_al_are_redone() {
    let object = object(&["bench", "astra", "--paper", "--quick", "--json", "--transport", "memory"]);
    let runs = object["runs"].as_array().expect("a list");
    for table in ["table 3", "table 4", "table 5", "table 6", "table 7", "table 8", "table 9", "figure 12"] {
        assert!(runs.iter().any(|run| run["table"] == table), "{table}");
    }
    let number = |run: &Json, key: &str| run[key].as_f64().expect(key);
    for run in runs.iter().filter(|run| run["table"] != "table 4") {
        let number = |key: &str| number(run, key);
        assert!(number("seconds_at_round_trips") > number("seconds"), "{run}");
        let offline = run["protocol"].as_str().expect("a name").starts_with("astra");
        let found = (number("offline_seconds") > 0.0, number("offline_bytes") > 0.0);
        assert_eq!(found, (offline, offline), "{run}");
    }
    // As they are printed: 48 wires to both evaluators and 40 to each from the other, and 128 to everybody.
    let of = |protocol: &str, what: &str| {
        let run = |run: &&Json| run["protocol"] == protocol && run["what"] == what && run["net"] == "LAN";
        runs.iter().find(run).unwrap_or_else(|| panic!("{protocol}: {what}"))
    };
    let shared = of("astra", "blocks' wires, sharing");
    assert_eq!((&shared["bytes"], &shared["rounds"]), (&22.into(), &1.into()));
    for (protocol, offline) in [("astra", 0), ("astra-malicious", 0), ("astra-fair", 256)] {
        let opened = of(protocol, "blocks' wires, opening");
        assert!(number(opened, "bytes") >= 48.0 && number(opened, "seconds") > 0.0);
        assert_eq!(opened["offline_bytes"], offline, "{opened}");
    }
    // Where numbers are compared, garbled comparisons are beside the usual ones.
    let rounds = |protocol: &str| {
        let run = |run: &&Json| run["table"] == "table 9" && run["protocol"] == protocol;
        runs.iter().find(run).expect(protocol)["rounds"].as_u64()
    };
    assert!(rounds("astra comparison=garbled") < rounds("astra"));
    // An element of 8 bytes ahead of each of 20 predictions, and two online.
    let many =
        runs.iter().find(|run| run["table"] == "table 7" && run["protocol"] == "astra").expect("a run");
    assert_eq!((&many["count"], &many["offline_bytes"]), (&20.into(), &160.into()));
    let output = tacit(&["bench", "astra", "--quick"]);
    assert_eq!(output.status.code(), Some(2), "--paper is missing");
}

pub(crate) fn the_experiments_of_keller_et_al_are_redone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().display().to_string();
    let object = object(&["bench", "mascot", "--paper", "--quick", "--json", "--out", &out]);
    let list = |key: &str| object[key].as_array().expect("a list").clone();
    let runs = list("runs");
    let number = |run: &Json, key: &str| run[key].as_f64().unwrap_or_else(|| panic!("{key}: {run}"));
    let found = |table: &str| runs.iter().filter(|run| run["table"] == table).cloned().collect::<Vec<_>>();
    let sizes = |table: &str| {
        let size = |run: &Json| [&run["parties"], &run["lanes"], &run["count"]].map(Json::as_u64);
        found(table).iter().map(|run| size(run).map(|one| one.expect("a number"))).collect::<Vec<_>>()
    };
    assert_eq!(sizes("figure 4"), [[2, 1, 40], [2, 2, 40], [3, 1, 40], [3, 2, 40]]);
    assert_eq!((sizes("table 1"), sizes("figure 5")), (vec![[2, 2, 40]], vec![[2, 2, 40]; 3]));
    assert_eq!(sizes("figure 6"), [[2, 1, 3]]);
    for run in runs.iter().filter(|run| run["table"] != "figure 6") {
        let [gbit, percent] = ["gbit_per_second", "link_percent"].map(|key| number(run, key));
        assert!(gbit > 0.0 && (0.0..=100.0).contains(&percent), "{run}");
        let seconds = number(run, "seconds");
        assert!((number(run, "per_second") * seconds / 40.0 - 1.0).abs() < 1e-9, "{run}");
    }
    for run in found("figure 6") {
        assert!(number(&run, "offline_seconds") > 0.0 && number(&run, "seconds") > 0.0, "{run}");
        assert!(run["link_percent"].is_null(), "{run}");
    }
    // Exact: 62.86 here, and 180.22 there, on each of two links; fields of other lengths are those of triples that are made.
    let costs = list("costs");
    let of = |name: &str| costs.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}"));
    let triple = of("a triple of 128 bits, 2 parties");
    assert!((number(triple, "kbit") - 125.71).abs() < 0.01, "{triple}");
    assert!((number(triple, "paper_kbit") - 360.44).abs() < 0.01, "{triple}");
    let long = of("a triple of 512 bits, 5 parties");
    assert!((number(long, "kbit") - 42_996.91).abs() < 0.01, "{long}");
    let short = of("a triple of 64 bits, 2 parties");
    assert!((number(short, "kbit") - 90.54).abs() < 0.01, "{short}");
    for plot in list("plots") {
        let svg = std::fs::read_to_string(plot.as_str().expect("a path")).expect("a drawing");
        assert!(svg.contains("Keller et al. 2016"));
    }
    assert_eq!(list("plots").len(), 3);
    assert_eq!(tacit(&["bench", "mascot", "--quick"]).status.code(), Some(2), "--paper is missing");
}

pub(crate) fn the_experiments_of_heath_et_al_are_redone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().display().to_string();
    let object = object(&["bench", "gmw", "--paper", "--quick", "--json", "--out", &out]);
    let list = |key: &str| object[key].as_array().expect("a list").clone();
    let runs = list("runs");
    assert_eq!(runs.len(), 3, "masked triples, MOTIF, and a triple for each AND");
    let bytes = |run: &Json| run["offline_bytes"].as_u64().expect("bytes");
    assert!(bytes(&runs[0]) < bytes(&runs[2]), "{runs:?}");
    let of = |table: &str| list("compared").iter().filter(|row| row["table"] == table).count();
    // Two arms' OTs, counted and run; four ways with trees of two heights; 2 to 8 parties, three ways. Of a quick run
    // nothing is as the paper's.
    assert_eq!([8, 9, 10, 12].map(|figure| of(&format!("figure {figure}"))), [4 + 3, 2 * 8, 2 * 6, 7 * 3]);
    assert_eq!(of("figure 11"), 2, "the times of MOTIF and of a triple for each AND");
    assert!(list("compared").iter().all(|row| row["here"].as_f64() > Some(0.0) && row["paper"].is_null()));
    let output = tacit(&["bench", "gmw", "--quick"]);
    assert_eq!(output.status.code(), Some(2), "--paper is missing");
}
