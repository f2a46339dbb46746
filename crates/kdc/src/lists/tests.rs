//! Three servers that tell one another what they know.

use super::*;
use crate::enctype::Enctype;
use crate::order::{Holder, OrderKey};
use crate::testing::settings;
use std::sync::{Barrier, Mutex};

/// An admin, and servers that it gives orders.
struct Realm {
    key: OrderKey,
    admin: AdminKey,
    settings: Settings,
    servers: [Principals; 3],
    /// The records that each has.
    holds: [BTreeSet<String>; 3],
    number: u128,
}

fn key(kvno: u64) -> Change {
    Change::Key { salt: String::new(), iterations: 0, drawn: true, kvno, holder: Holder::Any }
}

impl Realm {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let admin = OrderKey::draw(folder.path()).unwrap();
        let key = OrderKey::load(folder.path()).unwrap();
        let settings = settings("R", Enctype::Aes128Sha1);
        Self { key, admin, settings, servers: Default::default(), holds: Default::default(), number: 0 }
    }

    fn signed(&mut self, name: &str, change: Change) -> String {
        self.number += 1;
        let order = Order { principal: name.into(), change, at: 1000, number: self.number };
        self.key.sign("R", std::str::from_utf8(&order.to_bytes().unwrap()).unwrap())
    }

    /// An order that these servers carry out. All of them have their shares of its key.
    fn order(&mut self, name: &str, change: Change, servers: &[usize]) -> String {
        let sent = self.signed(name, change);
        let bytes = self.admin.open("R", &sent).unwrap().as_bytes();
        let order = Order::read(bytes).unwrap();
        for (at, principals) in self.servers.iter_mut().enumerate() {
            if matches!(order.change, Change::Key { .. }) {
                self.holds[at].insert(order::record(bytes));
            }
            if servers.contains(&at) {
                order.admit(principals, 1000, 300).unwrap();
                order.carry_out(principals, &sent, 1000, &self.settings);
            }
        }
        sent
    }

    /// Has all tell one another what they know, the first one what `lies` makes of it.
    fn settle(&mut self, lies: &(dyn Fn(&mut Principals) + Sync)) -> [Settled; 3] {
        let (barrier, told) = (Barrier::new(3), Mutex::new([vec![], vec![], vec![]]));
        let names = ["P0", "P1", "P2"].map(str::to_owned);
        let Self { admin, settings, servers, holds, .. } = self;
        let (barrier, told, names, admin, settings) = (&barrier, &told, &names, &*admin, &*settings);
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for (me, (principals, holds)) in servers.iter_mut().zip(holds.iter()).enumerate() {
                threads.push(scope.spawn(move || {
                    let mut tell = |own: &[u8]| {
                        told.lock().unwrap()[me] = crate::server::padded(own);
                        barrier.wait();
                        let all = told.lock().unwrap().to_vec();
                        barrier.wait();
                        Ok(all)
                    };
                    let reader = Reader { me, names, settings, admin, holds, old_too: true, now: 2000 };
                    let mut liar = principals.clone();
                    lies(&mut liar);
                    let own = if me == 0 { &mut liar } else { principals };
                    reader.settle(own, &mut tell).unwrap()
                }));
            }
            let settled: Vec<Settled> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            settled.try_into().unwrap()
        })
    }
}

const ALL: &[usize] = &[0, 1, 2];

#[test]
fn what_both_others_have_carried_out_is_carried_forward() {
    let mut realm = Realm::new();
    for name in ["ann", "ben", "eve"] {
        realm.order(name, key(1), ALL);
    }
    assert_eq!(realm.settle(&|_| ()), <[Settled; 3]>::default());
    realm.order("ann", key(4), &[0, 1]);
    realm.order("ann", Change::Lock, ALL);
    realm.order("ben", Change::Delete, &[0, 1]);
    realm.order("ben", key(2), &[0, 1]);
    realm.order("ben", Change::Lock, &[0, 1]);
    realm.order("eve", Change::Delete, &[0, 1]);
    let [first, second, third] = realm.settle(&|_| ());
    assert_eq!([&first, &second], [&Settled::default(); 2]);
    assert_eq!(third.carried.len(), 5, "{third:?}");
    assert!(third.differ.is_empty() && third.ended.len() == 2);
    let [first, _, third] = &realm.servers;
    assert_eq!(third.get("ann").unwrap().kvno, 4);
    assert!(third.get("ben").unwrap().revoked && third.get("eve").is_none());
    assert!(third.records() == first.records() && third.next_kvno("eve") == 2);
    assert_eq!(realm.settle(&|_| ()), <[Settled; 3]>::default());
}

#[test]
fn what_a_server_cannot_take_is_named_with_what_to_do() {
    let mut realm = Realm::new();
    for name in ["ann", "ben", "eve"] {
        realm.order(name, key(1), ALL);
    }
    // Of ann's key the last server has no share; ben's and eve's orders one server alone has carried out.
    realm.order("ann", key(2), &[0, 1]);
    realm.holds[2].clear();
    realm.order("ben", key(2), &[1]);
    realm.order("eve", Change::Lock, &[2]);
    for settled in realm.settle(&|_| ()) {
        assert!(settled.carried.is_empty());
        let [ann, ben, eve] = &settled.differ[..] else { panic!("{settled:?}") };
        assert!(
            ann.contains("ann: of its key P0 has version 2, P1 has version 2, P2 has version 1"),
            "{ann}"
        );
        assert!(ann.contains("tacit-kdc rotate") && ben.contains("tacit-kdc rotate"), "{ben}");
        assert!(eve.contains("P1 has it unlocked, P2 has it locked; repeat the order"), "{eve}");
    }
    realm.holds[2] = realm.holds[1].clone();
    realm.order("ben", key(3), ALL);
    realm.order("eve", Change::Lock, ALL);
    let [.., third] = realm.settle(&|_| ());
    let [ben] = &third.differ[..] else { panic!("{third:?}") };
    assert!(ben.contains("ben: of its old keys") && third.carried.len() == 1, "{ben}");
}

/// The first server deviates: what it says has no honest one carry out anything that the other honest one hasn't.
#[test]
fn no_server_makes_another_carry_out_what_was_not_ordered_or_an_older_order() {
    let mut realm = Realm::new();
    realm.order("ann", key(1), ALL);
    let unlock = realm.order("ann", Change::Unlock, ALL);
    let never = realm.signed("ann", Change::Delete);
    let lock = realm.order("ann", Change::Lock, ALL);
    let lies = |sent: &str, change: Change| {
        let (sent, order) =
            (sent.to_owned(), Order { principal: "ann".into(), change, at: 1000, number: 1 << 90 });
        let settings = realm.settings.clone();
        move |principals: &mut Principals| drop(order.carry_out(principals, &sent, 1000, &settings))
    };
    let other = Realm::new();
    let text = |order: &Order| String::from_utf8(order.to_bytes().unwrap()).unwrap();
    let forged = Order { principal: "ann".into(), change: Change::Unlock, at: 1000, number: 1 << 91 };
    let forged = other.key.sign("R", &text(&forged));
    let all = [
        lies(&unlock, Change::Unlock),
        lies(&never, Change::Delete),
        lies(&forged, Change::Unlock),
        lies("", Change::Unlock),
    ];
    let before = realm.servers.clone();
    for lie in &all {
        for settled in realm.settle(lie) {
            assert!(settled.carried.is_empty() && settled.differ.len() == 1, "{settled:?}");
        }
        assert_eq!(realm.servers, before);
    }
    // Nor if another one says the same: what they say is older than what the third has, or not signed.
    for lie in &all {
        lie(&mut realm.servers[1]);
        assert!(realm.settle(lie)[2].carried.is_empty());
        assert_eq!(realm.servers[2], before[2]);
        realm.servers.clone_from(&before);
    }
    // Nor by an order of another name.
    let ben = realm.order("ben", Change::Unlock, &[]);
    let of_ann = |principals: &mut Principals| {
        principals.get_mut("ann").unwrap().revoked = false;
        principals.orders_mut("ann").lock.sent.clone_from(&ben);
    };
    of_ann(&mut realm.servers[1]);
    let [.., third] = realm.settle(&of_ann);
    assert!(third.carried.is_empty() && third.differ.len() == 1);
    assert_ne!(lock, unlock);
}

/// The first server deviates.
#[test]
fn a_list_with_what_names_nobody_is_refused_and_a_long_one_is_told_in_part() {
    let (key, names) = (Realm::new(), ["P0", "P1", "P2"].map(str::to_owned));
    let holds = BTreeSet::new();
    let (admin, settings) = (&key.admin, &key.settings);
    let reader = Reader { me: 1, names: &names, settings, admin, holds: &holds, old_too: true, now: 2000 };
    let settled = |those: &[String]| {
        let mut lies = Principals::default();
        for name in those {
            (0..50)
                .for_each(|kvno| lies.put_key(name, (kvno, format!("key {kvno}")), Default::default(), 1, 1));
        }
        let list = serde_json::to_vec(&super::of(&lies)).unwrap();
        let mut step = 0;
        let mut tell = |own: &[u8]| {
            let said = match step % (2 + list.len().div_ceil(TOLD)) {
                0 => hashes(&super::of(&lies)).concat(),
                1 => (list.len() as u64).to_le_bytes().to_vec(),
                part => list.chunks(TOLD).nth(part - 2).unwrap().to_vec(),
            };
            step += 1;
            Ok([&said[..], own, own].map(crate::server::padded).to_vec())
        };
        reader.settle(&mut Principals::default(), &mut tell)
    };
    for name in ["", "a\nP2: all is well", "a@B", &"a".repeat(201)] {
        let refused = settled(&[name.to_owned()]).unwrap_err().to_string();
        assert_eq!(refused, "P0 told a list with a name that no principal can have");
    }
    let differ = settled(&(0..50).map(|name| format!("a{name}")).collect::<Vec<_>>()).unwrap().differ;
    assert!(differ.len() == SHOWN + 1 && differ[SHOWN] == "and 30 more", "{differ:?}");
    // Of many old keys some are shown.
    let old = |kvnos: std::ops::Range<u64>| {
        let entry = Entry { old: kvnos.collect(), ..Entry::default() };
        List::from([("ann".to_owned(), entry)])
    };
    let told = reader.differences(&[old(0..50), old(0..1), old(0..1)]);
    assert!(told[0].contains("18, 19] of 50, P1 has [0], P2"), "{told:?}");
}

#[test]
fn servers_that_differ_on_who_knows_session_keys_say_so() {
    let realm = Realm::new();
    let names = ["P0", "P1", "P2"].map(str::to_owned);
    let look = |sessions: [Sessions; 3]| -> [Option<Settled>; 3] {
        let settings = sessions.map(|sessions| Settings { sessions, ..realm.settings.clone() });
        let look = |me: usize, tell: Tell<'_>| {
            let (settings, admin, holds) = (&settings[me], &realm.admin, &realm.holds[me]);
            let reader = Reader { me, names: &names, settings, admin, holds, old_too: false, now: 2000 };
            reader.first_look(&realm.servers[me], tell)
        };
        let mut told = Vec::new();
        for me in 0..3 {
            let nothing = look(me, &mut |own| {
                told.push(crate::server::padded(own));
                Err(Failure::Refused("the others are to come".to_owned()))
            });
            assert!(nothing.is_err());
        }
        [0, 1, 2].map(|me| look(me, &mut |_| Ok(told.clone())).unwrap())
    };
    for all in [Sessions::Shared, Sessions::Servers] {
        assert_eq!(look([all; 3]), [(); 3].map(|()| Some(Settled::default())));
    }
    for settled in look([Sessions::Shared, Sessions::Servers, Sessions::Shared]) {
        let [differ] = &settled.unwrap().differ[..] else { panic!("one thing") };
        let each = "kdc.toml P0 says \"shared\", P1 says \"servers\", P2 says \"shared\"; if so, requests are refused";
        assert!(differ.contains(each), "{differ}");
    }
}
