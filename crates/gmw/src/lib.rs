//! The protocol `gmw`: Boolean circuits for two to twelve parties, all but one of whom may put together what they see, and
//! nobody deviates.
//!
//! It puts together two crates that don't know one another: the online phase on additive shares ([`tacit_additive`]), of bits
//! and without MACs, and oblivious transfers ([`tacit_ot`]), from which triples are made. The page
//! `docs/protocols/gmw.md` has both.
//!
//! There are bits alone. Numbers are their bits, and what is done with them is a circuit.

mod cost;
mod step;
mod supply;
mod transfers;
mod triples;

use supply::Live;
use tacit_additive::{Additive, Preprocessing};
use tacit_engine::supply::{Demand, Supply};
use tacit_engine::{Auto, Checks, Error, Parameter, ProtocolSpec, Security, Threshold};
use tacit_net::Phase;
use tacit_ot::Params;
use tacit_program::plan::Domain;
use tacit_program::{Capabilities, Feature};
use tacit_session::Session;

/// The protocol `gmw`.
pub static GMW: Additive = Additive {
    spec: ProtocolSpec {
        name: "gmw",
        parties: 2..=12,
        corruptions: Threshold::AllButOne,
        security: Security::SemiHonest,
        source: "Goldreich et al. 1987, Beaver 1991",
    },
    capabilities: Capabilities::BITS
        .with_openings()
        .with(Feature::Branches)
        .with(Feature::Keep)
        .with_product_ands(PRODUCT_ANDS),
    fields: &[],
    preprocessing: &BY_HEIGHT[0],
};

/// ANDs that the partial products of one product may take: whoever asks for more, 400 MB of triples, is likelier to want a
/// protocol with arithmetic.
const PRODUCT_ANDS: u64 = 1 << 30;

/// The parameter that says how high the trees of oblivious transfers are.
const OT_HEIGHT: Parameter = Parameter {
    name: "ot-height",
    about: "height of oblivious transfers' trees: a higher one sends less and computes more",
    values: &["4", "1", "2", "3", "5", "6", "7", "8"],
    auto: Auto::Never,
};

/// Oblivious transfers with trees of each height, in the order of the parameter's values.
static BY_HEIGHT: [Transferred; 8] = [
    Transferred::new(4),
    Transferred::new(1),
    Transferred::new(2),
    Transferred::new(3),
    Transferred::new(5),
    Transferred::new(6),
    Transferred::new(7),
    Transferred::new(8),
];

/// Preprocessing by oblivious transfers, of which nobody checks any.
#[derive(Debug)]
struct Transferred {
    params: Params,
}

impl Transferred {
    const fn new(height: usize) -> Self {
        match Params::new(height, tacit_ot::Security::SemiHonest) {
            Some(params) => Self { params },
            None => panic!("there are trees of this height"),
        }
    }
}

impl Preprocessing for Transferred {
    /// Base OTs.
    fn live(&self, session: &mut Session) -> Result<Box<dyn Supply>, Error> {
        session.mesh().set_phase(Phase::Offline);
        Ok(Box::new(Live::setup(session, self.params)?))
    }

    fn price(&self, demand: &Demand, parties: usize) -> Checks {
        cost::offline(&self.params, demand, parties)
    }

    fn stocked(&self) -> &'static [Domain] {
        &[Domain::Bits]
    }

    fn parameters(&self) -> &'static [Parameter] {
        &[OT_HEIGHT]
    }

    fn value(&self, parameter: &str) -> &'static str {
        let height = self.params.height().to_string();
        let known = OT_HEIGHT.values.iter().find(|value| parameter == OT_HEIGHT.name && **value == height);
        known.copied().unwrap_or_default()
    }

    fn with_parameter(&self, parameter: &str, value: &str) -> Option<&'static dyn Preprocessing> {
        let place =
            OT_HEIGHT.values.iter().position(|known| parameter == OT_HEIGHT.name && *known == value)?;
        Some(&BY_HEIGHT[place])
    }
}
