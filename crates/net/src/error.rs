//! What can go wrong between parties: who, in which phase, at which step, and what.

use std::fmt;
use std::time::Duration;

use tacit_wire::{At, Phase};

/// Why a run over a [`crate::Mesh`] ended, or why a call was refused.
///
/// Everything but [`ErrorKind::WrongUse`] is final: the mesh returns the first such error from every later call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Detail>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Detail {
    what: ErrorKind,
    phase: Phase,
    peer: Option<Named>,
    doing: Option<Doing>,
}

/// An endpoint's number and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its number.
    pub index: usize,
    /// Its name in the configuration.
    pub name: String,
}

/// What this party was about when the error came up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doing {
    /// It waited for a message.
    Receiving {
        /// From whom.
        from: Named,
        /// Which.
        at: At,
    },
    /// It waited for room to send one.
    Sending {
        /// To whom.
        to: Named,
        /// Which.
        at: At,
    },
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The connection ended without a goodbye, or before a message that was still to come.
    #[error("{how}")]
    Closed {
        /// As the link puts it: `closed the connection`.
        how: String,
    },
    /// Nothing was heard of the peer.
    #[error("silent for {:.1} s", after.as_secs_f64())]
    Silent {
        /// For how long.
        after: Duration,
    },
    /// The peer kept sounding alive but sent nothing, or took nothing.
    #[error("alive, but no progress for {:.1} s", after.as_secs_f64())]
    Stalled {
        /// For how long.
        after: Duration,
    },
    /// The peer was slow in all that it sent or took, and each time alive: see [`crate::Mesh::hurry`].
    #[error("too slow: waited for {:.1} s in all", waited.as_secs_f64())]
    Slow {
        /// For how long, less what its bytes may take.
        waited: Duration,
    },
    /// The peer said that the run is over.
    #[error("{origin} aborted: {reason}")]
    Aborted {
        /// The name of the endpoint that stopped first, as the peer has it: of a client that was lost or sent what it should
        /// not, that client's.
        origin: String,
        /// Its reason, as the peer has it.
        reason: String,
        /// Whether the reason is a check that failed ([`crate::Mesh::accuse`]), and not a link that was lost or the like.
        check_failed: bool,
    },
    /// This party itself gave the run up.
    #[error("aborted: {reason}")]
    GaveUp {
        /// The reason.
        reason: String,
    },
    /// The peer's next message is another than the one this party is at.
    #[error("sent the message of {got} where {expected} was due")]
    WrongAddress {
        /// The address that was due.
        expected: At,
        /// The address that came.
        got: At,
    },
    /// The message has another length than it must have.
    #[error("sent {got} bytes where {expected} were due")]
    WrongLength {
        /// Bytes that were due.
        expected: usize,
        /// Bytes that came.
        got: usize,
    },
    /// The message is longer than allowed.
    #[error("sent {got} bytes where at most {limit} are allowed")]
    TooLong {
        /// Bytes allowed.
        limit: usize,
        /// Bytes that came, or that a header announced.
        got: usize,
    },
    /// The peer's bytes are not what a peer sends.
    #[error("sent what no party sends: {detail}")]
    Malformed {
        /// In what way.
        detail: String,
    },
    /// The call itself is wrong; nothing was sent or received, and the mesh works on.
    #[error("wrong use: {detail}")]
    WrongUse {
        /// In what way.
        detail: String,
    },
}

impl Error {
    pub(crate) fn new(what: ErrorKind, phase: Phase, peer: Option<Named>, doing: Option<Doing>) -> Self {
        Self(Box::new(Detail { what, phase, peer, doing }))
    }

    /// What happened.
    pub fn what(&self) -> &ErrorKind {
        &self.0.what
    }

    /// The phase this party was in.
    pub fn phase(&self) -> Phase {
        self.0.phase
    }

    /// The peer at fault, or that brought the news; `None` if it was this party.
    pub fn peer(&self) -> Option<&Named> {
        self.0.peer.as_ref()
    }

    /// What this party was waiting for, if it was waiting.
    pub fn doing(&self) -> Option<&Doing> {
        self.0.doing.as_ref()
    }

    /// The address of the message that this party was waiting to receive or to send.
    pub fn at(&self) -> Option<At> {
        self.doing().map(|(Doing::Receiving { at, .. } | Doing::Sending { at, .. })| *at)
    }

    /// The same in words, for whoever looks for a fault in Tacit: `while waiting for op 17, batch 3 of P2`.
    pub fn address(&self) -> Option<String> {
        self.doing().map(|doing| match doing {
            Doing::Receiving { from, at } => format!("while waiting for {at} of {}", from.name),
            Doing::Sending { to, at } => format!("while sending {at} to {}", to.name),
        })
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    /// `lost P1 (closed the connection) in the online phase (waiting for P2)`, the last if it was another who was waited for:
    /// that one may be at fault. Which message it was is [`Error::address`], so that what one endpoint tells another has no
    /// addresses in addresses. The reason of an abort says its phase itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Detail { what, phase, peer, doing } = &*self.0;
        let name = peer.as_ref().map_or("this party", |peer| peer.name.as_str());
        match what {
            ErrorKind::Closed { .. }
            | ErrorKind::Silent { .. }
            | ErrorKind::Stalled { .. }
            | ErrorKind::Slow { .. } => {
                write!(f, "lost {name} ({what})")?;
            }
            ErrorKind::Aborted { origin, reason, .. } if origin == name => {
                write!(f, "{name} aborted: {reason}")?;
            }
            ErrorKind::Aborted { origin, reason, .. } => {
                write!(f, "{name} says that the run ended at {origin}: {reason}")?;
            }
            ErrorKind::WrongUse { .. } => write!(f, "{what}")?,
            _ => write!(f, "{name} {what}")?,
        }
        if !matches!(what, ErrorKind::Aborted { .. }) {
            write!(f, " in the {phase} phase")?;
        }
        match doing {
            Some(Doing::Receiving { from, .. }) if Some(from) != peer.as_ref() => {
                write!(f, " (waiting for {})", from.name)
            }
            Some(Doing::Sending { to, .. }) if Some(to) != peer.as_ref() => {
                write!(f, " (sending to {})", to.name)
            }
            _ => Ok(()),
        }
    }
}
