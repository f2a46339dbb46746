//! The house's rules, read from the workspace itself: what may depend on what, and where `unsafe` may be.

mod imports;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use toml::Table;

use imports::{circle, imports};

/// Floors, from the ground up: a crate may depend on those below its own, and on nothing beside it.
const FLOORS: [&[&str]; 12] = [
    &["tacit-kernel", "tacit-store"],
    &["tacit-wire", "tacit-circuit"],
    &["tacit-net", "tacit-program"],
    &["tacit-client"],
    &["tacit-session", "tacit-client-js"],
    &["tacit-engine", "tacit-ot", "tacit-garble"],
    &["tacit-threeparty", "tacit-additive"],
    &["tacit-replicated", "tacit-astra", "tacit-mascot", "tacit-gmw"],
    &["tacit-spdz"],
    &["tacit"],
    &["tacit-cli", "tacit-kdc"],
    &["tacit-python"],
];

/// Stands beside the house: it may see everything below the protocols, and nothing that ships depends on it.
const TESTKIT: &str = "tacit-testkit";

/// Crates whose files are layered, too: each can be read after those that it imports.
const LAYERED: [&str; 12] = [
    "tacit-net",
    "tacit-program",
    "tacit-ot",
    "tacit-threeparty",
    "tacit-additive",
    "tacit-replicated",
    "tacit-astra",
    "tacit-mascot",
    "tacit-gmw",
    "tacit",
    "tacit-cli",
    "tacit-kdc",
];

/// Where `unsafe` may be: the kernel, and the glue between Python or JavaScript and Rust, which has names of functions alone.
const UNSAFE: [&str; 3] = ["tacit-kernel", "tacit-python", "tacit-client-js"];

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
fn files_import_one_another_in_no_circle() {
    let members = members();
    for name in LAYERED {
        let imports = imports(&members[name].folder.join("src"));
        if let Some(circle) = circle(&imports) {
            panic!("{name}: files import one another in a circle: {}", circle.join(" -> "));
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
            // That of a crate turns on those of the crates below it.
            let turns_on = feature != PLANTED && others.to_string().contains(PLANTED);
            assert!(!turns_on, "{name}: {feature} turns on {PLANTED}");
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
const ANY_NUMBER: [&str; 14] = [
    "tacit-kernel",
    "tacit-store",
    "tacit-wire",
    "tacit-session",
    "tacit-net",
    "tacit-program",
    "tacit-engine",
    "tacit-ot",
    "tacit-additive",
    "tacit-mascot",
    "tacit-spdz",
    "tacit",
    "tacit-cli",
    "tacit-testkit",
];

/// What says three parties, or those beside one, in code.
const THREE: [&str; 22] = [
    "% 3",
    "+ 1) % ",
    "+ 2) % ",
    "PARTIES: usize",
    "; PARTIES]",
    "::PARTIES",
    "{PARTIES",
    ", PARTIES}",
    "parties == 3",
    "parties() == 3",
    "parties.len() == 3",
    "[Mesh; 3]",
    "[Session; 3]",
    "0..3)",
    "[0, 1, 2].map(|party",
    "[usize; 3]",
    "to_digit(10)",
    "next(me)",
    "prev(me)",
    "give_key(",
    "take_key(",
    "\"P0\", \"P1\", \"P2\"",
];

/// Lines that look so and mean something else (planes of bits, additive components, inputs of a program, axes, wires of a
/// circuit, any other party), or are a benchmark of protocols for three: by file and sign, how many.
const NOT_PARTIES: [(&str, &str, usize); 15] = [
    ("crates/cli/src/bench/spec.rs", "\"P0\", \"P1\", \"P2\"", 1),
    ("crates/engine/src/bank.rs", "0..3)", 1),
    ("crates/kernel/src/gates.rs", "[usize; 3]", 1),
    ("crates/kernel/src/relation/avx512.rs", "% 3", 2),
    ("crates/program/src/lower/numbers/bits/sum.rs", "[usize; 3]", 1),
    ("crates/program/src/lower/numbers/three.rs", "0..3)", 1),
    ("crates/program/src/plan/components.rs", "% 3", 1),
    ("crates/testkit/src/conformance/attacks/programs.rs", "0..3)", 2),
    ("crates/testkit/src/conformance/attacks/stage.rs", "% 3", 1),
    ("crates/testkit/src/conformance/attacks/stage.rs", "0..3)", 1),
    ("crates/testkit/src/conformance/catalogue.rs", "% 3", 1),
    ("crates/testkit/src/conformance/circuits.rs", "+ 1) % ", 2),
    ("crates/testkit/src/conformance/known.rs", "+ 1) % ", 1),
    ("crates/testkit/src/conformance/views.rs", "+ 1) % ", 1),
    ("crates/testkit/src/fuzz/seeds.rs", "\"P0\", \"P1\", \"P2\"", 1),
];

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
        }
    }
    found.sort_unstable();
    let found: Vec<(&str, &str, usize)> =
        found.iter().map(|(place, sign, lines)| (place.as_str(), *sign, *lines)).collect();
    assert_eq!(found, NOT_PARTIES, "count parties, or say here why this is none");
}

/// Rooms beneath all protocols, and above them, that send messages of their own.
const SENDERS: [&str; 4] = ["tacit-wire", "tacit-session", "tacit-engine", "tacit"];

/// Protocols that share a room, with that room: a step that all families have is every protocol's, too.
const FAMILIES: [&[&str]; 2] = [
    &["tacit-threeparty", "tacit-replicated", "tacit-astra"],
    &["tacit-additive", "tacit-spdz", "tacit-mascot", "tacit-gmw"],
];

/// Steps that mark other steps, whatever a protocol means by it.
const MARKS: [&str; 2] = ["OFFLINE", "SECOND"];

/// A step that one protocol alone has is named by its crate.
#[test]
fn steps_of_every_protocol_are_those_of_every_protocol() {
    let members = members();
    let steps = members["tacit-wire"].folder.join("src/step.rs");
    let code = |names: &[&str]| -> Vec<String> {
        let files = names.iter().flat_map(|name| sources(&members[*name].folder));
        files.filter(|file| *file != steps).flat_map(|file| shipped(&file)).collect()
    };
    let (senders, families) = (code(&SENDERS), FAMILIES.map(code));
    let uses = |code: &[String], step: &str| {
        code.iter().any(|line| {
            line.match_indices(step).any(|(at, _)| {
                !line[at + step.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
            })
        })
    };
    let lines = shipped(&steps);
    let names = lines.iter().filter_map(|line| line.strip_prefix("pub const ")?.split_once(": u16 ="));
    let names: Vec<&str> = names.map(|(name, _)| name).collect();
    assert!(names.len() > 15, "steps are constants of {}", steps.display());
    for name in names.into_iter().filter(|name| !MARKS.contains(name)) {
        let step = format!("step::{name}");
        let is_used = uses(&senders, &step) || families.iter().all(|code| uses(code, &step));
        assert!(is_used, "{step} is a protocol's own: name it in that protocol's crate");
    }
}

/// Where operations are known by name: their table, the builder, and lowering.
const OPERATIONS: [&str; 3] =
    ["crates/program/src/operations/", "crates/program/src/builder/", "crates/program/src/lower/"];

#[test]
fn operations_are_known_by_name_in_few_rooms() {
    for name in ["Operation::Divide", "Operation::Remainder", "Operation::Root"] {
        let mut found = Vec::new();
        for (_, member) in members().into_iter().filter(|(name, _)| name != TESTKIT) {
            let files = sources(&member.folder).into_iter();
            let files = files.filter(|file| shipped(file).iter().any(|line| line.contains(name)));
            found.extend(files.map(|file| place_of(&file)));
        }
        assert!(found.len() >= OPERATIONS.len(), "{name}: {found:?}");
        for place in found {
            let is_known = OPERATIONS.iter().any(|room| place.starts_with(room));
            assert!(is_known, "{place} names `{name}`: what it asks for belongs in the table");
        }
    }
}

#[test]
fn what_a_browser_computes_with_does_no_io() {
    let members = members();
    for file in
        ["tacit-kernel", "tacit-wire", "tacit-client"].map(|name| sources(&members[name].folder)).concat()
    {
        for line in shipped(&file) {
            let is_io = ["std::fs", "std::io", "std::net", "std::process"].iter().any(|io| line.contains(io));
            assert!(!is_io, "{}: {line}", place_of(&file));
        }
    }
}

/// One that a circuit computes takes no more files than `CONTRIBUTING.md` walks through, and of lowering just those.
#[test]
fn an_operation_takes_as_few_files_as_contributors_are_told() {
    let page = read(&root().join("CONTRIBUTING.md"));
    let (_, walk) = page.split_once("## Adding an operation").expect("the walk is there");
    let (walk, _) = walk.split_once("Then a case in").expect("tests come after it");
    let quoted = walk.split('`').skip(1).step_by(2).filter_map(|place| place.strip_suffix(".rs"));
    let named: Vec<String> = quoted.map(|place| format!("crates/program/src/{place}.rs")).collect();
    assert_eq!(named.len(), 5, "{named:?}");
    let mut found = Vec::new();
    for file in sources(&members()["tacit-program"].folder) {
        if shipped(&file).iter().any(|line| line.contains("Operation::Root")) {
            found.push(place_of(&file));
        }
    }
    assert!((3..=named.len()).contains(&found.len()), "{found:?}");
    for place in found.iter().filter(|place| place.contains("/lower/")) {
        assert!(named.contains(place), "{place} names an operation, and `CONTRIBUTING.md` doesn't say so");
    }
}

/// The most lines of a file.
const MOST_LINES: usize = 600;

/// Says the lines of code of each crate, too, past the harness: without comments, empty lines and tests.
#[test]
fn files_are_short() {
    let (mut long, mut all) = (Vec::new(), 0);
    let mut told = std::io::stdout().lock();
    let mut check = |file: &Path| {
        let lines = read(file).lines().count();
        long.extend((lines > MOST_LINES).then(|| format!("{}: {lines}", place_of(file))));
    };
    for (name, member) in members() {
        let code: usize = sources(&member.folder).iter().map(|file| shipped(file).len()).sum();
        writeln!(told, "{name}: {code} lines of code").expect("there is a standard output");
        all += code;
        for file in rust_files(member.folder) {
            check(&file);
        }
    }
    writeln!(told, "all crates: {all} lines of code").expect("there is a standard output");
    for folder in ["python", "examples", ".ci"] {
        for file in files_of(root().join(folder), "py") {
            check(&file);
        }
    }
    assert!(long.is_empty(), "files of more than {MOST_LINES} lines: {long:?}");
}

/// The glossary and the page on the structure say where things are: there they are.
#[test]
fn what_pages_point_to_is_there() {
    for page in ["glossary.md", "architecture.md", "security.md"] {
        let text = read(&root().join("docs").join(page));
        let places = text.split('`').skip(1).step_by(2).filter(|place| place.starts_with("crates/"));
        let places: Vec<&str> = places.filter(|place| !place.contains([' ', '*'])).collect();
        assert!(page == "security.md" || places.len() >= 20, "{page} names {} places", places.len());
        for place in places {
            assert!(root().join(place).exists(), "docs/{page} points to {place}, which isn't there");
        }
    }
}

/// The most characters of a paragraph, without the addresses that it links to.
const MOST_CHARACTERS: usize = 500;

#[test]
fn paragraphs_are_short() {
    let mut pages = files_of(root().join("docs"), "md");
    let beside = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
    pages.extend(beside.map(|name| root().join(name)));
    let pages = pages.into_iter().map(|page| (place_of(&page), read(&page)));
    let rust = rust_files(root().join("crates")).into_iter();
    let rust = rust.map(|file| (place_of(&file), documentation(&read(&file))));
    let python = files_of(root().join("python/tacit"), "py").into_iter();
    let python = python.map(|file| (place_of(&file), docstrings(&read(&file))));
    for (place, text) in pages.chain(rust).chain(python) {
        let long: Vec<String> = paragraphs(&text)
            .into_iter()
            .map(|text| without_addresses(&text))
            .filter(|text| text.chars().count() > MOST_CHARACTERS)
            .map(|text| text.chars().take(60).collect())
            .collect();
        assert!(
            long.is_empty(),
            "{place}: paragraphs of more than {MOST_CHARACTERS} characters, which begin so: {long:#?}"
        );
    }
}

#[test]
fn paragraphs_end_where_a_reader_pauses() {
    let page = "# Title\n\nOne\nand [on](https://far/away).\n\n- First\n  goes on\n- second\n> - third\n\n```\ncode\n```\n| a | b |\n1. Last";
    let found: Vec<String> = paragraphs(page).iter().map(|text| without_addresses(text)).collect();
    assert_eq!(found, ["One and [on].", "- First goes on", "- second", "- third", "1. Last"]);
}

#[test]
fn each_argument_that_a_docstring_explains_is_an_item() {
    let code = "def f(x):\n    \"\"\"Adds.\n\n    Args:\n        x: One\n            number.\n        y: Two.\n    \"\"\"\n    z: int\n\"\"\"Ends.\"\"\"";
    assert_eq!(paragraphs(&docstrings(code)), ["Adds.", "- Args:", "- x: One number.", "- y: Two.", "Ends."]);
}

/// What the documentation in a file of Rust says.
fn documentation(code: &str) -> String {
    let lines = code.lines().map(|line| {
        let line = line.trim_start();
        line.strip_prefix("//!").or_else(|| line.strip_prefix("///")).unwrap_or_default().trim_start()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What the docstrings in a file of Python say, each argument that they explain as an item of a list.
fn docstrings(code: &str) -> String {
    let texts = code.split("\"\"\"").skip(1).step_by(2);
    let lines = texts.flat_map(|text| text.lines().chain([""])).map(|line| {
        let line = line.trim();
        let is_named = line.split(' ').next().is_some_and(|word| word.ends_with(':'));
        let mark = if is_named { "- " } else { "" };
        format!("{mark}{line}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The paragraphs of a page, and the items of its lists: no headings, tables or code.
fn paragraphs(page: &str) -> Vec<String> {
    let (mut found, mut open, mut is_code) = (Vec::<String>::new(), false, false);
    for line in page.lines() {
        let line = line.trim_start_matches("> ").trim_matches(['>', ' ']);
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || line.is_empty() || line.starts_with(['|', '#']) {
            open = false;
            continue;
        }
        let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_item = ["- ", "* "].iter().any(|mark| line.starts_with(mark))
            || number.len() < line.len() && number.starts_with(". ");
        match found.last_mut().filter(|_| open && !is_item) {
            Some(last) => *last = format!("{last} {line}"),
            None => found.push(line.to_owned()),
        }
        open = true;
    }
    found
}

/// A text without the addresses that it links to.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (_, rest) = part.split_once(')').unwrap_or(("", part));
        format!("{text}]{rest}")
    })
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
    let lines = without_tests(&text).lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.map(str::to_owned).collect()
}

/// The Rust files of a crate, without its tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    rust_files(folder.join("src"))
}

/// All Rust files of a folder and of those in it.
fn rust_files(folder: PathBuf) -> Vec<PathBuf> {
    files_of(folder, "rs")
}

/// All files of a folder and of those in it that end so.
fn files_of(folder: PathBuf, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.map(|entry| entry.expect("the folder can be read").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == ending) {
                found.push(path);
            }
        }
    }
    found
}

/// A file's code before its tests.
fn without_tests(code: &str) -> &str {
    code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default()
}
