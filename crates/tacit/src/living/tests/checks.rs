//! A check that fails, while other runs are under way.

use super::*;
use crate::registry::Chosen;
use tacit_astra::step::CHECK_TRIPLES;
use tacit_net::{Frame, FrameKind};
use tacit_testkit::react::{Act, Attacker, reacting};

const CHECKED: &str = "astra-malicious roles=012";

/// A party that alters a triple, in this run or in none.
struct Alters(bool);

impl Attacker for Alters {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        if self.0 && frame.kind == FrameKind::Data && frame.at.part == CHECK_TRIPLES {
            frame.payload[0] ^= 1;
        }
        act.send(to, frame);
    }
}

/// P0 follows the protocol in the first run, which waits for its client, and deviates in the second. The others stop for good, and with
/// that the first run ends too, at once: nobody who deviates has another try in it.
#[test]
fn a_failed_check_ends_the_runs_under_way_in_other_lanes() {
    let (house, program) = (House::new(), square());
    let runs = Arc::new(AtomicU16::new(0));
    let parties = [0, 1, 2].map(|number| {
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
                let deviates = runs.fetch_add(1, Ordering::SeqCst) > 0;
                reacting(Box::new(links), Box::new(Alters(deviates)))
            });
        }
        Party::serves(server)
    });
    let mut stalls = by_hand(&house.config("bob"));
    let protocol = Chosen::of(CHECKED).unwrap().to_string();
    let asks = Request { protocol, ..request(&program, 7, "guest") };
    tell_all(&mut stalls, &ToParty::Ask(asks));
    for party in 0..3 {
        let heard = heard(&mut stalls, party);
        assert!(matches!(heard, Some(ToClient::Begin { id: 7, .. })), "{heard:?}");
    }
    let mut alice = seat(house.config("alice"), Some("guest"));
    assert!(alice.run(&program, CHECKED, &[Some(ints(5))], &|_, _| ()).is_err());
    let [p0, p1, p2] = parties;
    for party in [p1, p2] {
        let (done, ended, _) = party.join();
        assert!(matches!(done, Err(Error::Stopped { .. })), "{done:?}");
        assert!(ended.iter().all(Result::is_err), "{ended:?}");
    }
    // Its client hears nothing more of the parties that have stopped but that they are gone.
    for party in [1, 2] {
        let left = loop {
            match stalls.next(&[party], LONG) {
                Some(Word::Said { .. }) => {}
                word => break word,
            }
        };
        assert!(matches!(left, Some(Word::Left { .. })), "{left:?}");
    }
    drop(stalls);
    p0.end().0.unwrap();
}
