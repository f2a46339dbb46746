//! A realm of three servers in this process, for tests.

use crate::admin::{self, Origin};
use crate::batch::answer_all;
use crate::clear::Key;
use crate::client::{Client, Wish};
use crate::enctype::Enctype;
use crate::messages::read_error;
use crate::order::Holder;
use crate::programs::MAX_REQUESTS;
use crate::realm::{Principal, Sessions, Settings};
use crate::server::{Failure, Node, Server, now};
use crate::{front, wire};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const REALM: &str = "B.EXAMPLE";
pub(crate) const KRBTGT: &str = "krbtgt/B.EXAMPLE";
pub(crate) const ENCTYPE: Enctype = Enctype::Aes128Sha1;

/// Settings of a realm without addresses.
pub(crate) fn settings(realm: &str, enctype: Enctype) -> Settings {
    Settings {
        realm: realm.to_owned(),
        enctype,
        protocol: "replicated-malicious".to_owned(),
        sessions: Sessions::Shared,
        listen: String::new(),
        orders: String::new(),
        servers: Default::default(),
        max_life: 36000,
        max_renewable_life: 100_000,
        max_password_age: 0,
        max_wrong_passwords: 10,
        max_skew: 300,
        max_datagram: 1400,
        max_of_address: 64,
        max_together: MAX_REQUESTS,
        refresh_every: 0,
    }
}

pub(crate) struct Realm {
    folder: tempfile::TempDir,
    pub(crate) nodes: [Arc<Node>; 3],
    pub(crate) settings: Settings,
}

/// The first of ten ports that no other test has.
pub(crate) fn ports() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let number = std::process::id() % 200 * 5 + u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
    10_000 + number as u16 * 10
}

impl Realm {
    /// A realm with other settings than the usual ones.
    pub(crate) fn new(change: impl Fn(&mut Settings)) -> Self {
        Self::of(change, |_, _| ())
    }

    /// The same of servers with which something is done first.
    pub(crate) fn of(change: impl Fn(&mut Settings), prepare: impl Fn(usize, &mut tacit::Server)) -> Self {
        Self::started(change, prepare, Server::run)
    }

    /// The same of servers that have all programs from the start.
    pub(crate) fn serving(change: impl Fn(&mut Settings)) -> Self {
        Self::started(change, |_, _| (), Server::serve)
    }

    fn started(
        change: impl Fn(&mut Settings),
        prepare: impl Fn(usize, &mut tacit::Server),
        serve: fn(Server) -> Result<(), Failure>,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("realm");
        admin::init(&inner, REALM, (ENCTYPE, Sessions::Shared), ["127.0.0.1"; 2], ports()).unwrap();
        for part in ["P0", "P1", "P2", "front", "admin"] {
            set(&inner.join(part), &change);
        }
        let settings = Settings::load(&inner.join("front/kdc.toml")).unwrap();
        let relayed = settings.clone();
        thread::spawn(move || front::relay(&relayed).unwrap());
        let nodes = [0, 1, 2].map(|me| {
            let mut server = Server::open(&inner.join(format!("P{me}"))).unwrap();
            prepare(me, server.living());
            let node = server.node();
            thread::spawn(move || serve(server).unwrap());
            node
        });
        let realm = Self { folder, nodes, settings };
        realm.add(KRBTGT, &Origin::Random);
        realm
    }

    pub(crate) fn admin(&self) -> PathBuf {
        self.folder.path().join("realm/admin")
    }

    pub(crate) fn add(&self, name: &str, origin: &Origin) {
        let until = Instant::now() + Duration::from_mins(5);
        // The others' links may be to come.
        while let Err(error) = admin::give(&self.admin(), name, Holder::Any, origin, None) {
            assert!(Instant::now() < until, "{error}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn client(&self, name: &str) -> Key {
        let key = || Key::of_password(ENCTYPE, name.as_bytes(), b"salt", 2);
        self.add(name, &Origin::Key(key()));
        key()
    }

    /// What each server answers to requests that come together.
    pub(crate) fn answers(&self, requests: &[Vec<u8>]) -> [Vec<Vec<u8>>; 3] {
        // Programs may have to be compiled first.
        self.answers_until(requests, [Instant::now() + 10 * wire::PATIENCE; 3])
    }

    /// The same, of servers that answer until such times.
    pub(crate) fn answers_until(&self, requests: &[Vec<u8>], until: [Instant; 3]) -> [Vec<Vec<u8>>; 3] {
        static NUMBER: AtomicU8 = AtomicU8::new(0);
        let named = wire::pack_under([NUMBER.fetch_add(1, Ordering::Relaxed); 16], requests);
        thread::scope(|scope| {
            let answer = |me: usize| {
                let (node, named, until) = (self.nodes[me].clone(), &named, until[me]);
                scope.spawn(move || answer_all(&node, named, requests, until))
            };
            [0, 1, 2].map(answer).map(|thread| thread.join().unwrap())
        })
    }

    pub(crate) fn codes(&self, requests: &[Vec<u8>]) -> [Vec<Option<i64>>; 3] {
        self.answers(requests).map(|answers| answers.iter().map(|answer| read_error(answer)).collect())
    }
}

/// Changes what a server knows of a principal, behind its back.
pub(crate) fn alter(node: &Node, name: &str, change: impl FnOnce(&mut Principal)) {
    change(Arc::make_mut(&mut *node.principals.write().unwrap()).get_mut(name).unwrap());
}

/// Changes the settings in a folder.
pub(crate) fn set(folder: &Path, change: impl Fn(&mut Settings)) {
    let file = folder.join("kdc.toml");
    let mut settings = Settings::load(&file).unwrap();
    change(&mut settings);
    fs::write(file, toml::to_string(&settings).unwrap()).unwrap();
}

/// A login, now.
pub(crate) fn login(name: &str, key: &Key, nonce: u32) -> Vec<u8> {
    Client { realm: REALM, name, key }.initial(&Wish::of(KRBTGT, nonce), now(), confounder(nonce))
}

/// Bytes of a number.
pub(crate) fn confounder(nonce: u32) -> [u8; 16] {
    let mut confounder = [7; 16];
    confounder[..4].copy_from_slice(&nonce.to_le_bytes());
    confounder
}
