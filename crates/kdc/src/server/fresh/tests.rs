//! Keys that get fresh shares while clients log in.

use super::*;
use crate::admin;
use crate::testing::{KRBTGT, Realm, login};
use std::sync::atomic::AtomicBool;
use tacit::Standing;

/// What comes of it at each server, each of which waits so long for the others to come to a key.
fn refreshed(realm: &Realm, turn: i64, next: Duration) -> [Fresh; 3] {
    thread::scope(|scope| {
        let refresh = |node: &std::sync::Arc<Node>| {
            let node = node.clone();
            scope.spawn(move || node.refresh(turn, next).unwrap())
        };
        realm.nodes.each_ref().map(refresh).map(|thread| thread.join().unwrap())
    })
}

/// The version of each key's shares that a server has; of each there is one.
fn versions(node: &Node, principal: &str) -> Vec<u64> {
    let record = node.principals().get(principal).unwrap().record.clone();
    let all = node.asker.list().unwrap().into_iter();
    let live = all.filter(|one| one.about.name == record && one.standing != Standing::Dropped);
    live.map(|one| one.about.version).collect()
}

#[test]
fn keys_get_fresh_shares_while_clients_log_in_and_orders_are_carried_out() {
    let realm = Realm::new(|settings| settings.refresh_every = 60);
    let (ann, ben) = (realm.client("ann"), realm.client("ben"));
    let logs_in = |nonce: u32| {
        let requests = [login("ann", &ann, 2 * nonce), login("ben", &ben, 2 * nonce + 1)];
        assert_eq!(realm.codes(&requests), [(); 3].map(|()| vec![None; 2]));
    };
    // What is compiled first takes long.
    logs_in(1);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let clients = scope.spawn(|| {
            let mut nonce = 2;
            while !is_over.load(Ordering::SeqCst) {
                logs_in(nonce);
                nonce += 1;
            }
            nonce - 2
        });
        let orders = scope.spawn(|| {
            (0..3).for_each(|number| realm.add(&format!("user{number}"), &admin::Origin::Random));
        });
        for turn in 1..4 {
            for fresh in refreshed(&realm, turn, NEXT) {
                assert!(fresh.keys >= 3 && fresh.kept.is_empty(), "{fresh:?}");
            }
        }
        orders.join().unwrap();
        is_over.store(true, Ordering::SeqCst);
        assert!(clients.join().unwrap() > 0);
    });
    for node in &realm.nodes {
        for principal in [KRBTGT, "ann", "ben"] {
            assert_eq!(versions(node, principal), [4], "{principal}");
        }
    }
}

/// One server lacks its share of a key, and knows of a principal that the others don't: all other keys get fresh shares.
#[test]
fn a_key_that_not_all_have_keeps_its_shares_and_holds_up_no_other() {
    let realm = Realm::new(|settings| settings.refresh_every = 60);
    let ann = realm.client("ann");
    realm.client("ben");
    realm.client("carl");
    let record = |name: &str| realm.nodes[2].principals().get(name).unwrap().record.clone();
    let (bens, carls) = (record("ben"), record("carl"));
    realm.nodes[2].asker.drop_value(&bens).unwrap();
    // As if they had struck it off.
    for node in &realm.nodes[..2] {
        let file = lock(&node.file);
        node.put(&file, |principals| drop(principals.remove("carl"))).unwrap();
    }
    let [first, second, third] = refreshed(&realm, 1, NEXT / 6);
    for fresh in [&first, &second, &third] {
        assert_eq!(fresh.keys, 2, "{fresh:?}");
        let told = fresh.kept.iter().find(|(record, _)| *record == bens);
        assert!(told.is_some_and(|(_, reason)| reason.contains("was dropped by P2")), "{fresh:?}");
    }
    assert_eq!([&first, &second].map(|fresh| fresh.kept.len()), [1; 2]);
    assert!(third.kept.iter().any(|(record, _)| *record == carls), "{third:?}");
    assert_eq!(realm.codes(&[login("ann", &ann, 1)]), [(); 3].map(|()| vec![None]));
}
