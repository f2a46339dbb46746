//! Parties that are told to end, and are restarted: no request is lost.

use super::*;
use crate::living::control::{Between, Proposal};
use std::time::Instant;

#[test]
fn what_waits_for_a_party_that_drains_is_served_once_it_is_back() {
    let house = House::new();
    let program = product(&["alice", "bob"]);
    let mut parties = house.serve(&program).map(Some);
    let ask = |name: &'static str, own: Option<i64>, other: Option<i64>| {
        let (mut seat, program) = (seat(house.config(name), None), program.clone());
        let inputs = [own.map(ints), other.map(ints)];
        thread::spawn(move || seat.run(&program, PROTOCOL, &inputs, &|_, _| ()).unwrap().outputs)
    };
    // One that orders, and one that doesn't.
    for (number, x) in [(1, 3), (0, 4)] {
        let alice = ask("alice", Some(x), None);
        // Whether she asks before or after: she is served.
        thread::sleep(Duration::from_millis(200));
        parties[number].take().unwrap().end().0.unwrap();
        let bob = ask("bob", None, Some(5));
        parties[number] = Some(house.start(number, &program, QUEUE));
        assert_eq!(alice.join().unwrap(), [None]);
        assert_eq!(bob.join().unwrap(), [Some(ints(5 * x))]);
    }
    for party in parties.into_iter().flatten() {
        party.end().0.unwrap();
    }
}

/// Requests come all the time, and the parties are restarted one by one.
#[test]
fn no_request_is_lost_while_the_parties_are_restarted() {
    let house = House::new();
    let program = square();
    let mut parties = house.serve(&program).map(Some);
    let (runs, is_over) = (AtomicU16::new(0), AtomicU16::new(0));
    thread::scope(|scope| {
        for name in ["alice", "bob", "carol"] {
            let (config, program, runs, is_over) = (house.config(name), &program, &runs, &is_over);
            scope.spawn(move || {
                let mut seat = seat(config, Some("guest"));
                while is_over.load(Ordering::SeqCst) == 0 {
                    let x = i64::from(runs.fetch_add(1, Ordering::SeqCst) % 30);
                    assert_eq!(squared(&mut seat, program, x).unwrap(), Some(ints(x * x)));
                }
            });
        }
        let and_more = || {
            let (until, latest) = (runs.load(Ordering::SeqCst) + 6, Instant::now() + Duration::from_mins(2));
            while runs.load(Ordering::SeqCst) < until {
                assert!(Instant::now() < latest, "clients have no answers any more");
                thread::sleep(Duration::from_millis(5));
            }
        };
        for number in [1, 0, 2] {
            and_more();
            let drains: Party = parties[number].take().unwrap();
            let (done, ended, _) = drains.end();
            done.unwrap();
            assert!(ended.iter().all(Result::is_ok), "{ended:?}");
            parties[number] = Some(house.start(number, &program, QUEUE));
        }
        and_more();
        is_over.store(1, Ordering::SeqCst);
    });
    for party in parties.into_iter().flatten() {
        let (done, ended, _) = party.end();
        done.unwrap();
        assert!(ended.iter().all(Result::is_ok), "{ended:?}");
    }
}

/// Whoever doesn't come back is named to those who have waited for as long as they would.
#[test]
fn who_waited_for_a_party_that_drains_hears_of_it() {
    let house = House::new();
    let program = square();
    let parties = house.serve(&program);
    let stalled = stalls(&house.config("bob"), request(&program, 7, "guest"));
    parties[1].drain.ask();
    let (config, within) = (house.config("alice").with_wait(Duration::from_secs(2)), Duration::from_secs(2));
    let mut alice = seat(config, Some("guest"));
    let late = alice.run_within(&program, PROTOCOL, &[Some(ints(2))], &|_, _| (), within).unwrap_err();
    assert!(late.to_string().contains("P1 drains"), "{late}");
    drop(stalled);
    end_well(parties, 0);
}

/// Party 0 hears that a party is told to end that has accepted a run, and neither begins nor takes it back.
#[test]
fn a_party_that_drains_does_not_wait_for_one_that_orders_and_says_nothing() {
    let (house, program) = (House::new(), square());
    let [p1, p2] = [1, 2].map(|number| house.start(number, &program, QUEUE));
    let mut rogue = rogue::Rogue::new(&house);
    let mut alice = rogue.admit(&house.config("alice"));
    alice.say(1, write(&ToParty::Ask(request(&program, 7, "guest"))));
    let players = vec![(player(&house.config("alice"), "guest"), 7)];
    let proposal = |run: u64| {
        let (lane, program, tag, fill) = (run as u16, program.hash(), String::new(), Fill::new());
        Between::Propose(Proposal { run, lane, program, tag, fill, players: players.clone() })
    };
    rogue.tells(1, &proposal(1));
    assert_eq!(rogue.answer(1), Some(Between::Accept { run: 1 }));
    p1.drain.ask();
    assert_eq!(rogue.answer(1), Some(Between::Drains));
    // Party 0 may have forgotten it, with a link that it lost.
    rogue.tells(1, &proposal(2));
    assert_eq!(rogue.answer(1), Some(Between::Drains));
    let (sender, ended) = std::sync::mpsc::channel();
    thread::spawn(move || sender.send(p1.join().0));
    ended.recv_timeout(LONG).expect("it waits").unwrap();
    drop((rogue, alice));
    end_well([p2], 0);
}
