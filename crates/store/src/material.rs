//! What a store gives.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use zeroize::Zeroizing;

/// One party's secret bytes for one instance, given once. They aren't printed, and are wiped from memory once it and all that
/// was read with it are dropped.
pub struct Material {
    read: Arc<Zeroizing<Vec<u8>>>,
    own: Range<usize>,
}

impl Material {
    /// A part of what was read.
    pub(crate) fn new(read: Arc<Zeroizing<Vec<u8>>>, own: Range<usize>) -> Self {
        Self { read, own }
    }
}

impl Deref for Material {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.read[self.own.clone()]
    }
}

impl fmt::Debug for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Material({} bytes)", self.own.len())
    }
}
