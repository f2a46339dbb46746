//! A progress bar for what takes longer than a second, on a terminal only; and notes of who comes and who doesn't.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tacit::setup::{Note, Notes};

/// How long something may take before a bar shows.
const PATIENCE: Duration = Duration::from_secs(1);

/// Notes on standard error for whom this party or client waits, unless the last line was the same, and who was turned away.
pub(crate) fn meeting(name: String) -> Notes {
    // A line now and then: it holds the run up only if standard error is a pipe that nobody empties.
    meeting_on(name, std::io::stderr())
}

/// The same notes on another place for lines.
pub(crate) fn meeting_on(name: String, lines: impl Write + Send + 'static) -> Notes {
    let (noted, lines) = (Mutex::new(String::new()), Mutex::new(lines));
    Arc::new(move |note| {
        let line = match note {
            Note::Waiting(missing) => {
                let line = format!("{name} waits for {}", missing.join(", "));
                let Ok(mut noted) = noted.lock() else { return };
                if *noted == line {
                    return;
                }
                noted.clone_from(&line);
                line
            }
            Note::TurnedAway(away) => format!("{name} turned a caller away: {away}"),
            Note::Unfit(error) => format!("{name}: {error}"),
            Note::Unread(error) => format!("{name} goes on with the clients that it knows: {error}"),
            _ => return,
        };
        // If nobody reads it, nothing is lost.
        if let Ok(mut lines) = lines.lock() {
            let _ = lines.write_all(format!("{line}\n").as_bytes());
        }
    })
}

/// Shows how much of a run is done. Gone when dropped.
pub(crate) struct Bar {
    inner: ProgressBar,
    start: Instant,
    shown: AtomicBool,
    watch: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Bar {
    /// Nothing shows yet.
    pub(crate) fn new() -> Self {
        let inner = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) =
            ProgressStyle::with_template("{bar:40} {percent:>3} %  {elapsed} of about {duration}")
        {
            inner.set_style(style);
        }
        Self { inner, start: Instant::now(), shown: AtomicBool::new(false), watch: None }
    }

    /// Of a client, who isn't told how much the parties have done: after a while, for how long it has been waiting.
    pub(crate) fn waiting() -> Self {
        let mut bar = Self::new();
        if let Ok(style) = ProgressStyle::with_template("{elapsed}: the run isn't over yet") {
            bar.inner.set_style(style);
        }
        let (over, ends) = channel();
        let inner = bar.inner.clone();
        let watch = std::thread::spawn(move || {
            if ends.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                inner.set_draw_target(ProgressDrawTarget::stderr_with_hz(2));
                inner.enable_steady_tick(PATIENCE);
            }
        });
        bar.watch = Some((over, watch));
        bar
    }

    /// The same notes as [`meeting`], on lines of their own.
    pub(crate) fn meeting(&self, name: String) -> Notes {
        let (notes, inner) = (meeting(name), self.inner.clone());
        Arc::new(move |note| inner.suspend(|| notes(note)))
    }

    /// `done` parts of `total` are.
    pub(crate) fn at(&self, done: usize, total: usize) {
        if self.start.elapsed() < PATIENCE || self.watch.is_some() {
            return;
        }
        if !self.shown.swap(true, Ordering::Relaxed) {
            // Draws on terminals only.
            self.inner.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        }
        self.inner.set_length(total as u64);
        self.inner.set_position(done as u64);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some((over, watch)) = self.watch.take() {
            drop(over);
            // It can't fail, and nothing hangs on it.
            let _ = watch.join();
        }
        self.inner.finish_and_clear();
    }
}
