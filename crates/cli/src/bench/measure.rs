//! A benchmark run several times.

use super::declared;
use super::limits::{Cores, shares};
use super::parties;
use super::party::Bench;
use super::process;
use super::result::Figures;
use super::ring::Ring;
use super::spec::{BenchArgs, Transport};
use crate::context::Context;
use crate::failure::Failure;
use crate::table::seconds;
use serde_json::json;

/// A protocol's speed, or its declared cost.
pub(super) fn protocol(context: &mut Context<'_>, args: &BenchArgs, bench: &Bench) -> Result<(), Failure> {
    if args.declared.cost {
        return declared::cost(context, bench);
    }
    let (median, all_seconds) = measure(context, bench, args.repeat(1))?;
    let loopback = match args.transport() {
        Transport::Memory => None,
        transport => Some(process::ring(transport, Ring::QUICK, &context.this_command)?),
    };
    let shares = shares(bench, median.seconds, &Cores::measure(true), loopback.as_ref())?;
    let figures = median.with_limits(shares);
    if !context.json {
        return context.line(&figures.to_text());
    }
    let mut object = json!(figures);
    if all_seconds.len() > 1 {
        object["all_seconds"] = json!(all_seconds);
    }
    context.line(&object.to_string())
}

/// Runs a benchmark so many times: the median run's figures, and every run's seconds in order.
pub(super) fn measure(
    context: &Context<'_>,
    bench: &Bench,
    times: usize,
) -> Result<(Figures, Vec<f64>), Failure> {
    let run = |_| Figures::new(bench, &parties::run(bench, &context.this_command)?);
    let runs = (0..times).map(run).collect::<Result<Vec<_>, _>>()?;
    let all_seconds = runs.iter().map(|run| run.seconds).collect();
    Ok((median(runs), all_seconds))
}

/// As [`measure`], of one of the benchmarks of an experiment, and says what it took: all of them take minutes.
pub(super) fn measure_and_tell(
    context: &mut Context<'_>,
    name: &str,
    bench: &Bench,
    times: usize,
) -> Result<(Figures, Vec<f64>), Failure> {
    let (median, all_seconds) = measure(context, bench, times)?;
    let ahead = if median.offline_seconds > 0.0 {
        format!(" after {} ahead", seconds(median.offline_seconds))
    } else {
        String::new()
    };
    context.note(&format!("{name}: {}{ahead}", seconds(median.seconds)));
    Ok((median, all_seconds))
}

/// The run of the median time; of an even number the better of the two in the middle.
fn median(mut runs: Vec<Figures>) -> Figures {
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    runs.swap_remove((runs.len() - 1) / 2)
}
