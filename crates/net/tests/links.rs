//! What a mesh promises, over memory, TCP and TLS alike.

mod common;

use std::thread;
use std::time::{Duration, Instant};

use common::{Deployment, SOON, worlds};
use tacit_net::setup::Security;
use tacit_net::{At, ErrorKind, Limits, Mesh, Phase, Shaped, Transport, load_profile, memory};

/// Runs every mesh in a thread of its own; the results in their order.
fn run<T: Send + 'static>(meshes: Vec<Mesh>, body: impl Fn(Mesh) -> T + Copy + Send + 'static) -> Vec<T> {
    let threads: Vec<_> = meshes.into_iter().map(|mesh| thread::spawn(move || body(mesh))).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

fn peers(mesh: &Mesh) -> Vec<usize> {
    (0..mesh.endpoints()).filter(|&peer| mesh.is_linked(peer)).collect()
}

/// A small generator, the same for everybody: who sends how much to whom is agreed.
struct Pattern(u64);

impl Pattern {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn len(&mut self) -> usize {
        match self.next(8) {
            0 => [0, 1, 63, 64, 65][self.next(5)],
            1 => 200_000 + self.next(200_000),
            2 => 65_536 - 2 + self.next(4),
            _ => self.next(3000),
        }
    }
}

fn content(from: usize, to: usize, op: u32, len: usize) -> Vec<u8> {
    let seed = from * 31 + to * 17 + op as usize * 7;
    (0..len).map(|i| (seed + i * (1 + op as usize % 5)) as u8).collect()
}

#[test]
fn random_patterns_arrive_in_full_and_in_order() {
    for (name, meshes) in worlds("outbox_bytes = 100000") {
        let counters = run(meshes, |mut mesh| {
            let mut pattern = Pattern(11);
            let me = mesh.me();
            for op in 0..150 {
                // In every step each of several pairs sends some messages; all sends come first.
                let step: Vec<(usize, usize, usize)> =
                    (0..6).map(|_| (pattern.next(4), pattern.next(4), pattern.len())).collect();
                let step: Vec<_> = step.into_iter().filter(|(from, to, _)| from != to).collect();
                let at = |batch: usize| At::op(op).with_batch(batch as u32);
                for (batch, &(from, to, len)) in step.iter().enumerate() {
                    if from == me {
                        mesh.send(to, at(batch), &content(from, to, op, len)).unwrap();
                    }
                }
                for (batch, &(from, to, len)) in step.iter().enumerate() {
                    if to == me {
                        let message = mesh.recv(from, at(batch), len).unwrap();
                        assert!(message == content(from, to, op, len), "{from} to {to}, op {op}");
                        mesh.recycle(message);
                    }
                }
                mesh.tick().unwrap();
            }
            let counters = mesh.counters();
            mesh.close().unwrap();
            counters
        });
        for from in 0..4 {
            for to in (0..4).filter(|&to| to != from) {
                let sent = counters[from].with_peer(Phase::Setup, to);
                let received = counters[to].with_peer(Phase::Setup, from);
                assert_eq!(
                    (sent.sent_bytes, sent.sent_messages),
                    (received.received_bytes, received.received_messages),
                    "{name}: {from} to {to}"
                );
                assert!(counters[from].wire(to).sent >= sent.sent_bytes + 16 * sent.sent_messages);
            }
        }
    }
}

#[test]
fn all_can_send_far_more_than_queues_hold_before_they_receive() {
    for (_, meshes) in worlds("outbox_bytes = 100000\ninbox_bytes = 100000000") {
        run(meshes, |mut mesh| {
            let peers = peers(&mesh);
            for op in 0..100 {
                for &peer in &peers {
                    let buffer = mesh.buffer(100_000);
                    mesh.send_vec(peer, At::op(op), [buffer, vec![op as u8; 100_000]].concat()).unwrap();
                }
            }
            for op in 0..100 {
                for &peer in &peers {
                    assert_eq!(mesh.recv(peer, At::op(op), 100_000).unwrap(), vec![op as u8; 100_000]);
                }
            }
            mesh.close().unwrap();
        });
    }
}

#[test]
fn a_slow_reader_holds_its_sender_back_and_loses_nothing() {
    for (name, mut meshes) in worlds("outbox_bytes = 500000\ninbox_bytes = 100000\nlinger_seconds = 0.1") {
        let mut reader = meshes.remove(1);
        let mut sender = meshes.remove(0);
        let sending = thread::spawn(move || {
            for op in 0..600 {
                sender.send(1, At::op(op), &vec![op as u8; 50_000]).unwrap();
            }
            // What is still queued goes out however long the reader takes.
            sender.close().unwrap();
        });
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(300) {
            reader.tick().unwrap();
            thread::sleep(Duration::from_millis(5));
        }
        assert!(!sending.is_finished(), "{name}: 30 MB went where only little has room");
        for op in 0..600 {
            if op % 100 == 0 {
                thread::sleep(Duration::from_millis(50));
            }
            assert_eq!(reader.recv(0, At::op(op), 50_000).unwrap(), vec![op as u8; 50_000]);
        }
        reader.close().unwrap();
        sending.join().unwrap();
    }
}

#[test]
fn a_party_that_dies_is_noticed_by_all() {
    for (name, mut meshes) in worlds("") {
        let dead = meshes.remove(2);
        let killer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            let died = Instant::now();
            drop(dead);
            died
        });
        let noticed = run(meshes, |mut mesh| {
            mesh.set_phase(Phase::Online);
            // Nobody waits for the one who dies; the last one does not wait at all.
            let error = match mesh.me() {
                0 => mesh.recv(1, At::op(1), 8).unwrap_err(),
                1 => mesh.recv(0, At::op(1), 8).unwrap_err(),
                _ => loop {
                    thread::sleep(Duration::from_millis(1));
                    if let Err(error) = mesh.tick() {
                        break error;
                    }
                },
            };
            (error, Instant::now())
        });
        let died = killer.join().unwrap();
        for (error, when) in noticed {
            assert!(when - died < SOON, "{name}: {:?}", when - died);
            assert!(error.to_string().contains("lost P2 (closed the connection)"), "{name}: {error}");
            assert!(error.to_string().contains("in the online phase"), "{name}: {error}");
        }
    }
}

#[test]
fn an_abort_and_a_wrong_message_stop_everybody() {
    for (name, meshes) in worlds("") {
        let errors = run(meshes, |mut mesh| match mesh.me() {
            0 => mesh.recv(2, At::op(1), 8).unwrap_err(),
            1 => mesh.abort("a check failed"),
            _ => mesh.recv(0, At::op(1), 8).unwrap_err(),
        });
        for (me, error) in errors.iter().enumerate().filter(|(me, _)| *me != 1) {
            assert!(
                matches!(error.what(), ErrorKind::Aborted { origin, reason, .. } if origin == "P1" && reason == "a check failed"),
                "{name}, {me}: {error}"
            );
        }
    }
    for (name, meshes) in worlds("") {
        let errors = run(meshes, |mut mesh| match mesh.me() {
            0 => {
                mesh.send(1, At::op(2), &[0; 9]).unwrap();
                mesh.recv(1, At::op(3), 1).unwrap_err()
            }
            1 => mesh.recv(0, At::op(2), 8).unwrap_err(),
            _ => mesh.recv(0, At::op(4), 8).unwrap_err(),
        });
        assert_eq!(*errors[1].what(), ErrorKind::WrongLength { expected: 8, got: 9 }, "{name}");
        for me in [0, 2, 3] {
            let text = errors[me].to_string();
            assert!(text.contains("sent 9 bytes where 8 were due"), "{name}: {text}");
        }
    }
}

#[test]
fn a_message_that_never_comes_ends_in_time_outs_everywhere() {
    for (name, meshes) in worlds("silence_seconds = 0.5") {
        let start = Instant::now();
        let errors = run(meshes, |mut mesh| {
            // A circle of waiting: nobody computes, so nobody sounds alive.
            let from = if mesh.me() == 3 { 0 } else { (mesh.me() + 1) % 3 };
            mesh.recv(from, At::op(1), 1).unwrap_err()
        });
        assert!(start.elapsed() >= Duration::from_millis(500), "{name}");
        assert!(errors.iter().any(|error| matches!(error.what(), ErrorKind::Silent { .. })), "{name}");
        for error in errors {
            assert!(
                matches!(error.what(), ErrorKind::Silent { .. } | ErrorKind::Aborted { .. }),
                "{name}: {error}"
            );
        }
    }
}

#[test]
fn those_who_wait_for_one_who_computes_are_patient() {
    for (name, meshes) in worlds("silence_seconds = 0.8") {
        run(meshes, |mut mesh| {
            let me = mesh.me();
            let at = At::op(1);
            if me == 2 {
                let start = Instant::now();
                while start.elapsed() < Duration::from_secs(2) {
                    thread::sleep(Duration::from_millis(1));
                    mesh.tick().unwrap();
                }
                mesh.send(1, at, &[7]).unwrap();
            } else if me == 1 {
                let message = mesh.recv(2, at, 1).unwrap();
                mesh.send_vec(0, at, message).unwrap();
            } else if me == 0 {
                let message = mesh.recv(1, at, 1).unwrap();
                mesh.send_vec(3, at, message).unwrap();
            } else {
                assert_eq!(mesh.recv(0, at, 1).unwrap(), [7]);
            }
            mesh.close().unwrap();
        });
        println!("{name}: fine");
    }
}

#[test]
fn a_goodbye_lets_others_go_on() {
    for (name, meshes) in worlds("") {
        run(meshes, |mut mesh| {
            if mesh.me() == 3 {
                mesh.send(0, At::op(1), &vec![1; 100_000]).unwrap();
                mesh.close().unwrap();
                return;
            }
            if mesh.me() == 0 {
                thread::sleep(Duration::from_millis(200));
                assert_eq!(mesh.recv(3, At::op(1), 100_000).unwrap(), vec![1; 100_000]);
            }
            let next = (mesh.me() + 1) % 3;
            mesh.send(next, At::op(2), &[2]).unwrap();
            mesh.recv((mesh.me() + 2) % 3, At::op(2), 1).unwrap();
            mesh.close().unwrap();
        });
        println!("{name}: fine");
    }
}

fn boxed(transport: impl Transport + 'static) -> Box<dyn Transport> {
    Box::new(transport)
}

#[test]
fn shaped_links_take_their_time() {
    let profile = load_profile("60ms,80mbit").unwrap();
    let names: Vec<String> = (0..3).map(|party| format!("P{party}")).collect();
    let tcp = Deployment::new(3, 0).with(Security::Tcp);
    let memory: Vec<Box<dyn Transport>> = memory::mesh(3, 0).into_iter().map(boxed).collect();
    let tcp: Vec<Box<dyn Transport>> = tcp.transports().into_iter().map(boxed).collect();
    for ends in [memory, tcp] {
        let shaped = ends.into_iter().enumerate().map(|(me, end)| {
            let end = Shaped::new(end, me, &names, &profile);
            Mesh::new(Box::new(end), me, names.clone(), Limits::default())
        });
        run(shaped.collect(), |mut mesh| {
            let next = (mesh.me() + 1) % 3;
            let prev = (mesh.me() + 2) % 3;
            mesh.send(next, At::op(0), &[]).unwrap();
            mesh.recv(prev, At::op(0), 0).unwrap();
            // Half a round trip for each of ten steps that wait for one another.
            let start = Instant::now();
            for op in 1..=10 {
                mesh.send(next, At::op(op), &[1]).unwrap();
                mesh.recv(prev, At::op(op), 1).unwrap();
            }
            assert!(start.elapsed() >= Duration::from_millis(10 * 30 - 30), "{:?}", start.elapsed());
            // Ten frames that don't wait: a megabyte in all, at ten megabytes a second. The peer may have begun
            // up to a round earlier.
            let start = Instant::now();
            for op in 11..=20 {
                mesh.send(next, At::op(op), &vec![0; 100_000]).unwrap();
            }
            for op in 11..=20 {
                mesh.recv(prev, At::op(op), 100_000).unwrap();
            }
            assert!(start.elapsed() >= Duration::from_millis(100 - 40), "{:?}", start.elapsed());
            mesh.close().unwrap();
        });
    }
}

/// Somebody who leaves, well or badly, with something unread: its link would be reset, and what it sent be lost.
#[test]
fn who_is_counted_on_stays_until_the_others_have_left() {
    const MESSAGES: u32 = 400;
    // In good order, with an error, and with one after it relies on all again, as in the next part of a stream.
    for (badly, later) in [(false, false), (true, false), (true, true)] {
        for (name, meshes) in worlds("linger_seconds = 0.1") {
            let left = run(meshes, move |mut mesh| {
                let me = mesh.me();
                if me == 3 {
                    // A client, on whom nobody counts, may hear of the abort.
                    let _ = mesh.close();
                    return Instant::now();
                }
                let start = mesh.now();
                mesh.tolerate_failures(start + Duration::from_secs(20));
                match me {
                    0 => {
                        for op in 0..MESSAGES {
                            mesh.send(1, At::op(op), &vec![1; 50_000]).unwrap();
                        }
                        if later {
                            mesh.require_all().unwrap();
                        }
                        if badly {
                            mesh.abort("a reason");
                        } else {
                            mesh.close().unwrap();
                        }
                    }
                    1 => {
                        // What the first one doesn't read.
                        mesh.send(0, At::op(0), &vec![2; 50_000]).unwrap();
                        thread::sleep(Duration::from_millis(600));
                        for op in 0..MESSAGES {
                            let deadline = mesh.now() + Duration::from_secs(10);
                            let message = mesh.recv_by(0, At::op(op), 50_000, deadline).unwrap();
                            assert!(
                                message.is_some_and(|message| message == vec![1; 50_000]),
                                "{name}, {op}"
                            );
                        }
                        mesh.close().unwrap();
                    }
                    _ => mesh.close().unwrap(),
                }
                Instant::now()
            });
            // Nobody waits for the end of its stay when the others have left.
            let last = left.iter().max().unwrap();
            assert!(left.iter().all(|left| *last - *left < Duration::from_secs(8)), "{name}");
        }
    }
}
