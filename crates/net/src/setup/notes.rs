//! What is told while endpoints are brought together.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::SetupError;

/// How long the same peers are missing before it is told who they are.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is told while endpoints are brought together. Names are those of the own configuration.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Note<'a> {
    /// These have been missing for two seconds.
    Waiting(&'a [&'a str]),
    /// Somebody called and was turned away.
    TurnedAway(&'a TurnedAway),
    /// A party can't take part as it is; it is called again after a while.
    Unfit(&'a SetupError),
    /// The list of clients was changed and can't be read: what it was holds on.
    Unread(&'a SetupError),
}

/// Is told notes. It must not wait for anything: nobody is heard meanwhile.
pub type Notes = Arc<dyn Fn(Note<'_>) + Send + Sync>;

/// Notes that nobody is told.
pub fn quiet() -> Notes {
    Arc::new(|_| {})
}

/// Somebody who called and was turned away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnedAway {
    /// Where the call came from, the last time.
    pub from: SocketAddr,
    /// Why it came to nothing.
    pub why: String,
    /// How often the same host was turned away so.
    pub times: u64,
}

impl fmt::Display for TurnedAway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, why, times } = self;
        write!(f, "{from} {why}")?;
        if *times > 1 { write!(f, " ({times} times)") } else { Ok(()) }
    }
}

/// Who is missing, by number or by name, and since when it is just these.
pub struct Vacant<T> {
    peers: Vec<T>,
    since: Instant,
    told: bool,
}

impl<T> Default for Vacant<T> {
    /// Nobody is missing.
    fn default() -> Self {
        Self { peers: Vec::new(), since: Instant::now(), told: false }
    }
}

impl<T: PartialEq + Clone> Vacant<T> {
    /// How long until it is time to tell who is missing, if it will be.
    pub fn pause(&self) -> Option<Duration> {
        let untold = !self.told && !self.peers.is_empty();
        untold.then(|| PATIENCE.saturating_sub(self.since.elapsed()))
    }

    /// Whether it is time to tell who is missing: once these have been for some time.
    pub fn is_to_be_told(&mut self, peers: &[T]) -> bool {
        if self.peers != peers {
            *self = Self { peers: peers.to_vec(), since: Instant::now(), told: false };
        }
        let now = !self.told && !self.peers.is_empty() && self.since.elapsed() >= PATIENCE;
        self.told |= now;
        now
    }
}
