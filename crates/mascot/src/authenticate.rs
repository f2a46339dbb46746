//! MACs of values that a party has (MASCOT, protocol 3, Input).
//!
//! Each party has shares of MACs made of its values, and of one more, the random `x_0` ([`crate::macs`]). A corrupt `P_j` can
//! use another `x` for each bit of `Delta^(i)`, or for each `P_i`. So random sums are opened, and their MACs checked:
//! `y_j = r_1 x_1 + ... + r_l x_l + r_0 x_0`. The last value, `x_0`, hides the others in it and is then given up.
//!
//! **Order.** A party commits to the coin `r` when it has all MAC messages.

use crate::coins::Coins;
use crate::field::FieldElement;
use crate::key::MacKey;
use crate::macs::Macs;
use crate::openings::Openings;
use crate::planted::{Mistake, planted};
use crate::secret::Secret;
use crate::step;
use tacit_session::{At, Error, Session};

/// The three numbers of a call's steps.
pub(crate) type Ops = [u32; 3];

/// Has all parties' values authenticated: party `j` has `counts[j]` of them. Gives this party's shares of all MACs, by owner.
/// Ten rounds, or eighteen where [`Macs`] goes by vector OLE: five more for each further one, and three the first time.
///
/// # Errors
/// If somebody's values weren't the same for all others, or a link fails. The session is over.
pub(crate) fn authenticate<E: FieldElement>(
    session: &mut Session,
    maker: &mut Macs<E>,
    key: &MacKey<E>,
    [macs_op, shares_op, check_op]: Ops,
    own: &[E],
    counts: &[usize],
) -> Result<Vec<Secret<E>>, Error> {
    let me = session.me();
    // Who has values has a random one more.
    let counts: Vec<usize> = counts.iter().map(|&count| count + usize::from(count > 0)).collect();
    let mask = Secret::random(session, counts[me] - own.len())?;
    let values: Secret<E> = own.iter().chain(mask.iter()).copied().collect();
    let mut coins = None;
    if planted(Mistake::AuthenticatedEarly) {
        coins = Some(Coins::toss(session)?);
    }
    let macs = maker.make(session, key, macs_op, &values, &counts)?;
    let mut coins = match coins {
        Some(coins) => coins,
        None => Coins::toss(session)?,
    };

    // y_j, and this party's share of its MAC, by owner. With y_j and an opened sigma that share tells the key's.
    let mut sums = vec![E::ZERO; counts.len()];
    let mut sums_macs = Secret::zeros(counts.len());
    for (owner, macs) in macs.iter().enumerate() {
        let [sum, mac] = coins.weigh(if owner == me { &values } else { macs }, macs);
        sums_macs[owner] = mac;
        if owner == me {
            sums[me] = sum;
        }
    }
    let at = At { lane: 0, part: step::SHARES, op: shares_op, batch: 0 };
    if counts[me] > 0 {
        for peer in session.others() {
            session.mesh().send(peer, at, bytemuck::bytes_of(&sums[me]))?;
        }
    }
    for peer in session.others() {
        if counts[peer] > 0 {
            sums[peer] = E::from_bytes(&session.mesh().recv(peer, at, E::BYTES)?);
        }
    }
    if !planted(Mistake::AuthenticatedUnchecked) {
        let mut opened = Openings::default();
        for (y, mac) in sums.iter().zip(sums_macs.iter()) {
            opened.note(&[*y], vec![*mac].into());
        }
        opened.check(session, key, check_op)?;
    }
    Ok(macs)
}

/// The MACs of sums of everybody's first `count` values.
pub(crate) fn sum_of_owners<E: FieldElement>(by_owner: &[Secret<E>], count: usize) -> Secret<E> {
    let mut sums = Secret::<E>::zeros(count);
    for macs in by_owner {
        for (sum, mac) in sums.iter_mut().zip(&**macs) {
            *sum = sum.wrapping_add(*mac);
        }
    }
    sums
}
