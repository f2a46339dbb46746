//! A party's part in one run over links that are lent to it.

use super::shared::{Known, Ready, Shared, Wrap, mesh};
use crate::auto_select::Measured;
use crate::endpoint::{Endpoint, hex};
use crate::error::Error;
use crate::kept::{Kept, Source};
use crate::living::asker::What;
use crate::living::batch;
use crate::living::control::{FILLING, MEASURE, Player, Proposal, bound};
use crate::living::quota::Quota;
use crate::registry::protocol;
use crate::report::{Report, Run};
use crate::run::{Given, Own, run_over};
use crate::state::fill::Fill;
use crate::state::keeping::NO_STATE;
use crate::state::refresh::refresh_as;
use crate::state::residents::Residents;
use crate::state::values::State;
use std::sync::mpsc::channel;
use std::sync::{Arc, PoisonError};
use std::time::Instant;
use tacit_net::Transport;
use tacit_net::stream::Lent;
use tacit_program::Value;
use tacit_session::{Agreement, OsEntropy, Session};

/// A party's part in a run.
pub(super) fn play(shared: &Shared, proposal: &Proposal, links: Lent) -> Result<Run, Error> {
    if proposal.program == MEASURE {
        return measure(shared, proposal, links);
    }
    if proposal.program == FILLING {
        return fill(shared, proposal, links);
    }
    let Shared { offers, store, fill: own, .. } = shared;
    let Some(Known { offer, endpoint }) = offers.get(&proposal.program) else {
        return Err(Error::Refused("a run began of a program that isn't served".to_owned()));
    };
    let (endpoint, batch) = batch::in_run(endpoint, proposal.players.len())?;
    let mut store = store.as_ref().map(|store| store.lock().unwrap_or_else(PoisonError::into_inner));
    let inputs: Vec<Option<&Value>> = offer.inputs.iter().map(Option::as_ref).collect();
    let inputs = batch.map_or_else(|| inputs.clone(), |batch| batch.given(&inputs, 0));
    // Each party makes of it what its own words leave to a request, and they agree on what comes out.
    let fill = if offer.compiled.has_residents() {
        own.chosen(&proposal.fill, offer.compiled.program()).map_err(Error::Refused)?
    } else {
        Fill::new()
    };
    play_on(shared, proposal, endpoint, inputs, (&fill, store.as_deref_mut()), links)
}

/// A party's part in a run that it wanted, and what went wrong once that had ended well for it: from its goodbye on
/// others count on that, and one that deviates would have it undone at whom it chooses.
pub(super) fn play_wanted(
    shared: &Shared,
    proposal: &Proposal,
    ready: &Ready,
    links: Lent,
) -> (Result<Run, Error>, Option<Error>) {
    let (What::Run(wanted), Some(endpoint)) = (&ready.job.what, &ready.endpoint) else {
        return (refresh(shared, proposal, links), None);
    };
    let (late, said) = channel();
    let endpoint = Endpoint { late: Some(late), ..Endpoint::clone(endpoint) };
    let inputs = wanted.inputs.iter().map(Option::as_ref).collect();
    let result = play_on(shared, proposal, endpoint, inputs, (&wanted.fill, None), links);
    (result, said.try_recv().ok())
}

/// A party's part in giving the kept value that the tag names fresh shares, as it is shared.
fn refresh(shared: &Shared, proposal: &Proposal, links: Lent) -> Result<Run, Error> {
    let (Shared { config, chosen, state, wrap, .. }, name) = (shared, &proposal.tag);
    let state = state.as_ref().ok_or_else(|| Error::Refused(NO_STATE.to_owned()))?;
    let mut apart = State::apart_of(state, name)?;
    // Who lacks it plays on, so that all hear of that.
    let protocol = apart.sharing(name).and_then(|sharing| protocol(&sharing));
    let protocol = protocol.unwrap_or_else(|_| chosen.protocol.clone());
    let parties: Vec<String> = config.parties().iter().map(|party| party.name.clone()).collect();
    let (begun, words) = (Instant::now(), bound(proposal.run, &proposal.tag, &Fill::new(), &[]));
    let mesh = mesh(wrapped(wrap.as_ref(), links), config, config.me(), &[]);
    let kept = vec![refresh_as(&format!(", {words}"), &*protocol, &parties, mesh, name, &mut apart, None)?];
    Ok(Run { outputs: Vec::new(), report: Report { kept, elapsed: begun.elapsed(), ..Report::default() } })
}

/// A party's part in a run on these inputs of its own. What the run needs of the party's state is taken apart, so
/// that others go on, whatever this one's clients do meanwhile.
fn play_on(
    shared: &Shared,
    proposal: &Proposal,
    endpoint: Endpoint,
    inputs: Vec<Option<&Value>>,
    (fill, store): (&Fill, Option<&mut Kept>),
    links: Lent,
) -> Result<Run, Error> {
    let Shared { config, chosen, state, wrap, measured, .. } = shared;
    let players: Vec<Player> = proposal.players.iter().map(|(player, _)| player.clone()).collect();
    let endpoint = endpoint.bound_to(bound(proposal.run, &proposal.tag, &proposal.fill, &players));
    let given = Given::Values(vec![inputs]);
    let compiled = &endpoint.compiled;
    let mut apart = match state {
        Some(state) if compiled.has_residents() => Some(State::apart(state, compiled.program(), fill)?),
        _ => None,
    };
    let own = match apart.as_mut() {
        Some(state) => Own::on(given, Residents { state, fill, store }, &endpoint)?,
        None => {
            Own { given, source: store.map_or(Source::InRun, Kept::source), residents: None, measured: None }
        }
    };
    let transport = wrapped(wrap.as_ref(), links);
    let measured = measured.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let own = Own { measured, ..own };
    let mesh = mesh(transport, config, config.me(), &players);
    let runs = run_over(config.me(), chosen, &[endpoint], own, &|_, _| (), || Ok(vec![mesh]));
    Ok(runs?.swap_remove(0))
}

/// A party's part in measuring the links to the others, between runs. What it gives is for the runs to come.
fn measure(shared: &Shared, proposal: &Proposal, links: Lent) -> Result<Run, Error> {
    let Shared { config, measured, .. } = shared;
    let parties = config.parties().iter().map(|party| party.name.clone()).collect();
    let words =
        format!("tacit {}, {}", env!("CARGO_PKG_VERSION"), bound(proposal.run, "", &Fill::new(), &[]));
    let agreement = Agreement::among(parties, "links measured", words);
    let mesh = mesh(Box::new(links), config, config.me(), &[]);
    let begun = Instant::now();
    let ended = |error: tacit_session::Error| Error::Aborted {
        lane: None,
        at: None,
        attempt: false,
        cause: error.into(),
    };
    let mut session = Session::establish(mesh, agreement, Box::new(OsEntropy)).map_err(ended)?;
    let net = session.measure().map_err(ended)?;
    session.close().map_err(ended)?;
    let found = Arc::new(Measured { number: proposal.run, net });
    *measured.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
    Ok(Run { outputs: Vec::new(), report: Report { elapsed: begun.elapsed(), ..Report::default() } })
}

/// What a run has its links by.
fn wrapped(wrap: Option<&Wrap>, links: Lent) -> Box<dyn Transport> {
    match wrap {
        Some(wrap) => wrap(links),
        None => Box::new(links),
    }
}

/// A party's part in filling the stores.
fn fill(shared: &Shared, proposal: &Proposal, links: Lent) -> Result<Run, Error> {
    let Shared { config, filler, wrap, .. } = shared;
    let nothing = || Error::Refused("a filling began, and nothing is filled".to_owned());
    let filler = filler.as_ref().ok_or_else(nothing)?;
    let words = format!(", {}", bound(proposal.run, &proposal.tag, &Fill::new(), &[]));
    filler.fill(mesh(wrapped(wrap.as_ref(), links), config, config.me(), &[]), &words)
}

/// Logs how a run ended: of what was given and learnt nothing.
pub(super) fn log_end(proposal: &Proposal, result: &Result<Run, Error>, failures: &mut Quota) {
    let (run, program) = (proposal.run, &proposal.program);
    match result {
        Ok(Run { report, .. }) => {
            let seconds = report.elapsed.as_secs_f64();
            let sent_bytes: u64 = report.endpoints.iter().map(|(_, traffic)| traffic.payload()).sum();
            tracing::info!(
                run,
                program = hex(program),
                seconds,
                sent_bytes,
                rounds = report.rounds,
                "run ended"
            );
        }
        Err(error) => {
            let Some(untold) = failures.admit(Instant::now()) else { return };
            tracing::warn!(
                run,
                program = hex(program),
                attempt = error.is_attempt(),
                error = error.in_log(),
                untold,
                "run failed"
            );
        }
    }
}

/// Logs what went wrong once a run had ended well for this party.
pub(super) fn log_late(proposal: &Proposal, error: &Error, failures: &mut Quota) {
    let Some(untold) = failures.admit(Instant::now()) else { return };
    let (run, program) = (proposal.run, hex(&proposal.program));
    tracing::warn!(run, program, error = error.in_log(), untold, "run was aborted after its end here");
}
