//! What a desk refuses without asking anybody.

use super::*;
use crate::living::server::{Holdings, Serving};
use std::collections::HashMap;
use std::time::Duration;
use tacit_net::setup::Client;

const PROGRAM: [u8; 32] = [7; 32];

/// Party 1's desk for a program whose names `x` and `y` any client plays, four runs at a time.
fn desk(attempts: usize) -> Desk {
    let serving = Serving {
        protocol: "replicated".into(),
        at_once: 4,
        queue: 9,
        batch: 1,
        window: Duration::ZERO,
        runs: None,
        open: vec!["x".into(), "y".into()],
        holdings: Holdings::default(),
    };
    let names = ["P0", "P1", "P2"].map(str::to_owned).to_vec();
    let programs = HashMap::from([(PROGRAM, serving.open.clone())]);
    Desk::new(1, names, "replicated".into(), programs, &serving, (4, attempts), 0)
}

fn player(client: &str, plays: &str) -> Player {
    Player { plays: plays.into(), client: client.into(), print: None }
}

fn proposal(run: u64, clients: [&str; 2]) -> Proposal {
    let [x, y] = clients;
    let players = vec![(player(x, "x"), 1), (player(y, "y"), 2)];
    Proposal { run, lane: 1, program: PROGRAM, tag: String::new(), fill: Fill::new(), players }
}

fn is_under_way(desk: &mut Desk, run: u64) {
    let (proposal, accepted) = (proposal(run, ["alice", "bob"]), BTreeSet::new());
    desk.runs.insert(run, Pending { proposal, stage: Stage::Running, accepted, since: Instant::now() });
}

#[test]
fn runs_under_way_count_as_attempts_that_may_come() {
    let mut desk = desk(2);
    is_under_way(&mut desk, 1);
    assert!(desk.has_room());
    is_under_way(&mut desk, 2);
    assert!(!desk.has_room());
    // Whoever goes on whatever fails has all lanes.
    desk.bear(usize::MAX);
    assert!(desk.has_room());
    desk.bear(1);
    assert!(!desk.has_room());
    (3..=4).for_each(|run| is_under_way(&mut desk, run));
    desk.bear(usize::MAX);
    assert!(!desk.has_room());
}

#[test]
fn a_run_that_is_under_way_is_not_proposed_again() {
    let mut desk = desk(8);
    is_under_way(&mut desk, 5);
    // As after party 0's control link was lost.
    desk.last_run = 0;
    assert_eq!(desk.refusal(&proposal(4, ["alice", "bob"])), None);
    assert!(desk.refusal(&proposal(5, ["alice", "bob"])).is_some_and(|reason| reason.contains("before")));
}

#[test]
fn nobody_plays_two_names() {
    let refusal = desk(8).refusal(&proposal(1, ["alice", "alice"]));
    assert!(refusal.is_some_and(|reason| reason.contains("play two names")));
}

#[test]
fn a_client_has_so_many_runs_at_a_time() {
    let mut desk = desk(8);
    (1..=2).for_each(|run| is_under_way(&mut desk, run));
    assert_eq!(["alice", "bob", "carol"].map(|client| runs_of(&desk.runs, &player(client, "x"))), [2, 2, 0]);
}

#[test]
fn who_is_lost_in_checks_again_is_put_aside() {
    let mut desk = desk(8);
    let [alice, bob] = ["alice", "bob"].map(|name| Client { name: name.into(), fingerprint: None });
    for _ in 0..2 {
        assert!(!desk.is_aside(&alice));
        desk.lost("alice");
    }
    assert!(desk.is_aside(&alice) && !desk.is_aside(&bob));
}
