//! A program: nodes in the order of their making, inputs that participants give, outputs that participants learn.
//!
//! A program is closed and well typed: it is made by [`crate::Builder`] alone, also when it is read from bytes.

use std::fmt;

use crate::branches::Branches;
use crate::error::Source;
use crate::loops::{Loop, Visit, visits};
use crate::node::{Node, NodeId};
use crate::operations::Operation;
use crate::signature::{InputType, KnownType};
use crate::types::{Dtype, Range};

/// Who learns an output.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Recipient {
    /// Everybody.
    All,
    /// One participant.
    Role(String),
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "all",
            Self::Role(name) => name,
        })
    }
}

/// A value that is revealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Which.
    pub node: NodeId,
    /// To whom.
    pub to: Recipient,
    /// Index in [`Program::sources`].
    pub(crate) source: u32,
}

/// A value that the parties keep for later runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Which.
    pub node: NodeId,
    /// What it is called from then on.
    pub name: String,
    /// What may be done with it.
    pub uses: Uses,
    /// Index in [`Program::sources`].
    pub(crate) source: u32,
}

/// What may be done with a kept value. Every party holds a run that reads it against this before anything is computed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Uses {
    /// Hashes of the programs that may read it, ascending; any may if none is named.
    pub programs: Vec<[u8; 32]>,
    /// Who may learn what depends on it, by name, ascending; with `None` anybody.
    pub learners: Option<Vec<String>>,
    /// Hashes of the programs that may keep later versions of the name, ascending, besides the program that says so. It counts
    /// where nothing is kept under the name yet: who makes a name says who may replace its value.
    pub writers: Vec<[u8; 32]>,
}

impl Uses {
    /// With programs and names in order, each once; later versions are for the same program alone to keep.
    pub fn new(programs: Vec<[u8; 32]>, mut learners: Option<Vec<String>>) -> Self {
        if let Some(names) = &mut learners {
            names.sort_unstable();
            names.dedup();
        }
        Self { programs: in_order(programs), learners, writers: Vec::new() }
    }

    /// The same with other programs that may keep later versions.
    #[must_use]
    pub fn with_writers(self, writers: Vec<[u8; 32]>) -> Self {
        Self { writers: in_order(writers), ..self }
    }
}

/// Each once, ascending.
fn in_order(mut programs: Vec<[u8; 32]>) -> Vec<[u8; 32]> {
    programs.sort_unstable();
    programs.dedup();
    programs
}

/// What a kept value that a program reads has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptType {
    /// What the program calls it.
    pub name: String,
    /// The node that it is.
    pub node: NodeId,
    /// What its elements are.
    pub kind: Dtype,
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// What raw elements may be: those of what was kept have to be in it.
    pub range: Range,
}

/// A typed tensor program. Made by [`crate::Builder::finish`] or [`Program::from_bytes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub(crate) nodes: Vec<Node>,
    pub(crate) inputs: Vec<NodeId>,
    pub(crate) kept: Vec<NodeId>,
    pub(crate) known: Vec<NodeId>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) keeps: Vec<Keep>,
    pub(crate) sources: Vec<Source>,
    pub(crate) loops: Vec<Loop>,
    pub(crate) branches: Branches,
}

impl Program {
    /// All nodes; operands come before what is made of them, and each is an input or reaches an output.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A node.
    ///
    /// # Panics
    /// If the number is not one of this program's.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The inputs, in the order in which they were declared.
    pub fn inputs(&self) -> &[NodeId] {
        &self.inputs
    }

    /// What each input has to be.
    pub fn input_types(&self) -> Vec<InputType> {
        let declared = |id: &NodeId| {
            let Node { operation, ty, .. } = self.node(*id);
            let Operation::Input { owner, name } = operation else {
                unreachable!("an input is made by an input operation");
            };
            InputType {
                owner: owner.clone(),
                name: name.clone(),
                kind: ty.kind,
                shape: ty.shape.clone(),
                range: ty.range,
            }
        };
        self.inputs.iter().map(declared).collect()
    }

    /// What it reads of what the parties keep, in the order of declaration.
    pub fn kept(&self) -> Vec<KeptType> {
        let declared = |&node: &NodeId| {
            let Node { operation, ty, .. } = self.node(node);
            let Operation::Kept { name } = operation else {
                unreachable!("a kept value is made by its operation");
            };
            KeptType { name: name.clone(), node, kind: ty.kind, shape: ty.shape.clone(), range: ty.range }
        };
        self.kept.iter().map(declared).collect()
    }

    /// What all parties know of each run, in the order of declaration.
    pub fn known(&self) -> Vec<KnownType> {
        let declared = |&node: &NodeId| {
            let Node { operation, ty, .. } = self.node(node);
            let Operation::Known { name } = operation else {
                unreachable!("what is known is made by its operation");
            };
            KnownType { name: name.clone(), kind: ty.kind, shape: ty.shape.clone(), range: ty.range }
        };
        self.known.iter().map(declared).collect()
    }

    /// All that a run is given, in order: its inputs, and then what all parties know, as inputs whose owner is called `all`.
    pub fn given(&self) -> Vec<InputType> {
        let known = self.known().into_iter().map(|KnownType { name, kind, shape, range }| InputType {
            owner: "all".to_owned(),
            name,
            kind,
            shape,
            range,
        });
        self.input_types().into_iter().chain(known).collect()
    }

    /// What the parties keep of it, in the order in which the program says so.
    pub fn keeps(&self) -> &[Keep] {
        &self.keeps
    }

    /// Which nodes depend on a node, by number; it does so itself. Each node is visited once.
    pub fn depending_on(&self, node: NodeId) -> Vec<bool> {
        let mut readers = vec![Vec::new(); self.nodes.len()];
        for (place, reader) in self.nodes.iter().enumerate() {
            for operand in &reader.operands {
                readers[operand.index()].push(place);
            }
        }
        for (state, result) in self.loops.iter().flat_map(|body| &body.carry) {
            readers[result.index()].push(state.index());
        }
        let (mut depends, mut waiting) = (vec![false; self.nodes.len()], vec![node.index()]);
        while let Some(place) = waiting.pop() {
            if !std::mem::replace(&mut depends[place], true) {
                waiting.extend(&readers[place]);
            }
        }
        depends
    }

    /// The lines at which its author assumes a range; and whether a run looks ([`Operation::Assume`]).
    pub fn assumptions(&self) -> impl Iterator<Item = (&Source, bool)> {
        self.nodes.iter().filter_map(|node| match node.operation {
            Operation::Assume { watched, .. } => Some((&self.sources[node.source as usize], watched)),
            _ => None,
        })
    }

    /// The line of the first range that is assumed of a number that depends on others, as [`Program::depending_on`] has it, and
    /// that a run looks at: all learn whether it holds.
    pub fn watched_of(&self, depends: &[bool]) -> Option<&Source> {
        let mut watched = self.nodes.iter().zip(depends).filter(|(node, depends)| {
            **depends && matches!(node.operation, Operation::Assume { watched: true, .. })
        });
        watched.next().map(|(node, _)| &self.sources[node.source as usize])
    }

    /// The outputs, in the order in which they were revealed.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Lines of the user's source.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// The line that a node comes from.
    pub fn source(&self, id: NodeId) -> &Source {
        &self.sources[self.node(id).source as usize]
    }

    /// The line that reveals an output.
    pub fn output_source(&self, output: &Output) -> &Source {
        &self.sources[output.source as usize]
    }

    /// How many branches there are: conditions of which one arm or the other is taken.
    pub fn branches(&self) -> usize {
        let mut conditions: Vec<_> =
            self.branches.arms.iter().map(|arm| (arm.parent, arm.condition, arm.body)).collect();
        conditions.sort_unstable();
        conditions.dedup();
        conditions.len()
    }

    /// Its nodes in the order in which they are computed.
    pub(crate) fn visits(&self) -> Vec<Visit> {
        match visits(self.nodes.len(), &self.loops) {
            Ok(visits) => visits,
            Err(_) => unreachable!("a program was made only if its steps can be counted"),
        }
    }

    /// The body that begins with a node.
    pub(crate) fn loop_from(&self, place: usize) -> Option<&Loop> {
        self.loops.iter().find(|inner| inner.body.start == place)
    }

    /// A body's own slices of what it goes over.
    pub(crate) fn steps(&self, body: &Loop) -> Vec<NodeId> {
        let innermost = |place: &usize| self.loops.iter().find(|inner| inner.body.contains(place));
        let own = body.body.clone().filter(|place| innermost(place) == Some(body));
        let ids = own.map(|place| NodeId::new(place as u32));
        ids.filter(|&id| self.node(id).operation == Operation::Step).collect()
    }

    /// What a visited node takes over as it is: a state the result of the step before, or what it is at first; what
    /// ends or leaves a body a result of it; what is assumed about a value, or in an arm, that value. `None` for other nodes.
    pub(crate) fn taken(&self, Visit { node, step }: Visit) -> Option<NodeId> {
        let Node { operation, operands, .. } = self.node(node);
        match operation {
            Operation::State { .. } if step > 0 => {
                let mut carry = self.loops.iter().flat_map(|inner| &inner.carry);
                carry.find(|(state, _)| *state == node).map(|(_, result)| *result)
            }
            Operation::State { .. } | Operation::Assume { .. } => operands.first().copied(),
            Operation::Repeat { .. } => operands.get(operands.len() / 2).copied(),
            Operation::After | Operation::ShuffleToo | Operation::Within { .. } => operands.get(1).copied(),
            _ => None,
        }
    }
}
