//! Whom a run holds up, and what ends a server: parties that hold something, offers on public inputs, and faults of a
//! party's own.

use super::wanted::{BITS, askers_of, bits, keeper, reader, want};
use super::*;
use crate::State;
use std::collections::VecDeque;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Instant;
use tacit_circuit::arith::{self, Style};
use tacit_net::stream::Lent;
use tacit_net::transport::Event;
use tacit_net::{Frame, FrameKind, Transport, WireBytes};

/// A party that serves programs beside a state, and waits until a run has so many instances if it may have them.
pub(super) fn open(
    house: &House,
    number: usize,
    offers: Vec<Offer>,
    state: State,
    (batch, at_once): (usize, u16),
) -> Server {
    let serving = Serving {
        batch,
        window: LONG,
        open: if offers.is_empty() { Vec::new() } else { vec!["guest".to_owned()] },
        holdings: Holdings { store: None, state: Some((state, Fill::new())) },
        ..Serving::new(PROTOCOL, at_once)
    };
    Server::open(&house.party(number), offers, serving).unwrap()
}

/// What this comes to, if it ends in time.
fn in_time<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, ended) = channel();
    thread::spawn(move || sender.send(run()));
    ended.recv_timeout(LONG).expect("it is held up")
}

#[test]
fn a_run_that_uses_nothing_of_what_is_held_holds_up_no_other() {
    let (house, program) = (House::new(), square());
    let parties = [0, 1, 2].map(|number| {
        let offer = Offer { compiled: program.clone(), inputs: vec![None] };
        Party::serves(open(&house, number, vec![offer], State::new(), (1, 2)))
    });
    // Its run is under way at all parties, and waits for it.
    let stalled = stalls(&house.config("bob"), request(&program, 7, "guest"));
    let mut alice = seat(house.config("alice"), Some("guest"));
    assert_eq!(squared(&mut alice, &program, 5).unwrap(), Some(ints(25)));
    have_failed(&parties, 0);
    drop(stalled);
    end_well(parties, 1);
}

#[test]
fn requests_for_a_program_with_public_inputs_run_one_by_one() {
    let circuit = Arc::new(arith::circuits::multiply(Style::Small, BITS as u32));
    let mut build = Builder::new();
    let number = build.input("guest", "number", Dtype::Bool, &[BITS], None).unwrap();
    let known = build.known("factor", Dtype::Bool, &[BITS], None).unwrap();
    let product = build.circuit(&circuit, &[number, known]).unwrap()[0];
    build.reveal(product, Recipient::Role("guest".into())).unwrap();
    let program = Compiled::new(build.finish().unwrap()).unwrap();
    let house = House::new();
    let parties = [0, 1, 2].map(|number| {
        let offer = Offer { compiled: program.clone(), inputs: vec![None, Some(bits(7))] };
        Party::serves(open(&house, number, vec![offer], State::new(), (2, 2)))
    });
    let asked = [("alice", 5), ("bob", 6)].map(|(name, own)| {
        let (mut seat, program) = (seat(house.config(name), Some("guest")), program.clone());
        thread::spawn(move || seat.run(&program, PROTOCOL, &[Some(bits(own))], &|_, _| ()))
    });
    let learnt = asked.map(|asked| in_time(|| asked.join().unwrap().unwrap().outputs));
    assert_eq!(learnt, [vec![Some(bits(35))], vec![Some(bits(42))]]);
    end_well(parties, 2);
}

/// A fault of P2's own in a run that parties want: it hears of it, and serves no more.
fn ends_its_server(house: &House, servers: [Server; 3], program: &Arc<Compiled>, fill: &Fill) -> Error {
    let askers = servers.each_ref().map(Server::asker);
    let [p0, p1, p2] = servers.map(Party::serves);
    let client = house.config("alice");
    let asks = program.clone();
    let alice = thread::spawn(move || {
        let mut seat = seat(client, None);
        seat.tag("1".to_owned());
        seat.run(&asks, PROTOCOL, &[Some(bits(3))], &|_, _| ()).map(drop)
    });
    let inputs = |_| vec![None; program.inputs().len() + program.known().len()];
    let runs = want(&askers, program, "1", fill, inputs, LONG);
    assert!(alice.join().unwrap().is_err());
    assert!(runs[..2].iter().all(|run| matches!(run, Err(Error::Aborted { .. }))), "{runs:?}");
    // It had begun: others might have ended it well.
    assert!(matches!(runs[2], Err(Error::BrokeOff { .. })), "{runs:?}");
    let (done, _, _) = in_time(|| p2.join());
    for party in [p0, p1] {
        party.end().0.unwrap();
    }
    done.unwrap_err()
}

#[test]
fn a_folder_that_cannot_be_written_ends_the_server_if_parties_wanted_the_run_too() {
    let (house, keeper) = (House::new(), keeper());
    let folders = [0, 1, 2].map(|_| tempfile::tempdir().unwrap());
    let path = |number: usize| folders[number].path().join("state");
    let servers = [0, 1, 2].map(|number| {
        let mut server = open(&house, number, Vec::new(), State::open(&path(number), None).unwrap(), (1, 2));
        server.expect(&keeper).unwrap();
        server
    });
    fs::remove_dir_all(path(2)).unwrap();
    let error = ends_its_server(&house, servers, &keeper, &Fill::new());
    assert!(matches!(error, Error::Store(_)), "{error:?}");
}

#[test]
fn a_panic_ends_the_server_if_parties_wanted_the_run_too() {
    let (house, keeper) = (House::new(), keeper());
    let begun = Arc::new(Barrier::new(3));
    let servers = [0, 1, 2].map(|number| {
        let mut server = open(&house, number, Vec::new(), State::new(), (1, 2));
        server.expect(&keeper).unwrap();
        let begun = begun.clone();
        server.wrap(move |links| {
            begun.wait();
            assert!(number < 2, "planted by the test");
            Box::new(links)
        });
        server
    });
    let error = ends_its_server(&house, servers, &keeper, &Fill::new());
    assert!(matches!(error, Error::Feed(_)), "{error:?}");
}

#[test]
fn a_tag_that_is_too_long_is_refused_by_whoever_wants_the_run() {
    let (house, reader) = (House::new(), reader());
    let (parties, askers) = askers_of(&house, &keeper());
    let tag = "t".repeat(257);
    let runs = want(&askers[..1], &reader, &tag, &[("key", "ann's")].into(), |_| vec![Some(bits(7))], LONG);
    let error = runs.into_iter().map(Result::unwrap_err).next().unwrap();
    assert!(matches!(&error, Error::Refused(reason) if reason.contains("256 bytes")), "{error}");
    end_well(parties, 0);
}

/// The links of a run to three parties and a client, each of whose messages takes so long.
struct Late {
    links: Lent,
    each: Duration,
    under_way: VecDeque<Frame>,
    due: Instant,
}

impl Transport for Late {
    fn is_linked(&self, peer: usize) -> bool {
        self.links.is_linked(peer)
    }
    fn send(&mut self, to: usize, frame: Frame) {
        self.links.send(to, frame);
    }
    fn flush(&mut self) -> bool {
        self.links.flush()
    }
    fn backlog(&self, to: usize) -> usize {
        self.links.backlog(to)
    }
    fn poll(&mut self, wait: Duration) -> Option<(usize, Event)> {
        if !self.under_way.is_empty() && Instant::now() >= self.due {
            self.due = Instant::now() + self.each;
            return Some((3, Event::Frame(self.under_way.pop_front()?)));
        }
        match self.links.poll(wait.min(Duration::from_millis(10)))? {
            (3, Event::Frame(frame)) if frame.kind == FrameKind::Data => {
                if self.under_way.is_empty() {
                    self.due = Instant::now() + self.each;
                }
                self.under_way.push_back(frame);
                Some((3, Event::Progress))
            }
            event => Some(event),
        }
    }
    fn hold(&mut self, peer: usize, hold: bool) {
        self.links.hold(peer, hold);
    }
    fn now(&self) -> Duration {
        self.links.now()
    }
    fn wire_bytes(&self, peer: usize) -> WireBytes {
        self.links.wire_bytes(peer)
    }
    fn finish(&mut self) -> bool {
        self.links.finish()
    }
}

/// Each of its messages comes to P1 before patience with one ends. P0 hears of it, and she has no lane then that others could need.
#[test]
fn a_client_that_is_slow_at_each_message_ends_its_run_when_patience_with_all_is_over() {
    let (house, program) = (House::new(), square());
    let path = house.path("P1");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}\n[limits]\npatience_seconds = 10.0\n")).unwrap();
    let parties = [0, 1, 2].map(|number| {
        let mut server = house.open(number, &program, QUEUE, None, &["guest"]).unwrap();
        let is_first = AtomicBool::new(number == 1);
        server.wrap(move |links| {
            if !is_first.swap(false, Ordering::SeqCst) {
                return Box::new(links);
            }
            let (each, due) = (Duration::from_secs(3), Instant::now());
            Box::new(Late { links, each, under_way: VecDeque::new(), due })
        });
        Party::serves(server)
    });
    let alice = house.config("alice");
    let error = squared(&mut seat(alice.clone(), Some("guest")), &program, 5).unwrap_err();
    let error = error.to_string();
    let waited =
        error.split("lost alice (too slow: waited for ").nth(1).and_then(|rest| rest.split(' ').next());
    let waited: f64 = waited.and_then(|seconds| seconds.parse().ok()).unwrap_or_else(|| panic!("{error}"));
    // Half of patience, and not much more where the machine is busy.
    assert!((5.0..9.0).contains(&waited), "{error}");
    // Two of three lanes are taken.
    let stalled = [7, 8].map(|id| stalls(&house.config("bob"), request(&program, id, "guest")));
    let mut again = by_hand(&alice);
    tell_all(&mut again, &ToParty::Ask(request(&program, 9, "guest")));
    assert_eq!(
        squared(&mut seat(house.config("carol"), Some("guest")), &program, 6).unwrap(),
        Some(ints(36))
    );
    let early = again.next(&[0], Duration::from_millis(300));
    assert!(early.is_none(), "{early:?}");
    drop(stalled);
    assert!(matches!(heard(&mut again, 0), Some(ToClient::Begin { id: 9, .. })));
    drop(again);
    end_well(parties, 1);
}
