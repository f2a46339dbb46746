//! Links that are measured between runs, where roles follow the network.

use super::*;
use tacit_program::cost::Phase;

/// More than the handshake of a run takes, and less than measuring the links.
const MEASURING: u64 = 32 << 10;

fn open(house: &House, number: usize, program: &Arc<Compiled>) -> Server {
    let inputs = program.inputs().iter().map(|_| None).collect();
    let offer = Offer { compiled: program.clone(), inputs };
    let serving = Serving { open: vec!["guest".to_owned()], ..Serving::new("astra", 2) };
    Server::open(&house.party(number), vec![offer], serving).unwrap()
}

/// The first runs measure for themselves, if nothing was measured before them. Those after a measurement don't, and have roles.
#[test]
fn runs_go_by_what_was_measured_between_them() {
    let house = House::new();
    let program = square();
    let servers = [0, 1, 2].map(|number| open(&house, number, &program));
    let shared = servers.each_ref().map(Server::shared);
    let parties = servers.map(Party::serves);
    let numbers = || shared.each_ref().map(|shared| shared.measurement());
    let start = std::time::Instant::now();
    while !(numbers()[0].is_some() && numbers().iter().all(|number| *number == numbers()[0])) {
        assert!(start.elapsed() < LONG, "{:?}", numbers());
        thread::sleep(Duration::from_millis(20));
    }
    let mut alice = seat(house.config("alice"), Some("guest"));
    for x in 0..3 {
        let run = alice.run(&program, "astra", &[Some(ints(x))], &|_, _| ()).unwrap();
        assert_eq!((run.outputs, run.report.players.len()), (vec![Some(ints(x * x))], 3));
    }
    for party in parties {
        let (done, ended, _) = party.end();
        done.unwrap();
        assert_eq!(ended.len(), 3);
        for run in ended {
            let (_, traffic) = &run.unwrap().report.endpoints[0];
            assert!(traffic.in_phase(Phase::Setup) < MEASURING, "{}", traffic.in_phase(Phase::Setup));
        }
    }
    // What is measured takes more, or this test would see nothing.
    let other = House::new();
    let parties = [0, 1, 2].map(|number| {
        let mut server = open(&other, number, &program);
        server.measure_later();
        Party::serves(server)
    });
    let mut alice = seat(other.config("alice"), Some("guest"));
    alice.run(&program, "astra", &[Some(ints(7))], &|_, _| ()).unwrap();
    for party in parties {
        let (_, ended, _) = party.end();
        let (_, traffic) = &ended[0].as_ref().unwrap().report.endpoints[0];
        assert!(traffic.in_phase(Phase::Setup) > MEASURING, "{}", traffic.in_phase(Phase::Setup));
    }
}
