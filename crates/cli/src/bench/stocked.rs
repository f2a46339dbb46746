//! `--store`: each party fills a store of supplies before what is measured, and the run draws from it.

use super::clock::now;
use super::spec::Spec;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;
use tacit::advanced::engine::Protocol;
use tacit::advanced::engine::executor::Unobserved;
use tacit::advanced::engine::supply::Stock;
use tacit::advanced::net::Mesh;
use tacit::{Error, Filling, StorePath, play_fill};

/// What it took a party.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Filled {
    /// When it began and ended, by the machine's monotonic clock.
    pub(crate) start: Duration,
    pub(crate) end: Duration,
    /// Payload bytes sent, without those of the handshake.
    pub(crate) sent_bytes: u64,
    /// Bytes on this party's disk.
    pub(crate) disk_bytes: u64,
}

impl Filled {
    /// From when the first party begins until all is on disk everywhere.
    pub(crate) fn elapsed(all: &[Self]) -> Duration {
        let start = all.iter().map(|filled| filled.start).min().unwrap_or_default();
        let end = all.iter().map(|filled| filled.end).max().unwrap_or_default();
        end.saturating_sub(start)
    }
}

/// Fills party `me`'s store, in a folder that is there for this run alone.
pub(super) fn fill(
    spec: &Spec,
    protocol: &dyn Protocol,
    filling: &Filling,
    mesh: Mesh,
    folder: &Path,
) -> Result<(Stock, Filled), Error> {
    let (parties, me) = (&spec.parties, mesh.me());
    let place = |what: &str| folder.join(format!("{}-{what}", parties[me]));
    let place = StorePath { store: place("store"), anchors: place("anchors") };
    let stock = Stock::new(place.open_supplies(protocol, parties, me)?);
    let start = now();
    let made = play_fill(protocol, parties, mesh, filling, &stock, &mut Unobserved)?;
    let (end, sent_bytes) = (now(), made.sent.iter().sum());
    Ok((stock, Filled { start, end, sent_bytes, disk_bytes: made.disk_bytes }))
}
