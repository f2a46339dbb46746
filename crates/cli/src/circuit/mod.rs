//! `tacit circuit`: a Boolean circuit on any number of instances.
//!
//! Inputs and outputs are texts ([`form`]), a line for each instance. They are read ([`values`]) and written
//! ([`tap`]) as the run goes on, part after part ([`parts`]), so that memory is that of one part.

mod args;
mod form;
mod list;
mod parts;
mod source;
mod tap;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use args::CircuitArgs;

use crate::context::Context;
use crate::cost::{Breakdown, Offers};
use crate::failure::Failure;
use crate::net::CostNet;
use crate::progress::{Bar, meeting};
use crate::{cost, run};
use parts::Parts;
use std::path::Path;
use std::sync::Arc;
use tacit::advanced::net::setup::Config;
use tacit::circuit::Circuit;
use tacit::{Feed, Report, Seat, protocols};
use tap::{Printer, Tap};
use values::Given;

pub(crate) fn circuit(context: &mut Context<'_>, args: &CircuitArgs) -> Result<(), Failure> {
    // Without a circuit there is nothing to do but to list them.
    let Some(file) = &args.file else { return list::list(context) };
    let circuit = Arc::new(source::load(file)?);
    if args.cost {
        return price(context, args, &circuit);
    }
    let bar = Bar::new();
    let report = match &args.config {
        Some(config) => deployed(context, args, config, &circuit, &bar)?,
        None => simulated(context, args, &circuit, &bar)?,
    };
    drop(bar);
    if context.json {
        let object = serde_json::json!({"report": run::report(&report)});
        context.line(&object.to_string())?;
    }
    if args.verbose {
        run::tell_traffic(context, &report);
    }
    Ok(())
}

/// What a run would send.
fn price(context: &mut Context<'_>, args: &CircuitArgs, circuit: &Arc<Circuit>) -> Result<(), Failure> {
    let names = match args.protocol.given()? {
        Some(name) => vec![name],
        None => protocols().map(|protocol| protocol.spec().name.to_owned()).collect(),
    };
    let config = args.config.as_deref().map(|path| args.window.configuration(path)).transpose()?;
    let window = config.as_ref().map_or(args.window.bytes, Config::window);
    let net = CostNet::load(args.net.as_deref())?;
    let mut offers = Offers::default();
    for name in names {
        let parties = cost::parties(&name, config.as_ref())?;
        let owners = match &config {
            Some(config) => owners_in(config, args, circuit)?,
            None => args.owners(circuit.inputs().len(), &parties)?,
        };
        let once = args.once(circuit.inputs().len())?;
        let mut stream = Parts::new(circuit, args.count.unwrap_or(1)).stream(circuit, &owners, &once)?;
        if let Some(bytes) = window {
            stream = stream.with_window(bytes);
        }
        offers.add(&name, Breakdown::of_stream(&stream, name.clone(), &parties, &net));
    }
    cost::tell(context, &net, offers)
}

/// As one party or client of a deployment.
fn deployed(
    context: &mut Context<'_>,
    args: &CircuitArgs,
    config: &Path,
    circuit: &Arc<Circuit>,
    bar: &Bar,
) -> Result<Report, Failure> {
    let config = args.wait.within(args.window.configuration(config)?);
    let owners = owners_in(&config, args, circuit)?;
    let me = &config.names()[config.me()];
    let given = args.given(circuit)?;
    for (input, (owner, given)) in owners.iter().zip(&given).enumerate() {
        match given {
            Some(_) if owner != me => {
                return Err(Failure::usage(format!("input {input} is {owner}'s to give, and this is {me}")));
            }
            None if owner == me => return Err(missing(input, me)),
            _ => {}
        }
    }
    let instances = values::instances(&given, args.count)?.ok_or_else(|| {
        Failure::usage("no file here tells how many instances there are: --count N, the same for everybody")
    })?;
    let once = once(args, &given, instances, false)?;
    let parts = Parts::new(circuit, instances);
    let stream = parts.stream(circuit, &owners, &once)?;
    let printer = Printer { out: &mut context.out, json: context.json, bar };
    let mut tap = Tap::new(circuit, parts, args.form(), given, once, Some(printer))?;
    let mut seat = Seat::with(config)?;
    seat.tell(meeting(seat.name()));
    Ok(seat.stream(&stream, &args.protocol.name(), &mut tap)?)
}

/// Who gives each input in a deployment.
fn owners_in(config: &Config, args: &CircuitArgs, circuit: &Circuit) -> Result<Vec<String>, Failure> {
    let names = config.names();
    let (parties, clients) = names.split_at(config.parties().len());
    let owners = args.owners(circuit.inputs().len(), parties)?;
    if let Some(input) = owners.iter().position(|owner| !names.contains(owner)) {
        return Err(Failure::input(format!(
            "input {input}'s owner {:?} is neither a party nor a client of this deployment (its parties: {}; its \
             clients: {})",
            owners[input],
            parties.join(", "),
            if clients.is_empty() { "none".to_owned() } else { clients.join(", ") }
        )));
    }
    Ok(owners)
}

/// With everybody in this process.
fn simulated(
    context: &mut Context<'_>,
    args: &CircuitArgs,
    circuit: &Arc<Circuit>,
    bar: &Bar,
) -> Result<Report, Failure> {
    let local = run::simulation(&args.protocol.name(), args.simulate)?;
    let owners = args.owners(circuit.inputs().len(), &local.parties)?;
    let mut given = args.given(circuit)?;
    if let Some(input) = given.iter().position(Option::is_none) {
        return Err(missing(input, &owners[input]));
    }
    let instances = values::instances(&given, args.count)?.unwrap_or(1);
    let once = once(args, &given, instances, true)?;
    let parts = Parts::new(circuit, instances);
    let mut stream = parts.stream(circuit, &owners, &once)?;
    if let Some(bytes) = args.window.bytes {
        stream = stream.with_window(bytes);
    }
    // All outputs go to everybody: the first endpoint tells.
    let mut printer = Some(Printer { out: &mut context.out, json: context.json, bar });
    let mut taps = Vec::new();
    for endpoint in [local.parties.clone(), stream.clients(&local.parties)].concat() {
        let own = |(owner, given): (&String, &mut Option<Given>)| given.take_if(|_| *owner == endpoint);
        let given = owners.iter().zip(&mut given).map(own).collect();
        taps.push(Tap::new(circuit, parts, args.form(), given, once.clone(), printer.take())?);
    }
    let feeds = taps.iter_mut().map(|tap| tap as &mut (dyn Feed + Send)).collect();
    Ok(local.stream(&stream, feeds)?)
}

/// Which inputs are shared once. Where everybody is in this process nobody else has to be told which have one value.
fn once(
    args: &CircuitArgs,
    given: &[Option<Given>],
    instances: u64,
    alone: bool,
) -> Result<Vec<bool>, Failure> {
    let mut once = args.once(given.len())?;
    for (input, (once, given)) in once.iter_mut().zip(given).enumerate() {
        match given {
            Some(Given::Each { count, .. }) if *once => {
                return Err(Failure::usage(format!("--once {input}: its file has {count} values")));
            }
            Some(Given::Same { .. }) if !*once && instances > 1 => {
                if !alone {
                    return Err(Failure::usage(format!(
                        "input {input} has one value for {instances} instances: say --once {input}, as everybody else \
                         has to"
                    )));
                }
                *once = true;
            }
            _ => {}
        }
    }
    Ok(once)
}

fn missing(input: usize, owner: &str) -> Failure {
    Failure::usage(format!(
        "no value for input {input}, which is {owner}'s to give: --input {input}=VALUE or {input}=@FILE"
    ))
}
