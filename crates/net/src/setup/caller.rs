//! What it takes to call others, and what comes of calls: connections in their places.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;

use super::config::Config;
use super::error::SetupError;
use super::hello::{Hello, Members};
use super::renewed::Renewed;
use crate::channel::Channel;
use crate::lane::{Lane, MAX_LANES};
use crate::tls::Tls;
use crate::tls::pin::{Identity, client_config};

/// What it takes to call others: what to say, and how to recognise them.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) hello: Hello,
    pub(super) tls: Vec<Option<Arc<ClientConfig>>>,
}

impl Caller {
    pub(super) fn new(config: &Config, identity: Option<&Identity>) -> Result<Self, SetupError> {
        let hello = Hello::new(config.me(), config.parties().len(), &config.names(), &config.fingerprints());
        let (mut tls, renewed) = (Vec::new(), Renewed::read(config)?);
        for party in config.parties() {
            tls.push(match (identity, party.fingerprint) {
                (Some(identity), Some(print)) => {
                    let prints = [vec![print], renewed.of(&party.name, Some(print))].concat();
                    Some(Arc::new(client_config(identity, prints).map_err(SetupError::system)?))
                }
                _ => None,
            });
        }
        Ok(Self { hello, tls })
    }

    /// The TLS side of a call to a party at this address; `None` with plain TCP.
    pub(super) fn tls_to(&self, peer: usize, address: SocketAddr) -> Result<Option<Tls>, SetupError> {
        let Some(Some(config)) = self.tls.get(peer) else { return Ok(None) };
        // The name is not sent, and not looked at: the certificate's fingerprint says all.
        let call = UnbufferedClientConnection::new(Arc::clone(config), ServerName::from(address.ip()));
        Ok(Some(Tls::client(call.map_err(SetupError::system)?)))
    }

    /// The same, for connections that stay, in so many lanes.
    pub(super) fn that_stays(mut self, lanes: u16) -> Self {
        self.hello.stays = true;
        self.hello.lane = Lane { number: 0, count: lanes };
        self
    }

    /// The same, for a run in so many lanes in which these clients take part.
    pub(super) fn for_run(&self, clients: &[usize], lanes: u16) -> Result<Self, SetupError> {
        if lanes == 0 || lanes > MAX_LANES {
            let detail = format!("a run has 1 to {MAX_LANES} lanes, not {lanes}");
            return Err(SetupError::WrongUse { detail });
        }
        let guests = Members::of(clients.iter().copied());
        let hello = Hello { lane: Lane { number: 0, count: lanes }, guests, ..self.hello.clone() };
        Ok(Self { hello, tls: self.tls.clone() })
    }
}

/// A connection that has its place in the run.
pub(super) struct Placed {
    pub(super) channel: Channel,
    /// The call that it belongs to, to be named in the answer.
    pub(super) call: u64,
    /// Who it knows to be missing, of those who call.
    pub(super) told: Option<Members>,
}

/// A peer's connections, by lane; `None` for one that is still to come.
pub(super) type Places = Vec<Option<Placed>>;
