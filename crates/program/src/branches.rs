//! Branches: which nodes are computed in which arm.
//!
//! An arm begins with [`Operation::Within`], a value as it is where a condition is set or where it isn't. What is
//! made of it is in that arm, up to the [`Operation::Where`] by the same condition that takes the arm's result: that
//! is after the branch. So an arm's values have no other way out.
//!
//! Where a protocol has means for branches, arms become regions of the plan ([`crate::plan::Region`]), and what an
//! arm computes while it isn't active may be anything. So whatever would show it, or rests on its being in a range,
//! is refused in arms: outputs, what authors assume, repeated bodies, shuffles. Their entries in the table of
//! operations say why. A branch may stand in a body that is repeated, as a whole: each turn has a condition of its
//! own.

use std::collections::HashMap;

use crate::error::Fault;
use crate::loops::Loop;
use crate::node::{Node, NodeId};
use crate::operations::Operation;

/// Arms that a program may have.
const MAX_ARMS: usize = 1 << 12;

/// How many arms may stand inside one another.
const MAX_DEPTH: usize = 1 << 6;

/// An arm of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Arm {
    /// The arm that the branch stands in: 0 is none.
    pub(crate) parent: u32,
    /// A single bool.
    pub(crate) condition: NodeId,
    /// Whether it is active where the condition is set.
    pub(crate) set: bool,
    /// The innermost repeated body that it stands in, by its place among all.
    pub(crate) body: Option<usize>,
}

/// The arms of a program, each after the one that it stands in, and the arm of every node: numbers from 1, 0 for none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Branches {
    pub(crate) arms: Vec<Arm>,
    pub(crate) of_node: Vec<u32>,
}

impl Branches {
    /// Of a program's nodes, and what is revealed and kept of them; or the node that is wrong, and what is.
    pub(crate) fn find(
        nodes: &[Node],
        last: impl IntoIterator<Item = NodeId>,
        loops: &[Loop],
    ) -> Result<Self, (usize, Fault)> {
        let (mut branches, mut numbers) = (Self::default(), HashMap::new());
        for (place, node) in nodes.iter().enumerate() {
            let wrong = |what| (place, Fault::Branch { what });
            // Inner ones come first.
            let body = loops.iter().position(|inner| inner.body.contains(&place));
            let arm = branches.of(node, body, &mut numbers);
            let arm = arm.ok_or_else(|| wrong("values of different arms meet"))?;
            let too_many = |what, limit| Err((place, Fault::TooMany { what, limit }));
            if branches.arms.len() > MAX_ARMS {
                return too_many("arms of branches", MAX_ARMS);
            }
            // What is in no arm is counted, too.
            if branches.around(arm).count() > MAX_DEPTH + 1 {
                return too_many("arms inside one another", MAX_DEPTH);
            }
            if arm != 0
                && let Some(what) = node.operation.entry().no_arm
            {
                return Err(wrong(what));
            }
            if branches.around(arm).filter_map(|arm| branches.arm(arm)).any(|arm| arm.body != body) {
                return Err(wrong("a branch stands in a repeated body as a whole, or outside of it"));
            }
            branches.of_node.push(arm);
        }
        match last.into_iter().find(|node| branches.of_node[node.index()] != 0) {
            None => Ok(branches),
            Some(node) => {
                let what = "what an arm makes can't be revealed or kept; it is chosen from both arms first";
                Err((node.index(), Fault::Branch { what }))
            }
        }
    }

    /// The arm of a node, whose operands' are known; `None` if they are in arms of which neither is around the other.
    fn of(&mut self, node: &Node, body: Option<usize>, numbers: &mut HashMap<Arm, u32>) -> Option<u32> {
        let arm = |id: &NodeId| self.of_node[id.index()];
        let mut all: Vec<u32> = node.operands.iter().map(arm).collect();
        if let (Operation::Where, [condition, set, not]) = (&node.operation, &node.operands[..]) {
            for (place, operand, is_set) in [(1, set, true), (2, not, false)] {
                all[place] = self.after(arm(operand), *condition, is_set);
            }
        }
        let parent = all.into_iter().try_fold(0, |inner, arm| self.inner(inner, arm))?;
        let Operation::Within { set } = node.operation else { return Some(parent) };
        let arm = Arm { parent, condition: node.operands[0], set, body };
        Some(*numbers.entry(arm).or_insert_with(|| {
            self.arms.push(arm);
            self.arms.len() as u32
        }))
    }

    /// The arm around, of one that ends with the choice by its condition; any other stays.
    fn after(&self, arm: u32, condition: NodeId, set: bool) -> u32 {
        match self.arm(arm) {
            Some(own) if (own.condition, own.set) == (condition, set) => own.parent,
            _ => arm,
        }
    }

    /// The inner one of two arms, one of which is around the other.
    fn inner(&self, one: u32, other: u32) -> Option<u32> {
        if self.is_around(one, other) { Some(other) } else { self.is_around(other, one).then_some(one) }
    }

    fn is_around(&self, outer: u32, inner: u32) -> bool {
        self.around(inner).any(|arm| arm == outer)
    }

    /// An arm, those around it, and 0.
    fn around(&self, arm: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(arm), |arm| self.arm(*arm).map(|arm| arm.parent))
    }

    /// How many arms stand around what is in an arm, and it.
    pub(crate) fn depth(&self, arm: u32) -> usize {
        self.around(arm).count() - 1
    }

    /// An arm; `None` of what is in none.
    pub(crate) fn arm(&self, arm: u32) -> Option<&Arm> {
        self.arms.get((arm as usize).checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use crate::error::Fault;
    use crate::node::NodeId;
    use crate::{Builder, Dtype, Program, ProgramError, Range, Recipient, Uses};

    /// A builder with a condition and two numbers.
    fn begun() -> (Builder, [NodeId; 3]) {
        let mut build = Builder::new();
        let range = Range::new(-9, 9);
        let nodes = [
            build.input("alice", "c", Dtype::Bool, &[], None).unwrap(),
            build.input("alice", "x", Dtype::Int, &[2], range).unwrap(),
            build.input("bob", "y", Dtype::Int, &[2], range).unwrap(),
        ];
        (build, nodes)
    }

    fn finished(mut build: Builder, result: NodeId) -> Result<Program, ProgramError> {
        build.reveal(result, Recipient::All)?;
        build.finish()
    }

    fn what(result: Result<Program, ProgramError>) -> &'static str {
        match *result.unwrap_err().fault {
            Fault::Branch { what } => what,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn what_is_made_of_an_arms_values_is_in_the_arm_until_it_is_chosen() {
        let (mut build, [c, x, y]) = begun();
        let (set, not) = (build.if_set(c, x).unwrap(), build.unless_set(c, x).unwrap());
        let inner = build.equal(set, y).unwrap();
        let at = crate::Index::At(0);
        let inner = build.index(inner, &[at]).unwrap();
        let (deep, flat) = (build.if_set(inner, set).unwrap(), build.unless_set(inner, set).unwrap());
        let product = build.mul(deep, y).unwrap();
        let flat = build.add(flat, y).unwrap();
        let chosen = build.select(inner, product, flat).unwrap();
        let result = build.select(c, chosen, not).unwrap();
        let outside = build.mul(x, y).unwrap();
        let result = build.add(result, outside).unwrap();
        let program = finished(build, result).unwrap();
        assert_eq!(program.branches(), 2);
        let arms: Vec<(u32, bool)> = program.branches.arms.iter().map(|arm| (arm.parent, arm.set)).collect();
        assert_eq!(arms, [(0, true), (0, false), (1, true), (1, false)]);
        // Inputs; both arms; the inner condition; its arms and what is in them; three outside.
        let of_node = &program.branches.of_node;
        assert_eq!(of_node[of_node.len() - 3..], [0, 0, 0]);
        assert!(of_node.contains(&3) && of_node.contains(&4));
        assert_eq!(Program::from_bytes(&program.to_bytes()).unwrap(), program);
    }

    #[test]
    fn what_would_show_the_arm_is_refused() {
        let (mut build, [c, x, _]) = begun();
        let set = build.if_set(c, x).unwrap();
        assert!(what(finished(build, set)).contains("revealed"));

        let (mut build, [c, x, y]) = begun();
        let (set, not) = (build.if_set(c, x).unwrap(), build.unless_set(c, y).unwrap());
        let sum = build.add(set, not).unwrap();
        assert!(what(finished(build, sum)).contains("meet"));

        let (mut build, [c, x, _]) = begun();
        let set = build.if_set(c, x).unwrap();
        build.keep(set, "kept", Uses::default()).unwrap();
        assert!(what(finished(build, x)).contains("kept"));

        // The wrong way round: each arm's result where the other is active.
        let (mut build, [c, x, y]) = begun();
        let (set, not) = (build.if_set(c, x).unwrap(), build.unless_set(c, y).unwrap());
        let chosen = build.select(c, not, set).unwrap();
        assert!(what(finished(build, chosen)).contains("meet"));

        let (mut build, [c, x, _]) = begun();
        let set = build.if_set(c, x).unwrap();
        let assumed = build.assume(set, Range::new(0, 1).unwrap()).unwrap();
        let chosen = build.select(c, assumed, x).unwrap();
        assert!(what(finished(build, chosen)).contains("assumed"));

        let (mut build, [c, x, _]) = begun();
        let set = build.if_set(c, x).unwrap();
        let shuffled = build.shuffle(&[set]).unwrap()[0];
        let chosen = build.select(c, shuffled, x).unwrap();
        assert!(what(finished(build, chosen)).contains("shuffled"));

        let (mut build, [c, x, _]) = begun();
        let set = build.if_set(c, x).unwrap();
        let keys = build.greater(set, x).and_then(|keys| build.reshape(keys, &[1, 2])).unwrap();
        let sorted = build.sort(keys, &[]).and_then(|sorted| build.reshape(sorted[0], &[2])).unwrap();
        let sorted = build.astype(sorted, Dtype::Int).unwrap();
        let chosen = build.select(c, sorted, x).unwrap();
        assert!(what(finished(build, chosen)).contains("sort"));

        let (mut build, [c, x, _]) = begun();
        let set = build.if_set(c, x).unwrap();
        let clipped = build.repeat(3, &[set], &[], |build, states, _| {
            let [low, high] = [-9, 9].map(|end| build.public(Dtype::Int, vec![], vec![end]).unwrap());
            Ok(vec![build.clip(states[0], low, high)?])
        });
        let chosen = build.select(c, clipped.unwrap()[0], x).unwrap();
        assert!(what(finished(build, chosen)).contains("repeated"));
    }

    #[test]
    fn a_branch_may_stand_in_a_repeated_body_and_no_body_in_an_arm() {
        // The same condition outside and in the body: two branches.
        let (mut build, [c, x, y]) = begun();
        let (set, not) = (build.if_set(c, x).unwrap(), build.unless_set(c, y).unwrap());
        let outside = build.select(c, set, not).unwrap();
        let repeated = build.repeat(3, &[x], &[], |build, states, _| {
            let (set, not) = (build.if_set(c, states[0])?, build.unless_set(c, states[0])?);
            let negative = build.neg(set)?;
            Ok(vec![build.select(c, negative, not)?])
        });
        let sum = build.add(outside, repeated.unwrap()[0]).unwrap();
        let program = finished(build, sum).unwrap();
        assert_eq!(program.branches.arms.len(), 4);
        assert_eq!(program.branches.arms.iter().filter(|arm| arm.body.is_some()).count(), 2);
        assert_eq!(Program::from_bytes(&program.to_bytes()).unwrap(), program);

        // An arm's value in a body that begins in it.
        let (mut build, [c, x, y]) = begun();
        let set = build.if_set(c, x).unwrap();
        let repeated = build.repeat(3, &[y], &[], |build, states, _| {
            let sum = build.add(states[0], set)?;
            let [low, high] = [-9, 9].map(|end| build.public(Dtype::Int, vec![], vec![end]).unwrap());
            Ok(vec![build.clip(sum, low, high)?])
        });
        let result = repeated.unwrap()[0];
        assert!(what(finished(build, result)).contains("as a whole"));

        // What an arm makes as the next step's state.
        let (mut build, [c, x, _]) = begun();
        let repeated = build.repeat(3, &[x], &[], |build, states, _| Ok(vec![build.if_set(c, states[0])?]));
        let result = repeated.unwrap()[0];
        assert!(what(finished(build, result)).contains("next step"));
    }

    #[test]
    fn a_condition_is_one_secret_bool() {
        let (mut build, [c, x, _]) = begun();
        let several = build.equal(x, x).unwrap();
        assert!(build.if_set(several, x).is_err() && build.if_set(x, x).is_err());
        assert!(build.if_set(c, c).is_ok());
    }
}
