//! MACs of values that a party has (MASCOT, protocol 3, Input).
//!
//! For each of its values `x`, and one more, the random `x_0`, party `P_j` makes shared products with all others' shares of
//! the key ([`tacit_ot::copee`]): `q + t = x Delta^(i)`, with `q` for `P_i` and `t` for `P_j`. The shares of the MAC are
//!
//! ```text
//! m^(i) = q^(i,j)          m^(j) = x Delta^(j) + sum of t^(j,i)          sum of m = x Delta
//! ```
//!
//! A corrupt `P_j` can use another `x` for each bit of `Delta^(i)`. So random sums are opened, and their MACs checked:
//! `y_j = r_1 x_1 + ... + r_l x_l + r_0 x_0`. The last value, `x_0`, hides the others in it and is then given up.
//!
//! **Order.** A party commits to the coin `r` when it has all MAC messages.

use crate::coins::Coins;
use crate::key::MacKey;
use crate::openings::Openings;
use crate::planted::{Mistake, planted};
use crate::secret::Secret;
use crate::step;
use tacit_kernel::Element;
use tacit_kernel::field::Fp128;
use tacit_ot::copee::{Multiplicand, Multiplier, PRODUCT_BYTES};
use tacit_session::{At, Error, Session};

/// Values in a message: 256 KiB.
const PIECE: usize = 128;

/// What a party has with each other one to make products with its key share, and with the peer's.
pub(crate) struct Link {
    pub(crate) peer: usize,
    /// For this party's values and the peer's key share.
    pub(crate) own: Multiplicand,
    /// For the peer's values and this party's key share.
    pub(crate) theirs: Multiplier,
}

/// The three numbers of a call's steps.
pub(crate) type Ops = [u32; 3];

/// Has all parties' values authenticated: party `j` has `counts[j]` of them. Gives this party's shares of all MACs, by owner.
/// Ten rounds.
///
/// # Errors
/// If somebody's values weren't the same for all others, or a link fails. The session is over.
pub(crate) fn authenticate(
    session: &mut Session,
    links: &mut [Link],
    key: &MacKey,
    [macs_op, shares_op, check_op]: Ops,
    own: &[Fp128],
    counts: &[usize],
) -> Result<Vec<Secret>, Error> {
    let me = session.me();
    // Who has values has a random one more.
    let counts: Vec<usize> = counts.iter().map(|&count| count + usize::from(count > 0)).collect();
    let mask = Secret::random(session, counts[me] - own.len())?;
    let values: Secret = own.iter().chain(mask.iter()).copied().collect();
    let mut coins = None;
    if planted(Mistake::AuthenticatedEarly) {
        coins = Some(Coins::toss(session)?);
    }
    let macs = make_macs(session, links, key, macs_op, &values, &counts)?;
    let mut coins = match coins {
        Some(coins) => coins,
        None => Coins::toss(session)?,
    };

    // y_j and this party's share of its MAC, by owner.
    let mut sums = vec![[Fp128::ZERO; 2]; counts.len()];
    for (owner, (sum, macs)) in sums.iter_mut().zip(&macs).enumerate() {
        *sum = coins.weigh(if owner == me { &values } else { macs }, macs);
    }
    let at = At { lane: 0, part: step::SHARES, op: shares_op, batch: 0 };
    if counts[me] > 0 {
        for link in &*links {
            session.mesh().send(link.peer, at, &sums[me][0].to_u128().to_le_bytes())?;
        }
    }
    for link in &*links {
        if counts[link.peer] > 0 {
            let message = session.mesh().recv(link.peer, at, 16)?;
            let value = message.first_chunk().copied().unwrap_or_default();
            sums[link.peer][0] = Fp128::from_u128(u128::from_le_bytes(value));
        }
    }
    if !planted(Mistake::AuthenticatedUnchecked) {
        let mut opened = Openings::default();
        for [y, mac] in sums {
            opened.note(&[y], vec![mac].into());
        }
        opened.check(session, key, check_op)?;
    }
    Ok(macs)
}

/// Makes the shares of all MACs, unchecked. While a message travels the next one is computed.
fn make_macs(
    session: &mut Session,
    links: &mut [Link],
    key: &MacKey,
    op: u32,
    values: &[Fp128],
    counts: &[usize],
) -> Result<Vec<Secret>, Error> {
    let me = session.me();
    let mut macs: Vec<Secret> = counts.iter().map(|&count| Secret::zeros(count)).collect();
    for (mac, value) in macs[me].iter_mut().zip(values) {
        *mac = value.wrapping_mul(key.share());
    }
    let pieces = counts.iter().max().map_or(0, |most| most.div_ceil(PIECE));
    let at = |piece: usize| At { lane: 0, part: step::MACS, op, batch: piece as u32 };
    let mut shares = Secret::zeros(PIECE);
    for piece in 0..=pieces {
        let own = part(counts[me], piece);
        if !own.is_empty() {
            for link in &mut *links {
                let shares = &mut shares[..own.len()];
                let mut message = session.mesh().buffer(PRODUCT_BYTES * own.len());
                let words = Secret::words(&values[own.clone()]);
                link.own.extend(words, bytemuck::cast_slice_mut(shares), &mut message);
                session.mesh().send_vec(link.peer, at(piece), message)?;
                for (mac, share) in macs[me][own.clone()].iter_mut().zip(&*shares) {
                    *mac = mac.wrapping_add(*share);
                }
            }
        }
        let Some(last) = piece.checked_sub(1) else { continue };
        for link in &mut *links {
            let theirs = part(counts[link.peer], last);
            if !theirs.is_empty() {
                let message = session.mesh().recv(link.peer, at(last), PRODUCT_BYTES * theirs.len())?;
                link.theirs.extend(&message, bytemuck::cast_slice_mut(&mut macs[link.peer][theirs]));
                session.mesh().recycle(message);
            }
        }
    }
    Ok(macs)
}

/// The values of a party that has so many which are in a piece.
fn part(count: usize, piece: usize) -> std::ops::Range<usize> {
    count.min(PIECE * piece)..count.min(PIECE * (piece + 1))
}
