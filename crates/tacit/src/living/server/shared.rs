//! What all runs of a server share, and what one is.

use crate::auto_select::Measured;
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::kept::Kept;
use crate::living::asker::Job;
use crate::living::control::{Player, Proposal};
use crate::living::filler::Filler;
use crate::living::serving::Offer;
use crate::registry::Chosen;
use crate::report::Run;
use crate::state::fill::Fill;
use crate::state::values::State;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tacit_net::setup::Config;
use tacit_net::stream::Lent;
use tacit_net::{Mesh, Transport};

/// Changes the links of a run, for tests.
pub(super) type Wrap = Arc<dyn Fn(Lent) -> Box<dyn Transport> + Send + Sync>;

/// An offer, with what this party has to know of its program to take part in a run.
pub(super) struct Known {
    pub(super) offer: Offer,
    pub(super) endpoint: Endpoint,
}

/// What all runs share.
pub(crate) struct Shared {
    pub(super) config: Config,
    pub(super) chosen: Chosen,
    pub(super) offers: HashMap<[u8; 32], Known>,
    /// One run at a time has it.
    pub(super) store: Option<Mutex<Kept>>,
    /// What fills it in the background.
    pub(super) filler: Option<Arc<Filler>>,
    /// Runs hold it for a moment each.
    pub(super) state: Option<Arc<Mutex<State>>>,
    /// What fills slots in programs that are served.
    pub(super) fill: Fill,
    pub(super) wrap: Option<Wrap>,
    /// The links as they were measured last, if what runs hangs on them.
    pub(super) measured: Mutex<Option<Arc<Measured>>>,
}

impl Shared {
    /// The number of the last measurement of the links.
    #[cfg(test)]
    pub(crate) fn measurement(&self) -> Option<u64> {
        self.measured
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .as_ref()
            .map(|measured| measured.number)
    }
}

/// What a party has ready for a run that it wants.
pub(super) struct Ready {
    /// Nothing where no program is run.
    pub(super) endpoint: Option<Arc<Endpoint>>,
    pub(super) job: Job,
}

/// A run that has ended, and how.
pub(super) struct Ended {
    pub(super) proposal: Proposal,
    pub(super) result: Result<Run, Error>,
    /// What went wrong after its end here.
    pub(super) late: Option<Error>,
}

/// The mesh of a run: parties, then the clients that play in it. Others wait for a lane, so clients' waits add up.
pub(crate) fn mesh(links: Box<dyn Transport>, config: &Config, me: usize, players: &[Player]) -> Mesh {
    let parties = config.parties().iter().map(|party| &party.name);
    let names = parties.chain(players.iter().map(|player| &player.client)).cloned().collect();
    let mut mesh = Mesh::new(links, me, names, config.limits().clone());
    mesh.hurry(config.parties().len());
    mesh
}
