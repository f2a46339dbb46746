//! Secure multiparty computation: several parties compute on their joint data while each keeps its own secret.
//!
//! A [`program::Builder`] makes a program, [`Compiled`] checks it and lowers it to a plan, and [`price`] computes its
//! cost. The program runs with all parties in this process ([`Local`]) or as one endpoint of a deployment ([`Seat`]).
//! It can run in several lanes, or part after part as a [`Stream`]. [`protocols`] lists the protocols.
//!
//! A protocol's name may leave parameters to the network. Then a deployment measures its links first, and
//! [`negotiate`]s them. A protocol with an offline phase can make material before a run ([`Seat::offline`]), and keeps
//! it in a [`store`] until a run uses it ([`Seat::run_stored`]). What a program keeps stays with the parties as shares
//! ([`State`]) until a later one reads it.

mod agreed;
mod attempts;
mod auto_select;
mod compiled;
mod deployment;
mod endpoint;
mod error;
mod lanes;
mod local;
mod material;
mod offline;
mod price;
mod registry;
mod report;
mod run;
mod saved;
mod state;
mod stored;
mod stream;
mod supplies;

pub use attempts::MOST_ATTEMPTS;
pub use auto_select::{
    Comparison, Making, Negotiated, RoleAssignment, Seconds, Selection, describe_roles, is_open, negotiate,
    players, select, select_default, select_for,
};
pub use compiled::Compiled;
pub use deployment::Seat;
pub use endpoint::{Endpoint, Feed, Played, play};
pub use error::{Distance, Error};
pub use lanes::{LaneInputs, Source, Strand, admitted_lanes, play_lanes};
pub use local::{Local, Progress};
pub use material::{Instance, Kept, StorePath};
pub use offline::{Made, Prepared, Sent, play_offline};
pub use price::{price, price_lanes, price_offline, priced};
pub use registry::{parameters, protocol, protocols, stocks};
pub use report::{Report, Run, Traffic};
pub use saved::{SavedPlan, SavedPlanError};
pub use state::{About, Fill, Listed, MAX_VERSIONS, Residents, Standing, State};
pub use stream::Stream;
pub use supplies::{Filling, play_fill};
pub use tacit_circuit as circuit;
pub use tacit_engine as engine;
pub use tacit_net as net;
pub use tacit_program as program;
pub use tacit_session as session;
pub use tacit_store as store;
