//! Values that get fresh shares while parties read them.

use super::wanted::{askers_of, bits, enrol_key, keeper, reader, serving, want};
use super::*;
use crate::{Asker, Standing};
use std::sync::atomic::AtomicBool;

/// What comes of it at each party.
fn refreshed(askers: &[Asker], name: &str, within: Duration) -> Vec<Result<String, Error>> {
    thread::scope(|scope| {
        let refresh = |asker: &Asker| {
            let asker = asker.clone();
            scope.spawn(move || asker.refresh(name, within))
        };
        let threads: Vec<_> = askers.iter().map(refresh).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn a_value_gets_fresh_shares_while_parties_read_it_and_clients_keep_others() {
    let (house, keeper, reader) = (House::new(), keeper(), reader());
    let (parties, askers) = askers_of(&house, &keeper);
    enrol_key(&house, &askers, &keeper, "ann's", 3);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let reads = [0, 1].map(|thread| {
            let (askers, reader, is_over) = (&askers, &reader, &is_over);
            scope.spawn(move || {
                let mut count = 0;
                while !is_over.load(Ordering::SeqCst) {
                    let (fill, tag) = ([("key", "ann's")].into(), format!("{thread} {count}"));
                    for run in want(askers, reader, &tag, &fill, |_| vec![Some(bits(7))], LONG) {
                        assert_eq!(run.unwrap().outputs, [Some(bits(21))]);
                    }
                    count += 1;
                }
                count
            })
        });
        let order = scope.spawn(|| enrol_key(&house, &askers, &keeper, "ben's", 5));
        for version in 2..12 {
            for fresh in refreshed(&askers, "ann's", LONG) {
                assert_eq!(fresh.unwrap(), format!("ann's@{version}"));
            }
        }
        order.join().unwrap();
        is_over.store(true, Ordering::SeqCst);
        assert!(reads.into_iter().all(|thread| thread.join().unwrap() > 0));
    });
    for asker in &askers {
        let live = asker.list().unwrap().into_iter().filter(|one| one.standing != Standing::Dropped);
        let live: Vec<_> = live.map(|one| (one.about.name, one.about.version)).collect();
        assert_eq!(live, [("ann's".to_owned(), 11), ("ben's".to_owned(), 1)]);
    }
    end_well(parties, 0);
}

#[test]
fn what_not_all_have_or_want_keeps_its_shares() {
    let (house, keeper) = (House::new(), keeper());
    let (parties, askers) = askers_of(&house, &keeper);
    enrol_key(&house, &askers, &keeper, "ann's", 3);
    for fresh in refreshed(&askers[1..], "ann's", Duration::from_millis(300)) {
        assert!(matches!(fresh, Err(Error::Declined { .. })), "{fresh:?}");
    }
    // The first party may hear that they don't want it any more only after it wants it, too.
    let fresh = std::iter::repeat_with(|| refreshed(&askers, "ann's", LONG / 20));
    let fresh = fresh.take(20).find(|fresh| fresh.iter().all(Result::is_ok)).unwrap();
    assert!(fresh.iter().all(|fresh| fresh.as_ref().unwrap() == "ann's@2"), "{fresh:?}");
    askers[1].drop_value("ann's").unwrap();
    for name in ["ann's", "ben's"] {
        for fresh in refreshed(&askers, name, LONG) {
            let refused = fresh.unwrap_err();
            assert!(matches!(refused, Error::Refused(_)), "{refused}");
        }
    }
    let live = askers[0].list().unwrap().into_iter().filter(|one| one.standing == Standing::Settled);
    assert_eq!(live.map(|one| one.about.version).collect::<Vec<_>>(), [2]);
    for fresh in refreshed(&askers, &"x".repeat(257), LONG) {
        assert!(fresh.unwrap_err().to_string().contains("256 bytes"));
    }
    end_well(parties, 0);
    let serving = Serving { holdings: Holdings::default(), ..serving(1) };
    let mut server = Server::open(&house.party(0), Vec::new(), serving).unwrap();
    let (asker, drain) = (server.asker(), server.drain());
    let refused = thread::spawn(move || {
        let refused = asker.refresh("ann's", LONG);
        drain.ask();
        refused
    });
    server.serve(&mut |_| Ok::<_, Error>(())).unwrap();
    assert!(refused.join().unwrap().unwrap_err().to_string().contains("kept"));
}
