//! Thousands of clients that parties know, and hundreds that are there.

use super::*;
use std::fmt::Write;
use std::time::Instant;

const KNOWN: usize = 5000;
const PRESENT: usize = 200;

#[test]
fn of_thousands_of_clients_hundreds_are_served_at_once() {
    let house = House::new();
    let program = square();
    let strangers: Vec<_> = (0..=PRESENT).map(|number| house.stranger(&format!("client{number}"))).collect();
    let ((newcomer, own), clients) = strangers.split_last().unwrap();
    let mut list = String::new();
    for number in 0..KNOWN {
        let print = clients
            .get(number)
            .map_or_else(|| format!("{number:064x}"), |(_, client)| client.fingerprint.unwrap().to_string());
        // Writing into a string can't fail.
        let _ = write!(list, "[[client]]\nname = \"client{number}\"\nfingerprint = \"{print}\"\n");
    }
    let list = list.replace(&format!("client{PRESENT}\""), "another\"");
    for party in ["P0", "P1", "P2"] {
        fs::write(house.path(party).with_file_name("clients.toml"), &list).unwrap();
    }
    let parties = house.serve(&program);
    thread::scope(|scope| {
        for (number, (config, _)) in clients.iter().enumerate() {
            let program = &program;
            scope.spawn(move || {
                let mut own = seat(config.clone(), Some("guest"));
                let x = number as i64 - 100;
                assert_eq!(squared(&mut own, program, x).unwrap(), Some(ints(x * x)));
            });
        }
    });
    // One more is enrolled beside all others.
    let since = Instant::now();
    (0..3).for_each(|party| enrol(&house.party(party), own.clone()).unwrap());
    println!("a client was enrolled with three parties that know {KNOWN} in {:?}", since.elapsed());
    let squared = squared(&mut seat(newcomer.clone(), Some("guest")), &program, 7);
    assert_eq!(squared.unwrap(), Some(ints(49)));
    end_well(parties, PRESENT + 1);
}
