//! How many requests a realm answers: servers and front are processes of their own on loopback, and clients ask by TCP.
//!
//! The clock runs from the first request to the last reply. So it has all that a client waits for: front, parsing,
//! meeting, runs and their checks, but not the making of requests. Each reply is opened, and its ticket under the
//! service's key.

pub mod gcm;
pub mod paper;
pub mod storm;
mod streams;

use crate::admin::{self, Origin, random_key};
use crate::clear::Key;
use crate::client::{Client, Ticket, Wish, ask};
use crate::der::Malformed;
use crate::enctype::{CONFOUNDER, Enctype};
use crate::order::Holder;
use crate::realm::{Sessions, Settings};
use crate::server::{Failure, now};
use crate::took::Took;
use std::fs::{self, File};
use std::io;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const REALM: &str = "BENCH.EXAMPLE";
const SERVICE: &str = "host/files.example";
/// Clients that there are: requests are theirs in turn.
const CLIENTS: usize = 4;
const SERVERS: [&str; 3] = ["P0", "P1", "P2"];
/// How long a client waits for a reply. The front waits a minute for the servers and then says so; before that a request may have
/// waited as long for its turn.
const PATIENCE: Duration = Duration::from_mins(5);

/// What is measured.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The encryption type.
    pub enctype: Enctype,
    /// Who knows the keys of sessions.
    pub sessions: Sessions,
    /// Whether clients ask with tickets.
    pub further: bool,
    /// The protocol.
    pub protocol: String,
    /// Requests.
    pub count: usize,
    /// Clients that ask at a time.
    pub clients: usize,
    /// What servers' links to one another are held to, as `0.13ms,1gbit`; as they are if nothing.
    pub net: Option<String>,
    /// The first of the ports.
    pub port: u16,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Measured {
    /// From the first request to the last reply.
    pub seconds: f64,
    /// How long each request took, in ascending order.
    pub latencies: Vec<f64>,
    /// Processor time of the three servers.
    pub cpu_seconds: Vec<f64>,
    /// The most memory that each of them had.
    pub peak_rss_bytes: Vec<u64>,
    /// Bytes that each of them sent to the others, its links' own not counted.
    pub sent_bytes: Vec<u64>,
    /// Bytes on those links, with framing and encryption.
    pub wire_bytes: Vec<u64>,
    /// Rounds that a request went through from its first run to its last, on average.
    pub rounds: f64,
}

/// What became of the requests that clients sent.
#[derive(Default)]
struct Heard {
    /// The replies, each with its request's number and how long it took.
    replies: Vec<(usize, Vec<u8>, f64)>,
    /// Requests that had none, each with its number, and why.
    lost: Vec<(usize, io::Error)>,
}

/// A process that ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[allow(clippy::needless_pass_by_value)]
fn refused(reason: impl std::fmt::Display) -> Failure {
    Failure::Refused(format!("{reason}"))
}

impl Bench {
    /// Measures, in a new folder.
    ///
    /// # Errors
    /// If the realm doesn't start, or a reply is wrong.
    pub fn run(&self, folder: &Path) -> Result<Measured, Failure> {
        let realm = folder.join("realm");
        admin::init(&realm, REALM, (self.enctype, self.sessions), ["127.0.0.1"; 2], self.port)?;
        for part in ["P0", "P1", "P2", "front", "admin"] {
            let file = realm.join(part).join("kdc.toml");
            let mut settings = Settings::load(&file)?;
            settings.protocol.clone_from(&self.protocol);
            // A few clients log in many times at a time, and each login counts while it is under way.
            settings.max_wrong_passwords = self.count.max(settings.max_wrong_passwords);
            settings.max_of_address = self.clients.max(settings.max_of_address);
            let text = toml::to_string(&settings).map_err(refused)?;
            fs::write(file, text)?;
        }
        let start = |verb: &str, part: &str| -> Result<Running, Failure> {
            let log = File::create(folder.join(format!("{part}.log")))?;
            let program = std::env::current_exe()?;
            let mut command = Command::new(program);
            command.arg(verb).arg(realm.join(part)).stdout(log);
            if let Some(net) = self.net.as_ref().filter(|_| verb == "serve") {
                command.args(["--net", net]);
            }
            Ok(Running(command.spawn()?))
        };
        let servers = SERVERS.map(|part| start("serve", part));
        let servers = servers.into_iter().collect::<Result<Vec<_>, _>>()?;
        let _front = start("front", "front")?;
        let logs = SERVERS.map(|part| folder.join(format!("{part}.log")));
        for log in &logs {
            wait_for(log, " serves ")?;
        }
        let admin = realm.join("admin");
        admin::give(&admin, &format!("krbtgt/{REALM}"), Holder::Any, &Origin::Random, Some(1))?;
        let new = |name: &str| -> Result<Key, Failure> {
            let bytes = random_key(self.enctype)?;
            let key = || Key::new(self.enctype, &bytes).ok_or_else(|| refused("a key"));
            admin::give(&admin, name, Holder::Any, &Origin::Key(key()?), Some(1))?;
            key()
        };
        let service = new(SERVICE)?;
        let keys = (0..CLIENTS).map(|number| new(&client_of(number))).collect::<Result<Vec<_>, _>>()?;
        self.measure(&keys, &service, (&servers[..], &logs))
    }

    fn measure(
        &self,
        keys: &[Key],
        service: &Key,
        (servers, logs): (&[Running], &[PathBuf; 3]),
    ) -> Result<Measured, Failure> {
        let malformed = |error: Malformed| refused(error);
        let tickets = if self.further {
            let mut link = self.connect()?;
            let of = |(number, key): (usize, &Key)| -> Result<Ticket, Failure> {
                let (name, service) = (client_of(number), format!("krbtgt/{REALM}"));
                let client = Client { realm: REALM, name: &name, key };
                let wish = Wish::of(&service, number as u32 + 1);
                let reply = ask(&mut link, &client.initial(&wish, now(), confounder()?))?;
                client.initial_reply(&reply, &wish).map_err(malformed)
            };
            keys.iter().enumerate().map(of).collect::<Result<Vec<_>, _>>()?
        } else {
            Vec::new()
        };
        // Whatever a client computes is done before the clock runs, and after it has stopped.
        let mut requests = Vec::with_capacity(self.count);
        for number in 0..self.count {
            let who = number % keys.len();
            let (name, wish) = (client_of(who), Wish::of(SERVICE, number as u32 + 1));
            let client = Client { realm: REALM, name: &name, key: &keys[who] };
            requests.push(if let Some(ticket) = tickets.get(who) {
                let at = (now() + (number / 1_000_000) as i64, 100_000 + number as u32 % 900_000);
                client.further(ticket, &wish, at, None, confounder()?)
            } else {
                client.initial(&wish, now(), confounder()?)
            });
        }
        let before: Vec<f64> = servers.iter().map(|server| cpu(&server.0)).collect();
        let logged = logs.each_ref().map(|log| took(log));
        let start = Instant::now();
        let heard = self.ask_all(&requests);
        let seconds = start.elapsed().as_secs_f64();
        let cpu_seconds =
            servers.iter().zip(before).map(|(server, before)| cpu(&server.0) - before).collect();
        let peak_rss_bytes = servers.iter().map(|server| peak(&server.0)).collect();
        let Heard { replies, lost } = heard;
        if let Some((number, error)) = lost.first() {
            let (count, all) = (lost.len(), self.count);
            let reason =
                format!("{count} of {all} requests had no reply; number {number} was the first: {error}");
            return Err(refused(reason));
        }
        for (number, reply, _) in &replies {
            let who = number % keys.len();
            let (name, wish) = (client_of(who), Wish::of(SERVICE, *number as u32 + 1));
            let client = Client { realm: REALM, name: &name, key: &keys[who] };
            let got = match tickets.get(who) {
                Some(ticket) => client.further_reply(reply, ticket, None, &wish),
                None => client.initial_reply(reply, &wish),
            };
            let code = crate::messages::read_error(reply);
            let got = got.map_err(|error| refused(format!("{error}; error code {code:?}")))?;
            let opened = service.open(2, got.sealed().map_err(malformed)?);
            if !opened.is_some_and(|ticket| holds(&ticket, got.session.bytes())) {
                return Err(refused("a ticket is wrong"));
            }
        }
        // Servers write what a run took before they reply.
        let of_server =
            |(log, before): (&PathBuf, Vec<Took>)| took(log).into_iter().skip(before.len()).collect();
        let runs: Vec<Vec<Took>> = logs.iter().zip(logged).map(of_server).collect();
        let of_each =
            |bytes: fn(&Took) -> u64| runs.iter().map(|runs| runs.iter().map(bytes).sum()).collect();
        let (sent_bytes, wire_bytes) = (of_each(|run| run.bytes), of_each(|run| run.wire));
        let rounds: u64 = runs.iter().flatten().map(|run| run.rounds * run.requests).sum();
        let rounds = rounds as f64 / (self.count * servers.len()) as f64;
        let mut latencies: Vec<f64> = replies.iter().map(|(_, _, took)| *took).collect();
        latencies.sort_by(f64::total_cmp);
        Ok(Measured { seconds, latencies, cpu_seconds, peak_rss_bytes, sent_bytes, wire_bytes, rounds })
    }

    /// Has clients ask, each for one after another. One whose link fails connects anew, and the others go on.
    fn ask_all(&self, requests: &[Vec<u8>]) -> Heard {
        let (next, heard) = (AtomicUsize::new(0), Mutex::new(Heard::default()));
        let client = || {
            let mut link = None;
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(request) = requests.get(number) else { return };
                let asked = Instant::now();
                let reply = link.take().map_or_else(|| self.connect(), Ok).and_then(|mut own| {
                    let reply = ask(&mut own, request)?;
                    link = Some(own);
                    Ok(reply)
                });
                let took = asked.elapsed().as_secs_f64();
                let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                match reply {
                    Ok(reply) => heard.replies.push((number, reply, took)),
                    Err(error) => heard.lost.push((number, about(&error, took))),
                }
            }
        };
        thread::scope(|scope| (0..self.clients).for_each(|_| drop(scope.spawn(client))));
        heard.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let link = TcpStream::connect(("127.0.0.1", self.port))?;
        link.set_nodelay(true)?;
        link.set_read_timeout(Some(PATIENCE))?;
        Ok(link)
    }
}

/// Why there was no reply after so many seconds.
fn about(error: &io::Error, seconds: f64) -> io::Error {
    let kind = error.kind();
    if matches!(kind, io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
        return io::Error::new(kind, format!("the front said nothing for {seconds:.0} s"));
    }
    io::Error::new(kind, format!("its link ended after {seconds:.0} s: {error}"))
}

/// What a server's log says that runs took, so far.
fn took(log: &Path) -> Vec<Took> {
    Took::all(&fs::read_to_string(log).unwrap_or_default()).collect()
}

fn client_of(number: usize) -> String {
    format!("client{number}")
}

fn confounder() -> Result<[u8; CONFOUNDER], Failure> {
    let mut bytes = [0; CONFOUNDER];
    getrandom::fill(&mut bytes).map_err(refused)?;
    Ok(bytes)
}

fn holds(message: &[u8], part: &[u8]) -> bool {
    message.windows(part.len()).any(|window| window == part)
}

fn wait_for(log: &Path, says: &str) -> Result<(), Failure> {
    let until = Instant::now() + Duration::from_mins(5);
    while Instant::now() < until {
        if fs::read_to_string(log).is_ok_and(|text| text.contains(says)) {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(100));
    }
    Err(refused(format!("{} doesn't say {says:?}", log.display())))
}

/// Seconds that a process has had, of a processor.
fn cpu(child: &Child) -> f64 {
    let text = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    // Behind the name, which ends with the last parenthesis: fields 14 and 15, in hundredths of a second.
    let fields = text.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The most memory that a process has had.
fn peak(child: &Child) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}

impl Measured {
    /// The value below which this part of all latencies lies.
    pub fn latency(&self, part: f64) -> f64 {
        let at = (part * self.latencies.len() as f64) as usize;
        self.latencies.get(at.min(self.latencies.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ports;
    use crate::wire;
    use std::net::TcpListener;

    /// A front that closes the link on which this request comes, and says all others again.
    fn front(port: u16, loses: &'static [u8]) {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let serve = move |mut link: TcpStream| -> io::Result<()> {
            loop {
                let mut head = [0; 4];
                io::Read::read_exact(&mut link, &mut head)?;
                let request = wire::read_bytes(&mut link, u32::from_be_bytes(head) as usize, 64)?;
                if request == loses {
                    return Ok(());
                }
                io::Write::write_all(&mut link, &[&head[..], &request].concat())?;
            }
        };
        thread::spawn(move || {
            for link in listener.incoming() {
                let link = link.unwrap();
                thread::spawn(move || serve(link));
            }
        });
    }

    #[test]
    fn a_request_without_a_reply_is_named_and_all_others_are_answered() {
        let port = ports();
        front(port, b"request 7");
        let bench = Bench {
            enctype: Enctype::Aes128Sha1,
            sessions: Sessions::Shared,
            further: false,
            protocol: String::new(),
            count: 20,
            clients: 3,
            net: None,
            port,
        };
        let requests: Vec<Vec<u8>> = (0..20).map(|number| format!("request {number}").into_bytes()).collect();
        let Heard { mut replies, lost } = bench.ask_all(&requests);
        let [(7, error)] = &lost[..] else { panic!("{lost:?}") };
        assert!(error.to_string().contains("its link ended after "), "{error}");
        replies.sort_by_key(|(number, ..)| *number);
        assert_eq!(replies.len(), 19);
        assert!(replies.iter().all(|(number, reply, _)| *reply == requests[*number]));
    }
}
