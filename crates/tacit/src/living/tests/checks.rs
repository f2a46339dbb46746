//! A check that fails, while other runs are under way.

use super::*;
use tacit_astra::step::CHECK_TRIPLES;
use tacit_net::{Frame, FrameKind};
use tacit_testkit::react::{Act, Attacker, reacting};

const CHECKED: &str = "astra-malicious roles=012";

/// What a party does in a run: it lives and says nothing, or it alters a triple.
enum Deviates {
    Withholds,
    Alters,
}

impl Attacker for Deviates {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        match self {
            Self::Withholds if frame.kind == FrameKind::Data => return,
            Self::Alters if frame.at.part == CHECK_TRIPLES => frame.payload[0] ^= 1,
            _ => {}
        }
        act.send(to, frame);
    }
}

/// P0 has the first run wait for it, which others would bear for ten minutes, and deviates in the second. The others stop for good, and
/// the first run ends with that: nobody who deviates has another try in it.
#[test]
fn a_failed_check_ends_the_runs_under_way_in_other_lanes() {
    let (house, program) = (House::new(), square());
    let runs = Arc::new(AtomicU16::new(0));
    let [p0, p1, p2] = [0, 1, 2].map(|number| {
        let serving = Serving {
            protocol: CHECKED.to_owned(),
            at_once: 3,
            queue: QUEUE,
            batch: 1,
            window: Duration::ZERO,
            runs: None,
            open: vec!["guest".to_owned()],
            holdings: Holdings::default(),
        };
        let offer = Offer { compiled: program.clone(), inputs: vec![None] };
        let mut server = Server::open(&house.party(number), vec![offer], serving).unwrap();
        if number == 0 {
            server.stop_after(None);
            let runs = runs.clone();
            server.wrap(move |links| {
                let is_first = runs.fetch_add(1, Ordering::SeqCst) == 0;
                let deviates = if is_first { Deviates::Withholds } else { Deviates::Alters };
                reacting(Box::new(links), Box::new(deviates))
            });
        }
        Party::serves(server)
    });
    let ask = |name: &str| {
        let (mut seat, program) = (seat(house.config(name), Some("guest")), program.clone());
        thread::spawn(move || seat.run(&program, CHECKED, &[Some(ints(5))], &|_, _| ()).map(drop))
    };
    let bob = ask("bob");
    while runs.load(Ordering::SeqCst) == 0 {
        thread::sleep(Duration::from_millis(5));
    }
    assert!(ask("alice").join().unwrap().is_err());
    for party in [p1, p2] {
        let (done, ended, _) = party.join();
        assert!(matches!(done, Err(Error::Stopped { .. })), "{done:?}");
        assert!(ended.iter().all(Result::is_err), "{ended:?}");
    }
    let (sender, ended) = std::sync::mpsc::channel();
    thread::spawn(move || sender.send(bob.join().unwrap()));
    let lost = ended.recv_timeout(LONG).expect("it goes on").unwrap_err();
    assert!(lost.is_abort(), "{lost}");
    p0.end().0.unwrap();
}
