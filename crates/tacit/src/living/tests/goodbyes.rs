//! What others count on once a party has said goodbye: one that deviates doesn't undo it at those whom it chooses.

use super::wanted::{bits, enrol_key, keeper, reader, serving, want, wants};
use super::*;
use crate::Asker;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tacit_net::{At, Event, Frame, FrameKind};
use tacit_testkit::react::{Act, Attacker, reacting};

/// What a party does once both others have said goodbye, to which it says none.
#[derive(Clone, Copy)]
enum Then {
    /// It aborts, because a check failed or for no reason.
    Aborts { check_failed: bool },
    /// It has them wait.
    Waits,
}

/// Says goodbye to clients alone.
struct Deserts {
    then: Then,
    /// Which of the others have said goodbye, and whether both have.
    left: [bool; 2],
    have_left: Arc<AtomicBool>,
}

fn aborts(act: &mut Act<'_>, check_failed: bool) {
    for to in 0..2 {
        let at = At { part: 2, batch: check_failed.into(), ..At::default() };
        act.send(to, Frame { kind: FrameKind::Abort, at, payload: b"no".to_vec() });
    }
}

impl Deserts {
    fn heard(&mut self, from: usize, event: &Event) {
        if let (Some(left), Event::Frame(Frame { kind: FrameKind::Goodbye, .. })) =
            (self.left.get_mut(from), event)
        {
            *left = true;
        }
    }
}

impl Attacker for Deserts {
    fn sends(&mut self, to: usize, frame: Frame, act: &mut Act<'_>) {
        if frame.kind != FrameKind::Goodbye || to >= 2 {
            act.send(to, frame);
        }
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        self.heard(from, &event);
        act.hear(from, event);
    }

    /// Links that were lent say goodbye for it otherwise.
    fn finishes(&self) -> bool {
        false
    }

    fn ends(&mut self, act: &mut Act<'_>) {
        let until = Instant::now() + Duration::from_secs(2);
        while self.left != [true; 2] && Instant::now() < until {
            if let Some((from, event)) = act.poll(Duration::from_millis(50)) {
                self.heard(from, &event);
            }
        }
        self.have_left.store(true, Ordering::SeqCst);
        match self.then {
            Then::Aborts { check_failed } => aborts(act, check_failed),
            Then::Waits => {
                while Instant::now() < until {
                    act.poll(Duration::from_millis(50));
                }
            }
        }
    }
}

/// Says that a check failed, before it says anything else.
struct Accuses;

impl Attacker for Accuses {
    fn sends(&mut self, _: usize, _: Frame, act: &mut Act<'_>) {
        aborts(act, true);
    }
}

/// Three parties, the last of which does this in each of its runs.
fn beside(
    house: &House,
    attacker: impl Fn(u16) -> Option<Box<dyn Attacker>> + Send + Sync + 'static,
) -> ([Party; 3], [Asker; 3]) {
    // As long as a busy machine may take to hear of an abort.
    for name in ["P0", "P1", "P2", "alice"] {
        let path = house.path(name);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{text}\n[limits]\nlinger_seconds = 20.0\n")).unwrap();
    }
    let (attacker, runs) = (Arc::new(attacker), Arc::new(AtomicU16::new(0)));
    let parties = [0, 1, 2].map(|number| {
        let mut server = Server::open(&house.party(number), Vec::new(), serving(3)).unwrap();
        server.expect(&keeper()).unwrap();
        if number == 2 {
            server.stop_after(None);
            let (attacker, runs) = (attacker.clone(), runs.clone());
            server.wrap(move |links| match attacker(runs.fetch_add(1, Ordering::SeqCst)) {
                Some(attacker) => reacting(Box::new(links), attacker),
                None => Box::new(links),
            });
        }
        let asker = server.asker();
        (Party::serves(server), asker)
    });
    let askers = parties.each_ref().map(|(_, asker)| asker.clone());
    (parties.map(|(party, _)| party), askers)
}

fn deserts(then: Then, have_left: &Arc<AtomicBool>) -> Box<dyn Attacker> {
    Box::new(Deserts { then, left: [false; 2], have_left: have_left.clone() })
}

/// The client is told that the run has ended well, and so it has for those who said so.
#[test]
fn who_aborts_after_the_others_goodbyes_takes_nothing_back() {
    for check_failed in [false, true] {
        let house = House::new();
        let (parties, askers) =
            beside(&house, move |_| Some(deserts(Then::Aborts { check_failed }, &Arc::default())));
        enrol_key(&house, &askers, &keeper(), "ann's", 3);
        if !check_failed {
            // It counts for nothing.
            enrol_key(&house, &askers, &keeper(), "ben's", 5);
            end_well(parties, 0);
            continue;
        }
        // They stop for good, as after any check that failed.
        let [p0, p1, p2] = parties;
        for party in [p0, p1] {
            let (done, _, _) = party.join();
            assert!(matches!(done, Err(Error::Stopped { failed_check: true, .. })), "{done:?}");
        }
        p2.end().0.unwrap();
    }
}

/// Two parties have said goodbye in one run, and stop for good as a check fails in another.
#[test]
fn a_run_that_has_ended_well_is_told_so_though_the_server_stops() {
    let (house, keeper) = (House::new(), keeper());
    let have_left = Arc::new(AtomicBool::new(false));
    let seen = have_left.clone();
    let (parties, askers) = beside(&house, move |run| match run {
        0 => None,
        1 => Some(deserts(Then::Waits, &seen)),
        _ => Some(Box::new(Accuses)),
    });
    enrol_key(&house, &askers, &keeper, "ann's", 3);
    let kept = wants(&askers, &keeper, "ben's");
    let (config, program) = (house.config("alice"), keeper.clone());
    let mut alice = seat(config, None);
    alice.tag("order ben's".to_owned());
    alice.run(&program, "replicated-malicious", &[Some(bits(5))], &|_, _| ()).unwrap();
    let until = Instant::now() + LONG;
    while !have_left.load(Ordering::SeqCst) {
        assert!(Instant::now() < until, "both have said goodbye");
        thread::sleep(Duration::from_millis(5));
    }
    let runs = want(&askers, &reader(), "1", &[("key", "ann's")].into(), |_| vec![Some(bits(7))], LONG);
    assert!(runs[..2].iter().all(|run| matches!(run, Err(Error::Aborted { .. }))), "{runs:?}");
    for run in &kept.join().unwrap()[..2] {
        assert_eq!(run.as_ref().unwrap().report.kept, ["ben's@1"]);
    }
    let [p0, p1, p2] = parties;
    for party in [p0, p1] {
        let (done, _, _) = party.join();
        assert!(matches!(done, Err(Error::Stopped { failed_check: true, .. })), "{done:?}");
    }
    p2.end().0.unwrap();
}
