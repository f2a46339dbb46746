//! A look at another party: whether it is there, is who it should be, and agrees on the list; no run has to do with it.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant, SystemTime};

use super::caller::Caller;
use super::config::Config;
use super::error::SetupError;
use super::gather::wait;
use super::greeting::{Fault, Greeting, Step};
use crate::channel::ChannelError;
use crate::tls::TlsError;

/// What a party has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Where it was reached.
    pub address: SocketAddr,
    /// From asking to the answer, on a connection that was there.
    pub round_trip: Duration,
    /// By how many microseconds its clock is ahead of this side's, give or take a round trip.
    pub clock_ahead: i64,
    /// Whether it serves; else it waits for one run, or is between runs.
    pub serves: bool,
    /// The version of a session's messages that it sends and reads, [`tacit_wire::VERSION`] there; 0 if it doesn't say.
    pub messages: u16,
    /// What its list has otherwise than this side's.
    pub differs: Option<String>,
}

/// Asks a party who it is, as whom the configuration is for. It is asked once, and doesn't take it for a call.
///
/// # Errors
/// What is wrong with key or certificate; [`SetupError::Missing`] if it can't be reached or doesn't answer within this time;
/// [`SetupError::Refused`] if it isn't the one of the configuration, or doesn't know this side; [`SetupError::Differs`] if it
/// speaks another version; [`SetupError::WrongUse`] if there is no such party.
pub fn look(config: &Config, party: usize, within: Duration) -> Result<Seen, SetupError> {
    let Some(other) = config.parties().get(party) else {
        return Err(SetupError::WrongUse { detail: format!("there is no party {party}") });
    };
    let (name, start) = (other.name.clone(), Instant::now());
    let identity = config.identity()?;
    let mut caller = Caller::new(config, identity.as_ref())?;
    caller.hello.asks = true;
    let missing = |why: String| SetupError::Missing {
        missing: format!("no connection to {name} at {} ({why})", other.address),
        after: within,
        turned_away: Vec::new(),
    };
    let addresses = other.address.to_socket_addrs().map_err(|error| missing(error.to_string()))?;
    let mut why = "the name has no address".to_owned();
    for address in addresses {
        let tls = caller.tls_to(party, address)?;
        let refused = |detail: String| SetupError::Refused { peer: name.clone(), address, detail };
        let mut greeting = match Greeting::call(address, tls, caller.hello.bytes()) {
            Ok(greeting) => greeting,
            Err(error) => {
                why = error.to_string();
                continue;
            }
        };
        why = loop {
            let asked = if greeting.step() == Step::Known { greeting.since } else { start };
            match greeting.advance() {
                Ok(Some(hello)) if !hello.asks || usize::from(hello.sender) != party => {
                    return Err(refused("answers as somebody else".to_owned()));
                }
                Ok(Some(hello)) => {
                    let round_trip = asked.elapsed();
                    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                    let then = now.saturating_sub(round_trip / 2).as_micros() as u64;
                    let differs = caller.hello.answered_difference(&hello, &config.names());
                    let clock_ahead = hello.call.wrapping_sub(then) as i64;
                    let (serves, messages) = (hello.stays, hello.messages);
                    return Ok(Seen { address, round_trip, clock_ahead, serves, messages, differs });
                }
                Ok(None) => {}
                Err(Fault::Hello(difference)) => {
                    return Err(SetupError::Differs { peer: name, detail: difference.to_string() });
                }
                Err(Fault::Channel(ChannelError::Tls(error @ TlsError::Rustls(_)))) => {
                    return Err(refused(error.to_string()));
                }
                Err(Fault::Channel(error)) => break error.to_string(),
            }
            let left = within.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Err(missing("it doesn't answer".to_owned()));
            }
            wait(&mut [greeting.watch()], left);
        };
    }
    Err(missing(why))
}
