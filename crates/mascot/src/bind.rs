//! Binds each party to one share of the key, once, before anything else is made under it.
//!
//! A party chooses base OTs with each other one by the bits of its key share. A corrupt one may choose by others with some
//! honest parties. Then MACs of `P_j`'s values are under a key `K_j` of its own, and the check of a sum `x_0 + x_1` would open
//! `x_1 (K_1 - K_0)` to whoever knows the difference. So all authenticate a random value each, and open the sum:
//!
//! ```text
//! MAC of r_0 + ... + r_(n-1):   sum of r_j K_j
//! ```
//!
//! Shares of the sum are hidden by shares of zero, which each pair of parties draws from its stream: of the honest ones' `r_j`
//! nobody learns more than their sum.
//!
//! # Security
//! Let `K_j != K_k` for honest `P_j` and `P_k`. Sums that Authenticate opens hide `r_j` and `r_k`, unless one of two weights
//! is 0: `2/p`. Then `r_j - r_k` is uniform, given all that corrupt parties have seen when they commit to their `sigma`, and
//! so is `r_j K_j + r_k K_k`. The check passes for one value of it, unless the sum's weight is 0: `2/p`. Together `4/p`, which
//! is 2^-126.

use crate::authenticate::{authenticate, sum_of_owners};
use crate::field::FieldElement;
use crate::key::MacKey;
use crate::macs::Macs;
use crate::openings::Openings;
use crate::planted::{Mistake, planted};
use crate::secret::Secret;
use crate::shares::Shares;
use crate::step;
use tacit_session::{Draw, Error, Session};

/// Steps that have a number of their own.
pub(crate) const STEPS: usize = 6;

/// Checks that everybody uses one key share towards all others. 17 rounds, [`crate::cost::bind_bytes`] to each other party.
///
/// # Errors
/// If somebody doesn't, or a link fails. The session is over.
pub(crate) fn bind<E: FieldElement>(
    session: &mut Session,
    maker: &mut Macs<E>,
    key: &MacKey<E>,
    ops: [u32; STEPS],
) -> Result<(), Error> {
    if planted(Mistake::KeyUnbound) {
        return Ok(());
    }
    let [macs, sums, made, zero, shares, checked] = ops;
    let mut values = Secret::random(session, 1)?;
    let counts = vec![1; session.parties()];
    let by_owner = authenticate(session, maker, key, [macs, sums, made], &values, &counts)?;
    let mut mask = Secret::zeros(1);
    for peer in session.others() {
        E::fill_shared(session.stream(peer), Draw { part: step::ZERO, op: zero }, &mut mask);
        // Of a pair one adds what the other one takes off.
        let add = session.me() < peer;
        values[0] = if add { values[0].wrapping_add(mask[0]) } else { values[0].wrapping_sub(mask[0]) };
    }
    let mut openings = Openings::default();
    openings.open(session, shares, Shares { values, macs: sum_of_owners(&by_owner, 1) })?;
    openings.check(session, key, checked)
}
