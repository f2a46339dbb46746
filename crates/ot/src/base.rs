//! Base OTs over Ristretto255: endemic OT (Masny, Rindal, "Endemic Oblivious Transfer", CCS 2019) from Diffie and
//! Hellman's key agreement, n at a time.
//!
//! A receiver with choice `c` draws a scalar `a` and a random point `R` whose logarithm it doesn't know, and sends two
//! points, of which `r_(1-c) = R` and `r_c = a G - H_c(r_(1-c))`. The sender draws a scalar `s` for each OT and sends
//! `m = s G`. Its keys are, for `b` of 0 and 1,
//!
//! ```text
//! key_b = KDF(b, r_0, r_1, m, s (r_b + H_b(r_(1-b))))          H_b hashes a point to a point
//! ```
//!
//! and the receiver has `key_c`, for `s (r_c + H_c(r_(1-c))) = s a G = a m`.
//!
//! **Why one key only.** Each of `r_0 + H_0(r_1)` and `r_1 + H_1(r_0)` has a hash of the other point in it. Whichever of the
//! two hashes is asked for last comes out random after both points are fixed, so nobody knows that sum's logarithm, and its
//! key is a Diffie-Hellman secret. The order of the questions tells a simulator the choice.
//!
//! **Why the choice stays hidden.** Both points are uniform, and either could be the one that was computed.
//!
//! **What a corrupt party can choose.** The keys that it gets itself. The extension asks no more of its base OTs.
//!
//! **Bindings.** Hash and key derivation name the session, both parties, the caller's number and the OT's index
//! ([`Context`]), so that nothing that is sent fits elsewhere. Each OT has a scalar `s` of its own, and so needs no
//! assumption on keys that are used many times.

use crate::context::Context;
use crate::params::{BASE_BYTES, KEY};
use crate::planted::{Mistake, planted};
use crate::remembered::{Hash, remembered};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use subtle::{Choice, ConditionallySelectable};
use tacit_session::{Entropy, Error};
use zeroize::{Zeroize, Zeroizing};

/// A key, wiped when dropped.
pub(crate) type Key = Zeroizing<[u8; KEY]>;

/// What a receiver keeps.
pub(crate) struct Chosen {
    scalars: Vec<Zeroizing<Scalar>>,
    /// A byte each: [`Choice`] has no way to be wiped.
    choices: Zeroizing<Vec<u8>>,
    message: Vec<u8>,
}

impl Chosen {
    /// Chooses, by zeros and ones.
    pub(crate) fn new(
        context: &Context,
        choices: Zeroizing<Vec<u8>>,
        entropy: &mut dyn Entropy,
    ) -> Result<Self, Error> {
        let mut scalars = Vec::with_capacity(choices.len());
        let mut uniform = Zeroizing::new(vec![[0; 64]; choices.len()]);
        for bytes in uniform.iter_mut() {
            scalars.push(draw_scalar(entropy)?);
            entropy.fill(bytes)?;
        }
        let inputs = |hash: &mut Hash| {
            hash.add(b"points")
                .add(context.bytes())
                .add(&choices)
                .scalars(&scalars)
                .add(uniform.as_flattened());
        };
        let message = remembered(inputs, || points(context, &choices, &scalars, &uniform));
        Ok(Self { scalars, choices, message })
    }

    /// What is sent.
    pub(crate) fn message(&self) -> &[u8] {
        &self.message
    }

    /// The chosen keys, from what the sender sent. `None` if a point is none.
    pub(crate) fn keys(&self, context: &Context, theirs: &[u8]) -> Option<Vec<Key>> {
        let inputs = |hash: &mut Hash| {
            let hash = hash.add(b"chosen").add(context.bytes()).add(&self.choices).scalars(&self.scalars);
            hash.add(&self.message).add(theirs);
        };
        remembered(inputs, || self.derived(context, theirs))
    }

    fn derived(&self, context: &Context, theirs: &[u8]) -> Option<Vec<Key>> {
        let (points, _) = theirs.as_chunks::<32>();
        let (mine, _) = self.message.as_chunks::<{ BASE_BYTES[0] }>();
        let all = points.iter().zip(mine).zip(self.scalars.iter().zip(&*self.choices)).enumerate();
        let keys = all.map(|(index, ((point, mine), (scalar, choice)))| {
            let mut shared = valid(point)? * **scalar;
            let key = derive(context, index, *choice, mine, point, &shared);
            shared.zeroize();
            Some(key)
        });
        keys.collect()
    }
}

/// A receiver's points: its own under its choices, and others that are as good as random.
fn points(context: &Context, choices: &[u8], scalars: &[Zeroizing<Scalar>], uniform: &[[u8; 64]]) -> Vec<u8> {
    let mut message = Vec::with_capacity(BASE_BYTES[0] * choices.len());
    for (index, ((&choice, scalar), bytes)) in choices.iter().zip(scalars).zip(uniform).enumerate() {
        let other = RistrettoPoint::from_uniform_bytes(bytes);
        let hash = hash_to_point(context, index, choice, &other.compress());
        let mine = RistrettoPoint::mul_base(scalar) - hash;
        for place in [choice, 1 ^ choice] {
            let point = RistrettoPoint::conditional_select(&mine, &other, Choice::from(place));
            message.extend_from_slice(point.compress().as_bytes());
        }
    }
    message
}

/// What a sender keeps.
pub(crate) struct Offered {
    scalars: Vec<Zeroizing<Scalar>>,
    message: Vec<u8>,
}

impl Offered {
    /// Offers so many pairs of keys.
    pub(crate) fn new(count: usize, entropy: &mut dyn Entropy) -> Result<Self, Error> {
        let scalars: Vec<_> = (0..count).map(|_| draw_scalar(entropy)).collect::<Result<_, _>>()?;
        let message = remembered(
            |hash: &mut Hash| {
                hash.add(b"offers").scalars(&scalars);
            },
            || {
                let points =
                    scalars.iter().map(|scalar| RistrettoPoint::mul_base(scalar).compress().to_bytes());
                points.collect::<Vec<_>>().concat()
            },
        );
        Ok(Self { scalars, message })
    }

    /// What is sent.
    pub(crate) fn message(&self) -> &[u8] {
        &self.message
    }

    /// Both keys of each OT, from what the receiver sent. `None` if a point is none.
    pub(crate) fn keys(&self, context: &Context, theirs: &[u8]) -> Option<Vec<[Key; 2]>> {
        let inputs = |hash: &mut Hash| {
            let hash = hash.add(b"offered").add(context.bytes()).scalars(&self.scalars);
            hash.add(&self.message).add(theirs);
        };
        remembered(inputs, || self.derived(context, theirs))
    }

    fn derived(&self, context: &Context, theirs: &[u8]) -> Option<Vec<[Key; 2]>> {
        let (pairs, _) = theirs.as_chunks::<{ BASE_BYTES[0] }>();
        let (mine, _) = self.message.as_chunks::<32>();
        let all = pairs.iter().zip(mine).zip(&self.scalars).enumerate();
        let keys = all.map(|(index, ((pair, mine), scalar))| {
            let (first, second) = pair.split_at(32);
            let points = [valid(first.try_into().ok()?)?, valid(second.try_into().ok()?)?];
            Some([0, 1].map(|place: u8| {
                let [own, other] = [usize::from(place), usize::from(1 - place)].map(|at| points[at]);
                let mut sum = own;
                if !planted(Mistake::BaseUnbound) {
                    sum += hash_to_point(context, index, place, &other.compress());
                }
                let mut shared = sum * **scalar;
                let key = derive(context, index, place, pair, mine, &shared);
                shared.zeroize();
                key
            }))
        });
        keys.collect()
    }
}

/// The point of an encoding: canonical, and not the neutral element.
fn valid(bytes: &[u8; 32]) -> Option<RistrettoPoint> {
    let compressed = CompressedRistretto(*bytes);
    if planted(Mistake::PointsUnchecked) {
        return Some(compressed.decompress().unwrap_or_default());
    }
    if compressed == CompressedRistretto::identity() { None } else { compressed.decompress() }
}

fn draw_scalar(entropy: &mut dyn Entropy) -> Result<Zeroizing<Scalar>, Error> {
    let mut bytes = [0; 64];
    entropy.fill(&mut bytes)?;
    let scalar = Scalar::from_bytes_mod_order_wide(&bytes);
    bytes.zeroize();
    Ok(Zeroizing::new(scalar))
}

/// `H_place` of the other point.
fn hash_to_point(context: &Context, index: usize, place: u8, other: &CompressedRistretto) -> RistrettoPoint {
    let numbers = [index as u64, u64::from(place)];
    RistrettoPoint::from_uniform_bytes(&context.wide_hash("base point", &numbers, &[other.as_bytes()]))
}

/// The key of a place.
fn derive(
    context: &Context,
    index: usize,
    place: u8,
    pair: &[u8; BASE_BYTES[0]],
    offered: &[u8; 32],
    shared: &RistrettoPoint,
) -> Key {
    let mut shared = shared.compress();
    let numbers = [index as u64, u64::from(place)];
    let mut hash = context.hash("base key", &numbers, &[pair, offered, shared.as_bytes()]);
    shared.zeroize();
    let mut key = Key::default();
    key.copy_from_slice(&hash[..KEY]);
    hash.zeroize();
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planted::plant;
    use tacit_testkit::Draws;

    const CHOICES: [u8; 5] = [0, 1, 1, 0, 1];

    fn choices() -> Zeroizing<Vec<u8>> {
        Zeroizing::new(CHOICES.to_vec())
    }

    #[test]
    fn the_chosen_keys_are_the_senders() {
        let (context, draws) = (Context::of(1), Draws::fixed(1));
        let chosen = Chosen::new(&context, choices(), draws.of(0).as_mut()).unwrap();
        let offered = Offered::new(5, draws.of(1).as_mut()).unwrap();
        assert_eq!([chosen.message().len(), offered.message().len()], BASE_BYTES.map(|bytes| 5 * bytes));
        let pairs = offered.keys(&context, chosen.message()).unwrap();
        let keys = chosen.keys(&context, offered.message()).unwrap();
        assert_eq!([pairs.len(), keys.len()], [5, 5]);
        for ((pair, key), choice) in pairs.iter().zip(&keys).zip(CHOICES) {
            assert_eq!(pair[usize::from(choice)], *key);
            assert_ne!(pair[usize::from(1 - choice)], *key);
        }
        // The same messages elsewhere give other keys.
        let other = offered.keys(&Context::of(2), chosen.message()).unwrap();
        assert!(pairs.iter().flatten().zip(other.iter().flatten()).all(|(a, b)| a != b));
    }

    #[test]
    fn what_is_no_point_is_refused() {
        let (context, draws) = (Context::of(1), Draws::fixed(2));
        let chosen = Chosen::new(&context, choices(), draws.of(0).as_mut()).unwrap();
        let offered = Offered::new(5, draws.of(1).as_mut()).unwrap();
        // The neutral element, a field element that isn't reduced, and a negative one.
        let wrong = [[0; 32], [0xff; 32], {
            let mut one = [0; 32];
            one[0] = 1;
            one
        }];
        for wrong in wrong {
            for at in 0..10 {
                let mut message = chosen.message().to_vec();
                message[32 * at..][..32].copy_from_slice(&wrong);
                assert!(offered.keys(&context, &message).is_none(), "point {at}");
            }
            let mut message = offered.message().to_vec();
            message[64..96].copy_from_slice(&wrong);
            assert!(chosen.keys(&context, &message).is_none());
        }
    }

    /// A receiver that knows the logarithms of both of its points.
    #[test]
    fn a_receiver_has_both_keys_of_base_ots_for_semi_honest_parties_alone() {
        let (context, draws) = (Context::of(1), Draws::fixed(3));
        let mut entropy = draws.of(0);
        let scalars = [(); 2].map(|()| draw_scalar(entropy.as_mut()).unwrap());
        let points = scalars.each_ref().map(|scalar| RistrettoPoint::mul_base(scalar).compress().to_bytes());
        let pair: [u8; 64] = points.concat().try_into().unwrap();
        let offered = Offered::new(1, draws.of(1).as_mut()).unwrap();
        let theirs = *offered.message().first_chunk().unwrap();
        let point = valid(&theirs).unwrap();
        let keys_known = |mistakes| {
            plant(mistakes);
            let keys = offered.keys(&context, &pair).unwrap().remove(0);
            plant(&[]);
            [0, 1].map(|place: u8| {
                let shared = point * *scalars[usize::from(place)];
                *derive(&context, 0, place, &pair, &theirs, &shared) == *keys[usize::from(place)]
            })
        };
        assert_eq!(keys_known(&[Mistake::BaseUnbound]), [true, true]);
        assert_eq!(keys_known(&[]), [false, false]);
    }

    /// With the neutral element for a point a key would be known to everybody.
    #[test]
    fn a_key_of_an_unchecked_point_is_known_to_all() {
        let (context, draws) = (Context::of(1), Draws::fixed(4));
        let chosen = Chosen::new(&context, choices(), draws.of(0).as_mut()).unwrap();
        let zeros = [0; 5 * 32];
        plant(&[Mistake::PointsUnchecked]);
        let keys = chosen.keys(&context, &zeros).unwrap();
        plant(&[]);
        for (index, (key, choice)) in keys.iter().zip(CHOICES).enumerate() {
            let pair = chosen.message()[64 * index..].first_chunk().unwrap();
            let guess = derive(&context, index, choice, pair, &[0; 32], &RistrettoPoint::identity());
            assert_eq!(*key, guess);
        }
        assert!(chosen.keys(&context, &zeros).is_none());
    }
}
