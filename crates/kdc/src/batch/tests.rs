//! Three servers in this process, and requests on which they differ.

use super::*;
use crate::admin;
use crate::clear::Key;
use crate::client::{Client, Wish};
use crate::messages::{flag, read_error};
use crate::order::Change;
use crate::server::node::lock;
use crate::server::{BATCHES, MEET};
use crate::testing::{ENCTYPE, KRBTGT, REALM, Realm, alter, confounder, login};
use crate::wire;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use tacit::batcher::Step as _;

/// One server has another copy of the principals than the others, as a torn order leaves it.
#[test]
fn a_request_on_which_servers_differ_costs_no_other_one() {
    let realm = Realm::new(|_| ());
    let (ann, ben) = (realm.client("ann"), realm.client("ben"));
    let wrong = Key::of_password(ENCTYPE, b"another", b"salt", 2);
    let all =
        || [login("ann", &ann, 1), login("ben", &ben, 2), login("ben", &wrong, 3), login("ben", &ben, 4)];
    // So all programs are there.
    assert_eq!(realm.codes(&all()), [(); 3].map(|()| vec![None, None, Some(24), None]));

    alter(&realm.nodes[2], "ann", |ann| ann.revoked = true);
    let since = Instant::now();
    let answers = realm.answers(&all());
    let took = since.elapsed();
    let codes =
        answers.each_ref().map(|answers| answers.iter().map(|answer| read_error(answer)).collect::<Vec<_>>());
    let others = [None, Some(24), None];
    for (server, codes) in codes.iter().enumerate() {
        assert_eq!(codes[0], Some(if server == 2 { 18 } else { 29 }));
        assert_eq!(codes[1..], others);
    }
    for (number, nonce) in [(1, 2), (3, 4)] {
        assert_eq!(answers[0][number], answers[2][number]);
        let client = Client { realm: REALM, name: "ben", key: &ben };
        client.initial_reply(&answers[0][number], &Wish::of(KRBTGT, nonce)).unwrap();
    }
    // Alone it is refused at once: nobody waits for a run that doesn't come.
    let since = Instant::now();
    assert_eq!(realm.codes(&[login("ann", &ann, 5)]), [29, 29, 18].map(|code| vec![Some(code)]));
    assert!(since.elapsed() < MEET && took < 4 * MEET, "{took:?}");

    // Another key of ben's at one server is another record, and so another step.
    alter(&realm.nodes[1], "ben", |ben| ben.record = "key of nobody".to_owned());
    assert_eq!(
        realm.codes(&[login("ben", &ben, 6), login("ben", &ben, 7)]),
        [(); 3].map(|()| vec![Some(29); 2])
    );
    alter(&realm.nodes[2], "ann", |ann| ann.revoked = false);
    assert_eq!(
        realm.codes(&[login("ben", &ben, 8), login("ann", &ann, 9)]),
        [(); 3].map(|()| vec![Some(29), None])
    );
}

/// More than programs of 64 hold: the roll has room for all, and each gets what is its own.
#[test]
fn many_requests_go_together() {
    const COUNT: u32 = 65;
    let realm = Realm::new(|settings| settings.max_wrong_passwords = COUNT as usize);
    let ann = realm.client("ann");
    let wrong = Key::of_password(ENCTYPE, b"another", b"salt", 2);
    let key = |nonce: u32| if nonce.is_multiple_of(64) { &wrong } else { &ann };
    let requests: Vec<Vec<u8>> = (0..COUNT).map(|nonce| login("ann", key(nonce), nonce)).collect();
    let [first, others @ ..] = realm.answers(&requests);
    let client = Client { realm: REALM, name: "ann", key: &ann };
    for (nonce, answer) in (0..COUNT).zip(&first) {
        if nonce.is_multiple_of(64) {
            assert_eq!(read_error(answer), Some(24));
        } else {
            client.initial_reply(answer, &Wish::of(KRBTGT, nonce)).unwrap();
            assert!(others.iter().all(|answers| answers[nonce as usize] == *answer));
        }
    }
    assert_eq!(first.len(), COUNT as usize);
}

/// Where servers know session keys: logins, tickets, and what is refused, by two runs each.
#[test]
fn servers_that_know_session_keys_answer_as_those_that_do_not() {
    const SERVICE: &str = "host/a.b";
    let realm = Realm::new(|settings| settings.sessions = Sessions::Servers);
    let (ann, service) = (realm.client("ann"), realm.client(SERVICE));
    let [wrong, subkey] =
        [&b"another"[..], b"subkey"].map(|word| Key::of_password(ENCTYPE, word, b"salt", 2));
    let client = Client { realm: REALM, name: "ann", key: &ann };
    let alike = |requests: &[Vec<u8>]| {
        let [first, others @ ..] = realm.answers(requests);
        assert_eq!(others, [(); 2].map(|()| first.clone()));
        first
    };
    let codes = |answers: &[Vec<u8>]| answers.iter().map(|answer| read_error(answer)).collect::<Vec<_>>();

    let wish = Wish { options: flag::RENEWABLE, ..Wish::of(KRBTGT, 1) };
    let answers = alike(&[client.initial(&wish, now(), confounder(1)), login("ann", &wrong, 2)]);
    assert_eq!(codes(&answers), [None, Some(24)]);
    let ticket = client.initial_reply(&answers[0], &wish).unwrap();

    let renew = Wish { options: flag::RENEW, ..Wish::of(KRBTGT, 5) };
    let wishes = [Wish::of(SERVICE, 3), Wish::of(SERVICE, 4), renew];
    let subkeys = [None, Some(&subkey), None];
    let further = |wish: &Wish<'_>, subkey| {
        client.further(&ticket, wish, (now(), 100_000 + wish.nonce % 100), subkey, confounder(wish.nonce))
    };
    let mut requests: Vec<Vec<u8>> =
        wishes.iter().zip(subkeys).map(|(wish, subkey)| further(wish, subkey)).collect();
    let sealed = ticket.sealed().unwrap();
    let ticket_at = requests[0].windows(sealed.len()).position(|part| part == sealed).unwrap();
    // The authenticator is behind the ticket, and the body behind both.
    let altered = |nonce: u32, at: &dyn Fn(&[u8]) -> usize| {
        let mut request = further(&Wish::of(SERVICE, nonce), None);
        let at = at(&request);
        request[at] ^= 4;
        request
    };
    requests.push(altered(6, &|_| ticket_at + 40));
    let answers = alike(&requests);
    assert_eq!(codes(&answers), [None, None, None, Some(31)]);
    let mut keys = vec![ticket.session.bytes().to_vec()];
    for ((answer, wish), subkey) in answers.iter().zip(&wishes).zip(subkeys) {
        let new = client.further_reply(answer, &ticket, subkey, wish).unwrap();
        if wish.service == SERVICE {
            let opened = service.open(2, new.sealed().unwrap()).unwrap();
            assert!(opened.windows(16).any(|part| part == new.session.bytes()));
        }
        keys.push(new.session.bytes().to_vec());
    }
    // Each ticket has a key of its own.
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 4);

    let nonce = 0x0102_0304_u32;
    let body = |request: &[u8]| request.windows(4).rposition(|part| part == nonce.to_be_bytes()).unwrap();
    let refused =
        [altered(7, &|_| ticket_at + sealed.len() + 60), altered(nonce, &body), requests.swap_remove(0)];
    assert_eq!(codes(&alike(&refused)), [31, 41, 34].map(Some));
}

/// A step that reads a record.
fn reads(task: Task, record: &str, bit: bool) -> Step {
    let (records, relies_on) = (vec![record.to_owned()], BTreeSet::from([record.to_owned()]));
    Step { task, public: vec![bit].into(), records, relies_on }
}

/// Servers at which ann is locked while a step runs that isn't the last one of its request.
static LOCKS: Mutex<Vec<Arc<Node>>> = Mutex::new(Vec::new());

fn locks_ann(step: &mut Step) {
    if !step.task.is_last() {
        lock(&LOCKS).iter().for_each(|node| alter(node, "ann", |ann| ann.revoked = true));
    }
}

/// Else a server that has others wait could have a ticket held back until it isn't to be had any more, and have it then.
#[test]
fn who_is_locked_while_a_request_is_answered_gets_no_ticket() {
    for sessions in [Sessions::Shared, Sessions::Servers] {
        let realm = Realm::new(|settings| settings.sessions = sessions);
        let ann = realm.client("ann");
        let client = Client { realm: REALM, name: "ann", key: &ann };
        let [replies, ..] = realm.answers(&[login("ann", &ann, 1)]);
        let ticket = client.initial_reply(&replies[0], &Wish::of(KRBTGT, 1)).unwrap();
        let further = |nonce| {
            let wish = Wish::of(KRBTGT, nonce);
            client.further(&ticket, &wish, (now(), 100_000 + nonce), None, confounder(nonce))
        };
        assert_eq!(realm.codes(&[further(2)]), [(); 3].map(|()| vec![None]));

        lock(&LOCKS).clone_from(&realm.nodes.to_vec());
        *lock(&realm.nodes[0].deviates) = Some(locks_ann);
        for request in [login("ann", &ann, 3), further(4)] {
            assert_eq!(realm.codes(&[request]), [(); 3].map(|()| vec![Some(29)]), "{sessions}");
            realm.nodes.iter().for_each(|node| alter(node, "ann", |ann| ann.revoked = false));
        }
        *lock(&realm.nodes[0].deviates) = None;
        assert_eq!(realm.codes(&[login("ann", &ann, 5), further(6)]), [(); 3].map(|()| vec![None; 2]));
    }
}

#[test]
fn what_takes_too_long_is_not_run_any_more() {
    let realm = Realm::new(|_| ());
    let ann = realm.client("ann");
    let logins = |nonce| [login("ann", &ann, nonce), login("ann", &ann, nonce + 1)];
    assert_eq!(realm.codes(&logins(1)), [(); 3].map(|()| vec![None; 2]));
    let since = Instant::now();
    let later = since + wire::PATIENCE;
    let answers = realm.answers_until(&logins(3), [later, later, since]);
    assert!(answers.iter().flatten().all(|answer| read_error(answer) == Some(29)));
    assert!(since.elapsed() < MEET, "they call the roll together");
    assert_eq!(realm.codes(&logins(5)), [(); 3].map(|()| vec![None; 2]));

    // Nor is it if a principal has changed since.
    let node = &realm.nodes[0];
    let record = node.principals().get("ann").unwrap().record.clone();
    let told = |terms: &Terms<'_>| terms.refusal()(&reads(Task::Verify, &record, true)).unwrap();
    assert!(told(&Terms::new(node, since)).contains("too long"));
    let terms = Terms::new(node, later);
    assert_eq!(terms.refusal()(&reads(Task::Verify, &record, true)), None);
    alter(node, "ann", |ann| ann.revoked = true);
    assert!(told(&terms).contains("changed"));
    assert!(!terms.principals.get("ann").unwrap().revoked, "requests see what there was");
}

/// A fault in what runs for requests: none of them waits for ever, and their server goes on.
#[test]
fn requests_whose_run_panics_wait_for_nothing() {
    let realm = Realm::new(|_| ());
    let ann = realm.client("ann");
    // So all programs are there.
    assert_eq!(realm.codes(&[login("ann", &ann, 1)]), [(); 3].map(|()| vec![None]));
    *lock(&realm.nodes[0].deviates) = Some(|_| panic!("planted"));
    let requests = [2, 3].map(|nonce| login("ann", &ann, nonce));
    let named = wire::pack_under([9; 16], &requests);
    let (told, ends) = channel();
    for node in &realm.nodes {
        let (node, named, requests, told) = (node.clone(), named.clone(), requests.clone(), told.clone());
        let answers =
            thread::spawn(move || answer_all(&node, &named, &requests, Instant::now() + 10 * wire::PATIENCE));
        let codes = |all: Vec<Vec<u8>>| all.iter().map(|one| read_error(one)).collect::<Vec<_>>();
        thread::spawn(move || told.send(answers.join().ok().map(codes)));
    }
    let mut answers = [(); 3].map(|()| ends.recv_timeout(Duration::from_mins(2)).unwrap());
    answers.sort();
    assert_eq!(answers, [None, Some(vec![Some(29); 2]), Some(vec![Some(29); 2])]);
    *lock(&realm.nodes[0].deviates) = None;
    assert_eq!(realm.codes(&[login("ann", &ann, 4)]), [(); 3].map(|()| vec![None]));
}

/// Whatever comes from strangers, an order gets its turn, and so do logins.
#[test]
fn an_order_gets_its_turn_in_a_flood() {
    let realm = Realm::new(|settings| settings.max_wrong_passwords = usize::MAX);
    let ann = realm.client("ann");
    let (goes_on, stranger) = (AtomicBool::new(true), Key::of_password(ENCTYPE, b"stranger", b"salt", 2));
    thread::scope(|scope| {
        for flood in 0..BATCHES as u32 {
            let (realm, goes_on, stranger) = (&realm, &goes_on, &stranger);
            scope.spawn(move || {
                for round in 0_u32.. {
                    if !goes_on.load(Ordering::Relaxed) {
                        return;
                    }
                    let requests: Vec<Vec<u8>> = (0..33)
                        .map(|number| login("ann", stranger, flood << 24 | round << 8 | number))
                        .collect();
                    realm.answers(&requests);
                }
            });
        }
        let locked = admin::change(&realm.admin(), "ann", Change::Lock);
        goes_on.store(false, Ordering::Relaxed);
        assert_eq!(locked.unwrap().matches("locked").count(), 3);
    });
    assert_eq!(realm.codes(&[login("ann", &ann, 1)]), [(); 3].map(|()| vec![Some(18)]));
}

#[test]
fn steps_that_differ_have_different_marks() {
    let step = |task, record: &str, bit| Step { relies_on: BTreeSet::new(), ..reads(task, record, bit) };
    let first = step(Task::Verify, "a", true);
    let others =
        [step(Task::Verify, "b", true), step(Task::Verify, "a", false), step(Task::Approve, "a", true)];
    assert!(others.iter().all(|other| other.mark() != first.mark()) && first.mark() == first.clone().mark());
}
