//! Orders, and fronts that don't do what they should.

use super::*;
use crate::order::AdminKey;
use crate::testing::{Realm, ports, set};
use std::io::Write;
use std::net::TcpListener;
use std::sync::Mutex;

/// What a front does with an order: what it sends to the admin, if anything.
type Front = fn(&Settings, &[u8]) -> Option<Vec<u8>>;

/// Has the servers carry out what was sent.
fn relay(settings: &Settings, sent: &[u8]) -> Vec<Vec<u8>> {
    let mut links: Vec<TcpStream> =
        settings.servers.iter().map(|server| TcpStream::connect(server).unwrap()).collect();
    for link in &mut links {
        wire::write(link, Kind::Order, sent).unwrap();
    }
    links.iter_mut().map(|link| wire::read(link).unwrap().1).collect()
}

/// What came, for whoever wants to send it again.
static SEEN: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Has this front take one order of the realm's admin.
fn through(realm: &Realm, front: Front, change: Change) -> Result<String, Failure> {
    let (orders, settings) = (format!("127.0.0.1:{}", ports()), realm.settings.clone());
    let listener = TcpListener::bind(&orders).unwrap();
    set(&realm.admin(), |settings| settings.orders.clone_from(&orders));
    let taken = thread::spawn(move || {
        let (mut link, _) = listener.accept().unwrap();
        let sent = wire::read(&mut link).unwrap().1;
        SEEN.lock().unwrap().clone_from(&sent);
        if let Some(told) = front(&settings, &sent) {
            wire::write(&mut link, Kind::Order, &told).unwrap();
        }
    });
    let told = super::change(&realm.admin(), "ann", change);
    taken.join().unwrap();
    set(&realm.admin(), |settings| settings.orders.clone_from(&realm.settings.orders));
    told
}

#[test]
fn an_admin_is_told_what_was_carried_out_whatever_the_front_says() {
    let realm = Realm::new(|_| ());
    realm.client("ann");
    let is_locked = || realm.nodes.each_ref().map(|node| node.principals().get("ann").unwrap().revoked);

    // One that carries the order and keeps back what the servers say.
    let silent: Front = |settings, sent| {
        relay(settings, sent);
        None
    };
    let told = through(&realm, silent, Change::Lock).unwrap();
    assert!(told.contains("carried out") && is_locked() == [true; 3], "{told}");
    // One that says another thing.
    let lying: Front = |settings, sent| {
        relay(settings, sent);
        Some(b"P0: refused: nobody asked\x1b[2J".to_vec())
    };
    let told = through(&realm, lying, Change::Unlock).unwrap();
    assert!(told.contains("carried out") && !told.contains('\x1b') && is_locked() == [false; 3], "{told}");
    // One that carries nothing, and says that it was done.
    let boasting: Front = |_, _| Some(b"P0: locked\nP1: locked\nP2: locked".to_vec());
    let refused = through(&realm, boasting, Change::Lock);
    assert!(matches!(refused, Err(Failure::Refused(_))) && is_locked() == [false; 3], "{refused:?}");

    // Who sees an order and sends it again, or sends what no admin did, is refused at once, and holds nobody up.
    let since = Instant::now();
    let told =
        through(&realm, |settings, sent| Some(relay(settings, sent).join(&b'\n')), Change::Lock).unwrap();
    assert_eq!((told.matches("locked").count(), is_locked()), (3, [true; 3]));
    let seen = SEEN.lock().unwrap().clone();
    let says = |sent: &[u8], says: &str| {
        let since = Instant::now();
        for told in relay(&realm.settings, sent) {
            let told = String::from_utf8(told).unwrap();
            assert!(told.contains(REFUSED) && told.contains(says), "{told}");
        }
        assert!(since.elapsed() < ORDERED / 2);
    };
    says(&seen, "has come before");
    says(&seen[128..], "didn't sign");
    says(&made("ann", Change::Unlock).unwrap(), "didn't sign");
    says(b"", "didn't sign");
    assert!(is_locked() == [true; 3] && since.elapsed() < 3 * ORDERED);
}

#[test]
fn clients_alone_are_let_in_from_elsewhere_and_the_front_has_no_key() {
    let folder = tempfile::tempdir().unwrap();
    let realm = folder.path().join("realm");
    init(&realm, "R.EXAMPLE", (Enctype::Aes128Sha1, Sessions::Shared), ["0.0.0.0", "127.0.0.1"], 8800)
        .unwrap();
    let settings = Settings::load(&realm.join("P1/kdc.toml")).unwrap();
    assert_eq!(settings.listen, "0.0.0.0:8800");
    let inside = settings.servers.iter().chain([&settings.orders]);
    assert!(inside.into_iter().all(|address| address.starts_with("127.0.0.1:")));
    let parties = fs::read_to_string(realm.join("P1/parties.toml")).unwrap();
    assert!(!parties.contains("0.0.0.0"), "{parties}");
    let sent = OrderKey::load(&realm.join("admin")).unwrap().sign("R.EXAMPLE", "order");
    for server in ["P0", "P1", "P2"].map(|part| realm.join(part)) {
        assert_eq!(AdminKey::load(&server).unwrap().open("R.EXAMPLE", &sent), Some("order"));
        assert!(OrderKey::load(&server).is_err(), "the admin alone signs");
    }
    assert!(OrderKey::load(&realm.join("front")).is_err() && AdminKey::load(&realm.join("front")).is_err());
}

#[test]
fn passwords_are_hashed_as_often_as_clients_would_at_least() {
    let folder = tempfile::tempdir().unwrap();
    let realm = folder.path().join("realm");
    init(&realm, "R.EXAMPLE", (Enctype::Aes128Sha256, Sessions::Shared), ["127.0.0.1"; 2], 8800).unwrap();
    let password = |iterations| Origin::Password(b"correct horse".to_vec().into(), iterations);
    let refused = give(&realm.join("admin"), "ann", Holder::Any, &password(32_767), Some(1));
    assert!(matches!(refused, Err(Failure::Refused(reason)) if reason.contains("32768")));
}

#[test]
fn one_server_that_lies_has_no_key_refused() {
    let said = |versions: &[u64]| {
        let line = |version: &u64| format!("P0: {NEXT_KVNO}{version}");
        next_kvno(&versions.iter().map(line).collect::<Vec<_>>().join("\n"))
    };
    assert_eq!(said(&[5, u64::MAX, 5]), Some(5));
    assert_eq!(said(&[0, 5, 5]), Some(5));
    assert_eq!(said(&[u64::MAX, 5, 6]), Some(6));
    // An order that one server alone has carried out, or that one alone has missed.
    assert_eq!([said(&[2, 1, 1]), said(&[2, 1, 2])], [Some(2); 2]);
    assert_eq!([said(&[3, 4]), said(&[7]), said(&[])], [Some(4), Some(7), None]);
    assert_eq!(next_kvno("P0: refused\nP1: another"), None);
}

/// Who sends a byte now and then holds no admin up.
#[test]
fn a_front_that_is_slow_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut front = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut slow, _) = listener.accept().unwrap();
    let says = thread::spawn(move || {
        let mut frame = Vec::new();
        wire::write(&mut frame, Kind::Order, &[b'a'; 100]).unwrap();
        // Until nobody hears it any more.
        frame.iter().all(|byte| {
            thread::sleep(Duration::from_millis(100));
            slow.write_all(&[*byte]).is_ok()
        })
    });
    let since = Instant::now();
    assert!(matches!(heard(&mut front, since + Duration::from_millis(500)), Err(Failure::Io(_))));
    assert!(since.elapsed() < Duration::from_secs(5));
    drop(front);
    assert!(!says.join().unwrap());
}
