//! A front whose servers say what a test has them say.

use super::*;
use crate::client::ask;
use crate::enctype::Enctype;
use crate::messages::read_error;
use crate::testing::{ports, settings};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a reply that no datagram may have.
const LONG: usize = 2000;
/// As far as a front reads it.
const REQUEST: &[u8] = &[0x6a, 5];

/// Settings of a front, and how many requests have come to its servers.
fn front(servers_are_there: bool) -> (Settings, Arc<AtomicUsize>) {
    front_of(servers_are_there, Duration::from_millis(300), 64)
}

/// The same of servers that take so long, and of a front that takes so many of one address at a time.
fn front_of(servers_are_there: bool, takes: Duration, max_of_address: usize) -> (Settings, Arc<AtomicUsize>) {
    let port = ports();
    let address = |offset: u16| format!("127.0.0.1:{}", port + offset);
    let settings = Settings {
        listen: address(0),
        orders: address(1),
        servers: [2, 3, 4].map(address),
        max_of_address,
        ..settings("R.EXAMPLE", Enctype::Aes128Sha1)
    };
    let asked: Arc<AtomicUsize> = Arc::default();
    for server in settings.servers.iter().filter(|_| servers_are_there) {
        let (listener, asked) = (TcpListener::bind(server).unwrap(), asked.clone());
        thread::spawn(move || {
            for link in listener.incoming() {
                let (mut link, asked) = (link.unwrap(), asked.clone());
                thread::spawn(move || serve(&mut link, &asked, takes));
            }
        });
    }
    let relayed = settings.clone();
    thread::spawn(move || relay(&relayed).unwrap());
    (settings, asked)
}

/// A server that says for each request, after such a time, what it was, and much more.
fn serve(link: &mut TcpStream, asked: &AtomicUsize, takes: Duration) {
    while let Ok((kind, bytes)) = wire::read(link) {
        let requests = wire::unpack(&bytes).unwrap();
        asked.fetch_add(requests.len(), Ordering::SeqCst);
        thread::sleep(takes);
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
    socket.send_to(REQUEST, &settings.listen).unwrap();
    let long = [REQUEST, &[0; LONG]].concat();
    thread::scope(|scope| {
        for link in &mut links {
            let long = &long;
            scope.spawn(move || assert_eq!(ask(link, REQUEST).unwrap(), *long));
        }
    });
    // The reply is too long for a datagram, so the client is to come by TCP.
    let mut told = [0; LONG];
    socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let (count, _) = socket.recv_from(&mut told).unwrap();
    assert_eq!(read_error(&told[..count]), Some(52));
    // Once more, a moment later.
    assert_eq!(ask(&mut links[0], REQUEST).unwrap(), long);
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

#[test]
fn what_one_server_alone_says_is_no_reply() {
    let error = |now: i64| messages::error(Code::Unavailable, now, "R.EXAMPLE", None, None);
    let [own, other] = [b"own".to_vec(), b"other".to_vec()];
    assert_eq!(chosen(vec![own.clone(), other.clone(), other.clone()]), Some(other.clone()));
    assert_eq!(chosen(vec![own.clone(), error(1), error(2)]), Some(error(2)));
    assert_eq!(chosen(vec![own.clone(), other.clone()]), None);
    assert_eq!(chosen(vec![other.clone()]), None);
    assert_eq!(chosen(vec![]), None);

    // One that has clients hash their passwords once, and lets others hear.
    let methods = |iterations| {
        let data = messages::methods(Enctype::Aes128Sha1, ("salt", iterations));
        let error = |now| messages::error(Code::PreauthRequired, now, "R.EXAMPLE", None, Some(&data));
        [1, 2, 3].map(error)
    };
    let ([weak, ..], [first, second, third]) = (methods(1), methods(100_000));
    assert_eq!(chosen(vec![weak.clone(), own.clone(), other]), None);
    assert_eq!(chosen(vec![weak.clone(), first.clone(), own]), None);
    let told = chosen(vec![weak.clone(), first.clone(), second.clone()]);
    assert!([&first, &second].contains(&&told.unwrap()));
    let told = chosen(vec![third.clone(), weak, second.clone()]);
    assert!([&second, &third].contains(&&told.unwrap()));
    assert_eq!(chosen(vec![third, first, second.clone()]), Some(second.clone()), "the middle time");
    // What stands behind an error is none of it.
    assert_eq!(chosen(vec![[&second[..], &[0]].concat(), [&second[..], &[1]].concat()]), None);
}

#[test]
fn no_server_speaks_for_others() {
    let told = [&b"P0: a"[..], b"P1: b\nP2: c", b"P2: d"].map(<[u8]>::to_vec);
    assert_eq!(lines(&told), b"P0: a\nP1: b P2: c\nP2: d");
}

/// Two KDCs would else answer one another for ever.
#[test]
fn what_is_no_request_has_no_answer_by_udp() {
    let (settings, asked) = front_of(true, Duration::ZERO, 64);
    drop(link(&settings));
    let socket = socket_at("127.0.0.1");
    let error = messages::error(Code::Generic, 5, "R.EXAMPLE", None, None);
    // An AS-REP and a TGS-REP, too.
    for other in [&error[..], &[0x6b; 300], &[0x6d; 300], &[1; 300], b""] {
        socket.send_to(other, &settings.listen).unwrap();
    }
    for tag in [0x6a, 0x6c] {
        socket.send_to(&[tag; 300], &settings.listen).unwrap();
    }
    assert_eq!(codes(&socket, 2), [Some(52), Some(52)]);
    socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    assert!(socket.recv_from(&mut [0; LONG]).is_err());
    assert_eq!(asked.load(Ordering::SeqCst), 6, "two requests by three servers");
}

/// A socket at an address of this machine.
fn socket_at(address: &str) -> UdpSocket {
    let socket = UdpSocket::bind((address, 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    socket
}

/// The error codes of so many replies.
fn codes(socket: &UdpSocket, replies: usize) -> Vec<Option<i64>> {
    let mut told = [0; LONG];
    (0..replies)
        .map(|_| {
            let (count, _) = socket.recv_from(&mut told).unwrap();
            read_error(&told[..count])
        })
        .collect()
}

/// A request with room for an error.
fn request(number: u16) -> Vec<u8> {
    [&[0x6a][..], &number.to_be_bytes(), &[1; 300]].concat()
}

#[test]
fn one_address_takes_no_more_than_its_places_and_others_have_theirs() {
    let (settings, asked) = front_of(true, Duration::from_secs(3), 2);
    drop(link(&settings));
    let (one, other) = (socket_at("127.0.0.1"), socket_at("127.0.0.2"));
    for number in 0..2 {
        one.send_to(&request(number), &settings.listen).unwrap();
    }
    let until = Instant::now() + Duration::from_mins(1);
    while asked.load(Ordering::SeqCst) == 0 {
        assert!(Instant::now() < until, "the servers are asked");
        thread::sleep(Duration::from_millis(10));
    }
    // One that waits already takes no other place, and what is shorter than an error has no answer.
    one.send_to(&request(1), &settings.listen).unwrap();
    one.send_to(REQUEST, &settings.listen).unwrap();
    one.send_to(&request(2), &settings.listen).unwrap();
    other.send_to(&request(3), &settings.listen).unwrap();
    // The third of one address is refused at once; all others are answered, if too long for a datagram.
    assert_eq!(codes(&one, 3), [Some(29), Some(52), Some(52)]);
    assert_eq!(codes(&other, 1), [Some(52)]);
    assert_eq!(asked.load(Ordering::SeqCst), 9, "three requests by three servers");
    one.send_to(&request(4), &settings.listen).unwrap();
    assert_eq!(codes(&one, 1), [Some(52)]);

    // Links count for themselves: a third one is closed until one of the two is.
    let mut links = [link(&settings), link(&settings)];
    assert_eq!(ask(&mut links[1], &request(5)).unwrap()[..303], request(5));
    assert!(ask(&mut link(&settings), &request(6)).is_err());
    let [first, _second] = links;
    drop(first);
    let until = Instant::now() + Duration::from_mins(1);
    while ask(&mut link(&settings), &request(7)).is_err() {
        assert!(Instant::now() < until, "a place is free again");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn clients_are_told_by_udp_that_too_many_wait() {
    let (settings, _) = front_of(true, Duration::from_secs(10), usize::MAX);
    drop(link(&settings));
    let socket = socket_at("127.0.0.1");
    for number in 0..2 * QUEUE as u16 {
        socket.send_to(&request(number), &settings.listen).unwrap();
        // The front has to take each from a buffer that isn't endless.
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(codes(&socket, 1), [Some(29)]);
}

#[test]
fn a_length_that_no_request_has_is_told_to_be_too_long() {
    let (settings, _) = front(false);
    let mut link = link(&settings);
    io::Write::write_all(&mut link, &[0x80, 0, 0, 0]).unwrap();
    let mut told = Vec::new();
    io::Read::read_to_end(&mut link, &mut told).unwrap();
    assert_eq!(read_error(&told[4..]), Some(61));
    // The shortest of these by either way, and the longest request that is one.
    let long = vec![REQUEST[0]; wire::MAX_REQUEST + 1];
    let socket = socket_at("127.0.0.1");
    socket.send_to(&long, &settings.listen).unwrap();
    assert_eq!(codes(&socket, 1), [Some(61)]);
    let mut link = self::link(&settings);
    assert_eq!(read_error(&ask(&mut link, &long[1..]).unwrap()), Some(29), "there are no servers");
    assert_eq!(read_error(&ask(&mut link, &long).unwrap()), Some(61));
}
