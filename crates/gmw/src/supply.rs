//! Triples and random bits as a supply: what a plan draws is made when it asks for it.

use crate::transfers::Transfers;
use crate::triples::triples;
use std::ops::Range;
use std::sync::Arc;
use tacit_engine::supply::{CheckScope, Demand, Drawer, Pool, Supply, SupplyKind};
use tacit_engine::{Error, Material};
use tacit_kernel::Buffer;
use tacit_net::Phase;
use tacit_ot::{Choices, Form, Ot, Params, Request, Roles};
use tacit_program::plan::Domain;
use tacit_session::Session;

/// Triples for ANDs, 64 side by side.
const TRIPLE: SupplyKind = SupplyKind::Triple(Domain::Bits);

/// How many items of each kind a plan draws: of 64 bits each.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) triples: usize,
    /// Random bits, by kind: each party draws its own share.
    pub(crate) random: Vec<(SupplyKind, usize)>,
}

impl Wanted {
    /// # Errors
    /// [`Error::Supply`] if something else is drawn.
    pub(crate) fn of(demand: &Demand) -> Result<Self, Error> {
        let mut wanted = Self { triples: 0, random: Vec::new() };
        for (kind, count) in demand.counts() {
            // Of each item there are 64 bits.
            let count = usize::try_from(count).ok().filter(|count| count.checked_mul(64).is_some());
            match (kind, count) {
                (TRIPLE, Some(count)) => wanted.triples = count,
                (
                    SupplyKind::RandomBit(Domain::Bits) | SupplyKind::RandomElement(Domain::Bits),
                    Some(count),
                ) => wanted.random.push((kind, count)),
                _ => return Err(Error::Supply(format!("preprocessing makes no {kind}, or not so many"))),
            }
        }
        Ok(wanted)
    }
}

/// Oblivious transfers with all others, and what of them the plan that runs draws from.
pub(crate) struct Live {
    transfers: Ot,
    /// The next extension's number.
    op: u32,
    pool: Pool,
    checks: CheckScope,
}

impl Live {
    /// Makes base OTs with all other parties, in both directions.
    pub(crate) fn setup(session: &mut Session, params: Params) -> Result<Self, Error> {
        let peers: Vec<usize> = session.others().collect();
        // Steps have a part of their own, so any numbers will do.
        let transfers = Ot::setup(session, &peers, Roles::Both, params, 0)?;
        Ok(Self { transfers, op: 1, pool: Pool::default(), checks: CheckScope::alone() })
    }

    /// So many times 64 triples.
    fn triples(&mut self, session: &mut Session, words: usize) -> Result<Vec<Buffer>, Error> {
        let op = self.op;
        self.op = op.checked_add(1).ok_or(tacit_session::Error::Exhausted)?;
        let mut transfers = Transfers::new(session.me(), session.parties(), words);
        let request = Request { op, count: 64 * words, choices: Choices::Random, form: Form::Random };
        self.transfers.extend(session, &request, &mut transfers)?;
        Ok(triples(session, op, &transfers, words)?.into())
    }
}

impl Supply for Live {
    /// There is none.
    fn key(&mut self) -> Result<Material, Error> {
        Ok(Material::default())
    }

    /// Makes all of it, in the offline phase. [`crate::cost::offline`] has what is sent.
    fn provide(&mut self, session: &mut Session, demand: &Arc<Demand>) -> Result<(), Error> {
        session.mesh().set_phase(Phase::Offline);
        let wanted = Wanted::of(demand)?;
        self.pool = Pool::new(demand.clone());
        if wanted.triples > 0 {
            let made = self.triples(session, wanted.triples)?;
            self.pool.put(TRIPLE, made);
        }
        for (kind, words) in wanted.random {
            let mut share = Buffer::of_words::<u64>(words);
            session.entropy().fill(share.bytes_mut())?;
            self.pool.put(kind, vec![share]);
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
