//! A realm in one process: three servers over TLS, a front, an admin, and clients that ask by TCP.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tacit_kdc::admin::{self, Origin};
use tacit_kdc::clear::Key;
use tacit_kdc::client::{Client, Ticket, Wish, ask};
use tacit_kdc::enctype::Enctype;
use tacit_kdc::front;
use tacit_kdc::messages::{flag, read_error};
use tacit_kdc::order::{Change, Holder};
use tacit_kdc::realm::{Sessions, Settings};
use tacit_kdc::server::Server;

const REALM: &str = "R.EXAMPLE";
const ENCTYPE: Enctype = Enctype::Aes128Sha1;

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

/// No two are alike.
fn fresh() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn confounder() -> [u8; 16] {
    let mut bytes = [7; 16];
    bytes[..4].copy_from_slice(&fresh().to_le_bytes());
    bytes
}

struct Realm {
    folder: tempfile::TempDir,
    port: u16,
}

impl Realm {
    fn admin(&self) -> std::path::PathBuf {
        self.folder.path().join("admin")
    }

    fn link(&self) -> TcpStream {
        let link = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        link.set_read_timeout(Some(Duration::from_mins(5))).unwrap();
        link
    }

    fn ask(&self, request: &[u8]) -> Vec<u8> {
        ask(&mut self.link(), request).unwrap()
    }

    /// Gives a principal a key that this test knows.
    fn add(&self, name: &str, kvno: Option<u64>) -> Key {
        let bytes: Vec<u8> = (0..16).map(|at| at * 7 + fresh() as u8).collect();
        let key = || Key::new(ENCTYPE, &bytes).unwrap();
        admin::give(&self.admin(), name, Holder::Any, &Origin::Key(key()), kvno).unwrap();
        key()
    }

    fn login(&self, name: &str, key: &Key, wish: &Wish<'_>) -> Result<Ticket, i64> {
        let client = Client { realm: REALM, name, key };
        let reply = self.ask(&client.initial(wish, now(), confounder()));
        match read_error(&reply) {
            Some(code) => Err(code),
            None => Ok(client.initial_reply(&reply, wish).unwrap()),
        }
    }

    fn further(
        &self,
        name: &str,
        key: &Key,
        ticket: &Ticket,
        wish: &Wish<'_>,
        subkey: Option<&Key>,
    ) -> Result<Ticket, i64> {
        let client = Client { realm: REALM, name, key };
        // Microseconds of one byte, two and three.
        let micros = [5, 500, 500_000][fresh() as usize % 3];
        let reply = self.ask(&client.further(ticket, wish, (now(), micros), subkey, confounder()));
        match read_error(&reply) {
            Some(code) => Err(code),
            None => Ok(client.further_reply(&reply, ticket, subkey, wish).unwrap()),
        }
    }
}

fn start(folder: &Path) -> impl Fn() -> usize + use<> {
    let server = Server::open(folder).unwrap();
    let made = server.programs_made();
    thread::spawn(move || server.serve().unwrap());
    made
}

/// Logins and tickets of many lengths, together and alone, and what an admin does meanwhile: no program is made after the start.
#[test]
fn a_realm_answers_requests_of_all_lengths_and_makes_no_program_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let port = 20_000 + (std::process::id() % 1000 * 10) as u16;
    let path = folder.path().join("realm");
    admin::init(&path, REALM, (ENCTYPE, Sessions::Shared), ["127.0.0.1"; 2], port).unwrap();
    for part in fs::read_dir(&path).unwrap() {
        fs::rename(part.as_ref().unwrap().path(), folder.path().join(part.unwrap().file_name())).unwrap();
    }
    // Programs of many requests take long to compile.
    for part in ["P0", "P1", "P2", "front"] {
        let file = folder.path().join(part).join("kdc.toml");
        let settings = fs::read_to_string(&file).unwrap();
        let fewer = settings.replace("max_together = 256", "max_together = 4");
        assert_ne!(fewer, settings);
        fs::write(&file, fewer).unwrap();
    }
    let realm = Realm { folder, port };
    let made = ["P0", "P1", "P2"].map(|part| start(&realm.folder.path().join(part)));
    let settings = Settings::load(&realm.folder.path().join("front/kdc.toml")).unwrap();
    thread::spawn(move || front::relay(&settings).unwrap());
    let krbtgt = format!("krbtgt/{REALM}");
    let until = std::time::Instant::now() + Duration::from_mins(8);
    // The servers' ports are there before they serve: an order waits for its run.
    while admin::give(&realm.admin(), &krbtgt, Holder::Any, &Origin::Random, Some(1)).is_err() {
        assert!(std::time::Instant::now() < until, "the realm starts");
        thread::sleep(Duration::from_millis(500));
    }
    let ready: Vec<usize> = made.iter().map(|made| made()).collect();
    let (long, service) = ("a".repeat(60), format!("host/{}", "b".repeat(90)));
    let service_key = realm.add(&service, None);
    let clients = ["c".to_owned(), "ann".to_owned(), long];
    let keys = clients.each_ref().map(|name| realm.add(name, None));

    // Logins that come together, one of them with a wrong key.
    let wrong = Key::new(ENCTYPE, &[1; 16]).unwrap();
    let tickets: Vec<Result<Ticket, i64>> = thread::scope(|scope| {
        let login = |at: usize| {
            let (realm, krbtgt, clients, keys, wrong) = (&realm, &krbtgt, &clients, &keys, &wrong);
            scope.spawn(move || {
                let key = if at == 3 { wrong } else { &keys[at % 3] };
                let rtime = Some(now() + 1_000_000);
                let wish = Wish { options: flag::RENEWABLE, rtime, ..Wish::of(krbtgt, fresh()) };
                realm.login(&clients[at % 3], key, &wish)
            })
        };
        let threads: Vec<_> = (0..5).map(login).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let codes: Vec<Option<i64>> = tickets.iter().map(|ticket| ticket.as_ref().err().copied()).collect();
    assert_eq!(codes, [None, None, None, Some(24), None]);
    let tickets: Vec<Ticket> = tickets.into_iter().filter_map(Result::ok).collect();

    // By each ticket one for the service, with a subkey or without, which the service's key opens.
    let subkey = Key::new(ENCTYPE, &[9; 16]).unwrap();
    thread::scope(|scope| {
        for at in 0..3 {
            let (realm, service, clients, keys, tickets) = (&realm, &service, &clients, &keys, &tickets);
            let (subkey, service_key) = ((at > 0).then_some(&subkey), &service_key);
            scope.spawn(move || {
                let wish = Wish::of(service, fresh() | 1 << 31);
                let ticket = realm.further(&clients[at], &keys[at], &tickets[at], &wish, subkey).unwrap();
                let opened = service_key.open(2, ticket.sealed().unwrap()).unwrap();
                assert!(opened.windows(16).any(|window| window == ticket.session.bytes()));
            });
        }
    });
    let (ann, key, ticket) = (&clients[1], &keys[1], &tickets[1]);
    let renewed = Wish { options: flag::RENEW, ..Wish::of(&krbtgt, fresh()) };
    assert!(realm.further(ann, key, ticket, &renewed, None).unwrap().renew_till.is_some());
    assert_eq!(realm.further(ann, key, ticket, &Wish::of("host/none", fresh()), None).err(), Some(7));
    // A new key of krbtgt's leaves tickets good, and a new one of ann's leaves her locked.
    admin::give(&realm.admin(), &krbtgt, Holder::Any, &Origin::Random, None).unwrap();
    realm.further(ann, key, ticket, &Wish::of(&service, fresh()), None).unwrap();
    admin::change(&realm.admin(), ann, Change::Lock).unwrap();
    let key = realm.add(ann, None);
    assert_eq!(realm.login(ann, &key, &Wish::of(&krbtgt, fresh())).err(), Some(18));
    assert_eq!(realm.further(ann, &key, ticket, &Wish::of(&service, fresh()), None).err(), Some(18));
    admin::change(&realm.admin(), ann, Change::Unlock).unwrap();
    realm.login(ann, &key, &Wish::of(&krbtgt, fresh())).unwrap();
    // Whoever has her name after her has neither her tickets nor her versions.
    admin::change(&realm.admin(), ann, Change::Delete).unwrap();
    assert!(admin::give(&realm.admin(), ann, Holder::Any, &Origin::Random, Some(2)).is_err());
    let key = realm.add(ann, None);
    assert_eq!(realm.further(ann, &key, ticket, &Wish::of(&service, fresh()), None).err(), Some(6));
    admin::change(&realm.admin(), &krbtgt, Change::Lock).unwrap();
    assert_eq!(
        realm.further(&clients[0], &keys[0], &tickets[0], &Wish::of(&service, fresh()), None).err(),
        Some(19)
    );

    assert_eq!(
        made.iter().map(|made| made()).collect::<Vec<_>>(),
        ready,
        "no program was made for a request"
    );
}
