//! TLS 1.3 over bytes that somebody else moves.
//!
//! A [`Tls`] holds a connection's keys and the ciphertext on its way in and out; it never touches a socket, so
//! that the thread that drives all links drives this one too. Both sides show a certificate, and a
//! certificate is good if its SHA-256 is the one that the configuration names ([`pin`]): no outside authority
//! has a say. Sessions are not resumed.
//!
//! The only cipher suite is AES-128-GCM, which runs at hardware speed where the rest of Tacit does.

pub(crate) mod pin;

use rustls::CertificateError;
use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::CertificateDer;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncryptError, InsufficientSizeError, UnbufferedStatus,
};

/// Room for ciphertext that has come and not been decrypted. Holds several records of 16 KiB, and any
/// handshake message.
const INCOMING: usize = 160 << 10;
/// Data in a TLS record, and a bound on what the record adds to it.
const RECORD: usize = 16 << 10;
const RECORD_OVERHEAD: usize = 64;

/// What is wrong with a TLS connection.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("{}", explain(.0))]
    Rustls(#[from] rustls::Error),
    #[error("sent a TLS message without an end")]
    Endless,
    #[error("used up the keys of its TLS connection")]
    UsedUp,
    #[error("ended TLS without a goodbye")]
    Ended,
}

/// What rustls says, in the words of somebody who has to find out which side to look at.
fn explain(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::Other(other)) => other.0.to_string(),
        rustls::Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        ) => "shows a certificate that has expired".to_owned(),
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        ) => "shows a certificate that is not valid yet (is a clock wrong?)".to_owned(),
        rustls::Error::AlertReceived(alert) => {
            format!("refuses this side's certificate or TLS itself (it says {alert:?})")
        }
        other => format!("broke TLS: {other}"),
    }
}

/// One side of a TLS connection.
pub(crate) struct Tls {
    side: Side,
    incoming: Incoming,
    outgoing: Outgoing,
    /// What was decrypted in the course of something else, and comes before anything in `incoming`.
    unread: Vec<u8>,
    /// Something of this side has gone out.
    spoken: bool,
}

enum Side {
    Client(UnbufferedClientConnection),
    Server(UnbufferedServerConnection),
}

/// Where a connection stands after a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// There is more to do with what is at hand.
    More,
    /// More bytes of the peer are needed.
    Blocked,
    /// Data can be sent.
    Open,
}

impl Tls {
    pub(crate) fn client(connection: UnbufferedClientConnection) -> Self {
        Self::new(Side::Client(connection))
    }

    pub(crate) fn server(connection: UnbufferedServerConnection) -> Self {
        Self::new(Side::Server(connection))
    }

    fn new(side: Side) -> Self {
        let (incoming, outgoing) = (Incoming::default(), Outgoing::default());
        Self { side, incoming, outgoing, unread: Vec::new(), spoken: false }
    }

    /// Whether something of this side has gone out: of a server, that the client has begun as one does.
    pub(crate) fn has_spoken(&self) -> bool {
        self.spoken
    }

    /// Takes the handshake as far as it goes; `true` once it is complete. Even if it fails something may be
    /// [`Tls::pending`]: the alert that says so.
    pub(crate) fn handshake(&mut self) -> Result<bool, TlsError> {
        let mut unread = std::mem::take(&mut self.unread);
        let stand = self.drive(&[], &mut |plain| unread.extend_from_slice(plain));
        self.unread = unread;
        let done = match &self.side {
            Side::Client(connection) => !connection.is_handshaking(),
            Side::Server(connection) => !connection.is_handshaking(),
        };
        Ok(stand? == Stand::Open && done)
    }

    /// The certificate that the peer has shown. Once the handshake is complete it has proved to have its key.
    pub(crate) fn peer_certificate(&self) -> Option<&CertificateDer<'static>> {
        let chain = match &self.side {
            Side::Client(connection) => connection.peer_certificates(),
            Side::Server(connection) => connection.peer_certificates(),
        };
        chain?.first()
    }

    /// Encrypts data, to be sent after all that is pending.
    pub(crate) fn encrypt(&mut self, plain: &[u8]) -> Result<(), TlsError> {
        let mut unread = std::mem::take(&mut self.unread);
        let result = self.drive(plain, &mut |plain| unread.extend_from_slice(plain));
        self.unread = unread;
        result.map(|_| ())
    }

    /// Decrypts what has come in and hands it over, piece by piece.
    pub(crate) fn decrypt(&mut self, sink: &mut dyn FnMut(&[u8])) -> Result<(), TlsError> {
        if !self.unread.is_empty() {
            sink(&std::mem::take(&mut self.unread));
        }
        self.drive(&[], sink).map(|_| ())
    }

    /// Room for ciphertext. Never empty, unless the last [`Tls::decrypt`] or [`Tls::handshake`] has failed.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        self.incoming.room()
    }

    /// Says that the first `count` bytes of the room have been filled.
    pub(crate) fn filled(&mut self, count: usize) {
        self.incoming.end += count;
    }

    /// Ciphertext to be sent.
    pub(crate) fn pending(&self) -> &[u8] {
        self.outgoing.pending()
    }

    /// Says that the first `count` bytes of what is pending have been sent.
    pub(crate) fn wrote(&mut self, count: usize) {
        self.outgoing.start += count;
        self.spoken |= count > 0;
    }

    /// Forgets what is pending.
    pub(crate) fn drop_pending(&mut self) {
        self.outgoing = Outgoing::default();
    }

    /// Goes on until nothing is left to be done with what has come. `plain` is encrypted when it can be.
    fn drive(&mut self, plain: &[u8], sink: &mut dyn FnMut(&[u8])) -> Result<Stand, TlsError> {
        loop {
            match self.step(plain, sink) {
                Ok(Stand::More) => {}
                Ok(stand) => {
                    self.incoming.compact();
                    return if self.incoming.is_full() { Err(TlsError::Endless) } else { Ok(stand) };
                }
                Err(error) => {
                    // One more step puts the alert that goes with it into what is pending; what else comes of
                    // that step is of no interest.
                    let _ = self.step(&[], sink);
                    return Err(error);
                }
            }
        }
    }

    fn step(&mut self, plain: &[u8], sink: &mut dyn FnMut(&[u8])) -> Result<Stand, TlsError> {
        let incoming = self.incoming.bytes();
        let (discard, result) = match &mut self.side {
            Side::Client(connection) => {
                handle(connection.process_tls_records(incoming), plain, &mut self.outgoing, sink)
            }
            Side::Server(connection) => {
                handle(connection.process_tls_records(incoming), plain, &mut self.outgoing, sink)
            }
        };
        self.incoming.start += discard;
        result
    }
}

/// Handles one state of the connection; the number of bytes to discard goes with the result.
fn handle<Side>(
    status: UnbufferedStatus<'_, '_, Side>,
    plain: &[u8],
    outgoing: &mut Outgoing,
    sink: &mut dyn FnMut(&[u8]),
) -> (usize, Result<Stand, TlsError>) {
    let UnbufferedStatus { mut discard, state } = status;
    let stand = match state {
        Err(error) => Err(error.into()),
        Ok(ConnectionState::ReadTraffic(mut traffic)) => {
            let mut stand = Ok(Stand::More);
            while let Some(record) = traffic.next_record() {
                match record {
                    Ok(record) => {
                        discard += record.discard;
                        sink(record.payload);
                    }
                    Err(error) => stand = Err(error.into()),
                }
            }
            stand
        }
        Ok(ConnectionState::EncodeTlsData(mut data)) => {
            outgoing.append(0, |room| data.encode(room).map_err(Refusal::from)).map(|()| Stand::More)
        }
        Ok(ConnectionState::TransmitTlsData(data)) => {
            // What is in `outgoing` goes out before anything that is put there later.
            data.done();
            Ok(Stand::More)
        }
        Ok(ConnectionState::WriteTraffic(mut traffic)) if !plain.is_empty() => {
            let expected = plain.len() + (plain.len() / RECORD + 1) * RECORD_OVERHEAD;
            outgoing
                .append(expected, |room| traffic.encrypt(plain, room).map_err(Refusal::from))
                .map(|()| Stand::Open)
        }
        Ok(ConnectionState::WriteTraffic(_)) => Ok(Stand::Open),
        Ok(ConnectionState::BlockedHandshake) => Ok(Stand::Blocked),
        // The only other states are the peer's end of TLS, and early data, which is never offered.
        Ok(_) => Err(TlsError::Ended),
    };
    (discard, stand)
}

/// Ciphertext that has come: a buffer whose bytes from `start` to `end` are still to be processed.
#[derive(Default)]
struct Incoming {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Incoming {
    fn bytes(&mut self) -> &mut [u8] {
        self.buffer.get_mut(self.start..self.end).unwrap_or_default()
    }

    fn room(&mut self) -> &mut [u8] {
        if self.buffer.is_empty() {
            self.buffer.resize(INCOMING, 0);
        }
        self.buffer.get_mut(self.end..).unwrap_or_default()
    }

    /// Moves the part of a record that is left to the front.
    fn compact(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
    }

    fn is_full(&self) -> bool {
        self.end > 0 && self.end == self.buffer.len()
    }
}

/// Ciphertext on its way out: the bytes of a buffer from `start` to `end`.
#[derive(Default)]
struct Outgoing {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

enum Refusal {
    NeedsRoom(usize),
    Final(TlsError),
}

impl Outgoing {
    fn pending(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Lets `write` append, with as much room as it turns out to need.
    fn append(
        &mut self,
        expected: usize,
        mut write: impl FnMut(&mut [u8]) -> Result<usize, Refusal>,
    ) -> Result<(), TlsError> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        let mut needed = expected;
        loop {
            if self.buffer.len() < self.end + needed {
                self.buffer.resize(self.end + needed, 0);
            }
            match write(self.buffer.get_mut(self.end..).unwrap_or_default()) {
                Ok(count) => {
                    self.end += count;
                    return Ok(());
                }
                Err(Refusal::NeedsRoom(required)) => needed = required.max(needed + 1),
                Err(Refusal::Final(error)) => return Err(error),
            }
        }
    }
}

impl From<EncodeError> for Refusal {
    fn from(error: EncodeError) -> Self {
        match error {
            EncodeError::InsufficientSize(InsufficientSizeError { required_size }) => {
                Self::NeedsRoom(required_size)
            }
            EncodeError::AlreadyEncoded => Self::Final(TlsError::Ended),
        }
    }
}

impl From<EncryptError> for Refusal {
    fn from(error: EncryptError) -> Self {
        match error {
            EncryptError::InsufficientSize(InsufficientSizeError { required_size }) => {
                Self::NeedsRoom(required_size)
            }
            EncryptError::EncryptExhausted => Self::Final(TlsError::UsedUp),
        }
    }
}

#[cfg(test)]
mod tests;
