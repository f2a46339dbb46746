//! Clients that are at some parties alone, and a party that says so whether it is true or not.

use super::rogue::Rogue;
use super::*;
use crate::living::control::Between;
use std::time::Instant;

/// Alice's request is at P0 and P2, and never comes to P1: whoever has met her there goes on with another one, and hears of nothing.
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
fn a_party_that_says_of_each_run_that_somebody_has_left_it_is_asked_again_after_a_pause() {
    for count in [
        answers_ill(|run| Between::Gone { run }),
        // Of a request that isn't there, too.
        answers_ill(|run| Between::Misses { run, requests: vec![8] }),
    ] {
        assert!((2..=7).contains(&count), "{count}");
    }
}
