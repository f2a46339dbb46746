//! Stores of material: made, looked into, adopted, and what they cost.

use super::tacit;

/// Whoever lost an anchor is told what it means to go on, and has to say that it may be done.
#[test]
fn a_store_is_adopted_by_those_who_know_what_that_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let stores = path("stores");
    let value = tacit::program::Value { shape: vec![4], data: tacit::program::Data::Int(vec![1, -2, 3, 0]) };
    crate::npy::write(&folder.path().join("v.npy"), &value).unwrap();
    let [a, b] = ["a", "b"].map(|name| format!("{name}={}", path("v.npy")));
    let with_store = ["sum.py", "--simulate", "--protocol", "astra", "--store", &stores];
    let run = || tacit(&[&["run"], &with_store[..], &["--input", &a, "--input", &b]].concat());
    assert_eq!(tacit(&[&["offline"], &with_store[..], &["--count", "5"]].concat()).0, 0);
    assert_eq!(run().0, 0);

    let (own, anchors) = (path("stores/P1"), path("stores/anchors"));
    let store = |command: &str, more: &[&str]| {
        tacit(&[&["store", command, &own, "--anchors", &anchors], more].concat())
    };
    let (code, text, _) = store("list", &[]);
    assert!(code == 0 && text.contains("material of P1, one of P0, P1, P2, for astra"), "{text}");
    assert!(text.contains("4 of 5 instances are unused") && text.contains("clients: alice"), "{text}");
    let (code, _, err) = store("adopt", &["--never-copied"]);
    assert!(code == 2 && err.contains("nothing is to be adopted"), "{err}");

    std::fs::remove_dir_all(&anchors).unwrap();
    let object: serde_json::Value = serde_json::from_str(&store("list", &["--json"]).1).unwrap();
    assert_eq!((&object["epochs"][0]["standing"], &object["party"]), (&"unanchored".into(), &"P1".into()));
    assert!(run().2.contains("tacit store adopt"));
    let (code, out, err) = store("adopt", &[]);
    assert!(code == 2 && out.is_empty(), "{out}");
    for part in ["an older copy", "a backup", "used twice", "delete the store", "--never-copied"] {
        assert!(err.contains(part), "{err}");
    }
    assert!(run().2.contains("tacit store adopt"));
    for party in ["P0", "P1", "P2"] {
        let own = path(&format!("stores/{party}"));
        let (code, text, _) = tacit(&["store", "adopt", &own, "--anchors", &anchors, "--never-copied"]);
        assert!(code == 0 && text.contains("4 of 5 instances are unused"), "{text}");
    }
    assert_eq!(run().0, 0);
    assert!(store("list", &[]).1.contains("3 of 5 instances are unused"));
}

/// What is said beforehand is what is sent: a few runs' checks of products cost less together.
#[test]
fn the_cost_of_material_is_what_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let sent = |count: &str| -> (Vec<u64>, Vec<u64>) {
        let store = folder.path().join(count).display().to_string();
        let args = ["offline", "sum.py", "--protocol", "astra-malicious", "--count", count, "--json"];
        let of = |more: &[&str]| tacit(&[&args[..], more].concat()).1;
        let declared: serde_json::Value = serde_json::from_str(&of(&["--cost"])).unwrap();
        let declared = declared["protocols"]["astra-malicious"]["sent_bytes"].as_array().unwrap().clone();
        let sent = of(&["--simulate", "--store", &store]);
        let party = |line: &str| -> u64 {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            let links = object["links"].as_object().unwrap().values();
            links.map(|link| link["sent_bytes"].as_u64().unwrap()).sum()
        };
        (declared.iter().map(|bytes| bytes.as_u64().unwrap()).collect(), sent.lines().map(party).collect())
    };
    let [(one, one_sent), (ten, ten_sent)] = ["1", "10"].map(sent);
    assert_eq!((&one, &ten), (&one_sent, &ten_sent));
    assert!(ten.iter().sum::<u64>() < 5 * one.iter().sum::<u64>());
    let (_, text, _) =
        tacit(&["offline", "sum.py", "--protocol", "astra", "--count", "3", "--cost", "--net", "wan"]);
    assert!(
        text.contains("offline") && text.contains("network time (wan)") && text.contains("roles: 0 = P0"),
        "{text}"
    );
}

#[test]
fn stores_of_a_simulation_are_found_with_their_anchors() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let stores = path("mat");
    let offline = ["offline", "sum.py", "--simulate", "--protocol", "astra", "--count", "5"];
    assert_eq!(tacit(&[&offline[..], &["--store", &stores]].concat()).0, 0);
    let (code, text, err) = tacit(&["store", "list", &stores]);
    assert_eq!(code, 0, "{err}");
    for party in ["P0", "P1", "P2"] {
        assert!(
            text.contains(&format!("mat/{party}: material of {party}, one of P0, P1, P2, for astra")),
            "{text}"
        );
    }
    assert_eq!(text.matches("5 of 5 instances are unused").count(), 3, "{text}");
    let (_, text, _) = tacit(&["store", "list", &stores, "--json"]);
    let all: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = ["P0", "P1", "P2"].map(|party| (format!("{stores}/{party}"), party.to_owned()));
    let told = all.iter().map(|one| ["store", "party"].map(|key| one[key].as_str().unwrap().to_owned()));
    assert!(told.map(|[store, party]| (store, party)).eq(expected), "{text}");
    for one in &all {
        assert_eq!(one["epochs"][0]["standing"], "unused");
        assert!(one["anchor"].as_str().unwrap().contains("/mat/anchors/"));
    }
    // One alone, and by the way of its own folder.
    for name in ["mat/P1", "mat/P1/"] {
        let (code, text, _) = tacit(&["store", "list", &path(name)]);
        assert!(code == 0 && text.contains("5 of 5 instances are unused"), "{text}");
    }
    let (code, _, err) = tacit(&["store", "adopt", &path("mat/P1")]);
    assert!(code == 2 && err.contains("nothing is to be adopted"), "{err}");
    for nothing in ["mat/anchors", "nowhere"] {
        let (code, _, err) = tacit(&["store", "list", &path(nothing)]);
        assert!(code == 2 && err.contains("there is no store at"), "{err}");
    }
}

#[test]
fn the_cost_of_material_can_be_that_of_a_simulation() {
    let args = ["offline", "sum.py", "--protocol", "astra", "--count", "3", "--cost"];
    let (code, text, err) = tacit(&[&args[..], &["--simulate"]].concat());
    assert!(code == 0 && text == tacit(&args).1, "{err}");
    let (code, _, err) = tacit(&[&args[..], &["--simulate", "4"]].concat());
    assert!(code == 2 && err.contains("is for 3 parties, not for 4"), "{err}");
}

/// What any program draws from is listed by its kind, with what is unused of it.
#[test]
fn supplies_are_made_and_listed_by_their_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let stores = folder.path().join("mat").display().to_string();
    let offline = ["offline", "--simulate", "--protocol", "gmw", "--triples", "70", "--branches", "3"];
    let (code, text, err) = tacit(&[&offline[..], &["--store", &stores]].concat());
    assert_eq!(code, 0, "{err}");
    assert_eq!(text.matches("3 masks of 2 words for branches").count(), 2, "{text}");
    let (code, text, err) = tacit(&["store", "list", &stores]);
    assert_eq!(code, 0, "{err}");
    for kind in
        ["128 of 128 triples of 64 bits are unused", "3 of 3 masks of 2 words for branches are unused"]
    {
        assert_eq!(text.matches(kind).count(), 2, "{kind}: {text}");
    }
    let (_, text, _) = tacit(&["store", "list", &stores, "--json"]);
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let of = |kind: &str| {
        let mut epochs = first["epochs"].as_array().unwrap().iter();
        epochs.find(|epoch| epoch["kind"] == kind).map(|epoch| epoch["unused"].clone())
    };
    assert_eq!(of("triples of 64 bits"), Some(128.into()), "{text}");
    assert_eq!(of("masks of 2 words for branches"), Some(3.into()), "{text}");
    let (code, _, err) =
        tacit(&[&offline[..1], &["--simulate", "4"], &offline[2..], &["--store", &stores]].concat());
    assert!(code == 2 && err.contains("stocks no branches ahead of time"), "{err}");
}
