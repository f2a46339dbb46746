//! A crowd: 200 clients that are connected at once to one deployment that lives. It is a program of its own, so that what it
//! counts of memory and open files is that of the crowd alone.

use std::fs;
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};
use tacit::advanced::net::setup::{Config, init};
use tacit::program::{Builder, Data, Dtype, Range, Recipient, Value};
use tacit::{Compiled, Drain, Offer, Seat, Server, Serving};

const PROTOCOL: &str = "replicated";
const PARTIES: usize = 3;
const CLIENTS: usize = 200;
/// Runs that each client asks for over the same links.
const ROUNDS: usize = 2;
/// Time enough for anything on a busy machine.
const LONG: Duration = Duration::from_mins(4);

/// The square of a number of whoever plays `guest`.
fn square() -> Arc<Compiled> {
    let mut build = Builder::new();
    let x = build.input("guest", "x", Dtype::Int, &[1], Range::new(-1000, 1000)).unwrap();
    let square = build.mul(x, x).unwrap();
    build.reveal(square, Recipient::Role("guest".into())).unwrap();
    Compiled::new(build.finish().unwrap()).unwrap()
}

fn ints(value: i64) -> Value {
    Value { shape: vec![1], data: Data::Int(vec![value]) }
}

/// Ports in a row that nobody listens on.
fn free_ports() -> u16 {
    let from = 24_000 + std::process::id() as u16 % 300 * 16;
    let is_free = |first: &u16| {
        (*first..first + PARTIES as u16).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok())
    };
    (from..).step_by(16).find(is_free).unwrap()
}

fn serving() -> Serving {
    Serving { open: vec!["guest".to_owned()], ..Serving::new(PROTOCOL, 3) }
}

/// A seat that plays `guest`, and connects with its first run.
fn guest(config: Config) -> Seat {
    let mut seat = Seat::with(config.with_wait(LONG)).unwrap();
    seat.play(Some("guest".to_owned()));
    seat
}

/// Whether a client learns the square of its number, or what it learns instead.
fn asks(seat: &mut Seat, program: &Arc<Compiled>, x: i64) -> Result<(), String> {
    let run = seat.run(program, PROTOCOL, &[Some(ints(x))], &|_, _| ()).map_err(|error| error.to_string())?;
    if run.outputs == [Some(ints(x * x))] { Ok(()) } else { Err(format!("{x}: {:?}", run.outputs)) }
}

/// Bytes of memory that this process has in use.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/statm").unwrap();
    4096 * status.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
}

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Each asks, stays connected while all others do, and asks again over the same links: all have their own answers, no open file
/// comes with a run, and none is left once the clients are gone.
#[test]
fn two_hundred_clients_are_connected_at_once_and_leave_nothing_behind() {
    let (folder, program) = (tempfile::tempdir().unwrap(), square());
    let names: Vec<String> = (0..CLIENTS).map(|number| format!("client{number}")).collect();
    init(folder.path(), PARTIES, &names, "127.0.0.1", free_ports()).unwrap();
    let config = |name: &str| Config::load(&folder.path().join(name).join("parties.toml")).unwrap();
    let (ended, ends) = channel();
    let drains: Vec<Drain> = (0..PARTIES)
        .map(|party| {
            let offer = Offer { compiled: program.clone(), inputs: vec![None] };
            let mut server = Server::open(&config(&format!("P{party}")), vec![offer], serving()).unwrap();
            let (drain, ended) = (server.drain(), ended.clone());
            thread::spawn(move || {
                let (mut well, mut failed) = (0, Vec::new());
                let done = server.serve(&mut |served| {
                    match served.result {
                        Ok(_) => well += 1,
                        Err(error) => failed.push(error.to_string()),
                    }
                    Ok::<_, tacit::Error>(())
                });
                ended.send((done.map_err(|error| error.to_string()), well, failed)).unwrap();
            });
            drain
        })
        .collect();
    asks(&mut guest(config("client0")), &program, 1).unwrap();
    let before = open_files();

    let (met, parted) = (Barrier::new(CLIENTS + 1), Barrier::new(CLIENTS + 1));
    let (answers, taken) = thread::scope(|scope| {
        let crowd: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (config, program) = (config(&names[number]), &program);
                let (met, parted) = (&met, &parted);
                scope.spawn(move || {
                    let mut own = guest(config);
                    let round = |round| {
                        let answer = asks(&mut own, program, (number * ROUNDS + round) as i64);
                        met.wait();
                        parted.wait();
                        answer
                    };
                    // Whoever has no answer goes on: the others wait for it.
                    (0..ROUNDS).map(round).collect::<Vec<_>>()
                })
            })
            .collect();
        let taken: Vec<(u64, usize)> = (0..ROUNDS)
            .map(|_| {
                met.wait();
                let taken = (memory(), open_files());
                parted.wait();
                taken
            })
            .collect();
        (crowd.into_iter().flat_map(|client| client.join().unwrap()).collect::<Vec<_>>(), taken)
    });
    println!("open files before: {before}; bytes and open files after each round: {taken:?}");
    let failed: Vec<_> = answers.into_iter().filter_map(Result::err).collect();
    assert_eq!(failed, [""; 0]);
    // Both ends of each link are in this process.
    let links = 2 * PARTIES * CLIENTS;
    assert!(
        taken[0].1 >= before - 2 * PARTIES + links,
        "they weren't connected at once: {before}, {taken:?}"
    );
    assert!(taken[ROUNDS - 1].1 <= taken[0].1 + 10, "open files: {taken:?}");
    assert!(taken[ROUNDS - 1].0 <= taken[0].0 + (32 << 20), "memory: {taken:?}");

    let start = Instant::now();
    while open_files() > before {
        assert!(start.elapsed() < LONG, "{} open files where {before} were before", open_files());
        thread::sleep(Duration::from_millis(10));
    }
    for _ in drains.iter().inspect(|drain| drain.ask()).collect::<Vec<_>>() {
        let (done, well, failed) = ends.recv_timeout(LONG).unwrap();
        assert_eq!((done, well, failed), (Ok(()), 1 + CLIENTS * ROUNDS, Vec::new()));
    }
}
