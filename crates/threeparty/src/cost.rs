//! What inputs and outputs send, message by message.

use crate::hiding::KEY_BYTES;
use crate::messages::{HASH_BYTES, SEED_BYTES};
use crate::scheme::{PARTIES, Scheme, other_holder};
use tacit_engine::Participants;
use tacit_program::cost::Flow;
use tacit_program::plan::{OpKind, OutputOp, Plan, Reg};

/// Bits of a seed.
pub const SEED_BITS: u64 = 8 * SEED_BYTES as u64;

/// Bits of a hash.
pub const HASH_BITS: u64 = 8 * HASH_BYTES as u64;

/// Bits of a count of draws.
pub const COUNT_BITS: u64 = 64;

/// Bits of a register's values.
pub fn bits_of(plan: &Plan, reg: Reg) -> u64 {
    plan.register(reg).len() as u64 * plan.register(reg).domain.bits()
}

/// Bits of the results of a stage of an operation that multiplies, or shares a number's bits.
pub fn result_bits(plan: &Plan, kind: &OpKind, stage: u32) -> u64 {
    match kind {
        OpKind::And { dst, .. } => u64::from(dst.count) * plan.register(dst.reg).cols as u64,
        OpKind::Circuit { circuit, .. } => {
            circuit.layers[stage as usize].ands.len() as u64 * kind.extent(plan) as u64
        }
        OpKind::Split { s, bits, .. } => u64::from(*bits) * plan.register(*s).cols as u64,
        kind => bits_of(plan, kind.writes()[0]),
    }
}

impl Scheme {
    /// The component that a party lacks, from one of its holders; to clients parts of the sum. Where outputs are
    /// confirmed, a hash of each component from its other holder, and with that to a client, that the sender accepts.
    pub fn output_flows(&self, plan: &Plan, participants: &Participants, output: &OutputOp) -> Vec<Flow> {
        let bits = bits_of(plan, output.reg);
        let mut flows = Vec::new();
        let mut add = |from: usize, to, bits| flows.push(Flow { from: self.parties[from], to, bits });
        for (component, &sender) in self.to_parties.iter().enumerate() {
            let to = self.lacking(component);
            if participants.learns(to, output.to) {
                add(sender, to, bits);
                if self.confirmed {
                    add(other_holder(component, sender), to, HASH_BITS);
                }
            }
        }
        for client in participants.clients_that_learn(output.to) {
            if self.confirmed {
                (0..PARTIES).for_each(|from| add(from, client, bits));
                (0..PARTIES).for_each(|from| add(from, client, 2 * HASH_BITS));
            } else {
                self.parts.iter().for_each(|&from| add(from, client, bits));
            }
        }
        flows
    }

    /// The key that hides components from clients.
    pub fn key_flows(&self) -> [Flow; 2] {
        let [one, other, taker] = self.key.map(|number| self.parties[number]);
        [one, other].map(|from| Flow { from, to: taker, bits: 8 * KEY_BYTES as u64 })
    }

    /// The same from every party to both others.
    pub fn to_all(&self, bits: u64) -> Vec<Flow> {
        let pairs = self.parties.iter().flat_map(|&from| self.parties.map(|to| Flow { from, to, bits }));
        pairs.filter(|flow| flow.from != flow.to).collect()
    }
}
