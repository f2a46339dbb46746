//! `tacit bench NAME --cost`: what parties will send, and in how many rounds, before anything runs.

use super::party::Bench;
use crate::context::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes};
use serde_json::json;
use tacit::advanced::net::Phase;
use tacit::program::Cost;

/// Says what a benchmark's plan declares.
pub(super) fn cost(context: &mut Context<'_>, bench: &Bench) -> Result<(), Failure> {
    let mut cost = Cost::default();
    for lane in &bench.lanes {
        cost.add_beside(&bench.lane_cost(lane)?);
    }
    let parties = bench.spec.parties.len();
    let sent = |phases: &[Phase]| -> Vec<u64> {
        let of_party = |party| phases.iter().map(|&phase| cost.phase(phase).sent_by(party)).sum();
        (0..parties).map(of_party).collect()
    };
    let rounds = |phase: Phase| cost.phase(phase).rounds;
    let (count, counted) = bench.spec.what.counted();
    if context.json {
        let object = json!({
            "bench": bench.spec.what.name(), "protocol": bench.spec.protocol, "parties": parties,
            "threads": bench.spec.lanes, "count": count, "depth": bench.spec.what.depth(),
            "sent_bytes": sent(&[Phase::Online, Phase::Verify]),
            "offline_sent_bytes": sent(&[Phase::Offline]), "input_bytes": sent(&[Phase::Input]),
            "output_bytes": sent(&[Phase::Output]), "rounds": rounds(Phase::Online),
            "offline_rounds": rounds(Phase::Offline), "version": env!("CARGO_PKG_VERSION"),
        });
        return context.line(&object.to_string());
    }
    let head = format!("{} {counted} {}", bytes(count as u64), bench.spec.what.sizes());
    let names = bench.spec.parties.iter().cloned();
    let mut table = Table::new([head.trim_end().to_owned(), "rounds".to_owned()].into_iter().chain(names));
    for (name, phases) in [
        ("inputs", &[Phase::Input][..]),
        ("offline", &[Phase::Offline]),
        ("online, checks included", &[Phase::Online, Phase::Verify]),
        ("outputs", &[Phase::Output]),
    ] {
        let each = sent(phases);
        if each.iter().any(|&sent| sent > 0) {
            let rounds = rounds(phases[0]).to_string();
            table.row([format!("  {name}"), rounds].into_iter().chain(each.into_iter().map(bytes)));
        }
    }
    context.line(&format!("{}: bytes that each party will send\n{table}", bench.spec.protocol))
}
