//! Model tenants: protocols for n parties that prove the interfaces before a real one rests on them. They never ship.
//!
//! **Sharing.** `x = x_0 + ... + x_(n-1)`, of numbers modulo a prime or of bits under XOR. Party `P_i` holds `x_i`.
//! [`FIELDS`] has numbers modulo primes, where bools are 0 and 1, and comparisons and truncations come down to openings
//! under a mask. [`BITS`] has bits alone, so that its numbers are circuits.
//!
//! **Products** (Beaver 1991). A dealer gives shares of `a`, `b` and `c = a b`. All open `d = x - a` and `e = y - b` to all,
//! and `z_i = c_i + d b_i + a_i e`, to which `P_0` adds `d e`. Nobody but the dealer knows `a` and `b`, so `d` and `e` tell
//! nothing to any n-1 parties, whatever they send.
//!
//! **Openings.** All send their shares to all. Random elements and random bits are the dealer's to give.
//!
//! **Inputs.** The owner has a PRSS stream with every party. Those of all parties but one are their shares, and that one's
//! is what is left: the owner's own, or `P_0`'s of a client's input.
//!
//! **Outputs.** All send their shares to whoever learns.
//!
//! **MACs.** [`MACS`] is [`FIELDS`] with a recorder: the dealer gives shares of MACs along with those of values, what is opened is
//! recorded, and all is checked before a verified opening and around outputs ([`macs`]). Inputs and outputs go under masks
//! ([`inputs`], [`outputs`]). Parties may deviate then, up to n-1 of them, and who gets an output gets the right one or an error.
//! Nobody checks that owners' inputs are in the ranges that a program declares.
//!
//! **Security.** Without MACs private if all parties follow the protocol, against n-1 of them, as long as all trust the dealer. It is code
//! of this process ([`dealer`]).

mod client;
mod cost;
mod dealer;
mod demand;
mod engine;
mod inputs;
mod macs;
mod openings;
mod outputs;
mod products;
mod share;
mod shared;

use std::sync::Arc;

use tacit_engine::supply::{Demand, Supply};
use tacit_engine::{
    Checks, Client, Engine, Error, Participants, Protocol, ProtocolSpec, Security, Threshold,
};
use tacit_program::cost::{Flow, Phase, Step};
use tacit_program::plan::{Op, OutputOp, Plan, To};
use tacit_program::{Capabilities, Feature, Field};
use tacit_session::Session;

use client::AdditiveClient;
use dealer::Dealer;
use engine::AdditiveEngine;
pub use macs::{MAC_COMMIT, MAC_OPEN, check_weights};

/// Additive sharing with a dealer's triples.
#[derive(Clone, Debug)]
pub struct Additive {
    spec: ProtocolSpec,
    capabilities: Capabilities,
    manner: Manner,
}

/// What engines go by, besides the plan.
#[derive(Clone, Copy, Debug)]
struct Manner {
    /// Whether there are MACs.
    authenticated: bool,
    /// What is done wrong on purpose.
    mistake: Option<Mistake>,
}

/// A mistake, for tests that show that it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// What is opened of outputs for a single recipient isn't checked.
    OutputsForOneUnrecorded,
    /// The coin for the weights of outputs is tossed before their shares are sent.
    CoinEarly,
    /// Commitments of a check are opened without the others' word that they hold all of them.
    OpeningsEarly,
}

/// Numbers modulo primes. Integers, fixed point and bools are elements of the larger field.
pub static FIELDS: Additive = Additive {
    spec: spec("model-fields"),
    capabilities: PRIMES,
    manner: Manner { authenticated: false, mistake: None },
};

/// The same with MACs: parties may deviate.
pub static MACS: Additive = authenticated(None);

/// [`MACS`] with a mistake.
pub const fn mistaken(mistake: Mistake) -> Additive {
    authenticated(Some(mistake))
}

const fn authenticated(mistake: Option<Mistake>) -> Additive {
    Additive {
        spec: ProtocolSpec {
            security: Security::MaliciousAbort,
            source: "Damgard et al. 2012, Keller et al. 2016",
            ..spec("model-macs")
        },
        capabilities: PRIMES,
        manner: Manner { authenticated: true, mistake },
    }
}

const PRIMES: Capabilities = with_openings(Capabilities::masked_opening(Field::Fp128)).with(Feature::Fp61);

/// Bits alone, and branches: all arms are evaluated, and those that exclude one another share their messages.
pub static BITS: Additive = Additive {
    spec: spec("model-bits"),
    capabilities: with_openings(Capabilities::BITS).with(Feature::Branches),
    manner: Manner { authenticated: false, mistake: None },
};

/// And all that can be done with what is opened, or known before.
const fn with_openings(capabilities: Capabilities) -> Capabilities {
    capabilities
        .with(Feature::Random)
        .with(Feature::MaskedOpening)
        .with(Feature::VerifiedOpening)
        .with(Feature::PublicInputs)
        .with(Feature::PublicSteps)
        .with(Feature::Gather)
}

const fn spec(name: &'static str) -> ProtocolSpec {
    ProtocolSpec {
        name,
        parties: 2..=12,
        corruptions: Threshold::AllButOne,
        security: Security::SemiHonest,
        source: "Beaver 1991",
    }
}

/// Who alone learns an output, by endpoint.
fn single(participants: &Participants, output: &OutputOp) -> Option<usize> {
    match output.to {
        To::All => None,
        To::One(role) => Some(participants.endpoint(role)),
    }
}

/// The party that takes public values into its share, and that the dealer tells what is missing to a triple.
const FIRST: usize = 0;

impl Protocol for Additive {
    fn spec(&self) -> &ProtocolSpec {
        &self.spec
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn price(&self, plan: &Plan, participants: &Participants, step: Step<'_>) -> Vec<(Phase, Flow)> {
        cost::price(plan, participants, self.manner.authenticated, step)
    }

    fn has_online_messages(&self, op: &Op, _: u32) -> bool {
        engine::has_messages(&op.kind)
    }

    fn checks(&self, plan: &Plan, participants: &Participants) -> Checks {
        cost::checks(plan, participants.parties(), self.manner.authenticated)
    }

    fn demand(&self, plan: &Plan, participants: &Participants) -> Demand {
        demand::demand(plan, participants, self.manner.authenticated)
    }

    fn live_supply(&self, session: &mut Session) -> Result<Box<dyn Supply>, Error> {
        Ok(Box::new(Dealer::meet(session, self.manner.authenticated)?))
    }

    fn engine(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(AdditiveEngine::new(self.manner, session, plan, participants)))
    }

    fn client(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Client>, Error> {
        Ok(Box::new(AdditiveClient::new(self.manner.authenticated, session, plan, participants)))
    }
}
