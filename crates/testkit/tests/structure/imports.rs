//! Which files of a crate import which, and whether any do so in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{read, rust_files, without_tests};

/// What each module of a crate imports of the others, by paths from the crate's root; without tests.
pub(super) fn imports(src: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let module = |file: &Path| {
        let path = file.strip_prefix(src).expect("a file of the crate").with_extension("");
        let parts: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        parts.into_iter().filter(|part| part != "mod" && part != "lib").collect::<Vec<_>>().join("::")
    };
    let files = rust_files(src.to_owned()).into_iter().filter(|file| !file.ends_with("tests.rs"));
    let files: BTreeMap<String, String> = files.map(|file| (module(&file), read(&file))).collect();
    let modules = files.keys().cloned().collect();
    let mut imports = BTreeMap::new();
    for (name, code) in &files {
        imports.insert(name.clone(), imports_of(name, without_tests(code), &modules));
    }
    imports
}

/// What a module's code names of other modules: by `crate::`, by `super::`, or as one of its own.
fn imports_of(module: &str, code: &str, modules: &BTreeSet<String>) -> BTreeSet<String> {
    let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let own: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
    let mut named = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        paths(&[], &code[at + "crate::".len()..], &mut named);
    }
    for (at, _) in code.match_indices("super::").filter(|(at, _)| !code[..*at].ends_with("super::")) {
        let rest = code[at..].trim_start_matches("super::");
        let up = (code[at..].len() - rest.len()) / "super::".len();
        paths(&own[..own.len().saturating_sub(up)], rest, &mut named);
    }
    for (at, _) in code.match_indices("use ") {
        paths(&own, &code[at + "use ".len()..], &mut named);
    }
    let longest = |path: &Vec<String>| {
        let prefixes = (0..=path.len()).rev().map(|end| path[..end].join("::"));
        prefixes.into_iter().find(|prefix| modules.contains(prefix)).unwrap_or_default()
    };
    named.iter().map(longest).filter(|found| found != module).collect()
}

/// The paths that begin here, those of a group each by itself. Gives what stands behind them.
fn paths<'a>(before: &[&str], code: &'a str, found: &mut Vec<Vec<String>>) -> &'a str {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let code = code.trim_start();
    let (name, rest) = code.split_at(code.find(|c| !is_name(c)).unwrap_or(code.len()));
    let mut path = before.to_vec();
    path.extend(Some(name).filter(|name| !name.is_empty() && *name != "self"));
    if let Some(rest) = rest.strip_prefix("::") {
        return paths(&path, rest, found);
    }
    let Some(mut rest) = rest.strip_prefix('{') else {
        found.push(path.into_iter().map(str::to_owned).collect());
        return rest;
    };
    loop {
        rest = paths(&path, rest, found).trim_start_matches(|c| c == ',' || char::is_whitespace(c));
        match rest.strip_prefix('}') {
            Some(rest) => return rest,
            None if rest.is_empty() => return rest,
            // A renamed import, or whatever else stands in no group.
            None if !rest.starts_with(|c| is_name(c) || c == '{') => {
                rest = rest.get(1..).unwrap_or_default();
            }
            None => {}
        }
    }
}

/// Modules that import one another in a circle, if there are any.
pub(super) fn circle(imports: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    let mut left: BTreeMap<&String, &BTreeSet<String>> = imports.iter().collect();
    // Whatever imports nothing that is left is in no circle.
    while let Some(done) = left
        .iter()
        .find(|(name, below)| below.iter().all(|other| other == **name || !left.contains_key(other)))
        .map(|(name, _)| *name)
    {
        left.remove(done);
    }
    let mut walked = vec![(*left.keys().next()?).clone()];
    loop {
        let last = &walked[walked.len() - 1];
        let next = left[last].iter().find(|other| *other != last && left.contains_key(other))?.clone();
        let seen = walked.iter().position(|name| *name == next);
        walked.push(next);
        if let Some(first) = seen {
            return Some(walked.split_off(first));
        }
    }
}

#[test]
fn a_circle_is_found_and_a_ladder_is_none() {
    let graph = |edges: &[(&str, &[&str])]| -> BTreeMap<String, BTreeSet<String>> {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        edges.iter().map(|(from, to)| ((*from).to_owned(), own(to))).collect()
    };
    assert_eq!(circle(&graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])), None);
    let found = circle(&graph(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]));
    assert_eq!(found, Some(vec!["b".to_owned(), "c".to_owned(), "b".to_owned()]));
    let modules = ["", "a", "a::b", "c"].map(str::to_owned).into();
    let code = "use crate::{c::X, a::b::{self, Y}};\nuse super::z;\nfn f() { crate::c::g() }\n// crate::no\nuse b::W;";
    let expected = ["", "a::b", "c"].map(str::to_owned).into();
    assert_eq!(imports_of("a", code, &modules), expected);
}
