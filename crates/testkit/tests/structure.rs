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
