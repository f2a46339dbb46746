//! Secure multiparty computation: several parties compute on their joint data while each keeps its own secret.
//!
//! A [`program::Builder`] makes a program, [`Compiled`] checks it and lowers it to a plan, [`price`] says what it
//! will cost, and it runs with all parties in this process ([`Local`]) or as one endpoint of a deployment
//! ([`Seat`]), several at a time in lanes if need be, or part after part as a [`Stream`]. [`protocols`] lists the
//! protocols. Where their parties play different roles a deployment measures its network first and [`cast`]s.

mod casting;
mod compiled;
mod deployment;
mod endpoint;
mod error;
mod lanes;
mod local;
mod price;
mod registry;
mod report;
mod stream;

pub use casting::{Casting, Seconds, cast, is_open, network, players, settle, told};
pub use compiled::Compiled;
pub use deployment::Seat;
pub use endpoint::{Endpoint, Feed, play, play_parts};
pub use error::Error;
pub use lanes::{Job, Strand, play_lanes};
pub use local::{Local, Progress};
pub use price::{price, price_lanes, priced};
pub use registry::{protocol, protocols};
pub use report::{Report, Run, Traffic};
pub use stream::Stream;
pub use tacit_circuit as circuit;
pub use tacit_engine as engine;
pub use tacit_net as net;
pub use tacit_program as program;
pub use tacit_session as session;
