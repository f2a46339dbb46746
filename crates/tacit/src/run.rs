//! A run as one endpoint sees it, whatever there is of lanes, streams and stores: all endpoints' parts in threads are
//! [`Local`](crate::Local), and one endpoint's part over its links is [`Seat`](crate::Seat).

use crate::auto_select::{Measured, players};
use crate::endpoint::{Endpoint, Feed, Once, Played};
use crate::lanes::{Source, Strand, Tally, play_lanes};
use crate::{Comparison, Error, Report, Residents};
use std::sync::Arc;
use std::time::Instant;
use tacit_engine::Clear;
use tacit_net::Mesh;
use tacit_program::Value;

/// What an endpoint gives in a run.
pub(crate) enum Given<'a> {
    /// For each lane a value for each input, `None` for those of others.
    Values(Vec<Vec<Option<&'a Value>>>),
    /// What a stream asks for, in the only lane.
    Feed(&'a mut (dyn Feed + Send)),
}

/// What an endpoint brings to a run.
pub(crate) struct Own<'a> {
    pub(crate) given: Given<'a>,
    /// Where a party has what doesn't depend on inputs from.
    pub(crate) source: Source<'a>,
    /// What a party keeps between runs.
    pub(crate) residents: Option<Residents<'a>>,
    /// What a party knows of the network, if it was measured before.
    pub(crate) measured: Option<Arc<Measured>>,
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

/// One endpoint's part in a run, ready for its links.
pub(crate) struct Part<'a, 'g> {
    lanes: &'a [Endpoint],
    given: Given<'g>,
    /// The values of each lane; empty with a feed.
    values: Vec<Once>,
    /// What a party keeps between runs, for the only lane.
    residents: Option<Residents<'g>>,
}

impl<'a, 'g> Part<'a, 'g> {
    /// Endpoint `me`'s part, in a lane for each of these.
    ///
    /// # Errors
    /// [`Error::Refused`] if values are given that aren't the endpoint's or not as declared, or lack.
    pub(crate) fn new(me: usize, lanes: &'a [Endpoint], given: Given<'g>) -> Result<Self, Error> {
        let values = encoded(me, lanes, &given)?;
        Ok(Self { lanes, given, values, residents: None })
    }

    /// The same with what a party keeps between runs.
    pub(crate) fn on(self, residents: Option<Residents<'g>>) -> Self {
        Self { residents, ..self }
    }

    /// The same in lanes that are under another protocol: their plans may be others.
    pub(crate) fn under(self, me: usize, lanes: &[Endpoint]) -> Result<Part<'_, 'g>, Error> {
        Ok(Part::new(me, lanes, self.given)?.on(self.residents))
    }

    /// Plays it over the links of each lane; what the endpoint has of each at the end. `comparison` says how numbers are
    /// compared, if that was left to the network, and `start` when the run began.
    ///
    /// # Errors
    /// As [`play_lanes`].
    pub(crate) fn play(
        mut self,
        meshes: Vec<Mesh>,
        source: Source<'_>,
        tally: &Tally<'_>,
        comparison: Option<&Comparison>,
        start: Instant,
    ) -> Result<Vec<Ended>, Error> {
        let me = meshes.first().map_or(0, Mesh::me);
        let feeds: Vec<&mut (dyn Feed + Send)> = match self.given {
            Given::Values(_) => self.values.iter_mut().map(|once| once as _).collect(),
            Given::Feed(feed) => vec![feed],
        };
        let mut observers: Vec<_> = self.lanes.iter().map(|_| tally.lane()).collect();
        let mut residents = self.residents.into_iter();
        let mut strands = Vec::with_capacity(self.lanes.len());
        for (((endpoint, mesh), feed), observer) in
            self.lanes.iter().zip(meshes).zip(feeds).zip(&mut observers)
        {
            strands.push(Strand { endpoint, mesh, feed, observer, residents: residents.next() });
        }
        let played = play_lanes(strands, source)?;
        let elapsed = start.elapsed();
        let outputs = self.values.into_iter().map(|once| once.outputs).chain(std::iter::repeat(Vec::new()));
        let ended = |((endpoint, played), outputs): ((&Endpoint, Played), Vec<Option<Clear>>)| {
            let Played { rounds, traffic, material, read, kept } = played;
            let endpoints = vec![(endpoint.names().swap_remove(me), traffic)];
            let players = players(&*endpoint.protocol, &endpoint.parties);
            let comparison = comparison.cloned();
            let report = Report { endpoints, rounds, elapsed, players, comparison, material, read, kept };
            Ended { outputs, report }
        };
        Ok(self.lanes.iter().zip(played).zip(outputs).map(ended).collect())
    }
}

fn encoded(me: usize, lanes: &[Endpoint], given: &Given<'_>) -> Result<Vec<Once>, Error> {
    let Given::Values(values) = given else { return Ok(Vec::new()) };
    let lanes = lanes.iter().zip(values);
    lanes.map(|(endpoint, values)| Ok(Once::new(endpoint.encode(me, values)?))).collect()
}
