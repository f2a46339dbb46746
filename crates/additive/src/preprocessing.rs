//! Where a protocol's correlated randomness comes from.

use std::fmt::Debug;
use tacit_engine::supply::{Demand, Supply};
use tacit_engine::{Checks, Error, Parameter};
use tacit_program::plan::Domain;
use tacit_session::Session;

/// What makes a protocol's supplies in a run, as a value with its parameters.
pub trait Preprocessing: Debug + Send + Sync {
    /// Makes a supply in the session, in its offline phase.
    ///
    /// # Errors
    /// If a peer deviates from what it has to send at once, or a link fails.
    fn live(&self, session: &mut Session) -> Result<Box<dyn Supply>, Error>;
    /// What that sends among so many parties, to make what one plan draws.
    fn price(&self, demand: &Demand, parties: usize) -> Checks;
    /// The domains of whose items stores are filled ahead of any program; none if no store is.
    fn stocked(&self) -> &'static [Domain] {
        &[]
    }
    /// Its parameters, which are the protocol's.
    fn parameters(&self) -> &'static [Parameter] {
        &[]
    }
    /// The value of one of them.
    fn value(&self, parameter: &str) -> &'static str {
        let _ = parameter;
        ""
    }
    /// The same with another value of one of them; `None` if there is no such parameter or value.
    fn with_parameter(&self, parameter: &str, value: &str) -> Option<&'static dyn Preprocessing> {
        let _ = (parameter, value);
        None
    }
}
