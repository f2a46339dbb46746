//! Which version of a name a party's runs are about to settle: of those that can't both count, one at a time.
//!
//! Runs go side by side, and a party that deviates can tell two of them different things: then one comes to a
//! version, and the other to one that was made without it. A party settles a version once all others have said that
//! they are about to, and says so itself under a *claim*: as long as it stands, no other run here says so of a
//! version that can't count beside it. So no two honest parties settle such versions, and erase what the other needs.
//!
//! A claim is its run's. If that ends before the version is settled, others may still have heard what this party
//! said, and not yet that the run has ended: the claim stays for longer than a link may be silent. It stands in the
//! way of nothing else, as the next run begins with the same version, unless somebody lies.

use super::settle::Passable;
use super::values::{Claimed, State, at};
use crate::error::Error;
use std::time::{Duration, Instant};
use tacit_store::KeptStanding as Standing;

impl State {
    /// Claims what is about to be settled, with all that its run kept, until so long after this run has ended; what
    /// is settled needs no claim. A run that has the state to itself needs none.
    ///
    /// # Errors
    /// [`Error::Refused`] if another run is about to settle what can't count beside it; and as [`State::settle`] would.
    pub(super) fn claim(
        &mut self,
        values: &[(String, u64)],
        passable: &Passable,
        stays: Duration,
    ) -> Result<(), Error> {
        let Some(home) = self.home.clone() else { return self.settled_with(values, passable).map(drop) };
        let mut own = at(&home);
        let values = own.settled_with(values, passable)?;
        own.admit_claim(&values, Instant::now())?;
        drop(own);
        self.claimed.push(Claimed { home, values, stays });
        Ok(())
    }

    /// Claims what is about to be put away. It ends with the run: the next one that keeps something is not to wait,
    /// and two that put versions away do so in the order of their numbers, or not at all.
    ///
    /// # Errors
    /// [`Error::Refused`] if another run is about to settle what can't count beside it.
    pub(super) fn claim_new(&mut self, values: Vec<(String, u64)>) -> Result<(), Error> {
        let Some(home) = self.home.clone() else { return Ok(()) };
        at(&home).admit_claim(&values, Instant::now())?;
        self.claimed.push(Claimed { home, values, stays: Duration::ZERO });
        Ok(())
    }

    /// Claims a version that is about to be put away after this one, in the place of all that others have left in between: no
    /// other run here settles any of that as long as this one lasts. It ends with the run.
    ///
    /// # Errors
    /// [`Error::Refused`] if another run is about to settle what can't count beside it, has, or has put something away.
    pub(super) fn claim_over(&mut self, name: &str, number: u64, next: u64) -> Result<(), Error> {
        let Some(home) = self.home.clone() else { return self.refuse_moved(name, number, next) };
        let (mut own, values) = (at(&home), vec![(name.to_owned(), next)]);
        own.refuse_moved(name, number, next)?;
        own.admit_claim(&values, Instant::now())?;
        drop(own);
        self.claimed.push(Claimed { home, values, stays: Duration::ZERO });
        Ok(())
    }

    /// Refuses what a run goes on that was told of a name as it was before something was settled or put away.
    fn refuse_moved(&self, name: &str, number: u64, next: u64) -> Result<(), Error> {
        let Some(known) = self.names.get(name) else { return Ok(()) };
        let mut later = known.versions.range(number + 1..).map(|(_, later)| later.standing);
        if known.last >= next || later.any(|standing| standing == Standing::Settled) {
            return Err(Error::Refused(format!("another run has kept {name} meanwhile")));
        }
        Ok(())
    }

    pub(super) fn admit_claim(&mut self, values: &[(String, u64)], now: Instant) -> Result<(), Error> {
        self.claims.0.retain(|_, claim| claim.runs > 0 || claim.until.is_some_and(|until| now < until));
        // What is settled keeps out by itself what was made without it; what isn't there yet is about to be put away.
        let is_open = |(name, number): &&(String, u64)| {
            // One that isn't there and not the last either was dropped so long ago that it is forgotten.
            self.version(name, *number).map_or_else(
                || self.names.get(name).is_none_or(|named| *number > named.last),
                |version| version.standing == Standing::Pending,
            )
        };
        let open = || self.claims.0.keys().filter(is_open);
        let bars = |(name, number): &(String, u64)| open().find(|(other, at)| other == name && at != number);
        if let Some((name, number)) = values.iter().find_map(bars) {
            let reason = format!("another run is about to settle {name}@{number}: try again in a while");
            return Err(Error::Refused(reason));
        }
        for value in values {
            self.claims.0.entry(value.clone()).or_default().runs += 1;
        }
        Ok(())
    }
}
