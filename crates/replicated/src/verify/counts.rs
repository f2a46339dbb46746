//! How much is proved, to hold against how much there is.

/// How much there is to prove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Words of ANDs.
    pub(crate) words: u64,
    /// Elements of the vectors of products.
    pub(crate) elements: u64,
    /// Outputs of products.
    pub(crate) outputs: u64,
}

impl Counts {
    /// The sum.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            words: self.words + other.words,
            elements: self.elements + other.elements,
            outputs: self.outputs + other.outputs,
        }
    }

    /// As bytes that acceptances bind.
    pub(crate) fn bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        for (to, count) in bytes.chunks_exact_mut(8).zip([self.words, self.elements, self.outputs]) {
            to.copy_from_slice(&count.to_le_bytes());
        }
        bytes
    }
}
