//! Deployments that live, over mutual TLS: every endpoint in a thread, and those that deviate by hand.

use super::control::{Player, Request, ToClient, ToParty, read, write};
use super::server::{Drain, Server};
use super::serving::{Holdings, Offer, QUEUE, Serving};
use crate::{Compiled, Error, Fill, Run, Seat};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tacit_net::setup::{Attendance, Client, Config, SetupError, Word, enrol, init, quiet, strike};
use tacit_program::{Builder, Data, Dtype, Range, Recipient, Value};

mod arrays;
mod batches;
mod certificates;
mod checks;
mod crowd;
mod drained;
mod filled;
mod fresh;
mod goodbyes;
mod guarded;
mod held;
mod kept;
mod long;
mod measured;
mod missed;
mod rogue;
mod rows;
mod shaped;
mod together;
mod wanted;

const PROTOCOL: &str = "replicated";
/// Time enough for anything on a busy machine.
const LONG: Duration = Duration::from_secs(40);

/// Folders of three parties and the clients `alice`, `bob` and `carol`.
struct House {
    dir: tempfile::TempDir,
    port: u16,
    /// Instances that a run has at most; runs wait for as many.
    batch: usize,
}

impl House {
    fn new() -> Self {
        let (dir, port) = (tempfile::tempdir().unwrap(), free_ports());
        init(dir.path(), 3, &["alice".into(), "bob".into(), "carol".into()], "127.0.0.1", port).unwrap();
        Self { dir, port, batch: 1 }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name).join("parties.toml")
    }

    fn config(&self, name: &str) -> Config {
        Config::load(&self.path(name)).unwrap().with_wait(LONG)
    }

    fn party(&self, number: usize) -> Config {
        self.config(&format!("P{number}"))
    }

    /// A client that has made a key of its own, and that nobody has enrolled.
    fn stranger(&self, name: &str) -> (Config, Client) {
        let own = tempfile::tempdir().unwrap();
        init(own.path(), 3, &[name.to_owned()], "127.0.0.1", self.port).unwrap();
        let folder = self.dir.path().join(name);
        fs::rename(own.path().join(name), &folder).unwrap();
        let list = |path: &Path| fs::read_to_string(path).unwrap();
        let (theirs, parties) = (list(&folder.join("parties.toml")), list(&self.path("P0")));
        let tables = |text: &str, kind: &str| -> String {
            let tables = text.split("\n[[").skip(1).filter(|table| table.starts_with(kind));
            tables.flat_map(|table| ["\n[[", table]).collect()
        };
        let head = theirs.split("\n[[").next().unwrap();
        let text = format!("{head}{}{}", tables(&parties, "party"), tables(&theirs, "client"));
        fs::write(folder.join("parties.toml"), text).unwrap();
        let config = self.config(name);
        let client = config.clients()[0].clone();
        (config, client)
    }

    fn serve(&self, program: &Arc<Compiled>) -> [Party; 3] {
        [0, 1, 2].map(|number| self.start(number, program, QUEUE))
    }

    fn start(&self, number: usize, program: &Arc<Compiled>, queue: usize) -> Party {
        self.start_for(number, program, queue, None)
    }

    fn start_for(&self, number: usize, program: &Arc<Compiled>, queue: usize, runs: Option<u64>) -> Party {
        Party::serves(self.open(number, program, queue, runs, &["guest", "other"]).unwrap())
    }

    /// A party before it serves. Of these names those are open that the program has.
    fn open(
        &self,
        number: usize,
        program: &Arc<Compiled>,
        queue: usize,
        runs: Option<u64>,
        open: &[&str],
    ) -> Result<Server, Error> {
        let names = format!("P{number}");
        let given = program.inputs().iter().map(|input| (input.owner == names).then(|| ints(number as i64)));
        let offer = Offer { compiled: program.clone(), inputs: given.collect() };
        let has = |name: &&str| program.inputs().iter().any(|input| input.owner == **name);
        let open = open.iter().filter(|name| has(name)).map(|name| (*name).to_owned()).collect();
        let (batch, window) = (self.batch, LONG);
        let serving = Serving { queue, batch, window, runs, open, ..Serving::new(PROTOCOL, 3) };
        Server::open(&self.party(number), vec![offer], serving)
    }
}

/// A party that serves in a thread.
struct Party {
    drain: Drain,
    ended: Arc<Mutex<Vec<Result<Run, String>>>>,
    done: Receiver<(Result<(), Error>, u64)>,
}

impl Party {
    fn serves(mut server: Server) -> Self {
        let (drain, ended) = (server.drain(), Arc::new(Mutex::new(Vec::new())));
        let notes = ended.clone();
        let (sender, done) = channel();
        thread::spawn(move || {
            let done = server.serve(&mut |served| {
                notes.lock().unwrap().push(served.result.map_err(|error| error.to_string()));
                Ok::<_, Error>(())
            });
            let connections = server.connections();
            // Its port is free again once it is said to have ended.
            drop(server);
            let _ = sender.send((done, connections));
        });
        Self { drain, ended, done }
    }

    /// Ends it: how it ended, its runs, and how many connections it has had.
    fn end(self) -> (Result<(), Error>, Vec<Result<Run, String>>, u64) {
        self.drain.ask();
        self.join()
    }

    fn join(self) -> (Result<(), Error>, Vec<Result<Run, String>>, u64) {
        let (done, connections) = self.done.recv_timeout(3 * LONG).expect("it serves on, or has panicked");
        (done, std::mem::take(&mut *self.ended.lock().unwrap()), connections)
    }
}

/// No more runs than these have failed at any party yet.
fn have_failed(parties: &[Party], most: usize) {
    for party in parties {
        let failed = party.ended.lock().unwrap().iter().filter(|run| run.is_err()).count();
        assert!(failed <= most, "{failed}");
    }
}

/// Ends all; each has had so many runs that ended well.
fn end_well(parties: impl IntoIterator<Item = Party>, runs: usize) {
    for party in parties {
        let (done, ended, _) = party.end();
        done.unwrap();
        assert_eq!(ended.iter().filter(|run| run.is_ok()).count(), runs, "{ended:?}");
    }
}

fn free_ports() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let first = 30_000 + (std::process::id() as u16).wrapping_add(next) % 130 * 16;
        if (first..first + 3).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return first;
        }
    }
}

fn ints(value: i64) -> Value {
    Value { shape: vec![1], data: Data::Int(vec![value]) }
}

/// The product of a number of each of these, for the last of them.
fn product(owners: &[&str]) -> Arc<Compiled> {
    let mut build = Builder::new();
    let range = Range::new(-1000, 1000);
    let input =
        |build: &mut Builder, owner: &&str| build.input(owner, owner, Dtype::Int, &[1], range).unwrap();
    let all: Vec<_> = owners.iter().map(|owner| input(&mut build, owner)).collect();
    let product = all[1..].iter().fold(all[0], |product, next| build.mul(product, *next).unwrap());
    build.reveal(product, Recipient::Role(owners[owners.len() - 1].into())).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

/// The square of a number of whoever plays `guest`.
fn square() -> Arc<Compiled> {
    let mut build = Builder::new();
    let x = build.input("guest", "x", Dtype::Int, &[1], Range::new(-1000, 1000)).unwrap();
    let square = build.mul(x, x).unwrap();
    build.reveal(square, Recipient::Role("guest".into())).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

fn seat(config: Config, plays: Option<&str>) -> Seat {
    let mut seat = Seat::with(config).unwrap();
    seat.play(plays.map(str::to_owned));
    seat
}

/// What a client that plays `guest` learns.
fn squared(seat: &mut Seat, program: &Arc<Compiled>, x: i64) -> Result<Option<Value>, Error> {
    Ok(seat.run(program, PROTOCOL, &[Some(ints(x))], &|_, _| ())?.outputs.swap_remove(0))
}

/// A request, by hand.
fn request(program: &Arc<Compiled>, id: u64, plays: &str) -> Request {
    Request {
        id,
        program: program.hash(),
        protocol: PROTOCOL.into(),
        plays: plays.into(),
        tag: String::new(),
        alone: false,
        fill: Fill::new(),
    }
}

fn player(config: &Config, plays: &str) -> Player {
    let client = &config.clients()[config.me() - config.parties().len()];
    let print = client.fingerprint.map(|print| print.0);
    Player { plays: plays.into(), client: client.name.clone(), print }
}

/// Connects a client that does as the test says.
fn by_hand(config: &Config) -> Attendance {
    Attendance::connect(config, LONG, &quiet()).unwrap()
}

/// Says the same to all parties.
fn tell_all(client: &mut Attendance, message: &ToParty) {
    for party in 0..3 {
        client.say(party, write(message));
    }
}

/// A client whose run has begun at all parties, and waits for it.
fn stalls(config: &Config, request: Request) -> Attendance {
    let (mut client, own) = (by_hand(config), request.id);
    tell_all(&mut client, &ToParty::Ask(request));
    for party in 0..3 {
        let heard = heard(&mut client, party);
        assert!(matches!(heard, Some(ToClient::Begin { id, .. }) if id == own), "{heard:?}");
    }
    client
}

/// What a party says to a client next.
fn heard(client: &mut Attendance, party: usize) -> Option<ToClient> {
    match client.next(&[party], LONG) {
        Some(Word::Said { message, .. }) => read(&message),
        _ => None,
    }
}

#[test]
fn runs_of_parties_follow_one_another_over_the_same_links() {
    let house = House::new();
    let program = product(&["P0", "P1", "P2"]);
    let parties = [0, 1, 2].map(|number| house.start_for(number, &program, QUEUE, Some(20)));
    for (number, party) in parties.into_iter().enumerate() {
        let (done, ended, connections) = party.join();
        done.unwrap();
        assert_eq!(ended.len(), 20);
        let expected = (number == 2).then(|| ints(0));
        assert!(ended.iter().all(|run| run.as_ref().unwrap().outputs == [expected.clone()]));
        // Two others, three lanes and that of control messages.
        assert_eq!(connections, 2 * 4);
    }
}

#[test]
fn clients_ask_again_and_again_over_the_same_links() {
    let house = House::new();
    let program = product(&["alice", "bob"]);
    let parties = house.serve(&program);
    thread::scope(|scope| {
        for (name, mut inputs, learns) in
            [("alice", [Some(ints(6)), None], None), ("bob", [None, Some(ints(7))], Some(ints(42)))]
        {
            let (config, program) = (house.config(name), &program);
            scope.spawn(move || {
                let mut seat = seat(config, None);
                for _ in 0..10 {
                    let run = seat.run(program, PROTOCOL, &inputs, &|_, _| ()).unwrap();
                    assert_eq!(run.outputs, std::slice::from_ref(&learns));
                }
                inputs.fill(None);
            });
        }
    });
    for party in parties {
        let (done, ended, connections) = party.end();
        done.unwrap();
        assert_eq!((ended.len(), connections), (10, 2 * 4 + 2));
    }
}

#[test]
fn one_program_serves_all_who_are_enrolled_and_nobody_else() {
    let house = House::new();
    let program = square();
    let parties = house.serve(&program);
    let mut alice = seat(house.config("alice"), Some("guest"));
    assert_eq!(squared(&mut alice, &program, 12).unwrap(), Some(ints(144)));
    let (config, dave) = house.stranger("dave");
    let refused = squared(&mut seat(config.clone(), Some("guest")), &program, 3);
    assert!(matches!(refused, Err(Error::Setup(SetupError::Refused { .. }))), "{refused:?}");
    for party in 0..3 {
        enrol(&house.party(party), dave.clone()).unwrap();
        assert!(enrol(&house.party(party), dave.clone()).is_err());
    }
    let mut connected = seat(config, Some("guest"));
    assert_eq!(squared(&mut connected, &program, 3).unwrap(), Some(ints(9)));
    // Whoever is struck off is refused, though it is connected.
    for party in 0..3 {
        assert!(strike(&house.party(party), "dave").unwrap());
    }
    let struck = squared(&mut connected, &program, 3);
    assert!(matches!(struck, Err(Error::Setup(SetupError::Refused { .. }))), "{struck:?}");
    assert_eq!(squared(&mut alice, &program, -5).unwrap(), Some(ints(25)));
    end_well(parties, 3);
}

#[test]
fn a_client_that_is_gone_takes_no_other_run_along() {
    let house = House::new();
    let program = square();
    let parties = house.serve(&program);
    let gone = stalls(&house.config("bob"), request(&program, 7, "guest"));
    // Its run is under way and waits for it, while others have theirs.
    let mut alice = seat(house.config("alice"), Some("guest"));
    for x in 0..5 {
        assert_eq!(squared(&mut alice, &program, x).unwrap(), Some(ints(x * x)));
    }
    drop(gone);
    // More than there are lanes: that of the lost run is back.
    for x in 0..5 {
        assert_eq!(squared(&mut alice, &program, x).unwrap(), Some(ints(x * x)));
    }
    end_well(parties, 10);
}

#[test]
fn a_lost_party_is_waited_for_and_joins_again() {
    let house = House::new();
    let program = square();
    let [p0, p1, p2] = house.serve(&program);
    let mut alice = seat(house.config("alice"), Some("guest"));
    assert_eq!(squared(&mut alice, &program, 2).unwrap(), Some(ints(4)));
    p1.end().0.unwrap();
    let (waits, config) = (program.clone(), house.config("bob"));
    let bob = thread::spawn(move || squared(&mut seat(config, Some("guest")), &waits, 3).unwrap());
    let p1 = house.start(1, &program, QUEUE);
    assert_eq!(bob.join().unwrap(), Some(ints(9)));
    assert_eq!(squared(&mut alice, &program, 4).unwrap(), Some(ints(16)));
    // So is the party that orders.
    p0.end().0.unwrap();
    let p0 = house.start(0, &program, QUEUE);
    assert_eq!(squared(&mut alice, &program, 5).unwrap(), Some(ints(25)));
    end_well([p0], 1);
    drop((p1.end(), p2.end()));
}

#[test]
fn a_client_that_finds_no_room_is_told_when_to_try_again() {
    let house = House::new();
    let program = product(&["alice", "bob"]);
    let parties = [0, 1, 2].map(|number| house.start(number, &program, 1));
    let mut waits = by_hand(&house.config("alice"));
    tell_all(&mut waits, &ToParty::Ask(request(&program, 7, "alice")));
    assert_eq!(heard(&mut waits, 0), Some(ToClient::Waits { id: 7, missing: vec!["bob".into()] }));
    let given = [Some(ints(3)), None];
    let mut alice = seat(house.config("alice"), None);
    for _ in 0..2 {
        let error = alice.run(&program, PROTOCOL, &given, &|_, _| ()).unwrap_err();
        assert!(matches!(error, Error::Busy { seconds: 2 }), "{error}");
    }
    // There is room once the other is gone.
    drop(waits);
    let (config, other) = (house.config("bob"), program.clone());
    let again = thread::spawn(move || {
        loop {
            match alice.run(&other, PROTOCOL, &given, &|_, _| ()) {
                Err(Error::Busy { .. }) => {}
                done => break done.unwrap(),
            }
        }
    });
    let bob = seat(config, None).run(&program, PROTOCOL, &[None, Some(ints(5))], &|_, _| ()).unwrap();
    assert_eq!(bob.outputs, [Some(ints(15))]);
    again.join().unwrap();
    end_well(parties, 1);
}

#[test]
fn nobody_plays_anothers_name_and_nothing_runs_that_is_not_served() {
    let house = House::new();
    let program = product(&["alice", "bob"]);
    let parties = house.serve(&program);
    let declined = |client: &str, plays: &str, program: &Arc<Compiled>, inputs: &[Option<Value>]| {
        let mut seat = seat(house.config(client), Some(plays));
        match seat.run(program, PROTOCOL, inputs, &|_, _| ()) {
            Err(Error::Declined { reason, .. }) => reason,
            other => panic!("{other:?}"),
        }
    };
    let reason = declined("carol", "alice", &program, &[Some(ints(1)), None]);
    assert!(reason.contains("alice is a client's name"), "{reason}");
    let reason = declined("alice", "guest", &square(), &[Some(ints(1))]);
    assert!(reason.contains("doesn't serve the program of hash"), "{reason}");
    let mut other = seat(house.config("alice"), Some("alice"));
    let error = other.run(&program, "astra", &[Some(ints(1)), None], &|_, _| ()).unwrap_err().to_string();
    assert!(error.contains("serves with protocol \"replicated\""), "{error}");
    end_well(parties, 0);
}

#[test]
fn a_connection_is_for_one_request_and_for_words_that_parties_know() {
    let house = House::new();
    let program = product(&["alice", "bob"]);
    let parties = house.serve(&program);
    let ask = ToParty::Ask(request(&program, 7, "alice"));
    let again = ToParty::Ask(request(&program, 8, "alice"));
    for messages in [vec![write(&ask), write(&again)], vec![vec![9]], vec![vec![0; 64 << 10]]] {
        let mut client = by_hand(&house.config("alice"));
        for message in messages {
            client.say(0, message);
        }
        let left = loop {
            match client.next(&[0], LONG) {
                Some(Word::Said { .. }) => {}
                word => break word,
            }
        };
        assert!(matches!(left, Some(Word::Left { party: 0 })), "{left:?}");
    }
    end_well(parties, 0);
}

/// Both are played by any client.
fn meeting() -> Arc<Compiled> {
    product(&["guest", "other"])
}

#[test]
fn a_name_is_its_clients_alone_unless_it_is_said_to_be_open() {
    let house = House::new();
    let program = product(&["dave", "bob"]);
    for name in ["alice", "nobody"] {
        let open = [name];
        let given = program.inputs().iter().map(|_| None).collect();
        let offer = Offer { compiled: product(&["alice", "bob"]), inputs: given };
        let open = open.map(str::to_owned).to_vec();
        let serving = Serving { window: LONG, open, ..Serving::new(PROTOCOL, 1) };
        let refused = Server::open(&house.party(0), vec![offer], serving).map(drop);
        assert!(matches!(&refused, Err(Error::Refused(reason)) if reason.contains(name)), "{refused:?}");
    }
    let (_, dave) = house.stranger("dave");
    let parties = house.serve(&program);
    let declined = || {
        let mut carol = seat(house.config("carol"), Some("dave"));
        match carol.run(&program, PROTOCOL, &[Some(ints(1)), None], &|_, _| ()) {
            Err(Error::Declined { reason, .. }) => reason,
            other => panic!("{other:?}"),
        }
    };
    // Before the client is enrolled whose name it is, while it is, and once it is struck off.
    assert!(declined().contains("dave is nobody's name"));
    (0..3).for_each(|party| enrol(&house.party(party), dave.clone()).unwrap());
    assert!(declined().contains("dave is a client's name"));
    (0..3).for_each(|party| assert!(strike(&house.party(party), "dave").unwrap()));
    assert!(declined().contains("dave is nobody's name"));
    end_well(parties, 0);
}

#[test]
fn who_is_struck_off_while_it_waits_has_no_part_in_a_run() {
    let house = House::new();
    let program = meeting();
    let (config, dave) = house.stranger("dave");
    (0..3).for_each(|party| enrol(&house.party(party), dave.clone()).unwrap());
    let parties = house.serve(&program);
    let mut waits = by_hand(&config);
    tell_all(&mut waits, &ToParty::Ask(request(&program, 7, "guest")));
    assert!(matches!(heard(&mut waits, 0), Some(ToClient::Waits { id: 7, .. })));
    (0..3).for_each(|party| assert!(strike(&house.party(party), "dave").unwrap()));
    let mut bob = by_hand(&house.config("bob"));
    tell_all(&mut bob, &ToParty::Ask(request(&program, 8, "other")));
    let word = waits.next(&[0], LONG);
    assert!(matches!(word, Some(Word::Left { party: 0 })), "{word:?}");
    drop(bob);
    end_well(parties, 0);
}

#[test]
fn a_tag_is_not_ignored_where_nobody_meets_by_it() {
    let house = House::new();
    let program = product(&["P0", "P1", "P2"]);
    let mut party = Seat::with(house.party(0)).unwrap();
    party.tag("ours".into());
    let refused = party.run(&program, PROTOCOL, &[Some(ints(1)), None, None], &|_, _| ());
    assert!(matches!(&refused, Err(Error::Refused(reason)) if reason.contains("a tag")), "{refused:?}");
    // Nor where it runs on what it keeps.
    let (mut state, fill) = (crate::State::new(), crate::Fill::new());
    let own = crate::Residents { state: &mut state, fill: &fill, store: None };
    let refused = party.run_on(&program, PROTOCOL, own, &[Some(ints(1)), None, None], &|_, _| (), LONG);
    assert!(matches!(&refused, Err(Error::Refused(reason)) if reason.contains("a tag")), "{refused:?}");
}

#[test]
fn a_server_that_has_stopped_begins_nothing_when_it_is_called_again() {
    let house = House::new();
    let mut server = house.open(0, &square(), QUEUE, None, &["guest"]).unwrap();
    server.stop_after(Some(0));
    let (done, _, _) = Party::serves(server).join();
    assert!(matches!(done, Err(Error::Stopped { .. })), "{done:?}");
}
