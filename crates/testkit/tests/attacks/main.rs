//! Every attack program, against the protocol with the mistake that it exploits planted, and against ours.
//!
//! `make attacks` runs them all and prints a table; `cargo test` runs them among the tests. An attack that doesn't break
//! the planted version shows nothing, so that fails as well.
//!
//! ```text
//! cargo test -p tacit-testkit --test attacks -- [--json] [--include-ignored] [FILTER]
//! ```

mod astra;
mod fair;
mod replicated;
mod search;
mod table;

use std::process::ExitCode;

fn main() -> ExitCode {
    let attacks = [replicated::attacks(), astra::attacks(), fair::attacks()].concat();
    table::run(&attacks)
}
