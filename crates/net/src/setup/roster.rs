//! The clients that a party knows: those of `parties.toml`, and those enrolled since, in `clients.toml` beside it.
//!
//! ```toml
//! [[client]]
//! name = "carol"
//! fingerprint = "3e7d..."
//! ```
//!
//! A party that serves reads the file again when it has changed, so a client is enrolled without a restart. The file is
//! replaced whole: whoever reads it sees all of the old one or all of the new one.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;

use super::config::{Client, Config, Security, check_name};
use super::error::SetupError;
use super::files;
use super::hello::{ENTRY, entry};
use crate::tls::pin::Fingerprint;

/// More enrolled clients than this are refused.
const MAX_CLIENTS: usize = 8192;

/// The file as it stands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    client: Vec<FileClient>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileClient {
    name: String,
    fingerprint: Option<String>,
}

/// Where the enrolled clients of a configuration are listed.
fn place(config: &Config) -> PathBuf {
    config.path().with_file_name("clients.toml")
}

/// The clients that were enrolled beside those of a configuration.
///
/// # Errors
/// [`SetupError::File`] and [`SetupError::Config`] if the list can't be read, or names somebody twice.
pub fn enrolled(config: &Config) -> Result<Vec<Client>, SetupError> {
    let path = place(config);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let wrong = |detail: String| SetupError::Config { path: path.clone(), detail };
    let text = String::from_utf8(files::read(&path)?).map_err(|_| wrong("not a text in UTF-8".to_owned()))?;
    let file: File = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if file.client.len() > MAX_CLIENTS {
        return Err(wrong(format!("more than {MAX_CLIENTS} clients")));
    }
    let mut clients = Vec::with_capacity(file.client.len());
    for FileClient { name, fingerprint } in file.client {
        let print = fingerprint.map(|text| text.parse::<Fingerprint>()).transpose();
        let fingerprint = print.map_err(|error| wrong(format!("fingerprint of {name}: {error}")))?;
        if fingerprint.is_none() && config.security() == Security::Tls {
            return Err(wrong(format!("{name} has no fingerprint, which TLS needs")));
        }
        clients.push(Client { name, fingerprint });
    }
    check(config, &clients).map_err(wrong)?;
    Ok(clients)
}

/// Refuses names and fingerprints that come twice, here or in the configuration.
fn check(config: &Config, clients: &[Client]) -> Result<(), String> {
    let mut names: HashSet<String> = config.names().into_iter().collect();
    let mut prints: HashSet<Fingerprint> = config.fingerprints().into_iter().flatten().collect();
    for Client { name, fingerprint } in clients {
        check_name(name)?;
        if !names.insert(name.clone()) {
            return Err(format!("two parties or clients have the name {name}"));
        }
        if fingerprint.is_some_and(|print| !prints.insert(print)) {
            return Err(format!("{name} has the fingerprint of another"));
        }
    }
    Ok(())
}

/// Enrols a client with a party: from now on it may connect while the party serves. Whoever has a name keeps it.
///
/// # Errors
/// [`SetupError::Config`] if somebody has this name or this fingerprint, and those of the list.
pub fn enrol(config: &Config, client: Client) -> Result<(), SetupError> {
    let mut clients = enrolled(config)?;
    clients.push(client);
    write(config, &clients)
}

/// Strikes an enrolled client off a party's list: from now on it is unknown. Whether it was there.
///
/// # Errors
/// Those of the list.
pub fn strike(config: &Config, name: &str) -> Result<bool, SetupError> {
    let mut clients = enrolled(config)?;
    let before = clients.len();
    clients.retain(|client| client.name != name);
    if clients.len() < before {
        write(config, &clients)?;
    }
    Ok(clients.len() < before)
}

/// Replaces the list whole.
fn write(config: &Config, clients: &[Client]) -> Result<(), SetupError> {
    let path = place(config);
    if clients.len() > MAX_CLIENTS {
        let detail = format!("more than {MAX_CLIENTS} clients");
        return Err(SetupError::Config { path, detail });
    }
    check(config, clients).map_err(|detail| SetupError::Config { path: path.clone(), detail })?;
    let mut text = String::from("# Clients enrolled by `tacit client add`.\n");
    for Client { name, fingerprint } in clients {
        // Writing into a string can't fail.
        let _ = write!(text, "\n[[client]]\nname = \"{name}\"\n");
        if let Some(print) = fingerprint {
            let _ = writeln!(text, "fingerprint = \"{print}\"");
        }
    }
    let fresh = path.with_extension("toml.new");
    let written = fs::File::create(&fresh)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&fresh, &path));
    written.map_err(|error| SetupError::File { path, detail: error.to_string() })
}

/// When a file was last written, and how long it is.
type Stamp = Option<(SystemTime, u64)>;

fn stamp(path: &Path) -> Stamp {
    let known = fs::metadata(path).ok()?;
    Some((known.modified().ok()?, known.len()))
}

/// All clients that a party knows at present.
pub(super) struct Roster {
    config: Config,
    stamp: Stamp,
    /// By what a hello says of them.
    known: HashMap<[u8; ENTRY], Client>,
}

impl Roster {
    /// # Errors
    /// As [`enrolled`].
    pub(super) fn read(config: &Config) -> Result<Self, SetupError> {
        let mut roster = Self { config: config.clone(), stamp: None, known: HashMap::new() };
        roster.reread()?;
        Ok(roster)
    }

    fn reread(&mut self) -> Result<(), SetupError> {
        // Before it is read: what is written meanwhile is read the next time.
        self.stamp = stamp(&place(&self.config));
        let all = self.config.clients().iter().cloned().chain(enrolled(&self.config)?);
        self.known = all.map(|client| (entry(&client.name, client.fingerprint), client)).collect();
        Ok(())
    }

    /// Reads the list again if it has changed; whether it has. One that is wrong changes nothing.
    pub(super) fn refresh(&mut self) -> bool {
        stamp(&place(&self.config)) != self.stamp && self.reread().is_ok()
    }

    /// The client of which a hello says this.
    pub(super) fn find(&self, entry: &[u8; ENTRY]) -> Option<&Client> {
        self.known.get(entry)
    }

    /// The client of this name.
    pub(super) fn named(&self, name: &str) -> Option<&Client> {
        self.known.values().find(|client| client.name == name)
    }

    /// Whether this client is known.
    pub(super) fn knows(&self, client: &Client) -> bool {
        self.known.contains_key(&entry(&client.name, client.fingerprint))
    }

    /// The fingerprints of all parties and clients.
    pub(super) fn fingerprints(&self) -> Vec<Fingerprint> {
        let parties = self.config.parties().iter().filter_map(|party| party.fingerprint);
        parties.chain(self.known.values().filter_map(|client| client.fingerprint)).collect()
    }
}
