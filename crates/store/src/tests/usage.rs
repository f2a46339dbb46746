//! Ordinary use.

use super::*;
use crate::files::fault::{self, Fault};

#[test]
fn what_is_put_in_comes_out_once_and_in_order() {
    let place = Place::with(A, 12);
    let mut store = place.open().unwrap();
    assert_eq!(unused(&store, A), Some((0, 12)));
    assert_eq!(take(&mut store, A, 0, 3), Ok(vec![0, 1, 2]));
    assert_eq!(take(&mut store, A, 5, 1), Ok(vec![5]), "a peer was ahead");
    let used = Error::Used { epoch: A, index: 4, next: 6 };
    assert_eq!(take(&mut store, A, 4, 1), Err(used.clone()), "what was skipped is burnt");
    drop(store);
    let mut store = place.open().unwrap();
    assert_eq!(unused(&store, A), Some((6, 12)));
    assert_eq!(take(&mut store, A, 4, 1), Err(used));
    assert_eq!(take(&mut store, A, 6, 6), Ok((6..12).collect()));
    assert_eq!(unused(&store, A), None);
    assert_eq!(take(&mut store, A, 12, 1), Err(Error::Unknown { epoch: A }));
}

#[test]
fn runs_that_an_epoch_does_not_have_are_refused_and_burn_nothing() {
    let place = Place::with(A, 6);
    let mut store = place.open().unwrap();
    for (first, instances) in [(0, 0), (0, 7), (6, 1), (5, 2), (7, 0), (u64::MAX, 1), (1, u64::MAX)] {
        let error = take(&mut store, A, first, instances).unwrap_err();
        assert_eq!(error, Error::Beyond { epoch: A, first, instances, count: 6 });
    }
    assert_eq!(take(&mut store, B, 0, 1), Err(Error::Unknown { epoch: B }));
    assert_eq!(unused(&store, A), Some((0, 6)));
}

#[test]
fn what_is_used_is_not_on_disk_any_more() {
    let place = Place::with(A, 30);
    let bytes = |index| material(A, index);
    let on_disk = |index| {
        let files = fs::read_dir(place.store().join(A.to_string())).into_iter().flatten();
        let mut files = files.map(|entry| fs::read(entry.unwrap().path()).unwrap());
        files.any(|file| file.windows(bytes(index).len()).any(|window| window == bytes(index)))
    };
    let long: Vec<u64> = (0..30).filter(|index| bytes(*index).len() > 60).collect();
    assert!(long.iter().all(|index| on_disk(*index)));
    let mut store = place.open().unwrap();
    for index in 0..29 {
        take(&mut store, A, index, 1).unwrap();
        assert!(long.iter().all(|other| on_disk(*other) == (*other > index)), "{index}");
    }
    assert!(place.store().join(A.to_string()).exists());
    take(&mut store, A, 29, 1).unwrap();
    assert!(!place.store().join(A.to_string()).exists());
}

#[test]
fn a_run_that_is_not_asked_for_to_its_end_is_lost() {
    let place = Place::with(A, 12);
    let mut store = place.open().unwrap();
    let mut taken = store.take_run(Run { epoch: A, shelf: WHOLE, first: 0, instances: 9 }).unwrap();
    assert_eq!(taken.len(), 9);
    assert_eq!(&taken.next().unwrap().unwrap()[..], material(A, 0));
    drop(taken);
    assert_eq!(unused(&store, A), Some((9, 12)));
    assert_eq!(take(&mut store, A, 9, 3), Ok(vec![9, 10, 11]));
}

/// Journal and anchor are on disk before a file of material is as much as opened; and of the others' files none is.
#[test]
fn nothing_is_read_before_it_is_durably_noted_and_nothing_else_is_read() {
    let place = Place::with(A, 12);
    let mut store = place.open().unwrap();
    fault::plant(Fault::Nothing);
    take(&mut store, A, 0, 2).unwrap();
    let seen = fault::seen();
    let anchor = place.anchor().file_name().unwrap().to_str().unwrap().to_owned();
    let first: Vec<String> = ["write journal", "sync journal"].map(String::from).into();
    assert_eq!(seen[..2], first);
    assert_eq!(seen[2..4], [format!("write {anchor}"), format!("sync {anchor}")]);
    let segment = crate::index::segment(WHOLE, 0);
    assert!(
        seen[4..].iter().all(
            |operation| operation.ends_with(&segment) || operation.ends_with(&crate::index::index(WHOLE))
        )
    );
    let reads = seen.iter().filter(|operation| **operation == format!("read {segment}")).count();
    assert_eq!(reads, 2, "two instances, each with its checksum");
}

/// Zeros that aren't on disk when a file's name goes may never get there.
#[test]
fn what_is_removed_is_overwritten_on_disk_before() {
    let place = Place::with(A, 12);
    let mut store = place.open().unwrap();
    fault::plant(Fault::Nothing);
    store.destroy(A).unwrap();
    let seen = fault::seen();
    let removed = seen.iter().filter_map(|operation| operation.strip_prefix("remove "));
    let files: Vec<&str> = removed.filter(|name| !name.ends_with("spent")).collect();
    assert!(files.len() > 3 && files.contains(&crate::index::index(WHOLE).as_str()), "{files:?}");
    for name in files {
        let own: Vec<&str> = seen.iter().filter_map(|operation| operation.strip_suffix(name)).collect();
        assert!(own.ends_with(&["write ", "sync ", "remove "]), "{name}: {own:?}");
    }
}

/// An epoch is whole on disk before journal and anchor know it, and they do before it has its name.
#[test]
fn an_epoch_is_on_disk_before_it_is_there() {
    let place = Place::new();
    let mut store = place.create().unwrap();
    fault::plant(Fault::Nothing);
    write(&mut store, A, 12).unwrap();
    let seen = fault::seen();
    let at = |operation: &str| {
        seen.iter().position(|other| other == operation).unwrap_or_else(|| panic!("{operation}: {seen:?}"))
    };
    let unfinished = format!("{A}.unfinished");
    let noted = at("write journal");
    for written in seen[..noted].iter().filter_map(|operation| operation.strip_prefix("write ")) {
        let last = seen[..noted].iter().rposition(|other| *other == format!("write {written}"));
        assert!(last < Some(at(&format!("sync {written}"))), "{written}");
    }
    assert!(at(&format!("sync {unfinished}")) < noted);
    let renamed = at(&format!("rename {unfinished}"));
    assert!(noted < renamed && at("sync journal") < renamed);
    assert_eq!(seen[renamed + 1], "sync store");
}

#[test]
fn what_is_synced_is_not_there_before_it_is_finished() {
    let place = Place::new();
    let mut store = place.create().unwrap();
    let mut writer = store.writer(A).unwrap();
    for index in 0..3 {
        writer.put(WHOLE, &material(A, index)).unwrap();
    }
    writer.sync().unwrap();
    assert_eq!((writer.put(WHOLE, &[1]), writer.sync()), (Err(Error::Closed), Err(Error::Closed)));
    fault::plant(Fault::Nothing);
    assert_eq!(writer.finish(&mut store), Ok(3));
    let again = fault::seen().into_iter().find(|operation| operation.ends_with(&crate::index::index(WHOLE)));
    assert!(again.is_none_or(|operation| !operation.starts_with("write")), "all was written before");
    assert_eq!(take(&mut store, A, 0, 3), Ok(vec![0, 1, 2]));
    let mut writer = store.writer(B).unwrap();
    writer.put(WHOLE, &[1]).unwrap();
    writer.sync().unwrap();
    drop(writer);
    assert_eq!(unused(&store, B), None);
    assert_eq!(write(&mut store, B, 12), Ok(12));
    assert!(store.bytes_of(B).unwrap() > 12 * 32 && store.bytes_of(A).is_err());
}

#[test]
fn an_epoch_that_is_not_finished_is_not_there() {
    let place = Place::new();
    let mut store = place.create().unwrap();
    let mut writer = store.writer(A).unwrap();
    writer.put(WHOLE, &[7; 1000]).unwrap();
    drop(writer);
    assert_eq!(store.available(WHOLE), []);
    let left = fs::read_dir(place.store()).unwrap().count();
    assert_eq!(left, 3, "binding, journal and lock");
    // Nothing was given, so the name is still free.
    assert_eq!(write(&mut store, A, 2), Ok(2));
    assert_eq!(store.writer(A).map(drop), Err(Error::Known { epoch: A }));
    assert_eq!(store.writer(B).unwrap().finish(&mut store), Err(Error::Empty));
}

#[test]
fn epochs_are_independent_and_known_for_ever() {
    let place = Place::with(A, 3);
    let mut store = place.open().unwrap();
    write(&mut store, B, 4).unwrap();
    take(&mut store, A, 0, 3).unwrap();
    drop(store);
    let mut store = place.open().unwrap();
    assert_eq!((unused(&store, A), unused(&store, B)), (None, Some((0, 4))));
    assert_eq!(store.writer(A).map(drop), Err(Error::Known { epoch: A }));
    assert_eq!(take(&mut store, B, 0, 4), Ok(vec![0, 1, 2, 3]));
}

#[test]
fn a_destroyed_epoch_is_gone_for_good() {
    let place = Place::with(A, 5);
    let before = place.copy();
    let mut store = place.open().unwrap();
    take(&mut store, A, 0, 1).unwrap();
    store.destroy(A).unwrap();
    assert_eq!(take(&mut store, A, 1, 1), Err(Error::Unknown { epoch: A }));
    assert_eq!(store.destroy(B), Err(Error::Unknown { epoch: B }));
    assert!(!place.store().join(A.to_string()).exists());
    store.destroy(A).unwrap();
    drop(store);
    // Put back from a copy, it is erased again.
    fs::create_dir(place.store().join(A.to_string())).unwrap();
    copy_folder(&before.store().join(A.to_string()), &place.store().join(A.to_string()));
    let store = place.open().unwrap();
    assert_eq!(store.available(WHOLE), []);
    assert!(!place.store().join(A.to_string()).exists());
}

#[test]
fn a_store_takes_no_more_epochs_than_its_journal_can_hold() {
    let place = Place::new();
    let mut store = place.create().unwrap();
    let epoch = |number: u8| Epoch([number; 32]);
    let refused = (0..=u8::MAX).find(|&number| match write(&mut store, epoch(number), 1) {
        Ok(_) => store.destroy(epoch(number)) != Ok(()),
        Err(error) => error == Error::Worn,
    });
    let most = refused.unwrap();
    assert!(most > 100);
    drop(store);
    let store = place.open().unwrap();
    assert_eq!(store.writer(epoch(most)).map(drop), Err(Error::Worn));
}

#[test]
fn a_check_without_a_verdict_destroys_its_epoch() {
    let place = Place::with(A, 5);
    let mut store = place.open().unwrap();
    assert!(matches!(store.pass_check(A), Err(Error::Check { .. })));
    store.begin_check(A).unwrap();
    assert!(matches!(store.begin_check(A), Err(Error::Check { .. })), "one at a time");
    store.pass_check(A).unwrap();
    drop(store);
    let before = place.copy();
    let mut store = place.open().unwrap();
    assert_eq!(take(&mut store, A, 0, 1), Ok(vec![0]));
    store.begin_check(A).unwrap();
    drop(store);
    // An old copy doesn't know that a check began; the anchor does.
    fs::copy(before.journal(), place.journal()).unwrap();
    let mut store = place.open().unwrap();
    assert_eq!(store.available(WHOLE), []);
    assert_eq!(store.begin_check(A), Err(Error::Unknown { epoch: A }));
    assert!(!place.store().join(A.to_string()).exists());
}

#[test]
fn journal_and_anchor_stay_short() {
    let place = Place::with(A, 60);
    let mut store = place.open().unwrap();
    let longest = |place: &Place| {
        [place.journal(), place.anchor()].map(|path| fs::metadata(path).unwrap().len()).into_iter().max()
    };
    for index in 0..60 {
        take(&mut store, A, index, 1).unwrap();
        assert!(longest(&place) <= Some(64 * 11));
    }
    drop(store);
    assert_eq!(place.open().unwrap().available(WHOLE), []);
    assert_eq!(longest(&place), Some(64 * 2), "one record for the epoch");
}

#[test]
fn nothing_secret_is_printed() {
    let place = Place::new();
    let mut store = place.create().unwrap();
    let mut writer = store.writer(A).unwrap();
    writer.put(WHOLE, &[0x5a; 100]).unwrap();
    let written = format!("{writer:?}");
    writer.finish(&mut store).unwrap();
    let stored = format!("{store:?}");
    let mut taken = store.take_run(Run { epoch: A, shelf: WHOLE, first: 0, instances: 1 }).unwrap();
    let printed = format!("{written} {stored} {:?} {taken:?}", taken.next());
    assert!(printed.contains("Material(100 bytes)"));
    // Longer than what the random name of a temporary folder could hold.
    for secret in ["90, 90, 90, 90", "5a5a5a5a", "ZZZZZZZZ"] {
        assert!(!printed.contains(secret), "{printed}");
    }
}
