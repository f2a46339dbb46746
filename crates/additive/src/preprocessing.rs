//! Where a protocol's correlated randomness comes from.

use std::fmt::Debug;
use tacit_engine::supply::{Arms, Demand, Supply};
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
    /// What a session sends among so many parties before the first plan that draws something like this.
    fn setup(&self, demand: &Demand, parties: usize) -> Checks {
        let _ = (demand, parties);
        Checks::default()
    }
    /// What it sends to make what one plan draws.
    fn price(&self, demand: &Demand, parties: usize) -> Checks;
    /// The domains of whose items stores are filled ahead of any program; none if no store is.
    fn stocked(&self) -> &'static [Domain] {
        &[]
    }
    /// Whether arms of branches draw from the same triples, under masks that it makes as well; or are zeroed, so that
    /// it makes products of a bit with a vector.
    fn arms(&self) -> Arms {
        Arms::Apart
    }
    /// Seeds of 128 bits of which each mask of a branch is made among so many parties ([`SupplyKind::Masks`] are
    /// these then); 0 if masks come at full length: two words for each item of 64 triples.
    ///
    /// [`SupplyKind::Masks`]: tacit_engine::supply::SupplyKind::Masks
    fn mask_seeds(&self, parties: usize) -> usize {
        let _ = parties;
        0
    }
    /// The values of its parameters that material depends on, in words: what is made under one set of values is good
    /// for runs under any other with the same of these. `None` if it may depend on all.
    fn material_values(&self) -> Option<String> {
        None
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

/// What engines go by, besides the plan.
#[derive(Clone, Copy)]
pub(crate) struct Manner {
    /// The fields whose elements have MACs; none if nobody deviates.
    pub(crate) fields: &'static [Domain],
    /// What makes the supply of a party that is given none.
    pub(crate) preprocessing: &'static dyn Preprocessing,
}

impl Manner {
    /// Whether there are MACs.
    pub(crate) const fn is_authenticated(&self) -> bool {
        !self.fields.is_empty()
    }

    /// Whether arms share triples. With MACs they don't: inputs and outputs draw triples as well then, and masks have no MACs.
    pub(crate) fn arms(&self) -> Arms {
        if self.is_authenticated() { Arms::Apart } else { self.preprocessing.arms() }
    }
}
