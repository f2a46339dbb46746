//! `tacit state`: what a party keeps of programs, and what is to go.

use crate::Context;
use crate::args::{FolderArgs, StateArgs, StateCommand};
use crate::failure::Failure;
use crate::table::bytes;
use serde_json::{Value as Json, json};
use std::fmt::Write;
use tacit::advanced::net::setup::Config;
use tacit::{Fill, Listed, Standing, State};

impl StateArgs {
    /// What a party keeps, if a folder is named.
    pub(crate) fn open(&self, config: &Config) -> Result<Option<State>, Failure> {
        Ok(self.state.as_ref().map(|folder| State::of(config, folder)).transpose()?)
    }

    /// Which values fill the program's slots.
    pub(crate) fn fill(&self) -> Fill {
        self.fill.iter().cloned().collect()
    }
}

pub(crate) fn state(context: &mut Context<'_>, command: &StateCommand) -> Result<(), Failure> {
    match command {
        StateCommand::List(folder) => list(context, &open(folder)?),
        StateCommand::Drop { folder, value } => {
            let mut state = open(folder)?;
            state.drop_value(value)?;
            list(context, &state)
        }
    }
}

/// A folder that is there.
fn open(args: &FolderArgs) -> Result<State, Failure> {
    if !args.folder.is_dir() {
        return Err(Failure::usage(format!("there is no folder {}", args.folder.display())));
    }
    match &args.config {
        Some(config) => {
            let config = Config::load(config).map_err(tacit::Error::from)?;
            Ok(State::of(&config, &args.folder)?)
        }
        None => Ok(State::open(&args.folder, None)?),
    }
}

fn list(context: &mut Context<'_>, state: &State) -> Result<(), Failure> {
    let listed = state.list();
    for value in &listed {
        context.line(&if context.json { to_json(value).to_string() } else { to_text(value) })?;
    }
    if listed.is_empty() && !context.json {
        context.line("nothing is kept")?;
    }
    Ok(())
}

fn standing(listed: &Listed) -> &'static str {
    match listed.standing {
        Standing::Pending => "pending",
        Standing::Settled => "kept",
        Standing::Dropped => "dropped",
    }
}

/// A hash, or its first bytes.
pub(crate) fn digits(hash: &[u8]) -> String {
    hash.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn to_json(listed: &Listed) -> Json {
    let about = &listed.about;
    json!({
        "value": about.to_string(),
        "standing": standing(listed),
        "kind": about.kind,
        "shape": about.shape,
        "bytes": listed.bytes,
        "parties": about.parties,
        "sharing": about.sharing,
        "program": digits(&about.program),
        "readers": about.readers.iter().map(|hash| digits(hash)).collect::<Vec<_>>(),
        "learners": about.learners,
    })
}

fn to_text(listed: &Listed) -> String {
    let about = &listed.about;
    let mut text = format!("{about}: {}", standing(listed));
    if listed.standing == Standing::Dropped {
        return text;
    }
    let _ = write!(
        text,
        ", {} {:?}, {} bytes, under {}",
        about.kind,
        about.shape,
        bytes(listed.bytes),
        about.sharing
    );
    let _ = write!(text, ", of program {}", digits(&about.program[..8]));
    text + &uses(&about.readers, about.learners.as_deref())
}

/// Which programs may read a kept value, and who may learn of it, where not all may.
pub(crate) fn uses(readers: &[[u8; 32]], learners: Option<&[String]>) -> String {
    let mut text = String::new();
    if !readers.is_empty() {
        let readers: Vec<String> = readers.iter().map(|hash| digits(hash)).collect();
        let _ = write!(text, ", read by {}", readers.join(" and "));
    }
    if let Some(learners) = learners {
        let learners = if learners.is_empty() { "nobody".to_owned() } else { learners.join(", ") };
        let _ = write!(text, ", for {learners} to learn");
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::npy;
    use crate::tests::tacit;
    use std::path::Path;
    use tacit::SavedPlan;
    use tacit::program::{Builder, Data, Dtype, Program, Recipient, Uses, Value};

    fn save(folder: &Path, name: &str, program: Program) -> String {
        let path = folder.join(name);
        std::fs::write(&path, SavedPlan::new(program, name).to_bytes()).unwrap();
        path.display().to_string()
    }

    fn keeps() -> Program {
        let mut build = Builder::new();
        let x = build.input("P0", "x", Dtype::Int, &[3], None).unwrap();
        build.keep(x, "x", Uses::new(Vec::new(), Some(vec!["P1".into()]))).unwrap();
        build.finish().unwrap()
    }

    fn reads(to: &str) -> Program {
        let mut build = Builder::new();
        let x = build.kept("x", Dtype::Int, &[3], None).unwrap();
        build.reveal(x, Recipient::Role(to.into())).unwrap();
        build.finish().unwrap()
    }

    #[test]
    fn values_are_kept_read_listed_and_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let value = Value { shape: vec![3], data: Data::Int(vec![4, 5, 6]) };
        npy::write(&folder.path().join("x.npy"), &value).unwrap();
        let (keep, read) =
            (save(folder.path(), "keep.plan", keeps()), save(folder.path(), "read.plan", reads("P1")));
        let (input, state) = (format!("x={}", path("x.npy")), path("state"));
        for version in 1..3 {
            let (code, _, note) = tacit(&["run", &keep, "--simulate", "--state", &state, "--input", &input]);
            assert!(code == 0 && note.contains(&format!("kept x@{version}")), "{note}");
        }
        let (code, out, error) = tacit(&["run", &read, "--simulate", "--state", &state, "--kept", "x=x@1"]);
        assert!(code == 0 && out.contains('4'), "{out}{error}");
        let other = save(folder.path(), "other.plan", reads("P2"));
        let (code, _, error) = tacit(&["run", &other, "--simulate", "--state", &state]);
        assert!(code == 2 && error.contains("what depends on x@2 may be learnt by P1 only"), "{error}");
        let (code, _, error) = tacit(&["run", &read, "--simulate"]);
        assert!(code == 2 && error.contains("`--state FOLDER`"), "{error}");

        let own = format!("{state}/P0");
        let (code, listed, _) = tacit(&["state", "list", &own]);
        assert!(
            code == 0 && listed.contains("x@1: kept, int [3]") && listed.contains("for P1 to learn"),
            "{listed}"
        );
        let (code, listed, _) = tacit(&["state", "drop", &own, "x@2"]);
        assert!(code == 0 && listed.contains("x@2: dropped"), "{listed}");
        let (code, listed, _) = tacit(&["state", "list", &own, "--json"]);
        assert!(code == 0 && listed.contains(r#""standing":"dropped""#), "{listed}");
        let (code, _, error) = tacit(&["run", &read, "--simulate", "--state", &state]);
        assert!(code == 2 && error.contains("x@2 was dropped by P0"), "{error}");
        let (code, _, error) = tacit(&["state", "drop", &own, "x@7"]);
        assert!(code == 2 && error.contains("nothing is kept as"), "{error}");
    }
}
