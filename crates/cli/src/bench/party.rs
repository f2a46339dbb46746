//! One party of a benchmark: gives its operands, plays its part, looks at the result.

use super::clock::{Clock, Figures, Gate};
use super::spec::Spec;
use super::work::Work;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use tacit::engine::Clear;
use tacit::net::{Limits, Mesh, Profile, Shaped, Transport};
use tacit::program::decode;
use tacit::{Compiled, Endpoint, Error, Strand, play_lanes, protocol};

/// What one party has to say at the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Of each lane.
    pub(crate) lanes: Vec<Figures>,
    /// What is wrong with the result; only one party looks.
    pub(crate) wrong: Option<String>,
}

/// A benchmark, ready for its parties.
pub(crate) struct Bench {
    pub(crate) spec: Spec,
    pub(crate) lanes: Vec<LaneWork>,
}

/// A lane's part of a benchmark.
pub(crate) struct LaneWork {
    pub(crate) work: Work,
    endpoint: Endpoint,
}

impl Bench {
    pub(crate) fn new(spec: Spec) -> Result<Self, Failure> {
        let protocol = protocol(&spec.protocol)?;
        let mut lanes: Vec<LaneWork> = Vec::with_capacity(usize::from(spec.lanes));
        for what in spec.parts() {
            let work = Work::new(what, spec.seed, lanes.last().map(|lane| &lane.work))?;
            let endpoint = Endpoint::new(work.compiled.clone(), protocol, spec.parties.clone(), Vec::new())?;
            lanes.push(LaneWork { work, endpoint });
        }
        Ok(Self { spec, lanes })
    }

    /// What each lane runs.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Compiled> {
        self.lanes.iter().map(|lane| &*lane.work.compiled)
    }

    /// Plays the part of party `me` over its links, which it has for each lane.
    pub(crate) fn play(
        &self,
        links: Vec<Box<dyn Transport>>,
        me: usize,
        limits: &Limits,
    ) -> Result<Report, Error> {
        let names = &self.spec.parties;
        let name = &names[me];
        let profile = self.spec.net.as_ref().map(|net| Profile::load(net)).transpose();
        let profile = profile.map_err(|error| Error::Refused(error.to_string()))?;
        let profile = profile.map(|profile| profile.shared_by(self.spec.lanes));
        let gate = Gate::new(self.lanes.len());
        let mut clocks: Vec<Clock<'_>> = self.lanes.iter().map(|_| Clock::new(&gate)).collect();
        let mut strands = Vec::with_capacity(self.lanes.len());
        for ((LaneWork { work, endpoint }, links), observer) in self.lanes.iter().zip(links).zip(&mut clocks)
        {
            let links = match &profile {
                Some(profile) => Box::new(Shaped::new(links, me, names, profile)),
                None => links,
            };
            let mesh = Mesh::new(links, me, names.clone(), limits.clone());
            strands.push(Strand { endpoint, mesh, inputs: operands(work, name)?, observer });
        }
        let parts = play_lanes(strands)?;
        let mut report = Report::default();
        for ((LaneWork { work, .. }, clock), (outcome, traffic)) in self.lanes.iter().zip(clocks).zip(parts) {
            let figures = Figures { sent_bytes: traffic.sent, rounds: outcome.rounds, ..clock.figures };
            report.lanes.push(figures);
            if Work::checks(name) {
                report.wrong = report.wrong.or(check(work, &outcome.outputs).err());
            }
        }
        Ok(report)
    }
}

/// The operands that a party gives in a lane.
fn operands(work: &Work, party: &str) -> Result<Vec<Option<Clear>>, Error> {
    let encoded = |input: usize| {
        let gives = work.gives(party, input);
        gives.then(|| work.compiled.encode(input, &work.operand(input))).transpose()
    };
    (0..work.compiled.inputs().len()).map(encoded).collect()
}

fn check(work: &Work, outputs: &[Option<Clear>]) -> Result<(), String> {
    match (outputs, work.compiled.outputs()) {
        ([Some(clear)], [declared]) => {
            let got = decode(declared, &clear.to_words()).map_err(|error| error.to_string())?;
            work.check(&got)
        }
        _ => Err("the result did not come out".to_owned()),
    }
}
