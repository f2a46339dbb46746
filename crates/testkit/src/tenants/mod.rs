//! Model tenants: protocols for n parties on additive shares, whose triples a dealer gives. They never ship.
//!
//! All but the dealer is shipped code ([`tacit_additive`]), and the suite on these tenants tests it: [`FIELDS`] has
//! numbers modulo primes, where bools are 0 and 1, and comparisons and truncations come down to openings under a
//! mask, and elements of GF(2^128). [`BITS`] has bits alone, so that its numbers are circuits. [`MACS`] is [`FIELDS`]
//! with MACs, where parties may deviate.
//!
//! **Security.** As that of [`tacit_additive`], as long as all trust the dealer. It is code of this process (`dealer`).

mod dealer;

use tacit_additive::{Additive, FIRST, Preprocessing};
use tacit_engine::supply::{Arms, Demand, Supply};
use tacit_engine::{Checks, Error, ProtocolSpec, Security, Threshold};
use tacit_program::cost::{Flow, Phase};
use tacit_program::plan::{Domain, Modulus};
use tacit_program::{Capabilities, Feature, Field};
use tacit_session::Session;

use dealer::{Dealer, SEED_BYTES};

/// Numbers modulo primes, and elements of GF(2^128). Integers, fixed point and bools are numbers modulo the larger prime.
pub static FIELDS: Additive = Additive {
    spec: spec("model-fields"),
    capabilities: PRIMES.with(Feature::Gf128),
    fields: &[],
    preprocessing: &Dealt { fields: &[], arms: Arms::Apart },
};

/// Numbers modulo primes with MACs: parties may deviate.
pub static MACS: Additive = Additive {
    spec: ProtocolSpec {
        security: Security::MaliciousAbort,
        source: "Damgard et al. 2012, Keller et al. 2016",
        ..spec("model-macs")
    },
    capabilities: PRIMES,
    fields: &PRIME_FIELDS,
    preprocessing: &Dealt { fields: &PRIME_FIELDS, arms: Arms::Apart },
};

/// Bits alone, and branches: all arms are evaluated, and those that exclude one another share their messages.
pub static BITS: Additive = Additive {
    spec: spec("model-bits"),
    capabilities: Capabilities::BITS
        .with_openings()
        .with(Feature::Branches)
        .with(Feature::Keep)
        .with(Feature::Guard),
    fields: &[],
    preprocessing: &Dealt { fields: &[], arms: Arms::Apart },
};

/// The same, where arms that exclude one another draw the same triples, under masks.
pub static MASKED: Additive = Additive {
    spec: spec("model-masked"),
    capabilities: BITS.capabilities,
    fields: &[],
    preprocessing: &Dealt { fields: &[], arms: Arms::Shared },
};

/// The same, where programs with branches are circuits whose inactive wires are zero.
pub static ZEROED: Additive = Additive {
    spec: spec("model-zeroed"),
    capabilities: BITS.capabilities,
    fields: &[],
    preprocessing: &Dealt { fields: &[], arms: Arms::Zeroed },
};

const PRIMES: Capabilities = Capabilities::masked_opening(Field::Fp128)
    .with_openings()
    .with(Feature::Fp61)
    .with(Feature::Keep)
    .with(Feature::Guard);

/// In the order of keys.
static PRIME_FIELDS: [Domain; 2] = [Domain::Modular(Modulus::Mersenne61), Domain::Modular(Modulus::Prime128)];

const fn spec(name: &'static str) -> ProtocolSpec {
    ProtocolSpec {
        name,
        parties: 2..=16,
        corruptions: Threshold::AllButOne,
        security: Security::SemiHonest,
        source: "Beaver 1991",
    }
}

/// What a dealer gives, who draws keys for values in `fields`.
#[derive(Debug)]
struct Dealt {
    fields: &'static [Domain],
    arms: Arms,
}

impl Preprocessing for Dealt {
    fn live(&self, session: &mut Session) -> Result<Box<dyn Supply>, Error> {
        Ok(Box::new(Dealer::meet(session, self.fields)?))
    }

    /// Receipts of seeds before all else.
    fn price(&self, _: &Demand, parties: usize) -> Checks {
        let mut checks = Checks::default();
        let receipt = |from| Flow { from, to: FIRST, bits: 8 * SEED_BYTES as u64 };
        let others = (0..parties).filter(|&party| party != FIRST);
        checks.round(Phase::Offline, others.map(receipt).collect());
        checks
    }

    fn arms(&self) -> Arms {
        self.arms
    }

    /// Of two parties as of the protocol that ships, and of more at full length.
    fn mask_seeds(&self, parties: usize) -> usize {
        usize::from(parties == 2)
    }

    fn stocked(&self) -> &'static [Domain] {
        self.fields
    }
}
