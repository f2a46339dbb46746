//! Opened values, and the check of their MACs (MASCOT, protocol 2; protocol 3, Open and Check).
//!
//! Opening sends shares; anybody may send wrong ones. So opened values are noted, and checked together before anything
//! that was made of them is handed out:
//!
//! 1. all compare a hash of all opened values: who was told others ends the session;
//! 2. a coin is tossed, and with weights `r_j` from it each computes `y = sum of r_j x_j`, `m^(i) = sum of r_j m_j^(i)` and
//!    `sigma^(i) = m^(i) - y Delta^(i)`;
//! 3. each commits to `sigma^(i)`, and all compare a hash of all commitments;
//! 4. all open: the sum of all `sigma^(i)` has to be 0.
//!
//! An opened value that is off by `e` makes the sum `-e r Delta`. To make up for it somebody needs `Delta`, all shares of
//! which but its own are unknown to it: with values that aren't right the check passes with a probability of at most `2/p`,
//! for the weights and for the key.
//!
//! # Security
//! One check at a time under one key: whoever has another check's opened `sigma` before it commits here can choose its own
//! by it ("Rushing at SPDZ", S&P 2025). All checks of a [`Preprocessing`](crate::Preprocessing) are made one after another.

use crate::coins::Coins;
use crate::field::FieldElement;
use crate::key::MacKey;
use crate::planted::{Mistake, open_committed, planted, tap};
use crate::secret::Secret;
use crate::shares::Shares;
use crate::step;
use tacit_session::{At, Error, Session};

/// Values in a message.
const PIECE: usize = 1 << 14;

/// Values that were opened and aren't checked yet.
#[derive(Default)]
#[must_use = "opened values may be wrong until they are checked"]
pub(crate) struct Openings<E: FieldElement> {
    values: Vec<E>,
    macs: Vec<Secret<E>>,
}

impl<E: FieldElement> Openings<E> {
    /// Opens values to all, and notes them. One round of an element for each value.
    ///
    /// # Errors
    /// If there isn't a MAC for each value, or a link fails. The session is over.
    pub(crate) fn open(
        &mut self,
        session: &mut Session,
        op: u32,
        mut shares: Shares<E>,
    ) -> Result<Vec<E>, Error> {
        if shares.values.len() != shares.macs.len() {
            return Err(session.reject("each value that is opened needs a MAC"));
        }
        tap("opened", &mut shares.values);
        let mut sums = shares.values.to_vec();
        let others: Vec<usize> = session.others().collect();
        for (batch, sums) in (0..).zip(sums.chunks_mut(PIECE)) {
            let at = At { lane: 0, part: step::SHARES, op, batch };
            for &peer in &others {
                session.mesh().send(peer, at, bytemuck::cast_slice(sums))?;
            }
            for &peer in &others {
                let message = session.mesh().recv(peer, at, E::BYTES * sums.len())?;
                for (sum, bytes) in sums.iter_mut().zip(message.chunks_exact(E::BYTES)) {
                    // What a peer sends needn't be an element: it's reduced.
                    *sum = sum.wrapping_add(E::from_bytes(bytes));
                }
                session.mesh().recycle(message);
            }
        }
        self.values.extend_from_slice(&sums);
        self.macs.push(shares.macs);
        Ok(sums)
    }

    /// Notes values that all have already, or that have to be what they are: with this party's shares of their MACs.
    ///
    /// # Panics
    /// If there isn't a MAC for each value.
    pub(crate) fn note(&mut self, values: &[E], macs: Secret<E>) {
        assert_eq!(values.len(), macs.len(), "a MAC for each value");
        self.values.extend_from_slice(values);
        self.macs.push(macs);
    }

    /// Checks all values that were noted. Six rounds of [`crate::cost::check_bytes`] to each other party.
    ///
    /// # Errors
    /// If a value's MAC isn't right, or somebody was told other values. The session is over.
    pub(crate) fn check(self, session: &mut Session, key: &MacKey<E>, op: u32) -> Result<(), Error> {
        if !planted(Mistake::OpenedUncompared) {
            session.echo(bytemuck::cast_slice(&self.values))?;
        }
        let mut coins = Coins::toss(session)?;
        let mut rest = self.values.as_slice();
        let mut sigma = [E::ZERO];
        for macs in &self.macs {
            let (values, after) = rest.split_at(macs.len());
            rest = after;
            let [y, m] = coins.weigh(values, macs);
            tap("weighed", &mut [y]);
            sigma[0] = sigma[0].wrapping_add(m.wrapping_sub(y.wrapping_mul(key.share())));
        }
        tap("sigma", &mut sigma);
        let sum = sum_of_committed(session, op, sigma[0])?;
        if sum != E::ZERO && !planted(Mistake::MacsUnchecked) {
            return Err(session.reject("the MACs of opened values aren't theirs"));
        }
        session.settle();
        Ok(())
    }
}

/// The sum of all parties' elements, to which all have committed before anybody opens. Three rounds.
fn sum_of_committed<E: FieldElement>(session: &mut Session, op: u32, mine: E) -> Result<E, Error> {
    let label = format!("mac check {} {op}", session.first_operation());
    let at = [step::COMMITMENT, step::OPENING].map(|part| At { lane: 0, part, op, batch: 0 });
    let opened = open_committed(session, at, &label, bytemuck::bytes_of(&mine))?;
    // What a peer sends needn't be an element: it's reduced.
    let values = opened.iter().flat_map(|value| value.chunks_exact(E::BYTES)).map(E::from_bytes);
    Ok(values.fold(E::ZERO, E::wrapping_add))
}
