//! Secure multiparty computation: several parties compute on their joint data while each keeps its own secret.
//!
//! A [`program::Builder`] makes a program, [`Compiled`] checks it and lowers it to a plan, and [`price`] computes its
//! cost. The program runs with all parties in this process ([`Local`]), or as one endpoint of a deployment ([`Seat`]).
//! [`protocols`] lists the protocols.
//!
//! ```
//! use tacit::program::{Builder, Data, Dtype, Range, Recipient, Value};
//! use tacit::{Compiled, Local};
//!
//! // How many of alice's numbers are larger than bob's?
//! let mut build = Builder::new();
//! let range = Range::new(0, 1_000_000);
//! let a = build.input("alice", "a", Dtype::Int, &[3], range)?;
//! let b = build.input("bob", "b", Dtype::Int, &[3], range)?;
//! let larger = build.greater(a, b)?;
//! let count = build.sum(larger, None, false)?;
//! build.reveal(count, Recipient::All)?;
//! let compiled = Compiled::new(build.finish()?)?;
//!
//! let numbers = |numbers: [i64; 3]| Value { shape: vec![3], data: Data::Int(numbers.to_vec()) };
//! let run = Local::new("replicated")?.run(&compiled, &[numbers([1, 5, 9]), numbers([2, 4, 8])], &|_, _| ())?;
//! assert_eq!(run.outputs[0], Some(Value { shape: vec![], data: Data::Int(vec![2]) }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | you want to | see |
//! | --- | --- |
//! | run a program as one party or client of a deployment | [`setup::init`], [`Seat`], the example `deployment` |
//! | serve programs as a party of a deployment | [`Server`] |
//! | run what all parties want, each by a policy of its own | [`Asker`], the example `key_service` |
//! | know what it costs | [`price`], the example `richer` |
//! | keep a program in a file, for commands and other parties | [`SavedPlan`], the example `save_plan` |
//! | make material ahead of runs | [`Seat::offline`], [`Seat::run_stored`], [`StorePath`] |
//! | keep values as shares, for later programs to read | [`State`], [`Seat::run_on`] |
//! | run on more instances than memory holds | [`Stream`], [`Feed`] |
//! | leave roles and ways to compare to the network | [`is_open`], [`negotiate`] |
//! | write a protocol, a transport or a tool | [`advanced`] |
//!
//! # Security
//! What each protocol promises, and when its promise is void, is in `docs/security.md`. [`Local`] keeps nothing secret from
//! the process that it runs in. Nobody outside the project has audited it.
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

pub mod advanced;
mod agreed;
mod attempts;
mod auto_select;
mod compiled;
mod deployment;
mod endpoint;
mod error;
mod filling;
mod kept;
mod lanes;
mod listing;
mod living;
mod local;
mod made;
mod material;
mod offline;
mod part;
mod price;
mod progress;
mod registry;
mod report;
mod run;
mod saved;
mod state;
mod stored;
mod stream;
mod supplies;
#[cfg(test)]
mod testing;

pub use attempts::MOST_ATTEMPTS;
pub use auto_select::{
    Negotiated, RoleAssignment, Seconds, Selection, describe_roles, is_open, negotiate, players, select,
    select_default, select_for,
};
pub use compiled::Compiled;
pub use deployment::Seat;
pub use endpoint::{Endpoint, Feed, Played};
pub use error::{Distance, Error};
pub use filling::{Filling, play_fill};
pub use kept::{Instance, Kept, Source, StorePath};
pub use lanes::{LaneInputs, Strand, admitted_lanes, play, play_lanes};
pub use living::{
    Asker, Drain, Gauges, Holdings, Level, Offer, Quota, Reading, Served, Server, Serving, Wanted, batcher,
};
pub use local::Local;
pub use made::{Made, Prepared, Sent};
pub use offline::play_offline;
pub use price::{branches_in_words, price, price_lanes, price_offline, priced};
pub use progress::Progress;
pub use registry::{parameters, protocol, protocols, stocks};
pub use report::{Comparison, Making, Report, Run, Traffic};
pub use saved::{SavedPlan, SavedPlanError};
pub use state::{About, Fill, Listed, MAX_VERSIONS, NO_STATE, Residents, Standing, State, play_refresh};
pub use stream::Stream;
pub use tacit_engine::Protocol;

/// Programs: what a [`Builder`](program::Builder) makes, the values that go in and come out, and their cost.
pub mod program {
    pub use tacit_program::cost::{Cost, Itemised, Phase, PhaseCost};
    pub use tacit_program::{
        Builder, Data, DecodeError, Difference, Dtype, Fault, Index, InputType, Keep, KeptType, KnownType,
        MAX_ELEMENTS, MAX_FRACTION, MAX_RANK, Modulus, NodeId, Output, OutputType, Pieces, Piecewise,
        Program, ProgramError, Range, Real, Reals, Recipient, Source, Span, Type, Uses, Value, ValueError,
    };
}

/// Boolean circuits: read, built gate by gate, or taken from the catalogue.
pub mod circuit {
    pub use tacit_circuit::{
        Builder, Circuit, DecodeError, InputError, MAX_INPUT_BITS, Wire, arith, bristol, catalogue, crypto,
    };
}

/// Deployments: keys and configurations of their endpoints, and what is told while they meet.
pub mod setup {
    pub use tacit_net::setup::{Config, Note, Notes, SetupError, init, quiet};
    pub use tacit_net::{Limits, Profile, UnknownNetwork, load_profile};
}
