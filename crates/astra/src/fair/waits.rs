//! How long parties wait for one another in the steps of fair outputs, in limits of silence.
//!
//! **What is assumed.** All honest parties have the same limit, which the handshake sees to, and clocks that run alike.
//! From when an honest party has what it sends next, or its wait for that is over, until the message is at an honest
//! receiver takes at most one limit, computing and the openings of all outputs included. To compute a commitment takes a
//! pass over all outputs, and for that one limit more is allowed.
//!
//! **Derivation.** An evaluator's time to know of the other one's word is `d`: at most one limit after both have sent theirs,
//! and not before. So two honest evaluators' differ by 1 at most.
//! - *Verdict* from `d`: `P_0` has both words by then or 1 later, and its verdict takes 1. So 2. An evaluator enters at `e`, when it
//!   has the verdict: two honest ones 3 apart at most ([`APART`]).
//! - *Ready* from `e`: the other one enters 3 later at most, and its word takes 1.
//! - *Commitments*, of `P_0` from its verdict: 1 until evaluators have that, 1 for their words, 1 to compute, 1 on the way. Nothing
//!   extends it.
//! - *Signal* from `e`, which is after the verdict: `P_0` decides within the above, and its signal takes 1.
//! - *Report* from `e`: the other one enters 3 later at most, waits for the signal, and its report takes 1.
//! - *Openings* from `e`: the other one enters 3 later at most, waits for the report, and its openings take 1. (If both are honest
//!   the report has come long before. But openings are the longest messages, and nobody relies on this wait being short.)
//! - *Openings* at `P_0` from its signal: honest evaluators had entered if it goes on; they wait for the report, and their openings
//!   take 1.
//! - Who sent something *stays* until nobody counts on it any more: others entered 3 later at most, or before `P_0` decided, and
//!   wait for openings.
//!
//! Messages of one that deviates may come at any time: just before one's wait is over and just after another's.
//! The tests below try all such times, and show that no wait but the one for openings can be one shorter.

/// Of an evaluator for `P_0`'s verdict, from when it has the other one's word and said its own.
pub(super) const VERDICT: u32 = 2;
/// How much later than an honest evaluator another honest one enters.
const APART: u32 = VERDICT + 1;
/// Of an evaluator for the other one's word that it is ready, from when it entered.
pub(super) const READY: u32 = APART + 1;
/// Of `P_0` for commitments, from its verdict.
pub(super) const COMMITTED: u32 = 4;
/// Of an evaluator for the signal, from when it entered.
pub(super) const SIGNALLED: u32 = COMMITTED + 1;
/// Of an evaluator for the other's report.
pub(super) const REPORTED: u32 = APART + SIGNALLED + 1;
/// Of an evaluator for the openings.
pub(super) const OPENED: u32 = APART + REPORTED + 1;
/// Of `P_0` for the openings, from its signal.
pub(super) const OPENED_TO_FIRST: u32 = REPORTED + 1;
/// Of everybody until it may cut its links, from its verdict or from when it entered.
pub(super) const STAY: u32 = COMMITTED + OPENED;

#[cfg(test)]
mod tests {
    use super::*;

    /// The waits as they are, or changed by a test.
    #[derive(Clone, Copy, Debug)]
    struct Waits {
        verdict: u32,
        ready: u32,
        committed: u32,
        signalled: u32,
        reported: u32,
        opened: u32,
        opened_to_first: u32,
    }

    const OURS: Waits = Waits {
        verdict: VERDICT,
        ready: READY,
        committed: COMMITTED,
        signalled: SIGNALLED,
        reported: REPORTED,
        opened: OPENED,
        opened_to_first: OPENED_TO_FIRST,
    };

    /// How long a message between honest parties takes, or a pass over the outputs.
    const HOP: [u32; 2] = [0, 1];
    /// Later than any wait.
    const NEVER: u32 = 1000;
    /// Times at which one that deviates may let a message come.
    const TIMES: std::ops::Range<u32> = 0..24;

    fn times() -> impl Iterator<Item = u32> + Clone {
        TIMES.chain([NEVER])
    }

    /// All pairs, such as what two messages take.
    fn pairs<T: Copy>(of: impl Iterator<Item = T> + Clone) -> impl Iterator<Item = [T; 2]> {
        let second = of.clone();
        of.flat_map(move |a| second.clone().map(move |b| [a, b]))
    }

    fn hops() -> impl Iterator<Item = [u32; 2]> {
        pairs(HOP.into_iter())
    }

    /// When two honest evaluators enter, whatever `P_0` does; none if it doesn't.
    fn entered(waits: &Waits) -> Vec<[Option<u32>; 2]> {
        let mut all = Vec::new();
        // The first has said its word at 0.
        for (second, words) in (0..4).flat_map(|second| hops().map(move |words| (second, words))) {
            let knows = [second + words[0], second.max(words[1])];
            for verdicts in pairs(times()) {
                let enter =
                    |i: usize| (verdicts[i] <= knows[i] + waits.verdict).then_some(verdicts[i].max(knows[i]));
                all.push([enter(0), enter(1)]);
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// A way in which a corrupt `P_0` has `m` and an evaluator not all, if there is any.
    fn unfair_of_first(waits: &Waits) -> Option<String> {
        let mut starts = Vec::new();
        for entered in entered(waits) {
            let [Some(one), Some(two)] = entered else { continue };
            for ready in hops() {
                let passes = [two + ready[0] <= one + waits.ready, one + ready[1] <= two + waits.ready];
                if passes[0] != passes[1] {
                    return Some(format!("entered {entered:?}, one goes on alone"));
                }
                if passes[0] {
                    let first = one.min(two);
                    starts.push([one - first, two - first]);
                }
            }
        }
        starts.sort_unstable();
        starts.dedup();
        for (entered, aborts) in
            starts.iter().flat_map(|&entered| pairs(times()).map(move |at| (entered, at)))
        {
            let deadline = entered.map(|entered| entered + waits.signalled);
            let aborted = [aborts[0] <= deadline[0], aborts[1] <= deadline[1]];
            // One that isn't told to abort is told to go on at once, or nothing.
            for silent in pairs([false, true].into_iter()) {
                let told = [0, 1].map(|i| match (aborted[i], silent[i]) {
                    (true, _) => aborts[i].max(entered[i]),
                    (false, false) => entered[i],
                    (false, true) => deadline[i],
                });
                for way in hops() {
                    let report = [told[1] + way[0], told[0] + way[1]];
                    let in_time = [0, 1].map(|i| report[i] <= entered[i] + waits.reported);
                    let stops =
                        [aborted[0] || aborted[1] && in_time[0], aborted[1] || aborted[0] && in_time[1]];
                    let what = format!("entered {entered:?}, aborts {aborts:?}, silent {silent:?}, {way:?}");
                    if stops[0] != stops[1] {
                        return Some(format!("{what}: one stops"));
                    }
                    let opens = [0, 1].map(|i| {
                        if in_time[i] { told[i].max(report[i]) } else { entered[i] + waits.reported }
                    });
                    let late = |i: usize| opens[1 - i] + 1 > entered[i] + waits.opened;
                    if !stops[0] && (late(0) || late(1)) {
                        return Some(format!("{what}: openings come too late"));
                    }
                }
            }
        }
        None
    }

    /// A way in which a corrupt evaluator has what it lacks and another party not, if there is any.
    fn unfair_of_evaluator(waits: &Waits) -> Option<String> {
        // P_0 gives its verdict at 0; the honest evaluator has the other's word when that one likes.
        for (word, [verdict, signal]) in times().flat_map(|word| hops().map(move |hops| (word, hops))) {
            let entered = word.max(verdict);
            if verdict > word.saturating_add(waits.verdict) || word == NEVER {
                continue;
            }
            for (ready, [pass, way]) in times().flat_map(|ready| hops().map(move |hops| (ready, hops))) {
                // Whoever isn't ready in time stops it, before it has committed to anything.
                if ready > entered + waits.ready {
                    continue;
                }
                let committed = entered.max(ready) + pass + way;
                for theirs in times() {
                    let what = format!("word {word}, ready {ready}, commitments {committed} and {theirs}");
                    let both = committed.max(theirs);
                    if both > waits.committed {
                        if waits.committed + signal > entered + waits.signalled {
                            return Some(format!("{what}: the abort comes too late"));
                        }
                        continue;
                    }
                    // It waits for the report in vain.
                    let opens = entered + waits.reported;
                    if opens + 1 > both + waits.opened_to_first {
                        return Some(format!("{what}: m comes too late"));
                    }
                    if both + 1 > entered + waits.opened {
                        return Some(format!("{what}: a mask comes too late"));
                    }
                }
            }
        }
        None
    }

    /// Whether three honest parties reach the end although all takes its longest.
    fn goes_well(waits: &Waits) -> bool {
        // Both evaluators say their words at once, and know of each other's at once.
        let (words, verdict, ready, pass, way) = (1, 1, 1, 1, 1);
        words + verdict <= waits.verdict && verdict + ready + pass + way <= waits.committed
    }

    #[test]
    fn these_are_the_waits() {
        let waits = [VERDICT, READY, COMMITTED, SIGNALLED, REPORTED, OPENED, OPENED_TO_FIRST, STAY];
        assert_eq!(waits, [2, 4, 4, 5, 9, 13, 10, 17]);
    }

    #[test]
    fn nothing_that_comes_late_to_one_and_early_to_another_is_unfair() {
        assert_eq!(unfair_of_first(&OURS), None);
        assert_eq!(unfair_of_evaluator(&OURS), None);
        assert!(goes_well(&OURS));
    }

    /// But that for openings, on whose being short nobody relies: of that, 9 would do.
    #[test]
    fn no_wait_could_be_shorter() {
        let least = Waits { opened: 9, ..OURS };
        assert_eq!(unfair_of_first(&least).or_else(|| unfair_of_evaluator(&least)), None);
        for (what, shorter) in [
            ("verdict", Waits { verdict: VERDICT - 1, ..OURS }),
            ("ready", Waits { ready: READY - 1, ..OURS }),
            ("committed", Waits { committed: COMMITTED - 1, ..OURS }),
            ("signalled", Waits { signalled: SIGNALLED - 1, ..OURS }),
            ("reported", Waits { reported: REPORTED - 1, ..OURS }),
            ("opened", Waits { opened: 8, ..OURS }),
            ("opened to first", Waits { opened_to_first: OPENED_TO_FIRST - 1, ..OURS }),
        ] {
            let unfair = unfair_of_first(&shorter).or_else(|| unfair_of_evaluator(&shorter));
            assert!(unfair.is_some() || !goes_well(&shorter), "{what}");
        }
    }

    /// A wait that is longer makes others wait for longer, too.
    #[test]
    fn no_wait_that_others_rely_on_could_be_longer() {
        for (what, longer) in [
            ("verdict", Waits { verdict: VERDICT + 1, ..OURS }),
            ("committed", Waits { committed: COMMITTED + 1, ..OURS }),
            ("signalled", Waits { signalled: SIGNALLED + 1, ..OURS }),
            ("reported", Waits { reported: REPORTED + 1, ..OURS }),
        ] {
            assert!(unfair_of_first(&longer).or_else(|| unfair_of_evaluator(&longer)).is_some(), "{what}");
        }
    }
}
