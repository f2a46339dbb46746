//! Digests of the components of what is opened, piece by piece: one of what a party confirms, one of what it received.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tacit_session::Session;
use tacit_threeparty::{next, prev};

/// What was hashed of an opening so far.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    /// Component `i - 1`, which `P_(i+1)` lacks.
    held: Sha256,
    /// Component `i + 1`, which this party lacks.
    received: Sha256,
}

impl Opened {
    /// Of an operation that opens, at party `me`. A digest binds the session, the plan within it, the operation, and
    /// which component it is of.
    pub(crate) fn new(session: &Session, op: u32, me: usize) -> Self {
        let begin = |component: usize| {
            let hash = Sha256::new_with_prefix("tacit replicated opening 1");
            let numbers = [session.first_operation().into(), u64::from(op), component as u64];
            numbers
                .iter()
                .fold(hash.chain_update(session.id()), |hash, number| hash.chain_update(number.to_le_bytes()))
        };
        Self { held: begin(prev(me)), received: begin(next(me)) }
    }

    /// A piece that another party sends, of the component that this one holds, too.
    pub(crate) fn add_held(&mut self, piece: &[u8]) {
        self.held.update(piece);
    }

    /// A piece that was received.
    pub(crate) fn add_received(&mut self, piece: &[u8]) {
        self.received.update(piece);
    }

    /// What this party confirms, once all pieces were added.
    pub(crate) fn digest_of_held(&mut self) -> [u8; 32] {
        self.held.clone().finalize().into()
    }

    /// Whether what was received is what its other holder has.
    pub(crate) fn confirmed_by(self, theirs: &[u8]) -> bool {
        theirs.ct_eq(&self.received.finalize()).into()
    }
}
