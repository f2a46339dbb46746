//! What is kept of a setup: for each peer the two halves of the extension, or one.

use crate::params::Params;
use crate::receiver::{Extended, Receiver};
use crate::sender::{Arrived, Sender};
use crate::tile::Secret;
use std::collections::VecDeque;
use tacit_session::Error;

/// In which direction OTs are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roles {
    /// In both, with separate secrets: of every OT asked for this party is the sender of one and the receiver of one.
    Both,
    /// This party is the sender.
    Sender,
    /// This party is the receiver.
    Receiver,
}

impl Roles {
    /// Whether this party is a sender.
    pub(crate) fn sends(self) -> bool {
        self != Self::Receiver
    }

    /// Whether this party is a receiver.
    pub(crate) fn receives(self) -> bool {
        self != Self::Sender
    }
}

/// OTs with some peers: what is kept of the setup, and how far the extension is.
///
/// The first failure is final: all secrets are wiped, and every later call fails with it. Only this object's are: whoever has
/// several of a session, or [products](crate::copee) beside them, drops all of them with the session.
pub struct Ot {
    pub(crate) params: Params,
    pub(crate) pairs: Vec<Pair>,
    /// For rows of a tile, and for the same with the other choice.
    pub(crate) memory: [Secret; 2],
    /// What ended it.
    pub(crate) failure: Option<Error>,
}

impl std::fmt::Debug for Ot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ot").field("params", &self.params).finish_non_exhaustive()
    }
}

impl Ot {
    /// The parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }
}

/// What there is with one peer.
pub(crate) struct Pair {
    pub(crate) peer: usize,
    pub(crate) sender: Option<Sender>,
    pub(crate) receiver: Option<Receiver>,
    /// Batches whose columns are here.
    pub(crate) arrived: VecDeque<Arrived>,
    /// Batches whose columns are sent.
    pub(crate) extended: VecDeque<Extended>,
    /// What batches were kept in.
    pub(crate) spare: (Vec<Arrived>, Vec<Extended>),
}

impl Pair {
    pub(crate) fn new(peer: usize, sender: Option<Sender>, receiver: Option<Receiver>) -> Self {
        Self {
            peer,
            sender,
            receiver,
            arrived: VecDeque::new(),
            extended: VecDeque::new(),
            spare: (Vec::new(), Vec::new()),
        }
    }
}
