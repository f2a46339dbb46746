//! What every server of a realm has a copy of: its settings, and who there is. Nothing of it is secret.

use crate::enctype::Enctype;
use crate::messages::Name;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// A realm's settings, as `kdc.toml` has them; the same for all servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The realm.
    pub realm: String,
    /// The encryption type of all its keys.
    pub enctype: Enctype,
    /// The protocol that servers run.
    pub protocol: String,
    /// Where the front takes requests, by UDP and TCP.
    pub listen: String,
    /// Where the front takes an admin's orders.
    pub orders: String,
    /// Where each server takes what the front relays.
    pub servers: [String; 3],
    /// Seconds that a ticket lives at most.
    pub max_life: i64,
    /// Seconds that a client's clock may differ from the servers'.
    pub max_skew: i64,
    /// Bytes that a reply by UDP may have.
    pub max_datagram: usize,
}

impl Settings {
    /// Reads them.
    ///
    /// # Errors
    /// If the file can't be read or isn't as it should be.
    pub fn load(path: &Path) -> io::Result<Self> {
        let wrong = |error: toml::de::Error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()))
        };
        toml::from_str(&fs::read_to_string(path).map_err(|error| about(path, &error))?).map_err(wrong)
    }
}

fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// What is known of a principal. Its key isn't: that is kept as shares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Principal {
    /// The version of its key: 1, 2, ...
    pub kvno: u64,
    /// What the record of its key is kept as.
    pub record: String,
    /// What a password is hashed with.
    pub salt: String,
    /// Whether it gets no tickets, nor anybody one for it.
    pub revoked: bool,
}

/// All principals of a realm, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Principals(BTreeMap<String, Principal>);

impl Principals {
    /// Reads them; none if there is no file.
    ///
    /// # Errors
    /// If the file can't be read or isn't as it should be.
    pub fn load(path: &Path) -> io::Result<Self> {
        match fs::read(path) {
            Ok(bytes) => Ok(Self(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(about(path, &error)),
        }
    }

    /// Writes them, durably: the file is the old one or the new one, whenever the machine stops.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let new = path.with_extension("new");
        let mut file = File::create(&new)?;
        file.write_all(&serde_json::to_vec_pretty(&self.0)?)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
    }

    /// The principal of a name.
    pub fn find(&self, name: &Name) -> Option<&Principal> {
        self.0.get(&name.text()?)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = Name> {
        self.0.keys().filter_map(|name| Name::of_text(name))
    }

    /// Puts one in place of what there was of its name, which comes back.
    pub fn put(&mut self, name: String, principal: Principal) -> Option<Principal> {
        self.0.insert(name, principal)
    }

    /// Strikes one off.
    pub fn remove(&mut self, name: &str) -> Option<Principal> {
        self.0.remove(name)
    }

    /// The principal of a name's text.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Principal> {
        self.0.get_mut(name)
    }

    /// The version of the next key of this name.
    pub fn next_kvno(&self, name: &str) -> u64 {
        self.0.get(name).map_or(1, |principal| principal.kvno + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principals_come_back_from_their_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("principals.json");
        let mut principals = Principals::load(&path).unwrap();
        assert_eq!(principals, Principals::default());
        principals.put(
            "ann".into(),
            Principal { kvno: 2, record: "key 1f".into(), salt: "R1ann".into(), revoked: false },
        );
        principals.save(&path).unwrap();
        assert_eq!(Principals::load(&path).unwrap(), principals);
        let ann = Name::of_text("ann").unwrap();
        assert_eq!(principals.find(&ann).unwrap().kvno, 2);
        assert_eq!(["ann", "ben"].map(|name| principals.next_kvno(name)), [3, 1]);
        assert!(principals.find(&Name { kind: 1, parts: vec!["a[1]".into()] }).is_none());
        fs::write(&path, b"{\"ann\": {}}").unwrap();
        assert!(Principals::load(&path).is_err());
    }
}
