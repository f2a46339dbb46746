//! Clients that are at some parties alone, and a party that says so whether it is true or not.

use super::rogue::Rogue;
use super::*;
use crate::living::control::{Between, Proposal};
use std::time::Instant;

/// Alice's request is at P0 and P2, and never comes to P1: whoever has met her there goes on with another one, and
/// hears of nothing.
#[test]
fn a_client_whose_path_to_one_party_is_lost_holds_up_those_it_has_met_for_seconds_alone() {
    let house = House::new();
    let program = meeting();
    let parties = house.serve(&program);
    let mut alice = by_hand(&house.config("alice"));
    for party in [0, 2] {
        alice.say(party, write(&ToParty::Ask(request(&program, 7, "guest"))));
    }
    assert!(matches!(heard(&mut alice, 0), Some(ToClient::Waits { id: 7, .. })));
    let ask = |name: &str, plays: &str, inputs: [Option<Value>; 2]| {
        let (mut seat, program) = (seat(house.config(name), Some(plays)), program.clone());
        thread::spawn(move || seat.run(&program, PROTOCOL, &inputs, &|_, _| ()).map(|run| run.outputs))
    };
    let bob = ask("bob", "other", [None, Some(ints(6))]);
    // Her links end, so that she connects and asks anew.
    let word = alice.next(&[0], LONG);
    assert!(matches!(word, Some(Word::Left { party: 0 })), "{word:?}");
    assert!(!bob.is_finished());
    let carol = ask("carol", "guest", [Some(ints(7)), None]);
    assert_eq!(carol.join().unwrap().unwrap(), [None]);
    assert_eq!(bob.join().unwrap().unwrap(), [Some(ints(42))]);
    end_well(parties, 1);
}

/// What P1 answers to each proposal for a while; how many there were. Then it accepts.
fn answers_ill(answer: impl Fn(u64) -> Between) -> usize {
    let (house, program) = (House::new(), square());
    let others = [0, 2].map(|number| house.start(number, &program, QUEUE));
    let mut rogue = Rogue::of(&house, 1);
    let mut client = rogue.admit(&house.config("alice"));
    tell_all(&mut client, &ToParty::Ask(request(&program, 7, "guest")));
    let (start, mut count) = (Instant::now(), 0);
    loop {
        let Some(Between::Propose(proposal)) = rogue.answer(0) else { continue };
        if start.elapsed() > Duration::from_secs(1) {
            rogue.tells(0, &Between::Accept { run: proposal.run });
            break;
        }
        count += 1;
        rogue.tells(0, &answer(proposal.run));
    }
    assert!(matches!(heard(&mut client, 0), Some(ToClient::Begin { id: 7, .. })));
    drop((client, rogue));
    for party in others {
        drop(party.end());
    }
    count
}

#[test]
fn a_party_that_says_of_each_run_that_it_lacks_requests_is_asked_again_after_a_pause() {
    // None, and one that isn't there.
    for requests in [vec![], vec![8]] {
        let count = answers_ill(|run| Between::Misses { run, requests: requests.clone() });
        assert!((2..=7).contains(&count), "{count}");
    }
}

/// Two of three lanes have runs. Alice, whom a party has missed, asks for the third before carol.
#[test]
fn who_was_missed_is_not_given_the_last_free_lane() {
    let (house, program) = (House::new(), square());
    let others = [0, 2].map(|number| house.start(number, &program, QUEUE));
    let mut rogue = Rogue::of(&house, 1);
    let asks = |rogue: &mut Rogue, name: &str, id: u64| {
        let mut client = rogue.admit(&house.config(name));
        tell_all(&mut client, &ToParty::Ask(request(&program, id, "guest")));
        client
    };
    // For which request party 0 proposes the next run, and its number.
    let proposed = |rogue: &mut Rogue| loop {
        if let Some(Between::Propose(Proposal { run, players, .. })) = rogue.answer(0) {
            break (players[0].1, run);
        }
    };
    let mut clients = vec![asks(&mut rogue, "alice", 7)];
    let (id, run) = proposed(&mut rogue);
    rogue.tells(0, &Between::Misses { run, requests: vec![id] });
    for id in [8, 9] {
        clients.push(asks(&mut rogue, "bob", id));
        let (proposed, run) = proposed(&mut rogue);
        assert_eq!(proposed, id);
        rogue.tells(0, &Between::Accept { run });
    }
    clients.push(asks(&mut rogue, "alice", 10));
    clients.push(asks(&mut rogue, "carol", 11));
    assert_eq!(proposed(&mut rogue).0, 11);
    drop((clients, rogue));
    for party in others {
        drop(party.end());
    }
}

/// Alice goes as party 0 begins the run: the party that she has left tells it too late. Bob's link there ends at once, so that he
/// asks anew.
#[test]
fn who_was_to_meet_a_client_that_goes_as_the_run_begins_asks_anew_at_once() {
    let (house, program) = (House::new(), meeting());
    let parties = [1, 2].map(|number| house.start(number, &program, QUEUE));
    let mut rogue = Rogue::new(&house);
    let [mut alice, mut bob] = ["alice", "bob"].map(|name| rogue.admit(&house.config(name)));
    alice.say(1, write(&ToParty::Ask(request(&program, 7, "guest"))));
    bob.say(1, write(&ToParty::Ask(request(&program, 8, "other"))));
    let players = [("alice", "guest", 7), ("bob", "other", 8)];
    let players = players.map(|(name, plays, id)| (player(&house.config(name), plays), id)).to_vec();
    let (run, lane, program, tag) = (1, 1, program.hash(), String::new());
    rogue.tells(1, &Between::Propose(Proposal { run, lane, program, tag, fill: Fill::new(), players }));
    assert_eq!(rogue.answer(1), Some(Between::Accept { run }));
    alice.say(1, write(&ToParty::Withdraw));
    assert_eq!(rogue.answer(1), Some(Between::Misses { run, requests: vec![7] }));
    rogue.tells(1, &Between::Start { run });
    loop {
        match bob.next(&[1], LONG) {
            Some(Word::Left { party: 1 }) => break,
            Some(Word::Said { .. }) => {}
            word => panic!("{word:?}"),
        }
    }
    drop((rogue, alice, bob));
    end_well(parties, 0);
}

/// Alice asks two parties alone, in company of bob. He waits for her once, and for a moment; what she asks for next is nobody's
/// company, though runs wait for a second instance for as long as they may.
#[test]
fn who_asks_some_parties_alone_is_in_no_batch_for_a_while() {
    let house = House { batch: 2, ..House::new() };
    let program = square();
    let parties = house.serve(&program);
    let asks = |id: u64| {
        let mut alice = by_hand(&house.config("alice"));
        for party in [0, 2] {
            alice.say(party, write(&ToParty::Ask(request(&program, id, "guest"))));
        }
        alice
    };
    let ask = |name: &str, x: i64| {
        let (config, program) = (house.config(name), program.clone());
        thread::spawn(move || squared(&mut seat(config, Some("guest")), &program, x).unwrap())
    };
    let first = asks(7);
    assert_eq!(ask("bob", 3).join().unwrap(), Some(ints(9)));
    let second = asks(8);
    let bob = ask("bob", 4);
    // A third one is who he waits for.
    let carol = ask("carol", 5);
    assert_eq!([bob, carol].map(|asked| asked.join().unwrap()), [Some(ints(16)), Some(ints(25))]);
    drop((first, second));
    // One of bob alone, and one of both.
    end_well(parties, 2);
}

/// A party has two proposals at once of which it lacks a request, and lets the one of several instances wait for less.
#[test]
fn a_request_of_several_instances_is_missed_before_one_that_is_alone() {
    let house = House { batch: 2, ..House::new() };
    let program = square();
    let parties = [1, 2].map(|number| house.start(number, &program, QUEUE));
    let mut rogue = Rogue::new(&house);
    let mut bob = rogue.admit(&house.config("bob"));
    bob.say(1, write(&ToParty::Ask(request(&program, 8, "guest"))));
    let players = |all: &[(&str, u64)]| {
        all.iter().map(|(name, id)| (player(&house.config(name), "guest"), *id)).collect()
    };
    for (run, players) in [(1, players(&[("alice", 7)])), (2, players(&[("bob", 8), ("carol", 9)]))] {
        let (lane, program, tag) = (run as u16, program.hash(), String::new());
        rogue.tells(1, &Between::Propose(Proposal { run, lane, program, tag, fill: Fill::new(), players }));
    }
    assert_eq!(rogue.answer(1), Some(Between::Misses { run: 2, requests: vec![9] }));
    assert_eq!(rogue.answer(1), Some(Between::Misses { run: 1, requests: vec![7] }));
    drop((rogue, bob));
    end_well(parties, 0);
}
