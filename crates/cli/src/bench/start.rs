//! `tacit bench start`: a whole ten-line program, from the start of its process to its result. With `--native` it is a
//! saved plan ([`native_start`]).

use super::native_start::{self, NativeStart};
use super::spec::BenchArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::table::seconds;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The program: the result is 2 of 3, and -85 in all.
const PROGRAM: &str = r#"import tacit

@tacit.function
def richer(a, b):
    return tacit.reveal((a > b).sum()), tacit.reveal((a - b).sum())

a = tacit.secret("alice", shape=(3,), dtype=tacit.fixed(16), range=(0, 1e6))
b = tacit.secret("bob", shape=(3,), dtype=tacit.fixed(16), range=(0, 1e6))
with tacit.local(protocol="replicated") as run:
    print(*run(richer.trace(a, b), alice=[[10.0, 20.0, 5.0]], bob=[[9.0, 10.0, 101.0]]))
"#;

/// What it prints.
const RESULT: &str = "2 -85.0";

/// Starts, if not told otherwise.
const TIMES: usize = 10;
const QUICK_TIMES: usize = 1;

pub(super) fn start(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    let times = if args.quick { QUICK_TIMES } else { TIMES.max(args.repeat(1)) };
    let folder =
        tempfile::tempdir().map_err(|error| Failure::aborted(format!("no temporary folder: {error}")))?;
    let (what, mut all) = match (context.front.interpreter(), args.start.native) {
        (Some(interpreter), false) => {
            let program = folder.path().join("program.py");
            std::fs::write(&program, PROGRAM).map_err(|error| {
                Failure::aborted(format!("{} can't be written: {error}", program.display()))
            })?;
            let run = |_| python(&interpreter, &program);
            ("a ten-line program", (0..times).map(run).collect::<Result<Vec<_>, _>>()?)
        }
        (None, true) => {
            let parties = NativeStart::new(folder.path(), &context.this_command)?;
            (native_start::WHAT, (0..times).map(|_| parties.run()).collect::<Result<Vec<_>, _>>()?)
        }
        (None, false) => {
            return Err(Failure::usage(
                "bench start: a Python file needs Python; --native runs a saved plan",
            ));
        }
        (Some(_), true) => {
            return Err(Failure::usage("bench start --native: that is for the command without Python"));
        }
    };
    all.sort_by(f64::total_cmp);
    let median = all[(times - 1) / 2];
    if context.json {
        let object = json!({"bench": "start", "native": args.start.native, "seconds": median, "all_seconds": all,
            "count": 1, "version": env!("CARGO_PKG_VERSION")});
        return context.line(&object.to_string());
    }
    context.line(&format!(
        "{what}, from its process's start to its end: {} (median of {times}; {} to {})",
        seconds(median),
        seconds(all[0]),
        seconds(all[times - 1])
    ))
}

/// Seconds of the program's process.
fn python(interpreter: &Path, program: &Path) -> Result<f64, Failure> {
    let start = Instant::now();
    let output = Command::new(interpreter).arg(program).output();
    let output = output
        .map_err(|error| Failure::aborted(format!("{} can't be started: {error}", interpreter.display())))?;
    let elapsed = start.elapsed().as_secs_f64();
    let printed = String::from_utf8_lossy(&output.stdout);
    if printed.trim() != RESULT {
        return Err(Failure::wrong(format!(
            "the program printed {printed:?} instead of {RESULT:?}\n{}",
            String::from_utf8_lossy(&output.stderr)
        )));
    }
    Ok(elapsed)
}
