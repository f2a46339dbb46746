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

/// Whatever a protocol adds to items it adds to all that are drawn together.
#[test]
fn blocks_of_different_lengths_are_not_drawn_together() {
    let masks = SupplyKind::Masks { words: 1 };
    for (second, fits) in [(24, true), (48, false), (12, false), (0, false)] {
        let mut out = Vec::new();
        append(masks, &[1; 24], 0..1, (0, 2), &mut out).unwrap();
        let done = append(masks, &vec![2; second], 0..1, (1, 2), &mut out);
        assert_eq!(done.is_ok(), fits, "{second}");
        if fits {
            assert_eq!(out[0].bytes(), [[1; 8], [2; 8]].as_flattened());
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

/// Else its check would not fit the others', and look as if somebody deviated.
#[test]
fn who_knows_of_fewer_checks_of_a_given_key_is_named_also_if_nothing_is_drawn() {
    let (folder, epoch) = (Folder::new(1), Epoch([0; 32]));
    let mut ahead = folder.open(0);
    ahead.begin_check(epoch).unwrap();
    ahead.pass_check(epoch).unwrap();
    drop(ahead);
    let ended = play(folder.lanes(1, &[]), |_, _, session, mut supply| {
        supply.under(epoch.0).unwrap();
        supply.provide(session, &Arc::new(Demand::stock(&[]))).unwrap_err()
    });
    for error in ended.into_iter().flatten() {
        let says = error.to_string();
        assert!(matches!(error, Error::NoMaterial(NoAgreement::SetBack { .. })), "{says}");
        assert!(says.contains("the store of P1 was set back"), "{says}");
    }
}

/// Values that are kept would else go with the supplies that any run may draw.
#[test]
fn supplies_of_a_key_with_values_are_drawn_last_and_it_stays() {
    let folder = Folder::new(2);
    let demand = |count| Arc::new(Demand::stock(&[(TRIPLES, count)]));
    let draw = |keeps: bool, count: u64| {
        let ended = play(folder.lanes(1, &[(TRIPLES, count)]), |_, _, session, mut supply| {
            if keeps {
                supply.keeps();
            }
            let provided = supply.provide(session, &demand(count));
            provided.ok().and_then(|()| supply.key_name())
        });
        let keys: Vec<_> = ended.into_iter().flatten().collect();
        assert_eq!(keys[0], keys[1]);
        keys[0].map(|key| key[0])
    };
    assert_eq!(draw(true, 64), Some(0));
    // Less is left of the first; and what is kept later is under its key, too.
    assert_eq!([draw(false, 64), draw(false, 64), draw(true, 64)], [Some(1), Some(1), Some(0)]);
    assert_eq!([draw(false, 69_000), draw(false, 69_000), draw(false, 69_000)], [Some(1), Some(0), None]);
    let all = Demand::stock(&MADE).blocks();
    for me in 0..2 {
        let mut store = folder.open(me);
        for (kind, blocks) in &all {
            let Some(own) = store.available(kind.code()).into_iter().find(|own| own.epoch == Epoch([0; 32]))
            else {
                panic!("{kind} {blocks}");
            };
            let (epoch, shelf, first) = (own.epoch, kind.code(), own.next);
            let rest = tacit_store::Run { epoch, shelf, first, instances: own.count - first };
            let rest = store.reserve(rest).unwrap();
            store.put_away(rest).unwrap();
        }
        drop(store);
        assert_eq!(&folder.open(me).key(Epoch([0; 32])).unwrap()[..], KEY);
    }
    play(folder.lanes(1, &[]), |_, _, session, mut supply| {
        supply.under([0; 32]).unwrap();
        supply.provide(session, &Arc::new(Demand::stock(&[]))).unwrap();
        assert_eq!(supply.key().unwrap().into_buffer().bytes(), KEY);
    });
}

/// While a run draws, which may have agreed on any epoch, none goes; afterwards those that are named do, unless values that stay
/// are under their keys.
#[test]
fn epochs_are_discarded_once_no_run_draws() {
    let folder = Folder::new(3);
    let stock = Stock::new(folder.open(0));
    let [gone, kept, other] = [0, 1, 2].map(|number| Epoch([number; 32]));
    stock.with(|store| store.keep_key(kept)).unwrap();
    let named = [gone, kept, Epoch([9; 32])];
    let left = |stock: &Stock| -> Vec<Epoch> {
        stock.with(|store| store.available(TRIPLES.code())).iter().map(|own| own.epoch).collect()
    };
    let (run, supplies) = stock.lanes(1, Blocks::new()).unwrap();
    assert_eq!(stock.discard(&named), Ok(false));
    drop(run);
    assert_eq!((stock.discard(&named), left(&stock)), (Ok(false), vec![gone, kept, other]));
    drop(supplies);
    assert_eq!((stock.discard(&named), left(&stock)), (Ok(true), vec![kept, other]));
    assert_eq!(stock.discard(&named), Ok(true));
    assert!(stock.with(|store| store.key(gone)).is_err());
}
