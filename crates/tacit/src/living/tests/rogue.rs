//! Parties that serve, and one by hand: a party 0 that deviates, or one that is lost at a moment of the test's choice.

use super::wanted::{askers_of, bits, keeper, reader};
use super::*;
use crate::living::control::{Between, Proposal};
use crate::{Asker, Wanted};
use std::time::Instant;
use tacit_net::setup::{Hub, News, Speaker};

/// A party by hand, with two parties that serve.
pub(super) struct Rogue {
    hub: Hub,
    said: Vec<(Speaker, Vec<u8>)>,
}

impl Rogue {
    pub(super) fn new(house: &House) -> Self {
        Self::of(house, 0)
    }

    pub(super) fn of(house: &House, party: usize) -> Self {
        let mut rogue = Self { hub: Hub::open(&house.party(party), 3).unwrap(), said: Vec::new() };
        rogue.meet();
        rogue
    }

    /// Waits for all links.
    fn meet(&mut self) {
        while !(self.hub.is_complete() && (1..4).all(|lane| self.hub.is_ready(lane))) {
            self.look();
        }
    }

    fn look(&mut self) {
        for news in self.hub.next(Some(Duration::from_millis(100))).unwrap() {
            if let News::Said { by, message } = news {
                self.said.push((by, message));
            }
        }
    }

    /// Connects a client that does as the test says.
    pub(super) fn admit(&mut self, config: &Config) -> Attendance {
        let config = config.clone();
        let client = thread::spawn(move || by_hand(&config));
        while !client.is_finished() {
            self.look();
        }
        client.join().unwrap()
    }

    pub(super) fn tells(&mut self, party: usize, message: &Between) {
        self.hub.say(Speaker::Party(party), write(message));
    }

    /// What a party answers.
    pub(super) fn answer(&mut self, party: usize) -> Option<Between> {
        let start = Instant::now();
        while start.elapsed() < LONG {
            let place = self.said.iter().position(|(by, _)| *by == Speaker::Party(party));
            if let Some(place) = place {
                return read(&self.said.remove(place).1);
            }
            self.look();
        }
        None
    }
}

#[test]
fn a_party_that_orders_and_deviates_starts_nothing_that_was_not_asked_for() {
    let house = House::new();
    let (program, other) = (square(), product(&["P0", "P1", "P2"]));
    let parties = [1, 2].map(|number| house.start(number, &program, QUEUE));
    let mut rogue = Rogue::new(&house);
    let alice = player(&house.config("alice"), "guest");
    let proposal = |run, lane, program: &Arc<Compiled>, players| {
        Between::Propose(Proposal {
            run,
            lane,
            program: program.hash(),
            tag: String::new(),
            fill: Fill::new(),
            players,
        })
    };
    let of_tag = |run, lane, tag: &str, players| {
        Between::Propose(Proposal {
            run,
            lane,
            program: program.hash(),
            tag: tag.into(),
            fill: Fill::new(),
            players,
        })
    };
    let declines = |rogue: &mut Rogue, message: &Between| {
        rogue.tells(1, message);
        matches!(rogue.answer(1), Some(Between::Decline { .. }))
    };
    assert!(declines(&mut rogue, &proposal(1, 1, &other, vec![])));
    assert!(declines(&mut rogue, &proposal(1, 1, &program, vec![])));
    assert!(declines(&mut rogue, &proposal(1, 1, &program, vec![(alice.clone(), 7), (alice.clone(), 7)])));
    assert!(declines(&mut rogue, &proposal(1, 0, &program, vec![(alice.clone(), 7)])));
    assert!(declines(&mut rogue, &proposal(1, 4, &program, vec![(alice.clone(), 7)])));

    // What alice hasn't asked P1 for waits, and isn't begun whatever party 0 says; nor is what bob has asked for in her name.
    rogue.tells(1, &proposal(2, 1, &program, vec![(alice.clone(), 7)]));
    rogue.tells(1, &Between::Start { run: 2 });
    let mut bob = rogue.admit(&house.config("bob"));
    bob.say(1, write(&ToParty::Ask(request(&program, 7, "guest"))));
    // A number that has been before is declined: so this is heard, and the first was not accepted.
    assert!(declines(&mut rogue, &proposal(2, 2, &program, vec![(alice.clone(), 7)])));

    // Now she asks, and P1 accepts: once, and only for company of the tag that she has said.
    rogue.tells(1, &of_tag(3, 2, "mallory", vec![(alice.clone(), 7)]));
    let mut asks = rogue.admit(&house.config("alice"));
    asks.say(1, write(&ToParty::Ask(request(&program, 7, "guest"))));
    assert_eq!(rogue.answer(1), Some(Between::Accept { run: 2 }));
    rogue.tells(1, &proposal(4, 3, &program, vec![(alice.clone(), 7)]));
    rogue.tells(1, &Between::Start { run: 2 });
    assert!(matches!(heard(&mut asks, 1), Some(ToClient::Begin { id: 7, run: 2, .. })));
    rogue.tells(1, &Between::Start { run: 3 });
    rogue.tells(1, &Between::Start { run: 4 });
    // What is said in order is answered in order: neither was accepted, nor has begun.
    assert!(declines(&mut rogue, &proposal(4, 3, &program, vec![(alice.clone(), 7)])));
    while let Some(Word::Said { message, .. }) = asks.next(&[1], Duration::ZERO) {
        assert!(!matches!(read(&message), Some(ToClient::Begin { .. })));
    }
    // P2 has heard nothing of it and says nothing.
    assert!(!rogue.said.iter().any(|(by, _)| *by == Speaker::Party(2)));
    drop((rogue, asks, bob));
    end_well(parties, 0);
}

#[test]
fn one_client_plays_no_two_names_whatever_party_0_says() {
    let house = House::new();
    let program = meeting();
    let parties = [1, 2].map(|number| house.start(number, &program, QUEUE));
    let mut rogue = Rogue::new(&house);
    let players = [("guest", 7), ("other", 8)].map(|(plays, id)| (player(&house.config("alice"), plays), id));
    let (program, tag) = (program.hash(), String::new());
    let proposal = Proposal { run: 1, lane: 1, program, tag, fill: Fill::new(), players: players.to_vec() };
    rogue.tells(1, &Between::Propose(proposal));
    let answer = rogue.answer(1);
    assert!(
        matches!(&answer, Some(Between::Decline { reason, .. }) if reason.contains("play two names")),
        "{answer:?}"
    );
    drop(rogue);
    end_well(parties, 0);
}

#[test]
fn no_more_runs_are_under_way_than_attempts_are_left() {
    let house = House::new();
    let program = square();
    let mut server = house.open(1, &program, QUEUE, None, &["guest"]).unwrap();
    server.stop_after(None);
    server.stop_after(Some(1));
    let parties = [Party::serves(server), house.start(2, &program, QUEUE)];
    let mut rogue = Rogue::new(&house);
    // Whoever connected first is heard last of all that has come before.
    let mut first = rogue.admit(&house.config("carol"));
    let mut guests = ["alice", "bob"].map(|name| {
        let mut guest = rogue.admit(&house.config(name));
        guest.say(1, write(&ToParty::Ask(request(&program, 7, "guest"))));
        guest
    });
    first.say(1, write(&ToParty::Ask(request(&program, 9, "nobody"))));
    assert!(matches!(heard(&mut first, 1), Some(ToClient::Refused { id: 9, .. })));
    for (run, name) in [(1, "alice"), (2, "bob")] {
        let players = vec![(player(&house.config(name), "guest"), 7)];
        let (lane, program, tag) = (run as u16, program.hash(), String::new());
        rogue.tells(1, &Between::Propose(Proposal { run, lane, program, tag, fill: Fill::new(), players }));
    }
    assert_eq!(rogue.answer(1), Some(Between::Accept { run: 1 }));
    // The second is accepted when the first is gone, and not before.
    guests[0].say(1, write(&ToParty::Withdraw));
    assert_eq!(rogue.answer(1), Some(Between::Gone { run: 1 }));
    assert_eq!(rogue.answer(1), Some(Between::Accept { run: 2 }));
    drop((rogue, first, guests));
    end_well(parties, 0);
}

#[test]
fn a_client_does_not_wait_long_for_those_who_begin_later_than_others() {
    let house = House::new();
    let path = house.path("alice");
    let short = format!("{}\n[limits]\nsilence_seconds = 0.5\n", fs::read_to_string(&path).unwrap());
    fs::write(&path, short).unwrap();
    let program = square();
    let parties = [1, 2].map(|number| house.start(number, &program, QUEUE));
    let mut rogue = Rogue::new(&house);
    let (config, served) = (house.config("alice"), program.clone());
    let players = vec![player(&config, "guest")];
    let alice = thread::spawn(move || squared(&mut seat(config, Some("guest")), &served, 3));
    let (guest, id) = loop {
        rogue.look();
        let asked = rogue.said.iter().find_map(|(by, message)| match (by, read(message)) {
            (Speaker::Guest(guest), Some(ToParty::Ask(request))) => Some((*guest, request.id)),
            _ => None,
        });
        if let Some(asked) = asked {
            break asked;
        }
    };
    // Party 0 says that the run begins, and tells the others nothing of it.
    rogue.hub.say(Speaker::Guest(guest), write(&ToClient::Begin { id, run: 1, players }));
    let error = alice.join().unwrap().unwrap_err().to_string();
    assert!(error.contains("P1, P2 didn't begin the run that others have begun"), "{error}");
    drop(rogue);
    end_well(parties, 0);
}

#[test]
fn a_party_that_is_lost_in_mid_proposal_costs_no_request() {
    let house = House::new();
    let program = square();
    let others = [0, 2].map(|number| house.start(number, &program, QUEUE));
    let mut rogue = Rogue::of(&house, 1);
    let mut client = rogue.admit(&house.config("alice"));
    tell_all(&mut client, &ToParty::Ask(request(&program, 7, "guest")));
    // What is said of the lost proposal may reach the new link.
    let proposed = |rogue: &mut Rogue| loop {
        match rogue.answer(0) {
            Some(Between::Propose(proposal)) => break proposal,
            Some(Between::Requeue { .. }) => {}
            other => panic!("{other:?}"),
        }
    };
    let first = proposed(&mut rogue);
    // Its control links are gone, and come again. What it was told goes with them.
    rogue.hub.give_up(0);
    rogue.meet();
    let again = loop {
        rogue.said.retain(|(by, _)| *by == Speaker::Party(0));
        let again = proposed(&mut rogue);
        if again.run > first.run {
            break again;
        }
    };
    assert_eq!((again.program, &again.players), (first.program, &first.players));
    rogue.tells(0, &Between::Accept { run: again.run });
    let start = std::iter::from_fn(|| rogue.answer(0)).find(|said| matches!(said, Between::Start { .. }));
    assert_eq!(start, Some(Between::Start { run: again.run }));
    assert!(matches!(heard(&mut client, 0), Some(ToClient::Begin { id: 7, .. })));
    drop((client, rogue));
    for party in others {
        drop(party.end());
    }
}

#[test]
fn a_request_outlives_a_lost_link_to_the_party_that_orders() {
    let house = House::new();
    let program = square();
    let parties = [1, 2].map(|number| house.start(number, &program, QUEUE));
    let mut rogue = Rogue::new(&house);
    let mut client = rogue.admit(&house.config("alice"));
    tell_all(&mut client, &ToParty::Ask(request(&program, 7, "guest")));
    let alice = player(&house.config("alice"), "guest");
    for run in [1, 2] {
        let players = vec![(alice.clone(), 7)];
        let proposal = Proposal {
            run,
            lane: 1,
            program: program.hash(),
            tag: String::new(),
            fill: Fill::new(),
            players,
        };
        rogue.tells(1, &Between::Propose(proposal));
        assert_eq!(rogue.answer(1), Some(Between::Accept { run }));
        rogue.hub.give_up(0);
        rogue.meet();
    }
    drop((client, rogue));
    for party in parties {
        drop(party.end());
    }
}

/// A party says that it wants a run no more before it has accepted one, or else takes part with what it has ready.
#[test]
fn a_run_that_is_wanted_no_more_begins_with_its_inputs_or_not_at_all() {
    let (house, reader) = (House::new(), reader());
    let (parties, askers) = askers_of(&house, &keeper());
    let [p0, p1, p2] = parties;
    p0.end().0.unwrap();
    let mut rogue = Rogue::new(&house);
    let wants = |tag: &str| -> JoinHandle<Result<Run, Error>> {
        let (asker, compiled, tag): (Asker, _, _) = (askers[1].clone(), reader.clone(), tag.to_owned());
        let (inputs, fill, within) = (vec![Some(bits(7))], Fill::from([("key", "ann's")]), LATE);
        thread::spawn(move || asker.run(Wanted { compiled, tag, inputs, fill, within }))
    };
    let wanted = |rogue: &mut Rogue, tag: &str| {
        let (program, tag) = (reader.hash(), tag.to_owned());
        assert_eq!(rogue.answer(1), Some(Between::Want { program, tag }));
    };
    let proposal = |run, lane, tag: &str| {
        let (program, tag, fill) = (reader.hash(), tag.to_owned(), Fill::new());
        Between::Propose(Proposal { run, lane, program, tag, fill, players: Vec::new() })
    };
    // It accepts the first; the second waits for the same lane, and is taken back when its time is over.
    let first = wants("1");
    wanted(&mut rogue, "1");
    rogue.tells(1, &proposal(1, 1, "1"));
    assert_eq!(rogue.answer(1), Some(Between::Accept { run: 1 }));
    let second = wants("2");
    wanted(&mut rogue, "2");
    rogue.tells(1, &proposal(2, 1, "2"));
    let answer = rogue.answer(1);
    let says = |reason: &String| reason.contains("doesn't want the run any more");
    assert!(matches!(&answer, Some(Between::Decline { run: 2, reason }) if says(reason)), "{answer:?}");
    assert!(matches!(second.join().unwrap(), Err(Error::Declined { .. })));
    // The time of the first is over, too, and party 0 has begun it.
    assert!(!first.is_finished());
    rogue.tells(1, &Between::Start { run: 1 });
    while !first.is_finished() {
        rogue.look();
    }
    let first = first.join().unwrap();
    assert!(matches!(first, Err(Error::Aborted { .. })), "{first:?}");
    drop(rogue);
    for party in [p1, p2] {
        party.end().0.unwrap();
    }
}

/// How long a run is waited for: until another one is wanted, and proposed.
const LATE: Duration = Duration::from_secs(2);
