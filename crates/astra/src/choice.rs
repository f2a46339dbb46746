//! What users choose of this family: what is promised, the role assignment, and how numbers are compared.

use crate::seats::{self, Seats};
use tacit_engine::Security;

/// The name of the parameter that says how numbers are compared.
const COMPARISON: &str = "comparison";

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

    /// All protocols with all values.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let each = [Security::SemiHonest, Security::MaliciousAbort, Security::Fair].map(Self::usual);
        let compared = each.into_iter().flat_map(|usual| [usual, usual.garbled()]);
        compared.flat_map(|choice| Seats::ALL.map(|seats| Self { seats, ..choice }))
    }

    /// Whether products, and what else could go wrong unseen, are checked.
    pub(crate) fn is_verified(self) -> bool {
        self.security != Security::SemiHonest
    }

    /// All parameters, each with its values.
    pub(crate) const OFFERED: &[(&str, &[&str])] =
        &[(seats::PARAMETER, &Seats::NAMES), (COMPARISON, &[PREFIX, GARBLED])];

    /// The same with another value of a parameter; `None` if there is none of this name.
    pub(crate) fn with(mut self, parameter: &str, value: &str) -> Option<Self> {
        match (parameter, value) {
            (seats::PARAMETER, value) => self.seats = Seats::named(value)?,
            (COMPARISON, PREFIX) => self.comparison = Comparison::Prefix,
            (COMPARISON, GARBLED) => self.comparison = Comparison::Garbled,
            _ => return None,
        }
        Some(self)
    }

    /// The values of the parameters as text, without what is as usual.
    pub(crate) fn text(self) -> String {
        let comparison = match self.comparison {
            Comparison::Prefix => None,
            Comparison::Garbled => Some(format!("{COMPARISON}={GARBLED}")),
        };
        self.seats.parameter().into_iter().chain(comparison).collect::<Vec<_>>().join(" ")
    }
}
