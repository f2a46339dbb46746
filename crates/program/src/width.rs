//! How wide a ring each value is shared in, or how many bits it has where there are no rings.
//!
//! Integers and fixed point have ranges, not widths. Values that ring operations connect have to be in one ring;
//! its width is the least that holds the range of each of them, the differences that comparisons take, and the
//! guard bit of truncations. Public values are in no ring: they are reduced to that of each secret they meet.

use crate::node::{Node, NodeId};
use crate::operations::Operation;
use crate::plan::{Form, Width};
use crate::program::Program;
use crate::types::{Dtype, Range, Type};

/// The width of each node's ring; `None` for bools and for what is public. `needed` says what products with public numbers
/// and quotients need.
pub(crate) fn infer(program: &Program, needed: impl Fn(NodeId) -> Option<Width>) -> Vec<Option<Width>> {
    let nodes = program.nodes();
    let mut components =
        Components { parent: (0..nodes.len()).collect(), width: vec![Width::W8; nodes.len()] };
    for (place, node) in nodes.iter().enumerate() {
        if in_ring(&node.ty) {
            components.widen(place, node.ty.width());
        }
        if let Some(width) = needed(NodeId::new(place as u32)) {
            components.widen(place, width);
        }
        connect(program, place, node, &mut components);
    }
    for keep in program.keeps().iter().filter(|keep| in_ring(&program.node(keep.node).ty)) {
        components.widen(keep.node.index(), KEPT);
    }
    nodes
        .iter()
        .enumerate()
        .map(|(place, node)| match node.ty.kind {
            Dtype::Modular(modulus) if node.ty.secret => modulus.width(),
            _ if in_ring(&node.ty) => Some(components.width(place)),
            _ => None,
        })
        .collect()
}

/// The ring in which integers and fixed point are kept, whatever their range: so that any program can read them, in its own
/// ring, which takes the low bits.
pub(crate) const KEPT: Width = Width::W64;

/// How a number is written as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Format {
    /// How many, 1 to 128.
    pub(crate) bits: usize,
    /// Whether they are two's complement; else the number isn't negative.
    pub(crate) signed: bool,
}

impl Format {
    /// The least bits that every number of a range has, without a sign if none is negative.
    pub(crate) fn of_range(range: Range) -> Self {
        let length = |value: i128| (i128::BITS - value.leading_zeros()) as usize;
        if range.lo() >= 0 {
            return Self { bits: length(range.hi()).max(1), signed: false };
        }
        // Of a negative number, those of its complement.
        let bits = length(!range.lo()).max(if range.hi() < 0 { 0 } else { length(range.hi()) }) + 1;
        Self { bits, signed: true }
    }

    /// Whether no number of it is above another.
    pub(crate) fn is_at_most(self, end: i128) -> bool {
        self.bits <= 64 && (1 << (self.bits - usize::from(self.signed))) - 1 <= end
    }

    /// Whether no number of it is below another.
    pub(crate) fn is_at_least(self, end: i128) -> bool {
        self.bits <= 64 && if self.signed { -1 << (self.bits - 1) >= end } else { 0 >= end }
    }

    /// That of a type's elements; integers modulo 2^k have k bits.
    pub(crate) fn of(ty: &Type) -> Self {
        match ty.kind {
            Dtype::Modular(modulus) => Self { bits: modulus.bits().into(), signed: false },
            Dtype::Bool | Dtype::Int | Dtype::Fixed { .. } => Self::of_range(ty.range),
        }
    }

    /// That in which a type's elements are kept: whatever its range, as many as any range takes.
    pub(crate) fn kept(ty: &Type) -> Self {
        if ty.kind.is_ranged() { Self { bits: 64, signed: true } } else { Self::of(ty) }
    }

    /// As a plan says it.
    pub(crate) const fn form(self) -> Form {
        Form::Bits { width: self.bits as u8, signed: self.signed }
    }
}

/// The difference `a - b` that a comparison looks at.
pub(crate) fn difference(a: &Type, b: &Type) -> Range {
    a.range.sub(b.range)
}

fn in_ring(ty: &Type) -> bool {
    ty.secret && ty.kind.is_ranged()
}

fn connect(program: &Program, place: usize, node: &Node, components: &mut Components) {
    let Node { operation, operands, ty, .. } = node;
    let ringed = |id: &&NodeId| in_ring(&program.node(**id).ty);
    let entry = operation.entry();
    // A body's states and results are in one ring pair by pair, and what follows it is where the result was.
    let operands = match operation {
        Operation::Repeat { .. } => {
            let (states, results) = operands.split_at(operands.len() / 2);
            for (state, result) in
                states.iter().zip(results).filter(|(state, result)| ringed(state) && ringed(result))
            {
                components.join(state.index(), result.index());
            }
            &results[..1]
        }
        Operation::After | Operation::ShuffleToo | Operation::Within { .. } => &operands[1..],
        Operation::SortToo => &operands[2..],
        _ => &operands[..],
    };
    let result = in_ring(ty) && !entry.apart;
    let first = if result { Some(place) } else { operands.iter().find(ringed).map(|id| id.index()) };
    let Some(first) = first else { return };
    for id in operands.iter().filter(ringed) {
        components.join(first, id.index());
    }
    let types: Vec<&Type> = operands.iter().map(|id| &program.node(*id).ty).collect();
    components.widen(first, entry.ring(&types));
}

/// Union-find over nodes, with the width that each component needs.
struct Components {
    parent: Vec<usize>,
    width: Vec<Width>,
}

impl Components {
    fn root(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[b] = a;
        self.width[a] = self.width[a].max(self.width[b]);
    }

    fn widen(&mut self, node: usize, width: Width) {
        let root = self.root(node);
        self.width[root] = self.width[root].max(width);
    }

    fn width(&mut self, node: usize) -> Width {
        let root = self.root(node);
        self.width[root]
    }
}
