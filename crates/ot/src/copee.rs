//! COPEe: correlated oblivious product evaluation with errors (Keller, Orsini, Scholl, "MASCOT", CCS 2016, protocol 1).
//!
//! `P_B` has a fixed number `delta` of a field, of 128 bits as a rule, its MAC key's share say; `P_A` has numbers `x`. They get additive
//! shares of each product: `t` for `P_A` and `q` for `P_B` with `q + t = x delta`.
//!
//! **Initialize.** A base OT for each bit of an element, of which `P_B` chooses by the bits `delta_i`: `P_A` has pairs of keys,
//! `P_B` one of each.
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
use crate::params::{BASE_BYTES, Params};
use crate::step;
use tacit_kernel::Element;
use tacit_kernel::aes::Aes128Ctr;
use tacit_kernel::field::Fp128;
use tacit_kernel::gf128::Gf128;
use tacit_net::At;
use tacit_session::{Error, Session};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

mod other_widths;

/// Bytes that a product of 128 bits costs, all from `P_A`.
pub const PRODUCT_BYTES: usize = Field::Prime.product_bytes();

/// What products are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Integers modulo 2^128 - 159.
    Prime,
    /// GF(2^128).
    Binary,
    /// Integers modulo 2^64 - 59.
    Prime64,
    /// Integers modulo 2^256 - 189.
    Prime256,
    /// Integers modulo 2^512 - 569.
    Prime512,
}

/// 2^128 modulo the prime.
const GAP: u128 = Fp128::MODULUS.wrapping_neg();

impl Field {
    /// Bits of an element.
    pub const fn bits(self) -> usize {
        match self {
            Self::Prime | Self::Binary => 128,
            Self::Prime64 => 64,
            Self::Prime256 => 256,
            Self::Prime512 => 512,
        }
    }

    /// Bytes of an element.
    pub const fn bytes(self) -> usize {
        self.bits() / 8
    }

    /// Bytes that a product costs, all from `P_A`.
    pub const fn product_bytes(self) -> usize {
        self.bits() * self.bytes()
    }

    /// `zero - one + x`: a value `x` that two words mask, in a field of 128 bits. Only `x` has to be an element; the result is
    /// one.
    #[inline]
    pub fn masked(self, zero: u128, one: u128, x: u128) -> u128 {
        debug_assert_eq!(self.bits(), 128, "words are elements");
        if self == Self::Binary {
            return zero ^ one ^ x;
        }
        let (low, borrow) = zero.overflowing_sub(one);
        let (low, carry) = low.overflowing_add(x);
        // It is low + (carry - borrow) 2^128, and 2^128 is the gap. With a carry alone low is below the modulus, and nothing
        // is carried again; with a borrow alone there may be another one. No branch, as words are secret.
        let [carry, borrow] = [carry, borrow].map(u128::from);
        let up = low.wrapping_add(GAP * (carry & (1 ^ borrow)));
        let (down, again) = up.overflowing_sub(GAP * (borrow & (1 ^ carry)));
        Fp128::from_u128(down.wrapping_sub(GAP * u128::from(again))).to_u128()
    }
}

/// Elements `sum of 2^i x_i`, or of `X^i x_i`, from terms that come from the highest power down.
struct Sums<'a> {
    field: Field,
    /// The low words of integers, in the prime field; else the elements.
    low: &'a mut [u128],
    /// What is above those, in the prime field.
    high: Vec<u64>,
    /// Doublings since `high` was 0.
    doublings: u32,
}

impl<'a> Sums<'a> {
    fn new(field: Field, low: &'a mut [u128]) -> Self {
        low.fill(0);
        let high = vec![0; if field == Field::Prime { low.len() } else { 0 }];
        Self { field, low, high, doublings: 0 }
    }

    /// Doubles all, and adds two terms to each. Terms are any words; they needn't be reduced.
    fn double_and_add(&mut self, terms: impl Iterator<Item = [u128; 2]>) {
        if self.field == Field::Binary {
            for (low, [x, y]) in self.low.iter_mut().zip(terms) {
                *low = Gf128(*low).double().0 ^ x ^ y;
            }
            return;
        }
        // Integers stay below 2^(128 + 64).
        if self.doublings == 60 {
            self.reduce();
        }
        self.doublings += 1;
        for ((low, high), [x, y]) in self.low.iter_mut().zip(&mut self.high).zip(terms) {
            let (sum, carry) = (*low << 1).overflowing_add(x);
            let (sum, other) = sum.overflowing_add(y);
            *high = (*high << 1 | (*low >> 127) as u64) + u64::from(carry) + u64::from(other);
            *low = sum;
        }
    }

    /// Leaves elements below the modulus.
    fn reduce(&mut self) {
        for (low, high) in self.low.iter_mut().zip(&mut self.high) {
            let above = u128::from(*high) * GAP;
            *low = Fp128::from_u128(*low).wrapping_add(Fp128::from_u128(above)).to_u128();
            *high = 0;
        }
        self.doublings = 0;
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
    /// The lowest byte first.
    delta: Vec<u8>,
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

/// Initializes with each of `peers` in both directions: as `P_B` with this party's `delta`, an element's bytes from the lowest
/// on, and as `P_A` for theirs. `op` is a number that no other setup or extension of the plan has. One round:
/// [`initialize_bytes`] to each peer.
///
/// # Errors
/// If a peer sends something that isn't a point, or a link fails.
///
/// # Panics
/// If `delta` isn't as long as an element.
pub fn initialize(
    session: &mut Session,
    peers: &[usize],
    field: Field,
    delta: &[u8],
    op: u32,
) -> Result<Vec<(Multiplicand, Multiplier)>, Error> {
    assert_eq!(delta.len(), field.bytes(), "a number of the field");
    let (me, bits) = (session.me(), field.bits());
    let at = |part| At { lane: 0, part, op, batch: 0 };
    // The field is part of the context, as parameters are.
    let params = Params::DEFAULT;
    let context =
        |session: &Session, ends| Context::new(session, ends, op, &params).within(&format!("{field:?}"));
    let mut begun = Vec::new();
    for &peer in peers {
        let choices = Zeroizing::new((0..bits).map(|at| bit(delta, at)).collect());
        let (mine, theirs) = (context(session, [peer, me]), context(session, [me, peer]));
        let chosen = Chosen::new(&mine, choices, session.entropy())?;
        let offered = Offered::new(bits, session.entropy())?;
        session.mesh().send(peer, at(step::COPEE_CHOICES), chosen.message())?;
        session.mesh().send(peer, at(step::COPEE_POINTS), offered.message())?;
        begun.push((peer, mine, chosen, theirs, offered));
    }
    let mut both = Vec::new();
    for (peer, mine, chosen, theirs, offered) in begun {
        let [choices, points] = BASE_BYTES.map(|bytes| bits * bytes);
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
pub fn initialize_bytes(field: Field) -> u64 {
    BASE_BYTES.iter().map(|bytes| (field.bits() * bytes) as u64).sum()
}

/// Bit `at` of a number, whose lowest byte is the first.
fn bit(number: &[u8], at: usize) -> u8 {
    number[at / 8] >> (at % 8) & 1
}

impl Multiplicand {
    /// What its products are of.
    pub(crate) fn field(&self) -> Field {
        self.field
    }

    fn new(field: Field, keys: &[[Key; 2]]) -> Self {
        let keys = keys.iter().map(|pair| pair.each_ref().map(|key| Aes128Ctr::new(key))).collect();
        Self { field, keys, products: 0 }
    }

    /// Extends by a product for each of `xs`, in a field of 128 bits: writes this party's shares, and what is sent.
    ///
    /// # Panics
    /// If there isn't room for a share for each.
    pub fn extend(&mut self, xs: &[u128], shares: &mut [u128], message: &mut Vec<u8>) {
        assert_eq!(xs.len(), shares.len(), "a share for every product");
        let field = self.field;
        let (mut zeros, mut ones) = (vec![0; xs.len()], vec![0; xs.len()]);
        let mut sums = Sums::new(field, shares);
        // From the highest power down: sums are doubled on the way.
        for [zero, one] in self.keys.iter().rev() {
            u128::fill(zero, 0, self.products, &mut zeros);
            u128::fill(one, 0, self.products, &mut ones);
            sums.double_and_add(zeros.iter().map(|zero| [*zero, 0]));
            for ((zero, one), x) in zeros.iter_mut().zip(&ones).zip(xs) {
                *zero = field.masked(*zero, *one, *x);
            }
            message.extend_from_slice(bytemuck::cast_slice(&zeros));
        }
        sums.reduce();
        for share in shares {
            *share = field.masked(0, *share, 0);
        }
        zeros.zeroize();
        ones.zeroize();
        self.products += xs.len() as u64;
    }
}

impl Multiplier {
    /// What its products are of.
    pub(crate) fn field(&self) -> Field {
        self.field
    }

    fn new(field: Field, delta: &[u8], keys: &[Key]) -> Self {
        Self {
            field,
            delta: delta.to_vec(),
            keys: keys.iter().map(|key| Aes128Ctr::new(key)).collect(),
            products: 0,
        }
    }

    /// The number that products are with, in a field of 128 bits.
    pub(crate) fn delta(&self) -> Zeroizing<u128> {
        Zeroizing::new(self.delta.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes)))
    }

    /// Extends by as many products as there is room for shares, with what `P_A` sent, in a field of 128 bits.
    ///
    /// # Panics
    /// If the message hasn't [`PRODUCT_BYTES`] for each.
    pub fn extend(&mut self, message: &[u8], shares: &mut [u128]) {
        assert_eq!(message.len(), PRODUCT_BYTES * shares.len(), "128 words for every product");
        let mut stream = vec![0; shares.len()];
        let mut sums = Sums::new(self.field, shares);
        let parts = message.chunks_exact((16 * stream.len()).max(1));
        for ((bit, key), part) in self.keys.iter().enumerate().rev().zip(parts) {
            u128::fill(key, 0, self.products, &mut stream);
            let mask = u128::from(self::bit(&self.delta, bit)).wrapping_neg();
            let taken = part.as_chunks().0.iter().map(|word| u128::from_le_bytes(*word) & mask);
            sums.double_and_add(stream.iter().zip(taken).map(|(own, taken)| [*own, taken]));
        }
        sums.reduce();
        self.products += stream.len() as u64;
        stream.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::LAMBDA;
    use tacit_testkit::Rng;

    fn word(rng: &mut Rng) -> u128 {
        u128::from(rng.word()) << 64 | u128::from(rng.word())
    }

    fn sum(field: Field, a: u128, b: u128) -> u128 {
        match field {
            Field::Prime => Fp128::from_u128(a).wrapping_add(Fp128::from_u128(b)).to_u128(),
            Field::Binary => a ^ b,
            _ => unreachable!("its elements are no words"),
        }
    }

    #[test]
    fn masked_values_are_elements() {
        let mut rng = Rng::new(3);
        let p = Fp128::MODULUS;
        let mut words =
            vec![0, 1, 158, 159, 160, 317, 318, 319, p - 160, p - 1, p, p + 1, u128::MAX - 1, u128::MAX];
        words.extend((0..4).map(|_| word(&mut rng)));
        for &zero in &words {
            for &one in &words {
                for &x in words.iter().filter(|&&x| x < p) {
                    let [z, o] = [zero, one].map(Fp128::from_u128);
                    let expected = z.wrapping_sub(o).wrapping_add(Fp128::from_u128(x)).to_u128();
                    assert_eq!(Field::Prime.masked(zero, one, x), expected, "{zero} - {one} + {x}");
                    assert_eq!(Field::Binary.masked(zero, one, x), zero ^ one ^ x);
                }
            }
        }
    }

    fn product(field: Field, a: u128, b: u128) -> u128 {
        match field {
            Field::Prime => Fp128::from_u128(a).wrapping_mul(Fp128::from_u128(b)).to_u128(),
            Field::Binary => Gf128(a).times(Gf128(b)).0,
            _ => unreachable!("its elements are no words"),
        }
    }

    /// Both halves, with keys as base OTs would give them.
    fn halves(field: Field, delta: u128, rng: &mut Rng) -> (Multiplicand, Multiplier) {
        let pairs: Vec<[Key; 2]> =
            (0..LAMBDA).map(|_| [(); 2].map(|()| Key::new(word(rng).to_le_bytes()))).collect();
        let keys: Vec<Key> =
            pairs.iter().enumerate().map(|(bit, pair)| pair[(delta >> bit & 1) as usize].clone()).collect();
        (Multiplicand::new(field, &pairs), Multiplier::new(field, &delta.to_le_bytes(), &keys))
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
                        assert_eq!(sum(field, q[i], t[i]), product(field, xs[i], delta), "{field:?}");
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
            message[at..at + 16].copy_from_slice(&sum(field, old, 1).to_le_bytes());
            b.extend(&message, &mut q);
            let shift = product(field, delta >> bit & 1, 1 << bit);
            assert_eq!(sum(field, q[0], t[0]), sum(field, product(field, 5, delta), shift), "bit {bit}");
        }
    }
}
