//! Requests that came together: each is answered in a thread of its own, and what they compute on shared keys at the
//! same time runs together, as instances of one run.
//!
//! Before that, in each round, the servers call the roll: a small run tells all of them what each wants to compute
//! for each request. Only what all three want alike is computed, and it is that in the same runs at all. So a request
//! on which servers differ, such as one of a principal that a torn order has locked at one of them, is refused by
//! itself, at once, and costs the others nothing.

use crate::circuits::{self, Class, Expected, Form};
use crate::enctype::CONFOUNDER;
use crate::exchange::{
    Answer, Given, Knowing, Message, Sealed, Shares, Steps, Verified, Wiped, answer, asks_for_shares,
};
use crate::messages::{self, Code};
use crate::programs::{Task, together};
use crate::realm::Sessions;
use crate::server::node::{Node, Step, lock, log, now};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Instant;
use tacit::Error;
use terms::Terms;

mod terms;

#[cfg(test)]
mod attackers;
#[cfg(test)]
mod long;
#[cfg(test)]
mod tests;

/// Runs that the requests of one batch have at a time.
pub(crate) const RUNS_EACH: usize = 2;

/// What a step of one request comes to: its outputs, and the median of the clocks.
type Outcome = Result<(Vec<Wiped>, i64), String>;

/// Steps of one task that run together, each with its request's number.
type Group = (Task, Vec<(usize, Step)>);

/// Where requests wait for one another.
#[derive(Default)]
struct Meeting {
    seats: Mutex<Seats>,
    /// A request asks for something, or is answered.
    asks: Condvar,
    /// Requests are told something.
    tells: Condvar,
}

#[derive(Default)]
struct Seats {
    /// Requests that aren't answered yet.
    left: usize,
    /// What those want that wait, by their numbers.
    asked: BTreeMap<usize, Step>,
    told: BTreeMap<usize, Outcome>,
    /// Nobody tells them anything any more.
    is_over: bool,
}

/// Whoever tells requests what came of what they want. If that one panics, they don't wait for ever.
struct Teller<'a>(&'a Meeting);

impl Drop for Teller<'_> {
    fn drop(&mut self) {
        lock(&self.0.seats).is_over = true;
        self.0.tells.notify_all();
    }
}

/// Answers requests until a time; those that aren't answered then get an error. `named` is what all servers were sent of them.
pub(crate) fn answer_all(node: &Node, named: &[u8], requests: &[Vec<u8>], until: Instant) -> Vec<Vec<u8>> {
    let mut hash = String::new();
    for byte in Sha256::digest(named) {
        // Writing into a string can't fail.
        let _ = write!(hash, "{byte:02x}");
    }
    let meeting = Meeting::default();
    lock(&meeting.seats).left = requests.len();
    let terms = Terms::new(node, until);
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(requests.len());
        for (number, request) in requests.iter().enumerate() {
            let principals = &*terms.principals;
            // Without a thread it is dropped, and the others go on.
            let shares = Together { node, meeting: &meeting, number, relies_on: BTreeSet::new() };
            let thread = thread::Builder::new().spawn_scoped(scope, move || {
                let settings = &node.settings;
                let mut shares: Box<dyn Shares + '_> = match settings.sessions {
                    Sessions::Shared => Box::new(shares),
                    Sessions::Servers => Box::new(Knowing::new(settings.enctype, shares)),
                };
                logged(answer(settings, principals, request, now(), &node.memory, &mut *shares))
            });
            threads.push(thread.ok());
        }
        let begins = requests.iter().any(|request| asks_for_shares(request));
        terms.meet(&meeting, (&hash, requests.len()), begins);
        let unanswered = || messages::error(Code::Unavailable, now(), &node.settings.realm, None, None);
        threads
            .into_iter()
            .map(|thread| thread.and_then(|thread| thread.join().ok()).unwrap_or_else(unanswered))
            .collect()
    })
}

fn logged(Answer { bytes, line, failed }: Answer) -> Vec<u8> {
    log(line);
    if let Some(error) = failed {
        log(error);
    }
    bytes
}

impl Terms<'_> {
    /// Runs what requests ask for, round after round, until all are answered. All servers have as many rounds: whether there is a
    /// first one follows from what clients sent, and whether there is another from what all have just run. So a server that
    /// wants nothing any more calls the roll, too.
    fn meet(&self, meeting: &Meeting, (hash, requests): (&str, usize), mut goes_on: bool) {
        let _teller = Teller(meeting);
        for round in 0_u64.. {
            let asked = meeting.all_asked();
            if !goes_on {
                if asked.is_empty() {
                    return;
                }
                meeting.tell(asked.into_keys().map(|number| (number, Err(DIFFER.to_owned()))));
                continue;
            }
            let asked = self.still_wanted(meeting, asked);
            let name = format!("{hash} {round}");
            let own = marks(&asked, together(requests));
            let (agreed, differ) = match self.node.call_roll(format!("{name} roll"), &own) {
                Ok(all) => asked.into_iter().partition(|(number, _)| is_alike(&all, *number)),
                Err(error) => {
                    meeting.tell(asked.into_keys().map(|number| (number, Err(error.to_string()))));
                    goes_on = false;
                    continue;
                }
            };
            let differ: BTreeMap<usize, Step> = differ;
            meeting.tell(differ.into_keys().map(|number| (number, Err(DIFFER.to_owned()))));
            goes_on = agreed.values().any(|step: &Step| !step.task.is_last());
            self.run_all(meeting, &name, groups(agreed, self.node.settings.max_together));
        }
    }

    /// What this server still runs of what is asked for; the rest is told why not.
    fn still_wanted(&self, meeting: &Meeting, asked: BTreeMap<usize, Step>) -> BTreeMap<usize, Step> {
        let now = self.now();
        let (refused, wanted): (BTreeMap<_, _>, _) =
            asked.into_iter().partition(|(_, step)| now.refusal(step).is_some());
        let why = |(number, step): (usize, Step)| Some((number, Err(now.refusal(&step)?.to_owned())));
        meeting.tell(refused.into_iter().filter_map(why));
        wanted
    }

    /// Runs groups, a few at a time, in the same order at all servers.
    fn run_all(&self, meeting: &Meeting, name: &str, groups: VecDeque<Group>) {
        let others = groups.len().min(RUNS_EACH).saturating_sub(1);
        let groups = Mutex::new(groups);
        let work = || {
            loop {
                let Some(group) = lock(&groups).pop_front() else { return };
                self.run_group(meeting, name, group);
            }
        };
        thread::scope(|scope| {
            for _ in 0..others {
                // This one does it alone, if there is no thread.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }

    /// Runs steps of one task together, and tells each request what came of its own. A group with a step that this server
    /// doesn't run any more isn't run at all, since the others want no other one.
    fn run_group(&self, meeting: &Meeting, name: &str, (task, steps): Group) {
        let (numbers, steps): (Vec<usize>, Vec<Step>) = steps.into_iter().unzip();
        let now = self.now();
        if let Some(why) = steps.iter().find_map(|step| now.refusal(step)) {
            meeting.tell(numbers.into_iter().map(|number| (number, Err(why.to_owned()))));
            return;
        }
        let which = Sha256::digest(format!("{task:?} {numbers:?}"));
        let tag = format!("{name} {:016x}", u64::from_be_bytes(*which.first_chunk().unwrap_or(&[0; 8])));
        let done = self.node.run(tag, &steps).map_err(|error| error.to_string());
        meeting.tell(numbers.into_iter().enumerate().map(|(place, number)| {
            let outcome = done.as_ref().map(|(outputs, median)| (outputs[place].clone(), *median));
            (number, outcome.map_err(Clone::clone))
        }));
    }
}

/// Why a request gets nothing that not all servers want alike.
const DIFFER: &str = "the servers don't want the same of this request";

/// What a server says of each request when the roll is called, of as many as the roll has room for: which step it wants, or
/// nothing.
fn marks(asked: &BTreeMap<usize, Step>, room: usize) -> Vec<u64> {
    (0..room).map(|number| asked.get(&number).map_or(0, Step::mark)).collect()
}

/// Whether all servers want the same step of a request.
fn is_alike(all: &[Vec<u64>], number: usize) -> bool {
    let first = all.first().and_then(|own| own.get(number)).filter(|mark| **mark != 0);
    first.is_some() && all.iter().all(|own| own.get(number) == first)
}

/// Steps by their task, as many together as a run has room for: a larger one takes less than two smaller ones, since rounds
/// cost more than ANDs.
fn groups(steps: BTreeMap<usize, Step>, most: usize) -> VecDeque<Group> {
    let mut tasks: BTreeMap<Task, Vec<(usize, Step)>> = BTreeMap::new();
    for (number, step) in steps {
        tasks.entry(step.task).or_default().push((number, step));
    }
    let chunks = |(task, mut steps): (Task, Vec<(usize, Step)>)| {
        let mut groups = Vec::new();
        while !steps.is_empty() {
            let rest = steps.split_off(steps.len().min(most));
            groups.push((task, std::mem::replace(&mut steps, rest)));
        }
        groups
    };
    tasks.into_iter().flat_map(chunks).collect()
}

impl Meeting {
    /// What all requests want that aren't answered yet; nothing if all are.
    fn all_asked(&self) -> BTreeMap<usize, Step> {
        let waits = |seats: &mut Seats| seats.asked.len() < seats.left;
        let seats = lock(&self.seats);
        let mut seats = self.asks.wait_while(seats, waits).unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut seats.asked)
    }

    fn tell(&self, outcomes: impl Iterator<Item = (usize, Outcome)>) {
        lock(&self.seats).told.extend(outcomes);
        self.tells.notify_all();
    }

    fn ask(&self, number: usize, step: Step) -> Outcome {
        let mut seats = lock(&self.seats);
        seats.asked.insert(number, step);
        self.asks.notify_one();
        let waits = |seats: &mut Seats| !seats.is_over && !seats.told.contains_key(&number);
        let mut seats = self.tells.wait_while(seats, waits).unwrap_or_else(PoisonError::into_inner);
        seats.told.remove(&number).unwrap_or_else(|| Err("nothing came of it".to_owned()))
    }
}

/// One request among those that came together.
struct Together<'a> {
    node: &'a Node,
    meeting: &'a Meeting,
    number: usize,
    /// The records of principals that must be as they were.
    relies_on: BTreeSet<String>,
}

impl Drop for Together<'_> {
    /// The others go on without it.
    fn drop(&mut self) {
        lock(&self.meeting.seats).left -= 1;
        self.meeting.asks.notify_one();
    }
}

impl Together<'_> {
    fn step(&mut self, task: Task, public: Vec<bool>, records: &[&str]) -> Result<(Vec<Wiped>, i64), Error> {
        let records: Vec<String> = records.iter().map(|record| (*record).to_owned()).collect();
        self.relies_on.extend(records.iter().cloned());
        let (public, relies_on) = (public.into(), self.relies_on.clone());
        let step = Step { task, public, records, relies_on };
        self.meeting.ask(self.number, step).map_err(Error::Refused)
    }

    /// The class of messages of so many bytes, codes not counted.
    fn class(longest: usize) -> Result<Class, Error> {
        Class::of(longest).ok_or_else(|| Error::Refused("a message is too long for any program".to_owned()))
    }

    fn sizes(&self, given: Given<'_>, more: usize) -> Result<circuits::Sizes, Error> {
        let code = self.node.settings.enctype.mac_bytes();
        let longest = given.ticket.len().max(given.authenticator.len()).saturating_sub(code).max(more);
        Ok(circuits::Sizes { class: Self::class(longest)?, key_at: given.key_at })
    }

    /// Ciphertexts with their codes, of plaintexts of so many bytes.
    fn sealed(outputs: &[Wiped], plains: &[usize]) -> Vec<Vec<u8>> {
        let put = |([blocks, code], plain): (&[Wiped; 2], &usize)| {
            let end = (CONFOUNDER + plain).min(blocks.len());
            [&blocks[..end], &code[..]].concat()
        };
        outputs.as_chunks().0.iter().zip(plains).map(put).collect()
    }

    /// What was sealed under a long-term key where servers know session keys, and what they drew.
    fn verified(&mut self, task: Task, class: Class, record: &str, sealed: &[u8]) -> Result<Verified, Error> {
        let enctype = self.node.settings.enctype;
        let (mut outputs, now) = self.step(task, circuits::verifies(enctype, class, sealed), &[record])?;
        let drawn = outputs.pop().unwrap_or_default();
        Ok(Verified { plain: opened(outputs, sealed.len() - enctype.sealed_bytes(0)), now, drawn })
    }
}

/// What was opened if a bit says that it was, cut to so many bytes.
fn opened(outputs: Vec<Wiped>, bytes: usize) -> Option<Wiped> {
    let [is_right, mut opened] = <[Wiped; 2]>::try_from(outputs).ok()?;
    opened.truncate(bytes);
    (is_right[..] == [1]).then_some(opened)
}

/// The same of what isn't secret.
fn shown(outputs: Vec<Wiped>, bytes: usize) -> Option<Vec<u8>> {
    opened(outputs, bytes).map(|opened| opened.to_vec())
}

impl Shares for Together<'_> {
    fn verify(&mut self, client: &str, sealed: &[u8]) -> Result<(Option<Vec<u8>>, i64), Error> {
        let enctype = self.node.settings.enctype;
        let public = circuits::verifies(enctype, Class::TIMESTAMP, sealed);
        let (outputs, now) = self.step(Task::Verify, public, &[client])?;
        Ok((shown(outputs, sealed.len() - enctype.sealed_bytes(0)), now))
    }

    fn reply(
        &mut self,
        service: &str,
        client: &str,
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Sealed, Error> {
        let class = Self::class(CONFOUNDER + ticket.0.len().max(part.0.len()))?;
        let public = circuits::replies(self.node.settings.enctype, class, ticket, part);
        let (outputs, _) = self.step(Task::Reply(class), public, &[service, client])?;
        Sealed::of(Self::sealed(&outputs, &[ticket.0.len(), part.0.len()]))
    }

    fn verify_further(&mut self, krbtgt: &str, given: Given<'_>) -> Result<(Option<Vec<u8>>, i64), Error> {
        let (enctype, sizes) = (self.node.settings.enctype, self.sizes(given, 0)?);
        let public = circuits::verifies_further(enctype, sizes, given.ticket, given.authenticator);
        let (outputs, now) = self.step(Task::VerifyFurther(sizes.class), public, &[krbtgt])?;
        Ok((shown(outputs, given.ticket.len() - enctype.sealed_bytes(0)), now))
    }

    fn open_authenticator(
        &mut self,
        krbtgt: &str,
        given: Given<'_>,
        expected: Expected<'_>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let (enctype, sizes) = (self.node.settings.enctype, self.sizes(given, 0)?);
        let public =
            circuits::opens_authenticator(enctype, sizes, given.ticket, given.authenticator, expected);
        let (outputs, _) = self.step(Task::OpenAuthenticator(sizes.class), public, &[krbtgt])?;
        Ok(shown(outputs, expected.bytes.len()))
    }

    fn reply_further(
        &mut self,
        krbtgt: &str,
        service: &str,
        (given, expected, body): (Given<'_>, Expected<'_>, &[u8]),
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Option<Sealed>, Error> {
        let plain = CONFOUNDER + ticket.0.len().max(part.0.len());
        let sizes = self.sizes(given, plain.max(body.len()))?;
        let sent = (given.ticket, given.authenticator);
        let enctype = self.node.settings.enctype;
        let public = circuits::replies_further(enctype, sizes, sent, expected, body, ticket, part);
        let (outputs, _) = self.step(Task::ReplyFurther(sizes.class), public, &[krbtgt, service])?;
        let Some((is_right, outputs)) = outputs.split_first() else { return Ok(None) };
        if is_right[..] != [1] {
            return Ok(None);
        }
        Sealed::of(Self::sealed(outputs, &[ticket.0.len(), part.0.len()])).map(Some)
    }

    fn relies_on(&mut self, record: &str) {
        self.relies_on.insert(record.to_owned());
    }
}

impl Steps for Together<'_> {
    fn verify(&mut self, client: &str, sealed: &[u8]) -> Result<Verified, Error> {
        self.verified(Task::VerifyAndDraw, Class::TIMESTAMP, client, sealed)
    }

    fn open_ticket(&mut self, krbtgt: &str, sealed: &[u8]) -> Result<Verified, Error> {
        let class = Self::class(sealed.len().saturating_sub(self.node.settings.enctype.mac_bytes()))?;
        self.verified(Task::OpenTicket(class), class, krbtgt, sealed)
    }

    fn seal(&mut self, messages: &[Message<'_>]) -> Result<Vec<Vec<u8>>, Error> {
        let plains: Vec<usize> = messages.iter().map(|(.., plain)| plain.len()).collect();
        let class = Self::class(CONFOUNDER + plains.iter().max().unwrap_or(&0))?;
        let task = if messages.len() == 1 { Task::SealTicket(class) } else { Task::SealReply(class) };
        let of: Vec<_> = messages.iter().map(|&(_, confounder, plain)| (confounder, plain)).collect();
        let records: Vec<&str> = messages.iter().map(|&(record, ..)| record).collect();
        let public = circuits::seals(self.node.settings.enctype, class, &of);
        let (outputs, _) = self.step(task, public, &records)?;
        Ok(Self::sealed(&outputs, &plains))
    }

    fn relies_on(&mut self, record: &str) {
        Shares::relies_on(self, record);
    }
}
