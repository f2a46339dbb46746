//! COPEe: correlated oblivious product evaluation with errors (Keller, Orsini, Scholl, "MASCOT", CCS 2016, protocol 1).
//!
//! `P_B` has a fixed number `delta` of a field of 128 bits, its MAC key's share say; `P_A` has numbers `x`. They get additive
//! shares of each product: `t` for `P_A` and `q` for `P_B` with `q + t = x delta`.
//!
//! **Initialize.** 128 base OTs, of which `P_B` chooses by the bits `delta_i`: `P_A` has pairs of keys, `P_B` one of each.
//!
//! **Extend.** With `F` a stream under a key, and `g_i` the powers of 2, or of `X`, `P_A` sends for each `x` and `i`
//!
//! ```text
//! u_i = F(k_i^0) - F(k_i^1) + x          q_i = F(k_i^(delta_i)) + delta_i u_i = F(k_i^0) + delta_i x
//! t = -<g, F(k^0)>                       q = <g, q_i> = <g, F(k^0)> + x delta
//! ```
//!
//! # Security
//! `P_A` may take another `x` for each `i`; nothing here notices. The products are then off by a number that depends on
//! bits of `delta`, and whoever uses them checks random sums of them before anything else (MASCOT, protocol 2). `delta` is
//! the choice of base OTs of its own, never the secret of an extension: [`crate::Ot`] draws that itself.

use crate::base::{Chosen, Key, Offered};
use crate::context::Context;
use crate::params::{BASE_BYTES, LAMBDA, Params};
use crate::step;
use tacit_kernel::Element;
use tacit_kernel::aes::Aes128Ctr;
use tacit_kernel::field::Fp128;
use tacit_kernel::gf128::Gf128;
use tacit_net::At;
use tacit_session::{Error, Session};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Bytes that a product costs, all from `P_A`.
pub const PRODUCT_BYTES: usize = LAMBDA * 16;

/// What products are of. Elements are words of 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Integers modulo 2^128 - 159.
    Prime,
    /// GF(2^128).
    Binary,
}

impl Field {
    fn add(self, a: u128, b: u128) -> u128 {
        match self {
            Self::Prime => Fp128::from_u128(a).wrapping_add(Fp128::from_u128(b)).to_u128(),
            Self::Binary => a ^ b,
        }
    }

    fn sub(self, a: u128, b: u128) -> u128 {
        match self {
            Self::Prime => Fp128::from_u128(a).wrapping_sub(Fp128::from_u128(b)).to_u128(),
            Self::Binary => a ^ b,
        }
    }

    /// Times 2, or times `X`.
    fn double(self, a: u128) -> u128 {
        match self {
            Self::Prime => self.add(a, a),
            Self::Binary => Gf128(a).double().0,
        }
    }

    /// The elements of a key's stream, from number `first` on.
    fn fill(self, key: &Aes128Ctr, first: u64, out: &mut [u128]) {
        u128::fill(key, 0, first, out);
        if self == Self::Prime {
            for word in out {
                *word = Fp128::from_u128(*word).to_u128();
            }
        }
    }
}

/// `P_A`: has all pairs of keys.
pub struct Multiplicand {
    field: Field,
    keys: Vec<[Aes128Ctr; 2]>,
    /// Products so far.
    products: u64,
}

/// `P_B`: has its number, and a key of each pair.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Multiplier {
    #[zeroize(skip)]
    field: Field,
    delta: u128,
    /// Wiped by themselves.
    #[zeroize(skip)]
    keys: Vec<Aes128Ctr>,
    /// Products so far.
    products: u64,
}

impl std::fmt::Debug for Multiplicand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Multiplicand").field("field", &self.field).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Multiplier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Multiplier").field("field", &self.field).finish_non_exhaustive()
    }
}

/// Initializes with each of `peers` in both directions: as `P_B` with this party's `delta`, and as `P_A` for theirs. `op`
/// is a number that no other setup or extension of the plan has. One round: [`initialize_bytes`] to each peer.
///
/// # Errors
/// If a peer sends something that isn't a point, or a link fails.
pub fn initialize(
    session: &mut Session,
    peers: &[usize],
    field: Field,
    delta: u128,
    op: u32,
) -> Result<Vec<(Multiplicand, Multiplier)>, Error> {
    let me = session.me();
    let at = |part| At { lane: 0, part, op, batch: 0 };
    // The field is part of the context, as parameters are.
    let params = Params::DEFAULT;
    let context =
        |session: &Session, ends| Context::new(session, ends, op, &params).within(&format!("{field:?}"));
    let mut begun = Vec::new();
    for &peer in peers {
        let choices = Zeroizing::new((0..LAMBDA).map(|bit| (delta >> bit) as u8 & 1).collect());
        let (mine, theirs) = (context(session, [peer, me]), context(session, [me, peer]));
        let chosen = Chosen::new(&mine, choices, session.entropy())?;
        let offered = Offered::new(LAMBDA, session.entropy())?;
        session.mesh().send(peer, at(step::COPEE_CHOICES), chosen.message())?;
        session.mesh().send(peer, at(step::COPEE_POINTS), offered.message())?;
        begun.push((peer, mine, chosen, theirs, offered));
    }
    let mut both = Vec::new();
    for (peer, mine, chosen, theirs, offered) in begun {
        let [choices, points] = BASE_BYTES.map(|bytes| LAMBDA * bytes);
        let message = session.mesh().recv(peer, at(step::COPEE_CHOICES), choices)?;
        let pairs = offered.keys(&theirs, &message);
        let message = session.mesh().recv(peer, at(step::COPEE_POINTS), points)?;
        let (Some(pairs), Some(keys)) = (pairs, chosen.keys(&mine, &message)) else {
            let peer = session.name(peer).to_owned();
            return Err(
                session.reject(&format!("what {peer} sent for a base oblivious transfer is no point"))
            );
        };
        both.push((Multiplicand::new(field, &pairs), Multiplier::new(field, delta, &keys)));
    }
    Ok(both)
}

/// Payload bytes of [`initialize`] on each link, both directions of base OTs together.
pub fn initialize_bytes() -> u64 {
    BASE_BYTES.iter().map(|bytes| (LAMBDA * bytes) as u64).sum()
}

impl Multiplicand {
    fn new(field: Field, keys: &[[Key; 2]]) -> Self {
        let keys = keys.iter().map(|pair| pair.each_ref().map(|key| Aes128Ctr::new(key))).collect();
        Self { field, keys, products: 0 }
    }

    /// Extends by a product for each of `xs`: writes this party's shares, and what is sent.
    ///
    /// # Panics
    /// If there isn't room for a share for each.
    pub fn extend(&mut self, xs: &[u128], shares: &mut [u128], message: &mut Vec<u8>) {
        assert_eq!(xs.len(), shares.len(), "a share for every product");
        let field = self.field;
        let (mut zeros, mut ones) = (vec![0; xs.len()], vec![0; xs.len()]);
        shares.fill(0);
        // From the highest power down: shares are doubled on the way.
        for [zero, one] in self.keys.iter().rev() {
            field.fill(zero, self.products, &mut zeros);
            field.fill(one, self.products, &mut ones);
            for (((share, zero), one), x) in shares.iter_mut().zip(&zeros).zip(&ones).zip(xs) {
                *share = field.sub(field.double(*share), *zero);
                message.extend_from_slice(&field.add(field.sub(*zero, *one), *x).to_le_bytes());
            }
        }
        zeros.zeroize();
        ones.zeroize();
        self.products += xs.len() as u64;
    }
}

impl Multiplier {
    fn new(field: Field, delta: u128, keys: &[Key]) -> Self {
        Self { field, delta, keys: keys.iter().map(|key| Aes128Ctr::new(key)).collect(), products: 0 }
    }

    /// Extends by as many products as there is room for shares, with what `P_A` sent.
    ///
    /// # Panics
    /// If the message hasn't [`PRODUCT_BYTES`] for each.
    pub fn extend(&mut self, message: &[u8], shares: &mut [u128]) {
        assert_eq!(message.len(), PRODUCT_BYTES * shares.len(), "128 words for every product");
        let field = self.field;
        let mut stream = vec![0; shares.len()];
        shares.fill(0);
        let parts = message.chunks_exact((16 * shares.len()).max(1));
        for ((bit, key), part) in self.keys.iter().enumerate().rev().zip(parts) {
            field.fill(key, self.products, &mut stream);
            let mask = (self.delta >> bit & 1).wrapping_neg();
            for ((share, own), bytes) in shares.iter_mut().zip(&stream).zip(part.as_chunks().0) {
                let taken = u128::from_le_bytes(*bytes) & mask;
                *share = field.add(field.double(*share), field.add(*own, taken));
            }
        }
        stream.zeroize();
        self.products += shares.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_testkit::Rng;

    fn word(rng: &mut Rng) -> u128 {
        u128::from(rng.word()) << 64 | u128::from(rng.word())
    }

    fn product(field: Field, a: u128, b: u128) -> u128 {
        match field {
            Field::Prime => Fp128::from_u128(a).wrapping_mul(Fp128::from_u128(b)).to_u128(),
            Field::Binary => Gf128(a).times(Gf128(b)).0,
        }
    }

    /// Both halves, with keys as base OTs would give them.
    fn halves(field: Field, delta: u128, rng: &mut Rng) -> (Multiplicand, Multiplier) {
        let pairs: Vec<[Key; 2]> =
            (0..LAMBDA).map(|_| [(); 2].map(|()| Key::new(word(rng).to_le_bytes()))).collect();
        let keys: Vec<Key> =
            pairs.iter().enumerate().map(|(bit, pair)| pair[(delta >> bit & 1) as usize].clone()).collect();
        (Multiplicand::new(field, &pairs), Multiplier::new(field, delta, &keys))
    }

    #[test]
    fn shares_are_those_of_the_products() {
        for field in [Field::Prime, Field::Binary] {
            let mut rng = Rng::new(1);
            for delta in [0, 1, Fp128::MODULUS - 1, Fp128::from_u128(word(&mut rng)).to_u128()] {
                let (mut a, mut b) = halves(field, delta, &mut rng);
                for count in [1, 0, 5] {
                    let xs: Vec<u128> =
                        (0..count).map(|_| Fp128::from_u128(word(&mut rng)).to_u128()).collect();
                    let (mut t, mut q, mut message) = (vec![0; count], vec![0; count], Vec::new());
                    a.extend(&xs, &mut t, &mut message);
                    assert_eq!(message.len(), count * PRODUCT_BYTES);
                    b.extend(&message, &mut q);
                    for i in 0..count {
                        assert_eq!(field.add(q[i], t[i]), product(field, xs[i], delta), "{field:?}");
                    }
                }
            }
        }
    }

    /// Another `x` for one `i` shifts the product by a number that has that bit of `delta` in it, and nothing else.
    #[test]
    fn another_factor_for_a_bit_shifts_the_product_by_that_bit() {
        let field = Field::Prime;
        let mut rng = Rng::new(2);
        let delta = Fp128::from_u128(word(&mut rng)).to_u128();
        for bit in [0, 1, 77, 127] {
            let (mut a, mut b) = halves(field, delta, &mut rng);
            let (mut t, mut q, mut message) = ([0], [0], Vec::new());
            a.extend(&[5], &mut t, &mut message);
            // Words come from the highest bit down.
            let at = 16 * (LAMBDA - 1 - bit);
            let old = u128::from_le_bytes(*message[at..].first_chunk().unwrap());
            message[at..at + 16].copy_from_slice(&field.add(old, 1).to_le_bytes());
            b.extend(&message, &mut q);
            let shift = product(field, delta >> bit & 1, 1 << bit);
            assert_eq!(field.add(q[0], t[0]), field.add(product(field, 5, delta), shift), "bit {bit}");
        }
    }
}
