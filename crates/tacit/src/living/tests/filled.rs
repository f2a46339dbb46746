//! Stores that are filled while runs draw from them.

use super::*;
use crate::filling::Filling;
use crate::kept::{Kept, StorePath};
use crate::made::Prepared;
use crate::registry::Chosen;
use crate::run::endpoint_of;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tacit_engine::Participants;
use tacit_engine::supply::Stock;
use tacit_mascot::step;
use tacit_net::{Frame, FrameKind};
use tacit_store::{Epoch, Overview, Standing};
use tacit_testkit::react::{Act, Attacker, reacting};
use tacit_wire::step::STORED;

/// What a party has heard of its store's fillings.
type Heard = Arc<Mutex<Vec<Result<Prepared, String>>>>;

/// A deployment whose parties have stores, for squares of a guest's number.
struct Factory {
    house: House,
    protocol: &'static str,
    program: Arc<Compiled>,
}

impl Factory {
    fn new(protocol: &'static str) -> Self {
        Self { house: House::new(), protocol, program: square() }
    }

    fn place(&self, number: usize) -> StorePath {
        let folder = self.house.dir.path().join(format!("P{number}"));
        StorePath { store: folder.join("store"), anchors: folder.join("anchors") }
    }

    /// As much as so many runs draw, and a block of one kind that is left over, as a party's operator says it.
    fn runs(&self, number: usize, count: u64) -> Filling {
        let (config, chosen) = (self.house.party(0), Chosen::of(self.protocol).unwrap());
        let parties: Vec<String> = config.parties().iter().map(|party| party.name.clone()).collect();
        let clients = Participants::clients_of(self.program.plan(), &parties);
        let endpoint = endpoint_of(&config, &self.program, chosen.protocol, clients).unwrap();
        let mut filling = Filling::for_runs([&endpoint], count).unwrap();
        filling.wanted[0].1 += filling.wanted[0].0.per_block();
        // Each party has them in an order of its own.
        let kinds = filling.wanted.len();
        filling.wanted.rotate_left(number % kinds);
        filling
    }

    fn serving(&self, number: usize, filling: Option<Filling>) -> Serving {
        let protocol = crate::protocol(self.protocol).unwrap();
        let parties = ["P0", "P1", "P2"].map(str::to_owned);
        let store = self.place(number).open_supplies(&*protocol, &parties, number).unwrap();
        let holdings = Holdings { store: Some(Kept::Supplies(Stock::new(store))), state: None };
        Serving { open: vec!["guest".into()], holdings, filling, ..Serving::new(self.protocol, 2) }
    }

    fn open(&self, number: usize, filling: Option<Filling>) -> (Server, Heard) {
        let offer = Offer { compiled: self.program.clone(), inputs: vec![None] };
        let serving = self.serving(number, filling);
        let mut server = Server::open(&self.house.party(number), vec![offer], serving).unwrap();
        let heard = Heard::default();
        let notes = heard.clone();
        server.tell_filled(move |filled| {
            notes.lock().unwrap().push(filled.cloned().map_err(str::to_owned));
        });
        (server, heard)
    }

    /// All parties, each filling as much.
    fn serve(&self, runs: u64) -> ([Party; 3], [Heard; 3]) {
        let opened = [0, 1, 2].map(|number| self.open(number, Some(self.runs(number, runs))));
        let heard = [0, 1, 2].map(|number: usize| opened[number].1.clone());
        (opened.map(|(server, _)| Party::serves(server)), heard)
    }

    /// A run of alice's, again as long as parties have too little.
    fn run(&self, alice: &mut Seat, x: i64) {
        let until = Instant::now() + LONG;
        loop {
            match alice.run(&self.program, self.protocol, &[Some(ints(x))], &|_, _| ()) {
                Ok(run) => return assert_eq!(run.outputs, [Some(ints(x * x))]),
                Err(error) => {
                    assert!(error.to_string().contains("unused"), "{error}");
                    assert!(Instant::now() < until, "nothing is filled: {error}");
                    thread::sleep(Duration::from_millis(20));
                }
            }
        }
    }

    /// Blocks that are unused in a party's store, by epoch and shelf.
    fn unused(&self, number: usize) -> BTreeMap<(Epoch, u64), u64> {
        let StorePath { store, anchors } = self.place(number);
        let stocks = Overview::read(&store, &anchors).unwrap().epochs.into_iter();
        let unused = |stock: tacit_store::Stock| match stock.standing() {
            Standing::Unused(unused) => ((stock.epoch, stock.shelf), unused),
            other => panic!("{other:?}"),
        };
        stocks.map(unused).collect()
    }

    fn epochs(&self, number: usize) -> Vec<Epoch> {
        let mut epochs: Vec<Epoch> = self.unused(number).into_keys().map(|(epoch, _)| epoch).collect();
        epochs.dedup();
        epochs
    }
}

/// Waits until a party has been told so.
fn hears(heard: &Heard, is_it: impl Fn(&[Result<Prepared, String>]) -> bool) {
    let until = Instant::now() + LONG;
    while !is_it(&heard.lock().unwrap()) {
        assert!(Instant::now() < until, "{:?}", heard.lock().unwrap());
        thread::sleep(Duration::from_millis(5));
    }
}

fn fillings(heard: &[Result<Prepared, String>]) -> usize {
    heard.iter().filter(|filled| filled.is_ok()).count()
}

/// Waits until each has filled its store so often.
fn all_have_filled(heard: &[Heard], times: usize) {
    for heard in heard {
        hears(heard, |heard| fillings(heard) == times);
    }
}

/// Epochs of two runs each, or of three under `gmw`, where the block that is left over is another run's, and nothing else to run
/// on. The next one is made whenever a run is the first to draw from one; what is left of old ones goes; and after a restart what
/// was used stays used.
#[test]
fn a_store_that_runs_low_is_filled_while_runs_go_on() {
    for (protocol, expected, left) in [("mascot", 6, 3), ("gmw", 4, 1)] {
        let factory = Factory::new(protocol);
        let (parties, heard) = factory.serve(2);
        all_have_filled(&heard, 1);
        let mut alice = seat(factory.house.config("alice"), Some("guest"));
        for x in 0..9 {
            factory.run(&mut alice, x);
        }
        all_have_filled(&heard, expected);
        end_well(parties, 9);
        let made = |heard: &Heard| heard.lock().unwrap().iter().flatten().map(|made| made.epoch).collect();
        let made: [Vec<Epoch>; 3] = [0, 1, 2].map(|party: usize| made(&heard[party]));
        assert!(made.iter().all(|other| *other == made[0]), "{protocol}: {made:?}");
        for party in 0..3 {
            let epochs = factory.epochs(party);
            assert_eq!(epochs.len(), left, "{protocol}: of {made:?}");
            // The fullest are there: the newest, and the one before if a run is left in it.
            let newest = &made[0][expected - left.min(2)..];
            assert!(newest.iter().all(|newest| epochs.contains(newest)), "{protocol}: {epochs:?}");
        }

        let before = factory.unused(0);
        let (parties, _) = factory.serve(2);
        for x in 0..3 {
            factory.run(&mut alice, x);
        }
        end_well(parties, 3);
        let after = factory.unused(0);
        let still = after.iter().filter_map(|(shelf, unused)| Some((unused, before.get(shelf)?)));
        assert!(still.clone().all(|(after, before)| after <= before), "{protocol}: {before:?}, {after:?}");
        let left: u64 = still.map(|(after, _)| after).sum();
        assert!(left < before.values().sum(), "{protocol}: {before:?}, {after:?}");
    }
}

/// Nothing is made, everybody hears what to do, and runs go on.
#[test]
fn levels_that_differ_are_refused_in_words() {
    let factory = Factory::new("mascot");
    let cases = [
        // Another level, and none.
        (
            [Some(2), Some(3), Some(2)],
            [
                Some("P1 declines: it fills up to another level"),
                Some("it fills up to another level"),
                Some("P1 declines"),
            ],
        ),
        (
            [Some(2), Some(2), None],
            [
                Some("P2 declines: it fills no store while it serves"),
                Some("P2 declines"),
                Some("it fills no store"),
            ],
        ),
        ([None, Some(2), Some(2)], [Some("fills its store while it serves, and P0 doesn't"), None, None]),
    ];
    for (runs, says) in cases {
        let opened =
            [0, 1, 2].map(|party| factory.open(party, runs[party].map(|runs| factory.runs(party, runs))));
        let heard = [0, 1, 2].map(|party: usize| opened[party].1.clone());
        let parties = opened.map(|(server, _)| Party::serves(server));
        for (heard, says) in heard.iter().zip(says) {
            let Some(says) = says else { continue };
            hears(heard, |heard| !heard.is_empty());
            let heard = heard.lock().unwrap();
            let Some(Err(reason)) = heard.first() else { panic!("{heard:?}") };
            assert!(reason.contains(says) && reason.contains("the same --fill"), "{reason}");
        }
        end_well(parties, 0);
        assert!((0..3).all(|party| factory.epochs(party).is_empty()));
        assert!(heard.iter().all(|heard| fillings(&heard.lock().unwrap()) == 0));
    }
}

#[test]
fn what_can_not_be_filled_is_refused_before_anything_is_served() {
    let factory = Factory::new("mascot");
    let refused = |serving: Serving| {
        let offer = Offer { compiled: factory.program.clone(), inputs: vec![None] };
        Server::open(&factory.house.party(0), vec![offer], serving).map(drop).unwrap_err().to_string()
    };
    let filling = || Some(factory.runs(0, 1));
    let says = refused(Serving { at_once: 1, ..factory.serving(0, filling()) });
    assert!(says.contains("--at-once"), "{says}");
    let says = refused(Serving { holdings: Holdings::default(), ..factory.serving(0, filling()) });
    assert!(says.contains("--store"), "{says}");
    let other = Serving { protocol: "gmw".into(), ..factory.serving(0, filling()) };
    let says = refused(other);
    assert!(says.contains("another protocol"), "{says}");
}

/// Asks its party to end once that goes on to the first part of a filling.
struct IsToldToEnd(Drain);

impl Attacker for IsToldToEnd {
    fn sends(&mut self, to: usize, frame: Frame, act: &mut Act<'_>) {
        if (frame.at.part, frame.at.op) == (STORED, 1) {
            self.0.ask();
        }
        act.send(to, frame);
    }
}

/// A party that is told to end in a filling of several parts does so where no two others have a check under way.
#[test]
fn a_party_that_ends_in_a_filling_is_an_attempt_for_nobody() {
    let factory = Factory::new("mascot");
    let protocol = crate::protocol("mascot").unwrap();
    // Of each kind two parts, as many as are made at a time.
    let filling = Filling::of(&*protocol, 3, &[("masks", 40_320)]).unwrap();
    let mut opened = [0, 1, 2].map(|number| factory.open(number, Some(filling.clone())));
    let drain = opened[1].0.drain();
    opened[1].0.wrap(move |links| reacting(Box::new(links), Box::new(IsToldToEnd(drain.clone()))));
    let heard = [0, 1, 2].map(|number: usize| opened[number].1.clone());
    let gauges = [0, 2].map(|number: usize| opened[number].0.gauges());
    let [p0, p1, p2] = opened.map(|(server, _)| Party::serves(server));
    p1.join().0.unwrap();
    for heard in [&heard[0], &heard[2]] {
        hears(heard, |heard| !heard.is_empty());
        let heard = heard.lock().unwrap();
        let Some(Err(reason)) = heard.first() else { panic!("{heard:?}") };
        assert!(reason.contains("P1 ends, so nothing more is made"), "{reason}");
    }
    end_well([p0, p2], 0);
    assert_eq!(gauges.map(|gauges| gauges.read().attempts), [0, 0]);
    assert!((0..3).all(|party| factory.epochs(party).is_empty()));
}

/// What a party does in a filling, once it is told to.
struct Deviates {
    withholds: bool,
}

impl Attacker for Deviates {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        let is_its = frame.kind == FrameKind::Data && frame.at.part == step::OPENING;
        if is_its && self.withholds {
            return;
        }
        if is_its && to == 0 {
            frame.payload[0] ^= 4;
        }
        act.send(to, frame);
    }
}

/// All parties with supplies for some runs, after a first filling, where P1 deviates in the next one, which begins with this run.
fn with_deviation(factory: &Factory, withholds: bool) -> ([Party; 3], [Heard; 3], Seat) {
    let deviates = Arc::new(AtomicBool::new(false));
    let mut opened = [0, 1, 2].map(|number| factory.open(number, Some(factory.runs(number, 4))));
    let tells = deviates.clone();
    opened[1].0.stop_after(None);
    opened[1].0.wrap(move |links| {
        if tells.load(Ordering::SeqCst) {
            return reacting(Box::new(links), Box::new(Deviates { withholds }));
        }
        Box::new(links)
    });
    let heard = [0, 1, 2].map(|number: usize| opened[number].1.clone());
    let parties = opened.map(|(server, _)| Party::serves(server));
    all_have_filled(&heard, 1);
    deviates.store(true, Ordering::SeqCst);
    let mut alice = seat(factory.house.config("alice"), Some("guest"));
    factory.run(&mut alice, 5);
    (parties, heard, alice)
}

#[test]
fn a_check_that_fails_in_a_filling_stops_the_parties_and_leaves_nothing_of_it() {
    let factory = Factory::new("mascot");
    let ([p0, p1, p2], heard, _alice) = with_deviation(&factory, false);
    for party in [p0, p2] {
        let (done, ended, _) = party.join();
        assert!(matches!(done, Err(Error::Stopped { failed_check: true, .. })), "{done:?}");
        assert_eq!(ended.iter().filter(|run| run.is_ok()).count(), 1);
    }
    p1.end().0.unwrap();
    for (party, heard) in heard.iter().enumerate() {
        let heard = heard.lock().unwrap();
        let Some(Ok(first)) = heard.first() else { panic!("{heard:?}") };
        assert_eq!((factory.epochs(party), fillings(&heard)), (vec![first.epoch], 1));
        let names = fs::read_dir(factory.place(party).store).unwrap();
        let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(names.all(|name| !name.contains('.')), "something of it is left");
    }
}

/// Neither do clients wait for it, nor does whoever is told to end.
#[test]
fn a_filling_that_stalls_holds_up_nobody() {
    let factory = Factory::new("mascot");
    let (parties, heard, mut alice) = with_deviation(&factory, true);
    for x in 0..2 {
        factory.run(&mut alice, x);
    }
    let start = Instant::now();
    end_well(parties, 3);
    assert!(start.elapsed() < LONG, "they wait for it");
    assert!(heard.iter().all(|heard| fillings(&heard.lock().unwrap()) == 1));
    assert!((0..3).all(|party| factory.epochs(party).len() == 1));
}
