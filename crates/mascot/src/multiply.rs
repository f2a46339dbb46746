//! Products of shares, by oblivious transfer (MASCOT, protocol 4, Multiply; Gilboa 1999).
//!
//! For each triple `P_i` has `a^(i)`, tau elements, and `b^(i)`. Each ordered pair `(P_i, P_j)` shares `a^(i) b^(j)`: for
//! bit `h` of an element of `a^(i)` there is an OT of random values `q_0` and `q_1` that `P_j` sends, of which `P_i` gets `s`,
//! that of its bit `a_h`. `P_j` sends `d`, and `P_i` computes `t`:
//!
//! ```text
//! d_h = q_(0,h) - q_(1,h) + b          t_h = s_h + a_h d_h = q_(0,h) + a_h b
//! sum of 2^h t_h = sum of 2^h q_(0,h) + a b
//! ```
//!
//! So `P_i` adds `sum of 2^h t_h` to its share of the products, and `P_j` takes `sum of 2^h q_(0,h)` off its own. Nobody
//! learns anything: a `q` hides `b` in `d`, and `a` chooses alone. But `P_j` may take another `b` for each bit. What that
//! gives it is for [`crate::combine`] to take away.
//!
//! `a^(i)` is drawn as bits, the same for all peers. An element below 159 has two forms of 128 bits: 2^-120 from uniform.

use crate::field::{BITS, FieldElement};
use crate::secret::{Secret, generator};
use crate::step;
use tacit_ot::{Choices, Form, Ot, Received, Request, Sent, Sink};
use tacit_session::{At, Error, Session};
use zeroize::Zeroizing;

/// Products that are combined to one: the paper's tau. With three what a corrupt party learns of an honest one's factors by
/// guessing bits is less than 2^-63.2 in all triples under one key together, and so much more as there are honest parties,
/// lanes and attempts (docs/protocols/mascot.md, "What guesses give"). With two, both combinations of a triple together
/// would give all guessed bits away.
pub(crate) const TAU: usize = 3;

/// OTs of a triple with each peer, each way.
pub(crate) const OTS: usize = TAU * BITS;

/// Triples in a message: those of a batch of OTs.
const PIECE: usize = 21;

/// Bytes of an OT's difference.
const BYTES: usize = 16;

/// A party's shares of some triples' factors and products. The first factors, and with them the products, have tau elements,
/// which follow one another.
pub(crate) struct Products<E: FieldElement> {
    pub(crate) a: Secret<E>,
    pub(crate) b: Secret<E>,
    pub(crate) c: Secret<E>,
}

/// Makes `tau` products for each of `count` triples, unchecked. `ots` and `op` are numbers that no other step has.
///
/// # Errors
/// If a check of the OTs fails, or a link does. The session is over.
pub(crate) fn multiply<E: FieldElement>(
    session: &mut Session,
    ot: &mut Ot,
    [ots, op]: [u32; 2],
    tau: usize,
    count: usize,
) -> Result<Products<E>, Error> {
    let mut choices = Zeroizing::new(vec![0; count * tau * BITS / 64]);
    generator(session)?.fill(0, 0, bytemuck::cast_slice_mut(&mut choices));
    let b = Secret::random(session, count)?;
    let a: Secret<E> = (0..count * tau).map(|at| E::from_u128(bits(&choices, at))).collect();
    let c = a.iter().enumerate().map(|(at, a)| a.wrapping_mul(b[at / tau])).collect();
    let mut products = Products { a, b, c };
    let messages = transfer(session, ot, ots, tau, &choices, &mut products)?;
    exchange(session, op, messages, tau, &choices, &mut products.c)?;
    Ok(products)
}

/// Makes the OTs. Adds to the products what this party has of them without a peer's differences; gives its own, by peer, in
/// pieces.
fn transfer<E: FieldElement>(
    session: &mut Session,
    ot: &mut Ot,
    op: u32,
    tau: usize,
    choices: &[u64],
    products: &mut Products<E>,
) -> Result<Vec<Vec<Vec<u8>>>, Error> {
    let count = products.b.len();
    let mut messages = vec![Vec::new(); session.parties()];
    for peer in session.others() {
        let pieces = (0..count).step_by(PIECE).map(|first| PIECE.min(count - first));
        messages[peer] = pieces.map(|triples| session.mesh().buffer(BYTES * tau * BITS * triples)).collect();
    }
    let mut halves = Halves { tau, b: &products.b, c: &mut products.c, messages };
    let given = vec![choices; session.parties() - 1];
    let choices = Choices::Given(&given);
    ot.extend(session, &Request { op, count: count * tau * BITS, choices, form: Form::Random }, &mut halves)?;
    Ok(halves.messages)
}

/// Exchanges the differences, and adds to the products what they give.
fn exchange<E: FieldElement>(
    session: &mut Session,
    op: u32,
    messages: Vec<Vec<Vec<u8>>>,
    tau: usize,
    choices: &[u64],
    c: &mut [E],
) -> Result<(), Error> {
    let at = |piece: usize| At { lane: 0, part: step::PRODUCTS, op, batch: piece as u32 };
    let pieces = c.len().div_ceil(tau * PIECE);
    let mut messages: Vec<_> = messages.into_iter().map(Vec::into_iter).collect();
    for piece in 0..=pieces {
        for peer in session.others() {
            if let Some(message) = messages[peer].next() {
                session.mesh().send_vec(peer, at(piece), message)?;
            }
        }
        let Some(last) = piece.checked_sub(1) else { continue };
        let first = tau * PIECE * last;
        let end = c.len().min(first + tau * PIECE);
        for peer in session.others() {
            let message = session.mesh().recv(peer, at(last), BYTES * BITS * (end - first))?;
            let blocks = message.as_chunks::<BYTES>().0.as_chunks::<BITS>().0;
            for (at, differences) in (first..end).zip(blocks) {
                let bits = &choices[2 * at..2 * at + 2];
                let chosen = |h: usize| {
                    let mask = (bits[h / 64] >> (h % 64) & 1).wrapping_neg();
                    u128::from_le_bytes(differences[h]) & (u128::from(mask) << 64 | u128::from(mask))
                };
                c[at] = c[at].wrapping_add(E::sum_of_powers(chosen));
            }
            session.mesh().recycle(message);
        }
    }
    Ok(())
}

/// What comes of the OTs.
struct Halves<'a, E: FieldElement> {
    /// Products for each triple.
    tau: usize,
    b: &'a [E],
    c: &'a mut [E],
    /// Differences, by peer, in pieces.
    messages: Vec<Vec<Vec<u8>>>,
}

impl<E: FieldElement> Sink for Halves<'_, E> {
    fn sent(&mut self, ots: Sent<'_>) {
        let blocks = ots.zeros.as_chunks::<BITS>().0.iter().zip(ots.ones.as_chunks::<BITS>().0);
        for (at, (zeros, ones)) in (ots.first / BITS..).zip(blocks) {
            let b = self.b[at / self.tau].to_u128();
            self.c[at] = self.c[at].wrapping_sub(E::sum_of_powers(|h| zeros[h]));
            let mut differences = [0; BITS];
            for ((difference, zero), one) in differences.iter_mut().zip(zeros).zip(ones) {
                *difference = E::FIELD.masked(*zero, *one, b);
            }
            self.messages[ots.peer][at / self.tau / PIECE]
                .extend_from_slice(bytemuck::bytes_of(&differences));
        }
    }

    fn received(&mut self, ots: Received<'_>) {
        for (at, values) in (ots.first / BITS..).zip(ots.values.as_chunks::<BITS>().0) {
            self.c[at] = self.c[at].wrapping_add(E::sum_of_powers(|h| values[h]));
        }
    }
}

/// The bits of an element.
fn bits(choices: &[u64], at: usize) -> u128 {
    u128::from(choices[2 * at + 1]) << 64 | u128::from(choices[2 * at])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the bound of guesses rests on: (tau - 2) 128 / 2 = 64 bits.
    #[test]
    fn there_are_as_many_products_as_the_bound_says() {
        assert_eq!([TAU, BITS, OTS], [3, 128, 384]);
        assert_eq!(PIECE * OTS, tacit_ot::Params::DEFAULT.batch());
    }
}
