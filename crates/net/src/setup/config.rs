//! `parties.toml`: who takes part, where, and who this one is.
//!
//! ```toml
//! me = "P0"
//! transport = "tls"
//! key = "key.pem"                   # beside this file
//! certificate = "certificate.pem"
//! window_bytes = 500000             # the same for everybody
//!
//! [[party]]                         # parties in the order of their numbers
//! name = "P0"
//! address = "10.0.0.1:7700"
//! fingerprint = "5f1c..."           # SHA-256 of the certificate in DER
//! # ...
//!
//! [[client]]
//! name = "alice"
//! fingerprint = "09ab..."
//!
//! [limits]
//! silence_seconds = 10.0            # as linger_seconds and inbox_bytes the same for all parties
//! ```

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::error::SetupError;
use super::files;
use super::hello::MAX_ENDPOINTS;
use crate::Limits;
use crate::frame::MAX_PAYLOAD;
use crate::shape::STAMP;
use crate::tls::pin::Fingerprint;

/// What `insecure_tcp` must say if parties are to talk plain TCP beyond one machine.
pub const INSECURE_TCP: &str = "I accept that anyone on the network can read and alter everything";

/// A longest name.
const MAX_NAME: usize = 64;

/// How links are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// TLS 1.3, both sides with pinned certificates.
    Tls,
    /// Plain TCP: no secrecy, no proof of who is calling.
    Tcp,
}

/// A party as the configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// Its name.
    pub name: String,
    /// Where others reach it: `host:port`.
    pub address: String,
    /// The fingerprint of its certificate; always there under TLS.
    pub fingerprint: Option<Fingerprint>,
}

/// A client as the configuration names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// The fingerprint of its certificate; always there under TLS.
    pub fingerprint: Option<Fingerprint>,
}

/// One party's or client's configuration, read and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    me: usize,
    parties: Vec<Party>,
    clients: Vec<Client>,
    security: Security,
    listen: Option<String>,
    window: Option<usize>,
    limits: Limits,
    path: PathBuf,
    pub(super) key: Option<PathBuf>,
    pub(super) certificate: Option<PathBuf>,
}

impl Config {
    /// Reads a configuration from a file. Paths in it are relative to the file's folder.
    ///
    /// # Errors
    /// [`SetupError::File`] or [`SetupError::Config`].
    pub fn load(path: &Path) -> Result<Self, SetupError> {
        let text = String::from_utf8(files::read(path)?).map_err(|_| SetupError::Config {
            path: path.to_owned(),
            detail: "not a text in UTF-8".to_owned(),
        })?;
        Self::parse(&text, path)
    }

    /// Reads a configuration from a text; `path` is where it stands. Opens no files.
    ///
    /// # Errors
    /// [`SetupError::Config`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, SetupError> {
        let wrong = |detail: String| SetupError::Config { path: path.to_owned(), detail };
        let file: File = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        file.check(path).map_err(wrong)
    }

    /// This endpoint's number: parties from 0, then clients.
    pub fn me(&self) -> usize {
        self.me
    }

    /// The parties, in the order of their numbers.
    pub fn parties(&self) -> &[Party] {
        &self.parties
    }

    /// The clients, in the order of their numbers, the first of which is the number of parties.
    pub fn clients(&self) -> &[Client] {
        &self.clients
    }

    /// The same of a party without clients: when they come and go, they are no part of what parties have alike.
    pub(super) fn without_clients(&self) -> Self {
        Self { clients: Vec::new(), ..self.clone() }
    }

    /// Where the configuration stands.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Everybody's name, in the order of their numbers.
    pub fn names(&self) -> Vec<String> {
        let parties = self.parties.iter().map(|party| &party.name);
        parties.chain(self.clients.iter().map(|client| &client.name)).cloned().collect()
    }

    /// An endpoint's number by its name.
    pub fn endpoint(&self, name: &str) -> Option<usize> {
        self.names().iter().position(|other| other == name)
    }

    /// Whether this is a client's configuration.
    pub fn is_client(&self) -> bool {
        self.me >= self.parties.len()
    }

    /// How links are protected.
    pub fn security(&self) -> Security {
        self.security
    }

    /// The limits in force: the defaults, changed by what the configuration says.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Bytes of circuits' messages that each party is to have under way at a time, about the links' bandwidth times
    /// their round trip; nothing if the configuration doesn't say it. At least 1, and at most [`Limits::inbox`].
    pub fn window(&self) -> Option<usize> {
        self.window
    }

    /// The same with another window.
    ///
    /// # Errors
    /// [`SetupError::Config`] if it is 0, or more than is held of a peer's messages.
    pub fn with_window(mut self, bytes: usize) -> Result<Self, SetupError> {
        check_window(bytes, &self.limits)
            .map_err(|detail| SetupError::Config { path: self.path.clone(), detail })?;
        self.window = Some(bytes);
        Ok(self)
    }

    /// The same with another time for which the others are waited for at the start of a run ([`Limits::connect`]).
    #[must_use]
    pub fn with_wait(mut self, within: Duration) -> Self {
        self.limits.connect = within;
        self
    }

    /// Everybody's fingerprint, in the order of their numbers.
    pub(super) fn fingerprints(&self) -> Vec<Option<Fingerprint>> {
        let parties = self.parties.iter().map(|party| party.fingerprint);
        parties.chain(self.clients.iter().map(|client| client.fingerprint)).collect()
    }

    /// The address to listen on.
    ///
    /// # Errors
    /// [`SetupError::WrongUse`] for a client.
    pub fn own_address(&self) -> Result<&str, SetupError> {
        match self.parties.get(self.me) {
            Some(party) => Ok(self.listen.as_deref().unwrap_or(&party.address)),
            None => Err(SetupError::WrongUse { detail: "clients do not listen, they connect".to_owned() }),
        }
    }
}

/// The file as it stands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    me: String,
    transport: FileSecurity,
    insecure_tcp: Option<String>,
    listen: Option<String>,
    key: Option<PathBuf>,
    certificate: Option<PathBuf>,
    window_bytes: Option<usize>,
    #[serde(default)]
    party: Vec<FileParty>,
    #[serde(default)]
    client: Vec<FileClient>,
    #[serde(default)]
    limits: FileLimits,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum FileSecurity {
    Tls,
    Tcp,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileParty {
    name: String,
    address: String,
    fingerprint: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileClient {
    name: String,
    fingerprint: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct FileLimits {
    frame_bytes: Option<usize>,
    inbox_bytes: Option<usize>,
    outbox_bytes: Option<usize>,
    silence_seconds: Option<f64>,
    patience_seconds: Option<f64>,
    connect_seconds: Option<f64>,
    handshake_seconds: Option<f64>,
    linger_seconds: Option<f64>,
    callers: Option<usize>,
}

impl File {
    fn check(self, path: &Path) -> Result<Config, String> {
        let security = match self.transport {
            FileSecurity::Tls => Security::Tls,
            FileSecurity::Tcp => Security::Tcp,
        };
        let tls = security == Security::Tls;
        let fingerprint = |name: &str, text: Option<&str>| match text {
            Some(text) => text.parse().map(Some).map_err(|error| format!("fingerprint of {name}: {error}")),
            None if tls => Err(format!("{name} has no fingerprint, which TLS needs")),
            None => Ok(None),
        };
        let mut parties = Vec::new();
        for FileParty { name, address, fingerprint: text } in self.party {
            check_address(&address)?;
            let fingerprint = fingerprint(&name, text.as_deref())?;
            parties.push(Party { name, address, fingerprint });
        }
        let mut clients = Vec::new();
        for FileClient { name, fingerprint: text } in self.client {
            let fingerprint = fingerprint(&name, text.as_deref())?;
            clients.push(Client { name, fingerprint });
        }
        if parties.len() < 2 {
            return Err(format!("{} [[party]] where at least 2 are needed", parties.len()));
        }
        if parties.len() + clients.len() > MAX_ENDPOINTS {
            return Err(format!("more than {MAX_ENDPOINTS} parties and clients"));
        }
        if tls && (self.key.is_none() || self.certificate.is_none()) {
            return Err("TLS needs `key` and `certificate`: the files that hold them".to_owned());
        }
        if let Some(address) = &self.listen {
            check_address(address)?;
        }

        let limits = self.limits.over_defaults()?;
        if let Some(bytes) = self.window_bytes {
            check_window(bytes, &limits)?;
        }

        let folder = path.parent().unwrap_or(Path::new(""));
        let mut config = Config {
            me: 0,
            parties,
            clients,
            security,
            listen: self.listen,
            window: self.window_bytes,
            limits,
            path: path.to_owned(),
            key: self.key.map(|key| folder.join(key)),
            certificate: self.certificate.map(|certificate| folder.join(certificate)),
        };
        check_distinct(&config)?;
        if !tls {
            check_tcp(&config, self.insecure_tcp.as_deref())?;
        }
        let me = config.endpoint(&self.me);
        config.me = me.ok_or_else(|| format!("me = {:?} is no party's or client's name", self.me))?;
        Ok(config)
    }
}

impl FileLimits {
    fn over_defaults(self) -> Result<Limits, String> {
        let default = Limits::default();
        let limits = Limits {
            frame: self.frame_bytes.unwrap_or(default.frame),
            inbox: self.inbox_bytes.unwrap_or(default.inbox),
            outbox: self.outbox_bytes.unwrap_or(default.outbox),
            silence: seconds("silence_seconds", self.silence_seconds, default.silence)?,
            patience: seconds("patience_seconds", self.patience_seconds, default.patience)?,
            connect: seconds("connect_seconds", self.connect_seconds, default.connect)?,
            handshake: seconds("handshake_seconds", self.handshake_seconds, default.handshake)?,
            linger: seconds("linger_seconds", self.linger_seconds, default.linger)?,
            callers: self.callers.unwrap_or(default.callers),
        };
        if limits.frame > MAX_PAYLOAD - STAMP {
            return Err(format!("frame_bytes is at most {}", MAX_PAYLOAD - STAMP));
        }
        if [limits.frame, limits.inbox, limits.outbox, limits.callers].contains(&0) {
            return Err("limits are at least 1".to_owned());
        }
        Ok(limits)
    }
}

fn seconds(key: &str, seconds: Option<f64>, default: Duration) -> Result<Duration, String> {
    let Some(seconds) = seconds else { return Ok(default) };
    // A million seconds is far beyond any use, and safe to add to any clock.
    if !(0.001..=1e6).contains(&seconds) {
        return Err(format!("{key} = {seconds} is not between 0.001 and 1,000,000"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// Of a window that a peer doesn't hold all would wait for one another.
fn check_window(bytes: usize, limits: &Limits) -> Result<(), String> {
    if (1..=limits.inbox).contains(&bytes) {
        return Ok(());
    }
    Err(format!("window_bytes is from 1 to inbox_bytes, {}; not {bytes}", limits.inbox))
}

/// `host:port`, with a port that can be called.
fn check_address(address: &str) -> Result<(), String> {
    let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port);
    match port.and_then(|port| port.parse::<u16>().ok()) {
        Some(1..) => Ok(()),
        _ => Err(format!("address {address:?} is not host:port")),
    }
}

pub(super) fn check_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(fits) {
        return Err(format!("name {name:?} is not 1 to {MAX_NAME} letters, digits, - and _"));
    }
    Ok(())
}

fn check_distinct(config: &Config) -> Result<(), String> {
    let mut names = HashSet::new();
    for name in config.names() {
        check_name(&name)?;
        if !names.insert(name.clone()) {
            return Err(format!("two parties or clients have the name {name}"));
        }
    }
    let mut addresses = HashSet::new();
    if let Some(party) = config.parties.iter().find(|party| !addresses.insert(&party.address)) {
        return Err(format!("two parties have the address {}", party.address));
    }
    let mut prints = HashSet::new();
    if config.fingerprints().into_iter().flatten().any(|print| !prints.insert(print)) {
        return Err("two parties or clients have the same fingerprint".to_owned());
    }
    Ok(())
}

/// Plain TCP stays on this machine unless somebody has said, in so many words, that it may leave it.
fn check_tcp(config: &Config, accepted: Option<&str>) -> Result<(), String> {
    match accepted {
        Some(INSECURE_TCP) => return Ok(()),
        Some(_) => return Err(format!("insecure_tcp must say {INSECURE_TCP:?}")),
        None => {}
    }
    let addresses = config.parties.iter().map(|party| party.address.as_str());
    match addresses.chain(config.listen.as_deref()).find(|address| !is_loopback(address)) {
        Some(address) => Err(format!(
            "plain TCP to {address} leaves this machine: use transport = \"tls\", or say \
             insecure_tcp = {INSECURE_TCP:?}"
        )),
        None => Ok(()),
    }
}

fn is_loopback(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let by_number = address.parse::<SocketAddr>().map(|address| address.ip()).or(host.parse::<IpAddr>());
    host == "localhost" || by_number.is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: &str = r#"
        me = "bob"
        transport = "tcp"
        party = [{ name = "P0", address = "127.0.0.1:7000" }, { name = "P1", address = "localhost:7001" }]
        client = [{ name = "bob" }]
        limits = { silence_seconds = 0.5, inbox_bytes = 1000 }
    "#;

    fn parse(text: &str) -> Result<Config, String> {
        Config::parse(text, Path::new("a/parties.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_configuration_is_read() {
        let config = parse(TCP).unwrap();
        assert_eq!((config.me(), config.is_client()), (2, true));
        assert_eq!(config.names(), ["P0", "P1", "bob"]);
        assert_eq!(config.endpoint("P1"), Some(1));
        assert_eq!(config.endpoint("P2"), None);
        let limits = Limits { silence: Duration::from_millis(500), inbox: 1000, ..Limits::default() };
        assert_eq!(*config.limits(), limits);
        assert_eq!((config.own_address().is_ok(), config.window()), (false, None));
        let party = parse(&TCP.replace("\"bob\"\n        transport", "\"P1\"\n        transport")).unwrap();
        assert_eq!(party.own_address(), Ok("localhost:7001"));
    }

    #[test]
    fn a_window_is_read_and_can_be_said_anew() {
        let config = parse(&TCP.replace("\"tcp\"", "\"tcp\"\nwindow_bytes = 1000")).unwrap();
        assert_eq!(config.window(), Some(1000));
        assert_eq!(config.clone().with_window(1).unwrap().window(), Some(1));
        for wrong in [0, 1001] {
            let error = config.clone().with_window(wrong).unwrap_err().to_string();
            assert!(error.contains("a/parties.toml") && error.contains("inbox_bytes"), "{error}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let print = |digit: &str| format!("\", fingerprint = \"{}\" }}", digit.repeat(64));
        let tls = TCP.replace("\"tcp\"", "\"tls\"\nkey = \"k\"\ncertificate = \"c\"");
        let one_print = tls.replace("\" }", &print("a"));
        for (text, says) in [
            (TCP.replace("\n        me =", "\nnobody ="), "unknown field `nobody`"),
            (TCP.replace("silence_seconds", "silence"), "unknown field `silence`"),
            (TCP.replace("name = \"bob\"", "name = \"bob\", address = \"x:1\""), "unknown field `address`"),
            (TCP.replace("\"tcp\"", "\"udp\""), "unknown variant `udp`"),
            (TCP.replace("\n        me = \"bob\"", "\nme = \"eve\""), "me = \"eve\" is no party's"),
            (TCP.replace("name = \"bob\"", "name = \"P1\""), "the name P1"),
            (TCP.replace("name = \"P1\"", "name = \"P 1\""), "name \"P 1\" is not"),
            (TCP.replace("name = \"P1\"", &format!("name = \"{}\"", "x".repeat(65))), "is not 1 to 64"),
            (TCP.replace("localhost:7001", "localhost"), "\"localhost\" is not host:port"),
            (TCP.replace("localhost:7001", "localhost:0"), "is not host:port"),
            (TCP.replace("localhost:7001", "127.0.0.1:7000"), "two parties have the address"),
            (TCP.replace("localhost:7001", "10.0.0.1:7001"), "leaves this machine"),
            (TCP.replace("\"tcp\"", "\"tcp\"\nlisten = \"0.0.0.0:1\""), "leaves this machine"),
            (TCP.replace("\"tcp\"", "\"tcp\"\ninsecure_tcp = \"yes\""), "insecure_tcp must say"),
            (TCP.replace("0.5", "-1.0"), "silence_seconds = -1 is not between"),
            (TCP.replace("0.5", "nan"), "silence_seconds = NaN is not between"),
            (TCP.replace("= 1000", "= 0"), "limits are at least 1"),
            (
                TCP.replace("\"tcp\"", "\"tcp\"\nwindow_bytes = 0"),
                "window_bytes is from 1 to inbox_bytes, 1000; not 0",
            ),
            (TCP.replace("\"tcp\"", "\"tcp\"\nwindow_bytes = 1001"), "1000; not 1001"),
            (TCP.replace("\"tcp\"", "\"tcp\"\nwindow_bytes = -1"), "-1"),
            (TCP.replace("\"tcp\"", "\"tcp\"\nwindow_bytes = 0.5"), "floating point"),
            (TCP.replace(", { name = \"P1\", address = \"localhost:7001\" }", ""), "at least 2"),
            (TCP.replace("\"tcp\"", "\"tls\""), "P0 has no fingerprint"),
            (tls.clone(), "P0 has no fingerprint"),
            (one_print.clone(), "the same fingerprint"),
            (one_print.replace("key = \"k\"", ""), "TLS needs `key`"),
            (tls.replace("\" }", &print("g")), "fingerprint of P0: a fingerprint is 64"),
            ("\u{0}".to_owned(), "a/parties.toml"),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.contains(says), "expected {says:?} in {error:?}");
        }
        let accepted = format!("\"tcp\"\ninsecure_tcp = \"{INSECURE_TCP}\"");
        let far = TCP.replace("localhost:7001", "10.0.0.1:7001").replace("\"tcp\"", &accepted);
        parse(&far).unwrap();
    }

    #[test]
    fn loopback_is_told_from_elsewhere() {
        for near in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1"] {
            assert!(is_loopback(near), "{near}");
        }
        for far in ["0.0.0.0:1", "10.0.0.1:1", "[::]:1", "example.org:1", "127.0.0.1.evil.org:1"] {
            assert!(!is_loopback(far), "{far}");
        }
    }
}
