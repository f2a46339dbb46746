//! Runs of programs that keep values, or read kept ones.

use super::residents::Residents;
use super::values::State;
use crate::compiled::Compiled;
use crate::deployment::Seat;
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::kept::{Kept, Source};
use crate::local::Local;
use crate::progress::Progress;
use crate::registry::Chosen;
use crate::report::Run;
use crate::run::{Given, Own};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tacit_program::Value;

impl<'a> Residents<'a> {
    /// Without its store, and that.
    fn apart(self, endpoint: &Endpoint) -> Result<(Self, Source<'a>), Error> {
        let source = self.store.map_or(Source::InRun, Kept::source);
        let ends = endpoint.protocol.keeps_under_key() && !matches!(source, Source::Supplies(_));
        if ends && endpoint.compiled.has_residents() {
            return Err(Error::Refused(format!(
                "what protocol {:?} keeps has MACs under a key that ends with a run, unless that comes from a store of \
                 supplies: fill one (tacit offline), and run on it",
                endpoint.protocol.spec().name
            )));
        }
        Ok((Self { store: None, ..self }, source))
    }
}

impl<'a> Own<'a> {
    /// What a party brings to a run that goes on what it keeps.
    ///
    /// # Errors
    /// [`Error::Refused`] if the protocol keeps nothing beyond a run.
    pub(crate) fn on(given: Given<'a>, residents: Residents<'a>, endpoint: &Endpoint) -> Result<Self, Error> {
        let (residents, source) = residents.apart(endpoint)?;
        Ok(Self { given, source, residents: Some(residents), measured: None })
    }
}

impl Seat {
    /// What this party keeps in a folder, sealed under its private key; in a deployment without keys under one that lies in the
    /// folder. One process at a time can have it open.
    ///
    /// # Errors
    /// [`Error::Refused`] on a client's seat; [`Error::Setup`] if the key can't be read; [`Error::Store`].
    pub fn open_state(&self, folder: &Path) -> Result<State, Error> {
        self.refuse_keeper()?;
        State::of(self.config(), folder)
    }

    /// Refuses what those do who keep values, on a client's seat.
    pub(crate) fn refuse_keeper(&self) -> Result<(), Error> {
        if self.is_party() {
            return Ok(());
        }
        let reason = "is a client, and keeps nothing: the parties do that, each in a folder of its own";
        Err(Error::Refused(format!("{} {reason}", self.name())))
    }

    /// Runs a program once, as [`Seat::run_within`], on what this party keeps. All parties have to have state, and to fill the
    /// program's slots with the same; clients run it as any other. What the program keeps is there once this returns.
    ///
    /// # Errors
    /// [`Error::Refused`], by all parties, if a value isn't there or isn't the same everywhere, if it isn't as the program
    /// declares it, or if it may not be used so. Nothing that depends on a secret has been sent then.
    pub fn run_on(
        &mut self,
        compiled: &Arc<Compiled>,
        protocol_name: &str,
        residents: Residents<'_>,
        inputs: &[Option<Value>],
        progress: Progress<'_>,
        within: Duration,
    ) -> Result<Run, Error> {
        let chosen = Chosen::of(protocol_name)?;
        let endpoint = self.party_endpoint(compiled, &chosen)?;
        let given = Given::Values(vec![inputs.iter().map(Option::as_ref).collect()]);
        let own = Own::on(given, residents, &endpoint)?;
        let run = |seat: &mut Self| seat.run_from(&chosen, &[endpoint], own, progress, within);
        Ok(self.counted(run)?.swap_remove(0))
    }
}

impl Local {
    /// What the parties keep in a folder, each in a folder of its own in it: for trying out, since their keys lie with it.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn open_states(&self, folder: &Path) -> Result<Vec<State>, Error> {
        self.parties.iter().map(|party| State::open(&folder.join(party), None)).collect()
    }

    /// Runs a program once, as [`Local::run`], on what the parties keep. Else as [`Seat::run_on`].
    ///
    /// # Errors
    /// As [`Seat::run_on`].
    ///
    /// # Panics
    /// If there aren't residents for each party.
    pub fn run_on(
        &self,
        compiled: &Arc<Compiled>,
        residents: Vec<Residents<'_>>,
        inputs: &[Value],
        progress: Progress<'_>,
    ) -> Result<Run, Error> {
        assert_eq!(residents.len(), self.parties.len(), "residents for each party");
        let endpoint =
            self.endpoint_made(compiled, residents.first().and_then(|first| first.store.as_deref()))?;
        let apart = residents.into_iter().map(|residents| residents.apart(&endpoint));
        let (residents, sources) = apart.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        self.run_one(endpoint, inputs, sources, residents, progress)
    }
}
