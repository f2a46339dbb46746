//! Worlds of parties in one process, attackers, and the suite that every protocol must pass. Never shipped.
//!
//! | what | where |
//! | --- | --- |
//! | a network on a virtual clock | [`World`] |
//! | links of memory, TCP and TLS | [`links`] |
//! | endpoints that do something in a session | [`play`] |
//! | an attacker who drops, delays, alters and kills | [`Interceptor`], [`Deviation`] |
//! | an endpoint that reacts to what it hears | [`react`] |
//! | what was delivered | [`Trace`] |
//! | randomness that can be repeated | [`Draws`] |
//! | a plan, a protocol, inputs: one run | [`Case`] |
//! | random programs and inputs | [`generate`] |
//! | whether bits are uniform | [`sample`] |
//! | a protocol that offers other operations | [`Altered`] |
//! | model protocols for any number of parties | [`tenants`] |
//! | the suite | [`conformance`](mod@conformance) |
//! | readers of outside bytes, for fuzzing | [`fuzz`] |
//!
//! A protocol mounts the suite with one line in its `tests` folder, see [`conformance!`].

mod altered;
mod case;
pub mod conformance;
mod draws;
pub mod fuzz;
pub mod generate;
mod interceptor;
pub mod links;
pub mod macs;
mod play;
pub mod react;
mod rng;
pub mod sample;
pub mod tenants;
mod trace;
mod world;

pub use altered::{Altered, with_parameters};
pub use case::{Case, Ending, Links, Run, outcomes, party_names};
pub use draws::Draws;
pub use interceptor::{Deviation, Fate, Interceptor, Message};
pub use play::{in_threads, play};
pub use rng::Rng;
pub use trace::{Delivery, Trace};
pub use world::World;
