//! Whom a TLS connection is with: certificates pinned by fingerprint.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, verify_server_cert_signed_by_trust_anchor};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{NoServerSessionStorage, ParsedCertificate};
use rustls::sign::CertifiedKey;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, InconsistentKeys,
    OtherError, RootCertStore, ServerConfig, SignatureScheme,
};
use sha2::{Digest, Sha256};

/// The SHA-256 of a certificate in DER, by which a configuration names its owner.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub [u8; 32]);

/// A text that is not a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint is 64 hexadecimal digits")]
pub struct NotAFingerprint;

impl Fingerprint {
    /// The fingerprint of a certificate in DER.
    pub fn of(certificate: &[u8]) -> Self {
        Self(Sha256::digest(certificate).into())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Fingerprint {
    type Err = NotAFingerprint;

    fn from_str(text: &str) -> Result<Self, NotAFingerprint> {
        let mut digits = text.chars().map(|digit| digit.to_digit(16));
        let mut bytes = [0; 32];
        for byte in &mut bytes {
            let (Some(Some(high)), Some(Some(low))) = (digits.next(), digits.next()) else {
                return Err(NotAFingerprint);
            };
            *byte = (high * 16 + low) as u8;
        }
        if digits.next().is_some() { Err(NotAFingerprint) } else { Ok(Self(bytes)) }
    }
}

/// This endpoint's certificate and the key to it.
pub(crate) struct Identity {
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) key: PrivateKeyDer<'static>,
}

impl Identity {
    /// Whether the key is the certificate's.
    ///
    /// # Errors
    /// If it is no key that TLS can use.
    pub(crate) fn fits(&self) -> Result<bool, Error> {
        let key = provider().key_provider.load_private_key(self.key.clone_key())?;
        let certified = CertifiedKey::new(vec![self.certificate.clone()], key);
        Ok(!matches!(certified.keys_match(), Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch))))
    }
}

/// A certificate that is not the right one.
#[derive(Debug, thiserror::Error)]
enum NotPinned {
    #[error("shows the certificate {got}, and the configuration expects {expected}")]
    Another { expected: Fingerprint, got: Fingerprint },
    #[error("shows the certificate {got}, which is nobody's in the configuration")]
    Nobody { got: Fingerprint },
    #[error("shows a chain of certificates where one is expected")]
    Chain,
}

/// What a caller needs to reach the peer with one of these fingerprints.
pub(crate) fn client_config(identity: &Identity, peer: Vec<Fingerprint>) -> Result<ClientConfig, Error> {
    let provider = provider();
    let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pins { pinned: peer, provider }))
        .with_client_auth_cert(vec![identity.certificate.clone()], identity.key.clone_key())?;
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    Ok(config)
}

/// What a listener needs to hear the peers with these fingerprints.
pub(crate) fn server_config(identity: &Identity, peers: Vec<Fingerprint>) -> Result<ServerConfig, Error> {
    let provider = provider();
    let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_client_cert_verifier(Arc::new(Pins { pinned: peers, provider }))
        .with_single_cert(vec![identity.certificate.clone()], identity.key.clone_key())?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Checks that a certificate is well-formed and valid at present.
pub(crate) fn check_valid_now(certificate: &CertificateDer<'_>) -> Result<(), super::TlsError> {
    check_valid(certificate, UnixTime::now(), &provider()).map_err(super::TlsError::from)
}

/// When a certificate ends, in seconds since 1970; `None` if that can't be told.
pub(crate) fn expiry(certificate: &CertificateDer<'_>) -> Option<u64> {
    // Far in the future it has expired, and the error says since when.
    let end = UnixTime::since_unix_epoch(Duration::from_secs(u64::from(u32::MAX) * 50));
    match check_valid(certificate, end, &provider()) {
        Err(Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => {
            Some(not_after.as_secs())
        }
        _ => None,
    }
}

fn provider() -> Arc<CryptoProvider> {
    let cipher_suites = vec![aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256];
    Arc::new(CryptoProvider { cipher_suites, ..aws_lc_rs::default_provider() })
}

/// A certificate is its own authority here: once its fingerprint is the pinned one, all that is left to check
/// is that it is well-formed and that its time is not over, which is what verifying it against itself does.
fn check_valid(
    certificate: &CertificateDer<'_>,
    now: UnixTime,
    provider: &CryptoProvider,
) -> Result<(), Error> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone().into_owned())?;
    let parsed = ParsedCertificate::try_from(certificate)?;
    let algorithms = provider.signature_verification_algorithms.all;
    verify_server_cert_signed_by_trust_anchor(&parsed, &roots, &[], now, algorithms)
}

/// Accepts the pinned certificates and no other.
#[derive(Debug)]
struct Pins {
    pinned: Vec<Fingerprint>,
    provider: Arc<CryptoProvider>,
}

impl Pins {
    fn check(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        let got = Fingerprint::of(certificate);
        let problem = match self.pinned[..] {
            _ if !others.is_empty() => NotPinned::Chain,
            _ if self.pinned.contains(&got) => return check_valid(certificate, now, &self.provider),
            [expected] => NotPinned::Another { expected, got },
            _ => NotPinned::Nobody { got },
        };
        Err(CertificateError::Other(OtherError(Arc::new(problem))).into())
    }

    fn check_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn only_tls13() -> Error {
    Error::General("only TLS 1.3 is spoken".to_owned())
}

impl ServerCertVerifier for Pins {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(certificate, others, now).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(only_tls13())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}

impl ClientCertVerifier for Pins {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(certificate, others, now).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(only_tls13())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_64_digits() {
        let text = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";
        let fingerprint: Fingerprint = text.parse().unwrap();
        assert_eq!(fingerprint.to_string(), text.to_lowercase());
        for bad in
            ["", "00", &text[..63], &format!("{text}0"), &text.replace('3', "é"), &text.replace('0', "+")]
        {
            assert_eq!(bad.parse::<Fingerprint>(), Err(NotAFingerprint), "{bad}");
        }
    }
}
