//! What is made of fresh values, and of triples: input tuples, squares and random bits.
//!
//! **Input tuples.** The owner `P_j` draws `x`. The others' shares come from the streams that they have with it, and its own
//! is what is left. So no share is sent, and each is uniform: sums that are opened later show no owner's value.
//!
//! **Squares.** Of a triple `c = a b` the difference `d = a - b` is opened, which `b` hides: `a^2 = a b + a (a - b) = c + d a`.
//!
//! **Random bits** (Damgård et al. 2006). Of a square, `t = a^2` is opened. Let `w` be the smaller one of its two roots, as an
//! integer. Then `a / w` is 1 or -1, each with probability 1/2 as nobody knows the sign of `a`, and `(a / w + 1) / 2` is a bit.

use crate::field::FieldElement;
use crate::key::MacKey;
use crate::openings::Openings;
use crate::roots::{inverse, root};
use crate::secret::Secret;
use crate::shares::{Shares, Squares, Triples};
use crate::step;
use tacit_kernel::field::Fp128;
use tacit_session::{Draw, Error, Session};

/// Draws this party's own values, and its shares of everybody's, by owner. Nothing is sent. Owner `j` has the draw number
/// `op + j`.
pub(crate) fn split<E: FieldElement>(
    session: &mut Session,
    op: u32,
    counts: &[usize],
) -> Result<(Secret<E>, Vec<Secret<E>>), Error> {
    let me = session.me();
    let draw = |owner: usize| Draw { part: step::INPUT_SHARE, op: op + owner as u32 };
    let values = Secret::random(session, counts[me])?;
    let mut shares: Vec<Secret<E>> = counts.iter().map(|&count| Secret::zeros(count)).collect();
    shares[me].copy_from_slice(&values);
    let mut theirs = Secret::zeros(counts[me]);
    for peer in session.others() {
        E::fill_shared(session.stream(peer), draw(me), &mut theirs);
        for (share, other) in shares[me].iter_mut().zip(&*theirs) {
            *share = share.wrapping_sub(*other);
        }
        E::fill_shared(session.stream(peer), draw(peer), &mut shares[peer]);
    }
    Ok((values, shares))
}

/// Shares with their MACs, by owner. There may be more MACs than shares, of what was given up.
pub(crate) fn with_macs<E: FieldElement>(shares: Vec<Secret<E>>, macs: &[Secret<E>]) -> Vec<Shares<E>> {
    let both = shares.into_iter().zip(macs);
    both.map(|(values, macs)| {
        let macs = macs[..values.len()].iter().copied().collect();
        Shares { values, macs }
    })
    .collect()
}

/// Squares of the triples' first factors. Seven rounds.
pub(crate) fn squares<E: FieldElement>(
    session: &mut Session,
    key: &MacKey<E>,
    [op, check]: [u32; 2],
    triples: Triples<E>,
) -> Result<Squares<E>, Error> {
    let mut openings = Openings::default();
    let squares = to_squares(session, op, triples, &mut openings)?;
    openings.check(session, key, check)?;
    Ok(squares)
}

/// Bits from triples, in the prime field. Eight rounds.
pub(crate) fn bits(
    session: &mut Session,
    key: &MacKey<Fp128>,
    [op, opened, check]: [u32; 3],
    triples: Triples,
) -> Result<Shares, Error> {
    let mut openings = Openings::default();
    let Squares { roots, squares } = to_squares(session, op, triples, &mut openings)?;
    let squares = openings.open(session, opened, squares)?;
    openings.check(session, key, check)?;

    let two = Fp128::ONE.wrapping_add(Fp128::ONE);
    let half = inverse(two);
    let scales = squares.iter().map(|square| root(*square).map(|root| inverse(two.wrapping_mul(root))));
    let scales: Option<Vec<Fp128>> = scales.collect();
    let Some(scales) = scales else {
        return Err(session.reject("a random value's square is zero, or none"));
    };
    // a / (2 w) + 1/2: the first party has the constant in its share.
    let constant = if session.me() == 0 { half } else { Fp128::ZERO };
    let scaled = |shares: &Secret, constant: Fp128| -> Secret {
        let both = shares.iter().zip(&scales);
        both.map(|(share, scale)| share.wrapping_mul(*scale).wrapping_add(constant)).collect()
    };
    let macs = scaled(&roots.macs, half.wrapping_mul(key.share()));
    Ok(Shares { values: scaled(&roots.values, constant), macs })
}

fn to_squares<E: FieldElement>(
    session: &mut Session,
    op: u32,
    Triples { a, b, c }: Triples<E>,
    openings: &mut Openings<E>,
) -> Result<Squares<E>, Error> {
    let differences = openings.open(session, op, a.minus(&b))?;
    let squares = c.with(&a, |at, c, a| c.wrapping_add(differences[at].wrapping_mul(a)));
    Ok(Squares { roots: a, squares })
}
