//! Supplies: epochs of several shelves under one key.

use std::collections::BTreeSet;

use super::*;
use crate::files::fault::{self, Fault};
use crate::planted::{Mistake, plant};
use crate::{Available, Overview, Reserved, Restored, Standing};

const TRIPLES: u64 = 3;
const BITS: u64 = u64::MAX;
const KEY: [u8; 16] = [0x4b; 16];

fn supply() -> Binding {
    Binding { plan: None, clients: Vec::new(), ..binding() }
}

impl Place {
    fn create_supply(&self) -> Result<Store, Error> {
        Store::create(&self.store(), &self.anchors(), &supply())
    }

    /// A place with an epoch of so many instances on each of two shelves.
    fn with_supply(epoch: Epoch, counts: [u64; 2]) -> Self {
        let place = Self::new();
        write_supply(&mut place.create_supply().unwrap(), epoch, counts).unwrap();
        place
    }
}

/// What is put in: no two instances have the same, on whichever shelf.
fn item(shelf: u64, index: u64) -> Vec<u8> {
    material(Epoch([shelf as u8; 32]), index)
}

fn write_supply(store: &mut Store, epoch: Epoch, counts: [u64; 2]) -> Result<u64, Error> {
    let mut writer = store.writer(epoch)?;
    writer.put(WHOLE, &KEY)?;
    for index in 0..counts[0].max(counts[1]) {
        for (shelf, count) in [TRIPLES, BITS].into_iter().zip(counts) {
            if index < count {
                writer.put(shelf, &item(shelf, index))?;
            }
        }
    }
    writer.finish(store)
}

fn run(epoch: Epoch, shelf: u64, first: u64, instances: u64) -> Run {
    Run { epoch, shelf, first, instances }
}

fn next(store: &Store, shelf: u64) -> Vec<u64> {
    store.available(shelf).into_iter().map(|own| own.next).collect()
}

#[test]
fn shelves_are_used_up_one_by_one_under_one_key() {
    let place = Place::with_supply(A, [12, 5]);
    let mut store = place.create_supply().unwrap();
    let mut triples = store.reserve(run(A, TRIPLES, 0, 9)).unwrap();
    assert_eq!((next(&store, TRIPLES), next(&store, BITS)), (vec![9], vec![0]));
    let mut bits = store.reserve(run(A, BITS, 1, 4)).unwrap();
    assert_eq!((next(&store, TRIPLES), next(&store, BITS)), (vec![9], vec![]));
    // In any order, each once.
    for index in [4, 0, 8, 5, 3] {
        assert_eq!(
            &store.read(&mut triples, index..index + 1).unwrap()[0][..],
            item(TRIPLES, index),
            "{index}"
        );
        assert_eq!(&store.key(A).unwrap()[..], KEY);
    }
    for index in [4, 9, u64::MAX - 1] {
        assert!(matches!(store.read(&mut triples, index..index + 1), Err(Error::Read { .. })), "{index}");
    }
    assert_eq!(&store.read(&mut bits, 4..5).unwrap()[0][..], item(BITS, 4));
    for (shelf, first) in [(TRIPLES, 3), (BITS, 0)] {
        assert!(matches!(store.reserve(run(A, shelf, first, 1)), Err(Error::Used { .. })));
    }
    for (shelf, first) in [(WHOLE, 0), (5, 0)] {
        assert!(
            matches!(store.reserve(run(A, shelf, first, 1)), Err(Error::Unknown { .. })),
            "the key is none"
        );
    }
    store.put_away(triples).unwrap();
    store.put_away(bits).unwrap();
    assert_eq!(next(&store, TRIPLES), [9]);
    let folder = place.store().join(A.to_string());
    let segments = |shelf| {
        let names =
            fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(&format!("material-{shelf:016x}"))).count()
    };
    assert_eq!((segments(BITS), segments(WHOLE)), (0, 1), "what is used up is gone");
    let mut rest = store.reserve(run(A, TRIPLES, 9, 3)).unwrap();
    for index in 9..12 {
        assert_eq!(&store.read(&mut rest, index..index + 1).unwrap()[0][..], item(TRIPLES, index));
    }
    assert!(folder.exists());
    store.put_away(rest).unwrap();
    assert!(!folder.exists() && store.key(A).is_err(), "the key goes last");
}

#[test]
fn what_one_has_read_is_overwritten_and_what_others_reserved_is_not() {
    let place = Place::with_supply(A, [40, 1]);
    let mut store = place.create_supply().unwrap();
    let mut lanes: Vec<Reserved> =
        (0..4).map(|lane| store.reserve(run(A, TRIPLES, 10 * lane, 10)).unwrap()).collect();
    // Lanes take turns, and one reads nothing.
    for index in (0..10).rev() {
        for (lane, reserved) in (0..3).zip(&mut lanes) {
            let at = 10 * lane + index;
            assert_eq!(&store.read(reserved, at..at + 1).unwrap()[0][..], item(TRIPLES, at), "{at}");
            assert_eq!(store.read(reserved, at..at + 1).unwrap_err(), Error::Read { epoch: A, index: at });
        }
        if index == 5 {
            store.put_away(lanes.pop().unwrap()).unwrap();
        }
    }
    for reserved in lanes {
        store.put_away(reserved).unwrap();
    }
    let left = fs::read_dir(place.store().join(A.to_string())).unwrap();
    let left = left.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| name.starts_with("material-")).count(), 2, "the key and a bit");
}

/// Who ends first leaves what another one has reserved of the last, and the key.
#[test]
fn what_is_reserved_stays_until_it_is_put_away() {
    let place = Place::with_supply(A, [4, 1]);
    let mut store = place.create_supply().unwrap();
    let reserve =
        |store: &mut Store, shelf, first, count| store.reserve(run(A, shelf, first, count)).unwrap();
    let (bits, first) = (reserve(&mut store, BITS, 0, 1), reserve(&mut store, TRIPLES, 0, 2));
    let mut last = reserve(&mut store, TRIPLES, 2, 2);
    for reserved in [bits, first] {
        store.put_away(reserved).unwrap();
        assert_eq!(&store.key(A).unwrap()[..], KEY);
    }
    for index in 2..4 {
        assert_eq!(&store.read(&mut last, index..index + 1).unwrap()[0][..], item(TRIPLES, index));
    }
    store.put_away(last).unwrap();
    assert!(!place.store().join(A.to_string()).exists());
}

/// Segments end where their last instance does, also if the one after it isn't there any more.
#[test]
fn the_last_of_a_segment_is_overwritten_after_those_of_the_next_one() {
    let place = Place::with_supply(A, [12, 1]);
    let segment = |first| place.store().join(A.to_string()).join(crate::index::segment(TRIPLES, first));
    let mut store = place.create_supply().unwrap();
    let mut reserved = store.reserve(run(A, TRIPLES, 0, 9)).unwrap();
    assert!(segment(4).exists() && segment(9).exists());
    for index in (4..9).chain([3]) {
        assert_eq!(&store.read(&mut reserved, index..index + 1).unwrap()[0][..], item(TRIPLES, index));
    }
    assert!(!segment(4).exists());
    let bytes = fs::read(segment(0)).unwrap();
    let is_there = |index| bytes.windows(item(TRIPLES, index).len()).any(|part| part == item(TRIPLES, index));
    assert_eq!((is_there(2), is_there(3)), (true, false));
}

#[test]
fn a_restored_copy_of_a_supply_gives_nothing_twice() {
    let place = Place::with_supply(A, [9, 9]);
    let old = place.copy();
    let mut store = place.create_supply().unwrap();
    drop(store.reserve(run(A, BITS, 0, 4)).unwrap());
    drop(store);
    fs::remove_dir_all(place.store()).unwrap();
    DirBuilder::new().mode(0o700).create(place.store()).unwrap();
    copy_folder(&old.store(), &place.store());
    let stocks = Overview::read(&place.store(), &place.anchors()).unwrap().epochs;
    let told: Vec<_> = stocks.iter().map(|stock| (stock.shelf, stock.journal, stock.anchor)).collect();
    assert_eq!(told, [(TRIPLES, Some(0), Some(0)), (BITS, Some(0), Some(4))]);
    let mut store = place.create_supply().unwrap();
    assert_eq!(store.restored(), [Restored { epoch: A, shelf: BITS, journal: 0, anchor: 4 }]);
    assert_eq!((next(&store, TRIPLES), next(&store, BITS)), (vec![0], vec![4]));
    assert!(matches!(store.reserve(run(A, BITS, 3, 1)), Err(Error::Used { .. })));
}

#[test]
fn a_copy_does_not_know_of_a_check_that_its_anchor_saw_begin() {
    open_an_old_journal();
}

fn open_an_old_journal() {
    let place = Place::with_supply(A, [9, 9]);
    let old = place.copy();
    let mut store = place.create_supply().unwrap();
    let numbers = [(); 3].map(|()| {
        let number = store.begin_check(A).unwrap();
        store.pass_check(A).unwrap();
        number
    });
    assert_eq!((numbers, store.begin_check(A)), ([0, 1, 2], Ok(3)));
    drop(store);
    fs::copy(old.journal(), place.journal()).unwrap();
    let store = place.create_supply().unwrap();
    assert!(store.key(A).is_err() && store.available(TRIPLES).is_empty(), "the copy knows of a key");
    assert!(!place.store().join(A.to_string()).exists());
}

#[test]
fn an_epoch_with_a_check_under_way_is_not_shown_as_unused() {
    let place = Place::with_supply(A, [9, 9]);
    let shown = || {
        let stocks = Overview::read(&place.store(), &place.anchors()).unwrap().epochs;
        stocks.iter().map(crate::overview::Stock::standing).collect::<Vec<_>>()
    };
    let mut store = place.create_supply().unwrap();
    for unused in [9, 0, 9] {
        assert_eq!(shown(), [Standing::Unused(unused); 2]);
        if unused > 0 {
            store.begin_check(A).unwrap();
        } else {
            store.pass_check(A).unwrap();
        }
    }
    drop(store);
    assert_eq!(shown(), [Standing::Unused(0); 2]);
    drop(place.create_supply().unwrap());
    assert_eq!(shown(), []);
}

#[test]
fn ranges_are_read_across_segments_and_lost_together() {
    let place = Place::with_supply(A, [40, 1]);
    let folder = place.store().join(A.to_string());
    let segments: Vec<_> = {
        let names = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
        let own = format!("material-{TRIPLES:016x}");
        names.filter(|path| path.to_string_lossy().contains(&own)).collect()
    };
    assert!(segments.len() > 3, "ranges are to cross some");
    let items = |range: std::ops::Range<u64>| range.map(|index| item(TRIPLES, index)).collect::<Vec<_>>();
    let bytes =
        |read: Vec<crate::Material>| read.iter().map(|material| material.to_vec()).collect::<Vec<_>>();
    let mut store = place.create_supply().unwrap();
    let mut reserved = store.reserve(run(A, TRIPLES, 0, 40)).unwrap();
    assert_eq!(bytes(store.read(&mut reserved, 3..17).unwrap()), items(3..17));
    assert_eq!(bytes(store.read(&mut reserved, 5..5).unwrap()), items(5..5));
    // None of a range is given again, though others of it weren't.
    for range in [0..4, 16..18, 39..41, 50..51] {
        assert!(matches!(store.read(&mut reserved, range.clone()), Err(Error::Read { .. })), "{range:?}");
    }
    // One damaged item takes those that are read with it along.
    let last = segments.iter().max().unwrap();
    let mut damaged = fs::read(last).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(last, damaged).unwrap();
    assert!(matches!(store.read(&mut reserved, 20..40), Err(Error::Damaged { .. })));
    assert!(matches!(store.read(&mut reserved, 20..21), Err(Error::Read { .. })));
    assert_eq!(bytes(store.read(&mut reserved, 17..20).unwrap()), items(17..20));
    assert_eq!(bytes(store.read(&mut reserved, 0..3).unwrap()), items(0..3));
    store.put_away(reserved).unwrap();
    assert!(!segments.iter().any(|path| path.exists()), "what was lost is overwritten, too");
}

/// An index that says something wrong of one instance costs those that are read with it, and these are overwritten where they
/// are nevertheless.
#[test]
fn a_wrong_place_in_the_index_leaves_no_other_instance_on_disk() {
    // Long enough to be known again.
    let long = |index: &u64| item(TRIPLES, *index).len() > 30;
    let mut seen = 0;
    for wrong in 0..8 {
        for entry in [[0x7f; 16], [0; 16], [[1; 8], [0; 8]].concat().try_into().unwrap()] {
            let place = Place::with_supply(A, [12, 1]);
            let folder = place.store().join(A.to_string());
            let index = folder.join(crate::index::index(TRIPLES));
            let mut bytes = fs::read(&index).unwrap();
            let at = crate::index::HEADER + crate::index::ENTRY * wrong;
            bytes[at..][..entry.len()].copy_from_slice(&entry);
            fs::write(&index, bytes).unwrap();
            let mut store = place.create_supply().unwrap();
            let mut reserved = store.reserve(run(A, TRIPLES, 0, 8)).unwrap();
            assert!(store.read(&mut reserved, 0..8).is_err(), "{wrong}: {entry:?}");
            store.put_away(reserved).unwrap();
            let files = fs::read_dir(&folder).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap());
            let left: Vec<u8> = files.flatten().collect();
            for index in (0..8).filter(|index| *index != wrong as u64).filter(long) {
                let own = item(TRIPLES, index);
                assert!(!left.windows(own.len()).any(|part| part == own), "{index} by {wrong}: {entry:?}");
                seen += 1;
            }
        }
    }
    assert!(seen > 0);
}

#[test]
fn a_shelf_is_not_another_one() {
    let place = Place::with_supply(A, [3, 3]);
    let folder = place.store().join(A.to_string());
    let exchange = |one: String, other: String| {
        let copy = place.copy();
        let folder = copy.store().join(A.to_string());
        fs::copy(place.store().join(A.to_string()).join(one), folder.join(other)).unwrap();
        copy
    };
    let copy = exchange(crate::index::index(TRIPLES), crate::index::index(BITS));
    assert!(matches!(copy.create_supply(), Err(Error::Damaged { .. })));
    let copy = exchange(crate::index::segment(TRIPLES, 0), crate::index::segment(BITS, 0));
    let mut store = copy.create_supply().unwrap();
    let mut reserved = store.reserve(run(A, BITS, 0, 3)).unwrap();
    assert!(matches!(store.read(&mut reserved, 0..1), Err(Error::Damaged { .. })));
    // Without an index a shelf isn't there, and an epoch without any is damaged.
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    for path in names.iter().filter(|path| path.to_string_lossy().contains("index-")) {
        fs::remove_file(path).unwrap();
    }
    assert!(matches!(place.create_supply(), Err(Error::Damaged { .. })));
}

/// What somebody outside of the store knows.
#[derive(Default)]
struct Record {
    given: BTreeSet<(u64, u64)>,
    /// The number of a check that was begun and not seen to pass.
    checking: Option<u64>,
}

impl Record {
    fn take(&mut self, store: &mut Store, first: u64, instances: u64) -> Result<(), Error> {
        let mut reserved = Vec::new();
        for shelf in [TRIPLES, BITS] {
            reserved.push(store.reserve(run(A, shelf, first, instances))?);
        }
        let number = store.begin_check(A)?;
        self.checking = Some(number);
        for index in (first..first + instances).rev() {
            for reserved in &mut reserved {
                let got = store.read(reserved, index..index + 1)?;
                let shelf = reserved.run().shelf;
                assert_eq!(&got[0][..], item(shelf, index));
                assert!(self.given.insert((shelf, index)), "{index} of {shelf} is given twice");
            }
        }
        store.pass_check(A)?;
        self.checking = None;
        reserved.into_iter().try_for_each(|reserved| store.put_away(reserved))
    }

    fn life(&mut self, place: &Place) -> Result<(), Error> {
        let mut store = place.create_supply()?;
        write_supply(&mut store, A, [9, 9])?;
        self.take(&mut store, 0, 3)?;
        self.take(&mut store, 4, 1)?;
        drop(store);
        self.take(&mut place.create_supply()?, 5, 3)
    }
}

/// A process that dies before any operation on files leaves supplies to be used once or never, and a check without a
/// verdict leaves none.
#[test]
fn supplies_are_used_once_or_never_wherever_a_process_dies() {
    die_everywhere();
}

#[test]
#[should_panic(expected = "a check has the number of one that somebody saw begin")]
fn a_check_that_is_not_noted_has_its_number_again() {
    let _planted = plant(Mistake::ChecksUnnoted);
    die_everywhere();
}

#[test]
#[should_panic(expected = "a check is under way")]
fn a_check_without_a_verdict_would_leave_its_key() {
    let _planted = plant(Mistake::PendingKept);
    die_everywhere();
}

#[test]
#[should_panic(expected = "the copy knows of a key")]
fn a_copy_would_have_a_check_again_that_no_anchor_saw_begin() {
    let _planted = plant(Mistake::AnchorUntold);
    open_an_old_journal();
}

fn die_everywhere() {
    fault::plant(Fault::Nothing);
    Record::default().life(&Place::new()).unwrap();
    let operations = fault::seen().len();
    assert!(operations > 200, "{operations}");
    let mut pending = 0;
    for fault in (0..operations).flat_map(|number| [Fault::From(number), Fault::Only(number)]) {
        let (place, mut record) = (Place::new(), Record::default());
        fault::plant(fault);
        let _ = record.life(&place);
        fault::plant(Fault::Nothing);
        let mut store = place.create_supply().expect("a crash leaves a store that opens");
        assert_eq!(store.restored(), []);
        let left = [TRIPLES, BITS].map(|shelf| store.available(shelf).first().copied());
        if let (Some(number), true) = (record.checking, left.iter().any(Option::is_some)) {
            // The word that it passed is durable, and was given to nobody.
            let next = store.begin_check(A).unwrap();
            assert!(next > number, "a check has the number of one that somebody saw begin: {fault:?}");
            store.pass_check(A).unwrap();
        }
        pending += usize::from(record.checking.is_some() && left == [None; 2]);
        for (shelf, own) in [TRIPLES, BITS].into_iter().zip(left) {
            let Some(own) = own else { continue };
            for (index, got) in
                (own.next..).zip(store.take_run(run(A, shelf, own.next, own.count - own.next)).unwrap())
            {
                assert_eq!(&got.unwrap()[..], item(shelf, index));
                assert!(record.given.insert((shelf, index)), "{index} of {shelf} is given twice: {fault:?}");
            }
        }
        assert!(!place.store().join(A.to_string()).exists(), "all is erased");
    }
    assert!(pending > 20, "{pending} checks had no verdict");
}

/// What is kept under it would else be lost with the last that anybody draws.
#[test]
fn a_key_that_is_kept_outlasts_its_epochs_supplies() {
    let place = Place::with_supply(A, [3, 2]);
    let mut store = place.create_supply().unwrap();
    write_supply(&mut store, B, [1, 1]).unwrap();
    assert!(store.kept_keys().is_empty());
    let kept = [Available { epoch: A, next: 0, count: 1 }];
    for _ in 0..2 {
        store.keep_key(A).unwrap();
        assert_eq!(store.kept_keys(), kept);
    }
    for (epoch, shelf, count) in [(A, TRIPLES, 3), (A, BITS, 2), (B, TRIPLES, 1), (B, BITS, 1)] {
        let all = store.reserve(run(epoch, shelf, 0, count)).unwrap();
        store.put_away(all).unwrap();
    }
    for _ in 0..2 {
        assert!(store.available(TRIPLES).is_empty() && store.available(BITS).is_empty());
        assert_eq!(&store.key(A).unwrap()[..], KEY);
        assert_eq!((store.kept_keys(), store.checked_keys().len()), (kept.to_vec(), 1));
        assert!(store.key(B).is_err() && matches!(store.keep_key(B), Err(Error::Unknown { .. })));
        drop(store);
        store = place.create_supply().unwrap();
    }
    store.destroy(A).unwrap();
    assert!(store.key(A).is_err() && store.kept_keys().is_empty(), "a failed check destroys it nonetheless");
    drop(store);
    let file = place.store().join("lasting");
    fs::write(&file, [0; 33]).unwrap();
    assert!(matches!(place.create_supply(), Err(Error::Damaged { path, .. }) if path == file));
}

#[test]
fn what_is_retired_is_no_part_of_the_store_before_it_is_erased() {
    for erases in [false, true] {
        let place = Place::with_supply(A, [12, 5]);
        let mut store = place.create_supply().unwrap();
        let spent = store.retire(A).unwrap();
        assert!(store.key(A).is_err() && store.available(TRIPLES).is_empty());
        let left = place.store().join(format!("{A}.spent"));
        assert!(left.exists() && !place.store().join(A.to_string()).exists());
        // Another one comes meanwhile.
        write_supply(&mut store, B, [1, 1]).unwrap();
        if erases {
            spent.erase().unwrap();
            assert!(!left.exists());
        }
        drop(store);
        let store = place.create_supply().unwrap();
        assert!(store.key(A).is_err() && !left.exists() && store.key(B).is_ok());
    }
}

#[test]
fn a_destroyed_epoch_takes_one_record() {
    let place = Place::with_supply(A, [12, 5]);
    let mut store = place.create_supply().unwrap();
    for (shelf, instances) in [(TRIPLES, 9), (BITS, 2)] {
        let reserved = store.reserve(run(A, shelf, 0, instances)).unwrap();
        store.put_away(reserved).unwrap();
    }
    store.begin_check(A).unwrap();
    store.pass_check(A).unwrap();
    let before = place.copy();
    store.destroy(A).unwrap();
    drop(store);
    for copy in [None, Some(before)] {
        if let Some(copy) = &copy {
            fs::copy(copy.journal(), place.journal()).unwrap();
        }
        let store = place.create_supply().unwrap();
        for path in [place.journal(), place.anchor()] {
            assert_eq!(fs::metadata(path).unwrap().len(), 64 * 2);
        }
        assert_eq!(store.restored(), []);
        assert_eq!(store.writer(A).map(drop), Err(Error::Known { epoch: A }));
    }
}
