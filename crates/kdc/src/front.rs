//! The front: it relays requests to the three servers, and replies to clients. It has no key, and learns what anybody on the wire
//! does. It can do what anybody there can: keep requests or replies back, and forge errors, which nothing authenticates.

mod aside;
mod pace;
mod quota;
#[cfg(test)]
mod tests;

use crate::messages::{self, Code};
use crate::realm::Settings;
use crate::server::{BATCHES, Failure, log, now};
use crate::wire::{self, Kind, MAX_BATCH, PATIENCE, SILENCE, Timed};
use aside::{Aside, Joined};
use pace::Pace;
use quota::Quota;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Requests that wait at most; others are told that there is no service (error 29). A test fills all places.
const QUEUE: usize = if cfg!(test) { MAX_BATCH } else { 4 * MAX_BATCH };
/// Connections of clients by TCP at most.
const CONNECTIONS: usize = 4 * MAX_BATCH;
/// Connections of admins at most, and so orders that wait.
const ADMINS: usize = 256;

/// A request by UDP, and whose it is.
type Datagram = (SocketAddr, Vec<u8>);

/// An admin's order, and who waits to hear what the servers say.
struct Job {
    bytes: Vec<u8>,
    reply: SyncSender<Option<Vec<u8>>>,
}

/// Where requests of clients go.
#[derive(Clone)]
struct Counter {
    requests: SyncSender<Vec<u8>>,
    aside: Arc<Aside>,
    realm: String,
}

impl Counter {
    /// What a client is told that gets no reply of the servers.
    fn error(&self, code: Code) -> Vec<u8> {
        messages::error(code, now(), &self.realm, None, None)
    }

    /// Has a request answered, and waits.
    fn ask(&self, request: &[u8]) -> Option<Vec<u8>> {
        let reply = match self.aside.join(request) {
            Joined::Told(reply) => return Some(reply),
            Joined::Waits(reply) => reply,
            Joined::IsNew(reply) => {
                if self.requests.try_send(request.to_owned()).is_err() {
                    self.aside.end(request, None);
                }
                reply
            }
        };
        reply.recv().ok().flatten()
    }
}

/// Relays until the process ends.
///
/// # Errors
/// If a port can't be had.
pub fn relay(settings: &Settings) -> Result<(), Failure> {
    let bound = |address: &str, error: io::Error| io::Error::new(error.kind(), format!("{address}: {error}"));
    // First what a caller can't tell: who is let in by TCP may send datagrams.
    let datagrams = UdpSocket::bind(&settings.listen).map_err(|error| bound(&settings.listen, error))?;
    let clients = TcpListener::bind(&settings.listen).map_err(|error| bound(&settings.listen, error))?;
    let admins = TcpListener::bind(&settings.orders).map_err(|error| bound(&settings.orders, error))?;
    let (requests, queue) = sync_channel(QUEUE);
    let (orders, ordered) = sync_channel(ADMINS);
    let (queue, aside, pace) = (Mutex::new(queue), Arc::<Aside>::default(), Pace::default());
    let counter = Counter { requests, aside: aside.clone(), realm: settings.realm.clone() };
    log(format_args!("relays for {} at {}", settings.realm, settings.listen));
    thread::scope(|scope| {
        let by_tcp = counter.clone();
        let links = |most| Quota::new(most, settings.max_of_address);
        scope.spawn(move || accept(&clients, &by_tcp, &links(CONNECTIONS), serve_client));
        scope.spawn(move || accept(&admins, &orders, &links(ADMINS), serve_admin));
        scope.spawn(move || take_datagrams(&datagrams, settings, &counter));
        for _ in 0..BATCHES {
            scope.spawn(|| work(settings, (&queue, &pace), &aside));
        }
        order(settings, &ordered);
    });
    Ok(())
}

/// Takes connections, each in a thread. Those for which there is no place are closed at once.
fn accept<Q: Clone + Send + 'static>(
    listener: &TcpListener,
    queue: &Q,
    quota: &Arc<Quota>,
    serve: fn(&mut TcpStream, &Q) -> io::Result<()>,
) {
    for link in listener.incoming() {
        let Ok(mut link) = link else {
            // Such as too many open files.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        let Some(place) = link.peer_addr().ok().and_then(|client| quota.take(client.ip())) else { continue };
        let queue = queue.clone();
        let _ = thread::Builder::new().spawn(move || {
            let _ = link.set_read_timeout(Some(SILENCE)).and_then(|()| link.set_write_timeout(Some(SILENCE)));
            // Whoever is there has gone, and asks again if it likes.
            drop((serve(&mut link, &queue), place));
        });
    }
}

/// Messages over TCP: a length of four bytes, and so many (RFC 4120, section 7.2.2).
fn serve_client(link: &mut TcpStream, counter: &Counter) -> io::Result<()> {
    loop {
        let mut timed = Timed { link, until: Instant::now() + SILENCE };
        let mut head = [0; 4];
        io::Read::read_exact(&mut timed, &mut head)?;
        let length = u32::from_be_bytes(head) as usize;
        if length > wire::MAX_REQUEST {
            return tell(link, &counter.error(Code::TooLong));
        }
        let request = wire::read_bytes(&mut timed, length, wire::MAX_REQUEST)?;
        let reply = counter.ask(&request).unwrap_or_else(|| counter.error(Code::Unavailable));
        tell(link, &reply)?;
    }
}

fn tell(link: &mut TcpStream, reply: &[u8]) -> io::Result<()> {
    io::Write::write_all(link, &[&(reply.len() as u32).to_be_bytes()[..], reply].concat())
}

fn serve_admin(link: &mut TcpStream, jobs: &SyncSender<Job>) -> io::Result<()> {
    let mut timed = Timed { link, until: Instant::now() + SILENCE };
    let (Kind::Order, order) = wire::read(&mut timed)? else { return Ok(()) };
    let (reply, replied) = sync_channel(1);
    let taken = jobs.try_send(Job { bytes: order, reply }).is_ok();
    let told = if taken { replied.recv().ok().flatten() } else { None };
    let told = told.unwrap_or_else(|| b"the servers don't answer".to_vec());
    wire::write(link, Kind::Order, &told)
}

fn take_datagrams(socket: &UdpSocket, settings: &Settings, counter: &Counter) {
    let mut buffer = vec![0; wire::MAX_FRAME];
    let waiting: Arc<Mutex<Vec<Datagram>>> = Arc::default();
    let quota = Quota::new(QUEUE, settings.max_of_address);
    loop {
        let Ok((count, client)) = socket.recv_from(&mut buffer) else { continue };
        if !messages::begins_request(&buffer[..count]) {
            continue;
        }
        if count > wire::MAX_REQUEST {
            let _ = socket.send_to(&counter.error(Code::TooLong), client);
            continue;
        }
        let (request, Ok(replies)) = (buffer[..count].to_vec(), socket.try_clone()) else { continue };
        // One that is being answered isn't asked again.
        let asked = (client, request.clone());
        let mut all = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if all.contains(&asked) {
            continue;
        }
        let Some(place) = quota.take(client.ip()) else {
            drop(all);
            refuse(socket, counter, &asked);
            continue;
        };
        all.push(asked.clone());
        drop(all);
        let (counter, most) = (counter.clone(), settings.max_datagram);
        let (waiting_too, ended) = (waiting.clone(), asked.clone());
        let spawned = thread::Builder::new().spawn(move || {
            if let Some(mut reply) = counter.ask(&request) {
                if reply.len() > most {
                    // The client asks again by TCP.
                    reply = counter.error(Code::TooBig);
                }
                let _ = replies.send_to(&reply, client);
            } else {
                refuse(&replies, &counter, &ended);
            }
            forget(&waiting_too, &ended);
            drop(place);
        });
        if spawned.is_err() {
            forget(&waiting, &asked);
        }
    }
}

/// Tells a client that there is no service now. Whoever sends a few bytes under another one's address has that one sent no more.
fn refuse(socket: &UdpSocket, counter: &Counter, (client, request): &Datagram) {
    let reply = counter.error(Code::Unavailable);
    if reply.len() <= request.len() {
        let _ = socket.send_to(&reply, client);
    }
}

fn forget(waiting: &Mutex<Vec<Datagram>>, ended: &Datagram) {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| other != ended);
}

/// Has the servers answer what has come, all that waits together, again and again.
fn work(settings: &Settings, (queue, pace): (&Mutex<Receiver<Vec<u8>>>, &Pace), aside: &Aside) {
    let mut links = None;
    loop {
        // Who waits here takes all that others left.
        let next = pace.next(&queue.lock().unwrap_or_else(PoisonError::into_inner));
        let Some(batch) = next else { return };
        let replies = answered(&mut links, settings, &batch.requests);
        if let Err(error) = &replies {
            log(error);
            links = None;
        }
        let mut replies = replies.unwrap_or_default().into_iter();
        for request in &batch.requests {
            aside.end(request, replies.next().flatten());
        }
    }
}

/// A reply for each request, if the servers gave one.
fn answered(
    links: &mut Links,
    settings: &Settings,
    requests: &[Vec<u8>],
) -> io::Result<Vec<Option<Vec<u8>>>> {
    let mut number = [0; 16];
    getrandom::fill(&mut number).map_err(|error| io::Error::other(error.to_string()))?;
    let replies = relayed(links, settings, Kind::Batch, &wire::pack_under(number, requests))?;
    let replies: Vec<Vec<Vec<u8>>> =
        replies.iter().map(|packed| wire::unpack(packed)).collect::<io::Result<_>>()?;
    let of =
        |request: usize| chosen(replies.iter().filter_map(|replies| replies.get(request).cloned()).collect());
    Ok((0..requests.len()).map(of).collect())
}

/// Has the servers carry out one order after another: so all have them in the same order.
fn order(settings: &Settings, queue: &Receiver<Job>) {
    let mut links = None;
    for Job { bytes, reply } in queue {
        let told = relayed(&mut links, settings, Kind::Order, &bytes);
        if let Err(error) = &told {
            log(error);
            links = None;
        }
        let _ = reply.send(told.ok().map(|told| lines(&told)));
    }
}

/// What each server says, a line each: one that says more than a line could else speak for the others.
fn lines(told: &[Vec<u8>]) -> Vec<u8> {
    let line = |said: &Vec<u8>| said.iter().map(|&byte| if byte == b'\n' { b' ' } else { byte }).collect();
    told.iter().map(line).collect::<Vec<Vec<u8>>>().join(&b'\n')
}

/// A link to each server.
type Links = Option<Vec<TcpStream>>;

/// What each server says.
fn relayed(links: &mut Links, settings: &Settings, kind: Kind, bytes: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    // Those that a server has closed meanwhile show when they are written to, or read.
    if links.as_ref().is_none_or(|links| links.iter().any(is_over)) {
        *links = Some(settings.servers.iter().map(|server| connect(server)).collect::<io::Result<_>>()?);
    }
    let links = links.as_mut().map_or(&mut [][..], |links| links);
    let servers = || settings.servers.iter();
    for (link, server) in links.iter_mut().zip(servers()) {
        wire::write(link, kind, bytes).map_err(|error| about(server, &error))?;
    }
    let read = |(link, server): (&mut TcpStream, &String)| {
        wire::read(link).map(|(_, told)| told).map_err(|error| about(server, &error))
    };
    links.iter_mut().zip(servers()).map(read).collect()
}

/// Which server it was.
fn about(server: &str, error: &io::Error) -> io::Error {
    let kind = error.kind();
    // What a link says that was read in vain for long enough.
    if matches!(kind, io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
        return io::Error::new(kind, format!("server {server} doesn't answer in time"));
    }
    io::Error::new(kind, format!("server {server}: {error}"))
}

/// Whether the other side has closed a link on which nothing is due.
fn is_over(link: &TcpStream) -> bool {
    let silent = link.set_nonblocking(true).and_then(|()| link.peek(&mut [0]));
    let rests = silent.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
    !rests || link.set_nonblocking(false).is_err()
}

fn connect(server: &str) -> io::Result<TcpStream> {
    let about = |error: io::Error| about(server, &error);
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("server {server} has no address"));
    let address = server.to_socket_addrs().map_err(about)?.next().ok_or_else(missing)?;
    let link = TcpStream::connect_timeout(&address, SILENCE).map_err(about)?;
    link.set_nodelay(true)?;
    link.set_read_timeout(Some(PATIENCE))?;
    link.set_write_timeout(Some(SILENCE))?;
    Ok(link)
}

/// The reply that two servers give alike, or the error, of which times may differ. What one alone says may be its own: a server
/// that knows a session's key could seal a reply by itself, and any could tell clients how to hash their passwords.
fn chosen(mut replies: Vec<Vec<u8>>) -> Option<Vec<u8>> {
    let twice = (0..replies.len()).find(|&at| replies[at + 1..].contains(&replies[at]));
    if let Some(at) = twice {
        return Some(replies.swap_remove(at));
    }
    let but_for_times = |error: Vec<u8>| Some((messages::but_for_times(&error)?, error));
    let mut errors: Vec<(Vec<u8>, Vec<u8>)> = replies.into_iter().filter_map(but_for_times).collect();
    // Of two alike one is in the middle, and of three the one whose time is.
    errors.sort_unstable();
    let middle = errors.len() / 2;
    let (said, _) = errors.get(middle)?;
    let alike = errors.iter().filter(|(other, _)| other == said).count();
    (alike >= 2).then(|| errors.swap_remove(middle).1)
}
