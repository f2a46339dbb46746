//! The same elements in other places: free, or a local copy.

use std::sync::Arc;

use tacit_circuit::Circuit;

use super::Builder;
use crate::error::{Fault, ProgramError};
use crate::node::NodeId;
use crate::operations::Operation;
use crate::shape::{self, Index};
use crate::types::Dtype;

impl Builder {
    /// The same elements in another shape, in which one length may be -1.
    pub fn reshape(&mut self, a: NodeId, to: &[i64]) -> Result<NodeId, ProgramError> {
        let from = &self.type_of(a)?.shape;
        let shape = shape::reshape(from, to).map_err(|fault| self.fault(fault))?;
        self.reshaped(a, shape)
    }

    /// Axis `i` of the result is axis `axes[i]` of `a`; without axes, in reverse.
    pub fn transpose(&mut self, a: NodeId, axes: Option<&[i64]>) -> Result<NodeId, ProgramError> {
        let rank = self.type_of(a)?.rank();
        let axes = match axes {
            None => Ok((0..rank).rev().collect::<Vec<_>>()),
            Some(axes) => axes.iter().map(|&axis| shape::axis(axis, rank)).collect(),
        };
        let axes = axes.map_err(|fault| self.fault(fault))?;
        self.push(Operation::Transpose { axes }, &[a])
    }

    /// `a[entries]`.
    pub fn index(&mut self, a: NodeId, entries: &[Index]) -> Result<NodeId, ProgramError> {
        let from = &self.type_of(a)?.shape;
        let (spans, shape) = shape::index(from, entries).map_err(|fault| self.fault(fault))?;
        let whole = spans.iter().zip(from).all(|(span, &length)| span.count == length && span.step == 1);
        let taken = if whole { a } else { self.push(Operation::Slice { spans }, &[a])? };
        self.reshaped(taken, shape)
    }

    /// Repeats `a` along new axes and those of length 1.
    pub fn broadcast_to(&mut self, a: NodeId, shape: &[usize]) -> Result<NodeId, ProgramError> {
        if self.type_of(a)?.shape == shape {
            return Ok(a);
        }
        self.push(Operation::BroadcastTo { shape: shape.to_vec() }, &[a])
    }

    /// What a window of these lengths shows of `a` at each place where it fits, as `NumPy`'s `sliding_window_view`: the
    /// places in the window are new last axes. Lengths are along `axes`; without axes there is one for each of `a`'s.
    pub fn windows(
        &mut self,
        a: NodeId,
        lengths: &[usize],
        axes: Option<&[i64]>,
    ) -> Result<NodeId, ProgramError> {
        let rank = self.type_of(a)?.rank();
        let axes = match axes {
            None => Ok((0..rank).collect::<Vec<_>>()),
            Some(axes) => axes.iter().map(|&axis| shape::axis(axis, rank)).collect(),
        };
        let axes = axes.map_err(|fault| self.fault(fault))?;
        self.push(Operation::Windows { lengths: lengths.to_vec(), axes }, &[a])
    }

    /// Joins values along an axis.
    pub fn concatenate(&mut self, values: &[NodeId], axis: i64) -> Result<NodeId, ProgramError> {
        let values = self.all_alike("concatenate", values)?;
        let rank = self.type_of(values[0])?.rank();
        let axis = shape::axis(axis, rank).map_err(|fault| self.fault(fault))?;
        if values.len() == 1 {
            return Ok(values[0]);
        }
        self.push(Operation::Concatenate { axis }, &values)
    }

    /// Evaluates a circuit on bools whose last axis is the bits of its inputs; the other axes broadcast. The value
    /// of each output, its bits along the last axis.
    pub fn circuit(
        &mut self,
        circuit: &Arc<Circuit>,
        operands: &[NodeId],
    ) -> Result<Vec<NodeId>, ProgramError> {
        let all = self.push(Operation::Circuit(circuit.clone()), operands)?;
        let mut parts = Vec::with_capacity(circuit.outputs().len());
        let mut start = 0;
        for wires in circuit.outputs() {
            let end = start + wires.len() as i64;
            let bits = Index::Slice { start: Some(start), stop: Some(end), step: 1 };
            parts.push(self.index(all, &[Index::Ellipsis, bits])?);
            start = end;
        }
        Ok(parts)
    }

    /// Joins values of one shape along a new axis.
    pub fn stack(&mut self, values: &[NodeId], axis: i64) -> Result<NodeId, ProgramError> {
        let Some(&first) = values.first() else {
            return Err(self.fault(Fault::NoOperands { operation: "stack" }));
        };
        let shape = self.type_of(first)?.shape.clone();
        let place = shape::axis(axis, shape.len() + 1).map_err(|fault| self.fault(fault))?;
        let mut rows = Vec::with_capacity(values.len());
        for &value in values {
            let mut row = self.type_of(value)?.shape.clone();
            if row != shape {
                return Err(self.fault(Fault::Shapes { operation: "stack", a: shape, b: row }));
            }
            row.insert(place, 1);
            rows.push(self.reshaped(value, row)?);
        }
        self.concatenate(&rows, place as i64)
    }

    fn reshaped(&mut self, a: NodeId, shape: Vec<usize>) -> Result<NodeId, ProgramError> {
        if self.type_of(a)?.shape == shape {
            return Ok(a);
        }
        self.push(Operation::Reshape { shape }, &[a])
    }

    /// All values in the dtype that holds each.
    fn all_alike(&mut self, operation: &'static str, values: &[NodeId]) -> Result<Vec<NodeId>, ProgramError> {
        let kinds = values.iter().map(|&id| self.kind(id)).collect::<Result<Vec<_>, _>>()?;
        if kinds.is_empty() {
            return Err(self.fault(Fault::NoOperands { operation }));
        }
        if kinds.iter().all(|kind| *kind == Dtype::Bool) {
            return Ok(values.to_vec());
        }
        let mut widest = values[0];
        for &value in &values[1..] {
            widest = self.alike(operation, widest, value)?.0;
        }
        values.iter().map(|&value| self.alike(operation, value, widest).map(|pair| pair.0)).collect()
    }
}
