//! The command `tacit` without Python, for parties and clients of saved plans.

use tacit_cli::Native;

fn main() {
    // Benchmarks start their parties as this program.
    let this_program =
        std::env::current_exe().map_or_else(|_| "tacit".into(), |path| path.display().to_string());
    let args = std::env::args_os().skip(1).collect();
    std::process::exit(tacit_cli::main(args, &Native, vec![this_program]));
}
