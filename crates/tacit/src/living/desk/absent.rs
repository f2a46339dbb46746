//! Clients of which some party lacked a request that was to be an instance of a run of several. Pure; nothing waits here.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long a client's requests run alone once one was missed: its path to a party may be mended, and the party may have lied.
const REMEMBERED: Duration = Duration::from_mins(10);

/// Who was missed, and when last.
#[derive(Default)]
pub(super) struct Absent(HashMap<String, Instant>);

impl Absent {
    /// These clients were missed.
    pub(super) fn note(&mut self, clients: impl IntoIterator<Item = String>, now: Instant) {
        self.0.retain(|_, then| now.saturating_duration_since(*then) < REMEMBERED);
        self.0.extend(clients.into_iter().map(|client| (client, now)));
    }

    /// Whether a client's requests run alone.
    pub(super) fn has(&self, client: &str, now: Instant) -> bool {
        self.0.get(client).is_some_and(|then| now.saturating_duration_since(*then) < REMEMBERED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_missed_is_company_again_ten_minutes_after_the_last_time() {
        let (mut absent, start) = (Absent::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        absent.note(names(&["alice", "bob"]), start);
        absent.note(names(&["bob"]), after(300));
        let alone = |seconds| ["alice", "bob", "carol"].map(|name| absent.has(name, after(seconds)));
        assert_eq!(alone(599), [true, true, false]);
        assert_eq!(alone(600), [false, true, false]);
        assert_eq!(alone(900), [false; 3]);
        absent.note(names(&["carol"]), after(900));
        assert_eq!(absent.0.len(), 1);
    }
}
