//! What users choose of this family: what is promised, the role assignment, and how numbers are compared.

use crate::seats::Seats;
use tacit_engine::{Auto, Parameter, Security};

/// Who plays what: of `201` the third party plays `P_0`, and the first `P_1`.
const ROLES: Parameter = Parameter {
    name: "roles",
    about: "Which parties play roles 0, 1 and 2: 201 gives role 0 to the third party and role 1 to the first. In a deployment \
            auto if nothing is said",
    values: &Seats::NAMES,
    auto: Auto::UnlessSaid,
};

/// How numbers are compared.
const COMPARISON: Parameter = Parameter {
    name: "comparison",
    about: "How numbers are compared: prefix takes few bits and a round for each layer, garbled two rounds and kilobytes",
    values: &[PREFIX, GARBLED],
    auto: Auto::IfSaid,
};

/// Its values.
const PREFIX: &str = "prefix";
const GARBLED: &str = "garbled";

/// How MSB extraction is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// By a circuit on the bits of its additive components: few bits, a round for each layer.
    Prefix,
    /// By a garbled circuit: two rounds, kilobytes.
    Garbled,
}

/// A protocol of the family, with the values of all its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    /// What is promised if a party deviates.
    pub(crate) security: Security,
    pub(crate) seats: Seats,
    pub(crate) comparison: Comparison,
}

impl Choice {
    /// With the usual values of the parameters.
    pub(crate) const fn usual(security: Security) -> Self {
        Self { security, seats: Seats::IN_ORDER, comparison: Comparison::Prefix }
    }

    /// The same, but comparisons are garbled.
    pub(crate) const fn garbled(self) -> Self {
        Self { comparison: Comparison::Garbled, ..self }
    }

    /// All parameters.
    pub(crate) const OFFERED: &[Parameter] = &[ROLES, COMPARISON];

    /// Whether products, and what else could go wrong unseen, are checked.
    pub(crate) fn is_verified(self) -> bool {
        self.security != Security::SemiHonest
    }

    /// The same with another value of a parameter; `None` if there is none of this name.
    pub(crate) fn with(mut self, parameter: &str, value: &str) -> Option<Self> {
        match (parameter, value) {
            ("roles", value) => self.seats = Seats::named(value)?,
            ("comparison", PREFIX) => self.comparison = Comparison::Prefix,
            ("comparison", GARBLED) => self.comparison = Comparison::Garbled,
            _ => return None,
        }
        Some(self)
    }

    /// The value of a parameter.
    pub(crate) fn value(self, parameter: &str) -> &'static str {
        match (parameter, self.comparison) {
            ("roles", _) => self.seats.name(),
            (_, Comparison::Prefix) => PREFIX,
            (_, Comparison::Garbled) => GARBLED,
        }
    }
}
