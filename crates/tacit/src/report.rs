//! What a run gave and what it took.

use crate::kept::Instance;
use std::time::Duration;
use tacit_engine::Clear;
use tacit_net::{Mesh, Phase};
use tacit_program::Value;

/// What an endpoint sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Payload bytes by phase, in the order of [`Phase::ALL`].
    pub sent: [u64; Phase::ALL.len()],
    /// Bytes on the wire, with framing and encryption.
    pub wire: u64,
}

impl Traffic {
    /// What a mesh's counters say, once all has gone out that was sent.
    ///
    /// # Errors
    /// As [`Mesh::push_out`].
    pub fn of(mesh: &mut Mesh) -> Result<Self, tacit_net::Error> {
        mesh.push_out()?;
        let counters = mesh.counters();
        Ok(Self {
            sent: Phase::ALL.map(|phase| counters.in_phase(phase).sent_bytes),
            wire: counters.wire_total().sent,
        })
    }

    /// Adds what the same endpoint sent elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.sent.iter_mut().zip(other.sent).for_each(|(sum, more)| *sum += more);
        self.wire += other.wire;
    }

    /// Payload bytes sent in all phases but the handshake: what [`crate::price`] predicts.
    pub fn payload(&self) -> u64 {
        self.sent.iter().sum::<u64>() - self.in_phase(Phase::Setup)
    }

    /// Payload bytes sent in a phase.
    pub fn in_phase(&self, phase: Phase) -> u64 {
        self.sent[phase as usize]
    }
}

/// How numbers are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The value of the protocol's parameter `comparison`.
    pub picked: &'static str,
    /// What the network takes with each value, by the prediction on which it was picked; empty at clients, which are told
    /// the value alone, and where nothing was predicted.
    pub seconds: Vec<(&'static str, f64)>,
    /// Which seconds these are.
    pub making: Making,
}

/// When a run's material is made: which seconds somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Making {
    /// In the run: all.
    InRun,
    /// Offline: those of the online phase.
    Offline,
}

/// What a run took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The endpoints that this process ran: names and what each sent.
    pub endpoints: Vec<(String, Traffic)>,
    /// Rounds of the online phase.
    pub rounds: u64,
    /// From the first message to the last, inputs and outputs included; of a lane, that of all lanes together.
    pub elapsed: Duration,
    /// The names of those who played the protocol's `P_0`, `P_1` and so on; empty if its parties are all alike.
    pub players: Vec<String>,
    /// How numbers were compared, if that was left to the network.
    pub comparison: Option<Comparison>,
    /// Where its material came from; `None` if it was made in the run, or none is needed.
    pub material: Option<Instance>,
    /// What it read of what is kept, as `weights@3`, by the program's names.
    pub read: Vec<(String, String)>,
    /// What it kept, as `weights@4`.
    pub kept: Vec<String>,
}

impl Report {
    /// What a run in several lanes took in all, from the report of each: bytes add up, and rounds are those of the
    /// lane that has the most.
    pub fn of_lanes<'a>(lanes: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        for report in lanes {
            all.rounds = all.rounds.max(report.rounds);
            all.elapsed = all.elapsed.max(report.elapsed);
            all.players.clone_from(&report.players);
            all.comparison.clone_from(&report.comparison);
            for (name, traffic) in &report.endpoints {
                match all.endpoints.iter_mut().find(|(other, _)| other == name) {
                    Some((_, sum)) => sum.add(traffic),
                    None => all.endpoints.push((name.clone(), traffic.clone())),
                }
            }
        }
        all
    }
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Run {
    /// The outputs in the program's order; `None` for those that nobody in this process learns.
    pub outputs: Vec<Option<Value>>,
    /// What it took.
    pub report: Report,
}

/// What an endpoint has of a lane at its end.
#[derive(Clone)]
pub(crate) struct Ended {
    /// What it has learnt; nothing of what went to a feed.
    pub(crate) outputs: Vec<Option<Clear>>,
    /// What the lane took.
    pub(crate) report: Report,
}

impl Ended {
    /// Adds what another endpoint has of the same lane.
    pub(crate) fn join(&mut self, other: Self) {
        self.outputs.resize(other.outputs.len().max(self.outputs.len()), None);
        for (known, one) in self.outputs.iter_mut().zip(other.outputs) {
            *known = known.take().or(one);
        }
        let (own, other) = (&mut self.report, other.report);
        own.endpoints.extend(other.endpoints);
        own.rounds = own.rounds.max(other.rounds);
        own.elapsed = own.elapsed.max(other.elapsed);
        own.material = own.material.or(other.material);
        if own.read.is_empty() && own.kept.is_empty() {
            (own.read, own.kept) = (other.read, other.kept);
        }
    }
}
