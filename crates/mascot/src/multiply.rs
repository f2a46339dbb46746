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
//! `a^(i)` is drawn as bits, the same for all peers. An element below 159 has two forms of 128 bits: 2^-120 from uniform. In
//! other prime fields it is as close, but for that of 64 bits, where it is 2^-58.

use crate::field::FieldElement;
use crate::secret::{Secret, generator};
use crate::step;
use tacit_ot::copee::Field;
use tacit_ot::{Choices, Form, Ot, Received, Request, Sent, Sink};
use tacit_session::{At, Error, Session};
use zeroize::Zeroizing;

/// Products that are combined to one: the paper's tau. With three of 128 bits what a corrupt party learns of an
/// honest one's factors by guessing bits is less than 2^-63.2 in all triples under one key together, and so much more
/// as there are honest parties, lanes and attempts (docs/protocols/mascot.md, "What guesses give"). With two, both
/// combinations of a triple together would give all guessed bits away. At 64 bits four have the bits that three have
/// at 128.
pub(crate) const fn tau(field: Field) -> usize {
    if field.bits() < 128 { MAX_TAU } else { 3 }
}

/// The most of them.
pub(crate) const MAX_TAU: usize = 4;

/// OTs of a triple with each peer, each way.
pub(crate) const fn ots(field: Field) -> usize {
    tau(field) * field.bits()
}

/// OTs whose differences go in a message: those of a batch.
const PIECE_OTS: usize = 8064;

/// Messages of differences that a party sends before it takes the first of its peers': 1 MiB, which is under way on a link of
/// 50 Mbit/s for 170 ms. All of them are there by then.
const AHEAD: usize = 8;

/// Triples in a message, of so many OTs each.
const fn piece(ots: usize) -> usize {
    PIECE_OTS / ots
}

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
    let mut choices = Zeroizing::new(vec![0; count * tau * E::BITS / 64]);
    generator(session)?.fill(0, 0, bytemuck::cast_slice_mut(&mut choices));
    let b = Secret::random(session, count)?;
    let bits = choices.chunks_exact(E::BITS / 64);
    let a: Secret<E> = bits.map(|bits| E::from_bytes(bytemuck::cast_slice(bits))).collect();
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
    let (count, ots) = (products.b.len(), tau * E::BITS);
    let piece = piece(ots);
    let mut messages = vec![Vec::new(); session.parties()];
    for peer in session.others() {
        let pieces = (0..count).step_by(piece).map(|first| piece.min(count - first));
        messages[peer] = pieces.map(|triples| session.mesh().buffer(E::BYTES * ots * triples)).collect();
    }
    let mut halves = Halves { tau, piece, b: &products.b, c: &mut products.c, messages };
    let given = vec![choices; session.parties() - 1];
    let choices = Choices::Given(&given);
    ot.extend(session, &Request { op, count: count * ots, choices, form: Form::Random }, &mut halves)?;
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
    let size = tau * piece(tau * E::BITS);
    let pieces = c.len().div_ceil(size);
    let mut messages: Vec<_> = messages.into_iter().map(Vec::into_iter).collect();
    for piece in 0..pieces + AHEAD {
        for peer in session.others() {
            if let Some(message) = messages[peer].next() {
                session.mesh().send_vec(peer, at(piece), message)?;
            }
        }
        let Some(last) = piece.checked_sub(AHEAD) else { continue };
        let first = size * last;
        let end = c.len().min(first + size);
        for peer in session.others() {
            let message = session.mesh().recv(peer, at(last), E::BYTES * E::BITS * (end - first))?;
            let bits = choices.chunks_exact(E::BITS / 64).skip(first);
            let blocks = message.chunks_exact(E::BYTES * E::BITS);
            for ((c, bits), differences) in c[first..end].iter_mut().zip(bits).zip(blocks) {
                *c = c.wrapping_add(E::chosen(bits, differences));
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
    /// Triples in a message.
    piece: usize,
    b: &'a [E],
    c: &'a mut [E],
    /// Differences, by peer, in pieces.
    messages: Vec<Vec<Vec<u8>>>,
}

impl<E: FieldElement> Sink for Halves<'_, E> {
    fn sent(&mut self, ots: Sent<'_>) {
        let groups = ots.zeros.chunks_exact(E::GROUP).zip(ots.ones.chunks_exact(E::GROUP));
        for (first, (zeros, ones)) in (ots.first..).step_by(E::GROUP).zip(groups) {
            let (at, h) = (first / E::BITS, first % E::BITS);
            let triple = at / self.tau;
            let message = &mut self.messages[ots.peer][triple / self.piece];
            let sum = E::offered(zeros, ones, self.b[triple], message);
            self.c[at] = self.c[at].wrapping_sub(sum.raised(h));
        }
    }

    fn received(&mut self, ots: Received<'_>) {
        let groups = ots.values.chunks_exact(E::GROUP);
        for (first, values) in (ots.first..).step_by(E::GROUP).zip(groups) {
            let (at, h) = (first / E::BITS, first % E::BITS);
            self.c[at] = self.c[at].wrapping_add(E::taken(values).raised(h));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the bound of guesses rests on: (tau - 2) k / 2 bits are 64 at least.
    #[test]
    fn there_are_as_many_products_as_the_bound_says() {
        use Field::{Binary, Prime, Prime64, Prime256, Prime512};
        for (field, products, transfers) in
            [(Prime, 3, 384), (Binary, 3, 384), (Prime64, 4, 256), (Prime256, 3, 768), (Prime512, 3, 1536)]
        {
            assert_eq!([tau(field), ots(field)], [products, transfers]);
            assert!((tau(field) - 2) * field.bits() / 2 >= 64);
            assert!(tau(field) <= MAX_TAU && piece(ots(field)) > 0);
        }
        assert_eq!(PIECE_OTS, tacit_ot::Params::DEFAULT.batch());
        assert_eq!(piece(ots(Prime)) * ots(Prime), PIECE_OTS);
    }
    const PAGE: &str = include_str!("../../../docs/protocols/mascot.md");

    /// The binary logarithm of what all attacked triples under a key give of an honest party, and at how many in one batch a
    /// single batch's is largest.
    fn guesses(tau: usize, bits: usize) -> (f64, usize) {
        let [k, all] = [bits, tau * bits].map(|bits| bits as f64);
        // Of a triple: the square is p^2 / 2^(tau k + 2) + p^-2.
        let triple = ((2.0 * k - all - 2.0).exp2() + (-2.0 * k).exp2()).sqrt();
        // That an attack passes at all: sqrt(1/2 + p^-2), rounded up as on the page.
        let passes = ((0.5 + (-2.0 * k).exp2()).sqrt() * 1000.0).ceil() / 1000.0;
        let batch = |triples: usize| triples as f64 * passes.powi(triples as i32 - 1);
        let most = (1..100).max_by(|&x, &y| batch(x).total_cmp(&batch(y))).expect("there are some");
        assert!(batch(most) < 1.51 && (3.42..3.43).contains(&(1.0 / (1.0 - passes))), "{passes}");
        ((triple / (1.0 - passes)).log2(), most)
    }

    /// docs/protocols/mascot.md, "Bounds": by the number of products that there are, with the numbers that the page has.
    #[test]
    fn the_bounds_are_those_of_the_page() {
        use Field::{Binary, Prime, Prime64, Prime256, Prime512};
        let says = |what: &str| assert!(PAGE.contains(what), "the page doesn't say {what:?}");
        for field in [Prime, Binary] {
            let (bound, most) = guesses(tau(field), field.bits());
            assert_eq!(most, 3);
            says("is largest for T = 3: below `1.51 * 2^-65`");
            assert!(bound < -63.2, "{bound}");
            says(&format!("less than 2^{bound:.1} for a key and an honest party"));
            // Two honest parties, eight lanes, one attempt.
            says(&format!("with 2 honest parties, 8 lanes and one attempt 2^{:.1}", bound + 4.0));
        }
        for (field, below) in [(Prime64, -62.0), (Prime256, -127.0), (Prime512, -127.0)] {
            assert!(guesses(tau(field), field.bits()).0 < below, "{field:?}");
        }
        says("in all triples under a key below `2^-62`; at 256 bits below `2^-127`");
        // With a product less there is none.
        assert!(guesses(tau(Prime) - 1, Prime.bits()).0 > 0.0);

        // An s passes for one in p of what is checked together.
        let together = (crate::CHECKED_TOGETHER * crate::BATCH) as f64;
        says(&format!("`{together}/p`, 2^-{:.1}", 64.0 - together.log2()));
        assert!(together.log2() - 128.0 < -113.0);
        says("All that is below 2^-113 for what is checked together");
        // Authenticate: (n - H + 1) C(k H, 2) / p.
        let pairs = |bits: usize, [parties, honest]: [usize; 2]| {
            let (own, equal) = (bits * honest, parties - honest + 1);
            ((equal * own * (own - 1) / 2) as f64).log2() - bits as f64
        };
        for (bits, parties, below) in [(128, [2, 1], -114.0), (128, [5, 4], -110.0), (64, [2, 1], -52.0)] {
            assert!((below - 0.1..below + 0.1).contains(&pairs(bits, parties)), "{}", pairs(bits, parties));
        }
        says("2^-114 for two parties with one honest, 2^-110 for five with four");
        says("binds but for 2^-52 for each batch of 64-bit values");
    }
}
