//! `tacit plan`: what a program is and reveals, for whoever is asked to run it; and a plan of it in a file.

use crate::args::PlanArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::front::Told;
use crate::program;
use crate::state::{digits, uses};
use serde_json::{Value as Json, json};
use tacit::program::{Keep, NodeId, Program, Source, Uses};
use tacit::{Compiled, SavedPlan};

pub(crate) fn plan(context: &mut Context<'_>, args: &PlanArgs) -> Result<(), Failure> {
    let saved = program::load_saved(context, &args.program)?;
    let compiled = Compiled::new(saved.program.clone())?;
    let tables = context.front.describe_tables(&saved).map_err(Failure::input)?;
    if let Some(file) = &args.save {
        std::fs::write(file, saved.to_bytes())
            .map_err(|error| Failure::input(format!("{} can't be written: {error}", file.display())))?;
    }
    let tables = tables.as_ref();
    let text = if context.json {
        to_json(&saved, &compiled, tables).to_string()
    } else {
        to_text(&saved, &compiled, tables)
    };
    context.line(&text)
}

/// SHA-256 of what is computed, for whom, from whose inputs.
fn hash(compiled: &Compiled) -> String {
    digits(&compiled.hash())
}

fn to_text(saved: &SavedPlan, compiled: &Compiled, tables: Option<&Told>) -> String {
    // Names in a plan from elsewhere may hold anything; quotes are harmless.
    let quote_or_escaped = |c: char| match c {
        '"' | '\'' => c.to_string(),
        _ => c.escape_debug().to_string(),
    };
    let printable = |line: String| line.chars().map(quote_or_escaped).collect::<String>();
    let inputs = compiled.given_numbers().into_iter().zip(compiled.inputs_in_words());
    let inputs = inputs.map(|(number, input)| printable(format!("input {number} {input}")));
    let tables = tables.into_iter().flat_map(|tables| tables.text.lines().map(ToOwned::to_owned));
    let head = printable(format!("plan {}, hash {}", saved.name, hash(compiled)));
    let mut lines = compiled.operations_in_words();
    let outputs = compiled.program().outputs().iter().zip(compiled.outputs_in_words());
    lines
        .extend(outputs.zip(saved.labels()).map(|((output, words), label)| told(output.node, &words, label)));
    let program = compiled.program();
    let kept = program.kept().into_iter();
    lines.extend(
        kept.map(|slot| format!("reads {}, which is kept: {} {:?}", slot.name, slot.kind, slot.shape)),
    );
    lines.extend(program.keeps().iter().map(|keep| keeps(program, keep)));
    let assumed = program.assumptions();
    lines.extend(assumed.map(|(line, watched)| assumption(line, watched)));
    let lines = lines.into_iter().map(printable);
    std::iter::once(head).chain(inputs).chain(tables).chain(lines).collect::<Vec<_>>().join("\n")
}

/// An output, with its key if it has one.
fn told(node: NodeId, words: &str, label: Option<String>) -> String {
    let label = label.map_or_else(String::new, |label| format!(" ({label})"));
    format!("%{} is {words}{label}", node.number())
}

/// A range that a program assumes at a line.
pub(crate) fn assumption(line: &Source, watched: bool) -> String {
    let checked = if watched {
        "assumed, and a run ends where it doesn't hold (under astra-fair a debug run alone)"
    } else {
        "known by how it is made, and checked by debug runs alone"
    };
    format!("{checked}: {line}")
}

/// What is kept, and what for.
fn keeps(program: &Program, keep: &Keep) -> String {
    let ty = &program.node(keep.node).ty;
    let Uses { programs, learners, writers } = &keep.uses;
    let uses = uses(programs, learners.as_deref(), writers);
    format!("keeps {}: {} {:?}{uses}", keep.name, ty.kind, ty.shape)
}

fn to_json(saved: &SavedPlan, compiled: &Compiled, tables: Option<&Told>) -> Json {
    let program = compiled.program();
    let inputs = compiled.given().into_iter().map(|input| {
        let (low, high) = (input.range.lo().to_string(), input.range.hi().to_string());
        json!({
            "owner": input.owner,
            "name": input.name,
            "kind": input.kind.to_string(),
            "shape": input.shape,
            "raw_range": [low, high],
        })
    });
    let outputs = program.outputs().iter().zip(compiled.outputs()).zip(saved.labels());
    let outputs = outputs.map(|((output, declared), label)| {
        let (to, kind) = (output.to.to_string(), declared.kind.to_string());
        json!({"name": label, "to": to, "kind": kind, "shape": declared.shape})
    });
    let kept = program
        .kept()
        .into_iter()
        .map(|slot| json!({"name": slot.name, "kind": slot.kind.to_string(), "shape": slot.shape}));
    let keeps = program.keeps().iter().map(|keep| {
        let ty = &program.node(keep.node).ty;
        json!({
            "name": keep.name,
            "kind": ty.kind.to_string(),
            "shape": ty.shape,
            "readers": keep.uses.programs.iter().map(|hash| digits(hash)).collect::<Vec<_>>(),
            "learners": keep.uses.learners,
            "writers": keep.uses.writers.iter().map(|hash| digits(hash)).collect::<Vec<_>>(),
        })
    });
    json!({
        "name": saved.name,
        "hash": hash(compiled),
        "tables": tables.map(|tables| &tables.json),
        "inputs": inputs.collect::<Vec<_>>(),
        "operations": compiled.operations_in_words(),
        "outputs": outputs.collect::<Vec<_>>(),
        "kept": kept.collect::<Vec<_>>(),
        "keeps": keeps.collect::<Vec<_>>(),
        "assumptions": program.assumptions().map(|(line, _)| line.to_string()).collect::<Vec<_>>(),
    })
}
