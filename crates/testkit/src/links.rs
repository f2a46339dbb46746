//! Real links between threads of one process: memory, TCP and TLS.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{env, fs, process, thread};

use tacit_net::setup::{Config, Listener, SetupError, connect_lanes, init, quiet};
use tacit_net::stream::StreamTransport;
use tacit_net::{ErrorKind, Event, Frame, Transport, WireBytes, memory};

use crate::Case;
use crate::case::Links;
use crate::interceptor::{Fate, Interceptor, Message};

/// What links are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// This process's memory.
    Memory,
    /// TCP on loopback.
    Tcp,
    /// TLS over TCP on loopback, with keys made for the occasion.
    Tls,
}

/// Links for everybody in a case.
///
/// # Panics
/// If they can't be made: no files in the temporary folder, no connections on loopback.
pub fn links(medium: Medium, case: &Case) -> Links {
    links_in_lanes(medium, case, 1).remove(0)
}

/// Links for everybody in a case, in each of so many lanes.
///
/// # Panics
/// As [`links`].
pub fn links_in_lanes(medium: Medium, case: &Case, lanes: u16) -> Vec<Links> {
    let clients = case.endpoints() - case.parties();
    if medium == Medium::Memory {
        let ends = || memory::mesh(case.parties(), clients).into_iter();
        let links = |_| ends().map(|end| Some(Box::new(end) as Box<dyn Transport>)).collect();
        return (0..lanes).map(links).collect();
    }
    let names: Vec<String> =
        (case.parties()..case.endpoints()).map(|client| case.name(client).to_owned()).collect();
    let deployment = Deployment::new(case.parties(), &names, medium == Medium::Tls);
    let transports = |joined: thread::Result<Result<Vec<StreamTransport>, SetupError>>| {
        let transports = joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        transports.unwrap_or_else(|error| panic!("no links on loopback: {error}"))
    };
    thread::scope(|scope| {
        let configs = deployment.configs.iter();
        let threads: Vec<_> = configs.map(|config| scope.spawn(move || gather(config, lanes))).collect();
        let mut links: Vec<Links> = (0..lanes).map(|_| Links::new()).collect();
        for thread in threads {
            for (lane, end) in links.iter_mut().zip(transports(thread.join())) {
                lane.push(Some(Box::new(end) as Box<dyn Transport>));
            }
        }
        links
    })
}

/// One endpoint's links with all others, in each lane.
fn gather(config: &Config, lanes: u16) -> Result<Vec<StreamTransport>, SetupError> {
    let (parties, within) = (config.parties().len(), config.limits().connect);
    let clients: Vec<usize> = (parties..parties + config.clients().len()).collect();
    if config.is_client() {
        return connect_lanes(config, &clients, lanes, within, &quiet());
    }
    Listener::bind(config)?.gather_lanes(&clients, lanes, within)
}

/// A folder of configurations, removed in the end.
struct Deployment {
    folder: PathBuf,
    configs: Vec<Config>,
}

impl Deployment {
    fn new(parties: usize, clients: &[String], tls: bool) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("tacit-testkit-{}-{number}", process::id()));
        // Left by a process of the same number that was killed.
        let _ = fs::remove_dir_all(&folder);
        let (host, port) = address(number);
        let paths = init(&folder, parties, clients, &host.to_string(), port);
        let mut deployment = Self { folder, configs: Vec::new() };
        for path in paths.unwrap_or_else(|error| panic!("no configurations: {error}")) {
            let mut text = fs::read_to_string(&path).expect("the file was just written");
            if !tls {
                text = text.replace("transport = \"tls\"", "transport = \"tcp\"");
            }
            deployment.configs.push(Config::parse(&text, &path).expect("a good configuration was written"));
        }
        deployment
    }
}

/// Ports that nobody else listens on: every process has a loopback address of its own (all of 127.0.0.0/8 is
/// loopback), and every deployment ports of its own there.
fn address(number: u32) -> (Ipv4Addr, u16) {
    let [_, high, middle, low] = process::id().to_be_bytes();
    (Ipv4Addr::new(127, 1 + high % 254, middle, low), 5000 + (number % 1000) as u16 * 16)
}

impl Drop for Deployment {
    fn drop(&mut self) {
        // What is left in the temporary folder harms nobody.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Links that end, as the end of their process would end them, before a certain frame is sent.
pub struct Mortal {
    links: Option<Box<dyn Transport>>,
    /// Frames that are still sent.
    left: usize,
    /// Of which peers the end is still to be told, once the links are gone.
    bereft: Vec<usize>,
    died: Duration,
}

impl Mortal {
    /// Dies before its frame number `frames`, counted over all links of this endpoint among `endpoints`.
    pub fn new(links: Box<dyn Transport>, endpoints: usize, frames: usize) -> Self {
        let bereft = (0..endpoints).filter(|&peer| links.is_linked(peer)).collect();
        Self { links: Some(links), left: frames, bereft, died: Duration::ZERO }
    }
}

impl Transport for Mortal {
    fn is_linked(&self, peer: usize) -> bool {
        self.links.as_ref().map_or(self.bereft.contains(&peer), |links| links.is_linked(peer))
    }

    fn send(&mut self, to: usize, frame: Frame) {
        let Some(links) = &mut self.links else { return };
        if self.left > 0 {
            self.left -= 1;
            links.send(to, frame);
        } else {
            self.died = links.now();
            self.links = None;
        }
    }

    fn flush(&mut self) -> bool {
        self.links.as_mut().is_none_or(|links| links.flush())
    }

    fn backlog(&self, to: usize) -> usize {
        self.links.as_ref().map_or(0, |links| links.backlog(to))
    }

    fn poll(&mut self, wait: Duration) -> Option<(usize, Event)> {
        if let Some(links) = &mut self.links {
            return links.poll(wait);
        }
        let how = "this end is dead".to_owned();
        Some((self.bereft.pop()?, Event::Lost(ErrorKind::Closed { how })))
    }

    fn hold(&mut self, peer: usize, hold: bool) {
        if let Some(links) = &mut self.links {
            links.hold(peer, hold);
        }
    }

    fn now(&self) -> Duration {
        self.links.as_ref().map_or(self.died, |links| links.now())
    }

    fn wire_bytes(&self, peer: usize) -> WireBytes {
        self.links.as_ref().map_or_else(WireBytes::default, |links| links.wire_bytes(peer))
    }

    fn finish(&mut self) -> bool {
        self.links.as_mut().is_none_or(|links| links.finish())
    }
}

/// Links of an endpoint that lies as an interceptor says. What is delayed or cut there is lost here.
pub struct Lying {
    links: Box<dyn Transport>,
    me: usize,
    interceptor: Interceptor,
    /// Data frames sent, by receiver.
    sent: HashMap<usize, usize>,
}

impl Lying {
    /// Endpoint `me`'s links.
    pub fn new(links: Box<dyn Transport>, me: usize, interceptor: Interceptor) -> Self {
        Self { links, me, interceptor, sent: HashMap::new() }
    }
}

impl Transport for Lying {
    fn is_linked(&self, peer: usize) -> bool {
        self.links.is_linked(peer)
    }

    fn send(&mut self, to: usize, frame: Frame) {
        if frame.kind != tacit_net::FrameKind::Data {
            return self.links.send(to, frame);
        }
        let sent = self.sent.entry(to).or_default();
        let nth = *sent;
        *sent += 1;
        match (self.interceptor)(&Message { from: self.me, to, nth, frame: &frame }) {
            Fate::Deliver => self.links.send(to, frame),
            Fate::Replace(frames) => frames.into_iter().for_each(|frame| self.links.send(to, frame)),
            Fate::Delay(_) | Fate::Cut | Fate::Hang | Fate::Die | Fate::Lose(_) => {}
        }
    }

    fn flush(&mut self) -> bool {
        self.links.flush()
    }

    fn backlog(&self, to: usize) -> usize {
        self.links.backlog(to)
    }

    fn poll(&mut self, wait: Duration) -> Option<(usize, Event)> {
        self.links.poll(wait)
    }

    fn hold(&mut self, peer: usize, hold: bool) {
        self.links.hold(peer, hold);
    }

    fn now(&self) -> Duration {
        self.links.now()
    }

    fn wire_bytes(&self, peer: usize) -> WireBytes {
        self.links.wire_bytes(peer)
    }

    fn finish(&mut self) -> bool {
        self.links.finish()
    }
}
