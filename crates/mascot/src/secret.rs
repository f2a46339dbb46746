//! Elements that are wiped.

use crate::field::FieldElement;
use std::fmt;
use std::ops::{Deref, DerefMut};
use tacit_kernel::aes::Aes128Ctr;
use tacit_kernel::field::Fp128;
use tacit_session::{Error, Session};
use zeroize::{Zeroize, Zeroizing};

/// Field elements that are wiped when dropped, and never printed.
#[derive(Clone, Default)]
pub struct Secret<E: FieldElement = Fp128>(Vec<E>);

impl<E: FieldElement> Secret<E> {
    /// So many zeros.
    pub(crate) fn zeros(count: usize) -> Self {
        Self(vec![E::ZERO; count])
    }

    /// None, with room for so many.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self(Vec::with_capacity(count))
    }

    /// Adds some, for which there is room: a list that grows would leave copies behind.
    pub(crate) fn append(&mut self, others: &[E]) {
        debug_assert!(self.0.len() + others.len() <= self.0.capacity(), "there is room");
        self.0.extend_from_slice(others);
    }

    /// So many random elements of this party's own ([`FieldElement::fill`]): a generator with a fresh key draws them.
    pub(crate) fn random(session: &mut Session, count: usize) -> Result<Self, Error> {
        let mut elements = Self::zeros(count);
        E::fill(&generator(session)?, 0, 0, &mut elements);
        Ok(elements)
    }

    /// Words that are elements as such.
    pub(crate) fn elements(words: &[u128]) -> &[E] {
        bytemuck::cast_slice(words)
    }
}

/// A stream under a fresh key of this party's own.
pub(crate) fn generator(session: &mut Session) -> Result<Aes128Ctr, Error> {
    let mut key = Zeroizing::new([0; 16]);
    session.entropy().fill(key.as_mut())?;
    Ok(Aes128Ctr::new(&key))
}

impl<E: FieldElement> Drop for Secret<E> {
    fn drop(&mut self) {
        bytemuck::cast_slice_mut::<E, u8>(&mut self.0).zeroize();
    }
}

impl<E: FieldElement> Deref for Secret<E> {
    type Target = [E];

    fn deref(&self) -> &[E] {
        &self.0
    }
}

impl<E: FieldElement> DerefMut for Secret<E> {
    fn deref_mut(&mut self) -> &mut [E] {
        &mut self.0
    }
}

impl<E: FieldElement> From<Vec<E>> for Secret<E> {
    fn from(elements: Vec<E>) -> Self {
        Self(elements)
    }
}

impl<E: FieldElement> FromIterator<E> for Secret<E> {
    /// Elements of an iterator that knows how many there are: a list that grows would leave copies behind.
    fn from_iter<I: IntoIterator<Item = E>>(elements: I) -> Self {
        let elements = elements.into_iter();
        let mut all = Vec::with_capacity(elements.size_hint().0);
        all.extend(elements);
        Self(all)
    }
}

impl<E: FieldElement> fmt::Debug for Secret<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} elements)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_not_printed() {
        assert_eq!(format!("{:?}", Secret::from(vec![Fp128::ONE; 3])), "Secret(3 elements)");
    }
}
