//! From the bits of a circuit's results to numbers: each bit by itself, or all bits of a number at once.
//!
//! Where the protocol offers it ([`Feature::Compose`]), the circuit takes a mask off its result, which two parties
//! know and the third doesn't, and the third one is shown the difference: an adder, and two elements for each number.
//! An injection is three elements for each bit, but its two rounds are all. So few bits of few numbers are injected.

use tacit_circuit::arith::{self, Style};
use tacit_circuit::{Builder, Layered, Wire};

use super::gates::Word;
use crate::capabilities::Feature;
use crate::lower::lowering::Lowering;
use crate::lower::weight::ROUND;
use crate::plan::{Domain, OpKind, Operand, Reg};
use crate::width::Format;

/// Bits of elements that each party sends for a number that is composed, in thirds: to one party, and back.
pub(super) const fn composed_bits(ring: u64) -> u64 {
    (2 * ring).div_ceil(3)
}

/// Rounds of an injection, and of a composition after its adder.
const ROUNDS: u64 = 2;

impl Lowering<'_> {
    /// What it weighs to make numbers of results of so many bits, in the cheaper way: bits that each party sends, and
    /// rounds. And the adder by which they are composed, if that is it.
    pub(super) fn to_number(
        &self,
        Format { bits, .. }: Format,
        domain: Domain,
        len: usize,
    ) -> (u64, Option<Style>) {
        let (ring, len) = (domain.bits(), len as u64);
        let weigh = |each: u64, rounds: u64| len.saturating_mul(each).saturating_add(rounds * ROUND);
        let injected = (weigh(bits as u64 * ring, ROUNDS), None);
        let is_ring = matches!(domain, Domain::Ring(_));
        if !is_ring || !self.capabilities.offers(Feature::Compose) {
            return injected;
        }
        let composed = [Style::Small, Style::Shallow].map(|style| {
            let mut b = Builder::new();
            let [x, mask] = [bits as u32, ring as u32].map(|width| b.input(width));
            let difference = less_mask(&mut b, style, &Word { bits: x, signed: false }, &mask);
            let adder = Layered::new(&b.finish(vec![difference]));
            let rounds = u64::from(adder.depth()) + ROUNDS;
            (weigh(adder.ands() + composed_bits(ring), rounds), Some(style))
        });
        let injects = self.capabilities.offers(Feature::Inject);
        let ways = injects.then_some(injected).into_iter().chain(composed);
        ways.min_by_key(|way| way.0).unwrap_or(injected)
    }

    /// The mask of so many numbers of a ring, as an operand of a circuit that has these beside it.
    pub(super) fn pair_mask(&mut self, domain: Domain, len: usize, beside: &[Operand]) -> Reg {
        let bits = domain.bits() as u8;
        let mask = self.fresh(Domain::Bits, len * usize::from(bits));
        // It takes a level, in which the last of the others may be made; and no memory before.
        for operand in beside {
            self.plan.one_level_before(mask, operand.reg());
        }
        self.plan.interact(OpKind::PairMask { bits, dst: mask });
        mask
    }

    /// Numbers of the bits of what is left of them without their masks.
    pub(super) fn composed(&mut self, a: Reg, mask: Reg, domain: Domain, len: usize) -> Reg {
        let dst = self.fresh(domain, len);
        self.plan.interact(OpKind::Compose { a, mask, dst });
        dst
    }
}

/// A number less its mask, modulo 2^k for a mask of k bits. Each bit of the mask goes into the same bit of the result
/// as it is, and into carries above it: so the result is uniform, whatever else the carries are.
pub(super) fn less_mask(b: &mut Builder, style: Style, x: &Word, mask: &[Wire]) -> Vec<Wire> {
    let x = x.modulo(b, mask.len());
    arith::subtract(b, style, &x, mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::{Capabilities, Dtype, Range, Recipient, lower};

    fn quotients(len: usize, capabilities: Capabilities) -> Plan {
        let mut build = crate::Builder::new();
        let both = ["a", "b"].map(|name| {
            build.input("alice", name, Dtype::Fixed { frac: 4 }, &[len], Range::new(-100, 99)).unwrap()
        });
        let quotient = build.ratio(both[0], both[1]).unwrap();
        build.reveal(quotient, Recipient::All).unwrap();
        lower(&build.finish().unwrap(), capabilities).unwrap().plan
    }

    #[test]
    fn many_numbers_are_composed_and_few_are_injected() {
        let offered = Capabilities::TWO_COMPONENTS.with(Feature::Compose);
        let ways = |len: usize, capabilities: Capabilities| {
            let plan = quotients(len, capabilities);
            let count = |is: fn(&OpKind) -> bool| plan.ops.iter().filter(|op| is(&op.kind)).count();
            [
                count(|kind| matches!(kind, OpKind::Inject { .. })),
                count(|kind| matches!(kind, OpKind::PairMask { .. })),
                count(|kind| matches!(kind, OpKind::Compose { .. })),
            ]
        };
        for (len, capabilities, expected) in [
            (10, offered, [1, 0, 0]),
            (1 << 16, offered, [0, 1, 1]),
            (1 << 16, Capabilities::TWO_COMPONENTS, [1, 0, 0]),
        ] {
            assert_eq!(ways(len, capabilities), expected, "{len}");
        }
    }

    /// The mask shares the level in which operands are split.
    #[test]
    fn a_mask_takes_no_round_of_its_own() {
        let plan = quotients(1 << 16, Capabilities::TWO_COMPONENTS.with(Feature::Compose));
        let level = |is: fn(&OpKind) -> bool| {
            let has = |level: &crate::plan::Level| {
                level.stages.iter().any(|stage| is(&plan.ops[stage.op as usize].kind))
            };
            plan.levels.iter().position(has)
        };
        let split = level(|kind| matches!(kind, OpKind::Split { .. }));
        assert_eq!(level(|kind| matches!(kind, OpKind::PairMask { .. })), split);
    }

    /// For every mask, and a wrong bit in any one carry: all differences occur, once each.
    #[test]
    fn differences_are_uniform_even_if_an_and_is_wrong() {
        for style in [Style::Small, Style::Shallow] {
            let mut b = Builder::new();
            let [x, mask] = [5, 8].map(|width| b.input(width));
            let difference = less_mask(&mut b, style, &Word { bits: x, signed: true }, &mask);
            let layered = Layered::new(&b.finish(vec![difference]));
            for x in [0_u64, 9, 31] {
                for wrong in 0..layered.ands() {
                    let mut seen: Vec<u64> =
                        (0..256).map(|mask| with_error(&layered, x, mask, wrong)).collect();
                    seen.sort_unstable();
                    assert!(seen.into_iter().eq(0..256), "{style:?}, {x}, {wrong}");
                }
            }
        }
    }

    /// What a circuit computes of an instance if one AND is wrong.
    fn with_error(circuit: &Layered, x: u64, mask: u64, wrong: u64) -> u64 {
        let mut slots = vec![false; circuit.slots as usize];
        slots[tacit_circuit::ONE as usize] = true;
        let given = (0..5).map(|bit| x >> bit & 1).chain((0..8).map(|bit| mask >> bit & 1));
        for (&slot, bit) in circuit.input_slots.iter().zip(given) {
            if slot != tacit_circuit::UNUSED {
                slots[slot as usize] = bit == 1;
            }
        }
        let mut ands = 0;
        for layer in &circuit.layers {
            for step in layer.steps() {
                let terms = step.terms.iter().map(|&slot| slots[slot as usize]);
                slots[step.destination as usize] = if step.product {
                    terms.fold(true, |a, b| a & b)
                } else {
                    terms.fold(false, |a, b| a ^ b)
                };
            }
            for &[a, b, dst] in &layer.ands {
                slots[dst as usize] = (slots[a as usize] & slots[b as usize]) ^ (ands == wrong);
                ands += 1;
            }
        }
        circuit.output_slots.iter().rev().fold(0, |sum, &slot| sum << 1 | u64::from(slots[slot as usize]))
    }
}
