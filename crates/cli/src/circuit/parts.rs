//! How a stream of instances is cut into parts, and the program of a part.

use crate::failure::Failure;
use std::ops::Range;
use std::sync::Arc;
use tacit::circuit::Circuit;
use tacit::program::{Builder, Dtype, Recipient};
use tacit::{Compiled, Stream};

/// The most instances of a part.
const INSTANCES: u64 = 1 << 18;

/// The most bits of a part's inputs and outputs, 16 MiB, unless one instance has more.
const BITS: u64 = 1 << 27;

/// Whole parts start at multiples of this, which is what tiles of instances are multiples of.
const ALIGNMENT: u64 = 512;

/// All instances, in parts of one size and a rest. Everybody's are the same: they follow from the circuit and the
/// number of instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) instances: u64,
    /// Instances of a whole part.
    size: u64,
}

impl Parts {
    /// `instances` is 1 at least.
    pub(crate) fn new(circuit: &Circuit, instances: u64) -> Self {
        let bits = (circuit.input_bits() + circuit.output_bits()) as u64;
        let most = (BITS / bits.max(1)).clamp(1, INSTANCES);
        let size = if most < ALIGNMENT { most } else { most / ALIGNMENT * ALIGNMENT };
        Self { instances, size: size.min(instances) }
    }

    /// The instances of a part.
    pub(crate) fn of(self, part: u64) -> Range<u64> {
        let first = (part * self.size).min(self.instances);
        first..(first + self.size).min(self.instances)
    }

    /// What is run: input `i` belongs to `owners[i]` and has one value for all instances if `once[i]` says so, and
    /// everybody learns all outputs.
    ///
    /// # Errors
    /// If no input tells the instances apart.
    pub(crate) fn stream(
        self,
        circuit: &Arc<Circuit>,
        owners: &[String],
        once: &[bool],
    ) -> Result<Stream, Failure> {
        if self.instances > 1 && !once.is_empty() && once.iter().all(|&once| once) {
            return Err(Failure::usage(format!(
                "every input has one value for all instances, so all {} would be the same: run one",
                self.instances
            )));
        }
        let program = |instances| program(circuit, owners, once, instances);
        let rest = self.instances % self.size;
        Ok(Stream {
            part: program(self.size)?,
            times: self.instances / self.size,
            rest: if rest > 0 { Some(program(rest)?) } else { None },
            instances: self.instances,
        })
    }
}

/// A circuit on so many instances.
fn program(
    circuit: &Arc<Circuit>,
    owners: &[String],
    once: &[bool],
    instances: u64,
) -> Result<Arc<Compiled>, tacit::Error> {
    let mut build = Builder::new();
    let mut inputs = Vec::with_capacity(owners.len());
    for (input, (owner, &width)) in owners.iter().zip(circuit.inputs()).enumerate() {
        let shape = [instances as usize, width as usize];
        let shape = if once[input] { &shape[1..] } else { &shape };
        inputs.push(build.input(owner, &input.to_string(), Dtype::Bool, shape, None)?);
    }
    for output in build.circuit(circuit, &inputs)? {
        build.reveal(output, Recipient::All)?;
    }
    Compiled::new(build.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit::circuit::catalogue;

    #[test]
    fn parts_cover_all_instances_and_stay_small() {
        let circuits = [catalogue::named("adder64"), catalogue::named("sha512-compress")];
        for circuit in circuits.into_iter().flatten() {
            let whole = Parts::new(&circuit, u64::MAX >> 24).size;
            assert!(whole.is_multiple_of(ALIGNMENT) && whole <= INSTANCES);
            let bits = (circuit.input_bits() + circuit.output_bits()) as u64;
            assert!(whole * bits <= BITS);
            for instances in [1, 2, whole - 1, whole, whole + 1, 3 * whole, 3 * whole + 7] {
                let parts = Parts::new(&circuit, instances);
                let stream_parts = instances / parts.size + u64::from(!instances.is_multiple_of(parts.size));
                let mut next = 0;
                for part in 0..stream_parts {
                    assert_eq!(parts.of(part).start, next);
                    next = parts.of(part).end;
                }
                assert_eq!(next, instances);
                assert!(parts.of(stream_parts).is_empty());
            }
        }
    }

    #[test]
    fn an_instance_that_is_too_large_for_a_part_is_one() {
        // As many bits of inputs as may be, and more of outputs.
        let circuit = Circuit::new(vec![1 << 24], vec![], vec![vec![0; 1 << 28]]).unwrap();
        assert_eq!(Parts::new(&circuit, 10).size, 1);
    }
}
