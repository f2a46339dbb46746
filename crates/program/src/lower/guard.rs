//! What looks whether numbers are in the ranges that a program assumes.
//!
//! All that is computed of a number rests on its range: rings are as wide as ranges ask for, and what a shift makes of a number
//! outside depends on how it is shared. So each number that is assumed to be in a range gives a bit, whether it is, and all of
//! them one, which is opened before anything else ([`Plan::guard`](crate::plan::Plan::guard)). A number is looked at in the range
//! that it is sure to be in if all that was assumed before holds; so the first that is outside is found, whatever comes of it.

use super::lowering::Lowering;
use super::numbers::within::within;
use super::term::Term;
use crate::capabilities::{Feature, Field, Numbers};
use crate::loops::Loop;
use crate::node::NodeId;
use crate::operations::Operation;
use crate::plan::{Domain, Form, Layout, Local, Public, Reg};

impl Lowering<'_> {
    /// Whether a node's range is looked at.
    pub(super) fn is_watched(&self, id: NodeId) -> bool {
        let node = self.program.node(id);
        let Operation::Assume { watched: true, .. } = node.operation else { return false };
        let narrows = node.operands.first().is_some_and(|&x| !node.ty.range.covers(self.ty(x).range));
        let guards = !self.debug && self.capabilities.offers(Feature::Guard);
        guards && narrows && node.ty.secret && !node.ty.is_empty()
    }

    /// Notes that a node's range is to be looked at, for [`Self::look`]. Where masked openings need numbers to be in their
    /// ranges, this is known from clipping them ([`Self::assumed`]); of what is rectified, from its tree.
    pub(super) fn watch(&mut self, id: NodeId) {
        if self.capabilities.numbers.field().is_none() && !self.rectified.looks_at(id) {
            self.unseen.push(id);
        }
    }

    /// Looks at what was noted, beside the circuits of the node before, if it has some: alone, a look would add all its rounds
    /// to a level that may have a single one.
    pub(super) fn look_beside_circuits(&mut self) {
        let Some((depth, circuit)) = self.deepest.take() else { return };
        if depth > 1 && !self.unseen.is_empty() {
            // Numbers of two components are split a level before their circuits.
            let before = usize::from(self.capabilities.numbers == Numbers::TwoComponents);
            self.plan.no_sooner_than(circuit, before);
            self.look();
            self.plan.as_soon_as_they_can();
        }
    }

    /// Looks at what was noted.
    fn look(&mut self) {
        self.leave_arms();
        for id in std::mem::take(&mut self.unseen) {
            self.begin(id);
            self.look_at(id);
        }
        self.deepest = None;
    }

    /// Looks whether numbers are in the range that a node assumes them to be in.
    fn look_at(&mut self, id: NodeId) {
        let (x, range) = (self.program.node(id).operands[0], self.ty(id).range);
        let inside = if self.capabilities.numbers.are_bits() {
            self.numbers_within(x, range)
        } else {
            let whole = self.whole(x);
            within(self, whole, self.ty(x).range, range)
        };
        self.note_inside(inside);
    }

    /// Notes bits that have to be 1.
    pub(super) fn note_inside(&mut self, bits: Reg) {
        self.first_inside.get_or_insert(self.at);
        let all = self.all_of(bits);
        self.inside.push(all);
    }

    /// Whether all of some bits are set, of which there is one at least: an AND for each but one.
    pub(super) fn all_of(&mut self, mut bits: Reg) -> Reg {
        let mut left = self.plan.shape(bits).cols;
        while left > 1 {
            // Halves, which share the bit in the middle of an odd number of them.
            let half = left.div_ceil(2);
            let part = Layout::whole(&[half]);
            let upper = Layout { offset: left - half, ..part.clone() };
            let [a, b] = [part, upper].map(|walk| Term::Secret(self.gathered(bits, walk)));
            let both = self.and(&a, &b);
            bits = self.register(&both);
            left = half;
        }
        bits
    }

    /// Before a body that is repeated: where the bit of all its steps is, if one of its numbers is looked at; and what was noted
    /// before.
    pub(super) fn begin_watching(&mut self, body: &Loop) -> (Option<Reg>, Vec<Reg>) {
        self.look();
        let mut nodes = body.body.clone().map(|place| NodeId::new(place as u32));
        let all = nodes.any(|id| self.is_watched(id)).then(|| {
            let dst = self.fresh(self.domain_of_bits(), 1);
            self.plan.local(Local::Constant { value: Public::Splat(1), dst });
            dst
        });
        (all, std::mem::take(&mut self.inside))
    }

    /// At the end of each step: what the bit of the steps so far becomes before the next one. After the last step it isn't moved
    /// there any more: what follows reads it where it was made, as results.
    pub(super) fn end_watching(&mut self, all: Option<Reg>, before: Vec<Reg>) -> Option<Local> {
        self.look();
        let here = std::mem::replace(&mut self.inside, before);
        let dst = all?;
        let a = self.all_inside(&[vec![dst], here].concat());
        self.inside.push(a);
        Some(Local::Copy { a, layout: Layout::whole(&[1]), at: 0, dst })
    }

    /// Opens the bit of all numbers that are looked at, if there are any.
    pub(super) fn guard(&mut self) {
        self.look();
        let Some(first) = self.first_inside else { return };
        self.begin(first);
        let bits = std::mem::take(&mut self.inside);
        let bit = self.all_inside(&bits);
        let form = if self.domain_of_bits() == Domain::Bits { Form::Elements } else { Form::Signed };
        self.plan.guard(bit, form);
    }

    fn all_inside(&mut self, bits: &[Reg]) -> Reg {
        let parts: Vec<_> = bits.iter().map(|&bit| (bit, Layout::whole(&[1]))).collect();
        let joined = self.joined(self.domain_of_bits(), &parts);
        self.all_of(joined)
    }

    fn domain_of_bits(&self) -> Domain {
        self.capabilities.numbers.field().map_or(Domain::Bits, Field::domain)
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::{Level, Stage};
    use crate::testing::Clear;
    use crate::{Builder, Capabilities, Dtype, Feature, Field, Program, Range, Recipient, lower};
    use proptest::test_runner::{RngAlgorithm, TestRng};

    const ALL: [Capabilities; 5] = [
        Capabilities::TWO_COMPONENTS.with(Feature::Guard),
        Capabilities::THREE_COMPONENTS.with(Feature::Guard),
        Capabilities::THREE_COMPONENTS.with(Feature::Msb).with(Feature::Guard),
        Capabilities::BITS.with(Feature::Guard),
        Capabilities::masked_opening(Field::Fp128).with(Feature::Guard),
    ];

    /// Whether a run of a program goes on, with these numbers of its one input.
    fn goes_on(program: &Program, capabilities: Capabilities, numbers: &[i64]) -> bool {
        let plan = lower(program, capabilities).unwrap().plan;
        let guard = plan.guard.expect("the plan has a guard");
        assert_eq!((guard, plan.outputs.len()), (1, 2), "it comes after the program's output");
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[9; 32]);
        let inputs = numbers.iter().map(|&number| number as u64).collect();
        Clear::run(&plan, &[inputs], rng)[1] == [1]
    }

    fn assumed(sure: (i128, i128), range: (i128, i128), count: usize) -> Program {
        let mut build = Builder::new();
        let x = build.input("alice", "x", Dtype::Int, &[count], Range::new(sure.0, sure.1)).unwrap();
        let one = build.public(Dtype::Int, vec![], vec![1]).unwrap();
        let more = build.add(x, one).unwrap();
        let narrow = build.assume(more, Range::new(range.0, range.1).unwrap()).unwrap();
        build.reveal(narrow, Recipient::Role("alice".into())).unwrap();
        build.finish().unwrap()
    }

    /// Every number of a small range, in ranges of every sort, and around the ends of long ones.
    #[test]
    fn every_number_outside_is_found_and_none_inside() {
        let ranges =
            [(0, 7), (-8, 7), (-8, 8), (-3, 0), (1, 1), (-20, 19), (-17, 3), (0, 1), (-1, 0), (5, 12)];
        for capabilities in ALL {
            for (lo, hi) in ranges {
                let program = assumed((-21, 20), (lo, hi), 1);
                for x in -21..=20 {
                    let inside = (lo..=hi).contains(&(i128::from(x) + 1));
                    assert_eq!(goes_on(&program, capabilities, &[x]), inside, "{x} + 1 in {lo} to {hi}");
                }
            }
            for (lo, hi) in
                [(-1 << 40, (1 << 40) - 1), (-1 << 40, 1 << 40), (0, (1 << 33) - 1), (-5, 1 << 50)]
            {
                let program = assumed((-1 << 52, 1 << 52), (lo, hi), 1);
                for end in [lo, hi] {
                    for x in end - 3..end + 2 {
                        let inside = (lo..=hi).contains(&(x + 1));
                        assert_eq!(
                            goes_on(&program, capabilities, &[x as i64]),
                            inside,
                            "{x} + 1 in {lo} to {hi}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn one_of_many_is_found_wherever_it_stands() {
        for capabilities in ALL {
            let program = assumed((-100, 100), (0, 7), 11);
            assert!(goes_on(&program, capabilities, &[3; 11]));
            for place in 0..11 {
                let mut numbers = [3; 11];
                numbers[place] = 7;
                assert!(!goes_on(&program, capabilities, &numbers), "number {place}");
            }
        }
    }

    /// In each step of a body, and of one inside it.
    #[test]
    fn a_number_that_leaves_its_range_in_one_step_alone_is_found() {
        for (nested, turns) in [(false, 2), (true, 2), (false, 3), (true, 3)] {
            let mut build = Builder::new();
            let x = build.input("alice", "x", Dtype::Int, &[turns, 3], Range::new(-50, 50)).unwrap();
            let zero = build.public(Dtype::Int, vec![3], vec![0; 3]).unwrap();
            let range = Range::new(-30, 30).unwrap();
            let made = build
                .repeat(turns as u32, &[zero], &[x], |build, states, steps| {
                    let step = steps[0];
                    let add = |build: &mut Builder, state| {
                        let sum = build.add(state, step)?;
                        build.assume(sum, range)
                    };
                    if !nested {
                        return Ok(vec![add(build, states[0])?]);
                    }
                    build.repeat(2, &[states[0]], &[], |build, states, _| Ok(vec![add(build, states[0])?]))
                })
                .unwrap();
            build.reveal(made[0], Recipient::All).unwrap();
            let program = build.finish().unwrap();
            for capabilities in ALL {
                let all = 3 * turns;
                assert!(goes_on(&program, capabilities, &[&[15, 1, -9][..], &vec![0; all - 3]].concat()));
                for place in 0..all {
                    // In that step, or inside a step, and back in the range after the next one, if there is one.
                    let mut numbers = vec![0; all];
                    numbers[place] = if nested { 16 } else { 31 };
                    if let Some(next) = numbers.get_mut(place + 3) {
                        *next = if nested { -16 } else { -31 };
                    }
                    assert!(!goes_on(&program, capabilities, &numbers), "number {place}, {nested}, {turns}");
                }
            }
        }
    }

    /// Numbers of one layer are looked at beside the circuits of the next: but for those of the last one, looks take no rounds.
    #[test]
    fn looks_share_the_rounds_of_what_comes_next() {
        let rounds = |layers: usize, capabilities: Capabilities| {
            let mut build = Builder::new();
            let numbers = Range::new(-1 << 20, 1 << 20);
            let fixed = Dtype::Fixed { frac: 16 };
            let mut x = build.input("alice", "x", fixed, &[2], numbers).unwrap();
            let weight = build.input("bob", "w", fixed, &[2], numbers).unwrap();
            for _ in 0..layers {
                let product = build.mul(x, weight).unwrap();
                let rounded = build.rescale(product, 16).unwrap();
                x = build.assume(rounded, numbers.unwrap()).unwrap();
            }
            build.reveal(x, Recipient::All).unwrap();
            let plan = lower(&build.finish().unwrap(), capabilities).unwrap().plan;
            let of_stage = |stage: &Stage| plan.op(stage.op).kind.layers(stage.stage).len();
            let of_level = |level: &Level| level.stages.iter().map(of_stage).max().unwrap_or(0);
            plan.levels.iter().map(of_level).sum::<usize>()
        };
        for capabilities in ALL.into_iter().filter(|capabilities| capabilities.numbers.field().is_none()) {
            let added =
                |layers| rounds(layers, capabilities) - rounds(layers, capabilities.without(Feature::Guard));
            assert!(added(1) > 1);
            assert!(added(5) <= 3 * added(1), "{} rounds for one layer, {} for five", added(1), added(5));
        }
    }

    #[test]
    fn what_is_sure_or_known_has_no_guard_nor_has_a_protocol_that_cannot_open_one() {
        let plan = |program: &Program, capabilities| lower(program, capabilities).unwrap().plan;
        let mut build = Builder::new();
        let x = build.input("alice", "x", Dtype::Int, &[], Range::new(0, 9)).unwrap();
        let known = build.narrow(x, Range::new(0, 3).unwrap()).unwrap();
        let sure = build.assume(known, Range::new(-7, 5).unwrap()).unwrap();
        build.reveal(sure, Recipient::All).unwrap();
        let program = build.finish().unwrap();
        for capabilities in ALL {
            assert_eq!(plan(&program, capabilities).guard, None);
            let assumed = assumed((0, 9), (0, 7), 1);
            assert_eq!(plan(&assumed, capabilities.without(Feature::Guard)).guard, None);
            let debugged = crate::lower_for_debug(&assumed, capabilities).unwrap();
            assert_eq!(debugged.plan.guard, None);
        }
    }
}
