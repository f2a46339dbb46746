//! `tacit store`: what a party's store has, and what to do if its anchor is lost.

use crate::args::{AnchoredArgs, StoreCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::table::bytes;
use serde_json::{Value as Json, json};
use tacit::advanced::engine::supply::SupplyKind;
use tacit::advanced::store::{Overview, Standing, Stock, Store};
use tacit::{Kept, StorePath};

pub(crate) fn store(context: &mut Context<'_>, command: &StoreCommand) -> Result<(), Failure> {
    match command {
        StoreCommand::List(args) => list(context, args),
        StoreCommand::Adopt { store, never_copied } => adopt(context, store, *never_copied),
    }
}

/// Tells the operator if somebody put an older copy in the store's place.
pub(crate) fn warn_if_restored(context: &mut Context<'_>, store: &Kept) {
    for restored in store.restored() {
        context.note(&format!(
            "warning: the store is an older copy: its journal knew less of epoch {} than its anchor, which counts, so nothing \
             is used twice; find out who restored it, and don't back stores up",
            restored.epoch
        ));
    }
}

fn list(context: &mut Context<'_>, args: &AnchoredArgs) -> Result<(), Failure> {
    for place in StorePath::all_in(&args.store, args.anchors.as_ref())? {
        let overview = overview(&place)?;
        let text =
            if context.json { to_json(&place, &overview).to_string() } else { to_text(&place, &overview) };
        context.line(&text)?;
    }
    Ok(())
}

/// Lets a new anchor take over what the journal says.
fn adopt(context: &mut Context<'_>, args: &AnchoredArgs, never_copied: bool) -> Result<(), Failure> {
    let place = StorePath::existing(&args.store, args.anchors.as_ref())?;
    let overview = overview(&place)?;
    if !overview.epochs.iter().any(|stock| stock.standing() == Standing::Unanchored) {
        return Err(Failure::usage(format!(
            "nothing is to be adopted: the anchor {} knows all that this store has",
            overview.anchor.display()
        )));
    }
    if !never_copied {
        return Err(Failure::usage(format!(
            "the anchor {} is lost, and with it all that shows whether this store is an older copy. To adopt the store is to \
             take its own journal's word for what is used. If it came from a backup or a snapshot, or was copied here, the \
             journal doesn't know what was used since: the same material would be used twice, which tells inputs to whoever \
             sees both runs. Then delete the store, here and at the other parties, and make new material (tacit offline). \
             Likewise if you don't know. If the anchor lies elsewhere, name its folder (--anchors). Only if you know that it \
             is this very store, that it was never restored nor copied, and that nothing but its anchor is gone, say \
             --never-copied",
            overview.anchor.display()
        )));
    }
    drop(Store::adopt(&place.store, &place.anchors, &overview.binding).map_err(tacit::Error::from)?);
    list(context, args)
}

pub(crate) fn overview(place: &StorePath) -> Result<Overview, Failure> {
    Ok(Overview::read(&place.store, &place.anchors).map_err(tacit::Error::from)?)
}

fn to_json(place: &StorePath, overview: &Overview) -> Json {
    let Overview { binding, anchor, epochs, .. } = overview;
    let epoch = |stock: &Stock| {
        let (standing, unused) = match stock.standing() {
            Standing::Unused(unused) => ("unused", unused),
            Standing::Restored(unused) => ("restored", unused),
            Standing::Unanchored => ("unanchored", 0),
        };
        let (count, unused) = (counted(stock, stock.count), counted(stock, unused));
        let mut epoch = json!({
            "epoch": stock.epoch.to_string(),
            "instances": count,
            "unused": unused,
            "standing": standing,
        });
        if binding.is_supply() {
            epoch["kind"] = kind(stock).into();
        }
        epoch
    };
    json!({
        "store": place.store.display().to_string(),
        "party": binding.me,
        "parties": binding.parties,
        "clients": binding.clients,
        "protocol": binding.protocol,
        "parameters": binding.parameters,
        "inputs": binding.plan.as_ref().map(|plan| &plan.inputs),
        "anchor": anchor.display().to_string(),
        "epochs": epochs.iter().map(epoch).collect::<Vec<_>>(),
    })
}

fn to_text(place: &StorePath, overview: &Overview) -> String {
    let Overview { binding, anchor, epochs, .. } = overview;
    let clients = if binding.clients.is_empty() { "none".to_owned() } else { binding.clients.join(", ") };
    let mut text = format!(
        "{}: material of {}, one of {}, for {} ({})\nclients: {clients}\ninputs: {}\nanchor: {}",
        // Names in a folder from elsewhere may hold anything.
        place.store.display().to_string().escape_debug(),
        binding.me,
        binding.parties.join(", "),
        binding.protocol,
        binding.parameters,
        binding.plan.as_ref().map_or("any", |plan| &plan.inputs),
        anchor.display().to_string().escape_debug()
    );
    if epochs.is_empty() {
        text += "\nall of it is used";
    }
    for stock in epochs {
        let all = bytes(counted(stock, stock.count));
        let what = if binding.is_supply() { kind(stock) } else { "instances".to_owned() };
        let of = |unused| format!("{} of {all} {what} are unused", bytes(counted(stock, unused)));
        let standing = match stock.standing() {
            Standing::Unused(unused) => of(unused),
            Standing::Restored(unused) => {
                format!("{}, as the anchor says; the store is an older copy and knows of fewer", of(unused))
            }
            Standing::Unanchored => {
                "the anchor doesn't know it, and no run begins (tacit store adopt says what to do)".to_owned()
            }
        };
        text.extend(["\nepoch ", &stock.epoch.to_string(), ": ", &standing]);
    }
    text
}

/// The kind of a shelf of supplies.
fn kind(stock: &Stock) -> String {
    SupplyKind::from_code(stock.shelf)
        .map_or_else(|| format!("of kind {:x}", stock.shelf), |kind| kind.to_string())
}

/// So many instances of a shelf in what people count: of supplies, items.
fn counted(stock: &Stock, instances: u64) -> u64 {
    instances.saturating_mul(SupplyKind::from_code(stock.shelf).map_or(1, SupplyKind::per_block))
}
