//! What messages weigh.

/// Payload that one endpoint sends another in one stage of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Who sends.
    pub from: usize,
    /// Who receives.
    pub to: usize,
    /// How much.
    pub bits: u64,
}
