//! One of the three servers: it stays connected to the others, takes what fronts relay, and runs what requests take.

mod compare;
mod fresh;
pub(crate) mod node;
#[cfg(test)]
mod tests;

pub use crate::failure::Failure;
pub(crate) use compare::padded;
#[cfg(test)]
pub(crate) use node::Deviation;
pub(crate) use node::{BATCHES, MEET, Node, ORDERED, REFUSED, kept, log, now};

use crate::batch;
use crate::exchange::Memory;
use crate::order::AdminKey;
use crate::programs::{Programs, TOGETHER, Task, together};
use crate::realm::{Principals, Sessions, Settings};
use crate::wire::{self, Kind, PATIENCE, SILENCE, Timed};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};
use tacit::batcher::{Batcher, Bounds};
use tacit::setup::{Config, Profile};
use tacit::{Error, Fill, Holdings, Served, Serving, State};

/// Links of fronts at most.
const FRONTS: usize = 64;

/// How long a front may say nothing: then its link is closed, and it comes back by itself.
const IDLE: Duration = Duration::from_mins(10);

/// Runs that the requests of one batch have at a time.
const RUNS_EACH: usize = 2;

/// Runs at a time: all that the batches have, and an order and lists, which so wait for none of them.
const LANES: u16 = (BATCHES * RUNS_EACH + 2) as u16;

/// A server that takes what the front relays.
pub struct Server {
    node: Arc<Node>,
    living: tacit::Server,
    listener: TcpListener,
}

impl Server {
    /// Opens the server whose keys, settings and state are in a folder.
    ///
    /// # Errors
    /// If a file is wrong or missing, or a port can't be had.
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        let settings = Settings::load(&folder.join("kdc.toml"))?;
        let config = Config::load(&folder.join("parties.toml")).map_err(Error::Setup)?;
        let me = config.me();
        let Some(address) = settings.servers.get(me).filter(|_| !config.is_client()) else {
            return Err(Failure::Refused(format!("{} is no server's folder", folder.display())));
        };
        admit(&config, &settings)?;
        let listener = TcpListener::bind(address)
            .map_err(|error| io::Error::new(error.kind(), format!("{address}: {error}")))?;
        let parties = config.parties().iter().map(|party| party.name.clone()).collect();
        let programs = Programs::new(settings.enctype, parties)?;
        let admin_key = AdminKey::load(folder)?;
        let mut state = State::of(&config, &folder.join("state"))?;
        let file = folder.join("principals.json");
        let mut principals = Principals::load(&file)?;
        let has_dropped = drop_ended(&mut state, &mut principals)?;
        if principals.begin_strays(&kept(state.list())) || has_dropped {
            principals.save(&file)?;
        }
        let holdings = Holdings { store: None, state: Some((state, Fill::new())) };
        let serving = Serving { holdings, ..Serving::new(&settings.protocol, LANES) };
        let mut server = tacit::Server::open(&config, Vec::new(), serving)?;
        for task in Task::ORDERS.into_iter().chain([Task::TellLists]) {
            server.expect(&programs.get(task, 1)?)?;
        }
        let (principals, seen) = (RwLock::new(Arc::new(principals)), Mutex::default());
        let (asker, file) = (server.asker(), Mutex::new(file));
        let bounds = Bounds {
            rooms: TOGETHER.to_vec(),
            together: settings.max_together,
            runs: RUNS_EACH,
            batches: BATCHES,
            within: MEET,
        };
        let batcher = Batcher::new(&mut server, bounds)?;
        let names = config.names();
        let name = names.get(me).cloned().unwrap_or_default();
        let node = Node {
            name,
            names,
            me,
            settings,
            programs,
            asker,
            principals,
            holds: RwLock::default(),
            missing: Mutex::default(),
            memory: Memory::default(),
            admin_key,
            seen,
            batcher,
            #[cfg(test)]
            deviates: Mutex::default(),
            file,
        };
        node.look(&node.principals());
        Ok(Self { node: Arc::new(node), living: server, listener })
    }

    /// Holds its links to other servers to what a network would do, to measure on one machine: all servers have to.
    pub fn shape(&mut self, net: Profile) {
        self.living.shape(net);
    }

    /// How many programs it has made so far.
    pub fn programs_made(&self) -> impl Fn() -> usize + use<> {
        let node = self.node.clone();
        move || node.made()
    }

    #[cfg(test)]
    pub(crate) fn living(&mut self) -> &mut tacit::Server {
        &mut self.living
    }

    #[cfg(test)]
    pub(crate) fn node(&self) -> Arc<Node> {
        self.node.clone()
    }

    /// Serves until it must stop. All that requests can ask for is compiled first, so none waits for that.
    ///
    /// # Errors
    /// If a check has failed or too many runs ended in the middle of one ([`Error::Stopped`]), or the disk fails.
    pub fn serve(mut self) -> Result<(), Failure> {
        let most = together(self.node.settings.max_together);
        for task in Task::requests(self.node.settings.sessions) {
            for count in TOGETHER.into_iter().filter(|count| *count <= most) {
                self.living.expect(&self.node.programs.get(task, count)?)?;
            }
        }
        let Settings { realm, sessions, .. } = &self.node.settings;
        log(format_args!("{} serves {realm}, sessions = \"{sessions}\"", self.node.name));
        let node = self.node.clone();
        thread::spawn(move || node.keep_comparing());
        if let Some(every) = NonZero::new(self.node.settings.refresh_every) {
            let node = self.node.clone();
            thread::spawn(move || node.keep_refreshing(every));
        }
        self.run()
    }

    /// Serves at once: what isn't compiled yet is when it is first asked for.
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Self { node, mut living, listener } = self;
        thread::spawn(move || accept(&listener, &node));
        living.serve(&mut |_: Served<'_>| Ok::<_, Failure>(()))
    }
}

/// Drops keys that had ended when their server did: whether there was any.
///
/// Old keys end with orders, which hold this server's clock against the admin's: at its start nobody does, and a
/// clock that is fast would cost keys that are still good.
pub(crate) fn drop_ended(state: &mut State, principals: &mut Principals) -> Result<bool, Error> {
    let (ended, kept) = (principals.ended(), kept(state.list()));
    for record in &ended {
        if kept.contains(record) {
            state.drop_value(record)?;
            log(format_args!("dropped {record}: its key has ended"));
        }
        principals.forget(record);
    }
    Ok(!ended.is_empty())
}

/// Refuses what would be no KDC that keeps its promises: links without keys, over which anybody could be the admin, and protocols
/// under which a server that deviates learns more than it should.
pub(crate) fn admit(config: &Config, settings: &Settings) -> Result<(), Failure> {
    if config.own_key(b"tacit kdc has keys").map_err(Error::Setup)?.is_none() {
        let reason = "parties.toml says transport = \"tcp\": orders are proved by keys of TLS, so a KDC takes no other";
        return Err(Failure::Refused(reason.to_owned()));
    }
    match settings.protocol.split_whitespace().next() {
        Some("replicated-malicious") => Ok(()),
        Some("replicated") if settings.sessions == Sessions::Servers => Err(Failure::Refused(
            "protocol \"replicated\" with sessions = \"servers\": one server could have anything opened under krbtgt's key, so \
             take replicated-malicious"
                .to_owned(),
        )),
        Some("replicated") => {
            log("under protocol replicated a server that deviates can flip the verdict on a password");
            Ok(())
        }
        _ => Err(Failure::Refused(format!(
            "protocol {:?}: a KDC runs under replicated-malicious, or for trying out under replicated",
            settings.protocol
        ))),
    }
}

/// Takes the links of fronts, each in a thread.
fn accept(listener: &TcpListener, node: &Arc<Node>) {
    let open = Arc::new(());
    for link in listener.incoming() {
        let Ok(link) = link else {
            // Such as too many open files.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        if Arc::strong_count(&open) <= FRONTS {
            let (node, counted) = (node.clone(), open.clone());
            // A front that is gone comes back by itself, and so does one for whom there is no thread.
            let _ = thread::Builder::new().spawn(move || drop((relay(link, &node), counted)));
        }
    }
}

/// Takes what a front relays, until its link ends.
fn relay(mut front: TcpStream, node: &Node) -> io::Result<()> {
    front.set_nodelay(true)?;
    front.set_write_timeout(Some(SILENCE))?;
    loop {
        // It may rest for long, but what begins has to end soon.
        front.set_read_timeout(Some(IDLE))?;
        front.peek(&mut [0])?;
        let (kind, bytes) = wire::read(&mut Timed { link: &mut front, until: Instant::now() + SILENCE })?;
        let told = match kind {
            Kind::Order => node.told(&bytes),
            Kind::Batch => {
                let (requests, until) = (wire::unpack(&bytes)?, Instant::now() + PATIENCE);
                wire::pack(&batch::answer_all(node, &bytes, &requests, until))
            }
        };
        wire::write(&mut front, kind, &told)?;
    }
}
