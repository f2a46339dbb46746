//! `tacit bench`: this machine's limits, a protocol's speed, a whole program's start.
//!
//! A protocol's benchmark is a program of one kind of operation ([`work`]), or one for each lane, that all parties
//! play ([`party`]) with a clock that starts at a barrier, when all inputs are shared, and stops when the last party
//! has verified ([`clock`]). Circuits go in parts ([`instances`]), whose times add up. What came out is then opened
//! and compared with the clear result, and what was sent with the declared cost; if either differs there are no
//! figures.

mod clock;
mod instances;
mod limits;
mod parties;
mod party;
mod process;
mod result;
mod ring;
mod spec;
mod start;
mod work;

pub(crate) use process::party as party_process;
pub(crate) use spec::BenchArgs;

use crate::Context;
use crate::failure::Failure;
use limits::{Cores, Limits};
use party::Bench;
use result::Figures;
use ring::Ring;
use serde_json::json;
use spec::{Name, Transport};

pub(crate) fn bench(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    match (args.spec()?, args.name) {
        (Some(spec), _) => protocol(context, args, &Bench::new(spec)?),
        (None, Name::Start) => start::start(context, args.repeat, args.quick),
        (None, _) => machine(context, args.quick),
    }
}

/// What this machine does at best.
fn machine(context: &mut Context<'_>, quick: bool) -> Result<(), Failure> {
    let cores = Cores::measure(quick);
    let ring = if quick { Ring::QUICK } else { Ring::USUAL };
    let limits = Limits {
        bench: "limits",
        cores,
        tcp: process::ring(Transport::Tcp, ring, &context.this_command)?,
        tls: process::ring(Transport::Tls, ring, &context.this_command)?,
        version: env!("CARGO_PKG_VERSION"),
    };
    if context.json { context.line(&json!(limits).to_string()) } else { context.line(&limits.to_text()) }
}

/// A protocol's speed.
fn protocol(context: &mut Context<'_>, args: &BenchArgs, bench: &Bench) -> Result<(), Failure> {
    let mut runs = Vec::with_capacity(args.repeat);
    for _ in 0..args.repeat {
        runs.push(Figures::new(bench, &parties::run(bench, &context.this_command)?)?);
    }
    let all_seconds: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
    let loopback = match args.transport {
        Transport::Memory => None,
        transport => Some(process::ring(transport, Ring::QUICK, &context.this_command)?),
    };
    let median = median(runs);
    let shares = limits::shares(bench, median.seconds, &Cores::measure(true), loopback.as_ref())?;
    let figures = median.with_limits(shares);
    if !context.json {
        return context.line(&figures.to_text());
    }
    let mut object = json!(figures);
    if args.repeat > 1 {
        object["all_seconds"] = json!(all_seconds);
    }
    context.line(&object.to_string())
}

/// The run of the median time; of an even number the better of the two in the middle.
fn median(mut runs: Vec<Figures>) -> Figures {
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    runs.swap_remove((runs.len() - 1) / 2)
}
