//! Rows with 0 before those with 1, by a network: a row moves past others a power of two after another, and is chosen at each
//! (Goodrich 2011, figure 2). For rows of n elements two such networks, each of n log2 n choices.

use super::Builder;
use super::sort::Columns;
use crate::error::ProgramError;
use crate::node::NodeId;
use crate::shape::Index;
use crate::types::Dtype;

impl Builder {
    /// The rows of `columns` in the order of a bool for each, equal ones in their own; the bools first.
    pub(super) fn partition(
        &mut self,
        ones: NodeId,
        columns: &[NodeId],
        length: usize,
    ) -> Result<Columns, ProgramError> {
        let zeros = self.not(ones)?;
        let (taken, front) = self.compacted(zeros, columns.to_vec(), length)?;
        let turned = [&[ones], columns].concat();
        let mut turned = turned.into_iter().map(|one| self.turned(one)).collect::<Result<Columns, _>>()?;
        let last = turned.remove(0);
        let (_, back) = self.compacted(last, turned, length)?;
        let mut sorted = vec![self.not(taken)?];
        for (front, back) in front.into_iter().zip(back) {
            let back = self.turned(back)?;
            sorted.push(self.chosen(taken, front, back)?);
        }
        Ok(sorted)
    }

    /// The rows to keep at the front, in their order, and which places they take. Each moves by how many before it go, the
    /// least power first, so that none meets another.
    fn compacted(
        &mut self,
        keep: NodeId,
        mut columns: Columns,
        length: usize,
    ) -> Result<(NodeId, Columns), ProgramError> {
        let gone = self.not(keep)?;
        let gone = self.number(gone)?;
        let mut number = self.running_sums(gone, length)?;
        let levels = length.next_power_of_two().trailing_zeros();
        let mut bits = Columns::new();
        let two = self.public(Dtype::Int, vec![], vec![2])?;
        for _ in 0..levels {
            let half = self.shift_right(number, 1)?;
            let double = self.mul(half, two)?;
            bits.push(self.not_equal(number, double)?);
            number = half;
        }
        let mut taken = keep;
        for level in 0..levels {
            let step = 1 << level;
            let moves = self.and(bits.remove(0), taken)?;
            let arrives = self.part_of(moves, step, length)?;
            for one in columns.iter_mut().chain(&mut bits) {
                let [from, to] = [(step, length), (0, length - step)].map(|(a, b)| self.part_of(*one, a, b));
                let moved = self.chosen(arrives, from?, to?)?;
                let rest = self.part_of(*one, length - step, length)?;
                *one = self.concatenate(&[moved, rest], 1)?;
            }
            let goes = self.not(moves)?;
            let stays = self.and(taken, goes)?;
            let [here, rest] =
                [(0, length - step), (length - step, length)].map(|(a, b)| self.part_of(stays, a, b));
            // Nobody arrives where somebody stays.
            let here = self.xor(here?, arrives)?;
            taken = self.concatenate(&[here, rest?], 1)?;
        }
        Ok((taken, columns))
    }

    /// The sums up to each element of each row.
    fn running_sums(&mut self, mut a: NodeId, length: usize) -> Result<NodeId, ProgramError> {
        let mut reach = 1;
        while reach < length {
            let parts = [(0, reach), (reach, length), (0, length - reach)]
                .map(|(from, to)| self.part_of(a, from, to));
            let [first, later, before] = parts;
            let sums = self.add(later?, before?)?;
            a = self.concatenate(&[first?, sums], 1)?;
            reach *= 2;
        }
        Ok(a)
    }

    /// Blocks of one value where a bool for each is set, else of another.
    fn chosen(&mut self, condition: NodeId, a: NodeId, b: NodeId) -> Result<NodeId, ProgramError> {
        let condition = self.beside(condition, a)?;
        self.select(condition, a, b)
    }

    fn part_of(&mut self, a: NodeId, from: usize, to: usize) -> Result<NodeId, ProgramError> {
        let slice = |start, stop| Index::Slice { start, stop, step: 1 };
        self.index(a, &[slice(None, None), slice(Some(from as i64), Some(to as i64))])
    }

    /// The rows backwards.
    fn turned(&mut self, a: NodeId) -> Result<NodeId, ProgramError> {
        let slice = |step| Index::Slice { start: None, stop: None, step };
        self.index(a, &[slice(1), slice(-1)])
    }
}
