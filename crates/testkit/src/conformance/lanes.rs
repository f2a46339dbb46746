//! Several lanes: nothing of one is the other's, but its end.
//!
//! Whoever notices a deviation in one lane ends its others, too. An endpoint may have its outputs in a lane that was
//! done by then, and learns of the failure only in the other. So a fair protocol refuses several lanes.

use std::collections::HashSet;

use tacit_engine::Outcome;
use tacit_session::step;

use super::Subject;
use super::refusals::{check_endings, check_refused};
use super::robust::{dies_before_the_end, is_silence, stage_case};
use crate::links::{Medium, Mortal, links_in_lanes};
use crate::{Case, Delivery, Deviation, Draws, Run, outcomes};

const LANES: u16 = 2;

/// Two lanes have the results of one; no address comes twice on a link; and though all endpoints draw the same in
/// both lanes, masks differ.
///
/// # Panics
/// If that is not so.
pub fn results_and_addresses(subject: &Subject) {
    if subject.is_fair() {
        return refused(subject);
    }
    let (case, expected) = stage(subject);
    let world = case.world_in_lanes(LANES);
    let lanes = case.run_in_lanes(&world, &[Draws::fixed(1), Draws::fixed(1)]);
    for (lane, run) in lanes.iter().enumerate() {
        assert_eq!(run.outcomes(), expected.iter().collect::<Vec<_>>(), "lane {lane}");
    }
    let trace = world.trace();
    let mut seen = HashSet::new();
    for Delivery { from, to, at, .. } in trace.deliveries() {
        assert!(seen.insert((from, to, at)), "{at} comes twice from {from} to {to}");
    }
    for (from, to) in trace.links() {
        let in_lane = |lane| trace.link(from, to).filter(move |delivery| delivery.at.lane == lane);
        let outline = |delivery: &Delivery| (delivery.at.part, delivery.at.op, delivery.payload.len());
        let outlines = [0, 1].map(|lane| in_lane(lane).map(outline).collect::<Vec<_>>());
        assert_eq!(outlines[0], outlines[1], "both lanes do the same, from {from} to {to}");
        let masked = |lane| -> Vec<u8> {
            let masked = in_lane(lane).filter(|delivery| delivery.at.part >= step::OPERATION);
            masked.flat_map(|delivery| delivery.payload.clone()).collect()
        };
        // Of 16 random bytes and more, all are the same once in 2^128; but fresh ones are here drawn alike.
        assert!(
            subject.fresh_masks || masked(0).len() < 16 || masked(0) != masked(1),
            "one stream for two lanes, {from} to {to}"
        );
    }
}

/// A deviation in one lane, noticed at once and long before the end, ends all lanes of every honest endpoint.
///
/// # Panics
/// If one goes on, or if a run hangs.
pub fn a_deviation_ends_all_lanes(subject: &Subject) {
    if subject.is_fair() {
        return refused(subject);
    }
    let (case, _) = stage(subject);
    let draws = [Draws::fixed(1), Draws::fixed(2)];
    let trace = case.run(&draws[0]).trace;
    for (from, to) in trace.links().into_iter().step_by(subject.one_in) {
        let link: Vec<&Delivery> = trace.link(from, to).collect();
        let early = link.iter().take_while(|delivery| !is_late(delivery.at.part)).count() / 2;
        for nth in [0, early / 2, early] {
            for deviation in [Deviation::Extend, Deviation::Death] {
                let what = format!("{deviation:?} of message {nth} from {from} to {to} in lane 1");
                let world = case.world_in_lanes(LANES).intercept(deviation.in_lane(1, from, to, nth));
                let lanes = case.run_in_lanes(&world, &draws);
                assert!(world.now() < case.limits.silence, "{what}: took {:?}", world.now());
                for (lane, run) in lanes.iter().enumerate() {
                    check_ended(&case, run, from, &format!("{what}, in lane {lane}"));
                }
            }
        }
    }
}

/// Results over real links; and that all endpoints end, and none with a time-out, if a party dies in one lane.
///
/// # Panics
/// If that is not so.
pub fn over(subject: &Subject, medium: Medium) {
    let (case, expected) = stage(subject);
    let draws = [Draws::fixed(1), Draws::fixed(2)];
    if subject.is_fair() {
        let lanes = case.run_over_lanes(links_in_lanes(medium, &case, LANES), &draws);
        return check_endings(lanes.iter().map(Vec::as_slice));
    }
    for endings in case.run_over_lanes(links_in_lanes(medium, &case, LANES), &draws) {
        let outcomes: Vec<Outcome> = outcomes(endings.iter().flatten()).into_iter().cloned().collect();
        assert_eq!(outcomes, expected, "over {medium:?}");
    }
    for (dead, frames) in [(0, 1), (subject.parties - 1, 12)] {
        if subject.parties == 2 && !dies_before_the_end(&case, dead, frames) {
            continue;
        }
        let mut links = links_in_lanes(medium, &case, LANES);
        let mortal = links[1][dead].take().map(|links| Mortal::new(links, case.endpoints(), frames));
        links[1][dead] = mortal.map(|mortal| Box::new(mortal) as _);
        let lanes = case.run_over_lanes(links, &draws);
        for (lane, endings) in lanes.iter().enumerate() {
            for (endpoint, ending) in endings.iter().flatten().enumerate() {
                let what = format!("{} in lane {lane} after {frames} frames", case.name(endpoint));
                match &ending.result {
                    // The other lane may have been done.
                    Ok(outcome) => assert!(lane == 0 && *outcome == expected[endpoint], "{what}"),
                    Err(error) => assert!(!is_silence(&error.to_string()), "{what}: {error}"),
                }
            }
        }
    }
}

/// Several lanes are refused before anything is sent in any.
fn refused(subject: &Subject) {
    let case = stage_case(subject);
    let lanes = case.run_in_lanes(&case.world_in_lanes(LANES), &[Draws::fixed(1), Draws::fixed(2)]);
    check_refused(&lanes);
}

fn stage(subject: &Subject) -> (Case, Vec<Outcome>) {
    let case = stage_case(subject);
    let expected = case.run(&Draws::fixed(1)).outcomes().into_iter().cloned().collect();
    (case, expected)
}

/// Whether a message is one of the last.
fn is_late(part: u16) -> bool {
    (step::OUTPUT..step::OPERATION).contains(&part) || part == step::DRAWN
}

/// All endpoints have an error, but perhaps the one that deviates.
fn check_ended(case: &Case, run: &Run, deviates: usize, what: &str) {
    for (endpoint, ending) in run.endings.iter().flatten().enumerate() {
        if endpoint != deviates {
            assert!(ending.result.is_err(), "{what}: {} goes on", case.name(endpoint));
        }
    }
}
