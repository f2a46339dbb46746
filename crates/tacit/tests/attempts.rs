//! What a party does after a check that failed, and after runs that ended in the middle of one, in a deployment with a
//! corrupt party.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tacit::advanced::engine::executor::Unobserved;
use tacit::advanced::net::setup::{Config, Listener, init};
use tacit::advanced::net::{ErrorKind, Event, Frame, FrameKind, Mesh};
use tacit::program::{Builder, Data, Dtype, Range, Recipient, Value};
use tacit::{Compiled, Endpoint, Error, Run, Seat, Source, play, protocol};
use tacit_astra::step;
use tacit_testkit::react::{Act, Attacker, reacting};

const PROTOCOL: &str = "astra-malicious roles=012";
const PATIENCE: Duration = Duration::from_mins(1);

/// A product of P1's numbers and P2's, which all learn.
fn product() -> Arc<Compiled> {
    let mut builder = Builder::new();
    let range = Range::new(-100, 100);
    let a = builder.input("P1", "a", Dtype::Int, &[3], range).unwrap();
    let b = builder.input("P2", "b", Dtype::Int, &[3], range).unwrap();
    let product = builder.mul(a, b).unwrap();
    builder.reveal(product, Recipient::All).unwrap();
    Compiled::new(builder.finish().unwrap()).unwrap()
}

fn ints(values: [i64; 3]) -> Value {
    Value { shape: vec![3], data: Data::Int(values.to_vec()) }
}

/// When a party is gone, without a word.
#[derive(Clone, Copy)]
enum Gone {
    Never,
    /// Instead of sending the first message of a step.
    BeforeSending(u16),
    /// When it has heard both others' messages of a step.
    AfterHearing(u16),
}

/// A party that goes, or alters the first message of a step, and else is honest.
struct Corrupt {
    gone: Gone,
    alters: Option<u16>,
    heard: usize,
    is_gone: bool,
}

impl Corrupt {
    fn going(gone: Gone) -> Self {
        Self { gone, alters: None, heard: 0, is_gone: false }
    }

    fn altering(step: u16) -> Self {
        Self { alters: Some(step), ..Self::going(Gone::Never) }
    }

    fn go(&mut self, act: &mut Act<'_>) {
        self.is_gone = true;
        for other in [1, 2] {
            act.hear(other, Event::Lost(ErrorKind::Closed { how: "it is gone itself".into() }));
        }
    }
}

impl Attacker for Corrupt {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        let is_data = frame.kind == FrameKind::Data;
        if is_data && matches!(self.gone, Gone::BeforeSending(step) if step == frame.at.part) {
            self.go(act);
        }
        if is_data && self.alters.take_if(|step| *step == frame.at.part).is_some() {
            frame.payload[0] ^= 1;
        }
        if !self.is_gone {
            act.send(to, frame);
        }
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        if let (Event::Frame(frame), Gone::AfterHearing(step)) = (&event, self.gone) {
            self.heard += usize::from(frame.kind == FrameKind::Data && frame.at.part == step);
        }
        if self.heard == 2 {
            self.go(act);
        } else {
            act.hear(from, event);
        }
    }
}

/// Three parties, of which P0 is corrupt, run after run as it is told.
struct Deployment {
    folder: PathBuf,
    config: Config,
    listener: Listener,
    seats: [Seat; 2],
}

impl Deployment {
    fn new(name: &str, port: u16) -> Self {
        let folder = std::env::temp_dir().join(format!("tacit-attempts-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let free =
            |first: &u16| (*first..first + 3).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok());
        let port = (port..port + 90).step_by(3).find(free).expect("three ports are free");
        init(&folder, 3, &[], "127.0.0.1", port).unwrap();
        let path = |name: &str| folder.join(name).join("parties.toml");
        let config = Config::load(&path("P0")).unwrap();
        let listener = Listener::bind(&config).unwrap();
        let seats = ["P1", "P2"].map(|name| Seat::open(&path(name)).unwrap());
        Self { folder, config, listener, seats }
    }

    /// What P1 and P2 have of a run in which P0 is corrupt in this way.
    fn run(&mut self, corrupt: Corrupt) -> [Result<Run, Error>; 2] {
        let compiled = product();
        let inputs = [[Some(ints([5, -7, 9])), None], [None, Some(ints([4, 4, 100]))]];
        let Self { config, listener, seats, .. } = self;
        thread::scope(|scope| {
            let honest = seats.each_mut();
            let threads: Vec<_> = honest
                .into_iter()
                .zip(inputs)
                .map(|(seat, inputs)| {
                    let compiled = &compiled;
                    scope.spawn(move || seat.run_within(compiled, PROTOCOL, &inputs, &|_, _| {}, PATIENCE))
                })
                .collect();
            let links = reacting(Box::new(listener.gather(&[], PATIENCE).unwrap()), Box::new(corrupt));
            let mesh = Mesh::new(links, 0, config.names(), config.limits().clone());
            let endpoint =
                Endpoint::new(&compiled, protocol(PROTOCOL).unwrap(), config.names(), Vec::new()).unwrap();
            let _ = play(&endpoint, mesh, Source::InRun, vec![None, None], &mut Unobserved);
            let mut ends = threads.into_iter().map(|thread| thread.join().unwrap());
            std::array::from_fn(|_| ends.next().unwrap())
        })
    }

    /// Both seats refuse to run, and why.
    fn refuse(&mut self) -> [(u64, bool); 2] {
        self.seats.each_mut().map(|seat| match seat.run(&product(), PROTOCOL, &[None, None], &|_, _| {}) {
            Err(Error::Stopped { attempts, failed_check }) => (attempts, failed_check),
            other => panic!("{other:?}"),
        })
    }
}

impl Drop for Deployment {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn runs_that_end_between_a_coin_and_the_verdict_are_counted_until_a_party_stops() {
    let mut deployment = Deployment::new("lost", 10_100);
    deployment.seats.iter_mut().for_each(|seat| seat.stop_after(Some(2)));
    for (gone, attempts) in [
        (Gone::BeforeSending(step::COIN_COMMIT), 0),
        // The triples are accepted then.
        (Gone::BeforeSending(step::ACCEPT), 0),
        (Gone::AfterHearing(step::COIN_OPEN), 1),
        (Gone::Never, 1),
        (Gone::AfterHearing(step::COIN_OPEN), 2),
    ] {
        for result in deployment.run(Corrupt::going(gone)) {
            if matches!(gone, Gone::Never) {
                assert!(result.is_ok(), "{result:?}");
                continue;
            }
            let error = result.unwrap_err();
            assert!(error.is_abort() && !error.is_failed_check(), "{error}");
            let told = error.to_string().contains("counts as an attempt");
            assert_eq!(told, matches!(gone, Gone::AfterHearing(_)), "{error}");
        }
        assert_eq!(deployment.seats.each_ref().map(Seat::attempts), [attempts; 2]);
    }
    assert_eq!(deployment.refuse(), [(2, false); 2]);
}

#[test]
fn after_a_failed_check_a_party_runs_nothing_until_it_is_told_to() {
    let mut deployment = Deployment::new("failed", 10_200);
    for result in deployment.run(Corrupt::altering(step::CHECK_TRIPLES)) {
        assert!(result.unwrap_err().is_failed_check());
    }
    assert_eq!(deployment.refuse(), [(1, true); 2]);
    deployment.seats.iter_mut().for_each(|seat| seat.stop_after(None));
    for result in deployment.run(Corrupt::going(Gone::Never)) {
        assert_eq!(result.unwrap().outputs[0], Some(ints([20, -28, 900])));
    }
}
