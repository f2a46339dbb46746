//! Runs in which a number isn't in the range that the program assumes.

use super::*;

/// The client and all parties end the run with the same error, and go on over the same links.
#[test]
fn a_run_ends_for_all_where_an_assumption_does_not_hold_and_the_next_one_begins() {
    let house = House::new();
    let mut build = Builder::new();
    let x = build.input("guest", "x", Dtype::Int, &[1], Range::new(-1000, 1000)).unwrap();
    let small = build.assume(x, Range::new(-8, 7).unwrap()).unwrap();
    let square = build.mul(small, small).unwrap();
    build.reveal(square, Recipient::Role("guest".into())).unwrap();
    let program = Compiled::new(build.finish().unwrap()).unwrap();
    let parties = house.serve(&program);
    let mut alice = seat(house.config("alice"), Some("guest"));
    for x in [7, 8, -8, -9, 0] {
        let ended = squared(&mut alice, &program, x);
        if (-8..8).contains(&x) {
            assert_eq!(ended.unwrap(), Some(ints(x * x)));
        } else {
            assert!(matches!(ended, Err(Error::OutsideAssumed { .. })), "{x}: {ended:?}");
        }
    }
    for party in parties {
        let (done, ended, connections) = party.end();
        done.unwrap();
        let failed: Vec<&String> = ended.iter().filter_map(|run| run.as_ref().err()).collect();
        assert!(failed.len() == 2 && failed.iter().all(|error| error.contains("assumes")), "{failed:?}");
        assert_eq!((ended.len(), connections), (5, 2 * 4 + 1));
    }
}
