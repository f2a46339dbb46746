//! What a failure lets others begin, and what is drawn after it.

use super::stored::append;
use super::*;
use std::sync::Barrier;

/// A journal that counts the checks that were begun.
#[derive(Clone, Default)]
struct Begun(Arc<AtomicUsize>);

impl Journal for Begun {
    fn begin(&mut self) -> Result<u64, Error> {
        Ok(self.0.fetch_add(1, Ordering::SeqCst) as u64)
    }

    fn pass(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn destroy(&mut self) -> Result<(), Error> {
        panic!("no check was without a verdict")
    }
}

/// Whether another lane is told or not, as by one that panics.
#[test]
fn no_check_begins_once_a_lane_has_failed() {
    for told in [true, false] {
        let begun = [(); 2].map(|()| Begun::default());
        let all = Barrier::new(4);
        let seats = begun.iter().map(|begun| CheckScope::shared(2, Box::new(begun.clone()))).collect();
        let ended = play(seats, |_, lane, session, scope| {
            let mut scope = Some(scope);
            // All are here, lanes 0 have checked, they have failed, lanes 1 have tried.
            all.wait();
            if lane == 0 {
                scope.as_ref().unwrap().turn(session).and_then(Turn::begin).unwrap().pass().unwrap();
            }
            all.wait();
            match (lane, told) {
                (0, true) => session.abort("its link is lost"),
                (0, false) => drop(scope.take()),
                _ => {}
            }
            all.wait();
            let began = (lane == 1)
                .then(|| scope.as_ref().unwrap().turn(session).and_then(Turn::begin).map(Check::pass));
            all.wait();
            began.map(Result::unwrap_err)
        });
        for error in ended.into_iter().flatten().flatten() {
            assert_eq!(matches!(error, Error::Session(_)), told, "{error}");
        }
        assert_eq!(begun.map(|begun| begun.0.load(Ordering::SeqCst)), [1, 1]);
    }
}

/// Items of a function have lengths of their own, and those of one draw the same.
#[test]
fn blocks_of_different_lengths_are_not_drawn_together() {
    let function = SupplyKind::Function(1);
    for (second, fits) in [(10, true), (20, false), (5, false), (0, false)] {
        let mut out = Vec::new();
        append(function, &[1; 10], 0..1, (0, 2), &mut out).unwrap();
        let done = append(function, &vec![2; second], 0..1, (1, 2), &mut out);
        assert_eq!(done.is_ok(), fits, "{second}");
        if fits {
            assert_eq!(out[0].bytes(), [[1; 10], [2; 10]].as_flattened());
        }
    }
}

/// What isn't provided isn't drawn either, also not as nothing.
#[test]
fn nothing_is_drawn_after_supplies_did_not_suffice() {
    let folder = Folder::new(1);
    let demand = |count| Arc::new(Demand::stock(&[(TRIPLES, count)]));
    play(folder.lanes(1, &[(TRIPLES, 1)]), |_, _, session, mut supply| {
        for provided in [false, true] {
            if provided {
                supply.provide(session, &demand(100)).unwrap();
                assert!(supply.draw(Drawer::Stock, TRIPLES, 0..1).is_ok());
            }
            assert!(supply.provide(session, &demand(1 << 20)).is_err());
            for items in [0..1, 2..100] {
                assert!(matches!(supply.draw(Drawer::Stock, TRIPLES, items), Err(Error::Supply(_))));
            }
        }
    });
}
