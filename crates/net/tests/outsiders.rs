//! Those who call without being asked: they are put off, and nobody else is.

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;
use std::{fs, thread};

use common::{Deployment, address, free_ports, mesh, replace_certificate};
use rustix::net::{AddressFamily, SocketType};
use tacit_net::setup::{Listener, Note, Security};

const SHORT: Duration = Duration::from_millis(700);

#[test]
fn strangers_and_garbage_are_turned_away_while_the_others_meet() {
    for security in [Security::Tcp, Security::Tls] {
        let deployment = Deployment::new(2, 0).with(security);
        let config = deployment.config(0);
        let mut listener = Listener::bind(&config).unwrap();
        let to = address(&config, 0);
        let mut strangers = Vec::new();
        for bytes in [
            &b"GET / HTTP/1.1\r\n\r\n"[..],
            &[0; 5000],
            &[0xff; 5000],
            &[0x16, 3, 1, 0xff, 0xff, 1, 0, 0xff, 0xff],
            b"",
        ] {
            let mut socket = TcpStream::connect(&to).unwrap();
            socket.write_all(bytes).unwrap();
            strangers.push(socket);
        }
        // One hangs up in the middle of its words, one just stays.
        TcpStream::connect(&to).unwrap().write_all(b"tacit").unwrap();
        let other = deployment.config(1);
        let caller = thread::spawn(move || {
            thread::sleep(Duration::from_millis(200));
            mesh(&other)
        });
        listener.gather(&[], Duration::from_secs(20)).unwrap();
        caller.join().unwrap().unwrap();
        let turned_away: u64 = listener.turned_away().map(|away| away.times).sum();
        assert!(turned_away >= 4, "{turned_away:?}");
        drop(strangers);
    }
}

/// What a caller says first under TLS: bytes that anybody can send.
fn beginning_of_tls(deployment: &Deployment) -> Vec<u8> {
    let port = free_ports(1);
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let path = deployment.path(1);
    let text = fs::read_to_string(path).unwrap();
    deployment.edit(1, &address(&deployment.config(1), 0), &format!("127.0.0.1:{port}"));
    let config = deployment.config(1);
    fs::write(path, text).unwrap();
    let caller = thread::spawn(move || Listener::bind(&config).unwrap().gather(&[], SHORT).unwrap_err());
    let (mut socket, _) = listener.accept().unwrap();
    let mut bytes = vec![0; 16 << 10];
    let count = socket.read(&mut bytes).unwrap();
    drop(socket);
    drop(listener);
    caller.join().unwrap();
    bytes.truncate(count);
    bytes
}

/// Outsiders that call and call again as soon as they are put out, until the guard is dropped. Each says these bytes.
struct Outsiders(Arc<AtomicBool>, Vec<thread::JoinHandle<()>>);

impl Outsiders {
    /// So many connections, in four threads; all of them have called once when this returns.
    fn call(to: SocketAddr, connections: usize, says: &[u8]) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let called = Arc::new(Barrier::new(5));
        let one = |_| {
            let (over, called, says) = (Arc::clone(&over), Arc::clone(&called), says.to_vec());
            let call = move || {
                let mut socket = TcpStream::connect(to).ok()?;
                socket.write_all(&says).ok()?;
                socket.set_nonblocking(true).ok()?;
                Some(socket)
            };
            thread::spawn(move || {
                let mut sockets: Vec<_> = (0..connections / 4).map(|_| call()).collect();
                called.wait();
                while !over.load(Ordering::Relaxed) {
                    for socket in &mut sockets {
                        let end = |mut socket: &TcpStream| match socket.read(&mut [0; 4096]) {
                            Ok(count) => count == 0,
                            Err(error) => error.kind() != ErrorKind::WouldBlock,
                        };
                        if socket.as_ref().is_none_or(end) {
                            *socket = call();
                        }
                    }
                    thread::sleep(Duration::from_millis(1));
                }
            })
        };
        let threads = (0..4).map(one).collect();
        called.wait();
        Self(over, threads)
    }
}

impl Drop for Outsiders {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

/// However many outsiders hold connections, and take new ones at once when they are put out: the peers meet. Nobody would
/// be put out by the clock, within a day.
#[test]
fn outsiders_keep_nobody_from_meeting() {
    for speaking in [false, true] {
        let deployment = Deployment::new(2, 0);
        let says = if speaking { beginning_of_tls(&deployment) } else { Vec::new() };
        deployment.add("[limits]\nhandshake_seconds = 86400.0");
        let config = deployment.config(0);
        let to = address(&config, 0).parse().unwrap();
        let mut listener = Listener::bind(&config).unwrap();
        let outsiders = Outsiders::call(to, 252, &says);
        for _ in 0..3 {
            let other = deployment.config(1);
            let caller = thread::spawn(move || mesh(&other).map(|_| ()));
            listener.gather(&[], Duration::from_secs(20)).unwrap();
            caller.join().unwrap().unwrap();
        }
        drop(outsiders);
        let away: Vec<_> = listener.turned_away().collect();
        assert!(away.iter().any(|away| away.why.ends_with("and made room for others")), "{away:?}");
        assert!(away.len() <= 4, "{away:?}");
    }
}

/// A host with many callers makes room for one with few, however long that one takes.
#[test]
fn who_has_most_callers_makes_room() {
    let deployment = Deployment::new(2, 0);
    deployment.add("[limits]\ncallers = 8\nhandshake_seconds = 86400.0");
    let config = deployment.config(0);
    let to: SocketAddr = address(&config, 0).parse().unwrap();
    let mut listener = Listener::bind(&config).unwrap();
    let quiet = TcpStream::connect(to).unwrap();
    let from = |host: u8| {
        // All addresses of this network are this machine's.
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        rustix::net::bind(&socket, &SocketAddr::from(([127, 0, 0, host], 0))).unwrap();
        rustix::net::connect(&socket, &to).unwrap();
        TcpStream::from(socket)
    };
    let crowd: Vec<_> = (0..100).map(|_| from(2)).collect();
    listener.gather(&[], SHORT).unwrap_err();
    let away: Vec<_> = listener.turned_away().map(|away| (away.from.ip().to_string(), away.times)).collect();
    assert_eq!(away, [("127.0.0.2".to_owned(), 93)]);
    drop((quiet, crowd));
}

#[test]
fn silent_callers_do_not_stay() {
    let deployment = Deployment::new(2, 0);
    deployment.add("[limits]\nhandshake_seconds = 0.2");
    let config = deployment.config(0);
    let mut listener = Listener::bind(&config).unwrap();
    let _silent: Vec<_> = (0..6).map(|_| TcpStream::connect(address(&config, 0)).unwrap()).collect();
    let error = listener.gather(&[], SHORT).unwrap_err().to_string();
    assert!(error.contains("took too long to say who it is (6 times)"), "{error}");
}

/// A party is told at once who was turned away, and why; of whoever calls again and again less and less.
#[test]
fn who_is_turned_away_is_told_of() {
    let deployment = Deployment::new(2, 0);
    let config = deployment.config(0);
    let to = address(&config, 0);
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut listener = Listener::bind(&config).unwrap();
    let here = Arc::clone(&told);
    listener.tell(Arc::new(move |note| {
        if let Note::TurnedAway(away) = note {
            here.lock().unwrap().push(away.clone());
        }
    }));
    // P1 has made itself a new certificate and told nobody.
    replace_certificate(&deployment, 1, (2020, 2100), &[1]);
    let other = deployment.config(1);
    let caller = thread::spawn(move || mesh(&other).map(|_| ()).unwrap_err().to_string());
    let strangers: Vec<_> = (0..100).map(|_| TcpStream::connect(&to).unwrap()).collect();
    for mut socket in &strangers {
        socket.write_all(b"GET / HTTP/1.1").unwrap();
    }
    listener.gather(&[], Duration::from_secs(3)).unwrap_err();
    assert!(caller.join().unwrap().contains("refuses this side's certificate"));
    let told = told.lock().unwrap();
    let refused =
        |why: &str| told.iter().filter(|away| away.why.contains(why)).map(|away| away.times).collect();
    let unknown: Vec<u64> = refused("which is nobody's in the configuration");
    assert_eq!(unknown, [1], "{told:?}");
    let strange: Vec<u64> = refused("broke TLS");
    assert_eq!(strange, [1, 2, 4, 8, 16, 32, 64], "{told:?}");
}
