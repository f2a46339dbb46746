//! Runs attacks and prints what became of them.

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use std::{env, panic, thread};

/// Which version is attacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// That with the mistake.
    Planted,
    /// That which ships.
    Ours,
}

/// How one run of an attack ended.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The attacker has what it must not have, and what: a wrong output at an honest endpoint, an output that others
    /// lack, something that was released too early.
    Broken(String),
    /// It hasn't, and why: the honest endpoints' error, or that it got nothing.
    Held(String),
}

/// An attack program.
#[derive(Clone, Copy)]
pub(crate) struct Attack {
    /// What it is called.
    pub(crate) name: &'static str,
    /// The protocol, with parameters if they matter.
    pub(crate) protocol: &'static str,
    /// How often it is run, each time with another seed.
    pub(crate) runs: u64,
    /// Whether it takes long: then it is run only with `--include-ignored`.
    pub(crate) long: bool,
    /// The program. The seed is for what the attacker chooses at random.
    pub(crate) run: fn(Version, u64) -> Outcome,
}

/// What became of an attack on one version.
struct Summary {
    broken: u64,
    /// The first that tells most: a broken run if there was one.
    example: String,
}

/// A row of the table.
struct Row {
    attack: Attack,
    planted: Summary,
    ours: Summary,
    seconds: f64,
}

impl Row {
    /// Whether the attack is real, and ours withstands it.
    fn passes(&self) -> bool {
        self.planted.broken > 0 && self.ours.broken == 0
    }

    fn cell(&self, summary: &Summary) -> String {
        match summary.broken {
            0 => format!("held: {}", summary.example),
            broken if broken == self.attack.runs => format!("broken: {}", summary.example),
            broken => format!("broken {broken} times: {}", summary.example),
        }
    }
}

/// Runs those attacks that the command line names, prints the table, and says whether all is as it should be.
pub(crate) fn run(attacks: &[Attack]) -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let (json, long) = (has("--json"), has("--include-ignored") || has("--ignored"));
    let filters: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let wanted = |attack: &&Attack| {
        let named = |filter: &&String| {
            attack.name.contains(filter.as_str()) || attack.protocol.contains(filter.as_str())
        };
        (long || !attack.long) && (filters.is_empty() || filters.iter().any(named))
    };
    let chosen: Vec<Attack> = attacks.iter().filter(wanted).copied().collect();
    if has("--list") {
        for attack in &chosen {
            println!("{} {}: test", attack.protocol, attack.name);
        }
        return ExitCode::SUCCESS;
    }
    let rows = run_all(&chosen);
    let failed = rows.iter().filter(|row| !row.passes()).count();
    if json {
        print_json(&rows);
    } else {
        print_table(&rows);
        println!("\nattacks: {} passed, {failed} failed", rows.len() - failed);
    }
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn run_all(attacks: &[Attack]) -> Vec<Row> {
    let queue: Mutex<VecDeque<(usize, Attack)>> = Mutex::new(attacks.iter().copied().enumerate().collect());
    let rows = Mutex::new(Vec::new());
    let work = || {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some((number, attack)) = next else { return };
            let start = Instant::now();
            let [planted, ours] = [Version::Planted, Version::Ours].map(|version| summary(attack, version));
            let row = Row { attack, planted, ours, seconds: start.elapsed().as_secs_f64() };
            rows.lock().unwrap_or_else(PoisonError::into_inner).push((number, row));
        }
    };
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    rows.sort_by_key(|(number, _)| *number);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// A program that panics shows nothing: the planted version then counts as held, and ours as broken.
fn summary(attack: Attack, version: Version) -> Summary {
    let mut summary = Summary { broken: 0, example: String::new() };
    for seed in 0..attack.runs {
        let outcome = panic::catch_unwind(|| (attack.run)(version, seed)).unwrap_or_else(|_| match version {
            Version::Planted => Outcome::Held("the program panicked".to_owned()),
            Version::Ours => Outcome::Broken("the program panicked".to_owned()),
        });
        match outcome {
            Outcome::Broken(how) => {
                if summary.broken == 0 {
                    summary.example = how;
                }
                summary.broken += 1;
            }
            Outcome::Held(why) if summary.example.is_empty() => summary.example = why,
            Outcome::Held(_) => {}
        }
    }
    summary
}

fn print_table(rows: &[Row]) {
    println!(
        "\n| attack | protocol | planted | ours | runs | seconds |\n| --- | --- | --- | --- | --- | --- |"
    );
    for row in rows {
        let (name, protocol, runs) = (row.attack.name, row.attack.protocol, row.attack.runs);
        let (planted, ours) = (row.cell(&row.planted), row.cell(&row.ours));
        let mark = if row.passes() { "" } else { " **(not as it should be)**" };
        println!("| {name}{mark} | {protocol} | {planted} | {ours} | {runs} | {:.1} |", row.seconds);
    }
}

fn print_json(rows: &[Row]) {
    let of = |summary: &Summary| serde_json::json!({ "broken": summary.broken, "example": summary.example });
    let rows: Vec<serde_json::Value> = rows
        .iter()
        .map(|row| {
            serde_json::json!({
                "attack": row.attack.name,
                "protocol": row.attack.protocol,
                "runs": row.attack.runs,
                "planted": of(&row.planted),
                "ours": of(&row.ours),
                "passes": row.passes(),
                "seconds": row.seconds,
            })
        })
        .collect();
    println!("{}", serde_json::Value::Array(rows));
}
