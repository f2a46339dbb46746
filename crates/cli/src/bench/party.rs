//! One party of a benchmark: gives its operands, plays its part, looks at the result.

use super::clock::{Clock, Figures};
use super::spec::Spec;
use super::work::Work;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use tacit::engine::Clear;
use tacit::net::{Limits, Mesh, Profile, Shaped, Transport};
use tacit::program::decode;
use tacit::{Endpoint, Error, play, protocol};

/// What one party has to say at the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) figures: Figures,
    /// What is wrong with the result; only one party looks.
    pub(crate) wrong: Option<String>,
}

/// A benchmark, ready for its parties.
pub(crate) struct Bench {
    pub(crate) spec: Spec,
    pub(crate) work: Work,
    endpoint: Endpoint,
}

impl Bench {
    pub(crate) fn new(spec: Spec) -> Result<Self, Failure> {
        let work = Work::new(&spec)?;
        let endpoint = Endpoint::new(
            work.compiled.clone(),
            protocol(&spec.protocol)?,
            spec.parties.clone(),
            Vec::new(),
        )?;
        Ok(Self { spec, work, endpoint })
    }

    /// Plays the part of party `me` over its links.
    pub(crate) fn play(&self, links: Box<dyn Transport>, me: usize, limits: Limits) -> Result<Report, Error> {
        let names = &self.spec.parties;
        let name = names[me].clone();
        let links = match &self.spec.net {
            Some(net) => {
                let profile = Profile::load(net).map_err(|error| Error::Refused(error.to_string()))?;
                Box::new(Shaped::new(links, me, names, &profile))
            }
            None => links,
        };
        let mesh = Mesh::new(links, me, names.clone(), limits);
        let inputs = self.operands(&name)?;
        let mut clock = Clock::default();
        let (outcome, traffic) = play(&self.endpoint, mesh, &inputs, &mut clock)?;
        drop(inputs);
        let mut figures = clock.figures;
        figures.sent_bytes = traffic.sent;
        figures.rounds = outcome.rounds;
        let wrong = if Work::checks(&name) { self.check(&outcome.outputs).err() } else { None };
        Ok(Report { figures, wrong })
    }

    /// The operands that a party gives.
    fn operands(&self, party: &str) -> Result<Vec<Option<Clear>>, Error> {
        let encoded = |input: usize| {
            let gives = self.work.gives(party, input);
            gives.then(|| self.work.compiled.encode(input, &self.work.operand(&self.spec, input))).transpose()
        };
        (0..self.work.compiled.inputs().len()).map(encoded).collect()
    }

    fn check(&self, outputs: &[Option<Clear>]) -> Result<(), String> {
        match (outputs, self.work.compiled.outputs()) {
            ([Some(clear)], [declared]) => {
                let got = decode(declared, &clear.to_words()).map_err(|error| error.to_string())?;
                self.work.check(&self.spec, &got)
            }
            _ => Err("the result did not come out".to_owned()),
        }
    }
}
