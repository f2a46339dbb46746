//! More connections of clients than a party has room for. By itself, as it lowers how many files the process may have open.

mod common;

use std::thread;
use std::time::{Duration, Instant};

use common::Deployment;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tacit_net::setup::{Attendance, Hub, News, Security, Speaker, quiet};

const LONG: Duration = Duration::from_secs(30);

/// Connects a client once more; who came and who left at the first party meanwhile.
fn connect(deployment: &Deployment, hubs: &mut [Hub; 2], client: usize) -> (Attendance, [Vec<String>; 2]) {
    let config = deployment.config(2 + client);
    let connects = thread::spawn(move || Attendance::connect(&config, LONG, &quiet()).unwrap());
    let (mut came, mut left, start) = (Vec::new(), Vec::new(), Instant::now());
    while !connects.is_finished() || came.is_empty() {
        assert!(start.elapsed() < LONG, "it doesn't come in");
        let [news, _] = hubs.each_mut().map(|hub| hub.next(Some(Duration::from_millis(5))).unwrap());
        for item in news {
            match item {
                News::Came { client, .. } => came.push(client.name),
                News::Left { who: Speaker::Guest(guest) } => left.push(guest.to_string()),
                _ => {}
            }
        }
    }
    (connects.join().unwrap(), [came, left])
}

/// As many connections as files leave room for; then who has most of them makes room for another one, and no more than is fair.
#[test]
fn who_has_most_connections_makes_room_for_others() {
    let deployment = Deployment::new(2, 2).with(Security::Tcp);
    let usual = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), ..usual }).unwrap();
    let mut hubs = [0, 1].map(|party| Hub::open(&deployment.config(party), 1).unwrap());
    setrlimit(Resource::Nofile, usual).unwrap();
    // Two lanes to each of two parties.
    let room = (64 - 4) / 2;
    let mut first: Vec<Attendance> = Vec::new();
    for _ in 0..room {
        let (guest, [came, left]) = connect(&deployment, &mut hubs, 0);
        assert_eq!((came, left), (vec!["C0".to_owned()], vec![]));
        first.push(guest);
    }
    let mut second = Vec::new();
    for number in 0..room / 2 {
        let (guest, [came, left]) = connect(&deployment, &mut hubs, 1);
        // The last of the other one's that are here.
        assert_eq!((came, left), (vec!["C1".to_owned()], vec![(room - 1 - number).to_string()]));
        assert_eq!(hubs[0].guests(), room);
        second.push(guest);
    }
}
