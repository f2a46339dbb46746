//! What a server is doing at the moment, for other threads to read.

use super::desk::Desk;
use super::filler::{Filler, Level};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tacit_net::setup::Hub;

/// How a server stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// Requests whose runs haven't begun.
    pub waiting: usize,
    /// Runs under way.
    pub running: usize,
    /// Runs under way at most.
    pub lanes: usize,
    /// Connections of clients.
    pub clients: usize,
    /// Links to other parties that are there.
    pub links: usize,
    /// Links to other parties, if all are there.
    pub all_links: usize,
    /// Attempts so far ([`Error::is_attempt`](crate::Error::is_attempt)).
    pub attempts: u64,
}

/// Reads how a [`Server`](super::Server) stands, from any thread.
#[derive(Clone, Default)]
pub struct Gauges {
    reading: Arc<Mutex<Reading>>,
    filler: Option<Arc<Filler>>,
}

impl Gauges {
    pub(super) fn of(filler: Option<Arc<Filler>>) -> Self {
        Self { filler, ..Self::default() }
    }

    /// How much there is of what is filled in the background, if anything is.
    pub fn levels(&self) -> Vec<Level> {
        self.filler.as_ref().map_or_else(Vec::new, |filler| filler.levels())
    }

    /// How much of what is being made for the store is done, from 0 to 1, if something is being made.
    pub fn filling(&self) -> Option<f64> {
        self.filler.as_ref().and_then(|filler| filler.progress())
    }

    /// How it stood when it last did something.
    pub fn read(&self) -> Reading {
        *self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, hub: &Hub, desk: &Desk, lanes: usize, attempts: u64) {
        let (links, all_links) = hub.links();
        let (waiting, running, clients) = (desk.waiting(), desk.running(), hub.guests());
        let reading = Reading { waiting, running, lanes, clients, links, all_links, attempts };
        *self.reading.lock().unwrap_or_else(PoisonError::into_inner) = reading;
    }
}

impl fmt::Debug for Gauges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gauges").field("reading", &self.reading).finish_non_exhaustive()
    }
}
