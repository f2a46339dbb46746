//! A check that fails, while other runs are under way.

use super::*;
use std::time::Instant;
use tacit_astra::step::CHECK_TRIPLES;
use tacit_net::{Frame, FrameKind};
use tacit_testkit::react::{Act, Attacker, reacting};

const CHECKED: &str = "astra-malicious roles=012";

/// Time in which a client's silence isn't noticed.
const SILENT: Duration = Duration::from_secs(200);

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

/// Three runs at a time, each of one instance, whose clients play these names.
fn serving(open: &[&str]) -> Serving {
    Serving { open: open.iter().map(|name| (*name).to_owned()).collect(), ..Serving::new(CHECKED, 3) }
}

/// P0 has the first run wait for it, which others would bear for ten minutes, and deviates in the second. The others
/// stop for good, and the first run ends with that: nobody who deviates has another try in it.
#[test]
fn a_failed_check_ends_the_runs_under_way_in_other_lanes() {
    let (house, program) = (House::new(), square());
    let runs = Arc::new(AtomicU16::new(0));
    let [p0, p1, p2] = [0, 1, 2].map(|number| {
        let serving = serving(&["guest"]);
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
    let until = Instant::now() + LONG;
    while runs.load(Ordering::SeqCst) == 0 {
        assert!(Instant::now() < until, "no run begins");
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

/// Bob is in two runs and neither sends nor reads anything: one by himself, and one that carol waits for him in. A check fails in
/// alice's run then. The parties stop without waiting for him, and carol hears of it.
#[test]
fn clients_that_stall_beside_a_failed_check_hold_up_nobody() {
    let house = House::new();
    for name in ["P0", "P1", "P2", "alice", "bob", "carol"] {
        let path = house.path(name);
        let patient = format!(
            "{}\n[limits]\nsilence_seconds = {}.0\n",
            fs::read_to_string(&path).unwrap(),
            SILENT.as_secs()
        );
        fs::write(&path, patient).unwrap();
    }
    let (program, both) = (square(), product(&["guest", "other"]));
    let alters = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let [p0, p1, p2] = [0, 1, 2].map(|number| {
        let serving = serving(&["guest", "other"]);
        let offer = |program: &Arc<Compiled>| Offer {
            compiled: program.clone(),
            inputs: program.inputs().iter().map(|_| None).collect(),
        };
        let mut server =
            Server::open(&house.party(number), vec![offer(&program), offer(&both)], serving).unwrap();
        if number == 0 {
            server.stop_after(None);
            let alters = alters.clone();
            server.wrap(move |links| {
                if alters.load(Ordering::SeqCst) {
                    return reacting(Box::new(links), Box::new(Deviates::Alters));
                }
                Box::new(links)
            });
        }
        Party::serves(server)
    });
    let protocol = crate::registry::Chosen::of(CHECKED).unwrap().to_string();
    let request = |program, id| Request { protocol: protocol.clone(), ..request(program, id, "guest") };
    let (sender, ended) = std::sync::mpsc::channel();
    let ask =
        |name: &'static str, plays: &'static str, program: &Arc<Compiled>, inputs: Vec<Option<Value>>| {
            let (mut seat, program, sender) =
                (seat(house.config(name), Some(plays)), program.clone(), sender.clone());
            thread::spawn(move || {
                let done = seat.run(&program, CHECKED, &inputs, &|_, _| ()).map(drop);
                sender.send((name, done)).unwrap();
            })
        };
    let alone = stalls(&house.config("bob"), request(&program, 7));
    ask("carol", "other", &both, vec![None, Some(ints(3))]);
    let mut company = by_hand(&house.config("bob"));
    tell_all(&mut company, &ToParty::Ask(request(&both, 8)));
    for party in 0..3 {
        loop {
            match heard(&mut company, party) {
                Some(ToClient::Waits { .. }) => {}
                Some(ToClient::Begin { id: 8, .. }) => break,
                other => panic!("{other:?}"),
            }
        }
    }
    alters.store(true, Ordering::SeqCst);
    ask("alice", "guest", &program, vec![Some(ints(5))]);
    for _ in 0..2 {
        let (name, run) = ended.recv_timeout(LONG).expect("it waits for bob");
        assert!(run.as_ref().is_err_and(Error::is_abort), "{name}: {run:?}");
    }
    for party in [p1, p2] {
        let (done, _, _) = party.join();
        assert!(matches!(done, Err(Error::Stopped { .. })), "{done:?}");
    }
    drop((alone, company));
    p0.end().0.unwrap();
}
