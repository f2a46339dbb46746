//! `tacit offline`: the parties make material for runs to come.

use crate::args::{OfflineArgs, StoreArgs};
use crate::context::Context;
use crate::cost::{Breakdown, Offers};
use crate::failure::Failure;
use crate::net::CostNet;
use crate::progress::{Bar, meeting};
use crate::run::{self, simulation};
use crate::table::{bytes, seconds};
use crate::{cost, program};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;
use tacit::advanced::net::setup::Config;
use tacit::{Compiled, Filling, Making, Prepared, Seat, StorePath, describe_roles, protocol};

pub(crate) fn offline(context: &mut Context<'_>, args: &OfflineArgs) -> Result<(), Failure> {
    let (Some(program), Some(count)) = (&args.program, args.count) else {
        if args.program.is_none() && !args.stock.0.is_empty() {
            return stock(context, args);
        }
        let stocks = tacit::stocks().into_iter().map(|(name, _)| format!(", or --{name} N"));
        let stocks = stocks.collect::<String>();
        return Err(Failure::usage(format!("what is to be made? Give PROGRAM and --count{stocks}")));
    };
    let loaded = program::load(context, program)?;
    // Without a place for material there is nothing to do but to say what it costs.
    let Some(store) = &args.store else { return price(context, args, &Compiled::new(loaded)?, count) };
    let mut compiled = Compiled::new(loaded)?;
    let mut protocol = args.protocol.name();
    let picked;
    let bar = Bar::new();
    let progress = |done, total| bar.at(done, total);
    let mut prepared = if let Some(config) = &args.config {
        let mut seat = seat(args, config)?;
        picked = args.net.pick(&mut protocol, &compiled, &seat.parties(), Making::Offline)?;
        let place = store.place(false)?;
        vec![seat.offline(&compiled, &protocol, count, &place, &progress)?]
    } else {
        if let Some(bytes) = args.window.bytes {
            compiled = compiled.with_window(bytes);
        }
        let mut local = simulation(&protocol, args.simulate)?;
        let parties = local.parties.clone();
        picked = args.net.pick(&mut local.protocol, &compiled, &parties, Making::Offline)?;
        local.offline(&compiled, count, &store.place(true)?, &progress)?
    };
    drop(bar);
    for made in &mut prepared {
        made.comparison = made.comparison.take().or_else(|| picked.clone());
    }
    tell(context, &prepared)
}

/// Fills stores for any program.
fn stock(context: &mut Context<'_>, args: &OfflineArgs) -> Result<(), Failure> {
    let Some(store) = &args.store else { return Err(Failure::usage("where to? Give --store")) };
    let name = args.protocol.name();
    let protocol = protocol(&name)?;
    let filling = |parties: usize| {
        Ok::<_, tacit::Error>(Filling {
            up_to: args.up_to,
            ..Filling::of(&*protocol, parties, &args.stock.0)?
        })
    };
    let bar = Bar::new();
    let progress = |done, total| bar.at(done, total);
    let prepared = if let Some(config) = &args.config {
        let mut seat = seat(args, config)?;
        let filling = filling(seat.parties().len())?;
        vec![seat.stock(&name, &filling, &store.place(false)?, &progress)?]
    } else {
        let local = simulation(&name, args.simulate)?;
        local.stock(&filling(local.parties.len())?, &store.place(true)?, &progress)?
    };
    drop(bar);
    tell(context, &prepared)
}

fn seat(args: &OfflineArgs, config: &Path) -> Result<Seat, Failure> {
    let mut seat = Seat::with(args.wait.within(args.window.configuration(config)?))?;
    seat.tell(meeting(seat.name()));
    Ok(seat)
}

fn tell(context: &mut Context<'_>, prepared: &[Prepared]) -> Result<(), Failure> {
    for made in prepared {
        let line = if context.json { to_json(made).to_string() } else { to_text(made) };
        context.line(&line)?;
    }
    Ok(())
}

/// What making it would send.
fn price(
    context: &mut Context<'_>,
    args: &OfflineArgs,
    compiled: &Arc<Compiled>,
    count: u64,
) -> Result<(), Failure> {
    let config = args.config.as_deref().map(|path| args.window.configuration(path)).transpose()?;
    let window = config.as_ref().map_or(args.window.bytes, Config::window);
    let compiled = window.map_or_else(|| compiled.clone(), |bytes| compiled.clone().with_window(bytes));
    let (protocol, net) = (args.protocol.name(), CostNet::load(args.net.net.as_deref())?);
    let parties = match args.simulate {
        Some(_) => simulation(&protocol, args.simulate)?.parties,
        None => cost::parties(&protocol, config.as_ref())?,
    };
    let mut offers = Offers::default();
    offers.add(&protocol, Breakdown::of_material(&compiled, protocol.clone(), parties, &net, count));
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

fn to_json(made: &Prepared) -> Json {
    let links: serde_json::Map<_, _> = made
        .links
        .iter()
        .map(|link| (link.to.clone(), json!({"sent_bytes": link.bytes, "declared_bytes": link.declared})))
        .collect();
    let supplies: serde_json::Map<_, _> =
        made.supplies.iter().map(|(kind, count)| (kind.to_string(), json!(count))).collect();
    let mut object = json!({
        "party": made.party,
        "epoch": made.epoch.to_string(),
        "instances": made.instances,
        "supplies": supplies,
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

pub(crate) fn to_text(made: &Prepared) -> String {
    let link = |link: &tacit::Sent| {
        let declared = match link.declared {
            None => String::new(),
            Some(declared) if link.bytes == declared => " (as declared)".to_owned(),
            Some(declared) => format!(" (declared: {})", bytes(declared)),
        };
        format!("{} to {}{declared}", bytes(link.bytes), link.to)
    };
    let links: Vec<String> = made.links.iter().map(link).collect();
    let players = &made.players;
    let roles =
        if players.is_empty() { String::new() } else { format!("; roles: {}", describe_roles(players)) };
    let ways = &made.comparison;
    let ways = ways.as_ref().map_or_else(String::new, |ways| format!("; comparison: {ways}"));
    let supplies = made.supplies.iter().map(|(kind, count)| format!("{} {kind}", bytes(*count)));
    let supplies = supplies.collect::<Vec<_>>().join(", ");
    let what = match (made.instances, supplies.is_empty()) {
        (0, true) => return format!("{}: there is enough already, in epoch {}", made.party, made.epoch),
        (0, false) => supplies,
        (runs, true) => format!("material for {runs} runs"),
        (runs, false) => format!("material for {runs} runs ({supplies})"),
    };
    format!(
        "{}: {what}, {} bytes on disk, in {}; bytes sent: {}{roles}{ways}",
        made.party,
        bytes(made.disk_bytes),
        seconds(made.elapsed.as_secs_f64()),
        links.join(", ")
    )
}
