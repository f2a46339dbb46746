//! Clients of a service on what is kept: side by side, and on one version each.

use super::held::open;
use super::*;
use crate::State;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::AtomicI64;
use tacit_program::Uses;

/// The runs that clients may have under way.
const AT_ONCE: u16 = 3;

/// Keeps a number of whoever plays `guest` under two names.
fn train() -> Arc<Compiled> {
    let mut build = Builder::new();
    let x = build.input("guest", "x", Dtype::Int, &[1], Range::new(-1000, 1000)).unwrap();
    let negative = build.neg(x).unwrap();
    build.keep(x, "weight", Uses::default()).unwrap();
    build.keep(negative, "bias", Uses::default()).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

/// Tells a guest the one times its number, and the other.
fn answer() -> Arc<Compiled> {
    let mut build = Builder::new();
    let range = Range::new(-1000, 1000);
    let x = build.input("guest", "x", Dtype::Int, &[1], range).unwrap();
    let [weight, bias] = ["weight", "bias"].map(|name| build.kept(name, Dtype::Int, &[1], range).unwrap());
    let product = build.mul(weight, x).unwrap();
    for output in [product, bias] {
        build.reveal(output, Recipient::Role("guest".into())).unwrap();
    }
    Compiled::new(build.finish().unwrap()).unwrap()
}

/// Parties that serve both to guests; requests of one window are a run of so many instances at most.
fn serve(house: &House, batch: usize) -> [Party; 3] {
    [0, 1, 2].map(|number| {
        let offers = [train(), answer()].map(|compiled| Offer { compiled, inputs: vec![None] });
        Party::serves(open(house, number, offers.into(), State::new(), (batch, AT_ONCE)))
    })
}

fn trains(seat: &mut Seat, x: i64) {
    seat.run(&train(), PROTOCOL, &[Some(ints(x))], &|_, _| ()).unwrap();
}

/// The weight times that, and the bias.
fn asks(seat: &mut Seat, x: i64) -> (i64, i64) {
    let run = seat.run(&answer(), PROTOCOL, &[Some(ints(x))], &|_, _| ()).unwrap();
    let numbers: Vec<i64> = run
        .outputs
        .into_iter()
        .map(|output| match output.unwrap().data {
            Data::Int(numbers) => numbers[0],
            other => panic!("{other:?}"),
        })
        .collect();
    (numbers[0], numbers[1])
}

/// A client's run has begun at all parties and waits for it; others have theirs, on the same kept values.
#[test]
fn a_client_that_stalls_holds_up_no_other_that_reads_what_it_reads_or_keeps() {
    let house = House::new();
    let parties = serve(&house, 1);
    let mut alice = seat(house.config("alice"), Some("guest"));
    trains(&mut alice, 7);
    for (before, (id, program)) in [(7, answer()), (8, train())].into_iter().enumerate() {
        let stalled = stalls(&house.config("bob"), request(&program, id, "guest"));
        assert_eq!(asks(&mut alice, 5), (35, -7));
        have_failed(&parties, before);
        drop(stalled);
    }
    trains(&mut alice, 8);
    assert_eq!(asks(&mut alice, 5), (40, -8));
    end_well(parties, 5);
}

/// What one run keeps replaces both values over and over while two clients read them, and one more reads and replaces: nobody is
/// refused, nobody sees the one value of one version and the other of another, and nobody sees a version older than one before.
#[test]
fn clients_side_by_side_read_one_version_each_while_others_replace_it() {
    let house = House::new();
    let parties = serve(&house, 1);
    let (last, is_over) = (AtomicI64::new(1), AtomicU16::new(0));
    let mut carol = seat(house.config("carol"), Some("guest"));
    trains(&mut carol, 1);
    let answers: usize = thread::scope(|scope| {
        let readers = ["alice", "bob"].map(|name| {
            let (config, last, is_over) = (house.config(name), &last, &is_over);
            scope.spawn(move || {
                let (mut seat, mut seen, mut answers) = (seat(config, Some("guest")), 0, 0);
                while is_over.load(Ordering::SeqCst) == 0 {
                    seen = last.load(Ordering::SeqCst).max(seen);
                    let (product, bias) = asks(&mut seat, 3);
                    assert_eq!(product, -3 * bias, "of two versions");
                    assert!(-bias >= seen, "{bias} after {seen}");
                    (seen, answers) = (-bias, answers + 1);
                }
                answers
            })
        });
        let trained = std::panic::catch_unwind(AssertUnwindSafe(|| {
            for x in 2..=25 {
                trains(&mut carol, x);
                last.store(x, Ordering::SeqCst);
            }
        }));
        is_over.store(1, Ordering::SeqCst);
        trained.unwrap();
        readers.into_iter().map(|reader| reader.join().unwrap()).sum()
    });
    assert!(answers > 0);
    end_well(parties, 25 + answers);
}

/// Runs that keep under one name take turns, and none is lost.
#[test]
fn clients_that_keep_at_one_time_do_so_one_after_another() {
    let house = House::new();
    let parties = serve(&house, 1);
    thread::scope(|scope| {
        for (name, first) in [("alice", 100), ("bob", 200)] {
            let config = house.config(name);
            scope.spawn(move || {
                let mut seat = seat(config, Some("guest"));
                (0..10).for_each(|x| trains(&mut seat, first + x));
            });
        }
    });
    let (product, bias) = asks(&mut seat(house.config("carol"), Some("guest")), 1);
    assert!(product == -bias && [109, 209].contains(&product), "{product}");
    end_well(parties, 21);
}

/// Requests of one window are instances of one run, which reads the kept values once for all of them.
#[test]
fn requests_of_one_window_read_what_is_kept_together() {
    let house = House::new();
    let parties = serve(&house, 2);
    let mut carol = seat(house.config("carol"), Some("guest"));
    trains(&mut carol, 6);
    thread::scope(|scope| {
        for (name, x) in [("alice", 2), ("bob", -3)] {
            let config = house.config(name);
            scope.spawn(move || assert_eq!(asks(&mut seat(config, Some("guest")), x), (6 * x, -6)));
        }
    });
    end_well(parties, 2);
}
