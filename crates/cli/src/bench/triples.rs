//! `tacit bench triples`: authenticated triples for MASCOT, among two parties or more ([`super::correlated`]), in any of its
//! fields; and for comparison triples without MACs.
//!
//! All are opened and multiplied afterwards.

use super::correlated::figures::{Figures, measure};
use super::correlated::job::{Correlation, Job};
use super::spec::BenchArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes, rate, seconds};
use serde_json::json;
use std::ops::RangeInclusive;
use tacit_mascot::cost;

/// Triples if nothing is said, and the quick number.
const DEFAULT: usize = 200_000;
const QUICK: usize = 500;

/// How many parties there may be, the fewest if nothing is said.
const PARTIES: RangeInclusive<usize> = 2..=16;

pub(super) fn triples(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    if args.protocol_name() != "mascot" {
        return Err(Failure::usage("triples are mascot's: give --protocol mascot"));
    }
    let parties = args.parties_or(*PARTIES.start());
    if !PARTIES.contains(&parties) {
        return Err(Failure::usage(format!("--parties is 2 to {}, not {parties}", PARTIES.end())));
    }
    let over = args.triples.field.unwrap_or_default();
    let (field, of) = over.named();
    let what =
        if args.triples.passive { Correlation::PassiveTriples(over) } else { Correlation::Triples(over) };
    let job = Job { what, parties, count: args.count_or(QUICK, DEFAULT), k: args.height() };
    let params = job.params()?;
    let others = parties as u64 - 1;
    let declared = if args.triples.passive {
        [params.setup_bytes().iter().sum(), cost::passive_bytes(field, &params, job.count)]
    } else {
        let base = cost::triples_base_bytes(field, &params, job.count);
        [cost::setup_bytes(field, &params), base + cost::triples_bytes(field, &params, job.count)]
    };
    let declared = declared.map(|link| others * link);
    // What a party sends for a triple.
    let bytes_per_triple = declared[1] as f64 / job.count as f64;
    // Of all parties, in 1000 bits, beside which stand the paper's 180.22 n (n - 1).
    let kbit_per_triple = bytes_per_triple * parties as f64 * 8.0 / 1000.0;
    let keys = |_: &Figures| json!({ "field": of, "bytes_per_triple": bytes_per_triple, "kbit_per_triple": kbit_per_triple });
    let text = |run: &Figures| {
        let without = if args.triples.passive { " without MACs" } else { "" };
        let count = bytes(job.count as u64);
        let head = format!("{count} triples{without} over {of}, {parties} parties, {}", run.transport);
        let mut table = Table::new([head, String::new()]);
        let mut row = |name: &str, value: String| table.row([format!("  {name}"), value]);
        row("parameters", params.to_string());
        row("time", seconds(run.seconds));
        row("speed", rate(run.per_second, " triples/s"));
        row("payload for a triple, from each", bytes(bytes_per_triple.ceil() as u64));
        row("setup", seconds(run.setup_seconds));
        table.to_string()
    };
    let name = if args.triples.passive { "mascot's passive variant" } else { "mascot" };
    measure(context, args, job, ["triples", name], declared, keys, text)
}
