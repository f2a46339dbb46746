//! Sections of a plan that is built: what is computed in several turns.

use std::collections::BTreeSet;

use super::{Builder, Open};
use crate::plan::registers::Reg;
use crate::plan::sections::{Section, Slice};
use crate::plan::steps::Local;

impl Builder {
    /// Begins a section: what is added from now on is computed in each of its turns, in levels of its own, until
    /// [`end_section`](Self::end_section).
    pub fn begin_section(&mut self) {
        let first = self.ready.iter().copied().max().unwrap_or(0).max(self.levels.len());
        self.level(first);
        let index = self.sections.len();
        let (registers, ops) = (self.registers.len() as Reg, self.ops.len() as u32);
        self.sections.push(Section {
            levels: first..first,
            addresses: self.operations as u32..self.operations as u32,
            ops: 0,
            times: 0,
            carry: Vec::new(),
            slices: Vec::new(),
            kept: Vec::new(),
        });
        self.open.push(Open { index, registers, ops, reads: BTreeSet::new() });
    }

    /// In a section: lets every turn begin with a copy from a register that was made before it, each turn `stride`
    /// elements further than the one before.
    ///
    /// # Panics
    /// If no section was begun.
    pub fn slice(&mut self, step: Local, stride: isize) {
        let index = self.open.last().expect("a slice stands in a section").index;
        self.assert_no_masks(step.reads().into_iter().chain([step.writes()]), "a slice");
        let first = self.sections[index].levels.start;
        step.reads().into_iter().for_each(|reg| self.touch(reg, first));
        self.ready[step.writes() as usize] = first;
        self.sections[index].slices.push(Slice { step, stride });
    }

    /// Ends a section of so many turns. `carry` are copies of what a turn makes to registers that were made and written
    /// before the section: no copy reads what another one writes.
    ///
    /// # Panics
    /// If no section was begun, or it has fewer than two turns, or a copy reads what one writes.
    pub fn end_section(&mut self, times: u32, carry: Vec<Local>) {
        assert!(times > 1, "a section has turns");
        let written: Vec<Reg> = carry.iter().map(Local::writes).collect();
        assert!(
            carry.iter().all(|step| !step.reads().iter().any(|reg| written.contains(reg))),
            "in any order"
        );
        let Open { index, registers, ops, mut reads } = self.open.pop().expect("a section was begun");
        let end = self.levels.len();
        for step in &carry {
            self.assert_no_masks(step.reads().into_iter().chain([step.writes()]), "what turns hand on");
            reads.extend(step.reads().into_iter().chain([step.writes()]));
            self.ready[step.writes() as usize] = end;
        }
        for reg in reads {
            // The next turn reads it again.
            self.touch(reg, end);
        }
        let section = &mut self.sections[index];
        section.levels.end = end;
        section.addresses.end = self.operations as u32;
        let turn = self.operations - u64::from(section.addresses.start);
        section.ops = self.ops.len() as u32 - ops;
        (section.times, section.carry) = (times, carry);
        // Those that live on are known when the plan is finished.
        section.kept = (registers..self.registers.len() as Reg).collect();
        self.operations = self.operations.saturating_add(turn.saturating_mul(u64::from(times - 1)));
    }
}
