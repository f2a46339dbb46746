//! Values in ascending order: by an operation of its own, or by a network of comparisons.

use super::Builder;
use crate::error::ProgramError;
use crate::node::NodeId;
use crate::operations::Operation;
use crate::shape::Index;
use crate::types::Dtype;

/// Rows of values, `(rows, length, ...)`: the keys first.
pub(super) type Columns = Vec<NodeId>;

impl Builder {
    /// The elements of each row of a matrix of keys in ascending order, and of each of `columns`, whose first axes are those of
    /// the keys, its blocks in the same order. Equal keys keep their order.
    pub fn sort(&mut self, keys: NodeId, columns: &[NodeId]) -> Result<Columns, ProgramError> {
        let sort = self.push(Operation::Sort, &[keys])?;
        let mut sorted = vec![sort];
        for &column in columns {
            sorted.push(self.push(Operation::SortToo, &[sort, keys, column])?);
        }
        Ok(sorted)
    }

    /// The same by a bitonic network of comparisons and choices (Batcher 1968): what an arm of a branch can do, and protocols
    /// without shuffles. For rows of n elements some n (log2 n) (log2 n + 1) / 4 comparisons in log2 n (log2 n + 1) / 2 levels.
    ///
    /// Where there are columns the place of each key is in bits below it: so no two are equal. Bools have a network of their own
    /// (`partition`).
    pub fn sort_by_network(&mut self, keys: NodeId, columns: &[NodeId]) -> Result<Columns, ProgramError> {
        let ty = self.type_of(keys)?.clone();
        // Refuses what can't be sorted.
        let types =
            columns.iter().map(|&column| self.type_of(column).cloned()).collect::<Result<Vec<_>, _>>()?;
        crate::typing::infer(&Operation::Sort, &[&ty]).map_err(|fault| self.fault(fault))?;
        for column in &types {
            let operands = [&ty, &ty, column];
            crate::typing::infer(&Operation::SortToo, &operands).map_err(|fault| self.fault(fault))?;
        }
        let length = ty.shape[1];
        if length < 2 {
            return Ok([&[keys], columns].concat());
        }
        let number = if ty.kind == Dtype::Bool { self.number(keys)? } else { keys };
        if columns.is_empty() {
            let sorted = self.network(vec![number], length)?[0];
            if ty.kind == Dtype::Bool {
                let zero = self.public(Dtype::Int, vec![], vec![0])?;
                return Ok(vec![self.less(zero, sorted)?]);
            }
            return Ok(vec![sorted]);
        }
        if ty.kind == Dtype::Bool {
            return self.partition(keys, columns, length);
        }
        let bits = length.next_power_of_two().trailing_zeros();
        let raw = self.raw_as(number, 0)?;
        let weight = self.public(Dtype::Int, vec![], vec![1 << bits])?;
        let places = self.public(Dtype::Int, vec![length], (0..length as i128).collect())?;
        let raised = self.mul(raw, weight)?;
        let distinct = self.add(raised, places)?;
        let mut sorted = self.network([&[distinct, keys], columns].concat(), length)?;
        sorted.remove(0);
        Ok(sorted)
    }

    /// Sorts each row by the first column. A padded end holds what is at least as large as all, so that it stays there.
    fn network(&mut self, mut all: Columns, length: usize) -> Result<Columns, ProgramError> {
        let types = all.iter().map(|&id| self.type_of(id).cloned()).collect::<Result<Vec<_>, _>>()?;
        let slice = |start, stop, step| Index::Slice { start, stop, step };
        let mut block = 2;
        while block < 2 * length {
            let mut half = block / 2;
            let full = length.next_multiple_of(block);
            if full > length {
                for (place, (id, ty)) in all.iter_mut().zip(&types).enumerate() {
                    let mut shape = ty.shape.clone();
                    shape[1] = full - length;
                    let end = if place == 0 { ty.range.hi() } else { ty.range.lo() };
                    let count = shape.iter().product();
                    let pad = self.public(ty.kind, shape, vec![end; count])?;
                    *id = self.concatenate(&[*id, pad], 1)?;
                }
            }
            let halves = |build: &mut Self, all: &[NodeId], half: usize, turned: bool| {
                let mut sides = [Vec::new(), Vec::new()];
                for (&id, ty) in all.iter().zip(&types) {
                    let mut shape = vec![ty.shape[0] as i64, (full / (2 * half)) as i64, 2, half as i64];
                    shape.extend(ty.shape[2..].iter().map(|&axis| axis as i64));
                    let pairs = build.reshape(id, &shape)?;
                    let whole = slice(None, None, 1);
                    let step = if turned { -1 } else { 1 };
                    sides[0].push(build.index(pairs, &[whole, whole, Index::At(0)])?);
                    sides[1]
                        .push(build.index(pairs, &[whole, whole, Index::At(1), slice(None, None, step)])?);
                }
                Ok::<_, ProgramError>(sides)
            };
            let joined = |build: &mut Self, [low, high]: [Columns; 2], turned: bool| {
                let mut all = Vec::with_capacity(low.len());
                for ((low, high), ty) in low.into_iter().zip(high).zip(&types) {
                    let whole = slice(None, None, 1);
                    let step = if turned { -1 } else { 1 };
                    let high = build.index(high, &[whole, whole, slice(None, None, step)])?;
                    let pairs = build.stack(&[low, high], 2)?;
                    let mut shape = vec![ty.shape[0] as i64, full as i64];
                    shape.extend(ty.shape[2..].iter().map(|&axis| axis as i64));
                    all.push(build.reshape(pairs, &shape)?);
                }
                Ok::<_, ProgramError>(all)
            };
            let sides = halves(self, &all, half, true)?;
            let exchanged = self.exchanged(sides)?;
            all = joined(self, exchanged, true)?;
            while half > 1 {
                half /= 2;
                let sides = halves(self, &all, half, false)?;
                let exchanged = self.exchanged(sides)?;
                all = joined(self, exchanged, false)?;
            }
            for id in &mut all {
                *id = self.index(*id, &[slice(None, None, 1), slice(None, Some(length as i64), 1)])?;
            }
            block *= 2;
        }
        Ok(all)
    }

    /// The smaller and the larger of each two: one comparison of the first column, and two choices in each.
    fn exchanged(&mut self, [left, right]: [Columns; 2]) -> Result<[Columns; 2], ProgramError> {
        let swap = self.less(right[0], left[0])?;
        let (mut low, mut high) = (Vec::with_capacity(left.len()), Vec::with_capacity(left.len()));
        for (&left, &right) in left.iter().zip(&right) {
            let swap = self.beside(swap, left)?;
            low.push(self.select(swap, right, left)?);
            high.push(self.select(swap, left, right)?);
        }
        Ok([low, high])
    }

    /// A bool for each block of a value, with as many axes as this.
    pub(super) fn beside(&mut self, bools: NodeId, value: NodeId) -> Result<NodeId, ProgramError> {
        let shape = self.type_of(bools)?.shape.clone();
        let more = self.type_of(value)?.rank() - shape.len();
        let axes: Vec<i64> = shape.iter().map(|&axis| axis as i64).chain(vec![1; more]).collect();
        self.reshape(bools, &axes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fault, Range, Recipient, reference};

    /// Keys with ties and a column, sorted by both ways: what is said in the clear.
    #[test]
    fn both_ways_are_stable() {
        for (rows, length) in [(1, 1), (1, 2), (3, 5), (2, 8), (1, 33)] {
            let mut build = Builder::new();
            let range = Range::new(-4, 4);
            let keys = build.input("alice", "keys", Dtype::Int, &[rows, length], range).unwrap();
            let pairs =
                build.input("alice", "pairs", Dtype::Int, &[rows, length, 2], Range::new(0, 999)).unwrap();
            let bits = build.input("alice", "bits", Dtype::Bool, &[rows, length], None).unwrap();
            for sorted in [
                build.sort(keys, &[pairs, bits]).unwrap(),
                build.sort_by_network(keys, &[pairs, bits]).unwrap(),
                build.sort(bits, &[keys]).unwrap(),
                build.sort_by_network(bits, &[keys]).unwrap(),
                build.sort(keys, &[]).unwrap(),
                build.sort_by_network(keys, &[]).unwrap(),
            ] {
                for id in sorted {
                    build.reveal(id, Recipient::All).unwrap();
                }
            }
            let count = rows * length;
            let word = |key: i64| key as u64;
            let inputs = [
                (0..count).map(|at| word((at * at * 7 % 9) as i64 - 4)).collect(),
                (0..2 * count as u64).collect(),
                (0..count as u64).map(|at| at / 2 % 2).collect(),
            ];
            let outputs = reference::run(&build.finish().unwrap(), &inputs).unwrap();
            assert_eq!(outputs[..3], outputs[3..6]);
            assert_eq!(outputs[6..8], outputs[8..10]);
            assert_eq!(outputs[10], outputs[11]);
            assert_eq!(outputs[10], outputs[0]);
        }
    }

    #[test]
    fn what_cannot_be_sorted_is_refused() {
        let mut build = Builder::new();
        let range = Range::new(0, 9);
        let row = build.input("alice", "row", Dtype::Int, &[3], range).unwrap();
        let keys = build.input("alice", "keys", Dtype::Int, &[2, 3], range).unwrap();
        let other = build.input("alice", "other", Dtype::Int, &[3, 2], range).unwrap();
        for sort in [Builder::sort, Builder::sort_by_network] {
            assert!(matches!(*sort(&mut build, row, &[]).unwrap_err().fault, Fault::Axis { .. }));
            assert!(matches!(*sort(&mut build, keys, &[other]).unwrap_err().fault, Fault::Shapes { .. }));
        }
        let sorted = build.sort(keys, &[]).unwrap()[0];
        let later = build.neg(keys).unwrap();
        for operands in [[sorted, keys, later], [later, keys, keys]] {
            let mut build = build.clone();
            let wrong = build.push(Operation::SortToo, &operands).unwrap();
            build.reveal(wrong, Recipient::All).unwrap();
            assert_eq!(*build.finish().unwrap_err().fault, Fault::NoSort);
        }
    }
}
