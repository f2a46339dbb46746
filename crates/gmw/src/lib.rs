//! The protocol `gmw`: Boolean circuits for two to twelve parties, all but one of whom may put together what they see, and
//! nobody deviates.
//!
//! It puts together two crates that don't know one another: the online phase on additive shares ([`tacit_additive`]), of bits
//! and without MACs, and oblivious transfers ([`tacit_ot`]), from which triples are made. The page
//! `docs/protocols/gmw.md` has both.
//!
//! There are bits alone. Numbers are their bits, and what is done with them is a circuit.

mod cost;
mod exchange;
mod masks;
mod pairs;
mod planted;
mod products;
pub mod step;
mod strings;
mod supply;
mod transfers;
mod triples;

use supply::{Live, MaskGen};
use tacit_additive::{Additive, Preprocessing};
use tacit_engine::supply::{Arms, Demand, Supply};
use tacit_engine::{Auto, Checks, Error, Parameter, ProtocolSpec, Security, Threshold};
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
        .with(Feature::Guard)
        .with_product_ands(PRODUCT_ANDS),
    fields: &[],
    preprocessing: &ALL[0][0],
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

/// The parameter that says what a branch takes.
const BRANCHING: Parameter = Parameter {
    name: "branching",
    about: "what arms of a branch draw: masked, the same triples under masks; masked-vectors, the same, and no masks \
            of seeds; standard, triples of their own; motif, for comparison and of bools alone, those of the arm with most ANDs \
            in each layer",
    values: &["masked", "masked-vectors", "standard", "motif"],
    auto: Auto::Never,
};

/// Preprocessing with trees of each height, in the order of the parameter's values, for each way to take branches.
static ALL: [[Transferred; 8]; 4] = [
    by_height(Arms::Shared, MaskGen::Seeds),
    by_height(Arms::Shared, MaskGen::Vectors),
    by_height(Arms::Apart, MaskGen::Seeds),
    by_height(Arms::Zeroed, MaskGen::Seeds),
];

const fn by_height(arms: Arms, mask_gen: MaskGen) -> [Transferred; 8] {
    [
        Transferred::new(4, arms, mask_gen),
        Transferred::new(1, arms, mask_gen),
        Transferred::new(2, arms, mask_gen),
        Transferred::new(3, arms, mask_gen),
        Transferred::new(5, arms, mask_gen),
        Transferred::new(6, arms, mask_gen),
        Transferred::new(7, arms, mask_gen),
        Transferred::new(8, arms, mask_gen),
    ]
}

/// Preprocessing by oblivious transfers, of which nobody checks any.
#[derive(Debug)]
struct Transferred {
    params: Params,
    arms: Arms,
    mask_gen: MaskGen,
}

impl Transferred {
    const fn new(height: usize, arms: Arms, mask_gen: MaskGen) -> Self {
        match Params::new(height, tacit_ot::Security::SemiHonest) {
            Some(params) => Self { params, arms, mask_gen },
            None => panic!("there are trees of this height"),
        }
    }

    /// Where it stands among all.
    fn place(&self) -> [usize; 2] {
        let height = self.params.height().to_string();
        let place = OT_HEIGHT.values.iter().position(|value| **value == height);
        let way = match (self.arms, self.mask_gen) {
            (Arms::Shared, MaskGen::Seeds) => 0,
            (Arms::Shared, MaskGen::Vectors) => 1,
            (Arms::Apart, _) => 2,
            (Arms::Zeroed, _) => 3,
        };
        [way, place.unwrap_or_default()]
    }
}

impl Preprocessing for Transferred {
    /// Nothing is sent before a plan draws something.
    fn live(&self, _: &mut Session) -> Result<Box<dyn Supply>, Error> {
        Ok(Box::new(Live::new(self.params, self.mask_gen)))
    }

    fn setup(&self, demand: &Demand, parties: usize) -> Checks {
        cost::setup(&self.params, demand, parties)
    }

    fn price(&self, demand: &Demand, parties: usize) -> Checks {
        cost::offline(&self.params, demand, parties, self.mask_seeds(parties))
    }

    fn stocked(&self) -> &'static [Domain] {
        &[Domain::Bits]
    }

    /// Masks are seeds or come at full length; triples are the same whatever they are made of, and whatever draws them.
    fn material_values(&self) -> Option<String> {
        Some(match self.mask_gen {
            MaskGen::Seeds => String::new(),
            MaskGen::Vectors => format!("branching={}", self.value("branching")),
        })
    }

    fn parameters(&self) -> &'static [Parameter] {
        &[OT_HEIGHT, BRANCHING]
    }

    fn arms(&self) -> Arms {
        self.arms
    }

    fn mask_seeds(&self, parties: usize) -> usize {
        self.mask_gen.seeds(parties)
    }

    fn value(&self, parameter: &str) -> &'static str {
        let [way, height] = self.place();
        match parameter {
            "ot-height" => OT_HEIGHT.values[height],
            "branching" => BRANCHING.values[way],
            _ => "",
        }
    }

    fn with_parameter(&self, parameter: &str, value: &str) -> Option<&'static dyn Preprocessing> {
        let place = |known: &Parameter| known.values.iter().position(|known| *known == value);
        let [way, height] = self.place();
        let other = match parameter {
            "ot-height" => &ALL[way][place(&OT_HEIGHT)?],
            "branching" => &ALL[place(&BRANCHING)?][height],
            _ => return None,
        };
        Some(other)
    }
}
