//! What everything in a direction of OTs is bound to: the session, its lane, who sends and who receives, the caller's
//! number and the parameters.

use crate::params::Params;
use crate::planted::{Mistake, planted};
use sha2::{Digest, Sha256, Sha512};
use tacit_session::Session;

/// The hash of all that a direction's keys depend on. It is public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Context([u8; 32]);

impl Context {
    /// Of the OTs that `sender` sends `receiver`, under the caller's number.
    pub(crate) fn new(session: &Session, [sender, receiver]: [usize; 2], op: u32, params: &Params) -> Self {
        if planted(Mistake::ContextUnbound) {
            return Self([0; 32]);
        }
        let numbers = [
            u64::from(session.lane()),
            sender as u64,
            receiver as u64,
            u64::from(session.first_operation()),
            u64::from(op),
        ];
        Self(Self([0; 32]).hash("context", &numbers, &[session.id(), params.to_string().as_bytes()]))
    }

    /// The hash itself.
    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The same for one of several uses.
    pub(crate) fn within(&self, purpose: &str) -> Self {
        Self(self.hash("within", &[], &[purpose.as_bytes()]))
    }

    /// A context for tests of pure parts.
    #[cfg(test)]
    pub(crate) fn of(number: u8) -> Self {
        Self([number; 32])
    }

    /// A hash for one purpose, of numbers and byte strings: everything is preceded by its length.
    pub(crate) fn hash(&self, label: &str, numbers: &[u64], parts: &[&[u8]]) -> [u8; 32] {
        self.absorb(Sha256::new_with_prefix(b"tacit ot 1"), label, numbers, parts).finalize().into()
    }

    /// The same, twice as long.
    pub(crate) fn wide_hash(&self, label: &str, numbers: &[u64], parts: &[&[u8]]) -> [u8; 64] {
        self.absorb(Sha512::new_with_prefix(b"tacit ot 1"), label, numbers, parts).finalize().into()
    }

    fn absorb<D: Digest>(&self, mut hash: D, label: &str, numbers: &[u64], parts: &[&[u8]]) -> D {
        hash.update(self.0);
        hash.update([label.len() as u8, numbers.len() as u8]);
        hash.update(label);
        for number in numbers {
            hash.update(number.to_le_bytes());
        }
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_in_a_hash_matters() {
        let context = Context::of(1);
        let hashes = [
            context.hash("a", &[1, 2], &[b"xy", b"z"]),
            Context::of(2).hash("a", &[1, 2], &[b"xy", b"z"]),
            context.hash("b", &[1, 2], &[b"xy", b"z"]),
            context.hash("a", &[1, 3], &[b"xy", b"z"]),
            context.hash("a", &[1], &[b"xy", b"z"]),
            context.hash("a", &[1, 2], &[b"x", b"yz"]),
            context.hash("a", &[1, 2], &[b"xyz"]),
        ];
        for (i, one) in hashes.iter().enumerate() {
            assert!(hashes[i + 1..].iter().all(|other| one != other), "hash {i}");
        }
    }
}
