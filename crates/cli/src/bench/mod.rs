//! `tacit bench`: this machine's limits, a protocol's speed, a whole program's start.
//!
//! A protocol's benchmark is a program of one kind of operation ([`work`]), or one for each lane, that all parties
//! play ([`party`]) with a clock that starts at a barrier, when all inputs are shared, and stops when the last party
//! has verified ([`clock`]). Circuits go in parts ([`instances`]), whose times add up. What came out is then opened
//! and compared with the clear result, and what was sent with the declared cost; if either differs there are no
//! figures.
//!
//! Oblivious transfers and triples are no programs and have benchmarks of their own ([`ot`], [`triples`]). The experiments of a
//! paper ([`paper`]) are several such benchmarks.

mod clock;
mod correlated;
mod declared;
mod dnn;
mod files;
mod instances;
mod limits;
mod living;
mod measure;
mod names;
mod native_start;
mod operands;
mod options;
mod ot;
mod paper;
mod parties;
mod party;
mod plot;
mod process;
mod profile;
mod random_circuit;
mod result;
mod ring;
mod scale;
mod spec;
mod start;
mod stocked;
mod tables;
mod triples;
mod work;
mod workload;

pub(crate) use process::party as party_process;
pub(crate) use spec::BenchArgs;

use crate::context::Context;
use crate::failure::Failure;
use limits::{Cores, Limits};
use measure::protocol;
use names::Name;
use party::Bench;
use ring::Ring;
use serde_json::json;
use spec::Transport;

pub(crate) fn bench(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    match (args.spec()?, args.name) {
        (Some(spec), _) => protocol(context, args, &Bench::new(spec)?),
        (None, Name::Start) => start::start(context, args),
        (None, Name::Living) => living::living(context, args),
        (None, Name::Dnn) => dnn::dnn(context, args),
        (None, Name::Join | Name::Groupby | Name::Tpch) => tables::tables(context, args),
        (None, Name::Araki) if args.experiment.scale == Some(options::Scale::Parts) => {
            scale::scale(context, args)
        }
        (None, Name::Araki) if args.has_count() => {
            Err(Failure::usage("bench araki: --count cannot be used with --paper, which has its own"))
        }
        (None, Name::Araki) => paper::paper(context, args, &paper::ARAKI),
        (None, Name::Astra) => paper::paper(context, args, &paper::ASTRA),
        (None, Name::Li) => paper::paper(context, args, &paper::LI),
        (None, Name::Mascot) => paper::paper(context, args, &paper::MASCOT),
        (None, Name::Gmw) => paper::paper(context, args, &paper::GMW),
        (None, Name::Ot) => ot::ot(context, args),
        (None, Name::Triples) => triples::triples(context, args),
        (None, _) => {
            let limits = machine(context, args.quick)?;
            if context.json {
                context.line(&json!(limits).to_string())
            } else {
                context.line(&limits.to_text())
            }
        }
    }
}

/// What this machine does at best.
fn machine(context: &Context<'_>, quick: bool) -> Result<Limits, Failure> {
    let ring = if quick { Ring::QUICK } else { Ring::DEFAULT };
    Ok(Limits {
        bench: "limits",
        cores: Cores::measure(quick),
        tcp: process::ring(Transport::Tcp, ring, &context.this_command)?,
        tls: process::ring(Transport::Tls, ring, &context.this_command)?,
        version: env!("CARGO_PKG_VERSION"),
    })
}
