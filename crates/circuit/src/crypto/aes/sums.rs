//! Linear maps as straight-line programs.

use crate::{Builder, Wire};

/// A linear map of bits, as exclusive ors in order. Signals are numbered: the inputs, then a signal for every gate.
pub(super) struct Sums {
    pub(super) inputs: usize,
    /// The two signals that each gate adds, gate after gate.
    pub(super) gates: &'static [u8],
    pub(super) outputs: &'static [u8],
}

impl Sums {
    /// The map's outputs.
    pub(super) fn run(&self, b: &mut Builder, inputs: &[Wire]) -> Vec<Wire> {
        assert_eq!(inputs.len(), self.inputs, "a linear map has as many inputs as it says");
        let mut signals = inputs.to_vec();
        for &[left, right] in self.gates.as_chunks().0 {
            signals.push(b.xor(signals[left as usize], signals[right as usize]));
        }
        self.outputs.iter().map(|&output| signals[output as usize]).collect()
    }
}
