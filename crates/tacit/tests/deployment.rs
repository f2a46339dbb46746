//! Runs of parties and clients that find one another through their configurations, over mutual TLS.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::Duration;
use tacit::advanced::engine::Clear;
use tacit::advanced::net::setup::{Config, init};
use tacit::program::Phase;
use tacit::program::{Builder, Data, Dtype, NodeId, ProgramError, Range, Recipient, Source, Value};
use tacit::{Compiled, Error, Feed, Prepared, Run, Seat, StorePath, Stream};

/// Folders of three parties and the clients `alice` and `bob`; gone at the end.
struct Deployment(PathBuf);

impl Deployment {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("tacit-deployment-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        init(&dir, 3, &["alice".into(), "bob".into()], "127.0.0.1", free_ports(3)).unwrap();
        Self(dir)
    }

    /// Says how much is under way at a time, in one configuration.
    fn set_window(&self, name: &str, bytes: usize) {
        let text = fs::read_to_string(self.config(name)).unwrap();
        let line = format!("window_bytes = {bytes}\n\n[[party]]");
        fs::write(self.config(name), text.replacen("[[party]]", &line, 1)).unwrap();
    }

    fn config(&self, name: &str) -> PathBuf {
        self.0.join(name).join("parties.toml")
    }
}

impl Drop for Deployment {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Ports in a row that nobody listens on, below those that the operating system gives to callers; other ones for
/// every test.
fn free_ports(count: u16) -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    loop {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let first = 11_000 + (std::process::id() as u16).wrapping_add(next) % 1_200 * 16;
        if (first..first + count).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return first;
        }
    }
}

fn difference(range: i128) -> Arc<Compiled> {
    difference_with(range, Builder::greater)
}

/// The same with another comparison.
fn difference_with(range: i128, compare: Comparing) -> Arc<Compiled> {
    let mut builder = Builder::new();
    let range = Range::new(-range, range);
    let at = |builder: &mut Builder, line, text: &str| {
        builder.at(Source { file: "/home/differ.py".to_owned(), line, text: text.to_owned() });
    };
    at(&mut builder, 1, "def difference(a, b)");
    let a = builder.input("alice", "a", Dtype::Int, &[3], range).unwrap();
    let b = builder.input("bob", "b", Dtype::Int, &[3], range).unwrap();
    at(&mut builder, 2, "difference = a - b");
    let difference = builder.sub(a, b).unwrap();
    at(&mut builder, 3, "larger = compare(a, b)");
    let larger = compare(&mut builder, a, b).unwrap();
    builder.reveal(difference, Recipient::Role("alice".into())).unwrap();
    builder.reveal(larger, Recipient::All).unwrap();
    Compiled::new(builder.finish().unwrap()).unwrap()
}

type Comparing = fn(&mut Builder, NodeId, NodeId) -> Result<NodeId, ProgramError>;

fn ints(values: [i64; 3]) -> Value {
    Value { shape: vec![3], data: Data::Int(values.to_vec()) }
}

fn play(config: &Path, range: i128, inputs: &[Option<Value>]) -> Result<Run, Error> {
    Seat::open(config)?.run(&difference(range), "replicated", inputs, &|_, _| {})
}

/// Lets everybody play a part, with the inputs that are theirs to give, each in a thread.
fn everybody<T: Send>(
    deployment: &Deployment,
    play: impl Fn(&str, &Path, &[Option<Value>]) -> T + Sync,
) -> [(&'static str, T); 5] {
    let inputs = [
        ("P0", [None, None]),
        ("P1", [None, None]),
        ("P2", [None, None]),
        ("alice", [Some(ints([5, -7, 100])), None]),
        ("bob", [None, Some(ints([4, 4, 100]))]),
    ];
    thread::scope(|scope| {
        let play = &play;
        let threads = inputs.map(|(name, inputs)| {
            let config = deployment.config(name);
            (name, scope.spawn(move || play(name, &config, &inputs)))
        });
        threads.map(|(name, thread)| (name, thread.join().unwrap()))
    })
}

#[test]
fn a_debug_run_is_refused() {
    let deployment = Deployment::new("debug");
    let debug = Compiled::debug(difference(9).program().clone()).unwrap();
    for name in ["P0", "alice"] {
        let mut seat = Seat::open(&deployment.config(name)).unwrap();
        let result = seat.run(&debug, "replicated", &[Some(ints([1, 2, 3])), None], &|_, _| {});
        assert!(matches!(result, Err(Error::Refused(reason)) if reason.contains("reveals everything")));
    }
}

#[test]
fn everybody_learns_what_the_program_says_and_no_more() {
    let deployment = Deployment::new("learns");
    let runs = everybody(&deployment, |_, config, inputs| play(config, 100, inputs).unwrap());
    for (name, run) in runs {
        let difference = run.outputs[0].as_ref().map(|value| value.data.clone());
        let larger = run.outputs[1].as_ref().map(|value| value.data.clone());
        assert_eq!(larger, Some(Data::Bool(vec![true, false, false])), "{name}");
        let expected = (name == "alice").then(|| Data::Int(vec![1, -11, 0]));
        assert_eq!(difference, expected, "{name}");
        assert_eq!(run.report.endpoints.len(), 1);
    }
}

/// Whoever runs something else is named by everybody, with what is different: the range of an input, or a line.
#[test]
fn different_programs_are_noticed_by_all_and_explained() {
    let deployment = Deployment::new("differ");
    let odd_one = |odd: &str, other: Arc<Compiled>| {
        everybody(&deployment, |name, config, inputs| {
            let program = if name == odd { other.clone() } else { difference(100) };
            let mut seat = Seat::open(config).unwrap();
            let error = seat.run(&program, "replicated", inputs, &|_, _| {}).unwrap_err();
            assert!(error.is_abort(), "{name}: {error}");
            error.to_string()
        })
    };
    for odd in ["P0", "P2", "alice", "bob"] {
        for (name, error) in odd_one(odd, difference(101)) {
            let here = ["-100 to 100", "-101 to 101"].map(|range| format!("a of alice: int [3], {range}"));
            assert!(here.iter().all(|input| error.contains(input)), "{name}, with another {odd}: {error}");
            let named = if name == odd { " disagrees on the inputs: " } else { odd };
            assert!(error.contains(named), "{name}, with another {odd}: {error}");
        }
        for (name, error) in odd_one(odd, difference_with(100, Builder::less)) {
            // The own line with its text; of another's at most where it stands.
            let line = if name == odd { "the program: " } else { odd };
            let said = error.contains("differ.py:3: larger") || error.contains("differ.py, line 3");
            assert!(said && error.contains(line), "{name}, with another {odd}: {error}");
        }
    }
}

/// Whoever comes first waits for the others, for longer than anybody may be silent in a run.
#[test]
fn early_clients_wait_for_late_ones() {
    let deployment = Deployment::new("late");
    for name in ["P0", "P1", "P2", "alice", "bob"] {
        let text = fs::read_to_string(deployment.config(name)).unwrap();
        let limits = "[limits]\nsilence_seconds = 2.0\nconnect_seconds = 0.001\n";
        fs::write(deployment.config(name), format!("{text}\n{limits}")).unwrap();
    }
    let waits = |alice: u64, others: u64| {
        everybody(&deployment, |name, config, inputs| {
            let wait = if name == "alice" { alice } else { others };
            if name == "bob" {
                thread::sleep(Duration::from_secs(3));
            }
            let config = Config::load(config).unwrap().with_wait(Duration::from_secs(wait));
            Seat::with(config).unwrap().run(&difference(100), "replicated", inputs, &|_, _| {})
        })
    };
    for (name, run) in waits(60, 60) {
        assert!(run.is_ok(), "{name}: {:?}", run.map(|_| ()));
    }
    let [.., (_, alice), _] = waits(1, 5);
    let error = alice.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("waits for others of this run (bob), who didn't come within 1 s"), "{error}");
}

/// A party's outputs, which it can't put anywhere.
struct Full;

impl Feed for Full {
    fn inputs(&mut self, _part: u64) -> Result<Vec<Option<Clear>>, Error> {
        Ok(vec![None, None])
    }

    fn outputs(&mut self, _part: u64, _outputs: Vec<Option<Clear>>) -> Result<(), Error> {
        Err(Error::Feed("the disk is full".to_owned()))
    }
}

/// A client that has only given its inputs stays to the end, and says which it was; if it is lost, nobody minds.
#[test]
fn a_client_that_only_gives_stays_to_the_end() {
    let deployment = Deployment::new("stays");
    let mut builder = Builder::new();
    let range = Range::new(-100, 100);
    let a = builder.input("alice", "a", Dtype::Int, &[3], range).unwrap();
    let b = builder.input("bob", "b", Dtype::Int, &[3], range).unwrap();
    let larger = builder.greater(a, b).unwrap();
    builder.reveal(larger, Recipient::Role("P0".into())).unwrap();
    let program = Compiled::new(builder.finish().unwrap()).unwrap();
    let stream = Stream { part: program.clone(), times: 1, rest: None, instances: 1 };
    // Under astra-fair whoever can't write its outputs ends nobody else's run: all have theirs.
    let protocols = ["replicated", "replicated-malicious", "astra", "astra-malicious"];
    let all = protocols.into_iter().flat_map(|protocol| [(protocol, false), (protocol, true)]);
    for (protocol, full) in all.chain([("astra-fair", false)]) {
        let program = program.for_protocol(&*tacit::protocol(protocol).unwrap()).unwrap();
        let ends = everybody(&deployment, |name, config, inputs| {
            let clear = |(input, value): (usize, &Option<Value>)| {
                value.as_ref().map(|value| program.encode(input, value).unwrap())
            };
            let inputs = inputs.iter().enumerate().map(clear).collect();
            let mut feed = Repeated { inputs, outputs: Vec::new() };
            let feed: &mut (dyn Feed + Send) = if full && name == "P0" { &mut Full } else { &mut feed };
            Seat::open(config).unwrap().stream(&stream, protocol, feed).map(|_| ())
        });
        for (name, end) in ends.into_iter().filter(|(name, _)| !name.starts_with('P')) {
            let Err(error) = end else {
                assert!(!full, "{protocol}: {name} ends well");
                continue;
            };
            let says = error.to_string();
            // Why is P0's alone to know.
            let told =
                "P0 aborted: the run was aborted: its inputs couldn't be read, or its outputs not be written";
            assert!(
                full && error.is_abort() && says.contains(told) && !says.contains("disk"),
                "{protocol}, {name}: {says}"
            );
        }
    }
}

/// The conjunction of 64 bits of P0's, so many times.
fn conjunctions(count: usize) -> Arc<Compiled> {
    let mut gates = tacit::circuit::Builder::new();
    let bits = gates.input(64);
    let last = bits.iter().copied().reduce(|last, bit| gates.and(last, bit)).unwrap();
    let circuit = Arc::new(gates.finish(vec![vec![last]]));
    let mut builder = Builder::new();
    let bits = builder.input("P0", "bits", Dtype::Bool, &[count, 64], None).unwrap();
    let all = builder.circuit(&circuit, &[bits]).unwrap();
    builder.reveal(all[0], Recipient::All).unwrap();
    Compiled::new(builder.finish().unwrap()).unwrap()
}

/// Runs so many conjunctions of true bits among three servers.
fn conjoin(deployment: &Deployment, count: usize) -> [Result<Run, Error>; 3] {
    let threads = ["P0", "P1", "P2"].map(|name| {
        let config = deployment.config(name);
        let bits = Value { shape: vec![count, 64], data: Data::Bool(vec![true; 64 * count]) };
        let inputs = [(name == "P0").then_some(bits)];
        thread::spawn(move || {
            Seat::open(&config)?.run(&conjunctions(count), "replicated", &inputs, &|_, _| {})
        })
    });
    threads.map(|thread| thread.join().unwrap())
}

#[test]
fn a_run_has_the_window_of_its_deployment() {
    let deployment = Deployment::new("window");
    let count = 200_000;
    let compiled = conjunctions(count);
    let rounds = |compiled: &Arc<Compiled>| {
        let breakdown = tacit::price(compiled, "replicated", &["P0", "P1", "P2"].map(str::to_owned)).unwrap();
        breakdown.total.phase(Phase::Online).rounds
    };
    let (usual, narrow) = (rounds(&compiled), rounds(&compiled.with_window(1)));
    assert!(usual < narrow, "{usual}, {narrow}");
    for run in conjoin(&deployment, count) {
        assert_eq!(run.unwrap().report.rounds, usual);
    }
    for name in ["P0", "P1", "P2"] {
        deployment.set_window(name, 1);
    }
    for run in conjoin(&deployment, count) {
        let run = run.unwrap();
        assert_eq!(run.report.rounds, narrow);
        assert_eq!(run.outputs[0].as_ref().map(|all| &all.data), Some(&Data::Bool(vec![true; count])));
    }
}

#[test]
fn different_windows_are_noticed_by_all() {
    let deployment = Deployment::new("windows-differ");
    for (name, bytes) in [("P0", 500_000), ("P1", 500_000), ("P2", 500_001)] {
        deployment.set_window(name, bytes);
    }
    for run in conjoin(&deployment, 1) {
        let error = run.unwrap_err().to_string();
        let window = "the window (window_bytes in parties.toml, or --window)";
        assert!(error.contains(window) && error.contains("500001"), "{error}");
    }
}

#[test]
fn wrong_inputs_are_refused_before_anybody_is_called() {
    let deployment = Deployment::new("inputs");
    let alice = deployment.config("alice");
    for (inputs, reason) in [
        (vec![None, None], "is alice's to give"),
        (vec![Some(ints([1, 2, 3])), Some(ints([1, 2, 3]))], "is bob's to give"),
        (vec![Some(ints([1, 2, 101])), None], "101"),
    ] {
        let error = play(&alice, 100, &inputs).unwrap_err();
        assert!(!error.is_abort() && error.to_string().contains(reason), "{error}");
    }
}

/// A run in two lanes, the second with this range.
fn play_lanes(config: &Path, range: i128, inputs: &[Option<Value>]) -> Result<Vec<Run>, Error> {
    let (first, second) = (difference(100), difference(range));
    let jobs = [(&first, inputs), (&second, inputs)];
    let mut seat = Seat::open(config)?;
    let within = seat.config().limits().connect;
    seat.run_lanes(&jobs, "replicated", &|_, _| {}, within)
}

#[test]
fn lanes_run_side_by_side() {
    let deployment = Deployment::new("lanes");
    let runs = everybody(&deployment, |_, config, inputs| play_lanes(config, 200, inputs).unwrap());
    for (name, runs) in runs {
        assert_eq!(runs.len(), 2);
        for run in runs {
            let larger = run.outputs[1].as_ref().map(|value| value.data.clone());
            assert_eq!(larger, Some(Data::Bool(vec![true, false, false])), "{name}");
            let difference = run.outputs[0].as_ref().map(|value| value.data.clone());
            assert_eq!(difference, (name == "alice").then(|| Data::Int(vec![1, -11, 0])), "{name}");
            assert!(run.report.endpoints[0].1.payload() > 0);
        }
    }
}

#[test]
fn a_lane_that_fails_ends_the_run_for_all_and_is_named() {
    let deployment = Deployment::new("lane-fails");
    let errors = everybody(&deployment, |name, config, inputs| {
        play_lanes(config, if name == "P2" { 201 } else { 200 }, inputs).unwrap_err()
    });
    // Whoever is still gathering its links when a lane fails hears of it there, and not from a lane.
    let texts = errors.map(|(name, error)| format!("{name}: {error}"));
    let found =
        texts.iter().filter(|text| text.contains("lane 1") && text.contains("P2 disagrees on the inputs"));
    assert!(found.count() > 0, "{texts:?}");
}

/// Gives its values in every part, and keeps all outputs.
struct Repeated {
    inputs: Vec<Option<Clear>>,
    outputs: Vec<Vec<Option<Clear>>>,
}

impl Feed for Repeated {
    fn inputs(&mut self, _part: u64) -> Result<Vec<Option<Clear>>, Error> {
        Ok(self.inputs.clone())
    }

    fn outputs(&mut self, _part: u64, outputs: Vec<Option<Clear>>) -> Result<(), Error> {
        self.outputs.push(outputs);
        Ok(())
    }
}

/// A stream of parts: what came out of each.
fn play_stream(
    config: &Path,
    times: u64,
    inputs: &[Option<Value>],
) -> Result<Vec<Vec<Option<Clear>>>, Error> {
    let part = difference(100);
    let clear = |(input, value): (usize, &Option<Value>)| {
        value.as_ref().map(|value| part.encode(input, value).unwrap())
    };
    let inputs = inputs.iter().enumerate().map(clear).collect();
    let mut feed = Repeated { inputs, outputs: Vec::new() };
    let stream = Stream { part, times, rest: None, instances: 3 * times };
    Seat::open(config)?.stream(&stream, "replicated", &mut feed)?;
    Ok(feed.outputs)
}

#[test]
fn a_stream_has_outputs_part_after_part() {
    let deployment = Deployment::new("stream");
    let all = everybody(&deployment, |_, config, inputs| play_stream(config, 3, inputs).unwrap());
    for (name, parts) in all {
        assert_eq!(parts.len(), 3);
        for part in parts {
            assert_eq!(part[1].as_ref().map(Clear::to_words), Some(vec![1, 0, 0]), "{name}");
            assert_eq!(part[0].is_some(), name == "alice");
        }
    }
}

#[test]
fn streams_of_different_lengths_are_noticed_by_all() {
    let deployment = Deployment::new("stream-differs");
    let errors = everybody(&deployment, |name, config, inputs| {
        play_stream(config, if name == "bob" { 4 } else { 3 }, inputs).unwrap_err()
    });
    for (name, error) in errors {
        assert!(error.is_abort(), "{name}: {error}");
        let error = error.to_string();
        assert!(error.contains("number of instances (--count)"), "{name}: {error}");
        assert!(error.contains('9') && error.contains("12"), "{name}: {error}");
    }
}

/// In two lanes, and then as a stream, over real links: whatever was measured, all go by the same.
#[test]
fn what_is_open_is_settled_by_all_and_the_clients_go_by_it() {
    let deployment = Deployment::new("roles");
    let program = difference(100);
    let runs = everybody(&deployment, |_, config, inputs| {
        let mut seat = Seat::open(config).unwrap();
        let within = seat.config().limits().connect;
        let jobs = [(&program, inputs), (&program, inputs)];
        seat.run_lanes(&jobs, "astra comparison=auto", &|_, _| {}, within).unwrap()
    });
    let picked = |run: &Run| run.report.comparison.as_ref().map(|comparison| comparison.picked);
    assert!(picked(&runs[0].1[0]).is_some());
    for (name, lanes) in &runs {
        for run in lanes {
            assert_eq!(picked(run), picked(&runs[0].1[0]), "{name}");
            assert_eq!(run.report.players, runs[0].1[0].report.players, "{name}");
            assert_eq!(run.report.players.len(), 3);
            let larger = run.outputs[1].as_ref().map(|value| value.data.clone());
            assert_eq!(larger, Some(Data::Bool(vec![true, false, false])), "{name}");
        }
    }
    let reports = everybody(&deployment, |_, config, inputs| {
        let stream = Stream { part: program.clone(), times: 2, rest: None, instances: 6 };
        let clear = |(input, value): (usize, &Option<Value>)| {
            value.as_ref().map(|value| program.encode(input, value).unwrap())
        };
        let inputs = inputs.iter().enumerate().map(clear).collect();
        let mut feed = Repeated { inputs, outputs: Vec::new() };
        Seat::open(config).unwrap().stream(&stream, "astra roles=auto", &mut feed).unwrap()
    });
    assert!(reports.iter().all(|(_, report)| report.players == reports[0].1.players));
}

#[test]
fn roles_that_are_said_are_not_settled() {
    let deployment = Deployment::new("said");
    let runs = everybody(&deployment, |_, config, inputs| {
        Seat::open(config).unwrap().run(&difference(100), "astra roles=201", inputs, &|_, _| {}).unwrap()
    });
    assert!(runs.iter().all(|(_, run)| run.report.players == ["P2", "P0", "P1"]));
}

impl Deployment {
    /// Where a party keeps material; of several stores the one of this name.
    fn place(&self, store: &str, party: &str) -> StorePath {
        StorePath { store: self.0.join(store).join(party), anchors: self.0.join("anchors").join(party) }
    }

    /// Lets the parties make material for two runs, each under a protocol and into a store of its own.
    fn make(&self, with: [(&str, &str); 3]) -> Vec<Result<Prepared, Error>> {
        thread::scope(|scope| {
            let parties = ["P0", "P1", "P2"].into_iter().zip(with);
            let threads: Vec<_> = parties
                .map(|(name, (store, protocol))| {
                    let (config, place) = (self.config(name), self.place(store, name));
                    scope.spawn(move || {
                        let mut seat = Seat::open(&config).unwrap();
                        seat.offline(&difference(100), protocol, 2, &place, &|_, _| {})
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    /// A run of everybody on what lies in the parties' stores, where nobody says what is open; a party without one makes
    /// its material in the run.
    fn run_on(&self, stores: [Option<&str>; 3]) -> [(&'static str, Result<Run, Error>); 5] {
        everybody(self, |name, config, inputs| {
            let (program, mut seat) = (difference(100), Seat::open(config)?);
            let (within, protocol) = (seat.config().limits().connect, "astra comparison=auto");
            let store = ["P0", "P1", "P2"].iter().position(|&party| party == name);
            match store.and_then(|party| stores[party]) {
                Some(store) => {
                    let mut store = seat.open_store(&program, protocol, &self.place(store, name))?;
                    seat.run_stored(&program, protocol, &mut store, inputs, &|_, _| {}, within)
                }
                None => seat.run(&program, protocol, inputs, &|_, _| {}),
            }
        })
    }
}

/// What material was made with is what everybody goes by: the parties, their clients, and whoever makes more of it.
#[test]
fn material_says_what_is_open() {
    let deployment = Deployment::new("made");
    let made = |with| deployment.make(with).into_iter().map(Result::unwrap).collect::<Vec<_>>();
    let said = made([("a", "astra roles=201 comparison=garbled"); 3]);
    assert!(said.iter().all(|party| party.players == ["P2", "P0", "P1"] && party.comparison.is_none()));
    let open = "astra comparison=auto";
    let kept = |prepared: &[Prepared]| {
        for party in prepared {
            assert_eq!(party.players, ["P2", "P0", "P1"], "{}", party.party);
            assert_eq!(party.comparison.as_ref().map(|comparison| comparison.picked), Some("garbled"));
            assert!(party.links.iter().all(|link| link.bytes == link.declared.unwrap()), "{party:?}");
        }
    };
    kept(&made([("a", open); 3]));
    // Who has none goes by those who have.
    kept(&made([("a", open), ("b", open), ("a", open)]));
    for stores in [["a"; 3], ["a", "b", "a"]] {
        for (name, run) in deployment.run_on(stores.map(Some)) {
            let run = run.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(run.report.players, ["P2", "P0", "P1"], "{name}");
            assert_eq!(run.report.comparison.unwrap().picked, "garbled", "{name}");
            let larger = run.outputs[1].as_ref().map(|value| value.data.clone());
            assert_eq!(larger, Some(Data::Bool(vec![true, false, false])), "{name}");
        }
    }
    for (name, run) in deployment.run_on([Some("a"), None, Some("a")]) {
        let error = run.unwrap_err().to_string();
        assert!(
            !name.starts_with('P') || error.contains("P0 and P2 with one, P1 without"),
            "{name}: {error}"
        );
    }
}

#[test]
fn material_made_for_different_roles_is_noticed() {
    let deployment = Deployment::new("made-apart");
    assert!(deployment.make([("a", "astra roles=201"); 3]).iter().all(Result::is_ok));
    assert!(deployment.make([("b", "astra roles=012"); 3]).iter().all(Result::is_ok));
    let says = |error: &Error| {
        let error = error.to_string();
        assert!(error.contains("that of P0 for 201 prefix, that of P2 for 012 prefix"), "{error}");
    };
    let open = "astra comparison=auto";
    for result in deployment.make([("a", open), ("a", open), ("b", open)]) {
        says(&result.unwrap_err());
    }
    for (name, run) in deployment.run_on([Some("a"), Some("a"), Some("b")]) {
        let error = run.unwrap_err();
        if name.starts_with('P') {
            says(&error);
        }
    }
}

/// Without a store anywhere the parties measure, and all come to the same.
#[test]
fn what_is_open_is_settled_before_material_is_made() {
    let deployment = Deployment::new("made-open");
    let made = deployment.make([("a", "astra comparison=auto"); 3]);
    let made: Vec<Prepared> = made.into_iter().map(Result::unwrap).collect();
    let comparison = made[0].comparison.clone().unwrap();
    assert_eq!(comparison.seconds.len(), 2);
    for party in &made {
        assert_eq!((&party.players, party.comparison.as_ref()), (&made[0].players, Some(&comparison)));
    }
    for (name, run) in deployment.run_on([Some("a"); 3]) {
        let report = run.unwrap().report;
        assert_eq!(report.players, made[0].players, "{name}");
        assert_eq!(report.comparison.unwrap().picked, comparison.picked, "{name}");
    }
}
