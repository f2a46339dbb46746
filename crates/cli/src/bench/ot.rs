//! `tacit bench ot`: random oblivious transfers between two parties, in both directions at once, malicious and hashed
//! ([`super::correlated`]).
//!
//! Every value is read once by whoever gets it. Of each tile some OTs are compared afterwards.

use super::correlated::figures::{Figures, measure};
use super::correlated::job::{Correlation, Job};
use super::limits::Cores;
use super::spec::BenchArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes, rate, seconds};
use serde_json::json;

/// OTs if nothing is said, and the quick number.
const DEFAULT: usize = 1 << 26;
const QUICK: usize = 20_000;

pub(super) fn ot(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    let job =
        Job { what: Correlation::Ots, parties: 2, count: args.count_or(QUICK, DEFAULT), k: args.height() };
    let params = job.params()?;
    // In both directions a party is sender and receiver.
    let declared = [params.setup_bytes(), params.extension_bytes(job.count, false)];
    let declared = declared.map(|both| both.iter().sum::<u64>());
    let bytes_per_ot = declared[1] as f64 / job.count as f64;
    // Of all that AES could do on the parties' cores.
    let aes_share = |run: &Figures| {
        let cores = Cores::measure(true);
        let needed = aes_bytes(job) * job.count as f64 / cores.aes_bytes_per_second;
        needed * job.parties as f64 / (cores.count.min(job.parties) as f64 * run.seconds)
    };
    let keys = |run: &Figures| json!({ "bytes_per_ot": bytes_per_ot, "aes_share": aes_share(run) });
    let text = |run: &Figures| {
        let head = format!("{} random OTs each way, {}", bytes(job.count as u64), run.transport);
        let mut table = Table::new([head, String::new()]);
        let mut row = |name: &str, value: String| table.row([format!("  {name}"), value]);
        row("parameters", params.to_string());
        row("time", seconds(run.seconds));
        row("speed, each way", rate(run.per_second, " OTs/s"));
        row("payload for an OT", format!("{bytes_per_ot:.3} bytes"));
        row("setup", seconds(run.setup_seconds));
        row("share of AES", format!("{:.0} %", 100.0 * aes_share(run)));
        table.to_string()
    };
    measure(context, args, job, ["ot", "softspoken"], declared, keys, text)
}

/// Bytes of AES that a party needs for an OT in each direction: leaves, all as receiver and all but one of each tree as
/// sender, and the hashes of one row and of two.
fn aes_bytes(job: Job) -> f64 {
    let (k, trees) = (job.k as i32, 128.0 / job.k as f64);
    let leaves = trees * (2.0 * 2_f64.powi(k) - 1.0) / 8.0;
    leaves + 16.0 * 6.0
}
