//! `tacit serve`: a party that stays up, connected to the others, and runs programs for clients.
//!
//! A bound on what goes unnoticed is for one run, so a server doesn't go on after a check that failed, nor after too many runs
//! that ended in the middle of one ([`tacit::Server::attempts`]). It ends with an exit code of its own then, by which whoever
//! starts services knows not to start it again.

use crate::args::{ProgramArgs, ServeArgs, is_plan};
use crate::context::Context;
use crate::failure::Failure;
use crate::metrics::{Metrics, Port};
use crate::progress::meeting_on;
use crate::store::warn_if_restored;
use crate::{log, offline, program, run};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tacit::advanced::engine::supply::Stock;
use tacit::program::InputType;
use tacit::setup::Config;
use tacit::{
    Comparison, Compiled, Drain, Filling, Holdings, Kept, Making, Offer, Prepared, Quota, SavedPlan, Served,
    Server, Serving, State, describe_roles,
};
use tracing::Dispatch;
use tracing::dispatcher::with_default;

pub(crate) fn serve(context: &mut Context<'_>, args: &ServeArgs) -> Result<(), Failure> {
    open_all_files();
    let config = args.window.configuration(&args.config)?;
    let names = config.names();
    let name = names[config.me()].clone();
    if config.is_client() {
        return Err(Failure::usage(format!("{name} is a client; clients run programs with `tacit run`")));
    }
    let offers = offers(context, args)?;
    let parties = &names[..config.parties().len()];
    let mut protocol = args.protocol.name();
    let picked = match &offers[..] {
        [offer] => args.net.pick(&mut protocol, &offer.compiled, parties, Making::InRun)?,
        _ if args.net.net.is_some() => {
            return Err(Failure::usage(
                "--net picks what is left to it for one program, and several are served",
            ));
        }
        _ => None,
    };
    if let Some(comparison) = &picked {
        context.note(&format!("comparison: {comparison}"));
    }
    let holdings = holdings(context, args, &config, &protocol, &offers)?;
    let filling = filling(args, &protocol, parties.len())?;
    let serving = Serving {
        batch: args.together.into(),
        window: Duration::from_millis(args.window_ms),
        runs: args.runs,
        memory: args.memory,
        open: args.open.clone(),
        holdings,
        filling,
        ..Serving::new(protocol, args.at_once)
    };
    let mut server = Server::open(&config, offers, serving)?;
    end_on_signals(server.drain())?;
    let (aside, _flushed) = log::aside();
    server.tell(if args.log.is_some() { log::notes() } else { meeting_on(name.clone(), aside.clone()) });
    if args.log.is_none() {
        server.tell_filled(tell_filled(name.clone(), aside.clone()));
    }
    server.stop_after(if args.keep_going { None } else { Some(args.attempts) });
    let metrics = Metrics::new(&config, server.gauges());
    let port = args.metrics.map(|address| Port::open(address, metrics.clone())).transpose()?;
    let dispatch = args.log.map_or_else(Dispatch::none, |form| log::dispatch(form, aside));
    let address = &config.parties()[config.me()].address;
    if args.log.is_some() {
        with_default(&dispatch, || tracing::info!(name, address, "listens"));
    } else {
        context.note(&format!("{name} listens on {address}"));
    }
    let (mut failed, mut ended, mut lines) = (0_u64, 0_u64, Quota::default());
    let done = with_default(&dispatch, || {
        server.serve(&mut |served: Served<'_>| {
            ended = served.number;
            failed += u64::from(served.result.is_err());
            metrics.note(&served.result);
            tell(context, served, picked.as_ref(), &mut lines)
        })
    });
    drop(port);
    done.map_err(|failure: Failure| failure.after_attempts(server.attempts()))?;
    if failed > 0 && args.runs == Some(ended) {
        let failure = Failure::aborted(format!("{failed} of {ended} runs were aborted"));
        return Err(failure.after_attempts(server.attempts()));
    }
    Ok(())
}

/// Lets this process have as many files open as it is allowed: each client has one. The usual limit is for programs that can't
/// count beyond it.
fn open_all_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If it is refused, there is room for fewer clients.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// The programs that are served, with what this party gives to each.
fn offers(context: &Context<'_>, args: &ServeArgs) -> Result<Vec<Offer>, Failure> {
    let mut all = Vec::new();
    for path in files(&args.programs)? {
        let program = ProgramArgs { path, args: args.args.clone() };
        let saved = program::load_saved(context, &program)?;
        all.push((Compiled::new(saved.program.clone())?, saved));
    }
    let given = |declared: &[InputType], name: &str| {
        declared.iter().any(|input| input.name == name || format!("{}.{}", input.owner, input.name) == name)
    };
    for (name, _) in &args.inputs {
        if all.len() > 1 && !all.iter().any(|(compiled, _)| given(&compiled.given(), name)) {
            return Err(Failure::usage(format!("no program has an input {name:?}")));
        }
    }
    let single = all.len() == 1;
    let offer = |(compiled, saved): (Arc<Compiled>, SavedPlan)| {
        let its = args.inputs.iter().filter(|(name, _)| single || given(&compiled.given(), name)).cloned();
        let inputs = program::given(context.front, &saved, &its.collect::<Vec<_>>())?;
        Ok(Offer { compiled, inputs })
    };
    all.into_iter().map(offer).collect()
}

/// The files of programs: folders stand for the saved plans in them.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(plans(path)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn plans(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let can_not = |error| Failure::input(format!("{} can't be read: {error}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(can_not)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(can_not));
    let mut plans = paths.collect::<Result<Vec<_>, _>>()?;
    plans.retain(|path| is_plan(path));
    plans.sort();
    if plans.is_empty() {
        return Err(Failure::input(format!("{} has no saved plans", folder.display())));
    }
    Ok(plans)
}

/// The store and the state that runs go on.
fn holdings(
    context: &mut Context<'_>,
    args: &ServeArgs,
    config: &Config,
    protocol: &str,
    offers: &[Offer],
) -> Result<Holdings, Failure> {
    let store = match (&args.store, offers) {
        (Some(store), [_, ..]) if !args.filling.is_empty() => {
            let (protocol, names) = (tacit::protocol(protocol)?, config.names());
            let parties = &names[..config.parties().len()];
            let store = store.place(false)?.open_supplies(&*protocol, parties, config.me())?;
            Some(Kept::Supplies(Stock::new(store)))
        }
        (Some(store), [first, ..]) => {
            Some(store.place(false)?.open_for(config, &first.compiled, protocol)?)
        }
        _ => None,
    };
    if let Some(store) = &store {
        warn_if_restored(context, store);
    }
    args.stays.refuse_homeless()?;
    let with_versions = |state: State| match args.versions {
        Some(most) => state.with_most_versions(most.into()),
        None => state,
    };
    let state = args.stays.open(config)?.map(|state| (with_versions(state), args.stays.fill()));
    Ok(Holdings { store, state })
}

/// What the store is filled with in the background.
fn filling(args: &ServeArgs, protocol: &str, parties: usize) -> Result<Option<Filling>, Failure> {
    if args.filling.is_empty() {
        return Ok(None);
    }
    let named: Vec<(&str, u64)> = args.filling.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    Ok(Some(Filling::of(&*tacit::protocol(protocol)?, parties, &named)?))
}

/// Writes a line about what the store was filled with, or why it wasn't.
fn tell_filled(
    name: String,
    mut lines: impl Write + Send + 'static,
) -> impl FnMut(Result<&Prepared, &str>) + Send + 'static {
    move |filled| {
        let line = match filled {
            Ok(made) => offline::to_text(made),
            Err(reason) => format!("{name}: the store isn't filled: {reason}"),
        };
        // If nobody reads it, nothing is lost.
        let _ = lines.write_all(format!("{line}\n").as_bytes());
    }
}

/// SIGTERM and SIGINT: the end after the runs that are under way, or at once if asked again.
fn end_on_signals(drain: Drain) -> Result<(), Failure> {
    let can_not = |error| Failure::aborted(format!("signals can't be caught: {error}"));
    // Whatever comes from here on is kept until the thread looks.
    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(can_not)?;
    let ends = move || {
        for (count, _) in signals.forever().enumerate() {
            if count > 0 {
                std::process::exit(0);
            }
            drain.ask();
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(ends).map_err(can_not)?;
    Ok(())
}

/// Writes a line about a run that has ended.
fn tell(
    context: &mut Context<'_>,
    served: Served<'_>,
    picked: Option<&Comparison>,
    lines: &mut Quota,
) -> Result<(), Failure> {
    let Served { number, compiled, clients, result, attempts } = served;
    match result {
        Ok(mut done) => {
            done.report.comparison = done.report.comparison.or_else(|| picked.cloned());
            tell_run(context, compiled, number, &clients, &done, attempts)
        }
        Err(error) => match lines.admit(Instant::now()) {
            Some(untold) => tell_failure(context, number, &error.into(), attempts, untold),
            None => Ok(()),
        },
    }
}

fn tell_run(
    context: &mut Context<'_>,
    compiled: &Compiled,
    number: u64,
    clients: &[(String, String)],
    done: &tacit::Run,
    attempts: u64,
) -> Result<(), Failure> {
    if context.json {
        let mut object = run::to_json(compiled, &[], done);
        object["run"] = json!(number);
        object["attempts"] = json!(attempts);
        object["clients"] = clients.iter().map(|(plays, client)| (plays.clone(), json!(client))).collect();
        return context.line(&object.to_string());
    }
    let sent: u64 = done.report.endpoints.iter().map(|(_, traffic)| traffic.payload()).sum();
    let players = &done.report.players;
    let roles =
        if players.is_empty() { String::new() } else { format!("; roles: {}", describe_roles(players)) };
    let material = done.report.material.map_or_else(String::new, |instance| format!(", {instance}"));
    let ways = &done.report.comparison;
    let ways = ways.as_ref().map_or_else(String::new, |ways| format!("; comparison: {ways}"));
    let seconds = done.report.elapsed.as_secs_f64();
    let kept = &done.report.kept;
    let kept = if kept.is_empty() { String::new() } else { format!("; kept {}", kept.join(", ")) };
    let counted = counted(attempts);
    let of = |(plays, client): &(String, String)| {
        if plays == client { client.clone() } else { format!("{client} as {plays}") }
    };
    let with = clients.iter().map(of).collect::<Vec<_>>().join(", ");
    let with = if with.is_empty() { with } else { format!(" with {with}") };
    let took = format!("{seconds:.3} s, {sent} bytes sent");
    context.line(&format!("run {number}{with}: {took}{material}{kept}{roles}{ways}{counted}"))
}

/// Attempts so far, if there are any.
fn counted(attempts: u64) -> String {
    if attempts > 0 { format!("; attempts so far: {attempts}") } else { String::new() }
}

fn tell_failure(
    context: &mut Context<'_>,
    number: u64,
    failure: &Failure,
    attempts: u64,
    untold: u64,
) -> Result<(), Failure> {
    let others = if untold > 0 {
        format!("; {untold} other runs failed since the last such line")
    } else {
        String::new()
    };
    let text = format!("run {number}: {}{}{others}", failure.message(), counted(attempts));
    let line = if context.json {
        let mut object = failure.to_json();
        object["run"] = json!(number);
        object["attempts"] = json!(attempts);
        if untold > 0 {
            object["untold"] = json!(untold);
        }
        object.to_string()
    } else {
        text.clone()
    };
    let written = context.line(&line);
    if written.is_err() {
        // What went wrong in a run is told somewhere, also when results aren't read any more.
        context.note(&text);
    }
    written
}
