//! A configuration's key and certificate.

use std::path::Path;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest, Sha256};

use super::config::{Config, Security};
use super::error::SetupError;
use super::files;
use super::renewed::Renewed;
use crate::tls::pin::{Fingerprint, Identity, check_valid_now, expiry};

impl Config {
    /// A key for what this endpoint seals for itself, of its private key and a label: whoever lacks that can't make it. `None`
    /// with plain TCP.
    ///
    /// # Errors
    /// [`SetupError`] if the private key can't be read.
    pub fn own_key(&self, label: &[u8]) -> Result<Option<[u8; 32]>, SetupError> {
        let Some(identity) = self.identity()? else { return Ok(None) };
        let secret = identity.key.secret_der();
        let hash = Sha256::new_with_prefix((label.len() as u64).to_le_bytes()).chain_update(label);
        Ok(Some(hash.chain_update(secret).finalize().into()))
    }

    /// Checks this endpoint's key and certificate: that they can be read, belong together, are valid now, and are the ones that
    /// the list names.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check_identity(&self) -> Result<(), SetupError> {
        self.identity().map(drop)
    }

    /// When this endpoint's certificate ends, by its file as it is now, in seconds since 1970. `None` with plain TCP.
    ///
    /// # Errors
    /// [`SetupError::File`] and [`SetupError::Config`] if it can't be read.
    pub fn certificate_expiry(&self) -> Result<Option<u64>, SetupError> {
        let Some(path) = &self.certificate else { return Ok(None) };
        let certificate = CertificateDer::from_pem_slice(&files::read(path)?);
        let wrong = |detail| SetupError::Config { path: path.clone(), detail };
        let certificate = certificate.map_err(|error| wrong(format!("not a certificate in PEM: {error}")))?;
        Ok(expiry(&certificate))
    }

    /// Where this endpoint's certificate and key are; nothing with plain TCP.
    pub(super) fn identity_files(&self) -> Option<(&Path, &Path)> {
        let (Security::Tls, Some(key), Some(certificate)) = (self.security(), &self.key, &self.certificate)
        else {
            return None;
        };
        Some((certificate, key))
    }

    /// Reads this endpoint's private key.
    ///
    /// # Errors
    /// [`SetupError`] if it can't be read, or there is none.
    pub(super) fn private_key(&self) -> Result<PrivateKeyDer<'static>, SetupError> {
        let Some((_, path)) = self.identity_files() else {
            return Err(SetupError::WrongUse { detail: "there are no keys with plain TCP".to_owned() });
        };
        let wrong = |error| SetupError::Config {
            path: path.to_owned(),
            detail: format!("not a private key in PEM: {error}"),
        };
        PrivateKeyDer::from_pem_slice(&files::read_secret(path)?).map_err(wrong)
    }

    /// Reads this endpoint's key and certificate, and checks that they belong together and are the ones that the others
    /// expect. `None` with plain TCP.
    pub(super) fn identity(&self) -> Result<Option<Identity>, SetupError> {
        let (Security::Tls, Some(key_path), Some(path)) = (self.security(), &self.key, &self.certificate)
        else {
            return Ok(None);
        };
        let wrong = |path: &Path, detail: String| SetupError::Config { path: path.to_owned(), detail };
        let certificate = CertificateDer::from_pem_slice(&files::read(path)?)
            .map_err(|error| wrong(path, format!("not a certificate in PEM: {error}")))?;
        let got = Fingerprint::of(&certificate);
        let expected = self.fingerprints().get(self.me()).copied().flatten();
        let name = self.names().get(self.me()).cloned().unwrap_or_default();
        if let Some(expected) = expected
            && !Renewed::read(self)?.proves(&name, Some(expected), Some(got))
        {
            let config = self.path().display();
            return Err(wrong(path, format!("its fingerprint is {got}, but {config} says {expected}")));
        }
        check_valid_now(&certificate).map_err(|error| wrong(path, format!("this side {error}")))?;

        let identity = Identity { certificate, key: self.private_key()? };
        match identity.fits() {
            Ok(true) => Ok(Some(identity)),
            Ok(false) => Err(wrong(
                key_path,
                format!(
                    "not the key of {}: both have to come from one folder that `tacit init` made",
                    path.display()
                ),
            )),
            Err(error) => Err(wrong(key_path, format!("not a key that TLS can use: {error}"))),
        }
    }
}
