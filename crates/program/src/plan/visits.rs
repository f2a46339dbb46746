//! A plan's levels in the order in which they are computed, and operations by their addresses.

use super::sections::Section;
use super::steps::Local;
use super::types::{Level, Op, Plan, Stage};

/// A level as it is computed, in one of its turns.
#[derive(Clone, Debug)]
pub struct Visit<'a> {
    /// The level.
    pub level: &'a Level,
    /// What the turn adds to the addresses of its operations.
    pub shift: u32,
    /// The sections of which a turn begins with it, outer ones first, and which turn that is.
    pub begins: Vec<(&'a Section, u32)>,
}

impl Visit<'_> {
    /// The level's stages, with this turn's addresses.
    pub fn stages(&self) -> impl Iterator<Item = Stage> {
        self.level.stages.iter().map(|stage| Stage { op: stage.op + self.shift, ..*stage })
    }
}

/// Goes through a plan's levels as they are computed.
struct Walk<'a> {
    plan: &'a Plan,
    /// The next level.
    at: usize,
    shift: u32,
    /// Open sections by their indices, and the turn of each.
    open: Vec<(usize, u32)>,
}

impl<'a> Iterator for Walk<'a> {
    type Item = Visit<'a>;

    fn next(&mut self) -> Option<Visit<'a>> {
        let sections = &self.plan.sections;
        let mut begins = Vec::new();
        while let Some((index, turn)) = self.open.last_mut() {
            let section = &sections[*index];
            if section.levels.end != self.at {
                break;
            }
            *turn += 1;
            if *turn < section.times {
                self.shift += section.turn();
                self.at = section.levels.start;
                begins.push((section, *turn));
                break;
            }
            self.shift -= section.all_addresses() - section.turn();
            self.open.pop();
        }
        let is_open = |open: &[(usize, u32)], index| open.iter().any(|(other, _)| *other == index);
        for (index, section) in sections.iter().enumerate() {
            if section.levels.start == self.at && !is_open(&self.open, index) {
                self.open.push((index, 0));
                begins.push((section, 0));
            }
        }
        let level = self.plan.levels.get(self.at)?;
        self.at += 1;
        Some(Visit { level, shift: self.shift, begins })
    }
}

impl Plan {
    /// Its levels in the order in which they are computed, those of a section once for each turn.
    pub fn visits(&self) -> impl Iterator<Item = Visit<'_>> {
        Walk { plan: self, at: 0, shift: 0, open: Vec::new() }
    }

    /// Its levels, each with the number of times that it is computed.
    pub fn counted_levels(&self) -> impl Iterator<Item = (&Level, u64)> {
        let times = |at: usize| {
            let around = self.sections.iter().filter(move |section| section.levels.contains(&at));
            around.map(|section| u64::from(section.times)).product()
        };
        self.levels.iter().enumerate().map(move |(at, level)| (level, times(at)))
    }

    /// Its operations as they are written, each with its address in the first turn and the number of times that it is
    /// computed.
    pub fn counted_ops(&self) -> impl Iterator<Item = (&Op, u32, u64)> {
        let begins =
            |level: &Level| level.stages.iter().filter(|stage| stage.stage == 0).copied().collect::<Vec<_>>();
        let of = move |(level, times)| begins(level).into_iter().map(move |stage| (stage.op, times));
        self.counted_levels().flat_map(of).map(|(address, times)| (self.op(address), address, times))
    }

    /// Copies with which turns of sections begin at a level: the carried ones, and the slices of the first turn.
    pub fn copies_before(&self, level: usize) -> impl DoubleEndedIterator<Item = &Local> {
        let begins = self.sections.iter().filter(move |section| section.levels.start == level);
        begins.flat_map(|section| section.carry.iter().chain(section.slices.iter().map(|slice| &slice.step)))
    }

    /// Its operations by their addresses, those of a section once for each turn.
    pub fn all_ops(&self) -> impl Iterator<Item = &Op> {
        (0..self.op_count()).map(|address| self.op(address))
    }

    /// How many operations a run has, which is their addresses' end.
    pub fn op_count(&self) -> u32 {
        self.ops.len() as u32
            + self.outermost().map(|section| section.all_addresses() - section.ops).sum::<u32>()
    }

    /// The operation at an address.
    ///
    /// # Panics
    /// If there is none.
    pub fn op(&self, address: u32) -> &Op {
        let [first, left_out] = self.first_turn(address);
        &self.ops[(first - left_out) as usize]
    }

    /// What the turn of an address adds to those of the first turn ([`Visit::shift`]).
    pub fn shift(&self, address: u32) -> u32 {
        address - self.first_turn(address)[0]
    }

    /// The innermost section that has an address of a first turn, by its place among all.
    pub fn section_of(&self, address: u32) -> Option<usize> {
        let has = |section: &Section| section.addresses.contains(&address);
        // A section comes after the one that it stands in.
        self.sections.iter().rposition(has)
    }

    /// An address in the first turn of all sections around it, and how many of those before it are written for no operation.
    fn first_turn(&self, mut address: u32) -> [u32; 2] {
        let (mut left_out, mut passed) = (0, 0);
        for section in &self.sections {
            let first = section.addresses.start;
            if first < passed {
                // It is in one that ends before the address.
                continue;
            }
            if address < first {
                break;
            }
            if address - first < section.all_addresses() {
                address = first + (address - first) % section.turn();
            } else {
                left_out += section.all_addresses() - section.ops;
                passed = section.addresses.end;
            }
        }
        [address, left_out]
    }

    /// Sections that stand in no other one.
    fn outermost(&self) -> impl Iterator<Item = &Section> {
        let mut end = 0;
        self.sections.iter().filter(move |section| {
            let is_outer = section.levels.start >= end;
            end = end.max(section.levels.end);
            is_outer
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Builder, Layout, OpKind, Reg, To, Width};

    /// A section of these turns around each other, with a product before, between and after all that it holds.
    fn nested(builder: &mut Builder, state: Reg, times: &[u32]) -> Reg {
        let square = |builder: &mut Builder, a| {
            let dst = builder.ring(Width::W64, 2);
            builder.interact(OpKind::Mul { a, b: a, dst });
            dst
        };
        let first = square(builder, state);
        let [now, rest @ ..] = times else { return first };
        let copy = |a, dst| Local::Copy { a, layout: Layout::whole(&[2]), at: 0, dst };
        let inner = builder.ring(Width::W64, 2);
        builder.local(copy(first, inner));
        builder.begin_section();
        let made = nested(builder, inner, rest);
        builder.end_section(*now, vec![copy(made, inner)]);
        square(builder, made)
    }

    #[test]
    fn every_turn_has_addresses_of_its_own_and_they_name_its_operations() {
        for times in [&[][..], &[2], &[3, 2], &[2, 5, 3]] {
            let mut builder = Builder::new();
            let (owner, input) = (builder.role("alice"), builder.ring(Width::W64, 2));
            builder.input(owner, input);
            let first = nested(&mut builder, input, times);
            let last = nested(&mut builder, first, times);
            builder.output(last, To::All);
            let plan = builder.finish();
            assert_eq!(plan.ops.len(), 2 * (2 * times.len() + 1), "they are written once");
            let addresses: Vec<u32> = plan
                .visits()
                .flat_map(|visit| visit.stages().collect::<Vec<_>>())
                .map(|stage| stage.op)
                .collect();
            assert_eq!(addresses, (0..plan.op_count()).collect::<Vec<_>>(), "{times:?}");
            // All that is written is met as often as it is computed.
            let products = 2
                * (0..=times.len()).map(|depth| times[..depth].iter().product::<u32>()).sum::<u32>()
                + 2 * (0..times.len()).map(|depth| times[..depth].iter().product::<u32>()).sum::<u32>();
            assert_eq!(plan.op_count(), products);
            let mut met = std::collections::HashMap::new();
            for visit in plan.visits() {
                for (written, stage) in visit.level.stages.iter().zip(visit.stages()) {
                    assert!(std::ptr::eq(plan.op(written.op), plan.op(stage.op)), "{times:?}: {stage:?}");
                    *met.entry(written.op).or_insert(0_u64) += 1;
                }
            }
            for (level, times) in plan.counted_levels() {
                level.stages.iter().for_each(|stage| assert_eq!(met[&stage.op], times));
            }
            assert_eq!(plan.depth(), u64::from(products), "one after another");
            assert_eq!(plan.addresses(), plan.op_count());
        }
    }

    #[test]
    fn what_comes_after_a_section_stays_out_of_its_levels() {
        let mut builder = Builder::new();
        let owner = builder.role("alice");
        let [a, b, state, after] = [(); 4].map(|()| builder.ring(Width::W8, 2));
        let bit = builder.bits(1, 2);
        builder.input(owner, a);
        builder.input(owner, state);
        builder.interact(OpKind::Mul { a, b: a, dst: b });
        builder.begin_section();
        let made = builder.ring(Width::W8, 2);
        builder.interact(OpKind::Mul { a: state, b, dst: made });
        let copy = Local::Copy { a: made, layout: Layout::whole(&[2]), at: 0, dst: state };
        builder.end_section(7, vec![copy]);
        // Its operands are there before the section: the first level has room, and two stages have none.
        builder.interact(OpKind::Mul { a, b: a, dst: after });
        builder.interact(OpKind::Msb { a, dst: bit });
        for reg in [state, after, bit] {
            builder.output(reg, To::All);
        }
        let plan = builder.finish();
        let levels: Vec<Vec<u32>> =
            plan.levels.iter().map(|level| level.stages.iter().map(|stage| stage.op).collect()).collect();
        assert_eq!(plan.sections[0].levels, 1..2);
        assert_eq!(levels, [vec![0, 8], vec![1], vec![9], vec![9]]);
        assert_eq!(plan.sections[0].kept, [made]);
        assert_eq!((plan.op_count(), plan.depth()), (10, 10));
    }
}
