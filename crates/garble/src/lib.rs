//! Garbled circuits: a [`Garbler`] makes tables of a circuit for many instances, an [`Evaluator`] runs them and learns
//! nothing but what it is told to decode. Nothing here sends anything.
//!
//! | module | holds |
//! | --- | --- |
//! | `plan` | [`Plan`]: a circuit laid out for garbling, and how long everything is |
//! | `batch` | [`Batch`]: which hashes a batch of instances is garbled with |
//! | `garbler` | [`Garbler`]: tables, labels of inputs |
//! | `evaluator` | [`Evaluator`]: active labels from tables |
//! | `commitments` | which label stands for which bit of an input, shown to who knows the bit |
//! | `outputs` | [`Outputs`] and [`Active`]: what each keeps of the outputs, decoding, authenticity |
//!
//! **Scheme.** Free exclusive ors and half gates (Zahur, Rosulek, Evans 2015) with a hash from AES under a key for
//! every AND of every 512 instances at most; [`tacit_kernel::garble`] has the equations, what the proof asks of the
//! hash, and how many bits of security are left. An AND costs 32 bytes, an input's bit 16, all else nothing.
//!
//! **Shapes.** Rows, as in an engine's banks. `n` instances of an input or output of `k` bits are `k` rows one after
//! another: of labels, `16 n` bytes each, or of packed bits, `ceil(n / 64)` words each, whose unused last bits are
//! ignored and come out as 0.
//!
//! **Pieces.** A batch is garbled and evaluated in pieces, ranges of its instances that start at multiples of
//! [`Plan::tile`]. The tables of pieces, one after another, are those of the whole, so that they can be streamed and
//! hashed as they are made. A tile's rows stay in a core's cache.
//!
//! **One seed, one result.** All that a garbler draws (`delta`, the inputs' false labels) comes from a seed, so two
//! garblers with one seed, one plan and one batch make the same tables and labels, to the bit; comparing hashes shows a
//! cheat.
//!
//! **Inputs that the garblers know** are folded in. Their active label is 0 in every instance, and a garbler takes
//! `bit delta` for the false one: nothing is sent for them. It is secure because all that hides a bit from an evaluator,
//! in a table as in a lowest bit, is the label that isn't active: that is `delta`, of 127 random bits, whatever the
//! active one is, and tweaks differ where labels don't. The same argument lets the constant 1 have the active label 0.
//! (An AND of such a bit could do with one half of its table. In sums of words that is one AND in 63 at best, and
//! isn't done.)
//!
//! **Adversaries.** Tables hide all but what is decoded, from an evaluator that follows the protocol or doesn't. They
//! say nothing of whether the garblers garbled what they should: hence two of them, or an honest one. Where one of two
//! gives the evaluator labels, it does so against commitments that the other one has vouched for
//! ([`Garbler::commitments`], [`Evaluator::check_labels`]). An evaluator
//! can't give a label, nor a tag ([`Active::tags`]), of a bit that isn't the output's. Inputs may be chosen after the
//! tables were sent: the simulator then programs the ideal cipher where labels that nobody has seen yet are hashed.

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
