//! Proofs that ANDs were computed right: Li et al. 2023, functionality 3.1.1 and protocol C.2.1.
//!
//! Every party proves to the other two that the messages which it sent for its ANDs were right; so there are three
//! proofs of every batch, side by side. While later ANDs are computed, the proofs of earlier batches go on.
//!
//! | module | has |
//! | --- | --- |
//! | `log`, `planes` | what a party notes of every AND until it is proved |
//! | `schedule` | rounds of a proof, what each sends, and the soundness |
//! | `proof` | the relation, and what prover and verifiers compute |
//! | `field` | F_p, and its extension for points that the prover itself finds |
//! | `polynomial` | values of polynomials from other values |
//! | `draws` | what two parties draw from a key that they share |
//! | `steps` | the messages of all batches, step by step |
//! | `interactive`, `seeds` | proofs with points from the verifiers |
//! | `fiat_shamir` | proofs with points that the prover finds by hashing |
//! | `gf64_prover`, `boyle` | proofs over GF(2^64), to compare with |
//!
//! **Words.** For the proof of `P_i` the *left* verifier is `P_(i+1)`, who knows `u` (what `P_i` sent, and the component
//! that they share), and the *right* verifier is `P_(i-1)`, who knows `v`.

mod boyle;
mod draws;
mod fiat_shamir;
mod field;
mod gf64_prover;
mod interactive;
mod log;
mod planes;
mod polynomial;
mod proof;
mod schedule;
#[cfg(feature = "planted")]
pub(crate) mod seeds;
#[cfg(not(feature = "planted"))]
mod seeds;
mod steps;

pub(crate) use log::BEGUN;
#[cfg(feature = "planted")]
pub(crate) use log::Batch;
pub(crate) use schedule::ProofParams;
#[cfg(feature = "planted")]
pub(crate) use seeds::{ChallengeId, Seed};
pub(crate) use steps::{Challenges, Proofs, traffic};
