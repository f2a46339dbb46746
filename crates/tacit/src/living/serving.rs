//! How a party serves, and what.

use crate::compiled::Compiled;
use crate::filling::Filling;
use crate::kept::Kept;
use crate::state::fill::Fill;
use crate::state::values::State;
use std::sync::Arc;
use std::time::Duration;
use tacit_program::Value;

/// A program that a party serves, with what the party itself gives to each run of it.
pub struct Offer {
    /// The program.
    pub compiled: Arc<Compiled>,
    /// A value for each input that is this party's to give, by the index of the input.
    pub inputs: Vec<Option<Value>>,
}

/// What a party has that runs of programs go on.
#[derive(Default)]
pub struct Holdings {
    /// A store of material or supplies.
    pub store: Option<Kept>,
    /// What is kept between runs, and which value fills each slot, or what of it requests may choose.
    pub state: Option<(State, Fill)>,
}

/// How many runs wait to be at most, usually.
pub(crate) const QUEUE: usize = 256;

/// How a party serves.
pub struct Serving {
    /// The protocol's name with its parameters, the same for everybody.
    pub protocol: String,
    /// Runs at a time at most, the same for all parties: each has links of its own. One at a time uses a store; and runs of a
    /// protocol that has no lanes ([`Protocol::admit_lanes`](tacit_engine::Protocol::admit_lanes)) take turns.
    pub at_once: u16,
    /// Runs that wait to be at most; a request for another one is told that the parties are busy.
    pub queue: usize,
    /// Instances that a run has at most: requests of one program are instances of one run, which is a run of as many clients.
    /// With 1 each request is a run by itself; 16 is the most. All parties have to allow it.
    pub batch: usize,
    /// How long a run that is ready waits at the first party for others of its program, if a run may have several instances.
    /// Without waiting there are several wherever requests wait for a lane.
    pub window: Duration,
    /// After so many runs it ends by itself.
    pub runs: Option<u64>,
    /// Bytes of memory that registers of one component of the sharing may take in all runs under way together; protocols have
    /// up to three components, and checks and tiles take memory of their own. A program that could take more is refused before
    /// anything runs; with `None` none is.
    pub memory: Option<u64>,
    /// The names of programs that any client may play which is enrolled. Every other name is played by the client alone whose
    /// name it is.
    pub open: Vec<String>,
    /// What it holds.
    pub holdings: Holdings,
    /// What its store of supplies is filled with in the background, as soon as no epoch has as much unused: the same for all
    /// parties. It takes a lane beside runs.
    pub filling: Option<Filling>,
}

impl Serving {
    /// Under a protocol, so many runs at a time: each of one request, however many there are, of programs that need nothing
    /// held and whose names each belong to one client. At most 256 runs wait to be.
    pub fn new(protocol: impl Into<String>, at_once: u16) -> Self {
        Self {
            protocol: protocol.into(),
            at_once,
            queue: QUEUE,
            batch: 1,
            window: Duration::ZERO,
            runs: None,
            memory: None,
            open: Vec::new(),
            holdings: Holdings::default(),
            filling: None,
        }
    }
}
