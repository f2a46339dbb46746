//! Which components of a register a party reads.
//!
//! Most operations read both. The way from numbers to bits and back doesn't: `P_1` reads the addend `S = x_0 + x_1`,
//! and the others read `T = x_2`, which is one of their two components. What a party computes by itself for such a
//! register it can leave out in the other one.

use tacit_program::plan::{Kind, Operand, Plan, Reg};

/// For every register of a plan and each of a party's components whether anything reads it after it was written.
pub(crate) struct Reads {
    own: Vec<bool>,
    prev: Vec<bool>,
}

impl Reads {
    /// What `P_me` reads. Goes through the plan once, from its end.
    pub(crate) fn new(plan: &Plan, me: usize) -> Self {
        let none = vec![false; plan.registers.len()];
        let mut reads = Self { own: none.clone(), prev: none };
        for output in &plan.outputs {
            reads.both(output.reg);
        }
        for level in plan.levels.iter().rev() {
            for stage in &level.stages {
                reads.operation(&plan.ops[stage.op as usize].kind, me);
            }
            for step in level.local.iter().rev() {
                let dst = step.writes() as usize;
                for reg in step.reads() {
                    reads.own[reg as usize] |= reads.own[dst];
                    reads.prev[reg as usize] |= reads.prev[dst];
                }
            }
        }
        reads
    }

    /// Whether component `x_i` is read.
    pub(crate) fn own(&self, reg: Reg) -> bool {
        self.own[reg as usize]
    }

    /// Whether component `x_(i-1)` is read.
    pub(crate) fn prev(&self, reg: Reg) -> bool {
        self.prev[reg as usize]
    }

    fn operation(&mut self, kind: &Kind, me: usize) {
        match kind {
            Kind::Split { a, .. } => self.first_addend(*a, me),
            Kind::Shift { a, .. } => {
                self.first_addend(*a, me);
                self.second_addend(*a, me);
            }
            Kind::Circuit { inputs, .. } => {
                for input in inputs {
                    match input {
                        Operand::Addend { a, .. } => self.second_addend(*a, me),
                        Operand::Each(reg) | Operand::Rows(reg) | Operand::Same(reg) => self.both(*reg),
                    }
                }
            }
            Kind::And { .. } | Kind::Mul { .. } | Kind::MatMul { .. } | Kind::Inject { .. } => {
                kind.reads().into_iter().for_each(|reg| self.both(reg));
            }
        }
    }

    fn both(&mut self, reg: Reg) {
        self.own[reg as usize] = true;
        self.prev[reg as usize] = true;
    }

    /// `P_1` reads `x_1` and `x_0`.
    fn first_addend(&mut self, reg: Reg, me: usize) {
        if me == 1 {
            self.both(reg);
        }
    }

    /// `P_2` and `P_0` read `x_2`.
    fn second_addend(&mut self, reg: Reg, me: usize) {
        self.own[reg as usize] |= me == 2;
        self.prev[reg as usize] |= me == 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_program::plan::{Builder, Local, To, Width};

    #[test]
    fn of_what_is_only_split_a_party_reads_its_addend() {
        let mut builder = Builder::new();
        let [a, b, apart, shifted, sum, unused] = std::array::from_fn(|_| builder.ring(Width::W64, 3));
        let s = builder.bits(64, 3);
        builder.local(Local::Sub { a, b, dst: apart });
        builder.local(Local::Add { a, b, dst: unused });
        builder.interact(Kind::Split { a: apart, bits: 64, s });
        builder.interact(Kind::Shift { a: apart, by: 3, dst: shifted });
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
}
