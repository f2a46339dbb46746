//! Old copies, lost anchors, two processes, others' eyes.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::{Overview, Restored, Standing, Stock};

#[test]
fn a_restored_copy_gives_nothing_twice() {
    let place = Place::with(A, 9);
    take(&mut place.open().unwrap(), A, 0, 2).unwrap();
    let old = place.copy();
    take(&mut place.open().unwrap(), A, 2, 3).unwrap();

    fs::remove_dir_all(place.store()).unwrap();
    DirBuilder::new().mode(0o700).create(place.store()).unwrap();
    copy_folder(&old.store(), &place.store());
    let mut store = place.open().unwrap();
    assert_eq!(store.restored(), [Restored { epoch: A, shelf: WHOLE, journal: 2, anchor: 5 }]);
    assert_eq!(unused(&store, A), Some((5, 9)));
    assert_eq!(take(&mut store, A, 2, 1), Err(Error::Used { epoch: A, index: 2, next: 5 }));
    assert_eq!(take(&mut store, A, 5, 4), Ok(vec![5, 6, 7, 8]));
    drop(store);
    assert_eq!(place.open().unwrap().restored(), []);
}

#[test]
fn a_copy_beside_the_store_shares_its_anchor() {
    let place = Place::with(A, 9);
    let copy = place.root.path().join("copy");
    DirBuilder::new().mode(0o700).create(&copy).unwrap();
    copy_folder(&place.store(), &copy);
    let mut store = place.open().unwrap();
    let error = Store::open(&copy, &place.anchors(), &binding()).unwrap_err();
    assert!(matches!(&error, Error::InUse { path } if path.starts_with(place.anchors())), "{error}");
    take(&mut store, A, 0, 4).unwrap();
    drop(store);
    assert_eq!(unused(&Store::open(&copy, &place.anchors(), &binding()).unwrap(), A), Some((4, 9)));
}

#[test]
fn an_older_anchor_gives_nothing_twice() {
    let place = Place::with(A, 9);
    let old = place.copy();
    take(&mut place.open().unwrap(), A, 0, 4).unwrap();
    fs::copy(old.anchor(), place.anchor()).unwrap();
    let store = place.open().unwrap();
    assert_eq!((unused(&store, A), store.restored()), (Some((4, 9)), &[][..]));
}

#[test]
fn a_lost_anchor_is_an_error_with_a_way_out() {
    for taken in [0, 4] {
        let place = Place::with(A, 9);
        if taken > 0 {
            take(&mut place.open().unwrap(), A, 0, taken).unwrap();
        }
        fs::remove_dir_all(place.anchors()).unwrap();
        for _ in 0..2 {
            let error = place.open().unwrap_err();
            assert!(matches!(error, Error::AnchorLost { epoch: A, .. }), "{error}");
            let says = error.to_string();
            assert!(says.contains("older copy") && says.contains("delete the store"), "{says}");
        }
        let store = place.adopt().unwrap();
        assert_eq!(unused(&store, A), Some((taken, 9)));
        drop(store);
        assert_eq!(unused(&place.open().unwrap(), A), Some((taken, 9)));
    }
}

#[test]
fn an_anchor_is_not_adopted_from_a_journal_that_is_cut() {
    let place = Place::with(A, 9);
    take(&mut place.open().unwrap(), A, 0, 4).unwrap();
    fs::remove_dir_all(place.anchors()).unwrap();
    let len = fs::metadata(place.journal()).unwrap().len();
    for short in [len - 1, len - 64, 65, 64, 63, 0] {
        let copy = place.copy();
        cut(&copy.journal(), short);
        let adopted = copy.adopt().map(|store| unused(&store, A));
        // Cut after a record it looks like an older one, and only the operator can know.
        let known = short > 64 && short % 64 == 0;
        assert_eq!(adopted.is_ok(), known, "{short}: {adopted:?}");
    }
}

#[test]
fn two_processes_do_not_share_a_store() {
    let place = Place::with(A, 9);
    let store = place.open().unwrap();
    let error = place.open().unwrap_err();
    assert!(matches!(&error, Error::InUse { path } if path.ends_with("store/lock")), "{error}");
    assert!(error.to_string().contains("another process"), "{error}");
    drop(store);
    place.open().unwrap();
}

#[test]
fn a_store_for_something_else_says_what_differs() {
    let place = Place::with(A, 9);
    let wanted = Binding {
        plan: Some(PlanBinding { program: [4; 32], ..plan_binding() }),
        me: "P1".into(),
        ..binding()
    };
    for result in [
        Store::open(&place.store(), &place.anchors(), &wanted),
        Store::create(&place.store(), &place.anchors(), &wanted),
    ] {
        let says = result.unwrap_err().to_string();
        for part in ["made for something else", "whose it is", "\"P0\", wanted \"P1\"", "program", "0404"] {
            assert!(says.contains(part), "{says}");
        }
    }
    assert_eq!(unused(&place.open().unwrap(), A), Some((0, 9)));
}

#[test]
fn only_a_store_or_an_empty_folder_is_used() {
    let place = Place::new();
    assert_eq!(place.open().unwrap_err(), Error::NoStore { path: place.store() });
    DirBuilder::new().mode(0o700).create(place.store()).unwrap();
    assert_eq!(place.open().unwrap_err(), Error::NoStore { path: place.store() });
    fs::write(place.store().join("thesis.tex"), "").unwrap();
    assert_eq!(place.create().unwrap_err(), Error::NotAStore { path: place.store() });
    fs::remove_file(place.store().join("thesis.tex")).unwrap();
    place.create().unwrap();
}

#[test]
fn anchors_inside_the_store_are_refused() {
    let place = Place::new();
    let inside = place.store().join("anchors");
    let error = Store::create(&place.store(), &inside, &binding()).unwrap_err();
    assert_eq!(error, Error::AnchorInside { path: inside });
    let around = place.store().join("../store");
    assert!(matches!(Store::create(&place.store(), &around, &binding()), Err(Error::AnchorInside { .. })));
}

#[test]
fn a_store_that_others_can_see_is_refused() {
    let place = Place::with(A, 9);
    let folder = place.store().join(A.to_string());
    let material = folder.join(crate::index::segment(WHOLE, 0));
    let paths = [
        place.store(),
        folder.clone(),
        folder.join(crate::index::index(WHOLE)),
        place.journal(),
        place.anchors(),
        place.anchor(),
    ];
    for path in paths {
        let right = fs::metadata(&path).unwrap().permissions();
        for mode in [0o750, 0o604, 0o610] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode | 0o100)).unwrap();
            let error = place.open().unwrap_err();
            assert_eq!(error, Error::Exposed { path: path.clone(), mode: mode | 0o100 });
            assert!(error.to_string().contains("chmod"), "{error}");
        }
        fs::set_permissions(&path, right).unwrap();
    }
    for path in [place.store(), place.anchors(), folder] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700);
    }
    assert_eq!(fs::metadata(&material).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&material, fs::Permissions::from_mode(0o640)).unwrap();
    let mut store = place.open().unwrap();
    assert_eq!(take(&mut store, A, 0, 1), Err(Error::Exposed { path: material, mode: 0o640 }));
}

/// People see what a store has, also while it is open or while it won't open, and nothing changes by that.
#[test]
fn a_store_shows_what_it_has() {
    let place = Place::with(A, 9);
    let anchor = place.anchor();
    let look = || {
        let overview = Overview::read(&place.store(), &place.anchors()).unwrap();
        assert_eq!((overview.binding, overview.anchor), (binding(), anchor.clone()));
        let [stock] = overview.epochs[..] else { panic!("{:?}", overview.epochs) };
        assert_eq!((stock.epoch, stock.count), (A, 9));
        stock
    };
    let stock = |journal, anchor| Stock { epoch: A, shelf: WHOLE, count: 9, journal, anchor };
    assert_eq!((look(), look().standing()), (stock(Some(0), Some(0)), Standing::Unused(9)));
    let old = place.copy();
    let mut store = place.open().unwrap();
    take(&mut store, A, 0, 4).unwrap();
    assert_eq!((look(), look().standing()), (stock(Some(4), Some(4)), Standing::Unused(5)));
    drop(store);
    fs::copy(old.journal(), place.journal()).unwrap();
    for _ in 0..2 {
        assert_eq!((look(), look().standing()), (stock(Some(0), Some(4)), Standing::Restored(5)));
    }
    fs::remove_file(&anchor).unwrap();
    assert_eq!((look(), look().standing()), (stock(Some(0), None), Standing::Unanchored));
    assert!(matches!(place.open(), Err(Error::AnchorLost { .. })));
    let nowhere = place.root.path().join("nowhere");
    assert_eq!(Overview::read(&nowhere, &place.anchors()), Err(Error::NoStore { path: nowhere }));
    flip(&place.store().join("binding"), 20, 1);
    assert!(matches!(Overview::read(&place.store(), &place.anchors()), Err(Error::Damaged { .. })));
}
