//! When requests go to the servers: at once if nothing else is there. While a batch is under way what comes waits for others, so
//! that it goes in one batch: runs take as many rounds for many requests as for one. But servers that wait for one another's
//! messages can compute for another batch, so half of what a batch may have goes beside one.

use crate::wire::MAX_BATCH;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long others are waited for once a batch has ended: many of those who were in it come back.
const MOMENT: Duration = Duration::from_millis(10);

/// As many as are worth rounds of their own beside those of another batch.
const BESIDE: usize = MAX_BATCH / 2;

/// The longest that requests wait for others' batches to end, from when a thread has them: then they go beside them.
const LONGEST: Duration = Duration::from_secs(1);

/// The batches that are under way.
#[derive(Default)]
pub(super) struct Pace(Mutex<Batches>);

#[derive(Default)]
struct Batches {
    under_way: usize,
    /// When the last one ended.
    ended: Option<Instant>,
}

/// Requests that go together; they are under way until this is dropped.
pub(super) struct Batch<'p> {
    pub(super) requests: Vec<Vec<u8>>,
    pace: &'p Pace,
}

impl Pace {
    /// The next ones, or nothing if none can come any more. One thread asks at a time.
    pub(super) fn next(&self, queue: &Receiver<Vec<u8>>) -> Option<Batch<'_>> {
        let mut requests = vec![queue.recv().ok()?];
        requests.extend(queue.try_iter().take(MAX_BATCH - 1));
        let since = Instant::now();
        let mut goes = self.rests_for(MOMENT);
        while !goes && !self.has_room(requests.len()) {
            goes = match queue.recv_timeout(MOMENT) {
                Ok(request) => {
                    requests.push(request);
                    false
                }
                Err(RecvTimeoutError::Timeout) => self.rests_for(Duration::ZERO),
                Err(RecvTimeoutError::Disconnected) => true,
            };
            goes |= since.elapsed() >= LONGEST;
        }
        self.batches().under_way += 1;
        Some(Batch { requests, pace: self })
    }

    /// Whether no batch is under way, nor was within such a time.
    fn rests_for(&self, time: Duration) -> bool {
        let batches = self.batches();
        batches.under_way == 0 && batches.ended.is_none_or(|ended| ended.elapsed() >= time)
    }

    /// Whether so many requests go, whatever else may come: a full batch, and half a one if at most one is under way.
    fn has_room(&self, requests: usize) -> bool {
        requests >= MAX_BATCH || requests >= BESIDE && self.batches().under_way < 2
    }

    fn batches(&self) -> MutexGuard<'_, Batches> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let mut batches = self.pace.batches();
        batches.under_way -= 1;
        batches.ended = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;
    use std::thread;

    #[test]
    fn what_comes_while_a_batch_is_under_way_goes_together_after_it() {
        let (pace, (requests, queue)) = (Pace::default(), sync_channel(2 * MAX_BATCH));
        let queue = Mutex::new(queue);
        let send = |number: u16| requests.send(number.to_be_bytes().to_vec()).unwrap();
        let next = || pace.next(&queue.lock().unwrap());
        send(0);
        let first = next().unwrap();
        assert_eq!(first.requests, [[0, 0]], "a lone one goes at once");
        let second = thread::scope(|scope| {
            let waiting = scope.spawn(|| next().unwrap());
            (1..=5).for_each(send);
            thread::sleep(3 * MOMENT);
            assert!(!waiting.is_finished(), "they wait for the first one");
            send(6);
            drop(first);
            waiting.join().unwrap()
        });
        assert_eq!(second.requests.len(), 6);
        // Half a full batch goes beside another one, and beside two of them a full one alone.
        let (half, all) = (BESIDE as u16, (BESIDE + MAX_BATCH) as u16);
        (0..half).for_each(send);
        let beside = next().unwrap();
        assert_eq!(beside.requests.len(), BESIDE);
        let third = thread::scope(|scope| {
            let waiting = scope.spawn(|| next().unwrap());
            (half..2 * half).for_each(send);
            thread::sleep(3 * MOMENT);
            assert!(!waiting.is_finished(), "two are under way");
            (2 * half..all).for_each(send);
            waiting.join().unwrap()
        });
        assert_eq!(third.requests.len(), MAX_BATCH);
        send(all);
        let since = Instant::now();
        // And so does one that has waited for long enough.
        assert_eq!(next().unwrap().requests, [all.to_be_bytes()]);
        assert!(since.elapsed() >= LONGEST);
        drop((second, beside, third));
        drop(requests);
        assert!(next().is_none());
    }
}
