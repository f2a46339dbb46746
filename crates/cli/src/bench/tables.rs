//! `tacit bench join`, `groupby` and `tpch`: tables are joined, grouped and queried in secret. Python makes the tables and the
//! plan, and compares the plan's clear result with that of pandas or DuckDB; the parties read both from files.

use super::files::Folder;
use super::measure::protocol;
use super::names::Name;
use super::party::Bench;
use super::spec::BenchArgs;
use super::workload::Workload;
use crate::context::Context;
use crate::failure::Failure;

pub(super) fn tables(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    let what = match args.name {
        Name::Tpch => args.tpch()?,
        Name::Join => {
            let (count, bits, columns) = args.rows_of_tables(1 << 16);
            Workload::Join { count, bits, columns }
        }
        _ => {
            let (count, bits, columns) = args.rows_of_tables(1 << 20);
            Workload::Groupby { count, bits, columns }
        }
    };
    if what.numbers().contains(&0) {
        return Err(Failure::usage("a size of 0 leaves nothing to measure"));
    }
    let folder = Folder::new(context, what, args.quick, args.seed())?;
    let mut spec = args.spec_of(what, 1)?;
    spec.files = Some(folder.files());
    protocol(context, args, &Bench::new(spec)?)
}
