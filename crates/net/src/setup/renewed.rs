//! Certificates that follow others while a deployment lives.
//!
//! A party or client is named by the fingerprint in everybody's `parties.toml`, which is that of its first certificate. The
//! certificates that follow it are listed beside that, in `renewed.toml`, at each endpoint that meets it:
//!
//! ```toml
//! [[renewed]]
//! name = "P1"
//! follows = "5f1c..."               # the fingerprint of the list; another one there ends this
//! fingerprint = "77aa..."
//! ```
//!
//! Whoever shows one of them is who the list says. The file is read again when it has changed, as are this endpoint's own key and
//! certificate; links that are there stay, until the certificate that the other side has shown on them is over.
//!
//! 1. The owner makes a certificate for the same key ([`renew`]), and tells its fingerprint.
//! 2. Everybody accepts it ([`accept`]), in any order.
//! 3. The owner uses it ([`use_renewed`]): from then on it is shown on new links.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde::Deserialize;

use super::config::{Config, Security};
use super::enrolled::enrolled;
use super::error::SetupError;
use super::{files, init};
use crate::tls::pin::{Fingerprint, Identity, check_valid_now};

/// Certificates that one name may have beside the first: older ones are over by then.
const MOST: usize = 16;

/// The file as it stands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    renewed: Vec<FileRenewed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRenewed {
    name: String,
    follows: String,
    fingerprint: String,
}

/// A certificate, and the first one of its name that it follows: it counts while the lists have that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Follower {
    first: Fingerprint,
    print: Fingerprint,
}

/// Where a configuration's are listed.
pub(super) fn place(config: &Config) -> PathBuf {
    config.path().with_file_name("renewed.toml")
}

/// The certificates that follow those of the lists, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Renewed(HashMap<String, Vec<Follower>>);

impl Renewed {
    /// Those that this configuration's endpoint accepts.
    ///
    /// # Errors
    /// [`SetupError::File`] and [`SetupError::Config`] if the list can't be read.
    pub(super) fn read(config: &Config) -> Result<Self, SetupError> {
        let path = place(config);
        if config.security() != Security::Tls || !path.exists() {
            return Ok(Self::default());
        }
        let text = String::from_utf8(files::read(&path)?).map_err(|_| "not a text in UTF-8".to_owned());
        text.and_then(|text| Self::parse(&text)).map_err(|detail| SetupError::Config { path, detail })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut all = Self::default();
        for FileRenewed { name, follows, fingerprint } in file.renewed {
            let read = |text: &str| text.parse().map_err(|error| format!("fingerprint of {name}: {error}"));
            all.add(&name, Follower { first: read(&follows)?, print: read(&fingerprint)? })?;
        }
        Ok(all)
    }

    fn add(&mut self, name: &str, follower: Follower) -> Result<(), String> {
        let print = follower.print;
        let has = |followers: &Vec<Follower>| followers.iter().any(|other| other.print == print);
        if let Some((other, _)) = self.0.iter().find(|(other, followers)| *other != name && has(followers)) {
            return Err(format!("{name} and {other} have one fingerprint"));
        }
        let own = self.0.entry(name.to_owned()).or_default();
        // Those of a key that the name has no more are of no use.
        own.retain(|other| other.first == follower.first && other.print != print);
        own.push(follower);
        if own.len() > MOST {
            return Err(format!("{name} has more than {MOST} certificates: strike those that are over"));
        }
        Ok(())
    }

    /// Those of a name that follow its first one.
    pub(super) fn of(&self, name: &str, first: Option<Fingerprint>) -> Vec<Fingerprint> {
        let own = self.0.get(name).into_iter().flatten();
        own.filter(|follower| Some(follower.first) == first).map(|follower| follower.print).collect()
    }

    /// Those of all these names that follow their first ones.
    pub(super) fn of_all<'a>(
        &'a self,
        names: impl IntoIterator<Item = (&'a str, Option<Fingerprint>)> + 'a,
    ) -> impl Iterator<Item = Fingerprint> + 'a {
        names.into_iter().flat_map(|(name, first)| self.of(name, first))
    }

    /// Whether a certificate is that of a name, whose first has the other fingerprint.
    pub(super) fn proves(&self, name: &str, first: Option<Fingerprint>, shown: Option<Fingerprint>) -> bool {
        shown == first || shown.is_some_and(|shown| self.of(name, first).contains(&shown))
    }

    /// Refuses a certificate that is the first of another name: one would prove two.
    pub(super) fn check<'a>(
        &self,
        names: impl IntoIterator<Item = (&'a str, Option<Fingerprint>)>,
    ) -> Result<(), String> {
        for (name, first) in names {
            let has = |follower: &Follower| Some(follower.print) == first;
            let mut others = self.0.iter().filter(|(other, _)| *other != name);
            if let Some((other, _)) = others.find(|(_, followers)| followers.iter().any(has)) {
                return Err(format!("a certificate of {other} is the first of {name}"));
            }
        }
        Ok(())
    }

    fn write(&self, config: &Config) -> Result<(), SetupError> {
        let mut text =
            String::from("# Certificates that follow those of the lists: `tacit certificate accept`.\n");
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort();
        for (name, Follower { first, print }) in
            all.into_iter().flat_map(|(name, followers)| followers.iter().map(move |one| (name, one)))
        {
            // Writing into a string can't fail.
            let _ = write!(
                text,
                "\n[[renewed]]\nname = \"{name}\"\nfollows = \"{first}\"\nfingerprint = \"{print}\"\n"
            );
        }
        files::replace(&place(config), &text)
    }
}

/// Accepts another certificate for a party or a client that this endpoint knows, itself included.
///
/// # Errors
/// [`SetupError::Config`] for a name that nobody has, or a fingerprint that another has; [`SetupError::File`].
///
/// # Security
/// Whoever has the key to it is taken for who is named. Get the fingerprint over a channel that you trust.
pub fn accept(config: &Config, name: &str, print: Fingerprint) -> Result<(), SetupError> {
    let path = place(config);
    let _alone = files::alone(&path)?;
    let wrong = |detail: String| SetupError::Config { path: path.clone(), detail };
    let clients = enrolled(config)?;
    let listed = config.names().into_iter().zip(config.fingerprints());
    let known: Vec<_> = listed.chain(clients.into_iter().map(|one| (one.name, one.fingerprint))).collect();
    if config.security() != Security::Tls {
        return Err(wrong("there are no certificates with plain TCP".to_owned()));
    }
    let Some(first) = known.iter().find(|(other, _)| other == name).and_then(|(_, first)| *first) else {
        return Err(wrong(format!("nobody has the name {name}")));
    };
    if let Some((other, _)) = known.iter().find(|(other, theirs)| other != name && *theirs == Some(print)) {
        return Err(wrong(format!("{other} has that fingerprint")));
    }
    let mut renewed = Renewed::read(config)?;
    renewed.add(name, Follower { first, print }).map_err(wrong)?;
    renewed.write(config)
}

/// Strikes all certificates of a name but the first of the list; whether there were any.
///
/// # Errors
/// Those of the list.
pub fn strike_renewed(config: &Config, name: &str) -> Result<bool, SetupError> {
    let _alone = files::alone(&place(config))?;
    let mut renewed = Renewed::read(config)?;
    let were = renewed.0.remove(name).is_some();
    if were {
        renewed.write(config)?;
    }
    Ok(were)
}

/// Where the next certificate waits for its use.
fn next(certificate: &Path) -> PathBuf {
    certificate.with_extension("next.pem")
}

/// Makes a certificate for this endpoint's key that is valid for so long, two years if it isn't said, and accepts it here. It
/// waits beside the one in use, for all others to accept it.
///
/// # Errors
/// What is wrong with key or certificate; [`SetupError::WrongUse`] with plain TCP; [`SetupError::File`].
pub fn renew(config: &Config, valid: Option<Duration>) -> Result<Fingerprint, SetupError> {
    let (name, path, key) = own(config)?;
    let key = files::read_secret(key)?;
    let made = std::str::from_utf8(&key).ok().and_then(|key| init::certificate(&name, key, valid).ok());
    let (certificate, print) = made.ok_or_else(|| {
        let detail = "no certificate can be made for this key".to_owned();
        SetupError::Config { path: path.to_owned(), detail }
    })?;
    accept(config, &name, print)?;
    files::replace(&next(path), &certificate)?;
    Ok(print)
}

/// Puts the certificate that waits in the place of the one in use, whole; that stays beside it, as
/// `certificate.old.pem`. A party that serves shows the new one on the links that come from now on.
///
/// # Errors
/// [`SetupError::File`] if none waits; [`SetupError::Config`] if it isn't one for this endpoint's key, valid and accepted here.
pub fn use_renewed(config: &Config) -> Result<Fingerprint, SetupError> {
    let (name, path, _) = own(config)?;
    let waits = next(path);
    let wrong = |detail: String| SetupError::Config { path: waits.clone(), detail };
    let certificate = CertificateDer::from_pem_slice(&files::read(&waits)?)
        .map_err(|error| wrong(format!("not a certificate in PEM: {error}")))?;
    let print = Fingerprint::of(&certificate);
    check_valid_now(&certificate).map_err(|error| wrong(format!("it {error}")))?;
    let first = config.fingerprints().get(config.me()).copied().flatten();
    if !Renewed::read(config)?.of(&name, first).contains(&print) {
        return Err(wrong(format!("its fingerprint {print} isn't accepted for {name}")));
    }
    let identity = Identity { certificate, key: config.private_key()? };
    if !identity.fits().unwrap_or(false) {
        return Err(wrong("it isn't for this endpoint's key".to_owned()));
    }
    // Whoever hasn't accepted the new one is reached with that before, put back by hand.
    let before = String::from_utf8_lossy(&files::read(path)?).into_owned();
    files::replace(&path.with_extension("old.pem"), &before)?;
    std::fs::rename(&waits, path)
        .map_err(|error| SetupError::File { path: waits.clone(), detail: error.to_string() })?;
    Ok(print)
}

/// This endpoint's name, and the files of its certificate and key.
fn own(config: &Config) -> Result<(String, &Path, &Path), SetupError> {
    let files = config.identity_files();
    let (certificate, key) = files.ok_or_else(|| SetupError::WrongUse {
        detail: "there are no certificates with plain TCP".to_owned(),
    })?;
    Ok((config.names().swap_remove(config.me()), certificate, key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::init;

    #[test]
    fn a_certificate_is_accepted_then_used_and_proves_its_name_alone() {
        let folder = tempdir("used");
        init(&folder, 2, &["alice".into()], "127.0.0.1", 30_000).unwrap();
        let config = |name: &str| Config::load(&folder.join(name).join("parties.toml")).unwrap();
        let (own, other) = (config("P1"), config("P0"));
        assert!(use_renewed(&own).unwrap_err().to_string().contains("certificate.next.pem"));
        let print = renew(&own, None).unwrap();
        let first = own.fingerprints()[1];
        assert!(!Renewed::read(&other).unwrap().proves("P1", first, Some(print)));
        accept(&other, "P1", print).unwrap();
        let accepted = Renewed::read(&other).unwrap();
        assert!(accepted.proves("P1", first, Some(print)) && accepted.proves("P1", first, first));
        assert!(!accepted.proves("P0", other.fingerprints()[0], Some(print)));
        assert!(!accepted.proves("P1", first, None));
        for name in ["P0", "alice"] {
            assert!(accept(&other, name, print).unwrap_err().to_string().contains("have one fingerprint"));
        }
        assert!(accept(&other, "bob", print).unwrap_err().to_string().contains("nobody has the name"));
        assert!(accept(&other, "alice", first.unwrap()).unwrap_err().to_string().contains("P1 has that"));
        let file = |name: &str| std::fs::read(folder.join("P1").join(name)).unwrap();
        let before = file("certificate.pem");
        assert_eq!(use_renewed(&own).unwrap(), print);
        own.check_identity().unwrap();
        // The one before is there, and can be put back.
        assert_eq!(file("certificate.old.pem"), before);
        assert_ne!(file("certificate.pem"), before);
        std::fs::copy(folder.join("P1/certificate.old.pem"), folder.join("P1/certificate.pem")).unwrap();
        own.check_identity().unwrap();
        // Another key of the name, in the list: what followed the old one proves nothing any more.
        let another = Some(Fingerprint([7; 32]));
        assert!(!accepted.proves("P1", another, Some(print)) && accepted.of("P1", another).is_empty());
        assert!(
            accepted.check([("P0", Some(print))]).is_err() && accepted.check([("P1", Some(print))]).is_ok()
        );
        assert!(strike_renewed(&other, "P1").unwrap() && !strike_renewed(&other, "P1").unwrap());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_certificate_for_another_key_is_not_used() {
        let folder = tempdir("other");
        init(&folder, 2, &[], "127.0.0.1", 30_000).unwrap();
        let config = |name: &str| Config::load(&folder.join(name).join("parties.toml")).unwrap();
        let (own, other) = (config("P1"), config("P0"));
        let print = renew(&other, None).unwrap();
        std::fs::copy(folder.join("P0/certificate.next.pem"), folder.join("P1/certificate.next.pem"))
            .unwrap();
        assert!(use_renewed(&own).unwrap_err().to_string().contains("isn't accepted for P1"));
        accept(&own, "P1", print).unwrap();
        assert!(use_renewed(&own).unwrap_err().to_string().contains("isn't for this endpoint's key"));
        own.check_identity().unwrap();
        std::fs::remove_dir_all(folder).unwrap();
    }

    fn tempdir(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("tacit-renewed-{name}-{}", std::process::id()))
    }
}
