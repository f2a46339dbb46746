//! `tacit plan`: what a program is and reveals, for whoever is asked to run it; and a plan of it in a file.

use crate::Context;
use crate::args::PlanArgs;
use crate::failure::Failure;
use crate::program;
use serde_json::{Value as Json, json};
use tacit::{Compiled, SavedPlan};

pub(crate) fn plan(context: &mut Context<'_>, args: &PlanArgs) -> Result<(), Failure> {
    let saved = program::load_saved(context, &args.program)?;
    let compiled = Compiled::new(saved.program.clone())?;
    if let Some(file) = &args.save {
        std::fs::write(file, saved.to_bytes())
            .map_err(|error| Failure::input(format!("{} can't be written: {error}", file.display())))?;
    }
    let text = if context.json { to_json(&saved, &compiled).to_string() } else { to_text(&saved, &compiled) };
    context.line(&text)
}

/// SHA-256 of what is computed, for whom, from whose inputs.
fn hash(compiled: &Compiled) -> String {
    compiled.hash().map(|byte| format!("{byte:02x}")).concat()
}

fn to_text(saved: &SavedPlan, compiled: &Compiled) -> String {
    let mut lines = vec![format!("plan {}, hash {}", saved.name, hash(compiled))];
    lines.extend(compiled.inputs_in_words().into_iter().map(|input| format!("input {input}")));
    lines.extend(compiled.outputs_in_words());
    let assumed = compiled.program().assumptions();
    lines.extend(assumed.map(|line| format!("assumed, and checked by debug runs alone: {line}")));
    // Names in a plan from elsewhere may hold anything.
    lines.iter().map(|line| line.escape_debug().to_string()).collect::<Vec<_>>().join("\n")
}

fn to_json(saved: &SavedPlan, compiled: &Compiled) -> Json {
    let program = compiled.program();
    let inputs = compiled.inputs().iter().map(|input| {
        let (low, high) = (input.range.lo().to_string(), input.range.hi().to_string());
        json!({
            "owner": input.owner,
            "name": input.name,
            "kind": input.kind.to_string(),
            "shape": input.shape,
            "raw_range": [low, high],
        })
    });
    let outputs = program.outputs().iter().zip(compiled.outputs()).map(|(output, declared)| {
        json!({"to": output.to.to_string(), "kind": declared.kind.to_string(), "shape": declared.shape})
    });
    json!({
        "name": saved.name,
        "hash": hash(compiled),
        "inputs": inputs.collect::<Vec<_>>(),
        "outputs": outputs.collect::<Vec<_>>(),
        "assumptions": program.assumptions().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
