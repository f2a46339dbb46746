//! What a server finds when it starts.

use super::node::{MEET, lock, median};
use super::*;
use crate::admin::{self, Origin};
use crate::clear::Key;
use crate::enctype::Enctype;
use crate::lists::Settled;
use crate::messages::read_error;
use crate::order::{Change, Holder};
use crate::programs::{RECORD, to_bits};
use crate::testing::{KRBTGT, Realm, login};
use tacit::advanced::net::{At, Frame, FrameKind};
use tacit::{Local, Residents, Standing};
use tacit_testkit::react::{Act, Attacker, reacting};

#[test]
fn one_clock_that_lies_moves_no_time() {
    let told = |clocks: [i64; 3]| median(&clocks.map(|clock| to_bits(&clock.to_le_bytes())));
    for clocks in [[100, 101, i64::MAX], [i64::MIN, 100, 101], [100, i64::MAX, 101], [101, -5, 100]] {
        assert!((100..=101).contains(&told(clocks)));
    }
}

#[test]
fn what_was_kept_of_keys_that_ended_is_dropped() {
    let enctype = Enctype::Aes128Sha1;
    let local = Local::new("replicated").unwrap();
    let programs = Programs::new(enctype, local.parties.clone()).unwrap();
    let mut states = [(); 3].map(|()| State::new());
    let compiled = programs.get(Task::Enrol { drawn: false }, 1).unwrap();
    for record in ["key 1", "key 2"] {
        let fill = Fill::new().keeping(RECORD, record);
        let residents =
            states.iter_mut().map(|state| Residents { state, fill: &fill, store: None }).collect();
        let key = to_bits(&vec![5; enctype.key_bytes()]);
        local.run_on(&compiled, residents, &[key], &|_, _| ()).unwrap();
    }
    let mut principals = Principals::default();
    for record in ["key 1", "key 2", "key 3"] {
        principals.finish(record);
    }
    principals.put_key("ann", (1, "key 2".into()), (String::new(), 0), 5, 6);
    let kept = |state: &State| -> Vec<String> {
        let live = state.list().into_iter().filter(|listed| listed.standing != Standing::Dropped);
        live.map(|listed| listed.about.name).collect()
    };
    let state = &mut states[0];
    assert_eq!(kept(state), ["key 1", "key 2"]);
    assert!(drop_ended(state, &mut principals).unwrap());
    assert_eq!(kept(state), ["key 2"]);
    assert!(principals.ended().is_empty() && !drop_ended(state, &mut principals).unwrap());
    assert_eq!(kept(state), ["key 2"]);
}

/// What each server makes of what the others know.
fn compared(realm: &Realm) -> [Settled; 3] {
    thread::scope(|scope| {
        let compare = |node: &Arc<Node>| {
            let node = node.clone();
            scope.spawn(move || node.compare(4 * MEET).unwrap())
        };
        realm.nodes.each_ref().map(compare).map(|thread| thread.join().unwrap())
    })
}

/// A server that ended after an order's run, before it noted what became of the principal.
#[test]
fn a_server_that_missed_an_order_takes_it_from_the_others_when_it_is_back() {
    let realm = Realm::new(|_| ());
    realm.client("ann");
    assert_eq!(compared(&realm), <[Settled; 3]>::default());
    let missed = &realm.nodes[2];
    let before = missed.principals().clone();
    let goes_back = |broken: Option<&str>| {
        let file = lock(&missed.file);
        missed.put(&file, |principals| {
            principals.clone_from(&before);
            if let Some(record) = broken {
                principals.begin(record);
            }
        })
    };
    let key = realm.client("ann");
    admin::give(&realm.admin(), "ben", Holder::Any, &Origin::Random, None).unwrap();
    let record = realm.nodes[0].principals().get("ann").unwrap().record.clone();
    goes_back(Some(&record)).unwrap();
    let code = |nonce| realm.answers(&[login("ann", &key, nonce)]).map(|answers| read_error(&answers[0]));
    assert_eq!(code(1), [Some(29); 3]);
    let [first, second, third] = compared(&realm);
    assert_eq!([first, second], <[Settled; 2]>::default());
    assert_eq!(third.carried.len(), 2, "{third:?}");
    assert!(missed.principals().begun().is_empty());
    assert_eq!(code(2), [None; 3]);
    assert_eq!(compared(&realm), <[Settled; 3]>::default());
    // That is on its disk, too.
    let file = lock(&missed.file).clone();
    assert_eq!(Principals::load(&file).unwrap(), *missed.principals());

    // Of an order whose share of the key isn't there any more: each says so.
    missed.asker.drop_value(&record).unwrap();
    goes_back(None).unwrap();
    for settled in compared(&realm) {
        let [ann] = &settled.differ[..] else { panic!("{settled:?}") };
        assert!(
            ann.contains("ann: of its key P0 has version 2, P1 has version 2, P2 has version 1"),
            "{ann}"
        );
    }
    let key = realm.client("ann");
    assert!(compared(&realm).iter().all(|settled| settled.differ.is_empty()));
    assert_eq!(realm.answers(&[login("ann", &key, 3)]).map(|answers| read_error(&answers[0])), [None; 3]);

    // What is kept of an order that nobody has carried out is dropped.
    let (old, file) =
        (realm.nodes[0].principals().get("ben").unwrap().record.clone(), lock(&missed.file).clone());
    for node in &realm.nodes {
        let file = lock(&node.file);
        node.put(&file, |principals| {
            principals.remove("ben");
            principals.begin(&old);
        })
        .unwrap();
    }
    assert!(kept(missed.asker.list().unwrap()).contains(&old));
    assert!(compared(&realm).iter().all(|settled| settled.differ.is_empty()));
    assert!(!kept(missed.asker.list().unwrap()).contains(&old));
    let left = Principals::load(&file).unwrap();
    assert!(left.begun().is_empty() && left.ended().is_empty());
}

/// As after its disk was lost, but for what it knows of principals.
#[test]
fn a_server_that_lacks_a_share_costs_nobody_else_anything() {
    let realm = Realm::new(|_| ());
    let (ann, ben) = (realm.client("ann"), realm.client("ben"));
    let codes = |ann: &Key, nonce| realm.codes(&[login("ann", ann, nonce), login("ben", &ben, nonce + 1)]);
    assert_eq!(codes(&ann, 1), [(); 3].map(|()| vec![None; 2]));
    let (lacks, record) = (&realm.nodes[2], realm.nodes[2].principals().get("ann").unwrap().record.clone());
    lacks.asker.drop_value(&record).unwrap();
    lacks.look(&lacks.principals());
    assert_eq!(codes(&ann, 3), [(); 3].map(|()| vec![Some(29), None]));
    assert!(lock(&lacks.missing).iter().eq([&record]));
    assert!(realm.nodes[..2].iter().all(|node| lock(&node.missing).is_empty()));
    // What its log has said to do.
    assert_eq!(codes(&realm.client("ann"), 5), [(); 3].map(|()| vec![None; 2]));
}

/// Says goodbye to the admin alone, and aborts once the others have said it: until then its own code waits for that.
struct Deserts;

impl Attacker for Deserts {
    fn sends(&mut self, to: usize, frame: Frame, act: &mut Act<'_>) {
        if frame.kind != FrameKind::Goodbye || to >= 2 {
            act.send(to, frame);
        }
    }

    fn ends(&mut self, act: &mut Act<'_>) {
        for to in 0..2 {
            act.send(to, Frame { kind: FrameKind::Abort, at: At::default(), payload: b"no".to_vec() });
        }
    }
}

/// The admin is told that its orders are carried out, and so they are at those who deviate in nothing.
#[test]
fn a_server_that_aborts_after_the_others_goodbyes_has_no_order_undone() {
    let realm = Realm::of(
        |_| (),
        |me, server| {
            if me == 2 {
                server.wrap(|links| reacting(Box::new(links), Box::new(Deserts)));
            }
        },
    );
    realm.client("ann");
    admin::change(&realm.admin(), "ann", Change::Lock).unwrap();
    for node in &realm.nodes[..2] {
        let principals = node.principals();
        assert!(principals.get(KRBTGT).is_some() && principals.get("ann").unwrap().revoked);
        assert!(principals.begun().is_empty());
    }
}
