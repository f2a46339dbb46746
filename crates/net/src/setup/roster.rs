//! The clients that a party knows: those of `parties.toml`, and those enrolled since.

use std::collections::HashMap;

use super::config::{Client, Config};
use super::enrolled::{enrolled, place, write};
use super::error::SetupError;
use super::files::{self, Stamp, stamp};
use super::hello::{ENTRY, entry};
use super::renewed::{self, Renewed};
use crate::tls::pin::Fingerprint;

/// Enrols a client with a party: from now on it may connect while the party serves. Whoever has a name keeps it.
///
/// # Errors
/// [`SetupError::Config`] if somebody has this name or this fingerprint, and those of the list.
pub fn enrol(config: &Config, client: Client) -> Result<(), SetupError> {
    let _alone = files::alone(&place(config))?;
    let mut clients = enrolled(config)?;
    let named = (client.name.as_str(), client.fingerprint);
    let wrong = |detail| SetupError::Config { path: place(config), detail };
    Renewed::read(config)?.check([named]).map_err(wrong)?;
    clients.push(client);
    write(config, &clients)
}

/// Strikes an enrolled client off a party's list: from now on it is unknown. Whether it was there.
///
/// # Errors
/// Those of the list.
pub fn strike(config: &Config, name: &str) -> Result<bool, SetupError> {
    let _alone = files::alone(&place(config))?;
    let mut clients = enrolled(config)?;
    let before = clients.len();
    clients.retain(|client| client.name != name);
    if clients.len() < before {
        write(config, &clients)?;
        // Whoever has the name next isn't proved by them.
        renewed::strike_renewed(config, name)?;
    }
    Ok(clients.len() < before)
}

/// All clients that a party knows at present, and by which certificates everybody.
pub(super) struct Roster {
    config: Config,
    stamps: [Stamp; 2],
    renewed: Renewed,
    /// By what a hello says of them.
    known: HashMap<[u8; ENTRY], Client>,
}

impl Roster {
    /// # Errors
    /// As [`enrolled`].
    pub(super) fn read(config: &Config) -> Result<Self, SetupError> {
        let renewed = Renewed::default();
        let mut roster = Self { config: config.clone(), stamps: [None; 2], renewed, known: HashMap::new() };
        roster.reread()?;
        Ok(roster)
    }

    fn present(&self) -> [Stamp; 2] {
        [place(&self.config), renewed::place(&self.config)].map(|path| stamp(&path))
    }

    fn reread(&mut self) -> Result<(), SetupError> {
        // Before it is read: what is written meanwhile is read the next time.
        self.stamps = self.present();
        let renewed = Renewed::read(&self.config)?;
        let enrolled = enrolled(&self.config)?;
        let listed = self.config.parties().iter().map(|party| (party.name.as_str(), party.fingerprint));
        let clients = self.config.clients().iter().chain(&enrolled);
        let all = listed.chain(clients.map(|client| (client.name.as_str(), client.fingerprint)));
        let path = || renewed::place(&self.config);
        renewed.check(all).map_err(|detail| SetupError::Config { path: path(), detail })?;
        let all = self.config.clients().iter().cloned().chain(enrolled);
        self.known = all.map(|client| (entry(&client.name, client.fingerprint), client)).collect();
        self.renewed = renewed;
        Ok(())
    }

    /// Reads the lists again if they have changed; whether it has. One that is wrong changes nothing, and is read no
    /// more until it changes again.
    ///
    /// # Errors
    /// As [`enrolled`].
    pub(super) fn refresh(&mut self) -> Result<bool, SetupError> {
        let has_changed = self.present() != self.stamps;
        if has_changed {
            self.reread()?;
        }
        Ok(has_changed)
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

    /// Whether a certificate is that of a name, of which the list has the other fingerprint.
    pub(super) fn proves(&self, name: &str, first: Option<Fingerprint>, shown: Option<Fingerprint>) -> bool {
        self.renewed.proves(name, first, shown)
    }

    /// The fingerprints of all parties and clients.
    pub(super) fn fingerprints(&self) -> Vec<Fingerprint> {
        let parties = self.config.parties().iter().filter_map(|party| party.fingerprint);
        let clients = self.known.values().filter_map(|client| client.fingerprint);
        let names = self.config.parties().iter().map(|party| (party.name.as_str(), party.fingerprint));
        let names = names.chain(self.known.values().map(|client| (client.name.as_str(), client.fingerprint)));
        parties.chain(clients).chain(self.renewed.of_all(names)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::init;
    use std::fs;
    use std::path::PathBuf;

    /// A party's configuration, in a folder of its own.
    fn config(name: &str) -> (PathBuf, Config) {
        let folder = std::env::temp_dir().join(format!("tacit-roster-{name}-{}", std::process::id()));
        init(&folder, 3, &[], "127.0.0.1", 30_000).unwrap();
        let config = Config::load(&folder.join("P0").join("parties.toml")).unwrap();
        (folder, config)
    }

    fn client(number: u8) -> Client {
        Client { name: format!("client{number}"), fingerprint: Some(Fingerprint([number; 32])) }
    }

    #[test]
    fn a_list_that_is_wrong_is_told_of_once_and_changes_nothing() {
        let (folder, config) = config("wrong");
        enrol(&config, client(1)).unwrap();
        let mut roster = Roster::read(&config).unwrap();
        fs::write(place(&config), "[[client]]\nname = \n").unwrap();
        assert!(matches!(roster.refresh(), Err(SetupError::Config { .. })));
        assert!(matches!(roster.refresh(), Ok(false)));
        assert!(roster.knows(&client(1)));
        fs::write(place(&config), "").unwrap();
        assert!(matches!(roster.refresh(), Ok(true)));
        assert!(!roster.knows(&client(1)));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_could_not_be_read_is_not_written() {
        let (folder, config) = config("unread");
        let nameless = Client { name: "dora".to_owned(), fingerprint: None };
        let refused = enrol(&config, nameless).unwrap_err().to_string();
        assert!(refused.contains("dora has no fingerprint"), "{refused}");
        let long = |number: u32| {
            let print = [&number.to_le_bytes()[..], &[1; 28]].concat();
            let fingerprint = Some(Fingerprint(print.try_into().unwrap()));
            Client { name: format!("{number:0>60}"), fingerprint }
        };
        let all: Vec<Client> = (0..8000).map(long).collect();
        assert!(write(&config, &all).unwrap_err().to_string().contains("no more can be listed"));
        assert_eq!(enrolled(&config).unwrap(), []);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn those_who_enrol_clients_at_once_lose_none() {
        let (folder, config) = config("lock");
        std::thread::scope(|scope| {
            for number in 1..=8 {
                let config = &config;
                scope.spawn(move || enrol(config, client(number)).unwrap());
            }
        });
        assert_eq!(enrolled(&config).unwrap().len(), 8);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn thousands_of_clients_are_known() {
        let (folder, config) = config("thousands");
        let numbered = |number: u16| {
            let mut print = [0; 32];
            print[..2].copy_from_slice(&number.to_le_bytes());
            Client { name: format!("client-{number}"), fingerprint: Some(Fingerprint(print)) }
        };
        write(&config, &(1..5000).map(numbered).collect::<Vec<_>>()).unwrap();
        enrol(&config, numbered(5000)).unwrap();
        assert!(enrol(&config, numbered(77)).is_err());
        assert!(strike(&config, "client-1").unwrap());
        let roster = Roster::read(&config).unwrap();
        assert!((2..=5000).all(|number| roster.knows(&numbered(number))));
        assert!(!roster.knows(&numbered(1)));
        fs::remove_dir_all(folder).unwrap();
    }
}
