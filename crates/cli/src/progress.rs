//! A progress bar for what takes longer than a second, on a terminal only, with the line that is computed; and notes
//! of who comes and who doesn't.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tacit::Compiled;
use tacit::program::Source;
use tacit::setup::{Note, Notes};

/// How long something may take before a bar shows.
const PATIENCE: Duration = Duration::from_secs(1);

/// Drawings in a second at most.
const HERTZ: u8 = 10;

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
pub struct Bar {
    inner: ProgressBar,
    start: Instant,
    /// When it was last drawn, in milliseconds from the start; 0 if it wasn't.
    drawn: AtomicU64,
    watch: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Bar {
    /// Nothing shows yet.
    #[must_use]
    pub fn new() -> Self {
        let inner = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let template = "{bar:24} {percent:>3} %  {elapsed} of about {duration}  {wide_msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            inner.set_style(style);
        }
        Self { inner, start: Instant::now(), drawn: AtomicU64::new(0), watch: None }
    }

    /// Of a client, who isn't told how much the parties have done: after a while, for how long it has been waiting.
    #[must_use]
    pub fn waiting() -> Self {
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
        self.draw(done, total, String::new);
    }

    /// `done` jobs of `total` of a run are, of the plan that it has for the run's protocol.
    pub fn of_run(&self, compiled: &Compiled, done: usize, total: usize) {
        self.draw(done, total, || compiled.at_work(done).map(one_line).unwrap_or_default());
    }

    fn draw(&self, done: usize, total: usize, line: impl FnOnce() -> String) {
        let passed = self.start.elapsed();
        if passed < PATIENCE || self.watch.is_some() {
            return;
        }
        let (now, drawn) = (passed.as_millis() as u64, self.drawn.load(Ordering::Relaxed));
        // Many jobs take less time than a drawing.
        if now < drawn + 1000 / u64::from(HERTZ) {
            return;
        }
        if self.drawn.swap(now, Ordering::Relaxed) == 0 {
            // Draws on terminals only.
            self.inner.set_draw_target(ProgressDrawTarget::stderr_with_hz(HERTZ));
        }
        if self.inner.is_hidden() {
            return;
        }
        self.inner.set_length(total as u64);
        self.inner.set_position(done as u64);
        self.inner.set_message(line());
    }
}

/// A line of a program that somebody else may have written, short and fit for a terminal.
fn one_line(line: &Source) -> String {
    let file = Path::new(&line.file).file_name().unwrap_or_default().to_string_lossy();
    let words = format!("{file}:{} {}", line.line, line.text);
    words.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl Default for Bar {
    fn default() -> Self {
        Self::new()
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
