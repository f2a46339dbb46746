//! What a server is doing at the moment, for other threads to read.

use super::desk::Desk;
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
#[derive(Clone, Debug, Default)]
pub struct Gauges(Arc<Mutex<Reading>>);

impl Gauges {
    /// How it stood when it last did something.
    pub fn read(&self) -> Reading {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, hub: &Hub, desk: &Desk, lanes: usize, attempts: u64) {
        let (links, all_links) = hub.links();
        let (waiting, running, clients) = (desk.waiting(), desk.running(), hub.guests());
        let reading = Reading { waiting, running, lanes, clients, links, all_links, attempts };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = reading;
    }
}
