//! What the parties keep, and the sizes of what they send, to open outputs to all or nobody.

use std::time::Duration;
use tacit_kernel::Buffer;
use tacit_session::Session;
use tacit_threeparty::PARTIES;
use zeroize::Zeroizing;

/// Bytes of what says that a check passed.
pub(crate) const ACCEPTANCE: usize = Session::ACCEPTANCE_BYTES as usize;

/// Bytes of a commitment.
pub(crate) const COMMITMENT: usize = 32;

/// Bytes of what opens a commitment, besides what was committed to.
pub(crate) const OPENING: usize = 32;

/// Bytes of a proof that `P_0` aborts.
pub(crate) const PROOF: usize = 16;

/// Bytes of what `P_0` says: whether it aborts, and if so the proof and its opening.
pub(crate) const SIGNAL: usize = 1 + PROOF + OPENING;

/// Bytes of what an evaluator says of it.
pub(crate) const REPORT: usize = 1 + PROOF;

/// What opens outputs to all.
#[derive(Default)]
pub(crate) struct Fair {
    /// What opens the commitments to this party's components.
    pub(crate) openings: [Zeroizing<[u8; OPENING]>; PARTIES],
    /// The commitment to the component that this party lacks.
    pub(crate) promised: [u8; COMMITMENT],
    /// When all openings are here.
    pub(crate) deadline: Duration,
    /// The components that were opened, once they are here; only of outputs that this party learns.
    pub(crate) opened: Vec<Option<Buffer>>,
}

/// The role that lacks a component, and the component that a role lacks.
pub(crate) const fn lacking(number: usize) -> usize {
    (PARTIES - number) % PARTIES
}

/// Who else holds a component.
pub(crate) fn holder_beside(me: usize, component: usize) -> usize {
    PARTIES - me - lacking(component)
}
