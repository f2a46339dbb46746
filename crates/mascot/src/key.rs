//! A party's share of the MAC key.

use crate::field::FieldElement;
use tacit_session::{Error, Session};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// `Delta^(i)`: uniform, fixed in the setup, wiped when dropped, never printed. It chooses base OTs of its own and is no
/// other secret's part.
pub(crate) struct MacKey<E: FieldElement>(E);

impl<E: FieldElement> Drop for MacKey<E> {
    fn drop(&mut self) {
        bytemuck::bytes_of_mut(&mut self.0).zeroize();
    }
}

impl<E: FieldElement> ZeroizeOnDrop for MacKey<E> {}

impl<E: FieldElement> std::fmt::Debug for MacKey<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MacKey")
    }
}

impl<E: FieldElement> MacKey<E> {
    /// A random one.
    pub(crate) fn draw(session: &mut Session) -> Result<Self, Error> {
        let mut bytes = Zeroizing::new(vec![0; E::BYTES]);
        session.entropy().fill(&mut bytes)?;
        Ok(Self(E::from_bytes(&bytes)))
    }

    /// The share.
    pub(crate) fn share(&self) -> E {
        self.0
    }

    /// The share's bytes, by whose bits base OTs choose.
    pub(crate) fn bytes(&self) -> &[u8] {
        bytemuck::bytes_of(&self.0)
    }
}
