//! What one party's run took, from the barrier before the online phase to the end of verification.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use tacit::engine::{Engine, Error, Observer};
use tacit::net::Phase;

/// One party's figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// When the online phase began, ended (verification begins), and when all was verified: by the machine's
    /// monotonic clock, which its processes share.
    pub(crate) start: Duration,
    pub(crate) computed: Duration,
    pub(crate) finish: Duration,
    /// Processor time of the process between start and finish.
    pub(crate) cpu: Duration,
    /// The most memory that the process has had by the finish.
    pub(crate) peak_rss_bytes: u64,
    /// Bytes on the wire between start and finish.
    pub(crate) wire_bytes: u64,
    /// Payload bytes sent, by phase in the order of [`Phase::ALL`].
    pub(crate) sent_bytes: [u64; Phase::ALL.len()],
    /// Rounds of the online phase.
    pub(crate) rounds: u32,
}

/// Takes the time of one party.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    pub(crate) figures: Figures,
}

impl Observer for Clock {
    fn phase(&mut self, phase: Phase, engine: &mut dyn Engine) -> Result<(), Error> {
        let figures = &mut self.figures;
        match phase {
            Phase::Online => {
                if let Some(session) = engine.session() {
                    session.barrier()?;
                }
                figures.wire_bytes = wire_sent(engine);
                figures.cpu = cpu_time();
                figures.start = now();
            }
            Phase::Verify => figures.computed = now(),
            Phase::Output => {
                figures.finish = now();
                figures.cpu = cpu_time().saturating_sub(figures.cpu);
                figures.wire_bytes = wire_sent(engine) - figures.wire_bytes;
                figures.peak_rss_bytes = peak_rss();
            }
            Phase::Setup | Phase::Input | Phase::Offline => {}
        }
        Ok(())
    }
}

fn wire_sent(engine: &mut dyn Engine) -> u64 {
    engine.session().map_or(0, |session| session.mesh().counters().wire_total().sent)
}

fn now() -> Duration {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_used_time_and_memory() {
        assert!(cpu_time() > Duration::ZERO);
        assert!(peak_rss() > 1 << 20);
        assert!(now() <= now());
    }
}
