//! `tacit offline`: the parties make material for runs to come.

use crate::args::{OfflineArgs, StoreArgs};
use crate::cost::{Breakdown, Offers};
use crate::failure::Failure;
use crate::net::CostNet;
use crate::progress::{Bar, note_meeting};
use crate::run::{self, simulation};
use crate::table::{bytes, seconds};
use crate::{Context, cost, program};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use tacit::net::setup::Config;
use tacit::store::Store;
use tacit::{Compiled, Making, Prepared, Seat, StorePath, describe_roles};

pub(crate) fn offline(context: &mut Context<'_>, args: &OfflineArgs) -> Result<(), Failure> {
    let loaded = program::load(context, &args.program)?;
    // Without a place for material there is nothing to do but to say what it costs.
    let Some(store) = &args.store else { return price(context, args, &Compiled::new(loaded)?) };
    let mut compiled = Compiled::new(loaded)?;
    let mut protocol = args.protocol.name();
    let picked;
    let bar = Bar::new();
    let progress = |done, total| bar.at(done, total);
    let mut prepared = if let Some(config) = &args.config {
        let mut seat = Seat::with(args.wait.within(args.window.configuration(config)?))?;
        note_meeting(&mut seat);
        picked = args.net.pick(&mut protocol, &compiled, &seat.parties(), Making::Offline)?;
        let place = store.place(false)?;
        vec![seat.offline(&compiled, &protocol, args.count, &place, &progress)?]
    } else {
        if let Some(bytes) = args.window.bytes {
            compiled = compiled.with_window(bytes);
        }
        let mut local = simulation(&protocol, args.simulate)?;
        let parties = local.parties.clone();
        picked = args.net.pick(&mut local.protocol, &compiled, &parties, Making::Offline)?;
        local.offline(&compiled, args.count, &store.place(true)?, &progress)?
    };
    drop(bar);
    for made in &mut prepared {
        made.comparison = made.comparison.take().or_else(|| picked.clone());
        let line = if context.json { to_json(made).to_string() } else { to_text(made) };
        context.line(&line)?;
    }
    Ok(())
}

/// What making it would send.
fn price(context: &mut Context<'_>, args: &OfflineArgs, compiled: &Arc<Compiled>) -> Result<(), Failure> {
    let config = args.config.as_deref().map(|path| args.window.configuration(path)).transpose()?;
    let window = config.as_ref().map_or(args.window.bytes, Config::window);
    let compiled = window.map_or_else(|| compiled.clone(), |bytes| compiled.clone().with_window(bytes));
    let (protocol, net) = (args.protocol.name(), CostNet::load(args.net.net.as_deref())?);
    let parties = match args.simulate {
        Some(_) => simulation(&protocol, args.simulate)?.parties,
        None => cost::parties(&protocol, config.as_ref())?,
    };
    let mut offers = Offers::default();
    offers.add(&protocol, Breakdown::of_material(&compiled, protocol.clone(), parties, &net, args.count));
    cost::tell(context, &net, offers)
}

impl StoreArgs {
    /// Where the store and its anchor are, or those of all parties in this process.
    pub(crate) fn place(&self, simulated: bool) -> Result<StorePath, Failure> {
        match &self.anchors {
            None if simulated => Ok(StorePath::simulated(&self.store)),
            anchors => Ok(StorePath::new(&self.store, anchors.clone())?),
        }
    }
}

/// Tells the operator if somebody put an older copy in the store's place.
pub(crate) fn warn_if_restored(context: &mut Context<'_>, store: &Store) {
    for restored in store.restored() {
        context.note(&format!(
            "warning: the store is an older copy: its journal knew less of epoch {} than its anchor, which counts, so nothing \
             is used twice; find out who restored it, and don't back stores up",
            restored.epoch
        ));
    }
}

fn to_json(made: &Prepared) -> Json {
    let links: serde_json::Map<_, _> = made
        .links
        .iter()
        .map(|link| (link.to.clone(), json!({"sent_bytes": link.bytes, "declared_bytes": link.declared})))
        .collect();
    let mut object = json!({
        "party": made.party,
        "epoch": made.epoch.to_string(),
        "instances": made.instances,
        "disk_bytes": made.disk_bytes,
        "links": links,
        "seconds": made.elapsed.as_secs_f64(),
    });
    if !made.players.is_empty() {
        object["roles"] = run::roles(&made.players);
    }
    if let Some(comparison) = &made.comparison {
        object["comparison"] = run::comparison(comparison);
    }
    object
}

fn to_text(made: &Prepared) -> String {
    let link = |link: &tacit::Sent| {
        let declared = if link.bytes == link.declared {
            "as declared".to_owned()
        } else {
            format!("declared: {}", bytes(link.declared))
        };
        format!("{} to {} ({declared})", bytes(link.bytes), link.to)
    };
    let links: Vec<String> = made.links.iter().map(link).collect();
    let players = &made.players;
    let roles =
        if players.is_empty() { String::new() } else { format!("; roles: {}", describe_roles(players)) };
    let ways = &made.comparison;
    let ways = ways.as_ref().map_or_else(String::new, |ways| format!("; comparison: {ways}"));
    format!(
        "{}: material for {} runs, {} bytes on disk, in {}; bytes sent: {}{roles}{ways}",
        made.party,
        made.instances,
        bytes(made.disk_bytes),
        seconds(made.elapsed.as_secs_f64()),
        links.join(", ")
    )
}
