//! Points and keys of base OTs that tests have already made: a test that attacks what comes later repeats the same
//! setup hundreds of times, of the same randomness, and elliptic curves take most of its time.
//!
//! What is remembered follows from its inputs and from nothing else, and is found by a hash of all of them: a base OT that
//! anybody has changed is made anew. Only tests have this, as they have mistakes ([`crate::planted`]); elsewhere nothing is
//! kept.

use curve25519_dalek::scalar::Scalar;
use zeroize::Zeroizing;

#[cfg(any(test, feature = "planted"))]
pub(crate) use inside::{Hash, remembered};
#[cfg(not(any(test, feature = "planted")))]
pub(crate) use outside::{Hash, remembered};

#[cfg(any(test, feature = "planted"))]
mod inside {
    use super::{Scalar, Zeroizing};
    use crate::planted::nothing_is_planted;
    use sha2::{Digest, Sha256};
    use std::any::Any;
    use std::collections::HashMap;
    use std::sync::{LazyLock, Mutex};

    /// By the hash of what they were made of.
    type Results = HashMap<[u8; 32], Box<dyn Any + Send>>;

    static RESULTS: LazyLock<Mutex<Results>> = LazyLock::new(Mutex::default);

    /// As many results are kept; then all are forgotten.
    const MOST: usize = 2000;

    /// A hash of inputs, each after its length.
    pub(crate) struct Hash(Sha256);

    impl Hash {
        pub(crate) fn add(&mut self, bytes: &[u8]) -> &mut Self {
            self.0.update((bytes.len() as u64).to_le_bytes());
            self.0.update(bytes);
            self
        }

        pub(crate) fn scalars(&mut self, scalars: &[Zeroizing<Scalar>]) -> &mut Self {
            scalars.iter().fold(self, |hash, scalar| hash.add(scalar.as_bytes()))
        }
    }

    /// What `make` gives, or what it gave for the same inputs, unless a mistake is planted.
    pub(crate) fn remembered<T: Clone + Send + 'static>(
        inputs: impl FnOnce(&mut Hash),
        make: impl FnOnce() -> T,
    ) -> T {
        if !nothing_is_planted() {
            return make();
        }
        let mut hash = Hash(Sha256::new_with_prefix(b"tacit remembered 1"));
        inputs(&mut hash);
        let key: [u8; 32] = hash.0.finalize().into();
        let lock = || RESULTS.lock().expect("nobody panics with it");
        let known = lock().get(&key).and_then(|known| known.downcast_ref::<T>().cloned());
        known.unwrap_or_else(|| {
            let made = make();
            let mut all = lock();
            if all.len() >= MOST {
                all.clear();
            }
            all.insert(key, Box::new(made.clone()));
            made
        })
    }
}

#[cfg(not(any(test, feature = "planted")))]
mod outside {
    use super::{Scalar, Zeroizing};

    /// Nothing is hashed.
    pub(crate) struct Hash;

    #[allow(clippy::unused_self)]
    impl Hash {
        pub(crate) fn add(&mut self, _: &[u8]) -> &mut Self {
            self
        }

        pub(crate) fn scalars(&mut self, _: &[Zeroizing<Scalar>]) -> &mut Self {
            self
        }
    }

    /// What `make` gives.
    pub(crate) fn remembered<T>(_: impl FnOnce(&mut Hash), make: impl FnOnce() -> T) -> T {
        make()
    }
}

#[cfg(test)]
mod tests {
    use super::remembered;
    use crate::planted::{Mistake, plant};

    #[test]
    fn the_same_inputs_are_made_once_and_others_anew() {
        let mut made = 0;
        let mut get = |input: &[u8]| {
            let inputs = |hash: &mut super::Hash| {
                hash.add(b"test").add(input);
            };
            remembered(inputs, || {
                made += 1;
                made
            })
        };
        assert_eq!([get(b"a"), get(b"b"), get(b"a"), get(b"ab")], [1, 2, 1, 3]);
        plant(&[Mistake::BaseUnbound]);
        assert_eq!([get(b"a"), get(b"a")], [4, 5]);
        plant(&[]);
        assert_eq!(get(b"a"), 1);
    }
}
