//! `tacit bench triples`: authenticated triples for MASCOT, among two parties or more ([`super::correlated`]).
//!
//! They are accepted by all, and opened and multiplied afterwards.

use super::correlated::{Figures, Job, Made, What, measure};
use super::spec::BenchArgs;
use crate::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes, rate, seconds};
use serde_json::json;
use std::ops::RangeInclusive;
use tacit::advanced::session::{Error, Session};
use tacit_kernel::Element;
use tacit_mascot::{Preprocessing, Triples, cost};
use tacit_ot::Params;
use tacit_ot::copee::Field;

/// Triples if nothing is said, and the quick number.
const USUAL: usize = 200_000;
const QUICK: usize = 500;

/// How many parties there may be, the fewest if nothing is said.
const PARTIES: RangeInclusive<usize> = 2..=16;

/// A party's part.
pub(super) struct MascotTriples {
    preprocessing: Preprocessing,
    made: Option<Triples>,
}

impl Made for MascotTriples {
    fn setup(session: &mut Session, params: Params) -> Result<Self, Error> {
        Ok(Self { preprocessing: Preprocessing::setup(session, params, 0)?, made: None })
    }

    fn make(&mut self, session: &mut Session, count: usize) -> Result<(), Error> {
        self.made = Some(self.preprocessing.triples(session, count)?);
        Ok(())
    }

    /// Opens all triples, with a check of their MACs, and multiplies them.
    fn verify(mut self, session: &mut Session) -> Result<bool, Error> {
        let Some(Triples { a, b, c }) = &self.made else { return Ok(false) };
        let a = self.preprocessing.open(session, a)?;
        let b = self.preprocessing.open(session, b)?;
        let c = self.preprocessing.open(session, c)?;
        Ok(!c.is_empty() && a.iter().zip(&b).zip(&c).all(|((a, b), c)| a.wrapping_mul(*b) == *c))
    }
}

pub(super) fn triples(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    if args.protocol_name() != "mascot" {
        return Err(Failure::usage("triples are mascot's: give --protocol mascot"));
    }
    let parties = args.parties_or(*PARTIES.start());
    if !PARTIES.contains(&parties) {
        return Err(Failure::usage(format!("--parties is 2 to {}, not {parties}", PARTIES.end())));
    }
    let job = Job { what: What::Triples, parties, count: args.count_or(QUICK, USUAL), k: args.height() };
    let params = job.params()?;
    let others = parties as u64 - 1;
    let made = cost::triples_base_bytes(Field::Prime, &params, job.count)
        + cost::triples_bytes(Field::Prime, &params, job.count);
    let declared = [cost::setup_bytes(&params), made];
    let declared = declared.map(|link| others * link);
    // What a party sends for a triple.
    let bytes_per_triple = declared[1] as f64 / job.count as f64;
    // Of all parties, in 1000 bits, beside which stand the paper's 180.22 n (n - 1).
    let kbit_per_triple = bytes_per_triple * parties as f64 * 8.0 / 1000.0;
    let keys =
        |_: &Figures| json!({ "bytes_per_triple": bytes_per_triple, "kbit_per_triple": kbit_per_triple });
    let text = |run: &Figures| {
        let head = format!("{} triples, {parties} parties, {}", bytes(job.count as u64), run.transport);
        let mut table = Table::new([head, String::new()]);
        let mut row = |name: &str, value: String| table.row([format!("  {name}"), value]);
        row("parameters", params.to_string());
        row("time", seconds(run.seconds));
        row("speed", rate(run.per_second, " triples/s"));
        row("payload for a triple, from each", bytes(bytes_per_triple.ceil() as u64));
        row("setup", seconds(run.setup_seconds));
        table.to_string()
    };
    measure(context, args, job, ["triples", "mascot"], declared, keys, text)
}
