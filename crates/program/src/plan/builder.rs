//! From steps in an order in which each register is written before it is read, to levels.

mod masks;
mod sections;
#[cfg(test)]
mod tests;

use super::components::Components;
use super::needs::{of_operation, of_step};
use super::regions::{Region, Swap, may_be_in_arm};
use super::registers::{Reg, Register, Rows};
use super::sections::Section;
use super::steps::{Local, OpKind};
use super::types::{
    Form, InputOp, KeepOp, KeptOp, Level, Op, OutputOp, Plan, PublicInput, Stage, To, WINDOW,
};
use crate::capabilities::{Feature, Features, of_domain};
use crate::domain::{Domain, Width};
use crate::types::Range;
use std::collections::{BTreeMap, BTreeSet};

/// Builds a [`Plan`], step by step, in an order in which every register is written before it is read.
#[derive(Debug, Default)]
pub struct Builder {
    roles: Vec<String>,
    registers: Vec<Register>,
    /// The level in which a register's value can first be read.
    ready: Vec<usize>,
    /// The last level that reads or writes a register.
    used: Vec<usize>,
    inputs: Vec<InputOp>,
    public_inputs: Vec<PublicInput>,
    kept: Vec<KeptOp>,
    ops: Vec<Op>,
    regions: Vec<Region>,
    /// That of the next operations.
    region: u32,
    levels: Vec<Level>,
    sections: Vec<Section>,
    /// Those that aren't ended, outer ones first.
    open: Vec<Open>,
    outputs: Vec<OutputOp>,
    guard: Option<u32>,
    keeps: Vec<KeepOp>,
    /// Registers of masks that a party lacks.
    masks: BTreeMap<Reg, Mask>,
    node: u32,
    needs: Features,
    /// Operations so far, each as often as it is computed: the next one's address.
    operations: u64,
    /// The first level that the next steps may use.
    earliest: usize,
}

/// A section that isn't ended.
#[derive(Debug)]
struct Open {
    /// Its place among all sections.
    index: usize,
    /// The first register of its own.
    registers: Reg,
    /// How many operations were written before it.
    ops: u32,
    /// Registers made before it that it reads.
    reads: BTreeSet<Reg>,
}

/// A register of masks.
#[derive(Debug)]
struct Mask {
    bits: u64,
    /// The section in which it is drawn, anew in each turn.
    section: Option<usize>,
    /// What it is taken off of.
    difference: Option<Reg>,
    /// Whether that is shown.
    is_shown: bool,
}

impl Builder {
    /// An empty plan.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says which node of the program the next steps come from.
    pub fn at_node(&mut self, node: u32) {
        self.node = node;
    }

    /// A new region: an arm of the branch with this condition, in the region `parent`.
    ///
    /// # Panics
    /// If there is no such region.
    pub fn region(&mut self, parent: u32, condition: Rows, arm: u8) -> u32 {
        self.masked_region(parent, condition, arm, None)
    }

    /// The same, where what the arm draws is masked, if there is a swap: of a branch with one condition bit for all columns, and
    /// two arms. Arms of one branch have the same swap, and no others do.
    ///
    /// # Panics
    /// If there is no such region, the swap is another branch's or of another section than the one that is open, or its bit isn't
    /// public.
    pub fn masked_region(&mut self, parent: u32, condition: Rows, arm: u8, swap: Option<Swap>) -> u32 {
        self.assert_region(parent);
        self.needs = self.needs.with(Feature::Branches);
        if let Some(swap) = swap {
            self.needs = self.needs.with(Feature::MaskedArms);
            self.assert_public(&[swap.opened], "a region");
            let single = |reg| (self.shape(reg).rows, self.shape(reg).cols) == (1, 1);
            let one_bit = self.shape(condition.reg).cols == 1 && condition.count == 1 && single(swap.opened);
            assert!(one_bit && arm < 2, "a single bit puts the masks of two arms in their places");
            let begun = self.open.last().map_or(0, |open| self.sections[open.index].addresses.start);
            assert!(swap.op >= begun, "masks serve one turn");
        }
        for other in &self.regions {
            let same = (other.parent, other.condition) == (parent, condition);
            assert!(
                same == (other.swap == swap) || !same && swap.is_none(),
                "arms of one branch have the same masks, and no others do"
            );
        }
        self.regions.push(Region { parent, condition, arm, swap });
        self.regions.len() as u32
    }

    /// Says which region the next operations are in.
    ///
    /// # Panics
    /// If there is no such region.
    pub fn in_region(&mut self, region: u32) {
        self.assert_region(region);
        self.region = region;
    }

    /// Says that the plan needs something that no operation of it shows.
    pub fn need(&mut self, feature: Feature) {
        self.needs = self.needs.with(feature);
    }

    /// What the plan needs of a protocol so far.
    pub fn needs(&self) -> Features {
        self.needs
    }

    /// The index of a participant, added if it is new.
    pub fn role(&mut self, name: &str) -> u32 {
        if let Some(found) = self.roles.iter().position(|role| role == name) {
            return found as u32;
        }
        self.roles.push(name.to_owned());
        self.roles.len() as u32 - 1
    }

    /// A new register of ring elements.
    pub fn ring(&mut self, width: Width, cols: usize) -> Reg {
        self.row(Domain::Ring(width), cols)
    }

    /// A new register of one row.
    pub fn row(&mut self, domain: Domain, cols: usize) -> Reg {
        self.push(Register { domain, rows: 1, cols, public: false })
    }

    /// A new public register of one row.
    pub fn public(&mut self, domain: Domain, cols: usize) -> Reg {
        self.push(Register { domain, rows: 1, cols, public: true })
    }

    /// A new register of bits.
    pub fn bits(&mut self, rows: u32, cols: usize) -> Reg {
        self.push(Register { domain: Domain::Bits, rows, cols, public: false })
    }

    /// The shape of a register.
    pub fn shape(&self, reg: Reg) -> Register {
        self.registers[reg as usize]
    }

    /// A value that `owner` gives, into `reg`, element by element.
    pub fn input(&mut self, owner: u32, reg: Reg) {
        self.input_as(owner, reg, Form::Elements);
    }

    /// A value that `owner` gives, into `reg`, where its elements have this form.
    ///
    /// # Panics
    /// If the register is public.
    pub fn input_as(&mut self, owner: u32, reg: Reg, form: Form) {
        self.push_input(owner, reg, form, None);
    }

    /// The same of numbers in a field, which have to be in a range.
    ///
    /// # Panics
    /// If the register is public.
    pub fn input_in(&mut self, owner: u32, reg: Reg, form: Form, range: Range) {
        self.push_input(owner, reg, form, Some(range));
    }

    fn push_input(&mut self, owner: u32, reg: Reg, form: Form, range: Option<Range>) {
        self.assert_secret(&[reg], "an input");
        self.inputs.push(InputOp { owner, reg, form, range, node: self.node });
    }

    /// A value that all parties hold and the program calls `name`, into the public register `reg`, where its elements have this form.
    ///
    /// # Panics
    /// If it isn't public.
    pub fn public_input(&mut self, name: &str, reg: Reg, form: Form) {
        self.assert_public(&[reg], "a public input");
        self.needs = self.needs.with(Feature::PublicInputs);
        self.public_inputs.push(PublicInput { name: name.to_owned(), reg, form, node: self.node });
    }

    /// What the parties keep from an earlier run, under the name by which each run says what it is, into `reg`, where its
    /// elements have this form.
    ///
    /// # Panics
    /// If the register is public.
    pub fn kept(&mut self, name: &str, reg: Reg, form: Form) {
        self.assert_secret(&[reg], "a kept value");
        self.needs = self.needs.with(Feature::Keep);
        self.kept.push(KeptOp { name: name.to_owned(), reg, form, node: self.node });
    }

    /// Lets the parties keep `reg`, where elements have this form, under a name.
    ///
    /// # Panics
    /// If the register is public.
    pub fn keep(&mut self, name: &str, reg: Reg, form: Form) {
        self.assert_secret(&[reg], "what is kept");
        self.assert_no_masks([reg], "what is kept");
        self.needs = self.needs.with(Feature::Keep);
        self.keeps.push(KeepOp { name: name.to_owned(), reg, form, node: self.node });
    }

    /// Reveals `reg` after the last level, element by element.
    pub fn output(&mut self, reg: Reg, to: To) {
        self.output_as(reg, to, Form::Elements);
    }

    /// Reveals `reg`, where elements have this form, after the last level.
    ///
    /// # Panics
    /// If the register is public: what all parties know is first shared, as for an operation.
    pub fn output_as(&mut self, reg: Reg, to: To, form: Form) {
        self.assert_secret(&[reg], "an output");
        self.assert_no_masks([reg], "an output");
        self.outputs.push(OutputOp { reg, form, to, node: self.node });
    }

    /// Opens the bit in `reg` before anything else, once all is checked, and ends the run if it is 0.
    ///
    /// # Panics
    /// If the register is public, or isn't one element, or there is such a bit already.
    pub fn guard(&mut self, reg: Reg, form: Form) {
        assert!(self.guard.is_none() && self.shape(reg).cols == 1, "a plan is guarded by one bit");
        self.needs = self.needs.with(Feature::Guard);
        self.guard = Some(self.outputs.len() as u32);
        self.output_as(reg, To::All, form);
    }

    /// Lets nothing be written to `reg` before `other` is written: for large work that goes slab by slab, so that one
    /// slab's registers are free before the next one's are filled.
    pub fn after(&mut self, reg: Reg, other: Reg) {
        self.ready[reg as usize] = self.ready[reg as usize].max(self.ready[other as usize]);
    }

    /// Lets nothing be written to `reg` before the level before that in which `other` can be read: for what is needed
    /// together with `other`, and takes a level to come.
    pub fn one_level_before(&mut self, reg: Reg, other: Reg) {
        let level = self.ready[other as usize].saturating_sub(1);
        self.ready[reg as usize] = self.ready[reg as usize].max(level);
    }

    /// Lets the next steps stand no sooner than so many levels before the operation that writes `reg`: for what would add rounds
    /// to the levels before, and none to those from there on.
    pub fn no_sooner_than(&mut self, reg: Reg, before: usize) {
        self.earliest = self.ready[reg as usize].saturating_sub(1 + before);
    }

    /// Lets the next steps stand wherever they can.
    pub fn as_soon_as_they_can(&mut self) {
        self.earliest = 0;
    }

    /// Operations so far, each as often as it is computed.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// The first level from `level` on where so many levels are those of the section that is open, if one is, and of none
    /// that is ended.
    fn outside(&self, level: usize, stages: usize) -> usize {
        let inner = self.open.last().map_or(0, |open| open.index + 1);
        let mut level = level.max(self.floor());
        for section in &self.sections[inner..] {
            if level < section.levels.end && level + stages > section.levels.start {
                level = section.levels.end;
            }
        }
        level
    }

    /// Adds a local step.
    ///
    /// # Panics
    /// If what has to be public isn't, or is where shares are due; and of a [`Local::Gather`] inside a branch: its places
    /// may be anything where the arm isn't active, and one outside would end the run, which tells which arm that is.
    pub fn local(&mut self, step: Local) {
        self.assert_no_masks(step.reads().into_iter().chain([step.writes()]), step.name());
        let reads_public = step.reads().into_iter().any(|reg| self.shape(reg).public);
        self.needs = self.needs.and(of_step(&step));
        if reads_public {
            self.needs = self.needs.with(Feature::PublicSteps);
        }
        assert!(
            self.region == 0 || !matches!(step, Local::Gather { .. }),
            "no place is looked up inside a branch"
        );
        self.assert_public(&step.reads_public(), step.name());
        if self.shape(step.writes()).public {
            self.assert_public(&step.reads(), step.name());
        } else {
            self.assert_secret(&step.reads_shares(), step.name());
        }
        let mut level = self.ready[step.writes() as usize];
        for reg in step.reads() {
            level = level.max(self.ready[reg as usize]);
        }
        level = self.outside(level, 1);
        for reg in step.reads() {
            self.touch(reg, level);
        }
        let dst = step.writes();
        self.touch(dst, level);
        self.ready[dst as usize] = level;
        self.level(level).local.push(step);
    }

    /// Adds an interactive operation.
    ///
    /// # Panics
    /// If what has to be public isn't, or is where shares are due; and inside a branch if it is an operation that could tell
    /// something where the arm isn't active: a verified opening, one of numbers, a shuffle, a conversion between domains. Of
    /// masks ([`OpKind::PairMask`]) if they aren't whole bytes, or hide more than one difference.
    pub fn interact(&mut self, kind: OpKind) {
        self.needs = self.needs.and(of_operation(&kind));
        self.assert_secret(&kind.reads_shares(), kind.name());
        if let OpKind::Circuit { circuit, inputs, .. } = &kind {
            let public = inputs.iter().map(|input| self.shape(input.reg()).public);
            assert!(public.eq(circuit.public.iter().copied()), "a circuit is laid out for what is public");
        }
        if let OpKind::Open { dst, .. } = kind {
            self.assert_public(&[dst], kind.name());
        } else {
            self.assert_secret(&kind.writes(), kind.name());
        }
        assert!(
            self.region == 0 || may_be_in_arm(&kind, |reg| self.shape(reg).domain),
            "{} tells something inside a branch",
            kind.name()
        );
        self.note_masks(&kind);
        let mut reads = kind.reads();
        let around = |inner: u32| self.regions.get((inner as usize).checked_sub(1)?);
        let regions = std::iter::successors(around(self.region), |region| around(region.parent));
        reads.extend(regions.flat_map(|region| {
            std::iter::once(region.condition.reg).chain(region.swap.map(|swap| swap.opened))
        }));
        let writes = kind.writes();
        let first = reads.iter().chain(&writes).map(|&reg| self.ready[reg as usize]).max().unwrap_or(0);
        let stages = kind.stages();
        let first = self.outside(first, stages.into());
        let op =
            u32::try_from(self.operations).expect("a plan has fewer operations than there are addresses");
        self.operations += 1;
        self.ops.push(Op { kind, node: self.node, region: self.region, operands: [Components::ALL; 2] });
        for stage in 0..stages {
            self.level(first + stage as usize).stages.push(Stage { op, stage });
        }
        let last = first + stages as usize - 1;
        for &reg in reads.iter().chain(&writes) {
            self.touch(reg, last);
        }
        for reg in writes {
            self.ready[reg as usize] = last + 1;
        }
    }

    /// The finished plan.
    ///
    /// # Panics
    /// If a section isn't ended, or a guard isn't the last output.
    pub fn finish(mut self) -> Plan {
        assert!(self.open.is_empty(), "a section isn't ended");
        let guard = self.guard.map_or(self.outputs.len(), |guard| guard as usize + 1);
        assert_eq!(guard, self.outputs.len(), "a guard comes after the other outputs");
        let last = self.ready.iter().chain(&self.used).copied().max().unwrap_or(0);
        if !self.registers.is_empty() {
            self.level(last);
        }
        let ends = self.outputs.iter().map(|output| output.reg).chain(self.keeps.iter().map(|keep| keep.reg));
        let kept: std::collections::HashSet<Reg> = ends.collect();
        for reg in 0..self.registers.len() as Reg {
            if !kept.contains(&reg) {
                let level = self.used[reg as usize];
                self.levels[level].free.push(reg);
            }
        }
        for section in &mut self.sections {
            section.kept.retain(|&reg| kept.contains(&reg) || self.used[reg as usize] >= section.levels.end);
        }
        let sections = self.sections.iter().map(|section| section.levels.end).max().unwrap_or(0);
        let is_empty = |level: &Level| level.local.is_empty() && level.stages.is_empty();
        while self.levels.len() > sections && self.levels.last().is_some_and(is_empty) {
            self.levels.pop();
        }
        let mut plan = Plan {
            roles: self.roles,
            registers: self.registers,
            inputs: self.inputs,
            public_inputs: self.public_inputs,
            kept: self.kept,
            ops: self.ops,
            regions: self.regions,
            levels: self.levels,
            sections: self.sections,
            outputs: self.outputs,
            guard: self.guard,
            keeps: self.keeps,
            needs: self.needs,
            window: WINDOW,
        };
        plan.find_parts();
        plan
    }

    fn assert_region(&self, region: u32) {
        assert!(region as usize <= self.regions.len(), "there is no region {region}");
    }

    fn assert_public(&self, regs: &[Reg], whose: &str) {
        for &reg in regs {
            assert!(
                self.shape(reg).public,
                "{whose} has register {reg}, which isn't public, where one has to be"
            );
        }
    }

    fn assert_secret(&self, regs: &[Reg], whose: &str) {
        for &reg in regs {
            assert!(
                !self.shape(reg).public,
                "{whose} has register {reg}, which is public, where shares are due"
            );
        }
    }

    fn push(&mut self, register: Register) -> Reg {
        self.needs = self.needs.with(of_domain(register.domain));
        self.registers.push(register);
        self.ready.push(0);
        self.used.push(self.floor());
        self.registers.len() as Reg - 1
    }

    /// The first level that the open section, and what is said of the next steps, leave to them.
    fn floor(&self) -> usize {
        let section = self.open.last().map_or(0, |open| self.sections[open.index].levels.start);
        section.max(self.earliest)
    }

    fn touch(&mut self, reg: Reg, level: usize) {
        for open in self.open.iter_mut().filter(|open| reg < open.registers) {
            open.reads.insert(reg);
        }
        let used = &mut self.used[reg as usize];
        *used = (*used).max(level);
    }

    fn level(&mut self, index: usize) -> &mut Level {
        while self.levels.len() <= index {
            self.levels.push(Level::default());
        }
        &mut self.levels[index]
    }
}
