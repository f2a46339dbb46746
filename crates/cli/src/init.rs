//! `tacit init`: what every machine of a deployment needs.

use crate::args::InitArgs;
use crate::context::Context;
use crate::failure::Failure;
use serde_json::json;
use std::sync::Arc;
use tacit::advanced::engine::Protocol;
use tacit::advanced::net::setup;
use tacit::protocols;

pub(crate) fn init(context: &mut Context<'_>, args: &InitArgs) -> Result<(), Failure> {
    if !protocols().any(|protocol| protocol.spec().parties.contains(&args.parties)) {
        let each = |protocol: Arc<dyn Protocol>| {
            let spec = protocol.spec();
            format!("{} for {} ({} may be corrupt)", spec.name, spec.party_count(), spec.corrupted())
        };
        let each: Vec<String> = protocols().map(each).collect();
        return Err(Failure::usage(format!(
            "no protocol is for {} parties: {}",
            args.parties,
            each.join(", ")
        )));
    }
    let configs = setup::init(&args.directory, args.parties, &args.clients, &args.host, args.port)
        .map_err(tacit::Error::from)?;
    if context.json {
        let paths: Vec<String> = configs.iter().map(|path| path.display().to_string()).collect();
        return context.line(&json!({"configs": paths}).to_string());
    }
    for config in &configs {
        context.line(&config.display().to_string())?;
    }
    context
        .line("Carry each folder to its machine; in all of them, make the addresses those of the machines.")
}
