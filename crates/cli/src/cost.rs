//! `tacit cost`: what a program will send, before anything runs.

use crate::args::CostArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::net::CostNet;
use crate::plan::assumption;
use crate::table::{Table, bytes, seconds};
use crate::{program, run};
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;
use tacit::advanced::engine::Participants;
use tacit::advanced::net::Profile;
use tacit::advanced::net::setup::Config;
use tacit::program::{Cost, Itemised, Phase};
use tacit::{
    Compiled, Error, Local, Making, Selection, Stream, branches_in_words, describe_roles, price,
    price_offline, priced, select, select_default, select_for,
};

pub(crate) fn cost(context: &mut Context<'_>, args: &CostArgs) -> Result<(), Failure> {
    let mut compiled = Compiled::new(program::load(context, &args.program)?)?;
    let config = args.config.as_deref().map(|path| args.window.configuration(path)).transpose()?;
    let window = config.as_ref().map_or(args.window.bytes, Config::window);
    if let Some(bytes) = window {
        compiled = compiled.with_window(bytes);
    }
    let net = CostNet::load(args.net.as_deref())?;
    let mut offers = Offers::default();
    for name in args.protocol.given()?.map_or_else(|| priced(&compiled), |name| vec![name]) {
        let parties = parties(&name, config.as_ref())?;
        offers.add(&name, Breakdown::new(&compiled, name.clone(), parties, &net));
    }
    if !context.json {
        for (line, watched) in compiled.program().assumptions() {
            context.line(&assumption(line, watched))?;
        }
    }
    tell(context, &net, offers)
}

/// What something costs under each of some protocols.
#[derive(Default)]
pub(crate) struct Offers {
    breakdowns: Vec<Breakdown>,
    /// Protocols that can't run it, with the reason.
    refused: Vec<(String, Error)>,
}

impl Offers {
    pub(crate) fn add(&mut self, name: &str, breakdown: Result<Breakdown, Error>) {
        match breakdown {
            Ok(breakdown) => self.breakdowns.push(breakdown),
            Err(error) => {
                // Ways to compare that one protocol offers are refused for one reason.
                let reason = |name: &str, error: &Error| {
                    (name.split(' ').next().map(str::to_owned), error.to_string())
                };
                let known = |(other, known): &(String, Error)| reason(other, known) == reason(name, &error);
                if !self.refused.iter().any(known) {
                    self.refused.push((name.to_owned(), error));
                }
            }
        }
    }
}

/// The parties that a protocol is priced for: a deployment's, or else as many as it is for.
pub(crate) fn parties(protocol: &str, config: Option<&Config>) -> Result<Vec<String>, Failure> {
    match config {
        Some(config) => Ok(config.parties().iter().map(|party| party.name.clone()).collect()),
        None => Ok(Local::new(protocol)?.parties),
    }
}

/// Prints what something costs on a network under each protocol.
///
/// # Errors
/// If none can run it: why the first can't.
pub(crate) fn tell(context: &mut Context<'_>, net: &CostNet, offers: Offers) -> Result<(), Failure> {
    let Offers { breakdowns, mut refused } = offers;
    if breakdowns.is_empty() && !refused.is_empty() {
        return Err(refused.swap_remove(0).1.into());
    }
    if context.json {
        let all: Map<String, Json> = breakdowns
            .iter()
            .map(|breakdown| (breakdown.protocol.clone(), breakdown.to_json(&net.profile)))
            .collect();
        let refused: Map<String, Json> =
            refused.into_iter().map(|(name, reason)| (name, json!(reason.to_string()))).collect();
        let object = json!({"net": net.name, "protocols": all, "refused": refused});
        return context.line(&object.to_string());
    }
    for breakdown in breakdowns {
        context.line(&breakdown.to_text(net))?;
    }
    for (name, reason) in refused {
        context.line(&format!("\n{name} can't run it: {reason}"))?;
    }
    Ok(())
}

/// What belongs to no line, in words.
const SHARED: &str = "keys, checks and what they take, for all lines";

/// A line of the source.
struct Line {
    text: String,
    cost: Cost,
    /// ANDs, where there is nothing else that takes messages.
    ands: u64,
}

/// What a program costs under one protocol.
pub(crate) struct Breakdown {
    protocol: String,
    /// What was picked for the network.
    selection: Selection,
    /// Who plays the protocol's roles, if it has some, where no network was given to pick them for.
    players: Vec<String>,
    endpoints: Vec<String>,
    total: Cost,
    /// The same by line of the source, in the order in which the lines are first used; of a circuit there are none.
    lines: Vec<Line>,
    /// What belongs to all lines together, if there are any.
    shared: Option<Cost>,
    /// Random oblivious transfers from each party to each other one, if triples are made of them in the run.
    transfers: u64,
    /// What arms of branches take, if there are any.
    branches: Option<&'static str>,
}

impl Breakdown {
    fn new(
        compiled: &Arc<Compiled>,
        protocol: String,
        parties: Vec<String>,
        net: &CostNet,
    ) -> Result<Self, Error> {
        let selection = Self::selection(compiled, &protocol, &parties, net, Making::InRun)?;
        let Itemised { total, nodes, shared, ands, transfers } =
            price(compiled, &selection.protocol, &parties)?;
        let clients = Participants::clients_of(compiled.plan(), &parties);
        let mut lines: Vec<Line> = Vec::new();
        for (node, cost) in nodes {
            let line = compiled.source(node).map(ToString::to_string).filter(|line| !line.is_empty());
            let line = line.unwrap_or_else(|| "(no line is known)".to_owned());
            let ands = ands.get(&node).copied().unwrap_or_default();
            match lines.iter_mut().find(|known| known.text == line) {
                Some(known) => {
                    known.cost += &cost;
                    known.ands = known.ands.saturating_add(ands);
                }
                None => lines.push(Line { text: line, cost, ands }),
            }
        }
        let players = net.players(&selection, &parties)?;
        let branches = branches_in_words(compiled, &selection.protocol)?;
        let endpoints = [parties, clients].concat();
        let whole = Self::whole(protocol, selection, players, endpoints, total);
        Ok(Self { lines, shared: Some(shared), transfers, branches, ..whole })
    }

    /// What something costs of which no lines are known.
    const fn whole(
        protocol: String,
        selection: Selection,
        players: Vec<String>,
        endpoints: Vec<String>,
        total: Cost,
    ) -> Self {
        let lines = Vec::new();
        Self {
            protocol,
            selection,
            players,
            endpoints,
            total,
            lines,
            shared: None,
            transfers: 0,
            branches: None,
        }
    }

    /// What is picked: for the network if one is given, and else as a simulation has it.
    fn selection(
        compiled: &Arc<Compiled>,
        protocol: &str,
        parties: &[String],
        net: &CostNet,
        making: Making,
    ) -> Result<Selection, Error> {
        if net.given {
            return select_for(compiled, protocol, parties, &net.profile, making);
        }
        select_default(protocol)
    }

    /// What it costs to make material for so many runs.
    pub(crate) fn of_material(
        compiled: &Arc<Compiled>,
        protocol: String,
        parties: Vec<String>,
        net: &CostNet,
        count: u64,
    ) -> Result<Self, Error> {
        let selection = Self::selection(compiled, &protocol, &parties, net, Making::Offline)?;
        let total = price_offline(compiled, &selection.protocol, &parties, count)?;
        let players = net.players(&selection, &parties)?;
        Ok(Self::whole(protocol, selection, players, parties, total))
    }

    /// What all parts of a stream cost together.
    pub(crate) fn of_stream(
        stream: &Stream,
        protocol: String,
        parties: &[String],
        net: &CostNet,
    ) -> Result<Self, Error> {
        let endpoints = [parties, &stream.clients(parties)].concat();
        let selection = if net.given {
            let price = |name: &str| stream.price(name, parties, 1);
            select(&protocol, &endpoints, &net.profile, Making::InRun, price)?
        } else {
            select_default(&protocol)?
        };
        let total = stream.price(&selection.protocol, parties, 1)?;
        let players = net.players(&selection, parties)?;
        Ok(Self::whole(protocol, selection, players, endpoints, total))
    }

    fn to_json(&self, net: &Profile) -> Json {
        let total = &self.total;
        let phases: Map<String, Json> = total
            .phases()
            .map(|(phase, cost)| {
                let sent: Vec<u64> =
                    (0..self.endpoints.len()).map(|endpoint| cost.sent_by(endpoint)).collect();
                (phase.name().to_owned(), json!({"sent_bytes": sent, "rounds": cost.rounds}))
            })
            .collect();
        let lines: Vec<Json> = self
            .lines
            .iter()
            .map(|Line { text, cost, ands }| {
                let mut line = json!({"line": text, "sent_bytes": self.sent(cost), "rounds": cost.rounds()});
                if self.tells_ands() {
                    line["ands"] = json!(ands);
                }
                line
            })
            .collect();
        let mut object = json!({
            "endpoints": self.endpoints,
            "sent_bytes": self.sent(total),
            "rounds": total.rounds(),
            "network_seconds": self.seconds(net),
            "phases": phases,
            "lines": lines,
        });
        if let Some(shared) = &self.shared {
            object["shared"] = json!({"sent_bytes": self.sent(shared), "rounds": shared.rounds()});
        }
        if self.transfers > 0 {
            object["random_transfers"] = json!(self.transfers);
        }
        if let Some(branches) = self.branches {
            object["branches"] = json!(branches);
        }
        if let Some(seating) = &self.selection.roles {
            object["roles"] = run::roles(&seating.parties);
        } else if !self.players.is_empty() {
            object["roles"] = run::roles(&self.players);
        }
        if let Some(comparison) = &self.selection.comparison {
            object["comparison"] = run::comparison(comparison);
        }
        object
    }

    fn to_text(&self, net: &CostNet) -> String {
        let total = &self.total;
        let mut phases = Table::new(
            ["bytes sent in".to_owned()]
                .into_iter()
                .chain(self.endpoints.clone())
                .chain(["rounds".to_owned()]),
        );
        for (phase, cost) in total.phases() {
            let sent = (0..self.endpoints.len()).map(|endpoint| bytes(cost.sent_by(endpoint)));
            phases.row([phase.name().to_owned()].into_iter().chain(sent).chain([cost.rounds.to_string()]));
        }
        let sent = self.sent(total).into_iter().map(bytes);
        phases.row(["all phases".to_owned()].into_iter().chain(sent).chain([total.rounds().to_string()]));
        let mut lines = String::new();
        if !self.lines.is_empty() {
            let with_ands = |row: [String; 3], ands: &str| {
                let ands = self.tells_ands().then(|| ands.to_owned());
                row.into_iter().chain(ands)
            };
            let title = ["line", "bytes sent", "rounds"].map(str::to_owned);
            let mut table = Table::new(with_ands(title, "ANDs"));
            for Line { text, cost, ands } in &self.lines {
                let rounds = cost.phase(Phase::Online).rounds.to_string();
                table.row(with_ands([text.clone(), bytes(cost.bytes()), rounds], &bytes(*ands)));
            }
            if let Some(shared) = self.shared.as_ref().filter(|shared| shared.bytes() > 0) {
                let row = [SHARED.to_owned(), bytes(shared.bytes()), shared.rounds().to_string()];
                table.row(with_ands(row, ""));
            }
            lines = format!("{table}\n");
        }
        if self.transfers > 0 {
            lines.push_str("triples take ");
            lines.push_str(&bytes(self.transfers));
            lines.push_str(" random oblivious transfers from each party to each other one\n");
        }
        if let Some(branches) = self.branches {
            lines = lines + "branches: " + branches + "\n";
        }
        let Selection { roles: seating, comparison, .. } = &self.selection;
        let roles = match seating {
            Some(seating) => format!("\nroles: {seating}"),
            None if self.players.is_empty() => String::new(),
            None => format!("\nroles: {}", describe_roles(&self.players)),
        };
        let ways = comparison.as_ref().map_or_else(String::new, |ways| format!("\ncomparison: {ways}"));
        format!(
            "{}\n\n{phases}\n{lines}network time ({}): {}; computing and connecting come on top{roles}{ways}",
            self.protocol,
            net.name,
            seconds(self.seconds(&net.profile))
        )
    }

    /// Whether ANDs are all that takes messages, so that lines are told by them.
    fn tells_ands(&self) -> bool {
        self.lines.iter().any(|line| line.ands > 0)
    }

    fn seconds(&self, net: &Profile) -> f64 {
        self.total.network_seconds(net, &self.endpoints)
    }

    fn sent(&self, cost: &Cost) -> Vec<u64> {
        (0..self.endpoints.len()).map(|endpoint| cost.sent_by(endpoint)).collect()
    }
}
