//! One of the three servers.

use crate::circuits::{Form, Layout, drawn_bytes};
use crate::exchange::{Given, Replays, Sealed, Shares, answer};
use crate::order::{Change, Order};
use crate::programs::{CLIENT, KRBTGT, Programs, SERVICE, Task, given, to_bits, to_bytes};
use crate::realm::{Principal, Principals, Settings};
use crate::wire::{self, Kind};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tacit::program::Value;
use tacit::{Error, Fill, Residents, Seat, State};
use thiserror::Error as ThisError;
use zeroize::Zeroizing;

/// How long a server waits for the others at the beginning of a run: they have been sent the same at the same time.
pub(crate) const MEET: Duration = Duration::from_secs(20);

/// How the answer to an order begins that isn't carried out.
pub(crate) const REFUSED: &str = "refused";

/// Links of fronts at most.
const FRONTS: usize = 16;

/// Why a server, a front or an admin's command ends.
#[derive(Debug, ThisError)]
pub enum Failure {
    /// A run, or what comes before.
    #[error(transparent)]
    Tacit(#[from] Error),
    /// A file or a link.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Something that was asked for and can't be.
    #[error("{0}")]
    Refused(String),
}

/// This server's part of everything that is computed on shared keys.
struct Party {
    seat: Seat,
    state: State,
    me: usize,
    settings: Settings,
    programs: Programs,
}

impl Party {
    /// Runs a task's program on these records: the outputs.
    fn run(
        &mut self,
        task: &Task,
        fill: &[(&str, &str)],
        inputs: &[Option<Value>],
    ) -> Result<Vec<Vec<u8>>, Error> {
        let compiled = self.programs.get(task)?;
        let fill: Fill =
            fill.iter().map(|(slot, record)| ((*slot).to_owned(), (*record).to_owned())).collect();
        let residents = Residents { state: &mut self.state, fill: &fill, store: None };
        let run =
            self.seat.run_on(&compiled, &self.settings.protocol, residents, inputs, &|_, _| (), MEET)?;
        Ok(run.outputs.iter().flatten().map(to_bytes).collect())
    }

    fn own(&self, values: Vec<Value>) -> Vec<Option<Value>> {
        given(self.me, 0, values)
    }

    /// Carries out an order: what the admin is told.
    fn obey(&mut self, principals: &mut Principals, file: &Path, bytes: &[u8]) -> Result<String, Failure> {
        let order = Order::read(bytes).map_err(Failure::Refused)?;
        let task = order.task(bytes);
        let Order { principal: name, change, .. } = order;
        let is_new = matches!(change, Change::Key { .. });
        if !is_new && principals.get_mut(&name).is_none() {
            return Err(Failure::Refused(format!("there is no principal {name}")));
        }
        // The admin's input is the first.
        let inputs = match change {
            Change::Key { drawn: true, .. } => {
                given(self.me, 1, vec![drawn(self.settings.enctype.key_bytes())?])
            }
            _ => vec![None],
        };
        self.run(&task, &[], &inputs)?;
        let (old, told) = match (change, task) {
            (Change::Key { salt, .. }, Task::Enrol { record, .. }) => {
                let kvno = principals.next_kvno(&name);
                let principal = Principal { kvno, record, salt, revoked: false };
                (principals.put(name, principal), format!("kvno {kvno}"))
            }
            (Change::Delete, _) => (principals.remove(&name), "deleted".to_owned()),
            (change, _) => {
                let revoked = change == Change::Lock;
                if let Some(principal) = principals.get_mut(&name) {
                    principal.revoked = revoked;
                }
                (None, if revoked { "locked" } else { "unlocked" }.to_owned())
            }
        };
        principals.save(file)?;
        if let Some(old) = old {
            self.state.drop_value(&old.record)?;
        }
        Ok(told)
    }
}

/// Random bytes as bits.
fn drawn(count: usize) -> Result<Value, Error> {
    let mut bytes = Zeroizing::new(vec![0; count]);
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::Refused(format!("the system has no randomness: {error}")))?;
    Ok(to_bits(&bytes))
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs().try_into().unwrap_or(i64::MAX)
}

impl Party {
    /// A verdict on what was sent, and the median of the clocks.
    fn verdict(&mut self, task: &Task, fill: (&str, &str), sent: &[u8]) -> Result<(bool, i64), Error> {
        let inputs = self.own(vec![to_bits(sent), to_bits(&now().to_le_bytes())]);
        let outputs = self.run(task, &[fill], &inputs)?;
        let clock = |bytes: &Vec<u8>| bytes.as_slice().try_into().map_or(0, i64::from_le_bytes);
        let mut clocks: Vec<i64> = outputs.iter().skip(1).map(clock).collect();
        clocks.sort_unstable();
        let median = clocks.get(clocks.len() / 2).copied().unwrap_or_default();
        Ok((outputs.first().is_some_and(|verdict| verdict == &[1]), median))
    }

    /// What is opened of what was sent.
    fn opened(&mut self, task: &Task, fill: (&str, &str), sent: &[u8]) -> Result<Vec<u8>, Error> {
        let inputs = self.own(vec![to_bits(sent)]);
        Ok(self.run(task, &[fill], &inputs)?.into_iter().next().unwrap_or_default())
    }

    /// Ciphertexts of ticket and reply, if the circuit grants them.
    fn sealed(
        &mut self,
        task: &Task,
        fill: [(&str, &str); 2],
        public: &[u8],
    ) -> Result<Option<Sealed>, Error> {
        let inputs = self.own(vec![to_bits(public), drawn(drawn_bytes(self.settings.enctype))?]);
        let outputs = self.run(task, &fill, &inputs)?;
        let Ok([ticket, part, granted]) = <[Vec<u8>; 3]>::try_from(outputs) else { return Ok(None) };
        Ok((granted == [1]).then_some(Sealed { ticket, part }))
    }
}

impl Shares for Party {
    fn verify(&mut self, client: &str, sealed: &[u8]) -> Result<(bool, i64), Error> {
        self.verdict(&Task::Verify(sealed.len()), (CLIENT, client), sealed)
    }

    fn open(&mut self, client: &str, sealed: &[u8]) -> Result<Vec<u8>, Error> {
        self.opened(&Task::Open(sealed.len()), (CLIENT, client), sealed)
    }

    fn reply(
        &mut self,
        service: &str,
        client: &str,
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Sealed, Error> {
        let task = Task::Reply(ticket.1, part.1);
        let fill = [(SERVICE, service), (CLIENT, client)];
        let sealed = self.sealed(&task, fill, &[ticket.0, part.0].concat())?;
        sealed.ok_or_else(|| Error::Refused("the servers want different replies".to_owned()))
    }

    fn verify_further(&mut self, krbtgt: &str, given: Given<'_>) -> Result<(bool, i64), Error> {
        let sent = [given.ticket, given.authenticator].concat();
        self.verdict(&Task::VerifyFurther(given.sizes), (KRBTGT, krbtgt), &sent)
    }

    fn open_ticket(&mut self, krbtgt: &str, given: Given<'_>) -> Result<Vec<u8>, Error> {
        self.opened(&Task::OpenTicket(given.sizes), (KRBTGT, krbtgt), given.ticket)
    }

    fn open_authenticator(
        &mut self,
        krbtgt: &str,
        given: Given<'_>,
        layout: Layout,
    ) -> Result<Vec<u8>, Error> {
        let sent = [given.ticket, given.authenticator].concat();
        self.opened(&Task::OpenAuthenticator(given.sizes, layout), (KRBTGT, krbtgt), &sent)
    }

    fn reply_further(
        &mut self,
        krbtgt: &str,
        service: &str,
        (given, layout, body): (Given<'_>, Layout, &[u8]),
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Option<Sealed>, Error> {
        let task = Task::ReplyFurther(given.sizes, layout, body.len(), ticket.1, part.1);
        let public = [given.ticket, given.authenticator, body, ticket.0, part.0].concat();
        self.sealed(&task, [(KRBTGT, krbtgt), (SERVICE, service)], &public)
    }
}

/// A server that takes what the front relays.
pub struct Server {
    party: Party,
    principals: Principals,
    replays: Replays,
    file: PathBuf,
    listener: TcpListener,
}

impl Server {
    /// Opens the server whose keys, settings and state are in a folder.
    ///
    /// # Errors
    /// If a file is wrong or missing, or a port can't be had.
    pub fn open(folder: &Path) -> Result<Self, Failure> {
        let settings = Settings::load(&folder.join("kdc.toml"))?;
        let seat = Seat::open(&folder.join("parties.toml"))?;
        let me = seat.config().me();
        let Some(address) = settings.servers.get(me).filter(|_| seat.is_party()) else {
            return Err(Failure::Refused(format!("{} is no server's folder", folder.display())));
        };
        let listener = TcpListener::bind(address)
            .map_err(|error| io::Error::new(error.kind(), format!("{address}: {error}")))?;
        let programs = Programs::new(settings.enctype, seat.parties())?;
        let state = seat.open_state(&folder.join("state"))?;
        let file = folder.join("principals.json");
        let principals = Principals::load(&file)?;
        Ok(Self {
            party: Party { seat, state, me, settings, programs },
            principals,
            replays: Replays::default(),
            file,
            listener,
        })
    }

    /// Serves, one request at a time, until it must stop.
    ///
    /// # Errors
    /// If a check has failed or too many runs ended in the middle of one ([`Error::Stopped`]), or the disk fails.
    pub fn serve(&mut self) -> Result<(), Failure> {
        self.warm_up()?;
        let (jobs, queue) = sync_channel(1);
        let listener = self.listener.try_clone()?;
        thread::spawn(move || {
            let open = Arc::new(());
            for link in listener.incoming().flatten() {
                if Arc::strong_count(&open) <= FRONTS {
                    let (jobs, counted) = (jobs.clone(), open.clone());
                    thread::spawn(move || {
                        // A front that is gone comes back by itself.
                        drop((relay(link, &jobs), counted));
                    });
                }
            }
        });
        println!("{} serves {}", self.party.seat.name(), self.party.settings.realm);
        for Job { kind, bytes, reply } in queue {
            let told = match kind {
                Kind::Request => self.answer(&bytes)?,
                Kind::Order => self.obey(&bytes)?,
            };
            let _ = reply.send(told);
        }
        Ok(())
    }

    /// Compiles what every login takes.
    fn warm_up(&mut self) -> Result<(), Failure> {
        // Of microseconds most take three bytes.
        for plain in [27, 28] {
            let bytes = self.party.settings.enctype.sealed_bytes(plain);
            for task in [Task::Verify(bytes), Task::Open(bytes)] {
                self.party.programs.get(&task)?;
            }
        }
        Ok(())
    }

    fn answer(&mut self, request: &[u8]) -> Result<Vec<u8>, Failure> {
        let settings = self.party.settings.clone();
        let answer = answer(&settings, &self.principals, request, now(), &mut self.replays, &mut self.party);
        println!("{}", answer.line);
        match answer.failed.map(|failed| *failed) {
            Some(error @ Error::Stopped { .. }) => Err(error.into()),
            Some(error) => {
                println!("{error}");
                Ok(answer.bytes)
            }
            None => Ok(answer.bytes),
        }
    }

    fn obey(&mut self, order: &[u8]) -> Result<Vec<u8>, Failure> {
        let told = match self.party.obey(&mut self.principals, &self.file, order) {
            Ok(told) => told,
            Err(Failure::Tacit(error @ Error::Stopped { .. })) => return Err(error.into()),
            Err(error) => format!("{REFUSED}: {error}"),
        };
        println!("order: {told}");
        Ok(told.into_bytes())
    }
}

/// Something that a front relays, and what waits for the reply.
struct Job {
    kind: Kind,
    bytes: Vec<u8>,
    reply: SyncSender<Vec<u8>>,
}

/// Takes what a front relays, until its link ends.
fn relay(mut front: TcpStream, jobs: &SyncSender<Job>) -> io::Result<()> {
    front.set_nodelay(true)?;
    loop {
        let (kind, bytes) = wire::read(&mut front)?;
        let (reply, replied) = sync_channel(1);
        if jobs.send(Job { kind, bytes, reply }).is_err() {
            return Ok(());
        }
        let Ok(told) = replied.recv() else { return Ok(()) };
        wire::write(&mut front, kind, &told)?;
    }
}
