//! The encryption types, and their lengths.

use serde::{Deserialize, Serialize};
use std::fmt;
use tacit::circuit::crypto::aes::Variant;
use tacit::circuit::crypto::sha::Hash;

/// An encryption type (RFC 3961, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "i32", try_from = "i32")]
pub enum Enctype {
    /// 17, aes128-cts-hmac-sha1-96 (RFC 3962).
    Aes128Sha1,
    /// 18, aes256-cts-hmac-sha1-96 (RFC 3962).
    Aes256Sha1,
    /// 19, aes128-cts-hmac-sha256-128 (RFC 8009).
    Aes128Sha256,
}

/// Bytes of a confounder: a block of AES.
pub const CONFOUNDER: usize = 16;

impl Enctype {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Aes128Sha1, Self::Aes256Sha1, Self::Aes128Sha256];

    /// Its number in messages.
    pub fn number(self) -> i32 {
        match self {
            Self::Aes128Sha1 => 17,
            Self::Aes256Sha1 => 18,
            Self::Aes128Sha256 => 19,
        }
    }

    /// The type of this number.
    pub fn of(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|enctype| enctype.number() == number)
    }

    /// Bytes of a key.
    pub fn key_bytes(self) -> usize {
        self.cipher().key_bytes()
    }

    /// Bytes of a message authentication code.
    pub fn mac_bytes(self) -> usize {
        if self.encrypts_first() { 16 } else { 12 }
    }

    /// Bytes of the ciphertext of so many bytes, with confounder and code.
    pub fn sealed_bytes(self, plain: usize) -> usize {
        CONFOUNDER + plain + self.mac_bytes()
    }

    /// Whether the code is one of the ciphertext (RFC 8009), and not of the plaintext (RFC 3961).
    pub fn encrypts_first(self) -> bool {
        self == Self::Aes128Sha256
    }

    /// The number of its checksum.
    pub fn checksum_type(self) -> i32 {
        match self {
            Self::Aes128Sha1 => 15,
            Self::Aes256Sha1 => 16,
            Self::Aes128Sha256 => 19,
        }
    }

    pub(crate) fn cipher(self) -> Variant {
        if self == Self::Aes256Sha1 { Variant::Aes256 } else { Variant::Aes128 }
    }

    pub(crate) fn hash(self) -> Hash {
        if self.encrypts_first() { Hash::Sha256 } else { Hash::Sha1 }
    }

    /// Iterations of PBKDF2 where nothing else is said.
    pub fn iterations(self) -> u32 {
        if self.encrypts_first() { 32768 } else { 4096 }
    }
}

impl From<Enctype> for i32 {
    fn from(enctype: Enctype) -> Self {
        enctype.number()
    }
}

impl TryFrom<i32> for Enctype {
    type Error = String;
    fn try_from(number: i32) -> Result<Self, String> {
        Self::of(number).ok_or_else(|| format!("encryption type {number}: there are 17, 18 and 19"))
    }
}

impl fmt::Display for Enctype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Aes128Sha1 => "aes128-cts-hmac-sha1-96",
            Self::Aes256Sha1 => "aes256-cts-hmac-sha1-96",
            Self::Aes128Sha256 => "aes128-cts-hmac-sha256-128",
        })
    }
}

/// What a session key is used for (RFC 4120, section 7.5.1).
pub mod session_usage {
    /// The checksum of a TGS-REQ's body.
    pub const BODY: u32 = 6;
    /// The authenticator of a TGS-REQ.
    pub const AUTHENTICATOR: u32 = 7;
    /// The encrypted part of a TGS-REP, under the session key.
    pub const REPLY: u32 = 8;
    /// The same, under the authenticator's subkey.
    pub const REPLY_BY_SUBKEY: u32 = 9;
}

/// What a long-term key is used for (RFC 4120, section 7.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Usage {
    /// 1: the encrypted timestamp of an AS-REQ, under the client's key.
    Timestamp,
    /// 2: a ticket, under the service's key.
    Ticket,
    /// 3: the encrypted part of an AS-REP, under the client's key.
    Reply,
}

impl Usage {
    /// Those of long-term keys, in the order of a record.
    pub const ALL: [Self; 3] = [Self::Timestamp, Self::Ticket, Self::Reply];

    /// Its number.
    pub fn number(self) -> u32 {
        match self {
            Self::Timestamp => 1,
            Self::Ticket => 2,
            Self::Reply => 3,
        }
    }
}
