//! Bytes that have changed, and files that are shorter than they were.

use super::*;
use crate::Malformed;

/// A store with a long journal, of which instance 6 of A is the first unused one.
fn used() -> Place {
    let place = Place::with(A, 9);
    let mut store = place.open().unwrap();
    write(&mut store, B, 2).unwrap();
    for index in [0, 1, 2, 5] {
        take(&mut store, A, index, 1).unwrap();
    }
    drop(store);
    assert_eq!(fs::metadata(place.journal()).unwrap().len(), 64 * 7);
    place
}

/// Opens, and takes what there is: never an instance of A before 6.
fn gives_nothing_twice(place: &Place) -> Result<(), Error> {
    let mut store = place.open()?;
    assert_eq!((unused(&store, A), unused(&store, B)), (Some((6, 9)), Some((0, 2))));
    assert_eq!(take(&mut store, A, 6, 3), Ok(vec![6, 7, 8]));
    Ok(())
}

#[test]
fn a_journal_or_an_anchor_cut_at_any_byte_gives_nothing_twice() {
    let place = used();
    for file in [Place::journal, Place::anchor] {
        for len in 0..fs::metadata(file(&place)).unwrap().len() {
            let copy = place.copy();
            cut(&file(&copy), len);
            match gives_nothing_twice(&copy) {
                Ok(()) => assert!(len >= 64),
                Err(Error::Damaged { .. }) => assert!(len < 64, "{len}"),
                // The anchor's head is there, and its record of an epoch isn't.
                Err(Error::AnchorLost { .. }) => assert!((64..64 * 3).contains(&len), "{len}"),
                Err(error) => panic!("{len}: {error}"),
            }
        }
    }
}

#[test]
fn a_journal_or_an_anchor_with_a_flipped_bit_gives_nothing_twice() {
    let place = used();
    for file in [Place::journal, Place::anchor] {
        let len = fs::metadata(file(&place)).unwrap().len();
        for at in 0..len {
            let copy = place.copy();
            flip(&file(&copy), at, 1 << (at % 8));
            let opened = gives_nothing_twice(&copy);
            if at < len - 64 {
                assert!(matches!(opened, Err(Error::Damaged { .. })), "{at}: {opened:?}");
            } else {
                assert_eq!(opened, Ok(()), "as if torn");
            }
        }
    }
}

/// A crash tears one of them; if both are torn, nobody knows what was used last.
#[test]
fn a_torn_journal_with_a_torn_anchor_is_refused() {
    let place = used();
    for (journal, anchor) in [(1, 1), (63, 5)] {
        let copy = place.copy();
        for (path, short) in [(copy.journal(), journal), (copy.anchor(), anchor)] {
            let len = fs::metadata(&path).unwrap().len();
            cut(&path, len - short);
        }
        let error = copy.open().unwrap_err();
        assert!(matches!(&error, Error::Damaged { path, .. } if *path == copy.journal()), "{error}");
    }
}

#[test]
fn a_missing_journal_is_damage() {
    let place = used();
    fs::remove_file(place.journal()).unwrap();
    let error = place.open().unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
    assert!(matches!(place.create(), Err(Error::Damaged { .. })));
}

#[test]
fn anothers_journal_is_damage() {
    let (place, other) = (used(), Place::new());
    let binding = Binding { plan: Some(PlanBinding { program: [9; 32], ..plan_binding() }), ..binding() };
    drop(Store::create(&other.store(), &other.anchors(), &binding).unwrap());
    fs::copy(other.journal(), place.journal()).unwrap();
    let error = place.open().unwrap_err();
    assert!(error.to_string().contains("another store"), "{error}");
}

#[test]
fn changed_material_is_noticed_and_burnt() {
    let place = Place::with(A, 1);
    let path = place.store().join(A.to_string()).join(crate::index::segment(WHOLE, 0));
    for at in 0..fs::metadata(&path).unwrap().len() {
        let copy = place.copy();
        let path = copy.store().join(A.to_string()).join(crate::index::segment(WHOLE, 0));
        flip(&path, at, 1);
        let error = take(&mut copy.open().unwrap(), A, 0, 1).unwrap_err();
        assert_eq!(error, Error::Damaged { path, cause: Malformed::Checksum });
        assert_eq!(copy.open().unwrap().available(WHOLE), []);
    }
}

#[test]
fn damage_to_one_instance_leaves_the_others() {
    let place = Place::with(A, 3);
    let path = place.store().join(A.to_string()).join(crate::index::segment(WHOLE, 0));
    // The second instance has no bytes; its checksum follows the first's 32 + 5.
    flip(&path, 40, 1);
    let mut store = place.open().unwrap();
    let taken = store.take_run(Run { epoch: A, shelf: WHOLE, first: 0, instances: 3 }).unwrap();
    let given: Vec<bool> = taken.map(|got| got.is_ok()).collect();
    assert_eq!(given, [true, false, true]);
}

#[test]
fn cut_lost_or_exchanged_material_is_noticed() {
    let place = Place::with(A, 9);
    let segment =
        |place: &Place, first| place.store().join(A.to_string()).join(crate::index::segment(WHOLE, first));
    for len in 0..fs::metadata(segment(&place, 0)).unwrap().len() {
        let copy = place.copy();
        cut(&segment(&copy, 0), len);
        let mut store = copy.open().unwrap();
        let taken = store.take_run(Run { epoch: A, shelf: WHOLE, first: 0, instances: 4 }).unwrap();
        assert!(taken.last().unwrap().is_err(), "{len}");
    }
    let copy = place.copy();
    fs::remove_file(segment(&copy, 0)).unwrap();
    assert!(take(&mut copy.open().unwrap(), A, 0, 1).is_err());
    // Instance 4 begins the second segment, and looks in its place like instance 0.
    let copy = place.copy();
    fs::copy(segment(&copy, 4), segment(&copy, 0)).unwrap();
    assert!(take(&mut copy.open().unwrap(), A, 0, 1).is_err());
}

#[test]
fn a_changed_index_is_noticed() {
    let place = Place::with(A, 9);
    let index = |place: &Place| place.store().join(A.to_string()).join(crate::index::index(WHOLE));
    for at in 0..fs::metadata(index(&place)).unwrap().len() {
        let copy = place.copy();
        flip(&index(&copy), at, 1 << (at % 8));
        let opened = copy.open();
        if at < 124 {
            assert!(matches!(opened, Err(Error::Damaged { .. })), "{at}");
            continue;
        }
        let mut store = opened.unwrap();
        let wrong = store
            .take_run(Run { epoch: A, shelf: WHOLE, first: 0, instances: 9 })
            .unwrap()
            .filter(Result::is_err);
        assert!(wrong.count() >= 1, "{at}");
    }
    let copy = place.copy();
    cut(&index(&copy), 124 + 16 * 8);
    assert!(matches!(copy.open(), Err(Error::Damaged { cause: Malformed::Length, .. })));
}
