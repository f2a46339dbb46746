//! A party's share of a vector, with one of its MACs, where values are authenticated; and masks of its own.

use crate::vectors::mul_add;
use std::ops::Deref;
use tacit_engine::vector::{add_assign, sub_assign};
use tacit_kernel::Buffer;
use tacit_program::plan::{Domain, Register};

/// The party that takes public values into its share.
pub const FIRST: usize = 0;

/// A party's share of a vector, and of its MACs where there are any. Wiped when it is dropped.
#[derive(Clone)]
pub(crate) struct Share {
    /// `x_i`.
    pub(crate) value: Buffer,
    /// `m_i`, of which all add up to the key times the value.
    pub(crate) mac: Option<Buffer>,
}

impl Share {
    /// `self -= other`.
    pub(crate) fn sub_assign(&mut self, shape: Register, other: &Self) {
        self.with(other, |a, b| sub_assign(shape, a, b));
    }

    /// `self += other`.
    pub(crate) fn add_assign(&mut self, shape: Register, other: &Self) {
        self.with(other, |a, b| add_assign(shape, a, b));
    }

    /// `self += c other`, with public factors.
    pub(crate) fn add_public_times(&mut self, domain: Domain, c: &Buffer, other: &Self) {
        self.with(other, |z, share| mul_add(domain, c, share, z));
    }

    /// What a linear function makes of value and MAC.
    pub(crate) fn map(&self, linear: impl Fn(&Buffer) -> Buffer) -> Self {
        Self { value: linear(&self.value), mac: self.mac.as_ref().map(linear) }
    }

    /// Share of the value, and of its MAC.
    pub(crate) fn into_parts(mut self) -> (Buffer, Option<Buffer>) {
        (std::mem::take(&mut self.value), self.mac.take())
    }

    fn with(&mut self, other: &Self, work: impl Fn(&mut Buffer, &Buffer)) {
        work(&mut self.value, &other.value);
        if let (Some(own), Some(other)) = (&mut self.mac, &other.mac) {
            work(own, other);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.value.wipe();
        self.mac.iter_mut().for_each(Buffer::wipe);
    }
}

/// A mask of an input or an output of this party's own, which it knows alone: with what all see it is the value. Wiped when it is
/// dropped.
pub(crate) struct OwnMask(Buffer);

impl OwnMask {
    pub(crate) const fn new(mask: Buffer) -> Self {
        Self(mask)
    }
}

impl Deref for OwnMask {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        &self.0
    }
}

impl Drop for OwnMask {
    fn drop(&mut self) {
        self.0.wipe();
    }
}
