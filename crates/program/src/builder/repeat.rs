//! Bodies that are repeated: traced once, whatever the number of steps.

use super::Builder;
use crate::error::ProgramError;
use crate::node::NodeId;
use crate::operations::Operation;
use crate::types::Range;

impl Builder {
    /// What `states` are after `times` steps, in each of which `body` makes the next ones of them and of a slice of each
    /// of `over` along its first axis, which is as long as there are steps.
    ///
    /// The range of a state has to hold after a step: the body ends it with [`Self::clip`] or [`Self::assume`]. If a
    /// step widens the range that a state has at first, the body is called again, with wider ones, until they hold.
    pub fn repeat(
        &mut self,
        times: u32,
        initial: &[NodeId],
        over: &[NodeId],
        mut body: impl FnMut(&mut Self, &[NodeId], &[NodeId]) -> Result<Vec<NodeId>, ProgramError>,
    ) -> Result<Vec<NodeId>, ProgramError> {
        let mut ranges = Vec::with_capacity(initial.len());
        for &state in initial {
            ranges.push(self.type_of(state)?.range);
        }
        let mut first: Option<[Vec<NodeId>; 2]> = None;
        let mut held = false;
        loop {
            let mut states = Vec::with_capacity(initial.len());
            for (&state, &range) in initial.iter().zip(&ranges) {
                states.push(self.state(state, range)?);
            }
            let mut steps = Vec::with_capacity(over.len());
            for &all in over {
                steps.push(self.step(all)?);
            }
            let results = match (body(self, &states, &steps), &first) {
                (Ok(results), _) => results,
                // Wider ranges are no help: what is wrong is that the first ones don't hold.
                (Err(_), Some([states, results])) => return self.end_repeat(times, states, results),
                (Err(error), None) => return Err(error),
            };
            let (holds, next) = self.widened(initial, &states, &results)?;
            if next == ranges || holds && held {
                return self.end_repeat(times, &states, &results);
            }
            first.get_or_insert([states, results]);
            held |= holds;
            ranges = next;
        }
    }

    /// Whether the ranges of states hold after a step, and those to try next: the least that hold as far as is known,
    /// else ones with twice the ends that moved. They are the same again where nothing wider is left.
    pub fn widened(
        &self,
        initial: &[NodeId],
        states: &[NodeId],
        results: &[NodeId],
    ) -> Result<(bool, Vec<Range>), ProgramError> {
        let (mut holds, mut least, mut wider) = (true, Vec::new(), Vec::new());
        for ((&initial, &state), &result) in initial.iter().zip(states).zip(results) {
            let (before, after) = (self.type_of(state)?, self.type_of(result)?);
            let range = before.range;
            if before.kind != after.kind || !before.kind.is_ranged() {
                least.push(range);
                wider.push(range);
                continue;
            }
            let reached = self.type_of(initial)?.range.hull(after.range);
            let all = before.kind.whole();
            let lo =
                if reached.lo() < range.lo() { reached.lo() - reached.lo().abs().max(1) } else { range.lo() };
            let hi =
                if reached.hi() > range.hi() { reached.hi() + reached.hi().abs().max(1) } else { range.hi() };
            holds &= range.covers(reached);
            least.push(reached);
            wider.push(Range::point(lo.max(all.lo())).hull(Range::point(hi.min(all.hi()))));
        }
        Ok((holds, if holds { least } else { wider }))
    }

    /// Begins a body that is repeated, or adds a state to it: `a` at first, and in every step in this range.
    pub fn state(&mut self, a: NodeId, range: Range) -> Result<NodeId, ProgramError> {
        let kind = self.kind(a)?;
        let range = if kind.is_ranged() { range } else { kind.whole() };
        self.push(Operation::State { range }, &[a])
    }

    /// In a body that is repeated: a step's slice of `a` along its first axis.
    pub fn step(&mut self, a: NodeId) -> Result<NodeId, ProgramError> {
        self.push(Operation::Step, &[a])
    }

    /// Ends a body that is repeated: what each state is in the next step. Gives the results after the last step.
    pub fn end_repeat(
        &mut self,
        times: u32,
        states: &[NodeId],
        results: &[NodeId],
    ) -> Result<Vec<NodeId>, ProgramError> {
        let mut next = Vec::with_capacity(results.len());
        for &result in results {
            // States change all at once: one that becomes another is a value of its own.
            let shape = self.type_of(result)?.shape.clone();
            let moved = states.contains(&result);
            next.push(if moved { self.push(Operation::BroadcastTo { shape }, &[result])? } else { result });
        }
        let end = self.push(Operation::Repeat { times }, &[states, &next].concat())?;
        next.iter().map(|&result| self.push(Operation::After, &[end, result])).collect()
    }

    /// `a`, of which the author knows that it is in a range of raw values. A run in which a value is outside ends without
    /// outputs, if the protocol can tell in time ([`Feature::Guard`](crate::Feature::Guard)).
    pub fn assume(&mut self, a: NodeId, range: Range) -> Result<NodeId, ProgramError> {
        self.push(Operation::Assume { range, watched: true }, &[a])
    }

    /// `a`, of which a front end knows by how it was made that it is in a range of raw values. Nothing checks it but debug runs:
    /// what is computed of a value outside it is wrong, and what is wrong then may tell more than it should. Where numbers are
    /// opened under masks, it is clipped to the range.
    pub fn narrow(&mut self, a: NodeId, range: Range) -> Result<NodeId, ProgramError> {
        self.push(Operation::Assume { range, watched: false }, &[a])
    }
}
