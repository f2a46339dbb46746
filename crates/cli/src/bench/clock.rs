//! What a party's run took, lane by lane: its offline phase, its inputs, from the barrier before the online phase to the end
//! of verification, and its outputs. All but the last begin at a barrier.

use serde::{Deserialize, Serialize};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;
use tacit::advanced::engine::profile::{self, Sections};
use tacit::advanced::engine::{Engine, Error, Observer};
use tacit::advanced::net::Phase;

/// The figures of one of a party's lanes, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// When the offline phase began and ended; zero where there is none.
    pub(crate) prepare: Duration,
    pub(crate) prepared: Duration,
    /// When inputs began to be shared, and when all were.
    pub(crate) share: Duration,
    pub(crate) shared: Duration,
    /// When the online phase began, ended (verification begins), and when all was verified: by the machine's
    /// monotonic clock, which its processes share.
    pub(crate) start: Duration,
    pub(crate) computed: Duration,
    pub(crate) finish: Duration,
    /// When all outputs were there.
    pub(crate) opened: Duration,
    /// Processor time of the process by the start, and by the finish.
    pub(crate) cpu_at_start: Duration,
    pub(crate) cpu_at_finish: Duration,
    /// The most memory that the process has had by the finish.
    pub(crate) peak_rss_bytes: u64,
    /// Bytes on the wire between start and finish.
    pub(crate) wire_bytes: u64,
    /// What the lanes' threads did between start and finish; zeros unless that is asked for.
    pub(crate) sections: Sections,
}

impl Figures {
    /// Processor time of the process between start and finish.
    pub(crate) fn cpu(&self) -> Duration {
        self.cpu_at_finish.saturating_sub(self.cpu_at_start)
    }

    /// Of lanes that run side by side, or of parties in one process: from the earliest start to the latest finish.
    pub(crate) fn of_all<'a>(figures: impl IntoIterator<Item = &'a Self>) -> Self {
        figures.into_iter().copied().reduce(Self::beside).unwrap_or_default()
    }

    fn beside(self, other: Self) -> Self {
        Self {
            prepare: self.prepare.min(other.prepare),
            prepared: self.prepared.max(other.prepared),
            share: self.share.min(other.share),
            shared: self.shared.max(other.shared),
            start: self.start.min(other.start),
            computed: self.computed.max(other.computed),
            finish: self.finish.max(other.finish),
            opened: self.opened.max(other.opened),
            cpu_at_start: self.cpu_at_start.min(other.cpu_at_start),
            cpu_at_finish: self.cpu_at_finish.max(other.cpu_at_finish),
            peak_rss_bytes: self.peak_rss_bytes.max(other.peak_rss_bytes),
            wire_bytes: self.wire_bytes + other.wire_bytes,
            sections: std::array::from_fn(|section| self.sections[section] + other.sections[section]),
        }
    }
}

/// Where a party's lanes wait for one another before the online phase, so that none is timed while another still
/// shares its inputs.
pub(crate) struct Gate {
    lanes: usize,
    /// How many have come to the gate, counted through all parts.
    come: Mutex<usize>,
    all_here: Condvar,
}

/// How often a lane at the gate sees to its links meanwhile.
const LOOK: Duration = Duration::from_millis(1);

impl Gate {
    pub(crate) fn new(lanes: usize) -> Self {
        Self { lanes, come: Mutex::new(0), all_here: Condvar::new() }
    }

    /// Waits until all lanes are here for the `time`-th time, counted from 1. One that fails on its way ends the
    /// others' wait with an error.
    fn pass(&self, time: usize, engine: &mut dyn Engine) -> Result<(), Error> {
        let mut come = self.come.lock().unwrap_or_else(PoisonError::into_inner);
        *come += 1;
        self.all_here.notify_all();
        while *come < time * self.lanes {
            let waited = self.all_here.wait_timeout(come, LOOK);
            come = waited.unwrap_or_else(PoisonError::into_inner).0;
            if let Some(session) = engine.session() {
                session.mesh().tick()?;
            }
        }
        Ok(())
    }
}

/// Takes the time of one of a party's lanes.
pub(crate) struct Clock<'a> {
    gate: &'a Gate,
    /// Whether it looks into what the time goes into.
    profile: bool,
    /// Of the part that is on.
    figures: Figures,
    /// Of each part so far.
    pub(crate) parts: Vec<Figures>,
    /// How often this lane was at the gate.
    passed: usize,
}

impl<'a> Clock<'a> {
    pub(crate) fn new(gate: &'a Gate, profile: bool) -> Self {
        Self { gate, profile, figures: Figures::default(), parts: Vec::new(), passed: 0 }
    }

    /// Waits for this party's other lanes, and for all parties.
    fn barrier(&mut self, engine: &mut dyn Engine) -> Result<(), Error> {
        self.passed += 1;
        self.gate.pass(self.passed, engine)?;
        match engine.session() {
            Some(session) => Ok(session.barrier()?),
            None => Ok(()),
        }
    }
}

impl Observer for Clock<'_> {
    fn phase(&mut self, phase: Phase, engine: &mut dyn Engine) -> Result<(), Error> {
        if phase == Phase::Online && self.figures.start > Duration::ZERO {
            // It goes on after a check.
            return Ok(());
        }
        match phase {
            Phase::Offline => {
                self.figures = Figures::default();
                self.barrier(engine)?;
                self.figures.prepare = now();
            }
            Phase::Input => {
                if self.figures.prepare > Duration::ZERO {
                    self.figures.prepared = now();
                }
                self.barrier(engine)?;
                self.figures.share = now();
            }
            Phase::Online => {
                self.figures.shared = now();
                self.barrier(engine)?;
            }
            _ => {}
        }
        let figures = &mut self.figures;
        match phase {
            Phase::Online => {
                figures.wire_bytes = wire_sent(engine)?;
                figures.cpu_at_start = cpu_time();
                figures.start = now();
                if self.profile {
                    profile::start();
                }
            }
            Phase::Verify => figures.computed = now(),
            Phase::Output => {
                figures.finish = now();
                figures.sections = profile::take();
                figures.cpu_at_finish = cpu_time();
                figures.wire_bytes = wire_sent(engine)? - figures.wire_bytes;
                figures.peak_rss_bytes = peak_rss();
                self.parts.push(std::mem::take(figures));
            }
            Phase::Setup | Phase::Input | Phase::Offline => {}
        }
        Ok(())
    }
}

/// Bytes on the wire, once all is there that was sent.
fn wire_sent(engine: &mut dyn Engine) -> Result<u64, Error> {
    let Some(session) = engine.session() else { return Ok(0) };
    let mesh = session.mesh();
    mesh.push_out()?;
    Ok(mesh.counters().wire_total().sent)
}

pub(crate) fn now() -> Duration {
    clock(rustix::time::ClockId::Monotonic)
}

/// Processor time of this process, all its threads together.
pub(crate) fn cpu_time() -> Duration {
    clock(rustix::time::ClockId::ProcessCPUTime)
}

fn clock(id: rustix::time::ClockId) -> Duration {
    let time = rustix::time::clock_gettime(id);
    // Both clocks count up from zero.
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// The most memory that this process has had, in bytes; 0 where the system doesn't say.
pub(crate) fn peak_rss() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix("kB")).and_then(|text| text.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Forgets it, so that the most is counted from what the process has now, where the system can.
pub(crate) fn forget_peak_rss() {
    // Else the most of all is told, which is no less.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_timed_together() {
        let at = Duration::from_secs;
        let lane = |start, finish, bytes| Figures {
            prepare: at(start - 3),
            prepared: at(start - 1),
            share: at(start - 1),
            shared: at(start),
            start: at(start),
            computed: at(finish - 1),
            finish: at(finish),
            opened: at(finish + 1),
            cpu_at_start: at(start),
            cpu_at_finish: at(2 * finish),
            peak_rss_bytes: bytes,
            wire_bytes: bytes,
            sections: [at(bytes), at(1), at(0), at(0), at(0), at(0)],
        };
        let all = Figures::of_all(&[lane(5, 9, 1), lane(4, 8, 2), lane(6, 7, 4)]);
        assert_eq!(
            all,
            Figures {
                prepared: at(5),
                shared: at(6),
                peak_rss_bytes: 4,
                cpu_at_finish: at(18),
                sections: [at(7), at(3), at(0), at(0), at(0), at(0)],
                ..lane(4, 9, 7)
            }
        );
        assert_eq!(all.cpu(), at(14));
    }

    #[test]
    fn this_process_has_used_time_and_memory() {
        assert!(cpu_time() > Duration::ZERO);
        assert!(peak_rss() > 1 << 20);
        assert!(now() <= now());
    }
}
