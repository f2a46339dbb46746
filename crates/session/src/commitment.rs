//! Commitments: SHA-256 over everything that must not be mixed up, with 256 bits of fresh randomness.

use crate::{Entropy, Error};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// What is sent first. Hiding because of the opening's randomness, binding because of the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commitment(pub [u8; 32]);

/// What opens a commitment, besides the value.
#[derive(Clone, PartialEq, Eq)]
pub struct Opening(pub [u8; 32]);

impl std::fmt::Debug for Opening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Opening")
    }
}

impl Commitment {
    /// Commits `sender` to `value`, within the session `id` and under a `label` that says what for.
    ///
    /// # Errors
    /// If `entropy` has none.
    pub fn new(
        id: &[u8; 32],
        sender: usize,
        label: &str,
        value: &[u8],
        entropy: &mut dyn Entropy,
    ) -> Result<(Self, Opening), Error> {
        let mut opening = Opening([0; 32]);
        entropy.fill(&mut opening.0)?;
        Ok((Self::of(id, sender, label, value, &opening), opening))
    }

    /// Whether `value` and `opening` are what `sender` committed to, there and for that. Constant-time.
    pub fn opens_to(
        &self,
        id: &[u8; 32],
        sender: usize,
        label: &str,
        value: &[u8],
        opening: &Opening,
    ) -> bool {
        self.0.ct_eq(&Self::of(id, sender, label, value, opening).0).into()
    }

    /// The value in a message that opens `committed`, which `sender` sent: the value and the opening, one after the other.
    /// `None` if it doesn't fit. Both may be any bytes of a peer's.
    pub fn opened<'m>(
        committed: &[u8],
        id: &[u8; 32],
        sender: usize,
        label: &str,
        message: &'m [u8],
    ) -> Option<&'m [u8]> {
        let (value, opening) = message.split_last_chunk()?;
        let fits = Self(committed.try_into().ok()?).opens_to(id, sender, label, value, &Opening(*opening));
        fits.then_some(value)
    }

    fn of(id: &[u8; 32], sender: usize, label: &str, value: &[u8], opening: &Opening) -> Self {
        let mut hash = Sha256::new_with_prefix(b"tacit commitment 1");
        for field in [id.as_slice(), &(sender as u64).to_le_bytes(), label.as_bytes(), &opening.0, value] {
            hash.update((field.len() as u64).to_le_bytes());
            hash.update(field);
        }
        Self(hash.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OsEntropy;

    #[test]
    fn opens_only_to_its_value_sender_label_and_session() {
        let id = [1; 32];
        let (commitment, opening) = Commitment::new(&id, 2, "coin", b"heads", &mut OsEntropy).unwrap();
        assert!(commitment.opens_to(&id, 2, "coin", b"heads", &opening));
        assert!(!commitment.opens_to(&id, 2, "coin", b"tails", &opening));
        assert!(!commitment.opens_to(&id, 1, "coin", b"heads", &opening));
        assert!(!commitment.opens_to(&id, 2, "coi", b"nheads", &opening));
        assert!(!commitment.opens_to(&[2; 32], 2, "coin", b"heads", &opening));
        let message = [&b"heads"[..], &opening.0].concat();
        let opened = |committed, message| Commitment::opened(committed, &id, 2, "coin", message);
        assert_eq!(opened(&commitment.0, &message), Some(&b"heads"[..]));
        for (committed, message) in
            [(&commitment.0[1..], &message[..]), (&commitment.0, &message[1..]), (&commitment.0, b"")]
        {
            assert_eq!(opened(committed, message), None);
        }
        assert!(!commitment.opens_to(&id, 2, "coin", b"heads", &Opening([0; 32])));
    }

    #[test]
    fn equal_values_have_unequal_commitments() {
        let id = [1; 32];
        let (a, _) = Commitment::new(&id, 2, "coin", b"heads", &mut OsEntropy).unwrap();
        let (b, _) = Commitment::new(&id, 2, "coin", b"heads", &mut OsEntropy).unwrap();
        assert_ne!(a, b);
    }
}
