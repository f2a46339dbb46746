//! Model tenants: protocols for n parties that prove the interfaces before a real one rests on them. They never ship.
//!
//! **Sharing.** `x = x_0 + ... + x_(n-1)`, of numbers modulo a prime or of bits under XOR. Party `P_i` holds `x_i`.
//! [`FIELDS`] has numbers modulo a prime and nothing else, [`BITS`] has bits alone, so that its numbers are circuits.
//!
//! **Products** (Beaver 1991). A dealer gives shares of `a`, `b` and `c = a b`. All open `d = x - a` and `e = y - b` to all,
//! and `z_i = c_i + d b_i + a_i e`, to which `P_0` adds `d e`. Nobody but the dealer knows `a` and `b`, so `d` and `e` tell
//! nothing to any n-1 parties, whatever they send.
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
mod products;

use std::sync::Arc;

use tacit_engine::{
    Checks, Client, Engine, Error, Participants, Protocol, ProtocolSpec, Security, Threshold,
};
use tacit_program::cost::{Flow, Phase, Step};
use tacit_program::plan::Plan;
use tacit_program::{Capabilities, Feature, Features, Numbers};
use tacit_session::Session;

use client::AdditiveClient;
use engine::AdditiveEngine;

/// Additive sharing with a dealer's triples.
#[derive(Debug)]
pub struct Additive {
    spec: ProtocolSpec,
    capabilities: Capabilities,
}

/// Numbers modulo a prime, and nothing else.
pub static FIELDS: Additive = Additive {
    spec: spec("model-fields"),
    capabilities: Capabilities {
        features: Features::of(&[Feature::Fp61, Feature::Fp128, Feature::Mul, Feature::MatMul]),
        numbers: Numbers::ElementsAlone,
    },
};

/// Bits alone.
pub static BITS: Additive = Additive { spec: spec("model-bits"), capabilities: Capabilities::BITS };

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
