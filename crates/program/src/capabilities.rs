//! What a protocol offers to plans: a set that each protocol states.
//!
//! Lowering starts from the set and asks for nothing else; what is missing is refused at the user's line.

use std::fmt;

use crate::domain::Domain;
use crate::modulus::Modulus;

/// Something that a plan can need of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Feature {
    /// Registers of bits, with XOR and complement.
    Bits,
    /// Registers of integers modulo powers of two up to 2^64, with sums.
    Rings,
    /// Registers of the field of 2^61 - 1 elements, with sums.
    Fp61,
    /// Registers of the field of 2^128 - 159 elements, with sums.
    Fp128,
    /// Registers of the field GF(2^128), with sums.
    Gf128,
    /// [`OpKind::And`](crate::plan::OpKind::And).
    And,
    /// [`OpKind::Circuit`](crate::plan::OpKind::Circuit).
    Circuit,
    /// [`OpKind::Mul`](crate::plan::OpKind::Mul).
    Mul,
    /// [`OpKind::MatMul`](crate::plan::OpKind::MatMul).
    MatMul,
    /// [`OpKind::Split`](crate::plan::OpKind::Split).
    Split,
    /// [`OpKind::Inject`](crate::plan::OpKind::Inject).
    Inject,
    /// [`OpKind::Shift`](crate::plan::OpKind::Shift).
    Shift,
    /// [`OpKind::Msb`](crate::plan::OpKind::Msb).
    Msb,
    /// [`Operand::Component`](crate::plan::Operand::Component).
    ComponentOperands,
    /// [`Local::BitComponent`](crate::plan::Local::BitComponent) and
    /// [`Local::ShiftComponents`](crate::plan::Local::ShiftComponents).
    ComponentSteps,
    /// [`OpKind::Random`](crate::plan::OpKind::Random).
    Random,
    /// [`OpKind::Open`](crate::plan::OpKind::Open), masked.
    MaskedOpening,
    /// [`OpKind::Open`](crate::plan::OpKind::Open), after all that the value depends on is checked.
    VerifiedOpening,
    /// Values that all parties hold before the run ([`crate::plan::PublicInput`]).
    PublicInputs,
    /// Local steps that read public registers.
    PublicSteps,
    /// [`Local::Gather`](crate::plan::Local::Gather).
    Gather,
    /// Operations in regions ([`crate::plan::Region`]).
    Branches,
    /// Arms that draw from the same supplies, under masks ([`crate::plan::Swap`]).
    MaskedArms,
    /// [`OpKind::Shuffle`](crate::plan::OpKind::Shuffle).
    Shuffle,
    /// Values that stay from one run to the next ([`crate::plan::KeepOp`]).
    Keep,
    /// Programs with branches as one circuit on one instance, in which all wires of inactive arms are zero
    /// ([`tacit_circuit::motif`]); its layers have products of a bit with a vector ([`tacit_circuit::Layer::scalings`]).
    ZeroedArms,
    /// Registers of integers modulo powers of two above 2^64, with sums.
    WideRings,
    /// [`Local::Insertion`](crate::plan::Local::Insertion).
    Insertion,
    /// [`OpKind::PairMask`](crate::plan::OpKind::PairMask) and [`OpKind::Compose`](crate::plan::OpKind::Compose), for
    /// rings up to 2^64.
    ///
    /// # Security
    /// It trusts those who know a mask.
    Compose,
    /// An output that is opened before all others, and before anything is kept ([`crate::plan::Plan::guard`]).
    Guard,
}

impl Feature {
    const ALL: [Self; 30] = [
        Self::Bits,
        Self::Rings,
        Self::Fp61,
        Self::Fp128,
        Self::Gf128,
        Self::And,
        Self::Circuit,
        Self::Mul,
        Self::MatMul,
        Self::Split,
        Self::Inject,
        Self::Shift,
        Self::Msb,
        Self::ComponentOperands,
        Self::ComponentSteps,
        Self::Random,
        Self::MaskedOpening,
        Self::VerifiedOpening,
        Self::PublicInputs,
        Self::PublicSteps,
        Self::Gather,
        Self::Branches,
        Self::MaskedArms,
        Self::Shuffle,
        Self::Keep,
        Self::ZeroedArms,
        Self::WideRings,
        Self::Insertion,
        Self::Compose,
        Self::Guard,
    ];

    /// In words, as what a protocol lacks.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Bits => "bits",
            Self::Rings => "arithmetic modulo powers of two",
            Self::WideRings => "arithmetic modulo powers of two above 2^64",
            Self::Fp61 => "arithmetic modulo 2^61-1",
            Self::Fp128 => "arithmetic modulo 2^128-159",
            Self::Gf128 => "arithmetic in GF(2^128)",
            Self::And => "ANDs of bits",
            Self::Circuit => "circuits on bits",
            Self::Mul => "products",
            Self::MatMul => "matrix products",
            Self::Split | Self::Inject | Self::Shift => "conversion by two additive components",
            Self::Msb => "MSB extraction",
            Self::ComponentOperands | Self::ComponentSteps => "conversion by additive components",
            Self::Random => "random elements",
            Self::MaskedOpening => "masked openings",
            Self::VerifiedOpening => "openings in the middle of a run",
            Self::PublicInputs => "public inputs",
            Self::PublicSteps => "steps on values that were opened",
            Self::Gather => "access at places that were opened",
            Self::Branches => "branches",
            Self::MaskedArms => "branches that share supplies",
            Self::Shuffle => "shuffles in an order that nobody knows",
            Self::Keep => "values that stay from one run to the next",
            Self::ZeroedArms => "arms of zeros",
            Self::Insertion => "sorting by opened comparisons",
            Self::Compose => "numbers from all of their bits at once",
            Self::Guard => "outputs before others",
        }
    }
}

/// A set of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features(u32);

impl Features {
    /// None.
    pub const NONE: Self = Self(0);

    /// These.
    pub const fn of(features: &[Feature]) -> Self {
        let mut set = Self::NONE;
        let mut at = 0;
        while at < features.len() {
            set = set.with(features[at]);
            at += 1;
        }
        set
    }

    /// These and one more.
    #[must_use]
    pub const fn with(self, feature: Feature) -> Self {
        Self(self.0 | 1 << feature as u8)
    }

    /// These and others.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These but one.
    #[must_use]
    pub const fn without(self, feature: Feature) -> Self {
        Self(self.0 & !(1 << feature as u8))
    }

    /// Whether one is among them.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 >> feature as u8 & 1 == 1
    }

    /// Those of `self` that `other` hasn't.
    pub fn missing_in(self, other: Self) -> impl Iterator<Item = Feature> {
        Feature::ALL.into_iter().filter(move |&feature| self.has(feature) && !other.has(feature))
    }
}

/// A field of prime order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Of 2^61 - 1 elements.
    Fp61,
    /// Of 2^128 - 159 elements.
    Fp128,
}

impl Field {
    /// How many elements it has.
    pub const fn modulus(self) -> Modulus {
        match self {
            Self::Fp61 => Modulus::Mersenne61,
            Self::Fp128 => Modulus::Prime128,
        }
    }

    /// Registers of its elements.
    pub const fn domain(self) -> Domain {
        Domain::Modular(self.modulus())
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.modulus().fmt(f)
    }
}

/// The way from numbers to bits and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Numbers {
    /// No way: what needs one is refused.
    ElementsAlone,
    /// By two additive components, of which single parties know one each:
    /// [`OpKind::Split`](crate::plan::OpKind::Split), [`OpKind::Inject`](crate::plan::OpKind::Inject),
    /// [`OpKind::Shift`](crate::plan::OpKind::Shift), and [`Operand::Component`](crate::plan::Operand::Component) of
    /// the second.
    ///
    /// # Security
    /// It trusts the party that knows the first component.
    TwoComponents,
    /// By three additive components, each of which its holders share without a message:
    /// [`Operand::Component`](crate::plan::Operand::Component) of each,
    /// [`Local::BitComponent`](crate::plan::Local::BitComponent) and
    /// [`Local::ShiftComponents`](crate::plan::Local::ShiftComponents), and for the rest ANDs and products.
    ThreeComponents,
    /// By masked openings in a field, where bools are the elements 0 and 1:
    /// [`OpKind::Random`](crate::plan::OpKind::Random) bits, products, [`OpKind::Open`](crate::plan::OpKind::Open)
    /// and steps on what was opened.
    ///
    /// # Security
    /// Openings hide numbers that are in their ranges and no others, so they come after a check of all that they depend on.
    /// The statistical distance is 2^-40 for each element opened: for a run 2^-40 times the elements opened, in all lanes,
    /// whose number nothing limits. A protocol whose owners of inputs may deviate has to see to it that inputs are in the
    /// ranges that the program declares.
    MaskedOpening(Field),
    /// There are bits alone. A number is its bits, and what is done with it a circuit.
    BitsAlone,
}

impl Numbers {
    /// The field of which bools and numbers are elements; `None` where bools are bits, and numbers elements of rings or bits.
    pub(crate) const fn field(self) -> Option<Field> {
        match self {
            Self::MaskedOpening(field) => Some(field),
            Self::ElementsAlone | Self::TwoComponents | Self::ThreeComponents | Self::BitsAlone => None,
        }
    }

    /// Whether numbers are bits.
    pub(crate) const fn are_bits(self) -> bool {
        matches!(self, Self::BitsAlone)
    }
}

/// What plans for a protocol may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Capabilities {
    /// Domains, operations and steps.
    pub features: Features,
    /// How numbers become bits, and bits numbers.
    pub numbers: Numbers,
    /// Of how many orders, one after another, a shuffle is made, so that every coalition lacks one
    /// ([`OpKind::Shuffle`](crate::plan::OpKind::Shuffle)); 0 for a protocol that has none.
    pub shuffle_turns: u8,
    /// ANDs that the partial products of one product may take, where numbers are bits.
    pub product_ands: u64,
    /// Whether an input of which a number is outside its range is taken as the least number in it, in plans in which
    /// a result would depend on how such a number is split: for protocols in which owners deviate.
    pub holds_ranges: bool,
    /// What the protocol sends, if a program that can't be lowered so, or sends more than with numbers as bits
    /// ([`Numbers::BitsAlone`]), is lowered with these. What is kept is never bits for that.
    pub or_bits: Option<Traffic>,
    /// What proofs cost where parties may deviate and prove what they computed: ANDs, shuffles, all that an opening rests on.
    pub proofs: Option<ProofCosts>,
    /// Whether nobody sends a part of a product that is zero by the plan ([`Op::parts`](crate::plan::Op::parts)): then the parties
    /// take turns at what single ones send.
    pub silent_parts: bool,
}

/// What all parties together send, roughly, to choose between ways that a protocol has beside one another. What proofs and
/// checks take is left out: it hardly grows with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Traffic {
    /// How many times an input, or an output.
    pub ends: u64,
    /// Bits of an AND.
    pub and: u64,
    /// Elements of each part of a product that isn't zero by the plan ([`Op::parts`](crate::plan::Op::parts)).
    pub part: u64,
}

/// What proofs cost and forbid, for sorts by opened comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProofCosts {
    /// Rounds of the proofs that come before an opening.
    pub rounds: u64,
    /// From so many comparisons at once on, proofs of ANDs take as long as rounds that a flatter circuit would save.
    pub many: usize,
    /// The most elements of a column whose shuffle can be proved. They are numbers, not bits.
    pub shuffled: usize,
}

/// What sharings in rings and of bits have whatever their conversions.
const RINGS: Features = Features::of(&[
    Feature::Bits,
    Feature::Rings,
    Feature::WideRings,
    Feature::Fp61,
    Feature::Fp128,
    Feature::And,
    Feature::Circuit,
    Feature::Mul,
    Feature::MatMul,
    Feature::ComponentOperands,
]);

impl Capabilities {
    /// Bits, all rings and fields, and conversions by two additive components.
    pub const TWO_COMPONENTS: Self = Self {
        features: RINGS.with(Feature::Split).with(Feature::Inject).with(Feature::Shift),
        numbers: Numbers::TwoComponents,
        shuffle_turns: 0,
        product_ands: u64::MAX,
        holds_ranges: false,
        or_bits: None,
        proofs: None,
        silent_parts: false,
    };

    /// Bits, all rings and fields, and conversions by three additive components: no other operations than ANDs,
    /// circuits and products.
    pub const THREE_COMPONENTS: Self = Self {
        features: RINGS.with(Feature::ComponentSteps),
        numbers: Numbers::ThreeComponents,
        shuffle_turns: 0,
        product_ands: u64::MAX,
        holds_ranges: false,
        or_bits: None,
        proofs: None,
        silent_parts: false,
    };

    /// Bits alone.
    pub const BITS: Self = Self {
        features: Features::of(&[Feature::Bits, Feature::And, Feature::Circuit]),
        numbers: Numbers::BitsAlone,
        shuffle_turns: 0,
        product_ands: u64::MAX,
        holds_ranges: false,
        or_bits: None,
        proofs: None,
        silent_parts: false,
    };

    /// A field, with conversions by masked openings. Of the secrecy of a run see [`Numbers::MaskedOpening`].
    pub const fn masked_opening(field: Field) -> Self {
        let features = Features::of(&[
            Feature::Mul,
            Feature::MatMul,
            Feature::Random,
            Feature::MaskedOpening,
            Feature::VerifiedOpening,
            Feature::PublicSteps,
        ]);
        let domain = of_domain(field.domain());
        let numbers = Numbers::MaskedOpening(field);
        Self {
            features: features.with(domain),
            numbers,
            shuffle_turns: 0,
            product_ands: u64::MAX,
            holds_ranges: false,
            or_bits: None,
            proofs: None,
            silent_parts: false,
        }
    }

    /// These and one feature more.
    #[must_use]
    pub const fn with(self, feature: Feature) -> Self {
        Self { features: self.features.with(feature), ..self }
    }

    /// These, with random numbers, openings of both sorts, and all that can be done with what is opened or known before.
    #[must_use]
    pub const fn with_openings(self) -> Self {
        self.with(Feature::Random)
            .with(Feature::MaskedOpening)
            .with(Feature::VerifiedOpening)
            .with(Feature::PublicInputs)
            .with(Feature::PublicSteps)
            .with(Feature::Gather)
    }

    /// These but one feature.
    #[must_use]
    pub const fn without(self, feature: Feature) -> Self {
        Self { features: self.features.without(feature), ..self }
    }

    /// These; and inputs of which a number is outside its range are taken as the least number in it, where that matters.
    #[must_use]
    pub const fn holding_ranges(self) -> Self {
        Self { holds_ranges: true, ..self }
    }

    /// These; and for a program for which they don't do, or which is cheaper so by what is sent, numbers are bits.
    #[must_use]
    pub const fn or_bits(self, traffic: Traffic) -> Self {
        Self { or_bits: Some(traffic), ..self }
    }

    /// These, with proofs of what is computed.
    #[must_use]
    pub const fn with_proofs(self, proofs: ProofCosts) -> Self {
        Self { proofs: Some(proofs), ..self }
    }

    /// These, where nobody sends a part of a product that is zero by the plan.
    #[must_use]
    pub const fn with_silent_parts(self) -> Self {
        Self { silent_parts: true, ..self }
    }

    /// These, with what sorting by opened comparisons takes beside shuffles.
    #[must_use]
    pub const fn with_sorts(self) -> Self {
        self.with(Feature::VerifiedOpening)
            .with(Feature::PublicSteps)
            .with(Feature::Gather)
            .with(Feature::Insertion)
    }

    /// Whether rows can be shuffled and then sorted by opened comparisons of their bits. Their numbers are public
    /// ones of 32 bits.
    pub const fn sorts(&self) -> bool {
        let needed = Self::BITS.with(Feature::Rings).with_shuffle(1).with_sorts().features;
        !matches!(self.numbers, Numbers::ElementsAlone | Numbers::MaskedOpening(_))
            && self.features.0 & needed.0 == needed.0
    }

    /// These and shuffles, each made of so many orders.
    #[must_use]
    pub const fn with_shuffle(self, turns: u8) -> Self {
        Self { features: self.features.with(Feature::Shuffle), shuffle_turns: turns, ..self }
    }

    /// These, where one product may take so many ANDs.
    #[must_use]
    pub const fn with_product_ands(self, product_ands: u64) -> Self {
        Self { product_ands, ..self }
    }

    /// Whether plans may ask for a feature.
    pub const fn offers(&self, feature: Feature) -> bool {
        self.features.has(feature)
    }
}

/// What registers of a domain need.
pub(crate) const fn of_domain(domain: Domain) -> Feature {
    match domain {
        Domain::Bits => Feature::Bits,
        Domain::Modular(Modulus::PowerOfTwo(65..)) => Feature::WideRings,
        Domain::Ring(_) | Domain::Modular(Modulus::PowerOfTwo(_)) => Feature::Rings,
        Domain::Modular(Modulus::Mersenne61) => Feature::Fp61,
        Domain::Modular(Modulus::Prime128) => Feature::Fp128,
        Domain::Modular(Modulus::Gf128) => Feature::Gf128,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_into_it() {
        for (place, feature) in Feature::ALL.into_iter().enumerate() {
            assert_eq!(place, feature as usize);
            let set = Features::NONE.with(feature);
            assert!(Feature::ALL.into_iter().all(|other| set.has(other) == (other == feature)));
            assert_eq!(set.without(feature), Features::NONE);
            assert!(set.missing_in(Features::NONE).eq([feature]));
            assert_eq!(set.missing_in(set).count(), 0);
        }
    }
}
