//! `tacit bench triples`: authenticated triples for MASCOT, among two parties or more ([`super::correlated`]), in any of its
//! fields; and for comparison triples without MACs.
//!
//! All are opened and multiplied afterwards.

use super::correlated::{Figures, Job, Made, What, measure};
use super::spec::BenchArgs;
use crate::Context;
use crate::failure::Failure;
use crate::table::{Table, bytes, rate, seconds};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::ops::RangeInclusive;
use tacit::advanced::session::{Error, Session};
use tacit_mascot::{FieldElement, Passive, PassiveTriples, Preprocessing, Triples, cost};
use tacit_ot::Params;
use tacit_ot::copee::Field;

/// Triples if nothing is said, and the quick number.
const USUAL: usize = 200_000;
const QUICK: usize = 500;

/// How many parties there may be, the fewest if nothing is said.
const PARTIES: RangeInclusive<usize> = 2..=16;

/// Options of this benchmark alone.
#[derive(Args, Clone, Debug)]
pub(crate) struct TripleArgs {
    /// What triples are of: the prime field of mascot, GF(2^128), or a prime field of another length [default: fp128]
    #[arg(long, value_name = "FIELD")]
    pub(super) field: Option<TripleField>,
    /// Triples without MACs and checks, against parties that follow the protocol: for comparison alone, no protocol uses them
    #[arg(long)]
    pub(super) passive: bool,
}

/// What triples are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum TripleField {
    /// The field of 2^128 - 159 elements
    #[default]
    Fp128,
    /// GF(2^128)
    #[value(name = "gf2-128")]
    Gf2,
    /// The field of 2^64 - 59 elements
    Fp64,
    /// The field of 2^256 - 189 elements
    Fp256,
    /// The field of 2^512 - 569 elements
    Fp512,
}

impl TripleField {
    /// The field, and what it is called.
    pub(super) fn named(self) -> (Field, &'static str) {
        match self {
            Self::Fp128 => (Field::Prime, "2^128-159"),
            Self::Gf2 => (Field::Binary, "GF(2^128)"),
            Self::Fp64 => (Field::Prime64, "2^64-59"),
            Self::Fp256 => (Field::Prime256, "2^256-189"),
            Self::Fp512 => (Field::Prime512, "2^512-569"),
        }
    }
}

/// A party's part.
pub(super) struct MascotTriples<E: FieldElement> {
    preprocessing: Preprocessing<E>,
    made: Option<Triples<E>>,
}

impl<E: FieldElement> Made for MascotTriples<E> {
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
        Ok(are_products(&a, &b, &c))
    }
}

/// The same without MACs.
pub(super) struct WithoutMacs<E: FieldElement> {
    passive: Passive,
    made: PassiveTriples<E>,
}

impl<E: FieldElement> Made for WithoutMacs<E> {
    fn setup(session: &mut Session, params: Params) -> Result<Self, Error> {
        Ok(Self { passive: Passive::setup(session, params, 0)?, made: PassiveTriples::default() })
    }

    fn make(&mut self, session: &mut Session, count: usize) -> Result<(), Error> {
        self.made = self.passive.triples(session, count)?;
        Ok(())
    }

    fn verify(mut self, session: &mut Session) -> Result<bool, Error> {
        let PassiveTriples { a, b, c } = &self.made;
        let a = self.passive.open(session, a)?;
        let b = self.passive.open(session, b)?;
        let c = self.passive.open(session, c)?;
        Ok(are_products(&a, &b, &c))
    }
}

fn are_products<E: FieldElement>(a: &[E], b: &[E], c: &[E]) -> bool {
    !c.is_empty() && a.iter().zip(b).zip(c).all(|((a, b), c)| a.wrapping_mul(*b) == *c)
}

pub(super) fn triples(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    if args.protocol_name() != "mascot" {
        return Err(Failure::usage("triples are mascot's: give --protocol mascot"));
    }
    let parties = args.parties_or(*PARTIES.start());
    if !PARTIES.contains(&parties) {
        return Err(Failure::usage(format!("--parties is 2 to {}, not {parties}", PARTIES.end())));
    }
    let over = args.triples.field.unwrap_or_default();
    let (field, of) = over.named();
    let what = if args.triples.passive { What::PassiveTriples(over) } else { What::Triples(over) };
    let job = Job { what, parties, count: args.count_or(QUICK, USUAL), k: args.height() };
    let params = job.params()?;
    let others = parties as u64 - 1;
    let declared = if args.triples.passive {
        [params.setup_bytes().iter().sum(), cost::passive_bytes(field, &params, job.count)]
    } else {
        let base = cost::triples_base_bytes(field, &params, job.count);
        [cost::setup_bytes(field, &params), base + cost::triples_bytes(field, &params, job.count)]
    };
    let declared = declared.map(|link| others * link);
    // What a party sends for a triple.
    let bytes_per_triple = declared[1] as f64 / job.count as f64;
    // Of all parties, in 1000 bits, beside which stand the paper's 180.22 n (n - 1).
    let kbit_per_triple = bytes_per_triple * parties as f64 * 8.0 / 1000.0;
    let keys = |_: &Figures| json!({ "field": of, "bytes_per_triple": bytes_per_triple, "kbit_per_triple": kbit_per_triple });
    let text = |run: &Figures| {
        let without = if args.triples.passive { " without MACs" } else { "" };
        let count = bytes(job.count as u64);
        let head = format!("{count} triples{without} over {of}, {parties} parties, {}", run.transport);
        let mut table = Table::new([head, String::new()]);
        let mut row = |name: &str, value: String| table.row([format!("  {name}"), value]);
        row("parameters", params.to_string());
        row("time", seconds(run.seconds));
        row("speed", rate(run.per_second, " triples/s"));
        row("payload for a triple, from each", bytes(bytes_per_triple.ceil() as u64));
        row("setup", seconds(run.setup_seconds));
        table.to_string()
    };
    let name = if args.triples.passive { "mascot's passive variant" } else { "mascot" };
    measure(context, args, job, ["triples", name], declared, keys, text)
}
