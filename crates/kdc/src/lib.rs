//! A Kerberos KDC (RFC 4120) whose long-term keys exist nowhere: three servers hold shares of them, and compute tickets and
//! replies under MPC (Araki et al., "High-throughput semi-honest secure three-party computation with an honest majority",
//! CCS 2016, section 5.3).
//!
//! | module | holds |
//! | --- | --- |
//! | [`enctype`] | the encryption types 17, 18 and 19, and what keys are used for |
//! | [`clear`] | their cryptography in the clear: for an admin's client, and for tests |
//! | [`circuits`] | the same as circuits |
//! | [`programs`] | what servers run on shared keys |
//! | [`der`], [`messages`], [`keytab`] | bytes of others, read and written |
//! | [`realm`] | settings and principals |
//! | [`readers`] | what must hold of whatever is read |
//! | [`exchange`] | what a server makes of a request |
//! | [`order`], [`admin`], [`refresh`] | new keys, and fresh shares of them |
//! | `lists` | what servers know of principals, held against what the others do |
//! | [`client`], [`mod@bench`], [`took`] | a client, how many a realm serves, and what their runs take |
//! | [`wire`], [`server`], `batch`, [`front`] | the processes |

pub mod admin;
mod batch;
pub mod bench;
pub mod circuits;
pub mod clear;
pub mod client;
pub mod der;
pub mod enctype;
pub mod exchange;
mod failure;
pub mod front;
pub mod keytab;
mod lists;
pub mod messages;
pub mod order;
pub mod programs;
pub mod readers;
pub mod realm;
pub mod refresh;
pub mod server;
#[cfg(test)]
mod testing;
pub mod took;
pub mod wire;
