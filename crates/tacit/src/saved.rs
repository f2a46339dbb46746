//! Plans in files: what Python's `plan.save` writes, and what every command reads.

use serde::Deserialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use tacit_program::{DecodeError, Program};

/// What the first line of a file says of its form.
const FORMAT: &str = "tacit plan 1";

/// A program as a file keeps it, for every party to run the same: a line of JSON, and behind it the program's canonical
/// bytes. Nothing in it is secret.
///
/// # Security
/// Whoever runs a plan agrees to all that it reveals. Look at the program's inputs and outputs before you run a plan
/// that somebody else made.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedPlan {
    /// What is run.
    pub program: Program,
    /// What its author calls it.
    pub name: String,
    result: String,
}

/// Why bytes are no saved plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SavedPlanError {
    /// The first line isn't that of a plan, or is another version's.
    #[error("this is no plan that this version can read; make it anew with plan.save(...)")]
    Head,
    /// The program behind it is damaged.
    #[error(transparent)]
    Program(#[from] DecodeError),
    /// What a front end makes of the outputs isn't one line of JSON.
    #[error("the structure of the results is not one line of JSON")]
    Result,
}

/// The first line.
#[derive(Deserialize)]
struct Head<'a> {
    format: String,
    name: String,
    #[serde(borrow)]
    result: &'a RawValue,
}

impl SavedPlan {
    /// A program, under a name for people. A front end gives its outputs as a tuple.
    pub fn new(program: Program, name: &str) -> Self {
        let outputs = (0..program.outputs().len()).map(|output| format!(r#"{{"outputs":[{output}]}}"#));
        let result = format!(r#"{{"tuple":[{}]}}"#, outputs.collect::<Vec<_>>().join(","));
        Self { program, name: name.to_owned(), result }
    }

    /// The same, of which a front end makes something else than a tuple. Nothing here looks into that.
    ///
    /// # Errors
    /// If it isn't one line of JSON.
    pub fn with_result(self, json: &str) -> Result<Self, SavedPlanError> {
        let is_json = serde_json::from_str::<&RawValue>(json).is_ok();
        if !is_json || json.contains('\n') {
            return Err(SavedPlanError::Result);
        }
        Ok(Self { result: json.to_owned(), ..self })
    }

    /// What a front end makes of the outputs, as JSON.
    pub fn result(&self) -> &str {
        &self.result
    }

    /// What a front end calls each output within what it makes of them: `mean` of `{"mean": ..., "highest": ...}`, `parts[0].sum`;
    /// `None` where no key of a dict leads to it. Keys may hold anything.
    pub fn labels(&self) -> Vec<Option<String>> {
        let mut labels = vec![None; self.program.outputs().len()];
        if let Ok(structure) = serde_json::from_str(&self.result) {
            label(&structure, "", false, &mut labels);
        }
        labels
    }

    /// A file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (format, name) = (serde_json::Value::from(FORMAT), serde_json::Value::from(self.name.as_str()));
        let head = format!(r#"{{"format": {format}, "name": {name}, "result": {}}}"#, self.result);
        [head.as_bytes(), b"\n", &self.program.to_bytes()].concat()
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    /// [`SavedPlanError`], whatever the bytes; none makes it allocate more than a few times their length.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SavedPlanError> {
        let end = bytes.iter().position(|&byte| byte == b'\n').ok_or(SavedPlanError::Head)?;
        let head: Head<'_> = serde_json::from_slice(&bytes[..end]).map_err(|_| SavedPlanError::Head)?;
        if head.format != FORMAT {
            return Err(SavedPlanError::Head);
        }
        let program = Program::from_bytes(&bytes[end + 1..])?;
        Ok(Self { program, name: head.name, result: head.result.get().to_owned() })
    }
}

/// Labels the outputs in a structure at a path; `named` if a key has led there.
fn label(structure: &Json, path: &str, named: bool, labels: &mut [Option<String>]) {
    if let Some(outputs) = structure["outputs"].as_array() {
        for number in outputs.iter().filter_map(Json::as_u64) {
            if let Some(label) = labels.get_mut(number as usize).filter(|_| named) {
                *label = Some(path.to_owned());
            }
        }
    }
    for items in ["tuple", "list"].iter().filter_map(|kind| structure[kind].as_array()) {
        for (place, item) in items.iter().enumerate() {
            label(item, &format!("{path}[{place}]"), named, labels);
        }
    }
    for pair in structure["dict"].as_array().into_iter().flatten() {
        let key = pair[0].as_str().map_or_else(|| pair[0].to_string(), ToOwned::to_owned);
        let dot = if path.is_empty() { "" } else { "." };
        label(&pair[1], &format!("{path}{dot}{key}"), true, labels);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::{Builder, Dtype, Range, Recipient};

    fn saved() -> SavedPlan {
        let mut build = Builder::new();
        let a = build.input("alice", "a", Dtype::Int, &[2], Range::new(0, 9)).unwrap();
        build.reveal(a, Recipient::All).unwrap();
        SavedPlan::new(build.finish().unwrap(), "a \"plan\"\nof two lines")
    }

    #[test]
    fn a_plan_is_read_as_it_was_written() {
        let saved = saved();
        assert_eq!(SavedPlan::from_bytes(&saved.to_bytes()).unwrap(), saved);
        assert_eq!(saved.result(), r#"{"tuple":[{"outputs":[0]}]}"#);
        // Numbers that only Python holds stay as they are.
        let result = r#"{"list": [{"value": 1267650600228229401496703205376}, {"outputs": [0]}]}"#;
        let saved = saved.with_result(result).unwrap();
        assert_eq!(SavedPlan::from_bytes(&saved.to_bytes()).unwrap().result(), result);
    }

    #[test]
    fn an_output_is_called_by_the_keys_that_lead_to_it() {
        let labels = |result: &str| saved().with_result(result).unwrap().labels();
        assert_eq!(labels(r#"{"dict": [["mean", {"outputs": [0, 7]}]]}"#), [Some("mean".to_owned())]);
        let nested = r#"{"tuple": [{"value": 3}, {"dict": [[7, {"list": [{"outputs": [0]}]}]]}]}"#;
        assert_eq!(labels(nested), [Some("[1].7[0]".to_owned())]);
        for without in
            [r#"{"tuple": [{"outputs": [0]}]}"#, r#"{"dict": [[]]}"#, "3", r#"{"outputs": ["x", -1]}"#]
        {
            assert_eq!(labels(without), [None]);
        }
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        let good = saved().to_bytes();
        let body = saved().program.to_bytes();
        let behind = |head: &[u8]| [head, b"\n", &body].concat();
        let other = br#"{"format": "tacit plan 2", "name": "", "result": {}}"#;
        let nested = vec![b'['; 100_000];
        let heads = [&b""[..], b"[]", b"{}", br#"{"format": "tacit plan 1"}"#, other, &nested, b"\xff"];
        for head in heads {
            assert_eq!(SavedPlan::from_bytes(&behind(head)), Err(SavedPlanError::Head));
        }
        assert_eq!(SavedPlan::from_bytes(&body[..5]), Err(SavedPlanError::Head));
        for damaged in [&good[..good.len() - 1], &[&good[..], b"x"].concat()] {
            assert!(matches!(SavedPlan::from_bytes(damaged), Err(SavedPlanError::Program(_))));
        }
        for result in ["", "{", "[1,\n2]", "NaN"] {
            assert_eq!(saved().with_result(result), Err(SavedPlanError::Result));
        }
    }
}
