//! What can be said of certificates.

use super::options::seconds;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;
use tacit::advanced::net::setup::Fingerprint;

/// This endpoint's configuration.
#[derive(Args, Debug)]
pub(crate) struct OwnArgs {
    /// This endpoint's configuration; certificates that others renewed are listed beside it, in renewed.toml
    #[arg(long, value_name = "parties.toml")]
    pub(crate) config: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CertificateCommand {
    /// Make a certificate for the same key, which waits until it is used; its fingerprint is for everybody to accept
    Renew {
        #[command(flatten)]
        own: OwnArgs,
        /// How long it is valid; two years if not said
        #[arg(long, value_name = "SECONDS", value_parser = seconds, hide = true)]
        valid: Option<Duration>,
    },
    /// Take a party or a client for who it is by this certificate, too: servers need no restart for it
    Accept {
        /// Whose it is
        #[arg(value_name = "NAME")]
        name: String,
        /// 64 hexadecimal digits, got over a channel that you trust
        #[arg(value_name = "FINGERPRINT")]
        fingerprint: Fingerprint,
        #[command(flatten)]
        own: OwnArgs,
    },
    /// Show the renewed certificate from now on, once everybody has accepted it
    Use {
        #[command(flatten)]
        own: OwnArgs,
    },
    /// Accept nothing of this name any more but the certificate of parties.toml, or of the list of clients
    Strike {
        /// Whose they are
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        own: OwnArgs,
    },
}
