//! The second of two triples of the same `b` is given up to check the first (MASCOT, protocol 4, Sacrifice).
//!
//! For a random `s` all open `rho = s a - a^`. Then
//!
//! ```text
//! s c - c^ - b rho = s (c - a b) - (c^ - a^ b)
//! ```
//!
//! is 0 if both triples are right. Otherwise it is so for one `s` at most. It isn't opened: the check of MACs says whether
//! it is 0, with that of `rho`. `a^` is used for nothing else, so `rho` tells nothing of `a`.
//!
//! **Order.** `s` is tossed when all shares are authenticated, and that is checked: errors of `c` and `c^` are fixed then.

use crate::coins::Coins;
use crate::combine::part;
use crate::field::FieldElement;
use crate::key::MacKey;
use crate::openings::Openings;
use crate::planted::tap;
use crate::shares::{Shares, Triples};
use tacit_session::{Error, Session};

/// Tosses `s`. Two rounds.
pub(crate) fn coin<E: FieldElement>(session: &mut Session) -> Result<E, Error> {
    let mut s = [Coins::toss(session)?.one()];
    tap("coin", &mut s);
    Ok(s[0])
}

/// Checks `count` triples: of shares of all `a`, `b`, `c`, `a^` and `c^`, in this order. Seven rounds.
///
/// # Errors
/// If a triple isn't right, or a link fails. The session is over.
pub(crate) fn sacrifice<E: FieldElement>(
    session: &mut Session,
    key: &MacKey<E>,
    [shares_op, check_op]: [u32; 2],
    s: E,
    all: &Shares<E>,
    count: usize,
) -> Result<Triples<E>, Error> {
    let [a, b, c, other_a, other_c] = [0, 1, 2, 3, 4].map(|number| all.range(part(number, count)));
    let mut openings = Openings::default();
    let rho = a.with(&other_a, |_, a, other| s.wrapping_mul(a).wrapping_sub(other));
    let rho = openings.open(session, shares_op, rho)?;
    let zero = c.with(&other_c, |_, c, other| s.wrapping_mul(c).wrapping_sub(other));
    let zero = zero.with(&b, |at, sum, b| sum.wrapping_sub(b.wrapping_mul(rho[at])));
    openings.note(&vec![E::ZERO; count], zero.macs);
    openings.check(session, key, check_op)?;
    Ok(Triples { a, b, c })
}
