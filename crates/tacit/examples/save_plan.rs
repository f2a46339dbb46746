//! Saves a program as a plan, for `tacit run` and `tacit serve` on machines without Python.
//!
//!     cargo run --release --example save_plan -- larger.plan

use std::error::Error;
use std::path::{Path, PathBuf};
use tacit::program::{Builder, Dtype, Range, Recipient};
use tacit::{Compiled, SavedPlan};

fn save(file: &Path) -> Result<(), Box<dyn Error>> {
    // Which of two organisations has more? Both learn that and no more.
    let mut build = Builder::new();
    let range = Range::new(0, 1 << 40);
    let north = build.input("north", "total", Dtype::Int, &[], range)?;
    let south = build.input("south", "total", Dtype::Int, &[], range)?;
    let more = build.greater(north, south)?;
    build.reveal(more, Recipient::Role("north".into()))?;
    build.reveal(more, Recipient::Role("south".into()))?;
    let plan = SavedPlan::new(build.finish()?, "larger");

    std::fs::write(file, plan.to_bytes())?;

    // As whoever is asked to run it should: see what it takes and what it tells.
    let read = SavedPlan::from_bytes(&std::fs::read(file)?)?;
    let compiled = Compiled::new(read.program)?;
    println!("{}: {}", file.display(), read.name);
    for line in compiled.inputs_in_words().into_iter().chain(compiled.outputs_in_words()) {
        println!("  {line}");
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("which file?")?;
    save(&PathBuf::from(file))
}

#[test]
fn it_runs() {
    let folder = tempfile::tempdir().unwrap();
    save(&folder.path().join("larger.plan")).unwrap();
}
