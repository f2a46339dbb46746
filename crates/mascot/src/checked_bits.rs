//! Random bits of GF(2^128), made of bits that parties put in and prove.
//!
//! Each party has random bits of its own authenticated, and `x_k` is their sum. A corrupt one may put in another element. In
//! this field `0` and `1` are a subfield, which sums don't leave. So for each of [`SUMS`] times a coin picks some of the `x_k`,
//! and all open their sum and a further bit, which hides it:
//!
//! ```text
//! z_t = x_(l + t) + sum of x_k picked for t          each z_t has to be 0 or 1
//! ```
//!
//! # Security
//! If some `x_k` is neither, then of two picks that differ in it alone one has a sum that is neither, whatever `x_(l + t)` is.
//! Picks are tossed when all `x_k` are authenticated, and that is checked. So all `z_t` are bits with a probability of at most
//! 2^-80. Honest parties' part of each `z_t` is hidden by their part of `x_(l + t)`, which is used for nothing else.

use crate::authenticate::{authenticate, sum_of_owners};
use crate::coins::Coins;
use crate::key::MacKey;
use crate::macs::Macs;
use crate::openings::Openings;
use crate::planted::{Mistake, planted, tap};
use crate::secret::{Secret, generator};
use crate::shares::Shares;
use tacit_kernel::gf128::Gf128;
use tacit_session::{Error, Session};
use zeroize::Zeroizing;

/// Sums that are opened.
pub(crate) const SUMS: usize = 80;

/// Steps that have a number of their own.
pub(crate) const STEPS: usize = 6;

/// Makes `count` bits; all but that all accept. Nine rounds more than [`authenticate`].
///
/// # Errors
/// If somebody put in something else, or a link fails. The session is over.
pub(crate) fn checked_bits(
    session: &mut Session,
    maker: &mut Macs<Gf128>,
    key: &MacKey<Gf128>,
    [macs, sums, made, shares, checked, _]: [u32; STEPS],
    count: usize,
) -> Result<Shares<Gf128>, Error> {
    let all = count + SUMS;
    let mut words = Zeroizing::new(vec![0_u64; all.div_ceil(64)]);
    generator(session)?.fill(0, 0, bytemuck::cast_slice_mut(&mut words));
    let mut own: Secret<Gf128> =
        (0..all).map(|at| Gf128(u128::from(words[at / 64] >> (at % 64) & 1))).collect();
    tap("bits", &mut own);
    let counts = vec![all; session.parties()];
    let by_owner = authenticate(session, maker, key, [macs, sums, made], &own, &counts)?;
    let bits = Shares { macs: sum_of_owners(&by_owner, all), values: own };
    if !planted(Mistake::BitsUnchecked) {
        check(session, key, [shares, checked], &bits, count)?;
    }
    Ok(bits.range(0..count))
}

/// Checks that all are bits. Nine rounds: a coin, an opening, a check.
fn check(
    session: &mut Session,
    key: &MacKey<Gf128>,
    [shares, checked]: [u32; 2],
    bits: &Shares<Gf128>,
    count: usize,
) -> Result<(), Error> {
    let mut coins = Coins::toss(session)?;
    let mut sums = bits.range(count..count + SUMS);
    for at in 0..count {
        // Each bit of it says whether a sum has this value.
        let picks = coins.one::<Gf128>().0;
        for (sum, values) in [(&mut sums.values, &bits.values), (&mut sums.macs, &bits.macs)] {
            for (t, sum) in sum.iter_mut().enumerate() {
                let picked = (picks >> t & 1).wrapping_neg();
                *sum = sum.plus(Gf128(values[at].0 & picked));
            }
        }
    }
    let mut openings = Openings::default();
    let opened = openings.open(session, shares, sums)?;
    openings.check(session, key, checked)?;
    if opened.iter().any(|sum| sum.0 > 1) {
        return Err(session.reject("somebody's bits are none"));
    }
    Ok(())
}
