//! From the command line to a program and the values of its inputs.

use crate::args::{ProgramArgs, is_plan};
use crate::context::Context;
use crate::failure::Failure;
use crate::front::Front;
use crate::npy;
use crate::tables;
use std::path::{Path, PathBuf};
use tacit::SavedPlan;
use tacit::program::{InputType, Program, Value};

/// Loads a program: a source file or a saved plan.
pub(crate) fn load(context: &Context<'_>, args: &ProgramArgs) -> Result<Program, Failure> {
    Ok(load_saved(context, args)?.program)
}

/// The same, as a file would keep it.
pub(crate) fn load_saved(context: &Context<'_>, args: &ProgramArgs) -> Result<SavedPlan, Failure> {
    if is_plan(&args.path) {
        return read(&args.path);
    }
    context.front.load_source(&args.path, &args.args).map_err(Failure::input)
}

/// A saved plan.
fn read(path: &Path) -> Result<SavedPlan, Failure> {
    let file = path.display();
    let bytes = read_file(path, "can't be read")?;
    SavedPlan::from_bytes(&bytes).map_err(|error| Failure::input(format!("{file}: {error}")))
}

/// A file's bytes; `wrong` says what is wrong if there is none.
pub(crate) fn read_file(path: &Path, wrong: &str) -> Result<Vec<u8>, Failure> {
    let file = path.display();
    let can_not = |error: std::io::Error| Failure::input(format!("{file} {wrong}: {error}"));
    // Devices and pipes may have no end.
    if !std::fs::metadata(path).map_err(can_not)?.is_file() {
        return Err(Failure::input(format!("{file} is no file")));
    }
    std::fs::read(path).map_err(can_not)
}

/// Which input each file is for, and its values; in the order of the program's inputs, `None` for those that no
/// file was given for.
fn values(declared: &[InputType], given: &[(String, PathBuf)]) -> Result<Vec<Option<Value>>, Failure> {
    let mut values = vec![None; declared.len()];
    for (name, path) in given {
        let input = find(declared, name)?;
        let slot = &mut values[input];
        if slot.is_some() {
            return Err(Failure::usage(format!("input {name:?} is given twice")));
        }
        let value = npy::read(path, &declared[input].shape)
            .map_err(|error| Failure::input(format!("input {name:?}: {}: {error}", path.display())))?;
        *slot = Some(value);
    }
    Ok(values)
}

/// The same for a plan that may have tables, which are given by files of their own kinds.
pub(crate) fn given(
    front: &dyn Front,
    saved: &SavedPlan,
    given: &[(String, PathBuf)],
) -> Result<Vec<Option<Value>>, Failure> {
    let declared = saved.program.given();
    let (tables, arrays): (Vec<_>, Vec<_>) = given.iter().cloned().partition(|(_, path)| is_table(path));
    let mut values = values(&declared, &arrays)?;
    for (name, path) in tables {
        for (input, value) in front.read_table(saved, &name, &path).map_err(Failure::input)? {
            let slot = &mut values[find(&declared, &input)?];
            if slot.is_some() {
                return Err(Failure::usage(format!("input {input:?} is given twice")));
            }
            *slot = Some(value);
        }
    }
    tables::check(saved, &declared, &values)?;
    Ok(values)
}

/// Whether a file holds a table, by its name.
pub(crate) fn is_table(path: &Path) -> bool {
    let suffix = path.extension().and_then(|suffix| suffix.to_str()).map(str::to_ascii_lowercase);
    matches!(suffix.as_deref(), Some("csv" | "parquet" | "arrow" | "feather"))
}

/// The input of a name, or of an owner and a name where several owners have inputs of one name.
fn find(declared: &[InputType], name: &str) -> Result<usize, Failure> {
    let full = |input: &InputType| format!("{}.{}", input.owner, input.name);
    let matches: Vec<usize> = (0..declared.len())
        .filter(|&input| declared[input].name == name || full(&declared[input]) == name)
        .collect();
    match *matches {
        [one] => Ok(one),
        [] => {
            let known: Vec<String> = declared.iter().map(full).collect();
            Err(Failure::usage(format!(
                "the program has no input {name:?}; its inputs are: {}",
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            )))
        }
        _ => {
            let known: Vec<String> = matches.iter().map(|&input| full(&declared[input])).collect();
            Err(Failure::usage(format!(
                "input {name:?} could be any of {}; name its owner too",
                known.join(", ")
            )))
        }
    }
}

/// Every value, or an error that names the inputs without one.
pub(crate) fn all(declared: &[InputType], values: Vec<Option<Value>>) -> Result<Vec<Value>, Failure> {
    let missing: Vec<String> = declared
        .iter()
        .zip(&values)
        .filter(|(_, value)| value.is_none())
        .map(|(input, _)| {
            format!(
                "--input {}={}.npy ({} {:?} of {})",
                input.name, input.name, input.kind, input.shape, input.owner
            )
        })
        .collect();
    if missing.is_empty() {
        Ok(values.into_iter().flatten().collect())
    } else {
        Err(Failure::usage(format!("inputs are missing: {}", missing.join(", "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::tacit;
    use tacit::program::{Dtype, Range};

    fn input(owner: &str, name: &str) -> InputType {
        let range = Range::new(0, 1).unwrap();
        InputType { owner: owner.into(), name: name.into(), kind: Dtype::Int, shape: vec![2], range }
    }

    #[test]
    fn an_input_is_found_by_its_name_or_its_owner_too() {
        let declared = [input("alice", "x"), input("bob", "x"), input("bob", "y")];
        assert_eq!(find(&declared, "y"), Ok(2));
        assert_eq!(find(&declared, "bob.x"), Ok(1));
        assert!(find(&declared, "x").unwrap_err().message().contains("alice.x, bob.x"));
        assert!(find(&declared, "z").unwrap_err().message().contains("bob.y"));
        assert!(find(&[], "z").unwrap_err().message().contains("none"));
    }

    #[test]
    fn tables_are_given_by_files_of_their_own_kinds() {
        let run = ["run", "sum.py", "--simulate", "--input"];
        let given = |more: &[&str]| tacit(&[&run[..], more].concat());
        let (code, told, _) = given(&["sums=t.PARQUET"]);
        assert_eq!((code, told.as_str()), (0, "output 0, to alice:\n[5 12 21 32]\n"));
        let (code, _, told) = given(&["others=t.csv"]);
        assert!(code == 2 && told.contains("t.csv: no table \"others\""), "{told}");
        let (code, _, told) = given(&["sums=t.csv", "--input", "sums=t.arrow"]);
        assert!(code == 2 && told.contains("input \"alice.a\" is given twice"), "{told}");
    }

    #[test]
    fn missing_inputs_are_named() {
        let declared = [input("alice", "x"), input("bob", "y")];
        let error = all(&declared, vec![None, None]).unwrap_err();
        assert!(error.message().contains("--input x=x.npy") && error.message().contains("of bob"));
    }
}
