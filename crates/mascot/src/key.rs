//! A party's share of the MAC key.

use crate::field::FieldElement;
use std::marker::PhantomData;
use tacit_session::{Error, Session};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// `Delta^(i)`: uniform, fixed in the setup, wiped when dropped, never printed. It chooses base OTs of its own and is no
/// other secret's part.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct MacKey<E: FieldElement>(u128, #[zeroize(skip)] PhantomData<E>);

impl<E: FieldElement> std::fmt::Debug for MacKey<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MacKey")
    }
}

impl<E: FieldElement> MacKey<E> {
    /// A random one.
    pub(crate) fn draw(session: &mut Session) -> Result<Self, Error> {
        let mut bytes = Zeroizing::new([0; 16]);
        session.entropy().fill(bytes.as_mut())?;
        Ok(Self(E::from_u128(u128::from_le_bytes(*bytes)).to_u128(), PhantomData))
    }

    /// The share.
    pub(crate) fn share(&self) -> E {
        E::from_u128(self.0)
    }

    /// The share as a word, by whose bits base OTs choose.
    pub(crate) fn bits(&self) -> u128 {
        self.0
    }
}
