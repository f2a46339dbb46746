//! What was asked a moment ago. Clients ask again after a second, by UDP and by TCP, and each wants an answer: who asks while the
//! servers are at it waits for the same reply, and whoever asks soon after has it.

use crate::messages;
use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a reply is kept for the same request.
const KEPT: Duration = Duration::from_secs(10);

/// Requests that the servers are at, and replies.
#[derive(Default)]
pub(super) struct Aside(Mutex<Asked>);

/// A reply, if there is one.
type Reply = Option<Vec<u8>>;

#[derive(Default)]
struct Asked {
    waiting: HashMap<Vec<u8>, Vec<SyncSender<Reply>>>,
    told: HashMap<Vec<u8>, Vec<u8>>,
    /// Those, and since when, the oldest first.
    since: VecDeque<(Instant, Vec<u8>)>,
}

/// What becomes of a request.
pub(super) enum Joined {
    /// It had this reply a moment ago.
    Told(Vec<u8>),
    /// It is being answered.
    Waits(Receiver<Reply>),
    /// It is new: whoever hears this has it answered.
    IsNew(Receiver<Reply>),
}

impl Aside {
    pub(super) fn join(&self, request: &[u8]) -> Joined {
        let mut asked = self.asked();
        while let Some((_, oldest)) = asked.since.pop_front_if(|(since, _)| since.elapsed() >= KEPT) {
            asked.told.remove(&oldest);
        }
        if let Some(reply) = asked.told.get(request) {
            return Joined::Told(reply.clone());
        }
        let (sender, reply) = sync_channel(1);
        if let Some(waiting) = asked.waiting.get_mut(request) {
            waiting.push(sender);
            return Joined::Waits(reply);
        }
        asked.waiting.insert(request.to_owned(), vec![sender]);
        Joined::IsNew(reply)
    }

    /// Tells all who wait. Errors aren't kept: what is refused now may be granted in a moment.
    pub(super) fn end(&self, request: &[u8], reply: Reply) {
        let mut asked = self.asked();
        for sender in asked.waiting.remove(request).unwrap_or_default() {
            // Who doesn't wait any more asks again if it likes.
            let _ = sender.send(reply.clone());
        }
        if let Some(reply) = reply.filter(|reply| messages::read_error(reply).is_none()) {
            asked.told.insert(request.to_owned(), reply);
            asked.since.push_back((Instant::now(), request.to_owned()));
        }
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_answered_once_and_all_who_sent_it_have_the_reply() {
        let aside = Aside::default();
        let Joined::IsNew(first) = aside.join(b"request") else { panic!("it is new") };
        let Joined::Waits(second) = aside.join(b"request") else { panic!("it is being answered") };
        assert!(matches!(aside.join(b"another"), Joined::IsNew(_)));
        drop(first);
        aside.end(b"request", Some(b"reply".to_vec()));
        assert_eq!(second.recv().unwrap(), Some(b"reply".to_vec()));
        assert!(matches!(aside.join(b"request"), Joined::Told(reply) if reply == b"reply"));
        // Nothing is kept of a request that had no reply or an error.
        aside.end(b"another", None);
        assert!(matches!(aside.join(b"another"), Joined::IsNew(_)));
        let error = messages::error(messages::Code::Unavailable, 5, "R", None, None);
        aside.end(b"another", Some(error));
        assert!(matches!(aside.join(b"another"), Joined::IsNew(_)));
    }
}
