//! A fault at every single operation on files.

use std::collections::BTreeSet;

use super::*;
use crate::files::fault::{self, Fault};

const C: Epoch = Epoch([0xcc; 32]);

/// What somebody outside of the store knows.
#[derive(Default)]
struct Record {
    given: BTreeSet<(Epoch, u64)>,
    finished: BTreeSet<Epoch>,
    destroyed: BTreeSet<Epoch>,
}

impl Record {
    fn take(&mut self, store: &mut Store, epoch: Epoch, first: u64, instances: u64) -> Result<(), Error> {
        let mut failed = Ok(());
        for (index, got) in (first..).zip(store.take_run(Run { epoch, shelf: WHOLE, first, instances })?) {
            match got {
                Ok(got) => {
                    assert_eq!(&got[..], material(epoch, index), "{index} of {epoch}");
                    assert!(self.given.insert((epoch, index)), "{index} of {epoch} is given twice");
                }
                Err(error) => failed = Err(error),
            }
        }
        failed
    }

    fn write(&mut self, store: &mut Store, epoch: Epoch, count: u64) -> Result<(), Error> {
        write(store, epoch, count)?;
        self.finished.insert(epoch);
        Ok(())
    }

    fn destroy(&mut self, store: &mut Store, epoch: Epoch) -> Result<(), Error> {
        store.destroy(epoch)?;
        self.destroyed.insert(epoch);
        Ok(())
    }

    /// Some of everything. If `stubborn`, it goes on after an error as long as there is a store.
    fn life(&mut self, place: &Place, stubborn: bool) -> Result<(), Error> {
        let goes_on = |result: Result<(), Error>| if stubborn { Ok(()) } else { result };
        let mut store = place.create()?;
        goes_on(self.write(&mut store, A, 9))?;
        goes_on(self.take(&mut store, A, 0, 2))?;
        goes_on(self.write(&mut store, B, 3))?;
        goes_on(self.write(&mut store, C, 7))?;
        goes_on(self.take(&mut store, A, 4, 1))?;
        drop(store);
        let mut store = place.open()?;
        goes_on(self.take(&mut store, C, 0, 7))?;
        goes_on(self.destroy(&mut store, B))?;
        for index in 5..8 {
            goes_on(self.take(&mut store, A, index, 1))?;
        }
        Ok(())
    }

    /// Takes all that is left, after a restart.
    fn rest(&mut self, place: &Place) {
        let mut store = place.create().expect("a crash leaves a store that opens");
        assert_eq!(store.restored(), [], "a crash doesn't look like an old copy");
        for own in store.available(WHOLE) {
            assert!(!self.destroyed.contains(&own.epoch));
            assert_eq!(
                own.count,
                if own.epoch == A {
                    9
                } else if own.epoch == B {
                    3
                } else {
                    7
                }
            );
            self.take(&mut store, own.epoch, own.next, own.count - own.next).expect("it is whole");
        }
        let folders = fs::read_dir(place.store()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: BTreeSet<String> = folders.map(|name| name.into_string().unwrap()).collect();
        assert_eq!(left, ["binding", "journal", "lock"].map(String::from).into(), "all is erased");
    }
}

fn operations() -> usize {
    fault::plant(Fault::Nothing);
    let place = Place::new();
    let mut record = Record::default();
    record.life(&place, false).unwrap();
    let operations = fault::seen().len();
    assert_eq!(record.given.len(), 2 + 1 + 7 + 3);
    record.rest(&place);
    assert_eq!(record.given.len(), 9 + 7 - 2, "but what was skipped");
    assert!(operations > 300, "{operations}");
    operations
}

#[test]
fn a_process_that_dies_before_any_operation_on_files_leaves_material_to_be_used_once_or_never() {
    for first in 0..operations() {
        let place = Place::new();
        let mut record = Record::default();
        fault::plant(Fault::From(first));
        let ended = record.life(&place, false);
        fault::plant(Fault::Nothing);
        // What fails as something is dropped isn't heard of: it is only erased later.
        assert!(ended.is_err() || record.finished.len() == 3);
        record.rest(&place);
        // The last instance of A is never taken by the life, so if A was finished it is there.
        assert!(!record.finished.contains(&A) || record.given.contains(&(A, 8)), "fault {first}");
    }
}

#[test]
fn an_operation_that_fails_once_leaves_material_to_be_used_once_or_never() {
    for number in 0..operations() {
        let place = Place::new();
        let mut record = Record::default();
        fault::plant(Fault::Only(number));
        let _ = record.life(&place, true);
        fault::plant(Fault::Nothing);
        record.rest(&place);
    }
}

/// Whatever fails in noting, nothing of that run is given, and nothing after it.
#[test]
fn nothing_is_given_that_could_not_be_noted() {
    for number in 0..4 {
        let place = Place::with(A, 9);
        let mut store = place.open().unwrap();
        fault::plant(Fault::Only(number));
        let error =
            store.take_run(Run { epoch: A, shelf: WHOLE, first: 0, instances: 2 }).map(drop).unwrap_err();
        assert!(matches!(error, Error::File { .. }), "{error}");
        assert_eq!(take(&mut store, A, 2, 1), Err(Error::Closed));
        assert_eq!(store.begin_check(A), Err(Error::Closed));
        fault::plant(Fault::Nothing);
        assert_eq!(store.writer(B).map(drop), Err(Error::Closed));
        // Destroying needs no journal that works.
        assert_eq!(store.destroy(A), Err(Error::Closed));
        assert!(!place.store().join(A.to_string()).exists());
    }
}
