//! The passive variant (MASCOT, section 6.1, "Comparison with a passive protocol"): one product for a triple, no MACs, no checks.
//! For comparison alone.
//!
//! # Security
//! Against parties that follow the protocol, and against no others. No protocol draws from it: its triples have a type of their
//! own, which nothing takes for authenticated ones.

use crate::field::FieldElement;
use crate::multiply::{Products, multiply};
use crate::openings::Openings;
use crate::secret::Secret;
use crate::shares::Shares;
use tacit_kernel::field::Fp128;
use tacit_ot::{Ot, Params, Roles};
use tacit_session::{Error, Session};

/// Products that are combined to one: none is.
pub(crate) const TAU: usize = 1;

/// What makes triples without MACs, with all other parties.
pub struct Passive {
    ot: Ot,
    /// The next step's number.
    op: u32,
}

/// A party's shares of triples, `c = a b`, without MACs.
#[derive(Clone, Debug, Default)]
pub struct PassiveTriples<E: FieldElement = Fp128> {
    /// First factors.
    pub a: Secret<E>,
    /// Second factors.
    pub b: Secret<E>,
    /// Products.
    pub c: Secret<E>,
}

impl Passive {
    /// Base OTs and trees with everybody, in both directions. Steps are numbered from `op` on.
    ///
    /// # Errors
    /// If parameters are those against parties that deviate, which pay for checks that nobody makes; or a link fails.
    pub fn setup(session: &mut Session, params: Params, op: u32) -> Result<Self, Error> {
        if params.is_malicious() {
            return Err(session.reject("triples without MACs are for parties that follow the protocol"));
        }
        let peers: Vec<usize> = session.others().collect();
        let ot = Ot::setup(session, &peers, Roles::Both, params, op)?;
        Ok(Self { ot, op: op.checked_add(1).ok_or(Error::Exhausted)? })
    }

    /// Makes `count` triples. [`cost::passive_bytes`](crate::cost::passive_bytes) to each other party.
    ///
    /// # Errors
    /// If a link fails, or numbers of steps are used up.
    pub fn triples<E: FieldElement>(
        &mut self,
        session: &mut Session,
        count: usize,
    ) -> Result<PassiveTriples<E>, Error> {
        let ops = [self.step()?, self.step()?];
        let Products { a, b, c } = multiply(session, &mut self.ot, ops, TAU, count)?;
        Ok(PassiveTriples { a, b, c })
    }

    /// Opens shared values to all, unchecked: for tests and benchmarks, which compare what was made.
    ///
    /// # Errors
    /// As [`Self::triples`].
    pub fn open<E: FieldElement>(
        &mut self,
        session: &mut Session,
        shares: &Secret<E>,
    ) -> Result<Vec<E>, Error> {
        let shares = Shares { values: shares.clone(), macs: Secret::zeros(shares.len()) };
        Openings::default().open(session, self.step()?, shares)
    }

    fn step(&mut self) -> Result<u32, Error> {
        let step = self.op;
        self.op = step.checked_add(1).ok_or(Error::Exhausted)?;
        Ok(step)
    }
}

impl std::fmt::Debug for Passive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Passive").finish_non_exhaustive()
    }
}
