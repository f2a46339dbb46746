//! Which version of a name a party's runs are about to settle: of those that can't both count, one at a time.
//!
//! Runs go side by side, and a party that deviates can tell two of them different things: then one comes to a
//! version, and the other to one that was made without it. A party settles a version once all others have said that
//! they are about to, and says so itself under a *claim*: as long as it stands, no other run here says so of a
//! version that can't count beside it. So no two honest parties settle such versions, and erase what the other needs.
//!
//! A claim is its run's. If that ends before the version is settled, others may still have heard what this party said, and not
//! yet that the run has ended; whoever deviates can keep them waiting for long. So a claim that has ended stays in the way of
//! every run that *began* before it ended. Runs that begin later aren't in its way, and needn't wait.
//!
//! That is enough. Say one honest party settles what a run V comes to, and another what W does. Both have claimed both. What is
//! settled keeps the other out by itself, so the first claimed for W first and for V then, and the second the other way round. So
//! V began at the first after W's claim there, and W at the second after V's claim there.
//!
//! But no run claims anything before all have begun it, since all tell the others what they have: V's claim at the second came
//! after V began at the first, so after W's claim there, so after W began at the second, so after V's claim there. It can't be. No
//! clock comes into it.

use super::settle::Passable;
use super::values::{Claim, Claimed, State, at};
use crate::error::Error;
use std::sync::{Arc, Mutex};
use tacit_store::KeptStanding as Standing;

impl State {
    /// Claims what is about to be settled, with all that its run kept; what is settled needs no claim. A run that has the state
    /// to itself needs none.
    ///
    /// # Errors
    /// [`Error::Refused`] if another run is about to settle what can't count beside it, or was since this one began; and as
    /// [`State::settle`] would.
    pub(super) fn claim(&mut self, values: &[(String, u64)], passable: &Passable) -> Result<(), Error> {
        let Some(home) = self.home.clone() else { return self.settled_with(values, passable).map(drop) };
        // What was settled as the run began may have been replaced, and forgotten, by now; its share the run has.
        let is_settled = |(name, number): &&(String, u64)| {
            self.version(name, *number).is_some_and(|version| version.standing == Standing::Settled)
        };
        let values: Vec<_> = values.iter().filter(|value| !is_settled(value)).cloned().collect();
        self.claim_at(home, |own| own.settled_with(&values, passable))
    }

    /// Claims what is about to be put away. Two runs that put versions away do so in the order of their numbers, or not at all; that
    /// they put no two away under one number is since runs that keep something take turns, at each party.
    ///
    /// # Errors
    /// [`Error::Refused`] if another run is about to settle what can't count beside it, or was since this one began.
    pub(super) fn claim_new(&mut self, values: Vec<(String, u64)>) -> Result<(), Error> {
        let Some(home) = self.home.clone() else { return Ok(()) };
        self.claim_at(home, |_| Ok(values))
    }

    /// Claims a version that is about to be put away after this one, in the place of all that others have left in between: no
    /// other run here settles any of that as long as this one lasts, nor one that began before this one's end.
    ///
    /// # Errors
    /// [`Error::Refused`] if another run is about to settle what can't count beside it, or was since this one began, or has, or
    /// has put something away.
    pub(super) fn claim_over(&mut self, name: &str, number: u64, next: u64) -> Result<(), Error> {
        let Some(home) = self.home.clone() else { return self.refuse_moved(name, number, next) };
        let values = vec![(name.to_owned(), next)];
        self.claim_at(home, |own| own.refuse_moved(name, number, next).map(|()| values))
    }

    fn claim_at(
        &mut self,
        home: Arc<Mutex<Self>>,
        values: impl FnOnce(&Self) -> Result<Vec<(String, u64)>, Error>,
    ) -> Result<(), Error> {
        let mut own = at(&home);
        let values = values(&own)?;
        own.admit_claim(&values, self.begun.as_ref().map_or(0, |begun| begun.at))?;
        drop(own);
        self.claimed.push(Claimed { home, values });
        Ok(())
    }

    /// Refuses what a run goes on that was told of a name as it was before something was settled or put away.
    fn refuse_moved(&self, name: &str, number: u64, next: u64) -> Result<(), Error> {
        let is_there = self.names.get(name).is_some_and(|known| known.last >= next);
        if is_there || self.is_settled_after(name, number) {
            return Err(Error::Refused(format!("another run has kept {name} meanwhile")));
        }
        Ok(())
    }

    /// Whether a later version of a name is settled here.
    fn is_settled_after(&self, name: &str, number: u64) -> bool {
        let Some(known) = self.names.get(name) else { return false };
        known.versions.range(number + 1..).any(|(_, later)| later.standing == Standing::Settled)
    }

    /// Takes the claims of a run down that began then, or refuses them.
    fn admit_claim(&mut self, values: &[(String, u64)], begun: u64) -> Result<(), Error> {
        // Of those that have ended as all runs began that are under way nothing has to be known any more.
        let oldest = self.claims.begun.first().copied().unwrap_or(u64::MAX);
        self.claims.all.retain(|_, claim| claim.runs > 0 || claim.ended > oldest);
        // What is settled keeps out by itself what was made without it. One that was about to be put away when it was claimed may
        // not be there yet, nor ever where counts were raised; any other that isn't, or before one that is settled, was dropped so
        // long ago that it is forgotten.
        let is_open = |((name, number), claim): &(&(String, u64), &Claim)| match self.version(name, *number) {
            None => claim.is_new && !self.is_settled_after(name, *number),
            Some(version) if version.is_void() => claim.is_new,
            Some(version) => version.standing == Standing::Pending,
        };
        let stands = |(_, claim): &(&(String, u64), &Claim)| claim.runs > 0 || claim.ended > begun;
        let bars = |(name, number): &(String, u64)| {
            let of_name = self.claims.all.range((name.clone(), 0)..=(name.clone(), u64::MAX));
            let mut standing = of_name.filter(stands).filter(is_open).map(|(value, _)| value);
            standing.find(|(_, at)| at != number)
        };
        if let Some((name, number)) = values.iter().find_map(bars) {
            let reason =
                format!("another run is about to settle {name}@{number}, or was: try again in a while");
            return Err(Error::Refused(reason));
        }
        for (name, number) in values {
            let is_new = self.version(name, *number).is_none();
            let new = Claim { is_new, ..Claim::default() };
            self.claims.all.entry((name.clone(), *number)).or_insert(new).runs += 1;
        }
        Ok(())
    }
}
