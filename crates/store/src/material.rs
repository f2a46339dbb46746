//! What a store gives.

use std::fmt;
use std::ops::Deref;

use zeroize::Zeroizing;

/// One party's secret bytes for one instance, given once. They are wiped from memory when it is dropped, and not
/// printed.
pub struct Material(Zeroizing<Vec<u8>>);

impl Material {
    pub(crate) fn new(bytes: Zeroizing<Vec<u8>>) -> Self {
        Self(bytes)
    }
}

impl Deref for Material {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Material({} bytes)", self.0.len())
    }
}
