//! Tables that a plan reveals: whether there is more than a bound that its program declares, and how they are read.

use crate::context::Context;
use crate::failure::Failure;
use crate::front::{Front, Told};
use crate::output::private;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::path::Path;
use tacit::SavedPlan;
use tacit::program::{Data, Value};

/// A table that a plan reveals.
pub(crate) struct Revealed {
    /// The keys that lead to it in what the plan's function returns; empty if it is the whole.
    name: String,
    /// What the plan says of it.
    structure: String,
    /// The outputs that it is made of, by part.
    parts: BTreeMap<String, Vec<usize>>,
    /// What has happened if the output `fault N` is true.
    faults: Vec<String>,
}

/// What is read of it here.
#[derive(Deserialize)]
struct Structure {
    table: Description,
    dict: Vec<(String, Part)>,
}

#[derive(Deserialize)]
struct Description {
    faults: Vec<String>,
}

#[derive(Deserialize)]
struct Part {
    outputs: Vec<usize>,
}

/// The tables that a plan reveals.
pub(crate) fn revealed(saved: &SavedPlan) -> Result<Vec<Revealed>, Failure> {
    let mut found = Vec::new();
    if let Ok(structure) = serde_json::from_str(saved.result()) {
        search(&structure, &saved.labels(), &mut found)?;
    }
    Ok(found)
}

fn search(structure: &Json, labels: &[Option<String>], found: &mut Vec<Revealed>) -> Result<(), Failure> {
    if !structure["table"].is_null() {
        let damaged = |why: &str| Failure::input(format!("the plan's tables are damaged: {why}"));
        let known = Structure::deserialize(structure).map_err(|error| damaged(&error.to_string()))?;
        found.push(Revealed::of(known, structure.to_string(), labels).ok_or_else(|| damaged("no rows"))?);
        return Ok(());
    }
    let items = ["tuple", "list"].iter().filter_map(|kind| structure[kind].as_array()).flatten();
    let values = structure["dict"].as_array().into_iter().flatten().map(|pair| &pair[1]);
    items.chain(values).try_for_each(|item| search(item, labels, found))
}

/// The part that says which rows count.
const ROWS: &str = "rows";

impl Revealed {
    fn of(known: Structure, structure: String, labels: &[Option<String>]) -> Option<Self> {
        let parts: BTreeMap<String, Vec<usize>> =
            known.dict.into_iter().map(|(name, part)| (name, part.outputs)).collect();
        let faults = known.table.faults;
        if !(0..faults.len()).all(|place| parts.contains_key(&fault(place))) {
            return None;
        }
        let rows = *parts.get(ROWS)?.first()?;
        let label = labels.get(rows)?.as_deref()?.strip_suffix(ROWS)?;
        let name = label.strip_suffix('.').unwrap_or(label).to_owned();
        Some(Self { name, structure, parts, faults })
    }

    /// What it is called.
    fn title(&self) -> String {
        // Keys in a plan from elsewhere may hold anything.
        if self.name.is_empty() { "table".to_owned() } else { self.name.escape_debug().to_string() }
    }

    /// Whether an output is one of its parts.
    fn has(&self, output: usize) -> bool {
        self.parts.values().flatten().any(|&part| part == output)
    }

    /// An output that says which rows count, if it is learnt here.
    fn learnt(&self, outputs: &[Option<Value>]) -> Option<usize> {
        self.parts[ROWS].iter().copied().find(|&output| outputs.get(output).is_some_and(Option::is_some))
    }

    /// Refuses a result of which there is more than a bound of the program's: its rows are left out then.
    pub(crate) fn check(&self, outputs: &[Option<Value>]) -> Result<(), Failure> {
        let is_true = |&output: &usize| {
            let value = outputs.get(output).and_then(Option::as_ref);
            value.is_some_and(|value| matches!(&value.data, Data::Bool(bits) if bits.contains(&true)))
        };
        let wrong = |place: usize| self.parts[&fault(place)].iter().any(is_true);
        let wrong: Vec<&str> = self
            .faults
            .iter()
            .enumerate()
            .filter(|&(place, _)| wrong(place))
            .map(|(_, why)| &**why)
            .collect();
        if wrong.is_empty() {
            return Ok(());
        }
        let why = wrong.join("; ").escape_debug().to_string();
        Err(Failure::wrong(format!(
            "{} has no result, because {why}: raise the bound and run again; no row was shown",
            if self.name.is_empty() { "the table".to_owned() } else { format!("the table {}", self.title()) }
        )))
    }

    /// What people and machines read of it.
    fn told(&self, front: &dyn Front, outputs: &[Option<Value>]) -> Result<Option<Told>, Failure> {
        front.tell_table(&self.structure, outputs, None).map_err(Failure::aborted)
    }
}

fn fault(place: usize) -> String {
    format!("fault {place}")
}

/// Refuses tables that can't be told, or not be written to a file, before anything is sent.
pub(crate) fn check(
    front: &dyn Front,
    saved: &SavedPlan,
    tables: &[Revealed],
    file: Option<&Path>,
) -> Result<(), Failure> {
    if let Some(file) = file.filter(|_| tables.len() != 1) {
        return Err(Failure::usage(format!(
            "--output {}: such a file takes one table, and the program reveals {}; name a folder",
            file.display(),
            tables.len()
        )));
    }
    let nothing = vec![None; saved.program.outputs().len()];
    for table in tables {
        front.tell_table(&table.structure, &nothing, file).map_err(Failure::input)?;
    }
    Ok(())
}

/// Writes the table that a plan reveals.
pub(crate) fn write(
    front: &dyn Front,
    tables: &[Revealed],
    outputs: &[Option<Value>],
    file: &Path,
) -> Result<(), Failure> {
    let learnt = tables.iter().filter(|table| table.learnt(outputs).is_some());
    for table in learnt {
        // Whoever writes it goes on with the file that is there.
        private()
            .truncate(false)
            .open(file)
            .map_err(|error| Failure::aborted(format!("{} can't be written: {error}", file.display())))?;
        front.tell_table(&table.structure, outputs, Some(file)).map_err(Failure::aborted)?;
    }
    Ok(())
}

/// The tables that are learnt here and can be read, for people and machines, and which outputs that leaves.
pub(crate) struct Readable {
    tables: Vec<(String, usize, Told)>,
    rest: Vec<bool>,
}

impl Readable {
    pub(crate) fn of(
        front: &dyn Front,
        tables: &[Revealed],
        outputs: &[Option<Value>],
    ) -> Result<Self, Failure> {
        let mut readable = Self { tables: Vec::new(), rest: vec![true; outputs.len()] };
        for table in tables {
            let Some(learnt) = table.learnt(outputs) else { continue };
            if let Some(told) = table.told(front, outputs)? {
                readable.tables.push((table.title(), learnt, told));
                for (output, rest) in readable.rest.iter_mut().enumerate() {
                    *rest &= !table.has(output);
                }
            }
        }
        Ok(readable)
    }

    /// Whether an output is still to be told by itself.
    pub(crate) fn leaves(&self, output: usize) -> bool {
        self.rest.get(output).copied().unwrap_or(true)
    }

    /// Prints them; `to` says who learns an output.
    pub(crate) fn print<'a>(
        &self,
        context: &mut Context<'_>,
        to: impl Fn(usize) -> &'a str,
    ) -> Result<(), Failure> {
        for (name, output, told) in &self.tables {
            context.line(&format!("{name}, to {}:\n{}", to(*output), told.text))?;
        }
        Ok(())
    }

    /// The same for machines.
    pub(crate) fn to_json<'a>(&self, to: impl Fn(usize) -> &'a str) -> Json {
        let tables = self
            .tables
            .iter()
            .map(|(name, output, told)| json!({"name": name, "to": to(*output), "table": told.json}));
        tables.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::Native;
    use std::os::unix::fs::PermissionsExt;
    use tacit::program::{Builder, Dtype, Range, Recipient};

    fn saved(result: &str) -> SavedPlan {
        let mut build = Builder::new();
        for name in ["a", "b"] {
            let input = build.input("alice", name, Dtype::Int, &[], Range::new(0, 1)).unwrap();
            build.reveal(input, Recipient::All).unwrap();
        }
        SavedPlan::new(build.finish().unwrap(), "plan").with_result(result).unwrap()
    }

    /// Whatever that front makes of it.
    #[test]
    fn a_file_for_a_table_is_its_owners_alone() {
        let table = r#"{"table": {"columns": [], "faults": []}, "dict": [["rows", {"outputs": [0]}]]}"#;
        let (found, folder) = (revealed(&saved(table)).unwrap(), tempfile::tempdir().unwrap());
        let file = folder.path().join("result.csv");
        let bit = Some(Value { shape: vec![], data: Data::Bool(vec![true]) });
        write(&Native, &found, &[bit.clone(), bit], &file).unwrap_err();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_bound_that_is_broken_is_an_error() {
        let table = r#"{"table": {"columns": [], "faults": ["more"]},
            "dict": [["rows", {"outputs": [0]}], ["fault 0", {"outputs": [1]}]]}"#
            .replace('\n', "");
        for (result, name) in [
            (table.clone(), "the table"),
            (format!(r#"{{"list": [{{"dict": [["x", {table}]]}}]}}"#), "the table [0].x"),
        ] {
            let found = revealed(&saved(&result)).unwrap();
            let [table] = &found[..] else { panic!("{} tables", found.len()) };
            let bit = |bit| Some(Value { shape: vec![], data: Data::Bool(vec![bit]) });
            assert_eq!(table.check(&[bit(true), bit(false)]), Ok(()));
            assert_eq!(table.check(&[None, None]), Ok(()));
            let failure = table.check(&[bit(true), bit(true)]).unwrap_err();
            assert_eq!(failure.exit_code(), 1);
            assert!(failure.message().starts_with(&format!("{name} has no result, because more: raise")));
        }
        // Without the output that says so.
        let damaged = table.replace("fault 0", "fault 1");
        assert_eq!(revealed(&saved(&damaged)).err().map(|failure| failure.exit_code()), Some(2));
        assert!(revealed(&saved(r#"{"outputs": [0]}"#)).unwrap().is_empty());
    }
}
