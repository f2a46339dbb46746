//! What an engine executes: registers, local steps, and interactive operations in levels.
//!
//! A plan is closed: it holds every step from the inputs to the revealed outputs, and no computed value can change
//! which step comes next. Lowering builds it from a [`crate::Program`]. The builder here puts each operation into the
//! earliest level at which its operands are there, so independent operations share a round.
//!
//! **Registers.** A register is a vector of elements of a ring or a field, or a stack of rows of packed bits. Numbers
//! in bit-sliced form have a row for every bit position and a column for every number. In memory every row starts at a
//! word; in a message the rows follow one another without a gap.
//!
//! **Public registers.** All parties hold a public register as it is; no other register is known to anybody. A step whose result
//! is public reads public registers alone. An opening fills one ([`OpKind::Open`]), or a public input ([`PublicInput`]).
//!
//! Steps take them wherever they take constants ([`Public::Register`]), and circuits as operands ([`Operand`]). To stand anywhere
//! else one is first shared, by [`Local::Constant`]; the builder refuses anything else. What a plan opens is no output: those are
//! revealed by [`Plan::outputs`] alone.
//!
//! **Additive components.** Conversions between numbers and bits need a sharing of additive components,
//! `x = x_0 + x_1 + x_2 mod 2^k`, and for bits with XOR.
//!
//! - *Three.* So many parties know each component that a sharing of it needs no message and nobody can lie about it.
//!   The sharing of `x_1` has `x_1` as its component 1, and zeros as the others.
//! - *Two.* `x = S + T`: one party knows `S = x_0 + x_1`, and the others know `T = x_2`.
//!
//! **Order.** In a level all of `local` runs first. Then every stage of `stages` begins and is finished, and then the
//! registers of `free` go. An operation of `k` stages stands in `k` levels that follow one another. The levels of a
//! [`Section`] are computed several times ([`Plan::visits`]); operations are named by their addresses ([`Plan::op`]).

mod arms;
mod builder;
mod components;
mod insertion;
mod needs;
mod parts;
mod regions;
mod registers;
mod sections;
mod steps;
mod types;
mod visits;

pub use crate::domain::{Domain, Width};
pub use crate::modulus::Modulus;
pub use builder::Builder;
pub use components::Components;
pub use insertion::Insertion;
pub use regions::{Region, Swap};
pub use registers::{Reg, Register, Rows};
pub use sections::{Section, Slice};
pub use steps::{Layout, Local, MatrixShape, OpKind, Opening, Operand, Public, SECOND_COMPONENT};
pub use types::{Form, InputOp, KeepOp, KeptOp, Level, Op, OutputOp, Plan, PublicInput, Stage, To, WINDOW};
pub use visits::Visit;
