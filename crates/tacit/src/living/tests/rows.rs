//! Requests that choose rows of what the parties keep.

use super::*;
use crate::State;
use crate::living::control::{Between, Proposal};
use tacit_program::Uses;

/// Keeps a table of four numbers that P0 gives, whose rows the program of this hash may keep anew.
fn table(uses: Uses) -> Arc<Compiled> {
    let mut build = Builder::new();
    let x = build.input("P0", "x", Dtype::Int, &[4], Range::new(-1000, 1000)).unwrap();
    build.keep(x, "accounts", uses).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

/// Tells a guest two rows.
fn look() -> Arc<Compiled> {
    let mut build = Builder::new();
    let rows = build.kept("accounts", Dtype::Int, &[2], Range::new(-1000, 1000)).unwrap();
    build.reveal(rows, Recipient::Role("guest".into())).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

/// Keeps a number of a guest as a row.
fn put() -> Arc<Compiled> {
    let mut build = Builder::new();
    let x = build.input("guest", "x", Dtype::Int, &[1], Range::new(-1000, 1000)).unwrap();
    build.keep(x, "accounts", Uses::default()).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

/// States of three parties that keep the table, for these learners alone.
fn states(learners: Option<Vec<String>>) -> Vec<State> {
    let local = crate::Local::new(PROTOCOL).unwrap();
    let mut states: Vec<State> = (0..3).map(|_| State::new()).collect();
    let fill = Fill::new();
    let own = states.iter_mut().map(|state| crate::Residents { state, fill: &fill, store: None }).collect();
    let given = Value { shape: vec![4], data: Data::Int(vec![10, 20, 30, 40]) };
    let uses = Uses::new(vec![], learners).with_writers(vec![put().hash()]);
    local.run_on(&table(uses), own, &[given], &|_, _| ()).unwrap();
    states
}

/// Parties that serve these programs on what they keep, and say this of slots and rows.
fn serve(house: &House, programs: &[Arc<Compiled>], states: Vec<State>, fills: [Fill; 3]) -> Vec<Party> {
    let parties = states.into_iter().zip(fills).enumerate();
    let start = |(number, state): (usize, (State, Fill))| {
        let offer = |compiled: &Arc<Compiled>| Offer {
            compiled: compiled.clone(),
            inputs: compiled.inputs().iter().map(|_| None).collect(),
        };
        let (open, holdings) = (vec!["guest".to_owned()], Holdings { store: None, state: Some(state) });
        let serving = Serving { batch: 4, open, holdings, ..Serving::new(PROTOCOL, 3) };
        let offers = programs.iter().map(offer).collect();
        Party::serves(Server::open(&house.party(number), offers, serving).unwrap())
    };
    parties.map(start).collect()
}

/// What a client learns of the rows that it chooses.
fn looks(seat: &mut Seat, rows: &str) -> Result<Option<Value>, Error> {
    seat.choose(Fill::from([("accounts", rows)]));
    Ok(seat.run(&look(), PROTOCOL, &[], &|_, _| ())?.outputs.swap_remove(0))
}

fn pair(one: i64, two: i64) -> Value {
    Value { shape: vec![2], data: Data::Int(vec![one, two]) }
}

/// What parties say to a client's choice that comes to nothing.
fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn clients_choose_rows_that_runs_read_and_keep() {
    let house = House::new();
    let fill = || Fill::from([("accounts", "accounts[*]")]).keeping("accounts", "accounts[*]");
    let parties = serve(&house, &[look(), put()], states(None), [fill(), fill(), fill()]);
    let mut alice = seat(house.config("alice"), Some("guest"));
    let mut bob = seat(house.config("bob"), Some("guest"));
    assert_eq!(looks(&mut alice, "accounts[3,0]").unwrap(), Some(pair(40, 10)));
    assert_eq!(looks(&mut bob, "accounts[1,1]").unwrap(), Some(pair(20, 20)));
    bob.choose(Fill::new().keeping("accounts", "accounts[1]"));
    bob.run(&put(), PROTOCOL, &[Some(ints(-7))], &|_, _| ()).unwrap();
    // The other rows are as they were.
    assert_eq!(looks(&mut alice, "accounts[0,1]").unwrap(), Some(pair(10, -7)));
    assert_eq!(looks(&mut alice, "accounts[2,3]").unwrap(), Some(pair(30, 40)));
    for (rows, says) in [
        ("accounts[4,0]", "has no row 4"),
        ("accounts[0]", "of those rows; the program reads"),
        ("accounts", "for rows of \"accounts\""),
        ("accounts@1[0,1]", "for rows of \"accounts\""),
        ("other[0,1]", "for rows of \"accounts\""),
    ] {
        let reason = refused(looks(&mut alice, rows));
        assert!(reason.contains(says), "{reason}");
    }
    alice.choose(Fill::new());
    let reason = refused(alice.run(&look(), PROTOCOL, &[], &|_, _| ()));
    assert!(reason.contains("the request has to say what slot \"accounts\" is about"), "{reason}");
    // Two at a time: each has the rows that it has asked for, and none of the other's.
    thread::scope(|scope| {
        for (seat, rows, learns) in [
            (&mut alice, "accounts[0,0]", Some(pair(10, 10))),
            (&mut bob, "accounts[1,2]", Some(pair(-7, 30))),
        ] {
            scope.spawn(move || {
                for _ in 0..5 {
                    assert_eq!(looks(seat, rows).unwrap(), learns);
                }
            });
        }
    });
    end_well(parties, 15);
}

#[test]
fn a_request_chooses_nothing_that_some_party_leaves_to_none() {
    let house = House::new();
    let fill = |text: &str| Fill::from([("accounts", text)]);
    let fills = [fill("accounts[*]"), fill("accounts[0,1]"), fill("accounts[*]")];
    let parties = serve(&house, &[look()], states(None), fills);
    let mut alice = seat(house.config("alice"), Some("guest"));
    let reason = refused(looks(&mut alice, "accounts[0,1]"));
    assert!(reason.contains("P1 refuses: slot \"accounts\" isn't a request's to choose"), "{reason}");
    end_well(parties, 0);
}

/// Whatever a client chooses, what it may learn of it the value says.
#[test]
fn a_choice_is_held_against_the_uses_of_what_is_kept() {
    let house = House::new();
    let fill = || Fill::from([("accounts", "*")]);
    let parties = serve(&house, &[look()], states(Some(vec!["auditor".into()])), [fill(), fill(), fill()]);
    let mut alice = seat(house.config("alice"), Some("guest"));
    let reason = refused(looks(&mut alice, "accounts[0,1]"));
    assert!(reason.contains("may be learnt by auditor only"), "{reason}");
    end_well(parties, 0);
}

/// Party 0 names rows for a run of parties alone, which nobody has asked for: nobody takes part.
#[test]
fn a_party_that_orders_names_no_rows_by_itself() {
    let house = House::new();
    let mut states = states(None);
    states.remove(0);
    let program = table(Uses::default());
    let offer = |number: usize| {
        let own = format!("P{number}");
        let inputs = program.inputs().iter().map(|input| (input.owner == own).then(|| ints(1))).collect();
        Offer { compiled: program.clone(), inputs }
    };
    let open = |number: usize, state: State, fill: Fill| {
        let holdings = Holdings { store: None, state: Some((state, fill)) };
        let serving = Serving { window: LONG, holdings, ..Serving::new(PROTOCOL, 3) };
        Server::open(&house.party(number), vec![offer(number)], serving)
    };
    // What is left to requests in such a program no request ever says.
    let refused = open(1, State::new(), Fill::new().keeping("accounts", "accounts[*]")).map(drop);
    assert!(
        matches!(&refused, Err(Error::Refused(reason)) if reason.contains("parties alone")),
        "{refused:?}"
    );
    let parties: Vec<Party> = states
        .into_iter()
        .zip(1..)
        .map(|(state, number)| Party::serves(open(number, state, Fill::new()).unwrap()))
        .collect();
    let mut rogue = rogue::Rogue::new(&house);
    assert!(matches!(rogue.answer(1), Some(Between::Ask { .. })));
    let proposal = |run, fill: Fill| {
        let (program, tag) = (program.hash(), String::new());
        Between::Propose(Proposal { run, lane: 1, program, tag, fill, players: vec![] })
    };
    rogue.tells(1, &proposal(1, Fill::new().keeping("accounts", "accounts[0,1,2,3]")));
    let answer = rogue.answer(1);
    let says = "no request has named the rows";
    assert!(matches!(&answer, Some(Between::Decline { reason, .. }) if reason.contains(says)), "{answer:?}");
    rogue.tells(1, &proposal(2, Fill::new()));
    assert_eq!(rogue.answer(1), Some(Between::Accept { run: 2 }));
    drop(rogue);
    end_well(parties, 0);
}

/// Party 0 puts rows in place of those that the client has asked for: nobody takes part.
#[test]
fn a_party_that_orders_changes_no_rows() {
    let house = House::new();
    let fill = || Fill::from([("accounts", "accounts[*]")]);
    let mut states = states(None);
    states.remove(0);
    let program = look();
    let offer = || Offer { compiled: program.clone(), inputs: vec![] };
    let party = |number: usize, state: State| {
        let holdings = Holdings { store: None, state: Some((state, fill())) };
        let open = vec!["guest".to_owned()];
        let serving = Serving { window: LONG, open, holdings, ..Serving::new(PROTOCOL, 3) };
        Party::serves(Server::open(&house.party(number), vec![offer()], serving).unwrap())
    };
    let parties: Vec<Party> =
        states.into_iter().zip(1..).map(|(state, number)| party(number, state)).collect();
    let mut rogue = rogue::Rogue::new(&house);
    let alice = player(&house.config("alice"), "guest");
    let mut asks = rogue.admit(&house.config("alice"));
    let own = Fill::from([("accounts", "accounts[0,1]")]);
    let asked = Request { fill: own.clone(), ..request(&program, 7, "guest") };
    asks.say(1, write(&ToParty::Ask(asked)));
    let proposal = |run, rows: Fill| {
        let players = vec![(alice.clone(), 7)];
        let tag = String::new();
        Between::Propose(Proposal { run, lane: 1, program: program.hash(), tag, fill: rows, players })
    };
    // It waits for a request that says so, which never comes; the honest one is accepted.
    rogue.tells(1, &proposal(1, Fill::from([("accounts", "accounts[2,3]")])));
    rogue.tells(1, &proposal(2, own));
    assert_eq!(rogue.answer(1), Some(Between::Accept { run: 2 }));
    drop((rogue, asks));
    end_well(parties, 0);
}
