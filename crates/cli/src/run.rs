//! `tacit run`: a program, once.

use crate::args::RunArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::revealed::{self, Readable, Revealed};
use crate::store::warn_if_restored;
use crate::{npy, program, show};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::Arc;
use tacit::advanced::net::Phase;
use tacit::advanced::program::plan::{Plan, To};
use tacit::program::{OutputType, Program, Value};
use tacit::{
    Comparison, Compiled, Instance, Local, Making, Report, Residents, Run, Seat, describe_roles, protocol,
};

pub(crate) fn run(context: &mut Context<'_>, args: &RunArgs) -> Result<(), Failure> {
    let saved = program::load_saved(context, &args.program)?;
    let tables = revealed::revealed(&saved)?;
    let file = args.output.as_deref().filter(|path| program::is_table(path));
    revealed::check(context.front, &saved, &tables, file)?;
    let values = program::given(context.front, &saved, &args.inputs)?;
    let directory = args.output.as_deref().filter(|_| file.is_none());
    if let Some(directory) = directory {
        std::fs::create_dir_all(directory)
            .map_err(|error| Failure::input(format!("{} can't be made: {error}", directory.display())))?;
    }
    let (labels, loaded) = (saved.labels(), saved.program);
    let (compiled, run) = match &args.config {
        Some(config) => deployed(context, args, config, loaded, &values)?,
        None => simulated(context, args, loaded, values)?,
    };
    if let Some(comparison) = &run.report.comparison {
        context.note(&format!("comparison: {comparison}"));
    }
    if !run.report.kept.is_empty() {
        context.note(&format!("kept {}", run.report.kept.join(", ")));
    }
    tables.iter().try_for_each(|table| table.check(&run.outputs))?;
    show(context, &compiled, &labels, &tables, &run)?;
    if let Some(file) = file {
        revealed::write(context.front, &tables, &run.outputs, file)?;
    }
    if let Some(directory) = directory {
        write_outputs(directory, &run)?;
    }
    if args.verbose {
        tell_traffic(context, &run.report);
    }
    Ok(())
}

/// As one party or client of a deployment.
fn deployed(
    context: &mut Context<'_>,
    args: &RunArgs,
    config: &Path,
    loaded: Program,
    values: &[Option<Value>],
) -> Result<(Arc<Compiled>, Run), Failure> {
    let compiled = Compiled::new(loaded)?;
    let config = args.wait.within(args.window.configuration(config)?);
    let bar = if config.is_client() { Bar::waiting() } else { Bar::new() };
    let mut seat = Seat::with(config)?;
    seat.tell(bar.meeting(seat.name()));
    seat.play(args.plays.clone());
    seat.tag(args.tag.clone());
    if seat.is_party() {
        args.stays.refuse_homeless()?;
    } else {
        seat.choose(args.stays.fill());
    }
    let mut name = args.protocol.name();
    let picked = args.net.pick(&mut name, &compiled, &seat.parties(), Making::InRun)?;
    let planned = compiled.for_protocol(&*protocol(&name)?)?;
    let progress = |done, total| bar.of_run(&planned, done, total);
    let mut store = match &args.store {
        Some(store) => Some(seat.open_store(&compiled, &name, &store.place(false)?)?),
        None => None,
    };
    if let Some(store) = &store {
        warn_if_restored(context, store);
    }
    let within = seat.config().limits().connect;
    let mut run = match (&args.stays.state, &mut store) {
        (Some(folder), store) if compiled.has_residents() => {
            let mut state = seat.open_state(folder)?;
            let (fill, store) = (args.stays.fill(), store.as_mut());
            let residents = Residents { state: &mut state, fill: &fill, store };
            seat.run_on(&compiled, &name, residents, values, &progress, within)?
        }
        (_, Some(store)) => seat.run_stored(&compiled, &name, store, values, &progress, within)?,
        (_, None) => seat.run(&compiled, &name, values, &progress)?,
    };
    run.report.comparison = run.report.comparison.or(picked);
    Ok((compiled, run))
}

/// With everybody in this process.
fn simulated(
    context: &mut Context<'_>,
    args: &RunArgs,
    loaded: Program,
    values: Vec<Option<Value>>,
) -> Result<(Arc<Compiled>, Run), Failure> {
    args.stays.refuse_homeless()?;
    let values = program::all(&loaded.given(), values)?;
    let mut local = simulation(&args.protocol.name(), args.simulate)?;
    let bar = Bar::new();
    let mut compiled = if args.debug { Compiled::debug(loaded)? } else { Compiled::new(loaded)? };
    if let Some(bytes) = args.window.bytes {
        compiled = compiled.with_window(bytes);
    }
    let parties = local.parties.clone();
    let picked = args.net.pick(&mut local.protocol, &compiled, &parties, Making::InRun)?;
    let planned = compiled.for_protocol(&*protocol(&local.protocol)?)?;
    let progress = |done, total| bar.of_run(&planned, done, total);
    let mut run = if args.debug {
        local.debug(&compiled, &values, &progress)?
    } else {
        let mut stores = match &args.store {
            Some(store) => local.open_stores(&compiled, &store.place(true)?)?,
            None => Vec::new(),
        };
        for store in &stores {
            warn_if_restored(context, store);
        }
        match &args.stays.state {
            Some(folder) if compiled.has_residents() => {
                let (mut states, fill) = (local.open_states(folder)?, args.stays.fill());
                let mut stores = stores.iter_mut();
                let own =
                    states.iter_mut().map(|state| Residents { state, fill: &fill, store: stores.next() });
                local.run_on(&compiled, own.collect(), &values, &progress)?
            }
            _ if stores.is_empty() => local.run(&compiled, &values, &progress)?,
            _ => local.run_stored(&compiled, &mut stores, &values, &progress)?,
        }
    };
    run.report.comparison = run.report.comparison.or(picked);
    Ok((compiled, run))
}

/// All parties in this process: as many as were asked for, or as the protocol is for if that is 0 or nothing.
pub(crate) fn simulation(protocol: &str, parties: Option<usize>) -> Result<Local, Failure> {
    match parties {
        None | Some(0) => Ok(Local::new(protocol)?),
        Some(parties) => Ok(Local::among(protocol, parties)?),
    }
}

/// Prints the outputs that are learnt here.
fn show(
    context: &mut Context<'_>,
    compiled: &Compiled,
    labels: &[Option<String>],
    tables: &[Revealed],
    run: &Run,
) -> Result<(), Failure> {
    let readable = Readable::of(context.front, tables, &run.outputs)?;
    let to = |output: usize| recipient(compiled.plan(), &compiled.outputs()[output]);
    if context.json {
        let mut object = to_json(compiled, labels, run);
        if let Some(outputs) = object["outputs"].as_array_mut() {
            let mut numbers = 0..;
            outputs.retain(|_| numbers.next().is_none_or(|output| readable.leaves(output)));
        }
        object["tables"] = readable.to_json(to);
        return context.line(&object.to_string());
    }
    for (number, value) in run.outputs.iter().enumerate() {
        if let Some(value) = value.as_ref().filter(|_| readable.leaves(number)) {
            let to = to(number);
            // Keys in a plan from elsewhere may hold anything.
            let name = labels.get(number).and_then(Option::as_ref).map(|key| key.escape_debug().to_string());
            let name = name.unwrap_or_else(|| format!("output {number}"));
            context.line(&format!("{name}, to {to}:\n{}", show::text(value)))?;
        }
    }
    readable.print(context, to)
}

/// A run for machines: all outputs, those not learnt here without a value, and what it took. Labels are those of a saved plan,
/// or none.
pub(crate) fn to_json(compiled: &Compiled, labels: &[Option<String>], run: &Run) -> Json {
    let labels = labels.iter().map(Option::as_ref).chain(std::iter::repeat(None));
    let learnt = compiled.outputs().iter().zip(&run.outputs).zip(labels);
    let outputs: Vec<Json> = learnt
        .map(|((declared, value), label)| {
            json!({
                "name": label,
                "to": recipient(compiled.plan(), declared),
                "kind": declared.kind.to_string(),
                "shape": declared.shape,
                "value": value.as_ref().map(show::json),
            })
        })
        .collect();
    json!({"outputs": outputs, "report": report(&run.report)})
}

/// Who learns an output.
fn recipient<'a>(plan: &'a Plan, output: &OutputType) -> &'a str {
    match output.to {
        To::All => "all",
        To::One(role) => plan.roles.get(role as usize).map_or("", String::as_str),
    }
}

/// What a run took, for machines.
pub(crate) fn report(report: &Report) -> Json {
    let endpoints: serde_json::Map<_, _> = report
        .endpoints
        .iter()
        .map(|(name, traffic)| {
            let phases: serde_json::Map<_, _> = Phase::ALL
                .into_iter()
                .map(|phase| (phase.name().to_owned(), json!(traffic.in_phase(phase))))
                .collect();
            (name.clone(), json!({"sent_bytes": phases, "wire_bytes": traffic.wire}))
        })
        .collect();
    let material =
        report.material.map(|Instance { epoch, index }| json!({"epoch": epoch.to_string(), "index": index}));
    let mut object = json!({
        "rounds": report.rounds,
        "seconds": report.elapsed.as_secs_f64(),
        "endpoints": endpoints,
        "material": material,
    });
    if !report.players.is_empty() {
        object["roles"] = roles(&report.players);
    }
    if let Some(ways) = &report.comparison {
        object["comparison"] = comparison(ways);
    }
    object
}

/// How numbers are compared and why, for machines.
pub(crate) fn comparison(ways: &Comparison) -> Json {
    let seconds: serde_json::Map<_, _> =
        ways.seconds.iter().map(|&(way, seconds)| (way.to_owned(), json!(seconds))).collect();
    json!({"picked": ways.picked, "seconds": seconds})
}

/// Who plays what, for machines.
pub(crate) fn roles(players: &[String]) -> Json {
    players.iter().enumerate().map(|(role, player)| (role.to_string(), json!(player))).collect()
}

/// What a run took, for people.
pub(crate) fn tell_traffic(context: &mut Context<'_>, report: &Report) {
    for (name, traffic) in &report.endpoints {
        // As `tacit cost` counts: without the handshake.
        let payload: u64 = traffic.payload();
        // Standard error is for people; if it is gone, so are they.
        let _ = writeln!(context.err, "{name} sent {payload} bytes, {} on the wire", traffic.wire);
    }
    let _ = writeln!(
        context.err,
        "{} rounds, {:.3} s with inputs and outputs",
        report.rounds,
        report.elapsed.as_secs_f64()
    );
    if !report.players.is_empty() {
        let _ = writeln!(context.err, "roles: {}", describe_roles(&report.players));
    }
    if let Some(instance) = report.material {
        let _ = writeln!(context.err, "material: {instance}");
    }
}

fn write_outputs(directory: &Path, run: &Run) -> Result<(), Failure> {
    for (number, value) in run.outputs.iter().enumerate() {
        if let Some(value) = value {
            npy::write(&directory.join(format!("output-{number}.npy")), value).map_err(Failure::aborted)?;
        }
    }
    Ok(())
}
