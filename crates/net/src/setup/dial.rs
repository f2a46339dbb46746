//! The way to a party that this side calls: again and again, until it takes the call.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use rustix::event::PollFd;

use super::caller::{Caller, Placed};
use super::error::SetupError;
use super::greeting::{Fault, Greeting};
use super::hello::{Hello, Members};
use crate::channel::{Channel, ChannelError};
use crate::lane::Lane;
use crate::tls::TlsError;

/// The first pause before a peer that could not be reached is dialled again; it doubles up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LAST_PAUSE: Duration = Duration::from_millis(500);
/// The pause before a party is dialled again that was reached and can't take part as it is.
const REST: Duration = Duration::from_secs(5);
/// How often is looked whether a name has been looked up.
const LOOK: Duration = Duration::from_millis(20);
/// Hellos of one party that are read at one look. One that says without end for whom it waits holds nobody up.
const HELLOS: usize = 4;

/// The way to one party, in all lanes.
pub(super) struct Route {
    pub(super) peer: usize,
    pub(super) address: String,
    /// By lane.
    dials: Vec<Dial>,
}

impl Route {
    /// A new call, which has a number that nobody has used.
    pub(super) fn new(peer: usize, address: &str, lanes: u16) -> Result<Self, SetupError> {
        let mut call = [0; 8];
        getrandom::fill(&mut call).map_err(SetupError::system)?;
        let call = u64::from_le_bytes(call);
        let dials = Lane::all(lanes).map(|lane| Dial::new(peer, address.to_owned(), lane, call)).collect();
        Ok(Self { peer, address: address.to_owned(), dials })
    }

    /// Goes on in all lanes that are still to come.
    pub(super) fn advance(
        &mut self,
        places: &mut [Option<Placed>],
        caller: &Caller,
        names: &[String],
    ) -> Result<(), SetupError> {
        for (dial, place) in self.dials.iter_mut().zip(places).filter(|(_, place)| place.is_none()) {
            *place =
                dial.advance(caller, names)?.map(|channel| Placed { channel, call: dial.call, told: None });
        }
        Ok(())
    }

    /// The dials of lanes that are still to come.
    pub(super) fn at_work(&self, places: &[Option<Placed>]) -> impl Iterator<Item = &Dial> {
        self.dials.iter().zip(places).filter(|(_, place)| place.is_none()).map(|(dial, _)| dial)
    }

    /// Whether the party knows that this side is here: it has said for whom it waits.
    pub(super) fn is_heard(&self) -> bool {
        self.dials.iter().any(|dial| !dial.missing.is_empty())
    }

    /// Those who keep this route from its end: the party itself, or whom it waits for as it says.
    pub(super) fn missing(&self, me: usize) -> Vec<usize> {
        let told = self.dials.iter().map(|dial| dial.missing).find(|missing| !missing.is_empty());
        let others: Vec<usize> = told.iter().flat_map(Members::iter).filter(|&peer| peer != me).collect();
        if others.is_empty() { vec![self.peer] } else { others }
    }

    /// Why the party was not reached in a lane, in words.
    pub(super) fn failure(&self, (lane, number): &(String, usize), names: &[String]) -> Option<String> {
        let name = names.get(self.peer)?;
        let dial = self.dials.get(*number)?;
        if dial.missing.is_empty() {
            return Some(format!("no connection to {name} at {}{lane} ({})", self.address, dial.last));
        }
        let missing = dial.missing.named(names);
        Some(format!("{name} at {} waits for others of this run ({missing}), who didn't come", self.address))
    }
}

/// The way to one party in one lane.
pub(super) struct Dial {
    peer: usize,
    address: String,
    lane: Lane,
    call: u64,
    state: DialState,
    tries: usize,
    /// Why the last try failed.
    last: String,
    /// For whom the party waits before it takes this call, as it says; nobody if it has said nothing.
    missing: Members,
}

enum DialState {
    Pause {
        until: Instant,
    },
    /// A thread waits for the name server.
    LookingUp(Receiver<std::io::Result<Vec<SocketAddr>>>),
    Calling(Box<Greeting>),
}

impl Dial {
    pub(super) fn new(peer: usize, address: String, lane: Lane, call: u64) -> Self {
        let state = DialState::Pause { until: Instant::now() };
        let last = "not tried: parties are called in order".to_owned();
        Self { peer, address, lane, call, state, tries: 0, last, missing: Members::default() }
    }

    /// Goes on without waiting; the channel once the party has taken the call.
    pub(super) fn advance(
        &mut self,
        caller: &Caller,
        names: &[String],
    ) -> Result<Option<Channel>, SetupError> {
        if let DialState::Pause { until } = &self.state {
            if Instant::now() < *until {
                return Ok(None);
            }
            match self.address.parse() {
                Ok(address) => self.call(caller, &[address])?,
                Err(_) => self.state = DialState::LookingUp(look_up(self.address.clone())),
            }
        }
        if let DialState::LookingUp(answer) = &self.state {
            match answer.try_recv() {
                Ok(Ok(addresses)) => self.call(caller, &addresses)?,
                Ok(Err(error)) => self.not_found(error.to_string()),
                Err(TryRecvError::Empty) => return Ok(None),
                Err(TryRecvError::Disconnected) => self.not_found("it can't be looked up".to_owned()),
            }
        }
        let name = names.get(self.peer).cloned().unwrap_or_default();
        for _ in 0..HELLOS {
            let DialState::Calling(greeting) = &mut self.state else { return Ok(None) };
            let address = greeting.address;
            match greeting.advance() {
                Ok(None) => return Ok(None),
                Ok(Some(hello)) => {
                    self.check(&hello, caller, &name, names, address)?;
                    if hello.missing.is_empty() {
                        return Ok(self.taken());
                    }
                    self.missing = hello.missing;
                }
                Err(Fault::Hello(difference)) => {
                    return Err(SetupError::Differs { peer: name, detail: difference.to_string() });
                }
                Err(Fault::Channel(ChannelError::Tls(error @ TlsError::Rustls(_)))) => {
                    return Err(SetupError::Refused { peer: name, address, detail: error.to_string() });
                }
                Err(Fault::Channel(error)) => {
                    let why = match error {
                        ChannelError::Io(error) => error.to_string(),
                        other => format!("it {other} without an answer"),
                    };
                    self.try_later(why);
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// The channel of a call that the party has taken.
    fn taken(&mut self) -> Option<Channel> {
        "the connection broke again".clone_into(&mut self.last);
        self.missing = Members::default();
        // Of a party that takes calls and hangs up again, each call comes later than the one before.
        let pause = self.pause_of_tries();
        match std::mem::replace(&mut self.state, pause) {
            DialState::Calling(greeting) => Some(greeting.channel),
            DialState::Pause { .. } | DialState::LookingUp(_) => None,
        }
    }

    /// Checks that a hello is this party's, for this call.
    fn check(
        &self,
        hello: &Hello,
        caller: &Caller,
        name: &str,
        names: &[String],
        address: SocketAddr,
    ) -> Result<(), SetupError> {
        if hello.stays && !caller.hello.stays {
            return Err(SetupError::Serves { peer: name.to_owned() });
        }
        let differs = caller.hello.difference(hello, names).or_else(|| caller.hello.other_run(hello, names));
        if let Some(detail) = differs {
            return Err(SetupError::Differs { peer: name.to_owned(), detail });
        }
        let detail = if usize::from(hello.sender) != self.peer {
            format!("says it is number {} of parties and clients", hello.sender)
        } else if (hello.lane, hello.call) != (self.lane, self.call) {
            format!("answers another call than the one for {}", self.lane)
        } else {
            return Ok(());
        };
        Err(SetupError::Refused { peer: name.to_owned(), address, detail })
    }

    /// Begins a call to the next of the party's addresses, or notes why it cannot.
    fn call(&mut self, caller: &Caller, addresses: &[SocketAddr]) -> Result<(), SetupError> {
        let Some(&address) = addresses.iter().cycle().nth(self.tries % addresses.len().max(1)) else {
            self.try_later("the name has no address".to_owned());
            return Ok(());
        };
        self.tries += 1;
        let tls = caller.tls_to(self.peer, address)?;
        let hello = Hello { lane: self.lane, call: self.call, ..caller.hello.clone() };
        "it has not answered yet; it may be in a run with others".clone_into(&mut self.last);
        match Greeting::call(address, tls, hello.bytes()) {
            Ok(greeting) => self.state = DialState::Calling(Box::new(greeting)),
            Err(error) => self.try_later(error.to_string()),
        }
        Ok(())
    }

    /// Why the last try failed.
    pub(super) fn last(&self) -> &str {
        &self.last
    }

    /// Calls again after the longest pause: the party was reached, and can't take part as it is.
    pub(super) fn rest(&mut self) {
        self.state = DialState::Pause { until: Instant::now() + REST };
    }

    /// The name was looked up in vain: not at once again.
    fn not_found(&mut self, why: String) {
        self.tries += 1;
        self.try_later(why);
    }

    fn try_later(&mut self, why: String) {
        self.last = why;
        self.missing = Members::default();
        self.state = self.pause_of_tries();
    }

    /// A pause that grows with the tries.
    fn pause_of_tries(&self) -> DialState {
        let doublings = self.tries.min(16) as u32;
        let pause = FIRST_PAUSE.saturating_mul(1 << doublings).min(LAST_PAUSE);
        DialState::Pause { until: Instant::now() + pause }
    }

    /// What its socket is to be watched for, if it has one.
    pub(super) fn watch(&self) -> Option<PollFd<'_>> {
        match &self.state {
            DialState::Calling(greeting) => Some(greeting.watch()),
            DialState::Pause { .. } | DialState::LookingUp(_) => None,
        }
    }

    /// How long until it has something to do by itself.
    pub(super) fn pause(&self) -> Option<Duration> {
        match &self.state {
            DialState::Pause { until } => Some(until.saturating_duration_since(Instant::now())),
            DialState::LookingUp(_) => Some(LOOK),
            DialState::Calling(_) => None,
        }
    }
}

/// Has a name looked up by a thread, which may wait for long: whoever dials has others to hear meanwhile.
fn look_up(address: String) -> Receiver<std::io::Result<Vec<SocketAddr>>> {
    let (answer, receiver) = channel();
    let look = move || {
        // If nobody waits for it any more, it isn't needed.
        let _ = answer.send(address.to_socket_addrs().map(Iterator::collect));
    };
    // Without a thread the receiver is told that no answer comes.
    let _ = std::thread::Builder::new().name("name server".to_owned()).spawn(look);
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;

    /// A party that says again and again for whom it waits: each look reads a few of its hellos, and ends.
    #[test]
    fn a_party_that_says_much_is_heard_a_little_at_a_look() {
        let names = ["P0", "P1"].map(str::to_owned);
        let hello = |sender: usize| Hello::new(sender, 2, &names, &[None, None]);
        let caller = Caller { hello: hello(1), tls: vec![None, None] };
        let party = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = party.local_addr().unwrap().to_string();
        let mut dial = Dial::new(0, address, Lane::ONLY, 7);
        let waits = Hello { call: 7, missing: Members::of([1]), ..hello(0) };
        let takes = Hello { call: 7, ..hello(0) };
        assert!(dial.advance(&caller, &names).unwrap().is_none());
        let (mut socket, _) = party.accept().unwrap();
        socket.write_all(&[waits.bytes().repeat(100), takes.bytes()].concat()).unwrap();
        let taken = (1..=100_000).find(|_| dial.advance(&caller, &names).unwrap().is_some());
        assert!(taken >= Some(100 / HELLOS), "taken at look {taken:?}");
    }

    #[test]
    fn names_are_looked_up_aside() {
        let names = ["P0", "P1"].map(str::to_owned);
        let caller = Caller { hello: Hello::new(1, 2, &names, &[None, None]), tls: vec![None, None] };
        let party = TcpListener::bind("127.0.0.1:0").unwrap();
        party.set_nonblocking(true).unwrap();
        let address = format!("localhost:{}", party.local_addr().unwrap().port());
        let mut dial = Dial::new(0, address, Lane::ONLY, 7);
        let (answer, receiver) = channel();
        dial.state = DialState::LookingUp(receiver);
        assert!(dial.advance(&caller, &names).unwrap().is_none());
        assert!(matches!(dial.state, DialState::LookingUp(_)) && dial.pause() == Some(LOOK));
        answer.send(Ok(vec![party.local_addr().unwrap()])).unwrap();
        while party.accept().is_err() {
            assert!(dial.advance(&caller, &names).unwrap().is_none());
        }
    }
}
