//! `tacit certificate`: certificates that follow others, without a restart.

use crate::args::{CertificateCommand, OwnArgs};
use crate::context::Context;
use crate::failure::Failure;
use serde_json::json;
use tacit::advanced::net::setup::{Fingerprint, accept, renew, strike_renewed, use_renewed};
use tacit::setup::Config;

pub(crate) fn certificate(context: &mut Context<'_>, command: &CertificateCommand) -> Result<(), Failure> {
    match command {
        CertificateCommand::Renew { own, valid } => {
            let config = open(own)?;
            let print = renew(&config, *valid).map_err(tacit::Error::from)?;
            let name = config.names().swap_remove(config.me());
            tell(context, &name, print)?;
            context.note(&format!(
                "everybody accepts it: tacit certificate accept {name} {print} --config .../parties.toml; then use it: tacit \
                 certificate use --config {}",
                own.config.display()
            ));
            Ok(())
        }
        CertificateCommand::Accept { name, fingerprint, own } => {
            accept(&open(own)?, name, *fingerprint).map_err(tacit::Error::from)?;
            tell(context, name, *fingerprint)
        }
        CertificateCommand::Use { own } => {
            let config = open(own)?;
            let print = use_renewed(&config).map_err(tacit::Error::from)?;
            tell(context, &config.names().swap_remove(config.me()), print)?;
            context.note(
                "the one before is kept as certificate.old.pem: if a peer refuses the new one, put that back in its place until it \
                 has been accepted",
            );
            Ok(())
        }
        CertificateCommand::Strike { name, own } => {
            if strike_renewed(&open(own)?, name).map_err(tacit::Error::from)? {
                return Ok(());
            }
            Err(Failure::usage(format!("{name} has no certificate but that of the list")))
        }
    }
}

fn open(own: &OwnArgs) -> Result<Config, Failure> {
    Ok(Config::load(&own.config).map_err(tacit::Error::from)?)
}

fn tell(context: &mut Context<'_>, name: &str, print: Fingerprint) -> Result<(), Failure> {
    context.line(&if context.json {
        json!({"name": name, "fingerprint": print.to_string()}).to_string()
    } else {
        format!("{name} {print}")
    })
}
