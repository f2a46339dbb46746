//! Benchmarks of correlated randomness, which is no program's: oblivious transfers ([`super::ot`]) and triples
//! ([`super::triples`]), made by every party at once.
//!
//! The clock runs from a barrier, after the setup, until the last party has all of it, checked. It is compared afterwards, and
//! what was sent with the declared cost; if either differs there are no figures.

pub(super) mod figures;
pub(super) mod job;
mod ots;
mod party;
mod triples;
