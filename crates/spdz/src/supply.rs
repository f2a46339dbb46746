//! Preprocessing as a supply: what a plan draws is made when it asks for it, all under one key.

use crate::{FIELD, FIELDS};
use std::ops::Range;
use std::sync::Arc;
use tacit_additive::Keys;
use tacit_engine::supply::{CheckScope, Demand, Drawer, Pool, Supply, SupplyKind};
use tacit_engine::{Error, Material};
use tacit_kernel::field::Fp128;
use tacit_kernel::{Buffer, Element};
use tacit_mascot::{Preprocessing, Shares};
use tacit_net::Phase;
use tacit_ot::Params;
use tacit_session::Session;

/// How many items of each kind a plan draws, of the kinds that there are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) triples: usize,
    pub(crate) bits: usize,
    /// Elements that nobody knows: a value of each party's, added up.
    pub(crate) elements: usize,
    /// Of each party's own.
    pub(crate) masks: Vec<usize>,
}

impl Wanted {
    /// Among so many parties.
    ///
    /// # Errors
    /// [`Error::Supply`] if something else is drawn.
    pub(crate) fn of(demand: &Demand, parties: usize) -> Result<Self, Error> {
        let mut wanted = Self { triples: 0, bits: 0, elements: 0, masks: vec![0; parties] };
        for (kind, count) in demand.counts() {
            let place = match kind {
                SupplyKind::Triple(FIELD) => Some(&mut wanted.triples),
                SupplyKind::RandomBit(FIELD) => Some(&mut wanted.bits),
                SupplyKind::RandomElement(FIELD) => Some(&mut wanted.elements),
                SupplyKind::InputMask { domain: FIELD, owner } => wanted.masks.get_mut(usize::from(owner)),
                _ => None,
            };
            let count = usize::try_from(count).ok();
            let (Some(place), Some(count)) = (place, count) else {
                return Err(Error::Supply(format!("preprocessing makes no {kind}, or not so many")));
            };
            *place = count;
        }
        Ok(wanted)
    }

    /// Values that each party has authenticated: its masks, and its part of elements that nobody knows.
    pub(crate) fn inputs(&self) -> Vec<usize> {
        self.masks.iter().map(|masks| masks + self.elements).collect()
    }
}

/// Preprocessing under one key, and what of it the plan that runs draws from.
pub(crate) struct Live {
    preprocessing: Preprocessing,
    pool: Pool,
    checks: CheckScope,
}

impl Live {
    /// Makes a key with all other parties.
    pub(crate) fn setup(session: &mut Session) -> Result<Self, Error> {
        // Steps have a part of their own, so any numbers will do.
        let preprocessing = Preprocessing::setup(session, Params::DEFAULT, 0)?;
        Ok(Self { preprocessing, pool: Pool::default(), checks: CheckScope::alone() })
    }

    /// Input masks, and elements that nobody knows.
    fn inputs(&mut self, session: &mut Session, wanted: &Wanted) -> Result<(), Error> {
        let made = self.preprocessing.inputs(session, &wanted.inputs())?;
        for (owner, (shares, &masks)) in (0..).zip(made.shares.iter().zip(&wanted.masks)) {
            let mut parts = vec![buffer(&shares.values[..masks]), buffer(&shares.macs[..masks])];
            if usize::from(owner) == session.me() {
                parts.push(buffer(&made.values[..masks]));
            }
            self.pool.put(SupplyKind::InputMask { domain: FIELD, owner }, parts);
        }
        let sum_of = |part: fn(&Shares) -> &[Fp128]| {
            let mut sums = Buffer::of_words::<Fp128>(wanted.elements);
            for (shares, &masks) in made.shares.iter().zip(&wanted.masks) {
                for (sum, &one) in sums.words_mut::<Fp128>().iter_mut().zip(&part(shares)[masks..]) {
                    *sum = sum.wrapping_add(one);
                }
            }
            sums
        };
        let parts = vec![sum_of(|shares| &shares.values), sum_of(|shares| &shares.macs)];
        self.pool.put(SupplyKind::RandomElement(FIELD), parts);
        Ok(())
    }
}

impl Supply for Live {
    fn key(&mut self) -> Result<Material, Error> {
        let key = self.preprocessing.key()?;
        Ok(Keys::new(&FIELDS, vec![key.to_u128()]).to_material())
    }

    /// Makes all of it, in the offline phase. [`crate::cost::offline`] has what is sent.
    fn provide(&mut self, session: &mut Session, demand: &Arc<Demand>) -> Result<(), Error> {
        session.mesh().set_phase(Phase::Offline);
        let wanted = Wanted::of(demand, session.parties())?;
        self.pool = Pool::new(demand.clone());
        if wanted.inputs().iter().any(|&count| count > 0) {
            self.inputs(session, &wanted)?;
        }
        if wanted.triples > 0 {
            let made = self.preprocessing.triples(session, wanted.triples)?;
            let [a, b, c] = [&made.a, &made.b, &made.c];
            let parts = [&a.values, &b.values, &c.values, &a.macs, &b.macs, &c.macs];
            self.pool.put(SupplyKind::Triple(FIELD), parts.map(|part| buffer(part)).into());
        }
        if wanted.bits > 0 {
            let made = self.preprocessing.bits(session, wanted.bits)?;
            self.pool.put(SupplyKind::RandomBit(FIELD), vec![buffer(&made.values), buffer(&made.macs)]);
        }
        Ok(())
    }

    fn draw(&mut self, drawer: Drawer, kind: SupplyKind, items: Range<u64>) -> Result<Vec<Buffer>, Error> {
        self.pool.draw(drawer, kind, items)
    }

    fn checks(&self) -> &CheckScope {
        &self.checks
    }
}

/// A copy of elements; the original wipes itself.
fn buffer(elements: &[Fp128]) -> Buffer {
    let mut buffer = Buffer::of_words::<Fp128>(elements.len());
    buffer.words_mut().copy_from_slice(elements);
    buffer
}
