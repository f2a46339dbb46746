//! A party's share of a vector; with one of its MACs, where values are authenticated.

use tacit_engine::vector::{add_assign, sub_assign};
use tacit_kernel::Buffer;
use tacit_program::plan::Register;

use super::dealer::Product;

/// A party's share of a vector, and of its MACs where there are any.
#[derive(Clone)]
pub(super) struct Share {
    /// `x_i`.
    pub(super) value: Buffer,
    /// `m_i`, of which all add up to the key times the value.
    pub(super) mac: Option<Buffer>,
}

impl Share {
    /// `self -= other`.
    pub(super) fn sub_assign(&mut self, shape: Register, other: &Self) {
        self.with(other, |a, b| sub_assign(shape, a, b));
    }

    /// `self += other`.
    pub(super) fn add_assign(&mut self, shape: Register, other: &Self) {
        self.with(other, |a, b| add_assign(shape, a, b));
    }

    /// `self += c other`, with a public factor.
    pub(super) fn add_public_times(&mut self, product: Product, c: &Buffer, other: &Self) {
        self.with(other, |z, share| product.add(c, share, z));
    }

    /// `self += other c`, with a public factor.
    pub(super) fn add_times_public(&mut self, product: Product, other: &Self, c: &Buffer) {
        self.with(other, |z, share| product.add(share, c, z));
    }

    fn with(&mut self, other: &Self, work: impl Fn(&mut Buffer, &Buffer)) {
        work(&mut self.value, &other.value);
        if let (Some(own), Some(other)) = (&mut self.mac, &other.mac) {
            work(own, other);
        }
    }
}
