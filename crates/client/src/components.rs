//! The client of three parties that hold two of three components each.
//!
//! **Inputs.** Two components are the streams of two seeds ([`InputStreams`]), and the third is what is missing to the value: that
//! is the message, to the two parties that hold it. **Outputs** are sums of what parties send. Where outputs are confirmed, each
//! component comes from one of its holders and a digest of it from the other ([`component_digest`]), with a word that its sender
//! accepts the run ([`verdict`]).

use crate::vector::{add_assign, fill, sub_assign};
use crate::wire::{message_of, pieces};
use crate::{Fault, bytes_of};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tacit_kernel::Buffer;
use tacit_program::plan::Register;
use tacit_wire::{Draw, PrssStream, step};

/// Bytes of a seed.
pub const SEED_BYTES: usize = 16;

/// Bytes of a hash.
pub const HASH_BYTES: usize = 32;

/// The streams of the two components of a client's inputs that no message has.
#[derive(Debug)]
pub struct InputStreams([PrssStream; 2]);

impl InputStreams {
    /// Those of two seeds, in a lane.
    pub fn new(seeds: &[[u8; SEED_BYTES]; 2], lane: u16) -> Self {
        Self(seeds.each_ref().map(|seed| PrssStream::new(seed, lane)))
    }

    /// What is missing of an input to its two other components: for the two parties that hold the third.
    ///
    /// # Security
    /// Once for an input: the streams hide one value at each address.
    pub fn masked(&mut self, input: u32, shape: Register, values: &Buffer) -> Buffer {
        let mut masked = values.clone();
        let mut mask = Buffer::new(masked.len());
        for stream in &mut self.0 {
            fill(stream, Draw { part: step::INPUT, op: input }, shape, &mut mask);
            sub_assign(shape, &mut masked, &mask);
        }
        mask.wipe();
        masked
    }
}

/// The sum of an output's parts: its values.
pub fn opened<'a>(shape: Register, parts: impl IntoIterator<Item = &'a Buffer>) -> Buffer {
    let mut sum = Buffer::new(bytes_of(shape.domain, shape.cols));
    for part in parts {
        add_assign(shape, &mut sum, part);
    }
    sum
}

/// What a digest of an output's component binds besides that.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'a> {
    /// The protocol family's name.
    pub family: &'a str,
    /// The session.
    pub session: &'a [u8; 32],
    /// The plan within the session, by its first operation.
    pub plan: u32,
}

/// A digest of an output's component.
pub fn component_digest(
    binding: Binding<'_>,
    output: u32,
    shape: Register,
    component: &Buffer,
) -> [u8; HASH_BYTES] {
    let Binding { family, session, plan } = binding;
    let mut hash = Sha256::new_with_prefix(format!("tacit {family} output component 1"));
    hash.update(session);
    hash.update(plan.to_le_bytes());
    hash.update(output.to_le_bytes());
    for (_, range) in pieces(shape) {
        hash.update(message_of(shape, component, &range));
    }
    hash.finalize().into()
}

/// Checks a component that one holder sent by the digest that the other did.
///
/// # Errors
/// [`Fault::Deviates`] if they don't fit.
pub fn check_component(
    binding: Binding<'_>,
    output: u32,
    shape: Register,
    component: &Buffer,
    theirs: &[u8],
) -> Result<(), Fault> {
    if bool::from(component_digest(binding, output, shape, component).as_slice().ct_eq(theirs)) {
        return Ok(());
    }
    Err(Fault::Deviates("two parties sent different components of an output".to_owned()))
}

/// What an endpoint says to accept: a hash of the session (all that was agreed on, and the nonces), the plan within it, who says
/// so, `what`, and the blocks that were drawn from the stream that it shares with whom it tells.
pub fn verdict(session: &[u8; 32], plan: u32, sender: usize, drawn: u64, what: &[u8]) -> [u8; HASH_BYTES] {
    let mut hash = Sha256::new_with_prefix(b"tacit accept 1");
    hash.update(session);
    for number in [u64::from(plan), sender as u64, drawn, what.len() as u64] {
        hash.update(number.to_le_bytes());
    }
    hash.chain_update(what).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::row;
    use tacit_program::plan::{Domain, Width};

    #[test]
    fn a_digest_binds_family_session_plan_output_and_component() {
        let shape = row(Domain::Ring(Width::W8), 3);
        let [mut component, mut other] = [(); 2].map(|()| Buffer::new(3));
        component.bytes_mut().copy_from_slice(&[1, 2, 3]);
        other.bytes_mut().copy_from_slice(&[1, 2, 4]);
        let of = |family, session, plan| Binding { family, session, plan };
        let digests = [
            component_digest(of("astra", &[0; 32], 0), 0, shape, &component),
            component_digest(of("replicated", &[0; 32], 0), 0, shape, &component),
            component_digest(of("astra", &[1; 32], 0), 0, shape, &component),
            component_digest(of("astra", &[0; 32], 1), 0, shape, &component),
            component_digest(of("astra", &[0; 32], 0), 1, shape, &component),
            component_digest(of("astra", &[0; 32], 0), 0, shape, &other),
        ];
        let distinct: std::collections::HashSet<_> = digests.iter().collect();
        assert_eq!(distinct.len(), digests.len());
        let binding = of("astra", &[0; 32], 0);
        check_component(binding, 0, shape, &component, &digests[0]).unwrap();
        assert!(matches!(check_component(binding, 0, shape, &other, &digests[0]), Err(Fault::Deviates(_))));
    }

    #[test]
    fn components_of_an_input_add_up() {
        let seeds = [[7; SEED_BYTES], [9; SEED_BYTES]];
        for (domain, cols) in [(Domain::Ring(Width::W64), 700), (Domain::Bits, 1000)] {
            let shape = row(domain, cols);
            let mut values = Buffer::new(bytes_of(domain, cols));
            values.bytes_mut().iter_mut().zip(0_u64..).for_each(|(byte, at)| *byte = (at * 37) as u8);
            let masked = InputStreams::new(&seeds, 0).masked(3, shape, &values);
            assert_ne!(masked.bytes(), values.bytes());
            let mut parts = vec![masked];
            for seed in &seeds {
                let mut part = Buffer::new(values.len());
                fill(&mut PrssStream::new(seed, 0), Draw { part: step::INPUT, op: 3 }, shape, &mut part);
                parts.push(part);
            }
            assert_eq!(opened(shape, &parts).bytes(), values.bytes());
        }
    }
}
