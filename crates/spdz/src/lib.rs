//! The protocol `mascot`: arithmetic in the field of 2^128 - 159 elements for two to sixteen parties, of whom all but one may
//! deviate at will.
//!
//! It puts together two crates that don't know one another: the online phase on authenticated shares ([`tacit_additive`]),
//! and the preprocessing that gives it triples, input masks and random bits under one MAC key ([`tacit_mascot`]). The page
//! `docs/protocols/mascot.md` has both.
//!
//! Integers, fixed-point numbers and bools are elements. What needs their bits goes by openings under masks of random bits.

mod cost;
mod supply;

use supply::Live;
use tacit_additive::{Additive, Preprocessing};
use tacit_engine::supply::{Demand, Supply};
use tacit_engine::{Checks, Error, ProtocolSpec, Security, Threshold};
use tacit_net::Phase;
use tacit_program::plan::Domain;
use tacit_program::{Capabilities, Feature, Field};
use tacit_session::Session;

/// The protocol `mascot`.
pub static MASCOT: Additive = Additive {
    spec: ProtocolSpec {
        name: "mascot",
        parties: 2..=16,
        corruptions: Threshold::AllButOne,
        security: Security::MaliciousAbort,
        source: "Damgard et al. 2012, Keller et al. 2016",
    },
    capabilities: Capabilities::masked_opening(Field::Fp128)
        .with(Feature::Keep)
        .with(Feature::Guard)
        .with(Feature::PublicInputs),
    fields: &FIELDS,
    preprocessing: &Mascot,
};

/// What has MACs.
static FIELDS: [Domain; 1] = [FIELD];

const FIELD: Domain = Field::Fp128.domain();

/// MASCOT's preprocessing in the run, under a key of its own.
#[derive(Debug)]
struct Mascot;

impl Preprocessing for Mascot {
    /// The setup of a key.
    fn live(&self, session: &mut Session) -> Result<Box<dyn Supply>, Error> {
        session.mesh().set_phase(Phase::Offline);
        Ok(Box::new(Live::setup(session)?))
    }

    fn setup(&self, demand: &Demand, parties: usize) -> Checks {
        cost::setup(demand, parties)
    }

    fn price(&self, demand: &Demand, parties: usize) -> Checks {
        cost::offline(demand, parties)
    }

    fn stocked(&self) -> &'static [Domain] {
        &FIELDS
    }
}
