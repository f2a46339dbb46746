//! The house's rules, read from the workspace itself: what may depend on what, and where `unsafe` may be.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toml::Table;

/// Floors, from the ground up: a crate may depend on those below its own, and on nothing beside it.
const FLOORS: [&[&str]; 8] = [
    &["tacit-kernel", "tacit-net", "tacit-store"],
    &["tacit-session", "tacit-circuit"],
    &["tacit-program"],
    &["tacit-engine", "tacit-ot", "tacit-garble"],
    &["tacit-replicated", "tacit-astra", "tacit-mascot", "tacit-gmw"],
    &["tacit"],
    &["tacit-cli"],
    &["tacit-python"],
];

/// Stands beside the house: it may see everything below the protocols, and nothing that ships depends on it.
const TESTKIT: &str = "tacit-testkit";

/// Where `unsafe` may be: the kernel, and the glue between Python and Rust.
const UNSAFE: [&str; 2] = ["tacit-kernel", "tacit-python"];

struct Member {
    folder: PathBuf,
    manifest: Table,
}

impl Member {
    /// The workspace's own crates among the dependencies of a section.
    fn own(&self, section: &str) -> Vec<String> {
        let table = self.manifest.get(section).and_then(toml::Value::as_table);
        let names = table.into_iter().flat_map(Table::keys);
        names.filter(|name| name.as_str() == "tacit" || name.starts_with("tacit-")).cloned().collect()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("can't read {}: {error}", path.display()))
}

/// All members of the workspace, by the name of the crate.
fn members() -> BTreeMap<String, Member> {
    let workspace: Table =
        read(&root().join("Cargo.toml")).parse().expect("the workspace's manifest is TOML");
    let mut folders = Vec::new();
    for pattern in workspace["workspace"]["members"].as_array().expect("a list") {
        let pattern = pattern.as_str().expect("a text");
        match pattern.strip_suffix("/*") {
            Some(parent) => {
                let entries = fs::read_dir(root().join(parent)).expect("the folder is there");
                folders.extend(entries.map(|entry| entry.expect("the folder can be read").path()));
            }
            None => folders.push(root().join(pattern)),
        }
    }
    let member = |folder: PathBuf| {
        let manifest: Table = read(&folder.join("Cargo.toml")).parse().expect("a manifest is TOML");
        let name = manifest["package"]["name"].as_str().expect("a text").to_owned();
        (name, Member { folder, manifest })
    };
    folders.into_iter().filter(|folder| folder.join("Cargo.toml").exists()).map(member).collect()
}

fn floor(name: &str) -> usize {
    let found = FLOORS.iter().position(|floor| floor.contains(&name));
    found.unwrap_or_else(|| panic!("{name} has no floor yet: say in this test where it stands"))
}

#[test]
fn imports_run_downwards_only() {
    for (name, member) in members() {
        let height = if name == TESTKIT { floor("tacit-replicated") } else { floor(&name) };
        for section in ["dependencies", "build-dependencies"] {
            for below in member.own(section) {
                assert_ne!(below, TESTKIT, "{name} would ship test tools");
                assert!(floor(&below) < height, "{name} may not depend on {below}");
            }
        }
    }
}

#[test]
fn tests_see_no_more_than_they_have_to() {
    for (name, member) in members() {
        for other in member.own("dev-dependencies") {
            let below =
                other == TESTKIT || floor(&other) < floor(if name == TESTKIT { "tacit" } else { &name });
            assert!(below, "{name}'s tests may not depend on {other}");
        }
    }
}

/// The feature that plants mistakes in protocols, which only the test tools' own tests may ask for.
const PLANTED: &str = "planted";

#[test]
fn mistakes_are_planted_by_tests_only() {
    for (name, member) in members() {
        for section in ["dependencies", "build-dependencies", "dev-dependencies"] {
            let table = member.manifest.get(section).and_then(toml::Value::as_table);
            for (other, dependency) in table.into_iter().flatten() {
                let asks = dependency.to_string().contains(PLANTED);
                assert!(
                    !asks || section == "dev-dependencies" && name == TESTKIT,
                    "{name} plants mistakes in {other}"
                );
            }
        }
        let features = member.manifest.get("features").and_then(toml::Value::as_table);
        for (feature, others) in features.into_iter().flatten() {
            assert!(!others.to_string().contains(PLANTED), "{name}: {feature} turns on {PLANTED}");
        }
    }
}

#[test]
fn unsafe_code_is_in_its_rooms_only() {
    for (name, member) in members() {
        let inherits = member.manifest.get("lints").and_then(|lints| lints.get("workspace"));
        let inherits = inherits.and_then(toml::Value::as_bool) == Some(true);
        assert!(inherits || UNSAFE.contains(&name.as_str()), "{name} doesn't take the workspace's lints");
        if !UNSAFE.contains(&name.as_str()) {
            for file in sources(&member.folder) {
                let allowed = read(&file).lines().any(|line| line.contains("allow(unsafe_code"));
                assert!(!allowed, "{} lets unsafe code in", file.display());
            }
        }
    }
    let workspace: Table =
        read(&root().join("Cargo.toml")).parse().expect("the workspace's manifest is TOML");
    assert_eq!(workspace["workspace"]["lints"]["rust"]["unsafe_code"].as_str(), Some("forbid"));
}

/// What the security page says that a promise is attacked by is there.
#[test]
fn tests_that_the_security_page_names_are_there() {
    let page = read(&root().join("docs/security.md"));
    let all: String = rust_files(root().join("crates")).iter().map(|file| read(file)).collect();
    let cells = page.lines().filter_map(|line| line.strip_prefix("| ")?.rsplit("| ").next());
    let quoted = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let named: Vec<&str> =
        quoted.filter(|name| name.contains('_') && !name.contains(['/', '=', '.', '-'])).collect();
    assert!(named.len() >= 10, "the table of promises names its tests: {named:?}");
    for name in named {
        assert!(all.contains(&format!("fn {name}(")), "docs/security.md names `{name}`, which is no test");
    }
}

/// Rooms that are for any number of parties.
const ANY_NUMBER: [&str; 8] = [
    "tacit-kernel",
    "tacit-session",
    "tacit-net",
    "tacit-program",
    "tacit-engine",
    "tacit",
    "tacit-cli",
    "tacit-testkit",
];

/// What says three parties, or those beside one, in code.
const THREE: [&str; 10] = [
    "% 3",
    "PARTIES: usize",
    "; PARTIES]",
    "0..3)",
    "[0, 1, 2].map(|party",
    "[usize; 3]",
    "to_digit(10)",
    "next(me)",
    "prev(me)",
    "\"P0\", \"P1\", \"P2\"",
];

/// Lines that look so and mean something else (planes of bits, additive components, inputs of a program), or are a
/// benchmark of protocols for three: by file and sign, how many.
const NOT_PARTIES: [(&str, &str, usize); 10] = [
    ("crates/cli/src/bench/spec.rs", "\"P0\", \"P1\", \"P2\"", 1),
    ("crates/engine/src/bank.rs", "0..3)", 1),
    ("crates/kernel/src/gates.rs", "[usize; 3]", 1),
    ("crates/kernel/src/relation/avx512.rs", "% 3", 2),
    ("crates/program/src/lower/binary/sum.rs", "[usize; 3]", 1),
    ("crates/testkit/src/conformance/attacks/programs.rs", "0..3)", 2),
    ("crates/testkit/src/conformance/attacks/stage.rs", "% 3", 1),
    ("crates/testkit/src/conformance/attacks/stage.rs", "0..3)", 1),
    ("crates/testkit/src/conformance/catalogue.rs", "% 3", 1),
    ("crates/testkit/src/fuzz/seeds.rs", "\"P0\", \"P1\", \"P2\"", 1),
];

/// Steps that one protocol has belong to its own tests and code, not to the suite.
const STEPS_OF_PROTOCOLS: [&str; 8] =
    ["FAIR_", "PROOF_", "CHECK_", "GARBLED_", "TAGS", "SHOWN_DIGEST", "COMPUTED_DIGEST", "OUTPUT_KEY"];

#[test]
fn rooms_for_any_number_of_parties_do_not_count_to_three() {
    let mut found = Vec::new();
    for (name, member) in members() {
        if !ANY_NUMBER.contains(&name.as_str()) {
            continue;
        }
        for file in sources(&member.folder) {
            let place = place_of(&file);
            let code = shipped(&file);
            for sign in THREE {
                let lines = code.iter().filter(|line| line.contains(sign)).count();
                if lines > 0 {
                    found.push((place.clone(), sign, lines));
                }
            }
            if name == TESTKIT {
                for step in STEPS_OF_PROTOCOLS {
                    let named = code.iter().any(|line| line.contains(&format!("step::{step}")));
                    assert!(!named, "{place} knows a step of one protocol: step::{step}");
                }
            }
        }
    }
    found.sort_unstable();
    let found: Vec<(&str, &str, usize)> =
        found.iter().map(|(place, sign, lines)| (place.as_str(), *sign, *lines)).collect();
    assert_eq!(found, NOT_PARTIES, "count parties, or say here why this is none");
}

/// The most lines of a file.
const MOST_LINES: usize = 600;

/// Files that are longer, and how long at most. The list may only shrink.
const LONG: [(&str, usize); 7] = [
    ("crates/astra/src/verified.rs", 661),
    ("crates/cli/tests/processes.rs", 1024),
    ("crates/engine/src/bank.rs", 675),
    ("crates/net/src/mesh/tests.rs", 677),
    ("crates/net/tests/setup.rs", 605),
    ("crates/program/src/bytes.rs", 612),
    ("crates/program/src/plan.rs", 761),
];

#[test]
fn files_are_short() {
    let mut found = Vec::new();
    for member in members().values() {
        for file in rust_files(member.folder.clone()) {
            let lines = read(&file).lines().count();
            if lines > MOST_LINES {
                found.push((place_of(&file), lines));
            }
        }
    }
    found.sort();
    for (place, lines) in &found {
        let known = LONG.iter().find(|(known, _)| known == place);
        let most = known.map_or(MOST_LINES, |(_, most)| *most);
        assert!(*lines <= most, "{place} has {lines} lines, more than {most}: split it");
    }
    for (known, _) in LONG {
        assert!(found.iter().any(|(place, _)| place == known), "{known} is short by now: leave it out here");
    }
}

/// A file's path from the root.
fn place_of(file: &Path) -> String {
    let place = file.strip_prefix(root()).unwrap_or(file);
    place.components().filter(|part| part.as_os_str() != "..").collect::<PathBuf>().display().to_string()
}

/// The lines of a file's code: no comments, and nothing of its tests.
fn shipped(file: &Path) -> Vec<String> {
    let is_test = file.ends_with("tests.rs") || file.ends_with("testing.rs");
    let in_tests = file.parent().is_some_and(|folder| folder.ends_with("tests"));
    if is_test || in_tests {
        return Vec::new();
    }
    let text = read(file);
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    lines.map(str::to_owned).collect()
}

/// The Rust files of a crate, without its tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    rust_files(folder.join("src"))
}

/// All Rust files of a folder and of those in it.
fn rust_files(folder: PathBuf) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.expect("the folder can be read").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}
