//! A benchmark run several times.

use super::parties;
use super::party::Bench;
use super::result::Figures;
use crate::context::Context;
use crate::failure::Failure;
use crate::table::seconds;

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
