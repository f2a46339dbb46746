//! The clients enrolled since `parties.toml` was written, in `clients.toml` beside it.
//!
//! ```toml
//! [[client]]
//! name = "carol"
//! fingerprint = "3e7d..."
//! ```
//!
//! A party that serves reads the file again when it has changed, so a client is enrolled without a restart. The file is
//! replaced whole: whoever reads it sees all of the old one or all of the new one.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Deserialize;

use super::config::{Client, Config, Security, check_name};
use super::error::SetupError;
use super::files;
use crate::tls::pin::Fingerprint;

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
pub(super) fn place(config: &Config) -> PathBuf {
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
    parse_enrolled(config, &text).map_err(wrong)
}

/// What a list of clients beside a configuration says.
///
/// # Errors
/// What is wrong with it, in words.
#[doc(hidden)]
pub fn parse_enrolled(config: &Config, text: &str) -> Result<Vec<Client>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let client = |FileClient { name, fingerprint }| {
        let print = fingerprint.map(|text: String| text.parse::<Fingerprint>()).transpose();
        let fingerprint = print.map_err(|error| format!("fingerprint of {name}: {error}"))?;
        Ok(Client { name, fingerprint })
    };
    let clients = file.client.into_iter().map(client).collect::<Result<Vec<Client>, String>>()?;
    check(config, &clients)?;
    Ok(clients)
}

/// Refuses names and fingerprints that come twice, here or in the configuration.
fn check(config: &Config, clients: &[Client]) -> Result<(), String> {
    let mut names: HashSet<String> = config.names().into_iter().collect();
    let mut prints: HashSet<Fingerprint> = config.fingerprints().into_iter().flatten().collect();
    for Client { name, fingerprint } in clients {
        check_name(name)?;
        if fingerprint.is_none() && config.security() == Security::Tls {
            return Err(format!("{name} has no fingerprint, which TLS needs"));
        }
        if !names.insert(name.clone()) {
            return Err(format!("two parties or clients have the name {name}"));
        }
        if fingerprint.is_some_and(|print| !prints.insert(print)) {
            return Err(format!("{name} has the fingerprint of another"));
        }
    }
    Ok(())
}

/// Replaces the list whole.
pub(super) fn write(config: &Config, clients: &[Client]) -> Result<(), SetupError> {
    let path = place(config);
    check(config, clients).map_err(|detail| SetupError::Config { path: path.clone(), detail })?;
    let mut text = String::from("# Clients enrolled by `tacit client add`.\n");
    for Client { name, fingerprint } in clients {
        // Writing into a string can't fail.
        let _ = write!(text, "\n[[client]]\nname = \"{name}\"\n");
        if let Some(print) = fingerprint {
            let _ = writeln!(text, "fingerprint = \"{print}\"");
        }
    }
    files::replace(&path, &text)
}
