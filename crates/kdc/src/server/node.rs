//! What all threads of a server share: it runs steps with the other servers, and carries out orders.

use crate::circuits::drawn_bytes;
use crate::exchange::{Memory, Wiped};
use crate::failure::Failure;
use crate::order::{self, AdminKey, Change, NEXT_KVNO, Order};
use crate::programs::{Programs, RECORD, Task, given, rows, to_bits, to_bytes, together, wipe};
use crate::realm::{Principals, Settings};
use crate::took::Took;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tacit::batcher::Batcher;
use tacit::program::Value;
use tacit::{Asker, Error, Fill, Listed, Standing, Wanted};
use zeroize::Zeroizing;

/// How long a server waits for the others to want a run that it wants: they have been sent the same at the same time.
pub(crate) const MEET: Duration = Duration::from_secs(5);

/// How long an order waits for its admin, who asks for its run before or after it is sent.
pub(crate) const ORDERED: Duration = Duration::from_secs(10);

/// How the answer to an order begins that isn't carried out.
pub(crate) const REFUSED: &str = "refused";

/// Batches of requests that are answered at a time; others wait, whoever sent them.
pub(crate) const BATCHES: usize = 3;

/// What a run computes for one request.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) task: Task,
    /// What all servers know of it. A session key may be in it: it isn't shown, and it is wiped.
    pub(crate) public: Zeroizing<Vec<bool>>,
    /// The records that it reads, in the task's order.
    pub(crate) records: Vec<String>,
    /// Those on which its request relies by now: these, those of earlier steps, and that of a ticket's client.
    pub(crate) relies_on: BTreeSet<String>,
}

#[cfg(test)]
pub(crate) type Deviation = fn(&mut Step);

/// What comes of steps of one task: of each its outputs, and the median of the servers' clocks, if they told them.
pub(crate) type Done = (Vec<Vec<Wiped>>, i64);

/// What all threads of a server share.
pub(crate) struct Node {
    pub(super) name: String,
    pub(super) names: Vec<String>,
    pub(super) me: usize,
    pub(crate) settings: Settings,
    pub(super) programs: Programs,
    pub(super) asker: Asker,
    /// Whoever answers with them has them as they were when it began.
    pub(crate) principals: RwLock<Arc<Principals>>,
    /// The records of which this server has its shares, as far as it has heard.
    pub(super) holds: RwLock<Arc<BTreeSet<String>>>,
    /// Those of which it has said that they are missing.
    pub(super) missing: Mutex<BTreeSet<String>>,
    pub(crate) memory: Memory,
    pub(super) admin_key: AdminKey,
    /// Orders that came, by their tags, and when they were ordered: none is carried out twice.
    pub(super) seen: Mutex<BTreeMap<String, i64>>,
    /// Has what requests take run together.
    pub(crate) batcher: Batcher,
    /// What this server makes of steps before it runs them, if it deviates.
    #[cfg(test)]
    pub(crate) deviates: Mutex<Option<Deviation>>,
    /// Where the principals are written, and whoever does so takes turns.
    pub(super) file: Mutex<PathBuf>,
}

impl Node {
    /// Runs steps of one task together, once all servers want just these under this tag.
    pub(crate) fn run(&self, tag: String, steps: &[Step]) -> Result<Done, Error> {
        #[cfg(test)]
        let steps = &deviated(self, steps)[..];
        let Some(last) = steps.last() else { return Ok((Vec::new(), 0)) };
        let (task, count) = (last.task, together(steps.len()));
        let compiled = self.programs.get(task, count)?;
        // There is room for more: the last one comes again, and nobody looks at what comes of that.
        let all = || steps.iter().chain(std::iter::repeat(last)).take(count);
        let mut own = Vec::new();
        if task.tells_clocks() {
            own.push(to_bits(&now().to_le_bytes()));
        }
        if task.draws() {
            own.push(drawn(count, drawn_bytes(self.settings.enctype))?);
        }
        let public: Vec<&[bool]> = all().map(|step| &step.public[..]).collect();
        let records: Vec<Vec<String>> = all().map(|step| step.records.clone()).collect();
        let inputs = given(self.me, 0, own, Some(rows(&public)));
        let wanted = Wanted { compiled, tag, inputs, fill: task.fill(&records), within: MEET };
        let run = self.asker.run(wanted)?;
        log(Took::of(&run.report, steps.len()));
        let mut outputs: Vec<Value> = run.outputs.into_iter().flatten().collect();
        let clocks = if task.tells_clocks() { 3 } else { 0 };
        let (of_requests, clocks) = outputs.split_at(outputs.len().saturating_sub(clocks));
        let bytes = |output| to_bytes(output, count).into_iter().map(Zeroizing::new).collect();
        let of_steps: Vec<Vec<Wiped>> = of_requests.iter().map(bytes).collect();
        let of = |step: usize| of_steps.iter().map(|output| output[step].clone()).collect();
        let done = ((0..steps.len()).map(of).collect(), median(clocks));
        outputs.iter_mut().for_each(wipe);
        Ok(done)
    }

    /// How many programs it has made.
    pub(crate) fn made(&self) -> usize {
        self.programs.compiled()
    }

    /// Carries out an order: what the admin is told.
    fn obey(&self, sent: &str, bytes: &[u8]) -> Result<String, Failure> {
        let order = Order::read(bytes).map_err(Failure::Refused)?;
        if order.change == Change::Version {
            return Ok(format!("{NEXT_KVNO}{}", self.principals().next_kvno(&order.principal)));
        }
        if !self.is_new(&order, bytes) {
            return Err(Failure::Refused("the order has come before".to_owned()));
        }
        // One order at a time, from here to its end.
        let file = lock(&self.file);
        let Settings { max_skew, enctype, .. } = self.settings;
        let admitted = |principals: &Principals| order.admit(principals, now(), max_skew);
        admitted(&self.principals()).map_err(Failure::Refused)?;
        let (task, tag, record) = (order.task(), order::tag(bytes), order::record(bytes));
        // The admin's input is the first.
        let inputs = match order.change {
            Change::Key { drawn: true, .. } => {
                let mut own = drawn(1, enctype.key_bytes())?;
                own.shape.remove(0);
                given(self.me, 1, vec![own], None)
            }
            _ => vec![None],
        };
        let compiled = self.programs.get(task, 1)?;
        let keeps = matches!(task, Task::Enrol { .. });
        let fill = if keeps { Fill::new().keeping(RECORD, &record) } else { Fill::new() };
        if keeps {
            // If this server ends before the order does, it hears of the others what became of it when it starts again.
            self.put(&file, |principals| principals.begin(&record))?;
        }
        if let Err(error) = self.asker.run(Wanted { compiled, tag, inputs, fill, within: ORDERED }) {
            // Once it has begun, the others may have carried it out.
            if keeps && matches!(error, Error::Declined { .. }) {
                self.put(&file, |principals| principals.forget(&record))?;
            }
            return Err(error.into());
        }
        let mut principals = Principals::clone(&self.principals());
        let (mut ended, told) = order.carry_out(&mut principals, sent, now(), &self.settings);
        ended.extend(principals.expire(now()));
        // What isn't dropped here is when the server starts again.
        for record in &ended {
            principals.finish(record);
        }
        self.put(&file, |known| *known = principals)?;
        Ok(match self.drop_records(&file, &ended) {
            Some(error) => format!("{told}, but an old key is still there: {error}"),
            None => told,
        })
    }

    /// Drops records of keys that have ended: why some are still there, if they are.
    pub(super) fn drop_records(&self, file: &Path, records: &[String]) -> Option<Error> {
        let (mut dropped, mut failed) = (Vec::new(), None);
        for record in records {
            match self.asker.drop_value(record) {
                Ok(()) => dropped.push(record),
                Err(error) => failed = Some(error),
            }
        }
        if !dropped.is_empty() {
            // If that can't be noted, the next start does: what they ended with was carried out.
            let _ = self.put(file, |known| dropped.iter().for_each(|record| known.forget(record)));
        }
        failed
    }

    /// What is known of principals now.
    pub(crate) fn principals(&self) -> Arc<Principals> {
        self.principals.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The records of which this server has its shares.
    pub(crate) fn holds(&self) -> Arc<BTreeSet<String>> {
        self.holds.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks which shares are here, and says once of each that is missing what to do. The list of a large realm is long, so it
    /// isn't made for each run, but whenever principals change: only then do shares come and go.
    pub(crate) fn look(&self, principals: &Principals) {
        let Ok(listed) = self.asker.list() else { return };
        let holds = kept(listed);
        let mut said = lock(&self.missing);
        for (record, line) in lacking(principals, &holds) {
            if said.insert(record) {
                log(line);
            }
        }
        *self.holds.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(holds);
    }

    /// Changes what is known of principals, on disk and then here.
    pub(super) fn put(&self, file: &Path, change: impl FnOnce(&mut Principals)) -> io::Result<()> {
        let mut principals = Principals::clone(&self.principals());
        change(&mut principals);
        principals.save(file)?;
        // First, so that nobody finds a new key without its share.
        self.look(&principals);
        *self.principals.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(principals);
        Ok(())
    }

    /// Whether an order comes for the first time. Those that are too old to be carried out are forgotten.
    fn is_new(&self, order: &Order, bytes: &[u8]) -> bool {
        let mut seen = lock(&self.seen);
        let oldest = now() - self.settings.max_skew - 1;
        seen.retain(|_, at| *at >= oldest);
        seen.insert(order::tag(bytes), order.at).is_none()
    }

    pub(super) fn told(&self, sent: &[u8]) -> Vec<u8> {
        let foreign = || Failure::Refused("the realm's admin didn't sign this".to_owned());
        let opened = std::str::from_utf8(sent)
            .ok()
            .and_then(|sent| Some((sent, self.admin_key.open(&self.settings.realm, sent)?)));
        let told = opened.ok_or_else(foreign).and_then(|(sent, order)| self.obey(sent, order.as_bytes()));
        let told = told.unwrap_or_else(|error| format!("{REFUSED}: {error}"));
        log(format_args!("order: {told}"));
        format!("{}: {told}", self.name).into_bytes()
    }
}

/// The names of values that are there.
pub(crate) fn kept(listed: Vec<Listed>) -> BTreeSet<String> {
    let there = listed.into_iter().filter(|listed| listed.standing != Standing::Dropped);
    there.map(|listed| listed.about.name).collect()
}

/// The records of keys of which no share is here, with a line for the log.
fn lacking(principals: &Principals, holds: &BTreeSet<String>) -> Vec<(String, String)> {
    let mut lacking = Vec::new();
    for (name, principal) in principals.all() {
        let mut note = |record: &String, line: String| {
            if !holds.contains(record) {
                lacking.push((record.clone(), line));
            }
        };
        note(
            &principal.record,
            format!(
                "{name}: this server's share of its key is missing, so requests that take it are refused; give it a new key \
                 (tacit-kdc passwd, ktadd or rotate)"
            ),
        );
        for old in &principal.old {
            note(
                &old.record,
                format!(
                    "{name}: this server's share of its old key {} is missing, so tickets under it are refused until they end",
                    old.kvno
                ),
            );
        }
    }
    lacking
}

/// The median of the servers' clocks.
pub(super) fn median(clocks: &[Value]) -> i64 {
    let clock = |value: &Value| {
        let bytes = to_bytes(value, 1).swap_remove(0);
        bytes.as_slice().try_into().map_or(0, i64::from_le_bytes)
    };
    let mut clocks: Vec<i64> = clocks.iter().map(clock).collect();
    clocks.sort_unstable();
    clocks.get(clocks.len() / 2).copied().unwrap_or_default()
}

/// Rows of random bytes, as bits.
fn drawn(count: usize, bytes: usize) -> Result<Value, Error> {
    let mut all = Zeroizing::new(vec![0; count * bytes]);
    getrandom::fill(&mut all)
        .map_err(|error| Error::Refused(format!("the system has no randomness: {error}")))?;
    Ok(Value { shape: vec![count, 8 * bytes], ..to_bits(&all) })
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs().try_into().unwrap_or(i64::MAX)
}

/// Steps as a server has them that deviates.
#[cfg(test)]
fn deviated(node: &Node, steps: &[Step]) -> Vec<Step> {
    let mut steps = steps.to_vec();
    if let Some(deviates) = *lock(&node.deviates) {
        steps.iter_mut().for_each(deviates);
    }
    steps
}

/// Writes a line to the log. If nobody reads it any more, the server goes on.
pub(crate) fn log(line: impl std::fmt::Display) {
    let _ = writeln!(io::stdout(), "{line}");
}
