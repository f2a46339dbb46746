//! Distributed zero-knowledge proofs that ANDs and products were computed correctly (Boneh et al. 2019; Boyle et al. 2019).
//!
//! The protocol is functionality 3.1.1 and protocol C.2.1 of Li et al. 2023. Every party proves to the other two that
//! the messages which it sent for its ANDs were right; so every batch has three proofs, side by side. The proofs of
//! earlier batches go on while later ANDs are computed.
//!
//! | module | has |
//! | --- | --- |
//! | `log`, `planes` | what a party notes of every AND until it is proved |
//! | `schedule` | foldings of a proof, what each sends, and the soundness |
//! | `proof` | the relation, and what prover and verifiers compute |
//! | `field` | what is asked of a field, and F_p's extension for points that the prover itself finds |
//! | `prime` | F_p, and the first round over it |
//! | `binary` | GF(2^64) likewise, to compare with |
//! | `polynomial` | values of polynomials from other values |
//! | `counts` | how much is proved |
//! | `draws` | what two parties draw from a key that they share |
//! | `part` | what a party does for one batch, step by step |
//! | `steps` | the messages of all batches |
//! | `ring` | proofs of products in Z_2^d |
//! | `interactive`, `seeds` | proofs with points from the verifiers |
//! | `fiat_shamir` | proofs with points that the prover finds by hashing |
//!
//! **Words.** For the proof of `P_i` the *left* verifier is `P_(i+1)`, which knows `u` (what `P_i` sent, and the
//! component that they share), and the *right* verifier is `P_(i-1)`, which knows `v`.

mod binary;
mod counts;
mod draws;
mod fiat_shamir;
mod field;
mod interactive;
mod log;
mod part;
mod polynomial;
mod prime;
mod proof;
mod ring;
mod schedule;
#[cfg(feature = "planted")]
pub(crate) mod seeds;
#[cfg(not(feature = "planted"))]
mod seeds;
mod steps;
#[cfg(test)]
mod testing;

pub(crate) use counts::Counts;
pub(crate) use log::BEGUN;
#[cfg(feature = "planted")]
pub use ring::order_of_products;
pub(crate) use ring::{
    Cut, Limits, MOST_ELEMENTS, Operation, Outputs, Shuffled, Words, is_too_large, noted, proved_at_its_end,
};
#[cfg(feature = "planted")]
pub(crate) use ring::{field as field_of_products, picked};
pub(crate) use schedule::ProofParams;
#[cfg(feature = "planted")]
pub(crate) use seeds::{ChallengeId, Seed};
pub(crate) use steps::{Challenges, Proofs, traffic};
