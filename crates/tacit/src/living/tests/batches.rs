//! Runs of several instances.

use super::*;
use crate::{Local, price};
use std::time::Instant;

/// A deployment whose runs wait for two instances.
fn pairs() -> House {
    House { batch: 2, ..House::new() }
}

/// Number 7 of the party P0 and each guest's own: what is asked for, and what comes of it.
fn ask(house: &House, name: &'static str, program: &Arc<Compiled>, x: i64) -> JoinHandle<Result<Run, Error>> {
    let (mut seat, program) = (seat(house.config(name), Some("guest")), program.clone());
    thread::spawn(move || seat.run(&program, PROTOCOL, &[None, Some(ints(x))], &|_, _| ()))
}

fn answer(asked: JoinHandle<Result<Run, Error>>) -> Vec<Option<Value>> {
    asked.join().unwrap().unwrap().outputs
}

/// The product of P1's number, which is 1, and a guest's.
fn program() -> Arc<Compiled> {
    product(&["P1", "guest"])
}

#[test]
fn requests_of_one_window_run_together_and_each_client_learns_its_own() {
    let (house, program) = (pairs(), program());
    let parties = house.serve(&program);
    let asked = [("alice", 5), ("bob", -6)].map(|(name, x)| ask(&house, name, &program, x));
    assert_eq!(asked.map(answer), [vec![Some(ints(5))], vec![Some(ints(-6))]]);
    end_well(parties, 1);
}

#[test]
fn a_client_that_dies_in_a_batch_costs_the_others_a_second_run() {
    let (house, program) = (pairs(), program());
    let parties = house.serve(&program);
    let mut dies = by_hand(&house.config("alice"));
    tell_all(&mut dies, &ToParty::Ask(request(&program, 7, "guest")));
    let asked = ask(&house, "bob", &program, -6);
    for party in 0..3 {
        assert!(
            matches!(heard(&mut dies, party), Some(ToClient::Begin { players, .. }) if players.len() == 2)
        );
    }
    drop(dies);
    assert_eq!(answer(asked), [Some(ints(-6))]);
    for party in parties {
        let (done, ended, _) = party.end();
        done.unwrap();
        assert_eq!(ended.iter().map(Result::is_ok).collect::<Vec<_>>(), [false, true], "{ended:?}");
    }
}

/// It says nothing more, and keeps its connection.
#[test]
fn a_client_that_stalls_in_a_batch_holds_up_the_others_until_it_counts_as_lost() {
    let (house, program) = (pairs(), program());
    for number in 0..3 {
        let path = house.path(&format!("P{number}"));
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, format!("{text}\n[limits]\nsilence_seconds = 2.0\n")).unwrap();
    }
    let parties = house.serve(&program);
    let mut stalls = by_hand(&house.config("alice"));
    tell_all(&mut stalls, &ToParty::Ask(request(&program, 7, "guest")));
    let asked = ask(&house, "bob", &program, -6);
    for party in 0..3 {
        let begins = heard(&mut stalls, party);
        assert!(matches!(begins, Some(ToClient::Begin { players, .. }) if players.len() == 2));
    }
    let start = Instant::now();
    assert_eq!(answer(asked), [Some(ints(-6))]);
    assert!(start.elapsed() > Duration::from_secs(1), "it wasn't waited for: {:?}", start.elapsed());
    for party in parties {
        let (done, ended, _) = party.end();
        done.unwrap();
        assert_eq!(ended.iter().map(Result::is_ok).collect::<Vec<_>>(), [false, true], "{ended:?}");
    }
    drop(stalls);
}

/// P0 could end the link after its output, and would have another for the same number by a second run.
#[test]
fn a_client_does_not_ask_again_for_what_another_learns() {
    let mut build = Builder::new();
    let range = Range::new(-1000, 1000);
    let [one, other] =
        ["P1", "guest"].map(|owner| build.input(owner, owner, Dtype::Int, &[1], range).unwrap());
    let product = build.mul(one, other).unwrap();
    for name in ["guest", "P0"] {
        build.reveal(product, Recipient::Role(name.into())).unwrap();
    }
    let (house, program) = (pairs(), Compiled::new(build.finish().unwrap()).unwrap());
    let parties = house.serve(&program);
    let mut dies = by_hand(&house.config("alice"));
    tell_all(&mut dies, &ToParty::Ask(request(&program, 7, "guest")));
    let asked = ask(&house, "bob", &program, -6);
    for party in 0..3 {
        assert!(
            matches!(heard(&mut dies, party), Some(ToClient::Begin { players, .. }) if players.len() == 2)
        );
    }
    drop(dies);
    assert!(matches!(asked.join().unwrap(), Err(Error::Aborted { .. })));
    for party in parties {
        let (done, ended, _) = party.end();
        done.unwrap();
        assert_eq!(ended.iter().map(Result::is_ok).collect::<Vec<_>>(), [false], "{ended:?}");
    }
}

#[test]
fn a_party_that_allows_no_batches_has_each_request_run_alone() {
    let (mut house, program) = (pairs(), program());
    let parties = [2, 2, 1].into_iter().enumerate().map(|(number, batch)| {
        house.batch = batch;
        house.start(number, &program, QUEUE)
    });
    let parties: Vec<Party> = parties.collect();
    let asked = [("alice", 5), ("bob", -6)].map(|(name, x)| ask(&house, name, &program, x));
    assert_eq!(asked.map(answer), [vec![Some(ints(5))], vec![Some(ints(-6))]]);
    end_well(parties, 2);
}

#[test]
fn each_further_instance_costs_the_same_bytes_and_no_round() {
    let (one, clients) = (square(), ["guest".to_owned()]);
    for name in ["replicated", "astra", "gmw", "replicated-malicious", "astra-malicious"] {
        let parties = Local::new(name).unwrap().parties;
        let alone = price(&one, name, &parties).unwrap().total;
        let [two, four] = [2, 4]
            .map(|count| price(&one.times(count, &clients).unwrap().compiled, name, &parties).unwrap().total);
        assert_eq!([two.rounds(), four.rounds()], [alone.rounds(); 2], "{name}");
        // What is compared at the end of a run doesn't grow.
        assert!(two.bytes() <= 2 * alone.bytes() && four.bytes() <= 4 * alone.bytes(), "{name}");
        if ["replicated", "astra"].contains(&name) {
            assert_eq!(four.bytes() - two.bytes(), 2 * (two.bytes() - alone.bytes()), "{name}");
        }
    }
}
