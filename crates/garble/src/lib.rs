//! Garbled circuits: a [`Garbler`] makes tables of a circuit for many instances, and an [`Evaluator`] runs them and
//! learns nothing but what it is told to decode. Nothing here sends anything.
//!
//! | module | holds |
//! | --- | --- |
//! | `plan` | [`Plan`]: a circuit laid out for garbling, and how long everything is |
//! | `batch` | [`Batch`]: which hashes a batch of instances is garbled with |
//! | `garbler` | [`Garbler`]: tables, labels of inputs |
//! | `evaluator` | [`Evaluator`]: active labels from tables |
//! | `commitments` | which label stands for which bit of an input, shown to an evaluator that knows the bit |
//! | `outputs` | [`Outputs`] and [`Active`]: what each keeps of the outputs, decoding, authenticity |
//!
//! **Scheme.** Free exclusive ors and half gates (Zahur, Rosulek, Evans 2015) with a hash from AES, under a key for
//! every AND of every 512 instances at most. [`tacit_kernel::garble`] has the equations, what the proof asks of the
//! hash, and how many bits of security are left. An AND costs 32 bytes and an input's bit 16; everything else is free.
//!
//! **Shapes.** Rows, as in an engine's banks. `n` instances of an input or output of `k` bits are `k` rows one after
//! another. A row has labels of `16 n` bytes, or packed bits in `ceil(n / 64)` words, whose unused last bits are
//! ignored and come out as 0.
//!
//! **Pieces.** A batch is garbled and evaluated in pieces: ranges of its instances that start at multiples of
//! [`Plan::tile`]. The tables of the pieces, one after another, are those of the whole. So they can be streamed, and
//! hashed as they are made. The rows of a tile stay in a core's cache.
//!
//! **One seed, one result.** A garbler draws `delta` and the inputs' false labels from a seed. So two garblers with the
//! same seed, plan and batch make the same tables and labels, to the bit, and comparing hashes shows a cheat.
//!
//! **Inputs that the garblers know** are folded in. Their active label is 0 in every instance, and a garbler takes
//! `bit delta` for the false one: nothing is sent for them. This is secure because one thing hides a bit from an
//! evaluator, in a table as in a lowest bit: the label that isn't active. That is `delta`, of 127 random bits, whatever
//! the active one is, and tweaks differ where labels don't.
//!
//! The same argument lets the constant 1 have the active label 0. (An AND of such a bit could do with one half of its
//! table. In sums of words that is one AND in 63 at best, and isn't done.)
//!
//! **Adversaries.** Tables hide all but what is decoded, whether or not the evaluator follows the protocol. They don't
//! show that the garblers garbled the right circuit: so there must be two of them, or an honest one. Where one of two
//! gives the evaluator labels, the evaluator checks them against commitments that the other one has confirmed
//! ([`Garbler::commitments`], [`Evaluator::check_labels`]).
//!
//! An evaluator can't produce a label, nor a tag ([`Active::tags`]), of a bit that isn't the output's. Inputs may be
//! chosen after the tables were sent: the simulator then programs the ideal cipher where labels that nobody has seen
//! yet are hashed.

mod batch;
mod commitments;
mod error;
mod evaluator;
mod garbler;
mod outputs;
mod plan;
#[cfg(test)]
mod tests;
mod walk;

pub use batch::Batch;
pub use error::Error;
pub use evaluator::Evaluator;
pub use garbler::Garbler;
pub use outputs::{Active, Outputs};
pub use plan::{MAX_INSTANCES, Plan};
