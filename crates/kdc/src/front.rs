//! The front: it relays requests to the three servers, and replies to clients. It has no key, and learns what anybody on the wire
//! does; all that it could do is to keep requests or replies back.

use crate::messages::{self, Code};
use crate::realm::Settings;
use crate::server::Failure;
use crate::wire::{self, Kind};
use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Requests that wait at most; others get no answer, and come again.
const QUEUE: usize = 256;
/// Connections of clients by TCP at most.
const CONNECTIONS: usize = 256;
/// How long a client by TCP may be silent.
const SILENCE: Duration = Duration::from_secs(10);
/// How long the servers may take for a request: they may have to compile.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long a reply is kept for the same request: clients by UDP ask again after a second.
const LOOK_ASIDE: Duration = Duration::from_secs(10);

/// A request by UDP, and whose it is.
type Datagram = (SocketAddr, Vec<u8>);

/// Something for the servers, and who waits for the reply.
struct Job {
    kind: Kind,
    bytes: Vec<u8>,
    reply: SyncSender<Option<Vec<u8>>>,
}

/// Relays until the process ends.
///
/// # Errors
/// If a port can't be had.
pub fn relay(settings: &Settings) -> Result<(), Failure> {
    let bound = |address: &str, error: io::Error| io::Error::new(error.kind(), format!("{address}: {error}"));
    let clients = TcpListener::bind(&settings.listen).map_err(|error| bound(&settings.listen, error))?;
    let datagrams = UdpSocket::bind(&settings.listen).map_err(|error| bound(&settings.listen, error))?;
    let admins = TcpListener::bind(&settings.orders).map_err(|error| bound(&settings.orders, error))?;
    let (jobs, queue) = sync_channel(QUEUE);
    println!("relays for {} at {}", settings.realm, settings.listen);
    thread::scope(|scope| {
        let asked = jobs.clone();
        scope.spawn(move || accept(&clients, &asked, Kind::Request));
        scope.spawn({
            let jobs = jobs.clone();
            move || accept(&admins, &jobs, Kind::Order)
        });
        scope.spawn(move || take_datagrams(&datagrams, settings, &jobs));
        work(settings, &queue);
    });
    Ok(())
}

/// Asks the servers, and waits.
fn ask(jobs: &SyncSender<Job>, kind: Kind, bytes: Vec<u8>) -> Option<Vec<u8>> {
    let (reply, replied) = sync_channel(1);
    jobs.try_send(Job { kind, bytes, reply }).ok()?;
    replied.recv().ok().flatten()
}

/// Takes connections, each in a thread.
fn accept(listener: &TcpListener, jobs: &SyncSender<Job>, kind: Kind) {
    let open = Arc::new(());
    for link in listener.incoming() {
        let Ok(mut link) = link else { continue };
        if Arc::strong_count(&open) > CONNECTIONS {
            continue;
        }
        let (jobs, counted) = (jobs.clone(), open.clone());
        thread::spawn(move || {
            let _ = link.set_read_timeout(Some(SILENCE)).and_then(|()| link.set_write_timeout(Some(SILENCE)));
            let served = match kind {
                Kind::Request => serve_client(&mut link, &jobs),
                Kind::Order => serve_admin(&mut link, &jobs),
            };
            // Whoever is there has gone, and asks again if it likes.
            drop((served, counted));
        });
    }
}

/// Messages over TCP: a length of four bytes, and so many (RFC 4120, section 7.2.2).
fn serve_client(link: &mut TcpStream, jobs: &SyncSender<Job>) -> io::Result<()> {
    loop {
        let mut head = [0; 4];
        io::Read::read_exact(link, &mut head)?;
        let request = wire::read_bytes(link, u32::from_be_bytes(head) as usize)?;
        let Some(reply) = ask(jobs, Kind::Request, request) else { return Ok(()) };
        let message = [&(reply.len() as u32).to_be_bytes()[..], &reply].concat();
        io::Write::write_all(link, &message)?;
    }
}

fn serve_admin(link: &mut TcpStream, jobs: &SyncSender<Job>) -> io::Result<()> {
    let (Kind::Order, order) = wire::read(link)? else { return Ok(()) };
    let told = ask(jobs, Kind::Order, order).unwrap_or_else(|| b"the servers don't answer".to_vec());
    wire::write(link, Kind::Order, &told)
}

fn take_datagrams(socket: &UdpSocket, settings: &Settings, jobs: &SyncSender<Job>) {
    let mut buffer = vec![0; wire::MAX_FRAME];
    let waiting: Arc<Mutex<Vec<Datagram>>> = Arc::default();
    loop {
        let Ok((count, client)) = socket.recv_from(&mut buffer) else { continue };
        let (request, Ok(socket)) = (buffer[..count].to_vec(), socket.try_clone()) else { continue };
        // One that is being answered isn't asked again.
        let asked = (client, request.clone());
        {
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if waiting.len() >= QUEUE || waiting.contains(&asked) {
                continue;
            }
            waiting.push(asked.clone());
        }
        let (jobs, waiting) = (jobs.clone(), waiting.clone());
        let (realm, most) = (settings.realm.clone(), settings.max_datagram);
        thread::spawn(move || {
            if let Some(mut reply) = ask(&jobs, Kind::Request, request) {
                if reply.len() > most {
                    // The client asks again by TCP.
                    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                    reply = messages::error(Code::TooBig, since.as_secs() as i64, &realm, None, None);
                }
                let _ = socket.send_to(&reply, client);
            }
            waiting.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| *other != asked);
        });
    }
}

/// Has the servers do one job after another: so all have them in the same order.
fn work(settings: &Settings, queue: &Receiver<Job>) {
    let mut links: Option<Vec<TcpStream>> = None;
    let mut aside: VecDeque<(Instant, Vec<u8>, Vec<u8>)> = VecDeque::new();
    for Job { kind, bytes, reply } in queue {
        aside.retain(|(since, ..)| since.elapsed() < LOOK_ASIDE);
        let known = aside.iter().find(|(_, request, _)| kind == Kind::Request && *request == bytes);
        if let Some((_, _, known)) = known {
            let _ = reply.send(Some(known.clone()));
            continue;
        }
        let told = match relayed(&mut links, settings, kind, &bytes) {
            Ok(replies) => Some(chosen(kind, replies)),
            Err(error) => {
                println!("{error}");
                links = None;
                None
            }
        };
        if let (Kind::Request, Some(told)) = (kind, &told)
            && messages::read_error(told).is_none()
        {
            aside.push_back((Instant::now(), bytes, told.clone()));
        }
        let _ = reply.send(told);
    }
}

/// What each server says.
fn relayed(
    links: &mut Option<Vec<TcpStream>>,
    settings: &Settings,
    kind: Kind,
    bytes: &[u8],
) -> io::Result<Vec<Vec<u8>>> {
    if links.is_none() {
        *links = Some(settings.servers.iter().map(|server| connect(server)).collect::<io::Result<_>>()?);
    }
    let links = links.as_mut().map_or(&mut [][..], |links| links);
    for link in &mut *links {
        wire::write(link, kind, bytes)?;
    }
    links.iter_mut().map(|link| Ok(wire::read(link)?.1)).collect()
}

fn connect(server: &str) -> io::Result<TcpStream> {
    let about = |error: io::Error| io::Error::new(error.kind(), format!("server {server}: {error}"));
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("server {server} has no address"));
    let address = server.to_socket_addrs().map_err(about)?.next().ok_or_else(missing)?;
    let link = TcpStream::connect_timeout(&address, SILENCE).map_err(about)?;
    link.set_nodelay(true)?;
    link.set_read_timeout(Some(PATIENCE))?;
    Ok(link)
}

/// The reply that two servers give alike; else the first one. An admin hears all, if they aren't the same.
fn chosen(kind: Kind, mut replies: Vec<Vec<u8>>) -> Vec<u8> {
    if kind == Kind::Order {
        replies.dedup();
        let told = replies.iter().map(|told| String::from_utf8_lossy(told));
        return told.collect::<Vec<_>>().join("\n").into_bytes();
    }
    let twice = (0..replies.len()).find(|&at| replies[at + 1..].contains(&replies[at]));
    replies.swap_remove(twice.unwrap_or(0))
}
