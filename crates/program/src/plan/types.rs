//! The whole of a plan, and what it is made of.

use std::hash::{Hash, Hasher};

use sha2::{Digest as _, Sha256};

use super::components::Components;
use super::regions::Region;
use super::registers::{Reg, Register};
use super::sections::Section;
use super::steps::{Local, OpKind, Opening};
use crate::capabilities::{Feature, Features};
use crate::types::Range;

/// An interactive operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// The node of the program that it comes from.
    pub node: u32,
    /// Where its result counts: 0 for everywhere, else a region ([`Plan::region`]).
    pub region: u32,
    /// Of a product of numbers in a sharing of three components, which of both operands' aren't zero by the plan alone;
    /// it follows from the rest of the plan.
    pub operands: [Components; 2],
}

impl Op {
    /// Of a product of numbers in a sharing of three components, which of its three parts aren't zero by the plan alone.
    pub const fn parts(&self) -> Components {
        let [a, b] = self.operands;
        a.parts(b)
    }
}

impl Hash for Op {
    /// Without the region: a plan that has any hashes those of all its operations after them. Without what follows from the rest.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.kind, self.node).hash(state);
    }
}

/// A stage of an operation, in the level that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stage {
    /// The operation ([`Plan::op`]), and its part of every address; of a section the first turn's.
    pub op: u32,
    /// Which of the operation's stages, from 0.
    pub stage: u8,
}

/// What runs between one wait for messages and the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Level {
    /// Steps without messages, in order.
    pub local: Vec<Local>,
    /// Stages that share this round.
    pub stages: Vec<Stage>,
    /// Registers that nothing reads any more once the level is done.
    pub free: Vec<Reg>,
}

/// How the elements of an input or an output stand in its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// One of the register's for each.
    Elements,
    /// Numbers as bits, one number after another, each with its lowest bit first.
    Bits {
        /// Bits of a number, 1 to 128.
        width: u8,
        /// Whether they are two's complement; else no number is negative.
        signed: bool,
    },
    /// Signed numbers of 64 bits as elements of a field: a negative one as the modulus less its magnitude.
    Signed,
}

/// A value that its owner shares among the parties.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InputOp {
    /// Index in [`Plan::roles`].
    pub owner: u32,
    /// Where it goes; one row.
    pub reg: Reg,
    /// How its elements stand there.
    pub form: Form,
    /// What numbers the program declares them to be, where they stand for numbers in a field: who gives it may have to show
    /// that they are ([`Plan::proved_range`]).
    pub range: Option<Range>,
    /// The node of the program.
    pub node: u32,
}

/// A value that all parties hold before the run. They agree on it by its hash; it is no part of the program's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PublicInput {
    /// What the program calls it.
    pub name: String,
    /// Where it goes; one row of a public register.
    pub reg: Reg,
    /// How its elements stand there.
    pub form: Form,
    /// The node of the program.
    pub node: u32,
}

/// A value that is revealed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OutputOp {
    /// What; one row.
    pub reg: Reg,
    /// How its elements stand there.
    pub form: Form,
    /// To whom.
    pub to: To,
    /// The node of the program.
    pub node: u32,
}

/// What the parties keep from an earlier run: shares that they hold already. Each run says which kept value it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeptOp {
    /// What the program calls it.
    pub name: String,
    /// Where it goes; one row.
    pub reg: Reg,
    /// How its elements stand there.
    pub form: Form,
    /// The node of the program.
    pub node: u32,
}

/// What the parties keep of a run, as shares, once all that it depends on is checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeepOp {
    /// What it is called from then on.
    pub name: String,
    /// What; one row. Numbers of a range stand in the ring of 64 bits, or have as many bits, so that any plan can read them.
    pub reg: Reg,
    /// How its elements stand there.
    pub form: Form,
    /// The node of the program.
    pub node: u32,
}

/// Who learns an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum To {
    /// Every computing party and everyone whom the plan names.
    All,
    /// One of [`Plan::roles`].
    One(u32),
}

/// The whole of a computation. Made by [`Builder`](super::Builder); public fields are for reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Names of those who give inputs or receive outputs, as the program says them. A name is a computing
    /// party's if the deployment has a party of that name, and else a client's.
    pub roles: Vec<String>,
    /// Shapes of all registers.
    pub registers: Vec<Register>,
    /// Inputs; they come before the first level.
    pub inputs: Vec<InputOp>,
    /// What all parties hold before the first level.
    pub public_inputs: Vec<PublicInput>,
    /// What the parties hold shares of before the first level.
    pub kept: Vec<KeptOp>,
    /// Interactive operations as they are written: those of a section once. Others name them by their addresses
    /// ([`Plan::op`]).
    pub ops: Vec<Op>,
    /// Arms of branches: region 1 and those after it. A region comes after the one that it stands in.
    pub regions: Vec<Region>,
    /// The order of work, that of a section once.
    pub levels: Vec<Level>,
    /// What is computed several times: outer sections before those in them, and else by their levels.
    pub sections: Vec<Section>,
    /// Outputs; they come after the last level.
    pub outputs: Vec<OutputOp>,
    /// The output that is opened once all is checked, to all, before anything is kept and before the other outputs: a bit, 1 if
    /// all numbers were in the ranges that the program assumes. If it is 0 the run ends there.
    pub guard: Option<u32>,
    /// What the parties keep; after the outputs.
    pub keeps: Vec<KeepOp>,
    /// What it needs of a protocol.
    pub needs: Features,
    /// Bytes of messages of circuits that each party has under way at a time: about the links' bandwidth times
    /// their round trip. The same for all parties.
    pub window: usize,
}

/// [`Plan::window`] where nobody says otherwise: for links of a machine or a rack. The tiles whose messages fill more
/// of it would not stay in the second cache from one layer to the next.
pub const WINDOW: usize = 64 << 10;

/// What plans need that do more than add.
const NOT_LINEAR: [Feature; 6] = [
    Feature::And,
    Feature::Circuit,
    Feature::Mul,
    Feature::MatMul,
    Feature::MaskedOpening,
    Feature::VerifiedOpening,
];

impl Plan {
    /// The shape of a register.
    pub fn register(&self, reg: Reg) -> Register {
        self.registers[reg as usize]
    }

    /// How many addresses of operations a run takes: inputs, operations and outputs are each counted from 0.
    pub fn addresses(&self) -> u32 {
        (self.inputs.len() as u32).max(self.op_count()).max(self.outputs.len() as u32)
    }

    /// SHA-256 of all that is done, which is all but the window and what follows from the rest. For one machine and
    /// one build of this code: others may come to another hash of the same plan, so it is nothing for parties to
    /// compare.
    pub fn digest(&self) -> [u8; 32] {
        let Self {
            roles,
            registers,
            inputs,
            public_inputs,
            kept,
            ops,
            regions,
            levels,
            sections,
            outputs,
            guard,
            keeps,
            needs,
            window: _,
        } = self;
        let mut digest = Digest(Sha256::new_with_prefix("tacit plan 1"));
        (roles, registers, inputs, ops, levels, outputs).hash(&mut digest);
        if !public_inputs.is_empty() {
            public_inputs.hash(&mut digest);
        }
        if !regions.is_empty() {
            let of_operations: Vec<u32> = ops.iter().map(|op| op.region).collect();
            (regions, of_operations).hash(&mut digest);
        }
        if !sections.is_empty() {
            ("sections", sections).hash(&mut digest);
        }
        if !kept.is_empty() || !keeps.is_empty() {
            ("kept", kept, keeps).hash(&mut digest);
        }
        if let Some(guard) = guard {
            ("guard", guard).hash(&mut digest);
        }
        if needs.has(Feature::ZeroedArms) {
            "zeroed arms".hash(&mut digest);
        }
        digest.0.finalize().into()
    }

    /// How many of its outputs are the program's: all but the guard, which comes last.
    pub fn own_outputs(&self) -> usize {
        self.outputs.len() - usize::from(self.guard.is_some())
    }

    /// Whether all that was computed has to be checked before a level: it has a verified opening.
    pub fn opens_verified(&self, level: &Level) -> bool {
        level
            .stages
            .iter()
            .any(|stage| matches!(self.op(stage.op).kind, OpKind::Open { how: Opening::Verified, .. }))
    }

    /// The range that an input has to be shown to be in, before anything that depends on it is opened: that of a number in a
    /// field, but for plans that only add. A "bit" of 2^64 that chooses one of two numbers would let an output, or what is
    /// opened under a mask for numbers of a range, show both; and a factor out of its range what it is multiplied by beside
    /// what is added. What is only added shows nothing but the sum, whatever it is; but what is kept of it may be multiplied by
    /// another plan.
    pub fn proved_range(&self, input: &InputOp) -> Option<Range> {
        input.range.filter(|_| {
            !self.keeps.is_empty() || NOT_LINEAR.into_iter().any(|feature| self.needs.has(feature))
        })
    }

    /// How often a run checks: before each level with a verified opening, and before the outputs.
    pub fn checks(&self) -> u64 {
        let verified = self.counted_levels().filter(|(level, _)| self.opens_verified(level));
        verified.map(|(_, times)| times).sum::<u64>() + 1
    }

    /// Levels in which messages are exchanged: the longest chain of operations, each of which counts once.
    pub fn depth(&self) -> u64 {
        let speaking = self.counted_levels().filter(|(level, _)| !level.stages.is_empty());
        speaking.map(|(_, times)| times).sum()
    }
}

impl OpKind {
    /// Elements of the result that can be worked on apart from one another: columns of bits (all rows of a
    /// column go together), ring elements, entries of a matrix product, blocks, or a circuit's instances.
    pub fn extent(&self, plan: &Plan) -> usize {
        match self {
            Self::And { dst, .. } => plan.registers[dst.reg as usize].cols,
            Self::Mul { dst, .. }
            | Self::Inject { dst, .. }
            | Self::Shift { dst, .. }
            | Self::Msb { dst, .. }
            | Self::Open { dst, .. }
            | Self::Random { dst, .. }
            | Self::Compose { dst, .. } => plan.registers[*dst as usize].cols,
            Self::PairMask { bits, dst } => plan.registers[*dst as usize].cols / usize::from(*bits),
            Self::MatMul { shape, .. } => shape.batch * shape.m * shape.n,
            Self::Split { s, .. } => plan.registers[*s as usize].cols,
            Self::Shuffle { blocks, .. } => *blocks,
            Self::Circuit { circuit, dst, .. } => {
                plan.registers[*dst as usize].cols / circuit.output_slots.len().max(1)
            }
        }
    }

    /// ANDs of rows and of circuits, on all instances.
    pub fn ands(&self, plan: &Plan) -> u64 {
        let of_one = match self {
            Self::And { dst, .. } => u64::from(dst.count),
            Self::Circuit { circuit, .. } => circuit.ands(),
            _ => 0,
        };
        of_one.saturating_mul(self.extent(plan) as u64)
    }

    /// Whether it computes nothing but by [ANDs](Self::ands).
    pub(crate) const fn is_of_ands(&self) -> bool {
        matches!(self, Self::And { .. } | Self::Circuit { .. } | Self::Open { .. } | Self::Random { .. })
    }
}

/// Takes in what is hashed.
struct Digest(Sha256);

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("only the whole digest is asked for")
    }
}
