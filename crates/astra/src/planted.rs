//! Mistakes, planted by tests that show that attackers then get through.
//!
//! Only tests have the feature `planted`; without it nothing is planted, and nothing of this is left in the code.

#[cfg(feature = "planted")]
use {
    crate::draws::Drawn,
    crate::step,
    sha2::{Digest, Sha256},
    std::cell::RefCell,
    std::collections::BTreeMap,
    std::sync::{Arc, Mutex, PoisonError},
    tacit_engine::Error,
    tacit_session::{At, Session},
};

#[cfg(feature = "planted")]
pub use tacit_threeparty::planted::Mistake as Shared;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "planted"), allow(unreachable_pub, dead_code))]
pub enum Mistake {
    /// What has to be zero if products were made right isn't compared.
    WrongTriplesPass,
    /// Buckets have one triple: `B = 1`.
    BucketsOfOne,
    /// One triple is checked in the clear: `C = 1`.
    OneTripleCut,
    /// The coin is tossed before the triples are made that it puts in order.
    CoinBeforeTriples,
    /// A party tosses the same in all of a run's lanes.
    CoinOfAllLanes,
    /// What has to be zero is compared of a session's first batch alone.
    LaterBatchesPass,
    /// Differences of products and triples that are opened aren't part of any digest.
    DifferencesUndigested,
    /// Of each message of masked operands only the first half is part of the digest.
    OperandsHalfDigested,
    /// The same of what `P_0` computes.
    ResultsHalfDigested,
    /// The same of inputs that both evaluators were given.
    GivenHalfDigested,
    /// The value of a digest's polynomial at its first point isn't compared.
    FirstPointUnchecked,
    /// That at its second point isn't.
    SecondPointUnchecked,
    /// Both points of a digest are the same.
    OnePointTwice,
    /// The key of the digest of inputs is known to whoever gives them.
    GivenKeyKnown,
    /// Products of numbers aren't noted, neither offline nor online.
    PathUnnoted,
    /// Garbled MSB extractions aren't.
    SignsUnnoted,
    /// How many products and MSB extractions were checked is held against what was noted, not against the plan.
    CountsOfLog,
    /// All products have the same `delta` for their left operands.
    DeltaShared,
    /// All products have the same `delta_z`.
    ResultDeltaShared,
    /// What has to be zero is compared before the differences that it is computed of.
    ZerosBeforeDifferences,
    /// `delta_z` is `P_1`'s part of it, and `P_2`'s is zero.
    DeltaInOnePart,
    /// `P_0` tells what it computed before what `P_1` showed it is compared.
    ResultsBeforeOperands,
    /// What `P_0` computed online isn't compared.
    WrongResultsPass,
    /// `P_2` doesn't compare what `P_0` garbled with what `P_1` did.
    GarblersUncompared,
    /// Of that the commitments to labels of masked numbers are left out.
    CommitmentsUncompared,
    /// The labels that `P_2` is given of `u_3` and `r_2` are.
    LabelsUncompared,
    /// A corrupt `P_0` gives `P_2` the label of another bit of `u_3`.
    OtherLabels,
    /// `P_2` takes whatever labels it is given of masked numbers.
    LabelsUnchecked,
    /// `P_1` doesn't compare the tags of garbled outputs.
    TagsUnchecked,
    /// Outputs are sent by whoever has no objection, though others may have.
    OutputsBeforeVerdicts,
    /// A client takes whatever seeds it is given.
    WrongSeedsPass,
    /// What a client or `P_0` gave both evaluators isn't compared.
    GivenNotCompared,
    /// It is compared after all else.
    GivenComparedLast,
    /// One in what three-party protocols share.
    #[cfg(feature = "planted")]
    Shared(Shared),
    /// `P_1` and `P_2` don't tell each other that their checks passed before they commit.
    NoVerdicts,
    /// A party's waits go by a limit of silence of its own, twice that of the others.
    LimitOfItsOwn,
    /// Outputs are opened that are too large for an inbox.
    LargeOutputs,
    /// What is promised of outputs isn't compared: `P_0`'s word counts.
    PromisesUncompared,
    /// `P_0` gives its verdict before it has heard of both evaluators that they are done; its clock starts when it has.
    VerdictBeforeWords,
    /// An evaluator waits for `P_0`'s verdict for as long as that gives signs of life.
    VerdictAwaited,
    /// `P_0` goes on though the evaluators committed to different values.
    CommitmentsDiffer,
    /// `P_0` doesn't tell an evaluator whose commitment is late that it aborts.
    NoWordToTheLate,
    /// An evaluator acts on a signal of `P_0` that comes late.
    LateSignals,
    /// Who ends cuts its links, whether or not what it sent has come.
    LeavesAtOnce,
    /// A party goes on to the next part of a stream while what it opens may still be queued.
    OpeningsQueued,
    /// An evaluator to which `P_0` says nothing stops.
    SilenceAborts,
    /// An abort of `P_0` counts without its proof.
    AbortWithoutProof,
    /// An opening is taken whatever was committed to.
    OpeningsUnchecked,
    /// No mistake: batches have 64 products at most, so that tests have many.
    SmallBatches,
}

tacit_session::planted!(Mistake, feature = "planted", then plant_shared);

/// Plants those that three-party protocols share.
#[cfg(feature = "planted")]
fn plant_shared(mistakes: &[Mistake]) {
    tacit_threeparty::planted::plant(mistakes.iter().filter_map(|mistake| match mistake {
        Mistake::Shared(shared) => Some(*shared),
        _ => None,
    }));
    SHARED.take();
}

/// The key that whoever gives inputs knows, for [`Mistake::GivenKeyKnown`].
#[cfg_attr(not(feature = "planted"), allow(unreachable_pub))]
pub const KNOWN_KEY: [u8; 16] = *b"known to all and";

#[cfg(feature = "planted")]
thread_local! {
    static TOLD: RefCell<Option<Told>> = const { RefCell::new(None) };
    /// The first deltas that were drawn, by what for.
    static SHARED: RefCell<BTreeMap<u16, Vec<u8>>> = const { RefCell::new(BTreeMap::new()) };
}

/// What endpoints know inside, as they are told to tell attackers: for what, and the bytes.
#[cfg(feature = "planted")]
pub type Told = Arc<Mutex<Vec<(u16, Vec<u8>)>>>;

/// From now on this thread's endpoint tells what it knows: the session's identity (`step::HELLO`) and the keys of digests,
/// by what they are drawn for.
#[cfg(feature = "planted")]
pub fn tell_to(told: Option<Told>) {
    TOLD.set(told);
}

/// Tells an attacker, if there is one.
#[cfg(feature = "planted")]
pub(crate) fn tell(what: u16, secret: &[u8]) {
    TOLD.with_borrow(|told| {
        if let Some(told) = told {
            told.lock().unwrap_or_else(PoisonError::into_inner).push((what, secret.to_vec()));
        }
    });
}

/// Nobody.
#[cfg(not(feature = "planted"))]
pub(crate) const fn tell(_: u16, _: &[u8]) {}

/// Makes deltas that were drawn the same as the first ones that were.
#[cfg(feature = "planted")]
pub(crate) fn share(drawn: Drawn, deltas: &mut [u8]) {
    let mistake = match drawn {
        Drawn::LeftDelta => Mistake::DeltaShared,
        Drawn::ResultDelta | Drawn::FirstDelta => Mistake::ResultDeltaShared,
        _ => return,
    };
    if planted(mistake) {
        SHARED.with_borrow_mut(|shared| {
            let first = shared.entry(drawn as u16).or_insert_with(|| deltas.to_vec());
            deltas.copy_from_slice(first);
        });
    }
}

/// A coin to which each party gives the same in all lanes.
#[cfg(feature = "planted")]
pub(crate) fn toss_alike(session: &mut Session) -> Result<[u8; 16], Error> {
    let at = |part| At { lane: 0, part, op: 0, batch: 0 };
    let value = |party: usize| {
        Sha256::new_with_prefix(b"the same in all lanes").chain_update([party as u8]).finalize()
    };
    let mine = value(session.me());
    session.broadcast(at(step::COIN_COMMIT), &Sha256::digest(mine))?;
    let mut opened = session.broadcast(at(step::COIN_OPEN), &mine)?;
    opened[session.me()] = mine.to_vec();
    Ok(coin_alike(&opened))
}

/// That coin, of all parties' values.
#[cfg(feature = "planted")]
pub fn coin_alike(values: &[Vec<u8>]) -> [u8; 16] {
    let mut coin = [0; 16];
    coin.copy_from_slice(&Sha256::digest(values.concat())[..16]);
    coin
}
