//! Certificates that are replaced while a deployment lives.

use super::*;
use tacit_net::setup::{accept, renew, use_renewed};

/// A certificate for a while so short that a test can wait for its end.
const BRIEF: Duration = Duration::from_secs(6);

/// Makes an endpoint a new certificate, has all others of these accept it, and uses it.
fn replaced(house: &House, name: &str, others: &[&str], valid: Option<Duration>) {
    let own = house.config(name);
    let print = renew(&own, valid).unwrap();
    for other in others.iter().filter(|other| **other != name) {
        accept(&house.config(other), name, print).unwrap();
    }
    assert_eq!(use_renewed(&own).unwrap(), print);
}

const ALL: [&str; 5] = ["P0", "P1", "P2", "alice", "bob"];

/// Requests go on while a party's certificate and then a client's is replaced, and while the links end on which the old ones were
/// shown: those that are lost with a run are asked again.
#[test]
fn certificates_are_replaced_while_requests_go_on() {
    let house = House::new();
    let program = square();
    // What is shown at first is soon over.
    replaced(&house, "P1", &ALL, Some(BRIEF));
    replaced(&house, "bob", &ALL, Some(BRIEF));
    let parties = house.serve(&program);
    let mut alice = seat(house.config("alice"), Some("guest"));
    let mut bob = seat(house.config("bob"), Some("guest"));
    let start = std::time::Instant::now();
    let (mut runs, mut x) = (0, 0);
    let mut both = |until: Duration| {
        while start.elapsed() < until {
            x += 1;
            for seat in [&mut alice, &mut bob] {
                assert_eq!(squared(seat, &program, x % 30).unwrap(), Some(ints((x % 30) * (x % 30))));
                runs += 1;
            }
            thread::sleep(Duration::from_millis(20));
        }
    };
    both(Duration::from_millis(500));
    replaced(&house, "P1", &ALL, None);
    both(Duration::from_secs(1));
    replaced(&house, "bob", &ALL, None);
    both(BRIEF + Duration::from_millis(1500));
    for (number, party) in parties.into_iter().enumerate() {
        let (done, ended, connections) = party.end();
        done.unwrap();
        assert_eq!(ended.iter().filter(|run| run.is_ok()).count(), runs, "{ended:?}");
        // Two others in four lanes and two clients; those of P1 came again, and bob.
        let again = if number == 1 { 8 } else { 4 };
        assert!(connections > 8 + 2 + again, "{connections} at P{number}");
    }
}

/// A link on which nothing happens ends with the certificate that was shown on it, and its owner is refused until it has another.
#[test]
fn a_link_ends_with_its_certificate() {
    let house = House::new();
    let program = square();
    replaced(&house, "alice", &ALL, Some(BRIEF));
    let parties = house.serve(&program);
    let mut alice = by_hand(&house.config("alice"));
    let left = alice.next(&[0], 2 * BRIEF);
    assert!(matches!(left, Some(Word::Left { party: 0 })), "{left:?}");
    let refused =
        squared(&mut seat(house.config("alice"), Some("guest")), &program, 3).unwrap_err().to_string();
    assert!(refused.contains("expired"), "{refused}");
    replaced(&house, "alice", &ALL, None);
    assert_eq!(squared(&mut seat(house.config("alice"), Some("guest")), &program, 3).unwrap(), Some(ints(9)));
    end_well(parties, 1);
}

/// A client that is struck off has no certificate that proves the name to whoever has it next; nor does a link stay on which one
/// was shown that is struck.
#[test]
fn certificates_end_with_the_name_that_they_were_accepted_for() {
    let house = House::new();
    let program = square();
    let parties = house.serve(&program);
    let (config, dave) = house.stranger("dave");
    (0..3).for_each(|party| enrol(&house.party(party), dave.clone()).unwrap());
    let renewed = renew(&config, None).unwrap();
    (0..3).for_each(|party| accept(&house.party(party), "dave", renewed).unwrap());
    use_renewed(&config).unwrap();
    let mut connected = by_hand(&config);
    assert_eq!(squared(&mut seat(config.clone(), Some("guest")), &program, 3).unwrap(), Some(ints(9)));
    // Only what was renewed is struck: the link ends on which it was shown.
    (0..3).for_each(|party| assert!(tacit_net::setup::strike_renewed(&house.party(party), "dave").unwrap()));
    let mut bob = seat(house.config("bob"), Some("guest"));
    assert_eq!(squared(&mut bob, &program, 4).unwrap(), Some(ints(16)));
    let left = connected.next(&[0], LONG);
    assert!(matches!(left, Some(Word::Left { party: 0 })), "{left:?}");
    (0..3).for_each(|party| accept(&house.party(party), "dave", renewed).unwrap());
    // Another dave takes the name. The first one's certificate is worth nothing, whatever it says.
    (0..3).for_each(|party| assert!(strike(&house.party(party), "dave").unwrap()));
    let other = Client { fingerprint: Some(tacit_net::setup::Fingerprint([9; 32])), ..dave.clone() };
    (0..3).for_each(|party| enrol(&house.party(party), other.clone()).unwrap());
    let short = config.clone().with_wait(Duration::from_secs(2));
    assert!(matches!(squared(&mut seat(short, Some("guest")), &program, 3), Err(Error::Setup(_))));
    // Nor is a key of the list that is another's certificate.
    let taken =
        Client { name: "eve".into(), fingerprint: Some(renew(&house.config("alice"), None).unwrap()) };
    accept(&house.party(0), "alice", taken.fingerprint.unwrap()).unwrap();
    assert!(enrol(&house.party(0), taken).is_err());
    end_well(parties, 2);
}

/// Nobody is taken for another by a certificate that wasn't accepted.
#[test]
fn a_certificate_that_nobody_has_accepted_opens_nothing() {
    let house = House::new();
    let program = square();
    let parties = house.serve(&program);
    replaced(&house, "alice", &["P0", "P2"], None);
    let config = house.config("alice").with_wait(Duration::from_secs(2));
    let refused = squared(&mut seat(config, Some("guest")), &program, 3);
    assert!(matches!(refused, Err(Error::Setup(_))), "{refused:?}");
    let print = tacit_net::setup::renew(&house.config("alice"), None).unwrap();
    (0..3).for_each(|party| accept(&house.party(party), "alice", print).unwrap());
    use_renewed(&house.config("alice")).unwrap();
    // A party that was about to take callers when its list changed refuses one more.
    let asked = || squared(&mut seat(house.config("alice"), Some("guest")), &program, 3);
    assert_eq!(asked().or_else(|_| asked()).unwrap(), Some(ints(9)));
    end_well(parties, 1);
}
