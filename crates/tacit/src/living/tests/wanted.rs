//! Runs that parties ask for themselves, with inputs, kept values and public inputs of each run.

use super::*;
use crate::{Asker, State, Wanted};
use std::sync::atomic::AtomicBool;
use tacit_circuit::arith::{self, Style};
use tacit_program::Uses;

pub(super) const BITS: usize = 8;

/// Keeps what alice gives.
pub(super) fn keeper() -> Arc<Compiled> {
    let mut build = Builder::new();
    let key = build.input("alice", "key", Dtype::Bool, &[BITS], None).unwrap();
    build.keep(key, "new", Uses::default()).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

/// The product of a kept number and a public one.
pub(super) fn reader() -> Arc<Compiled> {
    let circuit = Arc::new(arith::circuits::multiply(Style::Small, BITS as u32));
    let mut build = Builder::new();
    let key = build.kept("key", Dtype::Bool, &[BITS], None).unwrap();
    let known = build.known("factor", Dtype::Bool, &[BITS], None).unwrap();
    let product = build.circuit(&circuit, &[key, known]).unwrap()[0];
    build.reveal(product, Recipient::All).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

pub(super) fn bits(number: u8) -> Value {
    Value { shape: vec![BITS], data: Data::Bool((0..BITS).map(|at| number >> at & 1 == 1).collect()) }
}

/// What a party serves that is wanted alone, so many runs at once.
pub(super) fn serving(at_once: u16) -> Serving {
    let holdings = Holdings { store: None, state: Some((State::new(), crate::Fill::new())) };
    Serving { holdings, ..Serving::new("replicated-malicious", at_once) }
}

/// Three parties that serve what is wanted alone, with what asks each.
pub(super) fn askers_of(house: &House, keeper: &Arc<Compiled>) -> ([Party; 3], [Asker; 3]) {
    let parties = [0, 1, 2].map(|number| {
        let mut server = Server::open(&house.party(number), Vec::new(), serving(3)).unwrap();
        server.expect(keeper).unwrap();
        let asker = server.asker();
        (Party::serves(server), asker)
    });
    let askers = parties.each_ref().map(|(_, asker)| asker.clone());
    (parties.map(|(party, _)| party), askers)
}

/// What each party that wants a run makes of it.
pub(super) fn want(
    askers: &[Asker],
    compiled: &Arc<Compiled>,
    tag: &str,
    fill: &crate::Fill,
    inputs: impl Fn(usize) -> Vec<Option<Value>>,
    within: Duration,
) -> Vec<Result<Run, Error>> {
    thread::scope(|scope| {
        let run = |(me, asker): (usize, &Asker)| {
            let (compiled, tag, fill) = (compiled.clone(), tag.to_owned(), fill.clone());
            let (inputs, asker) = (inputs(me), asker.clone());
            scope.spawn(move || asker.run(Wanted { compiled, tag, inputs, fill, within }))
        };
        let threads: Vec<_> = askers.iter().enumerate().map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Has alice's key kept under a name.
pub(super) fn enrol_key(house: &House, askers: &[Asker], keeper: &Arc<Compiled>, name: &str, key: u8) {
    let config = house.config("alice");
    let (program, tag) = (keeper.clone(), format!("order {name}"));
    let alice = thread::spawn({
        let tag = tag.clone();
        move || {
            let mut seat = seat(config, None);
            seat.tag(tag);
            seat.run(&program, "replicated-malicious", &[Some(bits(key))], &|_, _| ())
        }
    });
    for run in want(askers, keeper, &tag, &crate::Fill::new().keeping("new", name), |_| vec![None], LONG) {
        assert_eq!(run.unwrap().report.kept, [format!("{name}@1")]);
    }
    alice.join().unwrap().unwrap();
}

#[test]
fn parties_run_what_all_want_on_values_and_under_names_that_the_run_says() {
    let (house, keeper, reader) = (House::new(), keeper(), reader());
    let (parties, askers) = askers_of(&house, &keeper);
    enrol_key(&house, &askers, &keeper, "ann's", 3);
    enrol_key(&house, &askers, &keeper, "ben's", 5);
    // Side by side, on other values and other public numbers.
    thread::scope(|scope| {
        for (tag, name, product) in [("1", "ann's", 21), ("2", "ben's", 35), ("3", "ann's", 21)] {
            let (askers, reader) = (&askers, &reader);
            scope.spawn(move || {
                for run in want(askers, reader, tag, &[("key", name)].into(), |_| vec![Some(bits(7))], LONG) {
                    assert_eq!(run.unwrap().outputs, [Some(bits(product))]);
                }
            });
        }
    });
    // Who has another public number ends the run, and no more.
    let differ = |me| vec![Some(bits(7 + u8::from(me == 2)))];
    for run in want(&askers, &reader, "4", &[("key", "ann's")].into(), differ, LONG) {
        assert!(matches!(run, Err(Error::Aborted { .. })), "{run:?}");
    }
    // So does who keeps under another name.
    let runs = want(&askers, &reader, "5", &[("key", "carl's")].into(), |_| vec![Some(bits(7))], LONG);
    assert!(runs.iter().all(Result::is_err));
    // What not all want comes to nothing in its time, and holds nobody up.
    let short = Duration::from_millis(300);
    for run in want(&askers[..2], &reader, "6", &[("key", "ann's")].into(), |_| vec![Some(bits(7))], short) {
        assert!(matches!(run, Err(Error::Declined { .. })), "{run:?}");
    }
    for asker in &askers {
        asker.drop_value("ben's").unwrap();
    }
    let runs = want(&askers, &reader, "7", &[("key", "ben's")].into(), |_| vec![Some(bits(7))], LONG);
    assert!(runs.into_iter().all(|run| run.unwrap_err().to_string().contains("dropped")));
    end_well(parties, 0);
}

/// What a wanted run comes to at all parties, in the background.
pub(super) fn wants(
    askers: &[Asker; 3],
    keeper: &Arc<Compiled>,
    name: &str,
) -> JoinHandle<Vec<Result<Run, Error>>> {
    let (askers, keeper, name) = (askers.clone(), keeper.clone(), name.to_owned());
    let fill = crate::Fill::new().keeping("new", &name);
    thread::spawn(move || want(&askers, &keeper, &format!("order {name}"), &fill, |_| vec![None], LONG))
}

#[test]
fn a_client_that_stalls_in_a_run_that_keeps_holds_up_no_reader() {
    let (house, keeper, reader) = (House::new(), keeper(), reader());
    let (parties, askers) = askers_of(&house, &keeper);
    enrol_key(&house, &askers, &keeper, "ann's", 3);
    let kept = wants(&askers, &keeper, "ben's");
    let mut asks = request(&keeper, 7, "alice");
    (asks.tag, asks.protocol) = ("order ben's".to_owned(), "replicated-malicious".to_owned());
    let stalled = stalls(&house.config("alice"), asks);
    for run in want(&askers, &reader, "1", &[("key", "ann's")].into(), |_| vec![Some(bits(7))], LONG) {
        assert_eq!(run.unwrap().outputs, [Some(bits(21))]);
    }
    assert!(!kept.is_finished());
    drop(stalled);
    assert!(kept.join().unwrap().iter().all(Result::is_err));
    // The turn is the next one's.
    enrol_key(&house, &askers, &keeper, "ben's", 5);
    end_well(parties, 0);
}

#[test]
fn orders_are_kept_while_parties_read() {
    let (house, keeper, reader) = (House::new(), keeper(), reader());
    let (parties, askers) = askers_of(&house, &keeper);
    enrol_key(&house, &askers, &keeper, "ann's", 3);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        // Twice as many at a time as there are lanes.
        for thread in 0..6 {
            let (askers, reader, is_over) = (&askers, &reader, &is_over);
            scope.spawn(move || {
                for at in 0.. {
                    if is_over.load(Ordering::SeqCst) {
                        break;
                    }
                    let tag = format!("{thread} {at}");
                    let runs =
                        want(askers, reader, &tag, &[("key", "ann's")].into(), |_| vec![Some(bits(7))], LONG);
                    assert!(runs.iter().all(Result::is_ok), "{runs:?}");
                }
            });
        }
        let order = scope.spawn(|| {
            for name in ["ben's", "carl's", "dora's"] {
                enrol_key(&house, &askers, &keeper, name, 5);
            }
        });
        let ordered = order.join();
        is_over.store(true, Ordering::SeqCst);
        ordered.unwrap();
    });
    end_well(parties, 0);
}

#[test]
fn who_asks_hears_at_once_that_the_server_has_ended() {
    let house = House::new();
    let wanted = |tag: &str| Wanted {
        compiled: reader(),
        tag: tag.to_owned(),
        inputs: vec![Some(bits(7))],
        fill: crate::Fill::new(),
        within: Duration::from_millis(100),
    };
    let mut server = Server::open(&house.party(0), Vec::new(), serving(1)).unwrap();
    let (asker, drain) = (server.asker(), server.drain());
    let serves = thread::spawn(move || {
        let done = server.serve(&mut |_| Ok::<_, Error>(()));
        (done, server)
    });
    let waits = {
        let (asker, wanted) = (asker.clone(), Wanted { within: LONG, ..wanted("1") });
        thread::spawn(move || asker.run(wanted))
    };
    let late = asker.run(wanted("2")).unwrap_err().to_string();
    assert!(late.contains("not all parties want the run"), "{late}");
    drain.ask();
    let refused = waits.join().unwrap().unwrap_err();
    assert!(matches!(refused, Error::Declined { .. }), "{refused}");
    // It lives, and serves no more.
    let (done, server) = serves.join().unwrap();
    done.unwrap();
    let (sender, ended) = std::sync::mpsc::channel();
    thread::spawn(move || sender.send(asker.run(wanted("3")).unwrap_err().to_string()));
    let refused = ended.recv_timeout(LONG).unwrap();
    assert!(refused.contains("the server has ended"), "{refused}");
    drop(server);
}
