//! Mistakes, planted by tests that show what attackers can do then.
//!
//! Only tests have the feature `planted`, and this crate's own; elsewhere nothing is planted, and nothing of this is left
//! in the code.
//!
//! A corrupt party that plays its own code with other numbers has them by a [`set_tap`]. Taps are no mistakes: whoever is
//! corrupt has its own memory.

use crate::field::FieldElement;
#[cfg(not(any(test, feature = "planted")))]
pub(crate) use tacit_ot::copee::initialize;
use tacit_session::{At, Commitment, Error, Session};
#[cfg(any(test, feature = "planted"))]
use {
    tacit_kernel::field::Fp128,
    tacit_ot::copee::{self, Field, Multiplicand, Multiplier},
};

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(any(test, feature = "planted")), allow(unreachable_pub))]
pub enum Mistake {
    /// The first of a triple's products is taken for its own, the second one for what is sacrificed: nothing is combined.
    NotCombined,
    /// The coin that combines leaves before the last message of Multiply has come.
    CombinedEarly,
    /// MACs aren't checked when they are made.
    AuthenticatedUnchecked,
    /// The coin of that check leaves before the last MAC message has come.
    AuthenticatedEarly,
    /// The coin of the sacrifice is tossed before shares are authenticated.
    SacrificedEarly,
    /// Opened values aren't compared.
    OpenedUncompared,
    /// What is left of the MACs is opened together with the commitment to it, and commitments aren't compared.
    OpenedWithCommitment,
    /// What is left of the MACs may be anything.
    MacsUnchecked,
    /// It isn't checked that a party has one share of the key.
    KeyUnbound,
    /// It isn't checked that what parties put in for bits are bits.
    BitsUnchecked,
}

tacit_session::planted!(Mistake, any(test, feature = "planted"));

#[cfg(any(test, feature = "planted"))]
type Tap = Box<dyn FnMut(&'static str, &mut [Fp128])>;

#[cfg(any(test, feature = "planted"))]
thread_local! {
    static TWO_KEYS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    static TAP: std::cell::RefCell<Option<Tap>> = const { std::cell::RefCell::new(None) };
}

/// Lets `tap` see and change what the party whose thread this is computes with: `authenticated` (its shares of a
/// batch, before it has them authenticated), `bits` (its own, before that), `coin` (that of the sacrifice), `opened`
/// (its shares, before it sends them), `weighed` (in a check, the sum of each list of values), `sigma` (before it
/// commits to it). Elements of GF(2^128) are shown as words of the prime field, those of other lengths not at all.
#[cfg(any(test, feature = "planted"))]
pub fn set_tap(tap: impl FnMut(&'static str, &mut [Fp128]) + 'static) {
    TAP.set(Some(Box::new(tap)));
}

/// Lets the party whose thread this is use a key share that is larger by 1 towards the last of its peers.
#[cfg(any(test, feature = "planted"))]
pub fn use_two_keys() {
    TWO_KEYS.set(true);
}

/// [`copee::initialize`], by two key shares if it is to be so.
#[cfg(any(test, feature = "planted"))]
pub(crate) fn initialize(
    session: &mut Session,
    peers: &[usize],
    field: Field,
    delta: &[u8],
    op: u32,
) -> Result<Vec<(Multiplicand, Multiplier)>, Error> {
    let (first, last) = peers.split_at(peers.len() - usize::from(TWO_KEYS.get()));
    let mut both = copee::initialize(session, first, field, delta, op)?;
    if !last.is_empty() {
        let other = Fp128::from_bytes(delta).wrapping_add(Fp128::ONE);
        both.extend(copee::initialize(session, last, field, bytemuck::bytes_of(&other), op)?);
    }
    Ok(both)
}

/// [`Session::open_committed`], or with a mistake its opening goes with the commitment, and nothing is compared.
pub(crate) fn open_committed(
    session: &mut Session,
    at: [At; 2],
    label: &str,
    value: &[u8],
) -> Result<Vec<Vec<u8>>, Error> {
    if !planted(Mistake::OpenedWithCommitment) {
        return session.open_committed(at, label, value);
    }
    let (id, me) = (*session.id(), session.me());
    let (commitment, opening) = Commitment::new(&id, me, label, value, session.entropy())?;
    for party in session.others() {
        session.mesh().send(party, at[0], &commitment.0)?;
        session.mesh().send(party, at[1], &[value, &opening.0].concat())?;
    }
    let mut opened = vec![value.to_vec(); session.parties()];
    for party in session.others() {
        let theirs = session.mesh().recv(party, at[0], commitment.0.len())?;
        let message = session.mesh().recv(party, at[1], value.len() + 32)?;
        match Commitment::opened(&theirs, &id, party, label, &message) {
            Some(value) => opened[party] = value.to_vec(),
            None => return Err(session.reject("somebody opened something that it hadn't committed to")),
        }
    }
    Ok(opened)
}

/// Shows elements to whoever looks.
#[cfg(any(test, feature = "planted"))]
pub(crate) fn tap<E: FieldElement>(what: &'static str, elements: &mut [E]) {
    TAP.with_borrow_mut(|tap| {
        if let (Some(tap), Ok(words)) = (tap, bytemuck::try_cast_slice_mut(elements))
            && E::BYTES == size_of::<Fp128>()
        {
            tap(what, words);
        }
    });
}

/// Nobody looks.
#[cfg(not(any(test, feature = "planted")))]
pub(crate) const fn tap<E: FieldElement>(_: &'static str, _: &mut [E]) {}
