//! A program with networks of comparisons for sorts: for protocols that have no other way, and where a network is cheaper.

use crate::builder::Builder;
use crate::error::ProgramError;
use crate::instances::copied;
use crate::node::{Node, NodeId};
use crate::operations::Operation;
use crate::program::{Keep, Program};

/// The same program, and what became of its nodes.
pub(crate) struct Expanded {
    pub(crate) program: Program,
    /// Of each node of the one program the node of this one, if there is one.
    pub(crate) of: Vec<Option<NodeId>>,
    /// Of each node of this program the number of the one that it comes from.
    pub(crate) origin: Vec<u32>,
}

impl Program {
    /// Its sorts.
    pub(crate) fn sorts(&self) -> impl Iterator<Item = NodeId> {
        let nodes = self.nodes().iter().zip(0..);
        nodes.filter(|(node, _)| node.operation == Operation::Sort).map(|(_, number)| NodeId::new(number))
    }

    /// The program with networks for some sorts.
    ///
    /// # Errors
    /// If keys and places together have too many bits.
    pub(crate) fn expanded(&self, by_network: impl Fn(NodeId) -> bool) -> Result<Expanded, ProgramError> {
        let mut build = Builder::with_sources(self.sources.clone());
        let mut nodes: Vec<Option<NodeId>> = vec![None; self.nodes().len()];
        let mut origin = Vec::new();
        let known = |nodes: &[Option<NodeId>], id: &NodeId| match nodes[id.index()] {
            Some(id) => id,
            None => unreachable!("operands come first"),
        };
        for (place, node) in self.nodes().iter().enumerate() {
            build.at_number(node.source);
            let id = NodeId::new(place as u32);
            match &node.operation {
                Operation::Sort if by_network(id) => {
                    let too = |(_, other): &(usize, &Node)| {
                        other.operation == Operation::SortToo && other.operands[0] == id
                    };
                    let columns: Vec<(usize, NodeId)> = self
                        .nodes()
                        .iter()
                        .enumerate()
                        .filter(too)
                        .map(|(place, other)| (place, known(&nodes, &other.operands[2])))
                        .collect();
                    let own: Vec<NodeId> = columns.iter().map(|(_, column)| *column).collect();
                    let keys = known(&nodes, &node.operands[0]);
                    let first = build.count();
                    let sorted = build.sort_by_network(keys, &own)?;
                    origin.resize(build.count(), place as u32);
                    let places = std::iter::once(place).chain(columns.iter().map(|(place, _)| *place));
                    for (place, id) in places.zip(sorted) {
                        nodes[place] = Some(id);
                        if id.index() >= first {
                            origin[id.index()] = place as u32;
                        }
                    }
                }
                Operation::SortToo if by_network(node.operands[0]) => {}
                _ => nodes[place] = Some(copied(&mut build, node, str::to_owned, |id| known(&nodes, id))?),
            }
            origin.resize(build.count(), place as u32);
        }
        for output in &self.outputs {
            build.at_number(output.source);
            build.reveal(known(&nodes, &output.node), output.to.clone())?;
        }
        for Keep { node, name, uses, source } in &self.keeps {
            build.at_number(*source);
            build.keep(known(&nodes, node), name, uses.clone())?;
        }
        let (program, kept) = build.finished()?;
        let mut by_new = vec![0; program.nodes().len()];
        for (old, new) in kept.iter().enumerate() {
            if let Some(new) = new {
                by_new[new.index()] = origin[old];
            }
        }
        let of = nodes.into_iter().map(|id| id.and_then(|id| kept[id.index()])).collect();
        Ok(Expanded { program, of, origin: by_new })
    }
}
