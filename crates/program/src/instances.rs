//! Several instances of a program as one program: what clients give, what depends on it and what clients learn is there once
//! for each instance, and what parties give and keep is there once.

use crate::builder::Builder;
use crate::error::{Fault, ProgramError};
use crate::node::{Node, NodeId};
use crate::operations::Operation;
use crate::program::{Program, Recipient};

/// A program that is several instances of another one ([`Program::times`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instances {
    /// The program.
    pub program: Program,
    /// For each input of the one program its input in each instance, or the one that all instances share.
    inputs: Vec<Vec<usize>>,
    /// The same for its outputs.
    outputs: Vec<Vec<usize>>,
}

impl Instances {
    /// The number that an input of the one program has in an instance.
    ///
    /// # Panics
    /// If there is no such input or instance.
    pub fn input(&self, input: usize, instance: usize) -> usize {
        of(&self.inputs[input], instance)
    }

    /// The number that an output of the one program has in an instance.
    ///
    /// # Panics
    /// If there is no such output or instance.
    pub fn output(&self, output: usize, instance: usize) -> usize {
        of(&self.outputs[output], instance)
    }

    /// What a client of the one program is called in an instance.
    pub fn name(client: &str, instance: usize) -> String {
        format!("{client} {instance}")
    }
}

/// What is there for an instance, or for all.
fn of<T: Copy>(all: &[T], instance: usize) -> T {
    if all.len() == 1 { all[0] } else { all[instance] }
}

impl Program {
    /// `count` instances of it. `clients` are those of its names that are another client's in each instance
    /// ([`Instances::name`]); all others are the same in all.
    ///
    /// Instances stand next to one another, bodies that are repeated and arms by one condition in common: there are as many
    /// rounds as for one, and messages are `count` times as long where all depends on clients. Each instance shuffles by
    /// itself.
    ///
    /// # Errors
    /// If it keeps values, each of which would be several next versions; if everybody learns what a client's input decides,
    /// which would be the other clients, too; or if the instances are too large for a program.
    pub fn times(&self, count: usize, clients: &[String]) -> Result<Instances, ProgramError> {
        let mut build = Builder::with_sources(self.sources.clone());
        let refused = |what, source: u32| ProgramError {
            at: self.sources[source as usize].clone(),
            fault: Box::new(Fault::Instances { what }),
        };
        if let Some(keep) = self.keeps.first() {
            return Err(refused("it keeps a value, which would have several next versions", keep.source));
        }
        let taken = self.names().any(|name| {
            let is_instance = |client: &String| (0..count).any(|at| Instances::name(client, at) == *name);
            clients.iter().any(is_instance)
        });
        if taken {
            return Err(refused("a name of it is that of a client's instance", 0));
        }
        let own = self.own(clients);
        let (mut nodes, mut inputs) = (Vec::<Vec<NodeId>>::with_capacity(self.nodes.len()), Vec::new());
        let mut given = 0;
        for (node, &is_own) in self.nodes.iter().zip(&own) {
            build.at_number(node.source);
            let all: Vec<NodeId> = if let Operation::Repeat { .. } = node.operation {
                vec![end(&mut build, node, &nodes)?]
            } else {
                let copies = 0..if is_own { count } else { 1 };
                copies
                    .map(|at| copy(&mut build, node, &nodes, is_own.then_some(at)))
                    .collect::<Result<_, _>>()?
            };
            if let Operation::Input { .. } = node.operation {
                inputs.push((given..given + all.len()).collect());
                given += all.len();
            }
            nodes.push(all);
        }
        let (mut outputs, mut revealed) = (Vec::new(), 0);
        for output in &self.outputs {
            build.at_number(output.source);
            let results = &nodes[output.node.index()];
            let before = revealed;
            match &output.to {
                Recipient::Role(name) if clients.contains(name) => {
                    for at in 0..count {
                        build.reveal(of(results, at), Recipient::Role(Instances::name(name, at)))?;
                    }
                    revealed += count;
                }
                Recipient::All if results.len() > 1 => {
                    return Err(refused(
                        "everybody would learn what one client's input decides",
                        output.source,
                    ));
                }
                to => {
                    results.iter().try_for_each(|&node| build.reveal(node, to.clone()))?;
                    revealed += results.len();
                }
            }
            outputs.push((before..revealed).collect());
        }
        Ok(Instances { program: build.finish()?, inputs, outputs })
    }

    /// Who gives inputs and learns outputs, by name.
    fn names(&self) -> impl Iterator<Item = &String> {
        let owners = self.inputs.iter().filter_map(|&input| match &self.node(input).operation {
            Operation::Input { owner, .. } => Some(owner),
            _ => None,
        });
        let recipients = self.outputs.iter().filter_map(|output| match &output.to {
            Recipient::Role(name) => Some(name),
            Recipient::All => None,
        });
        owners.chain(recipients)
    }

    /// Which nodes each instance has by itself: what depends on clients, and on an order that nobody knows.
    fn own(&self, clients: &[String]) -> Vec<bool> {
        let mut own = vec![false; self.nodes.len()];
        loop {
            let before = own.clone();
            for (place, node) in self.nodes.iter().enumerate() {
                own[place] |= match &node.operation {
                    Operation::Input { owner, .. } => clients.contains(owner),
                    Operation::Shuffle => true,
                    Operation::Repeat { .. } => false,
                    _ => node.operands.iter().any(|operand| own[operand.index()]),
                };
            }
            for (state, result) in self.loops.iter().flat_map(|body| &body.carry) {
                own[state.index()] |= own[result.index()];
            }
            if own == before {
                return own;
            }
        }
    }
}

/// A node of an instance, or of all in common.
fn copy(
    build: &mut Builder,
    node: &Node,
    nodes: &[Vec<NodeId>],
    instance: Option<usize>,
) -> Result<NodeId, ProgramError> {
    let name = |owner: &str| instance.map_or_else(|| owner.to_owned(), |at| Instances::name(owner, at));
    copied(build, node, name, |id| of(&nodes[id.index()], instance.unwrap_or(0)))
}

/// A node as another program has it, where owners have these names and operands are these.
pub(crate) fn copied(
    build: &mut Builder,
    node: &Node,
    owner_of: impl Fn(&str) -> String,
    operand: impl Fn(&NodeId) -> NodeId,
) -> Result<NodeId, ProgramError> {
    let (kind, shape) = (node.ty.kind, &node.ty.shape);
    match &node.operation {
        Operation::Input { owner, name } => {
            build.input(&owner_of(owner), name, kind, shape, Some(node.ty.range))
        }
        Operation::Kept { name } => build.kept(name, kind, shape, Some(node.ty.range)),
        Operation::Known { name } => build.known(name, kind, shape, Some(node.ty.range)),
        Operation::Constant(raw) => build.public(kind, shape.clone(), raw.to_vec()),
        operation => {
            let operands: Vec<NodeId> = node.operands.iter().map(operand).collect();
            build.push(operation.clone(), &operands)
        }
    }
}

/// The end of a repeated body, which all instances have in common: each state of every instance with its result.
fn end(build: &mut Builder, node: &Node, nodes: &[Vec<NodeId>]) -> Result<NodeId, ProgramError> {
    let (states, results) = node.operands.split_at(node.operands.len() / 2);
    let (mut all, mut next) = (Vec::new(), Vec::new());
    for (state, result) in states.iter().zip(results) {
        let copies = &nodes[state.index()];
        all.extend(copies);
        next.extend((0..copies.len()).map(|at| of(&nodes[result.index()], at)));
    }
    build.push(node.operation.clone(), &[all, next].concat())
}

#[cfg(test)]
mod tests;
