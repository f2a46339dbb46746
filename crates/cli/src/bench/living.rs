//! `tacit bench living`: how long a client waits for a small run of a deployment that lives, alone and among many, beside a
//! run for which everybody meets anew; and how many answers a second there are with batches, where requests that wait together
//! are instances of one run.
//!
//! One row of a linear model: the first party gives the weights, or the parties read those that they keep (`--kept`); the client
//! gives the row, and it alone learns the score. Parties
//! are processes; clients are threads of this one. A run's time is what its client waits, from asking to the output.

pub(super) mod job;

use super::process::{Serving, configure};
use super::spec::BenchArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::table::{Table, rate, seconds};
use job::{Job, OPEN};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};
use std::time::Instant;
use tacit::advanced::program::{encode, reference};
use tacit::program::{Data, Value};
use tacit::{Compiled, Error, Local, Seat};

/// Runs whose times are measured, of each kind.
const RUNS: usize = 500;
const QUICK_RUNS: usize = 12;
const CLIENTS: u16 = 50;
const QUICK_CLIENTS: u16 = 4;
/// Runs that nobody measures: until everybody is connected.
const FIRST_RUNS: usize = 3;

/// Instances of a run with batches, and how long it waits for them.
const BATCH: u8 = 16;
const WINDOW_MS: u64 = 2;

/// A row and its score.
struct Question {
    row: Value,
    score: Data,
}

/// What a client asks, and of whom.
struct Client {
    job: Job,
    compiled: Arc<Compiled>,
    config: PathBuf,
    questions: Vec<Question>,
}

impl Client {
    /// A client of this configuration with so many questions, which nobody else has of `number`. Their answers are `plain`'s.
    fn new(
        job: &Job,
        (compiled, plain): (&Arc<Compiled>, &Arc<Compiled>),
        config: &Path,
        number: usize,
        questions: usize,
    ) -> Result<Self, Failure> {
        let question = |at: usize| -> Result<Question, Failure> {
            let [weights, row] = plain.inputs() else { return Err(Failure::aborted("two inputs")) };
            let row_value = job.numbers(row, (number << 20 | at) as u64 + 1);
            let given = [encode(weights, &job.weights(weights)), encode(row, &row_value)];
            let given = given.into_iter().collect::<Result<Vec<_>, _>>().map_err(Error::from)?;
            let score = reference::run(plain.program(), &given).map_err(Error::from)?.swap_remove(0);
            Ok(Question { row: row_value, score: score.data })
        };
        let questions = (0..questions).map(question).collect::<Result<_, _>>()?;
        Ok(Self { job: job.clone(), compiled: compiled.clone(), config: config.to_owned(), questions })
    }

    /// Asks all questions, and says how long each answer took. It is connected and waits at the barrier before the first one
    /// that counts.
    ///
    /// # Errors
    /// If a run fails, or an answer is wrong.
    fn ask(&self, begin: &Barrier) -> Result<Vec<f64>, Failure> {
        let ready = self.seat();
        begin.wait();
        let mut seat = ready?;
        self.questions.iter().map(|question| self.answer(&mut seat, question)).collect()
    }

    /// A client that has had its first answers.
    fn seat(&self) -> Result<Seat, Failure> {
        let mut seat = Seat::open(&self.config)?;
        if self.job.serves {
            seat.play(Some(OPEN.to_owned()));
        }
        for question in self.questions.iter().cycle().take(FIRST_RUNS) {
            self.answer(&mut seat, question)?;
        }
        Ok(seat)
    }

    fn answer(&self, seat: &mut Seat, question: &Question) -> Result<f64, Failure> {
        let row = Some(question.row.clone());
        let given = if self.job.reads() { vec![row] } else { vec![None, row] };
        let start = Instant::now();
        let run = seat.run(&self.compiled, &self.job.protocol, &given, &|_, _| ())?;
        let elapsed = start.elapsed().as_secs_f64();
        match &run.outputs[..] {
            [Some(score)] if score.data == question.score => Ok(elapsed),
            other => Err(Failure::wrong(format!("a score is {other:?}, and should be {:?}", question.score))),
        }
    }
}

/// Times of runs, from the shortest to the longest, and how long all took together.
struct Times {
    all: Vec<f64>,
    elapsed: f64,
}

impl Times {
    /// That which so many of 100 don't exceed.
    fn percentile(&self, of_100: usize) -> f64 {
        let at = (self.all.len() * of_100).div_ceil(100).max(1) - 1;
        self.all.get(at).copied().unwrap_or_default()
    }

    fn per_second(&self) -> f64 {
        self.all.len() as f64 / self.elapsed
    }
}

/// Has these clients ask, all at once.
fn measure(clients: &[Client]) -> Result<Times, Failure> {
    let begin = Barrier::new(clients.len() + 1);
    let (asked, elapsed) = std::thread::scope(|scope| {
        let asking: Vec<_> = clients.iter().map(|client| scope.spawn(|| client.ask(&begin))).collect();
        begin.wait();
        let start = Instant::now();
        let all = asking
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let all: Vec<_> = all.collect();
        (all, start.elapsed().as_secs_f64())
    });
    let mut all = asked.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    all.sort_by(f64::total_cmp);
    Ok(Times { all, elapsed })
}

pub(super) fn living(context: &mut Context<'_>, args: &BenchArgs) -> Result<(), Failure> {
    let (runs, features) = (args.count_or(QUICK_RUNS, RUNS), args.features());
    if runs == 0 || features == 0 {
        return Err(Failure::usage("a size of 0 leaves nothing to measure"));
    }
    let many = usize::from(args.living.clients.unwrap_or(if args.quick { QUICK_CLIENTS } else { CLIENTS }));
    let name = args.protocol_name();
    let parties = Local::new(&name)?.parties.len();
    let parties = args.parties_or(parties);
    let names: Vec<String> = (0..many).map(|number| format!("client{number}")).collect();
    let deployment = |serves: bool, batch: u8, groups: &[usize]| -> Result<Vec<Times>, Failure> {
        let folder = tempfile::tempdir().map_err(|error| Failure::aborted(error.to_string()))?;
        let configs = configure(folder.path(), args.transport(), parties, &names)?;
        let window_ms = args.living.window_ms.unwrap_or(WINDOW_MS);
        let (protocol, seed, kept) = (name.clone(), args.seed(), args.living.kept);
        let job = Job { protocol, features, seed, serves, kept, batch, window_ms };
        // Before processes are started that would find it out, too.
        let (compiled, plain) = (job.program()?, job.plain()?);
        let (parties, clients) = configs.split_at(parties);
        let serving = Serving::start(parties, &job, &context.this_command)?;
        let group = |&many: &usize| -> Result<Times, Failure> {
            let each = |number: usize| runs / many + usize::from(number < runs % many);
            let group = clients.iter().enumerate().take(many);
            let group = group
                .map(|(number, config)| Client::new(&job, (&compiled, &plain), config, number, each(number)));
            measure(&group.collect::<Result<Vec<_>, _>>()?)
        };
        let kept = match clients.first() {
            Some(first) if job.reads() => job.keep(first),
            _ => Ok(()),
        };
        let measured = kept.and_then(|()| groups.iter().map(group).collect::<Result<_, _>>());
        measured.map_err(|failure| serving.blame(failure))
    };
    let batch = args.living.together.unwrap_or(BATCH);
    let living = deployment(true, 1, &[1, many])?;
    let batched = deployment(true, batch, &[many])?;
    let fresh = deployment(false, 1, &[1])?;
    let [idle, busy] = &living[..] else { return Err(Failure::aborted("two groups of clients")) };
    let kinds =
        [("idle", idle, 1), ("busy", busy, many), ("batched", &batched[0], many), ("fresh", &fresh[0], 1)];
    if context.json {
        let mut object = json!({"bench": "living", "protocol": name, "parties": parties,
            "transport": args.transport().name(), "count": runs, "rows": 1, "features": features,
            "kept": args.living.kept, "clients": many, "batch": batch, "window_ms": args.living.window_ms.unwrap_or(WINDOW_MS),
            "seconds": idle.percentile(50), "version": env!("CARGO_PKG_VERSION")});
        for (kind, times, _) in kinds {
            object[format!("{kind}_p50_seconds")] = json!(times.percentile(50));
            object[format!("{kind}_p99_seconds")] = json!(times.percentile(99));
            object[format!("{kind}_per_second")] = json!(times.per_second());
        }
        return context.line(&object.to_string());
    }
    let mut table = Table::new(["", "clients", "p50", "p99", "speed"].map(str::to_owned));
    for (kind, times, clients) in kinds {
        let kind = match kind {
            "fresh" => "everybody meets anew for each run",
            "busy" => "a deployment that lives, under load",
            "batched" => "the same with batches",
            _ => "a deployment that lives, otherwise idle",
        };
        let of = [50, 99].map(|of_100| seconds(times.percentile(of_100)));
        let [half, most] = of;
        table.row([kind.to_owned(), clients.to_string(), half, most, rate(times.per_second(), " answers/s")]);
    }
    let kept = if args.living.kept { ", by weights that are kept (but for the last line)" } else { "" };
    context.line(&format!(
        "{name} of {parties} parties over {}, {runs} runs of one row with {features} features{kept}: all answers are right\n{table}",
        args.transport().name()
    ))
}
