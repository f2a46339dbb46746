//! A store that a party fills while it serves, together with all others: each filling is a session of its own on links of its
//! own, which makes an epoch under a fresh key. Runs go on meanwhile, under the keys that they have.
//!
//! Docs: decision 58 in `docs/adr`.

use super::lock::locked;
use super::serving::Serving;
use crate::error::Error;
use crate::filling::{Filling, by_fullness, fill_as, stocked, unused};
use crate::kept::Kept;
use crate::made::Prepared;
use crate::material::{other_stock, stock_binding};
use crate::registry::Chosen;
use crate::report::{Report, Run};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tacit_engine::supply::{Stock, SupplyKind};
use tacit_engine::{Observer, Protocol};
use tacit_net::Mesh;
use tacit_store::{Available, Epoch};

/// How much of a kind a server has unused, in the epoch that it has most of, and up to where it fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The kind.
    pub kind: SupplyKind,
    /// Items that are unused.
    pub unused: u64,
    /// Items that are to be.
    pub level: u64,
}

/// What a party fills, and how far it is.
pub(crate) struct Filler {
    protocol: Arc<dyn Protocol>,
    parties: Vec<String>,
    me: usize,
    filling: Filling,
    stock: Stock,
    /// Epochs that are to go once no run draws.
    surplus: Mutex<Vec<Epoch>>,
    /// What was made, until it is told.
    made: Mutex<Option<Prepared>>,
    /// Thousandths of what is being made, and one; 0 if nothing is.
    done: AtomicU64,
    /// What is being made is to end at the next part, where nobody has a check under way.
    stops: AtomicBool,
    /// It ends now, wherever it is.
    over: Arc<AtomicBool>,
}

impl Filler {
    /// What a party fills, if it is to fill anything.
    ///
    /// # Errors
    /// [`Error::Refused`] if it can't.
    pub(crate) fn of(
        serving: &Serving,
        chosen: &Chosen,
        parties: &[String],
        me: usize,
    ) -> Result<Option<Self>, Error> {
        let Some(filling) = &serving.filling else { return Ok(None) };
        let Some(Kept::Supplies(stock)) = &serving.holdings.store else {
            let reason = "only a store of supplies for any program is filled while a party serves: name one (--store), of a \
                          protocol that has them";
            return Err(Error::Refused(reason.to_owned()));
        };
        if serving.at_once < 2 {
            let reason = "a store is filled on links of its own, beside a run: have two at a time at least (--at-once)";
            return Err(Error::Refused(reason.to_owned()));
        }
        let protocol = chosen.protocol.clone();
        if !stock.is_for(&stock_binding(&*protocol, parties, me)) {
            return Err(other_stock());
        }
        // In one order, whichever the operator of each party wrote: the session agrees on it.
        let wanted: BTreeMap<SupplyKind, u64> = filling.wanted.iter().copied().collect();
        Ok(Some(Self {
            protocol,
            parties: parties.to_vec(),
            me,
            filling: Filling { wanted: wanted.into_iter().collect(), up_to: true },
            stock: stock.clone(),
            surplus: Mutex::default(),
            made: Mutex::default(),
            done: AtomicU64::new(0),
            stops: AtomicBool::new(false),
            over: Arc::default(),
        }))
    }

    /// Up to where, in words.
    pub(crate) fn level(&self) -> String {
        self.filling.in_words(&*self.protocol, self.parties.len())
    }

    /// How much there is, of each kind.
    pub(crate) fn levels(&self) -> Vec<Level> {
        let wanted = self.filling.blocks();
        let own = unused(&wanted, &self.stock);
        let fullest = by_fullness(&wanted, std::slice::from_ref(&own)).into_iter().next();
        let level = |((kind, blocks), list): (&(SupplyKind, u64), &Vec<Available>)| {
            let left = list.iter().find(|own| Some(own.epoch) == fullest);
            let left = left.map_or(0, |own| own.count.saturating_sub(own.next));
            let [unused, level] = [left, *blocks].map(|blocks| blocks.saturating_mul(kind.per_block()));
            Level { kind: *kind, unused, level }
        };
        wanted.iter().zip(&own).map(level).collect()
    }

    /// Whether some epoch has less than is wanted of no kind.
    pub(crate) fn has_enough(&self) -> bool {
        self.levels().iter().all(|level| level.unused >= level.level)
    }

    /// How much of what is being made is done, from 0 to 1.
    pub(crate) fn progress(&self) -> Option<f64> {
        let done = self.done.load(Ordering::Relaxed).checked_sub(1)?;
        Some(done as f64 / 1000.0)
    }

    /// A filling begins, on links that end with this.
    pub(crate) fn begins(&self) -> Arc<AtomicBool> {
        self.stops.store(false, Ordering::SeqCst);
        self.over.store(false, Ordering::SeqCst);
        self.over.clone()
    }

    /// Ends what is being made at the next part, for all parties.
    pub(crate) fn stop(&self) {
        self.stops.store(true, Ordering::SeqCst);
    }

    /// Ends it now.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    /// This party's part in a filling, in a session that all call so.
    pub(crate) fn fill(&self, mesh: Mesh, words: &str) -> Result<Run, Error> {
        let start = Instant::now();
        let Self { protocol, parties, filling, stock, .. } = self;
        self.done.store(1, Ordering::Relaxed);
        let made = fill_as(words, &**protocol, parties, mesh, filling, stock, &mut Shown(self));
        self.done.store(0, Ordering::Relaxed);
        let (made, surplus) = made?;
        locked(&self.surplus).extend(surplus);
        *locked(&self.made) = Some(stocked(&**protocol, parties, self.me, filling, &made, start));
        Ok(Run { outputs: Vec::new(), report: Report { elapsed: start.elapsed(), ..Report::default() } })
    }

    /// What was made last, once.
    pub(crate) fn made(&self) -> Option<Prepared> {
        locked(&self.made).take()
    }

    /// Destroys the epochs that are to go, unless a run draws: then it is for the end of that one. What fails is tried again there,
    /// and a store that can't note anything any more says so to the next run.
    pub(crate) fn tidy(&self) {
        let mut surplus = locked(&self.surplus);
        if !surplus.is_empty() && self.stock.discard(&surplus) == Ok(true) {
            surplus.clear();
        }
    }
}

/// Shows how far a filling is, and says whether it goes on.
struct Shown<'a>(&'a Filler);

impl Observer for Shown<'_> {
    fn progress(&mut self, done: usize, total: usize) {
        let Self(filler) = self;
        filler.done.store(1 + (1000 * done / total.max(1)) as u64, Ordering::Relaxed);
    }

    fn goes_on(&mut self) -> bool {
        !self.0.stops.load(Ordering::SeqCst)
    }
}
