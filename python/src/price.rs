//! What a run takes, before it runs.

use std::sync::Arc;

use pyo3::prelude::*;
use tacit::advanced::engine::Participants;
use tacit::advanced::net::{Profile, Shape};
use tacit::program::{Cost, Itemised, Source};
use tacit::{Compiled, Error, Local, Making, select_default, select_for};

use crate::errors;

/// The exact cost of a run: payload bytes and rounds.
#[pyclass(frozen, module = "tacit._native")]
pub(crate) struct Price {
    breakdown: Itemised,
    /// Names of the endpoints: the parties, then the clients.
    #[pyo3(get)]
    endpoints: Vec<String>,
    /// The user's line of each node that costs anything, in the breakdown's order.
    sources: Vec<Source>,
    /// An estimate of the seconds that the network takes.
    #[pyo3(get)]
    seconds: f64,
    /// How numbers are compared, if that was left to the network.
    #[pyo3(get)]
    comparison: Option<&'static str>,
    /// What arms of branches take, if there are any.
    #[pyo3(get)]
    branches: Option<&'static str>,
}

/// Payload bytes from a sender to a receiver, by their places among the endpoints.
type Link = (usize, usize, u64);
/// File, line, expression; payload bytes on all links, rounds with a part in them; ANDs, if nothing else takes messages.
type Line = (String, u32, String, u64, u64, u64);

impl Price {
    /// The price on a network. What the protocol leaves to it is picked for it if it was given, and else as
    /// [`Local`] has it.
    pub(crate) fn new(
        compiled: &Arc<Compiled>,
        protocol: &str,
        parties: Option<Vec<String>>,
        window: Option<usize>,
        net: &str,
        given: bool,
    ) -> Result<Self, Error> {
        let mut endpoints = match parties {
            Some(parties) => parties,
            None => Local::new(protocol)?.parties,
        };
        let mut compiled = compiled.clone();
        if let Some(bytes) = window {
            compiled = compiled.with_window(bytes);
        }
        let net = Profile::uniform(shape(net)?);
        let selection = if given {
            select_for(&compiled, protocol, &endpoints, &net, Making::InRun)?
        } else {
            select_default(protocol)?
        };
        let breakdown = tacit::price(&compiled, &selection.protocol, &endpoints)?;
        let clients = Participants::clients_of(compiled.plan(), &endpoints);
        endpoints.extend(clients);
        let sources =
            breakdown.nodes.keys().map(|&node| compiled.source(node).cloned().unwrap_or_default()).collect();
        let seconds = breakdown.total.network_seconds(&net, &endpoints);
        let comparison = selection.comparison.map(|comparison| comparison.picked);
        let branches = tacit::branches_in_words(&compiled, &selection.protocol)?;
        Ok(Self { breakdown, endpoints, sources, seconds, comparison, branches })
    }
}

/// A network's round trip in seconds and its bits per second.
#[pyfunction]
pub(crate) fn network(py: Python<'_>, net: &str) -> PyResult<(f64, f64)> {
    let Shape { rtt, bandwidth } = shape(net).map_err(|error| errors::run(py, &error))?;
    Ok((rtt.as_secs_f64(), bandwidth as f64))
}

fn shape(net: &str) -> Result<Shape, Error> {
    net.parse::<Shape>().map_err(|error| Error::Refused(error.to_string()))
}

#[pymethods]
impl Price {
    /// Each phase that costs anything: its name, its rounds, and what each link carries.
    fn phases(&self) -> Vec<(&'static str, u64, Vec<Link>)> {
        let links = |cost: &tacit::program::PhaseCost| {
            cost.links.iter().map(|link| (link.from, link.to, link.bytes)).collect()
        };
        self.breakdown.total.phases().map(|(phase, cost)| (phase.name(), cost.rounds, links(cost))).collect()
    }

    /// What belongs to no operation but to all of them: payload bytes on all links, and rounds.
    fn shared(&self) -> (u64, u64) {
        (self.breakdown.shared.bytes(), self.breakdown.shared.rounds())
    }

    /// What each operation of the program costs.
    fn lines(&self) -> Vec<Line> {
        let costs = self.breakdown.nodes.iter().zip(&self.sources);
        let line = |((node, cost), at): ((&u32, &Cost), &Source)| {
            let ands = self.breakdown.ands.get(node).copied().unwrap_or_default();
            (at.file.clone(), at.line, at.text.clone(), cost.bytes(), cost.rounds(), ands)
        };
        costs.map(line).collect()
    }

    /// Random oblivious transfers from each party to each other one, if triples are made of nothing else.
    fn transfers(&self) -> u64 {
        self.breakdown.transfers
    }
}
