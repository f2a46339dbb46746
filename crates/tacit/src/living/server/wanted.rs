//! Runs that this party wants, with inputs of its own.

use super::Server;
use super::play::log_end;
use super::shared::{Ready, Shared};
use crate::compiled::Compiled;
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::living::asker::{Asked, Asker, ENDED, Wanted, What, declined};
use crate::living::control::Proposal;
use crate::living::desk::MAX_TAG;
use crate::report::Run;
use crate::run::endpoint_of;
use crate::state::keeping::NO_STATE;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use tacit_engine::Participants;
use tacit_program::Value;

impl Server {
    /// Serves a program of which each run has inputs of its own that this party gives, and may read and keep values of its own:
    /// runs of it are those alone that all parties ask for under one tag ([`Asker`]). Clients that it names ask under that tag.
    ///
    /// # Errors
    /// [`Error::Refused`] if it can't run so.
    pub fn expect(&mut self, compiled: &Arc<Compiled>) -> Result<(), Error> {
        self.endpoint_for(compiled).map(|_| ())
    }

    /// Asks for runs from other threads, while this serves.
    pub fn asker(&self) -> Asker {
        Asker::new(
            self.asked_for.0.clone(),
            self.hub.waker(),
            self.shared.state.clone(),
            self.is_over.clone(),
        )
    }

    /// What this party has to know of a program that is run for those who want it.
    pub(super) fn endpoint_for(&mut self, compiled: &Arc<Compiled>) -> Result<Arc<Endpoint>, Error> {
        let hash = compiled.hash();
        if let Some(known) = self.expected.get(&hash) {
            return Ok(known.clone());
        }
        if self.shared.offers.contains_key(&hash) {
            return Err(Error::Refused("the program is served with the same inputs always".to_owned()));
        }
        let Shared { config, chosen, state, .. } = &*self.shared;
        let parties: Vec<String> = config.parties().iter().map(|party| party.name.clone()).collect();
        let needs = Participants::clients_of(compiled.plan(), &parties);
        if compiled.has_residents() && state.is_none() {
            return Err(Error::Refused(NO_STATE.to_owned()));
        }
        self.room.holds(compiled, 1)?;
        let endpoint = Arc::new(endpoint_of(config, compiled, chosen.protocol.clone(), needs.clone())?);
        self.desk.expect(hash, needs, !compiled.program().keeps().is_empty());
        self.expected.insert(hash, endpoint.clone());
        Ok(endpoint)
    }

    /// What this party has to know to have what is wanted: of fresh shares nothing.
    fn endpoint_of(&mut self, what: &What) -> Result<Option<Arc<Endpoint>>, Error> {
        match what {
            What::Run(Wanted { compiled, inputs, .. }) => {
                let endpoint = self.endpoint_for(compiled)?;
                let given: Vec<Option<&Value>> = inputs.iter().map(Option::as_ref).collect();
                endpoint.encode(self.shared.config.me(), &given)?;
                Ok(Some(endpoint))
            }
            What::Refresh(_) if self.shared.state.is_none() => Err(Error::Refused(NO_STATE.to_owned())),
            What::Refresh(_) => Ok(None),
        }
    }

    /// Takes in what this process asks for.
    pub(super) fn take_asked(&mut self) {
        while let Ok(asked) = self.asked_for.1.try_recv() {
            match asked {
                Asked::Run(job) => {
                    let want = job.what.want();
                    let endpoint = self.endpoint_of(&job.what);
                    let refused = || {
                        Error::Refused("this is wanted already: a run of the program and tag, or fresh shares of the value".to_owned())
                    };
                    match endpoint {
                        Ok(_) if want.1.len() > MAX_TAG => {
                            job.end(Err(Error::Refused(format!("a tag has {MAX_TAG} bytes at most"))));
                        }
                        Ok(_) if self.wanted.contains_key(&want) => job.end(Err(refused())),
                        Ok(_) if self.desk.is_done() => {
                            job.end(Err(declined("it begins no more runs")));
                        }
                        Ok(endpoint) => {
                            self.wanted.insert(want.clone(), Ready { endpoint, job });
                            self.desk.want(want);
                        }
                        Err(error) => job.end(Err(error)),
                    }
                }
                // Others may begin what this party has accepted, and they rely on its inputs.
                Asked::NoMore(want) if self.desk.is_bound_to(&want) => {}
                Asked::NoMore(want) => {
                    if self.wanted.remove(&want).is_some() {
                        self.desk.unwant(&mut self.hub, &want);
                    }
                }
            }
        }
    }

    /// Tells those who wanted runs that came to nothing, and whoever hears of fillings.
    pub(super) fn tell_failed(&mut self) {
        if let Some(reason) = self.desk.unfilled() {
            self.tell_unfilled(&reason);
        }
        for (want, reason) in self.desk.come_to_nothing() {
            if let Some(ready) = self.wanted.remove(&want) {
                ready.job.end(Err(declined(&reason)));
            }
        }
    }

    /// Tells all who wait for runs that this serves no more. Runs under way end at once, and each has its own end: others may
    /// count on one that has ended well here.
    pub(super) fn end_asked(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Who asks from here on looks at that first.
        self.take_asked();
        for (want, ready) in self.wanted.drain() {
            self.desk.unwant(&mut self.hub, &want);
            ready.job.end(Err(declined(ENDED)));
        }
        if self.begun.is_empty() {
            return;
        }
        self.end_all();
        let mut others = Vec::new();
        while !self.begun.is_empty() {
            let Ok(ended) = self.results.1.recv() else { break };
            match self.begun.remove(&ended.proposal.run) {
                Some(asker) => {
                    self.note(&ended);
                    log_end(&ended.proposal, &ended.result, &mut self.failures);
                    let _ = asker.send(ended.result);
                }
                None => others.push(ended),
            }
        }
        for ended in others {
            let _ = self.results.0.send(ended);
        }
    }

    /// Tells how a run ended to whoever wanted it.
    pub(super) fn tell_asker(
        &mut self,
        proposal: &Proposal,
        result: Result<Run, Error>,
        asker: &Sender<Result<Run, Error>>,
    ) -> Result<(), Error> {
        let admitted = self.attempts.admit();
        if admitted.is_err() {
            self.end_all();
        }
        log_end(proposal, &result, &mut self.failures);
        // After this party's own trouble no run could go well.
        if let Err(error @ (Error::Store(_) | Error::NotDestroyed { .. } | Error::Feed(_))) = result {
            let _ = asker.send(Err(Error::BrokeOff { reason: error.to_string() }));
            return Err(error);
        }
        // If nobody waits any more, nobody asks.
        let _ = asker.send(result);
        admitted
    }
}
