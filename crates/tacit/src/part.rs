//! A party's and a client's part in one run after the handshake.

use crate::endpoint::{Endpoint, Feed, Played, in_check};
use crate::error::Error;
use crate::report::Traffic;
use crate::state::keeping::{Keeping, NO_STATE};
use tacit_engine::supply::Supply;
use tacit_engine::{Client, Engine, KeptShare, Material, Observer, executor};
use tacit_net::Phase;
use tacit_session::Session;

/// What a party's engine starts from.
pub(crate) enum Start {
    /// Nothing: what the run needs it makes.
    InRun,
    /// The material of its first part.
    Material(Material),
    /// Supplies, for all parts.
    Supply(Box<dyn Supply>),
}

/// What others are told if a feed fails: why may hold what is this endpoint's alone, a value or a file's name.
const UNFED: &str = "its inputs couldn't be read, or its outputs not be written";

/// Puts away what a run keeps, before its outputs are opened.
struct Settling<'o, 'k, 'a> {
    observer: &'o mut dyn Observer,
    endpoint: &'o Endpoint,
    keeping: Option<&'k mut Keeping<'a>>,
    /// What was kept.
    kept: Vec<String>,
    /// Why it couldn't be.
    failed: Option<Error>,
}

impl Observer for Settling<'_, '_, '_> {
    fn phase(&mut self, phase: Phase, engine: &mut dyn Engine) -> Result<(), tacit_engine::Error> {
        self.observer.phase(phase, engine)
    }

    fn keep(
        &mut self,
        shares: Vec<KeptShare>,
        engine: &mut dyn Engine,
    ) -> Result<Vec<KeptShare>, tacit_engine::Error> {
        let (Some(keeping), Some(session)) = (&mut self.keeping, engine.session()) else {
            return Err(tacit_engine::Error::Refused(NO_STATE.to_owned()));
        };
        match keeping.keep(self.endpoint, session, shares) {
            Ok(kept) => self.kept = kept,
            Err(error) => {
                self.failed = Some(error);
                return Err(tacit_engine::Error::Refused("what it keeps couldn't be put away".to_owned()));
            }
        }
        Ok(Vec::new())
    }

    fn progress(&mut self, done: usize, total: usize) {
        self.observer.progress(done, total);
    }
}

/// A party's part after the handshake, in all parts of a stream: memory is that of one part, however many there are.
pub(crate) fn party(
    endpoint: &Endpoint,
    session: Session,
    start: Start,
    feed: &mut dyn Feed,
    observer: &mut dyn Observer,
    mut keeping: Option<Keeping<'_>>,
) -> Result<Played, Error> {
    let (first, roles) = endpoint.part(0);
    let aborted = |cause| endpoint.compiled.aborted(cause);
    let mut engine =
        endpoint.protocol.engine(session, first.plan().clone(), roles.clone()).map_err(aborted)?;
    let ended = |error: Error, engine: &mut dyn Engine| {
        if let Some(session) = engine.session() {
            session.abort(&error.to_string());
        }
        error
    };
    let unfed = |error: Error, engine: &mut dyn Engine| {
        ended(Error::Feed(UNFED.to_owned()), engine);
        error
    };
    let mut ending = None;
    let given = match start {
        Start::InRun => Ok(()),
        Start::Material(material) => engine.load(material),
        Start::Supply(supply) => {
            ending = Some(supply.checks().ending());
            engine.supply(supply)
        }
    };
    given.map_err(|cause| ended(aborted(cause), engine.as_mut()))?;
    let (mut rounds, mut kept, mut outside) = (0, Vec::new(), None);
    for part in 0..endpoint.parts() {
        let (compiled, roles) = endpoint.part(part);
        let plan = compiled.plan();
        let aborted = |cause| compiled.aborted_in(part, cause);
        if part > 0 {
            let next = engine.next(plan.clone(), roles.clone());
            next.map_err(|cause| ended(aborted(cause), engine.as_mut()))?;
        }
        let inputs = feed.inputs(part).map_err(|error| unfed(error, engine.as_mut()))?;
        let shares = keeping.as_ref().map_or_else(Vec::new, |keeping| keeping.shares.clone());
        let keeping = keeping.as_mut();
        let mut observer =
            Settling { observer: &mut *observer, endpoint, keeping, kept: Vec::new(), failed: None };
        let protocol = &*endpoint.protocol;
        let outcome =
            executor::run_party_on(protocol, engine.as_mut(), plan, &shares, &inputs, &mut observer);
        let Settling { kept: settled, failed, .. } = observer;
        // All know it.
        if let Err(cause @ tacit_engine::Error::OutsideAssumed) = outcome {
            outside = Some(aborted(cause));
            break;
        }
        let outcome = outcome.map_err(|cause| {
            let error = in_check(failed.unwrap_or_else(|| aborted(cause)), engine.as_mut());
            ended(error, engine.as_mut()).after_keeping(&settled)
        })?;
        kept = settled;
        rounds += outcome.rounds;
        feed.outputs(part, outcome.outputs).map_err(|error| unfed(error, engine.as_mut()))?;
    }
    // Other lanes go on.
    if let Some(ending) = ending {
        ending.well();
    }
    let traffic = match engine.session() {
        Some(session) => Traffic::of(session.mesh()).map_err(|error| aborted(error.into()))?,
        None => Traffic::default(),
    };
    if let Err(error) = engine.close().map_err(aborted) {
        match &endpoint.late {
            // If nobody hears it, nobody asks.
            Some(late) => drop(late.send(error)),
            None => return Err(error),
        }
    }
    if let Some(outside) = outside {
        return Err(outside);
    }
    let read = keeping.map_or_else(Vec::new, |keeping| keeping.read);
    Ok(Played { rounds, traffic, material: None, read, kept })
}

/// A client's part after the handshake.
pub(crate) fn client(endpoint: &Endpoint, session: Session, feed: &mut dyn Feed) -> Result<Played, Error> {
    let (first, roles) = endpoint.part(0);
    let aborted = |cause| endpoint.compiled.aborted(cause);
    let mut client =
        endpoint.protocol.client(session, first.plan().clone(), roles.clone()).map_err(aborted)?;
    let mut outside = None;
    for part in 0..endpoint.parts() {
        let (compiled, roles) = endpoint.part(part);
        let plan = compiled.plan();
        let aborted = |cause| compiled.aborted(cause);
        let ended = |error: Error, client: &mut dyn Client| {
            client.session().abort(&error.to_string());
            error
        };
        let unfed = |error: Error, client: &mut dyn Client| {
            ended(Error::Feed(UNFED.to_owned()), client);
            error
        };
        if part > 0 {
            let next = client.next(plan.clone(), roles.clone());
            next.map_err(|cause| ended(aborted(cause), client.as_mut()))?;
        }
        let inputs = feed.inputs(part).map_err(|error| unfed(error, client.as_mut()))?;
        let outcome = executor::run_client(client.as_mut(), plan, roles, &inputs);
        if let Err(cause @ tacit_engine::Error::OutsideAssumed) = outcome {
            outside = Some(aborted(cause));
            break;
        }
        let outcome = outcome.map_err(|cause| ended(aborted(cause), client.as_mut()))?;
        feed.outputs(part, outcome.outputs).map_err(|error| unfed(error, client.as_mut()))?;
    }
    let traffic = Traffic::of(client.session().mesh()).map_err(|error| aborted(error.into()))?;
    client.close().map_err(aborted)?;
    if let Some(outside) = outside {
        return Err(outside);
    }
    Ok(Played { traffic, ..Played::default() })
}
