//! Three servers in this process, and requests on which they differ.

use super::*;
use crate::admin::{self, Origin};
use crate::clear::Key;
use crate::client::{Client, Wish};
use crate::enctype::Enctype;
use crate::messages::read_error;
use crate::order::Change;
use crate::realm::Settings;
use crate::server::{MEET, Server};
use crate::{front, wire};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

const REALM: &str = "B.EXAMPLE";
const KRBTGT: &str = "krbtgt/B.EXAMPLE";
const ENCTYPE: Enctype = Enctype::Aes128Sha1;

struct Realm {
    folder: tempfile::TempDir,
    nodes: [Arc<Node>; 3],
}

impl Realm {
    fn new(port: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("realm");
        admin::init(&inner, REALM, ENCTYPE, "127.0.0.1", port).unwrap();
        let settings = Settings::load(&inner.join("front/kdc.toml")).unwrap();
        thread::spawn(move || front::relay(&settings).unwrap());
        let nodes = ["P0", "P1", "P2"].map(|part| start(&inner.join(part)));
        let realm = Self { folder, nodes };
        realm.add(KRBTGT, &Origin::Random);
        realm
    }

    fn admin(&self) -> PathBuf {
        self.folder.path().join("realm/admin")
    }

    fn add(&self, name: &str, origin: &Origin) {
        let until = Instant::now() + Duration::from_mins(3);
        // The others' links may be to come.
        while let Err(error) = admin::add(&self.admin(), name, origin, None) {
            assert!(Instant::now() < until, "{error}");
        }
    }

    fn client(&self, name: &str) -> Key {
        let key = || Key::of_password(ENCTYPE, name.as_bytes(), b"salt", 2);
        self.add(name, &Origin::Key(key()));
        key()
    }

    /// What each server answers to requests that come together.
    fn answers(&self, requests: &[Vec<u8>]) -> [Vec<Vec<u8>>; 3] {
        static NUMBER: AtomicU8 = AtomicU8::new(0);
        let named = wire::pack_under([NUMBER.fetch_add(1, Ordering::Relaxed); 16], requests);
        thread::scope(|scope| {
            let answer = |node: &'_ Arc<Node>| {
                let (node, named) = (node.clone(), &named);
                scope.spawn(move || answer_all(&node, named, requests))
            };
            self.nodes.each_ref().map(answer).map(|thread| thread.join().unwrap())
        })
    }

    fn codes(&self, requests: &[Vec<u8>]) -> [Vec<Option<i64>>; 3] {
        self.answers(requests).map(|answers| answers.iter().map(|answer| read_error(answer)).collect())
    }
}

fn start(folder: &Path) -> Arc<Node> {
    let server = Server::open(folder).unwrap();
    let node = server.node();
    thread::spawn(move || server.run().unwrap());
    node
}

fn login(name: &str, key: &Key, nonce: u32) -> Vec<u8> {
    let mut confounder = [7; 16];
    confounder[..4].copy_from_slice(&nonce.to_le_bytes());
    Client { realm: REALM, name, key }.initial(&Wish::of(KRBTGT, nonce), now(), confounder)
}

/// One server has another copy of the principals than the others, as a torn order leaves it.
#[test]
fn a_request_on_which_servers_differ_costs_no_other_one() {
    let realm = Realm::new(21_000 + (std::process::id() % 1000 * 10) as u16);
    let (ann, ben) = (realm.client("ann"), realm.client("ben"));
    let wrong = Key::of_password(ENCTYPE, b"another", b"salt", 2);
    let all =
        || [login("ann", &ann, 1), login("ben", &ben, 2), login("ben", &wrong, 3), login("ben", &ben, 4)];
    // So all programs are there.
    assert_eq!(realm.codes(&all()), [(); 3].map(|()| vec![None, None, Some(24), None]));

    realm.nodes[2].principals.write().unwrap().get_mut("ann").unwrap().revoked = true;
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
    realm.nodes[1].principals.write().unwrap().get_mut("ben").unwrap().record = "key of nobody".to_owned();
    assert_eq!(
        realm.codes(&[login("ben", &ben, 6), login("ben", &ben, 7)]),
        [(); 3].map(|()| vec![Some(29); 2])
    );
    realm.nodes[2].principals.write().unwrap().get_mut("ann").unwrap().revoked = false;
    assert_eq!(
        realm.codes(&[login("ben", &ben, 8), login("ann", &ann, 9)]),
        [(); 3].map(|()| vec![Some(29), None])
    );
}

/// Whatever comes from strangers, an order gets its turn, and so do logins.
#[test]
fn an_order_gets_its_turn_in_a_flood() {
    let realm = Realm::new(31_000 + (std::process::id() % 1000 * 10) as u16);
    let ann = realm.client("ann");
    let (goes_on, stranger) = (AtomicBool::new(true), Key::of_password(ENCTYPE, b"stranger", b"salt", 2));
    thread::scope(|scope| {
        for flood in 0..crate::server::BATCHES as u32 {
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
fn servers_run_what_all_want_alike() {
    let step = |task, record: &str, bit| Step { task, public: vec![bit], records: vec![record.to_owned()] };
    let first = step(Task::Verify, "a", true);
    let others =
        [step(Task::Verify, "b", true), step(Task::Verify, "a", false), step(Task::CallRoll, "a", true)];
    assert!(others.iter().all(|other| other.mark() != first.mark()) && first.mark() == first.clone().mark());
    let all = |marks: [u64; 3]| marks.map(|mark| vec![0, mark]).to_vec();
    assert!(is_alike(&all([5, 5, 5]), 1));
    assert!(![[5, 5, 7], [0, 5, 5], [0, 0, 0]].into_iter().any(|marks| is_alike(&all(marks), 1)));
    assert!(!is_alike(&all([5, 5, 5]), 2) && !is_alike(&[], 0));

    let steps = (0..20)
        .map(|number| (number, step(if number == 3 { Task::CallRoll } else { Task::Verify }, "a", true)));
    let groups = groups(steps.collect());
    let sizes: Vec<(Task, usize)> = groups.iter().map(|(task, steps)| (*task, steps.len())).collect();
    assert_eq!(sizes, [(Task::Verify, 16), (Task::Verify, 3), (Task::CallRoll, 1)]);
}
