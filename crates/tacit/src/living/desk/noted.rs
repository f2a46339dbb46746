//! Clients of which something is remembered for a while. Pure; nothing waits here.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Whose name is remembered, and until when.
#[derive(Default)]
pub(super) struct Noted(HashMap<String, Instant>);

impl Noted {
    /// These clients are remembered for so long from now on, or for longer if they are already.
    pub(super) fn note(&mut self, clients: impl IntoIterator<Item = String>, now: Instant, time: Duration) {
        self.0.retain(|_, until| now < *until);
        for client in clients {
            let until = self.0.entry(client).or_insert(now);
            *until = (*until).max(now + time);
        }
    }

    /// Whether a client is.
    pub(super) fn has(&self, client: &str, now: Instant) -> bool {
        self.0.get(client).is_some_and(|until| now < *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_noted_is_remembered_for_as_long_after_the_last_time() {
        let (mut noted, start) = (Noted::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        let time = Duration::from_mins(10);
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        noted.note(names(&["alice", "bob"]), start, time);
        noted.note(names(&["bob"]), after(300), time);
        let has = |seconds| ["alice", "bob", "carol"].map(|name| noted.has(name, after(seconds)));
        assert_eq!(has(599), [true, true, false]);
        assert_eq!(has(600), [false, true, false]);
        assert_eq!(has(900), [false; 3]);
        noted.note(names(&["carol"]), after(900), time);
        assert_eq!(noted.0.len(), 1);
    }
}
