//! Where requests that came together wait for one another.

use super::service::Service;
use crate::living::lock::locked;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};

/// What a step of one request comes to.
pub(super) type Outcome<S> = Result<<S as Service>::Outcome, String>;

pub(super) struct Meeting<S: Service> {
    seats: Mutex<Seats<S>>,
    /// A request wants something, or is answered.
    wants: Condvar,
    /// Requests are told something.
    tells: Condvar,
}

struct Seats<S: Service> {
    /// Requests that aren't answered yet.
    left: usize,
    /// What those want that wait, by their numbers.
    wanted: BTreeMap<usize, S::Step>,
    told: BTreeMap<usize, Outcome<S>>,
    /// Nobody tells them anything any more.
    is_over: bool,
}

/// Whoever tells requests what came of what they want. If that one panics, they don't wait for ever.
pub(super) struct Teller<'a, S: Service>(pub(super) &'a Meeting<S>);

impl<S: Service> Drop for Teller<'_, S> {
    fn drop(&mut self) {
        locked(&self.0.seats).is_over = true;
        self.0.tells.notify_all();
    }
}

impl<S: Service> Meeting<S> {
    pub(super) fn of(requests: usize) -> Self {
        let seats = Seats { left: requests, wanted: BTreeMap::new(), told: BTreeMap::new(), is_over: false };
        Self { seats: Mutex::new(seats), wants: Condvar::new(), tells: Condvar::new() }
    }

    /// What all requests want that aren't answered yet; nothing if all are.
    pub(super) fn all_wanted(&self) -> BTreeMap<usize, S::Step> {
        let waits = |seats: &mut Seats<S>| seats.wanted.len() < seats.left;
        let seats = locked(&self.seats);
        let mut seats = self.wants.wait_while(seats, waits).unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut seats.wanted)
    }

    pub(super) fn tell(&self, outcomes: impl Iterator<Item = (usize, Outcome<S>)>) {
        locked(&self.seats).told.extend(outcomes);
        self.tells.notify_all();
    }

    pub(super) fn want(&self, number: usize, step: S::Step) -> Outcome<S> {
        let mut seats = locked(&self.seats);
        seats.wanted.insert(number, step);
        self.wants.notify_one();
        let waits = |seats: &mut Seats<S>| !seats.is_over && !seats.told.contains_key(&number);
        let mut seats = self.tells.wait_while(seats, waits).unwrap_or_else(PoisonError::into_inner);
        seats.told.remove(&number).unwrap_or_else(|| Err("nothing came of it".to_owned()))
    }

    /// A request is answered.
    pub(super) fn leave(&self) {
        locked(&self.seats).left -= 1;
        self.wants.notify_one();
    }
}
