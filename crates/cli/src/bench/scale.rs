//! `tacit bench araki --scale`: what more and more blocks of AES take in time and memory.

use super::measure::measure_and_tell;
use super::party::Bench;
use super::spec::{BenchArgs, Transport};
use super::workload::Workload;
use crate::context::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes, seconds};
use serde::Serialize;
use serde_json::json;

/// What so many blocks take.
#[derive(Clone, Copy, Debug, Serialize)]
struct Step {
    count: usize,
    seconds: f64,
    per_second: f64,
    /// The most of any party.
    sent_bytes: u64,
    peak_rss_bytes: u64,
}

/// Parts of `--count`.
const STEPS: [usize; 4] = [10, 5, 2, 1];

pub(super) fn scale(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    if args.transport() == Transport::Memory {
        return Err(Failure::usage("--scale looks at each run's memory: take --transport tcp or tls"));
    }
    let most = args.count_or(10_000, 10_000_000);
    if most < STEPS[0] {
        return Err(Failure::usage(format!(
            "--count {most} has no tenth: --scale takes {} or more",
            STEPS[0]
        )));
    }
    let mut steps = Vec::with_capacity(STEPS.len());
    for part in STEPS {
        let what = Workload::Aes { count: most / part, shared_key: true };
        let bench = Bench::new(args.spec_of(what, args.lanes())?)?;
        let name = format!("{} blocks", bytes((most / part) as u64));
        let (median, _) = measure_and_tell(context, &name, &bench, args.repeat(1))?;
        let largest = |all: &[u64]| all.iter().copied().max().unwrap_or(0);
        steps.push(Step {
            count: median.count,
            seconds: median.seconds,
            per_second: median.per_second,
            sent_bytes: largest(&median.sent_bytes),
            peak_rss_bytes: median.peak_rss_bytes.as_deref().map_or(0, largest),
        });
    }
    if context.json {
        let object = json!({"bench": "araki", "transport": args.transport().name(), "net": args.net,
            "threads": args.lanes(), "scale": steps, "version": env!("CARGO_PKG_VERSION")});
        return context.line(&object.to_string());
    }
    let head = [
        "blocks of AES-128 in counter mode",
        "time",
        "blocks/s",
        "bytes sent by each",
        "most memory of each",
    ];
    let mut table = Table::new(head.map(str::to_owned));
    for step in &steps {
        table.row([
            format!("  {}", bytes(step.count as u64)),
            seconds(step.seconds),
            bytes(step.per_second as u64),
            bytes(step.sent_bytes),
            format!("{} MiB", step.peak_rss_bytes >> 20),
        ]);
    }
    context.line(&table.to_string())
}
