//! `tacit client`: which clients a party knows. A party that serves reads the list again when it has changed.

use crate::args::{ClientCommand, PartyArgs};
use crate::context::Context;
use crate::failure::Failure;
use serde_json::json;
use tacit::advanced::net::setup::{Client, enrol, enrolled, strike};
use tacit::setup::Config;

pub(crate) fn client(context: &mut Context<'_>, command: &ClientCommand) -> Result<(), Failure> {
    match command {
        ClientCommand::Add { name, fingerprint, party } => {
            let client = Client { name: name.clone(), fingerprint: *fingerprint };
            enrol(&open(party)?, client).map_err(tacit::Error::from)?;
            list(context, party)
        }
        ClientCommand::Remove { name, party } => {
            if !strike(&open(party)?, name).map_err(tacit::Error::from)? {
                return Err(Failure::usage(format!("{name} is no enrolled client")));
            }
            list(context, party)
        }
        ClientCommand::List { party } => list(context, party),
    }
}

/// A party's configuration.
fn open(args: &PartyArgs) -> Result<Config, Failure> {
    let config = Config::load(&args.config).map_err(tacit::Error::from)?;
    if config.is_client() {
        return Err(Failure::usage(
            "a client knows no other clients; give a party's parties.toml".to_owned(),
        ));
    }
    Ok(config)
}

fn list(context: &mut Context<'_>, args: &PartyArgs) -> Result<(), Failure> {
    let config = open(args)?;
    let listed = config.clients().iter().cloned().map(|client| (client, false));
    let since = enrolled(&config).map_err(tacit::Error::from)?;
    let all: Vec<(Client, bool)> = listed.chain(since.into_iter().map(|client| (client, true))).collect();
    for (Client { name, fingerprint }, since) in &all {
        let print = fingerprint.map(|print| print.to_string());
        context.line(&if context.json {
            json!({"client": name, "fingerprint": print, "enrolled": since}).to_string()
        } else {
            format!("{name} {}", print.unwrap_or_else(|| "without TLS".to_owned()))
        })?;
    }
    if all.is_empty() && !context.json {
        context.line("no clients")?;
    }
    Ok(())
}
