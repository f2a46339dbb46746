//! A server that deviates in a live exchange under `replicated-malicious`: it makes no wrong ticket, and opens
//! nothing that isn't to be opened. All that it can do is to have requests refused.

use super::*;
use crate::clear::Key;
use crate::client::{Client, Ticket, Wish};
use crate::messages::{TicketPart, read_error};
use crate::server::Deviation;
use crate::server::node::lock;
use crate::testing::{ENCTYPE, KRBTGT, REALM, Realm, confounder, login};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use tacit::advanced::net::{Frame, FrameKind};
use tacit_testkit::react::{Act, Attacker, reacting};

const SERVICE: &str = "host/files.example";
/// The one that deviates.
const CORRUPT: usize = 2;

/// Flips a bit in one message of the corrupt server's: the one before which so many are sent, from when this is set on.
struct Flip {
    left: Arc<AtomicI64>,
}

impl Attacker for Flip {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        if frame.kind == FrameKind::Data && self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            let at = frame.payload.len() / 2;
            if let Some(byte) = frame.payload.get_mut(at) {
                *byte ^= 1 << (at % 8);
            }
        }
        act.send(to, frame);
    }
}

/// A realm whose third server deviates.
struct Attacked {
    realm: Realm,
    ann: Key,
    service: Key,
    tgt: Ticket,
    left: Arc<AtomicI64>,
    nonce: AtomicU32,
}

/// What came of a request at a server.
#[derive(Debug, PartialEq)]
enum Came {
    Error(i64),
    RightTicket,
    WrongTicket,
}

impl Attacked {
    fn new(protocol: &str, sessions: Sessions) -> Self {
        let left = Arc::new(AtomicI64::new(-1));
        let realm = Realm::of(
            |settings| {
                settings.protocol = protocol.to_owned();
                settings.sessions = sessions;
                settings.max_wrong_passwords = usize::MAX;
            },
            |me, server| {
                // Else they stop after the first check that fails; here each attack is one of many.
                server.stop_after(None);
                let left = left.clone();
                if me == CORRUPT {
                    server
                        .wrap(move |links| reacting(Box::new(links), Box::new(Flip { left: left.clone() })));
                }
            },
        );
        let (ann, service) = (realm.client("ann"), realm.client(SERVICE));
        realm.client("ben");
        let replies = realm.answers(&[login("ann", &ann, 1)]);
        let client = Client { realm: REALM, name: "ann", key: &ann };
        let tgt = client.initial_reply(&replies[0][0], &Wish::of(KRBTGT, 1)).unwrap();
        Self { realm, ann, service, tgt, left, nonce: AtomicU32::new(2) }
    }

    /// What each server makes of a login with this key, or of a request with ann's ticket, while the corrupt one
    /// flips a bit of the message at this place, if any; and how many messages it has sent.
    fn exchange(&self, key: Option<&Key>, flips: Option<i64>) -> ([Came; 3], i64) {
        let nonce = self.nonce.fetch_add(1, Ordering::SeqCst);
        let wish = Wish::of(SERVICE, nonce);
        let client = Client { realm: REALM, name: "ann", key: key.unwrap_or(&self.ann) };
        let request = if key.is_some() {
            client.initial(&wish, now(), confounder(nonce))
        } else {
            client.further(&self.tgt, &wish, (now(), 100_000 + nonce), None, confounder(nonce))
        };
        let begins = flips.unwrap_or(i64::MAX);
        self.left.store(begins, Ordering::SeqCst);
        let answers = self.realm.answers(&[request]);
        let sent = begins - self.left.load(Ordering::SeqCst);
        let came = answers.map(|answers| {
            if let Some(code) = read_error(&answers[0]) {
                return Came::Error(code);
            }
            let ticket = match key {
                Some(_) => client.initial_reply(&answers[0], &wish),
                None => client.further_reply(&answers[0], &self.tgt, None, &wish),
            };
            if ticket.is_ok_and(|ticket| self.is_right(&ticket)) {
                Came::RightTicket
            } else {
                Came::WrongTicket
            }
        });
        (came, sent)
    }

    /// Whether a ticket is ann's, under the service's key, and with the session key that she was told.
    fn is_right(&self, ticket: &Ticket) -> bool {
        let Some(opened) = ticket.sealed().ok().and_then(|sealed| self.service.open(2, sealed)) else {
            return false;
        };
        let (mut opened, session) = (opened.to_vec(), ticket.session.bytes());
        let Some(at) = opened.windows(session.len()).position(|key| key == session) else { return false };
        opened[at..at + session.len()].fill(0);
        TicketPart::read(&opened, ENCTYPE, REALM).is_ok_and(|part| {
            let lives = part.endtime - part.authtime;
            let is_anns = part.client.text().as_deref() == Some("ann");
            is_anns && part.endtime == ticket.endtime && lives <= self.realm.settings.max_life
        })
    }

    /// Attacks an exchange at so many places of its messages: how many attacks had it refused.
    fn attack(&self, key: Option<&Key>, right: &Came, places: i64) -> usize {
        let (came, sent) = self.exchange(key, None);
        assert!(came.iter().all(|came| came == right), "{came:?}");
        let mut refused = 0;
        for place in 0..places {
            let (came, _) = self.exchange(key, Some(place * sent / places));
            for came in &came {
                assert!(came == right || *came == Came::Error(29), "{came:?} at {place} of {places}");
            }
            refused += usize::from(came.contains(&Came::Error(29)));
        }
        println!("{refused} of {places} attacks on an exchange of {sent} messages had it refused");
        refused
    }
}

/// At so many places, and with every deviation of a step: of each key's exchange, or of one key's if `all` isn't set.
fn attack_all(sessions: Sessions, places: i64, all: bool) {
    let attacked = Attacked::new("replicated-malicious", sessions);
    let wrong = Key::of_password(ENCTYPE, b"guess", b"salt", 2);
    // Most bits of a run matter: what is left are those of a last message that its receiver doesn't wait for.
    let least = places as usize / 2;
    assert!(attacked.attack(Some(&attacked.ann), &Came::RightTicket, places) >= least);
    assert!(attacked.attack(None, &Came::RightTicket, places) >= least);
    // Nobody gets a ticket with a wrong password, and nobody, the corrupt server neither, sees what isn't sealed under ann's key.
    assert!(attacked.attack(Some(&wrong), &Came::Error(24), places) >= least);

    // It calls the roll as the others do, and then runs another step.
    let deviations: [Deviation; 4] = [
        |step| step.public[0] ^= true,
        |step| *step.public.last_mut().unwrap() ^= true,
        |step| step.records.reverse(),
        |step| step.records.iter_mut().for_each(|record| record.push('0')),
    ];
    for (number, deviation) in deviations.into_iter().enumerate() {
        *lock(&attacked.realm.nodes[CORRUPT].deviates) = Some(deviation);
        let keys = [Some(&attacked.ann), None, Some(&wrong)];
        for (place, key) in keys.into_iter().enumerate().filter(|(place, _)| all || *place == number % 3) {
            let (came, _) = attacked.exchange(key, None);
            // A run of one record has none to swap; then its request comes to what it should.
            if number == 2 && key.is_none() && sessions == Sessions::Servers {
                assert!(came.iter().all(|came| *came == Came::RightTicket), "{came:?}");
                continue;
            }
            // The right key, and a ticket, are never told to be wrong.
            let is_wrong = place == 2;
            let is_refused = |came: &Came| *came == Came::Error(29) || is_wrong && *came == Came::Error(24);
            assert!(came.iter().all(is_refused), "{number}: {came:?}");
        }
    }
    *lock(&attacked.realm.nodes[CORRUPT].deviates) = None;
    let (came, _) = attacked.exchange(Some(&attacked.ann), None);
    assert_eq!(came, [Came::RightTicket, Came::RightTicket, Came::RightTicket]);
}

#[test]
fn a_server_that_deviates_makes_no_wrong_ticket_and_opens_nothing() {
    attack_all(Sessions::Shared, 6, false);
}

#[test]
fn nor_does_one_that_knows_session_keys() {
    attack_all(Sessions::Servers, 4, false);
}

#[test]
#[ignore = "takes minutes"]
fn a_server_that_deviates_anywhere_makes_no_wrong_ticket() {
    attack_all(Sessions::Shared, 100, true);
    attack_all(Sessions::Servers, 100, true);
}

/// What the page warns of: under `replicated` a server can turn a verdict, and nobody notices. All honest servers say
/// that the right password is a wrong one, or make a ticket that is none.
#[test]
fn under_replicated_a_server_that_deviates_turns_the_verdict() {
    let attacked = Attacked::new("replicated", Sessions::Shared);
    let (came, sent) = attacked.exchange(Some(&attacked.ann), None);
    assert!(came.iter().all(|came| *came == Came::RightTicket), "{came:?}");
    let places = 12;
    let honest: Vec<[Came; 2]> = (0..places)
        .map(|place| {
            let ([first, second, _], _) = attacked.exchange(Some(&attacked.ann), Some(place * sent / places));
            [first, second]
        })
        .collect();
    assert!(honest.contains(&[Came::Error(24), Came::Error(24)]), "{honest:?}");
    assert!(honest.iter().flatten().any(|came| *came == Came::WrongTicket), "{honest:?}");
}
