//! Mistakes, planted by tests that show what attackers can do then.
//!
//! Only tests have the feature `planted`; without it nothing is planted, and nothing of this is left in the code.

use tacit_kernel::Buffer;
use tacit_session::{At, Commitment, Error, Session};

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "planted"), allow(unreachable_pub))]
pub enum Mistake {
    /// What is opened of outputs for a single recipient isn't checked.
    OutputsForOneUnrecorded,
    /// What is opened in the middle of a run isn't checked.
    OpeningsUnrecorded,
    /// What was opened isn't checked before results are told.
    ResultsUnchecked,
    /// The coin for the weights of outputs is tossed before their shares are sent.
    CoinEarly,
    /// Commitments of a check are opened without the others' word that they hold all of them.
    OpeningsEarly,
    /// Owners give numbers as they like, in their ranges or not.
    RangesUnproved,
    /// What hides the bits of inputs isn't checked before owners use it.
    BitMasksUnchecked,
    /// Arms of a branch draw the same triples without masks.
    ArmsUnmasked,
    /// All branches have the masks of the first one, and its bit.
    ArmMasksReused,
    /// Bits that vectors are multiplied by are opened as they are.
    ScalarsUnmasked,
    /// All products of a bit with a vector of one length, in a layer, have the same triple.
    LanesReused,
    /// Shares that moved to another key aren't compared with those under the old one.
    RekeyUnchecked,
    /// The coin that shares are weighed by where they move to another key is tossed before they are told.
    RekeyCoinEarly,
}

tacit_session::planted!(Mistake, feature = "planted");

/// What a corrupt party does before it commits to its `sigma` of all fields, in a check of this number with this coin.
#[cfg(feature = "planted")]
pub type Commits = Box<dyn FnMut(&mut Session, u32, &[u8], &mut [u8]) -> Result<(), Error>>;

#[cfg(feature = "planted")]
thread_local! {
    static COMMITS: std::cell::RefCell<Option<Commits>> = const { std::cell::RefCell::new(None) };
}

/// Lets this thread's party do something before it commits to its `sigma`.
#[cfg(feature = "planted")]
pub fn before_commitments(commits: Commits) {
    COMMITS.set(Some(commits));
}

/// What a corrupt party does before it commits to its `sigma`.
#[cfg(feature = "planted")]
pub(crate) fn will_commit(
    session: &mut Session,
    check: u32,
    coin: &[u8],
    sigmas: &mut [u8],
) -> Result<(), Error> {
    COMMITS.with_borrow_mut(|commits| {
        commits.as_mut().map_or(Ok(()), |commits| commits(session, check, coin, sigmas))
    })
}

/// What a corrupt party makes of what it tells of its shares where they move to another key, with the coin if it has one.
#[cfg(feature = "planted")]
pub type Rekeys = Box<dyn FnMut(Option<&[u8]>, &mut Buffer)>;

#[cfg(feature = "planted")]
thread_local! {
    static REKEYS: std::cell::RefCell<Option<Rekeys>> = const { std::cell::RefCell::new(None) };
}

/// Lets this thread's party tell something else of its shares.
#[cfg(feature = "planted")]
pub fn before_rekeying(rekeys: Rekeys) {
    REKEYS.set(Some(rekeys));
}

/// What a corrupt party makes of what it tells.
#[cfg(feature = "planted")]
pub(crate) fn will_tell(coin: Option<&[u8]>, told: &mut Buffer) {
    REKEYS.with_borrow_mut(|rekeys| {
        if let Some(rekeys) = rekeys {
            rekeys(coin, told);
        }
    });
}

/// Nothing.
#[cfg(not(feature = "planted"))]
pub(crate) const fn will_tell(_: Option<&[u8]>, _: &mut Buffer) {}

/// Nothing.
#[cfg(not(feature = "planted"))]
#[allow(clippy::unnecessary_wraps)]
pub(crate) const fn will_commit(_: &mut Session, _: u32, _: &[u8], _: &mut [u8]) -> Result<(), Error> {
    Ok(())
}

/// [`Session::open_committed`], or with a mistake commitments aren't compared.
pub(crate) fn open_committed(
    session: &mut Session,
    at: [At; 2],
    label: &str,
    value: &[u8],
) -> Result<Vec<Vec<u8>>, Error> {
    if !planted(Mistake::OpeningsEarly) {
        return session.open_committed(at, label, value);
    }
    let (id, me) = (*session.id(), session.me());
    let (commitment, opening) = Commitment::new(&id, me, label, value, session.entropy())?;
    let commitments = session.broadcast(at[0], &commitment.0)?;
    let mut opened = session.broadcast(at[1], &[value, &opening.0].concat())?;
    for party in session.others() {
        match Commitment::opened(&commitments[party], &id, party, label, &opened[party]).map(<[u8]>::len) {
            Some(len) => opened[party].truncate(len),
            None => return Err(session.reject("somebody opened something that it hadn't committed to")),
        }
    }
    opened[me] = value.to_vec();
    Ok(opened)
}
