//! What users choose of these protocols: the role assignment, and how numbers are compared.

use crate::seats::{self, Seats};

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

/// The values of all parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) seats: Seats,
    pub(crate) comparison: Comparison,
}

impl Choice {
    /// The usual values: the parties are `P_0`, `P_1` and `P_2` in their order.
    pub(crate) const DEFAULT: Self = Self { seats: Seats::IN_ORDER, comparison: Comparison::Prefix };

    /// These, but comparisons are garbled.
    pub(crate) const GARBLED: Self = Self { comparison: Comparison::Garbled, ..Self::DEFAULT };

    pub(crate) const ALL: [Self; 12] = {
        let mut all = [Self::DEFAULT; 12];
        let mut at = 0;
        while at < all.len() {
            let comparison = if at < Seats::ALL.len() { Comparison::Prefix } else { Comparison::Garbled };
            all[at] = Self { seats: Seats::ALL[at % Seats::ALL.len()], comparison };
            at += 1;
        }
        all
    };

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

    /// As text, without what is as usual.
    pub(crate) fn text(self) -> String {
        let comparison = match self.comparison {
            Comparison::Prefix => None,
            Comparison::Garbled => Some(format!("{COMPARISON}={GARBLED}")),
        };
        self.seats.parameter().into_iter().chain(comparison).collect::<Vec<_>>().join(" ")
    }
}
