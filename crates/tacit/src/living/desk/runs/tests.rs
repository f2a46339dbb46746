//! What a desk refuses without asking anybody.

use super::*;
use crate::living::desk::{ABANDONED, LATE, STALL};
use crate::living::serving::Serving;
use std::collections::HashMap;
use std::time::Duration;
use tacit_net::setup::Client;

const PROGRAM: [u8; 32] = [7; 32];

/// Party 1's desk for a program whose names `x` and `y` any client plays, four runs at a time.
fn desk(attempts: usize) -> Desk {
    let serving = Serving { queue: 9, open: vec!["x".into(), "y".into()], ..Serving::new("replicated", 4) };
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

#[test]
fn the_oldest_of_what_parties_want_is_next_and_a_client_waits_for_one_of_them_at_most() {
    let mut desk = Desk { me: 0, ..desk(8) };
    let (readers, order) = ([9, 3], 5);
    for program in readers {
        desk.expect([program; 32], Vec::new(), false);
    }
    desk.expect([order; 32], vec!["x".into()], true);
    let all_want = |desk: &mut Desk, program: u8, tag: &str| {
        (0..3).for_each(|party| desk.wants.is_wanted_by(party, ([program; 32], tag.to_owned())));
    };
    let next = |desk: &mut Desk| desk.next(Instant::now(), true).map(|next| (next.program[0], next.tag));
    let is = |program: u8, tag: &str| Some((program, tag.to_owned()));
    for (program, tag) in [(9, "d"), (9, "c"), (3, "b"), (9, "a")] {
        all_want(&mut desk, program, tag);
    }
    assert_eq!(next(&mut desk), is(9, "d"));
    // What a client asks for is not before all parties want it, and then it is next.
    let request = Request {
        id: 7,
        program: [order; 32],
        protocol: "replicated".into(),
        plays: "x".into(),
        tag: "order".into(),
        alone: false,
        fill: Fill::new(),
    };
    let admin = Client { name: "admin".into(), fingerprint: None };
    desk.order.ask(1, &admin, &request, vec!["x".into()], Instant::now());
    assert_eq!(next(&mut desk), is(9, "c"));
    all_want(&mut desk, order, "order");
    assert_eq!(next(&mut desk), is(order, "order"));
    // What parties want goes on, the oldest first, and nothing is there twice.
    all_want(&mut desk, 3, "e");
    for (program, tag) in [(3, "b"), (9, "a"), (3, "e")] {
        assert_eq!(next(&mut desk), is(program, tag));
    }
    assert_eq!(next(&mut desk), None);
}

/// What this party has accepted may begin still, and with what it has ready.
#[test]
fn a_want_whose_run_is_accepted_stays_where_the_party_is_told_to_end() {
    let mut desk = desk(8);
    // A want that comes while such a run is under way is of another one.
    let stages =
        [(1, "accepted", Stage::Accepted), (2, "proposed", Stage::Proposed), (3, "running", Stage::Running)];
    for (run, tag, stage) in stages {
        desk.want((PROGRAM, tag.into()));
        let proposal = Proposal { tag: tag.into(), players: Vec::new(), ..proposal(run, ["alice", "bob"]) };
        let (accepted, since) = (BTreeSet::new(), Instant::now());
        desk.runs.insert(run, Pending { proposal, stage, accepted, since });
    }
    desk.want((PROGRAM, "waits".into()));
    desk.close_wants("ends");
    let tags = |failed: Vec<(Want, String)>| failed.into_iter().map(|(want, _)| want.1).collect::<Vec<_>>();
    assert_eq!(tags(desk.come_to_nothing()), ["proposed", "running", "waits"]);
    desk.requeue(1, Company::WAITS);
    assert_eq!(tags(desk.come_to_nothing()), ["accepted"]);
}

/// What party 0 proposed and never begins isn't waited for without end, and for less time where this party is told to end.
#[test]
fn what_was_accepted_and_is_not_begun_is_given_up() {
    let (mut desk, since) = (desk(8), Instant::now());
    for (run, stage) in [(1, Stage::Accepted), (2, Stage::Running)] {
        let (proposal, accepted) = (proposal(run, ["alice", "bob"]), BTreeSet::new());
        desk.runs.insert(run, Pending { proposal, stage, accepted, since });
    }
    assert_eq!(desk.late(since + 2 * LATE), [0; 0]);
    assert_eq!(desk.pause(since), Some(ABANDONED));
    assert_eq!(desk.late(since + ABANDONED), [1]);
    desk.closed = true;
    assert_eq!(desk.late(since + LATE), [1]);
}

/// Links are measured when it is time and nothing runs, and beside runs only if it has been time for long.
#[test]
fn links_are_measured_when_nothing_runs_or_when_it_is_late() {
    let (mut desk, due) = (Desk { me: 0, ..desk(8) }, Instant::now() + MEASURED_AGAIN);
    let before = |then: Instant| then.checked_sub(Duration::from_secs(1)).unwrap();
    // Where nothing hangs on the links they never are.
    assert!(!desk.is_to_measure(due + 2 * MEASURED_AGAIN));
    desk.measures(due);
    assert!(!desk.is_to_measure(before(due)) && desk.is_to_measure(due));
    // What is accepted sends soon, so that it counts, too.
    for stage in [Stage::Accepted, Stage::Running] {
        let (proposal, accepted) = (proposal(1, ["alice", "bob"]), BTreeSet::new());
        desk.runs.insert(1, Pending { proposal, stage, accepted, since: due });
        assert!(!desk.is_to_measure(due) && !desk.is_to_measure(before(due + MEASURED_AGAIN)));
        assert!(desk.is_to_measure(due + MEASURED_AGAIN));
    }
    assert!(desk.next(due, true).is_none());
    desk.runs.clear();
    // It comes before what else waits, and again as long after that.
    let at = due + Duration::from_secs(1);
    assert!(desk.next(at, true).is_some_and(|next| next.program == MEASURE && next.seats.is_empty()));
    assert!(!desk.is_to_measure(before(at + MEASURED_AGAIN)) && desk.is_to_measure(at + MEASURED_AGAIN));
}

/// A filling takes no run's place but an attempt, and leaves one to runs; there is one at a time, up to the level of all.
#[test]
fn a_filling_is_beside_runs_and_leaves_them_an_attempt() {
    let mut desk = Desk { most: 1, ..desk(2) };
    desk.fills("triples=64".into());
    let filling = |run: u64, level: &str| Proposal {
        program: FILLING,
        tag: level.into(),
        players: Vec::new(),
        ..proposal(run, ["alice", "bob"])
    };
    assert_eq!(desk.refusal(&filling(1, "triples=64")), None);
    let long = "\u{1b}[2J".repeat(9999);
    for (other, says) in [
        (filling(1, "triples=65"), "the same --fill"),
        (filling(1, &long), "the same --fill"),
        (proposal(1, ["alice", "bob"]), "nobody but parties"),
    ] {
        let refusal = desk.refusal(&Proposal { program: FILLING, ..other }).unwrap();
        assert!(refusal.contains(says), "{refusal}");
        assert!(refusal.len() < 999 && !refusal.contains(char::is_control), "fit to be told");
    }
    assert!(desk.has_room_to_fill());
    is_under_way(&mut desk, 1);
    assert!(desk.has_room_to_fill() && !desk.has_room());
    let (accepted, since) = (BTreeSet::new(), Instant::now());
    let under_way = Pending { proposal: filling(2, "triples=64"), stage: Stage::Running, accepted, since };
    desk.runs.insert(2, under_way);
    assert!(!desk.has_room_to_fill());
    assert_eq!(desk.running(), 1);
    desk.forget(1);
    assert!(desk.has_room() && !desk.has_room_to_fill());
    desk.forget(2);
    desk.is_low();
    assert!(desk.is_to_fill(Instant::now()) && desk.unfilled().is_none());
    desk.bear(1);
    assert!(desk.has_room() && !desk.has_room_to_fill());
    assert!(!desk.is_to_fill(Instant::now()));
    assert!(desk.unfilled().is_some_and(|reason| reason.contains("--attempts")));
}

/// A party that always says that it lacks something of a filling doesn't have it proposed without end.
#[test]
fn a_filling_that_is_taken_apart_comes_again_after_a_pause() {
    let mut desk = Desk { me: 0, ..desk(8) };
    desk.fills("triples=64".into());
    for (rests, pauses) in [(false, false), (true, true)] {
        let proposal = Proposal { program: FILLING, players: Vec::new(), ..proposal(1, ["alice", "bob"]) };
        let (accepted, since) = (BTreeSet::new(), Instant::now());
        desk.runs.insert(1, Pending { proposal, stage: Stage::Accepted, accepted, since });
        desk.requeue(1, Company { rests, ..Company::WAITS });
        desk.is_low();
        assert_eq!(desk.fills.pause(since).is_some(), pauses);
    }
}

/// Clients can ask again and again for what draws more than the level: no filling waits long for that.
#[test]
fn fillings_that_fail_come_ever_later_and_those_that_find_enough_do_not() {
    let mut desk = desk(8);
    desk.fills("triples=64".into());
    desk.is_low();
    let start = Instant::now();
    let mut pause_after = |made: Option<bool>| {
        (0..20).for_each(|_| desk.has_filled(made));
        desk.fills.pause(start).unwrap_or_default()
    };
    let [enough, failed, some] = [Some(false), None, Some(true)].map(&mut pause_after);
    assert!(enough > Duration::ZERO && enough < Duration::from_mins(1), "{enough:?}");
    assert!(failed > Duration::from_mins(1), "{failed:?}");
    assert!(some < Duration::from_secs(1), "{some:?}");
}

/// Who asked some parties alone has no lane that others could need, and is waited for shortly.
#[test]
fn a_client_that_was_missed_leaves_a_lane_to_others() {
    let mut desk = Desk { me: 0, ..desk(8) };
    let (one, now) = ([3; 32], Instant::now());
    let ask = |desk: &mut Desk, guest: u64, name: &str| {
        let (protocol, plays, tag) = ("replicated".into(), "x".into(), String::new());
        let request =
            Request { id: guest, program: one, protocol, plays, tag, alone: false, fill: Fill::new() };
        let client = Client { name: name.into(), fingerprint: None };
        desk.order.ask(guest, &client, &request, vec!["x".into()], now);
    };
    let next = |desk: &mut Desk, leaves_one| desk.next(now, leaves_one).map(|next| next.seats[0].guest);
    desk.tardy.note(["alice".to_owned()], now, REMEMBERED);
    ask(&mut desk, 1, "alice");
    assert_eq!(next(&mut desk, false), None);
    ask(&mut desk, 2, "bob");
    assert_eq!([false, false, true].map(|leaves| next(&mut desk, leaves)), [Some(2), None, Some(1)]);
    // It is no worse off where there is one at a time.
    ask(&mut desk, 3, "alice");
    desk.bear(1);
    assert_eq!(next(&mut desk, false), Some(3));
    desk.bear(8);
    assert!(desk.leaves_room());
    (1..=3).for_each(|run| is_under_way(&mut desk, run));
    assert!(desk.has_room() && !desk.leaves_room());
    let is_missed = |clients| {
        let (proposal, accepted) = (proposal(9, clients), BTreeSet::new());
        desk.is_missed(&Pending { proposal, stage: Stage::Proposed, accepted, since: now }) - now
    };
    assert!(is_missed(["bob", "alice"]) < is_missed(["bob", "carol"]));
}

/// Who held up a run has one at a time; whose run was short has held up nobody.
#[test]
fn a_client_that_stalled_has_one_run_at_a_time() {
    let (protocol, plays, tag) = ("replicated".into(), "x".into(), String::new());
    let request = Request { id: 7, program: [3; 32], protocol, plays, tag, alone: false, fill: Fill::new() };
    let alice = Client { name: "alice".into(), fingerprint: None };
    for (lasted, may) in [(Duration::ZERO, true), (STALL, false)] {
        let mut desk = Desk { me: 0, ..desk(8) };
        (1..=2).for_each(|run| is_under_way(&mut desk, run));
        desk.runs.get_mut(&1).unwrap().since -= lasted;
        desk.failed_for(1, "alice");
        desk.forget(1);
        let now = Instant::now();
        assert_eq!(desk.tardy.has("alice", now + 2 * REMEMBERED), !may);
        desk.order.ask(1, &alice, &request, vec!["x".into()], now);
        assert_eq!(desk.next(now, true).is_some(), may);
        desk.forget(2);
        assert_eq!(desk.next(now, true).is_some(), !may);
    }
}
