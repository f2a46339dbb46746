//! Values that stay: what a program keeps, and what it reads of what others kept.

use super::{Builder, MAX_NODES};
use crate::error::{Fault, ProgramError};
use crate::node::NodeId;
use crate::operations::Operation;
use crate::program::{Keep, Uses};
use crate::types::{Dtype, Range};

/// Programs and learners that the uses of one kept value may name.
const MAX_USES: usize = 1 << 10;

impl Builder {
    /// A value that the parties keep from an earlier run, which this program calls `name`; each run says which it is. Its
    /// elements are of this kind, its shape is this one, and `range` has to contain that of what was kept; without one it
    /// is all that the kind holds.
    ///
    /// # Errors
    /// [`Fault::KeptTwice`] for a second one of the name, and as [`Builder::input`].
    pub fn kept(
        &mut self,
        name: &str,
        kind: Dtype,
        shape: &[usize],
        range: Option<Range>,
    ) -> Result<NodeId, ProgramError> {
        self.kept_name(name)?;
        let ty = self.declaration(kind, shape, range)?;
        self.first("reads", name)?;
        let id = self.append(Operation::Kept { name: name.to_owned() }, vec![], ty)?;
        self.kept.push(id);
        Ok(id)
    }

    /// Lets the parties keep a value under a name, as shares, once all that it depends on is checked. `uses` says what later
    /// runs may do with it.
    ///
    /// # Errors
    /// [`Fault::KeptTwice`] for a second one of the name; [`Fault::TooMany`] where `uses` names too much.
    pub fn keep(&mut self, id: NodeId, name: &str, uses: Uses) -> Result<(), ProgramError> {
        self.type_of(id)?;
        self.kept_name(name)?;
        for learner in uses.learners.iter().flatten() {
            self.named("a role", learner)?;
        }
        let learners = uses.learners.as_ref().map_or(0, Vec::len);
        if uses.programs.len().max(uses.writers.len()).max(learners) > MAX_USES {
            return Err(self.fault(Fault::TooMany { what: "uses of a kept value", limit: MAX_USES }));
        }
        if self.keeps.len() >= MAX_NODES {
            return Err(self.fault(Fault::TooMany { what: "kept values", limit: MAX_NODES }));
        }
        self.first("keeps", name)?;
        self.keeps.push(Keep { node: id, name: name.to_owned(), uses, source: self.here });
        Ok(())
    }

    /// Takes down a name that the program reads, keeps or knows, and refuses a second one.
    pub(super) fn first(&mut self, does: &'static str, name: &str) -> Result<(), ProgramError> {
        if self.others.insert((does, name.to_owned())) {
            return Ok(());
        }
        Err(self.fault(Fault::KeptTwice { does, name: name.to_owned() }))
    }

    /// Refuses a name in which a version or rows could be read: runs say `weights@3[17]`.
    fn kept_name(&self, name: &str) -> Result<(), ProgramError> {
        self.named("a kept value", name)?;
        if name.contains(['@', '[']) {
            return Err(self.fault(Fault::Name { what: "a kept value", name: name.to_owned() }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capabilities, Feature, Program, Recipient, lower};

    fn counter(uses: Uses) -> Program {
        let mut build = Builder::new();
        let step = build.input("alice", "step", Dtype::Int, &[2], Range::new(0, 9)).unwrap();
        let count = build.kept("count", Dtype::Int, &[2], Range::new(0, 90)).unwrap();
        let sum = build.add(step, count).unwrap();
        build.keep(sum, "count", uses).unwrap();
        build.finish().unwrap()
    }

    #[test]
    fn what_is_kept_comes_back_from_bytes_and_is_a_part_of_the_hash() {
        let restricted = Uses::new(vec![[2; 32], [1; 32], [2; 32]], Some(vec!["bob".into(), "alice".into()]));
        let written = restricted.clone().with_writers(vec![[4; 32], [3; 32]]);
        let [free, bound] = [Uses::default(), written].map(counter);
        assert_ne!(bound.hash(), counter(restricted).hash());
        assert_eq!(bound.keeps()[0].uses.writers, [[3; 32], [4; 32]]);
        for program in [&free, &bound] {
            assert_eq!(Program::from_bytes(&program.to_bytes()).unwrap(), *program);
        }
        assert_ne!(free.hash(), bound.hash());
        assert_eq!(bound.keeps()[0].uses.programs, [[1; 32], [2; 32]]);
        let kept = &free.kept()[0];
        assert_eq!((kept.name.as_str(), kept.range.hi()), ("count", 90));
        assert!(free.depending_on(kept.node)[free.keeps()[0].node.index()]);
        for end in 0..bound.to_bytes().len() {
            assert!(Program::from_bytes(&bound.to_bytes()[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn a_name_is_read_once_and_kept_once() {
        let mut build = Builder::new();
        let x = build.kept("x", Dtype::Bool, &[3], None).unwrap();
        build.keep(x, "x", Uses::default()).unwrap();
        let says = build.kept("x", Dtype::Int, &[], None).unwrap_err().to_string();
        assert!(says.contains("already reads a value called \"x\""), "{says}");
        let says = build.keep(x, "x", Uses::default()).unwrap_err().to_string();
        assert!(says.contains("already keeps a value called \"x\""), "{says}");
        assert!(build.kept("", Dtype::Bool, &[3], None).is_err());
        assert!(build.kept("y@1", Dtype::Bool, &[3], None).is_err());
        assert!(build.kept("y[1]", Dtype::Bool, &[3], None).is_err());
    }

    #[test]
    fn what_depends_on_a_kept_value_goes_round_a_loop() {
        let mut build = Builder::new();
        let key = build.kept("key", Dtype::Int, &[], Range::new(0, 1)).unwrap();
        let x = build.input("alice", "x", Dtype::Int, &[], Range::new(0, 1)).unwrap();
        let one = build.public(Dtype::Int, vec![], vec![1]).unwrap();
        // The first state is of the key from the second step on, the second from the third.
        let body = |build: &mut Builder, states: &[NodeId], _: &[NodeId]| {
            Ok(vec![build.minimum(key, one)?, build.minimum(states[0], one)?])
        };
        let after = build.repeat(3, &[x, x], &[], body).unwrap();
        build.reveal(after[1], Recipient::All).unwrap();
        let program = build.finish().unwrap();
        let depends = program.depending_on(program.kept()[0].node);
        assert!(depends[program.outputs()[0].node.index()]);
        assert!(!depends[program.inputs()[0].index()]);
    }

    /// A "bit" of 2^64 that is only kept here would choose between two numbers elsewhere, and show both.
    #[test]
    fn inputs_of_what_is_kept_are_in_their_ranges_though_nothing_is_multiplied() {
        let capabilities = Capabilities::masked_opening(crate::Field::Fp128).with(Feature::Keep);
        for keeps in [false, true] {
            let mut build = Builder::new();
            let bit = build.input("P0", "bit", Dtype::Bool, &[1], None).unwrap();
            build.reveal(bit, Recipient::All).unwrap();
            if keeps {
                build.keep(bit, "bit", Uses::default()).unwrap();
            }
            let plan = lower(&build.finish().unwrap(), capabilities).unwrap().plan;
            assert_eq!(plan.proved_range(&plan.inputs[0]).is_some(), keeps);
        }
    }

    #[test]
    fn a_protocol_that_keeps_nothing_is_refused_at_the_line() {
        let program = counter(Uses::default());
        let capabilities = Capabilities::TWO_COMPONENTS.with(Feature::Keep);
        assert!(lower(&program, capabilities).is_ok());
        let without = Capabilities { features: capabilities.features.without(Feature::Keep), ..capabilities };
        assert!(lower(&program, without).unwrap_err().to_string().contains("values that stay"));
    }
}
