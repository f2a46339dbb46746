//! A front whose servers say what a test has them say.

use super::*;
use crate::client::ask;
use crate::enctype::Enctype;
use crate::messages::read_error;
use crate::testing::{ports, settings};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a reply that no datagram may have.
const LONG: usize = 2000;

/// Settings of a front, and how many requests have come to its servers.
fn front(servers_are_there: bool) -> (Settings, Arc<AtomicUsize>) {
    let port = ports();
    let address = |offset: u16| format!("127.0.0.1:{}", port + offset);
    let settings = Settings {
        listen: address(0),
        orders: address(1),
        servers: [2, 3, 4].map(address),
        ..settings("R.EXAMPLE", Enctype::Aes128Sha1)
    };
    let asked: Arc<AtomicUsize> = Arc::default();
    for server in settings.servers.iter().filter(|_| servers_are_there) {
        let (listener, asked) = (TcpListener::bind(server).unwrap(), asked.clone());
        thread::spawn(move || {
            for link in listener.incoming() {
                let (mut link, asked) = (link.unwrap(), asked.clone());
                thread::spawn(move || serve(&mut link, &asked));
            }
        });
    }
    let relayed = settings.clone();
    thread::spawn(move || relay(&relayed).unwrap());
    (settings, asked)
}

/// A server that says for each request, after a while, what it was, and much more.
fn serve(link: &mut TcpStream, asked: &AtomicUsize) {
    while let Ok((kind, bytes)) = wire::read(link) {
        let requests = wire::unpack(&bytes).unwrap();
        asked.fetch_add(requests.len(), Ordering::SeqCst);
        thread::sleep(Duration::from_millis(300));
        let long = |request: &Vec<u8>| [&request[..], &[0; LONG]].concat();
        wire::write(link, kind, &wire::pack(&requests.iter().map(long).collect::<Vec<_>>())).unwrap();
    }
}

fn link(settings: &Settings) -> TcpStream {
    let until = Instant::now() + Duration::from_mins(1);
    loop {
        match TcpStream::connect(&settings.listen) {
            Ok(link) => return link,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
    }
}

#[test]
fn one_request_is_answered_once_however_often_it_comes() {
    let (settings, asked) = front(true);
    // By TCP twice and by UDP, while the servers are at it: as a client does that waits for more than a second.
    let mut links = [link(&settings), link(&settings)];
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send_to(b"request", &settings.listen).unwrap();
    let long = [&b"request"[..], &[0; LONG]].concat();
    thread::scope(|scope| {
        for link in &mut links {
            let long = &long;
            scope.spawn(move || assert_eq!(ask(link, b"request").unwrap(), *long));
        }
    });
    // The reply is too long for a datagram, so the client is to come by TCP.
    let mut told = [0; LONG];
    socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let (count, _) = socket.recv_from(&mut told).unwrap();
    assert_eq!(read_error(&told[..count]), Some(52));
    // Once more, a moment later.
    assert_eq!(ask(&mut links[0], b"request").unwrap(), long);
    assert_eq!(asked.load(Ordering::SeqCst), 3, "each server was asked once");
    assert_eq!(ask(&mut links[0], b"another").unwrap()[..7], *b"another");
    assert_eq!(asked.load(Ordering::SeqCst), 6);
}

#[test]
fn without_servers_clients_are_told_that_there_is_no_service() {
    let (settings, _) = front(false);
    let mut link = link(&settings);
    for _ in 0..2 {
        assert_eq!(read_error(&ask(&mut link, b"request").unwrap()), Some(29));
    }
}
