//! A run as one endpoint sees it, whatever there is of lanes, streams and stores: all endpoints' parts in threads are
//! [`Local`](crate::Local), and one endpoint's part over its links is [`Seat`](crate::Seat).

use crate::auto_select::{Measured, Negotiation, players};
use crate::compiled::Compiled;
use crate::endpoint::{Endpoint, Feed, Once, Played};
use crate::error::Error;
use crate::kept::Source;
use crate::lanes::{Strand, play_lanes};
use crate::material::made_under;
use crate::price::price_lanes;
use crate::progress::{Progress, Tally};
use crate::registry::Chosen;
use crate::report::{Comparison, Ended, Making, Report, Run};
use crate::state::residents::Residents;
use std::sync::Arc;
use std::time::Instant;
use tacit_engine::{Clear, Protocol};
use tacit_net::Mesh;
use tacit_net::setup::Config;
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

/// Endpoint `me`'s part in a run that has a lane for each of these, over the links that `gather` brings once all that can be
/// refused before has not been: what came out and what it took, lane by lane.
pub(crate) fn run_over(
    me: usize,
    chosen: &Chosen,
    usual: &[Endpoint],
    own: Own<'_>,
    progress: Progress<'_>,
    gather: impl FnOnce() -> Result<Vec<Mesh>, Error>,
) -> Result<Vec<Run>, Error> {
    let Own { given, source, residents, measured } = own;
    let first = &usual[0];
    let made = match &source {
        Source::Material(store) => Some(made_under(first, chosen, me, store)?.protocol),
        _ => None,
    };
    let mut part = Part::new(me, usual, given)?.on(residents);
    let mut meshes = gather()?;
    let start = Instant::now();
    let (settled, mut lanes, mut comparison);
    (lanes, comparison) = (usual, None);
    if !chosen.open.is_empty() {
        let settling = Negotiation { endpoint: first, chosen, making: Making::InRun, made, measured };
        let price = |name: &str| price_lanes(usual, name);
        let (mesh, negotiated) = settling.negotiate(meshes.remove(0), first.agreement(), price)?;
        meshes.insert(0, mesh);
        // The plans may be others.
        let under = usual.iter().map(|lane| lane.under(negotiated.protocol.clone()));
        settled = under.collect::<Result<Vec<_>, _>>()?;
        (lanes, comparison) = (&settled, negotiated.comparison);
        part = part.under(me, lanes)?;
    }
    let ended = part.play(meshes, source, &Tally::new(progress), comparison.as_ref(), start)?;
    lanes.iter().zip(ended).map(|(endpoint, ended)| endpoint.compiled.run_of(ended)).collect()
}

/// What a configuration's endpoint has to know of a program to take part in a run with these clients.
pub(crate) fn endpoint_of(
    config: &Config,
    compiled: &Arc<Compiled>,
    protocol: Arc<dyn Protocol>,
    clients: Vec<String>,
) -> Result<Endpoint, Error> {
    refuse_debug(compiled)?;
    let compiled = match config.window() {
        Some(bytes) => compiled.clone().with_window(bytes),
        None => compiled.clone(),
    };
    let parties = config.parties().iter().map(|party| party.name.clone()).collect();
    Endpoint::new(&compiled, protocol, parties, clients)
}

fn refuse_debug(compiled: &Compiled) -> Result<(), Error> {
    if !compiled.is_debug() {
        return Ok(());
    }
    let reason =
        "a debug run reveals everything: it is for made-up data in one process, not for a deployment";
    Err(Error::Refused(reason.to_owned()))
}
