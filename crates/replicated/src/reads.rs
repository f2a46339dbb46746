//! Which components of a register a party reads.
//!
//! Most operations read both. Conversions between numbers and bits don't: an additive component `x_j` is read by the
//! two parties that hold it, and the sum `S = x_0 + x_1` by `P_1`. What a party computes by itself for such a register
//! it can leave out in the other component.

use tacit_program::plan::{Local, OpKind, Operand, Plan, Reg, SECOND_COMPONENT};
use tacit_threeparty::next;

/// For every register of a plan whether anything reads a party's own component of it after it was written, and the previous
/// party's.
pub(crate) struct Reads {
    me: usize,
    registers: Vec<[bool; 2]>,
}

impl Reads {
    /// What `P_me` reads. Goes through the plan from its end, and again as long as a section's turn is found to read more
    /// of what the turn before it made.
    pub(crate) fn new(plan: &Plan, me: usize) -> Self {
        let mut reads = Self { me, registers: vec![[false; 2]; plan.registers.len()] };
        for output in &plan.outputs {
            reads.mark(output.reg, [true; 2]);
        }
        for keep in &plan.keeps {
            reads.mark(keep.reg, [true; 2]);
        }
        loop {
            let before = reads.registers.clone();
            for (at, level) in plan.levels.iter().enumerate().rev() {
                for stage in &level.stages {
                    reads.operation(&plan.op(stage.op).kind);
                }
                plan.copies_before(at).chain(&level.local).rev().for_each(|step| reads.local(step));
            }
            if plan.sections.is_empty() || reads.registers == before {
                return reads;
            }
        }
    }

    /// Whether component `x_i` is read.
    pub(crate) fn own(&self, reg: Reg) -> bool {
        self.registers[reg as usize][0]
    }

    /// Whether component `x_(i-1)` is read.
    pub(crate) fn prev(&self, reg: Reg) -> bool {
        self.registers[reg as usize][1]
    }

    fn mark(&mut self, reg: Reg, read: [bool; 2]) {
        let known = &mut self.registers[reg as usize];
        *known = [known[0] || read[0], known[1] || read[1]];
    }

    /// Of what makes something that is read the same is read.
    fn local(&mut self, step: &Local) {
        let read = self.registers[step.writes() as usize];
        step.reads().into_iter().for_each(|reg| self.mark(reg, read));
    }

    fn operation(&mut self, kind: &OpKind) {
        // P_1 reads x_1 and x_0; P_j and P_(j+1) read x_j.
        let sum = [self.me == 1; 2];
        let me = self.me;
        let one = |component: u8| [component.into(), next(component.into())].map(|holder| me == holder);
        match kind {
            OpKind::Split { a, .. } => self.mark(*a, sum),
            OpKind::Shift { a, .. } => {
                self.mark(*a, sum);
                self.mark(*a, one(SECOND_COMPONENT));
            }
            OpKind::Circuit { inputs, .. } => {
                for input in inputs {
                    let read = match input {
                        Operand::Component { component, .. } => one(*component),
                        Operand::Each(_) | Operand::Rows(_) | Operand::Same(_) => [true; 2],
                    };
                    self.mark(input.reg(), read);
                }
            }
            kind => kind.reads().into_iter().for_each(|reg| self.mark(reg, [true; 2])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tacit_circuit::Layered;
    use tacit_program::plan::{Builder, To, Width};

    #[test]
    fn of_what_is_only_split_a_party_reads_its_addend() {
        let mut builder = Builder::new();
        let [a, b, apart, shifted, sum, unused] = std::array::from_fn(|_| builder.ring(Width::W64, 3));
        let s = builder.bits(64, 3);
        builder.local(Local::Sub { a, b, dst: apart });
        builder.local(Local::Add { a, b, dst: unused });
        builder.interact(OpKind::Split { a: apart, bits: 64, s });
        builder.interact(OpKind::Shift { a: apart, by: 3, dst: shifted });
        builder.local(Local::Add { a: shifted, b, dst: sum });
        builder.output(sum, To::All);
        let plan = builder.finish();
        for (me, own, prev) in [(0, false, true), (1, true, true), (2, true, false)] {
            let reads = Reads::new(&plan, me);
            for reg in [a, apart] {
                assert_eq!((reads.own(reg), reads.prev(reg)), (own, prev), "P_{me}, register {reg}");
            }
            for reg in [b, shifted, sum] {
                assert!(reads.own(reg) && reads.prev(reg), "P_{me}, register {reg}");
            }
            assert!(!reads.own(unused) && !reads.prev(unused));
        }
    }

    #[test]
    fn an_addend_is_read_by_the_two_who_hold_it() {
        for component in 0..3 {
            let mut build = tacit_circuit::Builder::new();
            let bits = build.input(8);
            let circuit = Arc::new(Layered::new(&build.finish(vec![bits])));
            let mut builder = Builder::new();
            let (a, dst) = (builder.ring(Width::W8, 3), builder.bits(1, 24));
            let inputs = vec![Operand::Component { a, component, negate: false }];
            builder.interact(OpKind::Circuit { circuit, inputs, dst });
            builder.output(dst, To::All);
            let plan = builder.finish();
            for me in 0..3 {
                let reads = Reads::new(&plan, me);
                let held = [me, tacit_threeparty::prev(me)].map(|held| held == usize::from(component));
                assert_eq!([reads.own(a), reads.prev(a)], held, "P_{me}, addend {component}");
            }
        }
    }
}
