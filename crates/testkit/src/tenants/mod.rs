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
//! **Security.** Private if all parties follow the protocol, against n-1 of them, as long as all trust the dealer. It is code
//! of this process ([`dealer`]).

mod client;
mod cost;
mod dealer;
mod engine;
mod openings;
mod products;

use std::sync::Arc;

use tacit_engine::{
    Checks, Client, Engine, Error, Participants, Protocol, ProtocolSpec, Security, Threshold,
};
use tacit_program::cost::{Flow, Phase, Step};
use tacit_program::plan::{Op, Plan};
use tacit_program::{Capabilities, Feature, Field};
use tacit_session::Session;

use client::AdditiveClient;
use engine::AdditiveEngine;

/// Additive sharing with a dealer's triples.
#[derive(Debug)]
pub struct Additive {
    spec: ProtocolSpec,
    capabilities: Capabilities,
}

/// Numbers modulo primes. Integers, fixed point and bools are elements of the larger field.
pub static FIELDS: Additive = Additive {
    spec: spec("model-fields"),
    capabilities: with_openings(Capabilities::masked_opening(Field::Fp128)).with(Feature::Fp61),
};

/// Bits alone.
pub static BITS: Additive =
    Additive { spec: spec("model-bits"), capabilities: with_openings(Capabilities::BITS) };

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
        cost::price(plan, participants, step)
    }

    fn has_online_messages(&self, op: &Op, _: u32) -> bool {
        engine::has_messages(&op.kind)
    }

    fn checks(&self, _: &Plan, participants: &Participants) -> Checks {
        cost::checks(participants.parties())
    }

    fn engine(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Engine>, Error> {
        Ok(Box::new(AdditiveEngine::new(session, plan, participants)))
    }

    fn client(
        &self,
        session: Session,
        plan: Arc<Plan>,
        participants: Participants,
    ) -> Result<Box<dyn Client>, Error> {
        Ok(Box::new(AdditiveClient::new(session, plan, participants)))
    }
}
