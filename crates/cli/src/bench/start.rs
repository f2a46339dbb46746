//! `tacit bench start`: a whole ten-line program, from the start of its process to its result.

use crate::Context;
use crate::failure::Failure;
use crate::table::seconds;
use serde_json::json;
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

pub(super) fn start(context: &mut Context<'_>, repeat: usize, quick: bool) -> Result<(), Failure> {
    let times = if quick { QUICK_TIMES } else { TIMES.max(repeat) };
    let folder =
        tempfile::tempdir().map_err(|error| Failure::aborted(format!("no temporary folder: {error}")))?;
    let program = folder.path().join("program.py");
    std::fs::write(&program, PROGRAM)
        .map_err(|error| Failure::aborted(format!("{} can't be written: {error}", program.display())))?;
    let interpreter = context.front.interpreter();
    let mut all = Vec::with_capacity(times);
    for _ in 0..times {
        let start = Instant::now();
        let output = Command::new(&interpreter).arg(&program).output();
        let output = output.map_err(|error| {
            Failure::aborted(format!("{} can't be started: {error}", interpreter.display()))
        })?;
        all.push(start.elapsed().as_secs_f64());
        let printed = String::from_utf8_lossy(&output.stdout);
        if printed.trim() != RESULT {
            return Err(Failure::wrong(format!(
                "the program printed {printed:?} instead of {RESULT:?}\n{}",
                String::from_utf8_lossy(&output.stderr)
            )));
        }
    }
    all.sort_by(f64::total_cmp);
    let median = all[(times - 1) / 2];
    if context.json {
        let object = json!({"bench": "start", "seconds": median, "all_seconds": all, "count": 1,
            "version": env!("CARGO_PKG_VERSION")});
        return context.line(&object.to_string());
    }
    context.line(&format!(
        "a ten-line program, from its process's start to its end: {} (median of {times}; {} to {})",
        seconds(median),
        seconds(all[0]),
        seconds(all[times - 1])
    ))
}
