//! One party of a benchmark: gives its operands, plays its part, looks at the result.

use super::clock::{Clock, Figures, Gate, forget_peak_rss, now};
use super::files::Accuracy;
use super::spec::Spec;
use super::stocked::{self, Filled};
use super::work::Work;
use crate::failure::Failure;
use crate::net;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tacit::advanced::engine::executor::Unobserved;
use tacit::advanced::engine::{Clear, Protocol};
use tacit::advanced::net::{Limits, Mesh, Phase, Profile, Shaped, Transport, load_profile};
use tacit::program::Cost;
use tacit::{
    Compiled, Endpoint, Error, Feed, Fill, Filling, Making, Residents, Source, State, Strand, Stream,
    admitted_lanes, is_open, play_lanes, protocol, select,
};

/// What one party has to say at the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Of each lane.
    pub(crate) lanes: Vec<LaneReport>,
    /// What is wrong with the result; only one party looks.
    pub(crate) wrong: Option<String>,
    /// Of a network, how near the result is to that in floating point, as the same party sees it.
    pub(crate) accuracy: Option<Accuracy>,
    /// What filling its store took, if it did.
    pub(crate) filled: Option<Filled>,
}

/// What a lane took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LaneReport {
    /// Of each part, one after another.
    pub(crate) parts: Vec<Figures>,
    /// Payload bytes sent, by phase in the order of [`Phase::ALL`].
    pub(crate) sent_bytes: [u64; Phase::ALL.len()],
    /// Rounds of the online phase.
    pub(crate) rounds: u64,
}

/// A benchmark, ready for its parties.
pub(crate) struct Bench {
    pub(crate) spec: Spec,
    pub(crate) lanes: Vec<LaneWork>,
    /// What is run before, in one lane, for the only lane to read what it keeps.
    keeping: Option<LaneWork>,
    /// What stores are filled with before, for all lanes to draw from.
    filling: Option<Filling>,
}

/// A lane's part of a benchmark.
pub(crate) struct LaneWork {
    pub(crate) work: Work,
    endpoint: Endpoint,
}

impl LaneWork {
    fn new(spec: &Spec, protocol: &Arc<dyn Protocol>, work: Work) -> Result<Self, Error> {
        let clients = work.stream.clients(&spec.parties);
        let Stream { part, times, rest, instances } = work.stream.clone();
        let endpoint = Endpoint::new(&part, protocol.clone(), spec.parties.clone(), clients)?;
        Ok(Self { work, endpoint: endpoint.repeated(times, rest, instances)? })
    }
}

impl Bench {
    /// What is left to the network is picked for the one that the links are shaped to, by all parties alike.
    pub(crate) fn new(spec: Spec) -> Result<Self, Failure> {
        let bench = Self::as_named(spec)?;
        match bench.cast()? {
            // Another way to compare is another plan.
            Some(protocol) => Self::as_named(Spec { protocol, ..bench.spec }),
            None => Ok(bench),
        }
    }

    fn as_named(spec: Spec) -> Result<Self, Failure> {
        let protocol = protocol(&spec.protocol)?;
        admitted_lanes(&*protocol, usize::from(spec.lanes))?;
        let mut lanes: Vec<LaneWork> = Vec::with_capacity(usize::from(spec.lanes));
        for lane in 0..usize::from(spec.lanes) {
            let work = Work::new(&spec, lane, lanes.last().map(|lane| &lane.work))?;
            lanes.push(LaneWork::new(&spec, &protocol, work)?);
        }
        let keeping = Work::keeping(&spec)?.map(|work| LaneWork::new(&spec, &protocol, work)).transpose()?;
        if keeping.is_some() && protocol.keeps_under_key() {
            return Err(Failure::usage(format!(
                "what {} keeps ends with the run: --weights given",
                spec.protocol
            )));
        }
        let endpoints = || lanes.iter().map(|lane| &lane.endpoint);
        let filling = spec.store.then(|| Filling::for_runs(endpoints(), 1)).transpose()?;
        Ok(Self { spec, lanes, keeping, filling })
    }

    /// Who gives operands besides the parties, the same in all lanes.
    pub(crate) fn clients(&self) -> &[String] {
        self.lanes.first().map_or(&[], |lane| &lane.endpoint.clients)
    }

    /// How often the parties gather their links to play.
    pub(crate) fn gatherings(&self) -> usize {
        1 + usize::from(self.keeping.is_some()) + usize::from(self.filling.is_some())
    }

    /// The protocol's name with what is picked for the network, if something is left to it.
    fn cast(&self) -> Result<Option<String>, Failure> {
        let Some(net) = &self.spec.net else { return Ok(None) };
        if !is_open(&self.spec.protocol)? {
            return Ok(None);
        }
        let parties = &self.spec.parties;
        let net = net::load(net)?;
        let selection = select(&self.spec.protocol, parties, &net, Making::InRun, |name| {
            let mut total = Cost::default();
            for lane in &self.lanes {
                total.add_beside(&lane.work.stream.price(name, parties, self.spec.lanes)?);
            }
            Ok(total)
        })?;
        Ok(Some(selection.protocol))
    }

    /// What the lanes run, and how often.
    pub(crate) fn programs(&self) -> impl Iterator<Item = (&Compiled, u64)> {
        self.lanes.iter().flat_map(|lane| lane.work.programs())
    }

    /// The declared cost of a lane: of all its parts, one after another.
    pub(crate) fn lane_cost(&self, lane: &LaneWork) -> Result<Cost, Error> {
        let cost = lane.work.stream.price(&self.spec.protocol, &self.spec.parties, self.spec.lanes)?;
        if self.filling.is_none() {
            return Ok(cost);
        }
        // What is drawn from a store isn't made in the run, and operands without a range take nothing else ahead.
        let mut all = Cost::default();
        let ahead = |phase: &Phase| *phase == Phase::Offline;
        cost.phases()
            .filter(|(phase, _)| !ahead(phase))
            .for_each(|(phase, cost)| all.add_times(phase, cost, 1));
        Ok(all)
    }

    /// The declared bytes of all lanes in the phases that are timed.
    pub(crate) fn timed_bytes(&self) -> Result<u64, Error> {
        let timed = |cost: Cost| cost.phase(Phase::Online).bytes() + cost.phase(Phase::Verify).bytes();
        self.lanes.iter().map(|lane| self.lane_cost(lane).map(timed)).sum()
    }

    /// Plays the part of endpoint `me` over its links, which it has for each lane, anew each time that it gathers them. If it
    /// has a store it is in `folder`, and of no use afterwards.
    pub(crate) fn play(
        &self,
        mut gather: impl FnMut() -> Result<Vec<Box<dyn Transport>>, Error>,
        folder: &Path,
        me: usize,
        limits: &Limits,
    ) -> Result<Report, Error> {
        let mut state = State::new();
        if let Some(keeping) = &self.keeping {
            self.keep(keeping, gather()?, me, limits, &mut state)?;
            forget_peak_rss();
        }
        let names = &[&self.spec.parties[..], self.clients()].concat();
        let name = &names[me];
        let profile = self.spec.net.as_ref().map(|net| load_profile(net)).transpose();
        let profile = profile.map_err(|error| Error::Refused(error.to_string()))?;
        let shaped = |links: Box<dyn Transport>, profile: Option<&Profile>| {
            let links = match profile {
                Some(profile) => Box::new(Shaped::new(links, me, names, profile)),
                None => links,
            };
            Mesh::new(links, me, names.clone(), limits.clone())
        };
        let mut stocked = None;
        if let Some(filling) = &self.filling
            && let Some(links) = gather()?.into_iter().next()
        {
            let (protocol, mesh) = (protocol(&self.spec.protocol)?, shaped(links, profile.as_ref()));
            stocked = Some(stocked::fill(&self.spec, &*protocol, filling, mesh, folder)?);
            forget_peak_rss();
        }
        let links = gather()?;
        let profile = profile.map(|profile| profile.shared_by(self.spec.lanes));
        let gate = Gate::new(self.lanes.len());
        let mut clocks: Vec<Clock<'_>> =
            self.lanes.iter().map(|_| Clock::new(&gate, self.spec.profile)).collect();
        let mut feeds: Vec<Operands<'_>> = self
            .lanes
            .iter()
            .map(|lane| Operands {
                work: &lane.work,
                party: name,
                opened: Vec::new(),
                wrong: None,
                accuracy: None,
            })
            .collect();
        let fill = Fill::new();
        let mut residents =
            self.keeping.as_ref().map(|_| Residents { state: &mut state, fill: &fill, store: None });
        let mut strands = Vec::with_capacity(self.lanes.len());
        for (((lane, links), observer), feed) in self.lanes.iter().zip(links).zip(&mut clocks).zip(&mut feeds)
        {
            let (mesh, residents) = (shaped(links, profile.as_ref()), residents.take());
            strands.push(Strand { endpoint: &lane.endpoint, mesh, feed, observer, residents });
        }
        let source = stocked.as_ref().map_or(Source::InRun, |(stock, _)| Source::Supplies(stock));
        let parts = play_lanes(strands, source)?;
        let mut report = Report { filled: stocked.map(|(_, filled)| filled), ..Report::default() };
        for ((clock, feed), played) in clocks.into_iter().zip(feeds).zip(parts) {
            let parts = clock.parts.into_iter().zip(feed.opened);
            let parts = parts.map(|(part, opened)| Figures { opened, ..part }).collect();
            report.lanes.push(LaneReport { parts, sent_bytes: played.traffic.sent, rounds: played.rounds });
            report.wrong = report.wrong.or(feed.wrong);
            report.accuracy = report.accuracy.or(feed.accuracy);
        }
        Ok(report)
    }

    /// Plays party `me`'s part in what is run before, on links as fast as they are: nothing of it is measured.
    fn keep(
        &self,
        keeping: &LaneWork,
        links: Vec<Box<dyn Transport>>,
        me: usize,
        limits: &Limits,
        state: &mut State,
    ) -> Result<(), Error> {
        let names = &self.spec.parties;
        let (fill, mut unobserved) = (Fill::new(), Unobserved);
        let mut feed = Given { work: &keeping.work, party: &names[me] };
        let mut strands = Vec::with_capacity(1);
        if let Some(links) = links.into_iter().next() {
            strands.push(Strand {
                endpoint: &keeping.endpoint,
                mesh: Mesh::new(links, me, names.clone(), limits.clone()),
                feed: &mut feed,
                observer: &mut unobserved,
                residents: Some(Residents { state, fill: &fill, store: None }),
            });
        }
        play_lanes(strands, Source::InRun).map(drop)
    }
}

/// What a party gives of what is kept.
struct Given<'a> {
    work: &'a Work,
    party: &'a str,
}

impl Feed for Given<'_> {
    fn inputs(&mut self, part: u64) -> Result<Vec<Option<Clear>>, Error> {
        self.work.inputs(part, self.party)
    }

    fn outputs(&mut self, _part: u64, _outputs: Vec<Option<Clear>>) -> Result<(), Error> {
        Ok(())
    }
}

/// What a party gives in a lane, and what it thinks of what comes out.
struct Operands<'a> {
    work: &'a Work,
    party: &'a str,
    /// When the outputs of each part came out.
    opened: Vec<Duration>,
    wrong: Option<String>,
    accuracy: Option<Accuracy>,
}

impl Feed for Operands<'_> {
    fn inputs(&mut self, part: u64) -> Result<Vec<Option<Clear>>, Error> {
        self.work.inputs(part, self.party)
    }

    fn outputs(&mut self, part: u64, outputs: Vec<Option<Clear>>) -> Result<(), Error> {
        self.opened.push(now());
        if Work::checks(self.party) && self.wrong.is_none() {
            self.wrong = self.work.check(part, &outputs).err();
            self.accuracy = self.work.accuracy(&outputs)?;
        }
        Ok(())
    }
}
