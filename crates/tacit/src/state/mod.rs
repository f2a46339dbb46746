//! What a party keeps between runs: shares of values, by name and version.
//!
//! A program says `keep(x, "weights")`, and the run makes the next version of that name. A later program reads
//! `kept("weights")`: that is a *slot*, and each run says which value and version fills it ([`Fill`]); and of tables,
//! which rows are read, or kept. The parties agree on it by what they tell one another of the versions they have
//! ([`agree`]), before anything is computed. Two that hold the same part of a share compare digests of it, and tell
//! them to nobody else.
//!
//! **Two steps.** Each party puts its share away as *pending*, and tells the others so, before any output is opened. What all
//! have is *settled*. A party that dies in between has a pending version that the others may know as settled: the next run that
//! reads it finds that all have it, and settles it.
//!
//! What not all have is never read, and is void once a version counts that it was made without ([`settle`]). All that one run
//! keeps is put away together, and settled together: no run reads one value of it beside an older one of another name.
//!
//! [Decision 23](../../../../docs/adr/0023-values-that-stay.md) has the reasons.

pub(crate) mod about;
mod agree;
mod apart;
mod claim;
mod disk;
mod exchange;
pub(crate) mod fill;
pub(crate) mod keeping;
mod mistakes;
pub(crate) mod refresh;
pub(crate) mod residents;
mod run;
mod settle;
#[cfg(test)]
mod tests;
pub(crate) mod values;
pub(crate) mod versions;
mod wanted;

pub use about::About;
pub use fill::Fill;
pub use keeping::NO_STATE;
pub use refresh::play_refresh;
pub use residents::Residents;
pub use tacit_store::KeptStanding as Standing;
pub use values::{MAX_VERSIONS, State};
pub use versions::Listed;
