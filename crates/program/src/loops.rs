//! Bodies that are repeated: which nodes they are, and in which order a program's nodes are computed.
//!
//! A body is kept once: its nodes stand from its first [`Operation::State`] to its [`Operation::Repeat`]. What a node of
//! a body is after the loop is what it was in the last step.

use std::ops::Range;

use crate::error::Fault;
use crate::node::{MAX_NODES, Node, NodeId};
use crate::operations::Operation;

/// A body, and how often it is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    /// From its first state to its last node.
    pub(crate) body: Range<usize>,
    pub(crate) times: u32,
    /// Each state, and what it is in the next step.
    pub(crate) carry: Vec<(NodeId, NodeId)>,
}

/// A node as it is computed: in which step of the innermost body that has it, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visit {
    pub(crate) node: NodeId,
    pub(crate) step: u32,
}

/// Loops that a program may have.
const MAX_LOOPS: usize = 1 << 8;

/// The loops of a program, inner ones first; or the node that is wrong, and what is.
pub(crate) fn find(nodes: &[Node]) -> Result<Vec<Loop>, (usize, Fault)> {
    let mut loops: Vec<Loop> = Vec::new();
    let mut closed = vec![false; nodes.len()];
    for (place, node) in nodes.iter().enumerate() {
        let Operation::Repeat { times } = node.operation else { continue };
        let wrong = |what| (place, Fault::Repeat { what });
        let (states, results) = node.operands.split_at(node.operands.len() / 2);
        for state in states {
            let is_state = matches!(nodes[state.index()].operation, Operation::State { .. });
            if !is_state || std::mem::replace(&mut closed[state.index()], true) {
                return Err(wrong("its states have to be made for it"));
            }
        }
        if loops.len() >= MAX_LOOPS {
            return Err((place, Fault::TooMany { what: "repeated bodies", limit: MAX_LOOPS }));
        }
        let Some(first) = states.iter().map(|state| state.index()).min() else {
            return Err(wrong("it needs a state"));
        };
        let all = first..first + states.len();
        if states.iter().any(|state| !all.contains(&state.index())) {
            return Err(wrong("its states have to come first"));
        }
        if results.iter().any(|result| all.contains(&result.index())) {
            return Err(wrong("a result can't be a state as it is"));
        }
        let carry = states.iter().copied().zip(results.iter().copied()).collect();
        loops.push(Loop { body: first..place, times, carry });
    }
    for (place, node) in nodes.iter().enumerate() {
        let wrong = |what| (place, Fault::Repeat { what });
        let around = || loops.iter().filter(|other| other.body.contains(&place));
        match &node.operation {
            Operation::State { .. } if !closed[place] => return Err(wrong("its body has no end")),
            Operation::Input { .. } | Operation::Kept { .. } | Operation::Known { .. }
                if around().next().is_some() =>
            {
                return Err(wrong("a body can't declare inputs"));
            }
            Operation::State { .. } | Operation::Step
                if around().next().is_some_and(|inner| inner.body.contains(&node.operands[0].index())) =>
            {
                return Err(wrong("what it begins with is of its own body"));
            }
            Operation::Step => {
                let lengths = nodes[node.operands[0].index()].ty.shape.first();
                if around().next().map(|inner| inner.times as usize) != lengths.copied() {
                    return Err(wrong("what it goes over has another length than it has steps"));
                }
            }
            _ => {}
        }
    }
    let crossed = |a: &Loop, b: &Loop| a.body.contains(&b.body.start) && !a.body.contains(&b.body.end);
    if let Some(other) = loops.iter().find(|a| loops.iter().any(|b| *a != b && crossed(a, b))) {
        return Err((other.body.end, Fault::Repeat { what: "two bodies overlap" }));
    }
    Ok(loops)
}

/// The nodes in the order in which they are computed, those of a body once for every step.
pub(crate) fn visits(count: usize, loops: &[Loop]) -> Result<Vec<Visit>, Fault> {
    let mut visits = Vec::with_capacity(count);
    walk(0..count, 0, None, loops, &mut visits)?;
    Ok(visits)
}

fn walk(
    nodes: Range<usize>,
    step: u32,
    own: Option<&Loop>,
    loops: &[Loop],
    visits: &mut Vec<Visit>,
) -> Result<(), Fault> {
    let mut place = nodes.start;
    while place < nodes.end {
        let inner = loops.iter().find(|inner| inner.body.start == place && Some(*inner) != own);
        if let Some(inner) = inner {
            for step in 0..inner.times {
                walk(inner.body.clone(), step, Some(inner), loops, visits)?;
            }
            place = inner.body.end;
        }
        if visits.len() >= MAX_NODES {
            return Err(Fault::TooMany { what: "operations in all steps", limit: MAX_NODES });
        }
        visits.push(Visit { node: NodeId::new(place as u32), step });
        place += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
