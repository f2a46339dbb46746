//! What is computed on keys.

use crate::circuits::{Expected, Form};
use tacit::Error;

/// A ticket and an authenticator that a client gives.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The ticket's ciphertext.
    pub ticket: &'a [u8],
    /// The authenticator's.
    pub authenticator: &'a [u8],
    /// Where the ticket's plaintext has its session key.
    pub key_at: usize,
}

/// Ciphertexts with their codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// Of the new ticket.
    pub ticket: Vec<u8>,
    /// Of the reply's encrypted part.
    pub part: Vec<u8>,
}

impl Sealed {
    /// Both, if there are two.
    ///
    /// # Errors
    /// Else.
    pub(crate) fn of(both: Vec<Vec<u8>>) -> Result<Self, Error> {
        match <[Vec<u8>; 2]>::try_from(both) {
            Ok([ticket, part]) => Ok(Self { ticket, part }),
            Err(_) => Err(Error::Refused("a reply has a ticket and a part".to_owned())),
        }
    }
}

/// What is computed on keys, of which long-term ones are shared; all of it where nobody knows session keys, and else what
/// [`Knowing`](super::Knowing) makes of less. Keys are named as their records are kept.
pub trait Shares {
    /// What a timestamp is, if it was sealed under the client's key, and the median of the servers' clocks.
    ///
    /// # Errors
    /// If the run is aborted.
    fn verify(&mut self, client: &str, sealed: &[u8]) -> Result<(Option<Vec<u8>>, i64), Error>;
    /// Ciphertexts of a ticket and a reply's part, of these plaintexts and a session key.
    ///
    /// # Errors
    /// If the run is aborted.
    fn reply(
        &mut self,
        service: &str,
        client: &str,
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Sealed, Error>;

    /// What a ticket says, with zeros for its key, if it was sealed under krbtgt's key and the authenticator under the ticket's;
    /// and the median of the clocks.
    ///
    /// # Errors
    /// If the run is aborted.
    fn verify_further(&mut self, krbtgt: &str, given: Given<'_>) -> Result<(Option<Vec<u8>>, i64), Error>;
    /// What is to be opened of an authenticator, with zeros for all else, if it looks as expected.
    ///
    /// # Errors
    /// If the run is aborted.
    fn open_authenticator(
        &mut self,
        krbtgt: &str,
        given: Given<'_>,
        expected: Expected<'_>,
    ) -> Result<Option<Vec<u8>>, Error>;
    /// As [`Shares::reply`], under the ticket's key or the authenticator's; `None` unless the body has the authenticator's
    /// checksum.
    ///
    /// # Errors
    /// If the run is aborted.
    fn reply_further(
        &mut self,
        krbtgt: &str,
        service: &str,
        asked: (Given<'_>, Expected<'_>, &[u8]),
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Option<Sealed>, Error>;

    /// Notes that what follows relies on a principal of whose keys none is read: one whose key this is must be as it was.
    fn relies_on(&mut self, record: &str);
}
