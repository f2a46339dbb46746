//! What runs took, as servers write it into their logs and the bench reads it there.

use std::fmt;
use std::str::FromStr;
use tacit::{Report, Traffic};

/// What one server's part in a run took, or in several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Took {
    /// Requests that the run was for.
    pub requests: u64,
    /// Rounds of the run.
    pub rounds: u64,
    /// Bytes that this server sent, its links' own not counted.
    pub bytes: u64,
    /// Those of its links, with framing and encryption.
    pub wire: u64,
}

impl Took {
    /// What the report of a run for so many requests says.
    pub fn of(report: &Report, requests: usize) -> Self {
        let own = || report.endpoints.iter().map(|(_, traffic)| traffic);
        let (bytes, wire) = (own().map(Traffic::payload).sum(), own().map(|traffic| traffic.wire).sum());
        Self { requests: requests as u64, rounds: report.rounds, bytes, wire }
    }

    /// All that a log says, from its beginning. Other lines don't count.
    pub fn all(log: &str) -> impl Iterator<Item = Self> {
        log.lines().filter_map(|line| line.parse().ok())
    }
}

impl fmt::Display for Took {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requests, rounds, bytes, wire } = self;
        write!(formatter, "ran: requests {requests}, rounds {rounds}, bytes {bytes}, wire {wire}")
    }
}

impl FromStr for Took {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let parts: Vec<&str> = line.split([' ', ',', ':']).filter(|part| !part.is_empty()).collect();
        let ["ran", "requests", requests, "rounds", rounds, "bytes", bytes, "wire", wire] = parts[..] else {
            return Err(());
        };
        let number = |text: &str| text.parse().map_err(|_| ());
        let (requests, rounds) = (number(requests)?, number(rounds)?);
        Ok(Self { requests, rounds, bytes: number(bytes)?, wire: number(wire)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_took_comes_back_from_a_log() {
        let first = Took { requests: 3, rounds: 1058, bytes: 9249, wire: 50_321 };
        let second = Took { requests: 1, ..first };
        let log = format!("P0 serves R\n{first}\nann for krbtgt: issued\nran: requests 3\n{second}\n");
        assert_eq!(Took::all(&log).collect::<Vec<_>>(), [first, second]);
    }
}
