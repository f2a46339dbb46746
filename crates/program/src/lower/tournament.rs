//! Extremes along an axis: neighbours meet, winners go on, all axes' matches of a level at once.
//!
//! Neighbours keep their order from level to level, and the left one stays unless the right one beats it, so the
//! first occurrence wins.

use super::lowering::{Lowering, View};
use super::term::Term;
use crate::node::NodeId;
use crate::operations::Extreme;
use crate::plan::{Domain, Layout, Local, Reg};
use crate::types::{Dtype, Range};
use crate::width;

/// What still competes: `length` values for each of `lanes` places, lane by lane within a value.
struct Field {
    values: Term,
    /// Where each value stood.
    indices: Option<Term>,
    length: usize,
    lanes: usize,
    which: Extreme,
    /// Whether values are bools.
    bools: bool,
    /// That of the differences of values.
    differences: Range,
}

impl Lowering<'_> {
    /// The extreme itself. ceil(log2 n) levels and n - 1 matches for each lane.
    pub(super) fn extremum(&mut self, id: NodeId, which: Extreme, axis: usize) -> Reg {
        let mut field = self.field(id, which, axis);
        while field.length > 1 {
            field = self.level(field, true);
        }
        self.register(&field.values)
    }

    /// Where the extreme first stands. The last level needs no values.
    pub(super) fn arg_extremum(&mut self, id: NodeId, which: Extreme, axis: usize, domain: Domain) -> Reg {
        let mut field = self.field(id, which, axis);
        let places = (0..field.length as u128).flat_map(|place| std::iter::repeat_n(place, field.lanes));
        let mut indices = Term::vector(places.collect(), domain);
        while field.length > 1 {
            let last = field.length == 2;
            field = self.level(Field { indices: Some(indices), ..field }, !last);
            indices = match field.indices.take() {
                Some(indices) => indices,
                None => unreachable!("a level keeps the indices it is given"),
            };
        }
        self.register(&indices)
    }

    /// The operand with its axis first.
    fn field(&mut self, id: NodeId, which: Extreme, axis: usize) -> Field {
        let ty = self.ty(id);
        let order: Vec<usize> =
            std::iter::once(axis).chain((0..ty.rank()).filter(|&at| at != axis)).collect();
        let View { reg, layout } = self.walk(id, |layout| layout.transpose(&order));
        let values = Term::Secret(self.gathered(reg, layout));
        let differences = width::difference(ty, ty);
        let length = ty.shape[axis];
        Field {
            values,
            indices: None,
            length,
            lanes: ty.len() / length,
            which,
            bools: ty.kind == Dtype::Bool,
            differences,
        }
    }

    fn level(&mut self, field: Field, keep_values: bool) -> Field {
        let Field { values, indices, length, lanes, which, bools, differences } = field;
        let (left, right) =
            (self.neighbours(&values, length, lanes, 0), self.neighbours(&values, length, lanes, 1));
        let next =
            Field { values, indices: None, length: length.div_ceil(2), lanes, which, bools, differences };
        if bools {
            let won = if which == Extreme::Min { self.and(&left, &right) } else { self.or(&left, &right) };
            let values = self.with_odd(won, &next.values, length, lanes);
            return Field { values, ..next };
        }
        let beaten = match which {
            Extreme::Max => self.less(&left, &right, differences),
            Extreme::Min => self.less(&right, &left, differences),
        };
        let indices = indices.map(|indices| {
            let pair = [0, 1].map(|side| self.neighbours(&indices, length, lanes, side));
            let won = self.mux(&beaten, &pair[1], &pair[0]);
            self.with_odd(won, &indices, length, lanes)
        });
        if !keep_values {
            return Field { indices, ..next };
        }
        let won = self.mux(&beaten, &right, &left);
        let values = self.with_odd(won, &next.values, length, lanes);
        Field { values, indices, ..next }
    }

    /// The left or the right ones of all pairs.
    fn neighbours(&mut self, all: &Term, length: usize, lanes: usize, side: usize) -> Term {
        let strides = vec![2 * lanes as isize, 1];
        self.part(all, &Layout { offset: side * lanes, shape: vec![length / 2, lanes], strides })
    }

    /// The winners, and the one that had no neighbour.
    fn with_odd(&mut self, won: Term, all: &Term, length: usize, lanes: usize) -> Term {
        if length.is_multiple_of(2) {
            return won;
        }
        let (won, all) = (self.register(&won), self.register(all));
        let matches = length / 2;
        let dst = self.fresh(self.plan.shape(all).domain, (matches + 1) * lanes);
        let run = |offset, shape| Layout { offset, shape: vec![shape], strides: vec![1] };
        self.plan.local(Local::Copy { a: won, layout: run(0, matches * lanes), at: 0, dst });
        self.plan.local(Local::Copy {
            a: all,
            layout: run((length - 1) * lanes, lanes),
            at: matches * lanes,
            dst,
        });
        Term::Secret(dst)
    }
}
