//! `tacit serve`: a party that stays up and answers repeated runs of one program.
//!
//! A bound on what goes unnoticed is for one run, so a server doesn't go on after a check that failed, nor after too many runs
//! that ended in the middle of one ([`tacit::Seat::attempts`]). It ends with an exit code of its own then, by which whoever
//! starts services knows not to start it again.

use crate::args::ServeArgs;
use crate::failure::Failure;
use crate::offline::warn_if_restored;
use crate::progress::note_meeting;
use crate::{Context, program, run};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tacit::{Compiled, Making, Residents, Seat, describe_roles};

/// How long the others may take to come for the next run, if nothing is said.
const PATIENCE: Duration = Duration::from_hours(24 * 365);

/// After a failed run: time for the others to notice too.
const PAUSE: Duration = Duration::from_millis(200);

/// After meetings that failed one after another: twice as long each time, and no longer than this.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

pub(crate) fn serve(context: &mut Context<'_>, args: &ServeArgs) -> Result<(), Failure> {
    let loaded = program::load(context, &args.program)?;
    let values = program::values(&loaded.input_types(), &args.inputs)?;
    let compiled = Compiled::new(loaded)?;
    let signals = Signals::watch()?;
    let mut seat = Seat::with(args.window.configuration(&args.config)?)?;
    note_meeting(&mut seat);
    seat.stop_after(if args.keep_going { None } else { Some(args.attempts) });
    if !seat.is_party() {
        return Err(Failure::usage(format!(
            "{} is a client; clients run a program once, with `tacit run`",
            seat.name()
        )));
    }
    let mut protocol = args.protocol.name();
    let picked = args.net.pick(&mut protocol, &compiled, &seat.parties(), Making::InRun)?;
    if let Some(comparison) = &picked {
        context.note(&format!("comparison: {comparison}"));
    }
    let mut store = match &args.store {
        Some(store) => Some(seat.open_store(&compiled, &protocol, &store.place(false)?)?),
        None => None,
    };
    if let Some(store) = &store {
        warn_if_restored(context, store);
    }
    let (mut state, fill) = (args.stays.open(&seat)?.filter(|_| compiled.has_residents()), args.stays.fill());
    if state.is_none() && compiled.has_residents() {
        return Err(Failure::usage(tacit::NO_STATE));
    }
    context.note(&format!("{} listens on {}", seat.name(), seat.address()));
    let within = args.wait.wait.unwrap_or(PATIENCE);
    let mut failed = 0_u64;
    let mut number = 0_u64;
    let mut pause = PAUSE;
    while !signals.asked() && args.runs.is_none_or(|runs| number < runs) {
        number += 1;
        let busy = |_, _| signals.busy(true);
        let result = match (&mut state, &mut store) {
            (Some(state), store) => {
                let residents = Residents { state, fill: &fill, store: store.as_mut() };
                seat.run_on(&compiled, &protocol, residents, &values, &busy, within)
            }
            (None, Some(store)) => seat.run_stored(&compiled, &protocol, store, &values, &busy, within),
            (None, None) => seat.run_within(&compiled, &protocol, &values, &busy, within),
        };
        signals.busy(false);
        pause = pause_after(pause, matches!(result, Err(tacit::Error::Setup(_))));
        match result {
            Ok(mut done) => {
                done.report.comparison = done.report.comparison.or_else(|| picked.clone());
                let written = tell(context, &compiled, number, &done, seat.attempts());
                written.map_err(|failure| failure.after_attempts(seat.attempts()))?;
            }
            // Nothing was sent, and nothing would be the next time.
            Err(error) if is_lasting(&error) => {
                return Err(Failure::from(error).after_attempts(seat.attempts()));
            }
            Err(error) => {
                failed += 1;
                let written = tell_failure(context, number, &error.into(), seat.attempts());
                // That it stops for good comes first, whether or not anybody reads what it writes.
                seat.may_run()?;
                written.map_err(|failure| failure.after_attempts(seat.attempts()))?;
                std::thread::sleep(pause);
            }
        }
    }
    if failed > 0 && !signals.asked() {
        let failure = Failure::aborted(format!("{failed} of {number} runs were aborted"));
        return Err(failure.after_attempts(seat.attempts()));
    }
    Ok(())
}

/// How long to wait after a failure, after the last pause. Whoever has a wrong certificate, say, is refused each time: that
/// shouldn't fill the log.
fn pause_after(last: Duration, missed: bool) -> Duration {
    if missed { LONGEST_PAUSE.min(2 * last) } else { PAUSE }
}

/// Whether every later run would fail likewise.
fn is_lasting(error: &tacit::Error) -> bool {
    use tacit::Error::{NoMaterial, NotDestroyed, Program, Refused, Store, Value};
    matches!(error, Refused(_) | Value(_) | Program(_) | Store(_) | NoMaterial(_) | NotDestroyed { .. })
}

fn tell(
    context: &mut Context<'_>,
    compiled: &Compiled,
    number: u64,
    done: &tacit::Run,
    attempts: u64,
) -> Result<(), Failure> {
    if context.json {
        let mut object = run::to_json(compiled, done);
        object["run"] = json!(number);
        object["attempts"] = json!(attempts);
        return context.line(&object.to_string());
    }
    let sent: u64 = done.report.endpoints.iter().map(|(_, traffic)| traffic.payload()).sum();
    let players = &done.report.players;
    let roles =
        if players.is_empty() { String::new() } else { format!("; roles: {}", describe_roles(players)) };
    let material = done.report.material.map_or_else(String::new, |instance| format!(", {instance}"));
    let ways = &done.report.comparison;
    let ways = ways.as_ref().map_or_else(String::new, |ways| format!("; comparison: {ways}"));
    let seconds = done.report.elapsed.as_secs_f64();
    let kept = &done.report.kept;
    let kept = if kept.is_empty() { String::new() } else { format!("; kept {}", kept.join(", ")) };
    let counted = counted(attempts);
    let took = format!("{seconds:.3} s, {sent} bytes sent");
    context.line(&format!("run {number}: {took}{material}{kept}{roles}{ways}{counted}"))
}

/// Attempts so far, if there are any.
fn counted(attempts: u64) -> String {
    if attempts > 0 { format!("; attempts so far: {attempts}") } else { String::new() }
}

fn tell_failure(
    context: &mut Context<'_>,
    number: u64,
    failure: &Failure,
    attempts: u64,
) -> Result<(), Failure> {
    let text = format!("run {number}: {}{}", failure.message(), counted(attempts));
    let line = if context.json {
        let mut object = failure.to_json();
        object["run"] = json!(number);
        object["attempts"] = json!(attempts);
        object.to_string()
    } else {
        text.clone()
    };
    let written = context.line(&line);
    if written.is_err() {
        // What went wrong in a run is told somewhere, also when results aren't read any more.
        context.note(&text);
    }
    written
}

/// SIGTERM and SIGINT: the end after the run that is under way, or at once if none is, or if asked again.
struct Signals {
    asked: Arc<AtomicBool>,
    /// Whether a signal ends the process where it stands.
    idle: Arc<AtomicBool>,
}

impl Signals {
    fn watch() -> Result<Self, Failure> {
        let signals = Self { asked: Arc::new(AtomicBool::new(false)), idle: Arc::new(AtomicBool::new(true)) };
        for signal in [SIGTERM, SIGINT] {
            // In this order: the first signal of a busy party is only noted, and makes the next one final.
            signal_hook::flag::register_conditional_shutdown(signal, 0, Arc::clone(&signals.idle))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&signals.asked)))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&signals.idle)))
                .map_err(|error| Failure::aborted(format!("signals can't be caught: {error}")))?;
        }
        Ok(signals)
    }

    fn asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    fn busy(&self, busy: bool) {
        if !self.asked() {
            self.idle.store(!busy, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_while_the_others_are_missed() {
        let pauses: Vec<Duration> = [true, true, false, true, true, true, true, true, true]
            .into_iter()
            .scan(PAUSE, |pause, missed| {
                *pause = pause_after(*pause, missed);
                Some(*pause)
            })
            .collect();
        let millis = [400, 800, 200, 400, 800, 1600, 3200, 5000, 5000].map(Duration::from_millis);
        assert_eq!(pauses, millis);
    }
}
