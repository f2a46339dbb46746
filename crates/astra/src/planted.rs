//! Mistakes, planted by tests that show that attackers then get through.
//!
//! Only tests have the feature `planted`; without it nothing is planted, and nothing of this is left in the code.

#[cfg(all(feature = "planted", not(debug_assertions)))]
compile_error!(
    "the feature \"planted\" breaks the protocol on purpose: it is for tests with debug assertions alone"
);

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "planted"), allow(unreachable_pub))]
pub enum Mistake {
    /// What has to be zero if products were made right isn't compared.
    WrongTriplesPass,
    /// Buckets have one triple: `B = 1`.
    BucketsOfOne,
    /// One triple is checked in the clear: `C = 1`.
    OneTripleCut,
    /// Each of a run's lanes is checked as if it were the only one.
    LanesUncounted,
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
    /// `P_2` takes whatever labels it is given of masked numbers.
    LabelsUnchecked,
    /// `P_1` doesn't compare the tags of garbled outputs.
    TagsUnchecked,
    /// Outputs are sent by whoever has no objection, though others may have.
    OutputsBeforeVerdicts,
    /// `P_2` takes the key that hides outputs from `P_0` alone.
    KeyFromFirst,
    /// A client takes whatever seeds it is given.
    WrongSeedsPass,
    /// What a client or `P_0` gave both evaluators isn't compared.
    GivenNotCompared,
    /// An output's component isn't compared with its hash.
    ComponentsUnchecked,
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
    /// An evaluator heeds a signal of `P_0` that comes late.
    LateSignals,
    /// Who ends cuts its links, whether or not what it sent has come.
    LeavesAtOnce,
    /// An evaluator to which `P_0` says nothing stops.
    SilenceAborts,
    /// An abort of `P_0` counts without its proof.
    AbortWithoutProof,
}

#[cfg(feature = "planted")]
thread_local! {
    static PLANTED: std::cell::Cell<&'static [Mistake]> = const { std::cell::Cell::new(&[]) };
}

/// Plants mistakes in what this thread does, and takes out those from before.
#[cfg(feature = "planted")]
pub fn plant(mistakes: &'static [Mistake]) {
    PLANTED.set(mistakes);
}

/// Whether a mistake is planted.
#[cfg(feature = "planted")]
pub(crate) fn planted(mistake: Mistake) -> bool {
    PLANTED.get().contains(&mistake)
}

/// None is.
#[cfg(not(feature = "planted"))]
pub(crate) const fn planted(_: Mistake) -> bool {
    false
}
