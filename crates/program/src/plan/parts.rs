//! Which parts products have: what is known to be zero of each register, from the inputs on.

use super::components::Components;
use super::registers::Reg;
use super::steps::{Local, OpKind, Public};
use super::types::Plan;

impl Plan {
    /// Finds out what parts products have.
    pub(super) fn find_parts(&mut self) {
        let mut has = vec![Components::NONE; self.registers.len()];
        let given = self.inputs.iter().map(|input| input.reg);
        let given = given.chain(self.kept.iter().map(|kept| kept.reg));
        given.for_each(|reg| has[reg as usize] = Components::ALL);
        loop {
            let before = has.clone();
            for at in 0..self.levels.len() {
                let copies = self.copies_before(at);
                copies.chain(&self.levels[at].local).for_each(|step| local(step, &mut has));
                for stage in &self.levels[at].stages {
                    let kind = &self.op(stage.op).kind;
                    let made = operands(kind, &has).map_or(Components::ALL, |[a, b]| a.parts(b).product());
                    for reg in kind.writes() {
                        has[reg as usize] = has[reg as usize].and(made);
                    }
                }
            }
            // A turn of a section reads what the one before has made.
            if self.sections.is_empty() || has == before {
                break;
            }
        }
        for op in &mut self.ops {
            op.operands = operands(&op.kind, &has).unwrap_or([Components::ALL; 2]);
        }
    }
}

/// What a local step writes has the components of what it reads.
fn local(step: &Local, has: &mut [Components]) {
    let public = |value: &Public| match value {
        Public::Splat(0) => Components::NONE,
        _ => Components::one(0),
    };
    let of = |reg: &Reg| has[*reg as usize];
    let made = match step {
        Local::Constant { value, .. } => public(value),
        Local::AddPublic { a, c, .. } => of(a).and(public(c)),
        Local::BitComponent { component, .. } => Components::one(*component),
        _ => step.reads_shares().iter().map(of).fold(Components::NONE, Components::and),
    };
    let dst = &mut has[step.writes() as usize];
    *dst = dst.and(made);
}

/// Of products of numbers.
fn operands(kind: &OpKind, has: &[Components]) -> Option<[Components; 2]> {
    match kind {
        OpKind::Mul { a, b, .. } | OpKind::MatMul { a, b, .. } => Some([*a, *b].map(|reg| has[reg as usize])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Builder, MatrixShape, To, Width};

    #[test]
    fn of_a_bits_components_one_party_multiplies_two_and_two_the_third() {
        let mut builder = Builder::new();
        let bits = builder.bits(1, 4);
        let owner = builder.role("alice");
        builder.input(owner, bits);
        let [x, y, z] = [0, 1, 2].map(|component| {
            let dst = builder.ring(Width::W64, 4);
            builder.local(Local::BitComponent { a: bits, component, dst });
            dst
        });
        let ring = |builder: &mut Builder, cols| builder.ring(Width::W64, cols);
        let (both, sum, all, square) =
            (ring(&mut builder, 4), ring(&mut builder, 4), ring(&mut builder, 1), ring(&mut builder, 1));
        builder.interact(OpKind::Mul { a: x, b: y, dst: both });
        builder.local(Local::Add { a: both, b: x, dst: sum });
        let shape = MatrixShape { batch: 1, m: 1, k: 4, n: 1 };
        builder.interact(OpKind::MatMul { a: sum, b: z, shape, dst: all });
        builder.interact(OpKind::Mul { a: all, b: all, dst: square });
        builder.output(square, To::All);
        let parts: Vec<[bool; 3]> =
            builder.finish().ops.iter().map(|op| [0, 1, 2].map(|part| op.parts().has(part))).collect();
        assert_eq!(parts, [[false, true, false], [true, false, true], [true; 3]]);
    }

    #[test]
    fn what_a_turn_makes_is_known_to_the_next() {
        let mut builder = Builder::new();
        let bits = builder.bits(1, 2);
        let owner = builder.role("alice");
        builder.input(owner, bits);
        let [own, state, product] = std::array::from_fn(|_| builder.ring(Width::W64, 2));
        builder.local(Local::BitComponent { a: bits, component: 0, dst: own });
        let copy = |a, dst| Local::Copy { a, layout: crate::plan::Layout::whole(&[2]), at: 0, dst };
        builder.local(copy(own, state));
        builder.begin_section();
        builder.interact(OpKind::Mul { a: state, b: state, dst: product });
        builder.end_section(3, vec![copy(product, state)]);
        builder.output(product, To::All);
        // x_0 squared is P_0's and then has P_2's mask, too; from then on everybody has a part.
        assert_eq!(builder.finish().ops[0].parts(), Components::ALL);
    }
}
