//! `tacit circuit --list`: the circuits that have names.

use crate::context::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes as grouped};
use serde_json::json;
use tacit::circuit::catalogue;

pub(crate) fn list(context: &mut Context<'_>) -> Result<(), Failure> {
    let mut table = Table::new(["name", "inputs", "outputs", "ANDs", "depth"].map(str::to_owned));
    for name in catalogue::names() {
        let Some(circuit) = catalogue::named(name) else { continue };
        let outputs: Vec<usize> = circuit.outputs().iter().map(Vec::len).collect();
        let (ands, depth) = (circuit.ands(), circuit.depth());
        if context.json {
            let object = json!({
                "name": name,
                "inputs": circuit.inputs(),
                "outputs": outputs,
                "ands": ands,
                "depth": depth,
            });
            context.line(&object.to_string())?;
        } else {
            let bits = [listed(circuit.inputs()), listed(&outputs)];
            let counts = [grouped(ands as u64), grouped(depth.into())];
            table.row([name.to_owned()].into_iter().chain(bits).chain(counts));
        }
    }
    if context.json { Ok(()) } else { context.line(table.to_string().trim_end()) }
}

fn listed(bits: &[impl ToString]) -> String {
    bits.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
