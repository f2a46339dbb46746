//! Bytes at hardware speed: slices in, slices out.
//!
//! The kernels are packed bits and their transpose, integers modulo 2^k, prime fields, GF(2^64), GF(2^128), AES in
//! counter mode, matrix products, half gates on labels, sums of streams and correlation-robust hashes for oblivious
//! transfer, digests, and the computing part of checks of products and proofs of ANDs.
//! Nothing here knows of parties or does I/O.
//!
//! **Contracts.** The caller knows the shapes. Every function states what it asks of its slices, checks it once at the
//! top, and panics if it doesn't hold. Lengths that come from a peer or a file must be checked before they get here.
//!
//! **Levels.** Every kernel has a portable form and is compiled, or written, again for AVX2 and AVX-512. [`cpu::level`]
//! picks one at run time. All give the same results to the last bit.
//!
//! **Timing.** No branch and no address depends on the contents of a slice.

#[cfg(not(target_endian = "little"))]
compile_error!(
    "words and packed bits are viewed as little-endian bytes: this crate needs a little-endian machine"
);

pub mod aes;
pub mod bits;
pub mod buffer;
pub mod cpu;
pub mod digest;
pub mod field;
pub mod fp61;
pub mod garble;
pub mod gates;
pub mod gf128;
pub mod gf64;
pub mod leaves;
pub mod matrix;
pub mod mersenne;
pub mod pack;
pub mod prime;
pub mod projection;
pub mod relation;
pub mod ring;
pub mod robust;
pub mod rows;
pub mod sacrifice;
pub mod transpose;

mod element;
mod layout;
#[cfg(test)]
mod noise;
mod word;

pub use buffer::Buffer;
pub use element::Element;
pub use word::Word;
