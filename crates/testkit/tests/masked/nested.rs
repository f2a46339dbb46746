//! Programs with branches, inside one another at random.

use tacit_program::{Builder, Dtype, Index, NodeId, Program, ProgramError, Recipient};
use tacit_testkit::Rng;

/// `ands` ANDs one after another.
pub(crate) fn chain(build: &mut Builder, ands: usize, x: NodeId, y: NodeId) -> Result<NodeId, ProgramError> {
    (0..ands).try_fold(x, |x, _| {
        let both = build.and(x, y)?;
        build.xor(both, y)
    })
}

/// A circuit with branches (Heath, Kolesnikov, Peceny 2021, section 5.1) in the making.
struct Circuits {
    build: Builder,
    rng: Rng,
    y: NodeId,
    /// A bit for each condition.
    conditions: NodeId,
    used: usize,
}

/// What a circuit takes: ANDs on its longest path, and all of them.
pub(crate) type Ands = [u64; 2];

impl Circuits {
    /// ANDs, a branch of two arms, two circuits one after the other, or a switch of three to five arms, inside one another.
    fn any(&mut self, depth: usize, x: NodeId) -> Result<(NodeId, Ands), ProgramError> {
        match if depth == 0 { 0 } else { self.rng.word() % 4 } {
            0 => {
                // Arms may be without any.
                let ands = self.rng.word() % 4;
                let made = chain(&mut self.build, ands as usize, x, self.y)?;
                let made = if self.rng.word().is_multiple_of(2) { self.build.not(made)? } else { made };
                Ok((made, [ands; 2]))
            }
            1 => self.switch(2, depth, x),
            2 => {
                let (x, first) = self.any(depth - 1, x)?;
                let (x, then) = self.any(depth - 1, x)?;
                Ok((x, [0, 1].map(|at| first[at] + then[at])))
            }
            _ => {
                let arms = 3 + self.rng.word() as usize % 3;
                self.switch(arms, depth, x)
            }
        }
    }

    /// A switch is branches inside one another.
    fn switch(&mut self, arms: usize, depth: usize, x: NodeId) -> Result<(NodeId, Ands), ProgramError> {
        if arms == 1 {
            return self.any(depth - 1, x);
        }
        let condition = self.condition(x)?;
        let (set, not) = (self.build.if_set(condition, x)?, self.build.unless_set(condition, x)?);
        let (set, of_set) = self.switch(arms / 2, depth, set)?;
        let (not, of_not) = self.switch(arms - arms / 2, depth, not)?;
        let chosen = self.build.select(condition, set, not)?;
        Ok((chosen, [1 + of_set[0].max(of_not[0]), 1 + of_set[1] + of_not[1]]))
    }

    /// One that no other branch has; often of a value in the arm.
    fn condition(&mut self, x: NodeId) -> Result<NodeId, ProgramError> {
        let bit = self.build.index(self.conditions, &[Index::At(self.used as i64)])?;
        self.used += 1;
        if self.rng.word().is_multiple_of(2) {
            return Ok(bit);
        }
        let value = self.build.index(x, &[Index::At(0)])?;
        self.build.xor(bit, value)
    }
}

const CONDITIONS: usize = 100;

/// A circuit of so many levels of branches, and what it takes.
pub(crate) fn nested(seed: u64, depth: usize) -> Result<(Program, Ands), ProgramError> {
    let mut build = Builder::new();
    let x = build.input("P0", "x", Dtype::Bool, &[5], None)?;
    let y = build.input("alice", "y", Dtype::Bool, &[5], None)?;
    let conditions = build.input("P1", "conditions", Dtype::Bool, &[CONDITIONS], None)?;
    let mut circuits = Circuits { build, rng: Rng::new(seed), y, conditions, used: 0 };
    let (result, inner) = circuits.switch(2, depth, x)?;
    let result = chain(&mut circuits.build, 1, result, y)?;
    circuits.build.reveal(result, Recipient::All)?;
    Ok((circuits.build.finish()?, inner.map(|ands| ands + 1)))
}
